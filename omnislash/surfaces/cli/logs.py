"""The worker's log: plain lines on stderr, and the same in a file that turns over when it is full."""

from __future__ import annotations

import contextlib
import copy
import logging
import logging.handlers
import os
import sys
from typing import TYPE_CHECKING

from omnislash.surfaces.cli.output import show_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_LOG = logging.getLogger(__name__)
#: A megabyte is some ten thousand lines; with three older files a few weeks of an ordinary brain.
_FILE_BYTES, _OLDER_FILES = 1_000_000, 3


class _Lines(logging.Formatter):
    """Time with zone, level, text, and the trace of an error; nothing in it steers a terminal."""

    default_time_format = "%Y-%m-%dT%H:%M:%S%z"
    default_msec_format = ""

    def format(self, record: logging.LogRecord) -> str:
        return show_controls(super().format(record))


class _ShortLines(_Lines):
    """The same without traces: an error is named, and its trace stands in the log file."""

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info:
            record = copy.copy(record)
            error = record.exc_info[1] if record.exc_info else None
            record.msg = f"{record.getMessage()} ({type(error).__name__}: {error})"
            record.args = record.exc_info = record.exc_text = None
        return super().format(record)


def open_short_logs() -> None:
    """Let warnings of a short-lived command reach stderr as plain sentences."""
    logger = logging.getLogger("omnislash")
    if not logger.handlers:
        screen = logging.StreamHandler(sys.stderr)
        screen.setLevel(logging.WARNING)
        screen.setFormatter(_ShortLines("omnislash: %(message)s"))
        logger.addHandler(screen)


@contextlib.contextmanager
def open_logs(*, quiet: bool) -> Iterator[Callable[[Path], None]]:
    """Log this process's records on stderr until the block is left.

    Returns:
        Adds the log file of a brain; one that can't be made is only a warning.
    """
    logger = logging.getLogger("omnislash")
    logger.setLevel(logging.INFO)
    logger.handlers.clear()
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.WARNING if quiet else logging.INFO)
    _attach(logger, screen, _ShortLines)
    try:
        yield lambda root: _add_file(logger, root)
    finally:
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()


def _attach(logger: logging.Logger, handler: logging.Handler, lines: type[_Lines]) -> None:
    handler.setFormatter(lines("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)


def _add_file(logger: logging.Logger, root: Path) -> None:
    try:
        _attach(logger, _open_file(root), _Lines)
    except OSError as error:
        _LOG.warning("No log file: %s", error, extra={"action": "log_unavailable"})


def _open_file(root: Path) -> logging.Handler:
    from omnislash.store.state_directory import STATE_DIRECTORY  # noqa: PLC0415 - a database, which only this needs

    directory = root / STATE_DIRECTORY / "logs"
    directory.mkdir(mode=0o700, exist_ok=True)
    return logging.handlers.RotatingFileHandler(
        directory / "worker.log", maxBytes=_FILE_BYTES, backupCount=_OLDER_FILES, encoding="utf-8", errors="replace"
    )


def say_started(root: Path) -> None:
    """Note that the worker serves."""
    _LOG.info("The worker writes for %s (process %d).", root, os.getpid(), extra={"action": "worker_started"})


def say_stopping() -> None:
    """Note that the worker was told to stop."""
    _LOG.info("Stopping: the running batch is finished first.", extra={"action": "worker_stopping"})
