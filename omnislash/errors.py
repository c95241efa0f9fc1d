"""Every exception that omnislash raises, in one tree.

::

    OmnislashError
    ├── ConfigError              a file that configures the brain does not load
    ├── ScopeError               the role may not do or see this
    ├── InvalidNameError         a line name, a path or a source that can't exist
    ├── InvalidContentError      text that can't be stored (empty, NUL, half an emoji, a credential)
    ├── BudgetRefusedError       MEMORY.md would not fit its budget
    ├── MissingFileError         a file that was asked for by name is not there
    ├── StorageError             the disk said no: full, read-only, a directory in the way
    ├── WriterUnavailableError   the writer's queue can't be reached at all
    ├── IndexUnavailableError    the search index can't be used
    ├── ModelError               a model gave no answer
    ├── GitTroubleError          git could not do what was asked of it
    └── UsageError               the caller asked for something that makes no sense

An expected outcome (refused, duplicate, queued, unconfirmed) is a value, a
:class:`~omnislash.core.verdicts.Verdict`, and never an exception.
Trouble in the user's own files is collected as :class:`Fault` values, so that one run shows all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Topic(StrEnum):
    """What a fault is about, for whoever sorts them; the same kind of fault may stand in any file."""

    #: A key or a file by itself.
    SETTING = "setting"
    #: The name of a line or of a source.
    REFERENCE = "reference"
    #: A name that says again what another one says.
    REDUNDANT = "redundant"
    #: The name of a model or a harness.
    MODEL = "model"
    #: A directory below `memory/`.
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in a file of the brain, and what to do about it."""

    #: Path relative to the brain, with forward slashes.
    path: str
    #: What is wrong, as a sentence without the place.
    message: str
    #: Line in the file, counted from 1; None when the file as a whole is meant.
    line: int | None = None
    #: Column, counted from 1.
    column: int | None = None
    #: Dotted key, for example `memory.recallResults`.
    key: str | None = None
    #: What the person should do next.
    hint: str | None = None
    #: True when the whole brain must not start with it (KNOB-O5).
    fatal: bool = False
    #: What it is about; two faults are equal whatever this says.
    topic: Topic = field(default=Topic.SETTING, compare=False)

    def render(self) -> str:
        """Return `path:line:column: key: message hint` on one line."""
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        key = f"{self.key}: " if self.key else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{place}: {key}{self.message}{hint}"


class OmnislashError(Exception):
    """Something went wrong in omnislash."""

    #: Stable name of the kind of error, as `--json` prints it.
    kind: ClassVar[str] = "error"

    def __init__(
        self,
        message: str | None = None,
        *,
        path: str | None = None,
        line: int | None = None,
        key: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Keep the sentence and the fields; without a message the class docstring is the message."""
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.path = path
        self.line = line
        self.key = key
        self.hint = hint
        super().__init__(self.message)

    def to_json(self) -> dict[str, object]:
        """Return `{kind, message, path?, line?, key?, hint?}`."""
        fields = {"path": self.path, "line": self.line, "key": self.key, "hint": self.hint}
        return {"kind": self.kind, "message": self.message, **{k: v for k, v in fields.items() if v is not None}}


class ConfigError(OmnislashError):
    """A file that configures the brain does not load."""

    kind = "config"

    def __init__(self, faults: tuple[Fault, ...], message: str | None = None) -> None:
        """Keep every fault; the first one fills `path`, `line`, `key` and `hint`."""
        first = faults[0] if faults else None
        self.faults = faults
        super().__init__(
            message or "\n".join(fault.render() for fault in faults),
            path=first.path if first else None,
            line=first.line if first else None,
            key=first.key if first else None,
            hint=first.hint if first else None,
        )

    def to_json(self) -> dict[str, object]:
        """Return the usual fields and `faults`, the whole list."""
        faults = [
            {"path": f.path, "line": f.line, "column": f.column, "key": f.key, "message": f.message, "hint": f.hint}
            for f in self.faults
        ]
        return {**super().to_json(), "faults": faults}


class ScopeError(OmnislashError):
    """The role may not do or see this."""

    kind = "scope"


class InvalidNameError(OmnislashError):
    """A line name, a path or a source that can't exist."""

    kind = "name"


class InvalidContentError(OmnislashError):
    """Text that can't be stored."""

    kind = "content"


class BudgetRefusedError(OmnislashError):
    """MEMORY.md would not fit its budget; nothing was saved."""

    kind = "budget"

    def __init__(self, message: str | None = None, *, chars: int, budget: int, path: str | None = None) -> None:
        """Keep the numbers, in UTF-16 code units (BUDGET-11)."""
        super().__init__(message, path=path)
        self.chars = chars
        self.budget = budget


class StorageError(OmnislashError):
    """The disk said no."""

    kind = "storage"


class WriterUnavailableError(OmnislashError):
    """The writer's queue can't be reached."""

    kind = "writer"


class IndexUnavailableError(OmnislashError):
    """The search index can't be used."""

    kind = "index"


class ModelError(OmnislashError):
    """A model gave no answer."""

    kind = "model"


class GitTroubleError(OmnislashError):
    """Git could not do what was asked of it."""

    kind = "git"


class UsageError(OmnislashError):
    """The call makes no sense as it stands."""

    kind = "usage"


class MissingFileError(OmnislashError):
    """There is no such file."""

    kind = "missing"
