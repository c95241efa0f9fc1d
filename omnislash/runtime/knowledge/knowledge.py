"""What a person sees and changes of a brain's memory: every line and every source, whatever a role may do.

Rules: DASH-01 to DASH-06, DASH-O1, DASH-O3, SOURCE-18.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnislash.core.corpora import Located, Zone
from omnislash.runtime.knowledge import documents, saving, sources
from omnislash.runtime.knowledge.line_views import Browse, view_line
from omnislash.runtime.knowledge.lines import check_line, see_lines, summarise_line

if TYPE_CHECKING:
    from omnislash.core.lines import LineName
    from omnislash.runtime.knowledge.documents import FileView
    from omnislash.runtime.knowledge.line_views import LineView
    from omnislash.runtime.knowledge.lines import LineSummary
    from omnislash.runtime.knowledge.saving import Saved
    from omnislash.runtime.knowledge.sources import SourceFolder, SourceSummary
    from omnislash.runtime.turns import Ports


class Knowledge:
    """The memory and the sources of an open brain, for a person."""

    def __init__(self, ports: Ports) -> None:
        """Keep the brain."""
        self._ports = ports

    def lines(self) -> tuple[LineSummary, ...]:
        """Return every line, in order of the names: those on disk, and those that somebody is declared to write."""
        config = self._ports.config()
        seen = see_lines(self._ports, config, has_stats=True)
        return tuple(summarise_line(self._ports.files, config, line, seen) for line in seen.found)

    def default_line(self) -> LineName:
        """Return the line on which a person starts (DASH-02, DASH-03, DASH-O1)."""
        config = self._ports.config()
        return see_lines(self._ports, config).choose_default(config)

    def check_line(self, name: str) -> None:
        """Accept the name of a line that there is; MissingFileError names those that there are."""
        check_line(self._ports, name)

    def line(self, name: str | None = None, browse: Browse | None = None) -> LineView:
        """Return a line with its logs, ladder and documents; None = that of :meth:`default_line`.

        Raises:
            MissingFileError: There is no such line, or no such folder in it.
        """
        return view_line(self._ports, name, browse or Browse())

    def sources(self) -> tuple[SourceSummary, ...]:
        """Return the declared sources, in order of the paths."""
        return sources.list_sources(self._ports)

    def source(self, path: str, *, page: int = 1) -> SourceFolder:
        """Return a folder of a source.

        Raises:
            MissingFileError: No source holds it, or there is none of that name.
            InvalidNameError: No folder can be named so.
        """
        return sources.view_source(self._ports, path, page=page)

    def read(self, path: str, *, offset: int = 0, limit: int = documents.PAGE_CHARS) -> FileView:
        """Return a file of a line, as `main/MEMORY.md`.

        Raises:
            InvalidNameError, MissingFileError, ScopeError, StorageError: As `documents.read_file`.
        """
        return documents.read_file(self._ports, Located(Zone.MANAGED, path), offset=offset, limit=limit)

    def read_source(self, path: str, *, offset: int = 0, limit: int = documents.PAGE_CHARS) -> FileView:
        """Return a document of a source, as `people/maria/style.md`.

        Raises:
            InvalidNameError, MissingFileError, ScopeError, StorageError: As `documents.read_file`.
        """
        return documents.read_file(self._ports, Located(Zone.AUTHORED, path), offset=offset, limit=limit)

    def save(self, path: str, content: str, *, expect_hash: str, agreed: str | None = None) -> Saved:
        """Save a whole file of a line as a person, and return what became of it.

        Args:
            path: Path of a line.
            content: The text.
            expect_hash: SHA-256 of the file as it was opened.
            agreed: What a person agreed to have dropped; None asks nobody. Errors are those of `saving.save_file`.
        """
        return saving.save_file(self._ports, path, content, expect_hash=expect_hash, agreed=agreed)

    def delete(self, path: str, *, expect_hash: str) -> Saved:
        """Delete a whole file of a line as a person, and return what became of it; errors as `saving.delete_file`."""
        return saving.delete_file(self._ports, path, expect_hash=expect_hash)
