"""What of a brain older than lines belongs into the line `main`, and what is said about the rest.

Such a brain has one memory: `memory/MEMORY.md`, its daily logs below `memory/2026/`, and loose notes beside them.

Rules: MIGRATE-01, MIGRATE-02, MIGRATE-07 to MIGRATE-09, LINE-08, LINE-O2.
"""

from __future__ import annotations

import re

from omnislash.core.lines import DEFAULT_LINE, parse_managed_path
from omnislash.errors import InvalidNameError

_YEAR = re.compile(r"[0-9]{4}")


def is_older_than_lines(name: str, *, is_directory: bool) -> bool:
    """Tell whether an entry at the root of `memory/` is named as those of a brain older than lines are.

    That is `MEMORY.md`, a loose `*.md` file that is not hidden, or the directory of a year.

    Rules: MIGRATE-02.
    """
    if is_directory:
        return _YEAR.fullmatch(name) is not None
    return name.endswith(".md") and not name.startswith(".")


def undeclared_message(name: str) -> str:
    """Return the sentence about a directory that was left in place and is a line now.

    Rules: MIGRATE-08, EVENT-10.
    """
    return f"memory/{name} stays where it is: it is a line now, and no role declares it."


def undeclared_hint(name: str) -> str:
    """Return what can be done about a line that no role declares.

    Rules: MIGRATE-09.
    """
    return (
        f"Point a role at it (`memory.write: {name}` or `memory.read: [{name}]`), move its files into a line that is "
        f"read (memory/{DEFAULT_LINE}/…), or move the folder out of memory/, name it under memory.sources in "
        "omnislash.yaml, and then in memory.recall of the manifest or of roles."
    )


def kept_message(name: str, reason: str) -> str:
    """Return the sentence about an entry that the migration left at the root of `memory/`.

    Args:
        name: Path relative to `memory/`.
        reason: Half a sentence.
    """
    return f"memory/{spell_name(name)} stays where it is: {reason}."


def spell_name(name: str) -> str:
    """Return a name in one line of text: bytes that are no UTF-8 and characters that steer a terminal as escapes."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def taken_reason(name: str, *, is_same: bool) -> str:
    """Return why a file stays whose place in the line is taken; nothing is ever overwritten.

    Args:
        name: Path relative to `memory/`.
        is_same: True when both files hold the same bytes.

    Rules: MIGRATE-O1.
    """
    target = f"memory/{DEFAULT_LINE}/{spell_name(name)}"
    if is_same:
        return f"{target} is there already and holds the same, so this copy can be deleted"
    return f"{target} is there already and holds something else, so bring the two together by hand"


def unusable_reason(name: str) -> str | None:
    """Return why an entry can't be a file or a year of a line, as half a sentence; None when it can.

    Only the curated file itself is named `MEMORY.md`: a disk that ignores case would take another spelling for it.
    """
    if _YEAR.fullmatch(name):
        return None
    try:
        parse_managed_path(f"{DEFAULT_LINE}/{name}")
    except InvalidNameError as error:
        return f"no tool could name it in a line ({error.message.rpartition(': ')[2].rstrip('.')}); rename it"
    return None
