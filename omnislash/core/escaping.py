r"""Text of a note inside a block of a turn: data, whatever it says.

A note can neither open nor close a block, begin a heading of ours, speak with the engine's own voice or that of a chat
format, nor turn or hide what stands around it.
What is changed stays readable: a tag of ours shows its bracket as `&lt;` and a foreign one as `&lt;\`, a heading its
mark as `\#`, and each character that only steers or hides is shown as U+FFFD.
Tags are looked for as a lenient reader would: with letters of other scripts that look alike, with what nobody sees in
between, and with brackets written as HTML does.
Invisible characters that honest text needs stay: joiners, the marks of direction, and the flags that are spelled in tags.

Rules: architecture.md section 7, "a note holds hostile text"; interface.md, "Blocks that a turn carries".
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

#: Blanks and characters that nobody sees, which a lenient reader passes over.
_UNSEEN = (
    r"[\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]*+"
)


def _spell(word: str) -> str:
    """Return a pattern of the word that passes over what nobody sees between its letters."""
    return _UNSEEN.join(word)


#: Names of elements by which chat formats, harnesses and provider libraries tell their own words from what they quote.
_FOREIGN = (
    *("system", "sys", "human", "assistant", "antml", "pyai", "user-prompt", "local-command", "command-"),
    *("function_call", "function_result", "invoke", "tool_call", "tool_result", "tool_use"),
    *("context_diff", "conversation_summary", "retry_feedback", "validation_errors"),
    *("start_of_turn", "end_of_turn", "tool_response", "think", "function=", "parameter", "s>", "im_start", "im_end"),
    *("session-start-hook", "post-tool-use-hook", "pre-tool-use-hook", "task-notification", "persisted-output"),
    *("ide_", "new-diagnostics", "bash-input", "bash-stdout", "bash-stderr"),
)
#: What a tag could begin with: without one of these in it a text is looked at no further.
_BRACKETS = re.compile(r"[<&\uff1c\ufe64\uff06\ufe60\u1438\u02c2]")
#: What could be read as the start or the end of one of our blocks, or of an element or token of a chat format, in a text
#: that `_FOLDS` made. The bracket may be written as HTML does.
#: Compiled when the first bracket is met: it takes a tenth of a second, and most texts have none.
_TAG_PATTERN = (
    rf"(?:(?P<bracket><)|&(?:amp;?)*+(?:lt|\#0*+60(?!\d)|\#x0*+3c(?![\da-f]));?)(?={_UNSEEN}(?:/{_UNSEEN})?"
    rf"(?:{_spell('agent')}{_UNSEEN}[-_]|(?P<foreign>{'|'.join(_spell(name) for name in _FOREIGN)})"
    rf"|\||<{_UNSEEN}/?{_UNSEEN}{_spell('sys')}))"
)
#: Letters of other scripts, and signs, that pass for those of a tag.
#: Source: https://www.unicode.org/Public/security/latest/confusables.txt, for the letters a to z, `<`, `/` and `-`.
_CONFUSABLE = {
    "a": "\u0430\u03b1\u0251\u1d00",
    "b": "\u0412\u0392\u042c\u044c\u0299",
    "c": "\u0441\u03f2\u1d04",
    "d": "\u0501\u1d05",
    "e": "\u0435\u0415\u0395\u04bd\u1d07",
    "f": "\ua730",
    "g": "\u0261\u0262\u0581",
    "h": "\u04bb\u0570\u041d\u0397\u029c",
    "i": "\u0456\u0131\u0130\u0399\u03b9\u0269\u026a",
    "j": "\u0458\u03f3\u1d0a",
    "k": "\u043a\u041a\u03ba\u039a\u1d0b",
    "l": "\u04cf\u029f",
    "m": "\u043c\u041c\u039c\u1d0d",
    "n": "\u039d\u0578\u0274",
    "o": "\u043e\u03bf\u0585\u1d0f",
    "p": "\u0440\u03c1\u1d18",
    "q": "\u051b",
    "r": "\u0433\u0280",
    "s": "\u0455\ua731",
    "t": "\u0442\u0422\u03c4\u03a4\u1d1b",
    "u": "\u03c5\u057d\u1d1c",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u051d\u1d21",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3\u03a5\u028f",
    "z": "\u1d22",
    "<": "\u1438\u02c2",
    "/": "\u2044\u2215\u29f8",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
}
_LOOK_ALIKES = {ord(like): plain for plain, likes in _CONFUSABLE.items() for like in likes}
#: Invisible characters that Unicode calls neither format nor control characters.
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U00013430-\U0001343f\U000e0000-\U000e0fff]"
)


class _Folds(dict[int, str]):
    """What a lenient reader takes each character for; filled as characters come up."""

    def __missing__(self, code: int) -> str:
        self[code] = _fold_character(chr(code))
        return self[code]


def _fold_character(char: str) -> str:
    """Return a character as plain lower-case letters; '' for one that nobody sees, but for blanks."""
    if char.isspace():
        return " "
    if unicodedata.category(char) in {"Cf", "Cc"} or _INVISIBLE.match(char):
        return ""
    return "".join(_find_plain(each) for each in unicodedata.normalize("NFKC", char))


def _find_plain(char: str) -> str:
    """Return the plain letter that a character passes for, else its lower case."""
    lower = char.casefold()
    return _LOOK_ALIKES.get(ord(char)) or lower.translate(_LOOK_ALIKES)


_FOLDS = _Folds()
#: The marks of an instruction in older chat formats.
_INSTRUCTION = re.compile(r"\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_RESULTS|TOOL_CALLS|AVAILABLE_TOOLS)\])")
#: What may stand before a heading or a footer on its line: the marks of lists and quotations.
_MARKS = r"[^\S\n]*(?:(?:[-*+>]|\d{1,9}[.)])[^\S\n]+|>)*"
_HEADING = re.compile(rf"^({_MARKS})(#{{1,6}})(?=\s|$)", re.MULTILINE)
#: A line that makes the one above it a heading.
_UNDERLINE = re.compile(r"^([ \t>]*)(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FOOTER = re.compile(rf"^({_MARKS})(?=[_*]{{1,3}}[^\S\n]*(?:INCOMPLETE|NOT CHECKED)\b)", re.MULTILINE | re.IGNORECASE)
#: Signs between words, which markdown or a lenient reader passes over.
_SIGNS = r"(?:[^\w\n]|_)*+"
_OUR_WORDS = rf"{_spell('memory')}{_SIGNS}{_spell('recall')}"
_OUR_HEADING = re.compile(rf"^({_MARKS})(#{{1,6}})(?={_SIGNS}{_OUR_WORDS})", re.MULTILINE | re.IGNORECASE)
_OUR_UNDERLINE = re.compile(
    rf"^({_SIGNS}{_OUR_WORDS}[^\n]*\n[ \t>]*)(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE | re.IGNORECASE
)
#: Unprintable characters that could move a cursor or hide text, line end and tab excepted; the overrides, embeddings
#: and isolates of direction; three or more variation selectors in a row, of which honest text has one.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}"
)


def _tagged(letters: str) -> str:
    """Return the letters as the tag characters that spell them."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in letters)


#: Tag characters say what nobody sees; three flags are spelled in them.
#: Source: Unicode emoji-sequences.txt 16.0, RGI_Emoji_Tag_Sequence.
_TAG_CHARACTERS = re.compile(
    rf"(\U0001f3f4(?:{'|'.join(map(_tagged, ('gbeng', 'gbsct', 'gbwls')))})\U000e007f)|[\U000e0000-\U000e007f]+"
)


def escape_note(text: str) -> str:
    """Return a note's text as it may stand in a block without borders of its own: no heading in it is one."""
    shown = _disarm(text)
    shown = _HEADING.sub(r"\1\\\2", shown)
    return _UNDERLINE.sub(r"\1\\", shown)


def escape_document(text: str) -> str:
    """Return a file's text as it may stand between the tags of a block: its headings stay, but for those like ours."""
    shown = _disarm(text)
    shown = _OUR_HEADING.sub(r"\1\\\2", shown)
    return _OUR_UNDERLINE.sub(r"\1\\", shown)


def _disarm(text: str) -> str:
    """Return the text on lines that end alike, without anything that acts beyond a heading."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    shown = _INSTRUCTION.sub(r"\\[", _break_tags(unified))
    shown = _FOOTER.sub(r"\1\\", _show_hidden(shown))
    return re.sub("[\ud800-\udfff]", "\ufffd", shown)


@functools.cache
def _find_tag() -> re.Pattern[str]:
    return re.compile(_TAG_PATTERN)


def _break_tags(text: str) -> str:
    r"""Return the text with `&lt;` for the bracket of each tag that is one of ours, and `&lt;\` for that of a foreign one.

    The backslash keeps those apart who read `&lt;` as a bracket again, also where a note has written it so itself.
    """
    if not _BRACKETS.search(text):
        return text
    found = list(_find_tag().finditer(text.translate(_FOLDS)))
    if not found:
        return text
    ends = list(accumulate(len(_FOLDS[ord(char)]) for char in text))
    parts, at = [], 0
    for tag in found:
        start, end = bisect_right(ends, tag.start()), bisect_right(ends, tag.end() - 1) + 1
        bracket = "&lt;" if tag["bracket"] else text[start:end]
        parts += [text[at:start], bracket, "\\" if tag["foreign"] else ""]
        at = end
    return "".join([*parts, text[at:]])


def _show_hidden(text: str) -> str:
    """Return the text with a mark in the place of each character that steers or hides."""
    if text.isascii():
        return _CONTROL.sub("\ufffd", text)
    return _TAG_CHARACTERS.sub(lambda found: found[1] or "\ufffd", _CONTROL.sub("\ufffd", text))


def escape_label(text: str) -> str:
    """Return a path or name as it may stand in a label: on one line, and without the characters that shape one."""
    flat = _show_hidden(_break_tags(" ".join(text.split())))
    return flat.replace("<", "&lt;").replace("[", "(").replace("]", ")")
