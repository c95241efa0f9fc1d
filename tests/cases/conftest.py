"""The failure cases' one adapter: fresh brains, the cases' verbs, and what is checked after every case.

A verb makes the call, then holds the verdict against the disk: what it says was written must be read back by another
process, and what it says was not written must be nowhere.
When the test is over, every brain is checked once more: git is sound, no temporary file is left, every memory file
is valid UTF-8, and no file that the case does not name has another byte.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omnislash
from omnislash import Brain, OmnislashError, Outcome, Verdict
from omnislash.index.status import read_status
from omnislash.testing import FixedClock
from tests.cases.embedding_server import MODEL, EmbeddingServer
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from omnislash import Agent

SOURCE = Path(omnislash.__file__).parents[1]
ENGINE_PROCESS = Path(__file__).with_name("engine_process.py")
#: The cases' day: Monday of ISO week 2026-W49.
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
#: What the names of the search index's files begin with.
INDEX = ".memory-index.db"
CAPABILITIES = "memory:read, memory:write, memory:edit, memory:delete, runtime:read"
GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "case@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def shown(text: str) -> str:
    """Return how an entry's text stands in a file: outer blank lines gone, further lines indented by two spaces."""
    lines = text.replace("\r\n", "\n").strip("\n").rstrip().split("\n")
    return "\n".join([lines[0], *(f"  {line}" if line else "" for line in lines[1:])])


def folded(text: str) -> str:
    """Return a text without regard to case and white space."""
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    code: int
    #: The one object on standard output.
    answer: dict[str, Any]
    stderr: str


class Session:
    """Another process that works in the brain, for as long as the case wants."""

    def __init__(self, words: Sequence[str], errors: Path, environment: Mapping[str, str]) -> None:
        """Start it and wait until it listens."""
        self._errors = errors
        with errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**GIT_ENVIRONMENT, "PYTHONPATH": str(SOURCE), **environment},
            )
        assert "ready" in self.receive()

    def send(self, request: str | dict[str, Any]) -> None:
        """Write one line: a raw JSON text, or an object."""
        assert self._process.stdin
        line = request if isinstance(request, str) else json.dumps(request)
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next line."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, self._errors.read_text(encoding="utf-8", errors="replace")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, request: str | dict[str, Any]) -> dict[str, Any]:
        """Send a line and return the answer to it."""
        self.send(request)
        return self.receive()

    def call(self, tool: str, role: str = "ops", /, **arguments: Any) -> dict[str, Any]:
        """Return the answer of a tool; the failure's fields where it failed."""
        answer = self.ask({"role": role, "tool": tool, "arguments": arguments})
        return dict(answer.get("answer") or answer["failure"])

    def find(self, words: str) -> list[str]:
        """ASK: return the paths of the hits, each once, best first."""
        answer = self.call("memory_search", query=words)
        return list(dict.fromkeys(hit["path"] for hit in answer["hits"]))

    def killed_call(self, after_s: float, tool: str, /, **arguments: Any) -> dict[str, Any] | None:
        """Make a call in a fresh process and kill -9 that process after so many seconds; return its answer, if any."""
        self.send({"fork": {"role": "ops", "tool": tool, "arguments": arguments}})
        seen: list[dict[str, Any]] = []
        while not any("pid" in line for line in seen):
            seen.append(self.receive())
        pid = next(line["pid"] for line in seen if "pid" in line)
        signal.sigtimedwait([], after_s)
        os.kill(pid, signal.SIGKILL)
        self.send({"reap": pid})
        while "reaped" not in seen[-1]:
            seen.append(self.receive())
        return next((line.get("answer") or line["failure"] for line in seen if {"answer", "failure"} & set(line)), None)

    def race(self, calls: int, tool: str, /, **arguments: Any) -> list[dict[str, Any]]:
        """Make the same call in several fresh processes at once and return their answers."""
        self.send({"race": {"role": "ops", "tool": tool, "arguments": arguments}, "calls": calls})
        seen = [self.receive() for _ in range(calls)]
        return [line.get("answer") or line["failure"] for line in seen]

    def close(self) -> None:
        """End it and look at what it wrote to standard error."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()
        assert "Traceback" not in self._errors.read_text(encoding="utf-8", errors="replace")


class Watch:
    """A worker that keeps the index up to date."""

    def __init__(self, brain: CaseBrain, prefix: tuple[str, ...]) -> None:
        """Start it and wait until it works."""
        self._brain = brain
        self.errors = brain.root.parent / f"{brain.root.name}-watch.stderr"
        ours = {"PYTHONPATH": str(SOURCE), "OMNISLASH_BRAIN": str(brain.root)}
        with self.errors.open("wb") as stderr:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "omnislash", "--json", "worker"],
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**GIT_ENVIRONMENT, **ours, **brain.environment},
            )
        assert self.process.stdout
        self.ready: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        assert self.ready.get("state") == "ready", self.said()

    def said(self) -> str:
        """Return what it wrote to standard error so far."""
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def settle(self, limit_s: float = 10.0) -> None:
        """Wait until the index is as the files are, without asking anything that would bring it there."""
        end = time.monotonic() + limit_s
        while not read_status(self._brain.brain.index).is_clean:
            assert time.monotonic() < end, f"{read_status(self._brain.brain.index).to_json()} {self.said()}"
            time.sleep(0.02)

    def close(self) -> None:
        """Stop it as a person would, and look at what it said."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        assert self.process.stdout
        self.process.stdout.close()
        assert "Traceback" not in self.said()


class CaseBrain:
    """One brain of one case."""

    #: Managed paths of the role `ops` on the cases' day.
    day = "ops/2026/11/2026-11-30.md"
    memory = "ops/MEMORY.md"

    def __init__(self, root: Path, files: Mapping[str, str | bytes]) -> None:
        """Make a repository and write the files; the first commit is the case's."""
        self.root = root
        #: What stands for `sys.executable` in its commands and sessions.
        self.python = warm_python()
        self.clock = FixedClock(NOW)
        #: Variables of every process that works in the brain.
        self.environment: dict[str, str] = {}
        self._brain: Brain | None = None
        self._sessions: list[Session] = []
        self._watches: list[Watch] = []
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=")
        self.named: set[str] = set()
        self._baseline: dict[str, bytes] = {}
        for path, text in files.items():
            self.by_hand(path, text)

    # -- the disk ----------------------------------------------------------------------------------------------------

    def by_hand(self, path: str, text: str | bytes) -> None:
        """Let a person save a file; the path is that of the brain."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        place.write_bytes(data)
        self._baseline[path] = data

    def remove(self, path: str) -> None:
        """Let a person remove a file."""
        (self.root / path).unlink()
        self._baseline.pop(path, None)

    def rename(self, path: str, target: str) -> None:
        """Let a person rename a file, onto another one perhaps."""
        (self.root / path).replace(self.root / target)
        self._baseline[target] = self._baseline.pop(path)

    def remember(self, text: str | bytes, path: str = memory) -> None:
        """Let a person save a file of the managed zone."""
        self.by_hand(f"memory/{path}", text)

    def place(self, path: str = memory) -> Path:
        """Return where a managed path lies."""
        return self.root / "memory" / path

    def data(self, path: str = memory) -> bytes:
        """Return what another process reads there at once."""
        return subprocess.run(["cat", "--", str(self.place(path))], check=True, capture_output=True).stdout

    def text(self, path: str = memory) -> str:
        """Return the text of a managed file."""
        return self.data(path).decode()

    def tree(self) -> dict[str, bytes]:
        """Return every file of the brain by path, without git's, the engine's own and the search index.

        Temporary files are looked for apart, see `temporary_files`.
        """
        found: dict[str, bytes] = {}
        for directory, names, files in os.walk(self.root):
            if Path(directory) == self.root:
                names[:] = [name for name in names if name not in {".git", ".omnislash"}]
            for name in (name for name in files if not name.startswith((INDEX, ".omnislash-"))):
                place = Path(directory, name)
                found[str(place.relative_to(self.root))] = place.read_bytes()
        return found

    def find_everywhere(self, needle: str | bytes) -> list[str]:
        """Return every file under the brain, git objects and the engine's own files included, that holds the bytes."""
        data = needle.encode("utf-8", "surrogatepass") if isinstance(needle, str) else needle
        found = [str(place) for place in self.root.rglob("*") if place.is_file() and data in place.read_bytes()]
        objects = self.git("cat-file", "--batch-all-objects", "--batch", text=False)
        return found + (["a git object"] if data in objects else [])

    # -- git ---------------------------------------------------------------------------------------------------------

    def git(self, *arguments: str, text: bool = True) -> Any:
        """Run git in the brain and return what it prints."""
        done = subprocess.run(["git", *arguments], cwd=self.root, env=GIT_ENVIRONMENT, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode() if text else done.stdout

    def commit(self) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "case")

    # -- the engine --------------------------------------------------------------------------------------------------

    @property
    def brain(self) -> Brain:
        """The brain, opened in this process when it is first needed."""
        if self._brain is None:
            self._brain = Brain.open(self.root, clock=self.clock)
        return self._brain

    def agent(self, role: str = "ops", *, heartbeat: str | None = None) -> Agent:
        """Return an agent for one turn."""
        return self.brain.agent(role, heartbeat=heartbeat)

    def ask(self, tool: str, arguments: Mapping[str, Any], *, role: str = "ops") -> dict[str, Any]:
        """Return a tool's answer in this process, or the fields of the error that a caller sees.

        Any other exception would be a stack trace for the user, and is one for the test.
        """
        try:
            return self.agent(role).call(tool, arguments).to_json()
        except OmnislashError as error:
            return dict(error.to_json())

    def at(self, instant: str) -> None:
        """Set the clock."""
        self.clock.advance(datetime.fromisoformat(instant) - self.clock.now())

    def command(self, *words: str, stdin: str | None = None, **environment: str) -> Done:
        """Run a command of the command line in the brain, with `--json`."""
        ours = {
            "PYTHONPATH": str(SOURCE),
            "OMNISLASH_BRAIN": str(self.root),
            "OMNISLASH_NOW": self.clock.now().isoformat(),
        }
        done = subprocess.run(
            [*self.python, "-m", "omnislash", "--json", *words],
            env={**GIT_ENVIRONMENT, **ours, **self.environment, **environment},
            input=None if stdin is None else stdin.encode("utf-8", "surrogatepass"),
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stdout + done.stderr
        return Done(done.returncode, json.loads(done.stdout), done.stderr.decode())

    def session(self, **environment: str) -> Session:
        """Start another process that works in the brain."""
        errors = self.root.parent / f"{self.root.name}-{len(self._sessions)}.stderr"
        words = (*self.python, str(ENGINE_PROCESS), str(self.root), self.clock.now().isoformat())
        session = Session(words, errors, {**self.environment, **environment})
        self._sessions.append(session)
        return session

    def name(self, *paths: str) -> None:
        """Say that the case names these managed files: it may change them."""
        self.named |= {f"memory/{path}" for path in paths}

    # -- the verbs ---------------------------------------------------------------------------------------------------

    def put(self, text: str, *, role: str = "ops", day: str = day) -> Verdict:
        """PUT: append an entry to the line's day log."""
        return self._change(role, "memory_write", {"content": text}, text, [day])

    def core(self, text: str, *, role: str = "ops", day: str = day) -> Verdict:
        """CORE: add a durable entry."""
        memory = f"{day.partition('/')[0]}/MEMORY.md"
        return self._change(role, "memory_write", {"content": text, "priority": True}, text, [day, memory])

    def swap(self, old: str, new: str, *, path: str = memory) -> Verdict:
        """SWAP: replace one entry."""
        return self._change("ops", "memory_edit", {"path": path, "old": old, "new": new}, new, [path])

    def drop(self, old: str, *, path: str = memory) -> Verdict:
        """DROP: remove one entry."""
        return self._change("ops", "memory_delete", {"path": path, "entry": old}, "", [path])

    def find(self, words: str, *options: str, role: str = "ops") -> list[dict[str, Any]]:
        """ASK: search, and return the hits, best first; never an empty list with status 0 when it could not look."""
        done = self.command("memory", "search", "--role", role, *options, "--", words)
        hits: list[dict[str, Any]] = done.answer["hits"]
        is_honest = done.answer["coverage"] != "full" or not done.answer["reasons"]
        assert is_honest
        assert done.code == (0 if hits or done.answer["coverage"] == "full" else 1)
        return hits

    def find_paths(self, words: str, *, role: str = "ops") -> list[str]:
        """ASK: return the paths of the hits, each once, best first."""
        return list(dict.fromkeys(hit["path"] for hit in self.find(words, role=role)))

    def index(self) -> Done:
        """INDEX: bring the index up to date once; the exit code says whether all was taken up."""
        done = self.command("index", "sync")
        assert (done.code == 0) == (done.answer["coverage"] == "full" and not done.answer["failures"])
        return done

    def check(self) -> Done:
        """CHECK: have the whole index looked at; nothing is repaired by it."""
        before = self.tree()
        done = self.command("index", "check")
        assert self.tree() == before
        assert (done.code == 0) == done.answer["sound"] == (not done.answer["findings"])
        return done

    def status(self) -> dict[str, Any]:
        """STATUS: what the index holds, and how far it is behind."""
        done = self.command("index", "status")
        assert done.code == 0
        return done.answer

    def watch(self, *prefix: str) -> Watch:
        """WATCH: keep the index up to date until the case is over; `prefix` is what starts the process, if anything."""
        self._watches.append(Watch(self, prefix))
        return self._watches[-1]

    def write_file(self, path: str, text: str) -> Verdict:
        """Make or replace a whole file."""
        return self._change("ops", "memory_write_file", {"path": path, "content": text}, text, [path])

    def _change(self, role: str, tool: str, arguments: dict[str, Any], text: str, paths: list[str]) -> Verdict:
        before = self.tree()
        verdict = self.agent(role).call(tool, arguments)
        assert isinstance(verdict, Verdict)
        after = self.tree()
        changed = {path for path in before | after if before.get(path) != after.get(path)}
        assert changed <= {f"memory/{path}" for path in paths}
        self.name(*paths)
        self.check_verdict(verdict, text, whole=tool == "memory_write_file")
        if verdict.outcome in {Outcome.WRITTEN, Outcome.PARTIAL}:
            assert changed
        else:
            assert not changed
        return verdict

    def check_verdict(self, verdict: Verdict, text: str, *, whole: bool) -> None:
        """Hold a verdict against the disk: every path it names is there, and what landed is in all of them."""
        assert verdict.message
        for path in verdict.paths:
            data = self.text(path)
            if verdict.outcome in {Outcome.WRITTEN, Outcome.PARTIAL}:
                wanted = text if whole else shown(text)
                assert wanted.replace("\r\n", "\n") in data.replace("\r\n", "\n")
            if verdict.outcome is Outcome.DUPLICATE:
                assert folded(text) in folded(data)

    # -- always checked ----------------------------------------------------------------------------------------------

    def temporary_files(self) -> list[str]:
        """Return the names of temporary files anywhere in the brain."""
        names = [place.name for place in self.root.rglob("*") if ".git" not in place.parts]
        return [name for name in names if name.startswith(".omnislash-") or name.endswith((".tmp", ".new"))]

    def check_always(self) -> None:
        """Check what must hold after every case."""
        self.git("fsck", "--strict", "--no-progress")
        if self.temporary_files():  # of a worker that ended without a last look round: the next one takes them away
            with omnislash.Brain.open(self.root) as brain:
                brain.start_worker()
        assert self.temporary_files() == []
        tree = self.tree()
        for path in set(tree) | set(self._baseline):
            if path not in self.named:
                assert tree.get(path) == self._baseline.get(path), f"{path} is another file now"
            elif path in tree and is_sound(self._baseline.get(path, b"")):
                assert is_sound(tree[path]), f"{path} is no text any more"

    def close(self) -> None:
        """End the other processes and close the brain."""
        for watch in self._watches:
            watch.close()
        for session in self._sessions:
            session.close()
        if self._brain is not None:
            self._brain.close()


def is_sound(data: bytes) -> bool:
    """Tell whether a file is valid UTF-8 without NUL."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def role_file(line: str, sources: tuple[str, ...] = ()) -> str:
    """Return the file of a role that may do everything in its line."""
    block = f"memory:\n  write: {line}\n  read: [{', '.join(sources)}]\n"
    return f"---\ncapabilities: [{CAPABILITIES}]\n{block}---\nYou keep the line.\n"


class MakeBrain:
    """Makes fresh brains for a case."""

    def __init__(self, directory: Path) -> None:
        """Make them below a directory."""
        self._directory = directory
        self.made: list[CaseBrain] = []

    def __call__(
        self,
        *,
        budget: int | None = None,
        zone: str = "UTC",
        lines: tuple[str, ...] = ("ops",),
        sources: tuple[str, ...] = (),
        embedder: EmbeddingServer | None = None,
        files: Mapping[str, str | bytes] | None = None,
    ) -> CaseBrain:
        """Return a brain with a role for each line; `files` come on top of what it needs.

        Without an `embedder` nothing is configured, so the local model answers.
        """
        settings = [f"  sources: [{', '.join(sources)}]\n"] if sources else []
        settings += [f"  embeddingModel: {MODEL}\n"] if embedder else []
        limit = "" if budget is None else f"memory:\n  fileMaxChars: {budget}\n"
        given: dict[str, str | bytes] = {
            "omnislash.yaml": f"memory:\n{''.join(settings)}" if settings else "",
            "constitution/MANIFEST.yaml": f"{limit}locale:\n  timezone: {zone}\n",
            "constitution/engine-capabilities.json": '{"memory:delete": {"hitl": false}}\n',
            **{f"features/team/{line}.agent.md": role_file(line, sources) for line in lines},
            **(files or {}),
        }
        self.made.append(CaseBrain(self._directory / f"brain{len(self.made)}", given))
        if embedder is not None:
            self.made[-1].environment |= embedder.environment
        return self.made[-1]


@pytest.fixture
def make_brain(tmp_path: Path) -> Iterator[MakeBrain]:
    """Make fresh brains, and check each of them when the case is over."""
    maker = MakeBrain(tmp_path)
    yield maker
    for brain in maker.made:
        brain.close()
    for brain in maker.made:
        brain.check_always()


@pytest.fixture
def embedder() -> Iterator[EmbeddingServer]:
    """The stub embedder."""
    server = EmbeddingServer()
    yield server
    server.close()


@pytest.fixture
def brain(make_brain: MakeBrain) -> CaseBrain:
    """A fresh brain with the line and the role `ops`."""
    return make_brain()
