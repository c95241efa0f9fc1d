"""Recall does not repeat what the turn's blocks show, and only that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.envelope.conftest import Desk

MESSAGE = "anchor"


def recalled(desk: Desk, session: str = "s") -> list[str]:
    """Return what a turn recalls, each as `path:line`, in order of place."""
    recall = desk.turn(session, message=MESSAGE).recall
    assert recall is not None
    return sorted(f"{hit.path}:{hit.span[0]}" for hit in recall.hits)


@pytest.fixture
def anchored(desk: Desk) -> Desk:
    """Return a brain that speaks of the anchor in MEMORY.md, in the logs of today and yesterday, and in the ladder."""
    desk.sample.put_memory("main/MEMORY.md", "- anchor kept\n\n## Memory (2026-08-01)\n\n- anchor old\n")
    desk.sample.put_memory("main/2026/08/2026-08-30.md", "# 2026-08-30\n\n- 08:00 anchor today\n")
    desk.sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 08:00 anchor yesterday\n")
    desk.sample.put_memory("main/2026/2026-W34.md", "# 2026-W34\n\n- anchor week\n")
    return desk


KEPT, OLD = "main/MEMORY.md:1", "main/MEMORY.md:5"
TODAY, YESTERDAY, WEEK = "main/2026/08/2026-08-30.md:3", "main/2026/08/2026-08-29.md:3", "main/2026/2026-W34.md:3"


@pytest.mark.rule("RECALL-07", "RECALL-05")
def test_what_was_delivered_whole_is_not_recalled(anchored: Desk) -> None:
    """MEMORY.md and ladder never while they are in force; the window's days in the turn that sends it alone."""
    assert recalled(anchored) == [YESTERDAY]
    assert recalled(anchored) == [YESTERDAY, TODAY]
    anchored.restart()
    assert recalled(anchored) == [YESTERDAY, TODAY]


@pytest.mark.rule("RECALL-06")
def test_what_a_partial_memory_leaves_out_is_recalled(anchored: Desk) -> None:
    """What of it is shown is not."""
    anchored.sample.role("nova", "{priorityChars: 20, recallScore: 0.1, recallResults: 9}")

    assert recalled(anchored) == [YESTERDAY, OLD]
    assert KEPT not in recalled(anchored)


@pytest.mark.rule("RECALL-O9", "KNOB-06")
def test_without_the_block_all_of_it_is_recalled(anchored: Desk) -> None:
    """With `priorityChars: 0` nothing of MEMORY.md is on screen; the same goes for window and ladder."""
    anchored.sample.role("nova", "{priorityChars: 0, recallResults: 9}")
    assert recalled(anchored, "a") == [YESTERDAY, KEPT, OLD]
    anchored.sample.role("nova", "{priorityChars: 0, recentDays: 0, periodCount: 0, recallResults: 9}")
    assert recalled(anchored, "b") == [YESTERDAY, TODAY, WEEK, KEPT, OLD]


@pytest.mark.rule("DECLARE-05", "RECALL-08")
def test_nothing_is_looked_for_without_a_message(anchored: Desk) -> None:
    """No message, a blank one, or a role without memory: no recall at all."""
    anchored.sample.role("stranger", None)

    assert anchored.turn("a").recall is None
    assert anchored.turn("b", message=" \n").recall is None
    assert anchored.turn("c", role="stranger", message=MESSAGE).recall is None


@pytest.mark.rule("SECRET-O2")
def test_credential_in_a_recalled_note_is_masked(anchored: Desk) -> None:
    """It came in by hand, and shows in no block of the turn and in no snippet of the answer."""
    token = "ghp_" + "b1" * 18
    for path in ("main/MEMORY.md", "main/2026/08/2026-08-30.md", "main/2026/08/2026-08-29.md", "main/2026/2026-W34.md"):
        anchored.sample.put_memory(path, f"- anchor {token}\n")
    anchored.sample.put_memory("main/2026/08/2026-08-28.md", f"- anchor is {token}\n")

    turn = anchored.turn(message=MESSAGE)

    assert turn.recall is not None
    assert turn.recall.hits
    assert turn.render().count("[redacted: GitHub token]") == 3 + len(turn.recall.hits)
    assert token not in turn.render()
    assert token not in str(turn.to_json())
