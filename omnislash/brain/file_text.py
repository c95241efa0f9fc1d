"""Bytes of a configuration file → text, and what in that text no configuration may hold.

A byte order mark is skipped.
What cannot be read is replaced by U+FFFD after it was reported, so that the rest of the file is still checked
in the same run and every line keeps its number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from omnislash.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Largest configuration file in bytes; a role file of this size would be some 200,000 words.
FILE_MAX_BYTES = 1_048_576
#: At most this many faults of one kind are listed for a file: enough to mend it, and no flood from binary data.
FAULTS_MAX = 100

_BOM = "\ufeff"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_REPLACEMENT = "\ufffd"
#: Everything YAML calls unprintable, its line ends that editors do not count, and a mark that is not at the start.
_UNREADABLE = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_ENDS = {"\x85", "\u2028", "\u2029"}


def too_large(path: str, size_bytes: int) -> Fault:
    """Return the fault of a file that is over `FILE_MAX_BYTES`."""
    return Fault(
        path,
        f"The file has {size_bytes} bytes; at most {FILE_MAX_BYTES} are read.",
        hint="Move long text out of it.",
    )


def decode_text(data: bytes, *, path: str) -> tuple[str, tuple[Fault, ...]]:
    """Return the text of a file without its byte order mark, and the fault when it is not UTF-8.

    Args:
        data: The bytes as they are on disk.
        path: Name of the file in a fault, relative to the brain.
    """
    if data.startswith(_UTF16_MARKS):
        return "", (Fault(path, "The file is UTF-16.", line=1, hint="Save it as UTF-8."),)
    try:
        return data.decode("utf-8").removeprefix(_BOM), ()
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace").removeprefix(_BOM)
        return text, (_not_utf8(data, error.start, path),)


def _not_utf8(data: bytes, offset: int, path: str) -> Fault:
    before = data[:offset]
    return Fault(
        path,
        f"The byte 0x{data[offset]:02X} at offset {offset} is not UTF-8.",
        line=before.count(b"\n") + 1,
        column=len(before.rpartition(b"\n")[2].decode("utf-8-sig")) + 1,
        hint="Save the file as UTF-8.",
    )


def clean_text(text: str, *, path: str, first_line: int = 1) -> tuple[str, tuple[Fault, ...]]:
    """Return `text` with each unreadable character replaced, and one fault for each of them.

    Args:
        text: Text of a file, or a part of it.
        path: Name of the file in a fault, relative to the brain.
        first_line: Line of the file in which `text` begins.
    """
    text = text.removeprefix(_BOM)
    faults = tuple(_unreadable(text, path, first_line))
    return (_UNREADABLE.sub(_REPLACEMENT, text) if faults else text), faults


def _unreadable(text: str, path: str, first_line: int) -> Iterator[Fault]:
    for count, match in enumerate(_UNREADABLE.finditer(text)):
        at = match.start()
        line = text.count("\n", 0, at) + first_line
        if count == FAULTS_MAX:
            yield Fault(path, "There are more unreadable characters; the file looks like binary data.", line=line)
            return
        message, hint = name_character(match.group())
        yield Fault(path, message, line=line, column=at - text.rfind("\n", 0, at), hint=hint)


def find_unreadable(text: str) -> str | None:
    """Return the first character that no setting may hold, however it was written; None when there is none."""
    match = _UNREADABLE.search(text)
    return match.group() if match else None


def name_character(char: str) -> tuple[str, str]:
    """Return the sentence that names an unreadable character, and what to do about it."""
    code = f"U+{ord(char):04X}"
    if char == "\0":
        return "There is a NUL character.", "Delete it; the file may be damaged."
    if char == "\r":
        return "There is a carriage return without a line feed.", "Save the file with ordinary line ends."
    if char in _LINE_ENDS:
        return f"There is the line separator {code}, which editors do not show.", "Replace it by a space or a new line."
    if char == _BOM:
        return "There is a byte order mark in the middle of the file.", "Delete it."
    if "\ud800" <= char <= "\udfff":
        return f"There is half of a character, {code}.", "Delete it, or type the whole character."
    return f"There is the control character {code}.", "Delete it."
