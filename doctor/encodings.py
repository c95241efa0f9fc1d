"""Encodings: bytes that are no text, and line ends that do not agree."""

# ruff: noqa: A005  named after its check, and never imported by that name
from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from omnislash.checks.examined import Area
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Finding, Group, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.checks.examined import Examined, SeenFile

_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
#: A surrogate, written as if it were a character: half of an emoji.
_HALF: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_LONE_RETURN: Final = re.compile(rb"\r(?!\n)")
_LONE_FEED: Final = re.compile(rb"(?<!\r)\n")
#: A text in UTF-16 of which this share of the bytes is NUL has mostly letters of the Latin script.
_NUL_SHARE: Final = 0.4


class _Kind(NamedTuple):
    severity: Severity
    what: str


_UTF16 = _Kind(Severity.FAIL, "files in UTF-16")
_EMPTIED = _Kind(Severity.FAIL, "files that hold nothing but NUL bytes")
_NUL = _Kind(Severity.WARN, "files with NUL bytes")
_BINARY = _Kind(Severity.WARN, "files that are no text")
_HALVES = _Kind(Severity.WARN, "files with halves of characters")
_NO_UTF8 = _Kind(Severity.WARN, "files that are not UTF-8")
_INNER_MARK = _Kind(Severity.WARN, "files with a byte order mark in the middle")
_MIXED = _Kind(Severity.WARN, "files whose line ends do not agree")
_RETURNS = _Kind(Severity.WARN, "files with lone carriage returns")
_BOM = _Kind(Severity.INFO, "files with a byte order mark")


class _Found(NamedTuple):
    kind: _Kind
    path: str
    message: str
    line: int | None
    hint: str | None

    def finding(self) -> Finding:
        return Finding(self.kind.severity, self.message, self.path, self.line, None, self.hint)


class Encodings(Check):
    """Looks at the bytes of every file."""

    id: ClassVar[str] = "encodings"
    title: ClassVar[str] = "Encodings"
    protects: ClassVar[str] = "Text that was saved in another encoding, or damaged, is noticed before it is lost."
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._found: list[_Found] = []

    def see(self, file: SeenFile) -> None:
        """Look at one file."""
        data = file.data or b""
        if b"\r" in data:
            self._found += _find_line_ends(file.entry.shown, data)
        if b"\0" in data or not data.isascii():
            self._found += _find_no_text(file, data)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what was found; what loading the settings has named already is left to the check that says so."""
        told = {(fault.path, fault.line) for fault in brain.config.faults}
        kinds: dict[_Kind, list[Finding]] = {}
        for found in self._found:
            if (found.path, found.line) not in told:
                kinds.setdefault(found.kind, []).append(found.finding())
        for kind in sorted(kinds, key=list(_ORDER).index):
            yield from shorten(kinds[kind], kind.what)


_ORDER: Final = (_UTF16, _EMPTIED, _NUL, _BINARY, _HALVES, _NO_UTF8, _INNER_MARK, _MIXED, _RETURNS, _BOM)


def _find_no_text(file: SeenFile, data: bytes) -> Iterator[_Found]:
    path, nuls = file.entry.shown, data.count(b"\0")
    if nuls == len(data):
        yield _Found(
            _EMPTIED, path, f"{path} holds nothing but NUL bytes, as a cut of the power leaves it.", 1, _back(file)
        )
    elif data.startswith(_UTF16_MARKS) or nuls >= _NUL_SHARE * len(data):
        able = "only search can read it" if data.startswith(_UTF16_MARKS) else "nothing can read it"
        yield _Found(_UTF16, path, f"{path} is UTF-16: {able}.", 1, "Save it as UTF-8.")
    elif nuls and not file.is_utf8:
        line = _line_at(data, data.index(b"\0"))
        message = f"{path} is no text: it holds {_count(nuls, 'NUL byte')} and bytes that are not UTF-8."
        yield _Found(_BINARY, path, message, line, "Move it out of here, or give it another ending than .md.")
    else:
        yield from _find_damage(file, data, nuls)


def _find_damage(file: SeenFile, data: bytes, nuls: int) -> Iterator[_Found]:
    """Yield what is damaged in a file that is text on the whole."""
    path = file.entry.shown
    if nuls:
        line = _line_at(data, data.index(b"\0"))
        message = f"{path} holds {_count(nuls, 'NUL byte')}, so git takes it for a binary file."
        yield _Found(_NUL, path, message, line, "Delete them in an editor.")
    if not file.is_utf8:
        yield _describe_bytes(path, data)
    if data.startswith(_MARK):
        message = f"{path} begins with a byte order mark; omnislash passes over it, other programs may not."
        yield _Found(_BOM, path, message, 1, None)
    inner = data.find(_MARK, 1)
    if inner >= 0:
        message = f"{path} holds a byte order mark in the middle, which hides a heading or a list item behind it."
        yield _Found(_INNER_MARK, path, message, _line_at(data, inner), "Delete the invisible character there.")


def _describe_bytes(path: str, data: bytes) -> _Found:
    """Return the finding about the first bytes that are not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        at = error.start
    half = _HALF.match(data, at)
    line = _line_at(data, at)
    if half:
        message = f"{path} holds half of a character (bytes {half[0].hex(' ').upper()}), most often of an emoji."
        return _Found(_HALVES, path, message, line, "Type the whole character there.")
    message = f"{path} is not UTF-8 (byte {data[at]:02X}); those characters are shown and searched as U+FFFD."
    return _Found(_NO_UTF8, path, message, line, "Open it in the encoding in which it was saved, and save it as UTF-8.")


def _find_line_ends(path: str, data: bytes) -> Iterator[_Found]:
    both, feeds, returns = data.count(b"\r\n"), data.count(b"\n"), data.count(b"\r")
    if both and feeds > both:
        other = feeds - both
        rare = other <= both
        found = _LONE_FEED.search(data) if rare else re.search(rb"\r\n", data)
        message = f"{path} mixes line ends: {_count(both, 'line')} with CRLF, {_count(other, 'line')} with LF."
        hint = "Save it with one kind of line end."
        yield _Found(_MIXED, path, message, _line_at(data, found.start()) if found else None, hint)
    if returns > both:
        found = _LONE_RETURN.search(data)
        lone = returns - both
        message = f"{path} holds {_count(lone, 'lone carriage return')}, which end no line here."
        hint = "Save it with ordinary line ends."
        yield _Found(_RETURNS, path, message, _line_at(data, found.start()) if found else None, hint)


def _line_at(data: bytes, offset: int) -> int:
    """Return the line in which an offset lies, counted from 1."""
    return data.count(b"\n", 0, offset) + 1


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _back(file: SeenFile) -> str:
    if file.entry.area is Area.MEMORY:
        return "Take an older version out of git, or delete the file."
    return "Take an older version out of git or a backup."
