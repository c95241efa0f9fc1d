"""What an adoption would do with each file of a folder. Reads only; the disk is changed elsewhere.

Rules: SOURCE-03 to SOURCE-06, SOURCE-18, LINE-05, LINE-07, BUDGET-04, SECRET-O2.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import Reading, count_chars
from omnislash.core.credentials import find_secrets
from omnislash.core.lines import (
    DEFAULT_LINE,
    MEMORY_FILE,
    FileKind,
    LineName,
    daily_path,
    is_line_name,
    kind_of,
    memory_path,
    parse_authored_path,
    parse_line_name,
    parse_managed_path,
    parse_source,
)
from omnislash.errors import InvalidNameError, StorageError, UsageError
from omnislash.runtime.adopting.naming import DocumentNames
from omnislash.runtime.adopting.values import BRAIN_DIRECTORIES, AdoptionPlan, Credential, Left, Mode, Move
from omnislash.runtime.adopting.ways import Ways
from omnislash.store.files import MemoryFiles
from omnislash.writer.migrating import foresee_migration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from omnislash.core.budgets import Chars
    from omnislash.runtime.adopting.values import Survey

_SUFFIX: Final = ".md"
#: So many single files at the top become a source each; more of them are for `--into`.
SINGLE_FILES_MAX: Final = 200
#: Largest note that is looked through for credentials, in bytes.
_BYTES_MAX: Final = 8 << 20


def plan_line(root: Path, survey: Survey, *, line: str, budget: Chars) -> AdoptionPlan:
    """Return the plan in which the notes become a line.

    MEMORY.md becomes that of the line, a note that is named after a day its daily log, and every other note a document.

    Args:
        root: The folder.
        survey: What it holds.
        line: Name of the line.
        budget: `fileMaxChars` of the brain that is made.

    Raises:
        InvalidNameError: That is no name of a line.
        UsageError: The line's directory can't be used: it is a link, no directory, or has a twin.
    """
    name = parse_line_name(line)
    directory = root / "memory" / name
    ways = _open_ways(root, name)
    names = DocumentNames(directory)
    moves: list[Move] = []
    left: list[Left] = []
    days: set[str] = set()
    for note in survey.notes:
        target = _find_line_place(note, survey, name, names, root=root, days=days)
        if isinstance(target, Left):
            left.append(target)
        elif problem := ways.find_move_problem(note, f"memory/{target}"):
            left.append(Left(note, problem))
        else:
            moves.append(Move(note, f"memory/{target}"))
    kept = tuple(sorted((*survey.left, *survey.others, *left), key=lambda each: each.path))
    sources = [move.source for move in moves]
    later, later_left = find_later(root, moves)
    return AdoptionPlan(
        mode=Mode.LINE,
        survey=survey,
        moves=tuple(moves),
        left=kept,
        line=name,
        emptied=survey.empty if directory.is_dir() else (),
        later=later,
        later_left=later_left,
        credentials=find_credentials(root, sources),
        advice=_advise_on_budget(root, moves, name, budget),
    )


def _open_ways(root: Path, line: LineName) -> Ways:
    """Return the ways of a folder in which the line can be made.

    Raises:
        UsageError: The line's directory can't be used.
    """
    ways = Ways(root)
    problem = ways.find_problem(f"memory/{line}")
    hint = "Put a real directory in its place, or choose another line with --line."
    if problem is not None:
        raise UsageError(f"No note can become part of memory/{line}: {problem}. Nothing was changed.", hint=hint)
    try:
        MemoryFiles(root / "memory").locate(memory_path(line))
    except StorageError as error:
        raise UsageError(f"{error.message} Nothing was changed.") from error
    return ways


def find_later(root: Path, moves: Iterable[Move] = ()) -> tuple[tuple[Move, ...], tuple[Left, ...]]:
    """Return what the writer will move when it first starts, and what stays: the owner's files at the root of `memory/`.

    Args:
        root: The folder.
        moves: What an adoption moves before.

    Rules: MIGRATE-01, MIGRATE-02, MIGRATE-O1.
    """
    taken = [move.target.removeprefix("memory/") for move in moves if move.target.startswith("memory/")]
    done = foresee_migration(MemoryFiles(root / "memory"), taken=taken)
    moved = (path.removeprefix(f"{DEFAULT_LINE}/") for path in done.moved)
    return (
        tuple(Move(f"memory/{path}", f"memory/{DEFAULT_LINE}/{path}") for path in moved),
        tuple(Left(f"memory/{name}", reason) for name, reason in done.kept.items()),
    )


def _find_line_place(
    note: str, survey: Survey, line: LineName, names: DocumentNames, *, root: Path, days: set[str]
) -> str | Left:
    """Return the managed path of a note, or why it stays."""
    if note == MEMORY_FILE:
        taken = os.path.lexists(root / "memory" / line / MEMORY_FILE)
        return Left(note, f"memory/{line}/{MEMORY_FILE} is there already") if taken else f"{line}/{MEMORY_FILE}"
    if (on := survey.days.get(note)) is not None:
        log = daily_path(line, on)
        if log not in days and not os.path.lexists(root / "memory" / log):
            days.add(log)
            return log
    if not _is_text(note):
        return Left(note, "its name is no UTF-8")
    target = f"{line}/{names.place(note)}"
    try:
        path = parse_managed_path(target)
    except InvalidNameError as error:
        return Left(note, _reason_of(error))
    return path if kind_of(path) is FileKind.DOCUMENT else Left(note, "its name is that of a summary")


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason_of(error: InvalidNameError) -> str:
    return error.message.partition(": ")[2].rstrip(".") or error.message.rstrip(".")


def _advise_on_budget(root: Path, moves: Iterable[Move], line: str, budget: Chars) -> tuple[str, ...]:
    if not any(move.source == MEMORY_FILE for move in moves):
        return ()
    try:
        text = (root / MEMORY_FILE).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ()
    reading = Reading(count_chars(text), budget)
    if reading.chars <= budget:
        return ()
    over = f"MEMORY.md is {reading.render()}: over its budget, so that no entry fits into it as it is."
    ways = (
        f"Two ways out: give the line a larger memory.lines.{line}.fileMaxChars in constitution/MANIFEST.yaml, or move "
        "what not every conversation needs into documents of the line."
    )
    return (f"{over} {ways}",)


# -- sources ---------------------------------------------------------------------------------------------------------


def plan_sources(root: Path, survey: Survey, *, into: str | None) -> AdoptionPlan:
    """Return the plan in which the notes become authored sources.

    Nothing moves but what `into` gathers: files that can't be a source where they stand.

    Args:
        root: The folder.
        survey: What it holds.
        into: The directory that gathers them; None leaves them out.

    Raises:
        UsageError: `into` can't be a source.
    """
    gathering = None if into is None else _check_into(root, into)
    singles = sum("/" not in note for note in survey.notes)
    problems = {
        top: _find_source_problem(root, top, singles=singles) for top in dict.fromkeys(map(_top_of, survey.notes))
    }
    sources = [top for top, problem in problems.items() if problem is None]
    moves: list[Move] = []
    left: list[Left] = []
    ways = Ways(root)
    for file in (*(each.path for each in survey.others), *survey.notes):  # notes last: they tell what is to be gathered
        problem = problems.get(_top_of(file))
        if problem is not None and gathering is not None:
            _gather(root, file, gathering, moves, left, ways=ways)
        elif file.endswith(_SUFFIX) and _top_of(file) in problems:
            left += _judge_in_place(file, problem)
    if gathering is not None and any(move.target.endswith(_SUFFIX) for move in moves):
        sources += [gathering] if _top_of(gathering) not in sources else []
    moved = {move.source for move in moves}
    others = [each for each in (*survey.left, *survey.others) if each.path not in moved]
    stay = {each.path for each in left}
    later, later_left = find_later(root)
    return AdoptionPlan(
        mode=Mode.SOURCES,
        survey=survey,
        moves=tuple(moves),
        left=tuple(sorted((*others, *left), key=lambda each: each.path)),
        sources=tuple(sorted(set(sources))),
        emptied=_find_emptied(root, survey, gathering, singles=singles),
        later=later,
        later_left=later_left,
        credentials=find_credentials(root, [note for note in survey.notes if note not in stay]),
    )


def _find_emptied(root: Path, survey: Survey, into: str | None, *, singles: int) -> tuple[str, ...]:
    """Return the directories that can't be a source and were gathered already, so that nothing is left in them."""
    if into is None or not (root / into).is_dir():
        return ()
    return tuple(path for path in survey.empty if _find_source_problem(root, _top_of(path), singles=singles))


def _top_of(path: str) -> str:
    return path.partition("/")[0]


def _check_into(root: Path, into: str) -> str:
    name = into.rstrip("/")
    try:
        parse_source(name)
    except InvalidNameError as error:
        raise UsageError(f"--into: {error.message}", hint="Name a directory such as notes.") from error
    if _top_of(name) in {*BRAIN_DIRECTORIES, *_lines_of(root)} or name.endswith(_SUFFIX):
        raise UsageError(f"--into: {name!r} can't be a directory of sources.", hint="Name another, such as notes.")
    if problem := Ways(root).find_problem(name):
        raise UsageError(f"--into: {problem}.", hint="Name another, such as notes.")
    return name


def _lines_of(root: Path) -> set[str]:
    """Return the lines that the new brain has: `main`, and what stands below `memory/`."""
    try:
        found = {place.name for place in (root / "memory").iterdir() if place.is_dir() and is_line_name(place.name)}
    except OSError:
        found = set()
    return {DEFAULT_LINE, *found}


def _find_source_problem(root: Path, top: str, *, singles: int) -> str | None:
    """Return why a file or directory at the top can't be a source; None when it can."""
    if not _is_text(top):
        return "its name is no UTF-8"
    try:
        parse_source(top)
    except InvalidNameError as error:
        return f"no source can have its name: {_reason_of(error)}"
    if top in _lines_of(root):
        return f"{top!r} is the name of a line"
    if singles > SINGLE_FILES_MAX and not (root / top).is_dir():
        return f"there are more than {SINGLE_FILES_MAX} single files at the top"
    return None


def _judge_in_place(note: str, problem: str | None) -> list[Left]:
    if problem is not None:
        return [Left(note, problem)]
    try:
        if _is_text(note):
            parse_authored_path(note)
            return []
    except InvalidNameError as error:
        return [Left(note, _reason_of(error))]
    return [Left(note, "its name is no UTF-8")]


def _gather(root: Path, file: str, into: str, moves: list[Move], left: list[Left], *, ways: Ways) -> None:
    """Plan to move a file, an attachment too, below the directory that gathers."""
    target = f"{into}/{file}"
    problem = _judge_in_place(target, None) if file.endswith(_SUFFIX) else []
    if problem:
        left.append(Left(file, problem[0].reason))
    elif os.path.lexists(root / target):
        left.append(Left(file, f"{target} is there already"))
    elif obstacle := ways.find_move_problem(file, target):
        left.append(Left(file, obstacle))
    else:
        moves.append(Move(file, target))


# -- credentials -----------------------------------------------------------------------------------------------------


def find_credentials(root: Path, notes: Iterable[str]) -> tuple[Credential, ...]:
    """Return where notes hold what looks like a credential; a note that can't be read holds none."""
    return tuple(found for note in notes for found in _find_in(root, note))


def _find_in(root: Path, note: str) -> list[Credential]:
    try:
        with (root / note).open("rb") as file:
            text = file.read(_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return []
    return locate_credentials(note, text)


def locate_credentials(note: str, text: str) -> list[Credential]:
    """Return where a text holds what looks like a credential, by line; each part of the text is counted once."""
    found = []
    line, counted = 1, 0
    for start, _, name in sorted(find_secrets(text)):
        line += text.count("\n", counted, start)
        counted = start
        found.append(Credential(note, line, name))
    return found
