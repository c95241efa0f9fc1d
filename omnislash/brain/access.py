"""`constitution/access.yaml`: which chat runs which role.

A chat that is named runs its role; a direct message runs its bot's role, or the role that the bot's secretary
has for that person.
A chat that nothing names runs nothing.
A contact that is an e-mail address is the same person in upper and lower case.

Rules: BOUNDARY-14, BOUNDARY-15.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.brain.beats import ROLE_NAME
from omnislash.brain.config import FILLED, parse_filled
from omnislash.brain.decoding import Block, Decoded, decode, required, setting
from omnislash.brain.fields import ListOf, Named, Site, Table
from omnislash.brain.tree import Mapping as Keys
from omnislash.brain.yaml_text import parse_yaml
from omnislash.core.lines import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omnislash.brain.tree import Node

#: Path of the file, relative to the brain.
ACCESS_FILE = "constitution/access.yaml"
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


def fold_contact(contact: str) -> str:
    """Return a contact as it is compared: an e-mail address in lower case, anything else as it is."""
    return contact.casefold() if _ADDRESS.fullmatch(contact) else contact


class _Contacts(Table[str, str]):
    """Roles by contact; two that are the same address are a fault, for nobody can tell which of them is meant."""

    def read(self, node: Node, site: Site) -> dict[str, str]:
        """Return the roles by contact."""
        found = super().read(node, site)
        keys = node.keys if isinstance(node, Keys) else {}
        first: dict[str, str] = {}
        for contact, mark in keys.items():
            other = first.setdefault(fold_contact(contact), contact)
            if other != contact:
                message = f"{quote_name(contact)} differs from {quote_name(other)} in upper and lower case only."
                site.at(contact).report(mark, message, "They are the same address; keep one of the two.")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Secretary:
    """Roles for single persons."""

    #: Role by contact, for example an address.
    contacts: Mapping[str, str] = setting(
        _Contacts(Named("a contact", parse_filled), ROLE_NAME), text="Role of each person, by contact.", default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bot that people write to directly."""

    #: Its name.
    name: str = required(FILLED, text="Write the bot's name.")
    #: Role that it runs in a direct message.
    role: str = required(ROLE_NAME, text="Write the role that it runs.")
    #: Roles for single persons.
    secretary: Secretary = setting(Block(Secretary), text="Roles for single persons.", default=Secretary())

    def role_for(self, contact: str | None) -> str:
        """Return the role of a direct message from that person."""
        name = self.find_contact(contact)
        return self.role if name is None else self.secretary.contacts[name]

    def find_contact(self, contact: str | None) -> str | None:
        """Return a person as the rules spell them; None for one that has no rule."""
        if contact is None:
            return None
        return next((name for name in self.secretary.contacts if fold_contact(name) == fold_contact(contact)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Which chat runs which role."""

    #: Role by chat id.
    chats: Mapping[str, str] = setting(
        Table(Named("a chat id", parse_filled), ROLE_NAME), text="Role of each chat, by its id.", default={}
    )
    #: Bots for direct messages.
    bots: tuple[Bot, ...] = setting(ListOf(Block(Bot)), text="Bots, with the role of a direct message.", default=())

    def role_of_chat(self, chat: str) -> str | None:
        """Return the role that a chat runs; None when no rule names the chat."""
        return self.chats.get(chat)

    def bot(self, name: str) -> Bot | None:
        """Return the bot of that name."""
        return next((bot for bot in self.bots if bot.name == name), None)

    def named_roles(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the chain of keys and the role of every rule."""
        for chat, role in self.chats.items():
            yield ("chats", chat), role
        for index, bot in enumerate(self.bots):
            yield ("bots", index, "role"), bot.role
            for contact, role in bot.secretary.contacts.items():
                yield ("bots", index, "secretary", "contacts", contact), role


def parse_access(text: str, *, path: str = ACCESS_FILE) -> Decoded[Access]:
    """Return the access rules, or every fault in them."""
    return decode(Access, parse_yaml(text, path=path), path=path)
