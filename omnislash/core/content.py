"""The text that somebody wants remembered, before it becomes an entry.

What is normalised is little, and it is all of it: CRLF and lone CR become LF, blank lines before the first line with
text go, and so does white space after the last character.
Everything else is kept word for word: the first line's indentation, inner blank lines, white space at the end of
inner lines, joiners, direction marks and whatever Unicode form the letters came in.
What is normalised once stays as it is, so a retried job plans the same bytes.
"""

from __future__ import annotations

import re

from omnislash.errors import InvalidContentError

#: Longest text of one write, in UTF-16 code units: a hundred times the default budget of a whole MEMORY.md, and small
#: enough that no single tool call can fill a disk or a prompt.
CONTENT_MAX_CHARS = 1_000_000

_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*+\n)++")
_BLANKS = frozenset(" \t\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


def trim_outer(text: str) -> str:
    """Return `text` without the blank lines before its first line with text and the white space after its last."""
    leading = _LEADING_BLANK_LINES.match(text) if text[:1] in _BLANKS else None
    return text[leading.end() if leading else 0 :].rstrip()


def normalise_content(text: str) -> str:
    """Return the text that will be stored: LF line ends, no outer blank lines, no white space at the very end."""
    return trim_outer(text.replace("\r\n", "\n").replace("\r", "\n"))


def check_content(text: str, *, what: str = "content") -> None:
    """Accept `text` as something that can be stored, or say why not.

    Args:
        text: As the caller gave it; normalising it first changes no verdict.
        what: The argument's name, for the message.

    Raises:
        InvalidContentError: It is empty or only white space, holds NUL or half of a surrogate pair, or is longer than
            `CONTENT_MAX_CHARS`.
    """
    fault = _find_fault(text)
    if fault is not None:
        message, hint = fault
        raise InvalidContentError(message.format(what=what), hint=hint)


def _find_fault(text: str) -> tuple[str, str] | None:
    """Return what keeps `text` from being stored, `{what}` standing for its name, and what to do about it."""
    if not text.strip():
        return "The {what} is empty.", "Say what is to be remembered."
    if "\x00" in text:
        offset = text.index("\x00")
        return f"The {{what}} holds a NUL character at offset {offset}.", "Remove it: a text file can't hold one."
    half = _SURROGATE.search(text)
    if half:
        message = f"The {{what}} holds half of a surrogate pair (U+{ord(half[0]):04X}) at offset {half.start()}."
        return message, "Send the whole character: no UTF-8 file can hold a half."
    chars = len(text.encode("utf-16-le")) // 2  # as budgets.count_chars counts, which is built on this module
    if chars > CONTENT_MAX_CHARS:
        message = f"The {{what}} has {chars} chars and at most {CONTENT_MAX_CHARS} can be stored at once."
        return message, "Store a summary, or split it."
    return None
