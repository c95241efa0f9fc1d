"""Whether a role can ask for a review at all, told from its file alone, so that a turn of one that does not costs nothing.

A hook without a worker would else start a process after every turn, which opens the brain only to find that the role wants
none. What is said here is "no" or "perhaps": whatever is not as plain as can be is left to that process, which reads the
brain as everybody does.

Rules: FLUSH-01 to FLUSH-03, DECLARE-07.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where files of roles, heartbeats and hooks lie, at any depth, and how their names end: as in `omnislash.brain`.
_FEATURES: Final = "features"
_ROLE, _BEATS = ".agent.md", (".heartbeat.md", ".hook.md")
#: A line that says no.
_NO: Final = re.compile(rb"^memoryFlush:[ \t]+false[ \t]*(?:#[^\r\n]*)?\r?$", re.MULTILINE)
#: What may stand for the key: the key itself, and a quoted one that spells a letter of it.
_PERHAPS: Final = re.compile(rb"memoryFlush|\\[xuU]")
#: Longest file that is looked through, in bytes.
_BYTES_MAX: Final = 1024 * 1024


def may_flush(brain: str, role: str, heartbeat: str | None) -> bool:
    """Return False when neither the file of a role nor that of what runs it can ask for a review; True for perhaps.

    Args:
        brain: The brain's directory.
        role: Id of the role.
        heartbeat: Id of the heartbeat or hook that runs it; None in a chat.
    """
    wanted = {
        f"{role}{_ROLE}": role,
        **({} if heartbeat is None else {f"{heartbeat}{end}": heartbeat for end in _BEATS}),
    }
    found: set[str] = set()
    try:
        for path in _walk(brain):
            if path.name in wanted:
                found.add(wanted[path.name])
                if _asks(path):
                    return True
    except OSError:
        return True
    return found != set(wanted.values())


def _walk(brain: str) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise error

    for directory, _, names in os.walk(os.path.join(brain, _FEATURES), onerror=fail):  # noqa: PTH118 - a host may write any text
        yield from (Path(directory, name) for name in names)


def _asks(path: Path) -> bool:
    if not path.is_file():  # a pipe would be waited for
        return True
    with path.open("rb") as file:
        data = file.read(_BYTES_MAX + 1)
    return len(data) > _BYTES_MAX or _PERHAPS.search(_NO.sub(b"", data)) is not None
