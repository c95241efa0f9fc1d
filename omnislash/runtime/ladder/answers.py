r"""Answers that can't stand for a period: empty, an apology, a failure's message, a stub, a loop, not Markdown.

A summary is written once and then is the record, so an answer that says nothing must not become one. A refused run
leaves nothing behind and its period is due again.
Only what is plainly no summary is refused: a poor one is a matter of the model.

Every length is in UTF-16 code units.

Rules: PERIOD-39, PERIOD-O3, PERIOD-O9, SECRET-O1; O-35.
"""

# ruff: noqa: RUF001  (apologies and sentence ends of other scripts)
from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.core.budgets import count_chars
from omnislash.core.credentials import find_secret
from omnislash.core.daily import has_writing
from omnislash.core.entries import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from collections.abc import Sequence

#: An answer below this share of its target, or of its sources when these are shorter, is a stub. A quiet week told in
#: one sentence of 99 characters, as the criteria ask for, has a fifteenth of the default target of some 1,450.
_SHORTEST_SHARE = 1 / 40
#: An answer up to this length that begins with an apology is nothing else; a longer one has a summary behind it.
_APOLOGY_MAX = 1_200
#: So often the same line or sentence of at least so many characters is a loop.
_LOOP_TIMES, _LOOP_CHARS = 4, 20
#: From this length on the whole is tried for loops. brain-example's logs compress to between a half and two fifths, a
#: table of 200 like rows to a ninth, a sentence said forty times to a twenty-fifth (zlib, 2026-12-01).
_LOOP_FROM, _LOOP_RATIO = 600, 12
#: Beyond this length, in any case, an answer longer than twice its sources and four times its target ran away.
_RUNAWAY = 20_000

_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})[ \t]*[A-Za-z]*[ \t]*\n(?P<body>.*)\n[ \t]*(?P=fence)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_TIME = re.compile(r"^(?:[-*+] )?[0-9]{2}:[0-9]{2} ")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])\s*|\n+")
_ORNAMENT = re.compile(r"^[\s>*+#\-–—\d.)]+|\((?:[0-9]{4}-[0-9WQ-]+(?:, )?)+\)")

_APOLOGY = re.compile(
    r"""[\W_]*(?:
      (?:i\W?m|i\ am|we\ are|we\W?re)\ (?:very\ |so\ |really\ )?(?:sorry|afraid|unable|not\ able)
    | (?:apologies|my\ apologies|i\ apologi[sz]e|unfortunately,?\ (?:i|we|there|this|the\ (?:text|request|sources?)))\b
    | sorry(?=[,.:;!]|\ (?:but|i|we|about|for|that)\b)
    | i\ (?:can\W?t|cannot|can\ not|won\W?t|will\ not|don\W?t\ (?:see|have)|do\ not\ (?:see|have)
        |could\ not|couldn\W?t)\b
    | as\ an?\ (?:ai|artificial|language\ model|large\ language)
    | (?:please|could\ you)\ (?:please\ )?(?:provide|share|paste|send)
    | es\ tut\ mir\ leid | tut\ mir\ leid | leider\ (?:kann|ist|habe) | entschuldigung
    | ich\ kann\ (?:das|dies|diese|dir|ihnen|leider|nicht)
    | als\ (?:ki|künstliche|sprachmodell)
    | извините | простите | прошу\ прощения | к\ сожалению,?\ я | я\ не\ (?:могу|в\ состоянии|имею)
    | как\ (?:ии|языковая\ модель)
    | вибачте | на\ жаль,?\ я | przepraszam | niestety\ nie
    | (?:je\ suis\ )?désolée? | je\ ne\ (?:peux|suis)\ pas | lo\ siento | no\ puedo | mi\ dispiace | non\ posso
    | (?:me\ )?desculpe | não\ posso | het\ spijt\ me | ik\ kan\ (?:dit|dat|niet|helaas)
    | (?:很|非常)?(?:抱歉|对不起|對不起) | 我(?:无法|無法|不能) | 作为(?:一个|一個|ai|人工)
    | 申し訳 | すみません | ごめんなさい | 죄송
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_FAILURE = re.compile(
    r"""[\W_]*(?:
      (?:api|fatal|execution|internal|network|server|authentication|connection|request)?\ ?error\b\s*[:(\d]
    | traceback\ \(most\ recent | usage:\ | command\ not\ found | permission\ denied
    | (?:rate|usage|token|credit|context)\ limit | credit\ balance | quota\ exceeded | too\ many\ requests
    | (?:invalid|missing|incorrect)\ api\ key | (?:un)?authori[sz]ed\b | not\ logged\ in
    | please\ (?:run|log\ in|sign\ in)
    | (?:500|502|503|504|429|401|403)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that makes no file."""

    #: Why, as one sentence; it quotes nothing of the answer.
    reason: str


def tidy_answer(text: str, *, heading: str) -> str:
    r"""Return an answer as it would be filed: bare of a fence around the whole, below the heading, `\n` at its end."""
    body = text.replace("\r\n", "\n").replace("\r", "\n").strip().removeprefix(BYTE_ORDER_MARK).strip()
    fenced = _FENCED.fullmatch(body)
    if fenced and fenced["fence"] not in fenced["body"]:
        body = fenced["body"].strip()
    if not body:
        return f"{heading}\n"
    return f"{body}\n" if _has_heading(body, heading) else f"{heading}\n\n{body}\n"


def _has_heading(body: str, heading: str) -> bool:
    """Tell whether a text begins with the heading, with or without more words on its line."""
    return re.match(rf"{re.escape(heading)}(?![\w-])", body) is not None


def find_flaw(text: str, *, heading: str, sources: Sequence[str], target: int | None) -> str | None:
    """Return why a tidy answer can't be filed, as one sentence; None when it can.

    Args:
        text: What `tidy_answer` returned.
        heading: The heading that it has.
        sources: The texts that the answer is about.
        target: The length that was asked for; None = none was.
    """
    body = text[text.find("\n") + 1 :].strip() if _has_heading(text, heading) else text.strip()
    if not has_writing(body):
        return "The answer is empty."
    if found := _CONTROL.search(body):
        return f"The answer holds a character that no text has (U+{ord(found[0]):04X})."
    if secret := find_secret(body):
        return f"The answer holds what looks like a credential ({secret})."
    return _find_evasion(body) or _find_wrong_length(body, sources, target) or _find_loop(body, sources)


def _find_evasion(body: str) -> str | None:
    """Return why an answer is about something else than the period; None when nothing says so."""
    if _is_data(body):
        return "The answer is data or a web page and not Markdown."
    if body.startswith(("- ", "* ", "+ ", "#")) or count_chars(body) > _APOLOGY_MAX:
        return None
    if _APOLOGY.match(body):
        return "The answer is an apology and not a summary."
    if _FAILURE.match(body):
        return "The answer is the message of a failure and not a summary."
    return None


def _is_data(body: str) -> bool:
    """Tell whether an answer is a JSON value or an HTML page."""
    if re.match(r"<(?:!doctype|html|\?xml)\b", body, re.IGNORECASE):
        return True
    if (body[0], body[-1]) not in {("{", "}"), ("[", "]")}:
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _find_wrong_length(body: str, sources: Sequence[str], target: int | None) -> str | None:
    chars, given = int(count_chars(body)), _count_distinct(sources)
    wanted = given if target is None else min(target, given)
    if chars < min(wanted, _RUNAWAY) * _SHORTEST_SHARE:
        return f"The answer is far too short: {chars} characters, where {wanted} were to be had."
    if chars > max(_RUNAWAY, 2 * sum(count_chars(text) for text in sources), 4 * (target or 0)):
        return f"The answer is no summary: it has {chars} characters, more than twice those of its sources."
    return None


def _count_distinct(sources: Sequence[str]) -> int:
    """Return how much there is to say: the length of all lines without their times, each counted once."""
    lines = {" ".join(_TIME.sub("", line).split()) for text in sources for line in text.splitlines()}
    return sum(count_chars(line) for line in lines)


def _find_loop(body: str, sources: Sequence[str]) -> str | None:
    """Return why an answer repeats itself: one line or sentence over and over, or the whole; None when it does not.

    What the sources themselves repeat is not held against it.
    """
    for split in (str.splitlines, _SENTENCE_END.split):
        statement, times = _find_most_frequent(split(body))
        if times >= _LOOP_TIMES and _count_said(statement, sources) < times:
            return f"The answer repeats itself: the same statement stands in it {times} times."
    ratio = _measure_repetition(body)
    if ratio > _LOOP_RATIO and ratio > 2 * _measure_repetition("\n".join(sources)):
        return "The answer repeats itself from beginning to end."
    return None


def _find_most_frequent(statements: Sequence[str]) -> tuple[str, int]:
    """Return the most frequent statement of some length, and how often it occurs, whatever days are cited behind it."""
    plain = (_fold(_ORNAMENT.sub("", statement)) for statement in statements)
    counts = Counter(statement for statement in plain if len(statement) >= _LOOP_CHARS)
    return max(counts.items(), key=lambda pair: pair[1], default=("", 0))


def _count_said(statement: str, sources: Sequence[str]) -> int:
    """Return how often the sources say a folded statement."""
    return sum(_fold(text).count(statement) for text in sources)


def _fold(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.split()).casefold()


def _measure_repetition(text: str) -> float:
    """Return to which part of its size a text can be compressed, 1 for one too short to tell."""
    data = text.encode("utf-8", "surrogatepass")
    return len(data) / len(zlib.compress(data)) if len(data) >= _LOOP_FROM else 1.0
