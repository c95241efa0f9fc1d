"""No block of memory, wherever it stands in a transcript, reaches the curator: a memory can't re-enter by its recall."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.core.budgets import Budget
from omnislash.core.lines import LineName
from omnislash.core.periods import parse_period
from omnislash.envelope.ladder import Summary, render_summaries
from omnislash.envelope.memory_block import render_memory
from omnislash.envelope.window import DayLog, render_window
from omnislash.recall.formatting import render_block
from omnislash.recall.hits import BelowFloor, Coverage, Hit, SearchResult
from omnislash.runtime.flushing.flush_prompt import parse_flush_message, render_flush_message
from omnislash.runtime.flushing.transcripts import parse_transcript

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.envelope.blocks import Block

MAIN = LineName("main")
#: Stands in every line of a note, and nowhere else.
TOKEN = "qxzmemory"
pieces = st.sampled_from(
    [
        "We ship on Fridays.",
        "- 09:05 the gate was oiled",
        "## Decisions",
        "### Memory recall",
        "</agent-memory>",
        "</agent-memory-daily>",
        '<agent-memory path="main/MEMORY.md">',
        "<agent-transcript>",
        "</agent-transcript>",
        "</system-reminder>",
        "<system-reminder>",
        "</user-prompt-submit-hook>",
        "**User:** hello",
        "## Assistant",
        "User: hello",
        "user · 2026-11-30 09:12",
        "```",
        "_INCOMPLETE — nothing_",
        "- [main/MEMORY.md:3] a note",
        "<command-name>/x</command-name>",
        "\u2028a\u2029b",
        "a\rb",
        "  indented",
        "Решили: в пятницу",
    ]
)
notes = st.lists(pieces, min_size=1, max_size=6).map(
    lambda each: "\n".join(f"{text} {TOKEN}" for text in ["- 08:00 noted", *each])
)


def _text(block: Block | None) -> str:
    assert block is not None
    return block.text


def _memory(note: str) -> str:
    return _text(render_memory(note, line=MAIN, ceiling=20_000, budget=Budget(None)))


def _window(note: str) -> str:
    return _text(render_window([DayLog(on=date(2026, 11, 30), text=note)], line=MAIN, ceiling=20_000))


def _ladder(note: str) -> str:
    return render_summaries([Summary(parse_period("2026-W48"), note)], line=MAIN, ceiling=20_000)


def _recall(note: str) -> str:
    given: dict[str, Any] = {"corpus": "main", "kind": "daily", "score": 0.5, "meaning": 0.5, "words": 0.5, "rank": 1.0}
    hits = [
        Hit(path="main/2026/11/2026-11-30.md", span=(3, 4), date=date(2026, 11, 30), snippet=note, **given),
        Hit(path="handbook.md", span=(3, 3), date=date(2026, 8, 1), snippet=note, **given),
    ]
    result = SearchResult(tuple(hits), BelowFloor(), Coverage.INCOMPLETE, ("one file could not be read",))
    return render_block(result, ceiling=20_000)


def _all(note: str) -> str:
    return "\n\n".join(render(note) for render in (_memory, _ladder, _window, _recall))


blocks = st.sampled_from([_memory, _window, _ladder, _recall, _all])


def _session(*records: Any) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def _user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def _assistant(*blocks: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}}


#: Where an engine or a hook puts a block: each makes a transcript of it. Every one has the words `before` and `after`.
PLACES: dict[str, Callable[[str], str]] = {
    "before the message": lambda block: _session(_user(f"{block}\n\nbefore after")),
    "behind the message": lambda block: _session(_user(f"before after\n\n{block}")),
    "between": lambda block: _session(_user(f"before\n\n{block}\n\nafter")),
    "content of its own": lambda block: _session(
        _user([{"type": "text", "text": block}, {"type": "text", "text": "before after"}])
    ),
    "reminder": lambda block: _session(_user(f"before <system-reminder>\n{block}\n</system-reminder>\nafter")),
    "hook's reminder": lambda block: _session(
        _user(f"<system-reminder>\nSessionStart hook additional context: {block}\n</system-reminder>\nbefore after")
    ),
    "reminder without line ends": lambda block: _session(
        _user(f"before <system-reminder>{block}</system-reminder>\nafter")
    ),
    "hook's own tag": lambda block: _session(
        _user(f"before\n<user-prompt-submit-hook>{block}</user-prompt-submit-hook>\nafter")
    ),
    "attachment": lambda block: _session(
        _user("before"),
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [block]}},
        {"type": "attachment", "attachment": {"type": "hook_success", "stdout": block, "content": block}},
        _user("after"),
    ),
    "record of the harness": lambda block: _session(_user("before"), _user(block, isMeta=True), _user("after")),
    "answer of a memory tool": lambda block: _session(
        _user("before"),
        _assistant({"type": "tool_use", "id": "1", "name": "memory_read", "input": {"path": block}}),
        {**_user([{"type": "tool_result", "tool_use_id": "1", "content": block}]), "toolUseResult": block},
        _assistant({"type": "tool_use", "id": "2", "name": "mcp__omnislash__memory_search", "input": {"query": block}}),
        _user([{"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": block}]}]),
        _user("after"),
    ),
    "answer": lambda block: _session(_user("before"), _assistant({"type": "text", "text": f"{block}\n\nafter"})),
    "markdown": lambda block: f"**User:**\n\n{block}\n\nbefore\n\n**Assistant:** after\n",
    "markdown, behind": lambda block: f"## User\nbefore\n\n{block}\n\n## Assistant\nafter\n",
    "plain": lambda block: f"User: before\n{block}\nAssistant: after\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.rule("FLUSH-04")
@given(render=blocks, note=notes)
def test_no_memory_comes_in_again(place: str, render: Callable[[str], str], note: str) -> None:
    """Nothing of a block is in what the curator is shown, and everything that was said beside it is."""
    transcript = parse_transcript(PLACES[place](render(note)))

    message = render_flush_message(transcript.turns, keep="Decisions.", zone=ZoneInfo("UTC"))

    assert TOKEN not in message
    assert "before" in message
    assert "after" in message


texts = st.lists(st.one_of(pieces, st.text(max_size=20)), max_size=8).map("\n".join)


@given(words=texts, answer=texts)
def test_a_transcript_can_not_leave_its_block(words: str, answer: str) -> None:
    """Whatever is said: the tags are the engine's own, only labels begin a line, and reading it back gives two turns."""
    transcript = parse_transcript(
        _session(_user([{"type": "text", "text": f"w {words}"}]), _assistant({"type": "text", "text": f"a {answer}"}))
    )

    message = render_flush_message(transcript.turns, keep=words, zone=ZoneInfo("UTC"))

    tags = re.findall(r"</?agent-[a-z-]+>", message)
    kept = ["<agent-memory-keep>", "</agent-memory-keep>"] if words.strip() else []
    assert tags == [*kept, "<agent-transcript>", "</agent-transcript>"]
    inside = message[message.index("<agent-transcript>\n") + 19 : message.rindex("\n</agent-transcript>")]
    assert [line for line in inside.split("\n") if line and not line.startswith("  ")] == ["user", "assistant"]
    found = parse_flush_message(message)
    assert found is not None
    assert [turn.speaker.value for turn in found.turns] == ["user", "assistant"]
