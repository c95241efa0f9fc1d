"""The review of a turn that is over, by the offline model: which sentences of a person are kept, word for word.

A sentence is kept when all of this holds, and then it is written as one entry:

- A person said it, or the assistant said it and the person's next words begin with a yes.
- Its words say that something was decided, promised by a day, corrected or wished (`cues`, and the wishes below), and
  not that it might be.
- It is no question, no order to the agent (`remember`, `look`, `write`, …), and holds no credential. Code, quotations and
  lists that were pasted in are passed over, and so is a message that is mostly such, or that is the prompt of a heartbeat.
- Where `memoryKeep` says what is worth keeping, the sentence is of a kind that it names, or shares a subject with it.
- The memory that is shown does not say it already.

At most three of a turn are kept, those with the strongest words. "Tomorrow" and the like get the day that they mean
behind them, in brackets. Otherwise the answer is `done`.

Rules: FLUSH-05, FLUSH-09, FLUSH-10.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from omnislash.core.credentials import find_secret
from omnislash.runtime.flushing.flush_prompt import parse_flush_message
from omnislash.runtime.flushing.spoken import Speaker
from omnislash.runtime.offline.beats import is_beat_prompt
from omnislash.runtime.offline.context import read_context
from omnislash.runtime.offline.cues import Kind, find_cues
from omnislash.runtime.offline.curating import is_curator_prompt
from omnislash.runtime.offline.days import resolve_days
from omnislash.runtime.offline.passages import split_sentences
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.words import count_held, find_subjects, find_terms, fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from omnislash.runtime.flushing.spoken import Spoken
    from omnislash.runtime.offline.context import Context
    from omnislash.runtime.offline.requests import OfflineRequest, Script

#: What ends a review that keeps nothing.
DONE: Final = "done"
#: Entries that one turn makes at most.
_KEPT: Final = 3
#: What the prompt puts in the place of a credential.
_MASKED: Final = "[redacted: "
#: Lengths of a sentence that can be kept: a shorter one means nothing to a stranger, a longer one is pasted text.
_SHORTEST, _LONGEST = 16, 280
#: Weight of cues from which a sentence settles something.
_SETTLES_FROM: Final = 2.0
#: Share of a sentence's content words that one note of the memory has: then it says the same.
_SAME_FROM: Final = 0.85


class Worth(StrEnum):
    """Why a sentence is kept."""

    DECISION = "decision"
    COMMITMENT = "commitment"
    CORRECTION = "correction"
    WISH = "wish"


_OF_KIND: Final = {
    Kind.DECISION: Worth.DECISION,
    Kind.COMMITMENT: Worth.COMMITMENT,
    Kind.CORRECTION: Worth.CORRECTION,
}
_WISH = re.compile(
    r"\b(?:i|we|she|he|they|[A-Z]\w+) (?:always )?(?:want|wants|prefer|prefers|would rather|likes? it|dislikes?|hates?)\b"
    r"|\bplease (?:always|never)\b|\bfrom now on\b|\b(?:i|we) (?:do not|don['’]t) (?:want|like)\b"
    r"|\b(?:предпочита\w+|хочет, чтобы|хочу, чтобы|хотим, чтобы|прошу всегда|прошу никогда|не любит|не люблю"
    r"|больше нравится|впредь)\b"
    r"|\b(?:ich|wir|er|sie) (?:will|wollen|mag|mögen|hasse|hassen|hätten? gern\w*)\b"
    r"|\b\w+ (?:möchte[nt]?|wünsch(?:t|e|en) sich|bevorzugt|bevorzuge|mag kein\w*|mag lieber)\b"
    r"|\bbitte (?:immer|nie|niemals)\b|\b(?:ab sofort|ab jetzt|von nun an|künftig)\b|\blieber (?:nicht|ohne|mit)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|i think|i guess|not sure|what if|suppose|imagine|if we|if i|let['’]s see|should we"
    r"|for example|vielleicht|womöglich|eventuell|möglicherweise|ich glaube|ich denke|nicht sicher|angenommen, "
    r"|stell dir vor|zum beispiel|sollten wir|wenn (?:wir|ich)|könnten? (?:wir|man|ich)|может быть|наверное|возможно|кажется|не уверен\w*|допустим|если бы|например)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\s*(?:please |пожалуйста,? |bitte )?(?:remember|always remember|forget|do(?:n['’]t| not) forget|note(?: down|:| that)|look|tell|show|find|search|write|read|list|draft"
    r"|explain|translate|summari[sz]e|merke?n?|notier\w*|vergiss|vergessen|nicht vergessen|denke? daran|such\w*|zeige?|sage?"
    r"|finde?|schreibe?|lies|erkläre?|übersetze?|fasse?|erzähle?|(?:не забудь|запиши|отметь|запомни|забудь|посмотри|скажи|расскажи|покажи|найди|поищи|напиши|прочитай"
    r"|переведи|объясни)(?:те)?)\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\s*(?:yes|yep|ok|okay|agreed|right|exactly|good|fine|done|ja|jawohl|gut|genau|einverstanden|abgemacht|in ordnung|stimmt|richtig|passt|да|хорошо|ладно|согласн\w+|верно|точно)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(?P<mark>`{3,}|~{3,}).*?(?:^(?P=mark)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
#: A line that was pasted: quoted, indented, of a log, of a table, of code.
_PASTED = re.compile(
    r"\s*>|\t| {4}|\s*\||\s*[{}<\[]|\S+\s*[=;]{1}\s*\S*$|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|.*[;{}]\s*$|\s*[$#] "
)
#: From so many lines on a message of mostly pasted lines is pasted as a whole.
_PASTED_LINES: Final = 4
_KEEPS: Final = (
    (
        Worth.DECISION,
        re.compile(
            r"\bdeci|\bsettle|\bagree|\brules?\b|entsch|beschl|vereinbar|regel|решен|решил|договор|правил",
            re.IGNORECASE,
        ),
    ),
    (
        Worth.COMMITMENT,
        re.compile(
            r"\bpromis|\bcommit|\bdeadline|\bdue\b|versprech|zusage|frist|termin|обещ|обязат|срок", re.IGNORECASE
        ),
    ),
    (
        Worth.CORRECTION,
        re.compile(
            r"\bcorrect|\bmistake|\bwrong\b|korrektur|berichtig|fehler|falsch|исправл|ошиб|поправ", re.IGNORECASE
        ),
    ),
    (
        Worth.WISH,
        re.compile(
            r"\bprefer|\bwants?\b|\bwish|\blikes?\b|\bhabit|wunsch|wünsch|vorlieb|gewohnheit|möchte|предпоч|хотят|хочет|пожелан|нрав",
            re.IGNORECASE,
        ),
    ),
)


class _Candidate(NamedTuple):
    """A sentence that settles something."""

    order: int
    weight: float
    worth: Worth
    text: str
    #: The day on which it was said; None where the transcript does not say.
    said_on: date | None


def review(request: OfflineRequest) -> Script:
    """Write what is worth keeping of the transcript in the message, and answer `done`."""
    material = parse_flush_message(request.message)
    if material is None or "memory_write" not in request.tools:
        return DONE
    context = read_context(request.context)
    candidates = [one for one in _find_candidates(material.turns) if _is_wanted(one, material.keep)]
    fresh = [one for one in candidates if not _is_known(one.text, context)]
    chosen = sorted(fresh, key=lambda one: (-one.weight, one.order))[:_KEPT]
    for one in sorted(chosen, key=lambda one: one.order):
        said_on = one.said_on or context.today
        text = resolve_days(one.text, said_on=said_on) if said_on else one.text
        yield OfflineCall("memory_write", {"content": text})
    return DONE


def _find_candidates(turns: Sequence[Spoken]) -> Iterator[_Candidate]:
    """Yield the sentences that settle something, each once, in order."""
    seen: set[str] = set()
    for order, (text, said_on) in enumerate(_split_turns(turns)):
        worth, weight = _judge(text)
        if worth is not None and fold(text) not in seen:
            seen.add(fold(text))
            yield _Candidate(order, weight, worth, text, said_on)


def _split_turns(turns: Sequence[Spoken]) -> Iterator[tuple[str, date | None]]:
    """Yield the sentences of people, and those of the assistant to which a yes follows, with the day of each."""
    for turn, following in zip(turns, [*turns[1:], None], strict=True):
        is_agreed = following is not None and following.speaker is Speaker.USER and _YES.match(following.text)
        is_own = turn.speaker is Speaker.USER and not is_beat_prompt(turn.text) and not is_curator_prompt(turn.text)
        if is_own or is_agreed:
            for line in _strip_pasted(turn.text):
                for sentence in split_sentences(line):
                    yield sentence, turn.said_at.date() if turn.said_at else None


def _strip_pasted(text: str) -> list[str]:
    """Return the lines that a person wrote; none of a message that is mostly pasted."""
    lines = [line for line in _FENCE.sub("", text).split("\n") if line.strip()]
    own = [line for line in lines if not _PASTED.match(line)]
    if len(lines) >= _PASTED_LINES and 2 * len(own) <= len(lines):
        return []
    return [" ".join(line.removeprefix("- ").split()) for line in own]


def _judge(text: str) -> tuple[Worth | None, float]:
    """Return why a sentence is worth keeping, None when it is not, and how strong its words are."""
    is_sentence = _SHORTEST <= len(text) <= _LONGEST and not text.endswith(("?", ":"))
    if not is_sentence or "?" in text or _HEDGE.search(text) or _ORDER.match(text) or _has_secret(text):
        return None, 0.0
    cues = find_cues(text)
    if _WISH.search(text):
        return Worth.WISH, max(cues.weight, _SETTLES_FROM)
    return (_OF_KIND.get(cues.kind), cues.weight) if cues.weight >= _SETTLES_FROM else (None, 0.0)


def _has_secret(text: str) -> bool:
    """Tell whether a sentence holds a credential, or held one."""
    return _MASKED in text or find_secret(text) is not None


def _is_wanted(candidate: _Candidate, keep: str | None) -> bool:
    """Tell whether an agent's own definition of worth lets a sentence through: by its kind, or by a shared subject."""
    if not keep:
        return True
    if any(worth is candidate.worth and words.search(keep) for worth, words in _KEEPS):
        return True
    return count_held(find_terms(candidate.text), find_subjects(keep)) > 0


def _is_known(text: str, context: Context) -> bool:
    """Tell whether the memory that is shown says it: in the same words, or one note has nearly all of its subjects."""
    folded, subjects = fold(text), find_subjects(text)
    for note in context.notes:
        if folded in fold(note.text):
            return True
        if subjects and count_held(find_terms(note.text), subjects) >= _SAME_FROM * len(subjects):
            return True
    return False
