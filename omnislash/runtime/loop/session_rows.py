"""The messages of one turn as a row of the state database holds them.

What moves by itself (ids of runs, times of the machine, the system prompt) is left out, and credentials are masked: a
tool answers a file exactly as it is, because an edit has to name its exact text, but the database keeps no copy of a
credential. Where that changes a file's text, the hash beside it becomes that of the changed text, so that nobody
overwrites the file with it: such a write is refused until the file was read again.
The thoughts of a model are kept as they are; their signature would not fit otherwise.

Rules: SECRET-O2.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.credentials import mask_secrets
from omnislash.errors import StorageError
from omnislash.runtime.loop.conversations import mend_text
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from pydantic_ai.messages import ModelMessage

#: Keys of a message or part that are not kept, because they change from run to run.
_MOVING: Final = frozenset(
    {"timestamp", "run_id", "conversation_id", "instructions", "metadata", "provider_response_id"}
)
#: Where the text of each kind of part stands that may hold a credential.
_TEXTS: Final = {"user-prompt": "content", "text": "content", "tool-return": "content", "tool-call": "args"}


def load_messages(row: sqlite3.Row, session: str) -> list[ModelMessage]:
    """Return the messages of a row.

    Raises:
        StorageError: It can't be read.
    """
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


def dump_messages(messages: Iterable[ModelMessage]) -> str:
    """Return messages as JSON, credentials masked: the same ones give the same text."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: PLC0415 - heavy

    dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    stripped = [_strip_message(message) for message in dumped]
    return mend_text(json.dumps(stripped, ensure_ascii=False, separators=(",", ":")))


def _strip_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without what moves, and without what is empty."""
    parts = [_mask_part(_strip(part)) for part in message["parts"]]
    return {**_strip(message), "parts": parts}


def _strip(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key not in _MOVING and each is not None}


# -- credentials -----------------------------------------------------------------------------------------------------


def _mask_part(part: dict[str, Any]) -> dict[str, Any]:
    key = _TEXTS.get(part["part_kind"])
    if key is None or key not in part:
        return part
    mask = _mask_arguments if key == "args" else _mask
    return {**part, key: mask(part[key])}


def _mask(value: Any) -> Any:
    """Return a value in which every text is masked."""
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, list):
        return [_mask(each) for each in value]
    if isinstance(value, dict):
        return _mask_fields(value)
    return value


def _mask_fields(given: dict[str, Any]) -> dict[str, Any]:
    masked = {key: _mask(each) for key, each in given.items()}
    text = masked.get("content")
    if "hash" in masked and isinstance(text, str) and text != given["content"]:
        masked["hash"] = hash_bytes(text.encode("utf-8", "replace"))
    return masked


def _mask_arguments(given: Any) -> Any:
    """Return the arguments of a call masked: inside their JSON, so that it stays JSON."""
    if not isinstance(given, str):
        return _mask(given)
    try:
        parsed = json.loads(given)
    except ValueError:
        return mask_secrets(given)
    masked = _mask(parsed)
    return given if masked == parsed else json.dumps(masked, ensure_ascii=False)
