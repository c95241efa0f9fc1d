"""Failure cases about languages: O-42 to O-45."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from omnislash import Agent
    from tests.cases.conftest import CaseBrain, MakeBrain

RUSSIAN = "memory: {languages: [english, russian]}\n"
WORDS_ONLY = "memory: {languages: [english, russian], embeddingModel: none}\n"
#: With the models of this installation, whichever they are, and without any.
both = pytest.mark.parametrize("settings", [RUSSIAN, WORDS_ONLY], ids=["models", "words only"])


def found(agent: Agent, words: str, **options: Any) -> list[str]:
    """Return what the hits say."""
    return [hit.snippet.removeprefix("- ") for hit in agent.memory.search(words, **options).hits]


@pytest.mark.rule("LANG-02", "LANG-04", "LANG-O4", "LANG-O5")
@both
def test_o_42_yo_and_ye(make_brain: MakeBrain, settings: str) -> None:
    """Both letters are one, in every form of the word and in capitals."""
    brain = make_brain(files={"omnislash.yaml": settings})
    brain.remember("- клён у ворот\n- посадить клен\n- аллея с клёном\n- ЁЛКА во дворе\n")

    for words in ("клён", "клен", "кленом", "клёном"):
        assert set(found(brain.agent(), words)) == {"клён у ворот", "посадить клен", "аллея с клёном"}, words
    for words in ("елка", "ёлки"):
        assert found(brain.agent(), words)[0] == "ЁЛКА во дворе", words


@pytest.mark.rule("LANG-08")
@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("修理渔网", "昨天在码头修理渔网很久"),
        ("渔网", "昨天在码头修理渔网很久"),
        ("缓存服务", "Redis缓存服务重启完毕"),
        ("Redis缓存", "Redis缓存服务重启完毕"),
    ],
)
@both
def test_o_43_writing_without_spaces(make_brain: MakeBrain, settings: str, words: str, entry: str) -> None:
    """It is found by its characters; without a model that reads it, what is not found is not said to be absent."""
    brain = make_brain(files={"omnislash.yaml": settings})
    brain.remember("- 昨天在码头修理渔网很久\n- Redis缓存服务重启完毕\n")

    assert found(brain.agent(), words)[:1] == [entry]
    if settings is WORDS_ONLY:
        assert brain.agent().memory.search(words).coverage == "incomplete"
        missing = brain.agent().memory.search("完全没有")
        assert (missing.hits, missing.coverage) == ((), "not-checked")


@pytest.mark.rule("LANG-02", "LANG-03")
@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("testing conventions", "Tests live next to the source file."),
        ("cached", "Caching is off for signed-in pages."),
        ("cache", "Caching is off for signed-in pages."),
    ],
)
def test_o_44_plural_and_gerund(brain: CaseBrain, words: str, entry: str) -> None:
    """Another form of the word finds the entry."""
    brain.remember("- Tests live next to the source file.\n- Caching is off for signed-in pages.\n")

    assert found(brain.agent(), words)[:1] == [entry]


ENGLISH = [
    "depot",
    "anchor",
    "harbour",
    "kettle",
    "ladder",
    "window",
    "bridge",
    "copper",
    "forest",
    "garden",
    "parcel",
    "invoice",
    "meeting",
    "report",
    "ferry",
]
CYRILLIC = [
    "склад",
    "якорь",
    "гавань",
    "чайник",
    "лестница",
    "окно",
    "мост",
    "медь",
    "лес",
    "сад",
    "посылка",
    "счёт",
    "встреча",
    "отчёт",
    "паром",
]
ENDINGS = {True: ("", "s", "'s"), False: ("", "а", "ом")}


@pytest.mark.parametrize("rounds", [1, pytest.param(3, marks=pytest.mark.long)])
def test_o_45_stemming_in_eight_threads(make_brain: MakeBrain, rounds: int) -> None:
    """Two hundred questions in eight threads, three rounds, have the answers that they have one after another."""
    brain = make_brain(files={"omnislash.yaml": WORDS_ONLY})
    pairs = [(words, number) for number in range(150) for words in (ENGLISH, CYRILLIC)]
    brain.remember("".join(f"- {words[n % 15]} {words[(n * 7 + 3) % 15]} {n}\n" for words, n in pairs))
    questions = [
        f"{words[n % 15]}{ENDINGS[words is ENGLISH][n % 3]} {words[(n * 4 + 1) % 15]}"
        for n in range(100)
        for words in (ENGLISH, CYRILLIC)
    ]
    agent = brain.agent()
    right = [found(agent, each) for each in questions]
    assert all(right)
    wrong: list[str] = []

    def ask(offset: int) -> None:
        try:
            for number in range(offset, offset + len(questions)):
                place = number % len(questions)
                if found(agent, questions[place]) != right[place]:
                    wrong.append(questions[place])
        except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
            wrong.append(repr(error))

    for _ in range(rounds):
        threads = [threading.Thread(target=ask, args=(25 * number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert wrong == []
