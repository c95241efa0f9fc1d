"""What an endpoint answers is checked before anything of it is kept."""

from __future__ import annotations

import json

import pytest

from omnislash.index.embedders.answers import BadAnswerError, parse_vectors, read_retry_after, read_words

KEY = "sk-not-a-real-key-1234"


def answer(*rows: object) -> bytes:
    """Return an answer with these vectors, each at its place."""
    return json.dumps({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}).encode()


def test_vectors_are_brought_to_unit_length() -> None:
    """A vector of any length becomes one of length 1."""
    assert parse_vectors(answer([3, 4], [0, -2]), 2).tolist() == [pytest.approx([0.6, 0.8]), [0, -1]]


def test_order_is_that_of_the_index() -> None:
    """An endpoint may answer in any order; `index` tells which text is meant."""
    body = json.dumps({"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}).encode()

    assert parse_vectors(body, 2).tolist() == [[1, 0], [0, 1]]


def test_huge_numbers_are_no_trouble() -> None:
    """Numbers past float32 become a unit vector too."""
    assert parse_vectors(answer([1e300, 0]), 1).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"<html>", "no list", id="no JSON"),
        pytest.param(b"\xff\xfe", "no list", id="no text"),
        pytest.param(b"[]", "no list", id="a list"),
        pytest.param(b'{"data": 3}', "no list", id="a number"),
        pytest.param(b'{"data": [{"index": 0}]}', "no list", id="no embedding"),
        pytest.param(b"[" * 100_000, "no list", id="nested without end"),
        pytest.param(answer([1, 0]), "1 vectors for 2 texts", id="one too few"),
        pytest.param(answer([1, 0], [0, 1], [1, 1]), "3 vectors for 2 texts", id="one too many"),
        pytest.param(
            b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "not each", id="one twice"
        ),
        pytest.param(answer([1, 0], [0, 1, 2]), "vectors of 2 and 3 numbers", id="two sizes"),
        pytest.param(answer([], []), "vectors of 0 numbers", id="no numbers"),
        pytest.param(answer([1, 0], [0, 0]), "zero", id="all zero"),
        pytest.param(answer([1, 0], [float("nan"), 1]), "not finite", id="NaN"),
        pytest.param(answer([1, 0], [float("inf"), 1]), "not finite", id="infinite"),
        pytest.param(answer([1, 0], [None, 1]), "finite|no number", id="null"),
        pytest.param(answer([1, 0], [[1], [2]]), "no number", id="nested"),
        pytest.param(answer([1, 0], ["a", "b"]), "no number", id="words"),
    ],
)
def test_nonsense_is_told(body: bytes, says: str) -> None:
    """Each kind of nonsense has its words, and none is kept."""
    with pytest.raises(BadAnswerError, match=says):
        parse_vectors(body, 2)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b'{"error": {"message": "model not\\nfound."}}', "model not found", id="as the reference says it"),
        pytest.param(b'{"error": "overloaded"}', "overloaded", id="a bare sentence"),
        pytest.param(b'{"message": "too long"}', "too long", id="at the top"),
        pytest.param(b"<html>down</html>", "", id="a page"),
        pytest.param(b'{"error": 7}', "", id="a number"),
        pytest.param(f'{{"error": "key {KEY} is wrong"}}'.encode(), "key … is wrong", id="with the key"),
        pytest.param(json.dumps({"error": "x" * 900}).encode(), "x" * 200, id="long"),
    ],
)
def test_words_of_an_endpoint_are_repeated(body: bytes, words: str) -> None:
    """Its sentence is shown on one line, cut, and without the key."""
    assert read_words(body, KEY) == words


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="part of a second"),
        pytest.param({"retry-after": "-3"}, None, id="the past"),
        pytest.param({"retry-after": "soon"}, None, id="a word"),
        pytest.param({"retry-after": "9" * 400}, None, id="for ever"),
        pytest.param(
            {"retry-after": "Tue, 01 Dec 2026 07:00:09 GMT", "date": "Tue, 01 Dec 2026 07:00:00 GMT"},
            9.0,
            id="a moment",
        ),
        pytest.param(
            {"retry-after": "Tue, 01 Dec 2026 06:00:00 GMT", "date": "Tue, 01 Dec 2026 07:00:00 GMT"}, 0.0, id="gone by"
        ),
        pytest.param({"retry-after": "Tue, 01 Dec 2026 07:00:09 GMT"}, None, id="a moment without a clock"),
    ],
)
def test_pause_that_was_asked_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds are taken as they are, a moment is compared with the endpoint's own clock."""
    assert read_retry_after(headers) == seconds
