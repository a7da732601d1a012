"""When documents that vanished may be deleted."""

from __future__ import annotations

import pytest

from refdesk.ingest.guard import DeleteLimit, judge


def paths(count: int) -> list[str]:
    return [f"{number:03}.md" for number in range(count)]


@pytest.mark.parametrize(
    ("vanished", "known", "held"),
    [
        (0, 0, False),
        (10, 10, False),  # all of it, but not more than ten documents
        (11, 110, False),  # eleven, but not more than a tenth
        (11, 109, True),
        (100, 1000, False),
        (101, 1000, True),
        (1000, 1000, True),
    ],
)
def test_more_than_ten_documents_and_a_tenth_of_the_source_are_held(vanished: int, known: int, held: bool) -> None:
    verdict = judge("handbook", paths(vanished), known, complete=True, limit=DeleteLimit())
    assert verdict.held_count == (vanished if held else 0)
    assert list(verdict.allowed) == ([] if held else paths(vanished))


@pytest.mark.parametrize(("vanished", "held"), [(500, False), (501, True)])
def test_half_of_a_followed_folder_may_go(vanished: int, held: bool) -> None:
    assert (judge("docs", paths(vanished), 1000, complete=True, limit=DeleteLimit(share=0.5)).held_count > 0) == held


def test_the_line_says_how_many_and_how_to_confirm() -> None:
    verdict = judge("handbook", paths(1200), 1500, complete=True, limit=DeleteLimit())
    assert verdict.message == (
        "1,200 of 1,500 documents are gone from source handbook and are kept until you run:"
        " refdesk source sync handbook --confirm-deletes"
    )


def test_confirmed_deletes_go_ahead() -> None:
    verdict = judge("handbook", paths(1000), 1000, complete=True, limit=DeleteLimit(), confirmed=True)
    assert list(verdict.allowed) == paths(1000)


@pytest.mark.parametrize("confirmed", [False, True])
def test_a_listing_that_ended_early_deletes_nothing(confirmed: bool) -> None:
    verdict = judge("handbook", paths(1), 1000, complete=False, limit=DeleteLimit(), confirmed=confirmed)
    assert (verdict.allowed, verdict.held_count) == ((), 0)
    assert "could not be listed to its end" in verdict.message


def test_small_steps_add_up() -> None:
    step = judge("handbook", paths(6), 94, complete=True, limit=DeleteLimit(), deleted_before=6)
    assert step.held_count == 6


def test_a_step_that_deletes_nothing_is_not_held_for_the_steps_before() -> None:
    assert judge("handbook", [], 50, complete=True, limit=DeleteLimit(), deleted_before=50).held_count == 0


def test_what_was_held_stays_held_until_it_is_confirmed() -> None:
    held = judge("handbook", paths(1), 1000, complete=True, limit=DeleteLimit(), held_before=True)
    assert (held.allowed, held.held_count) == ((), 1)
    confirmed = judge("handbook", paths(1), 1000, complete=True, limit=DeleteLimit(), held_before=True, confirmed=True)
    assert list(confirmed.allowed) == paths(1)
