"""Whether the prompt of a heartbeat or hook asks for anything at all. Pure.

Headings, comments, rules and list items without text ask for nothing, so no model is called for them.

Rules: failure case O-39.
"""

from __future__ import annotations

import re
from typing import Final

#: Characters that nobody sees.
_UNSEEN: Final = re.compile("[\ufeff\u200b-\u200f\u2060\u00ad]")
#: A comment; one that is never closed goes to the end.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
#: A heading that is underlined with `=`; one with `-` could as well be a sentence above a rule.
_UNDERLINED: Final = re.compile(r"^[^\n]+\n[ \t]*=+[ \t]*$", re.MULTILINE)
#: A line without text: a heading, a rule, a fence, or only the marks of lists, tasks and quotations.
_IDLE_LINE: Final = re.compile(
    r"[ \t]*(?:#{1,6}(?:[ \t].*)?|(?:[-*_][ \t]*){3,}|(?:```|~~~)[ \t]*\w*"
    r"|(?:(?:[-*+>]|\d{1,9}[.)])(?:[ \t]+|$))*(?:\[[ xX]?\])?)[ \t]*"
)


def asks_nothing(body: str) -> bool:
    """Tell whether a prompt holds nothing but blanks, headings, comments, rules and list items without text."""
    text = _UNSEEN.sub("", body).replace("\r\n", "\n").replace("\r", "\n")
    text = _UNDERLINED.sub("", _COMMENT.sub("", text))
    return all(_IDLE_LINE.fullmatch(line.rstrip()) for line in text.split("\n"))
