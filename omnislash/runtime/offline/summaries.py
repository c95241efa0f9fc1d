r"""The model that needs no network: it chooses what to keep and writes no word of its own.

It takes from the sources the statements that settle, promise, ask, correct or recur, word for word, each with the days
on which it rests, and gathers them under short headings in the order of time.

::

    # 2026-W46

    ## Decisions

    - Decided: winter opening hours from Monday 16 November. (2026-11-11)

    ## Open

    - Nothing came from Kettenhandel Nord. (2026-11-10)

How it chooses: every statement has a weight, from its cue words (`cues`), its numbers, and the matters that it shares
with other days. The heaviest is taken first; what has been said already, and a day that has been heard, weigh less from
then on. What a later statement settles is no open matter any more, and what it corrects is not repeated.
The same sources always give the same text.

Every length is in UTF-16 code units.

Rules: PERIOD-18, PERIOD-37, PERIOD-39, PERIOD-40.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING, Final

from omnislash.core.budgets import count_chars
from omnislash.core.daily import has_writing
from omnislash.runtime.offline.cues import Kind
from omnislash.runtime.offline.passages import clip_words, read_passages
from omnislash.runtime.offline.statements import weigh_statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.runtime.ladder.summarising import SummaryRequest
    from omnislash.runtime.offline.statements import Statement

#: The length when none is asked (PERIOD-40): about what the default ladder asks for each of its levels, doubled, since
#: then no ladder has to hold it.
UNASKED_CHARS: Final = 3_000
#: The one sentence of its own: all that is written is unreadable, such as the NULs that a power cut leaves in a file.
UNQUOTABLE: Final = "What was written in this period can't be quoted: nothing in it is readable."
#: Below this length headings would take a tenth and more of it, and few statements are left to sort.
_HEADINGS_FROM: Final = 400
#: Room for one statement, clipped, below the heading, when the target leaves less: a summary is never empty.
_LEAST: Final = 60
#: What a statement loses when all of its matters have been named by heavier ones.
_SAID_LOSS: Final = 3.0
#: What a statement loses for each heavier one from its own source, so that a loud day does not fill the page.
_SOURCE_LOSS: Final = 0.35
#: From so many on, a source has been heard, and more from it lose no more.
_HEARD_MOST: Final = 6
#: Below this weight a statement is a trifle, which does not have to fill a page that says enough without it.
_TRIFLE: Final = 0.5
#: Most days cited behind one statement: the first ones and the last.
_CITED: Final = 4

#: The headings, in order; they hold no statement of their own.
HEADINGS: Final = {
    Kind.DECISION: "## Decisions",
    Kind.COMMITMENT: "## Commitments",
    Kind.OPEN: "## Open",
    Kind.REPEAT: "## Repeated",
    Kind.CORRECTION: "## Corrections",
    Kind.ALSO: "## Also",
}


class OfflineModel:
    """The model `offline`: extractive, deterministic, without network and without key."""

    #: Its name in configuration, events and messages.
    name = "offline"

    def summarise(self, request: SummaryRequest) -> str:
        """Return the text of the summary, its heading included; '' when nothing is written in the sources.

        It has at most `target_chars`; when not even one short statement fits below the heading, one is clipped to
        `_LEAST` all the same.

        Rules: PERIOD-18, PERIOD-37, PERIOD-40, PERIOD-O8.
        """
        statements = weigh_statements(read_passages(request.sources))
        if not statements:
            return _render_unquotable(request)
        page = _Page(request)
        _fill(page, statements)
        if page.is_empty:
            page.add_clipped(max(statements, key=lambda statement: (statement.weight, -statement.order)))
        return page.render()


def _render_unquotable(request: SummaryRequest) -> str:
    """Return the page of sources of which nothing may be quoted, so that nothing waits for it for ever; '' for none."""
    written = [source for source in request.sources if has_writing(source.text)]
    return f"{request.heading}\n\n{UNQUOTABLE}\n" if written else ""


def _fill(page: _Page, statements: Sequence[Statement]) -> None:
    """Offer all statements to a page, the heaviest first, each weighed against those that it has taken.

    What a statement has lost it never regains, so only the one on top has to be weighed anew.
    """
    said: set[str] = set()
    heard: Counter[int] = Counter()
    heap = [(-statement.weight, at) for at, statement in enumerate(statements)]
    heapq.heapify(heap)
    while heap and not (page.is_half_full and -heap[0][0] < _TRIFLE):
        at = heap[0][1]
        statement = statements[at]
        current = (_loss(statement, said, heard) - statement.weight, at)
        if len(heap) > 1 and current > min(heap[1:3]):
            heapq.heapreplace(heap, current)
            continue
        heapq.heappop(heap)
        if page.try_add(statement):
            said.update(statement.terms)
            heard[statement.source] += 1


def _loss(statement: Statement, said: set[str], heard: Counter[int]) -> float:
    """Return what a statement weighs less, given the matters named and the sources heard so far."""
    share = len(statement.terms & said) / len(statement.terms) if statement.terms else 1.0
    return _SAID_LOSS * share * share + _SOURCE_LOSS * min(heard[statement.source], _HEARD_MOST)


class _Page:
    """A summary as it fills up."""

    def __init__(self, request: SummaryRequest) -> None:
        self._opening = [request.heading, request.lost] if request.is_clipped and request.lost else [request.heading]
        self._target = UNASKED_CHARS if request.target_chars is None else request.target_chars
        self._is_sorted = self._target >= _HEADINGS_FROM
        self._taken: list[Statement] = []
        self._kinds: set[Kind] = set()
        self._chars = sum(int(count_chars(line)) + 2 for line in self._opening)
        if self._chars + _LEAST > self._target:
            self._opening = self._opening[:1]
            self._chars = int(count_chars(request.heading)) + 2

    @property
    def is_empty(self) -> bool:
        """Tell whether no statement was taken."""
        return not self._taken

    @property
    def is_half_full(self) -> bool:
        """Tell whether at least half of the target is used."""
        return 2 * self._chars >= self._target

    def try_add(self, statement: Statement) -> bool:
        """Take a statement if the page then still keeps its target, and tell whether it did."""
        cost = int(count_chars(_render_item(statement.text, statement.cites))) + 1
        if self._is_sorted and statement.kind not in self._kinds:
            cost += len(HEADINGS[statement.kind]) + 3
        if self._chars + cost > self._target:
            return False
        self._chars += cost
        self._kinds.add(statement.kind)
        self._taken.append(statement)
        return True

    def add_clipped(self, statement: Statement) -> None:
        """Take the beginning of a statement, as much as the target leaves, `_LEAST` at least."""
        room = max(self._target - self._chars, _LEAST)
        self._is_sorted = False
        frame = int(count_chars(_render_item("", statement.cites[:1]))) + 1
        text = clip_words(statement.text, room - frame)
        self._taken.append(statement.cut_to(text, statement.cites[:1]))

    def render(self) -> str:
        """Return the page: statements in the order of time, below the headings of their kinds where there is room."""
        in_time = sorted(self._taken, key=lambda statement: statement.order)
        blocks = list(self._opening)
        if not self._is_sorted:
            blocks.append(_render_list(in_time))
        for kind, heading in HEADINGS.items() if self._is_sorted else ():
            if kind in self._kinds:
                blocks += [heading, _render_list([statement for statement in in_time if statement.kind is kind])]
        return "\n\n".join(blocks) + "\n"


def _render_list(statements: Sequence[Statement]) -> str:
    """Return the items; neighbouring parts of one statement become one item again."""
    items: list[tuple[str, Statement]] = []
    for statement in statements:
        if items and statement.follows(items[-1][1]):
            items[-1] = (f"{items[-1][0]} {statement.text}", statement)
        else:
            items.append((statement.text, statement))
    return "\n".join(_render_item(text, statement.cites) for text, statement in items)


def _render_item(text: str, cites: Sequence[str]) -> str:
    """Return `- What was said. (2026-08-14)`; of many days the first ones and the last are cited."""
    shown = [*cites[: _CITED - 1], cites[-1]] if len(cites) > _CITED else cites
    return f"- {text} ({', '.join(shown)})" if shown else f"- {text}"
