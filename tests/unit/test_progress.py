"""What a person is told of a desk's progress."""

from refdesk.commands.progress import Counts


def test_what_is_listed_counts_while_it_comes_in_and_what_is_there_afterwards() -> None:
    # The newest listing does not know of deletes that were seen since.
    under_way = Counts(listed=30, documents=12, chunks=40, embedded=0, embeddable=12, settled=False)
    settled = Counts(listed=30, documents=29, chunks=90, embedded=29, embeddable=29, settled=True)
    assert under_way.line() == "words: 12 of 30 documents, 40 chunks | vectors: 0 of 12 documents"
    assert settled.line() == "words: 29 of 29 documents, 90 chunks | vectors: 29 of 29 documents"
    assert (under_way.complete, settled.complete) == (False, True)
