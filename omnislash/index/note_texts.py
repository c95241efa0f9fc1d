"""Bytes of a markdown file → the text that is searched, what is wrong with it, and what its frontmatter says.

A file is never left out for what is wrong with it: bytes that are no UTF-8 are searched as U+FFFD, and frontmatter
that doesn't parse is searched as text, like the rest of the file.

Rules: RECALL-O5, MIGRATE-O3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.brain.frontmatter import parse_document, split_frontmatter
from omnislash.brain.tree import Mapping, Scalar, Sequence
from omnislash.brain.yaml_text import parse_yaml
from omnislash.core.entries import BYTE_ORDER_MARK
from omnislash.errors import Fault
from omnislash.index.date_words import parse_day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from omnislash.brain.tree import Node

#: Longest frontmatter that is read as keys, in characters; a longer one is text. People's are under 2,000.
HEADER_MAX_CHARS: Final = 65_536
#: Longest stretch of a file's other keys that is searched with its first note, in characters.
DETAILS_MAX_CHARS: Final = 1_000

_KEY_LINE = re.compile(r"(?m)^[ \t]*+[\"']?[^\W\d][\w .-]{0,60}+[\"']?[ \t]{0,4}+:(?:\s|\Z)")
#: A line of frontmatter that should be a key: not indented, no item of a list, no comment, no bracket that closes.
_MARGIN_LINE = re.compile(r"(?m)^[^\s#\]})-].*")
#: A key as people write one, of at most three words.
_SHORT_KEY = re.compile(r"[\"']?[\w.-]{1,40}(?: [\w.-]{1,40}){0,2}[\"']?[ \t]{0,4}:(?:\s|$)")
_OPENING = re.compile(r"\ufeff?---[ \t]*+(?:[\r\n]|\Z)")
_UTF16: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
#: Keys whose value is the day that a document belongs to, the first that is there wins.
_DAY_KEYS: Final = ("date", "created")
_TITLE_KEYS: Final = ("title", "name")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file that is searched all the same."""

    #: A sentence that says what is wrong and what to do.
    message: str
    #: Line of the file, counted from 1.
    line: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file."""

    #: Without a byte order mark, with the line ends of the file.
    text: str
    #: In the order in which they were found.
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """What a text says before its body."""

    #: Offset of the body, or 0 when all of the text is body.
    body: int = 0
    #: Offsets of frontmatter that is searched as text, because it doesn't parse; None otherwise.
    broken: tuple[int, int] | None = None
    #: `title`, else `name`; '' when neither is there.
    title: str = ""
    #: The other keys as `key: value` lines.
    details: str = ""
    #: `date`, else `created`.
    on: date | None = None


def decode(data: bytes) -> Decoded:
    """Return the text of a file as it is searched; no bytes make it fail.

    UTF-16 with its mark is read as such, and reported, since nothing else here reads it.

    Args:
        data: The bytes as they are on disk.
    """
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        text = data[2:].decode(encoding, "replace")
        problems = [Problem("The file is UTF-16. Save it as UTF-8.", 1)]
    else:
        text = data.decode("utf-8", "replace")
        problems = [] if "\ufffd" not in text else _find_bad_byte(data)
    text = text.removeprefix(BYTE_ORDER_MARK)
    return Decoded(text, (*problems, *find_header_problems(text)))


def read_header(text: str) -> Header:
    """Return what the frontmatter of a text says; a text without one is all body."""
    if not _OPENING.match(text):
        return Header()
    parts = split_frontmatter(text)
    if parts.header is None or not _is_meant(parts.header):
        return Header()
    body = len(text) - len(parts.body)
    start = text.index("\n") + 1
    faults, root = _read_keys(parts.header)
    broken = start, start + len(parts.header.rstrip())
    return Header(body, broken=broken) if faults else _read_root(root, body)


def _find_bad_byte(data: bytes) -> list[Problem]:
    """Return the problem of bytes that are no UTF-8; none when U+FFFD stands in the file itself."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return [Problem(f"The byte 0x{data[error.start]:02X} is not UTF-8. Save the file as UTF-8.", line)]
    return []


def find_header_problems(text: str) -> Iterator[Problem]:
    """Yield what is wrong with the frontmatter of a text; nothing for a text that has none.

    Prose between two rules, with a colon here and there, is no frontmatter that went wrong.
    """
    if not _OPENING.match(text):
        return
    header = split_frontmatter(text).header
    if header is None:
        faults = parse_document(text, path="").tree.faults
    else:
        faults = _read_keys(header)[0] if _is_meant(header) and not _is_prose(header) else ()
    for fault in faults:
        yield Problem(" ".join(filter(None, (fault.message, fault.hint))), fault.line or 1)


def _read_keys(header: str) -> tuple[tuple[Fault, ...], Mapping | None]:
    """Return what is wrong with a header, and its keys."""
    if len(header) > HEADER_MAX_CHARS:
        return (_too_long(header),), None
    tree = parse_yaml(header, path="", first_line=2)
    return tree.faults, tree.root


def _too_long(header: str) -> Fault:
    message = f"The frontmatter has {len(header)} characters; at most {HEADER_MAX_CHARS} are read."
    return Fault("", message, line=1, hint="Move long text into the body.")


def _is_meant(header: str) -> bool:
    """Tell whether text between two rules was meant as frontmatter: a line of it gives a key."""
    return _KEY_LINE.search(header) is not None


def _is_prose(header: str) -> bool:
    """Tell whether at most half of the lines that begin at the margin begin with a key; lists and comments don't count."""
    lines = _MARGIN_LINE.findall(header)
    return bool(lines) and 2 * sum(map(bool, map(_SHORT_KEY.match, lines))) <= len(lines)


def _read_root(root: Mapping | None, body: int) -> Header:
    """Return what the keys of a header say."""
    if root is None:
        return Header(body)
    plain = {key: node.text for key, node in root.entries.items() if isinstance(node, Scalar) and not node.is_null}
    title = next((plain[key].strip() for key in _TITLE_KEYS if plain.get(key, "").strip()), "")
    days = (parse_day(plain[key]) for key in _DAY_KEYS if key in plain)
    on = next((day for day in days if day is not None), None)
    rest = [(key, node) for key, node in root.entries.items() if plain.get(key, "").strip() != title or not title]
    lines = (f"{key}: {', '.join(words)}" for key, node in rest if (words := list(_scalars(node))))
    return Header(body, title=title, details="\n".join(lines)[:DETAILS_MAX_CHARS], on=on)


def _scalars(node: Node) -> Iterator[str]:
    """Yield the texts in a value, in order; depth is bounded by the reader of YAML."""
    match node:
        case Scalar() if not node.is_null and node.text.strip():
            yield " ".join(node.text.split())
        case Sequence():
            for item in node.items:
                yield from _scalars(item)
        case Mapping():
            for child in node.entries.values():
                yield from _scalars(child)
