"""deploy/compose.yaml names settings that exist, services that run, and addresses that fit each other. No Docker has run it here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from refdesk.app import TARGETS
from refdesk.settings import Settings, load

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]


def settings_of(target: str, tmp_path: Path) -> Settings:
    config = tmp_path / "config.yaml"
    config.write_text(COMPOSE["configs"]["desk"]["content"], encoding="utf-8")
    environment = {**SERVICES[target]["environment"], "REFDESK_CONFIG": str(config)}
    return load(str(config), environment, {})


@pytest.mark.parametrize("target", TARGETS)
def test_each_service_is_given_settings_that_are_valid_and_its_own_target(target: str, tmp_path: Path) -> None:
    settings = settings_of(target, tmp_path)
    assert SERVICES[target]["command"] == ["run", "--target", target]
    assert list(settings.projects) == ["default"]


def test_services_call_each_other_where_they_listen(tmp_path: Path) -> None:
    inside, gateway = settings_of("ingest", tmp_path), settings_of("gateway", tmp_path)
    port = inside.rpc.listen.rpartition(":")[2]
    for name in ("embedder", "search", "docstore", "ingest"):
        assert getattr(inside.rpc, name) == f"{name}:{port}"
        assert SERVICES[name]["ports"] == [f"{getattr(gateway.rpc, name)}:{port}"]


def test_engines_are_called_where_they_are(tmp_path: Path) -> None:
    settings = settings_of("search", tmp_path)
    urls = (settings.docstore.url, settings.search.keyword_url, settings.search.vector_url, settings.ingest.events)
    hosts = [url.partition("://")[2].partition(":")[0] for url in urls]
    assert hosts == ["opensearch", "opensearch", "qdrant", "nats"]
    assert set(hosts) < SERVICES.keys()


def test_nothing_is_open_to_other_machines() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
