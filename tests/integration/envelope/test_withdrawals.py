"""Memory that a session lost is taken back once, by the fixed sentence, and never from a session that had none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.envelope.conftest import Desk

GONE = "(this memory line is no longer part of your context — the copy above is withdrawn)"
BOTH = ["withdrawn memory main/MEMORY.md", "withdrawn memory-periods main"]


@pytest.mark.rule("ENVELOPE-08", "ENVELOPE-09", "DECLARE-04", "DECLARE-05")
def test_role_loses_its_memory(desk: Desk) -> None:
    """Both blocks are withdrawn once, also after a restart; the turn after that carries nothing, nor does a recall."""
    desk.turn()
    desk.sample.role("nova", None)

    turn = desk.turn(message="When does the carrier come?")

    assert turn.render() == (
        f'<agent-memory path="main/MEMORY.md">{GONE}</agent-memory>\n\n'
        f'<agent-memory-periods line="main">{GONE}</agent-memory-periods>'
    )
    assert turn.recall is None
    assert turn.line is None
    desk.restart()
    assert desk.sent(message="When does the carrier come?") == []


@pytest.mark.rule("ENVELOPE-10", "DECLARE-04", "DECLARE-03")
def test_session_that_never_had_memory(desk: Desk, everything: list[str]) -> None:
    """It is told the day and nothing else; given memory later it is shown all of it, and taking that away withdraws."""
    desk.sample.role("nova", None)

    assert desk.sent(message="When does the carrier come?") == ["new environment"]
    assert desk.sent() == []
    desk.sample.role("nova")
    assert desk.sent() == everything[1:]
    desk.sample.role("nova", None)
    assert desk.sent() == BOTH


@pytest.mark.rule("ENVELOPE-O5", "SCOPE-18")
def test_line_of_a_session_changes(desk: Desk) -> None:
    """The old line is withdrawn and the new one shown in the same turn, window included."""
    desk.sample.put_memory("ops/MEMORY.md", "- Ops.\n")
    desk.sample.put_memory("ops/2026/08/2026-08-30.md", "- 09:00 Ops today.\n")
    desk.sample.put_memory("ops/2026/2026-W34.md", "- Ops week.\n")
    desk.turn()
    desk.sample.role("nova", "{write: ops}")

    assert desk.sent() == [*BOTH, "new memory ops/MEMORY.md", "new memory-periods ops", "new memory-daily ops"]
    assert desk.sent() == []


@pytest.mark.rule("ENVELOPE-O9", "KNOB-06", "KNOB-13", "KNOB-14", "KNOB-15")
@pytest.mark.parametrize(
    ("knob", "withdrawn"),
    [("priorityChars: 0", BOTH[:1]), ("periodCount: 0", BOTH[1:]), ("periodChars: 0", BOTH[1:])],
)
def test_knob_at_zero_withdraws_once(desk: Desk, knob: str, withdrawn: list[str]) -> None:
    """On a live session the block goes like with the declaration; set again, it comes as a new one."""
    desk.turn()
    desk.sample.role("nova", f"{{{knob}}}")

    assert desk.sent() == withdrawn
    assert desk.sent() == []
    desk.sample.role("nova")
    assert desk.sent() == [each.replace("withdrawn", "new") for each in withdrawn]


@pytest.mark.rule("ENVELOPE-O8")
@pytest.mark.parametrize("left", [None, b"", b" \n\xef\xbb\xbf\n", b"\xef\xbb\xbf"])
def test_file_that_is_gone_or_empty(desk: Desk, left: bytes | None) -> None:
    """The copy is withdrawn once; a new session gets no block; what is written again is new."""
    desk.turn()
    place = desk.sample.put_memory("main/MEMORY.md", left or b"")
    if left is None:
        place.unlink()

    sent = desk.sent()

    if left == b" \n\xef\xbb\xbf\n":  # a byte order mark in the middle of a file is a character of it
        assert sent == ["changed memory main/MEMORY.md"]
        return
    assert sent == BOTH[:1]
    assert desk.sent() == []
    assert "memory main/MEMORY.md" not in " ".join(desk.sent("other"))
    desk.sample.put_memory("main/MEMORY.md", "- Again.\n")
    assert desk.sent() == ["new memory main/MEMORY.md"]


def test_summaries_that_are_gone(desk: Desk) -> None:
    """The ladder is withdrawn when its last summary is."""
    desk.turn()
    (desk.sample.root / "memory/main/2026/2026-W34.md").unlink()

    assert desk.sent() == BOTH[1:]
    assert desk.sent() == []


@pytest.mark.rule("ENVELOPE-10")
def test_nothing_is_withdrawn_after_a_compaction(desk: Desk) -> None:
    """What the shortened conversation no longer holds needs no withdrawal."""
    desk.turn()
    desk.sample.role("nova", None)

    assert desk.sent(is_compacted=True) == ["snapshot context-snapshot", "new environment"]
    assert desk.sent() == []
