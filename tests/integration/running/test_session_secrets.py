"""A credential that came in by hand: an agent reads its file as it is, and no session keeps a copy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import ModelError
from omnislash.testing import ScriptedCall, ScriptedChatModel
from tests.integration.running.conftest import read_rows
from tests.integration.running.test_cancelled_turns import open_scripted

if TYPE_CHECKING:
    from omnislash.testing import ChatRequest
    from tests.integration.conftest import SampleBrain

TOKEN = "ghp" + "_" + "Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78"
MASKED = "[redacted: GitHub token]"
READ = ScriptedCall("memory_read", {"path": "main/notes.md"})


def read_answer(request: ChatRequest) -> dict[str, str]:
    """Return the newest answer of a tool in a request."""
    answers = [speech.text for speech in request.said if speech.speaker == "tool"]
    found: dict[str, str] = json.loads(answers[-1])
    return found


@pytest.mark.rule("SECRET-O2")
def test_a_read_file_is_exact_in_its_turn_and_masked_in_the_session(sample: SampleBrain) -> None:
    """An edit needs the exact text; the database and the turns after that hold the mask."""
    sample.put_memory("main/notes.md", f"# Notes\n\n- token {TOKEN}\n")
    model = ScriptedChatModel([READ], f"It says {TOKEN}.", "Yes.")
    brain = open_scripted(sample, model)

    run = brain.agent("nova").run(f"Is the token {TOKEN}?", session="s1")

    assert TOKEN in run.calls[0].answer["content"]
    assert TOKEN in read_answer(model.requests[1])["content"]
    (row,) = read_rows(sample, "session_turns")
    assert TOKEN not in row[3]
    assert row[3].count(MASKED) == 4, "recall, question, file and answer"
    brain.agent("nova").run("And now?", session="s1")
    assert [speech.text for speech in model.requests[-1].said if speech.speaker != "tool"] == [
        f"Is the token {MASKED}?",
        "",
        f"It says {MASKED}.",
        "And now?",
    ]
    assert read_answer(model.requests[-1])["content"] == f"# Notes\n\n- token {MASKED}\n"


def test_the_mask_never_reaches_the_file(sample: SampleBrain) -> None:
    """A model that writes a file back as the session remembers it is refused, and reads it again."""
    note = sample.put_memory("main/notes.md", f"# Notes\n\n- token {TOKEN}\n")

    def write_back(request: ChatRequest) -> list[ScriptedCall]:
        told = read_answer(request)
        given = {"path": "main/notes.md", "content": told["content"] + "- more\n", "expectHash": told["hash"]}
        return [ScriptedCall("memory_write_file", given)]

    brain = open_scripted(sample, ScriptedChatModel([READ], "Read.", write_back, "No."))
    brain.agent("nova").run("Read it.", session="s1")

    run = brain.agent("nova").run("Add a line.", session="s1")

    assert run.calls[0].answer["outcome"] == "refused"
    assert note.read_text() == f"# Notes\n\n- token {TOKEN}\n"


@pytest.mark.rule("SECRET-O2")
def test_a_flush_that_failed_names_no_credential(sample: SampleBrain) -> None:
    """Why it failed is told with the credential masked."""
    sample.role("nova", more="memoryFlush: true\n")
    brain = open_scripted(sample, ScriptedChatModel("Yes.", ModelError(f"The provider said {TOKEN}.")))

    run = brain.agent("nova").run("Hello?", session="s1")

    assert run.flush is not None
    assert run.flush.message == f"The provider said {MASKED}."
