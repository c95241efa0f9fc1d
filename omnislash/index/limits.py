"""When a long piece of work stops, and whom it tells how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def any_of(*questions: Callable[[], bool] | None) -> Callable[[], bool]:
    """Return a question that is answered with yes as soon as one of some is; None asks nothing."""
    asked = [question for question in questions if question is not None]
    return lambda: any(question() for question in asked)


def deadline(limit_s: float) -> Callable[[], bool]:
    """Return a question that is answered with yes once so many seconds have passed from now."""
    end = time.monotonic() + limit_s
    return lambda: time.monotonic() >= end


def named(progress: Callable[[str, int, int], None] | None, name: str) -> Callable[[int, int], None] | None:
    """Return a progress that fills in what the numbers are of."""
    if progress is None:
        return None
    return lambda done, total: progress(name, done, total)
