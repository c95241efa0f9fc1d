"""One folder of documents as a person browses it: its folders with how much is in them, and one page of its files.

Rules: DASH-01, LINE-05, SOURCE-17.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import InvalidNameError, MissingFileError
from omnislash.runtime.knowledge.instants import to_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.runtime.knowledge.listing import Stat

#: Files on one page of a folder.
PAGE_FILES: Final = 100
#: Where the writer keeps what two saves at the same moment would have lost: `<line>/conflicts/`.
CONFLICTS: Final = "conflicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file in a listing."""

    #: Path of the zone: `main/topics/plants.md`, `people/maria/style.md`.
    path: str
    name: str
    #: Size in bytes, and when it was changed, in nanoseconds since 1970; None where nobody asked.
    size: int | None
    changed_ns: int | None
    #: True for what the writer kept when two saved at the same moment.
    is_conflict_copy: bool = False
    #: Why it can't be opened, as a sentence; None when it can.
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{path, name, bytes, modifiedAt, conflictCopy, problem}`."""
        return {
            "path": self.path,
            "name": self.name,
            "bytes": self.size,
            "modifiedAt": to_iso(self.changed_ns),
            "conflictCopy": self.is_conflict_copy,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderView:
    """A folder and one page of its files."""

    #: Its path below the line or source; '' for that itself.
    folder: str
    #: Folders in it, by name, with the number of files below each.
    folders: tuple[tuple[str, int], ...]
    #: The files of this page, in order of their names.
    files: tuple[FileRow, ...]
    #: How many files stand in the folder itself.
    total: int
    #: From 1.
    page: int
    pages: int

    def to_json(self) -> dict[str, Any]:
        """Return `{folder, folders: [{name, folder, files}], files, total, page, pages}`."""
        lead = f"{self.folder}/" if self.folder else ""
        return {
            "folder": self.folder,
            "folders": [{"name": name, "folder": f"{lead}{name}", "files": files} for name, files in self.folders],
            "files": [row.to_json() for row in self.files],
            "total": self.total,
            "page": self.page,
            "pages": self.pages,
        }


def view_folder(
    found: Mapping[str, Mapping[str, Stat]], folder: str, page: int, *, root: str, check: Callable[[str], object]
) -> FolderView:
    """Return a folder of what a pass has found.

    Args:
        found: Files by folder, then by name.
        folder: Which one; '' = the top.
        page: From 1; one beyond the last means the last.
        root: Path of the zone that the top has.
        check: Raises InvalidNameError for a path that no door can name.

    Raises:
        MissingFileError: There is no file in that folder or below it.
    """
    lead = f"{folder}/" if folder else ""
    below: Counter[str] = Counter()
    for each, files in found.items():
        if each.startswith(lead) and each != folder:
            below[each[len(lead) :].partition("/")[0]] += len(files)
    here = found.get(folder, {})
    if folder and not here and not below:
        message = f"There is no folder {folder!r} with notes in {root}."
        raise MissingFileError(message)
    pages = max(1, -(-len(here) // PAGE_FILES))
    page = min(max(page, 1), pages)
    names = sorted(here)[(page - 1) * PAGE_FILES : page * PAGE_FILES]
    rows = (make_row(f"{root}/{lead}{name}", here[name], check) for name in names)
    ordered = tuple(sorted((printable(name), count) for name, count in below.items()))
    return FolderView(folder=folder, folders=ordered, files=tuple(rows), total=len(here), page=page, pages=pages)


def make_row(path: str, stat: Stat, check: Callable[[str], object]) -> FileRow:
    """Return a file as a row, with why it can't be opened when its name is one that no door accepts."""
    problem = None
    try:
        check(path)
    except InvalidNameError as error:
        problem = error.message
    parts = path.split("/")
    return FileRow(
        path=printable(path),
        name=printable(parts[-1]),
        size=stat.st_size if stat else None,
        changed_ns=stat.st_mtime_ns if stat else None,
        is_conflict_copy=parts[1:-1] == [CONFLICTS],
        problem=problem,
    )


def printable(name: str) -> str:
    """Return a name from disk with U+FFFD for bytes that are no UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
