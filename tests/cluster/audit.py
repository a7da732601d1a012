"""Compares a desk in a cluster with what must stand in it, through its own services; run in the network of a node.

`python -m cluster.audit DOCSTORE SEARCH SOURCE FOLDER` prints each difference on a line.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from system.audit import audit_services


async def run(docstore: str, search: str, source: str, folder: Path) -> list[str]:
    """Every difference; empty where it is as it should be."""
    channels = [open_channel(address) for address in (docstore, search)]
    services = [Far(channel, CONTRACTS[name]) for channel, name in zip(channels, ("docstore", "search"), strict=True)]
    try:
        return await audit_services(services[0], services[1], {source: folder})
    finally:
        for channel in channels:
            await channel.close(None)


if __name__ == "__main__":
    print("\n".join(asyncio.run(run(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])))))
