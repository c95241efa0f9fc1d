r"""A daily log: `# YYYY-MM-DD`, an empty line, then one list item an entry, in the order in which they came.

The engine only ever appends: the old text is a prefix of the new one, whoever wrote it and whatever it holds, with a
missing line end added.
A person may have written anything in between; what is no list item at column 0 is kept and is no entry.

Rules: LINE-05, PERIOD-O3, WRITE-12.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omnislash.core.entries import BYTE_ORDER_MARK, parse_entries, render_entry
from omnislash.core.sections import find_newline

if TYPE_CHECKING:
    from datetime import date

    from omnislash.core.entries import Entry

_WRITING = re.compile(r"(?m)^[ \t]*+(?!#{1,6}(?:[ \t\r\n]|\Z))[^\s]")
_HEADING = re.compile(r"#{1,6}[ \t]")


def render_heading(on: date) -> str:
    """Return the heading of that day's log, without a line end: `# 2026-11-30`."""
    return f"# {on.isoformat()}"


def append_entry(text: str | None, content: str, *, on: date, time: str, signature: str | None = None) -> str:
    """Return the log with one more entry at its end.

    A log without any writing in it begins with its heading; one that ends in a heading gets an empty line after it.

    Args:
        text: The log as it is, or None when there is no file; kept as a prefix of what comes back.
        content: Any accepted content.
        on: The log's day.
        time: `HH:MM` in the brain's time zone.
        signature: `<role> · <heartbeat>` or `<role>`, for a deposit.

    Rules: LINE-05, REPORT-04, REPORT-07.
    """
    old = text or ""
    newline = find_newline(old)
    item = render_entry(content, time=time, signature=signature, newline=newline) + newline
    written = old.removeprefix(BYTE_ORDER_MARK)
    begun = old if not written or old.endswith("\n") else old + newline
    if not written.strip():
        return f"{begun}{render_heading(on)}{newline}{newline}{item}"
    last_line = written.removesuffix("\n").rpartition("\n")[2]
    return f"{begun}{newline}{item}" if _HEADING.match(last_line) else begun + item


def parse_daily(text: str) -> tuple[Entry, ...]:
    """Return the entries of a daily log, in order, their time apart from their text."""
    return parse_entries(text, timed=True)


def has_writing(text: str) -> bool:
    """Tell whether a log says anything beyond headings, its own and those under which a person meant to write.

    Rules: PERIOD-22, PERIOD-O3.
    """
    return _WRITING.search(text.removeprefix(BYTE_ORDER_MARK)) is not None
