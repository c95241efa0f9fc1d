"""Opening a brain, and keeping it open while people edit it.

::

    reading     stamps and bytes
    gathering   disk → each file decoded
    checking    files together → faults, `BrainFiles`
    loading     the front door: load once, or live

Rules: KNOB-26, KNOB-O5, KNOB-O6, DOCTOR-16.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from omnislash.brain.checking import check_brain
from omnislash.brain.config import PROJECT_FILE
from omnislash.brain.constitution import CONSTITUTION
from omnislash.brain.files import BrainFiles
from omnislash.brain.gathering import FEATURES, gather
from omnislash.brain.reading import Reading, stamp_of
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.errors import ConfigError, Fault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["BrainFiles", "LiveBrain", "find_brain", "inspect_brain", "load_brain"]

logger = logging.getLogger(__name__)

#: One of these makes a directory a brain.
_SIGNS = (PROJECT_FILE, CONSTITUTION, FEATURES, MANAGED_ROOT)


def find_brain(start: Path) -> Path | None:
    """Return the nearest directory, from `start` upwards, that holds `omnislash.yaml`; None when there is none."""
    here = start.absolute()
    return next((place for place in (here, *here.parents) if stamp_of(str(place / PROJECT_FILE))), None)


def load_brain(root: Path, *, shipped: Path) -> BrainFiles:
    """Return everything that configures a brain.

    Args:
        root: The brain.
        shipped: The shipped constitution: the directory that holds `MANIFEST.yaml` and `Agents/`.

    Raises:
        ConfigError: When something is wrong with the brain as a whole; it holds every fault of every file, those
            that would only leave out one role included.

    Rules: KNOB-O5, REPORT-13, SOURCE-03, SOURCE-14.
    """
    return _load(root, shipped, Reading())


def inspect_brain(root: Path, *, shipped: Path, instead: Mapping[str, bytes] | None = None) -> BrainFiles:
    """Return the brain as far as it loads, with fatal faults in `faults` too; for doctor, which runs while editing.

    What is fatal is replaced by defaults, so nothing may be run on the result (DOCTOR-16).

    Args:
        root: The brain.
        shipped: The shipped constitution.
        instead: Bytes that stand for the files of these paths, relative to the brain: what would become of a change.
    """
    reading = Reading(instead={str(root / path): data for path, data in (instead or {}).items()})
    return check_brain(gather(root, shipped=shipped, reading=reading), root=root)


def _load(root: Path, shipped: Path, reading: Reading) -> BrainFiles:
    # Gathered first, so that a brain that is gone for a moment is noticed when it is back.
    found = gather(root, shipped=shipped, reading=reading)
    if not any(stamp_of(str(root / sign)) for sign in _SIGNS):
        hint = "Run `omnislash init` there, or name the right directory."
        raise ConfigError((Fault(".", f"{root} is no brain: it holds no {PROJECT_FILE}.", hint=hint, fatal=True),))
    brain = check_brain(found, root=root)
    if any(fault.fatal for fault in brain.faults):
        raise ConfigError(brain.faults)
    return brain


class LiveBrain:
    """A brain that follows its files.

    Each call of `current` compares the stamps of all files and directories, and loads again when one is another.
    When what is there now must not run, the last good state stays in force and `last_error` says why.
    Threads may share it.

    Rules: KNOB-26, KNOB-O6.
    """

    def __init__(self, root: Path, *, shipped: Path) -> None:
        """Load the brain.

        Raises:
            ConfigError: As `load_brain` does; there is no last good state yet.
        """
        self._root = root
        self._shipped = shipped
        self._lock = threading.Lock()
        self._reading = Reading()
        self._brain = _load(root, shipped, self._reading)
        self._last_error: ConfigError | None = None

    @property
    def last_error(self) -> ConfigError | None:
        """Return why the files as they are now were not taken; None when they are in force."""
        return self._last_error

    def current(self) -> BrainFiles:
        """Return the brain as its files say now, or the last good state when they have a fatal fault."""
        with self._lock:
            if self._reading.has_changed():
                self._reload()
            return self._brain

    def _reload(self) -> None:
        self._reading = Reading(self._reading)
        try:
            self._brain = _load(self._root, self._shipped, self._reading)
        except ConfigError as error:
            self._reject(error)
            return
        self._last_error = None
        logger.info("The brain was loaded again.", extra={"action": "config_reloaded", "path": str(self._root)})

    def _reject(self, error: ConfigError) -> None:
        """Keep the last good state, and say so once for each different reason."""
        if self._last_error is None or self._last_error.faults != error.faults:
            extra = {"action": "config_rejected", "path": error.path, "key": error.key}
            logger.error("The changed files were not taken; the last good ones stay:\n%s", error.message, extra=extra)
        self._last_error = error
