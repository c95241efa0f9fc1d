"""The data that search is measured with, as plain values; nothing here knows the product.

LoCoMo: ten long conversations of two people, with questions whose evidence is known turn by turn.
XQuAD: paragraphs and their questions, the same ones in several languages; asked for is the paragraph of a question.
Question sets of our own, in `data/`: sixty notes and questions each, written before any ranking was looked at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent / "data"
#: Questions of this category have no answer in the conversation.
_UNANSWERABLE = 5
_TURN = re.compile(r"D:?([0-9]+):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person said."""

    session: int
    #: The day and minute; turns of a session are a minute apart.
    at: datetime
    #: `Speaker: text [shared image: caption]`, on one line.
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a conversation."""

    text: str
    #: Numbers of the turns that hold the answer.
    turns: frozenset[int]
    sessions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One of the ten."""

    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    #: What was noted about each session.
    observations: tuple[tuple[str, ...], ...]
    #: For each of them, in the same order, the numbers of the turns that it was taken from.
    observed: tuple[tuple[frozenset[int], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A note, and a question that it answers."""

    note: str
    question: str


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """The paragraphs of one language, and the questions with the number of their paragraph."""

    texts: tuple[str, ...]
    questions: tuple[tuple[str, int], ...]


def read_pairs(name: str) -> tuple[Pair, ...]:
    """Return one of our own sets: `low_overlap_en`, `inflected_ru` or `inflected_de`."""
    return tuple(Pair(**each) for each in json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")))


def read_unrelated_prompts() -> dict[str, dict[str, list[str]]]:
    """Return ordinary prompts that have nothing to do with any memory: by language, then by what they are about."""
    found: dict[str, dict[str, list[str]]] = json.loads((DATA / "unrelated_prompts.json").read_text(encoding="utf-8"))
    return found


def read_small_talk() -> dict[str, list[str]]:
    """Return messages that no note answers, by language."""
    found: dict[str, list[str]] = json.loads((DATA / "small_talk.json").read_text(encoding="utf-8"))
    return found


def read_paragraphs(path: Path, *, questions: int | None = None) -> Paragraphs:
    """Return a file of XQuAD.

    Args:
        path: The file.
        questions: How many questions, taken at even distances; None = all.
    """
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    asked = [(each["question"], number) for number, paragraph in enumerate(paragraphs) for each in paragraph["qas"]]
    step = 1 if questions is None else max(1, len(asked) // questions)
    return Paragraphs(tuple(" ".join(each["context"].split()) for each in paragraphs), tuple(asked[::step]))


def read_conversations(path: Path, corrections: Path | None) -> tuple[Conversation, ...]:
    """Return the conversations with their answerable questions; evidence is taken from the corrections where they differ."""
    found = json.loads(corrections.read_text(encoding="utf-8")) if corrections else []
    corrected = {each["question_id"]: each["correct_evidence"] for each in found}
    records = json.loads(path.read_text(encoding="utf-8"))
    return tuple(_read_conversation(record, f"locomo_{number}", corrected) for number, record in enumerate(records))


def _read_conversation(record: dict[str, Any], name: str, corrected: dict[str, list[str]]) -> Conversation:
    talk, turns = record["conversation"], list[Turn]()
    places: dict[tuple[int, int], int] = {}
    for session in range(1, len(talk)):
        if f"session_{session}_date_time" not in talk:
            break
        start = _parse_moment(talk[f"session_{session}_date_time"])
        for number, said in enumerate(talk.get(f"session_{session}", [])):
            named = _TURN.findall(said["dia_id"])[0]
            places[int(named[0]), int(named[1])] = len(turns)
            turns.append(Turn(session, _add_minutes(start, number), _render(said)))
    questions = []
    for number, asked in enumerate(record["qa"]):
        evidence = _find_turns(corrected.get(f"{name}_qa{number}", asked.get("evidence", [])), places)
        if evidence and asked["category"] != _UNANSWERABLE:
            questions.append(Question(asked["question"], evidence, frozenset(turns[turn].session for turn in evidence)))
    noted = [[each for person in by.values() for each in person] for by in record["observation"].values()]
    said = tuple(tuple(text for text, _ in session) for session in noted)
    observed = tuple(tuple(_find_turns(cited, places) for _, cited in session) for session in noted)
    return Conversation(tuple(turns), tuple(questions), said, observed)


def _find_turns(cited: str | list[str], places: dict[tuple[int, int], int]) -> frozenset[int]:
    """Return the numbers of the turns that are named, as `D1:3` or in a list of such names."""
    keys = [
        (int(session), int(turn))
        for session, turn in _TURN.findall(" ".join([cited] if isinstance(cited, str) else cited))
    ]
    return frozenset(places[key] for key in keys if key in places)


def _parse_moment(text: str) -> datetime:
    """Return `1:56 pm on 8 May, 2023` as a moment."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y")  # noqa: DTZ007 - the data names no zone


def _add_minutes(start: datetime, minutes: int) -> datetime:
    """Return a moment of the same day: a session that would run into the next one stays in its own."""
    return min(start + timedelta(minutes=minutes), start.replace(hour=23, minute=59))


def _render(said: dict[str, Any]) -> str:
    caption = f" [shared image: {said['blip_caption']}]" if said.get("blip_caption") else ""
    return " ".join(f"{said['speaker']}: {said['text']}{caption}".split())
