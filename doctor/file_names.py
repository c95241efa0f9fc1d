"""File names: those that can't live together, that some systems refuse, or that no tool can spell.

Rules: LINE-07, SOURCE-O6, TOOL-O3.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Group, info, warn
from omnislash.core.lines import PATH_MAX_BYTES, find_segment_problem, fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnislash.checks.examined import Examined, Listed
    from omnislash.checks.findings import Finding

#: A name like most: nothing below needs to look at it, but for devices.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9_. -]{0,118}[A-Za-z0-9_-])?")
#: What a name on Windows may not hold beside control characters.
#: Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_REFUSED: Final = '<>:"|?*\\'
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|\Z)", re.IGNORECASE)
#: Longest path from the brain's directory that leaves 60 of the 260 UTF-16 units of Windows to that directory.
_PATH_MAX_UNITS: Final = 200
_ENDINGS: Final = (".md", ".markdown")


class FileNames(Check):
    """Looks at the name of every file and directory."""

    id: ClassVar[str] = "file-names"
    title: ClassVar[str] = "File names"
    protects: ClassVar[str] = "Every file keeps its name on every disk, and can be named by the tools of agents."
    group: ClassVar[Group] = Group.FILES

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what is odd about names, one finding for each name and oddity."""
        entries = [entry for entry in brain.listing if not entry.name.startswith(".")]
        odd = [entry for entry in entries if not _PLAIN.fullmatch(entry.name) or _DEVICE.match(entry.name)]
        legible = [entry for entry in odd if _is_utf8(entry.path)]
        unspeakable = [entry for entry in odd if not _is_utf8(entry.name)]
        yield from shorten([_describe_bytes(entry) for entry in unspeakable], "names that are not UTF-8")
        yield from shorten(list(_find_twins(entries)), "names with a twin")
        yield from shorten(list(_find_unspelled(legible)), "names that no tool can spell")
        yield from shorten(list(_find_refused(legible)), "names that some systems refuse")
        yield from shorten(list(_find_long(entries)), "paths that are too long")
        yield from shorten(list(_find_endings(entries)), "files that end almost like notes")
        yield from shorten(list(_find_decomposed(legible)), "names with separate accents")


def _is_utf8(text: str) -> bool:
    """Tell whether a name has no byte that is no UTF-8; those stand in it as lone surrogates."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _describe_bytes(entry: Listed) -> Finding:
    message = f"The name of {entry.shown} is not UTF-8, so no tool can open it and search leaves it out."
    return warn(message, path=entry.shown, hint="Rename it in a file manager or with `mv`.")


# -- twins -----------------------------------------------------------------------------------------------------------


def _find_twins(entries: Sequence[Listed]) -> Iterator[Finding]:
    """Yield the names that are taken for one on a disk that ignores case or the form of accents.

    Directories of `memory/` itself are left to the check of lines.
    """
    groups: dict[tuple[str, str], list[Listed]] = defaultdict(list)
    for entry in entries:
        parent, _, name = entry.path.rpartition("/")
        if not (parent == Area.MEMORY and entry.kind is Kind.DIRECTORY):
            groups[parent, name.lower() if name.isascii() else fold_name(name)].append(entry)
    for first, *others in groups.values():
        for other in others:
            yield _describe_twins(first, other)


def _describe_twins(first: Listed, other: Listed) -> Finding:
    message = (
        f"{other.shown} and {_quote(first.name)} beside it differ only in {_difference(first.name, other.name)}, "
        "so they can't both be on every disk."
    )
    return warn(message, path=other.shown, hint="Rename one of them.")


def _difference(one: str, other: str) -> str:
    composed = unicodedata.normalize("NFC", one), unicodedata.normalize("NFC", other)
    if composed[0] == composed[1]:
        return "how their accents are stored (NFC and NFD)"
    if composed[0].casefold() == composed[1].casefold():
        return "letter case"
    return "signs that look alike or are invisible"


# -- single names ----------------------------------------------------------------------------------------------------


def _find_unspelled(entries: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the names of notes and of their directories that no path of a tool may hold."""
    for entry in entries:
        problem = _find_tool_problem(entry)
        if problem is not None:
            message = f"No tool can name {_show(entry)}, and search leaves it out: {problem}."
            yield warn(message, path=_show(entry), hint=_advise(entry.name))


def _find_tool_problem(entry: Listed) -> str | None:
    if entry.area not in {Area.MEMORY, Area.SOURCE} or not (entry.is_markdown or entry.kind is Kind.DIRECTORY):
        return None
    if entry.area is Area.MEMORY and entry.kind is Kind.DIRECTORY and entry.path.count("/") <= 1:
        return None  # a line, judged by the check of lines
    return find_segment_problem(entry.name, managed=entry.area is Area.MEMORY)


def _find_refused(entries: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the names that Windows refuses; those that no tool can spell are told once."""
    for entry in entries:
        problem = _find_windows_problem(entry.name)
        if problem is not None and _find_tool_problem(entry) is None:
            message = f"{_show(entry)} can't be on Windows: {problem}."
            yield warn(message, path=_show(entry), hint=_advise(entry.name))


def _find_windows_problem(name: str) -> str | None:
    bad = next((char for char in name if char in _REFUSED or char < " "), None)
    if bad is not None:
        return f"its name holds {_quote(bad)}"
    if name[-1] in ". ":
        return "its name ends in a dot or a space"
    return "its name is that of a device" if _DEVICE.match(name) else None


def _find_long(entries: Iterable[Listed]) -> Iterator[Finding]:
    for entry in entries:
        if len(entry.path) <= _PATH_MAX_UNITS or entry.kind is Kind.DIRECTORY:
            continue
        size = len(entry.path.encode("utf-8", "surrogateescape"))
        if size > PATH_MAX_BYTES:
            message = f"The path of {entry.shown} has {size} bytes; tools take at most {PATH_MAX_BYTES}."
            yield warn(message, path=entry.shown, hint="Use shorter names, or fewer directories.")
        else:
            message = f"The path of {entry.shown} is longer than {_PATH_MAX_UNITS} characters, too long for most Windows systems."
            yield warn(message, path=entry.shown, hint="Use shorter names, or fewer directories.")


def _find_endings(entries: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the files that look like notes, and are none because of their ending."""
    for entry in entries:
        if entry.area not in {Area.MEMORY, Area.SOURCE} or entry.kind is not Kind.FILE or entry.is_markdown:
            continue
        if entry.area is Area.MEMORY and entry.name.lower().startswith("memory."):
            continue  # meant as the curated file, and told by the check of the layout
        ending = next((each for each in _ENDINGS if entry.name.lower().endswith(each)), None)
        if ending is not None:
            name = f"{entry.name[: -len(ending)]}.md"
            message = f"{_show(entry)} is not read and not found: only files that end in .md are notes."
            yield warn(message, path=_show(entry), hint=f"Rename it to {_quote(name)}.")


def _find_decomposed(entries: Iterable[Listed]) -> Iterator[Finding]:
    for entry in entries:
        if not unicodedata.is_normalized("NFC", entry.name):
            message = (
                f"The name of {entry.shown} stores its accents apart (NFD): typed on a keyboard it is another name."
            )
            yield info(
                message, path=entry.shown, hint=f"Rename it to {_quote(unicodedata.normalize('NFC', entry.name))}."
            )


# -- words -----------------------------------------------------------------------------------------------------------


def _show(entry: Listed) -> str:
    """Return a path as a line of text can take it."""
    return "".join(char if char.isprintable() else "\ufffd" for char in entry.shown)


def _quote(text: str) -> str:
    return repr(text.encode("utf-8", "replace").decode())


def _advise(name: str) -> str:
    """Return the hint with a name that every system and every tool takes."""
    plain = "".join("-" if char in _REFUSED or not (char.isprintable()) else char for char in name)
    stem, dot, ending = unicodedata.normalize("NFC", plain).strip(". ").rpartition(".")
    stem, ending = (stem.rstrip(". "), ending) if dot else (ending, "")
    stem = f"{stem}-note" if _DEVICE.match(f"{stem}.") else stem
    return f"Rename it, for example to {_quote(stem + dot + ending)}."
