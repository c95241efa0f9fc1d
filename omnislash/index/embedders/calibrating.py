"""A calibration for a model that nobody has measured, from a brain's own notes.

Two kinds of pairs lie at about the same place of the common scale in every brain: the two halves of one note, and small
talk with the note that is nearest to it.
Random pairs of notes do not: in a brain about one thing their 99th percentile lies at .80 of the scale, in a mixed one at
.38 (2026-12-01), so they say more about the brain than about the model, and are not used.

What it is good for: floors that keep small talk out, for a model whose cosines lie elsewhere than the reference's.
What it is not: it never changes the order, and a model whose small talk lies among its right notes stays such a model;
`fit_calibration` refuses where that shows.

Rules: RECALL-16.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from omnislash.errors import OmnislashError
from omnislash.index.embedders.loading import DATA
from omnislash.index.embedders.ports import Calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Characters of a note that are halved. The halves of longer pieces lie nearer to each other (medians of .40, .46, .52,
#: .56 and .62 at 160, 200, 300, 400 and 600 characters), so all have one length; most notes have this many.
HALVED_CHARS = 200
#: Where the median of the halves lies on the common scale. Measured with all-MiniLM-L6-v2 and its shipped map: .465 on 80
#: encyclopedia paragraphs, .463 on 80 pieces of four conversations (2026-12-01).
HALVES_AT = 0.46
#: Where the 90th percentile of small talk's nearest notes lies. Measured likewise with 28 lines of small talk on 20 short
#: notes, 40 and 120 paragraphs, 40 to 324 notes of three conversations: .21 to .33, .27 in the mean (2026-12-01).
SMALL_TALK_AT = 0.27
#: Pairs of each kind that there must be: with fewer the percentile is a matter of luck.
FEWEST_PAIRS = 20
#: Cosine that must lie between the two; below it noise is stretched over the scale.
SMALLEST_GAP = 0.03


class CalibrationRefusedError(OmnislashError):
    """The notes do not give a calibration."""

    kind = "calibration"


def read_small_talk(languages: Sequence[str]) -> tuple[str, ...]:
    """Return lines that no note is the answer to, in the listed languages that there are some in; else in English."""
    lines: dict[str, list[str]] = json.loads((DATA / "small-talk.json").read_text(encoding="utf-8"))
    listed = [language for language in languages if language in lines] or ["english"]
    return tuple(line for language in listed for line in lines[language])


def split_halves(text: str) -> tuple[str, str] | None:
    """Return the two halves of a note's first `HALVED_CHARS`, cut at blanks; None when it is shorter or has no blanks."""
    piece = text[: HALVED_CHARS + 1].rpartition(" ")[0]
    middle = piece.rfind(" ", 0, HALVED_CHARS // 2 + 1)
    halves = piece[: max(middle, 0)].strip(), piece[max(middle, 0) :].strip()
    return halves if len(text) >= HALVED_CHARS and all(halves) else None


def fit_calibration(related: Sequence[float], unrelated: Sequence[float], *, source: str) -> Calibration:
    """Return the straight line that puts both kinds of pairs where they lie on the common scale.

    Args:
        related: Cosines of the first halves of notes, embedded as messages, with their second halves.
        unrelated: For each line of `read_small_talk`, embedded as a message, the highest of its cosines with the brain's notes.
        source: How many notes of what, and when; kept with the calibration.

    Raises:
        CalibrationRefusedError: There are too few pairs, a cosine is none, or small talk lies among the halves.
    """
    if min(len(related), len(unrelated)) < FEWEST_PAIRS:
        message = (
            f"A calibration needs {FEWEST_PAIRS} pairs of each kind; there are {len(related)} and {len(unrelated)}."
        )
        raise CalibrationRefusedError(message, hint="Try again when the brain has more notes of some length.")
    if not all(math.isfinite(cosine) for cosine in (*related, *unrelated)):
        raise CalibrationRefusedError("The model gives vectors whose cosine is no number.")
    high, low = _find_percentile(related, 0.5), _find_percentile(unrelated, 0.9)
    if high - low < SMALLEST_GAP:
        message = (
            f"The model puts small talk (cosine {low:.2f}) where halves of one note lie ({high:.2f}): no floor can keep it "
            "out."
        )
        raise CalibrationRefusedError(
            message, hint="Choose another model, or check that the notes are in its language."
        )
    slope = (HALVES_AT - SMALL_TALK_AT) / (high - low)
    return Calibration(slope, HALVES_AT - slope * high, source)


def _find_percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of the values lies under, between two of them in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))
