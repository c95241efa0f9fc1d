"""Names that come from file names: the ids of roles, heartbeats and hooks, and capabilities.

An id ends up in signatures, in logs and on the command line, so it is one line of letters, digits and a few
signs, in the one Unicode form that text typed elsewhere has.
"""

from __future__ import annotations

import re
import unicodedata

from omnislash.brain.fields import UnfitError
from omnislash.brain.nearest import find_nearest
from omnislash.core.lines import quote_name
from omnislash.errors import InvalidNameError

#: Longest id, in characters.
ID_MAX = 100
#: What the memory tools are granted by (TOOL-01 to TOOL-04).
MEMORY_CAPABILITIES = ("memory:read", "memory:write", "memory:edit", "memory:delete")
#: The id of an engine role begins with it.
SYSTEM = "system:"

_MEMORY_VERBS = tuple(name.removeprefix("memory:") for name in MEMORY_CAPABILITIES)
_ID_SIGNS = frozenset("._- ")
_CAPABILITY = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_.:-]*")
_EVENT = re.compile(r"[a-z][a-z0-9_-]*:[a-z][a-z0-9_:-]*")


def normalise_id(text: str) -> str:
    """Return an id in Unicode form NFC, as references to it are compared."""
    return unicodedata.normalize("NFC", text)


def parse_id(stem: str) -> str:
    """Return the id that a file name gives.

    Raises:
        InvalidNameError: When it is empty, too long, or holds something else than letters, digits, `.`, `_`, `-`
            and single spaces, with a letter or digit at both ends.
    """
    name = normalise_id(stem)
    if 0 < len(name) <= ID_MAX and _is_word(name[0]) and _is_word(name[-1]) and "  " not in name:
        bad = next((char for char in name if not _is_word(char) and char not in _ID_SIGNS), None)
        if bad is None:
            return name
    message = f"{quote_name(stem)} can't be an id."
    hint = "Rename the file: letters, digits, '.', '_' and '-', with a letter or digit first and last."
    raise InvalidNameError(message, hint=hint)


def _is_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def parse_capability(text: str) -> str:
    """Return a capability, `area:verb`.

    Raises:
        UnfitError: When it has another shape, or is no capability of the area `memory`.

    Rules: TOOL-01 to TOOL-04, TOOL-06.
    """
    if _CAPABILITY.fullmatch(text) is None:
        message = f"{quote_name(text)} is not a capability; expected area:verb."
        raise UnfitError(message, "Write it as memory:read, for example.")
    if text.startswith("memory:") and text not in MEMORY_CAPABILITIES:
        near = find_nearest(text.removeprefix("memory:"), _MEMORY_VERBS)
        message = f"{quote_name(text)} is not a capability of memory."
        hint = f"Did you mean 'memory:{near}'?" if near else f"They are {', '.join(MEMORY_CAPABILITIES)}."
        raise UnfitError(message, hint)
    return text


def parse_event(text: str) -> str:
    """Return the name of an event, `area:what`.

    Raises:
        UnfitError: When it has another shape.
    """
    if _EVENT.fullmatch(text) is None:
        message = f"{quote_name(text)} is not the name of an event; expected area:event."
        raise UnfitError(message, "Write it as memory:written, for example.")
    return text


def parse_role_name(text: str) -> str:
    """Return a reference to a role: its id, with `system:` in front for a role of the engine.

    Raises:
        UnfitError: When no role can have that id.
    """
    prefix = SYSTEM if text.startswith(SYSTEM) else ""
    try:
        return prefix + parse_id(text.removeprefix(prefix))
    except InvalidNameError as error:
        message = f"{quote_name(text)} can't be the id of a role."
        raise UnfitError(message, "Write the role's file name without .agent.md.") from error
