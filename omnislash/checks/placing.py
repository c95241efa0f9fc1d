"""What a file below `memory/` is by its place; asked by several checks, and answered once."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from omnislash.core.corpora import MANAGED_ROOT
from omnislash.core.lines import FileKind, LineName, ManagedPath, is_line_name, kind_of, parse_managed_path, split_path
from omnislash.core.periods import Level, period_at, period_on
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from omnislash.checks.examined import Listed
    from omnislash.core.periods import Period

_PREFIX: Final = f"{MANAGED_ROOT}/"
#: A daily log at its place: most files are one, and this tells it much faster than the general way.
_LOG: Final = re.compile(
    rf"{_PREFIX}(?P<line>[a-z0-9_-]+)/(?P<year>[0-9]{{4}})/(?P<month>[0-9]{{2}})/(?P<day>(?P=year)-(?P=month)-[0-9]{{2}})\.md"
)
_is_line = lru_cache(maxsize=1024)(is_line_name)
#: So many answers are kept, for the checks of one examination.
_KEPT: Final = 1 << 16


class Placed(NamedTuple):
    """A managed file."""

    path: ManagedPath
    line: LineName
    kind: FileKind
    #: The day of a daily log, the period of a summary; None for any other file.
    period: Period | None


def place_of(entry: Listed) -> Placed | None:
    """Return what a managed file is; None for one that no tool can name, and for what is no file of memory."""
    return _place(entry.path) if entry.is_markdown and entry.path.startswith(_PREFIX) else None


@lru_cache(maxsize=_KEPT)
def _place(path: str) -> Placed | None:
    found = _LOG.fullmatch(path)
    if found is not None and _is_line(found["line"]):
        try:
            day = period_on(Level.DAY, date.fromisoformat(found["day"]))
        except ValueError:  # the calendar has no such day
            return None
        return Placed(ManagedPath(path.removeprefix(_PREFIX)), LineName(found["line"]), FileKind.DAILY, day)
    try:
        managed = parse_managed_path(path.removeprefix(_PREFIX))
    except InvalidNameError:
        return None
    return Placed(managed, split_path(managed)[0], kind_of(managed), period_at(managed))
