"""The memory tools of an agent as methods.

Rules: TOOL-05, TOOL-12; interface.md, "Embedding the engine".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnislash.core.verdicts import Verdict
from omnislash.runtime.tools import catalog, reading
from omnislash.runtime.tools.arguments import (
    DEFAULT_HITS,
    ListArguments,
    ReadArguments,
    SearchArguments,
    parse_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.recall.hits import SearchResult
    from omnislash.runtime.tools.lookup import Lookup
    from omnislash.runtime.tools.reading import FileContent, FileListing, Overview
    from omnislash.runtime.tools.searching import Explained
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
