"""What the offline model does with a message of a person: remember, forget, small talk, a question, a statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from omnislash.core.entries import parse_entries
from omnislash.runtime.offline.answers import answer_question
from omnislash.runtime.offline.context import read_context
from omnislash.runtime.offline.requests import OfflineCall
from omnislash.runtime.offline.sentences import Frame
from omnislash.runtime.offline.words import find_subjects, find_terms, fold, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnislash.runtime.offline.requests import OfflineRequest, Script

_PLEASE = r"\s*+(?:(?:please|пожалуйста)[\s,]++)?"
_REMEMBER = re.compile(
    rf"{_PLEASE}(?:remember|запомни(?:те)?)(?P<always>\s+(?:always|навсегда|всегда))?"
    r"(?:\s*:|\s*,?\s+(?:that|что)\b)\s*(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    rf"{_PLEASE}(?:forget|забудь(?:те)?)(?:\s*:|\s*,?\s+(?:that|что)\b)\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL
)
_SMALL_TALK: Final = {
    "hello": re.compile(
        r"(?:hi|hello|hey|good (?:morning|day|afternoon|evening)|привет|здравствуй(?:те)?|добрый (?:день|вечер)"
        r"|доброе утро)(?:,? \w+)?"
    ),
    "thanks": re.compile(r"(?:thanks|thank you|many thanks|thx|спасибо|благодарю)(?:[ ,.]+\w+){0,3}"),
    "bye": re.compile(r"(?:bye|goodbye|good night|see you(?: \w+)?|пока|до свидания|до завтра|спокойной ночи)"),
    "fine": re.compile(r"(?:ok|okay|fine|great|good|all right|yes|no|хорошо|ладно|ок|понятно|ясно|да|нет|отлично)"),
}
_ASKS = re.compile(
    r"\s*(?:who|what|when|where|why|how|which|whose|is|are|was|were|do|does|did|can|could|will|would|should|has|have"
    r"|tell me|show|find|search|look up|list|кто|что|когда|где|почему|зачем|как|какой|какая|какое|какие|сколько|чей"
    r"|куда|откуда|расскажи|найди|покажи|поищи|есть ли|wer|was|wann|wo|warum|wie|welche[rsn]?)\b",
    re.IGNORECASE,
)
_ASKS_THE_DAY = re.compile(
    r"\s*(?:what (?:day|date)(?: of the week)?(?: is (?:it|today))?(?: today)?|какой (?:сегодня )?день(?: недели)?"
    r"|какое (?:сегодня )?число)\W*",
    re.IGNORECASE,
)
#: Files that are read at most to find an entry word for word.
_READ_MOST: Final = 4


def answer_message(request: OfflineRequest) -> Script:
    """Answer what a person wrote; the steps of the first rule that holds."""
    frame, message = Frame(request.message), request.message
    if found := _REMEMBER.fullmatch(message):
        return (yield from _remember(request, found["text"].strip(), frame, is_always=bool(found["always"])))
    if found := _FORGET.fullmatch(message):
        return (yield from _forget(request, found["text"].strip(), frame))
    plain = message.strip().rstrip("!.,)( ").casefold()
    small = next((name for name, pattern in _SMALL_TALK.items() if pattern.fullmatch(plain)), None)
    if small:
        return frame.say(small)
    if _ASKS_THE_DAY.fullmatch(message) and (day := read_context(request.context).today_text):
        return day
    if "?" in message or _ASKS.match(message):
        return (yield from answer_question(request, frame))
    return frame.say("statement")


def _remember(request: OfflineRequest, text: str, frame: Frame, *, is_always: bool) -> Script:
    """Write what is to be remembered, word for word, and report the verdict."""
    if not text:
        return frame.say("empty_remember")
    if "memory_write" not in request.tools:
        return frame.say("no_tool", tool="memory_write")
    priority = {"priority": True} if is_always else {}
    return frame.report("memory_write", (yield OfflineCall("memory_write", {"content": text, **priority})))


# -- forget ----------------------------------------------------------------------------------------------------------


def _forget(request: OfflineRequest, text: str, frame: Frame) -> Script:
    """Delete the one entry of the own line that is meant, wherever it stands word for word."""
    if not text:
        return frame.say("empty_forget")
    needed = ("memory_overview", "memory_search", "memory_read", "memory_delete")
    if missing := next((tool for tool in needed if tool not in request.tools), None):
        return frame.say("no_tool", tool=missing)
    overview = yield OfflineCall("memory_overview")
    if "error" in overview:
        return frame.report("memory_overview", overview)
    line = str(overview["line"])
    answer = yield OfflineCall("memory_search", {"query": text, "corpora": [line]})
    if "error" in answer:
        return frame.report("memory_search", answer)
    paths = dict.fromkeys([str(overview["path"]), *(str(hit["path"]) for hit in answer.get("hits", ()))])
    entries: list[tuple[str, str]] = []
    for path in list(paths)[:_READ_MOST]:
        content = str((yield OfflineCall("memory_read", {"path": path})).get("content", ""))
        entries += [(path, entry.text) for entry in parse_entries(content, timed=_is_timed(path))]
    return (yield from _delete(_find_meant(entries, text), frame))


def _delete(meant: Sequence[tuple[str, str]], frame: Frame) -> Script:
    """Delete one entry in every file that has it; name them when they are several different ones."""
    if not meant:
        return frame.say("forget_none")
    if len({fold(text) for _, text in meant}) > 1:
        return "\n".join([frame.say("forget_many"), *(f"- {' '.join(text.split())} [{path}]" for path, text in meant)])
    reports = []
    for path, text in meant:
        answer = yield OfflineCall("memory_delete", {"path": path, "entry": text})
        reports.append(frame.report("memory_delete", answer, done="deleted"))
    return "\n".join(reports)


def _is_timed(path: str) -> bool:
    """Tell whether the entries of a file carry a time: it is a daily log."""
    return re.fullmatch(r".*/[0-9]{4}-[0-9]{2}-[0-9]{2}\.md", path) is not None


def _find_meant(entries: Iterable[tuple[str, str]], text: str) -> list[tuple[str, str]]:
    """Return the entries that read like the text; without one those that have all of its content words."""
    known = list(entries)
    same = [(path, entry) for path, entry in known if fold(entry) == fold(text)]
    words = find_subjects(text)
    if same or not words:
        return same
    terms = [(path, entry, find_terms(entry)) for path, entry in known]
    return [(path, entry) for path, entry, held in terms if all(holds(held, word) for word in words)]
