"""Measure how quiet recall is: how often a turn is told something that it has no use for, with either gate.

The product is driven as a program would: brains in a directory, one role with `recallGate: floor`, one with `evidence`,
and `Agent.recall` with each message. Asked are ordinary prompts that have nothing to do with any memory, the questions
that a brain answers, and the same number of questions whose answer lies in another brain.

Constants of the gate were chosen on the even conversations and on our own sets; the odd conversations were seen several times on
the way, and nothing was changed for them. Questions of the odd ones seldom share a name with the brain that they are
asked of, those of the even ones often do, which is why their wrong brains differ.

Run it with `make bench-injection`; without data only our own sets are measured.
Vectors are kept between runs in the directory for temporary files; `--cache FILE` names another place.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain  # noqa: E402 - the repository has to be on the path first
from omnislash.engine import SearchOptions  # noqa: E402 - the same
from omnislash.index.embedders.minilm import MiniLM, load_model  # noqa: E402 - the same
from omnislash.index.embedders.multilingual import MultilingualE5, is_installed  # noqa: E402 - the same
from omnislash.recall.evidence import weigh_hits  # noqa: E402 - the same
from omnislash.recall.hits import Request  # noqa: E402 - the same
from omnislash.recall.search import choose, score_notes  # noqa: E402 - the same
from omnislash.testing.clock import FixedClock  # noqa: E402 - the same
from tests.bench import search_sets  # noqa: E402 - the same
from tests.bench.bench_search import (  # noqa: E402 - the same
    Corpus,
    Remembering,
    VectorStore,
    languages_of,
    lay_out,
    lay_out_notes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from omnislash.index.embedders.ports import Embedder
    from omnislash.recall.hits import Hit

GATES = FLOOR, EVIDENCE = "floor", "evidence"
ROLE = "---\nmemory: {{ recallGate: {gate} }}\ncapabilities: [memory:read]\n---\nA bench role.\n"
#: Kinds of messages.
RIGHT, WRONG, SMALL_LETTERS, ENGLISH, RUSSIAN, SMALL_TALK = (
    "right brain", "wrong brain", "wrong brain, small letters", "unrelated, English", "unrelated, Russian", "small talk",
)  # fmt: skip
#: The brain of a conversation is asked what the second next one answers, so that both are even or both are odd.
NEXT = 2
HALF = 30
#: Of the questions whose answer lies elsewhere, the brain of five conversations is asked every third.
POOLED_STEP = 3
#: Notes of the brain in which the gate is timed, and how often it decides.
TIMED_NOTES, TIMED_ROUNDS = 10_000, 200


# -- what is asked of which brain ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """Something that comes into a turn."""

    kind: str
    text: str
    #: Items that answer it.
    wanted: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """A brain, and what is asked of it in one session."""

    corpus: Corpus
    messages: tuple[Message, ...]


def unrelated() -> tuple[Message, ...]:
    """Return the prompts that have nothing to do with any memory, and the small talk of the bench of search."""
    prompts = search_sets.read_unrelated_prompts()
    kinds = {"en": ENGLISH, "ru": RUSSIAN}
    ordinary = (
        Message(kinds[code], text) for code, topics in prompts.items() for text in chain.from_iterable(topics.values())
    )
    return (*ordinary, *(Message(SMALL_TALK, text) for text in search_sets.read_small_talk()["en"]))


def ask_elsewhere(questions: Iterable[str]) -> Iterator[Message]:
    """Yield questions whose answer lies in another brain, as they are typed and without capitals."""
    for text in questions:
        yield Message(WRONG, text)
        yield Message(SMALL_LETTERS, text.lower())


def lay_out_observations(conversation: search_sets.Conversation) -> Corpus:
    """Return what was noted of each session as the daily log of its day."""
    corpus, days = Corpus(), {turn.session: turn.at.date() for turn in conversation.turns}
    for session, notes in enumerate(conversation.observations, 1):
        for note in notes:
            corpus.log(days[session], note, len(corpus.items))
    return corpus


def make_turns(conversations: Sequence[search_sets.Conversation], number: int) -> Case:
    """Return a brain of raw turns."""
    conversation, other = conversations[number], conversations[(number + NEXT) % len(conversations)]
    own = (Message(RIGHT, each.text, each.turns) for each in conversation.questions)
    return Case(lay_out([conversation])[0], (*own, *ask_elsewhere(each.text for each in other.questions), *unrelated()))


def make_observations(conversations: Sequence[search_sets.Conversation], number: int) -> Case:
    """Return a brain of distilled notes; what no note was taken from is not asked."""
    conversation, other = conversations[number], conversations[(number + NEXT) % len(conversations)]
    cited = list(enumerate(chain.from_iterable(conversation.observed)))
    wanted = [frozenset(item for item, turns in cited if turns & each.turns) for each in conversation.questions]
    own = (Message(RIGHT, each.text, w) for each, w in zip(conversation.questions, wanted, strict=True) if w)
    elsewhere = ask_elsewhere(each.text for each in other.questions)
    return Case(lay_out_observations(conversation), (*own, *elsewhere, *unrelated()))


def make_pooled(conversations: Sequence[search_sets.Conversation]) -> Case:
    """Return the turns of the even conversations in one brain, which is asked what the odd ones answer."""
    inside, outside = conversations[0::2], conversations[1::2]
    corpus, firsts, _ = lay_out(inside)
    own = (
        Message(RIGHT, each.text, frozenset(first + turn for turn in each.turns))
        for conversation, first in zip(inside, firsts, strict=True)
        for each in conversation.questions
    )
    questions = [each.text for conversation in outside for each in conversation.questions]
    return Case(corpus, (*own, *ask_elsewhere(questions[::POOLED_STEP]), *unrelated()))


def make_pairs(name: str, language: str) -> list[Case]:
    """Return one of our own sets as two brains of thirty notes; each is asked what the other one answers."""
    pairs = search_sets.read_pairs(name)
    cases = []
    for own, other in ((pairs[:HALF], pairs[HALF:]), (pairs[HALF:], pairs[:HALF])):
        corpus = lay_out_notes([pair.note for pair in own], languages=languages_of(language))
        asked = (Message(RIGHT, pair.question, frozenset({item})) for item, pair in enumerate(own))
        cases.append(Case(corpus, (*asked, *ask_elsewhere(pair.question for pair in other), *unrelated())))
    return cases


# -- asking ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Counts:
    """What happened with one gate, by kind of message."""

    asked: dict[str, int] = field(default_factory=dict)
    #: Messages with which at least one note was shown.
    told: dict[str, int] = field(default_factory=dict)
    #: Messages with which something that answers them was shown.
    answered: int = 0
    notes: int = 0
    #: Notes that had been shown in the session before.
    repeated: int = 0
    #: Of each block of a question of the right brain: quarters of its characters, and tokens.
    quarters: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def share(self, kind: str) -> float:
        """Return how often something was shown."""
        return self.told.get(kind, 0) / max(self.asked.get(kind, 0), 1)


class Asker:
    """One open brain."""

    def __init__(self, brain: Brain, corpus: Corpus, count_tokens: Callable[[str], int]) -> None:
        """Bring the index up to date."""
        self._brain, self._corpus, self._count_tokens = brain, corpus, count_tokens
        brain.index.refresh(limit_s=None)

    def ask(self, gate: str, messages: Sequence[Message], counts: Counts) -> None:
        """Ask every message with one gate, the questions of the right brain as one session."""
        agent, seen = self._brain.agent(gate), set[int]()
        for message in messages:
            found = agent.recall(message.text)
            kind = message.kind
            counts.asked[kind] = counts.asked.get(kind, 0) + 1
            counts.told[kind] = counts.told.get(kind, 0) + bool(found.hits)
            if kind == RIGHT:
                self._count(found.hits, found.block, message, seen, counts)

    def _count(self, hits: Sequence[Hit], block: str, message: Message, seen: set[int], counts: Counts) -> None:
        items = [
            item for hit in hits if (item := self._corpus.find_item(hit.path, str(hit.date), hit.span[0])) is not None
        ]
        counts.answered += bool(message.wanted.intersection(items))
        counts.notes += len(items)
        counts.repeated += len(seen.intersection(items))
        seen.update(items)
        counts.quarters.append(len(block) / 4)
        counts.tokens.append(self._count_tokens(block))


@contextmanager
def opened(corpus: Corpus, embedders: Sequence[Embedder]) -> Iterator[Brain]:
    """Write a brain with a role for each gate, open it the day after its last log, and take it away again."""
    root = Path(tempfile.mkdtemp(prefix="omnislash-bench-"))
    try:
        corpus.write(root)
        for gate in GATES:
            (root / "features" / "bench" / f"{gate}.agent.md").write_text(ROLE.format(gate=gate), encoding="utf-8")
        today = max(corpus.logs) + timedelta(days=1)
        clock = FixedClock(datetime(today.year, today.month, today.day, 12, tzinfo=UTC))
        with Brain.open(root, clock=clock, search=SearchOptions(catch_up_s=None, embedders=tuple(embedders))) as brain:
            yield brain
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure(
    cases: Iterable[Case], embedders: Sequence[Embedder], count_tokens: Callable[[str], int]
) -> dict[str, Counts]:
    """Return what happened in some brains, for each gate."""
    counts = {gate: Counts() for gate in GATES}
    for case in cases:
        with opened(case.corpus, embedders) as brain:
            asker = Asker(brain, case.corpus, count_tokens)
            for gate in GATES:
                asker.ask(gate, case.messages, counts[gate])
    return counts


# -- the table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure, and the most or the least that the issue asks of it."""

    name: str
    value: float
    most: float | None = None
    least: float | None = None

    def render(self) -> str:
        """Return the row that is printed."""
        is_met = self.value <= self.most if self.most is not None else self.value >= (self.least or 0)
        bound = f"<= {self.most:.2f}" if self.most is not None else f">= {self.least:.2f}"
        return f"  {self.name:<66} {self.value:6.3f}   goal {bound}   {'met' if is_met else 'NOT MET'}"


COLUMNS = (
    ("en", ENGLISH), ("ru", RUSSIAN), ("talk", SMALL_TALK), ("wrong", WRONG), ("small l.", SMALL_LETTERS), ("right", RIGHT),
)  # fmt: skip


def print_table(title: str, counts: dict[str, Counts]) -> None:
    """Print how often each gate shows something, and what it costs."""
    print(f"\n{title}, {counts[FLOOR].asked[RIGHT]:,} questions that it answers")
    print(f"  {'gate':<9}" + "".join(f"{name:>9}" for name, _ in COLUMNS), end="")
    print(f"{'evidence':>10}{'notes':>7}{'chars/4':>9}{'tokens':>8}{'repeats':>9}")
    for gate, found in counts.items():
        asked = found.asked[RIGHT]
        print(f"  {gate:<9}" + "".join(f"{found.share(kind):9.3f}" for _, kind in COLUMNS), end="")
        print(f"{found.answered / asked:10.3f}{found.notes / asked:7.2f}", end="")
        print(f"{np.mean(found.quarters):9.0f}{np.mean(found.tokens):8.0f}{found.repeated / max(found.notes, 1):9.3f}")


def set_goals(title: str, counts: dict[str, Counts], *, is_distilled: bool = False) -> list[Goal]:
    """Return what the issue asks of one set."""
    floor, evidence = counts[FLOOR], counts[EVIDENCE]
    worst = max(evidence.share(ENGLISH), evidence.share(RUSSIAN))
    goals = [Goal(f"{title}: evidence, unrelated, worse language", worst, most=0.02)]
    if is_distilled:
        highest = max(floor.share(ENGLISH), floor.share(RUSSIAN))
        goals.insert(0, Goal(f"{title}: floor, unrelated, worse language", highest, most=0.01))
    return [
        *goals,
        Goal(f"{title}: evidence, wrong brain", evidence.share(WRONG), most=0.10),
        Goal(f"{title}: of floor's evidence kept", evidence.answered / max(floor.answered, 1), least=0.90),
    ]


def measure_time(embedders: Sequence[Embedder]) -> None:
    """Print how long the gate takes to decide in a large brain, the search left out."""
    corpus, words = Corpus(), np.random.default_rng(7).integers(0, 5_000, (TIMED_NOTES, 12))
    for number, each in enumerate(words.tolist()):
        corpus.log(date(2024, 1, 1) + timedelta(days=number // 20), " ".join(f"w{word}" for word in each), number)
    with opened(corpus, [TimedSpace(each) for each in embedders[:1]]) as brain:
        view = brain.index.view(brain.index.refresh(limit_s=None))
        refs = brain.agent(FLOOR).scope.recalled
        text = "Could Maria tell me when " + " ".join(f"w{number}" for number in range(12))
        scored = score_notes(view, Request(query=text, refs=refs, floor=0, limit=8, today=date(2026, 1, 1)))
        notes = [hit.note for hit in choose(view, scored, looks_below=False).hits]
        took = []
        for _ in range(TIMED_ROUNDS):
            began = time.perf_counter()
            weigh_hits(scored, notes)
            took.append(1000 * (time.perf_counter() - began))
    middle, high = np.percentile(took, [50, 95])
    print(
        f"\nThe gate decides over {len(notes)} hits among {TIMED_NOTES:,} notes in {middle:.2f} ms (p95 {high:.2f} ms)"
    )


class TimedSpace(Remembering):
    """Random vectors: what a text means does not matter for how long it takes."""

    def __init__(self, embedder: Any) -> None:
        """Take over what the embedder says of itself; ask it nothing."""
        super().__init__(embedder, VectorStore(None))
        self._chance = np.random.default_rng(7)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one vector a text, of unit length."""
        found = self._chance.standard_normal((len(texts), self.dimension)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Any:
        """Return one vector."""
        return self.embed_passages([text])[0]


# -- all of it -------------------------------------------------------------------------------------------------------


def make_sets(given: argparse.Namespace) -> Iterator[tuple[str, Iterable[Case], bool]]:
    """Yield the title, the brains, and whether the notes are distilled, of each set; brains are made when they are asked."""
    for title, name, language in (
        ("Inflected, Russian", "inflected_ru", "russian"),
        ("Inflected, German", "inflected_de", "german"),
        ("Low overlap, English", "low_overlap_en", "english"),
    ):
        yield title, make_pairs(name, language), False
    if given.locomo is None:
        return
    conversations = search_sets.read_conversations(given.locomo, given.corrections)
    for half, numbers in (("even", range(0, 10, 2)), ("odd", range(1, 10, 2))):
        yield f"LoCoMo turns, {half}", (make_turns(conversations, number) for number in numbers), False
    for half, numbers in (("even", range(0, 10, 2)), ("odd", range(1, 10, 2))):
        yield f"LoCoMo observations, {half}", (make_observations(conversations, number) for number in numbers), True
    yield "LoCoMo turns, five in one brain", [make_pooled(conversations)], False


def parse_arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--corrections", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "omnislash-bench-injection.npz")
    return parser.parse_args()


def main() -> None:
    """Print a table for each set, then what has a goal."""
    given, began = parse_arguments(), time.monotonic()
    store = VectorStore(given.cache)
    embedders: list[Embedder] = [Remembering(MiniLM(), store)]
    if is_installed():
        embedders.append(Remembering(MultilingualE5(), store))
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; models: {', '.join(each.name for each in embedders)}"
    )
    print(
        "How often something is shown: with unrelated prompts (en, ru), small talk, questions of another brain (wrong; small"
    )
    print(
        "l. = without capitals), and its own (right). Then how often a note that answers is shown, notes, chars/4 and tokens a"
    )
    print("turn with its own questions, and the share of the notes that the session was shown before.")
    tokenizer = load_model().tokenizer
    tokenizer.no_truncation()
    goals: list[Goal] = []
    for title, cases, is_distilled in make_sets(given):
        counts = measure(cases, embedders, lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids))
        print_table(title, counts)
        sys.stdout.flush()
        goals += set_goals(title, counts, is_distilled=is_distilled)
        store.save()
    measure_time(embedders)
    print(f"\ngoals ({time.monotonic() - began:.0f} s)")
    print("\n".join(goal.render() for goal in goals))


if __name__ == "__main__":
    main()
