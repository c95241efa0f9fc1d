"""The ladder of a turn: the latest summaries of a line in one block within `periodChars`.

Room is given to the finest level first and within a level to the newest summary, so that a long week crowds out the
month. The block shows them the other way round: coarsest level first, and within a level the oldest.

Every length is in UTF-16 code units.

Rules: ENVELOPE-18, ENVELOPE-19, ENVELOPE-21 to ENVELOPE-24, ENVELOPE-28, ENVELOPE-O2, ENVELOPE-O3, PERIOD-41, PERIOD-45,
KNOB-14, TENSION-13, TENSION-20.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import clip_chars, count_chars
from omnislash.core.escaping import escape_note
from omnislash.core.ladder_block import GAP, border_chars, escape_labels, render_label, render_ladder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from omnislash.core.lines import LineName
    from omnislash.core.periods import Period

#: What stands in place of the rest of a line (ENVELOPE-22).
_CUT: Final = " …"
#: A line cut to fewer chars than this, about three words, is left out: its label alone has about sixty.
_SHORTEST: Final = 20
#: Units beyond the room that are still looked at: headings may stand before the first line that says something.
_AHEAD: Final = 1_000
_BROKEN = re.compile(r"[\ud800-\udfff]")
#: A heading as `core.escaping` leaves it: its mark has a backslash.
_HEADING = re.compile(r"[\s>]*(?:[-*+][^\S\n]+)*\\#{1,6}(?:\s|$)")
#: A line that is bold as a whole without being a sentence: it stands for a heading.
_BOLD = re.compile(r"\s*(?:\*\*[^*]*[^*.!?…。]\*\*|__[^_]*[^_.!?…。]__)\s*:?\s*")
#: The line below a heading, as `core.escaping` leaves it.
_UNDERLINE = re.compile(r"[ \t>]*\\(?:=+|-+)[ \t]*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
#: A character that says something: no blank, none that nobody sees, none of rules, lists, quotations and tables.
_SPOKEN = re.compile(
    r"[^\s\-*_=+#>|~`:\\.\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]"
)
#: Half of `&lt;` at the end of a cut.
_HALF_ENTITY = re.compile(r"&(?:lt?)?$")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as it was read."""

    #: What it sums up.
    period: Period
    #: The text of its file.
    text: str


def render_summaries(summaries: Iterable[Summary], *, line: LineName, ceiling: int) -> str:
    """Return the block of the ladder, never longer than `ceiling`; '' when there is nothing to show or no room.

    Args:
        summaries: The ones that `core.targets.choose_summaries` chose; those without text are passed over.
        line: The line they are of.
        ceiling: `periodChars` in force for the turn, in UTF-16 units; 0 = no block.
    """
    room = ceiling - border_chars(line)
    parts: dict[Period, str] = {}
    for summary in sorted(summaries, key=lambda each: (each.period.level.rank, -each.period.number)):
        part = _fit(summary, line, room - len(GAP))
        if part:
            parts[summary.period] = part
            room -= count_chars(part) + len(GAP)
    coarsest_first = sorted(parts, key=lambda period: (-period.level.rank, period.number))
    return render_ladder(line, [parts[period] for period in coarsest_first])


def _fit(summary: Summary, line: LineName, room: int) -> str:
    """Return label and text of a summary, as much of it as the room holds; '' when it holds none."""
    path = summary.period.path_in(line)
    lines = _show(summary, room)
    if not any(map(_SPOKEN.search, lines)):
        return ""
    whole = "\n".join([render_label(path, is_whole=True), *lines])
    if count_chars(whole) <= room:
        return whole
    label = render_label(path, is_whole=False)
    left = room - count_chars(label) - 1
    text = _keep_top(lines, left) or _keep_first_words(lines, left)
    return f"{label}\n{text}" if text else ""


def _show(summary: Summary, limit: int) -> list[str]:
    """Return the lines of a summary, escaped, without the heading that only repeats its label.

    A text of far more than `limit` units is cut before anything else is done with it. As escaping makes no text
    shorter, what is left is still too long to stand below a label within that limit, its last line included.
    """
    text = summary.text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").strip()
    title, _, below = text.partition("\n")
    if title.startswith("#") and title.strip("# \t") == summary.period.name:
        text = below.strip()
    head = clip_chars(text, max(limit, 0) + _AHEAD)
    return escape_labels(escape_note(_BROKEN.sub("\ufffd", head))).split("\n")


def _keep_top(lines: Sequence[str], limit: int) -> str:
    """Return the whole lines from the top that fit, without headings that nothing follows; '' when none says a thing.

    Rules: ENVELOPE-19, ENVELOPE-21.
    """
    kept, used = 0, -1
    for line in lines:
        used += count_chars(line) + 1
        if used > limit:
            break
        kept += 1
    while kept and not _says_something(lines, kept - 1):
        kept -= 1
    return "\n".join(lines[:kept])


def _keep_first_words(lines: Sequence[str], limit: int) -> str:
    """Return the beginning of the first line that says something, and `…`; '' when that is too little to be of use.

    Rules: ENVELOPE-22.
    """
    line = next((line.strip() for at, line in enumerate(lines) if _says_something(lines, at)), "")
    words = _cut_at_word(line, limit - count_chars(_CUT))
    return words + _CUT if words and (words == line or count_chars(words) >= _SHORTEST) else ""


def _cut_at_word(line: str, limit: int) -> str:
    """Return the beginning of a line that fits, up to the end of a word where words are set apart."""
    head = clip_chars(line, limit)
    if head != line and not line[len(head)].isspace():
        space = max(head.rfind(" "), head.rfind("\t"))
        head = head[:space] if 2 * space >= len(head) else _HALF_ENTITY.sub("", head)
    return head.rstrip()


def _says_something(lines: Sequence[str], at: int) -> bool:
    """Tell whether a line has content of its own: it is no heading, rule, fence or blank."""
    line = lines[at]
    if not _SPOKEN.search(line) or _FENCE.match(line) or _HEADING.match(line) or _BOLD.fullmatch(line):
        return False
    return at + 1 == len(lines) or _UNDERLINE.fullmatch(lines[at + 1]) is None
