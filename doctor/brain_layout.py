"""Brain layout: what stands below `memory/` where nothing reads it, and days that contradict their place.

Rules: LINE-04, LINE-05, MIGRATE-01, MIGRATE-02, MIGRATE-06, MIGRATE-O1, PERIOD-04 to PERIOD-08, PERIOD-19, PERIOD-20.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from omnislash.checks.databases import query_state
from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Group, fail, info, warn
from omnislash.checks.placing import place_of
from omnislash.checks.reaching import find_reach
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import (
    DEFAULT_LINE,
    MEMORY_FILE,
    FileKind,
    LineName,
    daily_path,
    find_segment_problem,
    fold_name,
    is_line_name,
    kind_of,
    parse_managed_path,
)
from omnislash.core.migration import is_older_than_lines, kept_message, taken_reason, unusable_reason
from omnislash.core.periods import Level, find_period
from omnislash.errors import InvalidNameError
from omnislash.store.system_clock import file_time_ns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import date

    from omnislash.checks.examined import Examined, Listed, SeenFile
    from omnislash.checks.findings import Finding
    from omnislash.core.periods import Period

_PREFIX: Final = f"{MANAGED_ROOT}/"
_YEAR: Final = re.compile(r"[0-9]{4}")
_MAIN: Final = f"{_PREFIX}{DEFAULT_LINE}"
#: Where the writer makes directories in a line.
_CALENDAR_DIRECTORY: Final = re.compile(r"[0-9]{4}(?:/(?:0[1-9]|1[0-2]))?|conflicts")
#: The first heading of a text, where it is a day.
_HEADING: Final = re.compile(r"\s*#[ \t]+([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*(?:\r?\n|\Z)")
#: A copy that the writer kept, with what it is a copy of.
_COPY: Final = re.compile(r"(?P<stem>.+)-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}\.md")
_CONFLICTS: Final = "conflicts"
_TEMPORARY: Final = re.compile(r"\.omnislash-[0-9a-f]+\.(?P<kind>tmp|new)")
#: A temporary file younger than this may belong to a write that is going on, in seconds.
_WRITING_S: Final = 60
_ALMOST_MEMORY: Final = frozenset({"memory.md", "memory.markdown", "memory.txt", "memory.md.txt", "memory"})
_MOVE: Final = "Start `omnislash worker` once, or write anything: that moves it there."
_MEND_MAIN: Final = f"Make {_MAIN} a directory first; then `omnislash worker`, or any write, moves it there."
_NO_FILE: Final = {Kind.DIRECTORY: "a directory", Kind.OTHER: "a socket, a pipe or a device"}
#: The rows of unfinished changes came with the first tables of the state database.
_FIRST_TABLES: Final = 1
_OF_SYNC: Final = "sync:"


class _Heading(NamedTuple):
    entry: Listed
    day: str
    line: int


class BrainLayout(Check):
    """Looks at where files stand below `memory/`."""

    id: ClassVar[str] = "brain-layout"
    title: ClassVar[str] = "Brain layout"
    protects: ClassVar[str] = "Nothing below memory/ lies where nobody reads it, or under a day that it is not about."
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._headings: list[_Heading] = []
        #: What tells whether two files hold the same, by path: of loose files and of the line that they belong into.
        self._sums: dict[str, int] = {}

    def see(self, file: SeenFile) -> None:
        """Take the day in the heading of a file of memory that is named like a day."""
        if file.entry.area is not Area.MEMORY or file.data is None:
            return
        first, _, rest = file.path.removeprefix(_PREFIX).partition("/")
        if first == DEFAULT_LINE or not rest or _YEAR.fullmatch(first):
            self._sums[file.path] = hash(file.data)
        placed = place_of(file.entry)
        if placed is None or placed.kind is not FileKind.DAILY:
            return
        day = file.entry.name.removesuffix(".md")
        found = _HEADING.match(file.text)
        if found is not None and found[1] != day:
            self._headings.append(_Heading(file.entry, found[1], file.text.count("\n", 0, found.start(1)) + 1))

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what stands in the wrong place."""
        yield from _find_root_problems(brain)
        entries = [entry for entry in brain.listing if entry.area is Area.MEMORY and entry.path != MANAGED_ROOT]
        dated = [(placed.period, entry) for entry in entries if (placed := place_of(entry)) and placed.period]
        today = brain.now.astimezone(brain.zone).date()
        blocked = list(_find_blocked(entries, brain))
        told = {finding.path or "" for finding in blocked}
        yield from shorten(blocked, "entries that keep things from being written")
        yield from shorten(list(self._find_old(entries, brain)), "files of a brain older than lines")
        yield from shorten(list(_find_copies(entries)), "conflict copies")
        yield from shorten(list(_find_temporary(brain)), "temporary files")
        yield from shorten(list(_find_almost_memory(entries)), f"files named almost like {MEMORY_FILE}")
        yield from shorten(list(_find_misplaced(entries)), "files below a year that nothing reads")
        yield from shorten(list(self._find_headings()), "files with another day in their heading")
        yield from shorten(list(_find_future(dated, today)), "daily logs of days to come")
        yield from shorten(list(_find_open_periods(dated, today)), "summaries of periods that are not over")
        yield from shorten(list(_find_specials(entries, told)), "links, sockets and the like")
        yield from shorten(list(_find_strays(entries, told)), "files that are no notes")

    def _find_old(self, entries: Sequence[Listed], brain: Examined) -> Iterator[Finding]:
        """Yield what a brain older than lines has at the root of `memory/`, a whole year as one, as migration judges it."""
        found = brain.by_path.get(_MAIN)
        is_open = found is None or found.kind is Kind.DIRECTORY
        for entry in entries:
            parts = _parts(entry)
            if len(parts) > 1 or entry.kind not in {Kind.FILE, Kind.DIRECTORY}:
                continue
            if is_older_than_lines(entry.name, is_directory=entry.kind is Kind.DIRECTORY):
                yield from self._judge_old(entry, entries, brain) if is_open else [_tell_old(entry, _MEND_MAIN)]

    def _judge_old(self, entry: Listed, entries: Sequence[Listed], brain: Examined) -> Iterator[Finding]:
        reason = unusable_reason(entry.name)
        if reason is not None:
            hint = "Rename it; `omnislash worker`, or any write, then moves it."
            yield warn(_kept(entry, reason), path=entry.shown, hint=hint, about=(_MAIN,))
            return
        if entry.kind is Kind.DIRECTORY and _kind_at(_goal(entry), brain) is Kind.DIRECTORY:
            moving, stuck = _sort([each for each in entries if each.path.startswith(f"{entry.path}/")], brain)
        else:
            moving, stuck = (False, [entry]) if _goal(entry) in brain.by_path else (True, [])
        if moving or not stuck:
            yield _tell_old(entry, _MOVE)
        yield from map(self._tell_taken, stuck)

    def _tell_taken(self, entry: Listed) -> Finding:
        goal = _goal(entry)
        sums = [self._sums.get(path) for path in (entry.path, goal)]
        is_same = sums[0] is not None and sums[0] == sums[1]
        message = _kept(entry, taken_reason(entry.path.removeprefix(_PREFIX), is_same=is_same))
        hint = f"Bring the two together in {_show(goal)}, and delete {entry.shown}."
        return warn(message, path=entry.shown, hint=f"Delete {entry.shown}." if is_same else hint, about=(goal,))

    def _find_headings(self) -> Iterator[Finding]:
        for entry, day, line in self._headings:
            message = (
                f"{entry.shown} says {day} in its heading; its place decides, so its entries count for the other day."
            )
            yield warn(message, path=entry.shown, line=line, hint="Correct the heading, or move the entries.")


def _parts(entry: Listed) -> list[str]:
    """Return the segments of a path below `memory/`."""
    return entry.path.split("/")[1:]


# -- the root of memory ----------------------------------------------------------------------------------------------


def _find_root_problems(brain: Examined) -> Iterator[Finding]:
    found = brain.by_path.get(MANAGED_ROOT)
    if found is None:
        yield info("There is no memory/ yet; the first write makes it.")
    elif found.kind is Kind.LINK:
        message = "memory is a link: git keeps the link and not what it leads to, and doctor doesn't follow it."
        yield warn(message, path=MANAGED_ROOT, hint="Move the directory to where the link is.")
    elif found.kind is not Kind.DIRECTORY:
        message = "memory is no directory, so nothing can be written or read."
        yield fail(message, path=MANAGED_ROOT, hint="Move it away; the first write makes the directory.")


def _goal(entry: Listed) -> str:
    """Return where an entry of a brain older than lines belongs."""
    return f"{_MAIN}/{entry.path.removeprefix(_PREFIX)}"


def _kind_at(path: str, brain: Examined) -> Kind | None:
    entry = brain.by_path.get(path)
    return None if entry is None else entry.kind


def _sort(entries: Iterable[Listed], brain: Examined) -> tuple[bool, list[Listed]]:
    """Return whether something of a year can move, and what can't because its place is taken."""
    stuck: list[Listed] = []
    moving = False
    for entry in entries:
        if any(entry.path.startswith(f"{each.path}/") for each in stuck):
            continue
        goal = _kind_at(_goal(entry), brain)
        if goal is not None and not goal is entry.kind is Kind.DIRECTORY:
            stuck.append(entry)
        moving = moving or goal is None
    return moving, stuck


def _tell_old(entry: Listed, hint: str) -> Finding:
    message = f"{entry.shown} is older than lines, so nothing reads it; it belongs in {_show(_goal(entry))}."
    return warn(message, path=entry.shown, hint=hint, about=(_goal(entry),))


def _kept(entry: Listed, reason: str) -> str:
    return kept_message(entry.path.removeprefix(_PREFIX), reason)


def _show(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# -- what keeps things from being written ----------------------------------------------------------------------------


def _find_blocked(entries: Iterable[Listed], brain: Examined) -> Iterator[Finding]:
    """Yield what stands where the writer makes a directory or a file of its own (O-03)."""
    reach = find_reach(brain.config)
    lines = {DEFAULT_LINE, *reach.written, *reach.deposited}
    for entry in entries:
        line, *rest = _parts(entry)
        if not rest:
            if line in lines and entry.kind in {Kind.FILE, Kind.OTHER}:
                message = f"{entry.shown} is no directory, so nothing can be written into the line {line!r}."
                yield fail(message, path=entry.shown, hint="Move it away; the next write makes the directory.")
        elif is_line_name(line):
            yield from _judge_place(entry, "/".join(rest))


def _judge_place(entry: Listed, place: str) -> Iterator[Finding]:
    """Yield that an entry is of the wrong kind for its place in a line."""
    if entry.kind is Kind.FILE and _CALENDAR_DIRECTORY.fullmatch(place):
        what = "conflict copies" if place == _CONFLICTS else "logs and summaries"
        message = f"{entry.shown} is no directory, so no {what} of that place can be written."
        yield fail(message, path=entry.shown, hint="Move it away; the next write makes the directory.")
    elif entry.kind in _NO_FILE and _is_kept_by_writer(entry.path):
        message = f"{entry.shown} is {_NO_FILE[entry.kind]}, so nothing can be read from it or written to it."
        yield fail(message, path=entry.shown, hint="Move it away; the next write makes the file.")


def _is_kept_by_writer(path: str) -> bool:
    """Tell whether a place is that of a MEMORY.md, of a log or of a summary."""
    try:
        return path.endswith(".md") and kind_of(parse_managed_path(path.removeprefix(_PREFIX))) is not FileKind.DOCUMENT
    except InvalidNameError:
        return False


# -- what a writer left ----------------------------------------------------------------------------------------------


def _find_copies(entries: Iterable[Listed]) -> Iterator[Finding]:
    for entry in entries:
        found = _COPY.fullmatch(entry.name) if entry.is_markdown else None
        if found is not None and _parts(entry)[1:-1] == [_CONFLICTS]:
            message = f"{entry.shown} holds what was saved at the same moment as another version of {found['stem']}.md."
            hint = f"Take over what is missing in {found['stem']}.md, then delete the copy."
            yield warn(message, path=entry.shown, hint=hint)


def _find_temporary(brain: Examined) -> Iterator[Finding]:
    """Yield what a crash left; only what an unfinished change names is cleared up without a person."""
    now = file_time_ns()
    old = [
        (entry, found["kind"])
        for entry in brain.listing
        if entry.kind is Kind.FILE
        and (found := _TEMPORARY.fullmatch(entry.name)) is not None
        and now - entry.mtime_ns >= _WRITING_S * 1_000_000_000
    ]
    known = _find_changes(brain) if old else {}
    for entry, kind in old:
        batch = known.get(entry.path.rpartition(".")[0])
        yield _tell_temporary(entry, batch, is_whole=kind == "new")


def _find_changes(brain: Examined) -> dict[str, str]:
    """Return the temporary names of unfinished changes, each with its batch."""
    rows = query_state(brain, "list_changes", since=_FIRST_TABLES)
    return {f"{_PREFIX}{row['path']}".rpartition("/")[0] + f"/{row['temp']}": row["batch"] for row in rows}


def _tell_temporary(entry: Listed, batch: str | None, *, is_whole: bool) -> Finding:
    what = "and may be the only copy of what it holds" if is_whole else "and holds nothing that was promised"
    message = f"{entry.shown} was left by a write that was cut off, {what}."
    if batch is not None:
        command = "omnislash sync run" if batch.startswith(_OF_SYNC) else "omnislash worker"
        hint = f"Start `{command}` once, which {'puts it in its place' if is_whole else 'removes it'}."
    elif is_whole:
        hint = "No unfinished write knows it: read it, take over what is missing in its file, then delete it."
    else:
        hint = "No unfinished write knows it: delete it."
    return warn(message, path=entry.shown, hint=hint)


# -- names and days that contradict their place ----------------------------------------------------------------------


def _find_almost_memory(entries: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the files of a line that are meant as its MEMORY.md and are not."""
    for entry in entries:
        parts = _parts(entry)
        is_in_line = len(parts) == len(("line", "file")) and entry.kind is Kind.FILE
        if is_in_line and parts[1] != MEMORY_FILE and fold_name(parts[1]) in _ALMOST_MEMORY:
            message = f"{entry.shown} is not the curated file of its line, whose name is exactly {MEMORY_FILE}."
            hint = f"Rename it to {MEMORY_FILE}, or give it a name of its own."
            yield warn(message, path=entry.shown, hint=hint)


def _find_misplaced(entries: Iterable[Listed]) -> Iterator[Finding]:
    """Yield the notes whose place makes them no file of the calendar, though they stand below a year or are named so."""
    for entry in entries:
        parts = _parts(entry)
        if not entry.is_markdown or len(parts) == 1 or not is_line_name(parts[0]):
            continue
        line = LineName(parts[0])
        if _YEAR.fullmatch(parts[1]) and len(parts) > len(("line", "2026")):
            if place_of(entry) is None and not any(find_segment_problem(part, managed=True) for part in parts):
                yield _describe_misplaced(entry, line)
        elif len(parts) == len(("line", "day")):
            yield from _find_loose_day(entry, line)


def _find_loose_day(entry: Listed, line: LineName) -> Iterator[Finding]:
    """Yield a note at the top of a line that is named like a day."""
    period = find_period(entry.name.removesuffix(".md"))
    if period is not None and period.level is Level.DAY:
        place = f"{_PREFIX}{daily_path(line, period.first)}"
        message = f"{entry.shown} is named like a day and is a document; the log of that day is {place}."
        yield info(message, path=entry.shown, hint=f"Move it to {place} if it is that log.")


def _describe_misplaced(entry: Listed, line: LineName) -> Finding:
    period = find_period(entry.name.removesuffix(".md"))
    if period is not None:
        place = f"{_PREFIX}{period.path_in(line)}"
        message = f"{entry.shown} is in the wrong directory, so nothing reads it."
        return warn(message, path=entry.shown, hint=f"Move it to {place}.")
    message = f"{entry.shown} stands below a year and is no day, week, month, quarter or year, so nothing reads it."
    return warn(message, path=entry.shown, hint="Correct its name, or move it out of the directory of the year.")


def _find_future(dated: Iterable[tuple[Period, Listed]], today: date) -> Iterator[Finding]:
    for period, entry in dated:
        if period.level is Level.DAY and period.first > today:
            message = f"{entry.shown} is the log of a day to come (today is {today.isoformat()}), so no turn carries it before."
            hint = "Move its entries to the right day, or correct the clock or locale.timezone."
            yield warn(message, path=entry.shown, hint=hint)


def _find_open_periods(dated: Iterable[tuple[Period, Listed]], today: date) -> Iterator[Finding]:
    for period, entry in dated:
        if period.level is not Level.DAY and not period.is_closed(today):
            message = (
                f"{entry.shown} sums up a period that is not over before the end of {period.last.isoformat()}; "
                "it is never written anew, so the rest would be missing."
            )
            yield warn(message, path=entry.shown, hint="Delete it; the summary is written when the period is over.")


# -- what is no note -------------------------------------------------------------------------------------------------


def _find_specials(entries: Iterable[Listed], told: Collection[str]) -> Iterator[Finding]:
    for entry in entries:
        if entry.name.startswith(".") or entry.path in told:
            continue
        if entry.kind is Kind.LINK:
            message = f"{entry.shown} is a link, and neither search nor the listing of a line follows one."
            yield warn(message, path=entry.shown, hint="Replace it by the file or directory itself.")
        elif entry.kind is Kind.OTHER:
            message = f"{entry.shown} is a socket, a pipe or a device, and no file."
            yield warn(message, path=entry.shown, hint="Delete it.")


def _find_strays(entries: Iterable[Listed], told: Collection[str]) -> Iterator[Finding]:
    """Yield the files that no tool reads; those that end or are named almost like notes are told elsewhere."""
    for entry in entries:
        name = entry.name
        if entry.kind is not Kind.FILE or name.startswith(".") or name.lower().endswith((".md", ".markdown")):
            continue
        if fold_name(name) not in _ALMOST_MEMORY and entry.path not in told:
            yield info(f"{entry.shown} is no note: only files that end in .md are read.", path=entry.shown)
