"""The offline model on the brain that ships: the questions of README and the help pages, and a hook's real run."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.engine import SearchOptions
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.runtime.loop.turn_runs import run_with_model
from omnislash.testing import CountingEmbedder, FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)


def copy_example(place: Path) -> Path:
    """Return a copy of brain-example."""
    return shutil.copytree(ROOT / "brain-example", place / "brain", ignore=shutil.ignore_patterns(".omnislash"))


def open_example(place: Path, clock: FixedClock | None = None) -> Brain:
    """Return a brain, with a stand-in that reads its notes cheaply."""
    return Brain.open(
        place, clock=clock or FixedClock(NOW), search=SearchOptions(catch_up_s=None, embedders=(CountingEmbedder(),))
    )


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brain]:
    """A copy of brain-example; its questions change nothing."""
    with open_example(copy_example(tmp_path_factory.mktemp("example"))) as brain:
        yield brain


def ask(brain: Brain, question: str) -> list[str]:
    """Return what is quoted, without the notice and with nothing else said."""
    return brain.agent("nova").run(question).text.partition("\n\n(")[0].splitlines()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("May I ring Tomek at eight?", "- Tomek is not rung before nine. [main/MEMORY.md]"),
        ("may I ring Tomek at eight", "- Tomek is not rung before nine. [main/MEMORY.md]"),
        ("Can Mila eat hazelnuts?", "- Mila, their daughter, is seven and may not have hazelnuts: "),
        (
            "What did we promise the midwife?",
            "- Promise to the midwife, Frau Behrens: if her bike breaks down she gets ",
        ),
        ("When does the Weiher school answer?", "- Weiher primary school answers our offer by 4 December. "),
        ("Who keeps the books?", "- Lena, Tomek's wife, keeps the books on Saturdays and writes Russian. "),
    ],
)
def test_a_question_of_the_example_opens_with_its_sentence_of_memory(
    example: Brain, question: str, answer: str
) -> None:
    """Word for word, from the MEMORY.md that the turn carries; at most three notes are quoted."""
    lines = ask(example, question)

    assert lines[0].startswith(answer)
    assert all(line.startswith("- ") for line in lines)
    assert len(lines) <= 3


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("when may Tomek be rung?", "- Tomek is not rung before nine. [main/MEMORY.md]"),
        ("What does the winter check cost?", "- Winter check 64 € from 1 December. "),
        ("How many winter checks a day?", "- At most six winter checks a day, "),
        ("Где Лена ищет чеки за неделю?", "Чеки за неделю она ищет в синей папке, в пятницу вечером "),
        ("Что с велосипедом Веры Андреевны?", "- Вера Андреевна: складной велосипед, подарок мужа 1989 года. "),
        ("кто ведёт чеки в синей папке", "Чеки за неделю она ищет в синей папке, в пятницу вечером "),
    ],
)
def test_a_sentence_of_memory_is_among_the_notes_that_are_quoted(example: Brain, question: str, part: str) -> None:
    """Newer notes of the logs may come first, but what MEMORY.md says is not left out for them."""
    assert any((part in line and line.endswith("[main/MEMORY.md]")) or line == part for line in ask(example, question))


def test_a_question_that_memory_does_not_answer_gets_no_answer(example: Brain) -> None:
    """A note of the same person is called the closest one at most; no elephant is in any note."""
    assert ask(example, "Когда можно звонить Томеку?")[0] in {
        "Такими словами в памяти об этом не сказано. Ближе всего:",
        "В памяти об этом ничего не найдено.",
    }
    assert ask(example, "Who sells elephants?")[0] == "Nothing about this was found in memory."


# -- hooks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("Remember: something was written.", "something was written."),
        ("Merke dir: Es wurde geschrieben.", "Es wurde geschrieben."),
        ("Запомни: что-то записано.", "что-то записано."),
    ],
)
def test_a_hook_keeps_its_own_words_and_not_those_of_its_events(tmp_path: Path, body: str, written: str) -> None:
    """A real run, from the write that called it to the entry that it leaves."""
    root = copy_example(tmp_path)
    hook = root / "features/team/noticed.hook.md"
    hook.write_text(f"---\non: [memory:written]\nagent: {{role: ops}}\n---\n{body}\n", encoding="utf-8")
    clock = FixedClock(NOW)
    with open_example(root, clock) as brain:
        scheduler = Scheduler(brain._ports(), run_with_model, threaded=False)
        scheduler.look()
        brain.agent("nova").memory.write("The choir came.")
        clock.advance(timedelta(seconds=5))
        scheduler.look()
        (hook_run,) = [one for one in brain.heartbeats().to_json()["hooks"] if one["name"] == "noticed"]

    entries = (root / "memory/ops/2026/12/2026-12-01.md").read_text(encoding="utf-8").splitlines()[2:]
    assert hook_run["last"]["outcome"] == "done"
    assert entries == [f"- 09:30 {written}"]
