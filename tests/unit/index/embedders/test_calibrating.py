"""A map onto the common scale, from halves of notes and small talk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omnislash.index.embedders.calibrating import (
    CalibrationRefusedError,
    fit_calibration,
    read_small_talk,
    split_halves,
)
from omnislash.index.embedders.minilm import MiniLM

#: Notes of a small office, each with two sentences about one thing.
NOTES = [
    f"{first} {second} Written down after the meeting."
    for first, second in [
        (
            "The depot has two gates, and the code of the northern gate was changed to 4417 on Monday morning.",
            "Drivers who come from the motorway should use the northern gate, because the southern one stays locked.",
        ),
        (
            "The contract with the printing house ends in September and has to be cancelled three months before that.",
            "Their brochures were late twice this year, so two other printers have been asked for their prices.",
        ),
        (
            "The heating on the ground floor was bled last week and the radiators are warm again in every office.",
            "If it gets cold once more, the caretaker wants to replace the pump before the winter begins.",
        ),
        (
            "Tomatoes are raised from seed in the greenhouse and go outside when the nights are free of frost.",
            "The seedlings need water every morning, and the strongest plants are tied to sticks in June.",
        ),
        (
            "The database is backed up every night at three, and the copies are kept for thirty days on another server.",
            "Restoring a backup was tried in spring and took forty minutes, most of it for building the indexes.",
        ),
        (
            "The choir rehearses on Wednesday evening in the hall of the primary school, except during the holidays.",
            "For the concert in May the singers learn four new songs, two of them in Italian.",
        ),
        (
            "The delivery van needs new brake pads every sixty thousand kilometres; the last ones were fitted in March.",
            "The workshop also found a worn tyre, which should be changed before the next inspection of the van.",
        ),
        (
            "Leave requests have to reach the personnel office by the tenth of the month before the holiday.",
            "Whoever wants more than two weeks off at once needs the signature of the head of the department.",
        ),
        (
            "Water stands in the cellar when it rains for more than two days, mostly below the eastern wall.",
            "A drain in the yard is blocked by roots, and the plumber wants to look at it in dry weather.",
        ),
        (
            "The customer in Graz wants every invoice as a PDF, sent to the accounts department and not to the shop.",
            "He pays within a week when the order number stands on the invoice, and asks back when it is missing.",
        ),
    ]
]


def best_of(embedder: MiniLM) -> tuple[list[float], list[float]]:
    """Return cosines of halves and of small talk, as the command would take them."""
    halves = [split_halves(note) for note in NOTES * 2]  # each twice, for the number that a calibration asks for
    found = [pair for pair in halves if pair is not None]
    second = embedder.embed_passages([pair[1] for pair in found])
    related = [float(embedder.embed_query(pair[0]) @ row) for pair, row in zip(found, second, strict=True)]
    notes = embedder.embed_passages(NOTES)
    unrelated = [float((notes @ embedder.embed_query(line)).max()) for line in read_small_talk(["english"])]
    return related, unrelated


@pytest.mark.rule("RECALL-16")
def test_measured_model_gets_about_its_shipped_map() -> None:
    """On ten notes the fit comes within .1 of the map that thousands gave, where floors lie."""
    fitted = fit_calibration(*best_of(MiniLM()), source="ten notes of an office")

    for cosine in (0.2, 0.3, 0.4, 0.5):
        assert fitted.score(cosine) == pytest.approx(MiniLM.calibration.score(cosine), abs=0.1)


@pytest.mark.rule("RECALL-16")
def test_narrow_cone_is_spread_over_the_scale() -> None:
    """A model whose small talk lies at .80 and whose halves lie at .88 gets floors that part them."""
    related, unrelated = list(np.linspace(0.84, 0.92, 41)), list(np.linspace(0.72, 0.81, 41))
    fitted = fit_calibration(related, unrelated, source="made up")

    assert fitted.slope > 0
    assert fitted.score(0.88) == pytest.approx(0.46)
    assert fitted.score(0.80) < 0.30
    assert fitted.score(0.87) > 0.41
    assert fitted.source == "made up"


@pytest.mark.parametrize(
    ("related", "unrelated", "says"),
    [
        pytest.param([0.8] * 19, [0.1] * 40, "needs 20 pairs", id="few halves"),
        pytest.param([0.8] * 40, [0.1] * 3, "there are 40 and 3", id="little small talk"),
        pytest.param([0.5] * 40, [0.5] * 40, "no floor", id="one cosine for all"),
        pytest.param([0.2] * 40, [0.6] * 40, "no floor", id="the wrong way round"),
        pytest.param([math.nan] * 40, [0.6] * 40, "no number", id="NaN"),
    ],
)
def test_what_gives_no_map_is_refused(related: list[float], unrelated: list[float], says: str) -> None:
    """A model that can't tell small talk from notes gets no calibration that pretends it can."""
    with pytest.raises(CalibrationRefusedError, match=says):
        fit_calibration(related, unrelated, source="made up")


def test_note_is_cut_at_a_blank() -> None:
    """Halves hold whole words and all of them; a short note has none."""
    note = " ".join(f"word{number:03}" for number in range(60))
    halves = split_halves(note)

    assert halves is not None
    assert note.startswith(" ".join(halves) + " ")
    assert [len(half) for half in halves] == [pytest.approx(100, abs=8)] * 2
    assert split_halves("too short to be two") is None
    assert split_halves("x" * 400) is None


@pytest.mark.parametrize(
    ("languages", "line"),
    [
        pytest.param(["english"], "Good morning everyone.", id="English"),
        pytest.param(["english", "russian"], "Всем доброе утро.", id="the second of two"),
        pytest.param(["tamil"], "Good morning everyone.", id="a language without lines"),
    ],
)
def test_small_talk_is_in_listed_languages(languages: list[str], line: str) -> None:
    """Lines come in the languages of the brain, else in English; enough for a calibration."""
    lines = read_small_talk(languages)

    assert line in lines
    assert len(lines) >= 20
    assert len(set(lines)) == len(lines)
