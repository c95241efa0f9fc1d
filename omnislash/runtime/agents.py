"""One agent in one turn, and its memory tools as methods.

Rules: TOOL-05, RECALL-02, RECALL-05, REPORT-O5; interface.md, "Embedding the engine".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omnislash.core.verdicts import Verdict
from omnislash.runtime.loop.run_values import RunOptions
from omnislash.runtime.tools import catalog, reading
from omnislash.runtime.tools.arguments import (
    DEFAULT_HITS,
    ListArguments,
    ReadArguments,
    SearchArguments,
    parse_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnislash.core.scopes import Scope
    from omnislash.recall.hits import SearchResult, Shown
    from omnislash.runtime.delivery import Delivery
    from omnislash.runtime.flushing.flush_files import FlushAnswer, FlushRequest
    from omnislash.runtime.loop.run_values import Run
    from omnislash.runtime.tools.catalog import Answer
    from omnislash.runtime.tools.lookup import Lookup
    from omnislash.runtime.tools.reading import FileContent, FileListing, Overview
    from omnislash.runtime.tools.searching import Explained, Recall
    from omnislash.runtime.turn_preview import Preview
    from omnislash.runtime.turns import Ports, Turn


def _search_arguments(
    query: str,
    corpora: Sequence[str] | None,
    since: str | None,
    until: str | None,
    *,
    min_score: float | None,
    limit: int,
) -> SearchArguments:
    given = {
        "query": query,
        "corpora": None if corpora is None else list(corpora),
        "since": since,
        "until": until,
        "minScore": min_score,
        "limit": limit,
    }
    return parse_arguments(SearchArguments, given, tool="memory_search")


class Agent:
    """One agent in one turn."""

    def __init__(self, turn: Turn, ports: Ports, *, session: str | None = None) -> None:
        """Keep the turn; use `Brain.agent`."""
        self._turn = turn
        self._ports = ports
        #: Session of a turn that names none; None = a new one.
        self.session = session
        #: The agent's memory tools, by name.
        self.memory = Memory(turn, ports)

    @property
    def scope(self) -> Scope:
        """What it may read and write."""
        return self._turn.scope

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that it is offered (TOOL-05)."""
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
        options: RunOptions = RunOptions(),  # noqa: B008 - a frozen value
    ) -> Run:
        """Run this turn with a model and return what came of it; Ctrl-C ends it and keeps what was said and done.

        Args:
            message: What came in.
            session: The session that it goes on with; None = the agent's own, or a new one.
            model: Reference of a model in place of the role's own, and of the one in the options.
            options: A listener, limits and the rest.

        Raises:
            ModelError: The model gave no answer; nothing of the turn is stored.
            UsageError: The session belongs to another role.
        """
        from omnislash.runtime.loop import running  # noqa: PLC0415 - not needed to write

        if model is not None:
            options = replace(options, model=model, chat_model=None)
        return running.run_turn(
            self._turn, self._ports, session=session or self.session, message=message, options=options
        )

    def call(self, tool: str, arguments: Mapping[str, Any], *, job_id: str | None = None) -> Answer:
        """Run a tool by name, with the arguments as JSON has them.

        Raises:
            UsageError: There is no such tool, or its arguments are wrong.
            ScopeError: The role lacks the capability, or the path lies outside its read set.
        """
        return catalog.call_tool(self._turn, self._ports, tool, arguments, job_id=job_id)

    def flush(self, request: FlushRequest) -> FlushAnswer:
        """Let the curator review what is new in a transcript, and write down what is worth keeping (FLUSH-04).

        Raises:
            UsageError: The transcript names no speaker.
            WriterUnavailableError: Another review takes too long, or the state database can't be used.
        """
        from omnislash.runtime.flushing import flush_files  # noqa: PLC0415 - what only a flush needs

        return flush_files.flush_file(self._turn, self._ports, request)


class Memory:
    """The memory tools of an agent as methods; a tool that its role lacks raises ScopeError."""

    def __init__(self, turn: Turn, ports: Ports) -> None:
        """Keep the turn; use `agent.memory`."""
        self._turn = turn
        self._ports = ports

    def overview(self) -> Overview:
        """Return what the agent's memory consists of."""
        catalog.check_granted(self._turn, catalog.TOOLS["memory_overview"])
        return reading.overview(self._turn, self._ports)

    def list(
        self, *, corpus: str | None = None, prefix: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> FileListing:
        """Return the files that the agent may read."""
        catalog.check_granted(self._turn, catalog.TOOLS["memory_list"])
        given = {"corpus": corpus, "prefix": prefix, "limit": limit, "cursor": cursor}
        arguments = parse_arguments(ListArguments, given, tool="memory_list")
        return reading.list_files(self._turn, self._ports, arguments)

    def search(
        self,
        query: str,
        *,
        corpora: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        min_score: float | None = None,
        limit: int = DEFAULT_HITS,
    ) -> SearchResult:
        """Return the best notes of what the agent may read."""
        from omnislash.runtime.tools import searching  # noqa: PLC0415 - numpy, which only a search needs

        catalog.check_granted(self._turn, catalog.TOOLS["memory_search"])
        given = _search_arguments(query, corpora, since, until, min_score=min_score, limit=limit)
        return searching.search(self._turn, self._ports, given)

    def explain(self, query: str, *, target: str | None = None, **narrowing: Any) -> Explained:
        """Return a search with how each hit came about or, with a target, why its notes were shown or not.

        Args:
            query: As in :meth:`search`.
            target: A path, or a text of a note.
            narrowing: The other arguments of :meth:`search`.
        """
        from omnislash.runtime.tools import searching  # noqa: PLC0415 - as above

        catalog.check_granted(self._turn, catalog.TOOLS["memory_search"])
        given = parse_arguments(SearchArguments, {"query": query, **narrowing}, tool="memory_search")
        return searching.explain_search(self._turn, self._ports, given, target=target)

    def look_up(self, query: str, *, target: str | None = None, **narrowing: Any) -> Lookup:
        """Return a search for a person's eyes: every hit explained, and the notes of a target beside them.

        Args:
            query: As in :meth:`search`.
            target: As in :meth:`explain`.
            narrowing: The other arguments of :meth:`search`.
        """
        from omnislash.runtime.tools import lookup  # noqa: PLC0415 - as above

        catalog.check_granted(self._turn, catalog.TOOLS["memory_search"])
        given = parse_arguments(SearchArguments, {"query": query, **narrowing}, tool="memory_search")
        return lookup.look_up(self._turn, self._ports, given, target=target)

    def read(
        self, path: str, *, section: str | None = None, offset: int = 0, max_chars: int | None = None
    ) -> FileContent:
        """Return a file, one section of it, or a part."""
        catalog.check_granted(self._turn, catalog.TOOLS["memory_read"])
        given = {"path": path, "section": section, "offset": offset}
        limit = {} if max_chars is None else {"maxChars": max_chars}
        arguments = parse_arguments(ReadArguments, {**given, **limit}, tool="memory_read")
        return reading.read(self._turn, self._ports, arguments)

    def write(
        self,
        content: str,
        *,
        priority: bool | None = None,
        line: str | None = None,
        request_id: str | None = None,
    ) -> Verdict:
        """Remember something; blocks until the verdict is durable."""
        return self._change("memory_write", content=content, priority=priority, line=line, requestId=request_id)

    def edit(self, path: str, *, old: str, new: str) -> Verdict:
        """Replace a whole entry, or a text that occurs once."""
        return self._change("memory_edit", path=path, old=old, new=new)

    def write_file(self, path: str, content: str, *, expect_hash: str | None = None) -> Verdict:
        """Replace or create a whole file of the own line."""
        return self._change("memory_write_file", path=path, content=content, expectHash=expect_hash)

    def move(self, source: str, target: str) -> Verdict:
        """Give a file of the own line another, free name."""
        return self._change("memory_move", **{"from": source, "to": target})

    def delete(self, path: str, *, entry: str | None = None, section: str | None = None) -> Verdict:
        """Remove a file, or one entry or section of it; a person may have to agree first."""
        return self._change("memory_delete", path=path, entry=entry, section=section)

    def _change(self, tool: str, **arguments: Any) -> Verdict:
        answer = catalog.call_tool(self._turn, self._ports, tool, arguments)
        if not isinstance(answer, Verdict):
            message = f"{tool} answered no verdict"
            raise TypeError(message)
        return answer
