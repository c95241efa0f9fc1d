"""The `memory:` block of a manifest, a role, a heartbeat or a hook, and how the three tiers merge.

Absent, null and 0 differ: a key that is not set keeps the value of the tier below, and 0 switches a knob off.

Rules: DECLARE-01 to DECLARE-03, DECLARE-15, RESOLVE-01 to RESOLVE-06, KNOB-01 to KNOB-15, KNOB-24.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from omnislash.core.lines import DEFAULT_LINE, LineName, parse_line_name

#: What decides whether recall speaks (KNOB-O8).
RecallGate = Literal["floor", "evidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The `memory:` block of one tier as it was written; None means that the key is not set."""

    #: Name of the own line.
    write: str | None = None
    #: Lines open for deposits.
    report: tuple[str, ...] | None = None
    #: Lines and corpora open to the tools; `*` = every line.
    read: tuple[str, ...] | None = None
    #: Lines and corpora searched on every turn; `*` = every line.
    recall: tuple[str, ...] | None = None
    #: Ceiling of MEMORY.md in the envelope, UTF-16 units; 0 = not carried.
    priority_chars: int | None = None
    #: Days of daily log when a session opens; 0 = none.
    recent_days: int | None = None
    #: Ceiling of that window, UTF-16 units; 0 = none.
    recent_chars: int | None = None
    #: Hits a turn; 0 = no recall.
    recall_results: int | None = None
    #: Floor of recall, 0..1; 0 = no floor.
    recall_score: float | None = None
    #: Ceiling of the recall block, UTF-16 units; 0 = none.
    recall_chars: int | None = None
    #: Floor of `memory_search` without `minScore`, 0..1; 0 = no floor.
    search_score: float | None = None
    #: Summaries carried for each level; 0 = no ladder.
    period_count: int | None = None
    #: Ceiling of the whole ladder, UTF-16 units; 0 = no ladder.
    period_chars: int | None = None
    #: What decides whether recall speaks (KNOB-O8).
    recall_gate: RecallGate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The reading knobs in force; the fields are those of `Declaration`, with the defaults of KNOB-06 to KNOB-14."""

    priority_chars: int = 12_000
    recent_days: int = 1
    recent_chars: int = 4_000
    recall_results: int = 4
    recall_score: float = 0.41
    recall_chars: int = 3_000
    search_score: float = 0.3
    period_count: int = 1
    period_chars: int = 6_000
    recall_gate: RecallGate = "floor"


def resolve_line(
    *, handed: str | None, beat: Declaration | None, role: Declaration | None, manifest: Declaration
) -> LineName | None:
    """Return the line of a turn by the most specific of five tiers; None when nothing declares memory.

    Args:
        handed: Line of the agent on whose behalf the turn works (flush, sub-agent).
        beat: `agent.memory` of the heartbeat or hook.
        role: `memory` of the role.
        manifest: `memory` of the manifest: defaults that turn nothing on.

    Raises:
        InvalidNameError: When the deciding name is no line name.

    Rules: DECLARE-15, RESOLVE-01 to RESOLVE-06, RESOLVE-08 to RESOLVE-10, RESOLVE-O2.
    """
    merged = merge_declarations(manifest, role, beat)
    return None if merged is None else line_of(merged, handed=handed)


def line_of(merged: Declaration, *, handed: str | None) -> LineName:
    """Return the line of a turn whose merged block is known: the handed one, else that of the block, else `main`.

    Raises:
        InvalidNameError: When the name is no line name.

    Rules: RESOLVE-02, RESOLVE-06, RESOLVE-08.
    """
    names = (handed, merged.write, DEFAULT_LINE)
    return parse_line_name(next(name for name in names if name is not None))


def merge_declarations(manifest: Declaration, role: Declaration | None, beat: Declaration | None) -> Declaration | None:
    """Return the block in force: a key that is set replaces the lower tier's value whole, lists included.

    Returns:
        None when neither role nor beat declares memory: the manifest's block alone turns nothing on.

    Rules: DECLARE-01 to DECLARE-03, KNOB-24, SOURCE-15, TENSION-02.
    """
    if role is None and beat is None:
        return None
    merged = manifest
    for tier in (role, beat):
        if tier is not None:
            merged = replace(merged, **_set_keys(tier))
    return merged


def _set_keys(declaration: Declaration) -> dict[str, Any]:
    values = ((item.name, getattr(declaration, item.name)) for item in fields(declaration))
    return {name: value for name, value in values if value is not None}


def resolve_settings(declaration: Declaration) -> Settings:
    """Return the knobs of a merged block, with the default where no tier set one (KNOB-06 to KNOB-14)."""
    names = {item.name for item in fields(Settings)}
    return replace(Settings(), **{name: value for name, value in _set_keys(declaration).items() if name in names})
