"""A credential is refused by every tool that stores text, and its value stands nowhere afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

SECRETS = {
    "GitHub token": "ghp_" + "b1" * 18,
    "AWS access key": "AKIA" + "ABCDEFGH12345678",
    "password or token": "password = hunter2-tr0ub4dor",
    "password in an address": "postgres://app:s3cr3tpw@db.example.org/x",
}
DOORS: list[tuple[str, dict[str, Any]]] = [
    ("memory_write", {"content": "note {}"}),
    ("memory_write", {"content": "note {}", "priority": True}),
    ("memory_write", {"content": "note {}", "line": "ops"}),
    ("memory_write", {"content": "note {}", "requestId": "r1"}),
    ("memory_edit", {"path": "main/MEMORY.md", "old": "rules", "new": "laws {}"}),
    ("memory_write_file", {"path": "main/a.md", "content": "# A\n\n{}\n"}),
    ("memory_write_file", {"path": "main/MEMORY.md", "content": "{}"}),
]


def filled(arguments: dict[str, Any], value: str) -> dict[str, Any]:
    """Return the arguments with the value in its place."""
    return {key: each.replace("{}", value) if isinstance(each, str) else each for key, each in arguments.items()}


@pytest.fixture
def guarded(sample: SampleBrain) -> SampleBrain:
    """Return a brain with a MEMORY.md and a beat that may deposit into `ops`."""
    sample.role("ops", "{write: ops}")
    sample.beat("briefing", "nova", "{report: [ops]}")
    sample.put_memory("main/MEMORY.md", "- rules\n")
    return sample


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(("name", "secret"), SECRETS.items(), ids=SECRETS.keys())
@pytest.mark.parametrize(("tool", "arguments"), DOORS)
def test_every_door_refuses_a_credential(
    guarded: SampleBrain, tool: str, arguments: dict[str, Any], name: str, secret: str
) -> None:
    """The refusal names the class and not the value; no file, no queue and no log holds it."""
    before = guarded.files()
    brain = guarded.open()

    answer = brain.agent("nova", heartbeat="briefing").call(tool, filled(arguments, secret)).to_json()

    value = secret.removeprefix("password = ")
    assert answer["outcome"] == "refused"
    assert name in answer["message"]
    assert value not in str(answer)
    assert guarded.files() == before
    assert [row.outcome for row in brain.audit().rows] == ["refused"]
    for place in (guarded.root / ".omnislash").iterdir():
        assert value.encode() not in place.read_bytes()


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(("tool", "arguments"), DOORS)
def test_allowed_in_the_manifest_it_is_stored(guarded: SampleBrain, tool: str, arguments: dict[str, Any]) -> None:
    """`memory.secrets: allow` switches the refusal off at every door."""
    guarded.manifest("{secrets: allow}")

    answer = guarded.agent(heartbeat="briefing").call(tool, filled(arguments, SECRETS["GitHub token"])).to_json()

    assert answer["outcome"] == "written"
    assert any(SECRETS["GitHub token"].encode() in data for data in guarded.files().values())


@pytest.mark.rule("SECRET-O1")
def test_queued_credential_is_judged_again(guarded: SampleBrain) -> None:
    """What was queued while it was allowed is refused by the writer when that has changed, and leaves no value."""
    guarded.manifest("{secrets: allow}")
    waiting = guarded.open(queue_only=True).agent("nova").memory
    waiting.write("note " + SECRETS["GitHub token"])
    waiting.edit("main/MEMORY.md", old="rules", new=SECRETS["GitHub token"])
    waiting.write_file("main/a.md", SECRETS["GitHub token"])
    guarded.manifest("{secrets: refuse}")

    brain = guarded.open()
    brain.agent("nova").memory.write("x")

    assert [row.outcome for row in brain.audit().rows] == ["written", "refused", "refused", "refused"]
    assert not any(b"ghp_" in data for data in guarded.files().values())


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(
    "content",
    [
        "The fix is commit 3f786850e387550fdab836ed7e6dc881de23001b.",
        "Request 6f1c2b3e-8a4d-4c5b-9f0e-1a2b3c4d5e6f failed.",
        "The password is in the blue safe.",
        "Ask Ida for the password; she changed it on Monday.",
    ],
)
def test_harmless_text_is_stored(guarded: SampleBrain, content: str) -> None:
    """Commit ids, UUIDs and sentences about passwords are stored."""
    assert guarded.agent().call("memory_write", {"content": content}).to_json()["outcome"] == "written"
