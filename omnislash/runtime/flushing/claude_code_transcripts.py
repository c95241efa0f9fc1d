"""Reads a session of Claude Code: one JSON object a line, appended while the session goes on.

Only what was said is taken: the words of the user and of the assistant, and the names of the tools that were called.
What a tool answered is left out, whatever tool it was: it is the work, a page of the web or a memory, and nobody said
it. The one exception is what a user answered to a question of the assistant. Thoughts, turns of sub-agents, summaries
of a compacted part, hooks' attachments and the harness's own records are left out as well.

A branch that the user took back (a rewound prompt) can't be told from the rest by its lines alone, and is read.

Rules: FLUSH-04; interface.md, "Command line" (`flush`).
Source: records of Claude Code 2.1, 2026; the format is not documented and gains kinds of records, which are ignored.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from omnislash.runtime.flushing.injected import is_review, strip_injected
from omnislash.runtime.flushing.spoken import Speaker, Spoken, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: So many lines at the beginning are looked at to tell what a file is, and which session.
_LOOKED_AT: Final = 50
#: Marks of a record that nobody said.
_UNSAID: Final = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
#: The model of an answer that the harness made up.
_SYNTHETIC: Final = "<synthetic>"
#: The tool whose answer is the user's.
_QUESTION: Final = "AskUserQuestion"
_COMMAND = re.compile(r"<command-name>\s*([^<\n]*?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def is_session(text: str) -> bool:
    """Tell whether a text is a session: an object with a type or a role stands among its first lines."""
    return any("type" in record or "role" in record for record in _first_records(text))


def parse_session(text: str, *, after: int = 0) -> Transcript:
    """Return what was said in a session.

    A line that is no JSON is skipped and counted. The last line may be half written; then it is no record yet.

    Args:
        text: The lines.
        after: So many lines at the beginning are left out.
    """
    lines = text.split("\n")
    reader = _Reader()
    for number in range(after, len(lines)):
        record = _parse(lines[number])
        if record is not None:
            reader.take(record, number + 1)
        elif lines[number].strip() and number + 1 < len(lines):
            reader.skipped += 1
    is_whole = not lines[-1].strip() or _parse(lines[-1]) is None
    return Transcript(
        turns=tuple(each.close() for each in reader.turns),
        records=len(lines) - 1 if is_whole else len(lines),
        skipped=reader.skipped,
        session=find_session(text),
        is_open=reader.is_open,
    )


def find_session(text: str) -> str | None:
    """Return the id of a session; None where its first lines do not name it."""
    named = (record.get("sessionId") for record in _first_records(text))
    return next((name for name in named if isinstance(name, str) and name), None)


def _parse(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_records(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    for _ in range(_LOOKED_AT):
        end = text.find("\n", at)
        record = _parse(text[at:] if end < 0 else text[at:end])
        if record is not None:
            yield record
        if end < 0:
            return
        at = end + 1


@dataclass(slots=True)
class _Growing:
    """What one side says, as long as the other side is silent."""

    speaker: Speaker
    first: int
    said_at: datetime | None
    texts: list[str] = field(default_factory=list)
    tools: dict[str, None] = field(default_factory=dict)

    def close(self) -> Spoken:
        return Spoken(
            speaker=self.speaker,
            text="\n\n".join(self.texts),
            tools=tuple(self.tools),
            said_at=self.said_at,
            first=self.first,
        )


class _Reader:
    """Gathers records into turns."""

    def __init__(self) -> None:
        self.turns: list[_Growing] = []
        self.skipped = 0
        #: True while a tool runs, or while nothing was said after its answer.
        self.is_open = False
        #: True in the turn of a curator, which nobody reviews.
        self._is_review = False
        self._questions: set[str] = set()
        self._seen: set[str] = set()

    def take(self, record: Mapping[str, Any], number: int) -> None:
        """Take up one record."""
        if any(record.get(mark) is True for mark in _UNSAID) or self._is_repeated(record):
            return
        kind, message = record.get("type", record.get("role")), record.get("message")
        holder = message if isinstance(message, dict) else record
        at = _read_instant(record.get("timestamp"))
        if kind == "user":
            self._take_user(_blocks(holder.get("content")), number, at)
        elif kind == "assistant" and holder.get("model") != _SYNTHETIC:
            self._take_assistant(_blocks(holder.get("content")), number, at)
        elif kind == "attachment":
            self._take_queued(record.get("attachment"), number, at)

    def _is_repeated(self, record: Mapping[str, Any]) -> bool:
        """Tell whether the record stood there before: a session that goes on in another file repeats its beginning."""
        name = record.get("uuid")
        if not isinstance(name, str):
            return False
        is_known = name in self._seen
        self._seen.add(name)
        return is_known

    def _take_user(self, blocks: Sequence[Mapping[str, Any]], number: int, at: datetime | None) -> None:
        for block in blocks:
            if block.get("type") == "tool_result":
                self.is_open = True
                if block.get("tool_use_id") in self._questions:
                    self._say(Speaker.USER, _join(block.get("content")), number, at)
            elif block.get("type") == "text" and self._say(Speaker.USER, _text(block), number, at):
                self.is_open = False

    def _take_queued(self, attachment: Any, number: int, at: datetime | None) -> None:
        """Take what the user wrote while the assistant was at work; other attachments are the harness's."""
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return
        if attachment.get("commandMode", "prompt") == "prompt":
            self._say(Speaker.USER, _join(attachment.get("prompt")), number, at)

    def _take_assistant(self, blocks: Sequence[Mapping[str, Any]], number: int, at: datetime | None) -> None:
        for block in () if self._is_review else blocks:
            if block.get("type") == "text" and self._say(Speaker.ASSISTANT, _text(block), number, at):
                self.is_open = False
            elif block.get("type") == "tool_use":
                self.is_open = True
                name = str(block.get("name", ""))
                self._turn(Speaker.ASSISTANT, number, at).tools[name] = None
                if name == _QUESTION:
                    self._questions.add(str(block.get("id", "")))

    def _say(self, speaker: Speaker, text: str, number: int, at: datetime | None) -> bool:
        """Add words, when any are left; tell whether."""
        if speaker is Speaker.USER:
            self._is_review = is_review(text)
        words = _read_command(text) if speaker is Speaker.USER else strip_injected(text)
        if words and not self._is_review:
            self._turn(speaker, number, at).texts.append(words)
        return bool(words) and not self._is_review

    def _turn(self, speaker: Speaker, number: int, at: datetime | None) -> _Growing:
        if not self.turns or self.turns[-1].speaker is not speaker:
            self.turns.append(_Growing(speaker, number, at))
        return self.turns[-1]


def _read_command(text: str) -> str:
    """Return the words of a user; of a command `/name words` only when it has words."""
    name = _COMMAND.search(text)
    if name is None or not text.lstrip().startswith("<command-"):
        return strip_injected(text)
    given = _ARGUMENTS.search(text)
    words = strip_injected(given[1]) if given else ""
    return f"{name[1]} {words}" if words else ""


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    """Return content as blocks, whichever way it was written."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _join(content: Any) -> str:
    return "\n\n".join(_text(block) for block in _blocks(content) if block.get("type") == "text")


def _read_instant(text: Any) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return instant if instant.tzinfo is not None else None
