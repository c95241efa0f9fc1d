"""Follows the files that configure a brain while the worker runs, and says what is wrong with them.

The brain itself compares its files before each batch; following only makes it happen at once, so that a fault is in the
log a moment after the file was saved. A watch that can't start or breaks is a warning, and is tried again.

Rules: KNOB-26, KNOB-O5, KNOB-O6, SOURCE-14.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from omnislash.core.pauses import Pauses

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from omnislash.engine import Brain
    from omnislash.errors import Fault

_LOG = logging.getLogger(__name__)
#: Directories of a brain that are watched with everything below; of the rest only what lies directly in the brain.
_DEEP = ("constitution", "features")
#: Saves within this time count as one, in milliseconds: an editor's rename and its clean-up.
_TOGETHER_MS = 200


def follow(brain: Brain, stopping: threading.Event) -> None:
    """Say what is wrong now, then follow the brain's files in the background until the worker stops."""
    follower = _Follower(brain, stopping)
    follower.look()
    places = [brain.root / name for name in _DEEP if (brain.root / name).is_dir()]
    for paths, deep in (([brain.root], False), (places, True)):
        if paths:
            threading.Thread(target=follower.watch, args=(paths, deep), name="omnislash-follow", daemon=True).start()


class _Follower:
    """Looks at the configuration after each change, and logs what is new in its faults."""

    def __init__(self, brain: Brain, stopping: threading.Event) -> None:
        self._brain = brain
        self._stopping = stopping
        self._lock = threading.Lock()
        self._said: frozenset[Fault] = frozenset()

    def look(self) -> None:
        """Load what changed, and log the faults and warnings that were not there before."""
        with self._lock:
            config = self._brain.config
            found = [(logging.ERROR, fault) for fault in config.faults]
            found += [(logging.WARNING, fault) for fault in config.warnings]
            for level, fault in found:
                if fault not in self._said:
                    _LOG.log(level, "%s", fault.render(), extra={"action": "config_fault", "path": fault.path})
            self._said = frozenset(fault for _, fault in found)

    def watch(self, paths: list[Path], deep: bool) -> None:  # noqa: FBT001 - called by a thread with positions
        """Look after each change below the paths; a watch that broke begins again."""
        pauses, said = Pauses(), False
        while not self._stopping.is_set():
            pauses.begin(time.monotonic())
            try:
                for _ in self._changed(paths, deep=deep):
                    self.look()
            except Exception as error:  # noqa: BLE001 - a watch is a convenience: whatever breaks it, the writer goes on
                if not said:
                    said, text = True, "Files are not watched for now (%s); a change is noticed at the next write."
                    _LOG.warning(text, str(error).strip(), extra={"action": "watch_failed"})
                self._stopping.wait(pauses.after_break(time.monotonic()))
                self.look()

    def _changed(self, paths: list[Path], *, deep: bool) -> Iterable[object]:
        from watchfiles import watch  # noqa: PLC0415 - in the background, so that the worker is ready sooner

        return watch(
            *paths,
            recursive=deep,
            debounce=_TOGETHER_MS,
            stop_event=self._stopping,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
