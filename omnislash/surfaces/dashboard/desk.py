"""What every page works with: the brain, the templates, the secret of its forms, and what it has to say.

Rules: DASH-04; interface.md, "Command line" (`up`).
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.requests import Request

    from omnislash.engine import Brain
    from omnislash.surfaces.dashboard.live import Changes

#: How many notices wait to be shown; what nobody came to see is forgotten, the oldest first.
_WAITING_MAX: Final = 500


class Mood(StrEnum):
    """How a notice looks."""

    GOOD = "good"
    PLAIN = "plain"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence to the person, above the page."""

    mood: Mood
    text: str


class Notices:
    """What is said once, on the page that a form leads to; it is lost with the process."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._waiting: dict[str, Notice] = {}

    def leave(self, notice: Notice) -> str:
        """Keep a notice and return the key that shows it once."""
        key = secrets.token_urlsafe(9)
        with self._lock:
            while len(self._waiting) >= _WAITING_MAX:
                self._waiting.pop(next(iter(self._waiting)))
            self._waiting[key] = notice
        return key

    def take(self, key: str | None) -> Notice | None:
        """Return the notice of a key and forget it; None when there is none."""
        with self._lock:
            return self._waiting.pop(key, None) if key else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every page works with."""

    brain: Brain
    #: Signs what a form carries, so that no other site can send one.
    secret: bytes
    changes: Changes
    #: True when every request has to show a token, so that the page offers to sign out.
    needs_token: bool = False
    notices: Notices = field(default_factory=Notices)


def desk_of(request: Request) -> Desk:
    """Return what the page of a request works with."""
    desk: Desk = request.app.state.desk
    return desk
