"""Who may reach whom: the policies say what the services' own addresses need, and nothing else; the metadata address never."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
import yaml

from chart.rendering import CI, COMPONENTS, config_of, of_kind, pods, render, render_file

CALLS = {
    ("gateway", "docstore", 9090),
    ("gateway", "search", 9090),
    ("gateway", "embedder", 9090),
    ("gateway", "ingest", 9090),
    ("ingest", "docstore", 9090),
    ("ingest", "search", 9090),
    ("ingest", "embedder", 9090),
    ("search", "embedder", 9090),
    ("search", "qdrant", 6334),
    ("search", "opensearch", 9200),
    ("docstore", "opensearch", 9200),
    ("ingest", "nats", 4222),
    ("gateway", "nats", 4222),
    ("test", "gateway", 8080),
    ("test", "gateway", 8081),
}
"""As app.py composes them: who holds a client of whom."""
METADATA = ("169.254.169.254", "fd00:ec2::254")


def part(peer: dict[str, Any]) -> str:
    labels = peer.get("podSelector", {}).get("matchLabels", {})
    return str(labels.get("app.kubernetes.io/component", ""))


def test_ways_in_and_ways_out_are_the_calls_that_are_made() -> None:
    policies = of_kind(
        render({"networkPolicy": {"gatewayFrom": [{"podSelector": {}}], "metricsFrom": []}}), "NetworkPolicy"
    )
    out, into = set(), set()
    for name, policy in policies.items():
        me, spec = name.removeprefix("refdesk-"), policy["spec"]
        assert spec["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == me
        assert spec["policyTypes"] == ["Ingress", "Egress"]
        for rule in spec.get("egress") or []:
            out |= {(me, part(peer), port["port"]) for peer in rule["to"] for port in rule["ports"] if part(peer)}
        for rule in spec.get("ingress") or []:
            into |= {(part(peer), me, port["port"]) for peer in rule["from"] for port in rule["ports"] if part(peer)}
    assert {*policies} == {f"refdesk-{name}" for name in (*COMPONENTS, "qdrant", "opensearch", "nats", "test")}
    assert out == CALLS
    assert into == CALLS


def test_everybody_may_call_the_gateway_but_nobody_its_other_ports() -> None:
    gateway = of_kind(render({"networkPolicy": {"metricsFrom": []}}), "NetworkPolicy")["refdesk-gateway"]
    rules = {rule["ports"][0]["port"]: rule.get("from") for rule in gateway["spec"]["ingress"]}
    assert rules.keys() == {8080, 8081}
    assert rules[8080] is None
    assert [part(peer) for peer in rules[8081]] == ["test"]


def test_names_are_asked_for_on_both_ports_of_dns() -> None:
    for policy in of_kind(render({}), "NetworkPolicy").values():
        ports = {(port["port"], port["protocol"]) for rule in policy["spec"]["egress"] for port in rule["ports"]}
        if policy["metadata"]["name"].removeprefix("refdesk-") in (*COMPONENTS, "test"):
            assert ports >= {(53, "UDP"), (53, "TCP"), (5353, "UDP"), (5353, "TCP")}
        else:
            assert not ports  # an engine's node calls nobody


@pytest.mark.parametrize("ranges", [["0.0.0.0/0"], ["160.0.0.0/4", "::/0"], ["128.0.0.0/1", "203.0.113.0/24"]])
def test_the_metadata_address_is_in_no_range_that_is_allowed(ranges: list[str]) -> None:
    source = {"networkPolicy": {"sources": [{"name": "web", "allowCIDRs": ranges}]}}
    objects = [*render(source), *(each for file in CI for each in render_file(file))]
    blocks = [
        peer["ipBlock"]
        for each in objects
        if each["kind"] == "NetworkPolicy"
        for rule in each["spec"].get("egress") or []
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    assert {block["cidr"] for block in blocks} >= set(ranges)
    for block in blocks:
        network, holes = ip_network(block["cidr"]), [ip_network(hole) for hole in block.get("except", [])]
        assert all(hole.subnet_of(network) for hole in holes)  # type: ignore[arg-type]
        for address in map(ip_address, METADATA):
            assert address not in network or any(address in hole for hole in holes), block


def test_an_external_engine_is_reached_on_the_ports_of_its_url() -> None:
    url = "opensearch+tls://a.example.com:9243,b.example.com:9244"
    policies = of_kind(render({"engines": {"opensearch": {"mode": "external", "url": url}}}), "NetworkPolicy")
    assert "refdesk-opensearch" not in policies
    for name in ("search", "docstore"):
        ports = {port["port"] for rule in policies[f"refdesk-{name}"]["spec"]["egress"] for port in rule["ports"]}
        assert ports >= {9243, 9244}


def test_with_tls_exactly_those_may_call_whose_network_policy_lets_them() -> None:
    objects = render({"mtls": {"enabled": True}})
    settings = yaml.safe_load(config_of(objects))["rpc"]
    allowed = {
        (caller.removeprefix("refdesk-").removesuffix(".desk.svc"), component, 9090)
        for component, callers in settings["tls"]["callers"].items()
        for caller in callers
    }
    assert allowed == {call for call in CALLS if call[2] == 9090}
    secrets = {name: secret_of(pod) for name, pod in pods(objects) if name.removeprefix("refdesk-") in COMPONENTS}
    assert secrets == {f"refdesk-{name}": f"refdesk-{name}-tls" for name in COMPONENTS}
    assert settings["docstore"] == "dns:///refdesk-docstore.desk.svc:9090"  # a name that certificates have


def secret_of(pod: dict[str, Any]) -> str:
    return next(str(volume["secret"]["secretName"]) for volume in pod["volumes"] if volume["name"] == "mtls")
