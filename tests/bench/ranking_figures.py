"""Figures of rankings: how much of what was asked for stands how far up, with the spread that chance gives them.

A ranking is the numbers of the items, best first, each once; what is missing in it was not found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

#: Depth of MRR and nDCG.
DEPTH = 10
_RESAMPLES = 1000
_SEED = 7


def recall_at(ranking: Sequence[int], wanted: Collection[int], depth: int) -> float:
    """Return the share of what is wanted among the first `depth`."""
    return len(set(ranking[:depth]) & set(wanted)) / len(wanted)


def reciprocal_rank(ranking: Sequence[int], wanted: Collection[int], depth: int = DEPTH) -> float:
    """Return one by the place of the first that is wanted; 0 when none is among the first `depth`."""
    return next((1 / place for place, item in enumerate(ranking[:depth], 1) if item in wanted), 0.0)


def ndcg(ranking: Sequence[int], wanted: Collection[int], depth: int = DEPTH) -> float:
    """Return the normalised discounted cumulative gain of the first `depth`; every wanted item is worth the same."""
    gain = sum(1 / math.log2(place + 1) for place, item in enumerate(ranking[:depth], 1) if item in wanted)
    return gain / sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), depth) + 1))


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions."""

    mean: float
    #: Bounds within which 95 of 100 resamplings of the questions lie.
    low: float
    high: float

    def __str__(self) -> str:
        """Return `.641 [.62, .66]`."""
        return f"{_short(self.mean, 3)} [{_short(self.low, 2)}, {_short(self.high, 2)}]"


def _short(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def summarise(values: Sequence[float]) -> Figure:
    """Return the mean of one figure of each question, with its bootstrap spread."""
    sample: NDArray[np.float64] = np.asarray(values, np.float64)
    chance = np.random.default_rng(_SEED)
    means = [sample[chance.integers(0, len(sample), len(sample))].mean() for _ in range(_RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return Figure(float(sample.mean()), float(low), float(high))
