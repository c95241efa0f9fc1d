"""What planning takes and gives: the files as they are now, the brain's settings, and the plan of one job.

Everything here is pure; the worker supplies the bytes and carries the plan out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from omnislash.core import verdicts
from omnislash.core.budgets import Budget, Reading, count_chars, effective_budget, fit_memory
from omnislash.core.events import BudgetRefused, MemoryCompacted, MemoryEvent
from omnislash.core.lines import is_inside, memory_path
from omnislash.core.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from zoneinfo import ZoneInfo

    from omnislash.core.lines import AuthoredPath, LineName, ManagedPath


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """What the writer needs to know of the brain's configuration."""

    #: The brain's zone: decides which day an entry belongs to (LINE-O3).
    zone: ZoneInfo
    #: `memory.fileMaxChars`; 0 means unbounded.
    file_max_chars: int = 10_000
    #: `memory.lines.<line>.fileMaxChars`; None where a line does not set it.
    line_max_chars: Mapping[str, int | None] = field(default_factory=dict)
    #: False when `memory.secrets: allow` switches the refusal off (SECRET-O1).
    refuse_secrets: bool = True
    #: Authored sources: no managed file may be made at a path that one of them shadows (SOURCE-O3).
    sources: tuple[AuthoredPath, ...] = ()

    def budget(self, line: LineName) -> Budget:
        """Return the line's budget for MEMORY.md (BUDGET-15)."""
        return effective_budget(self.file_max_chars, self.line_max_chars, line)


class FileReader(Protocol):
    """The managed files as they are now."""

    def read(self, path: ManagedPath) -> bytes | None:
        """Return the bytes, or None when there is no such file; StorageError when something is in the way."""
        ...


class FileView(FileReader, Protocol):
    """The same with the planned changes of earlier jobs of the batch, and by entry."""

    def holds(self, path: ManagedPath, unit: str) -> bool:
        """Tell whether an entry with this folded text stands in the file (WRITE-O6)."""
        ...


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One file and the bytes that it shall hold."""

    path: ManagedPath
    #: None for a removal.
    after: bytes | None
    #: The entry that an append adds; None when the file was changed in another way.
    appended: str | None = None
    #: The folded text by which dedupe will know that entry; None when the file was changed in another way.
    unit: str | None = None
    #: False for a text that is made from others and only ever created: whoever edits or deletes it loses nothing.
    watched: bool = True


@dataclass(frozen=True, slots=True)
class Watch:
    """What a change of a file means for the texts that are watched there."""

    path: ManagedPath
    #: Entries and paragraphs that are new, in the order of the file.
    added: tuple[str, ...] = ()
    #: Those that went on purpose.
    removed: tuple[str, ...] = ()
    #: True when the file went on purpose, with everything in it.
    gone: bool = False
    #: False for a person's text: a save that holds it need not have known the engine's.
    own: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a watch of the engine's own text."""
        return {"path": self.path, "added": list(self.added), "removed": list(self.removed), "gone": self.gone}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return what :meth:`to_json` gave."""
        return cls(data["path"], tuple(data["added"]), tuple(data["removed"]), gone=data["gone"])


@dataclass(frozen=True, slots=True)
class Plan:
    """What one job comes to: the answer, the files to change, and what will have happened."""

    verdict: Verdict
    changes: tuple[PlannedChange, ...] = ()
    events: tuple[MemoryEvent, ...] = ()
    #: What is watched once it is done; filled in when the plan joins a batch.
    watches: tuple[Watch, ...] = ()

    def with_note(self, note: str) -> Plan:
        """Return the plan with one more sentence in its answer."""
        return replace(self, verdict=replace(self.verdict, message=f"{self.verdict.message} {note}"))


def decode(data: bytes | None) -> str:
    """Return the text of a file; bytes that are not UTF-8 survive as surrogates. None reads as empty."""
    return "" if data is None else data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that :func:`decode` gave."""
    return text.encode("utf-8", "surrogateescape")


def refuse(message: str, *, budget: Reading | None = None, paths: tuple[str, ...] = ()) -> Plan:
    """Return a plan that changes nothing because a rule says no."""
    return Plan(verdicts.refused(message, budget=budget, paths=paths))


def secret_message(secret: str) -> str:
    """Return the refusal that names the class of a credential and never its value (SECRET-O1)."""
    return (
        f"Refused: the text holds what looks like a credential ({secret}). Nothing was written. "
        "Keep credentials out of memory; name where the secret is kept instead."
    )


def shadowed(path: ManagedPath, settings: WriterSettings) -> Plan | None:
    """Return the refusal of a path that a declared source claims, or None (SOURCE-O3)."""
    for source in settings.sources:
        if is_inside(path, source):
            return refuse(
                f"{path} can't be written: the authored source {source} has that path, and no memory tool changes "
                "a source. Choose another name."
            )
    return None


@dataclass(frozen=True, slots=True)
class FittedMemory:
    """A MEMORY.md after the two steps of its budget."""

    #: Text to save; None when the budget refuses.
    text: str | None
    reading: Reading
    events: tuple[MemoryEvent, ...]
    #: Sentences for the answer: the dropped dates and the reading, or the refusal with its numbers.
    message: str


def fit(
    after: str,
    *,
    before: str,
    line: LineName,
    settings: WriterSettings,
    protected_at: int | None = None,
    is_priority: bool = False,
) -> FittedMemory:
    """Take a new MEMORY.md through the two steps: drop dated sections, then refuse.

    Args:
        after: The text that the write asks for.
        before: The text on disk.
        line: Whose MEMORY.md it is.
        settings: Holds the budget.
        protected_at: Offset in `after` inside the section that receives the write.
        is_priority: True for an entry that a priority write adds.

    Rules: BUDGET-05 to BUDGET-14, BUDGET-O1 to BUDGET-O4.
    """
    budget = settings.budget(line)
    result = fit_memory(after, text_before=before, budget=budget, protected_at=protected_at)
    path = memory_path(line)
    if not result.accepted:
        limit = budget.limit or 0
        event = BudgetRefused(file=path, scope=line, chars=result.chars, budget=limit)
        reading = Reading(count_chars(before), budget.limit)
        message = verdicts.over_budget_message(path, chars=result.chars, budget=limit, is_priority=is_priority)
        return FittedMemory(None, reading, (event,), message)
    reading = Reading(count_chars(result.text), budget.limit)
    sentences = [verdicts.dropped_message(result.dropped)] if result.dropped else []
    sentences.append(verdicts.reading_message(reading))
    return FittedMemory(
        result.text, reading, _compacted(result.dropped, path, line, before, reading), " ".join(sentences)
    )


def _compacted(
    dropped: tuple[date, ...], path: ManagedPath, line: LineName, before: str, reading: Reading
) -> tuple[MemoryEvent, ...]:
    if not dropped:
        return ()
    return (
        MemoryCompacted(
            file=path,
            scope=line,
            dates=dropped,
            chars_before=count_chars(before),
            chars_after=reading.chars,
            budget=reading.limit or 0,
        ),
    )


def in_effect(verdict: Verdict) -> bool:
    """Tell whether an answer says that the content landed."""
    return verdict.outcome in {Outcome.WRITTEN, Outcome.PARTIAL}
