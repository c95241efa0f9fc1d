"""Why a note was shown or not: each reason of the closed list, and nothing of what the role may not see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.recall import search
from omnislash.recall.explain import SENTENCES, Reason
from omnislash.recall.hits import Shown

if TYPE_CHECKING:
    from omnislash.recall.explain import Explanation
    from tests.integration.recall.conftest import SearchedBrain

DAY = "main/2026/08/2026-08-29.md"


def reasons(found: Any) -> list[tuple[str, str]]:
    """Return the beginning of each explained note with its reason."""
    return [(each.text.removeprefix("- "), each.reason.value) for each in found.explanations]


@pytest.fixture
def brain(searched: SearchedBrain) -> SearchedBrain:
    """Return a brain with notes for most of the reasons."""
    searched.sample.role("nova", "{recallResults: 2, recallScore: 0.3, searchScore: 0.3}")
    searched.note("anchor best", 0.9)
    searched.note("anchor good", 0.8)
    searched.note("anchor fair", 0.7)
    searched.note("anchor poor", 0.1)
    searched.note("nothing at all", 0.0)
    searched.note("anchor best", 0.9, at=DAY)
    searched.note("anchor of hr canary", 0.95, at="hr/MEMORY.md")
    return searched


@pytest.mark.rule("RECALL-01", "RECALL-02", "RECALL-04", "RECALL-05")
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            "main/MEMORY.md",
            [
                *(("anchor best", "shown"), ("anchor good", "shown"), ("anchor fair", "over-limit")),
                *(("anchor poor", "under-floor"), ("nothing at all", "nothing-in-common")),
            ],
        ),
        ("memory/main/MEMORY.md", [("anchor best", "shown")]),
        (DAY, [("anchor best", "said-above")]),
        ("anchor FAIR", [("anchor fair", "over-limit")]),
        ("hr/MEMORY.md", [("", "out-of-scope")]),
        ("memory/hr/MEMORY.md", [("", "out-of-scope")]),
        ("hr/gone.md", [("", "out-of-scope")]),
        ("main/gone.md", [("", "not-indexed")]),
        ("good ANCHOR", [("anchor good", "shown")]),
        ("fair best", [("", "not-indexed")]),
        ("no note says this", [("", "not-indexed")]),
        ("anchor of hr canary", [("", "not-indexed")]),
    ],
)
def test_reasons(brain: SearchedBrain, target: str, expected: list[tuple[str, str]]) -> None:
    """A target is a path as tools or the disk have it, or a text; each of its notes has its one reason."""
    for found in (
        brain.agent().memory.explain("anchor", limit=2, target=target),
        brain.recall("anchor", explained=True, target=target),
    ):
        told = reasons(found)
        assert told[: len(expected)] == expected
        assert all(each.reason in SENTENCES for each in found.explanations or ())


@pytest.mark.rule("RECALL-01")
def test_a_text_that_no_note_holds_is_told_as_that(brain: SearchedBrain) -> None:
    """For a text the sentence speaks of texts and words; only for a path does it name the path and the index."""
    of_text, of_path = (
        brain.agent().memory.explain("anchor", target=target).explanations[0].to_json()["message"]
        for target in ("fair best", "main/gone.md")
    )

    assert of_text == "No note in reach holds this text, and none holds all of these words."
    assert "look at the path, or run omnislash index sync" in of_path


@pytest.mark.rule("RECALL-06", "RECALL-07")
def test_reason_of_what_is_on_screen(brain: SearchedBrain) -> None:
    """A note that the turn shows, and one that says the same elsewhere, are on screen."""
    shown = Shown({"main/MEMORY.md": ((1, 1),)})

    for target in ("main/MEMORY.md", DAY):
        found = brain.recall("anchor", shown=shown, explained=True, target=target)
        assert reasons(found)[0] == ("anchor best", "on-screen")


def test_reason_of_days(brain: SearchedBrain) -> None:
    """A note of another day, and one without a day, lie outside of the days asked for."""
    explain = brain.agent().memory.explain
    assert reasons(explain("anchor", since="2026-08-30", target=DAY)) == [("anchor best", "outside-days")]
    assert reasons(explain("anchor", since="2026-08-29", target=DAY)) == [("anchor best", "shown")]
    assert {reason for _, reason in reasons(explain("anchor", until="2026-08-30", target="main/MEMORY.md"))} == {
        "outside-days"
    }


@pytest.mark.rule("KNOB-O8", "KNOB-11")
def test_reasons_of_a_turn(brain: SearchedBrain) -> None:
    """A hit that the gate withheld, and one for which recallChars has no room, are told apart."""
    brain.sample.role("nova", "{recallGate: evidence}")
    brain.embedder.cosines = dict.fromkeys(brain.embedder.cosines, 0.49)
    found = brain.recall("basket", explained=True)
    assert found.hits == ()
    assert {reason for _, reason in reasons(brain.recall("basket", explained=True, target="main/MEMORY.md"))} >= {
        "no-evidence"
    }
    assert {reason for _, reason in reasons(found)} == {"no-evidence"}

    brain.sample.role("nova", "{recallGate: floor, recallChars: 190}")
    found = brain.recall("anchor", explained=True)
    assert [reason for _, reason in reasons(found)].count("no-room") >= 1
    for text, reason in reasons(found):
        assert (text in found.block) is (reason == "shown")


def test_reason_of_a_file_that_changed_meanwhile(brain: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note whose file is another one now is not shown, and its text is not told."""
    brain.search("anchor")

    def change(*arguments: Any) -> Any:
        scored = search.score_notes(*arguments)
        brain.sample.put_memory(DAY, "- quite another text\n")
        return scored

    monkeypatch.setattr("omnislash.runtime.tools.searching.score_notes", change)
    brain.sample.put_memory("main/MEMORY.md", "- anchor good\n")
    (told,) = brain.agent().memory.explain("anchor", target=DAY).explanations

    assert (told.reason, told.text) == (Reason.CHANGED, "")


def test_every_reason_is_in_the_tests() -> None:
    """The list is closed: the tests of this file show each of its members."""
    assert {reason.value for reason in Reason} == {
        *("shown", "not-indexed", "out-of-scope", "outside-days", "on-screen", "nothing-in-common", "under-floor"),
        *("said-above", "over-limit", "no-evidence", "no-room", "changed-meanwhile"),
    }
    assert set(SENTENCES) == set(Reason)


@pytest.mark.rule("RECALL-01", "RECALL-O1", "RECALL-O4")
def test_numbers(brain: SearchedBrain) -> None:
    """Legs, words, floor, place and age are told, and the score follows from them."""
    brain.sample.put_memory("main/MEMORY.md", "- nothing at all\n")
    brain.note("the sync reports are due", 0.6, at=DAY)
    (told,) = brain.agent().memory.explain("when is the sync report due", target="sync reports").explanations

    assert (told.path, told.span, told.reason) == (DAY, (2, 2), Reason.SHOWN)
    assert told.position in {1, 2}
    assert (told.meaning, told.matched, told.missing) == (0.6, ("the", "sync", "report", "due"), ("when", "is"))
    assert told.score == pytest.approx(0.85 * 0.6 + 0.15 * 4 / 6, abs=1e-9)
    assert told.floor == 0.3
    assert told.decay == pytest.approx(0.5 ** (1 / 30), abs=1e-9)
    assert told.coverage == 1
    assert set(told.to_json()) == {
        *("path", "span", "reason", "message", "position", "score", "meaning", "matched", "missing", "wordCoverage"),
        *("floor", "decay", "rank", "text"),
    }


@pytest.mark.rule("SCOPE-O8", "LINE-13", "TOOL-14")
def test_nothing_is_told_of_hidden_notes(brain: SearchedBrain) -> None:
    """A hidden file has one answer, the same as a file that does not exist: no span, score, words or text."""

    def strip(each: Explanation) -> dict[str, Any]:
        return {**each.to_json(), "path": ""}

    hidden, missing = (
        [strip(each) for each in brain.agent().memory.explain("anchor", target=target).explanations]
        for target in ("hr/MEMORY.md", "hr/nowhere.md")
    )

    assert hidden == missing
    assert len(hidden) == 1
    assert {key for key, value in hidden[0].items() if value not in (None, [], "")} == {"reason", "message"}
    brain.sample.role("hr", "{write: hr}")
    (told,) = brain.agent("hr").memory.explain("anchor", target="hr/MEMORY.md").explanations
    assert (told.reason, told.text) == (Reason.SHOWN, "- anchor of hr canary")


def test_hits_are_explained_in_their_order(brain: SearchedBrain) -> None:
    """Without a target each hit is explained; with none there is an empty list in the JSON."""
    found = brain.agent().memory.explain("anchor")

    assert [(each.path, each.span) for each in found.explanations] == [
        (hit.path, hit.span) for hit in found.result.hits
    ]
    assert [each.position for each in found.explanations] == sorted(each.position or 0 for each in found.explanations)
    assert brain.agent().memory.explain("basket", min_score=1).to_json()["explain"] == []
    assert brain.recall("basket" * 3, explained=True).to_json()["explain"] is not None
    assert "explain" not in brain.recall("anchor").to_json()


def test_explaining_embeds_the_message_once(brain: SearchedBrain) -> None:
    """The explanation is of the very search that it explains."""
    brain.agent().memory.explain("anchor", target=DAY)

    assert brain.embedder.query_calls == ["anchor"]
