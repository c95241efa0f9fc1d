"""Lines as a person sees them: all of them, how full each MEMORY.md is, and who may write there.

Rules: DASH-02 to DASH-04, DASH-O1, BUDGET-15, BUDGET-20, LINE-02, REPORT-01.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omnislash.core.budgets import Reading, count_chars, effective_budget
from omnislash.core.corpora import is_shadowed
from omnislash.core.declarations import line_of
from omnislash.core.lines import LineName, ManagedPath, is_inside, is_line_name, memory_path, quote_name
from omnislash.errors import MissingFileError, OmnislashError
from omnislash.runtime.knowledge.instants import to_iso
from omnislash.runtime.knowledge.listing import FoundLine, scan_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from omnislash.brain.files import BrainFiles
    from omnislash.core.scopes import Scope
    from omnislash.runtime.knowledge.listing import Stat
    from omnislash.runtime.turns import Ports
    from omnislash.store.files import MemoryFiles


@dataclass(frozen=True, slots=True)
class Writers:
    """Who may write to a line: roles as `scout`, heartbeats and hooks as `scout · morning`."""

    #: Those whose own line it is.
    curators: tuple[str, ...] = ()
    #: Those who may only leave signed entries there.
    depositors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSummary:
    """A line in the list of all."""

    line: LineName
    #: Files that a tool can name.
    files: int
    #: When the last one was changed, in nanoseconds since 1970; None without any, and where nobody asked.
    changed_ns: int | None
    #: The reading of its MEMORY.md; None when there is none, or it can't be read.
    reading: Reading | None
    writers: Writers = field(default_factory=Writers)
    #: What of it can't be read, as sentences.
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{line, files, modifiedAt, memory, curators, depositors, problems}`.

        `memory` is null without a MEMORY.md, else `{path, reading, chars, fileMaxChars, percent}`.
        """
        memory = None
        if self.reading is not None:
            memory = {"path": memory_path(self.line), "reading": self.reading.render(), **self.reading.to_json()}
        return {
            "line": self.line,
            "files": self.files,
            "modifiedAt": to_iso(self.changed_ns),
            "memory": memory,
            "curators": list(self.writers.curators),
            "depositors": list(self.writers.depositors),
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class SeenLines:
    """Every line with what its folders hold, by name, in order of the names."""

    found: dict[LineName, FoundLine]
    writers: Mapping[LineName, Writers]

    def choose_default(self, config: BrainFiles) -> LineName:
        """Return the line on which the page opens.

        Rules: DASH-02, DASH-03, DASH-O1.
        """
        named = line_of(config.manifest.memory.to_declaration(), handed=None)
        written = [line for line, found in self.found.items() if found.count]
        return named if named in written or not written else written[0]


def see_lines(ports: Ports, config: BrainFiles, *, has_stats: bool = False) -> SeenLines:
    """Return every line that has a folder, or that a role, heartbeat, hook or the manifest writes to.

    Args:
        ports: The brain.
        config: Its configuration.
        has_stats: True asks for sizes and times of all files, which takes most of the time.
    """
    writers, memory = find_writers(config), ports.files.memory
    names = list_names(memory, config, writers)
    return SeenLines({line: scan(memory, line, config, has_stats=has_stats) for line in names}, writers)


def list_names(memory: Path, config: BrainFiles, writers: Iterable[LineName]) -> list[LineName]:
    """Return the names of the lines, in order: folders, the manifest's line, and those that somebody writes."""
    declared = line_of(config.manifest.memory.to_declaration(), handed=None)
    return sorted({declared, *writers, *_list_lines(memory)})


def check_line(ports: Ports, name: str) -> None:
    """Accept the name of a line that there is.

    Raises:
        MissingFileError: There is none; the message names those that there are.
    """
    config = ports.config()
    names = list_names(ports.files.memory, config, find_writers(config))
    if name not in names:
        raise missing_line(name, names)


def missing_line(name: str, names: Iterable[str]) -> MissingFileError:
    """Return the error about a line that there is not."""
    message = f"There is no line {quote_name(name)}. The lines are: {', '.join(names)}."
    return MissingFileError(message)


def _list_lines(memory: Path) -> Iterator[LineName]:
    """Yield the names of the folders that are lines."""
    try:
        with os.scandir(memory) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return
    yield from (LineName(name) for name in names if is_line_name(name))


def scan(memory: Path, line: LineName, config: BrainFiles, *, has_stats: bool) -> FoundLine:
    """Return the files of a line; those at a path that means a source belong to that source (SOURCE-O3)."""
    place = os.path.join(memory, line)  # noqa: PTH118 - as the pass that follows
    if os.path.islink(place):  # noqa: PTH114 - the same
        return FoundLine(problems=[f"memory/{line} is a symbolic link; nothing in it is listed."])
    found = scan_line(place, line, has_stats=has_stats)
    if any(is_inside(source, line) for source in config.sources):
        found.folders = _drop_shadowed(found, line, config)
    return found


def _drop_shadowed(found: FoundLine, line: LineName, config: BrainFiles) -> dict[str, dict[str, Stat]]:
    kept = {
        folder: {
            name: stat
            for name, stat in files.items()
            if not is_shadowed("/".join(filter(None, (line, folder, name))), sources=config.sources)
        }
        for folder, files in found.folders.items()
    }
    return {folder: files for folder, files in kept.items() if files}


def summarise_line(files: MemoryFiles, config: BrainFiles, line: LineName, seen: SeenLines) -> LineSummary:
    """Return a line in short; its MEMORY.md is read."""
    found = seen.found[line]
    problems = list(found.problems)
    reading = None
    if found.memory:
        try:
            reading = read_budget(config, memory_path(line), files.read(memory_path(line)) or b"")
        except OmnislashError as error:
            problems.append(error.message)
    return LineSummary(
        line=line,
        files=found.count,
        changed_ns=found.changed_ns,
        reading=reading,
        writers=seen.writers.get(line, Writers()),
        problems=tuple(problems),
    )


def read_budget(config: BrainFiles, path: ManagedPath, data: bytes) -> Reading:
    """Return how full a MEMORY.md with these bytes is (BUDGET-15, BUDGET-18)."""
    memory = config.manifest.memory
    limit = effective_budget(memory.file_max_chars, memory.line_budgets, path.partition("/")[0]).limit
    return Reading(count_chars(data.decode("utf-8", "surrogateescape")), limit)


# -- who may write ---------------------------------------------------------------------------------------------------


def find_writers(config: BrainFiles) -> dict[LineName, Writers]:
    """Return who may write to each line that anybody may write to."""
    curators: dict[LineName, list[str]] = {}
    depositors: dict[LineName, list[str]] = {}
    for name, scope in _list_scopes(config):
        if scope.line is not None:
            curators.setdefault(scope.line, []).append(name)
        for line in scope.report:
            depositors.setdefault(line, []).append(name)
    lines = {*curators, *depositors}
    return {line: Writers(tuple(curators.get(line, ())), tuple(depositors.get(line, ()))) for line in lines}


def _list_scopes(config: BrainFiles) -> Iterator[tuple[str, Scope]]:
    """Yield what each role may do and, where a heartbeat or hook declares something else, what that one may."""
    for role in config.roles:
        yield from _resolve(config, role, None)
    for name, beat in {**config.heartbeats, **config.hooks}.items():
        if beat.declaration is not None:
            yield from _resolve(config, beat.role, name)


def _resolve(config: BrainFiles, role: str, beat: str | None) -> Iterator[tuple[str, Scope]]:
    try:
        scope = config.resolve_scope(role, beat=beat)
    except OmnislashError:  # its file has faults, which doctor names
        return
    yield f"{role} · {beat}" if beat else role, scope
