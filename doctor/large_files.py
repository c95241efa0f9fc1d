"""Large files: what is too large to be read, cut, summarised or shown as a whole.

Rules: KNOB-27, PERIOD-14, BUDGET-17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from omnislash.brain.frontmatter import split_frontmatter
from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Group, info, warn
from omnislash.checks.listing import BYTES_MAX
from omnislash.checks.placing import place_of
from omnislash.core.budgets import count_chars
from omnislash.core.declarations import line_of, merge_declarations, resolve_settings
from omnislash.core.lines import FileKind
from omnislash.index.blocks import MARKDOWN_MAX_CHARS
from omnislash.index.note_texts import HEADER_MAX_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omnislash.checks.examined import Examined, Listed, SeenFile
    from omnislash.checks.findings import Finding
    from omnislash.core.declarations import Declaration
    from omnislash.core.lines import LineName

#: From this size on many hosts of git repositories warn, and from twice of it on they refuse, in bytes.
#: Source: https://docs.github.com/en/repositories/working-with-files/managing-large-files/about-large-files-on-github
_HEAVY_BYTES: Final = 50 << 20
#: A MEMORY.md of so many times the ceiling of a reader is far above it: less than half is shown.
_FAR: Final = 2
#: So many readers are named.
_NAMED_MAX: Final = 3


class _Size(NamedTuple):
    entry: Listed
    chars: int


class LargeFiles(Check):
    """Looks at the length of every file, and of what its readers carry of it."""

    id: ClassVar[str] = "large-files"
    title: ClassVar[str] = "Large files"
    protects: ClassVar[str] = "Nothing is left out of search, summaries and turns in silence because it is too long."
    group: ClassVar[Group] = Group.FILES
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._cut: list[_Size] = []
        self._headers: list[_Size] = []
        self._logs: list[tuple[LineName, _Size]] = []
        self._memories: list[tuple[LineName, _Size]] = []

    def see(self, file: SeenFile) -> None:
        """Take the length of one file."""
        entry = file.entry
        if not file.data or entry.area not in {Area.MEMORY, Area.SOURCE} or not entry.is_markdown:
            return
        if entry.size > HEADER_MAX_CHARS:
            self._see_long(file)
        if entry.area is Area.MEMORY:
            self._see_managed(file)

    def _see_long(self, file: SeenFile) -> None:
        if len(file.text) > MARKDOWN_MAX_CHARS:
            self._cut.append(_Size(file.entry, len(file.text)))
        header = _find_header(file.text)
        if header > HEADER_MAX_CHARS:
            self._headers.append(_Size(file.entry, header))

    def _see_managed(self, file: SeenFile) -> None:
        placed = place_of(file.entry)
        if placed is None or placed.kind not in {FileKind.MEMORY, FileKind.DAILY}:
            return
        size = _Size(file.entry, count_chars(file.text))
        (self._memories if placed.kind is FileKind.MEMORY else self._logs).append((placed.line, size))

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what is too large for whom."""
        yield from shorten(list(_find_unread(brain)), "files that doctor doesn't read")
        yield from shorten(list(_find_heavy(brain)), "files that are heavy for git")
        yield from shorten([_describe_header(size) for size in self._headers], "files with a long frontmatter")
        yield from shorten(list(self._find_logs(brain)), "days that are too long for a summary")
        yield from shorten(list(self._find_partial(brain)), "files of which readers carry less than half")
        yield from shorten([_describe_cut(size) for size in self._cut], "files that are cut by lines")

    def _find_logs(self, brain: Examined) -> Iterator[Finding]:
        """Yield the daily logs that alone are longer than what one summary is made from."""
        consolidation = brain.config.manifest.memory.consolidation
        most = consolidation.max_source_chars
        for line, size in self._logs:
            if most and size.chars > most and line in consolidation.lines:
                shown = size.entry.shown
                message = (
                    f"{shown} has {size.chars} chars, and a summary is made from at most {most}: "
                    "the oldest part of that day will be in none."
                )
                hint = "Shorten the log, or raise memory.consolidation.maxSourceChars in constitution/MANIFEST.yaml."
                yield warn(message, path=shown, hint=hint)

    def _find_partial(self, brain: Examined) -> Iterator[Finding]:
        """Yield the files of which some of their readers are shown less than half."""
        readers = list(_readers(brain))
        for line, size in self._memories:
            short = [reader for reader in readers if reader.line == line and 0 < _FAR * reader.ceiling < size.chars]
            if short:
                shown = size.entry.shown
                message = f"{shown} has {size.chars} chars; in a turn {_name_readers(short)}."
                hint = "Raise memory.priorityChars there, or shorten the file."
                yield warn(message, path=shown, hint=hint)


class _Reader(NamedTuple):
    line: LineName
    name: str
    ceiling: int


def _readers(brain: Examined) -> Iterator[_Reader]:
    """Yield the brain's own roles with memory, and the heartbeats and hooks that have a block of their own.

    A role of the engine counts only where something runs it.
    """
    config = brain.config
    manifest = config.manifest.memory.to_declaration()
    for role in config.roles.values():
        merged = merge_declarations(manifest, role.declaration, None)
        if merged is not None and not role.is_shipped:
            yield _read_with(merged, f"the role {role.id}")
    for what, beats in (("heartbeat", config.heartbeats), ("hook", config.hooks)):
        for beat in beats.values():
            role = config.roles[beat.role]
            merged = merge_declarations(manifest, role.declaration, beat.declaration)
            if merged is not None and (beat.declaration is not None or role.is_shipped):
                yield _read_with(merged, f"the {what} {beat.id}")


def _read_with(merged: Declaration, name: str) -> _Reader:
    return _Reader(line_of(merged, handed=None), name, resolve_settings(merged).priority_chars)


def _name_readers(readers: Sequence[_Reader]) -> str:
    told = [f"{reader.name} carries at most {reader.ceiling}" for reader in readers[:_NAMED_MAX]]
    more = len(readers) - len(told)
    return ", ".join([*told, *([f"and {more} more carry less than half"] if more else [])])


def _find_header(text: str) -> int:
    """Return the length of the frontmatter; 0 when there is none."""
    return len(split_frontmatter(text).header or "")


def _find_unread(brain: Examined) -> Iterator[Finding]:
    for entry in brain.listing:
        if entry.is_markdown and entry.area is not Area.TOP and entry.size > BYTES_MAX:
            message = (
                f"{entry.shown} has {entry.size >> 20} MiB; doctor reads at most {BYTES_MAX >> 20}, "
                "so no check has looked into it."
            )
            yield warn(message, path=entry.shown, hint="Split it, or move it out of the brain.")


def _find_heavy(brain: Examined) -> Iterator[Finding]:
    """Yield the files of memory that brain-sync will commit and a host may refuse."""
    for entry in brain.listing:
        is_seen = entry.area is Area.MEMORY and entry.kind is Kind.FILE and not entry.name.startswith(".")
        if is_seen and entry.size >= _HEAVY_BYTES and not (entry.is_markdown and entry.size > BYTES_MAX):
            message = (
                f"{entry.shown} has {entry.size >> 20} MiB and will be committed with the rest of memory; "
                "many git hosts refuse files of more than 100 MiB."
            )
            yield warn(message, path=entry.shown, hint="Move it out of memory/.")


def _describe_header(size: _Size) -> Finding:
    shown = size.entry.shown
    message = f"{shown} has a frontmatter of {size.chars} chars; at most {HEADER_MAX_CHARS} are read, so its keys count for nothing."
    return warn(message, path=shown, line=1, hint="Move long text from the frontmatter into the body.")


def _describe_cut(size: _Size) -> Finding:
    shown = size.entry.shown
    message = (
        f"{shown} has {size.chars} characters; above {MARKDOWN_MAX_CHARS} a file is cut into notes by its lines, "
        "and not by its sections."
    )
    return info(message, path=shown, hint="Split it where its subjects change, and search will show better pieces.")
