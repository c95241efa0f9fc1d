"""What lies under the floor: how much, from which score on it would be seen, and what exact thing it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain


@pytest.mark.rule("TOOL-13")
@pytest.mark.parametrize("meaning", [0.1, 0.123456, 0.2, 0.299999, 0.333333])
def test_best_score_surfaces_the_note(searched: SearchedBrain, meaning: float) -> None:
    """Handed in as minScore, bestScore shows exactly that note, in this and in its JSON form."""
    searched.note("first", meaning)
    searched.note("second", 0.05)
    below = searched.search("message of three words").below_floor

    assert below.count == 2
    (hit,) = searched.search("message of three words", min_score=below.to_json()["bestScore"]).hits
    assert hit.snippet == "- first"
    assert hit.score == below.best_score


@pytest.mark.rule("TOOL-13", "RECALL-09")
def test_count_is_that_of_candidates(searched: SearchedBrain) -> None:
    """Notes at the floor, notes without anything of the question and notes out of scope aren't counted."""
    searched.note("hit", 0.9)
    searched.note("near", 0.2)
    searched.note("anchor", 0.0)
    searched.note("nothing", 0.0)
    searched.note("anchor of ops", 0.2, at="ops/MEMORY.md")

    found = searched.search("an anchor")

    assert found.to_json()["belowFloor"] == {"count": 2, "bestScore": 0.17}
    turn = searched.recall("an anchor").to_json()
    assert "belowFloor" not in turn
    assert "near" not in turn["block"]


def test_nothing_below(searched: SearchedBrain) -> None:
    """Without candidates there is a count of 0 and no score."""
    searched.note("nothing", 0.0)

    assert searched.search("anchor").to_json()["belowFloor"] == {"count": 0}


@pytest.mark.parametrize(
    ("note", "query", "literal"),
    [
        ("invoice ZX-8817 paid", "what about ZX-8817 then", "zx-8817"),
        ("call get_user_id first", "what does get_user_id do", "get_user_id"),
        ("door code 4711", "is it 4711 or another number", "4711"),
        ("tool v1.2.3 is out", "who uses v1.2.3 still", "v1.2.3"),
        ("see /etc/hosts", "what is /etc/hosts for", "etc/hosts"),
        ("She said the blue kettle leaks", 'who said "the blue kettle leaks" and why', "the blue kettle leaks"),
        ("She said the Blue  Kettle leaks", "who said «blue kettle» and when was it again", "blue kettle"),
        ("the history lesson was long", 'when is the "history lesson" then', "history lesson"),
        ("cafe\u0301 au lait again", 'where is the "caf\u00e9 au lait" served at all', "caf\u00e9 au lait"),
    ],
)
def test_rare_literal_is_named(searched: SearchedBrain, note: str, query: str, literal: str) -> None:
    """An identifier, a number or a quoted phrase is named with its note, though the note is under the floor."""
    searched.note(note)
    searched.note("something else about the kettle")

    found = searched.search(query)

    assert found.hits == ()
    assert [(each.text, each.path, each.span) for each in found.below_floor.literals] == [
        (literal, "main/MEMORY.md", (1, 1))
    ]
    score = found.below_floor.literals[0].score
    assert f"- {note}" in [hit.snippet for hit in searched.search(query, min_score=score).hits]


def test_phrase_is_looked_for_as_it_stands(searched: SearchedBrain) -> None:
    """A note that has the words of a quoted phrase apart is not named."""
    searched.note("the kettle is blue and the lid leaks")

    assert searched.search('is it "blue kettle" that leaks').below_floor.literals == ()


def test_common_literal_is_not_named(searched: SearchedBrain) -> None:
    """What stands in six notes is nothing rare; what stands in five is."""
    for number in range(6):
        searched.note(f"ticket REQ-0317 of day {'abcdef'[number]}")
    assert searched.search("what of REQ-0317 here").below_floor.literals == ()

    searched.sample.put_memory("main/MEMORY.md", "".join(f"- ticket REQ-0317 of day {letter}\n" for letter in "abcde"))
    assert len(searched.search("what of REQ-0317 here").below_floor.literals) == 5


def test_every_literal_has_its_turn(searched: SearchedBrain) -> None:
    """Several notes with one literal do not crowd out the only note with another."""
    for number in range(5):
        searched.note(f"ticket REQ-0317 of day {'abcdef'[number]}")
    for number in range(5):
        searched.note(f"ticket REQ-0318 of day {'abcdef'[number]}")
    searched.note("ticket REQ-0319 of day x")

    named = searched.search("what about REQ-0317 and REQ-0318 and REQ-0319 here").below_floor.literals

    assert [each.text for each in named[:3]] == ["req-0317", "req-0318", "req-0319"]
    assert len(named) == len({(each.path, each.span) for each in named}) == 10


def test_note_above_the_floor_is_not_named_below_it(searched: SearchedBrain) -> None:
    """A literal in a hit needs no mention."""
    searched.note("invoice ZX-8817 paid", 0.5)

    found = searched.search("ZX-8817")

    assert len(found.hits) == 1
    assert found.below_floor.to_json() == {"count": 0}


def test_ordinary_words_are_no_literals(searched: SearchedBrain) -> None:
    """A common word under the floor is counted and not named, in a question that is shouted too."""
    searched.note("kettle")

    for query in ("where is the kettle", "WHERE IS THE KETTLE"):
        below = searched.search(query).below_floor
        assert (below.count, below.literals) == (1, ())
