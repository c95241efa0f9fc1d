"""A provider that fails: one clear sentence, nothing half-written, and no key anywhere."""

from __future__ import annotations

import logging
import re
import socket
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.engine import ModelOptions
from omnislash.errors import ModelError
from omnislash.runtime.loop.run_values import RunLimits, RunOptions
from tests.integration.running.conftest import WORDS_ONLY, open_with, read_rows, read_session
from tests.integration.running.provider_servers import Answer, Call, Failure, Silence, fail

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer, Step

OPENAI, CHAT, ANTHROPIC = "openai:gpt-4o-mini", "openai-chat:gpt-4o-mini", "anthropic:claude-sonnet-4-5"
#: The word of each protocol for an answer that a filter stopped.
FILTERED = {OPENAI: "content_filter", CHAT: "content_filter", ANTHROPIC: "refusal"}
each_protocol = pytest.mark.parametrize("model", [OPENAI, CHAT, ANTHROPIC])

#: What a provider does, what the sentence says of it, and what it tells to do.
FAILURES: dict[str, tuple[Step, str, str]] = {
    "401": (fail(401, "authentication_error", "Incorrect API key"), "does not accept the key", "Check the key"),
    "403": (fail(403, "permission_error", "Not for you"), "does not accept the key", "Check the key"),
    "404": (
        fail(404, "not_found_error", "no such model", code="model_not_found"),
        "has no such model, or its base URL is wrong (404)",
        "Check the model's name",
    ),
    "429": (fail(429, "rate_limit_error", "slow down"), "rate limit is reached (429)", "Try again in a moment"),
    "429 with a wait": (
        fail(429, "rate_limit_error", "slow down", retry_after="37"),
        "rate limit is reached (429)",
        "Try again in 37 seconds",
    ),
    "402": (fail(402, "billing_error", "no credit"), "quota or credit is used up", "Check the plan"),
    "500": (fail(500, "api_error", "oops"), "its provider failed (500)", "Try again"),
    "503": (fail(503, "api_error", "oops"), "its provider failed (503)", "Try again"),
    "529": (fail(529, "overloaded_error", "busy"), "its provider is overloaded (529)", "Try again"),
    "too long": (
        fail(
            400,
            "invalid_request_error",
            "prompt is too long: 250000 tokens > 200000 maximum",
            code="context_length_exceeded",
        ),
        "the conversation is longer than it can take",
        "Start a new session",
    ),
    "400": (
        fail(400, "invalid_request_error", "temperature is not for this model"),
        "turned the request down (400): temperature is not for this model",
        "Check the model and its settings",
    ),
    "a web page": (
        Failure(200, b"<html>Welcome</html>", {"content-type": "text/html"}),
        "could not be read",
        "Try again",
    ),
    "broken JSON": (
        Failure(200, b'{"choices": [', {"content-type": "application/json"}),
        "could not be read",
        "Try again",
    ),
    "broken JSON of an error": (Failure(500, b'{"error":', {"content-type": "application/json"}), "(500)", "Try again"),
    "an empty answer": (Answer(""), "was empty or could not be read", "Try again"),
    "garbage in the stream": (Answer("One two three", cut_after=4, cut="garbage"), "could not be read", "Try again"),
    "a dropped stream": (Answer("One two three", cut_after=4), "the connection broke off", "Try again"),
    "a stream dropped at once": (Answer("One two three", cut_after=0), "the connection broke off", "Try again"),
    "silence": (Silence(), "did not finish within 0.3 seconds", "Try again"),
    "silence in the stream": (Silence(4), "did not finish within 0.3 seconds", "Try again"),
}
SENTENCE = re.compile(r"The model [\w.-]+ gave no answer: [^\n]+\. [^\n]+\.")


def ask(brain: Brain, model: str, *, limit_s: float = 30.0) -> ModelError:
    """Run a turn that fails, and return why."""
    limits = RunLimits(request_s=limit_s)
    with pytest.raises(ModelError) as caught:
        brain.agent("nova").run("Hello?", session="s1", options=RunOptions(model=model, limits=limits))
    return caught.value


@each_protocol
def test_one_sentence_and_nothing_kept(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """It says which model, what happened and what to do; the session and its ledger are as if it had not been asked."""
    brain = open_with(sample, server)
    brain.agent("nova").run("Good morning.", session="s1", options=RunOptions(model=model))
    sample.put_memory("main/MEMORY.md", "- New.\n")  # so that a failed turn would have something to note
    before = read_session(sample)
    told = {}
    for kind, (step, _, _) in FAILURES.items():
        server.play(*[step] * (2 if kind == "too long" else 1))  # that one is asked again with less of it
        told[kind] = ask(brain, model, limit_s=0.3 if isinstance(step, Silence) else 30.0)
        assert read_session(sample) == before, kind

    for kind, (_, what, remedy) in FAILURES.items():
        message = told[kind].message
        assert SENTENCE.fullmatch(message), message
        assert what in message, f"{kind}: {message}"
        assert remedy in message, f"{kind}: {message}"
        assert told[kind].hint is None
    assert brain.agent("nova").run("Hello again?", session="s1", options=RunOptions(model=model)).text == "Done."
    assert read_session(sample) != before


@each_protocol
@pytest.mark.parametrize("text", ["", "I would say that"])
def test_a_content_filter(sample: SampleBrain, server: ProviderServer, model: str, text: str) -> None:
    """An answer that a filter stopped is none, whether or not it had begun."""
    server.play(Answer(text, reason=FILTERED[model]))

    error = ask(open_with(sample, server), model)

    assert "a content filter stopped the answer. Word the message differently" in error.message


@each_protocol
def test_a_stream_that_ends_too_early_is_no_short_answer(
    sample: SampleBrain, server: ProviderServer, model: str
) -> None:
    """A proxy may end a stream in good order in the midst of it; half an answer, or half its calls, is never used."""
    call = (Call("memory_write", {"content": "Half a thought"}),)
    last = 5 if model == CHAT else 7  # the whole call, and not the word that this is all
    brain = open_with(sample, server)
    for step in (Answer("One two three", cut_after=4, cut="end"), Answer(calls=call, cut_after=last, cut="end")):
        server.play(step)

        assert "gave no answer" in ask(brain, model).message
    assert not (sample.root / "memory" / "main").exists()


@each_protocol
def test_what_tools_wrote_before_is_told(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """A write that was confirmed stays, although the turn is not kept, and the error names the file."""
    server.play(Answer("Noting.", (Call("memory_write", {"content": "Kept."}),)), fail(500, "api_error", "oops"))
    brain = open_with(sample, server)

    error = ask(brain, model)

    assert error.hint == "What the turn's tools wrote before stays: main/2026/08/2026-08-30.md."
    assert error.to_json()["hint"] == error.hint
    assert "Kept." in sample.text("main/2026/08/2026-08-30.md")
    assert not read_rows(sample, "session_turns")


@each_protocol
@pytest.mark.rule("SECRET-O2")
def test_no_key_is_ever_seen(
    sample: SampleBrain,
    server: ProviderServer,
    model: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Providers repeat keys in their errors: none reaches an error, a log, a block, the screen or any file."""
    caplog.set_level(logging.DEBUG, logger="omnislash")
    keys = [value for name, value in server.environment.items() if name.endswith("KEY")]
    brain = open_with(sample, server)
    told = []
    for status in (400, 401, 404, 429, 500):
        server.play(fail(status, "invalid_request_error", f"Bad key {keys[0]} or {keys[1]}"))
        error = ask(brain, model)
        told += [error.message, str(error), repr(error), str(error.to_json())]
    server.play(Answer(calls=(Call("memory_search", {"query": "key"}),)), Answer("Fine."))
    run = brain.agent("nova").run("Hello?", session="s1", options=RunOptions(model=model))
    told += [str(run.to_json()), run.delivery.render() if run.delivery else ""]
    brain.close()

    out, err = capfd.readouterr()
    files = [file.read_bytes().decode("utf-8", "replace") for file in sample.root.rglob("*") if file.is_file()]
    assert len(files) > 3
    for key in keys:
        assert not [text for text in (*told, caplog.text, out, err, *files) if key in text]
        assert not [text for text in (*told, caplog.text, out, err) if key[8:24] in text]


@each_protocol
def test_what_passes_is_tried_again(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """A rate limit, a failing server and an overload are tried twice more, with the waits that were set."""
    server.play(fail(429, "rate_limit_error", "x"), fail(529, "overloaded_error", "x"), Answer("There."))
    brain = open_with(sample, server, delays_s=(0.0, 0.0))

    assert brain.agent("nova").run("Hello?", options=RunOptions(model=model)).text == "There."
    assert len(server.bodies) == 3
    server.play(*[fail(500, "api_error", "x")] * 5)
    assert "its provider failed (500)" in ask(brain, model).message
    assert len(server.bodies) == 6


@each_protocol
def test_what_does_not_pass_is_not_tried_again(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """A wrong key stays wrong, and a wait that nobody sits through is told instead."""
    brain = open_with(sample, server, delays_s=(0.0, 0.0))
    for step in (fail(401, "authentication_error", "x"), fail(429, "rate_limit_error", "x", retry_after="3600")):
        server.bodies.clear()
        server.play(step)
        ask(brain, model)
        assert len(server.bodies) == 1


@each_protocol
def test_an_answer_that_reached_the_length_limit(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """What there is of it is kept, and it says that it is not all."""
    reason = {OPENAI: "max_output_tokens", CHAT: "length", ANTHROPIC: "max_tokens"}[model]
    server.play(Answer("The first half", reason=reason))

    run = open_with(sample, server).agent("nova").run("Hello?", session="s1", options=RunOptions(model=model))

    assert run.text == "The first half\n\n(The answer was cut off here: it reached the model's length limit.)"
    assert "cut off" not in read_rows(sample, "session_turns")[0][3]


@each_protocol
def test_a_provider_that_is_not_there(sample: SampleBrain, server: ProviderServer, model: str) -> None:
    """Nothing listens on the port: the sentence says so."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = {
        name: value.replace(server.url, f"http://127.0.0.1:{port}") for name, value in server.environment.items()
    }

    brain = sample.open(models=ModelOptions(environment=address), search=WORDS_ONLY)
    started = time.monotonic()
    limits = RunLimits(request_s=0.3)
    with pytest.raises(ModelError) as caught:
        brain.agent("nova").run("Hello?", options=RunOptions(model=model, limits=limits))

    assert "gave no answer: " in caught.value.message
    assert time.monotonic() - started < 30
