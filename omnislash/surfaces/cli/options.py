"""What holds for every command: where the brain is, how the answer looks, and what time it is.

The environment is read here and nowhere else; the engine receives values.

Rules: BOUNDARY-08; interface.md, "Command line".
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from omnislash.core.clock import Clock
    from omnislash.engine import Brain, SearchOptions

#: The years that an instant may name: a line's days have four digits, and there is room to count from them.
YEARS = range(1000, 9001)
#: The file that makes a directory a brain.
_SIGN = "omnislash.yaml"
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


@dataclass(slots=True)
class Settings:
    """The options that work with every command, from the environment and the command line."""

    #: The brain's directory; None = the nearest parent that holds `omnislash.yaml`.
    brain: str | None = None
    #: One JSON object on stdout instead of text for people.
    json: bool = False
    #: Leave a write queued when no worker runs.
    queue_only: bool = False
    #: Say nothing where all went well.
    quiet: bool = False
    #: Read live and write nothing (BOUNDARY-08).
    replay: bool = False
    #: The instant that stands for the clock; None = the machine's clock.
    now: datetime | None = None
    #: Names of the options that were given on the command line.
    given: set[str] = field(default_factory=set)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Return what the variables say.

        Raises:
            UsageError: One of them makes no sense.
        """
        return cls(
            brain=environment.get("OMNISLASH_BRAIN") or None,
            replay=_parse_switch("OMNISLASH_REPLAY", environment.get("OMNISLASH_REPLAY", "")),
            now=_parse_now(environment.get("OMNISLASH_NOW", "")),
        )

    def refuse_replay(self, command: str) -> None:
        """Refuse a command that can't run without writing.

        Raises:
            UsageError: Nothing may be written (BOUNDARY-08).
        """
        if self.replay:
            message = f"{command} writes, so it does not run with --replay or OMNISLASH_REPLAY=1; nothing was done."
            raise UsageError(message)

    def find_root(self) -> str:
        """Return the absolute path of the brain's directory.

        Raises:
            UsageError: None was named, and this directory is in none; or the one that was named is no directory.
        """
        if self.brain is not None:
            return _check_named(self.brain)
        place = os.getcwd()  # noqa: PTH109 - pathlib is not needed to answer a write
        while not os.path.isfile(os.path.join(place, _SIGN)):  # noqa: PTH113, PTH118 - the same
            if (parent := os.path.dirname(place)) == place:  # noqa: PTH120 - the same
                message = f"No brain here: neither this directory nor one above it holds {_SIGN}."
                raise UsageError(message, hint="Name one with --brain DIR, or make one with: omnislash init DIR")
            place = parent
        return place

    def clock(self) -> Clock:
        """Return the clock of this command."""
        from omnislash.store.system_clock import SystemClock  # noqa: PLC0415 - a fast call needs no clock

        return SystemClock() if self.now is None else _StandingClock(self.now)

    def open_brain(self, *, search: SearchOptions | None = None) -> Brain:
        """Open the brain.

        Args:
            search: How searches in this process behave.

        Raises:
            UsageError, ConfigError: There is none, or it does not load.
        """
        root = self.find_root()
        from omnislash.engine import Brain  # noqa: PLC0415 - half a second of imports that a fast call does without
        from omnislash.surfaces.cli.logs import open_short_logs  # noqa: PLC0415 - the same

        open_short_logs()
        return Brain.open(root, clock=self.clock(), queue_only=self.queue_only, search=search)


class _StandingClock:
    """Tells the instant of OMNISLASH_NOW; time limits still run."""

    def __init__(self, now: datetime) -> None:
        from omnislash.store.system_clock import SystemClock  # noqa: PLC0415 - as above

        self._now = now
        self.monotonic_s = SystemClock().monotonic_s

    def now(self) -> datetime:
        return self._now


def _check_named(brain: str) -> str:
    root = os.path.abspath(os.path.expanduser(brain))  # noqa: PTH100, PTH111 - as above
    if not os.path.isdir(root):  # noqa: PTH112 - as above
        what = "a file" if os.path.exists(root) else "not there"  # noqa: PTH110 - as above
        message = f"The brain {brain!r} is {what}; the directory that holds {_SIGN} is meant."
        raise UsageError(message, path=brain, hint="Name another, or make one with: omnislash init DIR")
    return root


def _parse_switch(name: str, text: str) -> bool:
    folded = text.strip().lower()
    if folded not in _YES | _NO:
        message = f"{name} is {text!r}; it can be 1 or 0."
        raise UsageError(message, key=name)
    return folded in _YES


def _parse_now(text: str) -> datetime | None:
    if not text:
        return None
    now = parse_instant(text)
    if now is None:
        message = (
            f"OMNISLASH_NOW is {text!r}; it must be an instant with its zone, such as 2026-11-30T09:00:00+01:00, "
            f"in the years {YEARS[0]} to {YEARS[-1]}."
        )
        raise UsageError(message, key="OMNISLASH_NOW")
    return now


def parse_instant(text: str) -> datetime | None:
    """Return an ISO instant with its zone; None for any other text, and for a year that can't be meant."""
    from datetime import datetime  # noqa: PLC0415 - only where there is one

    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None and instant.year in YEARS else None


# -- as options of click ---------------------------------------------------------------------------------------------


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Note an option that was given, wherever it stood."""
    name = parameter.name or ""
    if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
        settings = context.find_root().obj
        setattr(settings, name, value)
        settings.given.add(name)


def _everywhere(flag: str, text: str, *, metavar: str | None = None) -> click.Option:
    return click.Option(
        [flag],
        is_flag=metavar is None,
        metavar=metavar,
        help=text,
        expose_value=False,
        is_eager=True,
        callback=_remember,
    )


#: The options that every command takes, before its name and after it.
EVERYWHERE = (
    _everywhere(
        "--brain", "The brain; else OMNISLASH_BRAIN, else the nearest parent with omnislash.yaml.", metavar="DIR"
    ),
    _everywhere("--json", "Answer with one JSON object on stdout."),
    _everywhere("--queue-only", "Leave a write queued when no worker runs."),
    _everywhere("--replay", "Read live and write nothing; also OMNISLASH_REPLAY=1."),
    _everywhere("--quiet", "Say nothing where all went well."),
)
