"""How many documents the next batch takes."""

from refdesk.ingest.pace import BYTES, FIRST, LEAST, Pace


def test_full_batches_double_up_to_the_most() -> None:
    pace = Pace(most=384)
    sizes = []
    for _ in range(5):
        sizes.append(pace.size)
        pace.observe(pace.size, pace.size * 8_000)
    assert sizes == [FIRST, 128, 256, 384, 384]


def test_a_batch_that_is_not_full_goes_back_to_the_start() -> None:
    pace = Pace(most=384)
    pace.observe(FIRST, 1000)
    pace.observe(3, 1000)
    assert pace.size == FIRST


def test_large_documents_make_small_batches() -> None:
    pace = Pace(most=384)
    for _ in range(6):
        pace.observe(pace.size, pace.size * 1_000_000)
    assert LEAST <= pace.size <= BYTES // 1_000_000 + 1


def test_the_most_is_kept_even_below_the_first() -> None:
    pace = Pace(most=2)
    pace.observe(2, 10)
    assert pace.size == 2


def test_nothing_fetched_changes_nothing() -> None:
    pace = Pace(most=384)
    pace.observe(FIRST, 1000)
    pace.observe(0, 0)
    assert pace.size == 128
