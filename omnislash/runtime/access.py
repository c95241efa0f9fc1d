"""Which role a chat runs, and in which session it goes on.

A chat is named by its id, a direct message by the bot that it was sent to and the person who sent it; the rules are
those of `constitution/access.yaml` as it stands now, and a chat that nothing names runs nothing.
Two chats with one role share its line and never a session: what was said in the one is not heard in the other, and a
chat that is given another role begins anew.

Rules: BOUNDARY-13 to BOUNDARY-16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from omnislash.brain.access import ACCESS_FILE, fold_contact
from omnislash.brain.nearest import suggest
from omnislash.core.lines import quote_name
from omnislash.errors import UsageError
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    from collections.abc import Collection

    from omnislash.brain.files import BrainFiles
    from omnislash.runtime.turns import Ports

#: Names that a sentence lists in full; of more it gives the number.
_NAMED: Final = 8
#: Longest name that an id holds as it is; a role's id and a word more fit beside it.
_PLACE_MAX: Final = 90


@dataclass(frozen=True, slots=True)
class Bound:
    """What the access rules say about a chat."""

    role: str
    #: Session in which the chat goes on by itself.
    session: str


def find_bound(
    config: BrainFiles, *, chat: str | None = None, bot: str | None = None, contact: str | None = None
) -> Bound:
    """Return the role of a chat, or of a direct message to a bot, and the session that belongs to it.

    Args:
        config: The brain's files.
        chat: Id of a chat.
        bot: Name of a bot, in place of a chat.
        contact: The person who writes to the bot; None = nobody in particular.

    Raises:
        UsageError: No rule names the chat or the bot, its role does not load, or the call names both or none.

    Rules: BOUNDARY-14, BOUNDARY-15.
    """
    if (chat is None) == (bot is None):
        raise UsageError("Name either a chat or a bot.")
    if contact is not None and (bot is None or not contact.strip()):
        raise UsageError("A contact is a person who writes to a bot: name both.")
    if chat is not None:
        return Bound(_find_chat(config, chat), _name_session("chat", chat))
    return _find_direct(config, bot or "", contact)


def _find_chat(config: BrainFiles, chat: str) -> str:
    role = config.access.role_of_chat(chat)
    if role is not None:
        return _check_role(config, role, f"chats.{chat}")
    message = f"No rule of {ACCESS_FILE} names the chat {quote_name(chat)}, so it runs no role."
    raise UsageError(message, path=ACCESS_FILE, key="chats", hint=_explain(config, chat, config.access.chats, "chat"))


def _find_direct(config: BrainFiles, name: str, contact: str | None) -> Bound:
    bot = config.access.bot(name)
    if bot is not None:
        place = name.replace("%", "%25").replace(":", "%3A")  # so that no contact can look like the name of a bot
        whole = place if contact is None else f"{place}:{fold_contact(contact)}"
        person = bot.find_contact(contact)
        key = f"bots[{config.access.bots.index(bot)}]{'.role' if person is None else f'.secretary.contacts.{person}'}"
        return Bound(_check_role(config, bot.role_for(contact), key), _name_session("bot", whole))
    known = [each.name for each in config.access.bots]
    message = f"No rule of {ACCESS_FILE} names the bot {quote_name(name)}, so it runs no role."
    raise UsageError(message, path=ACCESS_FILE, key="bots", hint=_explain(config, name, known, "bot"))


def _check_role(config: BrainFiles, role: str, key: str) -> str:
    """Return the role that a rule gives; UsageError at the rule when no such role loads."""
    fault = next((fault for fault in config.faults if ACCESS_FILE in fault.path and fault.key == key), None)
    try:
        return config.find_role(role).id
    except UsageError as error:
        if fault is None:
            raise
        message = replace(fault, column=None, hint=None).render()
        raise UsageError(message, path=fault.path, line=fault.line, key=key, hint=error.hint) from error


def _name_session(kind: str, place: str) -> str:
    """Return the id of a chat's session: its own name or, where that can't be an id, what only this name gives."""
    if len(place) <= _PLACE_MAX and place.isprintable() and not place.startswith("#"):
        return f"{kind}:{place}"
    return f"{kind}:#{hash_bytes(place.encode('utf-8', 'backslashreplace'))}"


def _explain(config: BrainFiles, name: str, known: Collection[str], what: str) -> str:
    """Return what to do about a name that no rule has."""
    fault = next((fault for fault in config.faults if ACCESS_FILE in fault.path), None)
    if fault is not None and not known:
        return f"The file has faults, so that nobody gets in by mistake: {fault.render()}"
    if not known:
        return f"It names no {what} at all: add it there under {what}s."
    listed = f": {', '.join(map(quote_name, sorted(known)))}" if len(known) <= _NAMED else ""
    near = suggest(name, known)
    return f"{f'{near} ' if near else ''}It names {len(known)} {what}{'s' if len(known) > 1 else ''}{listed}."


def choose_session(ports: Ports, bound: Bound) -> str:
    """Return the session in which a chat goes on: its own or, once that belongs to another role, one of this role."""
    row = ports.state().row("find_session", id=bound.session)
    if row is None or row["role"] == bound.role:
        return bound.session
    kind, _, place = bound.session.partition(":")
    return f"{kind}@{bound.role}:{place}"
