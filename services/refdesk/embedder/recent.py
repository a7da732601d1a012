"""Vectors of the latest queries; knows nothing of how they are made."""

from __future__ import annotations

from collections import OrderedDict

from refdesk.api.embedder.v1 import embedder_pb2 as pb


class RecentQueries:
    """The least recently used goes first. One text always gives the same bits, so a kept vector is never stale."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: OrderedDict[tuple[str, str], pb.EmbedTextsItem] = OrderedDict()

    def get(self, model_id: str, text: str) -> pb.EmbedTextsItem | None:
        """What was put under this text, if it is still kept."""
        item = self._items.get((model_id, text))
        if item is not None:
            self._items.move_to_end((model_id, text))
        return item

    def put(self, model_id: str, text: str, item: pb.EmbedTextsItem) -> None:
        """Keeps the item, which nobody may change afterwards."""
        if self._most == 0:
            return
        self._items[model_id, text] = item
        self._items.move_to_end((model_id, text))
        if len(self._items) > self._most:
            self._items.popitem(last=False)
