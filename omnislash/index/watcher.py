"""Keeps the index up to date while a worker runs, so that a search finds nothing to catch up.

Only a convenience: every search compares the files itself.
A change seen by the file watcher is a hint to look at all files again, because a watcher misses files in directories that
are made at the same moment; and all files are looked at from time to time even without a hint.
Where the system gives no watch, looking from time to time is all there is until it does, and each cause is said once.

Rules: RECALL-11; architecture.md section 5; failure cases O-15 to O-17.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.pauses import Pauses
from omnislash.errors import OmnislashError
from omnislash.index.database import inode_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.index.freshness import Freshness
    from omnislash.index.live import LiveIndex

_LOG = logging.getLogger(__name__)
#: How often all files are looked at without a hint, in seconds: with a watch, and without one.
WATCHED_S, UNWATCHED_S = 30.0, 5.0
#: When all files are looked at once more after a hint, in seconds: by then the watch of a new directory is set, and what
#: came into it before that was told by nobody.
_AGAIN_S = 1.0
#: Changes within this time are one hint, in milliseconds; an editor's save is several.
_TOGETHER_MS = 200
#: How often is looked whether other directories are to be watched, in milliseconds.
_PLACES_MS = 2_000


class Watcher:
    """A thread that catches the index up, and one that listens for hints."""

    def __init__(self, index: Callable[[], LiveIndex]) -> None:
        """Keep how to get the brain's index; it is asked anew each time, because the configuration may change."""
        self._index = index
        self._hint = threading.Event()
        self._stopping = threading.Event()
        self._watching = True
        self._said: set[str] = set()
        self._threads: list[threading.Thread] = []

    @property
    def state(self) -> str:
        """`watching`, or `degraded` when files are only looked at from time to time."""
        return "watching" if self._watching else "degraded"

    def start(self) -> None:
        """Begin in the background; the first look takes up everything that happened before."""
        for name, work in (("index", self._follow), ("watch", self._listen)):
            thread = threading.Thread(target=work, name=f"omnislash-{name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End; what is being embedded right now is finished first."""
        self._stopping.set()
        self._hint.set()
        for thread in self._threads:
            thread.join(timeout=10)

    def _follow(self) -> None:
        self._prepare()
        while not self._stopping.is_set():
            was_hinted = self._hint.is_set()
            self._hint.clear()
            self._catch_up()
            self._hint.wait(self._pause_s(was_hinted))

    def _pause_s(self, was_hinted: bool) -> float:  # noqa: FBT001 - a yes or no about the last look
        """Return how long to wait for a hint, in seconds."""
        if was_hinted:
            return _AGAIN_S
        return WATCHED_S if self._watching else UNWATCHED_S

    def _prepare(self) -> None:
        """Say what there is to know about the embedders, and load the first one before somebody waits for it."""
        try:
            settings = self._index().settings
            for note in settings.notes:
                _LOG.warning("%s", note, extra={"action": "embedder_note"})
            for embedder in settings.embedders[:1]:
                embedder.load()
        except OmnislashError as error:
            self._say(error.message)

    def _catch_up(self) -> None:
        try:
            freshness = self._index().refresh(limit_s=None, is_over=self._stopping.is_set)
        except Exception:  # noqa: BLE001 - the worker's writer goes on without an index
            _LOG.exception("the index could not be caught up", extra={"action": "index_failed"})
            return
        for trouble in _name_troubles(freshness):
            self._say(trouble)

    def _say(self, text: str) -> None:
        """Log a warning that was not logged before."""
        if text not in self._said:
            self._said.add(text)
            _LOG.warning("%s", text, extra={"action": "index_trouble"})

    def _listen(self) -> None:
        pauses = Pauses()
        while not self._stopping.is_set():
            pauses.begin(time.monotonic())
            try:
                self._watch(self._find_places())
            except Exception as error:  # noqa: BLE001 - a watch is a convenience, whatever breaks it
                self._watching = False
                self._hint.set()
                self._say_unwatched(str(error).strip())
                self._stopping.wait(pauses.after_break(time.monotonic()))

    def _say_unwatched(self, cause: str) -> None:
        if cause in self._said:
            return
        self._said.add(cause)
        _LOG.warning(
            "Memory files are not watched for now (%s); they are looked at every %d seconds instead. On Linux the number "
            "of watches is fs.inotify.max_user_watches.",
            cause,
            UNWATCHED_S,
            extra={"action": "watch_failed", "state": "degraded"},
        )

    def _watch(self, places: dict[Path, int]) -> None:
        """Turn changes into hints until other places are to be watched, or the watcher stops.

        Directories without permission are not passed over: whoever passes over them passes over the limit of watches
        too, and half the tree is not watched without a word.
        """
        if not places:
            self._stopping.wait(_PLACES_MS / 1000)
            return
        from watchfiles import watch  # noqa: PLC0415 - in the background, so that the worker is ready sooner

        self._hint.set()  # what came before the watch was set is told by nobody
        for changes in watch(
            *places,
            debounce=_TOGETHER_MS,
            stop_event=self._stopping,
            rust_timeout=_PLACES_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            watch_filter=_concerns_index,
        ):
            self._watching = True
            others = self._find_places() != places
            if changes or others:
                self._hint.set()
            if others:
                return

    def _find_places(self) -> dict[Path, int]:
        """Return what is to be watched, with what tells a directory from another one of its name."""
        index = self._index()
        found = ((place, inode_of(place)) for place in (index.root / name for name in _names(index)))
        return {place: inode for place, inode in found if inode}


def _names(index: LiveIndex) -> tuple[str, ...]:
    return (MANAGED_ROOT, *index.settings.sources)


def _concerns_index(_change: object, path: str) -> bool:
    """Tell whether a changed path can matter: the index's own files and editors' temporary ones can't."""
    name = path.rpartition("/")[2]
    return not name.startswith(".")


def _name_troubles(freshness: Freshness) -> list[str]:
    """Return what kept the index from being complete."""
    found = [text for text in (freshness.failure, freshness.embedder_failure) if text is not None]
    return found + [f"{place} can't be read ({reason})." for place, reason in freshness.unreadable.items()]
