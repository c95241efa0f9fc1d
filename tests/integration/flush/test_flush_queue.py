"""Transcripts that hosts ask to have reviewed: nobody waits, a later request takes a waiting one's place, none is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.engine import ModelOptions
from omnislash.errors import ModelError
from omnislash.runtime.flushing import flush_queue
from omnislash.runtime.flushing.flush_prompt import parse_flush_message
from omnislash.store.locks import Owner, WriterLock
from omnislash.surfaces.adapters import reviewing, running
from omnislash.surfaces.adapters.hook_values import Call
from omnislash.surfaces.adapters.hosts import HookCall, HookKind
from omnislash.testing import ScriptedCall, ScriptedChatModel
from tests.integration.adapters.host_sessions import payload
from tests.integration.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash import Brain
    from omnislash.testing.chat_models import Step
    from tests.integration.conftest import SampleBrain

WRITE = ScriptedCall("memory_write", {"content": "The gate is green now."})


def record(speaker: str, text: str) -> str:
    """A record of a session."""
    content: Any = [{"type": "text", "text": text}] if speaker == "assistant" else text
    return json.dumps({"type": speaker, "sessionId": "s-1", "message": {"role": speaker, "content": content}}) + "\n"


class Queued:
    """A brain whose curator plays a script, and a transcript beside it."""

    def __init__(self, sample: SampleBrain, place: Path) -> None:
        self.sample = sample
        self.place = place
        sample.role("nova", more="memoryFlush: true\n")
        self.restart()

    def restart(self, *script: Step) -> None:
        """Go on with a new process."""
        self.model = ScriptedChatModel(*script)
        self.brain: Brain = self.sample.open(models=ModelOptions(environment={}, chat=self.model))

    def say(self, number: int, *, is_answered: bool = True) -> None:
        """Let the session go on."""
        with self.place.open("a") as file:
            file.write(record("user", f"question {number}"))
            file.write(record("assistant", f"answer {number}") if is_answered else "")

    def ask(self, *, has_ended: bool = False, role: str = "nova") -> None:
        """Ask for the review, and let the transcript settle."""
        self.brain.agent(role).request_flush(str(self.place), has_ended=has_ended)
        self.sample.clock.at += flush_queue.SETTLED

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self.brain._open_state().rows("list_flush_requests"))

    @property
    def read(self) -> list[list[str]]:
        """What the curator was shown, review by review."""
        found = [parse_flush_message(request.message) for request in self.model.requests]
        return [[turn.text for turn in each.turns] for each in found if each is not None]


@pytest.fixture
def queued(sample: SampleBrain, tmp_path: Path) -> Queued:
    """A role that asks for flushes, and a session of one exchange."""
    found = Queued(sample, tmp_path / "s.jsonl")
    found.say(1)
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    """Return once it is so."""
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.rule("FLUSH-01", "FLUSH-04", "FLUSH-O5")
def test_request_waits_until_somebody_has_time(queued: Queued) -> None:
    """Asking calls no model; draining reviews, writes what the curator finds worth keeping, and takes the request off."""
    queued.restart(WRITE, "done")
    queued.ask()
    assert queued.model.requests == []

    assert queued.brain.drain_flushes() == 1

    assert queued.read == [["question 1", "answer 1"]] * 2  # the second request holds the verdict of the write
    assert "The gate is green now." in (queued.sample.root / "memory/main/2026/08/2026-08-30.md").read_text()
    assert queued.waiting == 0
    assert queued.brain.drain_flushes() == 0


@pytest.mark.rule("FLUSH-04")
def test_later_request_takes_the_place_of_one_that_waits(queued: Queued) -> None:
    """Three turns that ended while nobody had time are one review of all of them; that it ended is not forgotten."""
    queued.ask()
    queued.say(2)
    queued.ask(has_ended=True)
    queued.say(3, is_answered=False)
    queued.ask()

    assert queued.waiting == 1
    assert queued.brain.drain_flushes() == 1
    assert queued.read == [["question 1", "answer 1", "question 2", "answer 2", "question 3"]]


@pytest.mark.rule("FLUSH-04")
def test_request_during_a_review_is_not_lost(queued: Queued) -> None:
    """What is asked for while the same transcript is reviewed is reviewed after it."""

    def say_more(_: Any) -> str:
        queued.say(2)
        queued.ask()
        return "done"

    queued.restart(say_more, "done")
    queued.ask()

    assert queued.brain.drain_flushes() == 2
    assert queued.read == [["question 1", "answer 1"], ["question 2", "answer 2"]]
    assert queued.waiting == 0


@pytest.mark.rule("FLUSH-04", "FLUSH-O5")
def test_worker_reviews_what_was_asked_before_it_started(queued: Queued) -> None:
    """A request outlives the process that noted it; the next worker's thread reviews it without being asked."""
    queued.ask()
    queued.restart("done")

    queued.brain.start_flushing()
    wait_until(lambda: queued.waiting == 0)
    queued.brain.stop_background()

    assert queued.read == [["question 1", "answer 1"]]


def test_review_that_is_cut_short_is_made_up_for(queued: Queued, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop in the middle of a review leaves its request, as if it had not been begun."""
    over: list[bool] = []

    def stop(*_: Any) -> bool:
        over.append(True)
        return False

    monkeypatch.setattr(flush_queue, "_flush", stop)
    queued.ask()
    flush_queue.drain(queued.brain._ports(), queued.brain._find_agent, is_over=lambda: bool(over))
    monkeypatch.undo()

    assert [row["tries"] for row in queued.brain._open_state().rows("list_flush_requests")] == [0]
    assert queued.brain.drain_flushes() == 1


def test_review_that_ends_the_process_is_given_up(queued: Queued, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that three processes have died of is taken off; others are reviewed meanwhile."""

    class Died(BaseException):
        """The process is gone."""

    def die(*_: Any) -> bool:
        raise Died

    monkeypatch.setattr(flush_queue, "_flush", die)
    queued.ask()
    for _ in range(flush_queue.TRIES_MAX):
        with pytest.raises(Died):
            queued.brain.drain_flushes()
    monkeypatch.undo()

    assert queued.waiting == 1
    assert queued.brain.drain_flushes() == 0
    assert queued.waiting == 0


@pytest.mark.parametrize("what", ["gone", "directory", "no transcript"])
def test_transcript_that_cannot_be_reviewed_is_taken_off(queued: Queued, what: str) -> None:
    """A file that is gone, a directory, and a text that nobody said cost a line in the log and hold up nothing."""
    queued.place.unlink()
    if what == "directory":
        queued.place.mkdir()
    elif what == "no transcript":
        queued.place.write_text("just a text\n")
    queued.ask()

    assert queued.brain.drain_flushes() == 0
    assert queued.waiting == 0


@pytest.mark.rule("FLUSH-O5")
def test_failing_model_is_asked_again_with_the_next_turn_only(queued: Queued) -> None:
    """A review that fails is over: the request is taken off, and the next one makes up for it."""

    def fail(_: Any) -> str:
        message = "The model is down."
        raise ModelError(message)

    queued.restart(fail, "done")
    queued.ask()
    queued.brain.drain_flushes()
    assert queued.waiting == 0

    queued.say(2)
    queued.ask()
    queued.brain.drain_flushes()

    assert queued.read[-1] == ["question 1", "answer 1", "question 2", "answer 2"]


@pytest.mark.rule("FLUSH-01", "FLUSH-02", "FLUSH-03")
@pytest.mark.parametrize("why", ["not asked for", "switched off", "no memory"])
def test_nothing_is_noted_for_a_role_that_is_not_flushed(queued: Queued, why: str) -> None:
    """A role without `memoryFlush`, a brain whose switch is off, and a role without memory note no request."""
    if why == "not asked for":
        queued.sample.role("nova")
    elif why == "switched off":
        queued.sample.manifest("{flush: {enabled: false}}")
    else:
        queued.sample.role("nova", None, more="memoryFlush: true\n")

    queued.ask()

    assert queued.waiting == 0


def test_only_one_process_works_through_the_requests(queued: Queued) -> None:
    """While another process is at it nothing is reviewed here, and the request stays for that one."""
    lock = WriterLock(queued.sample.root / flush_queue.LOCK_FILE)
    queued.ask()
    assert lock.acquire(Owner(pid=os.getpid(), role="flush-queue", since="2026"))
    try:
        assert queued.brain.drain_flushes() == 0
        assert queued.waiting == 1
    finally:
        lock.release()


@pytest.mark.parametrize("place", ["pipe", "directory", "no path", "nothing", "link"])
def test_what_is_no_transcript_holds_up_no_other(queued: Queued, tmp_path: Path, place: str) -> None:
    """A pipe, a directory, a name that can be no file's and a missing file are passed over; a link is followed."""
    odd = tmp_path / place
    if place == "pipe":
        os.mkfifo(odd)
    elif place == "directory":
        odd.mkdir()
    elif place == "link":
        odd.symlink_to(queued.place)
    name = "/a\0b" if place == "no path" else str(odd)
    queued.restart("done", "done")
    queued.brain.agent("nova").request_flush(name)
    queued.ask()

    assert queued.brain.drain_flushes() == 1  # by the link the session itself is reviewed, and then holds nothing new
    assert queued.waiting == 0
    assert queued.read == [["question 1", "answer 1"]]


def test_transcript_that_is_far_too_long_is_said_to_be(
    queued: Queued, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is refused with a line, as `omnislash flush` refuses it, and not reviewed up to some record without a word."""
    queued.ask()
    monkeypatch.setattr(flush_queue, "BYTES_MAX", queued.place.stat().st_size - 1)

    assert queued.brain.drain_flushes() == 0
    assert (queued.waiting, queued.read) == (0, [])
    assert "File too large" in caplog.text


# -- by the hooks ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-04", "FLUSH-O5")
def test_end_of_a_turn_is_handed_to_the_worker(queued: Queued) -> None:
    """With a worker `Stop` notes the request, and `SessionEnd` that the session is over."""
    serve = running.make_hook_operations(queued.brain)["hook"]
    asked = {"role": "nova", "heartbeat": None, "host": "claude-code"}

    for name in ("stop", "stop-repeated", "session-end"):
        given = payload(name, transcript_path=str(queued.place))
        assert serve({**asked, "payload": given}) == {"answer": {"stdout": "", "session": None, "receipt": None}}

    (row,) = queued.brain._open_state().rows("list_flush_requests")
    assert (row["role"], row["transcript"], row["ended"]) == ("nova", str(queued.place), 1)
    assert queued.model.requests == []


@pytest.mark.rule("FLUSH-04")
def test_process_that_a_hook_starts_without_a_worker(queued: Queued) -> None:
    """It notes the request, reviews it with the brain's own model, here the offline one, and ends."""
    queued.say(2, is_answered=False)
    arguments = ["--brain", str(queued.sample.root), "--role", "nova", "--transcript", str(queued.place), "--ended"]

    assert reviewing.main(arguments) == 0

    assert queued.waiting == 0
    cursors = [row["value"] for row in queued.brain._open_state().rows("list_cursors") if "flush:" in row["name"]]
    assert cursors == [3]  # every record of the transcript was reviewed


def test_hook_without_a_worker_waits_for_no_review(queued: Queued, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts a process of its own session that outlives it, with nothing of the hook's streams in it."""
    started: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr("subprocess.Popen", lambda words, **options: started.append((words, options)))
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(queued.sample.root))

    running.answer_here(call, payload("session-end", transcript_path=str(queued.place)))
    running.answer_here(call, payload("stop", transcript_path=None))

    ((words, options),) = started
    assert words[1:4] == ["-P", "-m", "omnislash.surfaces.adapters.reviewing"]
    assert words[-3:] == ["--transcript", str(queued.place), "--ended"]
    assert options["start_new_session"]
    assert {options[name] for name in ("stdin", "stdout", "stderr")} == {-3}  # the null device
    assert queued.waiting == 0


def test_reviewing_process_runs_nothing_of_the_brain(queued: Queued, monkeypatch: pytest.MonkeyPatch) -> None:
    """A brain is shared, so a module of the library's name that lies in it is a file like any other."""
    queued.sample.put("argparse.py", "raise SystemExit('this was run')\n")
    started: list[list[str]] = []
    monkeypatch.setattr("subprocess.Popen", lambda words, **_: started.append(words))
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(queued.sample.root))
    running.answer_here(call, payload("stop", transcript_path=str(queued.place)))
    monkeypatch.undo()

    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*started[0][:4], "--help"],
        cwd=queued.sample.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("/a/s.jsonl", "/a/s.jsonl"),
        ("s.jsonl", "/work/s.jsonl"),
        ("../s.jsonl", "/s.jsonl"),
        ("~/s.jsonl", "/me/s.jsonl"),
    ],
)
def test_transcript_is_meant_from_the_session(monkeypatch: pytest.MonkeyPatch, given: str, found: str) -> None:
    """A path that a host shortens is meant from the session's directory, or from home, and never from the worker's."""
    monkeypatch.setenv("HOME", "/me")
    call = HookCall(kind=HookKind.TURN_ENDED, session="s", transcript=given, cwd="/work")

    assert running.find_transcript(call) == found
