"""`recallGate: evidence` in a turn: a subset of what the floor shows, said in words, and honest about what was missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnislash.core.languages import Script
from tests.integration.recall.conftest import FixedCosines

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain

GATE = "{recallGate: evidence}"
#: A meaning that clears the floor without any word in common (0.85 x .49 = .4165), and no more than that.
JUST_OVER = 0.49


@pytest.fixture
def gated(searched: SearchedBrain) -> SearchedBrain:
    """Return a brain whose role `nova` asks for evidence; the role `plain` recalls the same with the floor alone."""
    searched.sample.role("nova", GATE)
    searched.sample.role("plain", "{recallGate: floor}")
    return searched


@pytest.mark.rule("KNOB-O8")
def test_withholds_what_is_merely_near(gated: SearchedBrain, said: Any) -> None:
    """A note over the floor that has nothing of the message is shown by the floor, by the search, and not by the gate."""
    gated.note("the hive stands by the pond", JUST_OVER)

    message = "write a poem about autumn rain"
    assert said(gated.recall(message, role="plain")) == ["the hive stands by the pond"]
    assert gated.recall(message).to_json()["silent"]
    assert said(gated.search(message)) == ["the hive stands by the pond"]


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("Tomek may be rung after nine", "when may I ring Tomek?"),
        ("INV-2024-117 is unpaid", "what about INV-2024-117"),
        ("the function sync_report runs nightly", "why does sync_report fail"),
        ("синий улей стоит у пруда", "где стоит синий улей?"),
        ("東京の倉庫は金曜日に閉まる", "東京の倉庫はいつ閉まる"),
        ("la clé du hangar est chez Amélie", "où est la clé du hangar"),
    ],
)
@pytest.mark.parametrize("others", [0, 30])
def test_shows_what_has_the_words_of_the_message(
    gated: SearchedBrain, said: Any, note: str, message: str, others: int
) -> None:
    """Names, identifiers and rare words are evidence, in a brain of one note as in one of many, in any language."""
    gated.note(note, 0.48)
    for number in range(others):
        gated.note(f"jar {number} of wax", 0.2)

    assert said(gated.recall(message)) == [note]


@pytest.mark.rule("KNOB-O8")
def test_name_that_the_brain_does_not_know(gated: SearchedBrain, said: Any) -> None:
    """A question about somebody of whom no note speaks is not answered with a note about somebody else."""
    gated.note("Tomek bought the new tractor in May", 0.55)

    assert said(gated.recall("When did Caroline buy the new tractor?", role="plain")) != []
    assert gated.recall("When did Caroline buy the new tractor?").hits == ()
    assert said(gated.recall("When did Tomek buy the new tractor?")) == ["Tomek bought the new tractor in May"]


@pytest.mark.rule("KNOB-O8", "RECALL-02")
def test_never_shows_what_the_floor_would_not(gated: SearchedBrain) -> None:
    """Over notes and messages of chance, the notes of the gate are among those of the floor, in the same order."""
    chance = np.random.default_rng(7)
    words = ["hive", "Tomek", "pond", "jar", "INV-7", "wax", "price", "the", "of", "мёд", "улей"]
    for number in range(40):
        gated.note(f"{' '.join(chance.choice(words, 4, replace=False))} n{number}", float(chance.uniform(0.2, 0.8)))
    withheld = 0
    for _ in range(60):
        message = " ".join(chance.choice([*words, "Caroline", "glacier"], int(chance.integers(1, 6)), replace=False))
        floor, gate = ([hit.note for hit in gated.recall(message, role=role).hits] for role in ("plain", "nova"))
        assert [note for note in floor if note in gate] == gate
        withheld += len(floor) - len(gate)
    assert withheld


@pytest.mark.rule("KNOB-O8", "KNOB-10")
def test_follows_the_floor(gated: SearchedBrain) -> None:
    """With a lower recallScore less evidence is needed."""
    gated.note("the hive stands by the pond", JUST_OVER)
    assert gated.recall("poem about autumn").hits == ()

    gated.sample.role("nova", "{recallGate: evidence, recallScore: 0.2}")
    assert len(gated.recall("poem about autumn").hits) == 1


@pytest.mark.rule("KNOB-O8")
def test_explains_in_words_what_there_was(gated: SearchedBrain) -> None:
    """A hit that is shown says what spoke for it and against it; without the gate there is no such sentence."""
    gated.note("Tomek may be rung after nine", 0.6)
    message = "when may I ring Tomek about Caroline"

    (shown,) = gated.recall(message, explained=True).explanations or ()
    assert shown.reason == "shown"
    assert "'tomek' of the message" in str(shown.evidence)
    assert "no note has 'caroline'" in str(shown.evidence)
    assert ", enough for 0.40: meaning 0.60 against 0.2" in shown.to_json()["evidence"]

    (plain,) = gated.recall(message, role="plain", explained=True).explanations or ()
    assert "evidence" not in plain.to_json()


@pytest.mark.rule("KNOB-O8")
def test_explains_in_words_what_was_missing(gated: SearchedBrain) -> None:
    """A hit that was withheld says so, as a target and without one."""
    gated.note("the hive stands by the pond", JUST_OVER)

    for target in (None, "hive stands", "main/MEMORY.md"):
        (found,) = gated.recall("poem about Caroline", explained=True, target=target).explanations or ()
        assert found.reason == "no-evidence"
        assert found.to_json()["message"] == "Too little speaks for it, and recallGate asks for evidence."
        assert ", too little for 0.55: " in str(found.evidence)
        assert "has no word of substance of the message, no note has 'caroline'" in str(found.evidence)


# -- what could not be looked at -------------------------------------------------------------------------------------


@pytest.mark.rule("KNOB-O8", "RECALL-08", "RECALL-10")
def test_withheld_note_is_no_hole(gated: SearchedBrain) -> None:
    """Where nothing was missing but for a note that is not shown, the turn is told nothing."""
    gated.embedder = FixedCosines(readable=lambda script, _language: script is Script.latin)
    gated.sample.put_memory("main/MEMORY.md", "- якорь и Redis\n" + "- воск и Redis\n" * 8)

    floor, gate = (gated.recall("restart Redis", role=role) for role in ("plain", "nova"))

    assert (floor.coverage, bool(floor.hits)) == ("incomplete", True)
    assert (gate.coverage, gate.reasons, gate.block) == ("full", (), "")


@pytest.mark.rule("KNOB-O8", "RECALL-10", "RECALL-12")
def test_leg_that_is_down_is_still_said(gated: SearchedBrain) -> None:
    """What was missing in the search itself is said with the gate as without, whether a note is shown or withheld."""
    gated.note("the blue hive stands by the pond", 0.5)
    gated.note("jars of wax", 0.5)
    gated.open(None)

    with_hit = gated.recall("does the blue hive stand there")
    without = gated.recall("does the glacier stand above jars")

    assert (with_hit.coverage, len(with_hit.hits)) == ("incomplete", 1)
    assert "_INCOMPLETE — the meaning leg is down" in with_hit.block
    assert (without.coverage, without.hits) == ("not-checked", ())
    assert without.block.startswith("### Memory recall — NOT CHECKED\n")


@pytest.mark.rule("KNOB-O8", "RECALL-O3")
def test_words_alone_need_more_than_the_floor(gated: SearchedBrain) -> None:
    """With the meaning leg down a common word of a short message shows nothing, and rare ones of a longer one do."""
    for number in range(12):
        gated.note(f"jar {number} of wax", 0.0)
    gated.note("the lid of the old barrel leaks", 0.0)
    gated.open(None)

    assert gated.recall("and wax?", role="plain").hits
    assert gated.recall("and wax?").hits == ()
    assert len(gated.recall("does the old barrel leak?").hits) == 1


@pytest.mark.rule("KNOB-O8")
def test_same_every_time(gated: SearchedBrain) -> None:
    """The same message has the same block, and no model is asked beyond the search."""
    gated.note("Tomek may be rung after nine", 0.6)
    blocks = {gated.recall("when may I ring Tomek").block for _ in range(3)}

    assert len(blocks) == 1
    assert len(gated.embedder.query_calls) == 3
