"""A cron expression as a phrase, where a short one is true of it; nothing for every other one.

Source: crontab(5) for the five fields and the names such as `@daily`.
"""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_HOUR_MINUTES, _DAY_HOURS = 60, 24


def tell_schedule(schedule: str) -> str | None:
    """Return when a schedule comes due, as the end of a sentence: `every Monday at 07:00`; None for a rarer shape."""
    fields = _NAMED.get(schedule, schedule).split()
    if len(fields) != 5:  # noqa: PLR2004 - the fields of a cron expression
        return None
    minute, hour, day, month, weekday = fields
    if (hour, day, month, weekday) == ("*", "*", "*", "*"):
        return _tell_minutes(minute)
    if minute.isdecimal() and (day, month, weekday) == ("*", "*", "*") and (step := _step(hour)):
        return _tell_hours(int(minute), step)
    times = _tell_times(minute, hour)
    days = _tell_days(day, month, weekday)
    return f"{days} at {times}" if times and days else None


def _step(field: str) -> int | None:
    found = re.fullmatch(r"\*/(\d+)", field)
    return int(found[1]) if found else None


def _tell_minutes(minute: str) -> str | None:
    if minute in {"*", "*/1"}:
        return "every minute"
    step = _step(minute)
    if step is not None:
        # A step that does not divide the hour begins anew with each one.
        return f"every {step} minutes" if _HOUR_MINUTES % step == 0 else None
    return f"every hour at minute {int(minute)}" if minute.isdecimal() else None


def _tell_hours(minute: int, step: int) -> str | None:
    if step == 1:
        return f"every hour at minute {minute}"
    return f"every {step} hours from 00:{minute:02}" if _DAY_HOURS % step == 0 else None


def _tell_times(minute: str, hour: str) -> str | None:
    if not minute.isdecimal() or not re.fullmatch(r"\d+(?:,\d+)*", hour):
        return None
    return _join([f"{int(each):02}:{int(minute):02}" for each in hour.split(",")])


def _tell_days(day: str, month: str, weekday: str) -> str | None:
    if (day, month) == ("*", "*"):
        return "every day" if weekday == "*" else _tell_weekdays(weekday)
    if weekday != "*" or not day.isdecimal():
        return None
    if month == "*":
        return f"on day {int(day)} of every month"
    return f"on {int(day)} {_MONTHS[int(month)]} of every year" if month.isdecimal() else None


def _tell_weekdays(field: str) -> str | None:
    if re.fullmatch(r"[0-7](?:,[0-7])*", field):
        return f"every {_join([_DAYS[int(each)] for each in field.split(',')])}"
    found = re.fullmatch(r"([0-7])-([0-7])", field)
    return f"from {_DAYS[int(found[1])]} to {_DAYS[int(found[2])]}" if found else None


def _join(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
