"""What speaks for a hit and against it: names, rarity, contrast, and the words that say so."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnislash.index.lexical import Match
from omnislash.index.stemming import Stemmer
from omnislash.recall import evidence, ranking
from omnislash.recall.evidence import find_names, weigh_hits
from omnislash.recall.hits import Request
from omnislash.recall.legs import Meaning
from omnislash.recall.search import Scored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.recall.evidence import Evidence

STEMMER = Stemmer(["english", "russian"])


def score(
    message: str, notes: Sequence[str], meanings: Sequence[float | None], *, floor: float = 0.41, **given: Any
) -> Scored:
    """Return what a search would make of notes with these meanings; None stands for a note that no embedder read.

    Args:
        message: What came in.
        notes: Their words.
        meanings: On the common scale.
        floor: recallScore.
        given: `models`, the embedder of each note; `words_down`, without the word leg.
    """
    query = STEMMER.parse_query(message)
    terms = [{word.term for word in STEMMER.parse_query(note).words} for note in notes]
    holders = {word: [place for place, found in enumerate(terms) if word.term in found] for word in query.words}
    matches = tuple(
        Match(word, np.array(found, np.int64), np.ones(len(found), np.uint8)) for word, found in holders.items()
    )
    size = len(notes)
    records = np.zeros(size, [("model", np.uint8)])
    records["model"] = given.get("models", 1)
    zeros = np.zeros(size)
    snapshot: Any = SimpleNamespace(notes=records)
    return Scored(
        request=Request(query=message, refs=(), floor=floor, limit=8, today=date(2026, 12, 1)),
        query=query,
        allowed=np.ones(size, bool),
        matches=() if given.get("words_down") else matches,
        meaning=Meaning(
            np.array([each or 0.0 for each in meanings]), np.array([each is not None for each in meanings], bool)
        ),
        words=ranking.WordScores(zeros, zeros, 0, zeros, zeros),
        score=zeros,
        key=zeros,
        recency=zeros,
        rank=zeros,
        reasons=(),
        snapshot=snapshot,
    )


def weigh(message: str, notes: Sequence[str], meanings: Sequence[float | None], **given: Any) -> list[Evidence]:
    """Return the evidence for every note, as if all were hits."""
    weighed = weigh_hits(score(message, notes, meanings, **given), range(len(notes)))
    return [weighed[note] for note in range(len(notes))]


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("When may I ring Tomek?", {"i", "tomek"}),
        ("Tomek called.", set()),
        ("It rained. Tomek called Anna", {"anna"}),
        ("Is it true that «Редкая книга» is in Riga?", {"редкая", "riga"}),
        ("what did John's sister say about LGBTQ?", {"john's", "lgbtq"}),
        ("- Milk\n- Bread", set()),
        ("WHERE IS TOMEK", set()),
        ("where is tomek", set()),
        ("где Томек?", {"томек"}),
        ("", set()),
    ],
)
def test_names(message: str, names: set[str]) -> None:
    """A capital inside of a sentence marks a name; the beginning of one, small letters and shouting do not."""
    assert find_names(message) == names


@pytest.mark.rule("KNOB-O8")
def test_meaning_clearly_above_the_rest() -> None:
    """Without a word in common a note is shown when its meaning stands out, and not when all notes are as near."""
    filler = [f"note{number}" for number in range(40)]
    message = "how is the weather going to turn out"

    apart = weigh(message, ["it will rain", *filler], [0.55, *[0.15] * 40])
    among = weigh(message, ["it will rain", *filler], [0.55, *[0.5] * 40])

    assert apart[0].is_enough
    assert not among[0].is_enough


@pytest.mark.rule("KNOB-O8")
def test_rare_word_weighs_more_than_a_common_one() -> None:
    """Of two notes equally near, the one with the rare word of the message has more for it."""
    notes = ["the parcel of honey", "the parcel of wax", *["parcel"] * 30]
    honey, wax, *_ = weigh("is a parcel with honey there", notes, [0.45] * 32)

    assert honey.value > wax.value
    assert honey.shared == ("parcel", "honey")
    assert wax.shared == ("parcel",)


@pytest.mark.rule("KNOB-O8")
def test_words_that_occur_nowhere_count_against() -> None:
    """The more of a message no note has, the less there is for any note."""
    notes = ["honey from the meadow", "wax"]
    known, one, two = (
        weigh(message, notes, [0.5, 0.2])[0].value
        for message in ("meadow honey", "meadow honey glacier", "meadow honey glacier turbine")
    )
    assert known > one > two


@pytest.mark.rule("KNOB-O8")
def test_unknown_name_counts_more_than_an_unknown_word() -> None:
    """A name that no note has says that the message is about somebody else."""
    notes = ["the sister bakes bread", "wax"]
    word, name = (
        weigh(f"what does the sister of {who} bake", notes, [0.5, 0.2])[0] for who in ("somebody", "Caroline")
    )

    assert word.value > name.value + 0.2
    assert (word.unknown, name.unknown) == ((), ("caroline",))


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize("message", ["what about INV-2024-117?", "tell me about Tomek"])
def test_rare_exact_thing(message: str) -> None:
    """An identifier or a name that few notes have is evidence although little else is in common."""
    filler = [f"note{number} lorem" for number in range(60)]
    found = weigh(message, ["Tomek paid INV-2024-117", *filler], [0.40, *[0.2] * 60])

    assert found[0].is_enough
    assert found[0].exact
    assert not any(each.is_enough for each in found[1:])


@pytest.mark.rule("KNOB-O8")
def test_name_that_stands_everywhere_is_nothing_rare() -> None:
    """The name of a person of whom every note speaks does not let every note through."""
    notes = [f"Tomek note{number}" for number in range(40)]
    assert not any(each.is_enough or each.exact for each in weigh("when did Tomek buy the tractor", notes, [0.42] * 40))


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize("message", ["how are you?", "and then?", "а что потом?", "?!"])
def test_message_without_substance(message: str) -> None:
    """Nothing is evidence for a message that says nothing, however near a note lies."""
    (found,) = weigh(message, ["how are you then"], [0.95])

    assert not found.is_enough
    assert found.describe() == "The message has no word of substance, so nothing can speak for a note."


@pytest.mark.rule("KNOB-O8")
def test_short_follow_up() -> None:
    """A follow-up of one word shows the note that has it when no other has it, and nothing when many have it."""
    rare = weigh("and the price?", ["the price is four euros", *["wax"] * 30], [0.52, *[0.2] * 30])
    common = weigh("and the price?", ["the price is four euros", *["price wax"] * 30], [0.52, *[0.47] * 30])

    assert rare[0].is_enough
    assert not any(each.is_enough for each in common)


@pytest.mark.rule("KNOB-O8")
def test_others_need_less_beside_one_that_has_enough() -> None:
    """Once one note shows that the message is about this brain, the others need less; alone they are withheld."""
    notes, message = ["bees swarm in the orchard", "bees", *["wax"] * 30], "where did the bees swarm in the orchard"

    together = weigh(message, notes, [0.6, 0.44, *[0.1] * 30])
    alone = weigh(message, ["pond", *notes[1:]], [0.1, 0.44, *[0.1] * 30])

    assert (together[1].is_enough, alone[1].is_enough) == (True, False)
    assert together[0].needed == pytest.approx(alone[0].needed - evidence.COMPANION)


@pytest.mark.rule("KNOB-O8")
def test_more_than_the_floor() -> None:
    """What is needed lies above the floor, wherever that is set."""
    for floor in (0.0, 0.2, 0.41, 0.8):
        (found,) = weigh("glacier", ["wax"], [floor], floor=floor)
        assert found.needed == pytest.approx(floor + evidence.MARGIN)


@pytest.mark.rule("KNOB-O8", "RECALL-O3")
def test_note_that_no_embedder_read() -> None:
    """It needs much of the message's rare words; one word of three, or a common one alone, is not enough."""
    filler = ["улей воск"] * 30
    rows = {
        "где стоит синий улей": ("синий улей стоит в саду", True),
        "когда привезут синий трактор": ("синий улей стоит в саду", False),
        "а улей?": ("синий улей стоит в саду", False),
        "а трактор?": ("трактор в сарае", True),
    }
    for message, (note, is_shown) in rows.items():
        found = weigh(message, [note, *filler], [None] * 31)[0]
        assert found.is_enough is is_shown, message
        assert "no meaning to go by" in found.describe()


@pytest.mark.rule("KNOB-O8", "RECALL-O3")
def test_word_leg_down() -> None:
    """The meaning alone then has to stand out, by more than with words."""
    notes, message = ["bees swarm", *["wax"] * 30], "where did the bees swarm"

    def is_shown(meaning: float) -> bool:
        return weigh(message, notes, [meaning, *[0.2] * 30], words_down=True)[0].is_enough

    assert not is_shown(0.5)
    assert is_shown(0.8)


@pytest.mark.rule("KNOB-O8")
def test_notes_of_another_embedder_are_not_elsewhere() -> None:
    """What the message finds elsewhere is counted among the notes of one space; the others were not compared at all."""
    notes, meanings = ["rain", *["wax"] * 20], [0.6, *[0.55] * 20]
    alone = weigh("weather today", notes, meanings)[0]
    mixed = weigh("weather today", [*notes, *["мёд"] * 80], [*meanings, *[0.0] * 80], models=[1] * 21 + [2] * 80)[0]

    assert mixed.elsewhere == pytest.approx(alone.elsewhere)


@pytest.mark.rule("KNOB-O8")
@pytest.mark.parametrize("size", [1, 2, 3, 30])
def test_small_brains(size: int) -> None:
    """With one note as with thirty: the right one is shown, and one that is merely near is not."""
    filler, rest = ["wax"] * (size - 1), [0.2] * (size - 1)

    right = weigh("when may I ring Tomek", ["Tomek may be rung after nine", *filler], [0.5, *rest])
    near = weigh("write a poem about the autumn rain", ["Tomek may be rung after nine", *filler], [0.49, *rest])

    assert right[0].is_enough
    assert not near[0].is_enough


@pytest.mark.rule("KNOB-O8")
def test_description() -> None:
    """It says in words what there was and what was missing."""
    shown, withheld = weigh("does Tomek like honey", ["Tomek sells honey", "wax"], [0.55, 0.42])
    (strange,) = weigh("does Caroline like honey", ["wax"], [0.42])

    assert shown.describe().startswith(f"Evidence {shown.value:.2f}, enough for 0.40: meaning 0.55 against 0.2")
    assert "has 'tomek' and 'honey' of the message" in shown.describe()
    assert "'tomek' is exact and rare" in shown.describe()
    assert "has no word of substance of the message" in withheld.describe()
    assert ", too little for 0.55: " in strange.describe()
    assert strange.describe().endswith("no note has 'caroline'.")
