"""The sentences of the offline model: all that it says in words of its own, in English and in Russian.

Every one of them is about the answer and not about the world: what was found, noted, asked or refused.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from omnislash.runtime.offline.words import is_russian

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
    "written": "Записано.",
    "deleted": "Удалено.",
    "duplicate": "Это уже есть в памяти.",
    "partial": "Записано только частично.",
    "refused": "Отказано.",
    "failed": "Не получилось.",
    "queued": "Стоит в очереди, в памяти этого ещё нет.",
    "unconfirmed": "Выполнено ли это, неизвестно.",
    "read-only": "Ничего не записано.",
    "approval-required": "Сначала должен согласиться человек.",
}


class Frame:
    """The sentences in the language of a message."""

    def __init__(self, message: str) -> None:
        """Choose the language: Russian where most letters are Cyrillic, else English."""
        self._sentences = _RUSSIAN if is_russian(message) else _ENGLISH

    def say(self, name: str, **values: str) -> str:
        """Return a sentence."""
        return self._sentences[name].format(**values)

    def report(self, tool: str, answer: Mapping[str, Any], *, done: str = "written") -> str:
        """Return what came of a call: its outcome in this language, and the engine's own sentence, word for word."""
        if "error" in answer:
            return f"{self.say('refused_call', tool=tool)} {answer['error'].get('message', '')}".rstrip()
        outcome = str(answer.get("outcome", "unconfirmed"))
        opening = done if outcome == "written" else outcome
        return f"{self._sentences.get(opening, outcome)} {answer.get('message', '')}".rstrip()


def is_notice(text: str) -> bool:
    """Tell whether an answer says already that it is the offline model."""
    return any(sentences["notice"] in text for sentences in (_ENGLISH, _RUSSIAN))
