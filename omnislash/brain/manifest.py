"""`constitution/MANIFEST.yaml`: the defaults of a whole brain.

Its `memory` block gives memory to nobody; it fills in what a role that declares memory leaves open.

Rules: DECLARE-03, KNOB-02 to KNOB-20, KNOB-25, KNOB-O2, KNOB-O4, PERIOD-01 to PERIOD-03, PERIOD-12 to PERIOD-15,
PERIOD-O12, PERIOD-O13, FLUSH-02, FLUSH-O2, LINE-O3, SECRET-O1.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from omnislash.brain.config import FILLED
from omnislash.brain.decoding import Block, Decoded, decode, required, setting
from omnislash.brain.fields import Choice, Flag, Free, ListOf, Named, Table, UnfitError, Whole
from omnislash.brain.memory_block import CHARS, MemoryBlock
from omnislash.brain.nearest import find_nearest
from omnislash.brain.schedules import parse_schedule
from omnislash.brain.yaml_text import parse_yaml
from omnislash.core.budgets import DEFAULT_FILE_MAX_CHARS
from omnislash.core.lines import LineName, parse_line_name, quote_name

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Path of the file, relative to the brain.
MANIFEST_FILE = "constitution/MANIFEST.yaml"

#: What happens to content that holds a credential.
SecretPolicy = Literal["refuse", "allow"]
#: The levels of the period ladder, lowest first.
Level = Literal["week", "month", "quarter", "year"]

_LINE_KEY = Named("the name of a line", parse_line_name)
_CRON = Named("a cron expression of five fields", parse_schedule)


def parse_timezone(text: str) -> str:
    """Return the IANA name of a time zone.

    Raises:
        UnfitError: When this machine knows no such zone.
    """
    import zoneinfo  # noqa: PLC0415  only a brain with a zone of its own pays for it

    if text == "UTC":
        return text
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = find_nearest(text, zoneinfo.available_timezones())
        hint = f"Did you mean {near!r}?" if near else "Write it as Area/City, for example Europe/Berlin."
        message = f"{quote_name(text)} is not a time zone; expected its IANA name."
        raise UnfitError(message, hint) from error
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLimits:
    """What the manifest says of one line."""

    #: UTF-16 units; 0 = unbounded; None = the brain's number holds.
    file_max_chars: int | None = setting(
        Whole(), text="Budget of this line's MEMORY.md; 0 is unbounded.", default=None, unit=CHARS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """The automatic flush, for the whole brain."""

    #: False = no flush runs anywhere.
    enabled: bool = setting(Flag(), text="false stops every automatic flush of the brain.", default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidatedLine:
    """What is summarized in one line."""

    #: Levels of the ladder, as listed.
    periods: tuple[Level, ...] = required(
        ListOf(Choice(get_args(Level)), filled=True, distinct=True),
        text="Choose the levels that get summaries, for example week and month.",
    )
    #: Name of the model; None = that of the block above.
    model_ref: str | None = setting(FILLED, text="Model that writes this line's summaries.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """When and by whom period summaries are written."""

    #: What is summarized, by line; empty = nothing runs.
    lines: Mapping[LineName, ConsolidatedLine] = setting(
        Table(_LINE_KEY, Block(ConsolidatedLine)), text="Lines that get period summaries; none is off.", default={}
    )
    #: Cron expression, read in `locale.timezone`.
    schedule: str = setting(_CRON, text="When closed periods are looked for, in locale.timezone.", default="0 4 * * *")
    #: Summaries for one line at one tick; 0 = none.
    max_runs_per_tick: int = setting(
        Whole(), text="Summaries written for a line in one tick; 0 writes none.", default=4, unit="summaries"
    )
    #: UTF-16 units; 0 = not capped.
    max_source_chars: int = setting(
        Whole(), text="Ceiling of the source text of one summary; 0 is no cap.", default=120_000, unit=CHARS
    )
    #: Name of the model; None = what the consolidator's role says.
    model_ref: str | None = setting(FILLED, text="Model that writes summaries: a name, or cli:<harness>.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestMemory(MemoryBlock):
    """The manifest's `memory` block: the keys of a role's block, and those of the whole brain."""

    #: UTF-16 units; 0 = unbounded.
    file_max_chars: int = setting(
        Whole(), text="Budget of a line's MEMORY.md; 0 is unbounded.", default=DEFAULT_FILE_MAX_CHARS, unit=CHARS
    )
    #: Exceptions by line.
    lines: Mapping[LineName, LineLimits] = setting(
        Table(_LINE_KEY, Block(LineLimits)), text="Exceptions from fileMaxChars, by line.", default={}
    )
    #: Whether a write that does not say goes to MEMORY.md too.
    priority_default: bool = setting(
        Flag(), text="true files a write in MEMORY.md too when the caller does not say.", default=False
    )
    #: Whether credentials are refused.
    secrets: SecretPolicy = setting(
        Choice(get_args(SecretPolicy)), text="refuse turns away text that holds a credential.", default="refuse"
    )
    #: The automatic flush.
    flush: Flush = setting(Block(Flush), text="The automatic flush.", default=Flush())
    #: Period summaries.
    consolidation: Consolidation = setting(Block(Consolidation), text="Period summaries.", default=Consolidation())

    @property
    def line_budgets(self) -> dict[str, int | None]:
        """Return `fileMaxChars` by line, as `core.budgets.effective_budget` takes it."""
        return {line: limits.file_max_chars for line, limits in self.lines.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """Where the brain lives."""

    #: IANA name; decides every day, week and schedule.
    timezone: str = setting(
        Named("the IANA name of a time zone", parse_timezone), text="Time zone of days and schedules.", default="UTC"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """When brain-sync commits, and what it does beyond that."""

    #: False = no worker commits anything; `omnislash sync run` still does.
    enabled: bool = setting(Flag(), text="false keeps a worker from committing by itself.", default=True)
    #: Cron expression, read in `locale.timezone`.
    schedule: str = setting(_CRON, text="When a worker commits, in locale.timezone.", default="*/10 * * * *")
    #: Whether a commit is followed by a pull and a push.
    push: bool = setting(Flag(), text="false commits only; nothing is pulled or pushed.", default=True)
    #: Whether a brain that lies inside a larger repository is committed there.
    nested: bool = setting(
        Flag(),
        text="true commits a brain that is part of a larger repository too; nothing is pushed there.",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The defaults of a brain."""

    #: Memory.
    memory: ManifestMemory = setting(Block(ManifestMemory), text="Defaults of memory.", default=ManifestMemory())
    #: Time zone.
    locale: Locale = setting(Block(Locale), text="Where the brain lives.", default=Locale())
    #: Git.
    sync: Sync = setting(Block(Sync), text="Commits, pulls and pushes.", default=Sync())
    #: Settings of the loop; kept, not judged.
    loop: Mapping[str, object] = setting(Free(), text="Settings of the improvement loop.", default={})


def parse_manifest(text: str, *, path: str = MANIFEST_FILE) -> Decoded[Manifest]:
    """Return the manifest, or every fault in it."""
    return decode(Manifest, parse_yaml(text, path=path), path=path)
