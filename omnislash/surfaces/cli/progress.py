"""A bar on the terminal while long work runs; nothing in a pipe, with `--json` or with `--quiet`.

Rules: interface.md, "Command line" ("Long work shows a progress bar on a terminal and is silent in a pipe").
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from omnislash.surfaces.cli.output import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    from omnislash.surfaces.cli.options import Settings

#: What each part of the work is called for a person.
_NAMES = {
    "files": "Examining files",
    "words": "Reading files",
    "vectors": "Embedding notes",
    "summaries": "Writing summaries",
}
#: Work that is done sooner shows no bar, in seconds: less than this is not felt as waiting.
_PATIENCE_S = 0.4


@contextlib.contextmanager
def show_progress(settings: Settings) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what is told how far the work is: the part, done, of all; None where nobody looks."""
    if settings.json or settings.quiet or not is_terminal(sys.stderr):
        yield None
        return
    bars = _Bars()
    try:
        yield bars.advance
    finally:
        bars.close()


class _Bars:
    """One bar for each part of the work; they are gone when it is done."""

    def __init__(self) -> None:
        self._begun_at = time.monotonic()
        self._drawn: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def advance(self, part: str, done: int, total: int) -> None:
        """Take note of how far a part is."""
        if self._drawn is None:
            if time.monotonic() - self._begun_at < _PATIENCE_S:
                return
            self._drawn = _draw()
        if part not in self._tasks:
            self._tasks[part] = self._drawn.add_task(_NAMES.get(part, part), total=total)
        self._drawn.update(self._tasks[part], completed=done, total=total)

    def close(self) -> None:
        """Remove the bars."""
        if self._drawn is not None:
            self._drawn.stop()


def _draw() -> Progress:
    from rich.console import Console  # noqa: PLC0415 - only where a person looks
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    drawn = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    drawn.start()
    return drawn
