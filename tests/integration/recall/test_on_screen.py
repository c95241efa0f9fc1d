"""What the turn shows already is not recalled again, and nothing is shown twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.recall.hits import Shown

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain

MEMORY = "main/MEMORY.md"


@pytest.fixture
def brain(searched: SearchedBrain) -> SearchedBrain:
    """Return a brain whose MEMORY.md has three notes about an anchor, on lines 1, 2 to 3, and 5."""
    searched.embedder.cosines = {"first": 0.9, "second": 0.8, "third": 0.7, "log": 0.6}
    searched.sample.put_memory(MEMORY, "- anchor first\n- anchor second\n  goes on\n\n- anchor third\n")
    searched.sample.put_memory("main/2026/08/2026-08-29.md", "- anchor log\n")
    return searched


FIRST, SECOND, THIRD, LOG = "anchor first", "anchor second\n  goes on", "anchor third", "anchor log"


@pytest.mark.rule("RECALL-06", "RECALL-07", "RECALL-O9", "SCOPE-18")
@pytest.mark.parametrize(
    ("spans", "left"),
    [
        pytest.param({}, [FIRST, SECOND, THIRD, LOG], id="nothing on screen"),
        pytest.param({MEMORY: None}, [LOG], id="the whole file"),
        pytest.param({MEMORY: ((1, 1),)}, [SECOND, THIRD, LOG], id="its beginning"),
        pytest.param({MEMORY: ((1, 2),)}, [SECOND, THIRD, LOG], id="half of a note is not all of it"),
        pytest.param({MEMORY: ((1, 3),)}, [THIRD, LOG], id="two notes"),
        pytest.param({MEMORY: ((1, 2), (3, 3))}, [THIRD, LOG], id="a note in two stretches"),
        pytest.param({MEMORY: ((3, 5), (1, 2))}, [LOG], id="stretches in any order"),
        pytest.param({MEMORY: ((1, 1), (5, 9))}, [SECOND, LOG], id="beginning and end"),
        pytest.param({MEMORY: ()}, [FIRST, SECOND, THIRD, LOG], id="a file of which nothing is shown"),
        pytest.param({"ops/MEMORY.md": None, "main/gone.md": None}, [FIRST, SECOND, THIRD, LOG], id="other files"),
        pytest.param({MEMORY: None, "main/2026/08/2026-08-29.md": None}, [], id="everything"),
    ],
)
def test_what_is_on_screen_is_not_recalled(
    brain: SearchedBrain, said: Any, spans: dict[str, tuple[tuple[int, int], ...] | None], left: list[str]
) -> None:
    """Whole notes that the turn shows stay out, and the rest is recalled; with nothing left the turn is silent."""
    turn = brain.recall("anchor", shown=Shown(spans))

    assert said(turn) == left
    assert bool(turn.block) is bool(left)
    assert turn.coverage == "full"


@pytest.mark.rule("RECALL-07")
@pytest.mark.parametrize(
    "copy", ["- 09:05 anchor first\n", "- anchor  FIRST\n", "* anchor first\n", "- anchor first\n"]
)
def test_same_words_elsewhere_are_on_screen_too(brain: SearchedBrain, said: Any, copy: str) -> None:
    """An entry of a daily log that MEMORY.md shows as well is not recalled from the log."""
    brain.sample.put_memory("main/2026/08/2026-08-28.md", copy)

    assert said(brain.recall("anchor", shown=Shown({MEMORY: ((1, 1),)}))) == [SECOND, THIRD, LOG]
    assert said(brain.recall("anchor", shown=Shown({MEMORY: None}))) == [LOG]


def test_shown_notes_do_not_use_up_the_hits(brain: SearchedBrain, said: Any) -> None:
    """What is on screen counts for none of the hits that a turn may have."""
    brain.sample.role("nova", "{recallResults: 1}")

    assert said(brain.recall("anchor", shown=Shown({MEMORY: ((1, 3),)}))) == [THIRD]


def test_file_on_screen_that_changed_since(brain: SearchedBrain, said: Any) -> None:
    """A note that was added to a file shown as a part is recalled."""
    brain.sample.put_memory(
        MEMORY, "- anchor first\n- anchor second\n  goes on\n\n- anchor third\n- anchor third and more\n"
    )

    assert "anchor third and more" in said(brain.recall("anchor", shown=Shown({MEMORY: ((1, 5),)})))


def test_text_is_shown_once(brain: SearchedBrain) -> None:
    """Of notes that say the same one is a hit, the newest of equal logs, and no score surfaces another."""
    for day in ("27", "26", "28"):
        brain.sample.put_memory(f"main/2026/08/2026-08-{day}.md", "- 10:00 anchor log\n")
    brain.sample.put_memory("main/2026/08/2026-08-29.md", "- 10:00 Anchor  log\n")

    found = brain.search("anchor log", min_score=0)

    assert [(hit.path, hit.snippet) for hit in found.hits if "log" in hit.snippet] == [
        ("main/2026/08/2026-08-29.md", "- 10:00 Anchor  log")
    ]


@pytest.mark.rule("TOOL-13")
def test_repetition_under_the_floor_is_not_counted(searched: SearchedBrain) -> None:
    """A note under the floor that says what a hit says is no candidate that a lower floor would surface."""
    searched.embedder.cosines = {"2026": 0.1, "anchor": 0.8, "other": 0.05}
    searched.sample.put_memory(MEMORY, "- anchor\n- other\n")
    searched.sample.put_memory("main/2026/08/2026-08-29.md", "- anchor\n")

    found = searched.search("anchor")

    assert [hit.path for hit in found.hits] == [MEMORY]
    assert (found.below_floor.count, found.below_floor.best_score) == (1, 0.0425)
    assert len(searched.search("anchor", min_score=0.0425).hits) == 2


def test_search_shows_what_a_turn_shows(brain: SearchedBrain, said: Any) -> None:
    """`memory_search` is asked by hand: it leaves nothing out for being on screen."""
    assert said(brain.search("anchor")) == [FIRST, SECOND, THIRD, LOG]
