"""One agent in one turn.

What a tool takes and does is loaded with the first tool: a turn of a harness, which a person waits for, calls none.

Rules: TOOL-05, RECALL-02, RECALL-05, REPORT-O5; interface.md, "Embedding the engine".
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.scopes import Scope
    from omnislash.recall.hits import Shown
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.flushing.flush_files import FlushAnswer, FlushRequest
    from omnislash.runtime.loop.run_values import Run, RunOptions
    from omnislash.runtime.memory_tools import Memory
    from omnislash.runtime.tools.catalog import Answer
    from omnislash.runtime.tools.searching import Recall
    from omnislash.runtime.turn_preview import Preview
    from omnislash.runtime.turns import Ports, Turn


class Agent:
    """One agent in one turn."""

    def __init__(self, turn: Turn, ports: Ports, *, session: str | None = None) -> None:
        """Keep the turn; use `Brain.agent`."""
        self._turn = turn
        self._ports = ports
        #: Session of a turn that names none; None = a new one.
        self.session = session

    @cached_property
    def memory(self) -> Memory:
        """The agent's memory tools, by name."""
        from omnislash.runtime.memory_tools import Memory  # noqa: PLC0415 - what only a tool needs

        return Memory(self._turn, self._ports)

    @property
    def scope(self) -> Scope:
        """What it may read and write."""
        return self._turn.scope

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that it is offered (TOOL-05)."""
        from omnislash.runtime.tools import catalog  # noqa: PLC0415 - as above

        return tuple(tool.name for tool in catalog.offered_tools(self._turn))

    def recall(
        self, message: str, *, shown: Shown | None = None, explained: bool = False, target: str | None = None
    ) -> Recall:
        """Return what a turn with this message is shown of memory, unasked (RECALL-02, RECALL-05).

        Args:
            message: What came in.
            shown: What the turn's blocks show already; None = nothing.
            explained: True adds why each hit, or each note that `target` means, was shown or not.
            target: A path, or a text of a note.

        Raises:
            ScopeError: The role has no memory.
        """
        from omnislash.runtime.tools import searching  # noqa: PLC0415 - numpy, which only a search needs

        return searching.recall(self._turn, self._ports, message, shown=shown, explained=explained, target=target)

    def turn(self, *, session: str | None = None, message: str | None = None, is_compacted: bool = False) -> Delivery:
        """Return what this turn carries of memory, and note that it was sent; no model is called.

        Args:
            session: The session that it belongs to; None = the agent's own, or a new one.
            message: What came in; None = nothing to recall for.
            is_compacted: True in the first turn after a harness has shortened the conversation (ENVELOPE-07).

        Raises:
            UsageError: The id of the session can't be one.
        """
        found = self.deliver(session=session, message=message, is_compacted=is_compacted)
        self.confirm(found)
        return found

    def deliver(
        self,
        *,
        session: str | None = None,
        message: str | None = None,
        is_compacted: bool = False,
        is_cleared: bool = False,
        most_chars: int | None = None,
    ) -> Delivery:
        """Return the same and note nothing: what is not confirmed is delivered again.

        Args:
            session: As in :meth:`turn`.
            message: As in :meth:`turn`.
            is_compacted: As in :meth:`turn`.
            is_cleared: True when the conversation begins anew under its old id.
            most_chars: UTF-16 units that the conversation takes at a time; what has no room waits for the next turn.
                None = all that there is.

        Raises:
            UsageError: The id of the session can't be one.
        """
        from omnislash.runtime import delivery  # noqa: PLC0415 - not needed to write

        chosen = self.session if session is None else session
        if chosen is None:
            chosen = self._ports.new_session_id()
        occasion = delivery.Occasion(is_compacted=is_compacted, is_cleared=is_cleared, most_chars=most_chars)
        return delivery.deliver(self._turn, self._ports, session=chosen, message=message, occasion=occasion)

    def mark_compacted(self, session: str) -> None:
        """Note that a harness is about to shorten a session: its next delivery opens with the snapshot (ENVELOPE-07).

        Raises:
            UsageError: The id of the session can't be one.
            WriterUnavailableError: The state database can't be written.
        """
        from omnislash.runtime import delivery  # noqa: PLC0415 - as above

        delivery.mark_compacted(self._ports, self._turn, session)

    def request_flush(self, transcript: str, *, has_ended: bool = False) -> None:
        """Ask for the review of a transcript, for as soon as somebody has time; nobody waits for it (FLUSH-04).

        Args:
            transcript: Path of the file.
            has_ended: True when the session is over: a last message without an answer is reviewed too.

        Raises:
            WriterUnavailableError: The state database can't be written.
        """
        from omnislash.runtime.flushing import flush_queue  # noqa: PLC0415 - what only a flush needs

        flush_queue.request_flush(self._turn, self._ports, transcript, has_ended=has_ended)

    def preview(self, *, session: str | None = None, message: str | None = None) -> Preview:
        """Return what the next turn of a session would carry, or the first of a new one; nothing is noted.

        Raises:
            UsageError: There is no such session, or it belongs to another role.
        """
        from omnislash.runtime import turn_preview  # noqa: PLC0415 - what only a person asks for

        return turn_preview.preview(self._turn, self._ports, session=session, message=message)

    def confirm(self, sent: Delivery) -> None:
        """Note that a delivery was sent; in a replay nothing is noted."""
        from omnislash.runtime import delivery  # noqa: PLC0415 - as above

        delivery.confirm(self._ports, self._turn, sent)

    def run(
        self,
        message: str,
        *,
        session: str | None = None,
        model: str | None = None,
        options: RunOptions | None = None,
    ) -> Run:
        """Run this turn with a model and return what came of it; Ctrl-C ends it and keeps what was said and done.

        Args:
            message: What came in.
            session: The session that it goes on with; None = the agent's own, or a new one.
            model: Reference of a model in place of the role's own, and of the one in the options.
            options: A listener, limits and the rest; None = none of these.

        Raises:
            ModelError: The model gave no answer; nothing of the turn is stored.
            UsageError: The session belongs to another role.
        """
        from omnislash.runtime.loop import running  # noqa: PLC0415 - not needed to write
        from omnislash.runtime.loop.run_values import RunOptions  # noqa: PLC0415 - as above

        chosen = options or RunOptions()
        if model is not None:
            chosen = replace(chosen, model=model, chat_model=None)
        return running.run_turn(
            self._turn, self._ports, session=session or self.session, message=message, options=chosen
        )

    def call(self, tool: str, arguments: Mapping[str, Any], *, job_id: str | None = None) -> Answer:
        """Run a tool by name, with the arguments as JSON has them.

        Raises:
            UsageError: There is no such tool, or its arguments are wrong.
            ScopeError: The role lacks the capability, or the path lies outside its read set.
        """
        from omnislash.runtime.tools import catalog  # noqa: PLC0415 - as above

        return catalog.call_tool(self._turn, self._ports, tool, arguments, job_id=job_id)

    def flush(self, request: FlushRequest) -> FlushAnswer:
        """Let the curator review what is new in a transcript, and write down what is worth keeping (FLUSH-04).

        Raises:
            UsageError: The transcript names no speaker.
            WriterUnavailableError: Another review takes too long, or the state database can't be used.
        """
        from omnislash.runtime.flushing import flush_files  # noqa: PLC0415 - what only a flush needs

        return flush_files.flush_file(self._turn, self._ports, request)
