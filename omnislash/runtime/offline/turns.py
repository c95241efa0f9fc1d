"""The model `offline` in turns: fixed rules, no network, no key, and no word about the world of its own.

What it is asked decides which rules hold; the first that fits:

- A transcript of a turn that is over: `flushing` keeps at most three settled sentences, or answers `done`.
- `Curate the line X`: `curating` puts decisions of dated sections in order, word for word.
- `Write one entry for the day`, and `If something concerns A or B, deposit it in the line X`: `beats`.
- `remember: …`, `remember that …`, `remember always: …` (a priority), `note that …`, in German `Merke dir: …`, in Russian
  `запомни: …`, and the like: one `memory_write` of these words.
- `forget: …`, `vergiss: …`, `забудь: …`: `memory_delete` of the one entry that reads so, or has all of these words.
- A greeting, thanks and the like: one fixed sentence.
- A question: the notes that share the most words with it, quoted with their paths (`answers`).
- Anything else: one fixed sentence that says what it can do.

Its own sentences (`sentences`) speak of the answer and never of the world, in the language of the message: English, German
or Russian (`languages`). What a tool refuses is reported in the tool's own words. The events behind the prompt of a hook's
run are no part of the prompt, and no rule reads them. In a conversation it says
once that it is the offline model, and how to name another.

`answer_turn` is asked once for every step of a turn and sees what the loop sees. It is pure: the same request always
gives the same step, without disk and clock. A turn is a script that is played from its beginning against the answers
that its tools have given so far.

Rules: FLUSH-05, FLUSH-09, FLUSH-10, REPORT-03, CURATE-03, CURATE-04, CURATE-07.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omnislash.runtime.beats.event_blocks import cut_events
from omnislash.runtime.flushing.flush_prompt import parse_flush_message
from omnislash.runtime.offline.beats import follow_prompt, is_beat_prompt
from omnislash.runtime.offline.curating import curate, is_curator_prompt
from omnislash.runtime.offline.flushing import review
from omnislash.runtime.offline.messages import answer_message
from omnislash.runtime.offline.requests import OfflineCall, OfflineRequest, Said
from omnislash.runtime.offline.sentences import Frame, is_notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from omnislash.runtime.offline.requests import Script

__all__ = ["OfflineCall", "OfflineRequest", "Said", "answer_turn"]


def answer_turn(request: OfflineRequest) -> OfflineCall | str:
    """Return the next step of a turn: a tool to call, or the answer that ends it."""
    request = replace(request, message=cut_events(request.message))
    script, is_talk = _choose(request)
    step = _play(script, _answers(request))
    is_over = not isinstance(step, OfflineCall)
    is_said = any(said.role == "assistant" and is_notice(said.text) for said in request.history)
    return f"{step}\n\n{Frame(request.message).say('notice')}" if is_talk and is_over and not is_said else step


def _choose(request: OfflineRequest) -> tuple[Script, bool]:
    """Return the script for a message, and whether a person reads its answer in a conversation."""
    if request.role_hint == "flush" or parse_flush_message(request.message):
        return review(request), False
    if is_curator_prompt(request.message):
        return curate(request), False
    if is_beat_prompt(request.message):
        return follow_prompt(request), False
    return answer_message(request), True


def _answers(request: OfflineRequest) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the tools that were called since the newest message, with their answers, in order."""
    turn: list[tuple[str, Mapping[str, Any]]] = []
    for said in request.history:
        if said.role == "user":
            turn = []
        elif said.role == "tool" and said.tool is not None:
            turn.append((said.tool, said.answer or {}))
    return turn


def _play(script: Script, answers: Iterable[tuple[str, Mapping[str, Any]]]) -> OfflineCall | str:
    """Return the step of a script that follows the answers it has had."""
    try:
        step = next(script)
        for tool, answer in answers:
            if tool == step.tool:
                step = script.send(answer)
    except StopIteration as end:
        return str(end.value)
    return step
