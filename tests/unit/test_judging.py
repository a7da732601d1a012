"""The eval's own judge: right pages, right sections, shares."""

from eval.judging import Found, Judged, judge, score

QUESTION = {"answers": [{"path": "a.md", "heading": "The `set` flag"}, {"path": "b.md", "heading": ""}]}


def test_the_rank_counts_distinct_pages() -> None:
    results = [Found("x.md", (), ""), Found("x.md", ("Y",), ""), Found("a.md", ("Top", "Other"), "")]
    assert judge(QUESTION, results, is_good=True) == Judged(2, True, False, False)


def test_a_section_is_found_in_the_breadcrumb_or_as_a_heading_of_the_excerpt() -> None:
    assert judge(QUESTION, [Found("a.md", ("Top", "The set flag", "More"), "")], is_good=True).section_in_five
    assert judge(QUESTION, [Found("a.md", ("Top",), "text\n### The `set` flag\nmore")], is_good=True).section_in_five
    assert not judge(QUESTION, [Found("a.md", ("Top",), "The set flag")], is_good=True).section_in_five


def test_text_before_the_first_heading_is_a_section_too() -> None:
    assert judge(QUESTION, [Found("b.md", ("Top",), "")], is_good=True).section_in_five
    assert not judge(QUESTION, [Found("b.md", ("Top", "Deep"), "")], is_good=True).section_in_five


def test_a_page_behind_the_fifth_result_counts_for_the_rank_only() -> None:
    results = [Found(f"{n}.md", (), "") for n in range(5)] + [Found("a.md", (), "")]
    assert judge(QUESTION, results, is_good=False) == Judged(6, False, False, True)


def test_shares_by_hand() -> None:
    total = score(
        [
            Judged(1, True, True, False),
            Judged(4, True, False, False),
            Judged(0, False, False, True),
            Judged(8, False, False, True),
        ]
    )
    assert (total.recall_at_5, total.section_in_5, total.refused) == (0.5, 0.25, 0.5)
    assert total.mrr_at_10 == (1 + 1 / 4 + 0 + 1 / 8) / 4
