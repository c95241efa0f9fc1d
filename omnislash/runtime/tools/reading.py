"""The tools that look: `memory_overview`, `memory_list`, `memory_read`.

Each answers within the turn's read set, and says the same about a path outside of it whether it exists or not.

Rules: TOOL-01, TOOL-14, TOOL-O3, TOOL-O4, SCOPE-07, SCOPE-11, SCOPE-O8, SOURCE-16, SOURCE-17, WRITE-10, BUDGET-21.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from omnislash.core.budgets import Reading, count_chars, effective_budget
from omnislash.core.corpora import Located, Ref, RefKind, Zone, locate
from omnislash.core.lines import FileKind, LineName, ManagedPath, date_of, is_line_name, kind_of, memory_path
from omnislash.core.scopes import Refusal, refuse_read, resolve_corpora
from omnislash.core.sections import find_sections, parse_memory
from omnislash.errors import InvalidNameError, MissingFileError, ScopeError, UsageError
from omnislash.store.documents import Document, read_document, walk_documents
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.tools.arguments import ListArguments, ReadArguments
    from omnislash.runtime.turns import Ports, Turn

_PERIODS = (FileKind.WEEK, FileKind.MONTH, FileKind.QUARTER, FileKind.YEAR)


@dataclass(frozen=True, slots=True)
class FileContent:
    """What `memory_read` answers."""

    path: str
    #: The text, or the part that was asked for; bytes that are no UTF-8 show as U+FFFD.
    content: str
    #: Size of the whole file, in UTF-16 units.
    chars: int
    modified_at: datetime
    #: SHA-256 of the file, for `expectHash`.
    hash: str
    #: The reading of a MEMORY.md; None for any other file (TOOL-O4).
    budget: Reading | None = None
    #: Where the next part starts, in UTF-16 units of the text or section; None when this is all.
    next_offset: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{path, content, chars, modifiedAt, budget, hash}` and, when cut, `{truncated, nextOffset}`."""
        cut = {} if self.next_offset is None else {"truncated": True, "nextOffset": self.next_offset}
        return {
            "path": self.path,
            "content": self.content,
            "chars": self.chars,
            "modifiedAt": self.modified_at.isoformat(),
            "budget": self.budget.to_json() if self.budget else None,
            "hash": self.hash,
            **cut,
        }


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One row of `memory_list`."""

    path: str
    #: memory, daily, week, month, quarter, year, document, or source.
    kind: str
    chars: int
    modified_at: datetime
    #: Size on disk, in bytes; for surfaces that tell it.
    size: int

    def to_json(self) -> dict[str, Any]:
        """Return `{path, kind, chars, modifiedAt}`."""
        return {
            "path": self.path,
            "kind": self.kind,
            "chars": self.chars,
            "modifiedAt": self.modified_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class FileListing:
    """What `memory_list` answers."""

    entries: tuple[FileEntry, ...]
    #: Hand it in as `cursor` for the rest; None when this is all.
    next_cursor: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{entries, nextCursor?}`."""
        more = {} if self.next_cursor is None else {"nextCursor": self.next_cursor}
        return {"entries": [entry.to_json() for entry in self.entries], **more}


@dataclass(frozen=True, slots=True)
class Overview:
    """What `memory_overview` answers."""

    line: LineName
    #: Path of the line's MEMORY.md.
    path: ManagedPath
    #: Its reading; None when there is no such file yet.
    budget: Reading | None
    #: Number of daily logs, the first and the last day; None without any.
    days: tuple[int, str, str] | None
    #: Period files by level, as periods (`2026-W45`), oldest first.
    periods: dict[str, tuple[str, ...]]
    read: tuple[str, ...]
    recall: tuple[str, ...]
    report: tuple[LineName, ...]

    def to_json(self) -> dict[str, Any]:
        """Return `{line, path, reading, budget, days, periods, read, recall, report}`."""
        days = self.days
        return {
            "line": self.line,
            "path": self.path,
            "reading": self.budget.render() if self.budget else None,
            "budget": self.budget.to_json() if self.budget else None,
            "days": {"count": days[0], "first": days[1], "last": days[2]} if days else {"count": 0},
            "periods": {level: list(found) for level, found in self.periods.items()},
            "read": list(self.read),
            "recall": list(self.recall),
            "report": list(self.report),
        }


def own_line(turn: Turn) -> LineName:
    """Return the line that the turn works in.

    Raises:
        ScopeError: The role has no memory (DECLARE-08).
    """
    if turn.scope.line is None:
        message = f"The role {turn.scope.role!r} has no memory: add `memory: {{}}` to its file to turn it on."
        raise ScopeError(message)
    return turn.scope.line


# -- read ------------------------------------------------------------------------------------------------------------


def read(turn: Turn, ports: Ports, arguments: ReadArguments) -> FileContent:
    """Return a file of the read set, or a part of it.

    Raises:
        ScopeError: The path lies outside the read set.
        InvalidNameError: It is no path of a file.
        MissingFileError: There is no such file, or no such section in it.
        StorageError: The disk refuses.
    """
    config = ports.config()
    own_line(turn)
    located = locate(arguments.path, sources=config.sources)
    check_readable(turn, located)
    document = _load(ports, config, located)
    if document is None:
        message = f"There is no file {located.path}. memory_list shows what there is."
        raise MissingFileError(message, path=located.path)
    text = document.data.decode("utf-8", "surrogateescape")
    shown = text.removeprefix("\ufeff")
    if arguments.section is not None:
        shown = _section(shown, arguments.section, located.path)
    content, next_offset = cut_chars(shown, offset=arguments.offset, limit=arguments.max_chars)
    return FileContent(
        path=located.path,
        content=content.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        chars=count_chars(text),
        modified_at=document.modified_at,
        hash=hash_bytes(document.data),
        budget=_reading(config, located, text),
        next_offset=next_offset,
    )


def check_readable(turn: Turn, located: Located) -> None:
    """Raise ScopeError when the path lies outside the turn's read set (TOOL-14)."""
    refusal = refuse_read(turn.scope, located)
    if refusal is not None:
        raise ScopeError(refusal.message)


def _load(ports: Ports, config: BrainFiles, located: Located, *, is_listed: bool = False) -> Document | None:
    if located.zone is Zone.MANAGED:
        ports.files.locate(ManagedPath(located.path))
        line = located.path.partition("/")[0]
        return read_document(ports.files.memory, located.path, within=line, is_listed=is_listed)
    source = next(source for source in config.sources if Ref(RefKind.AUTHORED, source).holds(located))
    return read_document(ports.root, located.path, within=source, is_listed=is_listed)


def _reading(config: BrainFiles, located: Located, text: str) -> Reading | None:
    if located.line is None or kind_of(ManagedPath(located.path)) is not FileKind.MEMORY:
        return None
    memory = config.manifest.memory
    budget = effective_budget(memory.file_max_chars, memory.line_budgets, located.line)
    return Reading(count_chars(text), budget.limit)


def _section(text: str, heading: str, path: str) -> str:
    document = parse_memory(text)
    found = find_sections(document, heading)
    if not found:
        headings = ", ".join(repr(section.heading) for section in document.sections if section.heading)
        message = f"{path} has no section {heading!r}. Its sections: {headings or 'none'}."
        raise MissingFileError(message, path=path)
    return "".join(text[section.start : section.end] for section in found)


def cut_chars(text: str, *, offset: int, limit: int) -> tuple[str, int | None]:
    """Return a part of a text and where the next part starts; both counted in UTF-16 units.

    A pair of surrogates is never split: the part ends one unit earlier, or holds the whole pair when it would be empty
    otherwise, so that a caller who goes on always comes to the end.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    start, end = offset * 2, (offset + limit) * 2
    start -= 2 * _is_low(units, start)
    if _is_low(units, end):
        end += -2 if end - 2 > start else 2
    part = units[start:end].decode("utf-16-le", "surrogatepass")
    return part, end // 2 if end < len(units) else None


def _is_low(units: bytes, at: int) -> bool:
    """Tell whether the unit at a byte offset is the second half of a pair."""
    return 1 < at < len(units) and 0xDC <= units[at + 1] <= 0xDF and 0xD8 <= units[at - 1] <= 0xDB  # noqa: PLR2004


# -- list ------------------------------------------------------------------------------------------------------------


def list_files(turn: Turn, ports: Ports, arguments: ListArguments) -> FileListing:
    """Return the files of the read set in order of their path.

    Raises:
        ScopeError: The corpus lies outside the read set.
    """
    config = ports.config()
    own_line(turn)
    refs = turn.scope.readable
    if arguments.corpus is not None:
        chosen = resolve_corpora(turn.scope, [arguments.corpus], sources=config.sources)
        if isinstance(chosen, Refusal):
            raise ScopeError(chosen.message)
        refs = chosen
    after, prefix = arguments.cursor or "", arguments.prefix or ""
    walks = (_walk(ports, config, ref, after=after, prefix=prefix) for ref in refs)
    # Each walk is in order, and groupby drops what lies in two corpora: nothing is looked for beyond the page.
    paths = list(islice((path for path, _ in groupby(merge(*walks))), arguments.limit + 1))
    page = paths[: arguments.limit]
    entries = tuple(entry for path in page if (entry := _entry(ports, config, path)))
    return FileListing(entries, page[-1] if len(paths) > len(page) else None)


def _walk(ports: Ports, config: BrainFiles, ref: Ref, *, after: str = "", prefix: str = "") -> Iterator[str]:
    """Yield the files of a corpus that a tool can name, in order of their path: those after one, and with a prefix."""
    root, names = ports.files.memory, [ref.name]
    if ref.kind is RefKind.AUTHORED:
        root = ports.root
    elif ref.kind is RefKind.EVERY_LINE:
        names = sorted(config.lines_on_disk, key=lambda name: f"{name}/")
    for name in names:
        for path in walk_documents(root, name, after=after, prefix=prefix):
            if locate_quietly(path, config) is not None:
                yield path


def locate_quietly(path: str, config: BrainFiles) -> Located | None:
    """Return where a path on disk belongs, or None when no tool can name it."""
    try:
        return locate(path, sources=config.sources)
    except InvalidNameError:
        return None


def _entry(ports: Ports, config: BrainFiles, path: str) -> FileEntry | None:
    located = locate_quietly(path, config)
    document = _load(ports, config, located, is_listed=True) if located else None
    if located is None or document is None:
        return None
    kind = kind_of(ManagedPath(path)).value if located.zone is Zone.MANAGED else "source"
    chars = count_chars(document.data.decode("utf-8", "surrogateescape"))
    return FileEntry(path, kind, chars, document.modified_at, len(document.data))


# -- overview --------------------------------------------------------------------------------------------------------


def overview(turn: Turn, ports: Ports) -> Overview:
    """Return what the turn's memory consists of.

    Raises:
        ScopeError: The role has no memory.
    """
    config = ports.config()
    line = own_line(turn)
    paths = [ManagedPath(path) for path in _walk(ports, config, Ref(RefKind.LINE, line)) if is_line_name(line)]
    kinds = Counter(kind_of(path) for path in paths)
    days = sorted(on.isoformat() for path in paths if kind_of(path) is FileKind.DAILY and (on := date_of(path)))
    memory = read_document(ports.files.memory, memory_path(line), within=line)
    located = Located(Zone.MANAGED, memory_path(line))
    return Overview(
        line=line,
        path=memory_path(line),
        budget=_reading(config, located, memory.data.decode("utf-8", "surrogateescape")) if memory else None,
        days=(len(days), days[0], days[-1]) if days else None,
        periods={
            kind.value: tuple(_period_of(path) for path in paths if kind_of(path) is kind)
            for kind in _PERIODS
            if kinds[kind]
        },
        read=tuple(ref.name for ref in turn.scope.readable),
        recall=tuple(ref.name for ref in turn.scope.recalled),
        report=turn.scope.report,
    )


def _period_of(path: ManagedPath) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


__all__ = ["FileContent", "FileEntry", "FileListing", "Overview", "UsageError", "list_files", "overview", "read"]
