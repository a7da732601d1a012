"""Named places where a test may end the process or fail a step; without the test setting every one of them does nothing."""

from __future__ import annotations

import os
import signal

from refdesk.errors import Unavailable

SETTING = "REFDESK_TEST_FAILPOINT"
"""`name=kill`, `name=fail` or `name=kill@3` (at the third time); several are split by commas. Read once, at import."""

_armed: dict[str, tuple[str, int]] = {}
_reached: dict[str, int] = {}


def arm(setting: str) -> None:
    """Arms the places that `setting` names; an empty setting disarms all."""
    _armed.clear()
    _reached.clear()
    for part in filter(None, setting.split(",")):
        name, _, action = part.partition("=")
        verb, _, count = action.partition("@")
        _armed[name.strip()] = (verb.strip(), int(count or 1))


def reach(name: str) -> None:
    """Does what the test setting asks of this place: nothing, as a rule.

    Raises: Unavailable where the setting says `fail`.
    """
    if not _armed or name not in _armed:
        return
    _reached[name] = _reached.get(name, 0) + 1
    verb, count = _armed[name]
    if _reached[name] != count:
        return
    if verb == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if verb == "fail":
        raise Unavailable(f"fail point {name} was asked to fail")


arm(os.environ.get(SETTING, ""))
