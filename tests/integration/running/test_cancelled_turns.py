"""A turn that is ended early loses nothing: what was said and done is kept, and the session goes on from there."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.engine import ModelOptions
from omnislash.errors import ModelError, UsageError
from omnislash.runtime.loop.run_values import AnswerEnded, RunLimits, RunOptions, TextSaid, ToolAnswered
from omnislash.testing import InterruptingDisk, ScriptedCall, ScriptedChatModel, ScriptedSilence
from tests.integration.running.conftest import WORDS_ONLY, open_with, read_rows, read_session
from tests.integration.running.provider_servers import Silence

if TYPE_CHECKING:
    from omnislash import Brain
    from omnislash.runtime.loop.run_values import RunEvent
    from omnislash.testing import ChatRequest
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer

ROOT = Path(__file__).resolve().parents[3]
WRITE = ScriptedCall("memory_write", {"content": "Kept."})
LOG = "main/2026/08/2026-08-30.md"


def open_scripted(sample: SampleBrain, model: ScriptedChatModel, **options: Any) -> Brain:
    """Open a brain on which every turn plays a script."""
    return sample.open(models=ModelOptions(chat=model), search=WORDS_ONLY, **options)


def said_to(model: ScriptedChatModel) -> list[tuple[str, str | None, str]]:
    """Return what the newest request held of the conversation: speaker, tool and text."""
    return [(speech.speaker, speech.tool, speech.text) for speech in model.requests[-1].said]


def test_text_that_had_come_in_is_kept(sample: SampleBrain) -> None:
    """The session holds question and half an answer, and the next turn goes on from there."""
    model = ScriptedChatModel(["One two three", ScriptedSilence(), " four five six ... ten."], "Eleven.", piece=4)
    brain = open_scripted(sample, model)
    seen: list[RunEvent] = []

    run = brain.agent("nova").run(
        "Count.", session="s1", options=RunOptions(on_event=seen.append, is_over=lambda: len(seen) >= 3)
    )

    assert run.is_cancelled
    assert run.text.startswith("One two thr")
    assert not run.text.endswith("ten.")
    assert isinstance(seen[-1], AnswerEnded)
    assert not brain.agent("nova").run("Go on.", session="s1").is_cancelled
    assert said_to(model) == [("user", None, "Count."), ("assistant", None, run.text), ("user", None, "Go on.")]


def test_before_the_first_word(sample: SampleBrain) -> None:
    """A turn that is over at once keeps the question."""
    model = ScriptedChatModel("Never said.", "There.")
    brain = open_scripted(sample, model)

    run = brain.agent("nova").run("Hello?", session="s1", options=RunOptions(is_over=lambda: True))

    assert (run.is_cancelled, run.text, run.calls) == (True, "", ())
    brain.agent("nova").run("Anybody?", session="s1")
    assert [text for speaker, _, text in said_to(model) if speaker == "user"] == ["Hello?", "Anybody?"]


def test_a_tool_that_runs_ends_and_its_verdict_is_kept(sample: SampleBrain) -> None:
    """The stop comes in the midst of a write: it is written, told and remembered; the call behind it never ran."""
    over = threading.Event()

    def interrupt() -> None:
        over.set()
        time.sleep(0.5)  # far longer than it takes to notice

    model = ScriptedChatModel(["Noting. ", WRITE, ScriptedCall("memory_write", {"content": "Not this."})], "Yes.")
    brain = open_scripted(sample, model, disk=InterruptingDisk({2: interrupt}))

    run = brain.agent("nova").run("Note it.", session="s1", options=RunOptions(is_over=over.is_set))

    assert run.is_cancelled
    assert run.calls[0].answer["outcome"] == "written"
    assert all(call.answer["error"]["kind"] == "cancelled" for call in run.calls[1:])
    assert "Kept." in sample.text(LOG)
    assert "Not this." not in sample.text(LOG)
    assert len(model.requests) == 1
    assert brain.agent("nova").run("Did you?", session="s1").text == "Yes."
    answers = [json.loads(text) for speaker, _, text in said_to(model) if speaker == "tool"]
    assert answers[0]["outcome"] == "written"
    assert [text for speaker, _, text in said_to(model) if speaker == "user"] == ["Note it.", "Did you?"]


_PROCESS = """
import json, os, signal, sys
from omnislash import Brain
from omnislash.engine import ModelOptions, SearchOptions
from omnislash.runtime.loop.run_values import RunOptions
from omnislash.testing import InterruptingDisk, ScriptedCall, ScriptedChatModel

def interrupt(*_):
    import time
    for _ in range(3 if where == "tool" else 1):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
    return "Three words more."

root, where = sys.argv[1:]
write = ScriptedCall("memory_write", {"content": "Kept."})
steps = [["Noting. ", write]] if where == "tool" else [["Noting. ", write], interrupt]
disk = InterruptingDisk({2: interrupt}) if where == "tool" else None
models, search = ModelOptions(chat=ScriptedChatModel(*steps)), SearchOptions(embedders=())
with Brain.open(root, models=models, search=search, disk=disk) as brain:
    run = brain.agent("nova").run("Note it.", session="s1")
print(json.dumps(run.to_json()))
"""


@pytest.mark.parametrize("where", ["tool", "model"])
def test_control_c_in_a_real_process(sample: SampleBrain, where: str) -> None:
    """Ctrl-C while a tool runs (three times) or the model speaks: no trace of Python, and the write is there and told."""
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, str(sample.root), where],
        cwd=ROOT,
        env={**os.environ, "OMNISLASH_NOW": "2026-08-30T09:05:00+00:00"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == ""
    assert done.returncode == 0
    run = json.loads(done.stdout)
    assert run["cancelled"] is True
    assert run["calls"][0]["answer"]["outcome"] == "written"
    assert any("Kept." in file.read_text() for file in (sample.root / "memory/main").rglob("*.md"))
    (row,) = read_rows(sample, "session_turns")
    assert '"outcome":"written"' in row[3]


def test_a_listener_that_fails_ends_the_turn(sample: SampleBrain) -> None:
    """What it raises is raised, after what was done is kept."""
    model = ScriptedChatModel([WRITE], "And so on.")
    brain = open_scripted(sample, model)

    def listen(event: RunEvent) -> None:
        if isinstance(event, ToolAnswered):
            message = "the terminal is gone"
            raise BrokenPipeError(message)

    with pytest.raises(BrokenPipeError, match="the terminal is gone"):
        brain.agent("nova").run("Note it.", session="s1", options=RunOptions(on_event=listen))

    (row,) = read_rows(sample, "session_turns")
    assert '"outcome":"written"' in row[3]


@pytest.mark.parametrize("model", ["openai:gpt-4o-mini", "openai-chat:gpt-4o-mini", "anthropic:claude-sonnet-4-5"])
def test_a_stream_that_hangs_is_broken_off(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """A provider that says a word and then nothing is not waited for."""
    server.play(Silence(after=6))
    brain = open_with(sample, server)
    seen: list[RunEvent] = []
    options = RunOptions(model=model, on_event=seen.append, is_over=lambda: bool(seen))
    started = time.monotonic()

    run = brain.agent("nova").run("Hello?", session="s1", options=options)

    assert run.is_cancelled
    assert run.text
    assert run.text in "One moment."
    assert time.monotonic() - started < 30
    assert brain.agent("nova").run("Hello?", session="s1", options=RunOptions(model=model)).text == "Done."
    assert run.text in json.dumps(server.bodies[-1])


# -- limits ----------------------------------------------------------------------------------------------------------


def test_a_turn_that_takes_too_long(sample: SampleBrain) -> None:
    """It fails, keeps nothing of the conversation, and says what was written."""

    def dawdle(_request: ChatRequest) -> str:
        time.sleep(0.8)
        return "Late."

    brain = open_scripted(sample, ScriptedChatModel([WRITE], dawdle))

    with pytest.raises(ModelError) as caught:
        brain.agent("nova").run("x", session="s1", options=RunOptions(limits=RunLimits(turn_s=0.5)))

    assert caught.value.message == "The turn was ended because it took more than 0.5 seconds."
    assert caught.value.hint == f"What the turn's tools wrote before stays: {LOG}."
    assert read_session(sample) == {"sessions": [], "session_blocks": [], "session_turns": []}


def test_a_model_that_never_stops_calling(sample: SampleBrain) -> None:
    """After the last request that a turn may make, it fails in one sentence."""
    model = ScriptedChatModel(*([ScriptedCall("memory_list")] for _ in range(9)))
    brain = open_scripted(sample, model)

    with pytest.raises(ModelError, match="scripted gave no answer: it went on asking for tools beyond the limit"):
        brain.agent("nova").run("x", options=RunOptions(limits=RunLimits(requests=4)))

    assert len(model.requests) == 4


def test_a_model_that_calls_wrongly_may_go_on(sample: SampleBrain) -> None:
    """Ten wrong calls in a row are told to the model, and the eleventh step is its answer."""
    wrong = [[ScriptedCall("memory_read", "{")], [ScriptedCall("no_such_tool")]] * 5
    brain = open_scripted(sample, ScriptedChatModel(*wrong, "Well."))

    run = brain.agent("nova").run("x")

    assert run.text == "Well."
    assert len(run.calls) == 10
    assert all(call.has_failed for call in run.calls)


def test_a_tool_that_breaks_is_no_matter_of_the_model(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of our own is raised as it is, and not blamed on a provider."""
    from omnislash.runtime.tools import catalog

    def break_down(*_arguments: object, **_options: object) -> None:
        message = "a fault of ours"
        raise ZeroDivisionError(message)

    brain = open_scripted(sample, ScriptedChatModel([WRITE]))
    monkeypatch.setattr(catalog, "call_tool", break_down)

    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        brain.agent("nova").run("x", session="s1")


# -- where it is called from -----------------------------------------------------------------------------------------


def test_inside_a_running_event_loop(sample: SampleBrain) -> None:
    """A program that is asynchronous itself can call it."""
    brain = open_scripted(sample, ScriptedChatModel([WRITE], "Yes."))

    async def call() -> str:
        return brain.agent("nova").run("x").text

    assert asyncio.run(call()) == "Yes."


def test_from_several_threads_at_once(sample: SampleBrain) -> None:
    """Eight turns on one open brain, each with a write: every one has its own session, answer and entry."""
    numbers = count()

    def step(request: ChatRequest) -> list[str | ScriptedCall] | str:
        if any(speech.speaker == "tool" for speech in request.said):
            return f"Heard {request.message}"
        return [ScriptedCall("memory_write", {"content": f"Entry {next(numbers)} of {request.message}"})]

    model = ScriptedChatModel(*[step] * 16)
    brain = open_scripted(sample, model)

    def work(number: int) -> str:
        return brain.agent("nova").run(f"number {number}", session=f"s{number}").text

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(work, range(8)))

    assert texts == [f"Heard number {number}" for number in range(8)]
    assert sample.text(LOG).count("- 09:05 Entry") == 8
    assert len(read_rows(sample, "session_turns")) == 8


def test_a_turn_goes_through_the_worker(sample: SampleBrain) -> None:
    """With a worker in another process the tools' writes are its, and the turn is the same."""
    sample.start_worker()
    brain = open_scripted(sample, ScriptedChatModel([WRITE], "Yes."))

    run = brain.agent("nova").run("x")

    assert run.calls[0].answer["outcome"] == "written"
    assert any("Kept." in file.read_text() for file in (sample.root / "memory/main").rglob("*.md"))


def test_a_session_id_that_can_not_be_one(sample: SampleBrain) -> None:
    """It is refused before anything is asked."""
    model = ScriptedChatModel()
    with pytest.raises(UsageError):
        open_scripted(sample, model).agent("nova").run("x", session="a\nb")
    assert not model.requests
    assert not [event for event in model.references if event]


def test_events_of_text_make_the_answer(sample: SampleBrain) -> None:
    """The pieces put together are what was said."""
    seen: list[RunEvent] = []
    brain = open_scripted(sample, ScriptedChatModel(["A first word. ", WRITE], "The answer."))

    run = brain.agent("nova").run("x", options=RunOptions(on_event=seen.append))

    assert "".join(event.text for event in seen if isinstance(event, TextSaid)) == "A first word. The answer."
    assert run.text == "The answer."
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (None, None, None)
