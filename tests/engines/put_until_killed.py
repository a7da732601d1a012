"""Puts batches of ten records until a fail point kills the process, and says which batches were acknowledged."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fakes.records import make_record, to_put
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings

BATCH = 10


async def _put(data: Path) -> None:
    store = document_store(DocstoreSettings(), data)
    await store.open()
    for batch in range(100):
        records = (make_record(f"g/{batch:02}-{number}.md", f"text {batch}\n") for number in range(BATCH))
        await store.put_documents(to_put(*records), 1)
        print(batch, flush=True)


if __name__ == "__main__":
    asyncio.run(_put(Path(sys.argv[1])))
