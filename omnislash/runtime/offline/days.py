"""Days that a text speaks of: today, tomorrow and the like, weekdays, days of a month; English, German and Russian.

What "tomorrow" means depends on the day on which it was said.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import date

_MONTHS: Final = (
    "jan(?:uary|uar)?|янв(?:аря)?",
    "feb(?:ruary|ruar)?|фев(?:раля)?",
    "mar(?:ch)?|märz|марта",
    "apr(?:il)?|апр(?:еля)?",
    "may|mai|мая",
    "june?|juni|июня",
    "july?|juli|июля",
    "aug(?:ust)?|авг(?:уста)?",
    "sep(?:t|tember)?|сент(?:ября)?",
    "o[ck]t(?:ober)?|окт(?:ября)?",
    "nov(?:ember)?|нояб(?:ря)?",
    "de[cz](?:ember)?|дек(?:абря)?",
)
_WEEKDAYS: Final = (
    "monday|montag|понедельник\\w*",
    "tuesday|dienstag|вторник\\w*",
    "wednesday|mittwoch|сред[уыае]",
    "thursday|donnerstag|четверг\\w*",
    "friday|freitag|пятниц\\w+",
    "saturday|samstag|суббот\\w+",
    "sunday|sonntag|воскресень\\w+",
)
#: Words of days by their distance from the day on which they are said.
_RELATIVE: Final = (
    (0, re.compile(r"\b(today|tonight|this (?:morning|afternoon|evening)|heute|сегодня)\b", re.IGNORECASE)),
    (
        1,
        re.compile(
            r"\b((?<!day after )tomorrow|завтра"
            r"|(?<!guten )(?<!heute )(?<!gestern )(?<!am )(?<!der )(?<!den )(?<!jeden )(?<!diesen )(?<!diesem )(?<!nächsten )morgen)\b",
            re.IGNORECASE,
        ),
    ),
    (-1, re.compile(r"\b(yesterday|gestern|вчера)\b", re.IGNORECASE)),
    (2, re.compile(r"\b(day after tomorrow|übermorgen|послезавтра)\b", re.IGNORECASE)),
)


def mentions(text: str, day: date, *, said_on: date) -> bool:
    """Tell whether a text that was said on one day speaks of another: by a word, a weekday to come, or its date."""
    lowered = text.lower()
    if day.isoformat() in lowered or re.search(_date_pattern(day), lowered):
        return True
    distance = (day - said_on).days
    if any(days == distance and words.search(lowered) for days, words in _RELATIVE):
        return True
    return 0 < distance <= len(_WEEKDAYS) and bool(re.search(rf"\b(?:{_WEEKDAYS[day.weekday()]})\b", lowered))


def _date_pattern(day: date) -> str:
    month = _MONTHS[day.month - 1]
    return rf"(?<![\d.:])0?{day.day}(?:st|nd|rd|th)?\.?(?: of)? (?:{month})\b|\b(?:{month}) {day.day}(?:st|nd|rd|th)?\b(?!:)"


def resolve_days(text: str, *, said_on: date) -> str:
    """Return the text with the days behind it that its words mean: `… tomorrow. (tomorrow: 2026-12-02)`."""
    found = {
        match[0].lower(): said_on + timedelta(days=distance)
        for distance, words in _RELATIVE
        if (match := words.search(text))
    }
    known = [f"{word}: {on.isoformat()}" for word, on in found.items() if on.isoformat() not in text]
    return f"{text} ({', '.join(known)})" if known else text
