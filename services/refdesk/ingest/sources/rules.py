"""Which paths of a folder are documents; pure: knows nothing of files.

Globs are read as in .gitignore: `**` spans folders (none as well, so `**/*.md` takes top-level files), `*` and `?` do
not cross a slash, a pattern with a slash inside is anchored at the source's root, one without matches at any depth, `!`
takes back. `exclude` wins over `include`. Hidden names (`.git`, `.obsidian`) and node_modules are left out, unless a
pattern of `include` names such a part itself.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pathspec import GitIgnoreSpec

from refdesk.errors import InvalidArgument


class PathRules:
    """The include and exclude globs of one source. Raises: InvalidArgument for a glob that cannot be read."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = read_globs(tuple(include))
        self._include_hidden = read_globs(
            tuple(pattern for pattern in include if any(map(_is_left_out, pattern.split("/"))))
        )
        self._exclude = read_globs(tuple(exclude))

    def take(self, path: str) -> bool:
        """Whether a file at this path is a document."""
        hidden = any(map(_is_left_out, path.split("/")))
        included = self._include_hidden if hidden else self._include
        return included.match_file(path) and not self._exclude.match_file(path)

    def enter(self, folder: str) -> bool:
        """Whether documents may lie under a folder; "" is the root."""
        if not folder:
            return True
        if any(map(_is_left_out, folder.split("/"))) and not len(self._include_hidden):
            return False
        return not self._exclude.match_file(folder + "/")


def _is_left_out(name: str) -> bool:
    return name == "node_modules" or (name.startswith(".") and name not in (".", ".."))


@functools.lru_cache(maxsize=1024)
def read_globs(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """What the globs match. Raises: InvalidArgument for one that cannot be read."""
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError:
        raise InvalidArgument(
            f"a glob cannot be read among: {', '.join(patterns)}; write it as in .gitignore"
        ) from None
