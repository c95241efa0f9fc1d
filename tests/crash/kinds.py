"""Every kind of work that the writer does, each with a floor for the number of its disk calls."""

from __future__ import annotations

import pytest

from tests.crash.harness import DAY, MEMORY, Kind, ToolCall

_LOG = "# 2026-11-30\n\n- 08:00 The heating was repaired.\n"
_CURATED = "# Notes\n\nThe workshop opens at nine.\n"
_DATED = (
    _CURATED
    + "\n## Memory (2026-08-01)\n\n- "
    + "The first thing that was learned in summer. " * 3
    + "\n\n## Memory (2026-08-02)\n\n- "
    + "The second thing that was learned in summer. " * 3
    + "\n"
)
_FULL = "# Notes\n\n" + "The workshop opens at nine. " * 14 + "\n"


def _write(content: str, **arguments: object) -> ToolCall:
    return ToolCall("memory_write", {"content": content, **arguments})


_BATCH = (
    _write("The postman rang twice."),
    ToolCall("memory_write", {"content": "The backup ran."}, role="ops"),
    _write("The postman comes on Tuesdays.", priority=True),
    _write("The postman rang twice."),
    ToolCall("memory_edit", {"path": "ops/notes.md", "old": "blue", "new": "blue, blue"}, role="ops"),
    ToolCall("memory_write", {"content": "The backup was checked.", "priority": True}, role="ops"),
    _write("The postman is called Emil."),
)
_BATCH_FILES = {DAY: _LOG, MEMORY: _CURATED, "ops/notes.md": "The key is blue.\n"}

KINDS = (
    Kind("write, first of its line", (_write("The choir came."),), 18),
    Kind("write, existing log", (_write("The choir came."),), 9, {DAY: _LOG}),
    Kind("write twice", (_write("The choir came."), _write("The choir sang.")), 18, {DAY: _LOG}),
    Kind("duplicate", (_write("The heating was repaired."),), 2, {DAY: _LOG}),
    Kind("priority", (_write("The choir comes on Mondays.", priority=True),), 15, {DAY: _LOG, MEMORY: _CURATED}),
    Kind("priority with a drop", (_write("The choir comes on Mondays.", priority=True),), 15, {MEMORY: _DATED}),
    Kind("priority refused", (_write("The choir comes on Mondays.", priority=True),), 9, {DAY: _LOG, MEMORY: _FULL}),
    Kind("deposit", (ToolCall("memory_write", {"content": "Sync failed.", "line": "ops"}, heartbeat="briefing"),), 18),
    Kind(
        "edit of an entry",
        (ToolCall("memory_edit", {"path": DAY, "old": "The heating was repaired.", "new": "The heating works."}),),
        9,
        {DAY: _LOG},
    ),
    Kind(
        "edit that repeats itself",
        (ToolCall("memory_edit", {"path": "main/notes.md", "old": "blue", "new": "blue, blue"}),),
        9,
        {"main/notes.md": "The key is blue.\n"},
    ),
    Kind(
        "edit of MEMORY.md with a drop",
        (ToolCall("memory_edit", {"path": MEMORY, "old": "at nine", "new": "at nine, but " + "not on Mondays " * 8}),),
        9,
        {MEMORY: _DATED},
    ),
    Kind(
        "write file, new",
        (ToolCall("memory_write_file", {"path": "main/recipes/soup.md", "content": "# Soup\n"}),),
        12,
        {MEMORY: _CURATED},
    ),
    Kind(
        "write file, replace",
        (ToolCall("memory_write_file", {"path": MEMORY, "content": "# Notes\n\nNew.\n"}),),
        9,
        {MEMORY: _CURATED},
    ),
    Kind(
        "move",
        (ToolCall("memory_move", {"from": "main/a.md", "to": "main/old/b.md"}),),
        13,
        {"main/a.md": "# A\n"},
    ),
    Kind(
        "move onto MEMORY.md with a drop",
        (ToolCall("memory_move", {"from": "main/a.md", "to": MEMORY}),),
        10,
        {"main/a.md": _DATED + "x" * 120 + "\n"},
    ),
    Kind("delete a file", (ToolCall("memory_delete", {"path": DAY}),), 5, {DAY: _LOG, MEMORY: _CURATED}),
    Kind(
        "delete an entry",
        (ToolCall("memory_delete", {"path": DAY, "entry": "The heating was repaired."}),),
        9,
        {DAY: _LOG},
    ),
    Kind(
        "delete a section",
        (ToolCall("memory_delete", {"path": MEMORY, "section": "Memory (2026-08-01)"}),),
        9,
        {MEMORY: _DATED},
    ),
    Kind("batch from the queue", _BATCH, 26, _BATCH_FILES, through="queue"),
    Kind("batch of waiting callers", _BATCH, 26, _BATCH_FILES, through="worker"),
    Kind(
        "edit, then priority, in one batch",
        (
            ToolCall("memory_edit", {"path": MEMORY, "old": "nine", "new": "ten"}),
            _write("The choir comes on Mondays.", priority=True),
        ),
        14,
        {DAY: _LOG, MEMORY: _CURATED},
        through="queue",
    ),
    Kind(
        "approved deletion",
        (ToolCall("memory_delete", {"path": DAY}),),
        6,
        {DAY: _LOG, MEMORY: _CURATED},
        through="approval",
    ),
)

#: The kinds that every test run sweeps; `make test-long` sweeps them all.
_QUICK = {
    "write, existing log",
    "duplicate",
    "priority refused",
    "write file, replace",
    "priority with a drop",
}
#: The kinds as parameters of a sweep over all disk calls.
SWEPT = [pytest.param(kind, id=kind.name, marks=() if kind.name in _QUICK else pytest.mark.long) for kind in KINDS]
