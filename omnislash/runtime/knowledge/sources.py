"""Authored sources as a person browses them: what is declared, what is there, and their documents; all of it read-only.

Rules: SOURCE-01, SOURCE-04, SOURCE-17, SOURCE-18, SOURCE-O5, SOURCE-O6, SOURCE-O8.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from omnislash.core.lines import is_inside, parse_authored_path
from omnislash.errors import MissingFileError
from omnislash.runtime.knowledge.folders import FolderView, printable, view_folder
from omnislash.runtime.knowledge.instants import to_iso
from omnislash.runtime.knowledge.listing import Found, scan_folder

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.brain.files import BrainFiles
    from omnislash.core.lines import AuthoredPath
    from omnislash.runtime.turns import Ports


class SourceKind(StrEnum):
    """What a declared source is on disk."""

    FOLDER = "folder"
    FILE = "file"
    #: There is nothing of exactly that name (SOURCE-O5, SOURCE-O6).
    MISSING = "missing"
    #: It can't be listed.
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """A declared source."""

    #: As it is declared.
    path: AuthoredPath
    kind: SourceKind
    files: int
    changed_ns: int | None
    #: What is wrong with it, as sentences.
    problems: tuple[str, ...] = ()
    #: Roles that can retrieve it.
    readers: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{path, kind, files, modifiedAt, problems, readers}`."""
        return {
            "path": self.path,
            "kind": self.kind.value,
            "files": self.files,
            "modifiedAt": to_iso(self.changed_ns),
            "problems": list(self.problems),
            "readers": list(self.readers),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFolder:
    """A folder of a source."""

    #: Its path in the brain.
    path: str
    #: The declared source that holds it.
    source: SourceSummary
    documents: FolderView

    def to_json(self) -> dict[str, Any]:
        """Return `{path, source, documents}`."""
        return {"path": self.path, "source": self.source.to_json(), "documents": self.documents.to_json()}


def list_sources(ports: Ports) -> tuple[SourceSummary, ...]:
    """Return every declared source, in order of the paths."""
    config = ports.config()
    return tuple(_summarise(ports.root, config, source)[0] for source in sorted(config.sources))


def find_source(config: BrainFiles, path: str) -> AuthoredPath | None:
    """Return the declared source that holds a path, the innermost of several; None without one."""
    holding = [source for source in config.sources if is_inside(path, source)]
    return max(holding, key=len, default=None)


def view_source(ports: Ports, path: str, *, page: int) -> SourceFolder:
    """Return a folder of a source.

    Raises:
        MissingFileError: No source holds it, or there is none of that name.
        InvalidNameError: The path climbs, hides or holds what no path may.
    """
    config = ports.config()
    source = find_source(config, path)
    if source is None:
        message = f"{printable(path)[:200]!r} is in no source that omnislash.yaml declares."
        raise MissingFileError(message)
    parse_authored_path(f"{path}/x.md")
    summary, found = _summarise(ports.root, config, source)
    folder = path[len(source) :].lstrip("/")
    documents = view_folder(found.folders, folder, page, root=source, check=parse_authored_path)
    return SourceFolder(path=path, source=summary, documents=documents)


def _summarise(root: Path, config: BrainFiles, source: AuthoredPath) -> tuple[SourceSummary, Found]:
    place = os.path.join(root, source)  # noqa: PTH118 - as the pass that follows
    kind, problem = _look(root, source)
    found = scan_folder(place, source) if kind is SourceKind.FOLDER else Found()
    if found.problems and not found.folders:
        kind = SourceKind.UNREADABLE
    files, changed_ns = found.count, found.changed_ns
    if kind is SourceKind.FILE:
        files, changed_ns = 1, os.stat(place).st_mtime_ns  # noqa: PTH116 - the same
    readers = tuple(name for name in config.roles if _can_read(config, name, source))
    summary = SourceSummary(
        path=source,
        kind=kind,
        files=files,
        changed_ns=changed_ns,
        problems=(*([problem] if problem else []), *found.problems),
        readers=readers,
    )
    return summary, found


def _look(root: Path, source: str) -> tuple[SourceKind, str | None]:
    """Return what a source is on disk, spelled exactly so, and what is wrong with it; it may be a link to elsewhere."""
    above = root
    try:
        for part in source.split("/"):
            if part not in os.listdir(above):  # noqa: PTH208 - names alone
                return SourceKind.MISSING, f"There is nothing at {source} in the brain."
            above /= part
        os.stat(above)  # noqa: PTH116 - a link to nowhere is told as that
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR}:
            return SourceKind.MISSING, f"There is nothing at {source} in the brain."
        return SourceKind.UNREADABLE, f"{source} can't be read: {error.strerror}."
    return (SourceKind.FOLDER if above.is_dir() else SourceKind.FILE), None


def _can_read(config: BrainFiles, role: str, source: str) -> bool:
    """Tell whether a role can retrieve something of a source."""
    refs = config.resolve_scope(role).readable
    return any(is_inside(source, ref.name) or is_inside(ref.name, source) for ref in refs)
