"""The tools that change memory: `memory_write`, `memory_edit`, `memory_write_file`, `memory_move`, `memory_delete`.

Each judges the call by the turn's scope, hands one job to the writer and answers with its verdict.
What must not be stored at all (a credential, half an emoji, nothing) is refused here, before it reaches the queue.
In a replay each answers the fixed sentence and leaves no trace.

Rules: TOOL-02 to TOOL-04, TOOL-07 to TOOL-11, TOOL-16, TOOL-O5, WRITE-16, WRITE-17, WRITE-O7, WRITE-O9, REPORT-03 to
REPORT-09, BOUNDARY-08, BOUNDARY-O1, BOUNDARY-O2, SECRET-O1, SCOPE-02, SOURCE-18.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from omnislash.core import verdicts
from omnislash.core.budgets import count_chars
from omnislash.core.content import check_content
from omnislash.core.corpora import Zone, locate
from omnislash.core.credentials import find_secret
from omnislash.core.lines import LineName, ManagedPath
from omnislash.core.scopes import Refusal, refuse_change, resolve_target, signature
from omnislash.errors import InvalidContentError, InvalidNameError, OmnislashError, WriterUnavailableError
from omnislash.runtime.approvals import ask_for_approval
from omnislash.runtime.settings import writer_settings
from omnislash.writer.jobs import (
    DeleteRequest,
    EditRequest,
    Job,
    MoveRequest,
    Request,
    WriteFileRequest,
    WriteRequest,
)
from omnislash.writer.planning import plan_job
from omnislash.writer.planning_files import hash_part
from omnislash.writer.plans import secret_message
from omnislash.writer.views import BatchView, UnitCache

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.core.verdicts import Verdict
    from omnislash.runtime.tools.arguments import (
        DeleteArguments,
        EditArguments,
        MoveArguments,
        WriteArguments,
        WriteFileArguments,
    )
    from omnislash.runtime.turns import Ports, Turn

_LOG = logging.getLogger(__name__)
#: As much of a path is judged for credentials; a longer one is no path anyway.
_JUDGED_CHARS = 4096
#: The capability behind the gate that a person opens (TOOL-16).
DELETE_CAPABILITY = "memory:delete"


class _NotAllowedError(Exception):
    """A refusal on its way up."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def write(turn: Turn, ports: Ports, arguments: WriteArguments, *, job_id: str | None = None) -> Verdict:
    """Remember something: an entry in the daily log and, with priority, in MEMORY.md; or a signed deposit."""
    if turn.replay:
        return verdicts.read_only()
    config = ports.config()
    secret = _find_secret(config, arguments.line, arguments.request_id)
    if secret:
        return _refuse(turn, ports, "memory_write", secret_message(secret))
    target = resolve_target(
        turn.scope,
        line=arguments.line,
        priority=arguments.priority,
        priority_default=config.manifest.memory.priority_default,
    )
    size = count_chars(arguments.content)
    if isinstance(target, Refusal):
        return _refuse(turn, ports, "memory_write", target.message, chars=size)
    problem = _find_problem(config, arguments.content)
    if problem:
        return _refuse(turn, ports, "memory_write", problem, chars=size, line=target.line)
    signed = signature(turn.scope.role, turn.scope.heartbeat) if target.is_deposit else None
    request = WriteRequest(arguments.content, priority=target.priority, signature=signed)
    return _submit(turn, ports, target.line, request, job_id=job_id, request_id=arguments.request_id)


def edit(turn: Turn, ports: Ports, arguments: EditArguments, *, job_id: str | None = None) -> Verdict:
    """Replace a whole entry, or a text that occurs once, in a file of the own line."""
    if turn.replay:
        return verdicts.read_only()
    try:
        config = ports.config()
        path = _own_path(turn, config, arguments.path)
        problem = _find_problem(config, arguments.new) if arguments.new.strip() else None
        problem = problem or (_find_problem(config, arguments.old, secrets=False) if arguments.old.strip() else None)
        if problem:
            raise _NotAllowedError(problem)
    except _NotAllowedError as refusal:
        return _refuse(
            turn, ports, "memory_edit", refusal.message, path=arguments.path, chars=count_chars(arguments.new)
        )
    return _submit(turn, ports, _line(path), EditRequest(path, arguments.old, arguments.new), job_id=job_id)


def write_file(turn: Turn, ports: Ports, arguments: WriteFileArguments, *, job_id: str | None = None) -> Verdict:
    """Replace or create a whole file of the own line."""
    if turn.replay:
        return verdicts.read_only()
    try:
        config = ports.config()
        path = _own_path(turn, config, arguments.path)
        problem = _find_problem(config, arguments.content)
        if problem:
            raise _NotAllowedError(problem)
    except _NotAllowedError as refusal:
        size = count_chars(arguments.content)
        return _refuse(turn, ports, "memory_write_file", refusal.message, path=arguments.path, chars=size)
    request = WriteFileRequest(path, arguments.content, arguments.expect_hash)
    return _submit(turn, ports, _line(path), request, job_id=job_id)


def move(turn: Turn, ports: Ports, arguments: MoveArguments, *, job_id: str | None = None) -> Verdict:
    """Give a file of the own line another name."""
    if turn.replay:
        return verdicts.read_only()
    try:
        config = ports.config()
        source, target = (_own_path(turn, config, path) for path in (arguments.source, arguments.target))
    except _NotAllowedError as refusal:
        return _refuse(turn, ports, "memory_move", refusal.message, path=arguments.source)
    return _submit(turn, ports, _line(source), MoveRequest(source, target), job_id=job_id)


def delete(turn: Turn, ports: Ports, arguments: DeleteArguments, *, job_id: str | None = None) -> Verdict:
    """Remove a file of the own line, or one entry or section of it; a person may have to agree first."""
    if turn.replay:
        return verdicts.read_only()
    try:
        config = ports.config()
        path = _own_path(turn, config, arguments.path)
        if arguments.entry is not None and arguments.section is not None:
            message = "Give an entry or a section, not both; nothing was deleted."
            raise _NotAllowedError(message)
    except _NotAllowedError as refusal:
        return _refuse(turn, ports, "memory_delete", refusal.message, path=arguments.path)
    request = DeleteRequest(path, arguments.entry, arguments.section)
    if config.capabilities.needs_approval(DELETE_CAPABILITY):
        return _ask(turn, ports, request)
    return _submit(turn, ports, _line(path), request, job_id=job_id)


def _ask(turn: Turn, ports: Ports, request: DeleteRequest) -> Verdict:
    """Note the question for a person; a deletion that would be refused anyway is not asked about."""
    line = _line(request.path)
    job = Job(ports.new_job_id(), line, request, ports.clock.now())
    try:
        plan = plan_job(job, BatchView(ports.files, UnitCache()), writer_settings(ports.config()))
        data = ports.files.read(request.path)
    except OmnislashError as error:
        return _refuse(turn, ports, "memory_delete", f"{error.message} Nothing was deleted.", path=request.path)
    if data is None or not plan.changes:
        return _refuse(turn, ports, "memory_delete", plan.verdict.message, path=request.path)
    file_hash = hash_part(data, request.section)
    approval = ask_for_approval(turn, ports, line=line, request=request, file_hash=file_hash)
    verdict = verdicts.approval_required(approval.id, what=f"Deleting {approval.what}")
    _record(turn, ports, "memory_delete", verdict, line=line, paths=[request.path])
    return verdict


# -- judging ---------------------------------------------------------------------------------------------------------


def _line(path: ManagedPath) -> LineName:
    return LineName(path.partition("/")[0])


def _own_path(turn: Turn, config: BrainFiles, text: str) -> ManagedPath:
    """Return the path as one of the own line, or raise the refusal that names that line (TOOL-O5)."""
    secret = _find_secret(config, text[:_JUDGED_CHARS])
    if secret:
        raise _NotAllowedError(secret_message(secret))
    try:
        located = locate(text, sources=config.sources)
    except InvalidNameError as error:
        message = f"{error.message} Nothing was written."
        raise _NotAllowedError(message) from error
    refusal = refuse_change(turn.scope, located)
    if refusal is not None or located.zone is not Zone.MANAGED:
        raise _NotAllowedError(refusal.message if refusal else f"{text} belongs to an authored source.")
    return ManagedPath(located.path)


def _find_secret(config: BrainFiles, *texts: str | None) -> str | None:
    """Return the class of a credential that stands in one of the texts, or None."""
    if config.manifest.memory.secrets != "refuse":
        return None
    return next((found for text in texts if text and (found := find_secret(text))), None)


def _find_problem(config: BrainFiles, text: str, *, secrets: bool = True) -> str | None:
    """Return why a text can't be stored at all, or None (SECRET-O1)."""
    try:
        check_content(text)
    except InvalidContentError as error:
        return f"{error.message} Nothing was written." if "othing was written" not in error.message else error.message
    secret = _find_secret(config, text) if secrets else None
    return secret_message(secret) if secret else None


# -- handing over ----------------------------------------------------------------------------------------------------


def _submit(
    turn: Turn,
    ports: Ports,
    line: LineName,
    request: Request,
    *,
    job_id: str | None,
    request_id: str | None = None,
) -> Verdict:
    job = Job(
        id=job_id or ports.new_job_id(),
        line=line,
        request=request,
        created_at=ports.clock.now(),
        role=turn.scope.role,
        heartbeat=turn.scope.heartbeat,
        actor=turn.actor,
        request_key=f"{turn.scope.role}:{request_id}" if request_id else None,
    )
    return ports.writer.submit(job)


def _refuse(  # noqa: PLR0913 - the fields of an audit row
    turn: Turn,
    ports: Ports,
    tool: str,
    message: str,
    *,
    path: str | None = None,
    chars: int = 0,
    line: str | None = None,
) -> Verdict:
    """Return a refusal, after noting it in the action log (WRITE-O7)."""
    verdict = verdicts.refused(message)
    paths = [_printable(path)] if path and find_secret(path) is None else []
    _record(turn, ports, tool, verdict, line=line or turn.scope.line, paths=paths, chars=chars)
    return verdict


def _printable(path: str) -> str:
    """Return a path that an agent made up in a form that the action log can hold."""
    return path.encode("utf-8", "replace").decode()[:300]


def _record(  # noqa: PLR0913 - the fields of an audit row
    turn: Turn, ports: Ports, tool: str, verdict: Verdict, *, line: str | None, paths: list[str], chars: int = 0
) -> None:
    try:
        state = ports.state()
        with state.transaction():
            state.run(
                "insert_audit",
                at=ports.clock.now().isoformat(),
                actor=turn.actor,
                role=turn.scope.role,
                heartbeat=turn.scope.heartbeat,
                tool=tool,
                line=line,
                paths=json.dumps(paths, ensure_ascii=False),
                outcome=verdict.outcome.value,
                chars=chars,
                job=None,
            )
    except WriterUnavailableError as error:
        extra = {"action": "audit_failed", "tool": tool}
        _LOG.error("a refusal could not be noted in the action log: %s", error, extra=extra)
