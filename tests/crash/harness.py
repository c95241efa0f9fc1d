"""What the crash tests share: small brains, kinds of work, ways to run them, and what is compared afterwards.

A kind of work is run once quietly. Then it is run again and again with a disk that stops or fails at one call, brought
to an end by an undisturbed process, and held against the quiet run.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sqlite3
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from omnislash import Brain
from omnislash.brain.loading import load_brain
from omnislash.core.verdicts import Verdict
from omnislash.errors import UsageError
from omnislash.runtime.settings import writer_settings
from omnislash.shipped import constitution_directory
from omnislash.store.files import MemoryFiles
from omnislash.store.state import State
from omnislash.testing import FixedClock
from omnislash.writer.jobs import Job
from omnislash.writer.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omnislash.store.disk import Disk
    from omnislash.writer.plans import WriterSettings

DAY = "main/2026/11/2026-11-30.md"
MEMORY = "main/MEMORY.md"
_CAPABILITIES = "[memory:read, memory:write, memory:edit, memory:delete]"
_CONFIG = {
    "omnislash.yaml": "memory: {}\n",
    "constitution/MANIFEST.yaml": "memory:\n  lines:\n    main:\n      fileMaxChars: 400\n",
    "features/a/nova.agent.md": f"---\ncapabilities: {_CAPABILITIES}\nmemory: {{}}\n---\nA role.\n",
    "features/a/ops.agent.md": f"---\ncapabilities: {_CAPABILITIES}\nmemory:\n  write: ops\n---\nA role.\n",
    "features/a/briefing.heartbeat.md": (
        "---\nschedule: '30 7 * * *'\nagent:\n  role: nova\n  memory:\n    report: [ops]\n---\nA beat.\n"
    ),
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a memory tool."""

    tool: str
    arguments: Mapping[str, Any]
    role: str = "nova"
    heartbeat: str | None = None

    @property
    def told(self) -> str:
        """The text that the call wants to be remembered, or an empty one."""
        text = self.arguments.get("content") or self.arguments.get("new") or ""
        return str(text).strip()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: what stands there before, what is called, and in which way."""

    name: str
    calls: tuple[ToolCall, ...]
    #: How many calls of the disk it takes at least.
    floor: int
    #: Memory files by managed path.
    files: Mapping[str, str] = field(default_factory=dict)
    #: `call`: a process without a worker; `queue`: the jobs are queued and drained together; `worker`: the jobs come
    #: in while callers wait; `approval`: a person grants a deletion.
    through: Literal["call", "queue", "worker", "approval"] = "call"


@dataclass(frozen=True, slots=True)
class Result:
    """What a run leaves: files, verdicts by job, audit rows and events, without ids and instants."""

    files: dict[str, bytes]
    verdicts: tuple[str, ...]
    audit: tuple[tuple[Any, ...], ...]
    events: tuple[tuple[str, str], ...]


# -- brains ------------------------------------------------------------------------------------------------------------


def make_brain(root: Path, files: Mapping[str, str], *, ask_before_delete: bool = False) -> Path:
    """Make a brain with two lines, `main` and `ops`, and these memory files."""
    texts = dict(_CONFIG)
    texts["constitution/engine-capabilities.json"] = json.dumps({"memory:delete": {"hitl": ask_before_delete}})
    texts |= {f"memory/{path}": text for path, text in files.items()}
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    """Return the bytes of every file under `memory/`, by managed path; temporary files included."""
    memory = root / "memory"
    return {
        path.relative_to(memory).as_posix(): path.read_bytes() for path in sorted(memory.rglob("*")) if path.is_file()
    }


def leftovers(root: Path) -> list[str]:
    """Return the temporary files under `memory/`."""
    return [path.name for path in (root / "memory").rglob(".omnislash-*")]


def empty_directories(root: Path) -> set[str]:
    """Return the directories under `memory/` that hold nothing."""
    memory = root / "memory"
    found = [path for path in memory.rglob("*") if path.is_dir() and not any(path.iterdir())]
    return {path.relative_to(memory).as_posix() for path in found}


def all_text(root: Path) -> str:
    """Return the text of every markdown file under `memory/`, conflict copies included."""
    return "\n".join(data.decode("utf-8", "replace") for path, data in snapshot(root).items() if path.endswith(".md"))


def text_of(root: Path, *paths: str) -> str:
    """Return the text of these files and of every conflict copy."""
    found = {path: data for path, data in snapshot(root).items() if path in paths or "/conflicts/" in path}
    return "\n".join(data.decode("utf-8", "replace") for data in found.values())


# -- the state database --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _database(root: Path) -> Iterator[sqlite3.Connection | None]:
    path = root / ".omnislash" / "state.db"
    if not path.exists():
        yield None
        return
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def query(root: Path, sql: str) -> list[sqlite3.Row]:
    """Return rows of the state database; none when it has no tables yet."""
    with _database(root) as connection:
        if connection is None:
            return []
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise


def job_states(root: Path) -> dict[str, tuple[str, Verdict | None]]:
    """Return state and, once it is done, verdict of each job."""
    return {
        row["id"]: (row["state"], Verdict.from_json(json.loads(row["verdict"])) if row["state"] == "done" else None)
        for row in query(root, "SELECT * FROM jobs ORDER BY seq")
    }


def read_result(root: Path) -> Result:
    """Return what a run has left."""
    rows = query(root, "SELECT id FROM jobs ORDER BY seq")
    numbers = {row["id"]: f"job-{number}" for number, row in enumerate(rows, start=1)}

    def scrub(text: str) -> str:
        for job_id, number in numbers.items():
            text = text.replace(job_id, number)
        return text

    jobs = query(root, "SELECT * FROM jobs ORDER BY seq")
    columns = "actor, role, heartbeat, tool, line, paths, outcome, chars, job"
    audit = query(root, f"SELECT {columns} FROM audit WHERE tool <> 'conflict_copy' ORDER BY id")
    events = query(root, "SELECT name, payload FROM events ORDER BY id")
    return Result(
        files=snapshot(root),
        verdicts=tuple(scrub(f"{row['state']} {row['verdict']}") for row in jobs),
        audit=tuple(tuple(scrub(str(value)) for value in row) for row in audit),
        events=tuple((row["name"], row["payload"]) for row in events),
    )


# -- running -------------------------------------------------------------------------------------------------------------


def job_id(number: int) -> str:
    """Return the fixed id of the n-th job of a kind."""
    return f"{number:020x}"


class Work:
    """A kind of work on a brain of its own that is prepared once and copied for each run."""

    def __init__(self, kind: Kind, directory: Path) -> None:
        """Prepare the brain."""
        self.kind = kind
        self._directory = directory
        self._template = make_brain(directory / "template", kind.files, ask_before_delete=kind.through == "approval")
        self._count = 0
        self._jobs = self._make_jobs() if kind.through == "worker" else []
        if kind.through == "queue":
            self._call_all(self._template, queue_only=True)
        if kind.through == "approval":
            self._call_all(self._template)
        self.before = snapshot(self._template)

    def _make_jobs(self) -> list[Job]:
        aside = shutil.copytree(self._template, self._directory / "aside")
        self._call_all(aside, queue_only=True)
        return [Job.from_row(row) for row in query(aside, "SELECT * FROM jobs ORDER BY seq")]

    def copy(self) -> Path:
        """Return a fresh copy of the brain."""
        self._count += 1
        return shutil.copytree(self._template, self._directory / f"run-{self._count}")

    # -- what is done ----------------------------------------------------------------------------------------------------

    def run(
        self, root: Path, *, disk: Disk | None = None, answered: Callable[[str, Verdict], None] | None = None
    ) -> list[Verdict]:
        """Do the work and return the verdicts that callers heard, in order."""
        answers: list[Verdict] = []

        def note(number: int, verdict: Verdict) -> None:
            answers.append(verdict)
            if answered:
                answered(job_id(number), verdict)

        if self.kind.through == "call":
            self._call_all(root, disk=disk, note=note)
        elif self.kind.through == "approval":
            with Brain.open(root, clock=FixedClock(), disk=disk) as brain:
                answers.append(brain.approve(brain.approvals()[0].id))
        else:
            with open_writer(root, disk=disk) as writer:
                if self.kind.through == "queue":
                    writer.recover()
                    writer.drain()
                else:
                    for number, verdict in enumerate(writer.run_new(self._jobs), start=1):
                        note(number, verdict)
                writer.tidy()
        return answers

    def _call_all(
        self,
        root: Path,
        *,
        disk: Disk | None = None,
        queue_only: bool = False,
        note: Callable[[int, Verdict], None] | None = None,
    ) -> None:
        with Brain.open(root, clock=FixedClock(), disk=disk, queue_only=queue_only) as brain:
            for number, call in enumerate(self.kind.calls, start=1):
                agent = brain.agent(call.role, heartbeat=call.heartbeat)
                verdict = agent.call(call.tool, call.arguments, job_id=job_id(number))
                assert isinstance(verdict, Verdict)
                if note:
                    note(number, verdict)

    def submit_again(self, root: Path) -> None:
        """Hand in again what the dead process was asked to do, as a caller does that heard no verdict."""
        if self.kind.through == "approval":
            with Brain.open(root, clock=FixedClock()) as brain, contextlib.suppress(UsageError):
                brain.approve(brain.approvals(state=None)[0].id)
        elif self.kind.through == "call":
            self._call_all(root)
        elif self.kind.through == "worker":
            known = job_states(root)
            with open_writer(root) as writer:
                writer.recover()
                writer.drain()
                missing = [job for job in self._jobs if job.id not in known]
                if missing:
                    writer.run_new(missing)
                writer.tidy()

    def is_missing(self, root: Path) -> bool:
        """Tell whether a job of the work is not in the queue's table."""
        return len(job_states(root)) < len(self.kind.calls)


@contextlib.contextmanager
def open_writer(root: Path, *, disk: Disk | None = None) -> Iterator[Writer]:
    """Give the brain's writer, as a worker or a call makes it."""
    settings = _settings()
    with contextlib.closing(State(_state_directory(root) / "state.db", disk=disk)) as state:
        yield Writer(
            state,
            MemoryFiles(root / "memory", disk=disk),
            settings=lambda: settings,
            clock=FixedClock(),
            on_event=lambda _event: None,
        )


def _state_directory(root: Path) -> Path:
    directory = root / ".omnislash"
    directory.mkdir(exist_ok=True)
    return directory


@functools.cache
def _settings() -> WriterSettings:
    """Return the writer's settings, which are the same for every brain of the harness."""
    with tempfile.TemporaryDirectory() as directory:
        return writer_settings(load_brain(make_brain(Path(directory), {}), shipped=constitution_directory()))


def restart(root: Path) -> None:
    """Do what a worker does at its start: recover, and run what is queued."""
    with open_writer(root) as writer:
        writer.recover()
        writer.drain()
        writer.tidy()


def write_once_more(root: Path) -> None:
    """Write to the log and to MEMORY.md of `main`: a later write is when a stale save is noticed at the latest."""
    with Brain.open(root, clock=FixedClock()) as brain:
        brain.agent("nova").memory.write("One more thing.", priority=True)
    with open_writer(root) as writer:
        writer.check_recent_files()


def run_in_child(action: Callable[[], object]) -> int:
    """Run an action in a forked process and return its exit code; 0 when it came to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            action()
            code = 0
        except BaseException:  # noqa: BLE001 - the process ends here, whatever it was
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
