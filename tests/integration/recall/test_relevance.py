"""The score and the floors, through the real search: the worked examples of the memory rules, digit for digit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.recall.conftest import SearchedBrain

    Said = Callable[[Any], list[str]]

#: Thirty words of which no two share a stem, and none is a stop word.
WORDS = [
    "anchor",
    "basket",
    "candle",
    "dragon",
    "engine",
    "forest",
    "garden",
    "harbour",
    "island",
    "jungle",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orchard",
    "pepper",
    "quartz",
    "ribbon",
    "saddle",
    "temple",
    "umbrella",
    "velvet",
    "window",
    "yellow",
    "zebra",
    "bridge",
    "copper",
    "dolphin",
    "elbow",
    "falcon",
]

#: meaning, words found, words of the message, score, shown by recall (0.41), shown by search (0.3).
WORKED = [
    (1.00, 1, 1, 1.0000, True, True),
    (0.75, 3, 6, 0.7125, True, True),
    (0.55, 1, 30, 0.4725, True, True),
    (0.45, 1, 4, 0.4200, True, True),
    (0.40, 3, 6, 0.4150, True, True),
    (0.40, 7, 15, 0.4100, True, True),
    (0.31, 4, 4, 0.4135, True, True),
    (0.30, 4, 4, 0.4050, False, True),
    (0.48, 0, 6, 0.4080, False, True),
    (0.483, 0, 6, 0.41055, True, True),
    (0.38, 2, 12, 0.3480, False, True),
    (0.30, 3, 10, 0.3000, False, True),
    (0.35, 0, 6, 0.2975, False, False),
    (0.18, 5, 5, 0.3030, False, True),
    (0.17, 5, 5, 0.2945, False, False),
    (0.00, 1, 1, 0.1500, False, False),
]


@pytest.mark.rule(
    "LANG-01", "RECALL-01", "RECALL-02", "RECALL-03", "RECALL-O1", "RECALL-O2", "TOOL-12", "TOOL-13", "RECALL-09"
)
@pytest.mark.parametrize(("meaning", "found", "words", "score", "recalled", "listed"), WORKED)
def test_worked_table(  # noqa: PLR0913, PLR0917 - the columns of the table
    searched: SearchedBrain, meaning: float, found: int, words: int, score: float, recalled: bool, listed: bool
) -> None:
    """A note's score is the formula, and at both floors it is shown or not as the table says."""
    note = searched.note(" ".join(["something", *WORDS[:found]]), meaning)
    message = " ".join(WORDS[:words])

    result = searched.search(message)
    turn = searched.recall(message)

    assert [hit.snippet for hit in result.hits] == [f"- {note}"] * listed
    assert [hit.score for hit in result.hits] == [score] * listed
    assert [hit.words for hit in result.hits] == [round(found / words, 9)] * listed
    assert [hit.meaning for hit in result.hits] == [meaning] * listed
    assert (result.below_floor.count, result.below_floor.best_score) == ((0, None) if listed else (1, score))
    assert [hit.score for hit in turn.hits] == [score] * recalled
    assert bool(turn.block) is recalled
    assert result.coverage == turn.coverage == "full"


@pytest.mark.rule("RECALL-01", "LANG-02")
def test_share_of_words_by_stem(searched: SearchedBrain) -> None:
    """Of `when is the sync report due` a note about sync reports has three words of six."""
    searched.note("Sync reports are due on Friday", 0.75)

    (hit,) = searched.search("when is the sync report due").hits

    assert (hit.words, hit.score) == (0.5, 0.7125)


@pytest.mark.rule("RECALL-O1")
def test_meaning_is_held_in_0_to_1(searched: SearchedBrain) -> None:
    """A cosine below 0 takes nothing from the words."""
    searched.note("anchor against it", -0.9)

    (hit,) = searched.search("anchor", min_score=0).hits

    assert (hit.meaning, hit.score) == (0, 0.15)


@pytest.mark.rule("RECALL-O2")
@pytest.mark.parametrize(("floor", "meaning", "found", "words"), [(0.41, 0.4, 7, 15), (0.3, 0.3, 3, 10)])
def test_tie_at_the_floor_is_not_decided_by_the_vectors_precision(
    searched: SearchedBrain, floor: float, meaning: float, found: int, words: int
) -> None:
    """A cosine that 32-bit numbers give a little too low is still at the floor."""
    searched.note(" ".join(WORDS[:found]), float(np.nextafter(np.float32(meaning), np.float32(0))))

    (hit,) = searched.search(" ".join(WORDS[:words]), min_score=floor).hits

    assert hit.score == floor


@pytest.mark.rule("KNOB-O1", "KNOB-12")
def test_floor_of_zero_lets_every_candidate_pass(searched: SearchedBrain) -> None:
    """With 0 all notes that have anything of the question are hits, and the one that has nothing is not."""
    searched.sample.role("nova", "{searchScore: 0, recallScore: 0}")
    weak, strong = searched.note("anchor", 0.0), searched.note("basket", 0.01)
    searched.note("nothing else", 0.0)

    assert {hit.snippet for hit in searched.search("anchor of the ship").hits} == {f"- {weak}", f"- {strong}"}
    assert len(searched.recall("anchor of the ship").hits) == 2
    assert searched.search("anchor of the ship").below_floor.count == 0


@pytest.mark.rule("TOOL-12", "KNOB-12", "RECALL-03")
def test_floor_of_a_search(searched: SearchedBrain) -> None:
    """The role's searchScore is the floor; minScore of the call takes its place, 0 included."""
    searched.sample.role("strict", "{searchScore: 0.5}")
    searched.note("an anchor", 0.4)
    found = {
        (role, floor): len(searched.search("anchor chain", role=role, min_score=floor).hits)
        for role in ("nova", "strict")
        for floor in (None, 0, 0.4, 0.42)
    }

    assert found == {
        ("nova", None): 1,
        ("nova", 0): 1,
        ("nova", 0.4): 1,
        ("nova", 0.42): 0,
        ("strict", None): 0,
        ("strict", 0): 1,
        ("strict", 0.4): 1,
        ("strict", 0.42): 0,
    }


@pytest.mark.rule("RECALL-02", "KNOB-10", "KNOB-09")
def test_knobs_of_recall(searched: SearchedBrain) -> None:
    """The knob recallScore is the floor of a turn, and recallResults the most it shows, the best ones."""
    searched.sample.role("few", "{recallResults: 2}")
    searched.sample.role("strict", "{recallScore: 0.6}")
    for number in range(6):
        searched.note(f"entry {WORDS[number]}", 0.5 + number / 20)

    assert len(searched.recall("what now").hits) == 4
    assert [hit.meaning for hit in searched.recall("what now", role="few").hits] == [0.75, 0.7]
    assert [hit.score for hit in searched.recall("what now", role="strict").hits] == [0.6375]


@pytest.mark.rule("RECALL-14", "KNOB-09", "KNOB-11")
@pytest.mark.parametrize("knob", ["recallResults", "recallChars"])
def test_recall_that_is_switched_off_searches_nothing(searched: SearchedBrain, knob: str) -> None:
    """With 0 no search runs at all, not even over an index that can't be made: no call, no file, no block."""
    searched.sample.role("quiet", f"{{{knob}: 0}}")
    searched.note("anchor", 0.9)
    searched.embedder.fail(9)

    turn = searched.recall("anchor", role="quiet")

    assert turn.to_json() == {"block": "", "hits": [], "coverage": "full", "reasons": [], "silent": True}
    assert searched.embedder.calls == searched.embedder.loads == 0
    assert not (searched.sample.root / "memory/.memory-index.db").exists()


@pytest.mark.rule("RECALL-08")
@pytest.mark.parametrize("message", ["", " ", "\n\t\u3000"])
def test_blank_message(searched: SearchedBrain, message: str) -> None:
    """A message without a character that is seen asks for nothing."""
    searched.note("anchor", 0.9)

    assert searched.recall(message).to_json()["silent"]
    assert not searched.embedder.calls


# -- age -------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("RECALL-04")
def test_age_never_filters(searched: SearchedBrain) -> None:
    """Three years old with .42 and of today with .45: both are shown; of today with .40: not."""
    old = searched.note("anchor of old", (0.42 - 0.15) / 0.85, at="main/2023/08/2023-08-30.md")
    new = searched.note("anchor of today", (0.45 - 0.15) / 0.85, at="main/2026/08/2026-08-30.md")
    searched.note("anchor too weak", (0.40 - 0.15) / 0.85, at="main/2026/08/2026-08-30.md")

    turn = searched.recall("anchor")

    assert [hit.snippet for hit in turn.hits] == [f"- {new}", f"- {old}"]
    assert [hit.score for hit in turn.hits] == pytest.approx([0.45, 0.42], abs=1e-6)


@pytest.mark.rule("RECALL-04", "RECALL-15", "RECALL-O4")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("2026-08-28", "2026-08-29"),
        ("2025-01-01", "2026-08-29"),
        ("2011-02-21", "2011-02-22"),
        ("2026-09-03", "2026-09-04"),
    ],
)
def test_newer_of_two_equal_notes_comes_first(searched: SearchedBrain, older: str, newer: str) -> None:
    """Equal in score, the newer log is first, however old both are, and though the older was indexed last."""

    def at(day: str) -> str:
        return f"main/{day[:4]}/{day[5:7]}/{day}.md"

    late = searched.note("anchor late", 0.6, at=at(newer))
    searched.search("anchor")
    early = searched.note("anchor early", 0.6, at=at(older))
    result = searched.search("anchor")

    assert [hit.snippet for hit in result.hits] == [f"- {late}", f"- {early}"]
    assert result.hits[0].score == result.hits[1].score


@pytest.mark.rule("RECALL-15", "SOURCE-19", "SOURCE-16", "SOURCE-17")
def test_dated_files_of_a_source_do_not_age(searched: SearchedBrain) -> None:
    """A source's old dated file ranks as its new one and as MEMORY.md do, and its hit is named by its brain path."""
    searched.sample.sources("lifelog")
    searched.sample.role("nova", "{recall: [lifelog]}")
    searched.embedder.cosines = {"early": 0.6, "later": 0.6, "solid": 0.6}
    searched.sample.put("lifelog/2020/01/2020-01-01.md", "anchor early\n")
    searched.sample.put("lifelog/2026/08/2026-08-30.md", "anchor later\n")
    searched.sample.put_memory("main/MEMORY.md", "- anchor solid\n")

    hits = searched.search("anchor").hits

    assert {hit.path for hit in hits} == {
        *("lifelog/2020/01/2020-01-01.md", "lifelog/2026/08/2026-08-30.md", "main/MEMORY.md"),
    }
    assert len({hit.rank for hit in hits}) == 1
    assert {hit.kind for hit in hits} == {"source", "memory"}
    assert searched.agent().memory.read("lifelog/2020/01/2020-01-01.md").content == "anchor early\n"
    decays = {each.path: each.decay for each in searched.agent().memory.explain("anchor").explanations}
    assert set(decays.values()) == {1}


@pytest.mark.rule("RECALL-15", "PERIOD-42")
def test_summaries_age_by_what_they_look_back_on(searched: SearchedBrain) -> None:
    """Of a year's summary and a day's log of the same last day, the summary has aged less."""
    for name in ("main/2025/2025.md", "main/2025/2025-12.md", "main/2025/12/2025-12-31.md"):
        searched.sample.put_memory(name, "- anchor\n" if "31" in name else f"anchor {name[-6:-3]}\n")
    explained = searched.agent().memory.explain("anchor", min_score=0, limit=10).explanations
    decays = {each.path: each.decay or 0 for each in explained}

    age = 242  # from 31 December 2025 to 30 August 2026
    assert decays == pytest.approx(
        {
            "main/2025/12/2025-12-31.md": 0.5 ** (age / 30),
            "main/2025/2025-12.md": 0.5 ** (age / (30 * 31)),
            "main/2025/2025.md": 0.5 ** (age / (30 * 365)),
        }
    )


@pytest.mark.rule("RECALL-O4")
def test_ties_go_by_path_and_place(searched: SearchedBrain) -> None:
    """Notes that are equal in all come by path and line, in whichever order they were indexed."""
    for path in ("main/notes/c.md", "main/notes/a.md", "main/notes/b.md"):
        for number in (1, 2):
            searched.note(f"anchor {path[-4]} {number}", 0.5, at=path)
        searched.search("anchor")

    found = [(hit.path, hit.span) for hit in searched.search("anchor").hits]

    assert found == sorted(found)
