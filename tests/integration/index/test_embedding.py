"""Each text is embedded once, whatever stops the work in between, and never compared with another model's vectors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from omnislash.index import embedding
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.index.embedding import BATCH_TEXTS
from omnislash.index.reading import parse_file
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.index.embedders.ports import Vectors
    from tests.integration.index.conftest import IndexBrain

#: Notes of the larger brains here: several batches, and more than is waited for.
MANY = 3 * BATCH_TEXTS + 10


class FailingEmbedder(CountingEmbedder):
    """Fails from some call on."""

    def __init__(self, *, good_calls: int) -> None:
        super().__init__()
        self.good_calls = good_calls

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if len(self.passage_calls) >= self.good_calls:
            message = "The model went away."
            raise EmbedderUnavailableError(message)
        return super().embed_passages(texts)


def embedded(*embedders: CountingEmbedder) -> Counter[str]:
    """Return how often each text was embedded."""
    return Counter(text for each in embedders for call in each.passage_calls for text in call)


def write_notes(brain: IndexBrain, count: int) -> None:
    """Write files with one note each."""
    for number in range(count):
        brain.write(f"memory/ops/n{number:03}.md", f"# Note {number}\n\nword{number} and the quay\n")


@pytest.mark.rule("LANG-10", "RECALL-11")
def test_a_build_that_was_interrupted_goes_on(index_brain: IndexBrain) -> None:
    """The embedder fails after two batches; words answer, the failure is told, and the next build does the rest only."""
    write_notes(index_brain, MANY)
    failing = FailingEmbedder(good_calls=2)
    live = index_brain.open(failing)
    freshness = live.refresh(limit_s=None)
    assert freshness.embedder_failure == "The model went away."
    assert index_brain.find_words(live, "word5", freshness=freshness) == ["memory/ops/n005.md"]
    assert index_brain.count_waiting(live) == MANY - 2 * BATCH_TEXTS
    live.close()
    healthy = CountingEmbedder()
    again = index_brain.open(healthy)
    assert again.refresh(limit_s=None).embedder_failure is None
    assert index_brain.count_waiting(again) == 0
    assert len(embedded(failing, healthy)) == MANY
    assert set(embedded(failing, healthy).values()) == {1}


def test_no_time_embeds_one_batch(index_brain: IndexBrain) -> None:
    """A search that has no time makes one batch of vectors and not all that one file waits for."""
    index_brain.write("memory/ops/a.md", "".join(f"# Note {number}\n\nword{number}\n\n" for number in range(MANY)))
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    live.refresh(limit_s=0.0)
    assert [len(call) for call in embedder.passage_calls] == [BATCH_TEXTS]
    assert index_brain.count_waiting(live) == MANY - BATCH_TEXTS
    live.refresh(limit_s=None)
    assert set(embedded(embedder).values()) == {1}
    assert index_brain.count_waiting(live) == 0


def test_what_a_stopped_file_had_is_kept(index_brain: IndexBrain) -> None:
    """A failure in the middle of one large file keeps every batch before it."""
    index_brain.write("memory/ops/a.md", "".join(f"# Note {number}\n\nword{number}\n\n" for number in range(MANY)))
    failing = FailingEmbedder(good_calls=2)
    index_brain.open(failing).refresh(limit_s=None)
    healthy = CountingEmbedder()
    live = index_brain.open(healthy)
    live.refresh(limit_s=None)
    assert len(embedded(failing)) == 2 * BATCH_TEXTS
    assert set(embedded(failing, healthy).values()) == {1}
    assert index_brain.count_waiting(live) == 0


def test_a_large_file_is_cut_once(index_brain: IndexBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps its vectors take, the file is read and cut once for them."""
    monkeypatch.setattr(embedding, "_NOTES_TOGETHER", BATCH_TEXTS)
    cut = []

    def count(data: bytes, *, kind: str, path: str) -> object:
        cut.append(path)
        return parse_file(data, kind=kind, path=path)

    monkeypatch.setattr(embedding, "parse_file", count)
    index_brain.write("memory/ops/a.md", "".join(f"# Note {number}\n\nword{number}\n\n" for number in range(MANY)))
    live = index_brain.open(CountingEmbedder())
    live.refresh(limit_s=None)
    assert index_brain.count_waiting(live) == 0
    assert cut == ["ops/a.md"]


def test_one_text_in_many_files_is_embedded_once(index_brain: IndexBrain) -> None:
    """The same text in two hundred files is one vector, be they in one batch or in several."""
    for number in range(200):
        index_brain.write(f"memory/ops/n{number:03}.md", "# Same\n\nquay\n")
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    assert embedder.texts == 1
    assert index_brain.count_waiting(live) == 0
    assert len(index_brain.find_meaning(live, embedder, "quay")) == 200


def test_a_text_that_comes_back_is_not_embedded_again(index_brain: IndexBrain) -> None:
    """An editor empties a file and fills it again: the vectors are still there."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    for text in ("# A\n\nquay\n", "", "# A\n\nquay\n"):
        index_brain.write("memory/ops/a.md", text)
        live.refresh(limit_s=None)
    assert embedder.texts == 1
    assert index_brain.count_waiting(live) == 0


def test_a_file_that_changed_meanwhile_is_passed_over(index_brain: IndexBrain) -> None:
    """A vector is made of the text that was indexed and of no other; files that changed hold up nobody."""
    write_notes(index_brain, 80)
    failing = FailingEmbedder(good_calls=0)
    live = index_brain.open(failing)
    live.refresh(limit_s=None)
    for number in range(40, 80):
        (index_brain.root / f"memory/ops/n{number:03}.md").unlink()
    view = live.view(live.refresh(limit_s=0.0))
    opened = live.open_database()
    healthy = CountingEmbedder()
    work = embedding.Embedding(index_brain.root, opened, view.scanner, {view.models[healthy.identity]: healthy})
    index_brain.write("memory/ops/n000.md", "# Other\n\ntext\n")
    (index_brain.root / "memory/ops/n001.md").unlink()
    work.embed(is_over=lambda: False)
    assert healthy.texts == 38
    assert "word0" not in str(embedded(healthy))


@pytest.mark.rule("RECALL-11")
def test_another_size_of_vectors_starts_anew(index_brain: IndexBrain) -> None:
    """A model of the same name answers with 16 numbers instead of 8: nothing is compared, and all is made again."""
    write_notes(index_brain, MANY)
    embedder = CountingEmbedder(dimension=8)
    live = index_brain.open(embedder)
    live.refresh(limit_s=None)
    embedder.dimension = 16
    assert index_brain.find_words(live, "word5") == ["memory/ops/n005.md"]
    assert index_brain.count_waiting(live) == 0
    database = live.open_database()
    assert database.value("SELECT dimension FROM models") == 16
    for length, size in database.rows("SELECT length, length(vectors) FROM segments"):
        assert size == length * 16 * 4
    assert len(index_brain.find_meaning(live, embedder, "word5")) == MANY


def test_another_size_that_shows_only_at_the_first_call(index_brain: IndexBrain) -> None:
    """An endpoint does not know its size before it answers; a new note is enough to find out, and no note is left over."""
    write_notes(index_brain, MANY)
    index_brain.open(CountingEmbedder(dimension=8)).refresh(limit_s=None)
    late = CountingEmbedder(dimension=0)
    real = late.embed_passages

    def answer(texts: Sequence[str]) -> Vectors:
        late.dimension = 16
        return real(texts)

    late.embed_passages = answer  # type: ignore[method-assign]
    live = index_brain.open(late)
    index_brain.write("memory/ops/one more.md", "# More\n\nlamp\n")
    live.refresh(limit_s=None)
    assert index_brain.count_waiting(live) == 0
    assert len(index_brain.find_meaning(live, late, "lamp")) == MANY + 1


def test_a_size_that_shows_in_a_question_is_kept_in_mind(index_brain: IndexBrain) -> None:
    """A process that only asks, and ends, leaves the notes to be embedded by the next one."""
    write_notes(index_brain, 5)
    index_brain.open(CountingEmbedder(dimension=8)).refresh(limit_s=None)
    late = CountingEmbedder(dimension=0)
    live = index_brain.open(late)
    assert live.refresh(limit_s=None).embedder_failure is None
    late.dimension = 16
    assert index_brain.count_waiting(live) == 0
    live.close()
    following = CountingEmbedder(dimension=0)
    following.dimension = 16
    again = index_brain.open(following)
    again.refresh(limit_s=None)
    assert following.texts == 5
    assert index_brain.count_waiting(again) == 0


def test_two_models_keep_apart(index_brain: IndexBrain) -> None:
    """Another model makes vectors of its own, and going back to the first costs nothing."""
    write_notes(index_brain, 5)
    first, second = CountingEmbedder(name="one"), CountingEmbedder(name="two", dimension=16)
    index_brain.open(first).refresh(limit_s=None)
    live = index_brain.open(second)
    assert len(index_brain.find_meaning(live, second, "word1")) == 5
    live.close()
    back = index_brain.open(first)
    assert len(index_brain.find_meaning(back, first, "word1")) == 5
    assert len(first.passage_calls) == 1
    assert second.texts == 5 + 1


def test_notes_of_a_model_that_is_not_open_hold_up_nobody(index_brain: IndexBrain) -> None:
    """While the index still waits to be made anew for another model, no note of the old one is asked for."""
    write_notes(index_brain, 40)
    index_brain.open(FailingEmbedder(good_calls=0)).refresh(limit_s=None)
    other = CountingEmbedder(name="two")
    live = index_brain.open(other)
    freshness = live.refresh(limit_s=0.1)
    assert freshness.failure
    assert other.texts == 0
    assert live.refresh(limit_s=None).failure is None
    assert other.texts == 40


@pytest.mark.parametrize(
    "text", ["", " \n\t\n", "# Title\n", "---\ntitle: x\n---\n", "---\n---\n", "\ufeff", "```\n```\n"]
)
def test_an_empty_file_asks_no_embedder_for_a_blank_text(index_brain: IndexBrain, text: str) -> None:
    """The embedder that refuses blank texts is never given one (O-65), and the second look does no work."""
    embedder = CountingEmbedder()
    index_brain.write("memory/ops/a.md", text)
    live = index_brain.open(embedder)
    assert live.refresh(limit_s=None).embedder_failure is None
    called = embedder.calls
    live.refresh(limit_s=None)
    assert embedder.calls == called
    assert index_brain.count_waiting(live) == 0
