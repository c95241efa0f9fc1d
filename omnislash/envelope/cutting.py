"""Cutting a file's text so that whole lines stay, nothing stands half, and no credential is shown by a cut through it.

What is far longer than it may become is clipped before anything else is done with it, so that a line of five megabytes
costs no more than a short one. Every length is in UTF-16 code units.

Rules: ENVELOPE-18 to ENVELOPE-22, SECRET-O2; architecture.md section 7, "a note holds hostile text".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import clip_chars, count_chars
from omnislash.core.credentials import mask_secrets
from omnislash.core.escaping import escape_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What stands in place of the rest of a line (ENVELOPE-22).
CUT: Final = " …"
#: A line cut to fewer chars than this, about three words, is left out: a label alone has about sixty.
_SHORTEST: Final = 20
#: Characters at a clipped end that are looked at and not shown: a private key of 16,384 bits has about 13,000.
_MARGIN: Final = 14_000
#: Characters beyond the limit that are shown all the same: headings may stand before the first line that says something.
_AHEAD: Final = 1_000
#: A heading, or one as `core.escaping` leaves it.
_HEADING = re.compile(r"[\s>]*(?:[-*+][^\S\n]+)*\\?#{1,6}(?:\s|$)")
#: A line that is bold as a whole without being a sentence: it stands for a heading.
_BOLD = re.compile(r"\s*(?:\*\*[^*]*[^*.!?…。]\*\*|__[^_]*[^_.!?…。]__)\s*:?\s*")
#: The line below a heading, or one as `core.escaping` leaves it.
_UNDERLINE = re.compile(r"[ \t>]*\\?(?:=+|-+)[ \t]*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
#: A character that says something: no blank, none that nobody sees, none of rules, lists, quotations and tables.
_SPOKEN = re.compile(
    r"[^\s\-*_=+#>|~`:\\.\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
#: Half of `&lt;` at the end of a cut.
_HALF_ENTITY = re.compile(r"&(?:lt?)?$")
#: What ends a line in a block and none in the file.
_ODD_LINE_END = re.compile("\r(?!\n)|[\u2028\u2029]")
#: The first line of an entry, which the lines below it belong to.
_ENTRY = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a file as it may be shown."""

    #: Its lines, masked and escaped.
    lines: tuple[str, ...]
    #: True when it was clipped, so that it can't be the whole.
    is_clipped: bool
    #: True when its last line was clipped itself, so that it never stands as a whole one.
    is_open: bool
    #: True when the lines of the file can be counted by those that are shown: they end alike.
    is_countable: bool

    @property
    def whole(self) -> tuple[str, ...]:
        """Return the lines that stand as they are in the file."""
        return self.lines[:-1] if self.is_open else self.lines

    @property
    def chars(self) -> int:
        """Return the length of its lines together."""
        return count_chars("\n".join(self.lines))

    @property
    def says_something(self) -> bool:
        """Tell whether any character of it says something."""
        return any(map(_SPOKEN.search, self.lines))


def is_far_longer(text: str, limit: int) -> bool:
    """Tell whether a text is clipped before it is shown, so that it can't stand as a whole."""
    return len(text) > max(limit, 0) + _AHEAD + _MARGIN


def show_top(text: str, limit: int, *, escape: Callable[[str], str] = escape_document) -> Piece:
    """Return a text from its beginning, ready to be shown; one far longer than the limit is clipped."""
    if not is_far_longer(text, limit):
        return _show(mask_secrets(text), escape)
    masked = mask_secrets(text[: max(limit, 0) + _AHEAD + _MARGIN])
    return _show(masked[: max(len(masked) - _MARGIN, 0)], escape, is_clipped=True, is_open=True)


def show_bottom(text: str, limit: int, *, escape: Callable[[str], str] = escape_document) -> Piece:
    """Return a text up to its end, ready to be shown; of one far longer than the limit, whole lines from the bottom.

    Of a last line that is itself far longer, the beginning is shown.
    """
    if not is_far_longer(text, limit):
        return _show(mask_secrets(text), escape)
    below = mask_secrets(text[-max(limit, 0) - _AHEAD - _MARGIN :])[_MARGIN:].partition("\n")[2]
    if below.strip():
        return _show(below, escape, is_clipped=True)
    return replace(show_top(text[text.rfind("\n") + 1 :], limit, escape=escape), is_clipped=True)


def _show(masked: str, escape: Callable[[str], str], *, is_clipped: bool = False, is_open: bool = False) -> Piece:
    is_countable = _ODD_LINE_END.search(masked) is None
    return Piece(tuple(escape(masked).split("\n")), is_clipped, is_open, is_countable)


def keep_top(lines: Sequence[str], limit: int) -> list[str]:
    """Return the whole lines from the top that fit, without headings that nothing follows; none when none says a thing.

    Rules: ENVELOPE-19, ENVELOPE-21.
    """
    kept, used = 0, -1
    for line in lines:
        used += count_chars(line) + 1
        if used > limit:
            break
        kept += 1
    return list(lines[: _trim_end(lines, 0, kept)])


def keep_bottom(lines: Sequence[str], limit: int) -> list[str]:
    """Return the whole lines from the bottom that fit; none when none of them says a thing.

    They begin with an entry where there is one among them, so that no line stands apart from what it belongs to, and a
    heading stands at their beginning only above something.

    Rules: ENVELOPE-20, ENVELOPE-21.
    """
    first, used = len(lines), -1
    for at in range(len(lines) - 1, -1, -1):
        used += count_chars(lines[at]) + 1
        if used > limit:
            break
        first = at
    starts = (at for at in range(first, len(lines)) if _ENTRY.match(lines[at]) or _HEADING.match(lines[at]))
    first = next(starts, first) if first else 0
    return list(lines[first : _trim_end(lines, first, len(lines))])


def _trim_end(lines: Sequence[str], first: int, end: int) -> int:
    """Return the end of a stretch without the lines at it that say nothing of their own."""
    while end > first and not says_something(lines, end - 1):
        end -= 1
    return end


def keep_first_words(lines: Sequence[str], limit: int) -> str:
    """Return the beginning of the first line that says something, and `…`; '' when that is too little to be of use.

    Rules: ENVELOPE-22.
    """
    line = next((line.strip() for at, line in enumerate(lines) if says_something(lines, at)), "")
    words = _cut_at_word(line, limit - count_chars(CUT))
    return words + CUT if words and (words == line or count_chars(words) >= _SHORTEST) else ""


def _cut_at_word(line: str, limit: int) -> str:
    """Return the beginning of a line that fits, up to the end of a word where words are set apart."""
    head = clip_chars(line, limit)
    if head != line and not line[len(head)].isspace():
        space = max(head.rfind(" "), head.rfind("\t"))
        head = head[:space] if 2 * space >= len(head) else _HALF_ENTITY.sub("", head)
    return head.rstrip()


def says_something(lines: Sequence[str], at: int) -> bool:
    """Tell whether a line has content of its own: it is no heading, rule, fence or blank."""
    line = lines[at]
    if not _SPOKEN.search(line) or _FENCE.match(line) or _HEADING.match(line) or _BOLD.fullmatch(line):
        return False
    return at + 1 == len(lines) or _UNDERLINE.fullmatch(lines[at + 1]) is None
