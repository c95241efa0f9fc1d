"""What is wrong with the names in a `memory:` block, judged when a brain is opened.

Nothing is raised here: every problem is a value, so that one run can show all of them, and each says how far
it reaches: the whole brain must not start, only this file does not load, or everything loads and doctor warns.

Rules: SCOPE-O1, SCOPE-O3, SCOPE-O4, REPORT-11 to REPORT-13, REPORT-O1, SOURCE-03, SOURCE-14, SOURCE-O1 to SOURCE-O4,
KNOB-29, KNOB-O5.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from omnislash.core.corpora import EVERY_LINE, MANAGED_ROOT, is_shadowed, parse_ref
from omnislash.core.declarations import resolve_line
from omnislash.core.lines import (
    DEFAULT_LINE,
    AuthoredPath,
    LineName,
    is_inside,
    is_line_name,
    parse_line_name,
    quote_name,
)
from omnislash.errors import InvalidNameError, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omnislash.core.declarations import Declaration


class Severity(StrEnum):
    """How far a problem reaches."""

    #: The brain must not start (REPORT-13, SOURCE-03, SOURCE-14).
    BOOT = "boot"
    #: The file that says so does not load; the others run (KNOB-O5).
    LOAD = "load"
    #: Everything loads; doctor warns.
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class RefProblem:
    """One name that is wrong or doubtful."""

    #: The key that holds it: `write`, `report`, `read`, `recall` or `sources`.
    key: str
    #: The entry as written.
    entry: str
    #: What is wrong and what to do, in full sentences.
    problem: str
    #: How far it reaches.
    severity: Severity
    #: What it is about.
    topic: Topic = Topic.REFERENCE

    @property
    def fatal(self) -> bool:
        """Tell whether the brain must not start with it."""
        return self.severity is Severity.BOOT


def check_refs(
    declaration: Declaration, sources: tuple[AuthoredPath, ...], *, lines: Iterable[str] | None = None
) -> tuple[RefProblem, ...]:
    """Return every problem of the names in one block, in the order write, report, read, recall.

    Args:
        declaration: The block of one tier, not merged.
        sources: The declared sources, without those inside `memory/`.
        lines: Every line that exists or that some declaration writes; None = not known, which leaves out the
            warning of SCOPE-O3. An entry that names one of them is never taken for the parent of a source.

    Rules: LINE-09, SCOPE-O1, SCOPE-O3, SCOPE-O4, REPORT-11, SOURCE-14, SOURCE-O1, KNOB-29.
    """
    problems = [_check_write(declaration.write)] if declaration.write is not None else []
    problems += [_check_report_entry(entry, sources) for entry in declaration.report or ()]
    known = None if lines is None else frozenset(lines) | {declaration.write}
    own = frozenset({declaration.write} if declaration.write else ())
    for key, entries in (("read", declaration.read), ("recall", declaration.recall)):
        problems += [_check_entry(key, entry, sources, own if known is None else known) for entry in entries or ()]
        if known is not None:
            problems += [_check_unborn(key, entry, sources, known) for entry in entries or ()]
    problems += [_redundant(entry) for entry in declaration.read or () if entry in (declaration.recall or ())]
    return tuple(problem for problem in problems if problem is not None)


def _check_write(name: str) -> RefProblem | None:
    try:
        parse_line_name(name)
    except InvalidNameError as error:
        text = f"{error.message} `write` takes the name of one line."
        return RefProblem("write", name, text, Severity.LOAD)
    return None


def _check_report_entry(entry: str, sources: tuple[AuthoredPath, ...]) -> RefProblem | None:
    if entry == EVERY_LINE or is_shadowed(entry, sources=sources):
        what = "every line" if entry == EVERY_LINE else "an authored source"
        text = f"{quote_name(entry)} means {what}; `report` takes names of lines only."
        return RefProblem("report", entry, text, Severity.LOAD)
    try:
        parse_line_name(entry)
    except InvalidNameError as error:
        return RefProblem("report", entry, f"{error.message} `report` takes names of lines only.", Severity.LOAD)
    return None


def _check_entry(
    key: str, entry: str, sources: tuple[AuthoredPath, ...], lines: frozenset[str | None]
) -> RefProblem | None:
    children = [source for source in sources if is_inside(source, entry)]
    if children and entry not in lines and not is_shadowed(entry, sources=sources):
        listed = ", ".join(map(repr, children))
        advice = f"Declare it under memory.sources, or name {listed}."
        text = f"{quote_name(entry)} is only a parent of declared sources. {advice}"
        return RefProblem(key, entry, text, Severity.BOOT)
    try:
        ref = parse_ref(entry, sources=sources)
    except InvalidNameError as error:
        return RefProblem(key, entry, error.message, Severity.LOAD)
    if ref.name.endswith(".md") and ref.name not in sources:
        text = f"{quote_name(entry)} is a single file of a source. Sharing is meant for whole directories."
        return RefProblem(key, entry, text, Severity.WARNING)
    return None


def _check_unborn(
    key: str, entry: str, sources: tuple[AuthoredPath, ...], lines: frozenset[str | None]
) -> RefProblem | None:
    """Warn about a line that nobody writes and no directory holds (SCOPE-O3)."""
    if entry in lines or not is_line_name(entry) or any(is_inside(source, entry) for source in sources):
        return None
    text = f"No role writes the line {entry!r} and no directory holds it.{_suggest(entry, lines)}"
    return RefProblem(key, entry, text, Severity.WARNING)


def _redundant(entry: str) -> RefProblem:
    text = f"{quote_name(entry)} is in `recall` already, which implies `read`."
    return RefProblem("read", entry, text, Severity.WARNING, Topic.REDUNDANT)


def check_report_targets(report: Iterable[str], curated_lines: Iterable[str]) -> tuple[RefProblem, ...]:
    """Return a problem for each `report` entry that nobody curates: a deposit creates no line.

    Entries that are no line names at all are left to `check_refs`.

    Rules: REPORT-12, REPORT-13.
    """
    curated = frozenset(curated_lines)
    return tuple(
        RefProblem("report", entry, _explain_uncurated(entry, curated), Severity.BOOT)
        for entry in report
        if is_line_name(entry) and entry not in curated
    )


def _explain_uncurated(entry: str, curated: frozenset[str]) -> str:
    return (
        f"Nobody curates the line {entry!r}: no role or heartbeat writes it and no directory holds it."
        f"{_suggest(entry, curated)}"
    )


def _suggest(entry: str, names: Iterable[str | None]) -> str:
    near = difflib.get_close_matches(entry, sorted(name for name in names if name), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def find_curated_lines(
    pairs: Iterable[tuple[Declaration | None, Declaration | None]], *, manifest: Declaration, on_disk: Iterable[str]
) -> frozenset[LineName]:
    """Return every line that somebody curates.

    Args:
        pairs: (role's block, beat's block) of every role alone, with None for the beat, and of every beat.
        manifest: The manifest's block.
        on_disk: Names of the directories under `memory/`; those that are no line names are ignored.

    Rules: REPORT-12, REPORT-O1, SOURCE-O2.
    """
    lines = {LineName(name) for name in on_disk if is_line_name(name)}
    for role, beat in pairs:
        try:
            line = resolve_line(handed=None, beat=beat, role=role, manifest=manifest)
        except InvalidNameError:
            continue
        lines |= {line} if line is not None else set()
    return frozenset(lines)


def check_collisions(sources: Iterable[str], lines: Iterable[str]) -> tuple[RefProblem, ...]:
    """Return a problem for each source that has a line's name, and a warning for one that shadows a line's own files.

    Args:
        sources: The declared sources.
        lines: Directories under `memory/` and every declared `write`; `main` counts always.

    Rules: SOURCE-03, SOURCE-O2, SOURCE-O3.
    """
    names = sorted({DEFAULT_LINE, *lines})
    found = ((source, name, _find_collision(source, name)) for source in sources for name in names)
    return tuple(
        RefProblem("sources", source, _explain_collision(source, name, severity), severity)
        for source, name, severity in found
        if severity is not None
    )


def _find_collision(source: str, line: str) -> Severity | None:
    if source == line:
        return Severity.BOOT
    engine_files = f"{re.escape(line)}/(MEMORY[.]md|[0-9]{{4}}(/.*)?)"
    return Severity.WARNING if re.fullmatch(engine_files, source) else None


def _explain_collision(source: str, line: str, severity: Severity) -> str:
    if severity is Severity.BOOT:
        return f"The source {source!r} has the name of the line {line!r}. Rename one of the two."
    return f"The source {source!r} shadows files of the line {line!r}, which then can't be written there."


def split_sources(
    sources: Iterable[AuthoredPath],
) -> tuple[tuple[AuthoredPath, ...], tuple[RefProblem, ...]]:
    """Return the sources that are authored, each once, and a warning for each that lies inside `memory/`.

    Rules: SOURCE-02, SOURCE-O4, SOURCE-O9.
    """
    unique = tuple(dict.fromkeys(sources))
    kept = tuple(source for source in unique if not is_inside(source, MANAGED_ROOT))
    return kept, tuple(_inside_memory(source) for source in unique if source not in kept)


def _inside_memory(source: str) -> RefProblem:
    line = source.removeprefix(MANAGED_ROOT).strip("/").partition("/")[0]
    advice = f" Name the line {line!r} in `read` or `recall` instead." if line else ""
    text = f"{quote_name(source)} is in the managed zone, so it is a line and no source.{advice}"
    return RefProblem("sources", source, text, Severity.WARNING)
