r"""Text of a note inside a block of a turn: data, whatever it says.

A note can neither open nor close a block, begin a heading of ours, speak with the engine's own voice or that of a chat
format, nor turn or hide what stands around it.
What is changed stays readable: a tag shows its bracket as `&lt;`, a heading its mark as `\#`, and each character that
only steers or hides is shown as U+FFFD.
Invisible characters that honest text needs stay: joiners, the marks of direction, and the flags that are spelled in tags.

Rules: architecture.md section 7, "a note holds hostile text"; interface.md, "Blocks that a turn carries".
"""

from __future__ import annotations

import re

#: Blanks and characters that nobody sees, which a lenient reader passes over.
_UNSEEN = (
    r"[\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]*+"
)


def _spell(word: str) -> str:
    """Return a pattern of the word that passes over what nobody sees between its letters."""
    return _UNSEEN.join(word)


#: Names of elements by which chat formats and harnesses tell their own words from what they quote.
_FOREIGN = (
    *("system", "sys", "human", "assistant", "antml", "user-prompt", "local-command", "command-"),
    *("function_call", "function_result", "invoke", "tool_call", "tool_result", "tool_use"),
)
#: What could be read as the start or the end of one of our blocks, or of an element or token of a chat format.
_TAG = re.compile(
    rf"[<\uff1c\ufe64](?={_UNSEEN}(?:/{_UNSEEN})?(?:{_spell('agent')}{_UNSEEN}[-_\u2010\u2011]"
    rf"|(?:{'|'.join(_spell(name) for name in _FOREIGN)})|[|\uff5c]|<{_UNSEEN}/?{_UNSEEN}{_spell('sys')}))",
    re.IGNORECASE,
)
#: The marks of an instruction in older chat formats.
_INSTRUCTION = re.compile(r"\[(?=/?INST\])")
#: What may stand before a heading or a footer on its line: the marks of lists and quotations.
_MARKS = r"[^\S\n]*(?:(?:[-*+>]|\d{1,9}[.)])[^\S\n]+|>)*"
_HEADING = re.compile(rf"^({_MARKS})(#{{1,6}})(?=\s|$)", re.MULTILINE)
#: A line that makes the one above it a heading.
_UNDERLINE = re.compile(r"^([ \t>]*)(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FOOTER = re.compile(rf"^({_MARKS})(?=[_*]{{1,3}}[^\S\n]*(?:INCOMPLETE|NOT CHECKED)\b)", re.MULTILINE | re.IGNORECASE)
_OUR_WORDS = rf"{_spell('memory')}{_UNSEEN}{_spell('recall')}"
_OUR_HEADING = re.compile(rf"^({_MARKS})(#{{1,6}})(?=[^\w\n]*+{_OUR_WORDS})", re.MULTILINE | re.IGNORECASE)
_OUR_UNDERLINE = re.compile(
    rf"^([^\w\n]*+{_OUR_WORDS}[^\n]*\n[ \t>]*)(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE | re.IGNORECASE
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
    shown = _INSTRUCTION.sub(r"\\[", _TAG.sub("&lt;", unified))
    shown = _FOOTER.sub(r"\1\\", _show_hidden(shown))
    return re.sub("[\ud800-\udfff]", "\ufffd", shown)


def _show_hidden(text: str) -> str:
    """Return the text with a mark in the place of each character that steers or hides."""
    if text.isascii():
        return _CONTROL.sub("\ufffd", text)
    return _TAG_CHARACTERS.sub(lambda found: found[1] or "\ufffd", _CONTROL.sub("\ufffd", text))


def escape_label(text: str) -> str:
    """Return a path or name as it may stand in a label: on one line, and without the characters that shape one."""
    flat = _show_hidden(" ".join(text.split()))
    return flat.replace("<", "&lt;").replace("[", "(").replace("]", ")")
