"""Duplicate entries: what stands twice in one MEMORY.md or in one daily log.

Entries are the same when the writer would take the second one for a duplicate: without regard to case, white space and
the time in front.

Rules: WRITE-14, WRITE-O6.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.faults import SHOWN_MAX, shorten
from omnislash.checks.findings import Check, Group, info, warn
from omnislash.checks.placing import place_of
from omnislash.core.credentials import mask_secrets
from omnislash.core.dedupe import fold
from omnislash.core.entries import parse_entries
from omnislash.core.lines import FileKind
from omnislash.core.sections import parse_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.checks.examined import Examined, SeenFile
    from omnislash.checks.findings import Finding
    from omnislash.core.entries import Entry

_MARKERS: Final = ("- ", "+ ", "* ")
_INDENTS: Final = ("  ", "\t", " \t")
_INDENTED: Final = ("\n ", "\n\t")
_TIME: Final = re.compile(r"\A(?:[01][0-9]|2[0-3]):[0-5][0-9](?:[ ]|(?=\n))(?=\s*\S)")
#: The items of a text without indented lines.
_LINE: Final = re.compile(r"(?m)^[-+*] (.*)$")
_TIMED_LINE: Final = re.compile(r"(?m)^[-+*] (?:(?:[01][0-9]|2[0-3]):[0-5][0-9][ ](?=.*\S))?(.*)$")
#: So much of an entry is shown, in characters.
_SHOWN: Final = 60


class DuplicateEntries(Check):
    """Looks at the entries of the files that the writer adds to."""

    id: ClassVar[str] = "duplicate-entries"
    title: ClassVar[str] = "Duplicate entries"
    protects: ClassVar[str] = (
        "The budget of MEMORY.md and the eyes of its readers are not spent on the same fact twice."
    )
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._memory: list[Finding] = []
        self._apart: list[Finding] = []
        self._daily: list[Finding] = []

    def see(self, file: SeenFile) -> None:
        """Look at one file."""
        placed = place_of(file.entry) if file.data else None
        if placed is None or placed.kind not in {FileKind.MEMORY, FileKind.DAILY}:
            return
        if not _may_hold_twins(file.text, timed=placed.kind is FileKind.DAILY):
            return
        if placed.kind is FileKind.DAILY:
            self._see_log(file)
        else:
            self._see_memory(file)

    def _see_log(self, file: SeenFile) -> None:
        for first, second in _twins(file.text, timed=True):
            # Of a log that was doubled whole, only what is shown is put into words; the rest is counted.
            is_shown = len(self._daily) < SHOWN_MAX
            self._daily.append(_tell_in_log(file, first, second) if is_shown else self._daily[0])

    def _see_memory(self, file: SeenFile) -> None:
        starts = [section.start for section in parse_memory(file.text).sections]
        for first, second in _twins(file.text, timed=False):
            if any(first.start < start <= second.start for start in starts):
                message = f"{_name(second)} stands in line {first.line} too, in another section."
                self._apart.append(info(message, path=file.entry.shown, line=second.line))
            else:
                message = f"{_name(second)} stands in line {first.line} too, and counts twice in the budget."
                hint = f"Delete one of the two lines in {file.entry.shown}."
                self._memory.append(warn(message, path=file.entry.shown, line=second.line, hint=hint))

    def conclude(self, brain: Examined) -> Iterable[Finding]:  # noqa: ARG002 - all of it is in the files
        """Return what was found."""
        yield from shorten(self._memory, "entries that stand twice in a section")
        yield from shorten(self._apart, "entries that stand in two sections")
        yield from shorten(self._daily, "entries that stand twice in a daily log")


def _may_hold_twins(text: str, *, timed: bool) -> bool:
    """Tell whether two list items say the same; cheaper than reading the entries, and True for all that hold some."""
    caseless = text.lower() if text.isascii() else _fold_letters(text)
    if any(indent in caseless for indent in _INDENTED):
        items = [_TIME.sub("", item) if timed else item for item in _split_items(caseless)]
    else:
        items = (_TIMED_LINE if timed else _LINE).findall(caseless)
    return len({" ".join(item.split()) for item in items}) < len(items)


def _fold_letters(text: str) -> str:
    """Return a text folded like an entry, but for its white space."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _split_items(text: str) -> Iterator[str]:
    """Yield the list items at column 0 with their indented lines, hidden ones included."""
    item: list[str] = []
    for line in text.split("\n"):
        if line.startswith(_MARKERS):
            if item:
                yield "\n".join(item)
            item = [line[2:]]
        elif item and (line.startswith(_INDENTS) or not line.strip(" \t\r")):
            item.append(line)
        elif item:
            yield "\n".join(item)
            item = []
    if item:
        yield "\n".join(item)


def _twins(text: str, *, timed: bool) -> Iterator[tuple[Entry, Entry]]:
    """Yield each entry that says what an earlier one says, behind the first that says it."""
    first: dict[str, Entry] = {}
    for entry in parse_entries(text, timed=timed):
        key = fold(entry.text)
        if not key:
            continue
        if key in first:
            yield first[key], entry
        else:
            first[key] = entry


def _tell_in_log(file: SeenFile, first: Entry, second: Entry) -> Finding:
    return info(f"{_name(second)} stands in line {first.line} too.", path=file.entry.shown, line=second.line)


def _name(entry: Entry) -> str:
    """Return the beginning of an entry in quotes, without a credential."""
    text = " ".join(mask_secrets(entry.text).split())
    return f"“{text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}”"
