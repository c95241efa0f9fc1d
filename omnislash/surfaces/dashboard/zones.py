"""Instants of an object in the brain's time zone, in which its days and logs are written."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

#: Keys whose values are ISO instants.
_INSTANTS: Final = frozenset(
    {"at", "createdAt", "finishedAt", "oldestAt", "decidedAt", "startedAt", "usedAt", "modifiedAt", "since"}
)


def localise(value: Any, zone: ZoneInfo) -> Any:
    """Return an object as JSON has it, with every instant in it in a zone."""
    if isinstance(value, dict):
        return {
            key: _move(each, zone)
            if key in _INSTANTS
            else localise(each, zone)
            if isinstance(each, (dict, list))  # most are words and numbers, of which a page has hundreds
            else each
            for key, each in value.items()
        }
    return [localise(each, zone) for each in value] if isinstance(value, list) else value


def _move(instant: str | None, zone: ZoneInfo) -> str | None:
    return datetime.fromisoformat(instant).astimezone(zone).isoformat(timespec="seconds") if instant else None
