"""How far a search could look: every cause, with hits and without, in scope and out of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.languages import Script
from omnislash.errors import IndexUnavailableError
from omnislash.index import reading, sync
from omnislash.index.live import LiveIndex
from omnislash.recall import legs, search
from tests.integration.recall.conftest import FixedCosines

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain

NOT_CHECKED = "### Memory recall — NOT CHECKED\n"
#: A meaning that reaches both floors with all words of the message, and neither with none (.4135, .2635).
LOOSE = 0.31
NO_PROOF = "That nothing was found is no proof that nothing is there."


def states(brain: SearchedBrain, message: str, role: str = "nova") -> tuple[str, tuple[str, ...], str]:
    """Return coverage and reasons, which a search and a turn must agree on, and the turn's block."""
    found, turn = brain.search(message, role=role), brain.recall(message, role=role)
    assert (found.coverage, found.reasons) == (turn.coverage, turn.reasons)
    assert found.to_json()["coverage"] == found.coverage.value
    return found.coverage.value, found.reasons, turn.block


def check_incomplete(brain: SearchedBrain, message: str, *causes: str, role: str = "nova") -> None:
    """Check that there are hits, and that the last line under them names the causes."""
    coverage, reasons, block = states(brain, message, role)
    assert coverage == "incomplete", reasons
    heading, _preamble, *_hits, footer = block.split("\n")
    assert heading == "### Memory recall"
    assert footer.startswith("_INCOMPLETE — ")
    assert footer.endswith("; this list is a sample_")
    assert "\n- [main/" in block
    for cause in causes:
        assert cause in footer
        assert any(cause in reason for reason in reasons)


def check_not_checked(brain: SearchedBrain, message: str, *causes: str, role: str = "nova") -> None:
    """Check that there is no hit, and that the block says so with the causes."""
    coverage, reasons, block = states(brain, message, role)
    assert coverage == "not-checked", reasons
    assert block.startswith(NOT_CHECKED)
    assert block.endswith(NO_PROOF)
    assert "INCOMPLETE" not in block
    for cause in causes:
        assert cause in block


def check_silent(brain: SearchedBrain, message: str, role: str = "nova") -> None:
    """Check that nothing is amiss and nothing is said."""
    assert states(brain, message, role) == ("full", (), "")


# -- healthy ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-08", "RECALL-09", "RECALL-10")
def test_healthy_search_without_a_match_is_silent(searched: SearchedBrain) -> None:
    """Nothing found, though everything was looked at, adds nothing; neither does a note just under the floor."""
    searched.note("anchor", (0.4099 - 0.15) / 0.85)
    searched.note("basket", 0.0)

    assert searched.recall("anchor").block == ""
    check_silent(searched, "nothing alike")


@pytest.mark.rule("RECALL-08")
def test_empty_brain_is_silent(searched: SearchedBrain) -> None:
    """Where nothing is there, nothing can have been missed: not even by a dead embedder."""
    check_silent(searched, "anchor")
    searched.open(None)
    check_silent(searched, "anchor")
    searched.embedder.fail(99)
    searched.open(searched.embedder)
    check_silent(searched, "anchor")


# -- the meaning leg -------------------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-10", "RECALL-11", "RECALL-12", "RECALL-O3", "RECALL-O7", "RECALL-O8", "RECALL-O6")
def test_no_embedder(searched: SearchedBrain) -> None:
    """Without one, words carry the scale without stop words: hits stand above the footer, no hit is NOT CHECKED."""
    searched.note("the anchor chain")
    searched.open(None)

    check_incomplete(searched, "where is the anchor", "no embedder is configured", "memory.embeddingModel")
    check_not_checked(searched, "basket", "no embedder is configured")
    assert searched.search("where is the anchor").hits[0].score == 1
    assert searched.search("anchor basket candle").hits[0].score == pytest.approx(1 / 3, abs=1e-9)
    assert searched.search("where is the anchor").hits[0].meaning is None
    check_not_checked(searched, "anchor basket candle dragon", "no embedder")


@pytest.mark.rule("RECALL-11", "RECALL-O3", "RECALL-12")
def test_embedder_fails_at_the_message(searched: SearchedBrain) -> None:
    """The notes have their vectors and the message can't have one: words answer, and the cause is named."""
    searched.note("anchor", LOOSE)
    check_silent(searched, "basket")
    searched.embedder.fail(4, "The endpoint does not answer (time limit of 5 s).")

    check_incomplete(searched, "anchor", "The endpoint does not answer (time limit of 5 s)")
    check_not_checked(searched, "basket", "The endpoint does not answer")
    check_silent(searched, "basket")


@pytest.mark.rule("RECALL-11", "RECALL-O3")
def test_notes_without_vectors_yet(searched: SearchedBrain) -> None:
    """Notes that could not be embedded are searched by words alone, and said so with their number and the cause."""
    searched.note("candle", 0.9)
    searched.search("anchor")
    searched.note("anchor", 0.9, at="main/2026/08/2026-08-29.md")
    searched.note("anchor and basket", 0.9, at="main/2026/08/2026-08-29.md")
    failing = FixedCosines(searched.embedder.cosines)
    failing.embed_passages = _refuse(failing)  # type: ignore[method-assign]
    searched.open(failing)

    check_incomplete(
        searched, "anchor", "2 notes could be searched by words only", "their vectors are not made yet", "out of order"
    )
    assert {hit.meaning for hit in searched.search("anchor basket candle", min_score=0).hits} == {None, 0.9}


@pytest.mark.rule("RECALL-11")
def test_notes_that_only_need_time_name_the_way_to_their_vectors(searched: SearchedBrain) -> None:
    """Where the time of a search was not enough for the vectors, the reason says who makes them."""
    searched.sample.put_memory("main/MEMORY.md", "".join(f"- anchor {number}\n" for number in range(100)))
    failing = FixedCosines(searched.embedder.cosines)
    failing.embed_passages = _refuse(failing)  # type: ignore[method-assign]
    searched.open(failing)
    searched.search("anchor")
    searched.open(FixedCosines(searched.embedder.cosines), catch_up_s=0.0)
    (reason,) = searched.search("anchor").reasons

    assert "could be searched by words only" in reason
    assert reason.endswith("(a worker makes them, and so does omnislash index sync)")


def _refuse(embedder: FixedCosines) -> Any:
    def refuse(texts: Any) -> Any:
        embedder.fail(1, "The embedder is out of order.")
        return FixedCosines.embed_passages(embedder, texts)

    return refuse


@pytest.mark.rule("RECALL-11", "RECALL-12", "SCOPE-O8")
def test_waiting_notes_of_another_line_are_not_spoken_of(searched: SearchedBrain) -> None:
    """A first build elsewhere does not concern a search whose own notes have their vectors."""
    searched.note("anchor", 0.9)
    searched.search("anchor")
    searched.sample.put_memory("ops/MEMORY.md", "- anchor of ops\n")
    searched.sample.role("ops", "{write: ops}")
    failing = FixedCosines(searched.embedder.cosines)
    failing.embed_passages = _refuse(failing)  # type: ignore[method-assign]
    searched.open(failing)

    assert states(searched, "anchor")[:2] == ("full", ())
    coverage, reasons, _ = states(searched, "anchor", "ops")
    assert (coverage, len(reasons)) == ("incomplete", 1)


def _reads_latin(script: Script | None, language: str | None) -> bool:
    del language
    return script is Script.latin


@pytest.fixture
def latin(searched: SearchedBrain) -> SearchedBrain:
    """Return a brain whose embedder reads Latin script only, with an English and a Russian note."""
    searched.embedder = FixedCosines({"anchor": LOOSE}, readable=_reads_latin)
    searched.sample.put_memory("main/MEMORY.md", "- the anchor chain\n- якорь и Redis\n")
    return searched


@pytest.mark.rule("RECALL-O3", "RECALL-11", "RECALL-17")
def test_message_that_the_model_cannot_read(latin: SearchedBrain) -> None:
    """The meaning leg counts as down for it: exact words answer, and the text says why."""
    check_incomplete(latin, "где якорь", "counting can't read its language")
    check_not_checked(latin, "где корзина", "can't read its language")
    assert not latin.embedder.query_calls


@pytest.mark.rule("RECALL-O3", "RECALL-17")
def test_note_that_the_model_cannot_read(latin: SearchedBrain) -> None:
    """It is found by its words; when it is, the turn is told; when no hit stands on words alone, nothing is amiss."""
    check_incomplete(latin, "restart Redis", "notes in a language that the model can't read")
    assert states(latin, "the anchor")[:2] == ("full", ())
    check_silent(latin, "basket of eggs")


# -- the word leg ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-11", "RECALL-12", "RECALL-O3")
def test_word_leg_is_down(searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """The meaning carries the scale; with both legs down nothing is found and both causes are named."""
    searched.note("anchor", 0.45)
    searched.search("anchor")

    def fail(*_arguments: object) -> None:
        message = "The word lists can't be read."
        raise IndexUnavailableError(message)

    monkeypatch.setattr(legs, "match_words", fail)

    check_incomplete(searched, "anchor", "the word leg is down: The word lists can't be read")
    assert searched.search("anchor").hits[0].score == 0.45
    searched.embedder.cosines["anchor"] = 0.1
    searched.embedder.fail(99, "Gone.")
    check_not_checked(searched, "anchor", "the word leg is down", "the meaning leg is down: Gone")


# -- the index -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-11", "RECALL-12")
def test_index_that_cannot_be_brought_up_to_date(searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was indexed is searched, and the failed sync is named."""
    searched.note("anchor", LOOSE)
    searched.search("anchor")

    def fail(*_arguments: object) -> None:
        message = "The search index memory/.memory-index.db can't be used: disk I/O error."
        raise IndexUnavailableError(message)

    monkeypatch.setattr(LiveIndex, "_catch_up", fail)

    check_incomplete(searched, "anchor", "the index could not be brought up to date", "disk I/O error")
    check_not_checked(searched, "basket", "disk I/O error")


@pytest.mark.rule("RECALL-10", "RECALL-11")
def test_search_that_fails_itself(searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any index that can be used nothing is found, nothing is raised, and the cause is named."""
    searched.note("anchor", 0.9)

    def fail(*_arguments: object) -> None:
        message = "The search index memory/.memory-index.db can't be used: database is locked."
        raise IndexUnavailableError(message)

    monkeypatch.setattr(LiveIndex, "_open", fail)

    check_not_checked(searched, "anchor", "the search itself failed", "database is locked")
    assert searched.recall("anchor", explained=True).to_json()["explain"] == []
    assert searched.agent().memory.explain("anchor").explanations == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.rule("RECALL-11", "RECALL-12")
def test_unreadable_file_as_a_person_has_it(searched: SearchedBrain) -> None:
    """A file without read permission is named."""
    searched.note("anchor", 0.9)
    searched.sample.put_memory("main/closed.md", "anchor\n").chmod(0)

    check_incomplete(searched, "anchor", "memory/main/closed.md can't be read (Permission denied)")


@pytest.fixture
def unreadable(searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> SearchedBrain:
    """Return a brain with a note, and with files `closed.md` that nobody can open."""

    def read(root: Any, place: str) -> Any:
        if place.endswith("closed.md"):
            raise PermissionError(13, "Permission denied", place)
        return reading.read_bytes(root, place)

    monkeypatch.setattr(sync, "read_bytes", read)
    searched.sample.role("ops", "{write: ops}")
    searched.sample.role("chief", "{read: ['*']}")
    searched.note("anchor", 0.9)
    return searched


@pytest.mark.rule("RECALL-11", "RECALL-12", "SCOPE-O8")
def test_unreadable_file(unreadable: SearchedBrain) -> None:
    """It is named to whom it concerns, with hits and without, and to nobody else."""
    unreadable.sample.put_memory("ops/closed.md", "anchor\n")

    assert states(unreadable, "anchor")[:2] == ("full", ())
    check_not_checked(unreadable, "anchor", "memory/ops/closed.md can't be read (Permission denied)", role="ops")
    chief = unreadable.search("anchor", role="chief")
    assert (chief.coverage, len(chief.reasons)) == ("incomplete", 1)
    assert unreadable.search("anchor", role="chief", corpora=["main"]).coverage == "full"


@pytest.mark.rule("RECALL-O7")
def test_many_causes_are_counted(unreadable: SearchedBrain) -> None:
    """A text names three of them and counts the rest; the tool's answer has all."""
    for number in range(5):
        unreadable.sample.put_memory(f"main/{number}/closed.md", "anchor\n")

    coverage, reasons, block = states(unreadable, "anchor")
    assert (coverage, len(reasons)) == ("incomplete", 5)
    assert "and 2 more; this list is a sample_" in block


@pytest.mark.rule("RECALL-11", "RECALL-12")
def test_no_time_to_catch_up(searched: SearchedBrain) -> None:
    """Files that were not taken up in time are counted, those of the scope alone."""
    searched.note("anchor", 0.9)
    for number in range(200):
        searched.sample.put_memory(f"main/files/{number:03}.md", f"note {number}\n")
    for number in range(200):
        searched.sample.put_memory(f"zebra/{number:03}.md", f"note {number}\n")
    searched.sample.role("zebra", "{write: zebra}")
    searched.open(searched.embedder, catch_up_s=0)

    (reason,) = [each for each in searched.search("anchor").reasons if "in time" in each]
    assert int(reason.split()[0]) <= 201
    assert "changed files could not be indexed in time" in reason


@pytest.mark.rule("RECALL-12", "RECALL-11")
def test_file_that_changes_between_scoring_and_reading(
    searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note whose file changed meanwhile is not shown as it was; the next one takes its place, and it is said."""
    searched.note("anchor first", 0.9)
    searched.note("anchor second", 0.6, at="main/2026/08/2026-08-29.md")
    searched.search("anchor")

    def change(*arguments: Any) -> Any:
        scored = search.score_notes(*arguments)
        searched.sample.put_memory("main/MEMORY.md", "- quite another text\n")
        return scored

    monkeypatch.setattr("omnislash.runtime.tools.searching.score_notes", change)
    found = searched.search("anchor")

    assert [hit.snippet for hit in found.hits] == ["- anchor second"]
    assert found.reasons == ("memory/main/MEMORY.md changed while it was searched",)
    assert found.coverage == "incomplete"


def test_log_that_grows_between_scoring_and_reading(searched: SearchedBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is added behind a note takes nothing from it: a log in use is no trouble."""
    searched.note("anchor first", 0.9, at="main/2026/08/2026-08-30.md")
    searched.search("anchor")

    def grow(*arguments: Any) -> Any:
        scored = search.score_notes(*arguments)
        searched.note("another entry", 0.0, at="main/2026/08/2026-08-30.md")
        return scored

    monkeypatch.setattr("omnislash.runtime.tools.searching.score_notes", grow)
    found = searched.search("anchor")

    assert ([hit.snippet for hit in found.hits], found.coverage) == (["- anchor first"], "full")


@pytest.mark.rule("RECALL-08", "RECALL-12")
def test_removed_file_is_simply_gone(searched: SearchedBrain) -> None:
    """A file that was removed is no trouble: it is not found, and nothing is said."""
    searched.note("anchor", 0.9)
    searched.search("anchor")
    (searched.sample.root / "memory/main/MEMORY.md").unlink()

    check_silent(searched, "anchor")


@pytest.mark.rule("KNOB-O8", "RECALL-10", "RECALL-12")
def test_gate_that_leaves_no_hit_of_an_incomplete_search(unreadable: SearchedBrain) -> None:
    """What could not be looked at is still said when the gate leaves nothing."""
    unreadable.sample.role("nova", "{recallGate: evidence}")
    unreadable.sample.put_memory("main/closed.md", "anchor\n")
    unreadable.embedder.cosines["anchor"] = 0.49

    turn = unreadable.recall("something else")
    assert len(unreadable.search("something else").hits) == 1

    assert (turn.hits, turn.coverage) == ((), "not-checked")
    assert turn.block.startswith(NOT_CHECKED)
