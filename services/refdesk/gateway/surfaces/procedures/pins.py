"""The block of pinned documents: what stands in it, and where it goes; knows nothing of how sessions are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.sessions import Sessions
from refdesk.gateway.surfaces.interface import Caller
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import Outline, estimate_tokens

PIN_TOKENS = 2_000
"""Estimated, of the block."""
INSTRUCTION_CHARACTERS = 2_048
"""Clients cut instructions there, without saying so."""
HONOURING = frozenset({"claude-code"})
"""Clients that put instructions into the model's context; lower-case."""
FACT = "pins"


@dataclass(frozen=True, slots=True)
class PinBlock:
    """The block as it is given, and as much of it as fits into instructions."""

    text: str
    instructions: str
    document_ids: tuple[str, ...]
    """Documents whose sections stand in it."""

    @property
    def fits_instructions(self) -> bool:
        """Whether instructions hold all of it."""
        return self.text == self.instructions


class Pins:
    """Decides whether an answer begins with the block."""

    def __init__(self, library: Library, sessions: Sessions) -> None:
        self._library = library
        self._sessions = sessions

    async def block(self, project: docstore_api.Project) -> PinBlock | None:
        """The block of a project; None where nothing is pinned, or none of it is there. Raises: Unavailable."""
        if not project.pins:
            return None
        return make_block(await self._library.read(project, paths=list(project.pins)))

    async def take(self, project: docstore_api.Project, caller: Caller, *, bare_toc: bool) -> PinBlock | None:
        """The block that this answer begins with, noted as given; None where it is not due, and then it is not read.

        It is due once a session, and without one in every bare get_toc and in no search. A client that honours instructions has it
        already, unless they had no room for all of it. Where it cannot be known what was given, it is given again. Raises: Unavailable.
        """
        if not project.pins:
            return None
        if not caller.session:
            return self._unless_honoured(caller, await self.block(project)) if bare_toc else None
        if not await self._sessions.first(caller.session, f"{FACT}.{project.slug}"):
            return None
        try:
            block = await self.block(project)
        except BaseException:
            await self.take_back(project, caller)
            raise
        if block is None:  # what is pinned may be there by the next answer
            await self.take_back(project, caller)
        return self._unless_honoured(caller, block)

    @staticmethod
    def _unless_honoured(caller: Caller, block: PinBlock | None) -> PinBlock | None:
        has = block is not None and caller.client_name.lower() in HONOURING and block.fits_instructions
        return None if has else block

    async def take_back(self, project: docstore_api.Project, caller: Caller) -> None:
        """The answer that should have had the block failed."""
        if caller.session:
            await self._sessions.forget(caller.session, f"{FACT}.{project.slug}")


def make_block(outlines: Sequence[Outline]) -> PinBlock | None:
    """Whole documents in pin order, as many as the cap has room for; of the rest titles and ids."""
    if not outlines:
        return None
    shown: list[Outline] = []
    named: list[tuple[str, str]] = []
    for outline in outlines:
        lines = [(one.title, one.document_id) for one in outlines[len(shown) + 1 :]]
        if named or estimate_tokens(wording.write_pins([*shown, outline], lines)) > PIN_TOKENS:
            named.append((outline.title, outline.document_id))
        else:
            shown.append(outline)
    text = wording.write_pins(shown, named)
    return PinBlock(text, _for_instructions(text, outlines), tuple(one.document_id for one in shown))


def _for_instructions(text: str, outlines: Sequence[Outline]) -> str:
    if len(text) <= INSTRUCTION_CHARACTERS:
        return text
    for count in range(len(outlines), -1, -1):
        short = wording.write_pins([], [(one.title, one.document_id) for one in outlines[:count]])
        if len(short) <= INSTRUCTION_CHARACTERS:
            break
    return short
