"""A turn as its row holds it: credentials are masked wherever somebody said them, and what is signed stays."""

from __future__ import annotations

import json

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from omnislash.runtime.loop.conversations import Mark, mark_text
from omnislash.runtime.loop.session_rows import dump_messages
from omnislash.store.hashing import hash_bytes

TOKEN = "ghp" + "_" + "Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78"
MASKED = "[redacted: GitHub token]"


@pytest.mark.rule("SECRET-O2")
def test_every_text_is_masked() -> None:
    """Words of both sides, beside them, in arguments of both kinds, and deep inside an answer."""
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart([mark_text(f"a {TOKEN}", Mark.OPENING), f"b {TOKEN}"])]),
        ModelResponse(
            parts=[
                TextPart(f"c {TOKEN}"),
                ToolCallPart("t", json.dumps({"x": f'"{TOKEN}" \\ "q"'}), "1"),
                ToolCallPart("t", {"x": [TOKEN]}, "2"),
                ToolCallPart("t", f'{{"half {TOKEN}', "3"),
            ]
        ),
        ModelRequest(parts=[ToolReturnPart("t", {"hits": [{"text": TOKEN, "n": 1}]}, "1")]),
    ]

    row = dump_messages(messages)

    assert TOKEN not in row
    assert row.count(MASKED) == 7
    call = json.loads(row)[1]["parts"][1]
    assert json.loads(call["args"]) == {"x": f'"{MASKED}" \\ "q"'}


def test_what_holds_no_credential_stays_as_it_is() -> None:
    """Also arguments to the byte, so that a provider's cache finds them again."""
    given = '{ "b":1,\n"a": "\\u00e9" }'
    answer = {"content": "text", "hash": "h"}
    messages: list[ModelMessage] = [
        ModelResponse(parts=[ToolCallPart("t", given, "1")]),
        ModelRequest(parts=[ToolReturnPart("t", answer, "1")]),
    ]

    call, returned = (message["parts"][0] for message in json.loads(dump_messages(messages)))

    assert call["args"] == given
    assert returned["content"] == answer


def test_a_signed_thought_is_not_touched() -> None:
    """It would be turned down by its provider otherwise."""
    thought = ThinkingPart(f"so {TOKEN}", signature="c2ln", provider_name="anthropic")

    assert f"so {TOKEN}" in dump_messages([ModelResponse(parts=[thought])])


def test_the_hash_is_that_of_the_masked_text() -> None:
    """So that nobody overwrites the file with it: the file has another hash."""
    text = f"- {TOKEN}\n"
    returned = ToolReturnPart("memory_read", {"content": text, "hash": hash_bytes(text.encode())}, "1")

    ((part,),) = (message["parts"] for message in json.loads(dump_messages([ModelRequest(parts=[returned])])))

    assert part["content"] == {"content": f"- {MASKED}\n", "hash": hash_bytes(f"- {MASKED}\n".encode())}
