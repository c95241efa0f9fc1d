"""Reads a conversation that was written down as text: a name before what each side said.

The first line that names a speaker decides how this file does it: `**User:**`, `## User` or `User:`; a line that does it
otherwise is text. In a fenced block of code nobody speaks. What stands before the first speaker is a title.

Rules: FLUSH-04; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from omnislash.errors import UsageError
from omnislash.runtime.flushing.injected import strip_blocks, strip_injected
from omnislash.runtime.flushing.spoken import Speaker, Spoken, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Names of speakers in English, German, French, Spanish, Italian, Portuguese, Polish, Russian and Ukrainian. What is as
#: likely another word stays out, such as `ja`, `io`, `eu` and `si`.
_WORDS: Final = {
    Speaker.USER: (
        *("user", "human", "me"),
        *("benutzer", "benutzerin", "nutzer", "nutzerin", "anwender", "anwenderin", "mensch", "ich"),
        *("utilisateur", "utilisatrice", "humain", "moi", "usuario", "usuaria", "humano", "humana"),
        *("utente", "umano", "usuário", "usuária", "utilizador", "utilizadora"),
        *("użytkownik", "użytkowniczka", "człowiek"),
        *("пользователь", "человек", "я", "користувач", "користувачка", "людина"),
    ),
    Speaker.ASSISTANT: (
        *("assistant", "agent", "ai", "bot", "model", "claude"),
        *("assistent", "assistentin", "ki", "modell", "assistante", "ia", "modèle", "asistente", "agente", "modelo"),
        *("assistente", "modello", "asystent", "asystentka"),
        *("ассистент", "помощник", "агент", "ии", "бот", "модель", "асистент", "помічник", "ші"),
    ),
    None: (
        *("system", "tool", "tools", "werkzeug", "werkzeuge", "système", "outil", "sistema", "herramienta"),
        *("strumento", "ferramenta", "narzędzie", "система", "инструмент", "інструмент"),
    ),
}
_SPEAKERS: Final = {word: speaker for speaker, words in _WORDS.items() for word in words}
_NAME: Final = "|".join(sorted(_SPEAKERS, key=len, reverse=True))
#: What may follow the name: when it was said.
_WHEN: Final = r"(?:[ \t]*(?:\([^()\n]{0,60}\)|[-\u2013\u2014·@,|][ \t][^\n*]{0,60}?))?"
_STYLES: Final = {
    "bold": re.compile(
        rf"[ \t>]*(\*\*|__)[^\w\n*]{{0,4}}({_NAME}){_WHEN}[ \t]*(?::[ \t]*\1|\1{_WHEN}[ \t]*:|\1[ \t]*$)", re.IGNORECASE
    ),
    "heading": re.compile(rf"(\#{{1,6}})[ \t]+[^\w\n]{{0,4}}({_NAME}){_WHEN}[ \t]*:?[ \t]*\#*[ \t]*$", re.IGNORECASE),
    "plain": re.compile(rf"()({_NAME}){_WHEN}[ \t]*:(?=[ \t]|$)", re.IGNORECASE),
}
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class _Part:
    """One message, as its lines come."""

    speaker: Speaker | None
    lines: list[str] = field(default_factory=list)


def parse_markdown(text: str, *, after: int = 0) -> Transcript:
    """Return what was said; a record is a message.

    Args:
        text: The file.
        after: So many messages at the beginning are left out.

    Raises:
        UsageError: Nobody is named as a speaker.
    """
    parts = _split(strip_blocks(text).split("\n"))
    if not parts and text.strip():
        message = "The transcript names no speaker, so it can't be told who said what."
        hint = "Write **User:** and **Assistant:** before what each said, or hand in the JSONL of a session."
        raise UsageError(message, hint=hint)
    return Transcript(turns=tuple(_merge(parts, after)), records=len(parts))


def _merge(parts: list[_Part], after: int) -> Iterator[Spoken]:
    """Yield the turns: messages of one side in a row are one, and what neither side said is left out."""
    texts: list[str] = []
    speaker, first = None, 0
    for number, part in enumerate(parts[after:], after + 1):
        words = strip_injected("\n".join(part.lines)) if part.speaker else ""
        if not words:
            continue
        if part.speaker is not speaker:
            if speaker is not None:
                yield Spoken(speaker=speaker, text="\n\n".join(texts), first=first)
            texts, speaker, first = [], part.speaker, number
        texts.append(words)
    if speaker is not None:
        yield Spoken(speaker=speaker, text="\n\n".join(texts), first=first)


def _split(lines: list[str]) -> list[_Part]:
    """Return the messages of a file."""
    spoken = _speaking_lines(lines)
    style = next((found for line in spoken for found in [_find_style(lines[line])] if found), None)
    parts: list[_Part] = []
    for at, line in enumerate(lines):
        match = _STYLES[style[0]].match(line) if style and at in spoken else None
        if match and style and _marks(style[0], match) == style[1]:
            parts.append(_Part(_SPEAKERS[match[2].casefold()], [line[match.end() :]]))
        elif parts:
            parts[-1].lines.append(line)
    return parts


def _find_style(line: str) -> tuple[str, str] | None:
    """Return how a line names a speaker, and with which mark; None when it names none."""
    for name, pattern in _STYLES.items():
        match = pattern.match(line)
        if match and not (name == "plain" and match[2].islower()):
            return name, _marks(name, match)
    return None


def _marks(style: str, match: re.Match[str]) -> str:
    """Return what has to be the same for all speakers of a file: the depth of a heading; a plain name is capitalised."""
    if style == "plain":
        return "lower" if match[2].islower() else ""
    return match[1]


def _speaking_lines(lines: list[str]) -> dict[int, None]:
    """Return the lines outside fenced blocks; a fence that is never closed is none."""
    outside: dict[int, None] = {}
    fence, opened = "", 0
    for at, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found:
            fence, opened = found[1], at
        else:
            outside[at] = None
    if fence:
        outside |= dict.fromkeys(range(opened + 1, len(lines)))
    return outside
