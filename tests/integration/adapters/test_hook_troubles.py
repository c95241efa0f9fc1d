"""Whatever goes wrong, a hook ends with 0, prints nothing, notes nothing as sent, and leaves a line in its log."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.models.harness import INSIDE as INSIDE_OF_MODELS
from omnislash.store.locks import Owner, WriterLock
from omnislash.surfaces.adapters import hook_call, hook_log
from omnislash.surfaces.adapters.running import make_hook_operations
from omnislash.surfaces.cli.main import main
from omnislash.writer import wake
from tests.integration.adapters.host_sessions import context_of, payload, run_hook
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from omnislash.surfaces.adapters.hook_values import Answer, Call
    from tests.integration.conftest import SampleBrain

SECRET = "The safe opens at forty-seven."
START = payload("session-start-startup")


@pytest.fixture
def brain(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> SampleBrain:
    """A brain with something in it, no embedder, and no variables of ours around it."""
    for name in [name for name in os.environ if name.startswith("OMNISLASH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMNISLASH_HOOK_TIMEOUT", "60")  # a busy machine is no trouble that is tested here
    sample.put("omnislash.yaml", "memory: {embeddingModel: none}\n")
    sample.put_memory("main/MEMORY.md", f"# Main\n\n- {SECRET}\n")
    with sample.open() as opened:
        opened.agent("nova").memory.write("A first note.")  # makes .omnislash/
    return sample


def words(brain: SampleBrain, *, role: str = "nova") -> list[str]:
    """Return the command line that an installation writes."""
    return ["hook", "claude-code", "--role", role, "--brain", str(brain.root)]


def logged(brain: SampleBrain) -> list[str]:
    """Return the lines of the log without their times."""
    path = brain.root / hook_log.LOG_FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    assert all(SECRET not in line for line in lines)
    return [line.partition(" ")[2] for line in lines]


def sent_blocks(brain: SampleBrain) -> int:
    """Return how many blocks are noted as sent."""
    with sqlite3.connect(brain.root / ".omnislash" / "state.db") as database:
        count: int = database.execute("SELECT count(*) FROM session_blocks").fetchone()[0]
    database.close()
    return count


# -- without a worker ------------------------------------------------------------------------------------------------


@pytest.mark.rule("ENVELOPE-02", "ENVELOPE-06", "ENVELOPE-O7")
def test_hook_without_a_worker(brain: SampleBrain) -> None:
    """A start prints what the session lacks, the next hook nothing, and nothing is logged."""
    first, second = run_hook(words(brain), START), run_hook(words(brain), payload("session-start-resume"))

    assert SECRET in context_of(first.decode())
    assert second == b""
    assert sent_blocks(brain) == 3  # the day, MEMORY.md, and today's log
    assert logged(brain) == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "The payload on stdin is no JSON object."),
        ("{", "The payload on stdin is no JSON object."),
        ("[1]", "The payload on stdin is no JSON object."),
        ("[" * 100_000, "The payload on stdin is no JSON object."),
        (b"\xff\xfe{}", "the payload is no UTF-8"),
        ("{}", "The payload names no event that omnislash is called at."),
        (payload("stop", hook_event_name="Notification"), "The payload names no event that omnislash is called at."),
        (payload("stop", hook_event_name=["Stop"]), "The payload names no event that omnislash is called at."),
        (payload("session-start-startup", session_id=None), "The payload names no session."),
        (payload("session-start-startup", session_id=7), "The payload names no session."),
        (payload("session-start-startup", session_id="x" * 300), "A session id has 1 to 200 visible characters"),
    ],
)
def test_payload_that_makes_no_sense(brain: SampleBrain, given: bytes | str, why: str) -> None:
    """Nothing is printed, and the log says why in a sentence."""
    assert run_hook(words(brain), given) == b""
    assert len(logged(brain)) == 1
    assert logged(brain)[0].startswith(f"claude-code nova: nothing was done: {why}")


def test_payload_that_is_too_long(brain: SampleBrain) -> None:
    """A payload of more than four megabytes is not read to its end."""
    given = payload("user-prompt-submit", prompt="x" * (hook_call.PAYLOAD_MAX_BYTES + 1))

    assert run_hook(words(brain), given) == b""
    assert "longer than" in logged(brain)[0]


def test_odd_fields_are_no_trouble(brain: SampleBrain) -> None:
    """Fields of another type, and fields that a later version adds, are passed over."""
    given = payload("session-start-startup", source=7, cwd=[], transcript_path={}, from_the_future={"a": 1})

    assert SECRET in context_of(run_hook(words(brain), given).decode())
    assert logged(brain) == []


def test_brain_is_gone(brain: SampleBrain, tmp_path: Path) -> None:
    """A directory that is gone, or is no brain, is left as it is."""
    shutil.rmtree(brain.root)
    empty = tmp_path / "empty"
    empty.mkdir()

    assert run_hook(words(brain), START) == b""
    assert run_hook([*words(brain)[:-1], str(empty)], START) == b""
    assert not brain.root.exists()
    assert list(empty.iterdir()) == []


def test_brain_does_not_load(brain: SampleBrain) -> None:
    """A mistake in the configuration costs the session its memory and nothing else; the log names file and key."""
    brain.put("omnislash.yaml", "memroy: {}\n")

    assert run_hook(words(brain), START) == b""
    assert "omnislash.yaml" in logged(brain)[0]
    assert "memroy" in logged(brain)[0]


def test_role_is_gone(brain: SampleBrain) -> None:
    """The log names the role that there is none of."""
    assert run_hook(words(brain, role="ghost"), START) == b""
    assert "ghost" in logged(brain)[0]


def test_unknown_host(brain: SampleBrain) -> None:
    """A host that omnislash does not know gets no answer, and the log names those that it knows."""
    assert run_hook(["hook", "another-host", *words(brain)[2:]], START) == b""
    assert "claude-code" in logged(brain)[0]


def test_disk_that_cannot_be_written(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the ledger nor the log can be written, the blocks come all the same, and come again."""
    state = brain.root / ".omnislash"
    shutil.rmtree(state)
    state.write_text("in the way")

    first, second = run_hook(words(brain), START), run_hook(words(brain), payload("session-start-resume"))

    assert SECRET in context_of(first.decode())
    assert SECRET in context_of(second.decode())
    assert run_hook(words(brain), payload("pre-compact-auto")) == b""
    assert state.read_text() == "in the way"


def test_log_that_cannot_be_written(brain: SampleBrain) -> None:
    """A log that is a directory, or a link, is no reason to fail, and what the link points to stays as it is."""
    (brain.root / ".omnislash/logs").mkdir()
    other = brain.put("notes.txt", "mine\n")
    (brain.root / hook_log.LOG_FILE).symlink_to(other)

    assert run_hook(words(brain), "{") == b""
    assert other.read_text() == "mine\n"


def test_log_turns_over(brain: SampleBrain) -> None:
    """A full log is set aside, and one older file is kept."""
    (brain.root / ".omnislash/logs").mkdir()
    brain.put(hook_log.LOG_FILE, "x" * hook_log.FILE_BYTES)

    run_hook(words(brain), "{")

    assert len(logged(brain)) == 1
    assert (brain.root / f"{hook_log.LOG_FILE}.1").stat().st_size == hook_log.FILE_BYTES


def test_log_holds_one_line_a_trouble(brain: SampleBrain) -> None:
    """Line breaks and control characters of a name stay on one line, and steer no terminal."""
    run_hook(words(brain, role="a\nb\x1b[31m"), START)

    assert len(logged(brain)) == 1
    assert "\x1b" not in logged(brain)[0]


def test_hook_inside_a_model_of_ours_does_nothing(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that omnislash runs as a model is marked, and its hooks are silent, not even logged."""
    monkeypatch.setenv("OMNISLASH_INSIDE", "1")

    assert INSIDE_OF_MODELS == hook_call.INSIDE == "OMNISLASH_INSIDE"
    assert run_hook(words(brain), START) == b""
    assert logged(brain) == []
    assert sent_blocks(brain) == 0


def test_replay_reads_and_notes_nothing(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OMNISLASH_REPLAY=1 the fast way steps aside, for it would note what it sent."""
    monkeypatch.setenv("OMNISLASH_REPLAY", "1")

    assert hook_call.run(words(brain)) is None


# -- printing and the ledger -----------------------------------------------------------------------------------------


@pytest.mark.rule("ENVELOPE-06", "ENVELOPE-O7")
def test_answer_that_was_not_printed_whole_is_not_noted(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full after half of the answer, and a reader that is gone, leave the session without its blocks."""
    real = os.write

    def half(number: int, data: Any) -> int:
        if number == 1 and len(data) < 300:
            raise BrokenPipeError(32, "Broken pipe")
        return real(number, data[: len(data) // 2] if number == 1 else data)

    monkeypatch.setattr(os, "write", half)
    run_hook(words(brain), START)
    monkeypatch.undo()

    assert sent_blocks(brain) == 0
    assert logged(brain) == ["claude-code nova: nothing was done: the machine refused: Broken pipe"]
    assert SECRET in context_of(run_hook(words(brain), payload("user-prompt-submit")).decode())


# -- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "limit"),
    [("", 5.0), ("2.5", 2.5), ("0", 0.2), ("-1", 0.2), ("9999", 60.0), ("soon", 5.0), ("nan", 5.0), ("inf", 60.0)],
)
def test_limit(given: str, limit: float) -> None:
    """It is five seconds unless the variable says otherwise, and stays within its bounds whatever that says."""
    assert hook_call.read_limit({"OMNISLASH_HOOK_TIMEOUT": given}) == limit


def test_time_is_up_while_stdin_stays_open(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that never ends its payload holds the hook for its limit, and the log says so."""
    monkeypatch.setenv("OMNISLASH_HOOK_TIMEOUT", "0.3")
    left: list[int] = []
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)

    def leave(code: int) -> None:
        left.append(code)
        os.close(writing)

    try:
        hook_call.run(words(brain), leave=leave)
    finally:
        os.dup2(before, 0)
        for number in (before, reading):
            os.close(number)

    assert left == [0]
    assert "claude-code nova: nothing was done: it took longer than 0.3 seconds" in logged(brain)


# -- with a worker ---------------------------------------------------------------------------------------------------


class Served:
    """A worker's socket in this process, whose operations a test may put in the way of."""

    def __init__(self, sample: SampleBrain) -> None:
        self.sample = sample
        self.opened = sample.open()
        self.worker = self.opened.start_worker(operations=make_hook_operations(self.opened))

    def close(self) -> None:
        self.worker.stop()


@pytest.fixture
def served(brain: SampleBrain) -> Iterator[Served]:
    """A brain with a worker."""
    found = Served(brain)
    yield found
    if not found.worker.is_stopping:
        found.close()


@pytest.fixture
def no_cold(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note when a hook opens the brain by itself."""
    asked: list[str] = []
    real = hook_call._answer_here

    def note(call: Call, given: str, *, searches: bool = True) -> Answer:
        asked.append("searching" if searches else "blocks alone")
        return real(call, given, searches=searches)

    monkeypatch.setattr(hook_call, "_answer_here", note)
    return asked


@pytest.mark.rule("ENVELOPE-02", "ENVELOPE-06")
def test_hook_asks_the_worker(served: Served, no_cold: list[str]) -> None:
    """With a worker the hook opens no brain, prints the same, and what it printed is noted."""
    first, second = (
        run_hook(words(served.sample), START),
        run_hook(words(served.sample), START.replace("startup", "resume")),
    )

    assert SECRET in context_of(first.decode())
    assert second == b""
    assert no_cold == []
    assert sent_blocks(served.sample) == 3


def test_worker_says_why(served: Served, no_cold: list[str]) -> None:
    """What the worker refuses is logged in its words, and is not tried again here."""
    assert run_hook(words(served.sample, role="ghost"), START) == b""
    assert run_hook(words(served.sample), "{") == b""
    assert no_cold == []
    assert "ghost" in logged(served.sample)[0]
    assert "no JSON object" in logged(served.sample)[1]


@pytest.mark.rule("ENVELOPE-O7")
def test_worker_dies_between_the_answer_and_the_note(
    served: Served, no_cold: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was printed is noted by the hook itself, so that it is not sent again."""
    real = hook_call._print

    def print_and_stop(text: str) -> None:
        real(text)
        served.close()

    monkeypatch.setattr(hook_call, "_print", print_and_stop)
    assert SECRET in context_of(run_hook(words(served.sample), START).decode())
    monkeypatch.undo()

    assert sent_blocks(served.sample) == 3
    again = context_of(run_hook(words(served.sample), payload("session-start-resume")).decode())
    assert SECRET not in again  # the day is another by the machine's own clock, and nothing else


class Deaf:
    """Something that holds the writer's lock and listens like a worker, and answers as a test wants."""

    def __init__(self, sample: SampleBrain, *answers: bytes | None) -> None:
        self.address = str(sample.root / ".omnislash" / "deaf.sock")
        self._lock = WriterLock(sample.root / ".omnislash" / "writer.lock")
        owner = Owner(pid=os.getpid(), role="worker", since="2026", address=self.address, protocol=wake.PROTOCOL)
        assert self._lock.acquire(owner)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.address)
        self._socket.listen()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(answers,))
        self._thread.start()

    def _serve(self, answers: tuple[bytes | None, ...]) -> None:
        connection, _ = self._socket.accept()
        with connection, connection.makefile("rb") as asked:
            asked.readline()
            for answer in answers:
                if answer is None:
                    self._over.wait(20)
                else:
                    connection.sendall(answer)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()
        self._lock.release()


@pytest.mark.parametrize(
    ("answers", "how"),
    [
        pytest.param([None], "searching", id="stopped"),
        pytest.param([b'{"ack": true}\n', None], "blocks alone", id="busy"),
        pytest.param([b'{"error": "this request is not understood"}\n'], "searching", id="older"),
        pytest.param([b"what?\n"], "searching", id="no JSON"),
        pytest.param([b""], "searching", id="gone"),
    ],
)
def test_worker_that_is_no_help(
    brain: SampleBrain, no_cold: list[str], monkeypatch: pytest.MonkeyPatch, answers: list[bytes | None], how: str
) -> None:
    """A worker that is stopped, busy, older or dying costs time; the session gets its blocks, and hears what is missing."""
    monkeypatch.setattr(hook_call, "_FIRST_WORD_S", 0.2)
    monkeypatch.setattr(hook_call, "_REST_S", 59.6)
    deaf = Deaf(brain, *answers)
    try:
        printed = context_of(run_hook(words(brain), payload("user-prompt-submit")).decode())
    finally:
        deaf.close()

    assert no_cold == [how]
    assert SECRET in printed
    assert ("Memory was not searched for this message" in printed) == (how == "blocks alone")
    assert sent_blocks(brain) == 3


def test_an_error_inside_the_worker_is_named_and_not_quoted(brain: SampleBrain, no_cold: list[str]) -> None:
    """Of an error that nobody thought of the log has the kind alone, for its text may hold anything."""
    deaf = Deaf(brain, json.dumps({"error": f"KeyError: {SECRET}"}).encode() + b"\n")
    try:
        assert run_hook(words(brain), START) == b""
    finally:
        deaf.close()

    assert logged(brain) == ["claude-code nova: nothing was done: an error inside the worker: KeyError"]
    assert no_cold == []


def test_label_of_a_worker_that_is_gone(brain: SampleBrain, no_cold: list[str]) -> None:
    """A label that nobody holds the lock for, as in a copied brain, is not believed."""
    label = {"pid": 1, "role": "worker", "since": "", "address": "/somewhere.sock", "protocol": wake.PROTOCOL}
    brain.put(".omnislash/writer.lock", json.dumps(label))

    assert SECRET in context_of(run_hook(words(brain), START).decode())
    assert no_cold == ["searching"]


def test_protocol_is_the_workers() -> None:
    """The hook speaks the version that the worker's own client speaks, and knows its longest line."""
    assert (hook_call.PROTOCOL, hook_call.LINE_LIMIT_BYTES) == (wake.PROTOCOL, wake.LINE_LIMIT_BYTES)
    assert hook_call.PAYLOAD_MAX_BYTES * 3 < hook_call.LINE_LIMIT_BYTES


# -- as a process ----------------------------------------------------------------------------------------------------


def start_hook(brain: SampleBrain, *more: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command as a host does."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OMNISLASH_HOOK_TIMEOUT": "60"}
    environment |= options.pop("environment", {})
    command = [sys.executable, "-m", "omnislash", *words(brain), *more]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def test_process_prints_and_ends(brain: SampleBrain) -> None:
    """The command prints one line of JSON and nothing on stderr."""
    done = start_hook(brain)
    out, err = done.communicate(START.encode(), timeout=90)

    assert (done.returncode, err) == (0, b"")
    assert SECRET in context_of(out.decode())


def test_process_with_a_variable_that_makes_no_sense(brain: SampleBrain) -> None:
    """A clock that is none is said on stderr, and ends no session: the exit code is 0 and nothing is printed."""
    done = start_hook(brain, environment={"OMNISLASH_NOW": "soon"})
    out, err = done.communicate(START.encode(), timeout=90)

    assert (done.returncode, out) == (0, b"")
    assert b"OMNISLASH_NOW" in err


def test_process_of_a_locked_database_ends_in_its_time(brain: SampleBrain) -> None:
    """A database that another program holds for itself keeps the hook no longer than its limit, and nothing is printed."""
    held = sqlite3.connect(brain.root / ".omnislash" / "state.db", isolation_level=None)
    held.execute("PRAGMA locking_mode = EXCLUSIVE")
    held.execute("BEGIN EXCLUSIVE")
    try:
        done = start_hook(brain, environment={"OMNISLASH_HOOK_TIMEOUT": "2"})
        started = time.monotonic()
        out, err = done.communicate(payload("pre-compact-auto").encode(), timeout=90)
    finally:
        held.close()

    assert (done.returncode, out, err) == (0, b"", b"")
    assert time.monotonic() - started < 10
    assert "longer than 2 seconds" in logged(brain)[0]


def test_process_without_its_streams(brain: SampleBrain) -> None:
    """With stdin, stdout and stderr closed it ends with 0, and nothing counts as sent."""
    command = f"exec {sys.executable} -m omnislash {' '.join(words(brain))} <&- >&- 2>&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"PYTHONPATH": str(ROOT), "OMNISLASH_HOOK_TIMEOUT": "60"},
        timeout=60,
        check=False,
    )

    assert done.returncode == 0
    assert sent_blocks(brain) == 0


def test_process_whose_reader_is_gone(brain: SampleBrain) -> None:
    """A host that has closed its end of the pipe gets nothing, and nothing counts as sent."""
    reading, writing = os.pipe()
    os.close(reading)
    done = start_hook(brain, stdout=writing)
    _, err = done.communicate(START.encode(), timeout=90)
    os.close(writing)

    assert (done.returncode, err) == (0, b"")
    assert sent_blocks(brain) == 0
    assert "Broken pipe" in logged(brain)[0]


def test_process_of_a_stopped_worker(brain: SampleBrain) -> None:
    """A worker that was stopped in its tracks costs a moment; the blocks come all the same."""
    from tests.integration.conftest import WorkerProcess

    worker = WorkerProcess(brain.root)
    worker.send(signal.SIGSTOP)
    try:
        done = start_hook(brain)
        out, err = done.communicate(START.encode(), timeout=90)
    finally:
        worker.kill()

    assert (done.returncode, err) == (0, b"")
    assert SECRET in context_of(out.decode())


def test_wrong_words_never_take_a_prompt_away(brain: SampleBrain, capsys: pytest.CaptureFixture[str]) -> None:
    """A command line with a mistake in it says so on stderr and does not end with 2, which would erase what a person wrote."""
    assert main(["hook", "claude-code", "--rol", "nova", "--brain", str(brain.root)]) == 1
    assert main(["hook"]) == 1
    assert main(["--brain", "/no/such/brain", "hook", "claude-code", "--role", "nova"]) == 1
    assert main(["--brain"]) == 2  # no hook, and wrong usage as ever
    assert "omnislash hook --help" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        ["hook", "claude-code", "--role", "nova"],
        ["hook", "claude-code", "--role=nova", "--brain", "b"],
        ["hook", "claude-code", "--role", "--brain", "b", "c"],
        ["hook", "claude-code", "--role", "nova", "--role", "nova"],
        ["hook", "--role", "nova", "--brain", "b"],
        ["hook"],
    ],
)
def test_other_words_go_the_long_way(given: list[str]) -> None:
    """Only the words that an installation writes are answered without the command line's own parser."""
    assert hook_call.parse(given) is None


@pytest.mark.rule("BOUNDARY-08")
def test_long_way_does_the_same(brain: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words in another order give the same answer; with --replay nothing is noted, and a mark is not set."""
    monkeypatch.setattr(os, "_exit", pytest.fail)
    replay = ["hook", "--replay", f"--brain={brain.root}", "--role=nova", "claude-code"]

    texts = [context_of(run_hook(each, START, main).decode()) for each in (replay, replay, [*replay[:1], *replay[2:]])]

    assert all(SECRET in text for text in texts)
    assert sent_blocks(brain) == 3
    assert run_hook(replay, payload("pre-compact-auto"), main) == b""
    assert run_hook(words(brain), payload("session-start-resume")) == b""
    assert logged(brain) == []
