"""Sessions that grow too long: for us, for their model, for the database; and several turns of one session at once."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from pydantic_ai.exceptions import ModelContextWindowExceededError

from omnislash import UsageError, WriterUnavailableError
from omnislash.errors import ModelError
from omnislash.runtime.loop import session_turns
from omnislash.testing import ScriptedCall, ScriptedChatModel
from tests.integration.running.conftest import read_rows, read_session
from tests.integration.running.test_cancelled_turns import LOG, WRITE, open_scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.testing import ChatRequest
    from omnislash.testing.chat_models import Step
    from tests.integration.conftest import SampleBrain

TOO_LONG = ModelContextWindowExceededError("small", "too long")


def asked(request: ChatRequest) -> list[str]:
    """Return what a person asked in this request's conversation, the first word of each."""
    return [speech.text.split()[0] for speech in request.said if speech.speaker == "user"]


def is_afresh(request: ChatRequest) -> bool:
    """Tell whether a request begins anew: it is said that turns were left out, and day and window come again."""
    return "<agent-environment>" in request.opening and bool(request.conversation.shortened)


def takes(size: int, then: Step) -> Callable[[ChatRequest], Step]:
    """Return a step of a model that takes so many characters of conversation."""
    return lambda request: TOO_LONG if sum(len(each.text) for each in request.said) > size else then


# -- a model that takes less -----------------------------------------------------------------------------------------


def test_a_model_that_takes_less_is_asked_again_with_half(sample: SampleBrain) -> None:
    """A turn that is too long for it is asked once more, as after a compaction; the session goes on for good."""
    words = "word " * 200
    model = ScriptedChatModel(*[takes(24_000, f"Answer {words}")] * 60)
    brain = open_scripted(sample, model)

    for number in range(30):
        assert brain.agent("nova").run(f"q{number} {words}", session="s1").text.startswith("Answer")

    again = [
        place
        for place in range(1, len(model.requests))
        if model.requests[place].message == model.requests[place - 1].message
    ]
    assert 1 <= len(again) <= 5, "it is not turned down in every turn"
    for place in again:
        before, after = asked(model.requests[place - 1]), asked(model.requests[place])
        assert after == before[-len(after) :]
        assert 2 <= len(after) < len(before)
        assert is_afresh(model.requests[place])
    assert len(read_rows(sample, "session_turns")) == 30


def test_a_model_that_takes_no_history_at_all(sample: SampleBrain) -> None:
    """After half it is asked without any; what then fits is answered, and what doesn't fails in one sentence."""
    model = ScriptedChatModel("x" * 3_000, "x" * 3_000, *[takes(100, "Yes.")] * 5)
    brain = open_scripted(sample, model)
    for number in range(2):
        brain.agent("nova").run(f"q{number}", session="s1")

    assert brain.agent("nova").run("q2", session="s1").text == "Yes."

    assert [asked(request) for request in model.requests[2:]] == [["q0", "q1", "q2"], ["q1", "q2"], ["q2"]]
    assert is_afresh(model.requests[-1])
    before = read_session(sample)
    with pytest.raises(ModelError, match="the conversation is longer than it can take"):
        brain.agent("nova").run("long " * 100, session="s1")
    assert [asked(request) for request in model.requests[5:]] == [["q2", "long"], ["long"]]
    assert read_session(sample) == before


def test_a_turn_that_grew_too_long_through_its_tools(sample: SampleBrain) -> None:
    """Its tools are not run twice: it fails and tells what they wrote, and the next turn begins with half."""
    model = ScriptedChatModel("x" * 3_000, "x" * 2_000, [WRITE], TOO_LONG, "Yes.", "And yes.")
    brain = open_scripted(sample, model)
    for number in range(2):
        brain.agent("nova").run(f"q{number}", session="s1")

    with pytest.raises(ModelError) as caught:
        brain.agent("nova").run("q2", session="s1")

    assert caught.value.hint == f"What the turn's tools wrote before stays: {LOG}."
    assert sample.text(LOG).count("Kept.") == 1
    assert brain.agent("nova").run("q3", session="s1").text == "Yes."
    assert asked(model.requests[-1]) == ["q1", "q3"]
    assert is_afresh(model.requests[-1])
    brain.agent("nova").run("q4", session="s1")
    assert asked(model.requests[-1]) == ["q1", "q3", "q4"], "that held for one turn"
    assert not is_afresh(model.requests[-1])


# -- too long for us -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("letter", "fits"), [("a", 3), ("\u044f", 1), ("\u65e5", 1)])
def test_a_history_is_measured_in_bytes(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, letter: str, fits: int
) -> None:
    """As many letters of another script are more tokens; so fewer of them are sent."""
    monkeypatch.setattr(session_turns, "MOST_BYTES", 13_000)
    monkeypatch.setattr(session_turns, "KEPT_BYTES", 10_000)
    model = ScriptedChatModel(*[letter * 3_000] * 3)
    brain = open_scripted(sample, model)

    for number in range(4):
        brain.agent("nova").run(f"q{number}", session="s1")

    assert asked(model.requests[-1]) == [f"q{number}" for number in range(3 - fits, 4)]


def test_two_turns_at_once_and_a_shortening(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of them makes the session too long, the next turn is told as one after a compaction."""
    monkeypatch.setattr(session_turns, "MOST_BYTES", 9_000)
    monkeypatch.setattr(session_turns, "KEPT_BYTES", 5_000)
    both = threading.Barrier(2)

    def wait(_request: ChatRequest) -> str:
        both.wait(30)
        return "y" * 4_000

    model = ScriptedChatModel("y" * 4_000, wait, wait, "ok")
    brain = open_scripted(sample, model)
    brain.agent("nova").run("zero", session="s1")
    with ThreadPoolExecutor(2) as pool:
        turns = [pool.submit(brain.agent("nova").run, f"slow{number}", session="s1") for number in (1, 2)]
    assert all(turn.result().text for turn in turns)

    brain.agent("nova").run("after", session="s1")

    assert "zero" not in asked(model.requests[-1])
    assert is_afresh(model.requests[-1])


def test_the_database_stays_bounded(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out goes for good beyond a bound, the oldest first; the session still counts all of its turns."""
    for name, value in {"MOST_BYTES": 9_000, "KEPT_BYTES": 5_000, "LEFT_BYTES": 8_000}.items():
        monkeypatch.setattr(session_turns, name, value)
    brain = open_scripted(sample, ScriptedChatModel(*["y" * 2_000] * 20))

    for number in range(20):
        brain.agent("nova").run(f"q{number}", session="s1")

    kept = [row[3] for row in read_rows(sample, "session_turns")]
    assert sum(map(len, kept)) < 9_000 + 8_000 + 2 * 2_500
    assert '"q19"' in kept[-1]
    assert sum(map(len, kept)) > 8_000, "no more than that"
    (view,) = brain.sessions().sessions
    assert view.turns == 20


# -- several at once -------------------------------------------------------------------------------------------------


def test_two_roles_in_the_first_turn_of_a_session(sample: SampleBrain) -> None:
    """The first that ends has it; of the other nothing is stored, and what its tools wrote is told."""
    sample.role("ops")
    asks, ended = threading.Event(), threading.Event()

    def wait(request: ChatRequest) -> Step:
        if request.said[-1].speaker == "user":
            return [ScriptedCall("memory_write", {"content": "Kept."})]
        asks.set()
        ended.wait(30)
        return "The vault opens with 4711."

    model = ScriptedChatModel(*[lambda request: wait(request) if "private" in request.message else "Yes."] * 9)
    brain = open_scripted(sample, model)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(brain.agent("ops").run, "private", session="chat:1")
        assert asks.wait(30)
        brain.agent("nova").run("hello", session="chat:1")
        before = read_session(sample)
        ended.set()
        with pytest.raises(UsageError, match="'chat:1' belongs to the role 'nova', not to 'ops'") as caught:
            late.result()

    assert "What the turn's tools wrote before stays: main/2026/08/2026-08-30.md." in (caught.value.hint or "")
    assert read_session(sample) == before
    brain.agent("nova").run("again", session="chat:1")
    assert asked(model.requests[-1]) == ["hello", "again"]


@pytest.mark.rule("ENVELOPE-O7")
def test_a_session_is_not_forgotten_while_its_turn_runs(sample: SampleBrain) -> None:
    """One that is resumed after a summer keeps its past, whoever opens a session meanwhile."""

    def open_another(_request: ChatRequest) -> str:
        brain.agent("nova").turn(session="opens")
        return "Resumed."

    model = ScriptedChatModel("Noted.", open_another)
    brain = open_scripted(sample, model)
    brain.agent("nova").run("pelican", session="s1")
    sample.clock.at += timedelta(days=60)
    brain.agent("nova").turn(session="between")
    sample.clock.at += timedelta(days=31)

    brain.agent("nova").run("resumed", session="s1")
    brain.agent("nova").run("third", session="s1")

    assert asked(model.requests[-1]) == ["pelican", "resumed", "third"]


def test_a_database_that_refuses_at_the_end(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer can't be kept; what the tools wrote stays and is told."""

    def refuse(*_arguments: object, **_options: object) -> None:
        message = "database or disk is full"
        raise sqlite3.OperationalError(message)

    monkeypatch.setattr(session_turns, "save_turn", refuse)
    brain = open_scripted(sample, ScriptedChatModel([WRITE], "Noted."))

    with pytest.raises(WriterUnavailableError, match="disk is full") as caught:
        brain.agent("nova").run("Note it.", session="s1")

    assert caught.value.hint == f"What the turn's tools wrote before stays: {LOG}."
    assert read_session(sample) == {"sessions": [], "session_blocks": [], "session_turns": []}


def test_names_that_are_no_text(sample: SampleBrain) -> None:
    """Half a character in an id is refused in one sentence, and nothing is found under it."""
    brain = open_scripted(sample, ScriptedChatModel())

    with pytest.raises(UsageError, match="A session id has 1 to 200 visible characters"):
        brain.agent("nova").run("x", session="\udcff")
    with pytest.raises(UsageError, match="A role's id is made of whole characters"):
        brain.sessions(role="\udcff")
    assert brain.find_session("\udcff") is None
