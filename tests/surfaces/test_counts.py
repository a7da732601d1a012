"""What the gateway counts of a call that ends badly, lacks a leg or finds nothing: alerts are made of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import cast

import pytest
from prometheus_client import REGISTRY

from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.keys import make_key
from surfaces.desks import Desk, ask, served
from surfaces.fakes import FakeSearch, hit, leg
from surfaces.test_callers import bearer, desk_with, ping
from surfaces.test_overload import ERAS, WAIT_SECONDS, SlowSearch, asking, full_desk

pytestmark = pytest.mark.anyio
OPERATIONS = "mcp_server_operation_duration_seconds_count"
SEARCH = {"mcp_method_name": "tools/call", "gen_ai_tool_name": "search_docs"}


class Count:
    """How far a counter has gone since it was looked at first."""

    def __init__(self, name: str, **labels: str) -> None:
        self._name, self._labels = name, labels
        self._before = self._read()

    @property
    def grown(self) -> float:
        """By how much."""
        return self._read() - self._before

    def _read(self) -> float:
        return REGISTRY.get_sample_value(self._name, self._labels) or 0.0


@contextlib.contextmanager
def growing(*counts: Count) -> Iterator[None]:
    """Each of these has grown by one when the block is over."""
    yield
    assert [count.grown for count in counts] == [1.0] * len(counts)


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_whose_client_went_away_is_no_error_of_ours(era: str) -> None:
    desk = full_desk()
    search = cast(SlowSearch, desk.search)
    internal = Count(OPERATIONS, error_type="INTERNAL", **SEARCH)
    with growing(Count(OPERATIONS, error_type="CANCELLED", **SEARCH)):
        async with served(desk.gateway()) as url, asyncio.timeout(WAIT_SECONDS):
            async with asking(url, era):
                await search.begun.wait()
            await search.given_up.wait()
    assert internal.grown == 0


async def test_a_call_that_ends_before_it_reaches_a_tool_is_counted_all_the_same() -> None:
    desk = desk_with()
    async with served(desk.gateway()) as url:
        desk.docstore.down = True
        with growing(Count("refdesk_gateway_unanswered_requests_total", reason="UNAVAILABLE")):
            assert (await ping(url, bearer(make_key()))).status_code == 503


async def test_a_defect_of_ours_before_a_tool_is_reached_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_with()

    async def fail(_: object) -> None:
        raise RuntimeError("a defect")

    async with served(desk.gateway()) as url:
        monkeypatch.setattr(desk.docstore, "get_keys", fail)
        with growing(Count("refdesk_gateway_unanswered_requests_total", reason="INTERNAL")):
            assert (await ping(url, bearer(make_key()))).status_code == 500


async def test_a_search_that_lacks_a_leg_is_counted_by_that_leg() -> None:
    found = leg(search_api.LEG_KIND_LEXICAL, [hit("policies/travel.md#0", coverage=1.0)])
    away = leg(search_api.LEG_KIND_SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable")
    lexical = Count("refdesk_gateway_degraded_searches_total", leg="lexical")
    with growing(Count("refdesk_gateway_degraded_searches_total", leg="semantic")):
        await ask(Desk(search=FakeSearch(found, away)), "search_docs", query="rules")
    assert lexical.grown == 0


async def test_a_leg_that_has_nothing_to_do_is_not_lacked() -> None:
    found = leg(search_api.LEG_KIND_LEXICAL, [hit("policies/travel.md#0", coverage=1.0)])
    idle = leg(search_api.LEG_KIND_SEMANTIC, status=search_api.LEG_STATUS_SKIPPED, reason="language_unsupported")
    count = Count("refdesk_gateway_degraded_searches_total", leg="semantic")
    await ask(Desk(search=FakeSearch(found, idle)), "search_docs", query="rules")
    assert count.grown == 0


async def test_a_search_that_finds_nothing_is_counted_and_one_that_finds_something_is_not() -> None:
    count = Count("refdesk_gateway_zero_result_searches_total")
    await ask(Desk(), "search_docs", query="rules")
    assert count.grown == 1
    found = leg(search_api.LEG_KIND_LEXICAL, [hit("policies/travel.md#0", coverage=1.0)])
    seen = leg(search_api.LEG_KIND_SEMANTIC, [hit("policies/travel.md#0", cosine=0.9)])
    assert (await ask(Desk(search=FakeSearch(found, seen)), "search_docs", query="rules")).startswith("Found ")
    assert count.grown == 1
