"""The child process that encodes entries for OpenSearch; knows no cluster.

Analysing is pure Python: on a thread it makes every turn of the event loop wait for the interpreter, 5 ms as a rule and up to 50, and
encoding 2,500 entries takes 100 ms. In a process of its own it costs the loop what pickling costs, and has a core to itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refdesk import failpoints
from refdesk.child import serve
from refdesk.search.engines.interface import Grain, WordDocument
from refdesk.search.engines.opensearch_entries import Encoded, encode_documents


def encode(aliases: Mapping[Grain, str], documents: Sequence[WordDocument]) -> list[Encoded]:
    """The entries of documents, for the indices of these aliases."""
    encoded = encode_documents(aliases, documents)
    failpoints.reach("words_encoded")
    return encoded


if __name__ == "__main__":
    serve({"encode": encode})
