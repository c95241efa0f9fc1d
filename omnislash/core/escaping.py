r"""Text of a note inside a block of a turn: data, whatever it says.

A note can neither open nor close a block, begin a heading, nor speak with the engine's own voice.
What is changed stays readable: a tag shows its bracket as `&lt;`, a heading its mark as `\#`.

Rules: architecture.md section 7, "a note holds hostile text"; interface.md, "Blocks that a turn carries".
"""

from __future__ import annotations

import re

#: Blanks and characters that nobody sees, which a lenient reader passes over.
_UNSEEN = (
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]*"
)
#: What could be read as the start or the end of one of our blocks.
_TAG = re.compile(rf"<(?={_UNSEEN}(?:/{_UNSEEN})?{_UNSEEN.join('agent')}{_UNSEEN}[-_\u2010\u2011])", re.IGNORECASE)
#: What may stand before a heading or a footer on its line: the marks of lists and quotations.
_MARKS = r"[^\S\n]*(?:(?:[-*+>]|\d{1,9}[.)])[^\S\n]+|>)*"
_HEADING = re.compile(rf"^({_MARKS})(#{{1,6}})(?=\s|$)", re.MULTILINE)
#: A line that makes the one above it a heading.
_UNDERLINE = re.compile(r"^([ \t>]*)(?==+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FOOTER = re.compile(rf"^({_MARKS})(?=[_*]{{1,3}}[^\S\n]*(?:INCOMPLETE|NOT CHECKED)\b)", re.MULTILINE | re.IGNORECASE)
#: Unprintable characters that could move a cursor or hide text; line end and tab stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def escape_note(text: str) -> str:
    """Return a note's text as it may stand inside a block."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    shown = _CONTROL.sub("\ufffd", unified)
    shown = _TAG.sub("&lt;", shown)
    shown = _HEADING.sub(r"\1\\\2", shown)
    shown = _UNDERLINE.sub(r"\1\\", shown)
    return _FOOTER.sub(r"\1\\", shown)


def escape_label(text: str) -> str:
    """Return a path or name as it may stand in a label: on one line, and without the characters that shape one."""
    flat = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return flat.replace("<", "&lt;").replace("[", "(").replace("]", ")")
