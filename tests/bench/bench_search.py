"""Measure how well search finds, on public data by argument and on question sets of our own.

The product is driven as a program would: a brain in a directory, an agent, `memory.search` without a floor.
Beside its order stand, from the same searches of the same run, what each part alone would give: the documented score, the
meaning alone, the words alone (share of the question's words by their rarity).
Constants were searched for on conversations 0, 2, 4, 6 and 8 and on the low-overlap questions, but the figures of the
other conversations stood beside them all along and had a say in the last choices: they are no untouched test.

Run it with `make bench-search`; without data only our own sets are measured.
`--cache FILE` keeps vectors between runs, `--questions N` takes fewer questions of each kind.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.engine import SearchOptions  # noqa: E402 - the same
from omnislash.index.embedders.minilm import MiniLM  # noqa: E402 - the same
from omnislash.index.embedders.multilingual import MultilingualE5, is_installed  # noqa: E402 - the same
from omnislash.recall.hits import Request  # noqa: E402 - the same
from omnislash.recall.search import score_notes  # noqa: E402 - the same
from omnislash.testing.clock import FixedClock  # noqa: E402 - the same
from tests.bench import search_sets  # noqa: E402 - the same
from tests.bench.ranking_figures import ndcg, recall_at, reciprocal_rank, summarise  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from omnislash.index.embedders.ports import Calibration, Embedder, Vectors
    from tests.bench.ranking_figures import Figure

T = TypeVar("T")
#: What identifies a note: its day, or the name of its file, and its first line.
Key = tuple[str, int]
Rankings = dict[str, list[int]]

#: Hits that are asked for: as many as the tool gives.
HITS = 100
#: Lines before the first entry of a log: its heading and a blank one.
HEAD_LINES = 2
NOTES_A_DAY = 6
PRODUCT, SCORE, MEANING, WORDS = "the product's order", "the score alone", "meaning alone", "words alone"
METHODS = (PRODUCT, SCORE, MEANING, WORDS)
ROLE = "---\nmemory: {{ recall: [{recalled}] }}\ncapabilities: [memory:read]\n---\nA bench role.\n"
RECALL_FLOOR = 0.41


# -- vectors ---------------------------------------------------------------------------------------------------------


class VectorStore:
    """Vectors by what was embedded, so that no text goes through a model twice, and none again in the next run."""

    def __init__(self, place: Path | None) -> None:
        """Read the file when there is one."""
        self._place = place
        self._known: dict[bytes, Any] = {}
        if place is not None and place.is_file():
            with np.load(place) as kept:
                self._known = {bytes(key): vector for key, vector in zip(kept["keys"], kept["vectors"], strict=True)}
        self._read = len(self._known)

    def get(self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        """Return the vectors of texts, from the model where they are not known."""
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).digest() for text in texts]
        missing = [place for place, key in enumerate(keys) if key not in self._known]
        if missing:
            for place, vector in zip(missing, embed([texts[place] for place in missing]), strict=True):
                self._known[keys[place]] = np.asarray(vector, np.float32)
        found: Vectors = np.stack([self._known[key] for key in keys])
        return found

    def save(self) -> None:
        """Write the file when something was added."""
        if self._place is not None and len(self._known) > self._read:
            keys = np.frombuffer(b"".join(self._known), np.uint8).reshape(-1, 32)
            with self._place.open("wb") as file:
                np.savez(file, keys=keys, vectors=np.stack(list(self._known.values())))
            self._read = len(self._known)


class Remembering:
    """An embedder that asks the store first."""

    def __init__(self, embedder: Embedder, store: VectorStore) -> None:
        """Take over what the embedder says of itself."""
        self._embedder, self._store = embedder, store
        self.name, self.dimension, self.window = embedder.name, embedder.dimension, embedder.window
        self.identity: str = embedder.identity
        self.calibration: Calibration = embedder.calibration
        self.reads, self.load = embedder.reads, embedder.load

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes."""
        return self._store.get(f"{self.identity} passage", texts, self._embedder.embed_passages)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        embed = self._embedder.embed_query
        found: Vectors = self._store.get(f"{self.identity} query", [text], lambda texts: embed(texts[0])[None])[0]
        return found


# -- brains ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Corpus:
    """Notes as they lie in files, and which item each of them belongs to."""

    languages: tuple[str, ...] = ("english",)
    #: Lines of each daily log.
    logs: dict[date, list[str]] = field(default_factory=dict)
    #: Texts of authored files, by name.
    documents: dict[str, str] = field(default_factory=dict)
    items: dict[Key, int] = field(default_factory=dict)

    def log(self, on: date, entry: str, item: int, clock: str = "09:00") -> None:
        """Add an entry to a day."""
        lines = self.logs.setdefault(on, [])
        lines.append(f"- {clock} {entry}")
        self.items[on.isoformat(), HEAD_LINES + len(lines)] = item

    def write(self, root: Path) -> None:
        """Write the brain."""
        (root / "features" / "bench").mkdir(parents=True)
        (root / "content").mkdir()
        (root / "memory").mkdir()
        languages = ", ".join(self.languages)
        settings = f"memory:\n  sources: [content]\n  languages: [{languages}]\n"
        (root / "omnislash.yaml").write_text(settings, encoding="utf-8")
        role = ROLE.format(recalled="content" if self.documents else "")
        (root / "features" / "bench" / "reader.agent.md").write_text(role, encoding="utf-8")
        for on, lines in self.logs.items():
            place = root / "memory" / "main" / f"{on:%Y}" / f"{on:%m}" / f"{on.isoformat()}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"# {on.isoformat()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
        for name, text in self.documents.items():
            (root / "content" / name).write_text(text + "\n", encoding="utf-8")

    def find_item(self, place: str, on: str, line: int) -> int | None:
        """Return the item of a note: a file of its own, or an entry of a day."""
        name = place.rsplit("/", 1)[-1]
        return int(name.removesuffix(".md")) if name in self.documents else self.items.get((on, line))


class Searcher:
    """One open brain, asked again and again."""

    def __init__(self, brain: Brain, corpus: Corpus, today: date) -> None:
        """Bring the index up to date."""
        self._brain, self._corpus, self._today = brain, corpus, today
        self._agent = brain.agent("reader")
        brain.index.refresh(limit_s=None)

    def search(self, question: str) -> Rankings:
        """Return the items in the order of the product, and in that of each part alone."""
        hits = self._agent.memory.search(question, limit=HITS, min_score=0).hits
        found = (self._corpus.find_item(hit.path, str(hit.date), hit.span[0]) for hit in hits)
        return {PRODUCT: once(found), **self._rank_parts(question)}

    def best_score(self, message: str) -> float:
        """Return the highest score that any note has for a message; 0 when nothing was found."""
        hits = self._agent.memory.search(message, limit=HITS, min_score=0).hits
        return max((hit.score for hit in hits), default=0.0)

    def _rank_parts(self, question: str) -> Rankings:
        view = self._brain.index.view(self._brain.index.refresh(limit_s=None))
        refs = self._agent.scope.readable
        scored = score_notes(view, Request(query=question, refs=refs, floor=0, limit=HITS, today=self._today))
        values = {SCORE: scored.score, MEANING: scored.meaning.scaled, WORDS: scored.words.coverage}
        inside = np.flatnonzero(scored.allowed)
        return {name: once(map(partial(self._item_of, view), best(each, inside))) for name, each in values.items()}

    def _item_of(self, view: Any, note: int) -> int | None:
        record, file = view.snapshot.notes[note], view.snapshot.files[view.snapshot.file_of[note]]
        on = date.fromordinal(int(record["on"])).isoformat() if record["on"] else ""
        return self._corpus.find_item(file.place, on, int(record["first_line"]))


def best(values: NDArray[np.float64], inside: NDArray[np.int64]) -> list[int]:
    """Return the notes with the highest values, best first; a note with nothing is not found.

    Equals are shuffled, the same way each time: the order in which files lie says nothing about them.
    """
    shuffled = np.random.default_rng(len(inside)).permutation(inside)
    ordered = shuffled[np.argsort(-values[shuffled], kind="stable")][: 4 * HITS]
    found: list[int] = ordered[values[ordered] > 0].tolist()
    return found


def once(items: Iterable[int | None]) -> list[int]:
    """Return each item at its best place."""
    return [item for item in dict.fromkeys(items) if item is not None]


@contextmanager
def opened(corpus: Corpus, embedders: Sequence[Embedder]) -> Iterator[Searcher]:
    """Write a brain, open it the day after its last log, and take it away again."""
    root = Path(tempfile.mkdtemp(prefix="omnislash-bench-"))
    try:
        corpus.write(root)
        today = max(corpus.logs, default=date(2026, 11, 30)) + timedelta(days=1)
        clock = FixedClock(datetime(today.year, today.month, today.day, 12, tzinfo=UTC))
        options = SearchOptions(catch_up_s=None, embedders=tuple(embedders))
        with Brain.open(root, clock=clock, search=options) as brain:
            yield Searcher(brain, corpus, today)
    finally:
        shutil.rmtree(root, ignore_errors=True)


# -- conversations ---------------------------------------------------------------------------------------------------

FIGURES = ("recall@5", "recall@10", "MRR", "nDCG@10", "hit@1", "session recall@5")
#: For each method, for each question, its figures.
Figures = dict[str, list[tuple[float, ...]]]


def judge_turns(
    ranking: list[int], question: search_sets.Question, first: int, session_of: Mapping[int, int]
) -> tuple[float, ...]:
    """Return the figures of one question; `first` is the number of its conversation's first turn."""
    wanted = {first + turn for turn in question.turns}
    sessions = once(session_of[turn] for turn in ranking)
    wanted_sessions = {session_of[turn] for turn in wanted}
    return (
        recall_at(ranking, wanted, 5),
        recall_at(ranking, wanted, 10),
        reciprocal_rank(ranking, wanted),
        ndcg(ranking, wanted),
        float(ranking[:1] != [] and ranking[0] in wanted),
        recall_at(sessions, wanted_sessions, 5),
    )


def lay_out(conversations: Sequence[search_sets.Conversation]) -> tuple[Corpus, list[int], dict[int, int]]:
    """Return conversations as the daily logs of one line, the number of each one's first turn, and each turn's session."""
    corpus, firsts = Corpus(), list[int]()
    session_of: dict[int, int] = {}
    for number, conversation in enumerate(conversations):
        firsts.append(len(session_of))
        for turn in conversation.turns:
            item = len(session_of)
            session_of[item] = 1000 * number + turn.session
            corpus.log(turn.at.date(), turn.text, item, f"{turn.at:%H:%M}")
    return corpus, firsts, session_of


def measure_line(
    conversations: Sequence[search_sets.Conversation], embedders: Sequence[Embedder], questions: int | None
) -> list[Figures]:
    """Return the figures of each conversation, all of them in one line."""
    corpus, firsts, session_of = lay_out(conversations)
    found: list[Figures] = []
    with opened(corpus, embedders) as searcher:
        for conversation, first in zip(conversations, firsts, strict=True):
            figures: Figures = {method: [] for method in METHODS}
            for question in thin(conversation.questions, questions):
                for method, ranking in searcher.search(question.text).items():
                    figures[method].append(judge_turns(ranking, question, first, session_of))
            found.append(figures)
    return found


def thin(items: Sequence[T], wanted: int | None) -> Sequence[T]:
    """Return so many items at even distances; all when none is said."""
    return items if wanted is None else items[:: max(1, len(items) // wanted)]


def print_turns(title: str, parts: Sequence[Figures]) -> dict[str, list[Figure]]:
    """Print a table of the questions of some conversations, a row for each method, and return it."""
    rows = {method: [row for part in parts for row in part[method]] for method in METHODS}
    table = {method: [summarise(column) for column in zip(*found, strict=True)] for method, found in rows.items()}
    print(f"\n{title}, {len(rows[PRODUCT]):,} questions")
    print(f"  {'':<20}" + "".join(f"{name:<19}" for name in FIGURES))
    for method, figures in table.items():
        print(f"  {method:<20}" + "".join(f"{figure!s:<19}" for figure in figures))
    return table


def measure_conversations(given: argparse.Namespace, embedders: Sequence[Embedder]) -> list[Goal]:
    """Measure each conversation in a line of its own, then all in one."""
    conversations = search_sets.read_conversations(given.locomo, given.corrections)
    apart = [figures for each in conversations for figures in measure_line([each], embedders, given.questions)]
    print_turns(
        "LoCoMo, a line for each conversation: the even ones, on which constants were searched for", apart[0::2]
    )
    odd = print_turns("LoCoMo, the odd ones", apart[1::2])[PRODUCT]
    both = print_turns("LoCoMo, all", apart)[PRODUCT]
    pooled = print_turns("LoCoMo, all in one line", measure_line(conversations, embedders, given.questions))[PRODUCT]
    return [
        Goal("LoCoMo turn recall@5, all", both[0].mean, 0.66),
        Goal("LoCoMo turn recall@5, odd conversations", odd[0].mean, 0.66),
        Goal("LoCoMo session recall@5, all", both[5].mean, 0.87),
        Goal("LoCoMo session recall@5, odd conversations", odd[5].mean, 0.87),
        Goal("LoCoMo turn recall@5, pooled (no goal of its own)", pooled[0].mean, 0.66),
    ]


# -- questions with one answer ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure, and what the issue asks of it."""

    name: str
    value: float
    least: float

    def render(self) -> str:
        """Return the row that is printed."""
        return f"  {self.name:<62} {self.value:6.3f}   goal >= {self.least:<6.3f} {'met' if self.value >= self.least else 'NOT MET'}"


def measure_single(
    title: str, corpus: Corpus, questions: Sequence[tuple[str, int]], embedders: Sequence[Embedder]
) -> dict[str, float]:
    """Print recall@1 and MRR of questions that each have one right item; return recall@1 of each method."""
    figures: dict[str, list[tuple[float, float]]] = {method: [] for method in METHODS}
    with opened(corpus, embedders) as searcher:
        for question, item in questions:
            for method, ranking in searcher.search(question).items():
                figures[method].append((recall_at(ranking, [item], 1), reciprocal_rank(ranking, [item])))
    print(f"\n{title}, {len(questions):,} questions")
    first: dict[str, float] = {}
    for method, found in figures.items():
        at_one, rank = (summarise(column) for column in zip(*found, strict=True))
        first[method] = at_one.mean
        print(f"  {method:<20} recall@1 {at_one!s:<19} MRR {rank}")
    return first


def lay_out_notes(notes: Sequence[str], *, languages: tuple[str, ...], among: Iterable[Sequence[str]] = ()) -> Corpus:
    """Return notes as entries of daily logs, six a day, other logs' entries before them."""
    corpus, day = Corpus(languages), date(2024, 1, 1)
    for others in among:
        day += timedelta(days=1)
        for other in others:
            corpus.log(day, other, -1 - len(corpus.items))
    for number, note in enumerate(notes):
        corpus.log(day + timedelta(days=1 + number // NOTES_A_DAY), note, number)
    return corpus


def measure_pairs(
    title: str, name: str, language: str, embedders: Sequence[Embedder], among: Iterable[Sequence[str]] = ()
) -> dict[str, float]:
    """Measure one of our own sets."""
    pairs = search_sets.read_pairs(name)
    corpus = lay_out_notes([pair.note for pair in pairs], languages=languages_of(language), among=among)
    return measure_single(title, corpus, [(pair.question, number) for number, pair in enumerate(pairs)], embedders)


def languages_of(language: str) -> tuple[str, ...]:
    """Return what a brain of such people lists: a script has one language, so German stands alone."""
    return ("english", "russian") if language == "russian" else (language,)


def measure_low_overlap(given: argparse.Namespace, local: Sequence[Embedder]) -> list[Goal]:
    """Measure questions that share no word with their note, alone and among the observations of all conversations."""
    name, goals = "low_overlap_en", []
    alone = measure_pairs("Low overlap, English, 60 notes alone", name, "english", local)
    goals.append(Goal("low overlap, alone: R@1 less that of meaning alone", alone[PRODUCT] - alone[MEANING], -0.03))
    if given.locomo is not None:
        conversations = search_sets.read_conversations(given.locomo, given.corrections)
        noted = [session for conversation in conversations for session in conversation.observations]
        title = f"Low overlap, English, 60 notes among {sum(map(len, noted)):,} observations"
        among = measure_pairs(title, name, "english", local, noted)
        lost = among[PRODUCT] - among[MEANING]
        goals.append(Goal("low overlap, among observations: R@1 less that of meaning alone", lost, -0.03))
    return goals


def measure_inflected(models: Mapping[str, Sequence[Embedder]]) -> list[Goal]:
    """Measure questions in other forms of the note's words, in two languages."""
    goals = []
    for language, name in (("russian", "inflected_ru"), ("german", "inflected_de")):
        for model, embedders in models.items():
            first = measure_pairs(f"Inflected, {language}, {model}", name, language, embedders)
            if model != LOCAL:
                goals.append(Goal(f"inflected, {language}, {model}: R@1", first[PRODUCT], 0.95))
    return goals


def measure_paragraphs(given: argparse.Namespace, models: Mapping[str, Sequence[Embedder]]) -> list[Goal]:
    """Measure XQuAD: every paragraph a file of an authored source."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    files = {"english": given.xquad_en, "russian": given.xquad_ru}
    for language, path in files.items():
        if path is None:
            continue
        data = search_sets.read_paragraphs(path, questions=given.questions)
        corpus = Corpus(languages_of(language), documents={f"{n:04d}.md": each for n, each in enumerate(data.texts)})
        for model, embedders in models.items():
            found[language, model] = measure_single(f"XQuAD, {language}, {model}", corpus, data.questions, embedders)
    if len(found) < 2 * len(models) or EXTRA not in models:
        return []
    english, russian = found["english", EXTRA][PRODUCT], found["russian", EXTRA][PRODUCT]
    unharmed = english - found["english", LOCAL][PRODUCT]
    return [
        Goal("XQuAD with the extra: Russian R@1 less English R@1", russian - english, -0.05),
        Goal("XQuAD English: R@1 with the extra less without", unharmed, 0),
    ]


def measure_small_talk(models: Mapping[str, Sequence[Embedder]]) -> None:
    """Print which part of messages that no note answers would be answered at the floor of recall."""
    sets = {"en": ("english", "low_overlap_en"), "ru": ("russian", "inflected_ru"), "de": ("german", "inflected_de")}
    print(f"\nSmall talk: highest score of any of 60 notes, and share of messages at or above {RECALL_FLOOR}")
    for code, messages in search_sets.read_small_talk().items():
        language, name = sets[code]
        corpus = lay_out_notes([pair.note for pair in search_sets.read_pairs(name)], languages=languages_of(language))
        for model, embedders in models.items():
            with opened(corpus, embedders) as searcher:
                scores = np.array([searcher.best_score(message) for message in messages])
            print(
                f"  {language:<8} {model:<20} median {np.median(scores):.2f}, highest {scores.max():.2f}, "
                f"answered {(scores >= RECALL_FLOOR).mean():.2f} of {len(scores)}"
            )


# -- all of it -------------------------------------------------------------------------------------------------------

LOCAL, EXTRA, NONE = "local", "local-multilingual", "no embedder"


def parse_arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("locomo", "corrections", "xquad-en", "xquad-ru", "cache"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--questions", type=int, help="of each conversation, and of XQuAD; all by default")
    return parser.parse_args()


def main() -> None:
    """Print every figure, then what has a goal."""
    given = parse_arguments()
    store = VectorStore(given.cache)
    local: tuple[Embedder, ...] = (Remembering(MiniLM(), store),)
    models: dict[str, Sequence[Embedder]] = {LOCAL: local, NONE: ()}
    if is_installed():
        models[EXTRA] = (*local, Remembering(MultilingualE5(), store))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; models: {', '.join(models)}")
    began = time.monotonic()
    steps: list[Callable[[], list[Goal] | None]] = [
        partial(measure_low_overlap, given, local),
        partial(measure_inflected, models),
        partial(measure_small_talk, models),
        *([partial(measure_conversations, given, local)] if given.locomo else []),
        partial(measure_paragraphs, given, models),
    ]
    goals: list[Goal] = []
    for step in steps:
        goals += step() or []
        store.save()
    print(f"\ngoals ({time.monotonic() - began:.0f} s)")
    print("\n".join(goal.render() for goal in goals))


if __name__ == "__main__":
    main()
