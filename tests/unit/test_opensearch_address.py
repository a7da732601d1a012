"""Addresses and credentials of an OpenSearch cluster: what is taken, and what is refused by the setting's name."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from refdesk.engines.opensearch.address import Address, Credentials, Names, read_address, read_certificates
from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.errors import InvalidArgument, Unavailable

NAMES = Names("search.keyword_url", "search.opensearch")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("opensearch://one", Address((("one", 9200),), False)),
        ("opensearch://one:1,two:2/", Address((("one", 1), ("two", 2)), False)),
        ("opensearch+tls://[::1]:9201", Address((("::1", 9201),), True)),
    ],
)
def test_a_url_names_nodes_and_whether_they_speak_tls(url: str, address: Address) -> None:
    assert read_address(url, NAMES) == address


@pytest.mark.parametrize(
    "url",
    [
        "opensearch:",
        "opensearch://",
        "opensearch://a,,b",
        "opensearch://a:x",
        "opensearch://a/path",
        "opensearch://a?b=c",
    ],
)
def test_a_url_that_names_no_cluster_is_refused_by_the_settings_name(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"search\.keyword_url .* names no cluster; write opensearch://HOST:PORT"):
        read_address(url, NAMES)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidArgument, match=r"search\.opensearch\.password_file") as caught:
        read_address("opensearch://desk:hunter2@host", NAMES)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("half", [{"user": "desk"}, {"password_file": "/x"}])
def test_half_of_the_credentials_is_refused(half: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument, match=r"set both search\.opensearch\.user and"):
        Credentials(OpenSearchSettings(**half), NAMES)


def test_the_header_follows_the_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("pass: wörd\n", encoding="utf-8")
    credentials = Credentials(OpenSearchSettings(user="desk", password_file=str(file)), NAMES)
    assert credentials.header() == {"authorization": f"Basic {b64encode('desk:pass: wörd'.encode()).decode()}"}
    file.write_text("another\n", encoding="utf-8")
    assert credentials.header() == {"authorization": f"Basic {b64encode(b'desk:another').decode()}"}
    file.unlink()
    # While documents are being written nobody's document is at fault.
    for starting, kind in ((True, InvalidArgument), (False, Unavailable)):
        with pytest.raises(kind, match=r"search\.opensearch\.password_file cannot be read"):
            credentials.header(starting=starting)
    assert Credentials(OpenSearchSettings(), NAMES).header() == {}


def test_a_ca_file_that_cannot_serve_is_named(tmp_path: Path) -> None:
    settings = OpenSearchSettings(ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(InvalidArgument, match=r"search\.opensearch\.ca_file .* holds no certificates"):
        read_certificates(Address((("a", 1),), True), settings, NAMES)
    with pytest.raises(InvalidArgument, match=r"is not encrypted; write opensearch\+tls://"):
        read_certificates(Address((("a", 1),), False), settings, NAMES)
    assert read_certificates(Address((("a", 1),), False), OpenSearchSettings(), NAMES) is None
