"""Who reads and writes what: the memory blocks of manifest, role and beat become one scope.

A block declares lists of names; here they become an own line, the lines open for deposits, and two sets of
corpora, one that the tools may read and one that is recalled on every turn.
The own line belongs to both sets and recall implies read.
Whatever a tool wants to do is judged by the scope that its turn started with, never by an argument.

Rules: DECLARE-01 to DECLARE-03, DECLARE-15, SCOPE-05 to SCOPE-17, REPORT, RESOLVE, KNOB-24.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from omnislash.core.corpora import Located, Ref, RefKind, Zone, is_shadowed, locate, parse_ref
from omnislash.core.declarations import (
    Declaration,
    RecallGate,
    Settings,
    line_of,
    merge_declarations,
    resolve_line,
    resolve_settings,
)
from omnislash.core.lines import AuthoredPath, LineName, parse_line_name, quote_name
from omnislash.core.references import (
    RefProblem,
    Severity,
    check_collisions,
    check_refs,
    check_report_targets,
    find_curated_lines,
    split_sources,
)
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Declaration",
    "Located",
    "RecallGate",
    "Ref",
    "RefKind",
    "RefProblem",
    "Refusal",
    "Scope",
    "Settings",
    "Severity",
    "Target",
    "Zone",
    "check_collisions",
    "check_refs",
    "check_report_targets",
    "find_curated_lines",
    "is_shadowed",
    "line_of",
    "locate",
    "merge_declarations",
    "parse_ref",
    "refuse_change",
    "refuse_read",
    "resolve_corpora",
    "resolve_line",
    "resolve_scope",
    "resolve_settings",
    "resolve_target",
    "signature",
    "split_sources",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a tool answers instead of acting; nothing was written."""

    #: Full sentences that the agent can act on.
    message: str


@dataclass(frozen=True, slots=True)
class Target:
    """Where a `memory_write` goes."""

    #: The line that receives the entry.
    line: LineName
    #: True for a signed entry in a foreign line's daily log.
    is_deposit: bool
    #: True when the entry goes to MEMORY.md as well.
    priority: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one turn may read and write, fixed when it starts (REPORT-O5, TOOL-10)."""

    #: Id of the role.
    role: str
    #: Id of the heartbeat or hook that runs it; None in a chat.
    heartbeat: str | None = None
    #: The line it curates; None = no memory at all (DECLARE-08).
    line: LineName | None = None
    #: Foreign lines open for deposits, in the order declared.
    report: tuple[LineName, ...] = ()
    #: The declared `read` list.
    read: tuple[Ref, ...] = ()
    #: The declared `recall` list.
    recall: tuple[Ref, ...] = ()
    #: The reading knobs in force.
    settings: Settings = field(default_factory=Settings)

    @property
    def has_memory(self) -> bool:
        """Tell whether the turn has memory at all (DECLARE-01)."""
        return self.line is not None

    @property
    def writable_lines(self) -> tuple[LineName, ...]:
        """Return the own line, then the lines open for deposits (TOOL-08)."""
        return () if self.line is None else (self.line, *self.report)

    @property
    def recalled(self) -> tuple[Ref, ...]:
        """Return what every turn is searched in: the own line, then the `recall` list (LINE-O4)."""
        return () if self.line is None else _unique((Ref(RefKind.LINE, self.line), *self.recall))

    @property
    def readable(self) -> tuple[Ref, ...]:
        """Return what the tools may read: the own line, the `read` list, the `recall` list (SCOPE-11, SCOPE-O8)."""
        return () if self.line is None else _unique((Ref(RefKind.LINE, self.line), *self.read, *self.recall))

    def may_read(self, located: Located) -> bool:
        """Tell whether `memory_read`, `memory_list` and `memory_search` may show the path (SCOPE-07, TOOL-14)."""
        return any(ref.holds(located) for ref in self.readable)

    def may_recall(self, located: Located) -> bool:
        """Tell whether a turn may be shown the path unasked (SCOPE-09, SCOPE-18)."""
        return any(ref.holds(located) for ref in self.recalled)

    def may_change(self, located: Located) -> bool:
        """Tell whether edit, delete, move and write-file may touch the path: the own line only (SCOPE-14, TOOL-07)."""
        return self.line is not None and located.line == self.line


def resolve_scope(  # noqa: PLR0913  the tiers and their surroundings are exactly these
    *,
    role_id: str,
    role: Declaration | None,
    beat: Declaration | None,
    manifest: Declaration,
    heartbeat: str | None = None,
    handed: str | None = None,
    sources: tuple[AuthoredPath, ...] = (),
) -> Scope:
    """Return what a turn may read and write.

    With `handed` the turn borrows a line: it writes there and reads from there, keeps its own lists, and may
    deposit nowhere.

    Raises:
        InvalidNameError: When a name in a block is wrong; `check_refs` finds these when the brain is opened.

    Rules: RESOLVE-01 to RESOLVE-13, REPORT-10, REPORT-O2, REPORT-O5, LINE-O4.
    """
    merged = merge_declarations(manifest, role, beat)
    if merged is None:
        return Scope(role=role_id, heartbeat=heartbeat)
    line = line_of(merged, handed=handed)
    report = () if handed is not None else (merged.report or ())
    return Scope(
        role=role_id,
        heartbeat=heartbeat,
        line=line,
        report=tuple(dict.fromkeys(parse_line_name(name) for name in report if name != line)),
        read=_unique(parse_ref(entry, sources=sources) for entry in merged.read or ()),
        recall=_unique(parse_ref(entry, sources=sources) for entry in merged.recall or ()),
        settings=resolve_settings(merged),
    )


def _unique(refs: Iterable[Ref]) -> tuple[Ref, ...]:
    return tuple(dict.fromkeys(refs))


def resolve_target(
    scope: Scope, *, line: str | None, priority: bool | None, priority_default: bool
) -> Target | Refusal:
    """Return where a `memory_write` goes, or why it is refused up front.

    Args:
        scope: The scope of the turn.
        line: The argument `line`; None = the own line.
        priority: The argument `priority`; None = omitted.
        priority_default: `memory.priorityDefault`; holds for the own line only.

    Rules: REPORT-03 to REPORT-05, REPORT-O2, REPORT-O3, TOOL-08, TOOL-09, WRITE-16, WRITE-17, TENSION-08.
    """
    if scope.line is None:
        return _no_memory(scope)
    if line is None or line == scope.line:
        return Target(scope.line, is_deposit=False, priority=priority_default if priority is None else priority)
    if line not in scope.report:
        allowed = ", ".join(repr(str(name)) for name in scope.writable_lines)
        return Refusal(
            f"{quote_name(line)} is not a line that this agent may write to; nothing was written. "
            f"Allowed lines: {allowed}."
        )
    if priority:
        return Refusal(
            f"A deposit into {line!r} cannot be a priority write, because only its own curator changes its MEMORY.md; "
            "nothing was written. Leave out priority to deposit into its daily log."
        )
    return Target(LineName(line), is_deposit=True, priority=False)


def _no_memory(scope: Scope) -> Refusal:
    return Refusal(f"The role {quote_name(scope.role)} has no memory, so nothing was read or written.")


def refuse_change(scope: Scope, located: Located) -> Refusal | None:
    """Return why a mutator may not touch the path, naming the own line; None when it may (TOOL-07, TOOL-O5)."""
    if scope.line is None:
        return _no_memory(scope)
    if scope.may_change(located):
        return None
    return Refusal(
        f"{quote_name(located.path)} is outside this agent's own line {str(scope.line)!r}, the only one it may change; "
        "nothing was written."
    )


def refuse_read(scope: Scope, located: Located) -> Refusal | None:
    """Return why a path may not be shown, naming what may; None when it may (TOOL-14).

    The sentence is the same whether the file exists or not.
    """
    if scope.line is None:
        return _no_memory(scope)
    if scope.may_read(located):
        return None
    names = ", ".join(repr(ref.name) for ref in scope.readable)
    return Refusal(f"{quote_name(located.path)} is outside what this agent may read: {names}.")


def resolve_corpora(
    scope: Scope, names: Iterable[str], *, sources: tuple[AuthoredPath, ...]
) -> tuple[Ref, ...] | Refusal:
    """Return the corpora that a search or listing is narrowed to; each must lie in what the agent may read."""
    if scope.line is None:
        return _no_memory(scope)
    chosen: list[Ref] = []
    for name in names:
        ref = _try_ref(name, sources)
        if ref is None or not any(own.covers(ref) for own in scope.readable):
            known = ", ".join(repr(own.name) for own in scope.readable)
            return Refusal(f"{quote_name(name)} is not a corpus that this agent may read; it may read {known}.")
        chosen.append(ref)
    return _unique(chosen)


def _try_ref(name: str, sources: tuple[AuthoredPath, ...]) -> Ref | None:
    try:
        return parse_ref(name, sources=sources)
    except InvalidNameError:
        return None


def signature(role: str, heartbeat: str | None) -> str:
    """Return who signs a deposit: `role · heartbeat`, or `role` outside a heartbeat.

    `core.entries.render_text` puts the dash in front of it.

    Rules: REPORT-07, REPORT-08.
    """
    return " · ".join(" ".join(name.split()) for name in (role, heartbeat) if name is not None)
