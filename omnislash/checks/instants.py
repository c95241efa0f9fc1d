"""Instants of the state database, read and shown."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnislash.checks.examined import Examined


def parse_instant(text: str | None) -> datetime | None:
    """Return an aware instant; None for what makes none."""
    with contextlib.suppress(TypeError, ValueError):
        found = datetime.fromisoformat(str(text))
        return found if found.tzinfo else None
    return None


def show_instant(instant: datetime | None, brain: Examined) -> str:
    """Return an instant as people of the brain read it: `2026-12-01 09:30`, in the brain's zone."""
    if instant is None:
        return "at an unknown time"
    return f"{instant.astimezone(brain.zone):%Y-%m-%d %H:%M}"
