"""The `memory:` block of a role, a heartbeat or a hook, and the readers of names in it.

The manifest's block has the same keys and more (see `manifest`).
Whether a name in `read`, `recall` or `report` exists is not decided here: that needs the whole brain (see
`checking`).

Rules: KNOB-01 to KNOB-15, KNOB-25, KNOB-29, KNOB-O1, KNOB-O3, KNOB-O4, KNOB-O8, REPORT-11, SOURCE-07.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from omnislash.brain.decoding import Block, setting, settings_of
from omnislash.brain.fields import Choice, Fraction, ListOf, Named, Site, UnfitError, Whole
from omnislash.brain.tree import Mapping, Node
from omnislash.core.corpora import EVERY_LINE
from omnislash.core.declarations import Declaration, RecallGate, Settings
from omnislash.core.lines import LineName, is_line_name, parse_line_name, parse_source, quote_name
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from omnislash.core.lines import AuthoredPath

#: Most days of daily log in a window: date arithmetic stays inside the calendar.
DAYS_MAX = 100_000
#: The unit of every length (BUDGET-18).
CHARS = "UTF-16 units"

_ONE_LINE_HINT = "An agent writes one line; name others under report, read or recall."
_DEFAULTS = Settings()


def parse_own_line(text: str) -> LineName:
    """Return the name of the one line that an agent writes.

    Raises:
        UnfitError: For `*` or a path (KNOB-29).
        InvalidNameError: For another text that is no line name (LINE-09).
    """
    if text == EVERY_LINE or "/" in text:
        message = f"{quote_name(text)} is not a line name; expected the name of one line."
        raise UnfitError(message, _ONE_LINE_HINT)
    return parse_line_name(text)


def parse_deposit_line(text: str) -> LineName:
    """Return the name of a line that deposits may go to.

    Raises:
        UnfitError: For `*` or a path (REPORT-11).
        InvalidNameError: For another text that is no line name.
    """
    if text == EVERY_LINE or "/" in text:
        message = f"{quote_name(text)} is not a line name; expected the name of one line."
        raise UnfitError(message, "Deposits go to lines that are named one by one.")
    return parse_line_name(text)


def parse_corpus(text: str) -> str:
    """Return an entry of `read` or `recall`: `*`, a line name, or a path that can be an authored source.

    Raises:
        UnfitError: When it is none of these by its spelling.
    """
    if text == EVERY_LINE or is_line_name(text):
        return text
    try:
        return parse_source(text)
    except InvalidNameError as error:
        raise UnfitError(error.message, "Name a line, a declared source or a path in one, or '*'.") from error


def parse_source_entry(text: str) -> AuthoredPath:
    """Return an entry of `memory.sources`.

    Raises:
        UnfitError: When it is spelled in a way that no source may have (SOURCE-05, SOURCE-06).
    """
    try:
        return parse_source(text)
    except InvalidNameError as error:
        hint = "Write it as on disk, relative to the brain, for example people/maria or handbook.md."
        raise UnfitError(error.message, hint) from error


def _count(text: str, *, default: int, unit: str | None = None, most: Whole | None = None) -> Any:
    return setting(most or Whole(), text=text, default=None, unit=unit, shown=default)


_OWN_LINE = Named("the name of one line", parse_own_line, _ONE_LINE_HINT)
_DEPOSIT_LINE = Named("the name of a line", parse_deposit_line)
_CORPUS = Named("the name of a line, a source, or '*'", parse_corpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBlock:
    """What a `memory:` block sets; None = the key is absent and the tier below decides."""

    #: The own line.
    write: LineName | None = setting(
        _OWN_LINE, text="The one line that the agent writes and is shown.", default=None, shown="main"
    )
    #: Lines open for deposits.
    report: tuple[LineName, ...] | None = setting(
        ListOf(_DEPOSIT_LINE),
        text="Lines open for signed deposits into their daily log; meant for a heartbeat.",
        default=None,
        shown=(),
    )
    #: Corpora open to the tools.
    read: tuple[str, ...] | None = setting(
        ListOf(_CORPUS), text="Lines and sources open to search and reading; '*' is every line.", default=None, shown=()
    )
    #: Corpora searched on every turn.
    recall: tuple[str, ...] | None = setting(
        ListOf(_CORPUS), text="Lines and sources searched on every turn; '*' is every line.", default=None, shown=()
    )
    #: UTF-16 units; 0 = not carried.
    priority_chars: int | None = _count(
        "Ceiling of MEMORY.md in a turn; 0 carries none of it.", default=_DEFAULTS.priority_chars, unit=CHARS
    )
    #: Days; 0 = none.
    recent_days: int | None = _count(
        "Days of daily log when a session opens; 0 shows none.",
        default=_DEFAULTS.recent_days,
        unit="days",
        most=Whole(le=DAYS_MAX),
    )
    #: UTF-16 units; 0 = none.
    recent_chars: int | None = _count(
        "Ceiling of that window; 0 shows none.", default=_DEFAULTS.recent_chars, unit=CHARS
    )
    #: Hits; 0 = no recall.
    recall_results: int | None = _count(
        "Recall hits in one turn; 0 turns recall off.", default=_DEFAULTS.recall_results, unit="hits"
    )
    #: 0 to 1; 0 = no floor.
    recall_score: float | None = setting(
        Fraction(),
        text="Score that a note needs to be recalled; 0 lets every candidate through.",
        default=None,
        unit="score",
        shown=_DEFAULTS.recall_score,
    )
    #: UTF-16 units; 0 = no block.
    recall_chars: int | None = _count(
        "Ceiling of the recall block; 0 shows no block.", default=_DEFAULTS.recall_chars, unit=CHARS
    )
    #: 0 to 1; 0 = no floor.
    search_score: float | None = setting(
        Fraction(),
        text="Floor of a search that names none of its own; 0 lets every candidate through.",
        default=None,
        unit="score",
        shown=_DEFAULTS.search_score,
    )
    #: Summaries for each level; 0 = no ladder.
    period_count: int | None = _count(
        "Summaries carried of each level; 0 carries none.", default=_DEFAULTS.period_count, unit="summaries"
    )
    #: UTF-16 units; 0 = no ladder.
    period_chars: int | None = _count(
        "Ceiling of all carried summaries together; 0 carries none.", default=_DEFAULTS.period_chars, unit=CHARS
    )
    #: What decides whether recall speaks.
    recall_gate: RecallGate | None = setting(
        Choice(get_args(RecallGate)),
        text="floor shows what passes recallScore; evidence only what of it bears on the message.",
        default=None,
        shown=_DEFAULTS.recall_gate,
    )

    def to_declaration(self) -> Declaration:
        """Return the block as the value that scopes are resolved from."""
        return Declaration(**{name: getattr(self, name) for name in MemoryBlock.__slots__})


def salvage_declaration(node: Node | None) -> Declaration | None:
    """Return what can be read of a block in a file that has faults, so that one run shows those of its names too."""
    if not isinstance(node, Mapping):
        return None
    site = Site("")
    values: dict[str, Any] = {}
    for key, entry in settings_of(MemoryBlock).items():
        child = node.entries.get(key)
        if child is not None:
            values.update((entry.name, value) for value in site.read(entry.reader, child, child.mark))
    return Declaration(**values)


#: Reads the block of a role, a heartbeat or a hook; an empty key turns memory on (DECLARE-O1).
MEMORY = Block(MemoryBlock, hint="Write `memory: {}` to turn memory on, or remove the key to leave it off.")
