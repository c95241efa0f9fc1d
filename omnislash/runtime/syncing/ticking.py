"""The thread of a worker that syncs by `sync.schedule`.

Rules: SCOPE-04, PERIOD-11, MIGRATE-05, KNOB-26.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from omnislash.runtime.syncing.syncing import NESTED, NO_GIT, NO_REPOSITORY
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.runtime.ticking import ScheduledThread
from omnislash.store.git import end_talk

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from omnislash.brain.files import BrainFiles
    from omnislash.brain.manifest import Manifest
    from omnislash.core.clock import Clock
    from omnislash.runtime.syncing.values import SyncAnswer

_LOG = logging.getLogger(__name__)
#: How often, and how many seconds apart, a talk with a remote is looked for and ended when the worker stops.
_ENDINGS, _PAUSE_S = 50, 0.2
#: What a person may have chosen, and need not be told every ten minutes.
_CHOSEN = frozenset({NO_REPOSITORY, NO_GIT, NESTED})


class SyncTicker(ScheduledThread):
    """Syncs at the times of `sync.schedule` until it is stopped; nothing is due while `sync.enabled` is false."""

    thread_name = "omnislash-sync"
    deed = ("a sync", "sync")
    action = "sync"

    def __init__(self, config: Callable[[], BrainFiles], clock: Clock, sync: Callable[[], SyncAnswer]) -> None:
        """Keep the ports; `sync` does it once and says what came of it."""
        super().__init__(config, clock)
        self._sync = sync
        self._said = ""

    def find_schedule(self, manifest: Manifest) -> str | None:
        """Return `sync.schedule`, or None while the tick is switched off."""
        return manifest.sync.schedule if manifest.sync.enabled else None

    def stop(self) -> None:
        """End; a talk with a remote is cut short, everything else of a sync that is under way is finished."""
        self._stopping.set()
        thread = self._thread
        for _ in range(_ENDINGS):
            if thread is None or thread.ident is None or not thread.is_alive():
                break
            end_talk(thread.ident)
            thread.join(timeout=_PAUSE_S)
        super().stop()

    def tick(self, now: datetime, is_over: Callable[[], bool]) -> None:
        """Sync once, and log what came of it; a trouble that stays is logged as a warning once."""
        del now, is_over
        answer = self._sync()
        is_news = answer.message != self._said
        self._said = answer.message
        if answer.outcome is SyncOutcome.NOTHING or (answer.message in _CHOSEN and not is_news):
            return
        is_trouble = is_news and not answer.outcome.is_well and answer.message not in _CHOSEN
        level = logging.WARNING if is_trouble else logging.INFO
        _LOG.log(level, "Sync %s: %s", answer.outcome, answer.message, extra={"action": f"sync_{answer.outcome}"})
