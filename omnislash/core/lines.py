"""Line names, paths of managed files and paths of authored sources.

A managed path is written as agents write it: relative to `memory/`, the line first, forward slashes
(`main/2026/11/2026-11-30.md`).
An authored path is relative to the root of the brain (`people/maria/style.md`).
Both are checked as text, before anything touches a disk: an accepted path is its own normal form, so it
cannot climb out of its line or its source on any platform.
Below a directory that is named like a year only the files of the calendar exist, and only at their place:

::

    <line>/MEMORY.md                          memory
    <line>/2026/11/2026-11-30.md              daily
    <line>/2026/2026-W49.md                   week, in the directory of its ISO year
    <line>/2026/2026-11.md                    month
    <line>/2026/2026-Q4.md                    quarter
    <line>/2026/2026.md                       year
    <line>/anything/else.md                   document

Rules: LINE-05, LINE-07 to LINE-09, PERIOD-04 to PERIOD-07, PERIOD-O1, SOURCE-04 to SOURCE-07, SOURCE-O7.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, NewType

from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Callable

#: A name that `parse_line_name` accepted.
LineName = NewType("LineName", str)
#: A path relative to `memory/` that `parse_managed_path` accepted.
ManagedPath = NewType("ManagedPath", str)
#: A path relative to the brain: a source, a directory or file in one.
AuthoredPath = NewType("AuthoredPath", str)

#: The line that agents share unless something says otherwise (LINE-02).
DEFAULT_LINE = LineName("main")
#: The curated file of every line.
MEMORY_FILE = "MEMORY.md"
#: Longest line name, in characters (LINE-07).
LINE_NAME_MAX = 64
#: Longest piece of a name that a message repeats, in characters.
QUOTE_MAX = 80
#: Longest segment of a path in UTF-8 bytes: what the usual file systems hold.
SEGMENT_MAX_BYTES = 255
#: Longest path in UTF-8 bytes: leaves room for the brain's own directory below the smallest usual limit (1024).
PATH_MAX_BYTES = 800
_CHAR_MAX_BYTES = 4

_LINE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_YEAR = re.compile(r"[0-9]{4}")
_SOURCE_TAIL = "._-"
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789\u00b9\u00b2\u00b3"]
)
_NOT_PORTABLE = frozenset('<>:"|?*')


class FileKind(StrEnum):
    """What a managed file is, as its place in the line tells."""

    MEMORY = "memory"
    DAILY = "daily"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DOCUMENT = "document"


def quote_name(text: str) -> str:
    """Return `text` in quotes for a message: at most 80 characters, with everything unprintable escaped."""
    return repr(text if len(text) <= QUOTE_MAX else text[: QUOTE_MAX - 1] + "…")


def is_line_name(text: str) -> bool:
    """Tell whether `text` can be the name of a line.

    Rules: LINE-07, LINE-08.
    """
    return _find_line_problem(text) is None


def parse_line_name(text: str) -> LineName:
    """Return `text` as a line name.

    Raises:
        InvalidNameError: When it is no name of a line; the message says why and which names are allowed.

    Rules: LINE-07, LINE-08, LINE-09.
    """
    problem = _find_line_problem(text)
    if problem is None:
        return LineName(text)
    message = f"{quote_name(text)} is not a line name: {problem}."
    hint = (
        "A line name is one segment of a-z, 0-9, _ and -, begins with a letter or digit, and has at most 64 characters."
    )
    raise InvalidNameError(message, hint=hint)


def _find_line_problem(text: str) -> str | None:
    if not text:
        return "it is empty"
    if len(text) > LINE_NAME_MAX:
        return f"it has {len(text)} characters, and at most {LINE_NAME_MAX} are allowed"
    if _LINE_NAME.fullmatch(text) is None:
        return "only a-z, 0-9, _ and - are allowed, with a letter or digit first"
    if _YEAR.fullmatch(text):
        return "four digits mean the dated directory of a brain older than lines"
    if text in _DEVICES:
        return "it is the name of a device on some systems"
    return None


def parse_managed_path(text: str) -> ManagedPath:
    """Return `text` as the path of a managed markdown file, the line first.

    Raises:
        InvalidNameError: When the path could leave its line, cannot live on every disk, is no `.md` file, or
            stands below a year without being a real day, week, month, quarter or year at its place.

    Rules: LINE-05, LINE-07, TOOL-O3, PERIOD-04 to PERIOD-07.
    """
    line, *rest = _split_segments(text, "managed path", _find_managed_problem)
    if not rest:
        message = f"{quote_name(text)} is not a managed path: it must begin with a line, as in 'main/MEMORY.md'."
        raise InvalidNameError(message)
    parse_line_name(line)
    problem = _find_file_problem(tuple(rest))
    if problem is not None:
        message = f"{quote_name(text)} is not a managed path: {problem}."
        raise InvalidNameError(message)
    return ManagedPath(text)


def _find_file_problem(rest: tuple[str, ...]) -> str | None:
    if not rest[-1].endswith(".md"):
        return "the name of a file must end in .md"
    if rest != (MEMORY_FILE,) and fold_name(rest[0]) == fold_name(MEMORY_FILE):
        return f"only the curated file itself is named {MEMORY_FILE}, spelled like this"
    if _YEAR.fullmatch(rest[0]) and _calendar_kind(rest) is None:
        return (
            f"{quote_name('/'.join(rest))} is no day, week, month, quarter or year that exists, at its place "
            "below the directory of the year"
        )
    return None


def fold_name(name: str) -> str:
    """Return what a disk that ignores case, accents' form and invisible characters may take `name` for."""
    if name.isascii():  # nearly all of them: no invisible characters, and one Unicode form
        return name.lower()
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", visible).casefold()


def check_portable(path: str) -> None:
    """Refuse a path for a new file that some systems cannot store, such as `main/what?.md`.

    Reading is not limited by it: a file that a person put there stays readable.

    Raises:
        InvalidNameError: When the path holds one of `< > : " | ? *`.
    """
    bad = next((char for char in path if char in _NOT_PORTABLE), None)
    if bad is not None:
        message = f"{quote_name(path)} can't be created: {bad!r} is not allowed in file names on every system."
        raise InvalidNameError(message)


def split_path(path: ManagedPath) -> tuple[LineName, str]:
    """Return the line and the rest: `main/2026/2026.md` is `("main", "2026/2026.md")`."""
    line, _, rest = path.partition("/")
    return LineName(line), rest


def kind_of(path: ManagedPath) -> FileKind:
    """Return what kind of file stands at `path`."""
    rest = tuple(path.split("/")[1:])
    if rest == (MEMORY_FILE,):
        return FileKind.MEMORY
    return _calendar_kind(rest) or FileKind.DOCUMENT


def date_of(path: ManagedPath) -> date | None:
    """Return the day of a daily log; None for every other kind of file, period summaries included."""
    if kind_of(path) is not FileKind.DAILY:
        return None
    return _parse_day(path.rpartition("/")[2].removesuffix(".md"))


def memory_path(line: LineName) -> ManagedPath:
    """Return the path of the line's MEMORY.md."""
    return ManagedPath(f"{line}/{MEMORY_FILE}")


def daily_path(line: LineName, on: date) -> ManagedPath:
    """Return the path of the line's daily log of that day.

    Rules: LINE-05.
    """
    return ManagedPath(f"{line}/{on.year:04d}/{on.month:02d}/{on.isoformat()}.md")


def _calendar_kind(rest: tuple[str, ...]) -> FileKind | None:
    """Return the kind of a file of the calendar; None when it is none or does not stand at its place."""
    year, stem = rest[0], rest[-1].removesuffix(".md")
    if not _YEAR.fullmatch(year) or year == "0000":
        return None
    if rest == (year, f"{stem}.md") and stem.startswith(year):
        return _period_kind(int(year), stem.removeprefix(year))
    if rest == (year, stem[5:7], f"{stem}.md") and stem.startswith(year) and _parse_day(stem):
        return FileKind.DAILY
    return None


def _period_kind(year: int, suffix: str) -> FileKind | None:
    if suffix == "":
        return FileKind.YEAR
    if re.fullmatch(r"-(0[1-9]|1[0-2])", suffix):
        return FileKind.MONTH
    if re.fullmatch(r"-Q[1-4]", suffix):
        return FileKind.QUARTER
    if re.fullmatch(r"-W[0-9]{2}", suffix) and _has_week(year, int(suffix[2:])):
        return FileKind.WEEK
    return None


def _has_week(year: int, week: int) -> bool:
    """Tell whether the ISO year has that week: 2026 has 53, 2025 and 2027 have 52."""
    try:
        date.fromisocalendar(year, week, 1)
    except ValueError:
        return False
    return True


def _parse_day(text: str) -> date | None:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_source(text: str) -> AuthoredPath:
    """Return `text` as an authored source or ref: a directory or an `.md` file, relative to the brain.

    Raises:
        InvalidNameError: When a segment does not keep the alphabet of SOURCE-05, or the path is absolute.

    Rules: SOURCE-04, SOURCE-05, SOURCE-06, SOURCE-07, SOURCE-O7.
    """
    _split_segments(text, "source", _find_source_problem)
    return AuthoredPath(text)


def parse_authored_path(text: str) -> AuthoredPath:
    """Return `text` as the path of a markdown file inside a source.

    People name these files, so anything is allowed that cannot climb or hide: spaces, for example, which a
    source itself may not have.

    Raises:
        InvalidNameError: When the path is absolute, climbs, is hidden, or is no `.md` file.
    """
    segments = _split_segments(text, "path of a document", _find_segment_problem)
    if not segments[-1].endswith(".md"):
        message = f"{quote_name(text)} is not the path of a document: it must end in .md."
        raise InvalidNameError(message)
    return AuthoredPath(text)


def is_inside(path: str, parent: str) -> bool:
    """Tell whether `path` is `parent` or lies below it, by whole segments.

    Rules: SCOPE-12.
    """
    return path == parent or path.startswith(f"{parent}/")


def _split_segments(text: str, what: str, find_problem: Callable[[str], str | None]) -> tuple[str, ...]:
    """Return the segments of a path, each of them checked; raise InvalidNameError with the first problem."""
    segments = tuple(text.split("/"))
    problem = _find_length_problem(text) or next((p for s in segments if (p := find_problem(s))), None)
    if problem is not None:
        message = f"{quote_name(text)} is not a {what}: {problem}."
        raise InvalidNameError(message)
    return segments


def _find_length_problem(text: str) -> str | None:
    if not text:
        return "it is empty"
    if text.startswith("/"):
        return "it must not begin with '/'"
    if len(text) * _CHAR_MAX_BYTES <= SEGMENT_MAX_BYTES:
        return None
    if len(text.encode("utf-8", "surrogatepass")) > PATH_MAX_BYTES:
        return f"it is longer than {PATH_MAX_BYTES} bytes"
    if any(len(segment.encode("utf-8", "surrogatepass")) > SEGMENT_MAX_BYTES for segment in text.split("/")):
        return f"a segment is longer than {SEGMENT_MAX_BYTES} bytes"
    return None


def _find_segment_problem(segment: str) -> str | None:
    """Return why a segment could climb, hide or not be shown; None when it is harmless everywhere."""
    if not segment:
        return "a segment between two '/' is empty"
    if segment in {".", ".."}:
        return f"the segment {segment!r} is not allowed"
    if segment.startswith("."):
        return f"{quote_name(segment)} is hidden, because it begins with a dot"
    if (
        segment.isascii() and segment.isprintable() and "\\" not in segment
    ):  # nearly all of them, and every search looks
        return None
    bad = next((char for char in segment if char == "\\" or _is_unprintable(char)), None)
    if bad is not None:
        return f"the character U+{ord(bad):04X} is not allowed"
    return None


def find_segment_problem(segment: str, *, managed: bool) -> str | None:
    """Return why no path may hold a segment, as half a sentence; None when it may.

    Args:
        segment: A name without `/`.
        managed: Whether it names something below `memory/`, where names must be fit for every system.
    """
    return (_find_managed_problem if managed else _find_segment_problem)(segment)


def _is_unprintable(char: str) -> bool:
    """Tell whether a character is a control, half of a pair, a line separator, or turns the writing direction."""
    return char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


@functools.lru_cache(4096)  # the directories of a line stand in the path of each of its files
def _find_managed_problem(segment: str) -> str | None:
    """Return why a segment can't name a file or directory of a line on every system."""
    problem = _find_segment_problem(segment)
    if problem is not None:
        return problem
    if segment[-1] in ". " or segment[0] == " ":
        return f"{quote_name(segment)} begins with a space, or ends in a dot or a space"
    if segment.partition(".")[0].rstrip(" ").casefold() in _DEVICES:
        return f"{quote_name(segment)} is the name of a device on some systems"
    return None


def _find_source_problem(segment: str) -> str | None:
    """Return why a segment does not keep the alphabet of sources.

    Letters and digits are those of Unicode; its combining marks count as letters after the first character.
    """
    if not segment:
        return "a segment between two '/' is empty"
    if not _is_letter_or_digit(segment[0]):
        return f"{quote_name(segment)} does not begin with a letter or a digit"
    bad = next((char for char in segment if not _is_source_char(char)), None)
    if bad is not None:
        return f"the character {quote_name(bad)} is not allowed; use letters, digits, '.', '_' and '-'"
    return None


def _is_letter_or_digit(char: str) -> bool:
    category = unicodedata.category(char)
    return category.startswith("L") or category == "Nd"


def _is_source_char(char: str) -> bool:
    return _is_letter_or_digit(char) or char in _SOURCE_TAIL or unicodedata.category(char).startswith("M")
