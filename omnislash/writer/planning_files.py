"""Plan the jobs that change a file as a whole or in place: edit, write-file, move, delete.

Pure, as :mod:`omnislash.writer.planning`.
After a crash (`job.resumed`) what is in effect already counts as done, so that no change is made twice.

Rules: TOOL-03, TOOL-04, TOOL-O1, TOOL-O2, BUDGET-05, BUDGET-O1, BUDGET-O10, SOURCE-O3, EVENT-02, EVENT-03.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.budgets import Reading, count_chars
from omnislash.core.content import check_content
from omnislash.core.credentials import find_secret
from omnislash.core.entries import Entry, match_entries, parse_entries, render_entry
from omnislash.core.events import MemoryCompacted, MemoryDeleted, MemoryEdited, MemoryEvent
from omnislash.core.lines import FileKind, check_portable, kind_of
from omnislash.core.sections import drop_section, find_sections, parse_memory, remove_entry
from omnislash.core.verdicts import Outcome, Verdict
from omnislash.store.hashing import hash_bytes
from omnislash.writer.plans import (
    FileReader,
    Plan,
    PlannedChange,
    WriterSettings,
    decode,
    encode,
    fit,
    refuse,
    secret_message,
    shadowed,
)

if TYPE_CHECKING:
    from omnislash.core.lines import ManagedPath
    from omnislash.writer.jobs import DeleteRequest, EditRequest, Job, MoveRequest, WriteFileRequest

_BOM = "\ufeff"
_MARK = "- "
#: How many places a refusal lists.
_CANDIDATES = 6


@dataclass(frozen=True, slots=True)
class _Target:
    """An existing file that a job wants to change."""

    path: ManagedPath
    data: bytes
    text: str

    @property
    def newline(self) -> str:
        """The line ending of the file: that of its first line."""
        end = self.text.find("\n")
        return "\r\n" if end > 0 and self.text[end - 1] == "\r" else "\n"

    def entries(self) -> tuple[Entry, ...]:
        """Return its entries; those of a daily log without their time."""
        return parse_entries(self.text, timed=kind_of(self.path) is FileKind.DAILY)


def _open(path: ManagedPath, files: FileReader) -> _Target | None:
    data = files.read(path)
    return None if data is None else _Target(path, data, decode(data))


def _missing(job: Job, path: ManagedPath) -> Plan:
    return refuse(f"There is no file {path}; nothing was changed.{_hint(job, 'memory_list shows what there is.')}")


def _hint(job: Job, sentence: str) -> str:
    """Return a sentence that names a tool, which helps an agent; a person has none."""
    return "" if job.actor == "person" else f" {sentence}"


def _done(job: Job, path: ManagedPath) -> Plan:
    return Plan(Verdict(Outcome.WRITTEN, (path,), verdicts.written_message([path], verb="Changed"), job=job.id))


# -- edit ------------------------------------------------------------------------------------------------------------


def plan_edit(job: Job, request: EditRequest, files: FileReader, settings: WriterSettings) -> Plan:
    """Return the plan of a `memory_edit`: replace one entry, or a text that occurs once."""
    refusal = _check_edit(request, settings)
    if refusal:
        return refusal
    target = _open(request.path, files)
    if target is None:
        return _missing(job, request.path)
    old, new = (_with_newline(text, target.newline) for text in (request.old, request.new))
    place = _find_once(target, old)
    if isinstance(place, str):
        return _done(job, request.path) if job.resumed and _says(target, new) else refuse(place)
    start, end, entry = place
    replacement = new if entry is None else _render_again(target, entry, old=request.old, new=request.new)
    after = target.text[:start] + replacement + target.text[end:]
    return _save(job, target, after, settings, protected_at=start)


def _check_edit(request: EditRequest, settings: WriterSettings) -> Plan | None:
    if not request.old:
        return refuse("The text to replace is empty; nothing was changed. Give a text that occurs once in the file.")
    if not request.new.strip():
        return refuse("The new text is empty; nothing was changed. Use memory_delete to remove an entry.")
    check_content(request.new)
    if request.old == request.new:
        return refuse("The old and the new text are the same; nothing was changed.")
    secret = find_secret(request.new) if settings.refuse_secrets else None
    return refuse(secret_message(secret)) if secret else None


def _with_newline(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", newline)


def _says(target: _Target, new: str) -> bool:
    """Tell whether the new text stands in the file already, as an entry or as it is."""
    return new in target.text or bool(match_entries(target.entries(), new))


def _find_once(target: _Target, old: str) -> tuple[int, int, Entry | None] | str:
    """Return where `old` stands, with the entry when it is one exactly; a refusal when that is not one place.

    A text that is a whole entry means that entry, although it may also stand inside others (a one-letter entry does).
    """
    same = match_entries(target.entries(), old)
    count = target.text.count(old)
    if len(same) == 1:
        return same[0].start, same[0].end, same[0]
    if count == 1:
        start = target.text.index(old)
        return start, start + len(old), None
    if count == 0 and not same:
        return f"The text does not occur in {target.path}; nothing was changed. Re-read the file with memory_read."
    places = "; ".join(_list_places(target.text, old))
    return (
        f"The text occurs {max(count, len(same))} times in {target.path}; nothing was changed. "
        f"Give more of its surroundings so that it occurs once. It stands in: {places}"
    )


def _list_places(text: str, old: str) -> list[str]:
    """Return `line N: …` for the first places, the line shortened."""
    first = old.split("\n", 1)[0].strip()
    found = [
        f"line {number}: {line.strip()[:80]}" for number, line in enumerate(text.split("\n"), start=1) if first in line
    ]
    return found[:_CANDIDATES] + (["…"] if len(found) > _CANDIDATES else [])


def _render_again(target: _Target, entry: Entry, *, old: str, new: str) -> str:
    """Return an entry with a new text.

    Its list mark and its time stay, unless both texts are given as the file shows them: then the new one stands as it
    is, and may be several entries.
    """
    text = new.strip("\n").rstrip()
    if entry.text.strip() != old.strip():
        if old.lstrip().startswith(_MARK) and text.startswith(_MARK):
            return _with_newline(text, target.newline)
        text = text.removeprefix(f"{entry.time} ") if entry.time else text
    rendered = render_entry(text, time=entry.time, newline=target.newline)
    return target.text[entry.start] + rendered[1:]


def _save(
    job: Job,
    target: _Target,
    after: str,
    settings: WriterSettings,
    *,
    protected_at: int | None = None,
    verb: str = "Changed",
) -> Plan:
    """Return the plan that saves a changed text; a MEMORY.md goes through its budget."""
    if kind_of(target.path) is not FileKind.MEMORY:
        return _edited(job, target.path, after, verdicts.written_message([target.path], verb=verb))
    fitted = fit(after, before=target.text, line=job.line, settings=settings, protected_at=protected_at)
    if fitted.text is None:
        return Plan(verdicts.refused(fitted.message, budget=fitted.reading), (), fitted.events)
    message = f"{verdicts.written_message([target.path], verb=verb)} {fitted.message}"
    return _edited(job, target.path, fitted.text, message, reading=fitted.reading, events=fitted.events)


def _edited(
    job: Job,
    path: ManagedPath,
    text: str,
    message: str,
    *,
    reading: Reading | None = None,
    events: tuple[MemoryEvent, ...] = (),
) -> Plan:
    event = MemoryEdited(file=path, scope=job.line, chars=count_chars(text), role=job.role, heartbeat_id=job.heartbeat)
    verdict = Verdict(Outcome.WRITTEN, (path,), message, reading, job=job.id)
    return Plan(verdict, (PlannedChange(path, encode(text)),), (event, *events))


# -- whole files -----------------------------------------------------------------------------------------------------


def plan_write_file(job: Job, request: WriteFileRequest, files: FileReader, settings: WriterSettings) -> Plan:
    """Return the plan of a `memory_write_file`: replace or create a whole file of the own line."""
    check_content(request.content)
    secret = find_secret(request.content) if settings.refuse_secrets else None
    refusal = refuse(secret_message(secret)) if secret else shadowed(request.path, settings)
    if refusal:
        return refusal
    data = files.read(request.path)
    if data is None:
        check_portable(request.path)
    text = request.content if request.is_exact else _like_before(request.content, decode(data))
    if data is not None and encode(text) == data:
        return _unchanged(job, request.path)
    if request.expect_hash is not None and request.expect_hash != hash_bytes(data):
        return refuse(_changed_message(request.path, data))
    verb = "Created" if data is None else "Changed"
    plan = _save(job, _Target(request.path, data or b"", decode(data)), text, settings, verb=verb)
    return _disagreed(request.path) if _drops_unasked(plan, request.agreed) else plan


def _drops_unasked(plan: Plan, agreed: str | None) -> bool:
    """Tell whether a plan drops dated sections of a MEMORY.md otherwise than a person agreed to."""
    drops = any(isinstance(event, MemoryCompacted) for event in plan.events)
    return drops and agreed is not None and hash_bytes(plan.changes[0].after) != agreed


def _disagreed(path: ManagedPath) -> Plan:
    return refuse(f"{path} would lose other dated sections now than you agreed to; nothing was saved. Save it again.")


def _like_before(content: str, before: str) -> str:
    """Return the content with the file's own byte order mark and line ending, and a final newline."""
    text = content if content.endswith("\n") else content + "\n"
    if "\r\n" in before and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    return _BOM + text if before.startswith(_BOM) and not text.startswith(_BOM) else text


def _unchanged(job: Job, path: ManagedPath) -> Plan:
    if job.resumed:
        return _done(job, path)
    message = f"Already there, nothing written: {path} holds exactly this text."
    return Plan(Verdict(Outcome.DUPLICATE, (path,), message, job=job.id))


def _changed_message(path: ManagedPath, data: bytes | None) -> str:
    what = "does not exist any more" if data is None else "has changed since it was opened"
    return f"{path} {what}; nothing was saved. Read it again and repeat the change on what is there now."


def plan_move(job: Job, request: MoveRequest, files: FileReader, settings: WriterSettings) -> Plan:
    """Return the plan of a `memory_move`: another name in the same line, onto a free name."""
    check_portable(request.target)
    refusal = shadowed(request.target, settings)
    if refusal:
        return refusal
    source, there = _open(request.source, files), files.read(request.target)
    if source is None:
        if job.resumed and there is not None:
            return Plan(Verdict(Outcome.WRITTEN, (request.target,), _moved_message(request), job=job.id))
        return _missing(job, request.source)
    plan = _plan_moved(job, request, source, settings)
    if there is None or (job.resumed and plan.changes and plan.changes[0].after == there):
        return plan
    return refuse(
        f"{request.target} exists already; nothing was moved. Choose another name, or delete that file first."
    )


def _moved_message(request: MoveRequest) -> str:
    return f"Moved {request.source} to {request.target}."


def _plan_moved(job: Job, request: MoveRequest, source: _Target, settings: WriterSettings) -> Plan:
    message = _moved_message(request)
    data = source.data
    reading: Reading | None = None
    events: tuple[MemoryEvent, ...] = ()
    if kind_of(request.target) is FileKind.MEMORY:
        fitted = fit(source.text, before="", line=job.line, settings=settings)
        if fitted.text is None:
            return Plan(verdicts.refused(fitted.message, budget=fitted.reading), (), fitted.events)
        data, reading, events = encode(fitted.text), fitted.reading, fitted.events
        message = f"{message} {fitted.message}"
    moved = MemoryEdited(
        file=request.target,
        scope=job.line,
        chars=count_chars(decode(data)),
        role=job.role,
        heartbeat_id=job.heartbeat,
    )
    verdict = Verdict(Outcome.WRITTEN, (request.target,), message, reading, job=job.id)
    changes = (PlannedChange(request.target, data), PlannedChange(request.source, None))
    return Plan(verdict, changes, (moved, _deleted(job, request.source, ""), *events))


# -- delete ----------------------------------------------------------------------------------------------------------


def plan_delete(job: Job, request: DeleteRequest, files: FileReader, settings: WriterSettings) -> Plan:
    """Return the plan of a `memory_delete`: a file, one entry of it, or one section."""
    target = _open(request.path, files)
    if target is None:
        return _removed(job, request.path) if job.resumed else _missing(job, request.path)
    if request.expect_hash not in {None, hash_part(target.data, request.section)}:
        return refuse(
            f"{request.path} has changed since the deletion was asked for; nothing was deleted. Ask for it again."
        )
    if request.entry is not None:
        return _plan_entry_deletion(job, target, request.entry, settings)
    if request.section is not None:
        return _plan_section_deletion(job, target, request.section, settings)
    return _removed(job, request.path, change=PlannedChange(request.path, None))


def hash_part(data: bytes, section: str | None) -> str:
    """Return the hash of a file, or of the section under a heading: of what a person is asked to let go."""
    if section is None:
        return hash_bytes(data)
    text = decode(data)
    found = find_sections(parse_memory(text), section)
    return hash_bytes("".join(text[each.start : each.end] for each in found).encode("utf-8", "surrogateescape"))


def _removed(job: Job, path: ManagedPath, *, change: PlannedChange | None = None) -> Plan:
    message = f"Deleted {path}. {_HISTORY_NOTE}"
    verdict = Verdict(Outcome.WRITTEN, (), message, job=job.id)
    return Plan(verdict, (change,) if change else (), (_deleted(job, path, ""),) if change else ())


#: O-66: a deletion says honestly what it does not reach.
_HISTORY_NOTE = "The brain's git history keeps the old text where it was committed."


def _deleted(job: Job, path: ManagedPath, text: str) -> MemoryEvent:
    return MemoryDeleted(file=path, scope=job.line, chars=count_chars(text), role=job.role, heartbeat_id=job.heartbeat)


def _plan_entry_deletion(job: Job, target: _Target, wanted: str, settings: WriterSettings) -> Plan:
    found = match_entries(target.entries(), wanted)
    if len(found) == 1:
        return _cut(job, target, remove_entry(target.text, found[0]), settings, what="the entry")
    if job.resumed and not found:
        return _done(job, target.path)
    if found:
        lines = ", ".join(str(entry.line) for entry in found)
        return refuse(
            f"{len(found)} entries of {target.path} read exactly like that (lines {lines}); nothing was deleted. "
            "Give the entry with its time, or edit one of them first."
        )
    near = [entry for entry in target.entries() if wanted.strip() and wanted.strip() in entry.text]
    listed = "; ".join(f"line {entry.line}: {entry.text.splitlines()[0][:80]}" for entry in near[:_CANDIDATES])
    hint = f" Entries that contain it: {listed}" if listed else _hint(job, "Re-read the file with memory_read.")
    return refuse(f"No entry of {target.path} reads exactly like that; nothing was deleted.{hint}")


def _plan_section_deletion(job: Job, target: _Target, heading: str, settings: WriterSettings) -> Plan:
    document = parse_memory(target.text)
    found = find_sections(document, heading)
    if len(found) == 1:
        return _cut(job, target, drop_section(document, found[0]), settings, what=f"the section {heading!r}")
    if job.resumed and not found:
        return _done(job, target.path)
    if found:
        lines = ", ".join(str(section.line) for section in found)
        return refuse(
            f"{len(found)} sections of {target.path} have that heading (lines {lines}); nothing was deleted. "
            "Rename one of them first."
        )
    headings = ", ".join(repr(section.heading) for section in document.sections if section.heading)
    return refuse(f"{target.path} has no such section; nothing was deleted. Its sections: {headings or 'none'}.")


def _cut(job: Job, target: _Target, after: str, settings: WriterSettings, *, what: str) -> Plan:
    message = f"Deleted {what} from {target.path}. {_HISTORY_NOTE}"
    reading = None
    if kind_of(target.path) is FileKind.MEMORY:
        reading = Reading(count_chars(after), settings.budget(job.line).limit)
        message = f"{message} {verdicts.reading_message(reading)}"
    verdict = Verdict(Outcome.WRITTEN, (target.path,), message, reading, job=job.id)
    return Plan(verdict, (PlannedChange(target.path, encode(after)),), (_deleted(job, target.path, after),))
