"""What the offline model does with a message of a person: remember, forget, small talk, a question, a statement.

In English, German and Russian.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
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

_PLEASE = r"\s*+(?:(?:please|bitte|пожалуйста)[\s,]++)?"
#: What opens a wish to have something kept, in each language; `to` and `zu` stay, since they say that it is to be done.
_REMEMBER_ENGLISH: Final = (
    r"(?:always\s+remember(?=\s*:|\s+that\b)|remember(?P<always>\s+always)?|note(?:\s+down)?|make\s+a\s+note"
    r"|keep\s+in\s+mind|do(?:n['’]t|\s+not)\s+forget)"
    r"(?:\s*:|\s*,?\s+that\b|(?=\s+to\s))"
)
_REMEMBER_GERMAN: Final = (
    r"(?:(?:merke?|notiere?)(?:\s+dir)?(?:\s+bitte)?(?P<immer>\s+(?:für\s+)?immer|\s+dauerhaft)?|merken|notieren|vormerken"
    r"|denke?\s+(?:bitte\s+)?daran|vergiss\s+nicht|nicht\s+vergessen)"
    r"(?:\s*:|\s*,?\s+dass\b)"
)
_REMEMBER_RUSSIAN: Final = (
    r"(?:запомни(?:те)?|запиши(?:те)?|отметь(?:те)?|не\s+забудь(?:те)?|имей(?:те)?\s+в\s+виду)"
    r"(?P<forever>\s+(?:навсегда|всегда))?(?:\s*:|\s*,?\s+что\b)"
)
_REMEMBER = re.compile(
    rf"{_PLEASE}(?:{_REMEMBER_ENGLISH}|{_REMEMBER_GERMAN}|{_REMEMBER_RUSSIAN})\s*(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALWAYS = re.compile(rf"{_PLEASE}always\b", re.IGNORECASE)
_FORGET = re.compile(
    rf"{_PLEASE}(?:forget|vergiss|vergesse|забудь(?:те)?)(?:\s+bitte)?(?:\s*:|\s*,?\s+(?:that|dass|что)\b)\s*(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)
#: A tag of a block of ours, and where the name in one begins.
_TAG = re.compile(r"<(/?)(agent-[a-z-]+)\b[^<>\n]*>", re.IGNORECASE)
_NAME = re.compile(r"(?=agent-)", re.IGNORECASE)
_SMALL_TALK: Final = {
    "hello": re.compile(
        r"(?:hi|hello|hey|good (?:morning|day|afternoon|evening)|hallo|moin|servus|grüß (?:dich|gott)|guten (?:morgen|tag|abend)"
        r"|привет|здравствуй(?:те)?|добрый (?:день|вечер)|доброе утро)(?:,? \w+)?"
    ),
    "thanks": re.compile(
        r"(?:thanks|thank you|many thanks|thx|danke|vielen dank|herzlichen dank|besten dank|dank(?:e)? dir|спасибо|благодарю)"
        r"(?:[ ,.]+\w+){0,3}"
    ),
    "bye": re.compile(
        r"(?:bye|goodbye|good night|see you(?: \w+)?|tschüss?|tschau|auf wiedersehen|bis (?:bald|morgen|später|dann)|gute nacht"
        r"|schönen (?:feierabend|abend|tag)(?: noch)?|пока|до свидания|до завтра|спокойной ночи)"
    ),
    "fine": re.compile(
        r"(?:ok|okay|fine|great|good|all right|yes|no|gut|alles klar|in ordnung|prima|super|ja|nein|passt|genau"
        r"|хорошо|ладно|ок|понятно|ясно|да|нет|отлично)"
    ),
}
_ASKS = re.compile(
    r"\s*(?:and |und |а |и |ну )?(?:who|what|when|where|why|how|which|whose|whom|is|are|am|was|were|do|does|did|can|could|will"
    r"|would|should|shall|may|must|has|have|tell me|show|find|search|look up|list|(?:at|until|since|for|from|in|on|by) "
    r"(?:what|when|which|how)"
    r"|кто|кого|кому|кем|что|чего|чему|чем|когда|где|почему|зачем|как|какой|какая|какое|какие|каких|каким|какую|сколько"
    r"|чей|чья|чьё|чьи|куда|откуда|расскажи|найди|покажи|поищи|скажи|напомни|есть ли|можно ли|[^\W\d_]+ ли"
    r"|(?:в|во|на|с|со|к|ко|у|о|об|за|до|для|из|от|по|под|при|про) "
    r"(?:кого|кому|ком|кем|чего|чему|чём|чем|что|как(?:ой|ого|ому|ом|им|ие|их|ую)|скольк(?:о|их|и)|котор\w+)"
    r"|wer|wen|wem|wessen|wann|wo|woher|wohin|womit|wofür|worüber|warum|wieso|weshalb|wie|wieviel|welche[rsmn]?"
    r"|(?:um|ab|bis|seit|von|mit|für|in|an|auf|zu|bei) (?:wie|wann|welche[rsmn]?|wen|wem|was|wo)"
    r"|ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|darf|dürfen|muss|müssen|soll|sollen|wird|werden|gibt es|gibt’s"
    r"|zeige?|suche?|finde?|sage? mir|erzähle?)\b",
    re.IGNORECASE,
)
_ASKS_THE_DAY = re.compile(
    r"\s*(?:what (?:day|date)(?: of the week)?(?: is (?:it|today))?(?: today)?|какой (?:сегодня )?день(?: недели)?"
    r"|какое (?:сегодня )?число|welcher (?:wochen)?tag ist heute|welches datum (?:ist|haben wir) heute"
    r"|den wievielten haben wir(?: heute)?)\W*",
    re.IGNORECASE,
)
#: Files that are read at most to find an entry word for word.
_READ_MOST: Final = 4


def answer_message(request: OfflineRequest) -> Script:
    """Answer what a person wrote; the steps of the first rule that holds."""
    frame, message = Frame(request.message), request.message
    if found := _REMEMBER.fullmatch(message):
        is_always = bool(found["always"] or found["immer"] or found["forever"] or _ALWAYS.match(message))
        return (yield from _remember(request, _clean(found["text"]), frame, is_always=is_always))
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


def _clean(text: str) -> str:
    """Return what is to be kept, without what could be taken for a block of ours when it is read again."""
    kept: list[str] = []
    endless: set[str] = set()
    at = 0
    while found := _TAG.search(text, at):
        kept.append(text[at : found.start()])
        at, closing = found.end(), f"</{found[2]}>"
        end = -1 if found[1] or closing in endless else text.find(closing, at)
        if end >= 0:
            at = end + len(closing)
        else:
            endless.add(closing)
    *before, last = _NAME.split("".join([*kept, text[at:]]))
    return "".join([*map(_open_no_tag, before), last]).strip()


def _open_no_tag(text: str) -> str:
    """Return what stands before the name of a block, without the brackets that would make it a tag."""
    bare = text.rstrip("</ \t")
    return bare + text[len(bare) :].partition("<")[0]


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
