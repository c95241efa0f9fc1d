"""`constitution/access.yaml`: which chat runs which role.

A chat that is named runs its role; a direct message runs its bot's role, or the role that the bot's secretary
has for that person.
A chat that nothing names runs nothing.

Rules: BOUNDARY-14, BOUNDARY-15.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.brain.beats import ROLE_NAME
from omnislash.brain.config import FILLED, parse_filled
from omnislash.brain.decoding import Block, Decoded, decode, required, setting
from omnislash.brain.fields import ListOf, Named, Table
from omnislash.brain.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Path of the file, relative to the brain.
ACCESS_FILE = "constitution/access.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secretary:
    """Roles for single persons."""

    #: Role by contact, for example an address.
    contacts: Mapping[str, str] = setting(
        Table(Named("a contact", parse_filled), ROLE_NAME), text="Role of each person, by contact.", default={}
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
        return self.role if contact is None else self.secretary.contacts.get(contact, self.role)


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
