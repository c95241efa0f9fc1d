"""A turn of a role that asks for no review starts no process, and one that may ask for it does."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.flushing.flush import asks_for_flush
from omnislash.surfaces.adapters import hook_call, running
from omnislash.surfaces.adapters.asking import may_flush
from omnislash.surfaces.adapters.hook_values import Answer, Call, Trouble
from tests.integration.adapters.host_sessions import payload

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


def ask(sample: SampleBrain, role: str, heartbeat: str | None = None) -> tuple[bool, bool]:
    """Return what the files alone say, and what the brain decides from them."""
    with sample.open() as brain:
        decided = asks_for_flush(brain.agent(role, heartbeat=heartbeat).scope, brain.config)
    return may_flush(str(sample.root), role, heartbeat), decided


@pytest.mark.rule("FLUSH-01")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", (False, False)),
        ("memoryFlush: false\n", (False, False)),
        ("memoryFlush:   false   # not yet\r\n", (False, False)),
        ("memoryFlush: true\n", (True, True)),
        ('"memoryFlush": true\n', (True, True)),
        ('"memory\\u0046lush": true\n', (True, True)),
        ("memoryFlush:\n  true\n", (True, True)),
        ("description: memoryFlush is not for her.\n", (True, False)),
    ],
)
def test_file_of_a_role_says_no_or_perhaps(sample: SampleBrain, more: str, said: tuple[bool, bool]) -> None:
    """It never says no where the brain says yes, and says no where the key is left out or plainly false."""
    sample.role("ops", more=more, where="deep/er")

    assert ask(sample, "ops") == said


@pytest.mark.rule("FLUSH-O2", "FLUSH-O3")
@pytest.mark.parametrize(("more", "said"), [("", (False, False)), (", memoryFlush: true", (True, True))])
def test_what_runs_a_role_may_ask_as_well(sample: SampleBrain, more: str, said: tuple[bool, bool]) -> None:
    """A heartbeat that asks for a review has one, though its role asks for none."""
    sample.put("features/x/m.heartbeat.md", f"---\nschedule: '0 7 * * *'\nagent: {{role: nova{more}}}\n---\nDo it.\n")

    assert ask(sample, "nova", "m") == said


def test_what_cannot_be_told_is_left_to_the_brain(sample: SampleBrain) -> None:
    """A role or heartbeat without a file of its own, a brain that is gone, and a pipe in the place of a file say perhaps."""
    assert may_flush(str(sample.root), "ghost", None)
    assert may_flush(str(sample.root), "nova", "ghost")
    assert may_flush(str(sample.root / "gone"), "nova", None)
    (role,) = sample.root.rglob("nova.agent.md")
    role.unlink()
    os.mkfifo(role)
    assert may_flush(str(sample.root), "nova", None)


def test_end_of_a_turn_starts_a_process_only_where_it_may_be_needed(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a worker `Stop` and `SessionEnd` start nothing for a role that asks for no review."""
    started: list[list[str]] = []
    monkeypatch.setattr("subprocess.Popen", lambda words, **_: started.append(words))
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(sample.root))

    for name in ("stop", "session-end"):
        running.answer_here(call, payload(name))
    assert started == []

    sample.role("nova", more="memoryFlush: true\n")
    running.answer_here(call, payload("stop"))
    assert len(started) == 1


def test_log_says_what_became_of_a_delivery(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the answer was printed and its note fails, it is not said that nothing was done."""
    with sample.open() as brain:
        brain.agent("nova").memory.write("A note.")  # makes .omnislash/

    def fail() -> None:
        message = "the state database is busy"
        raise Trouble(message)

    def answer_here(*_: Any, **__: Any) -> Answer:
        return Answer("x", fail)

    monkeypatch.setattr(hook_call, "_read_payload", lambda: "{}")
    monkeypatch.setattr(hook_call, "_print", lambda _: None)
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(sample.root))
    hook_call.serve(call, answer_here=answer_here, leave=print, asks_worker=False)

    (line,) = (sample.root / ".omnislash" / "logs" / "hooks.log").read_text(encoding="utf-8").splitlines()
    assert line.endswith("nova: what was shown may be shown again: the state database is busy")


@pytest.mark.parametrize(("limit", "note_limit", "said"), [("0.2", 30.0, "0.2"), ("60", 0.3, "0.3")])
def test_note_that_takes_too_long_is_told_as_such(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, limit: str, note_limit: float, said: str
) -> None:
    """A database that another program holds delays the note for a moment only: what was shown comes once more."""
    with sample.open() as brain:
        brain.agent("nova").memory.write("A note.")
    ended = threading.Event()
    monkeypatch.setenv("OMNISLASH_HOOK_TIMEOUT", limit)
    monkeypatch.setattr(hook_call, "_NOTE_S", note_limit)
    monkeypatch.setattr(hook_call, "_read_payload", lambda: "{}")
    monkeypatch.setattr(hook_call, "_print", lambda _: None)
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(sample.root))

    def answer_here(*_: Any) -> Answer:
        return Answer("x", lambda: ended.wait(20))

    hook_call.serve(call, answer_here=answer_here, leave=lambda _: ended.set(), asks_worker=False)

    assert ended.is_set()
    (line,) = (sample.root / ".omnislash" / "logs" / "hooks.log").read_text(encoding="utf-8").splitlines()
    assert line.endswith(f"what was shown may be shown again: it took longer than {said} seconds")


def test_end_that_takes_too_long_is_no_trouble(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once everything is noted, a brain that is slow to close is left as it is, and nothing is said of it."""
    with sample.open() as brain:
        brain.agent("nova").memory.write("A note.")
    ended = threading.Event()
    monkeypatch.setattr(hook_call, "_NOTE_S", 0.1)
    monkeypatch.setattr(hook_call, "_read_payload", lambda: "{}")
    monkeypatch.setattr(hook_call, "_print", lambda _: None)
    call = Call(host="claude-code", role="nova", heartbeat=None, brain=str(sample.root))

    def answer_here(*_: Any) -> Answer:
        return Answer("x", lambda: None, lambda: ended.wait(20))

    hook_call.serve(call, answer_here=answer_here, leave=lambda _: ended.set(), asks_worker=False)

    assert ended.is_set()
    assert not (sample.root / ".omnislash" / "logs" / "hooks.log").exists()
