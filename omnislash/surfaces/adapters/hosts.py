"""What a host is: a program that runs sessions of its own, calls us at set moments, and knows our MCP server.

Everything that one host has for itself, the names of its events, the form of its payloads and answers, its files and
what stands in them, is in one module: :mod:`omnislash.surfaces.adapters.claude_code`.
The rest works for every host: `installing` puts entries into files and takes them out again, `running` answers a call.

Rules: ENVELOPE-02 to ENVELOPE-10 for harness sessions; interface.md, "Command line" (`hooks`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from omnislash.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class HookKind(StrEnum):
    """At which moment of a session a host calls."""

    #: A session begins, goes on after a pause, or starts anew after its conversation was cleared or shortened.
    SESSION_STARTED = "session-started"
    #: A person sent a message, and the model has not seen it yet.
    PROMPT_SENT = "prompt-sent"
    #: The conversation is about to be shortened.
    COMPACTING = "compacting"
    #: The model has finished its answer.
    TURN_ENDED = "turn-ended"
    #: The session is over.
    SESSION_ENDED = "session-ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One call of a host, in our words."""

    #: The moment.
    kind: HookKind
    #: The host's id of the session.
    session: str
    #: What the person wrote; None at other moments.
    prompt: str | None = None
    #: Path of the session's record; None where the host named none.
    transcript: str | None = None
    #: Why a session starts: `startup`, `resume`, `clear` or `compact`; None at other moments.
    source: str | None = None
    #: The session's working directory.
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What a call is answered with, before the host's own form is given to it."""

    #: The moment that is answered.
    kind: HookKind
    #: What the model is shown; empty = nothing.
    context: str = ""


class Scope(StrEnum):
    """For whom and where an entry counts."""

    #: For this person, in one project.
    LOCAL = "local"
    #: For everybody who works on one project: the files belong to its repository.
    PROJECT = "project"
    #: For this person, in every project.
    USER = "user"


class Part(StrEnum):
    """What stands in a file of a host."""

    #: The commands that the host runs at the moments of a session.
    HOOKS = "hooks"
    #: The MCP server that the host starts.
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is installed: a program, and the role whose memory it carries."""

    #: The words that start omnislash: one path, or an interpreter with `-P -m omnislash`.
    program: tuple[str, ...]
    #: Id of the role.
    role: str
    #: The brain's directory, absolute.
    brain: str
    #: The heartbeat or hook that runs the role; None in a chat.
    heartbeat: str | None = None

    def words(self, *command: str) -> list[str]:
        """Return the whole command as words: the program, the command, and whose memory is meant."""
        beat = [] if self.heartbeat is None else ["--heartbeat", self.heartbeat]
        return [*self.program, *command, "--role", self.role, *beat, "--brain", self.brain]

    def describe(self) -> str:
        """Return whose memory is meant, for a person."""
        beat = f" (as {self.heartbeat} runs it)" if self.heartbeat else ""
        return f"the role {self.role}{beat} of {self.brain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """A file of a host in which entries of ours may stand."""

    part: Part
    #: Where it lies, links not followed.
    path: Path
    #: The keys that lead to the object that holds our entries.
    keys: tuple[str, ...]
    #: Permissions of the file when we make it.
    mode: int = 0o644
    #: Every way to an object in this file that may hold an entry of ours, of other scopes too; None stands for any key.
    places: tuple[tuple[str | None, ...], ...] = ()


class Host(Protocol):
    """One host; everything that is only true of it. Nothing here costs an import: a hook is called often."""

    @property
    def id(self) -> str:
        """The name by which commands know it."""

    @property
    def title(self) -> str:
        """The name by which people know it."""

    @property
    def most_chars(self) -> int | None:
        """How many UTF-16 units of an answer reach the model at a time; None where there is no limit."""

    # -- running -----------------------------------------------------------------------------------------------------

    def parse(self, payload: Mapping[str, Any]) -> HookCall | None:
        """Return a call from what the host wrote on stdin; None for one that is not meant for us."""

    def render(self, answer: HookAnswer) -> str:
        """Return what the host reads on stdout; empty when there is nothing to say."""

    # -- installing --------------------------------------------------------------------------------------------------

    @property
    def hook_limits(self) -> Mapping[str, int]:
        """The host's names of the moments at which it calls us, with the seconds after which it ends a call."""

    def files(self, scope: Scope, project: Path, environment: Mapping[str, str]) -> tuple[HostFile, ...]:
        """Return the files of a scope: the one with the hooks first, then the one with the server."""

    @property
    def next_step(self) -> str:
        """What a person has to do after an installation, as a sentence."""

    @property
    def one_server(self) -> str:
        """Which server counts where several scopes have one of the same name, as a sentence."""

    def scope_notes(self, scope: Scope, project: Path, environment: Mapping[str, str]) -> list[str]:
        """Return what a person should know about an installation in a scope, as sentences."""


#: Where each host is made, by its id: a new host is a line here and a module beside this one.
_HOMES: Final = {"claude-code": "omnislash.surfaces.adapters.claude_code:ClaudeCode"}
#: The ids of all hosts.
HOST_IDS: Final = tuple(_HOMES)


def get_host(name: str) -> Host:
    """Return a host by its id.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _HOMES:
        message = f"There is no host {name!r}; known are: {', '.join(HOST_IDS)}."
        raise UsageError(message, key="host")
    from importlib import import_module  # noqa: PLC0415 - only the host that is asked for is loaded

    module, _, made = _HOMES[name].partition(":")
    host: Host = getattr(import_module(module), made)()
    return host
