"""What the state database keeps of a job: the verdict, the audit row, the events, and what is watched from then on.

What is written here is written in a transaction of the caller, so that none of it is ever there alone.

Rules: WRITE-03, WRITE-O5, EVENT-O4, TOOL-16.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from omnislash.core.verdicts import Outcome
from omnislash.store.hashing import hash_bytes
from omnislash.writer.watching import note_watches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.core.verdicts import Verdict
    from omnislash.store.replacement import Replacement
    from omnislash.store.state import State
    from omnislash.writer.jobs import Job
    from omnislash.writer.plans import Plan

#: A job that a person's approval started carries the approval's id in its request key.
APPROVAL_KEY = "approval:"
_APPROVAL_STATES = {Outcome.FAILED: "open", Outcome.REFUSED: "outdated"}


def plan_to_json(plan: Plan) -> str:
    """Return what recovery needs to finish a job whose files are in place: verdict, events, watches."""
    return json.dumps(
        {
            "verdict": plan.verdict.to_json(),
            "events": [{"name": event.name, "payload": event.to_json()} for event in plan.events],
            "watches": [watch.to_json() for watch in plan.watches],
        },
        ensure_ascii=False,
    )


def finish_job(state: State, job: Job, plan: Plan, *, at: str) -> None:
    """Write a job's verdict, its audit row and its events; inside a transaction."""
    verdict = plan.verdict
    events = [(event.name, event.to_json()) for event in plan.events]
    finish_row(state, job, verdict, events, at=at)


def finish_row(
    state: State, job: Job, verdict: Verdict, events: Sequence[tuple[str, dict[str, object]]], *, at: str
) -> None:
    """Write a verdict, its audit row and its events; inside a transaction."""
    state.run("finish_job", id=job.id, verdict=json.dumps(verdict.to_json(), ensure_ascii=False), at=at)
    state.run(
        "insert_audit",
        at=at,
        actor=job.actor,
        role=job.role,
        heartbeat=job.heartbeat,
        tool=job.tool,
        line=job.line,
        paths=json.dumps(audit_paths(job, verdict), ensure_ascii=False),
        outcome=verdict.outcome.value,
        chars=job.offered_chars,
        job=job.id,
    )
    settle_approval(state, job, verdict)
    for name, payload in events:
        text = json.dumps(payload, ensure_ascii=False)
        state.run("insert_event", at=at, name=name, payload=text, heartbeat=job.heartbeat)


def settle_approval(state: State, job: Job, verdict: Verdict) -> None:
    """Bring the question behind an approved deletion up to date; inside a transaction.

    After a failure of the machine it is open again; when what it was about has changed meanwhile it is outdated; and
    once the text is forgotten the question forgets it too.
    """
    if job.request_key is None or not job.request_key.startswith(APPROVAL_KEY):
        return
    approval = job.request_key.split(":")[1]
    state.run("settle_approval", id=approval, state=_APPROVAL_STATES.get(verdict.outcome, "approved"))


def audit_paths(job: Job, verdict: Verdict) -> list[str]:
    """Return the paths of the audit row: those of the verdict, else the one that was asked for."""
    asked = getattr(job.request, "path", None) or getattr(job.request, "source", None)
    paths = [*verdict.paths, *([asked] if asked and asked not in verdict.paths else [])]
    return paths if verdict.outcome is not Outcome.DUPLICATE else list(verdict.paths)


def remember_files(state: State, changes: Sequence[Replacement], plans: Sequence[Plan], *, at: str) -> None:
    """Note what the writer left on disk, so that a stale save by an editor is noticed; inside a transaction."""
    for change in changes:
        state.run("set_file", path=change.path, hash=hash_bytes(change.after), at=at)
    for plan in plans:
        note_watches(state, plan.watches, at=at)
