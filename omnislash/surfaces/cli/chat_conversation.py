"""One talk: who is talked to, in which session and on which model, and a turn of it.

Each turn resolves the role, the access rules and the model anew, as a turn of any other surface does.

Rules: BOUNDARY-08, BOUNDARY-13 to BOUNDARY-16, TOOL-06, REPORT-08.
"""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.errors import UsageError
from omnislash.store import ids
from omnislash.surfaces.cli.asking import CATCH_UP_S
from omnislash.surfaces.cli.output import command_name
from omnislash.surfaces.cli.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omnislash.engine import Brain
    from omnislash.runtime.agents import Agent
    from omnislash.runtime.loop.run_values import Run, RunEvent
    from omnislash.surfaces.cli.options import Settings


@dataclass(slots=True, kw_only=True)
class Asked:
    """Who is talked to, in which session, on which model."""

    role: str | None
    chat_id: str | None
    bot: str | None
    contact: str | None
    session: str | None
    model: str | None

    def check(self, *, is_listing: bool, message: str | None) -> None:
        """Raise UsageError for options that make no sense together."""
        named = [name for name in (self.role, self.chat_id, self.bot) if name is not None]
        if len(named) > 1 or (not named and not is_listing):
            raise UsageError("Name one of --role R, --chat ID and --bot NAME: who is talked to.")
        if self.contact is not None and self.bot is None:
            raise UsageError("--contact says who writes to a bot, so it needs --bot.")
        if is_listing and (message is not None or self.session is not None):
            raise UsageError("--list-sessions shows sessions and says nothing in one.")

    def find_role(self, brain: Brain) -> str | None:
        """Return the id of the role that is meant; None when none is named.

        Raises:
            UsageError: There is no such role, chat or bot.
        """
        if self.role is not None:
            return brain.config.find_role(self.role).id
        if self.chat_id is None and self.bot is None:
            return None
        return brain.chat_agent(chat=self.chat_id, bot=self.bot, contact=self.contact).scope.role

    def words(self) -> list[str]:
        """Return the options that name who is talked to, as they are typed."""
        pairs = (("--role", self.role), ("--chat", self.chat_id), ("--bot", self.bot), ("--contact", self.contact))
        return [word for name, value in pairs if value is not None for word in (name, value)]


class Progress:
    """Shows how far the index is while a turn waits for it, and gets out of the way of the answer."""

    def __init__(self, settings: Settings) -> None:
        """Show nothing yet."""
        self._settings = settings
        self._open = contextlib.ExitStack()
        self._advance: Callable[[str, int, int], None] | None = None

    def advance(self, part: str, done: int, total: int) -> None:
        """Take note of how far a part is."""
        advance = self._advance
        if advance is not None:
            advance(part, done, total)

    @contextlib.contextmanager
    def between_events(self, on_event: Callable[[RunEvent], None] | None) -> Iterator[Callable[[RunEvent], None]]:
        """Yield what listens to a turn; a bar may appear before its first event, and while a tool runs."""
        from omnislash.runtime.loop.run_values import ToolCalled  # noqa: PLC0415 - not needed for a refusal

        def listen(event: RunEvent) -> None:
            self._end()
            if on_event is not None:
                on_event(event)
            if isinstance(event, ToolCalled):
                self._begin()

        self._begin()
        try:
            yield listen
        finally:
            self._end()

    def _begin(self) -> None:
        self._advance = self._open.enter_context(show_progress(self._settings))

    def _end(self) -> None:
        self._advance = None
        self._open.close()


@contextlib.contextmanager
def open_for_talk(settings: Settings) -> Iterator[tuple[Brain, Progress]]:
    """Open the brain for a talk, with what shows how far a search of it is.

    Raises:
        UsageError, ConfigError: There is none, or it does not load.
    """
    settings.find_root()
    from omnislash.engine import SearchOptions  # noqa: PLC0415 - half a second of imports

    progress = Progress(settings)
    search = SearchOptions(catch_up_s=CATCH_UP_S, on_progress=progress.advance)
    with settings.open_brain(search=search) as brain:
        yield brain, progress


class Conversation:
    """One session with one role, as the brain's files bind it."""

    def __init__(self, brain: Brain, settings: Settings, asked: Asked, progress: Progress) -> None:
        """Find the role, and refuse a session of another one.

        Raises:
            UsageError: No such role, chat or bot; or the session belongs to another role.
        """
        self.settings = settings
        self.asked = asked
        self._brain = brain
        self._progress = progress
        if asked.session is not None:
            from omnislash.runtime.delivery import check_session  # noqa: PLC0415 - not needed for a listing

            check_session(asked.session)
        elif asked.role is not None:
            asked.session = ids.new_session_id()
        agent = self.agent()
        self._check_session(agent)

    def agent(self) -> Agent:
        """Return the agent of the next turn, as the files say now; UsageError for a role that the engine runs itself."""
        asked, replay = self.asked, self.settings.replay
        if asked.role is not None:
            agent = self._brain.agent(asked.role, replay=replay, session=asked.session)
        else:
            agent = self._brain.chat_agent(chat=asked.chat_id, bot=asked.bot, contact=asked.contact, replay=replay)
            agent.session = asked.session or agent.session
        _refuse_engine_role(agent.scope.role)
        return agent

    def _check_session(self, agent: Agent) -> None:
        kept = self._brain.find_session(agent.session or "")
        if kept is not None and kept.role != agent.scope.role:
            message = f"The session {kept.id!r} belongs to the role {kept.role!r}, not to {agent.scope.role!r}."
            raise UsageError(message, hint="omnislash chat --list-sessions shows the sessions of each role.")

    @property
    def session(self) -> str:
        """Id of the session of the next turn."""
        return self.agent().session or ""

    def run(self, message: str, on_event: Callable[[RunEvent], None] | None = None) -> Run:
        """Run a turn.

        Raises:
            OmnislashError: The model gave no answer, or the role can't be run any more.
        """
        from omnislash.runtime.loop.run_values import RunOptions  # noqa: PLC0415 - not needed for a refusal

        with self._progress.between_events(on_event) as listen:
            return self.agent().run(message, options=RunOptions(model=self.asked.model, on_event=listen))

    def describe(self) -> list[str]:
        """Return the lines that begin a talk: role, line, model and session, and what is unusual about them."""
        agent = self.agent()
        kept = self._brain.find_session(agent.session or "")
        line = f"line {agent.scope.line}" if agent.scope.line is not None else "no memory"
        turns = f", {kept.turns} turn{'s' * (kept.turns != 1)} so far" if kept and kept.turns else ""
        session = "no session" if self.settings.replay else f"session {agent.session}{turns}"
        told = [f"{agent.scope.role} · {line} · model {self._find_model(agent)} · {session}"]
        if self.settings.replay:
            told.append("Replay: memory is read and not written; each message stands alone, and nothing is kept.")
        return told

    def _find_model(self, agent: Agent) -> str:
        """Return the model of a turn as a person reads it."""
        from omnislash.brain.config import OFFLINE  # noqa: PLC0415 - the same
        from omnislash.runtime.models.references import find_turn_reference, name_model  # noqa: PLC0415 - the same

        config = self._brain.config
        reference = self.asked.model or find_turn_reference(config, config.find_role(agent.scope.role)) or OFFLINE
        string = name_model(reference, config)
        return reference if string == reference else f"{reference} ({string})"

    def describe_model(self) -> str:
        """Return the model of the next turn, as a person reads it."""
        return self._find_model(self.agent())

    def is_kept(self) -> bool:
        """Tell whether there is a session to go on with."""
        kept = self._brain.find_session(self.session)
        return kept is not None and kept.turns > 0

    def describe_resuming(self) -> str:
        """Return the id of the session and what is typed to go on with it."""
        session = self.session
        own = ["--session", session] if self.asked.session is not None else []
        brain = ["--brain", self.settings.brain] if self.settings.brain and "brain" in self.settings.given else []
        return (
            f"Session {session}; go on with: {command_name()} {shlex.join(['chat', *brain, *self.asked.words(), *own])}"
        )

    def begin_anew(self) -> None:
        """Go on in a new session."""
        self.asked.session = ids.new_session_id()


def _refuse_engine_role(role: str) -> None:
    """Raise UsageError for a role that the engine runs itself, with prompts that no person writes."""
    from omnislash.runtime.flushing.flush import CURATOR  # noqa: PLC0415 - not needed for a listing
    from omnislash.runtime.models.summarisers import CONSOLIDATOR  # noqa: PLC0415 - the same

    work = {CURATOR: ("reviews turns", "flush"), CONSOLIDATOR: ("writes summaries of periods", "consolidate")}
    if role in work:
        what, command = work[role]
        message = f"The role {role} {what} and is not talked to; omnislash {command} runs it."
        raise UsageError(message, hint="Name a role of features/, or system:general.")
