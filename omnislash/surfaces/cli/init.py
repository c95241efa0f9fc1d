"""`omnislash init`: makes a brain, and never overwrites a file; a folder that holds notes is adopted when that is said.

Rules: interface.md, "The brain directory".
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from omnislash.errors import OmnislashError, StorageError, UsageError
from omnislash.surfaces.cli.commands import Command
from omnislash.surfaces.cli.output import command_name, naming, print_json, print_line

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence

    from omnislash.surfaces.cli.adopting import Adoption
    from omnislash.surfaces.cli.options import Settings


#: The file that makes a directory a brain.
_PROJECT: Final = "omnislash.yaml"
#: Files in the directories that every brain has.
_PLACES: Final = ("constitution/MANIFEST.yaml", "features/chat/nova.agent.md", "memory/main")


class TakenError(StorageError):
    """There is a brain already."""


@click.command(
    cls=Command,
    example=(
        "omnislash init my-brain\nomnislash init playground --example\nomnislash init my-notes --adopt sources --dry-run"
    ),
)
@click.argument("directory", metavar="DIR")
@click.option("--example", is_flag=True, help="Copy the example brain: four roles with a month of memory.")
@click.option("--git/--no-git", default=True, show_default=True, help="Make it a git repository with a first commit.")
@click.option(
    "--adopt",
    type=click.Choice(["sources", "line", "none"]),
    help="What becomes of notes in DIR: documents that agents read, a line of memory, or nothing.",
)
@click.option("--line", metavar="NAME", help="With --adopt line: the line that they become; main by default.")
@click.option("--into", metavar="SUBDIR", help="With --adopt sources: gathers what can't be a source where it stands.")
@click.option("--dry-run", is_flag=True, help="With --adopt: say what would be done with each file, and do nothing.")
@click.option("--yes", is_flag=True, help="With --adopt: do it without asking.")
@click.pass_obj
def init(settings: Settings, /, directory: str, *, example: bool, git: bool, **notes: Any) -> int:
    """Make a brain in a directory.

    A directory that exists is filled up: what is there stays as it is. One that is a brain already is refused.
    When it holds notes, nothing happens before --adopt says what becomes of them.
    """
    settings.refuse_replay("omnislash init")
    _check_place(settings, directory)
    root = Path(directory).expanduser().absolute()
    _check_free(root)
    _check_directories(root, _PLACES)
    adoption = _ask_about_notes(settings, directory, root, {"example": example, "git": git, **notes})
    if adoption is not None and not adoption.is_wanted:
        return 0
    _check_free(root)  # again: a person may have thought about the plan for a while
    moved = adoption.carry_out(root) if adoption else []
    try:
        made = make_brain(root, example=example, texts=adoption.texts if adoption else None)
    except OmnislashError as error:
        if adoption is None or not adoption.moved:
            raise
        raise adoption.explain(root, error) from error
    note = _start_git(root, [*made, *moved]) if git else "No git, as you asked."
    with naming("the brain is made"):
        if settings.json:
            more = {"adoption": adoption.to_json()} if adoption else {}
            print_json({"brain": str(root), "files": made, "git": note, **more})
        elif not settings.quiet:
            _tell(directory, made, note, example=example)
        _tell_unignored(root)
    return 0


def _tell_unignored(root: Path) -> None:
    """Say which lines a .gitignore of the owner lacks: without them the next commit holds the search index."""
    from omnislash.surfaces.cli import templates  # noqa: PLC0415 - not needed for the help

    if lines := templates.find_unignored(root):
        print_line(".gitignore was there already and stays as it is. Add to it what git should leave out:", err=True)
        for line in lines:
            print_line(f"  {line}", err=True)


def _ask_about_notes(settings: Settings, directory: str, root: Path, given: Mapping[str, Any]) -> Adoption | None:
    """Return what becomes of the notes in a folder; None where there are none, or where they are left alone.

    Raises:
        UsageError: There are notes and nobody said what becomes of them, or the options make no sense.
    """
    asked = any(value for option, value in given.items() if option not in {"example", "git"})
    if not asked and not _holds_something(root):
        return None
    from omnislash.surfaces.cli import adopting  # noqa: PLC0415 - only for a folder that holds something

    return adopting.decide(settings, directory, root, adopting.Wish(**given))


def _holds_something(root: Path) -> bool:
    try:
        return any(root.iterdir())
    except OSError:  # not there, or unreadable: making the brain says so
        return False


def _check_place(settings: Settings, directory: str) -> None:
    """Raise UsageError unless DIR, and nothing else, says where the brain goes."""
    if "brain" in settings.given:
        raise UsageError("omnislash init takes the place as its DIR, and not as --brain; nothing was done.")
    if not directory:
        raise UsageError("DIR is empty; name the directory for the brain, such as my-brain.")


def _check_free(root: Path) -> None:
    """Raise UsageError when the place is a file, and StorageError when there is a brain already."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file; a directory is meant.", path=str(root))
    if (root / "omnislash.yaml").exists() or (root / "omnislash.yaml").is_symlink():
        message = f"{root} is a brain already: it holds omnislash.yaml. Nothing was changed."
        raise TakenError(message, path=str(root), hint="Choose another directory.")


def _check_directories(root: Path, paths: Iterable[str]) -> None:
    """Raise UsageError when something else stands where a file of the brain needs a directory."""
    above = {parent for path in paths for parent in Path(path).parents if parent.parts}
    for parent in sorted(above):
        place = root / parent
        if os.path.lexists(place) and not place.is_dir():
            message = f"{place} is no directory, and a brain needs one there. Nothing was changed."
            raise UsageError(message, path=str(place), hint="Give it another name, or choose another directory.")


def make_brain(
    root: Path, *, example: bool, texts: Mapping[str, str] | None = None, without: re.Pattern[str] | None = None
) -> list[str]:
    """Make what is missing and return the paths of the files that were made.

    Args:
        root: Where.
        example: Whether to copy the example brain.
        texts: The files in place of those of an empty brain, by path.
        without: Files to leave out: those whose path begins like this.

    Raises:
        UsageError: The place is a file.
        StorageError: There is a brain already, or the disk refuses.
    """
    _check_free(root)
    files = {
        path: data for path, data in _files(texts, example=example).items() if not (without and without.match(path))
    }
    _check_directories(root, files)
    try:
        made = [path for path, data in files.items() if _make_file(root / path, data)]
        (root / "memory").mkdir(exist_ok=True)
    except OSError as error:
        message = f"The brain can't be made: {error.filename or root}: {error.strerror or error}."
        raise StorageError(message, path=str(root)) from error
    if _PROJECT not in made:
        message = f"{root} has become a brain meanwhile: somebody else made omnislash.yaml, and it stays as it is."
        if made:
            message += f" Made beside it: {', '.join(made)}."
        raise TakenError(message, path=str(root), hint="See what it is now: `omnislash doctor` there.")
    return made


def _files(texts: Mapping[str, str] | None, *, example: bool) -> Mapping[str, bytes]:
    """Return every file of the new brain; the one that makes it a brain comes last."""
    from omnislash.surfaces.cli import templates  # noqa: PLC0415 - not needed for the help

    if not example:
        files = {path: text.encode() for path, text in (texts or templates.FILES).items()}
    else:
        from omnislash.shipped import example_directory  # noqa: PLC0415 - only here

        source = example_directory()
        places = sorted(place for place in source.rglob("*") if place.is_file())
        files = {place.relative_to(source).as_posix(): place.read_bytes() for place in places if _is_shipped(place)}
    path, text = templates.IGNORE
    files[path] = text.encode()
    files[_PROJECT] = files.pop(_PROJECT)
    return files


def _is_shipped(place: Path) -> bool:
    """Tell whether a file is part of the example, and not left by somebody who ran it in place."""
    return ".omnislash" not in place.parts and not place.name.startswith(".memory-index")


def _make_file(place: Path, data: bytes) -> bool:
    """Make a file, unless there is one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with place.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    return True


def _start_git(root: Path, made: Sequence[str]) -> str:
    from omnislash.surfaces.cli import repository  # noqa: PLC0415 - subprocess, which only this needs

    return repository.start(root, made, message="Start the brain")


def _tell(directory: str, made: list[str], note: str, *, example: bool) -> None:
    memory = [path for path in made if path.startswith("memory/")]
    for path in made:
        if path not in memory:
            print_line(f"  {path}")
    if memory:
        print_line(f"  memory/… ({len(memory)} files)")
    print_line(note)
    if Path(directory).expanduser().absolute() == Path.cwd():
        print_line("\nThe brain stands in this directory. Try next:", bold=True)
    else:
        print_line(f"\nThe brain stands in {directory}. Try next:", bold=True)
        print_line(f"  cd {shlex.quote(directory)}")
    line = "main/MEMORY.md" if example else "main"
    command = command_name(elsewhere=True)
    print_line(f"  {command} memory overview --role nova")
    print_line(
        f'  {command} memory write --role nova --priority "We ship on Fridays, because the carrier comes at four."'
    )
    print_line(f"  {command} memory {'read' if example else 'list'} --role nova {line if example else '--corpus main'}")
    print_line(f"  {command} worker")
    print_line(f"  {command} help getting-started")
