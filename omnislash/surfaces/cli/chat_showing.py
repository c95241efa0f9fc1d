"""How a talk looks: the answer as it comes, the tools in short lines, and what a turn cost.

The answer goes to stdout. Everything beside it goes to the same terminal when a person talks, and to stderr when a
program reads stdout.

Rules: FLUSH-11, FLUSH-13, FLUSH-O5; interface.md, "Command line" (`chat`).
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from omnislash.core.budgets import count_chars
from omnislash.core.verdicts import Outcome
from omnislash.runtime.loop.run_values import AnswerEnded, FlushOutcome, TextSaid, ToolAnswered, ToolCalled
from omnislash.surfaces.cli.output import print_line, show_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.envelope.blocks import Block, Sent
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.loop.run_values import FlushReport, Run, RunEvent, Usage

#: How much of an argument or a reason stands in the line of a tool.
_ARGUMENT, _REASON = 48, 160
#: The argument by which a person knows a call, the most telling first.
_TELLING = ("query", "path", "from", "role", "content")
#: What became of a write that has not landed as it was asked for.
_BECAME: dict[str, str] = {
    Outcome.DUPLICATE: "already there",
    Outcome.PARTIAL: "written in part",
    Outcome.QUEUED: "still queued",
    Outcome.APPROVAL_REQUIRED: "waiting for a person",
    Outcome.READ_ONLY: "refused as read-only",
}


class Talk:
    """Prints the turns of a talk."""

    def __init__(self, *, live: bool, person: bool, quiet: bool) -> None:
        """Keep how it is shown.

        Args:
            live: True prints the answer as it comes, with control characters made visible; else it is printed whole.
            person: True when somebody types the messages, so that all of it belongs on one screen.
            quiet: True leaves out everything but answers and errors.
        """
        self._live = live
        self._person = person
        self._quiet = quiet
        #: False while a line of the answer is open.
        self._at_start = True
        self._answers = 0

    def note(self, text: str, *, needed: bool = False) -> None:
        """Print a line beside the answer, dim on a terminal."""
        if needed or not self._quiet:
            self.end_line()
            print_line(text, err=not self._person, dim=True)

    def on_event(self, event: RunEvent) -> None:
        """Show what happens in a turn."""
        if isinstance(event, TextSaid):
            self._say(event.text)
        elif isinstance(event, ToolCalled):
            self.end_line()
        elif isinstance(event, AnswerEnded):
            self._end_answer(event.text)
        elif isinstance(event, ToolAnswered):
            self.note(f"  {describe_call(event)}")

    def _say(self, text: str) -> None:
        if self._live and text:
            sys.stdout.write(show_controls(text))
            sys.stdout.flush()
            self._at_start = text.endswith("\n")

    def end_line(self) -> None:
        """Close the line of the answer that is open."""
        if not self._at_start:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._at_start = True

    def _end_answer(self, text: str) -> None:
        """Print the answer where it was not shown already; nobody waits for the flush (FLUSH-O5)."""
        if not self._live:
            sys.stdout.write(("\n" if self._answers else "") + text.rstrip("\n") + "\n")
            sys.stdout.flush()
            self._answers += 1
        self.end_line()

    def end_turn(self, run: Run, *, is_replay: bool) -> None:
        """Say whether the turn was cancelled, what it cost, and what came of the flush."""
        if run.is_cancelled:
            kept = "a replay keeps nothing" if is_replay else "what was said until then is kept"
            self.note(f"Cancelled; {kept}.", needed=True)
        failed = run.flush is not None and run.flush.outcome is FlushOutcome.FAILED
        self.note(describe_turn(run), needed=failed)


# -- a tool, a turn --------------------------------------------------------------------------------------------------


def describe_call(call: ToolAnswered) -> str:
    """Return a tool, what it was called with, and what came of it, in one line."""
    telling = next((str(call.arguments[name]) for name in _TELLING if call.arguments.get(name)), "")
    argument = f" {_clip(telling, _ARGUMENT)!r}" if telling else ""
    return f"{call.tool}{argument}: {_outcome(call)}"


def _outcome(call: ToolAnswered) -> str:
    answer = call.answer
    if call.has_failed:
        error = answer["error"]
        return f"not done: {_clip(str(error.get('message', error) if isinstance(error, dict) else error), _REASON)}"
    if "outcome" in answer:
        return _verdict(answer)
    for key, what in (("hits", "note"), ("entries", "file"), ("rows", "row")):
        if isinstance(answer.get(key), list):
            return _count(len(answer[key]), what)
    return f"{answer['chars']} chars" if isinstance(answer.get("chars"), int) else "done"


def _verdict(answer: Mapping[str, Any]) -> str:
    outcome, paths = str(answer["outcome"]), answer.get("paths") or ()
    if outcome in {"written", "duplicate", "queued"} and paths:
        return f"{outcome}, {', '.join(map(str, paths))}"
    return f"{outcome}: {_clip(str(answer.get('message', '')), _REASON)}"


def _clip(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def describe_turn(run: Run) -> str:
    """Return what a turn cost and what its flush came to, in one line."""
    flush = [_describe_flush(run.flush)] if run.flush else []
    return " · ".join([*describe_usage(run.usage), *flush])


def describe_usage(usage: Usage) -> list[str]:
    """Return requests, tokens, and the cost where the provider gives it."""
    said = [_count(usage.requests, "request")]
    tokens = [
        f"{number} {way}"
        for number, way in ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
        if number is not None
    ]
    said.append(f"tokens {', '.join(tokens)}" if tokens else "no token figures")
    if usage.cost_usd is not None:
        said.append(f"${usage.cost_usd:.4f}")
    return said


def _describe_flush(flush: FlushReport) -> str:
    cost = f" ({', '.join(describe_usage(flush.usage))})" if flush.usage.requests else ""
    if flush.outcome is FlushOutcome.SAVED:
        return f"flush: {_describe_writes(flush)}{cost}"
    if flush.outcome is FlushOutcome.NOTHING_SAVED:
        return f"flush: nothing to keep{cost}"
    return f"flush failed: {_clip(flush.message, _REASON)}{cost}"


def _describe_writes(flush: FlushReport) -> str:
    """Return how many writes landed, and what became of the others."""
    counts = Counter(str(write.get("outcome")) for write in flush.writes)
    written = counts.pop(Outcome.WRITTEN, 0)
    others = [(number, _BECAME.get(outcome, outcome)) for outcome, number in counts.items()]
    if written:
        return ", ".join([f"{_count(written, 'write')} into {flush.line}", *(f"{n} {what}" for n, what in others)])
    asked = f"{_count(len(flush.writes), 'write')} asked for"
    if len(others) == 1:
        return f"{asked}, {others[0][1]}"
    return f"{asked}: {', '.join(f'{n} {what}' for n, what in others)}"


# -- what a turn carried ---------------------------------------------------------------------------------------------


def show_memory(delivery: Delivery | None, note: Callable[[str], None]) -> None:
    """Say what memory the last turn carried."""
    if delivery is None:
        note("No turn has carried memory yet.")
        return
    sent = {(each.name, each.place): each.why.value for each in delivery.blocks}
    for block in delivery.standing:
        note(_describe_block(block, sent.pop((block.name, block.place), "as before")))
    for each in delivery.blocks:
        if (each.name, each.place) in sent:
            note(_describe_block(each, each.why.value))
    if not delivery.standing and not delivery.blocks:
        note("  no blocks")
    _show_recall(delivery, note)


def _describe_block(block: Block | Sent, why: str) -> str:
    partial = ", partial" if block.is_partial else ""
    return f"  {block.name} {block.place}".rstrip() + f": {count_chars(block.text)} chars, {why}{partial}"


def _show_recall(delivery: Delivery, note: Callable[[str], None]) -> None:
    hits = delivery.recall.to_json()["hits"] if delivery.recall else []
    if not hits:
        note("  recall: silent")
    for hit in hits:
        note(f"  recalled {hit['path']} (score {hit['score']:.2f})")
