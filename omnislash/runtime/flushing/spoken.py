"""What was said in a session, by whom: the values that every reader of transcripts returns.

A record is what a reader counts by: a line of a session's JSONL, a message of a markdown file. The number of records
that were reviewed is all that has to be remembered of a growing transcript.

Rules: FLUSH-04; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Speaker(StrEnum):
    """Who said something."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """All that one side said until the other side spoke."""

    speaker: Speaker
    #: Their words, without anything that omnislash or a harness had put between them; '' for an answer in tools only.
    text: str
    #: Names of the tools that were called, each once, in order.
    tools: tuple[str, ...] = ()
    #: When it began; None where the transcript does not say.
    said_at: datetime | None = None
    #: Number of the record in which it begins, counted from 1.
    first: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said, in order, or the part of it behind the records that were left out."""

    turns: tuple[Spoken, ...]
    #: Records from the beginning of the transcript to its end; one that is still being written is not counted.
    records: int = 0
    #: Records that can't be read.
    skipped: int = 0
    #: The session, where the transcript names it.
    session: str | None = None
    #: True when the last answer is not over: a tool runs, or its answer has not been taken up.
    is_open: bool = False
    #: True when nobody spoke to the agent: a heartbeat or hook ran it, and what it was told is left out.
    is_unattended: bool = False

    def unattended(self) -> Transcript:
        """Return only what the agent said, for a session that a heartbeat or hook ran."""
        said = tuple(turn for turn in self.turns if turn.speaker is Speaker.ASSISTANT)
        return replace(self, turns=said, is_unattended=True)

    def settled(self) -> Transcript:
        """Return the exchanges that are over; a message without its answer, or with half of one, is left for later."""
        last = max((at for at, turn in enumerate(self.turns) if turn.speaker is Speaker.USER), default=0)
        is_over = not self.is_open and (not self.turns or self.turns[-1].speaker is Speaker.ASSISTANT)
        if is_over:
            return self
        return replace(
            self, turns=self.turns[:last], records=self.turns[last].first - 1 if self.turns else self.records
        )
