"""What an outage does, row by row: what to break, and what search, listing, reading, ingest, metrics and the log then say."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faults.proxy import Mood
from faults.stand import Stand

WORDS = "refdesk-words.*"
"""The indices of words, and none of docstore's."""
Act = Callable[[Stand], None]


@dataclass(frozen=True)
class Outage:
    """One row of the table; what is not said is as ever."""

    name: str
    breaks: Act
    mends: Act
    mode: str = "hybrid"
    """Of answers to questions; "" where they are errors."""
    not_searched: Mapping[str, str] = field(default_factory=dict)
    """Reason by leg, as structured answers have it."""
    says: str = ""
    """What the text of an answer says of itself, or the error says."""
    reads: bool = True
    """Whether listing and reading go on."""
    is_ready: bool = True
    publishes_words: bool = True
    """Whether a change can be found by its words meanwhile; else it is held."""
    publishes_vectors: bool = True
    takes_pushes: bool = True
    """Whether a push over HTTP is acknowledged; else 503."""
    counts: tuple[tuple[str, str], ...] = ()
    """Service and sample that grow."""
    logs: tuple[Mapping[str, str], ...] = ()
    """Lines of which these fields stand in the log."""


def turn(link: str, mood: Mood) -> Act:
    """The way to a service behaves so."""
    return lambda stand: stand.proxies[link].turn(mood)


def both(first: Act, second: Act) -> Act:
    """One after the other."""

    def run(stand: Stand) -> None:
        first(stand)
        second(stand)

    return run


def stop_vectors(stand: Stand) -> None:
    """The process that holds the vectors answers nothing; killed, it would be started anew at once."""
    child = stand.services["search"].child("edge_process")
    assert child is not None
    child.suspend()


def resume_vectors(stand: Stand) -> None:
    """It goes on."""
    child = stand.services["search"].child("edge_process")
    assert child is not None
    child.resume()


def close_words(stand: Stand) -> None:
    """OpenSearch goes on, and has no index of words any more that can be read or written."""
    ask_opensearch(stand, "POST", f"/{WORDS}/_close")


def open_words(stand: Stand) -> None:
    """They are there again."""
    ask_opensearch(stand, "POST", f"/{WORDS}/_open")


def block_words(stand: Stand) -> None:
    """The indices of words take neither searches nor writes."""
    _set_blocks(stand, {"read": True, "write": True})


def block_writing(stand: Stand) -> None:
    """What OpenSearch does by itself where a disk is nearly full."""
    _set_blocks(stand, {"read_only_allow_delete": True})


def unblock_words(stand: Stand) -> None:
    """They take both again."""
    _set_blocks(stand, {"read": None, "write": None})


def unblock_writing(stand: Stand) -> None:
    """What OpenSearch does where there is room again."""
    _set_blocks(stand, {"read_only_allow_delete": None})


def _set_blocks(stand: Stand, blocks: Mapping[str, bool | None]) -> None:
    body = {f"index.blocks.{name}": value for name, value in blocks.items()}
    ask_opensearch(stand, "PUT", f"/{WORDS}/_settings", body)


def kill_opensearch(stand: Stand) -> None:
    """kill -9 of the node."""
    assert stand.opensearch is not None
    stand.opensearch.process.kill()


def kill_nats(stand: Stand) -> None:
    """kill -9 of the nats-server."""
    assert stand.nats is not None
    stand.nats.process.kill()


def ask_opensearch(stand: Stand, method: str, path: str, body: object = None) -> Any:
    """The answer of the node itself, past the proxy."""
    assert stand.opensearch is not None
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://{stand.opensearch.address}{path}", data, {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def leg_is_absent(leg: str, reason: str) -> tuple[tuple[str, str], ...]:
    """Samples of the gateway and of search that say so."""
    return (
        ("gateway", f'refdesk_gateway_absent_legs_total{{leg="{leg}",reason="{reason}"}}'),
        ("search", f'refdesk_search_leg_seconds_count{{leg="{leg}",outcome="{reason}"}}'),
    )


def answered_by(mode: str) -> tuple[str, str]:
    """The sample of the gateway that counts such answers."""
    return "gateway", f'refdesk_gateway_searches_total{{mode="{mode}"}}'


def pauses(task: str) -> tuple[str, str]:
    """The sample of ingest that counts them."""
    return "ingest", f'refdesk_ingest_outages_total{{task="{task}"}}'


def call_failed(component: str, method: str) -> tuple[str, str]:
    """The sample of a service that counts calls that it could not answer."""
    return (
        component,
        f'refdesk_rpc_call_seconds_count{{component="{component}",method="{method}",outcome="UNAVAILABLE"}}',
    )


def without_meaning(name: str, reason: str, breaks: Act, mends: Act, **rest: Any) -> Outage:
    """A row in which words alone are searched."""
    counts = (*leg_is_absent("semantic", reason), answered_by("lexical"), *rest.pop("counts", ()))
    return Outage(
        name,
        breaks,
        mends,
        "lexical",
        {"semantic": reason},
        f"Mode: lexical (meaning not searched: {reason}).",
        publishes_vectors=False,
        counts=counts,
        logs=({"event": "it does not answer", "why": reason}, *rest.pop("logs", ())),
        **rest,
    )


def without_words(name: str, breaks: Act, mends: Act, why_held: str) -> Outage:
    """A row in which meaning alone is searched."""
    return Outage(
        name,
        breaks,
        mends,
        "semantic",
        {"lexical": "lexical_unavailable"},
        "Mode: semantic (words not searched: lexical_unavailable).",
        publishes_words=False,
        publishes_vectors=False,
        counts=(
            *leg_is_absent("lexical", "lexical_unavailable"),
            answered_by("semantic"),
            pauses("consumer"),
            call_failed("search", "write_words"),
        ),
        logs=(
            {"event": "it does not answer", "why": "lexical_unavailable", "error": why_held},
            {"event": "publishing waits", "reason": why_held},
        ),
    )


FAILED = "gateway", 'mcp_server_operation_duration_seconds_count{error_type="UNAVAILABLE"'
PASS = turn("embedder", Mood.PASS)
VECTORS_WAIT = {"event": "vectors wait", "reason": "embedder"}
TABLE = (
    without_meaning(
        "the embedder refuses connections",
        "embedder_unavailable",
        turn("embedder", Mood.DROP),
        PASS,
        counts=(pauses("vectors"),),
        logs=(VECTORS_WAIT,),
    ),
    without_meaning("the embedder hangs", "embedder_timeout", turn("embedder", Mood.STALL), PASS),
    without_meaning("the vector engine hangs", "vector_timeout", stop_vectors, resume_vectors),
    without_words("the keyword index is closed", close_words, open_words, "missing or closed"),
    without_words("the keyword index is blocked", block_words, unblock_words, "blocks"),
    Outage(
        "the keyword index takes no writes",
        block_writing,
        unblock_writing,
        publishes_words=False,
        publishes_vectors=False,
        counts=(answered_by("hybrid"), pauses("consumer"), call_failed("search", "write_words")),
        logs=(
            {"event": "it does not answer", "method": "write_words", "error": "blocks writes"},
            {"event": "publishing waits", "reason": "blocks writes"},
        ),
    ),
    Outage(
        "docstore's engine is gone",
        kill_opensearch,
        lambda stand: stand.restart_opensearch(),
        "",
        says="temporarily unavailable, retry in",
        reads=False,
        is_ready=False,
        publishes_words=False,
        publishes_vectors=False,
        takes_pushes=False,
        counts=(FAILED, call_failed("docstore", "list_projects")),
        logs=(
            {"event": "it does not answer", "component": "docstore", "error": "docstore.url"},
            {"event": "a source cannot be followed now", "reason": "OpenSearch"},
        ),
    ),
    Outage(
        "both legs are gone",
        both(turn("embedder", Mood.DROP), close_words),
        both(PASS, open_words),
        "",
        says="nothing was searched (lexical_unavailable, embedder_unavailable), so nothing is known about this question",
        is_ready=False,
        publishes_words=False,
        publishes_vectors=False,
        counts=(
            FAILED,
            *leg_is_absent("lexical", "lexical_unavailable"),
            *leg_is_absent("semantic", "embedder_unavailable"),
            pauses("consumer"),
        ),
        logs=(
            {"event": "it does not answer", "why": "lexical_unavailable"},
            {"event": "it does not answer", "why": "embedder_unavailable"},
            {"event": "publishing waits", "reason": "missing or closed"},
        ),
    ),
    Outage(
        "NATS is gone",
        kill_nats,
        lambda stand: stand.restart_nats(),
        publishes_words=False,
        publishes_vectors=False,
        counts=(answered_by("hybrid"), ("gateway", "refdesk_gateway_lost_hints_total"), pauses("consumer")),
        logs=(
            {"event": "publishing waits", "reason": "the event queue cannot be reached"},
            {"event": "ingest was not told of pushed documents, and will find them"},
        ),
    ),
)
