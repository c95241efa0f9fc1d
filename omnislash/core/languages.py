"""The languages that the word leg can stem, and the scripts that each is written in.

One script has one language: a word goes to the first listed language written in its script, so the order of the
list matters and a language that could get no word at all is a mistake.

Rules: LANG-03, LANG-05 to LANG-07, LANG-O1, LANG-O2.
"""

from __future__ import annotations

import difflib
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from omnislash.core.lines import quote_name
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Script(StrEnum):
    """A script that some supported language is written in."""

    latin = "Latin"
    cyrillic = "Cyrillic"
    greek = "Greek"
    arabic = "Arabic"
    armenian = "Armenian"
    devanagari = "Devanagari"
    tamil = "Tamil"


#: What holds when `memory.languages` is not set (LANG-03).
DEFAULT_LANGUAGES = ("english",)

#: Every supported language with its scripts, in alphabetical order (LANG-07).
LANGUAGES: Mapping[str, tuple[Script, ...]] = MappingProxyType(
    {
        "arabic": (Script.arabic,),
        "armenian": (Script.armenian,),
        "bulgarian": (Script.cyrillic,),
        "danish": (Script.latin,),
        "dutch": (Script.latin,),
        "english": (Script.latin,),
        "finnish": (Script.latin,),
        "french": (Script.latin,),
        "german": (Script.latin,),
        "greek": (Script.greek,),
        "hindi": (Script.devanagari,),
        "hungarian": (Script.latin,),
        "indonesian": (Script.latin,),
        "irish": (Script.latin,),
        "italian": (Script.latin,),
        "lithuanian": (Script.latin,),
        "nepali": (Script.devanagari,),
        "norwegian": (Script.latin,),
        "portuguese": (Script.latin,),
        "romanian": (Script.latin,),
        "russian": (Script.cyrillic,),
        "serbian": (Script.cyrillic, Script.latin),
        "spanish": (Script.latin,),
        "swedish": (Script.latin,),
        "tamil": (Script.tamil,),
        "turkish": (Script.latin,),
        "ukrainian": (Script.cyrillic,),
    }
)


def resolve_languages(names: Sequence[str]) -> Mapping[Script, str]:
    """Return which language stems the words of which script, in the order of the list.

    Raises:
        InvalidNameError: When the list is empty, a name is unknown or repeated, or every script of a language is
            taken by the entries before it.

    Rules: LANG-05, LANG-06, LANG-07, LANG-O1, LANG-O2.
    """
    if not names:
        message = f"memory.languages is empty. Leave it out for {list(DEFAULT_LANGUAGES)}, or name a language."
        raise InvalidNameError(message, key="memory.languages")
    taken: dict[Script, str] = {}
    for place, name in enumerate(names):
        if name in names[:place]:
            message = f"{quote_name(name)} is listed twice in memory.languages. Remove one of the two."
            raise InvalidNameError(message, key="memory.languages")
        taken |= dict.fromkeys(_find_free_scripts(name, taken), name)
    return MappingProxyType(taken)


def _find_free_scripts(name: str, taken: Mapping[Script, str]) -> tuple[Script, ...]:
    """Return the scripts that a language still gets; raise when there are none."""
    scripts = LANGUAGES.get(name)
    if scripts is None:
        raise InvalidNameError(_explain_unknown(name), key="memory.languages")
    free = tuple(script for script in scripts if script not in taken)
    if free:
        return free
    owners = " and ".join(f"{script} words already go to {taken[script]!r}" for script in scripts)
    message = f"{name!r} in memory.languages can get no word, because {owners}. Remove one of them: order decides."
    raise InvalidNameError(message, key="memory.languages")


def _explain_unknown(name: str) -> str:
    near = difflib.get_close_matches(name.casefold(), LANGUAGES, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"{quote_name(name)} is not a supported language.{guess} Supported are: {', '.join(LANGUAGES)}."
