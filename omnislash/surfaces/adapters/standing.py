"""What is installed where, and whether it would work: files, programs, brains, the worker. Looks only."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import OmnislashError
from omnislash.store.locks import is_locked, read_owner
from omnislash.store.lone_files import read_lone
from omnislash.surfaces.adapters.hook_log import LOG_FILE
from omnislash.surfaces.adapters.hosts import Scope
from omnislash.surfaces.adapters.json_settings import describe_oddities
from omnislash.surfaces.adapters.planning import Where, load
from omnislash.surfaces.adapters.receipts import SIGN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.surfaces.adapters.hosts import Entry, Host, HostFile


#: Longest line at the begin of a script that is looked at, in bytes.
_LINE_BYTES: Final = 4096
#: How the second line of a script begins whose interpreter's path is long or holds blanks, as pip and uv write it.
_EXEC: Final = "'''exec' "


class Condition(StrEnum):
    """How our entry stands in a file."""

    INSTALLED = "installed"
    #: Some of its hooks are missing.
    PARTIAL = "partial"
    ABSENT = "absent"
    #: The file can't be read, or has another form.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """An entry, and whether it would work."""

    entry: Entry
    #: The program that it starts is there, and so is the interpreter that it names.
    has_program: bool
    #: The brain is there.
    has_brain: bool
    #: A worker runs, so that a hook is answered without opening the brain.
    is_warm: bool
    #: The newest line that a hook of the brain noted; None without one.
    last_line: str | None

    def to_json(self) -> dict[str, Any]:
        """Return `{role, heartbeat, brain, program, programExists, brainExists, workerRuns, lastLine}`."""
        return {
            "role": self.entry.role,
            "heartbeat": self.entry.heartbeat,
            "brain": self.entry.brain,
            "program": list(self.entry.program),
            "programExists": self.has_program,
            "brainExists": self.has_brain,
            "workerRuns": self.is_warm,
            "lastLine": self.last_line,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file of a host, and how our entry stands in it."""

    scope: Scope
    file: HostFile
    condition: Condition
    entries: tuple[EntryView, ...] = ()
    #: What is wrong with the file, and what a person should know about it, as sentences.
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{scope, part, path, condition, entries, notes}`."""
        return {
            "scope": self.scope.value,
            "part": self.file.part.value,
            "path": str(self.file.path),
            "condition": self.condition.value,
            "entries": [view.to_json() for view in self.entries],
            "notes": list(self.notes),
        }


def look(host: Host, project: Path, environment: Mapping[str, str]) -> list[FileView]:
    """Return every file of every scope; what is wrong with one hides nothing of the others."""
    wheres = [Where(host=host, scope=scope, project=project, environment=environment) for scope in Scope]
    return [_look_at(where, file) for where in wheres for file in where.files()]


def _look_at(where: Where, file: HostFile) -> FileView:
    try:
        loaded = load(where.host, file)
    except OmnislashError as error:
        return FileView(scope=where.scope, file=file, condition=Condition.BROKEN, notes=(error.message,))
    found = loaded.found
    condition = Condition.INSTALLED if found.is_complete else Condition.PARTIAL if found.entries else Condition.ABSENT
    notes = [f"{file.path} {note}" for note in describe_oddities(where.host, loaded.text)] if found.entries else []
    views = tuple(view_entry(entry) for entry in found.entries)
    return FileView(scope=where.scope, file=file, condition=condition, entries=views, notes=tuple(notes))


def view_entry(entry: Entry) -> EntryView:
    """Return whether an entry would work."""
    brain = Path(entry.brain)
    return EntryView(
        entry=entry,
        has_program=_is_startable(entry.program[0]),
        has_brain=(brain / SIGN).is_file(),
        is_warm=_has_worker(brain),
        last_line=_read_last_line(brain / LOG_FILE),
    )


def _is_startable(program: str) -> bool:
    """Tell whether a program is there, and for a script its interpreter: a new Python takes the old one away."""
    place = shutil.which(program)
    if place is None:
        return False
    try:
        with Path(place).open("rb") as file:
            lines = [file.readline(_LINE_BYTES) for _ in range(2)]
        interpreter = _find_interpreter(*(line.decode() for line in lines))
    except (OSError, ValueError, LookupError):  # nothing that can be read as a script
        return True
    return interpreter is None or shutil.which(interpreter) is not None


def _find_interpreter(first: str, second: str) -> str | None:
    """Return the interpreter that a script names; None where it names none."""
    if not first.startswith("#!"):
        return None
    if second.startswith(_EXEC):
        return shlex.split(second)[1]
    words = first[2:].split()
    return words[0] if words else None


def _has_worker(brain: Path) -> bool:
    lock = brain / ".omnislash" / "writer.lock"
    try:
        owner = read_owner(lock)
        return owner is not None and owner.role == "worker" and is_locked(lock)
    except OSError:
        return False


def _read_last_line(place: Path) -> str | None:
    try:
        lines = (read_lone(place) or b"").decode(errors="replace").splitlines()
    except OSError:
        return None
    return lines[-1] if lines else None
