"""The files of a new brain: short, commented, and right as they stand."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Final

from omnislash.core.lines import DEFAULT_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: `memory.fileMaxChars` of a new brain, in UTF-16 units.
FILE_MAX_CHARS: Final = 12_000
_PROJECT = """\
# This file makes the directory a brain. Every setting has a default; `omnislash help configuration` lists them.
memory:
  # Documents of your own that roles may read, relative to this directory. Memory never writes them.
  # sources: [content, handbook.md]
  languages: [english]
"""

_MANIFEST = """\
# Defaults for every role of this brain; a role's own file may say otherwise.
memory:
  # How long a line's MEMORY.md may be, in chars; 0 = no limit. When it is full, its oldest dated notes go first;
  # they stay in the daily logs.
  fileMaxChars: __LIMIT__
locale:
  # Decides which day an entry belongs to, and its time.
  timezone: UTC
""".replace("__LIMIT__", str(FILE_MAX_CHARS))

_NOVA = """\
---
name: Nova
description: The assistant you talk to.
# What it may do with its memory; take away what it should not.
capabilities: [memory:read, memory:write, memory:edit, memory:delete]
# An empty block turns memory on. It writes the line `main`, and reads it.
memory: {}
---
You are Nova.

Write down what will still matter tomorrow: decisions with their reason, promises with their date, how people want things.
Make an entry a priority only when every future conversation needs it.
"""

#: State of the machine, which no repository of a brain may hold.
_STATE: Final = (".omnislash/", ".omnislash-*", "memory/.memory-index.db*")
_IGNORE = """\
.omnislash/
.omnislash-*
memory/.memory-index.db*

# What editors and systems leave beside notes.
*~
.*.sw[a-p]
\\#*#
.#*
.~lock.*
._*
.DS_Store
Thumbs.db
desktop.ini

# Keys.
.env
.env.*
.envrc
!.env.example
"""

#: Path in the brain → text.
FILES = {
    "omnislash.yaml": _PROJECT,
    "constitution/MANIFEST.yaml": _MANIFEST,
    "features/chat/nova.agent.md": _NOVA,
}
#: What every brain has, the example's copy included.
IGNORE = (".gitignore", _IGNORE)

#: The file with the defaults of every role.
MANIFEST: Final = "constitution/MANIFEST.yaml"

#: What YAML reads as text without quotes, whatever it says: none of these words is a number, a date or a truth.
_PLAIN: Final = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_.-]+)*", re.IGNORECASE
)
#: Longest list that stands in one line, in characters.
_LINE_CHARS: Final = 100


def adopting_files(*, sources: Iterable[str], line: str | None) -> dict[str, str]:
    """Return the files of a new brain in a folder that held notes, by path.

    Args:
        sources: Authored sources; every role recalls them.
        line: The line that roles write; None = `main`.
    """
    files = dict(FILES)
    names = tuple(sources)
    if names:
        example = "  # sources: [content, handbook.md]\n"
        files["omnislash.yaml"] = _PROJECT.replace(example, _render_list("sources", names))
        comment = "  # What every turn of every role searches: the sources of omnislash.yaml.\n"
        _add(files, comment + _render_list("recall", names))
    if line is not None:
        _add(
            files,
            f"  # The line that roles write and are shown, unless their own file says otherwise.\n  write: {_quote(line)}\n",
        )
    return files


def render_needs(*, recall: Iterable[str], line: str | None) -> str:
    """Return the lines that a manifest needs for notes that were adopted, to be shown to its owner."""
    names = tuple(recall)
    keys = _render_list("recall", names) if names else f"  write: {_quote(line or DEFAULT_LINE)}\n"
    return f"memory:\n{keys}"


def render_sources(names: Iterable[str]) -> str:
    """Return the lines that `omnislash.yaml` needs for sources, to be shown to its owner."""
    return f"memory:\n{_render_list('sources', tuple(names))}"


def find_unignored(root: Path) -> list[str]:
    """Return the lines that the brain's own .gitignore lacks; empty where it is not there yet, because it is made then."""
    place = root / IGNORE[0]
    if not os.path.lexists(place):
        return []
    try:
        there = {line.strip().strip("/") for line in place.read_text(encoding="utf-8", errors="replace").splitlines()}
    except OSError:
        there = set()
    return [line for line in _STATE if line.strip("/") not in there]


def _add(files: dict[str, str], text: str) -> None:
    """Put keys behind `memory:` in the manifest."""
    files["constitution/MANIFEST.yaml"] = files["constitution/MANIFEST.yaml"].replace(
        "memory:\n", f"memory:\n{text}", 1
    )


def _render_list(key: str, names: tuple[str, ...]) -> str:
    flow = f"  {key}: [{', '.join(map(_quote, names))}]\n"
    return flow if len(flow) <= _LINE_CHARS else f"  {key}:\n" + "".join(f"    - {_quote(name)}\n" for name in names)


def _quote(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
