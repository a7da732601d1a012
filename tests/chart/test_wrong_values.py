"""A wrong value fails the render, and the message names what to change."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from helm_python import HelmError

from chart.rendering import render

FOLDER = "projects: {handbook: {sources: [{name: docs, kind: folder, path: /docs}]}}"
NATS_SECRET = "existingSecret: nats, existingSecretKeys: "
WRONG = [
    ("compnents: {}", "additional properties 'compnents' not allowed"),
    ("components: {gatway: {replicas: 2}}", "'gatway' not allowed"),
    ("components: {gateway: {replica: 2}}", "at '/components/gateway': additional properties 'replica' not allowed"),
    ("components: {gateway: {resources: {request: {cpu: 1}}}}", "'request' not allowed"),
    ("components: {gateway: {replicas: 0}}", "at '/components/gateway/replicas'"),
    ("components: {gateway: {terminationGracePeriodSeconds: 10}}", "terminationGracePeriodSeconds"),
    ("config: {search: {tpo_k: 3}}", "at '/config/search': additional properties 'tpo_k' not allowed"),
    ("config: {search: {max_running: many}}", "at '/config/search/max_running': got string, want integer"),
    ("config: {projects: {}}", "declare projects under projects, not under config"),
    ("config: {search: {vector_url: 'qdrant://x:6334'}}", "config.search.vector_url is the chart's to set"),
    ("config: {gateway: {port: 80}}", "config.gateway.port is the chart's to set"),
    ("config: {ingest: {nats: {replicas: 3}}}", "config.ingest.nats.replicas is the chart's to set"),
    ("projects: {Hand: {}}", "'Hand' does not match pattern"),
    ("projects: {docs: {}}", "projects.docs: docs is a reserved name"),
    ("projects: {hand: {surfaces: [book]}}", "no surface book is served; valid: docs, site"),
    ("projects: {hand: {sources: [{kind: push}]}}", "missing property 'name'"),
    ("projects: {hand: {sources: [{name: a, knd: push}]}}", "'knd' not allowed"),
    ("projects: {hand: {sources: [{name: a, kind: push}, {name: a, kind: push}]}}", "two sources are called a"),
    ("projects: {hand: {sources: [{name: a}]}}", "source a of kind folder needs path"),
    (FOLDER, "source docs follows a folder: mount it with components.ingest.extraVolumes"),
    ("engines: {nats: {mode: embedded}}", "at '/engines/nats/mode': value must be one of 'bundled', 'external'"),
    ("engines: {qdrant: {mode: extern}}", "at '/engines/qdrant/mode'"),
    ("engines: {qdrant: {mode: external}}", "set engines.qdrant.url to its address"),
    ("engines: {qdrant: {mode: external, url: 'http://q:6333'}}", "at '/engines/qdrant/url'"),
    ("engines: {qdrant: {url: 'qdrant://q:6334'}}", "set the mode to external, or remove the url"),
    (
        "engines: {opensearch: {mode: external, url: 'opensearch://me:pw@o:9200'}}",
        "name a secret in engines.opensearch.existingSecret",
    ),
    ("engines: {opensearch: {existingSecret: o}}", "the bundled node asks for no password"),
    ("engines: {qdrant: {mode: embedded, existingSecret: q}}", "an embedded engine asks for nothing"),
    ("engines: {nats: {replicas: 3}}", "the bundled NATS is one server"),
    (f"engines: {{nats: {{{NATS_SECRET}{{password: pw}}}}}}", "the bundled NATS takes a token alone"),
    (
        "engines: {nats: {mode: external, url: 'nats://n:4222', existingSecretKeys: {token: a, nkey: b}}}",
        "name one of them",
    ),
    ("engines: {qdrant: {mode: embedded}}\ncomponents: {search: {replicas: 2}}", "set components.search.replicas to 1"),
    (
        "engines: {opensearch: {mode: embedded}}\ncomponents: {docstore: {autoscaling: {enabled: true}}}",
        "components.docstore keeps",
    ),
    ("engines: {qdrant: {securityContext: {runAsUser: 0}}}", "at '/engines/qdrant/securityContext/runAsUser'"),
    ("securityContext: {runAsUser: 0}", "at '/securityContext/runAsUser'"),
    ("securityContext: {privileged: true}", "'privileged' not allowed"),
    ("components: {gateway: {replicas: 2}}", "set sessions.existingSecret"),
    ("components: {ingest: {autoscaling: {enabled: true}}}", "components.ingest.autoscaling has nothing to go by"),
    ("components: {search: {autoscaling: {enabled: true, minReplicas: 9}}}", "raise maxReplicas"),
    (
        "components: {search: {autoscaling: {enabled: true}, resources: {requests: {cpu: null}}}}",
        "set components.search.resources.requests.cpu",
    ),
    ("image: {digest: 'sha256:12'}", "at '/image/digest'"),
    ("image: {pullPolicy: Sometimes}", "at '/image/pullPolicy'"),
    ("ingress: {enabled: true}", "ingress.hosts is empty"),
    ("httpRoute: {enabled: true}", "httpRoute.parentRefs is empty"),
    ("httpRoute: {enabled: true, parentRefs: [{name: g}]}", "httpRoute.hostnames is empty"),
    (
        "config: {telemetry: {otlp_endpoint: 'http://otel.monitoring:4317'}}",
        "name the collector in networkPolicy.otlp.to",
    ),
    ("proxy: {https: 'http://proxy:3128'}", "proxy.allowCIDRs is empty"),
    ("networkPolicy: {sources: [{name: a, allowCIDRs: [everything]}]}", "allowCIDRs/0"),
    ("networkPolicy: {sources: [{name: a, allowCIDRs: [169.254.169.254/32]}]}", "holds the metadata address"),
    ("networkPolicy: {sources: [{name: a, allowCIDRs: ['fd00:ec2::254/128']}]}", "holds the metadata address"),
    ("mtls: {enabled: true, secretName: all}", "mtls.secretName must hold {component}"),
    ("mtls: {enabled: true, identity: all}", "mtls.identity must hold {component}"),
    ("test: {project: handbook}", "test.project handbook is not declared: name one of projects: default"),
    ("adminKey: {keys: []}", "at '/adminKey/keys'"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text.replace("\n", " ")[:70] for text, _ in WRONG])
def test_a_wrong_value_is_refused_by_name(text: str, said: str) -> None:
    values: dict[str, Any] = yaml.safe_load(text)
    with pytest.raises(HelmError) as caught:
        render(values)
    assert said in str(caught.value)


def test_a_parent_charts_shared_values_are_let_in() -> None:
    objects = render({"global": {"imageRegistry": "mirror.example.com", "storageClass": "fast"}})
    images = [
        container["image"]
        for each in objects
        if each["kind"] in ("Deployment", "StatefulSet")
        for container in each["spec"]["template"]["spec"]["containers"]
    ]
    assert len(images) == 8
    assert all(image.startswith("mirror.example.com/") for image in images)
