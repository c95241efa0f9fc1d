"""Cron expressions, checked when they are read.

Five fields: minute, hour, day of the month, month, day of the week.
Plain ones are judged here, without the cron library; names, `L` and `#` are left to it, and so is a day of the
month together with a month, because 30 February never comes.

Rules: PERIOD-12, PERIOD-O13.
"""

from __future__ import annotations

import re
from functools import lru_cache

from omnislash.brain.fields import UnfitError
from omnislash.core.lines import quote_name

#: Names for common schedules.
_NICKNAMES = frozenset({"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"})
#: Least and greatest number of each field.
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_PART = re.compile(r"(?:\*|([0-9]{1,2})(?:-([0-9]{1,2}))?)(?:/([1-9][0-9]?))?")
#: What a field may hold; the cron library takes more, such as random times.
_SIGNS = re.compile(r"[0-9A-Za-z*/,#\- ]+")
_RANDOM = re.compile(r"(?i)(?:^|[ ,])[rh](?:$|[ ,/])")
_HINT = "Write five fields, minute hour day month weekday, for example '0 4 * * *'."


def parse_schedule(text: str) -> str:
    """Return a cron expression.

    Raises:
        UnfitError: When it is none, or names a day that never comes.
    """
    schedule = " ".join(text.split())
    if not is_schedule(schedule):
        message = f"{quote_name(text)} is not a cron expression of five fields that ever comes due."
        raise UnfitError(message, _HINT)
    return schedule


@lru_cache(maxsize=256)
def is_schedule(text: str) -> bool:
    """Tell whether `text` is a cron expression that comes due."""
    fields = text.split(" ")
    if len(fields) != len(_RANGES):
        return text in _NICKNAMES
    if (fields[2] == "*" or fields[3] == "*") and all(map(_is_plain, fields, _RANGES)):
        return True
    return _comes_due(text)


def _is_plain(field: str, bounds: tuple[int, int]) -> bool:
    return all(_is_plain_part(part, bounds) for part in field.split(","))


def _is_plain_part(part: str, bounds: tuple[int, int]) -> bool:
    match = _PART.fullmatch(part)
    if match is None:
        return False
    first, last, step = (int(group) if group else None for group in match.groups())
    low, high = bounds
    numbers = [number for number in (first, last) if number is not None]
    return all(low <= number <= high for number in numbers) and numbers == sorted(numbers) and (step or 1) <= high


def _comes_due(text: str) -> bool:
    from datetime import UTC, datetime  # noqa: PLC0415

    # Its import costs more than reading a whole brain.
    from croniter import CroniterError, croniter  # noqa: PLC0415

    if not _SIGNS.fullmatch(text) or _RANDOM.search(text) or not croniter.is_valid(text):
        return False
    try:
        croniter(text, datetime(2024, 1, 1, tzinfo=UTC)).get_next(datetime)
    except (CroniterError, ValueError, OverflowError):
        return False
    return True
