"""The sentences of the offline model: all that it says in words of its own, in English, German and Russian.

Every one of them is about the answer and not about the world: what was found, noted, asked or refused.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from omnislash.core.verdicts import Outcome
from omnislash.runtime.offline.languages import Language, find_language
from omnislash.runtime.offline.passages import split_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Said once in a conversation, below the first answer.
_ENGLISH: Final = {
    "notice": (
        "(This is the offline model: it quotes memory and follows fixed rules. For a real one, set `model:` in the role's "
        "file, or name a model `default` under `models:` in omnislash.yaml.)"
    ),
    "hello": "Hello.",
    "thanks": "You are welcome.",
    "bye": "Goodbye.",
    "fine": "All right.",
    "statement": "I only answer from memory: ask a question, or begin with `remember:` to have something kept.",
    "no_day": "Nothing was done, because no block says what day it is.",
    "idle": "Nothing had to be noted.",
    "other_line": "nothing was changed, because the line of this turn is {line}.",
    "cared": "{moved} moved word for word, {retired} retired, {left} left in dated sections; nothing else was judged.",
    "aimless": "Ask for something that may stand in memory; I can only quote from it.",
    "nothing": "Nothing about this was found in memory.",
    "closest": "Nothing in memory answers this in the same words. Closest:",
    "shown_only": "What I was shown of memory says nothing about this, and this role may not search it (memory:read).",
    "doubt": "The search could not look properly, so this is no proof that nothing is there:",
    "sample": "The search was incomplete, so there may be more:",
    "empty_remember": "Nothing was noted: say what to remember, after the colon.",
    "empty_forget": "Nothing was removed: say what to forget, after the colon.",
    "no_tool": "This role is not granted {tool}, so nothing was done.",
    "refused_call": "{tool} did not run:",
    "forget_none": "Nothing was removed: no entry of this line says that.",
    "forget_many": "Nothing was removed, because several entries could be meant. Repeat one of them word for word:",
    "written": "Noted.",
    "deleted": "Removed.",
    "duplicate": "This is in memory already.",
    "partial": "Only part of it was written.",
    "refused": "It was refused.",
    "failed": "It failed.",
    "queued": "It waits in the queue and is not in memory yet.",
    "unconfirmed": "Whether it was done is not known.",
    "read-only": "Nothing was written.",
    "approval-required": "A person has to agree first.",
}
_RUSSIAN: Final = {
    "notice": (
        "(Это модель offline: она цитирует память и действует по твёрдым правилам. Чтобы подключить настоящую, задайте "
        "`model:` в файле роли или модель `default` в разделе `models:` файла omnislash.yaml.)"
    ),
    "hello": "Здравствуйте.",
    "thanks": "Пожалуйста.",
    "bye": "До свидания.",
    "fine": "Хорошо.",
    "statement": "Я отвечаю только по памяти: задайте вопрос или начните с «запомни:», чтобы это сохранить.",
    "no_day": "Ничего не сделано: ни один блок не говорит, какой сегодня день.",
    "idle": "Записывать было нечего.",
    "other_line": "ничего не изменено: линия этого хода — {line}.",
    "cared": "перенесено дословно: {moved}, убрано: {retired}, осталось в разделах с датой: {left}; больше ничего не оценивалось.",
    "aimless": "Спросите о том, что может быть в памяти: я умею только цитировать её.",
    "nothing": "В памяти об этом ничего не найдено.",
    "closest": "Такими словами в памяти об этом не сказано. Ближе всего:",
    "shown_only": "В показанной мне памяти об этом ничего нет, а искать этой роли нельзя (memory:read).",
    "doubt": "Поиск не мог посмотреть как следует, поэтому это не значит, что ничего нет:",
    "sample": "Поиск был неполным, может быть и другое:",
    "empty_remember": "Ничего не записано: скажите после двоеточия, что запомнить.",
    "empty_forget": "Ничего не удалено: скажите после двоеточия, что забыть.",
    "no_tool": "У этой роли нет {tool}, поэтому ничего не сделано.",
    "refused_call": "{tool} не выполнен:",
    "forget_none": "Ничего не удалено: такой записи в этой линии нет.",
    "forget_many": "Ничего не удалено: подходят несколько записей. Повторите одну из них дословно:",
    "written": "Записано",
    "deleted": "Удалено",
    "duplicate": "Это уже есть в памяти",
    "partial": "Записано только частично.",
    "refused": "Отказано.",
    "failed": "Не получилось.",
    "queued": "Стоит в очереди, в памяти этого ещё нет; запись выполнит `omnislash worker`, когда заработает.",
    "unconfirmed": "Выполнено ли это, неизвестно; прочитайте, прежде чем повторять.",
    "read-only": "Ничего не записано: в этом ходе память только для чтения.",
    "approval-required": "Сначала должен согласиться человек: `omnislash approvals approve {approval}`.",
}


_GERMAN: Final = {
    "notice": (
        "(Das ist das Modell offline: Es zitiert das Gedächtnis und folgt festen Regeln. Für ein richtiges `model:` in der "
        "Datei der Rolle setzen oder unter `models:` in omnislash.yaml ein Modell `default` nennen.)"
    ),
    "hello": "Guten Tag.",
    "thanks": "Gern.",
    "bye": "Auf Wiedersehen.",
    "fine": "Gut.",
    "statement": "Ich antworte nur aus dem Gedächtnis: Stelle eine Frage, oder beginne mit „Merke dir:“, damit etwas bleibt.",
    "no_day": "Es wurde nichts getan, weil kein Block sagt, welcher Tag heute ist.",
    "idle": "Es war nichts einzutragen.",
    "other_line": "nichts geändert, weil die Linie dieses Zuges {line} ist.",
    "cared": "{moved} wörtlich verschoben, {retired} entfernt, {left} bleiben in datierten Abschnitten; sonst wurde nichts beurteilt.",
    "aimless": "Frage nach etwas, das im Gedächtnis stehen kann; ich kann nur daraus zitieren.",
    "nothing": "Dazu steht nichts im Gedächtnis.",
    "closest": "Mit diesen Worten steht es nicht im Gedächtnis. Am nächsten kommt:",
    "shown_only": "In dem, was mir gezeigt wurde, steht dazu nichts, und suchen darf diese Rolle nicht (memory:read).",
    "doubt": "Die Suche konnte nicht richtig nachsehen, es heißt also nicht, dass nichts da ist:",
    "sample": "Die Suche war unvollständig, es kann also mehr geben:",
    "empty_remember": "Nichts notiert: Sage hinter dem Doppelpunkt, was zu merken ist.",
    "empty_forget": "Nichts entfernt: Sage hinter dem Doppelpunkt, was zu vergessen ist.",
    "no_tool": "Diese Rolle hat kein {tool}, es wurde also nichts getan.",
    "refused_call": "{tool} lief nicht:",
    "forget_none": "Nichts entfernt: Kein Eintrag dieser Linie sagt das.",
    "forget_many": "Nichts entfernt, weil mehrere Einträge gemeint sein können. Wiederhole einen davon wörtlich:",
    "written": "Notiert",
    "deleted": "Entfernt",
    "duplicate": "Das steht schon im Gedächtnis",
    "partial": "Nur ein Teil wurde geschrieben.",
    "refused": "Es wurde abgelehnt.",
    "failed": "Es ging nicht.",
    "queued": "Es wartet in der Schlange und ist noch nicht im Gedächtnis; geschrieben wird es, wenn `omnislash worker` läuft.",
    "unconfirmed": "Ob es geschrieben wurde, ist nicht bekannt; lies nach, bevor du es wiederholst.",
    "read-only": "Es wurde nichts geschrieben: Das Gedächtnis ist in diesem Zug nur zu lesen.",
    "approval-required": "Zuerst muss ein Mensch zustimmen: `omnislash approvals approve {approval}`.",
}
_SENTENCES: Final = {Language.ENGLISH: _ENGLISH, Language.GERMAN: _GERMAN, Language.RUSSIAN: _RUSSIAN}
#: Outcomes behind which the paths are named.
_PLACED: Final = frozenset({Outcome.WRITTEN, Outcome.DUPLICATE})
#: Outcomes of which a translation says all that the engine's own sentence does.
_TOLD: Final = frozenset({Outcome.QUEUED, Outcome.UNCONFIRMED, Outcome.READ_ONLY, Outcome.APPROVAL_REQUIRED})
#: A sentence of the engine behind a verdict that a translation leaves out.
_READING: Final = "MEMORY.md is now "


class Frame:
    """The sentences in the language of a message."""

    def __init__(self, message: str, *, language: Language | None = None) -> None:
        """Choose the language: the given one, else that of the message."""
        self._language = language or find_language(message)
        self._sentences = _SENTENCES[self._language]

    def say(self, name: str, **values: str) -> str:
        """Return a sentence."""
        return self._sentences[name].format(**values)

    def report(self, tool: str, answer: Mapping[str, Any], *, done: str = "written") -> str:
        """Return what came of a call: its outcome in this language, and what else the engine says, word for word.

        In English that is its own sentence. In another language it is only what the translation leaves open: the reason
        of a refusal, what was dropped; the paths are named instead.
        """
        if "error" in answer:
            return f"{self.say('refused_call', tool=tool)} {answer['error'].get('message', '')}".rstrip()
        outcome = str(answer.get("outcome", Outcome.UNCONFIRMED))
        opening = self._sentences.get(done if outcome == Outcome.WRITTEN else outcome, outcome)
        message = str(answer.get("message", ""))
        if self._language is Language.ENGLISH:
            return f"{opening} {message}".rstrip()
        if outcome in _PLACED:
            paths = ", ".join(map(str, answer.get("paths", ())))
            told = [] if done == "deleted" else split_sentences(message)[1:]
            more = [said for said in told if not said.startswith(_READING)]
            return " ".join([f"{opening}: {paths}." if paths else f"{opening}.", *more])
        if outcome in _TOLD:
            return opening.format(approval=answer.get("approval", "<id>"))
        return f"{opening} {message}".rstrip()


def is_notice(text: str) -> bool:
    """Tell whether an answer says already that it is the offline model."""
    return any(sentences["notice"] in text for sentences in _SENTENCES.values())
