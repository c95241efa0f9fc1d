"""Corpora: the lines of the managed zone and the sources of the authored one, and the names that open them.

Rules: SCOPE-01, SCOPE-05, SCOPE-06, SCOPE-12, SCOPE-13, SCOPE-O2, SOURCE-02, SOURCE-12, SOURCE-O3, SOURCE-O4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omnislash.core.lines import (
    AuthoredPath,
    LineName,
    is_inside,
    is_line_name,
    parse_authored_path,
    parse_managed_path,
    parse_source,
    quote_name,
)
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The list entry that means every memory line and no source (SCOPE-13).
EVERY_LINE = "*"
#: The directory of the managed zone; a source in it is no source (SOURCE-02).
MANAGED_ROOT = "memory"


class Zone(StrEnum):
    """Who owns a path."""

    #: Below `memory/`, written by the engine.
    MANAGED = "managed"
    #: In a declared source, never written by memory.
    AUTHORED = "authored"


@dataclass(frozen=True, slots=True)
class Located:
    """A path with the zone that it belongs to."""

    #: Whose path it is.
    zone: Zone
    #: `ManagedPath` or `AuthoredPath`, as the zone says.
    path: str

    @property
    def line(self) -> LineName | None:
        """Return the line of a managed path; None for an authored one."""
        return LineName(self.path.partition("/")[0]) if self.zone is Zone.MANAGED else None


class RefKind(StrEnum):
    """What an entry of `read` or `recall` names."""

    EVERY_LINE = "every-line"
    LINE = "line"
    AUTHORED = "authored"


@dataclass(frozen=True, slots=True)
class Ref:
    """One corpus that a list names."""

    #: How `name` is meant.
    kind: RefKind
    #: `*`, a line name, or an authored path.
    name: str

    def holds(self, located: Located) -> bool:
        """Tell whether the path belongs to the corpus, by whole segments (SCOPE-12, SCOPE-13)."""
        if self.kind is RefKind.AUTHORED:
            return located.zone is Zone.AUTHORED and is_inside(located.path, self.name)
        return located.zone is Zone.MANAGED and self.name in {EVERY_LINE, located.line}

    def covers(self, other: Ref) -> bool:
        """Tell whether everything in `other` is in this corpus too."""
        if self.kind is RefKind.EVERY_LINE:
            return other.kind is not RefKind.AUTHORED
        return self.kind is other.kind and is_inside(other.name, self.name)


def locate(path_text: str, *, sources: tuple[AuthoredPath, ...]) -> Located:
    """Return the zone that a path names; where it could be both, the declared source is meant (SOURCE-O3).

    Raises:
        InvalidNameError: When it is neither a managed path nor a document of a source.
    """
    if is_shadowed(path_text, sources=sources):
        return Located(Zone.AUTHORED, parse_authored_path(path_text))
    return Located(Zone.MANAGED, parse_managed_path(path_text))


def is_shadowed(path: str, *, sources: Iterable[AuthoredPath]) -> bool:
    """Tell whether a path means a declared source, so that no managed file may be created there (SOURCE-O3)."""
    return any(is_inside(path, source) for source in sources)


def parse_ref(entry: str, *, sources: tuple[AuthoredPath, ...]) -> Ref:
    """Return what an entry of `read` or `recall` names: `*`, a declared source or a path in one, else a line.

    Raises:
        InvalidNameError: When it is none of these; the message names the entry.

    Rules: SCOPE-06, SCOPE-13, SCOPE-O2, SCOPE-O4, SOURCE-07, SOURCE-12.
    """
    if entry == EVERY_LINE:
        return Ref(RefKind.EVERY_LINE, EVERY_LINE)
    if is_shadowed(entry, sources=sources):
        return Ref(RefKind.AUTHORED, parse_source(entry))
    if is_line_name(entry):
        return Ref(RefKind.LINE, entry)
    raise InvalidNameError(_explain_bad_ref(entry))


def _explain_bad_ref(entry: str) -> str:
    inner = entry.removeprefix(f"{MANAGED_ROOT}/")
    advice = (
        f"Name the line itself: {inner!r}."
        if is_line_name(inner)
        else "Name a line, or declare the source under memory.sources in omnislash.yaml."
    )
    return f"{quote_name(entry)} is neither a line name nor a declared source or a path inside one. {advice}"
