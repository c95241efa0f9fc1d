"""How a talk looks: the answer, the tools, what a turn cost, and what it carried of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.envelope.blocks import Block, BlockName, Sent, Why
from omnislash.runtime.delivery import Delivery
from omnislash.runtime.loop.run_values import (
    AnswerEnded,
    FlushOutcome,
    FlushReport,
    Run,
    TextSaid,
    ToolAnswered,
    ToolCalled,
    Usage,
)
from omnislash.surfaces.cli.chat_showing import Talk, describe_call, describe_turn, show_memory

if TYPE_CHECKING:
    from collections.abc import Mapping


def run(text: str = "Yes.", **more: Any) -> Run:
    """Return a turn that ended."""
    return Run(session="s1", role="nova", line="main", model="offline", text=text, **more)


def call(tool: str, answer: Mapping[str, Any], **arguments: Any) -> ToolAnswered:
    """Return a tool that answered."""
    return ToolAnswered("c1", tool, arguments, answer)


# -- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answered", "line"),
    [
        (call("memory_search", {"hits": [{}, {}]}, query="the stove"), "memory_search 'the stove': 2 notes"),
        (call("memory_search", {"hits": [{}]}, query="x"), "memory_search 'x': 1 note"),
        (call("memory_list", {"entries": []}), "memory_list: 0 files"),
        (call("memory_read", {"content": "abc", "chars": 3}, path="main/a.md"), "memory_read 'main/a.md': 3 chars"),
        (
            call("memory_write", {"outcome": "written", "paths": ["main/a.md", "main/b.md"]}, content="It is out."),
            "memory_write 'It is out.': written, main/a.md, main/b.md",
        ),
        (
            call("memory_write", {"outcome": "refused", "paths": [], "message": "No room."}, content="x"),
            "memory_write 'x': refused: No room.",
        ),
        (
            call("memory_edit", {"error": {"kind": "scope", "message": "Not yours."}}, path="ops/a.md", old="x"),
            "memory_edit 'ops/a.md': not done: Not yours.",
        ),
        (call("memory_overview", {"line": "main"}), "memory_overview: done"),
    ],
)
def test_a_tool_is_one_line_with_its_outcome(answered: ToolAnswered, line: str) -> None:
    """What it was called with, and what came of it; a refusal says why."""
    assert describe_call(answered) == line


def test_a_long_or_hostile_argument_stays_one_short_line() -> None:
    """Line breaks are blanks, control characters are escaped, and the rest is cut."""
    line = describe_call(
        call("memory_write", {"outcome": "written", "paths": ["main/a.md"]}, content="a\n\x1b[2J" + "b" * 500)
    )
    assert line.startswith("memory_write 'a \\x1b[2Jbbb")
    assert len(line) < 120
    assert "\n" not in line


def test_a_refused_write_is_never_shown_as_done() -> None:
    """Every outcome of a verdict is named as it is."""
    for outcome in ("partial", "failed", "unconfirmed", "read-only", "approval-required", "queued"):
        assert f": {outcome}" in describe_call(
            call("memory_write", {"outcome": outcome, "message": "So."}, content="x")
        )


# -- a turn ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("FLUSH-13")
@pytest.mark.parametrize(
    ("ended", "line"),
    [
        (run(usage=Usage(requests=1)), "1 request · no token figures"),
        (
            run(usage=Usage(requests=2, input_tokens=812, output_tokens=64, cost_usd=0.00312)),
            "2 requests · tokens 812 in, 64 out · $0.0031",
        ),
        (run(usage=Usage(requests=1, input_tokens=0)), "1 request · tokens 0 in"),
        (
            run(
                flush=FlushReport(
                    outcome=FlushOutcome.SAVED, line="ops", writes=({"outcome": "written"}, {"outcome": "refused"})
                )
            ),
            "0 requests · no token figures · flush: 1 write into ops, 1 refused",
        ),
        (
            run(
                flush=FlushReport(
                    outcome=FlushOutcome.NOTHING_SAVED,
                    line="ops",
                    usage=Usage(requests=2, input_tokens=5, cost_usd=0.1),
                )
            ),
            "0 requests · no token figures · flush: nothing to keep (2 requests, tokens 5 in, $0.1000)",
        ),
        (
            run(flush=FlushReport(outcome=FlushOutcome.FAILED, line="ops", message="The model is gone.")),
            "0 requests · no token figures · flush failed: The model is gone.",
        ),
    ],
)
def test_a_turn_ends_with_what_it_cost(ended: Run, line: str) -> None:
    """Tokens and cost where the provider gives them, and each of the three outcomes of a flush."""
    assert describe_turn(ended) == line


@pytest.mark.rule("FLUSH-14")
@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["written", "written"], "2 writes into ops"),
        (["duplicate"], "1 write asked for, already there"),
        (["refused", "refused"], "2 writes asked for, refused"),
        (["duplicate", "failed"], "2 writes asked for: 1 already there, 1 failed"),
        (
            ["written", "queued", "partial", "unconfirmed"],
            "1 write into ops, 1 still queued, 1 written in part, 1 unconfirmed",
        ),
        (["approval-required"], "1 write asked for, waiting for a person"),
        (["read-only"], "1 write asked for, refused as read-only"),
    ],
)
def test_the_writes_of_a_flush_are_told_as_they_ended(outcomes: list[str], said: str) -> None:
    """Only what was written counts as a write into the line; each other verdict is named."""
    writes = tuple({"outcome": outcome} for outcome in outcomes)
    flush = FlushReport(outcome=FlushOutcome.SAVED, line="ops", writes=writes, usage=Usage(requests=1))
    assert describe_turn(run(flush=flush)).endswith(f"· flush: {said} (1 request, no token figures)")


def test_a_live_answer_comes_in_pieces_and_is_tame(capsys: pytest.CaptureFixture[str]) -> None:
    """What the model writes is shown as it comes, never obeyed; a tool begins on a line of its own."""
    talk = Talk(live=True, person=True, quiet=False)
    talk.on_event(TextSaid("Let me \x1b[31mlook\u202e"))
    talk.on_event(ToolCalled("c1", "memory_search", {"query": "x"}))
    talk.on_event(call("memory_search", {"hits": []}, query="x"))
    talk.on_event(TextSaid("No"))
    talk.on_event(TextSaid(".\n"))
    talk.on_event(AnswerEnded("No."))
    talk.end_turn(run("No.", usage=Usage(requests=2)), is_replay=False)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.split("\n") == [
        "Let me \\x1b[31mlook\\u202e",
        "  memory_search 'x': 0 notes",
        "No.",
        "2 requests · no token figures",
        "",
    ]


def test_a_pipe_gets_only_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is printed whole as the model wrote it, one empty line between two; the rest goes to stderr."""
    talk = Talk(live=False, person=False, quiet=False)
    for text in ("One \x1b[31m.", "Two.\n\n"):
        talk.on_event(TextSaid(text))
        talk.on_event(call("memory_list", {"entries": []}))
        talk.on_event(AnswerEnded(text))
        talk.end_turn(run(text), is_replay=False)
    printed = capsys.readouterr()
    assert printed.out == "One \x1b[31m.\n\nTwo.\n"
    assert printed.err.count("memory_list: 0 files") == 2


@pytest.mark.rule("FLUSH-O5")
@pytest.mark.parametrize("live", [True, False])
def test_an_answer_is_there_before_the_flush(capsys: pytest.CaptureFixture[str], live: bool) -> None:
    """As soon as the model has ended, its answer is printed whole; nobody waits for what comes behind it."""
    talk = Talk(live=live, person=False, quiet=False)
    talk.on_event(TextSaid("Yes."))
    talk.on_event(AnswerEnded("Yes."))
    assert capsys.readouterr().out == "Yes.\n"
    talk.end_turn(run(), is_replay=False)
    assert capsys.readouterr().out == ""


@pytest.mark.rule("FLUSH-13")
def test_quiet_leaves_out_all_but_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """A flush that failed is said all the same."""
    talk = Talk(live=False, person=False, quiet=True)
    talk.on_event(call("memory_list", {"entries": []}))
    talk.end_turn(run(), is_replay=False)
    assert capsys.readouterr().err == ""
    talk.end_turn(run(flush=FlushReport(outcome=FlushOutcome.FAILED, line="ops", message="Gone.")), is_replay=False)
    assert "flush failed: Gone." in capsys.readouterr().err


@pytest.mark.parametrize(("replay", "word"), [(False, "is kept"), (True, "keeps nothing")])
def test_a_cancelled_turn_says_what_is_kept(capsys: pytest.CaptureFixture[str], replay: bool, word: str) -> None:
    """What was said until Ctrl-C is kept, but for a replay."""
    talk = Talk(live=True, person=True, quiet=True)
    talk.on_event(TextSaid("Half"))
    talk.on_event(AnswerEnded("Half"))
    talk.end_turn(run("Half", is_cancelled=True), is_replay=replay)
    out = capsys.readouterr().out
    assert out.startswith("Half\nCancelled; ")
    assert word in out


# -- memory ----------------------------------------------------------------------------------------------------------


def _remembered(delivery: Delivery | None) -> list[str]:
    lines: list[str] = []
    show_memory(delivery, lines.append)
    return lines


def test_what_a_turn_carried_is_listed() -> None:
    """Standing blocks first, then what was sent with this turn, each once, with why; and what was recalled."""
    memory = Block(name=BlockName.MEMORY, place="main/MEMORY.md", text="🌻a", is_partial=True)
    ladder = Block(name=BlockName.PERIODS, place="main", text="b")
    blocks = (
        Sent(name=BlockName.ENVIRONMENT, place="", text="env", is_partial=False, why=Why.NEW),
        Sent(name=BlockName.MEMORY, place="main/MEMORY.md", text="🌻a", is_partial=True, why=Why.CHANGED),
    )
    assert _remembered(Delivery(session="s", line="main", blocks=blocks, standing=(memory, ladder))) == [
        "  agent-memory main/MEMORY.md: 3 chars, changed, partial",
        "  agent-memory-periods main: 1 chars, as before",
        "  agent-environment: 3 chars, new",
        "  recall: silent",
    ]


def test_no_memory_is_said() -> None:
    """Before the first turn, and for a role without memory, there is a sentence."""
    assert _remembered(None) == ["No turn has carried memory yet."]
    assert _remembered(Delivery(session="s", line=None)) == ["  no blocks", "  recall: silent"]
