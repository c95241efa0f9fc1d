"""Times of files as aware instants."""

from __future__ import annotations

from datetime import UTC, datetime

_NS = 1_000_000_000


def to_instant(changed_ns: int | None) -> datetime | None:
    """Return the instant of a file's time in UTC, to the microsecond; None for None, or for one that no calendar has."""
    if changed_ns is None:
        return None
    try:
        seconds, rest = divmod(changed_ns, _NS)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    except (ValueError, OverflowError, OSError):
        return None


def to_iso(changed_ns: int | None) -> str | None:
    """Return the instant as ISO text."""
    instant = to_instant(changed_ns)
    return instant.isoformat() if instant else None
