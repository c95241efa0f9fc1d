"""What was said in a session, kept from turn to turn.

A row holds the messages of one turn, as the provider library writes them, without what moves by itself (ids of runs,
times of the machine, the system prompt) and without the standing blocks, which every request gets afresh.

A long conversation is shortened: as soon as its turns hold more than `MOST_CHARS`, the oldest ones are left out until
`KEPT_CHARS` are left, so that it doesn't happen again with each turn.
The turn after that is told as one after a compaction: every block is delivered again.
The rows stay; which turns are left out follows from their lengths alone.

Rules: ENVELOPE-07, ENVELOPE-O7.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import StorageError, UsageError
from omnislash.runtime.loop.conversations import mend_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from pydantic_ai.messages import ModelMessage

    from omnislash.store.state import State

#: The longest history that is sent, in characters of its rows: about 100,000 tokens, half of what the common models
#: take, so that memory, tools and an answer fit beside it.
MOST_CHARS: Final = 400_000
#: How much is left when it is shortened.
KEPT_CHARS: Final = 200_000
#: Told to the model in the place of what was left out.
SHORTENED: Final = (
    "(This conversation is long: its oldest turns are left out here. What they settled may be in memory; "
    "ask when you need something that is not.)"
)
#: Keys of a message or part that are not kept, because they change from run to run.
_MOVING: Final = frozenset(
    {"timestamp", "run_id", "conversation_id", "instructions", "metadata", "provider_response_id"}
)


@dataclass(frozen=True, slots=True)
class History:
    """What is sent of a session."""

    #: The messages of the turns that are kept, oldest first.
    messages: tuple[ModelMessage, ...] = ()
    #: Turns that are left out.
    dropped: int = 0
    #: True in the first turn after some were left out.
    is_compacted: bool = False


def check_session(state: State, session: str, *, role: str) -> None:
    """Raise UsageError when the session belongs to another role."""
    row = state.row("find_session", id=session)
    if row is not None and row["role"] != role:
        message = f"The session {session!r} belongs to the role {row['role']!r}, not to {role!r}."
        raise UsageError(message, hint="Start a new session, or resume it with its own role.")


def load_history(state: State, session: str) -> History:
    """Return what is sent of a session; an unknown one is empty.

    Raises:
        StorageError: A turn of it can't be read.
    """
    rows = state.rows("list_session_turns", session=session)
    lengths = [len(row["messages"]) for row in rows]
    dropped = count_dropped(lengths)
    messages = [message for row in rows[dropped:] for message in _load_row(row, session)]
    return History(tuple(messages), dropped, is_compacted=dropped != count_dropped(lengths[:-1]))


def count_dropped(lengths: Sequence[int]) -> int:
    """Return how many of the oldest turns are left out, given the length of each."""
    dropped, total = 0, 0
    for place, length in enumerate(lengths):
        total += length
        if total > MOST_CHARS:
            while total > KEPT_CHARS and dropped <= place:
                total -= lengths[dropped]
                dropped += 1
    return dropped


def _load_row(row: sqlite3.Row, session: str) -> list[ModelMessage]:
    from pydantic import ValidationError  # noqa: PLC0415 - heavy
    from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: PLC0415 - heavy

    try:
        return ModelMessagesTypeAdapter.validate_json(row["messages"])
    except ValidationError as error:
        message = (
            f"The session {session!r} can't be resumed: its turn of {row['at']} is damaged. "
            "Start a new session; memory is not affected."
        )
        raise StorageError(message, path=".omnislash/state.db") from error


def save_turn(state: State, session: str, messages: Iterable[ModelMessage], *, role: str, at: str) -> None:
    """Keep the messages of a turn; call it inside a transaction."""
    state.run("open_session", id=session, role=role, at=at)
    state.run("add_session_turn", session=session, at=at, messages=dump_messages(messages))


def dump_messages(messages: Iterable[ModelMessage]) -> str:
    """Return messages as JSON: the same ones give the same text."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: PLC0415 - heavy

    dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    stripped = [_strip_message(message) for message in dumped]
    return mend_text(json.dumps(stripped, ensure_ascii=False, separators=(",", ":")))


def _strip_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without what moves, and without what is empty."""
    parts = [_strip(part) for part in message["parts"]]
    return {**_strip(message), "parts": parts}


def _strip(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key not in _MOVING and each is not None}
