"""What is said in the simulated month, and what a cron expression means, told without the product.

The talk is in `month_talk.json`: invented people, and beside their words what has to come of them by the documented
rules of the offline model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

TALK = Path(__file__).with_name("month_talk.json")
#: The zone of brain-example.
ZONE = ZoneInfo("Europe/Berlin")
#: The heartbeats of brain-example as its files have them, in Europe/Berlin.
BEATS: Final = {
    "briefing": "30 7 * * 1-5",
    "memory-curator": "0 20 * * 0",
    "ops-curator": "0 20 1 * *",
    "home-curator": "30 20 * * 0",
    "weekend": "0 18 * * 5",
}
#: Largest MEMORY.md of each line, in UTF-16 units, as the manifest of brain-example and the shipped one have it.
BUDGETS: Final = {"main": 4000, "ops": 2500, "research": 10_000, "home": 3500}


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One message of a person, and what has to come of it."""

    at: datetime
    who: str
    text: str
    role: str = "nova"
    #: What the answer has to hold.
    says: tuple[str, ...] = ()
    #: The entries that the flush has to make.
    kept: tuple[str, ...] = ()
    #: Whether it has to be handed to ops.
    deposited: bool = False
    #: Whether it is filed in MEMORY.md as well.
    priority: bool = False
    #: Days whose entry of the day has to hold it.
    planned: tuple[date, ...] = ()

    @property
    def content(self) -> str:
        """Return what is to be remembered; the text itself where nothing is."""
        opening, colon, content = self.text.partition(": ")
        is_wish = opening in {"remember", "remember always", "запомни", "запомни навсегда"}
        return content if colon and is_wish else self.text


def load_talk() -> list[Talk]:
    """Return all messages in the order of time."""
    found: list[dict[str, Any]] = json.loads(TALK.read_text(encoding="utf-8"))
    return sorted((_read(item) for item in found), key=lambda talk: talk.at)


def _read(item: dict[str, Any]) -> Talk:
    return Talk(
        at=datetime.fromisoformat(item["at"]).replace(tzinfo=ZONE),
        who=item["who"],
        text=item["text"],
        role=item.get("role", "nova"),
        says=tuple(item.get("says", ())),
        kept=tuple(item.get("kept", ())),
        deposited=item.get("deposited", False),
        priority=item.get("priority", False),
        planned=tuple(map(date.fromisoformat, item.get("planned", ()))),
    )


@dataclass
class Verdicts:
    """What was promised and not held."""

    broken: list[str] = field(default_factory=list)
    held: int = 0

    def check(self, what: str, *, holds: bool) -> None:
        """Count a promise; note it when it was broken."""
        self.held += holds
        if not holds:
            self.broken.append(what)


# -- cron, told by looking at every minute ---------------------------------------------------------------------------


def list_ticks(schedule: str, first: datetime, last: datetime, zone: ZoneInfo = ZONE) -> list[datetime]:
    """Return every instant behind `first`, and not behind `last`, at which an expression comes due, in UTC.

    Each minute of the span is held against the five fields. Minutes that a change of the clocks repeats count once, in
    the first of the two; what it leaves out is not handled, for no schedule of brain-example names such an hour.
    """
    minute, hour, day, month, weekday = schedule.split()
    ticks: list[datetime] = []
    for at in _list_minutes(first, last):
        local = at.astimezone(zone)
        on_day = _has(day, local.day) if weekday == "*" else _has(weekday, local.isoweekday() % 7)
        named = _has(minute, local.minute) and _has(hour, local.hour) and _has(month, local.month) and on_day
        if named and not local.fold:
            ticks.append(at)
    return ticks


def _list_minutes(first: datetime, last: datetime) -> Iterator[datetime]:
    at = first.astimezone(UTC).replace(second=0, microsecond=0)
    while (at := at + timedelta(minutes=1)) <= last:
        yield at


def _has(names: str, value: int) -> bool:
    """Tell whether a field of numbers, lists, ranges and a star names a value."""
    for name in names.split(","):
        first, _, last = name.partition("-")
        if name == "*" or int(first) <= value <= int(last or first):
            return True
    return False


def name_quarter(month: str) -> str:
    """Return the quarter of a month: `2026-Q4` for `2026-11`."""
    return f"{month[:4]}-Q{(int(month[5:]) + 2) // 3}"
