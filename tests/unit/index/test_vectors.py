"""Vectors in segments: what is stored comes back, exactly, and damage is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnislash.index.database import Database
from omnislash.index.rebuild import register_model
from omnislash.index.vectors import SEGMENT_ROWS, Vectors, find_rows, read_segment, store_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@pytest.fixture
def database() -> Iterator[Database]:
    """An index in memory."""
    made = Database.temporary(Path("memory/.memory-index.db"))
    yield made
    made.close()


def make_vectors(count: int, dimension: int = 6, seed: int = 1) -> NDArray[np.float32]:
    """Return unit rows."""
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def store(database: Database, count: int, *, seed: int = 1, name: str = "m") -> tuple[int, NDArray[np.float32]]:
    """Store vectors of texts `name seed number`; return the model's id and the vectors."""
    made = make_vectors(count, seed=seed)
    with database.writing():
        model = register_model(database, name, name, 6)
        store_vectors(database, model, [f"{name} {seed} {number}".encode() for number in range(count)], made)
    return model, made


def load(database: Database, model: int, held: Vectors | None = None) -> tuple[Vectors, list[int]]:
    """Return the vectors of a model, given those in memory."""
    return (held or Vectors()).updated(database, model, 6)


@pytest.mark.parametrize("count", [1, SEGMENT_ROWS - 1, SEGMENT_ROWS, SEGMENT_ROWS + 1, 2 * SEGMENT_ROWS + 7])
@pytest.mark.rule("RECALL-O1")
def test_cosines_are_those_of_every_vector(database: Database, count: int) -> None:
    """Whatever the number of segments, each row gives the scalar product with its own vector."""
    model, made = store(database, count)
    query = make_vectors(1, seed=9)[0]
    found, damaged = load(database, model)
    rows = np.arange(count)[::-1].copy()
    assert damaged == []
    np.testing.assert_allclose(found.cosines(model, query, rows), made[rows] @ query, atol=1e-6)
    np.testing.assert_array_equal(found.vectors(model, rows), made[rows])


def test_few_rows_of_many(database: Database) -> None:
    """A handful of rows out of several segments is answered without the others."""
    model, made = store(database, 3 * SEGMENT_ROWS)
    rows = np.array([5, 3 * SEGMENT_ROWS - 1])
    query = make_vectors(1, seed=9)[0]
    np.testing.assert_allclose(load(database, model)[0].cosines(model, query, rows), made[rows] @ query, atol=1e-6)


def test_a_row_that_is_not_there_has_no_cosine(database: Database) -> None:
    """Notes that wait, rows beyond the end, other models and queries of another size give no number."""
    model, made = store(database, 3)
    found, _ = load(database, model)
    assert np.isnan(found.cosines(model, made[0], np.array([-1, 3, 99_999]))).all()
    assert np.isnan(found.cosines(model + 1, made[0], np.array([0, 1]))).all()
    assert np.isnan(found.cosines(model, np.ones(8, np.float32), np.array([0, 1]))).all()


def test_appending_goes_on_where_the_last_segment_ends(database: Database) -> None:
    """Vectors that come in small steps get rows one after the other, and all of them are found."""
    everything = []
    for seed in range(1, 12):
        model, made = store(database, 100, seed=seed)
        everything.append(made)
    joined = np.concatenate(everything)
    found, damaged = load(database, model)
    assert damaged == []
    np.testing.assert_array_equal(found.vectors(model, np.arange(1100)), joined)
    assert [row[0] for row in database.rows("SELECT length FROM segments ORDER BY number")] == [512, 512, 76]


@pytest.mark.rule("LANG-10")
def test_a_text_that_is_cached_keeps_its_row(database: Database) -> None:
    """Storing a text twice adds nothing."""
    model, made = store(database, 3)
    with database.writing():
        rows = store_vectors(database, model, [b"m 1 1", b"new"], made[:2])
    assert rows == {b"m 1 1": 1, b"new": 3}
    assert find_rows(database, model, [b"m 1 0", b"new", b"unknown"]) == {b"m 1 0": 0, b"new": 3}


def test_models_do_not_mix(database: Database) -> None:
    """Two models have rows of their own."""
    first, mine = store(database, 2, name="a")
    second, other = store(database, 2, seed=2, name="b")
    found = load(database, second, load(database, first)[0])[0]
    np.testing.assert_array_equal(found.vectors(first, np.arange(2)), mine)
    np.testing.assert_array_equal(found.vectors(second, np.arange(2)), other)


def test_only_what_changed_is_read_again(database: Database) -> None:
    """A segment that stayed is the same array in the next state, one that grew or was replaced is another."""
    model, _ = store(database, SEGMENT_ROWS + 1)
    before, _ = load(database, model)
    store(database, 1, seed=5)
    after, _ = load(database, model, before)
    assert after.segments[model][0] is before.segments[model][0]
    assert after.segments[model][1] is not before.segments[model][1]
    with database.writing():
        database.run("DELETE FROM segments")
        database.run("DELETE FROM embeddings")
    _, made = store(database, SEGMENT_ROWS + 2, seed=7)
    third, _ = load(database, model, after)
    np.testing.assert_array_equal(third.vectors(model, np.arange(SEGMENT_ROWS)), made[:SEGMENT_ROWS])


def test_a_segment_that_is_gone_is_forgotten(database: Database) -> None:
    """After all vectors were dropped none of them is compared any more."""
    model, made = store(database, 3)
    before, _ = load(database, model)
    with database.writing():
        database.run("DELETE FROM segments")
    assert np.isnan(load(database, model, before)[0].cosines(model, made[0], np.array([0]))).all()


@pytest.mark.parametrize(
    "damage", ["vectors = x'00'", "checksum = checksum + 1", "length = length + 1", "vectors = 'text'"]
)
def test_damage_is_noticed(database: Database, damage: str) -> None:
    """A segment that is not what was stored is named and left out; the others are still there."""
    model, made = store(database, SEGMENT_ROWS + 4)
    with database.writing():
        database.run(f"UPDATE segments SET {damage} WHERE number = 0")
    found, damaged = load(database, model)
    assert damaged == [0]
    assert read_segment(database, model, 0, 6) is None
    cosines = found.cosines(model, made[0], np.array([0, SEGMENT_ROWS]))
    assert np.isnan(cosines[0])
    assert cosines[1] == pytest.approx(float(made[SEGMENT_ROWS] @ made[0]), abs=1e-6)
