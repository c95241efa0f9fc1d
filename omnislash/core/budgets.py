"""How long a text is, how long MEMORY.md may be, and what goes first when it gets too long.

Every number is in UTF-16 code units, as JavaScript's `.length` counts: one for most characters, two for an emoji.
A byte that was no UTF-8 (a surrogate escape) counts one.

Rules: BUDGET-04 to BUDGET-20.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType

from omnislash.core.sections import parse_memory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from omnislash.core.sections import MemoryDocument, Section

#: A length in UTF-16 code units.
Chars = NewType("Chars", int)

#: The budget of a MEMORY.md of which nothing else is said (BUDGET-04).
DEFAULT_FILE_MAX_CHARS = 10_000


def count_chars(text: str) -> Chars:
    """Return the length of `text` in UTF-16 code units (BUDGET-18)."""
    if text.isascii():
        return Chars(len(text))
    return Chars(len(text.encode("utf-16-le", "surrogatepass")) // 2)


def clip_chars(text: str, limit: int) -> str:
    """Return the longest beginning of `text` that has at most `limit` UTF-16 code units, never half a pair.

    Taking away half as many characters as there are units too many can take away one unit more than needed only when
    all of them were pairs, and then no longer beginning fits; so few rounds reach the longest one.
    """
    kept = text[: max(limit, 0)]
    over = count_chars(kept) - limit
    while kept and over > 0:
        kept = kept[: -((over + 1) // 2)]
        over = count_chars(kept) - limit
    return kept


@dataclass(frozen=True, slots=True)
class Reading:
    """How full a MEMORY.md is."""

    #: Its length.
    chars: Chars
    #: Its budget; None means unbounded.
    limit: Chars | None

    @property
    def percent(self) -> int | None:
        """The share of the budget in use, rounded half up to a whole number; None when unbounded (BUDGET-O7)."""
        return None if self.limit is None else (200 * self.chars + self.limit) // (2 * self.limit)

    def render(self) -> str:
        """Return `8794 of 12000 fileMaxChars (73%)`, or `8794 chars (no fileMaxChars)` (BUDGET-20, BUDGET-O7)."""
        if self.limit is None:
            return f"{self.chars} chars (no fileMaxChars)"
        return f"{self.chars} of {self.limit} fileMaxChars ({self.percent}%)"

    def to_json(self) -> dict[str, int | None]:
        """Return `{chars, fileMaxChars, percent}`, with null limits when unbounded."""
        return {"chars": self.chars, "fileMaxChars": self.limit, "percent": self.percent}


@dataclass(frozen=True, slots=True)
class Budget:
    """How long one line's MEMORY.md may be."""

    #: The longest length that fits; None means unbounded.
    limit: Chars | None

    @classmethod
    def of(cls, number: int) -> Budget:
        """Return the budget that a configured number means: 0 is unbounded (BUDGET-04)."""
        return cls(Chars(number) if number else None)

    def fits(self, chars: int) -> bool:
        """Tell whether a file of that length fits; one exactly at the budget does (BUDGET-14)."""
        return self.limit is None or chars <= self.limit

    def measure(self, text: str) -> Reading:
        """Return how full a file with this text is."""
        return Reading(count_chars(text), self.limit)


def effective_budget(file_max_chars: int, lines: Mapping[str, int | None], line: str) -> Budget:
    """Return the budget of one line's MEMORY.md.

    Args:
        file_max_chars: The brain's number, `memory.fileMaxChars`; 0 means unbounded.
        lines: What `memory.lines.<line>.fileMaxChars` says for each line named there; None says nothing.
        line: The line that is meant.

    Rules: BUDGET-15, BUDGET-16.
    """
    own = lines.get(line)
    return Budget.of(file_max_chars if own is None else own)


@dataclass(frozen=True, slots=True)
class Fit:
    """What the budget makes of a write to MEMORY.md."""

    #: The text to save: the write with its drops, or, when refused, what is on disk already.
    text: str
    #: The days of the dated sections dropped to make room, in the order in which they went; empty when refused.
    dropped: tuple[date, ...]
    #: Length of `text`; when refused, the length that the file would have had after all drops (BUDGET-O4).
    chars: Chars
    #: Whether `text` is the write.
    accepted: bool


def fit_memory(text_after: str, *, text_before: str, budget: Budget, protected_at: int | None = None) -> Fit:
    """Return what may be saved when a write would turn `text_before` into `text_after`.

    Over the budget, the dated sections go, oldest first, until the file fits.
    What is still too long is refused, unless it is shorter than what is on disk: then it is saved as it is, with the
    drops, so that an over-long file can be worked down in steps.

    Args:
        text_after: The whole file as the write would leave it.
        text_before: The file as it is on disk, empty when there is none.
        budget: The line's budget.
        protected_at: Offset in `text_after` within the section that received the write, which is never dropped for it;
            None when the write is no new entry.

    Rules: BUDGET-05 to BUDGET-14, BUDGET-O1 to BUDGET-O4, BUDGET-O8.
    """
    chars = count_chars(text_after)
    if budget.fits(chars):
        return Fit(text_after, (), chars, accepted=True)
    own_from = len(text_before) if protected_at is not None and text_after.startswith(text_before) else len(text_after)
    text, dropped = _drop_oldest(text_after, budget=budget, protected_at=protected_at, own_from=own_from)
    size = count_chars(text)
    if budget.fits(size) or size < count_chars(text_before):
        return Fit(text, dropped, size, accepted=True)
    return Fit(text_before, (), size, accepted=False)


def _drop_oldest(text: str, *, budget: Budget, protected_at: int | None, own_from: int) -> tuple[str, tuple[date, ...]]:
    """Return `text` without as many of its oldest dated sections as it takes to fit, and their days.

    From `own_from` on the text is what the write appended: the empty line that it put between the last section and its
    own one is its own too, and stays when that section goes, unless what now stands before it ends in an empty line.
    """
    document = parse_memory(text)
    chars = int(count_chars(text))
    dropped: dict[int, date] = {}
    for section in document.droppable():
        if budget.fits(chars):
            break
        if section.on is None or (protected_at is not None and section.start <= protected_at < section.end):
            continue
        dropped[section.start] = section.on
        chars += count_chars(_own_blank(document, section, own_from)) - count_chars(document.slice(section))
    kept: list[str] = []
    for section in document.sections:
        if section.start not in dropped:
            kept.append(document.slice(section))
        elif not (kept and kept[-1].endswith(("\n\n", "\r\n\r\n"))):
            kept.append(_own_blank(document, section, own_from))
    return "".join(kept), tuple(dropped.values())


def _own_blank(document: MemoryDocument, section: Section, own_from: int) -> str:
    """Return the blank end of a section that the write itself put there, empty when it put none."""
    added = document.text[max(own_from, section.start) : section.end]
    return "" if added.strip() else added
