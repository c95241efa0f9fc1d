"""What a person changes: a whole file saved, or deleted, through the one writer, like an agent's write.

A person's text comes from a browser, which sends every line end alike. The file's own line ends, byte order mark and end
are kept, so that what was not touched is not changed.

Rules: DASH-05, DASH-06, DASH-O3, BUDGET-05, WRITE-02, WRITE-11, WRITE-O7, SECRET-O1, SECRET-O2, TOOL-O2, SOURCE-18.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from omnislash.core import verdicts
from omnislash.core.budgets import count_chars
from omnislash.core.content import check_content
from omnislash.core.credentials import find_secret
from omnislash.core.lines import LineName, ManagedPath
from omnislash.core.verdicts import Outcome
from omnislash.errors import InvalidContentError, UsageError
from omnislash.runtime.knowledge.documents import load_managed, make_text, place_managed
from omnislash.runtime.knowledge.dropping import preview_drop
from omnislash.store.hashing import ABSENT, hash_bytes
from omnislash.writer.jobs import DeleteRequest, Job, WriteFileRequest
from omnislash.writer.plans import secret_message

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.core.verdicts import Verdict
    from omnislash.runtime.knowledge.documents import FileText
    from omnislash.runtime.knowledge.dropping import Drop
    from omnislash.runtime.turns import Ports

#: Who acts, as the action log names it.
ACTOR: Final = "person"
_END: Final = re.compile(r"\r\n|\r|\n")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MASK: Final = re.compile(r"\[redacted: [^\]\n]+\]")
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What became of a change that a person asked for."""

    path: ManagedPath
    verdict: Verdict
    #: SHA-256 of the file as it is now, or `absent`.
    hash: str
    #: True when it was refused because the file is another one than the person had opened (DASH-O3).
    is_stale: bool
    #: What a save would drop that nobody has agreed to yet; nothing was saved then.
    drop: Drop | None = None

    @property
    def is_settled(self) -> bool:
        """Tell whether there is nothing left for the person to do: it is written, was there, or waits in the queue."""
        return self.verdict.outcome not in {Outcome.REFUSED, Outcome.FAILED}

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as the tools have it, with `path`, `hash`, `stale` and, where a question is open, `drop`."""
        drop = {"drop": self.drop.to_json()} if self.drop else {}
        return {"path": self.path, **self.verdict.to_json(), "hash": self.hash, "stale": self.is_stale, **drop}


def save_file(ports: Ports, path: str, content: str, *, expect_hash: str, agreed: str | None = None) -> Saved:
    """Save a whole file.

    Args:
        ports: The brain.
        path: Path of a line, `main/MEMORY.md`.
        content: The text; its line ends may be any, the file's own are kept, and a new file gets LF.
        expect_hash: SHA-256 of the file as it was opened, `absent` for a new one.
        agreed: `Drop.agreed` of what a person was shown, '' when nothing was shown yet: a save that would drop other
            dated sections is not made, and the answer says which. None drops them without a question.

    Raises:
        InvalidNameError: It is no path of a managed file.
        MissingFileError: A declared source has that path.
        ScopeError: A symbolic link leads out of its line.
        StorageError: The file can't be read.
        UsageError: The hash is none.
    """
    config = ports.config()
    managed = place_managed(config, path)
    _check_hash(expect_hash)
    document = load_managed(ports, managed)
    before = make_text(document.data) if document else None
    problem = _find_problem(config, managed, content, before)
    if problem is not None:
        verdict = verdicts.refused(problem)
        _record(ports, "memory_write_file", managed, verdict, chars=count_chars(content))
    else:
        text = restore_form(content, before.data if before else None)
        request = WriteFileRequest(managed, text, expect_hash, is_exact=True, agreed=agreed)
        job = _make_job(ports, managed, request)
        drop = None if agreed is None else preview_drop(ports, job, request)
        if drop is not None and drop.agreed != agreed:
            return replace(_answer(ports, managed, verdicts.refused(drop.message), expect_hash), drop=drop)
        verdict = ports.writer.submit(job)
    return _answer(ports, managed, verdict, expect_hash)


def delete_file(ports: Ports, path: str, *, expect_hash: str) -> Saved:
    """Delete a whole file; a person needs nobody's approval.

    Raises:
        InvalidNameError, MissingFileError, ScopeError, StorageError, UsageError: As :func:`save_file`.
    """
    managed = place_managed(ports.config(), path)
    _check_hash(expect_hash)
    load_managed(ports, managed)
    verdict = ports.writer.submit(_make_job(ports, managed, DeleteRequest(managed, expect_hash=expect_hash)))
    return _answer(ports, managed, verdict, expect_hash)


def _check_hash(text: str) -> None:
    if text != ABSENT and not _HASH.fullmatch(text):
        message = "The hash of the file as it was opened is missing; nothing was saved. Load the page again."
        raise UsageError(message)


def _make_job(ports: Ports, path: ManagedPath, request: WriteFileRequest | DeleteRequest) -> Job:
    return Job(
        id=ports.new_job_id(),
        line=LineName(path.partition("/")[0]),
        request=request,
        created_at=ports.clock.now(),
        actor=ACTOR,
    )


def _answer(ports: Ports, path: ManagedPath, verdict: Verdict, expected: str) -> Saved:
    document = load_managed(ports, path)
    now = hash_bytes(document.data if document else None)
    is_stale = verdict.outcome is Outcome.REFUSED and now != expected
    return Saved(path=path, verdict=verdict, hash=now, is_stale=is_stale)


# -- judging ---------------------------------------------------------------------------------------------------------


def _find_problem(config: BrainFiles, path: ManagedPath, content: str, before: FileText | None) -> str | None:
    """Return why a text must not reach the queue at all; None when it may."""
    try:
        check_content(content)
    except InvalidContentError as error:
        return f"{error.message} Nothing was saved."
    if before is not None and not before.is_text:
        return f"{path} is no UTF-8 text, so it can't be saved from here without changing the rest of it."
    if before is not None and (masks := _find_masks(content, before)):
        return (
            f"The text still holds {masks}, which stands for a credential in {path}; nothing was saved. Take it out "
            "to remove the credential, or change the file with an editor."
        )
    if config.manifest.memory.secrets != "refuse":
        return None
    secret = find_secret(path) or find_secret(content)
    return secret_message(secret) if secret else None


def _find_masks(content: str, before: FileText) -> str | None:
    """Return a mask that stands for a credential of the file, and not for itself; None without one."""
    if not before.secrets:
        return None
    own, given = (Counter(_MASK.findall(text)) for text in (before.plain, content))
    hidden = Counter(_MASK.findall(before.shown)) - own
    return next((mask for mask in hidden if given[mask] > own[mask]), None)


def _record(ports: Ports, tool: str, path: ManagedPath, verdict: Verdict, *, chars: int) -> None:
    """Note a refusal that never reached the queue in the action log (WRITE-O7)."""
    is_nameable = find_secret(path) is None
    state = ports.state()
    with state.transaction():
        state.run(
            "insert_audit",
            at=ports.clock.now().isoformat(),
            actor=ACTOR,
            role=None,
            heartbeat=None,
            tool=tool,
            line=path.partition("/")[0],
            paths=json.dumps([path] if is_nameable else [], ensure_ascii=False),
            outcome=verdict.outcome.value,
            chars=chars,
            job=None,
        )


# -- what a browser does not send ------------------------------------------------------------------------------------


def restore_form(content: str, before: bytes | None) -> str:
    """Return a text with the byte order mark and the line ends of the file in whose place it comes.

    Where a file mixes line ends, lines at its beginning and end that were not changed keep theirs, those between take
    that of the line in their place, and new ones the file's first.
    """
    typed = _END.sub("\n", content)
    if before is None:
        return typed
    old = before.decode("utf-8", "surrogateescape")
    mark = _BOM if old.startswith(_BOM) else ""
    ends = _END.findall(old)
    if not ends or set(ends) == {"\n"}:
        return mark + typed
    if len(set(ends)) == 1:
        return mark + typed.replace("\n", ends[0])
    return mark + _mix(typed.split("\n"), _END.split(old.removeprefix(_BOM)), ends)


def _mix(typed: list[str], lines: list[str], ends: list[str]) -> str:
    """Return typed lines with the ends of those that they come from."""
    head = _count_same(typed, lines)
    tail = min(_count_same(typed[::-1], lines[::-1]), len(typed) - head, len(lines) - head)
    moved = len(lines) - len(typed)

    pieces: list[str] = []
    for number, line in enumerate(typed[:-1]):
        place = number + moved if number >= len(typed) - tail else number
        end = ends[place] if place < len(ends) else ends[0]
        # A lone CR and the LF behind an empty line would become one line end.
        would_join = not line and end == "\n" and pieces and pieces[-1].endswith("\r")
        pieces.append(line + ("\r" if would_join else end))
    return "".join([*pieces, typed[-1]])


def _count_same(left: list[str], right: list[str]) -> int:
    """Return how many lines two texts have in common at their beginning."""
    return next(
        (number for number, (one, other) in enumerate(zip(left, right, strict=False)) if one != other),
        min(len(left), len(right)),
    )
