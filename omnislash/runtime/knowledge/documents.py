"""One file as a person reads it: its text with credentials masked, its numbers, and who wrote it last.

Rules: DASH-04, BUDGET-20, SOURCE-17, SOURCE-O3, SCOPE-O6, WRITE-11, SECRET-O2.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from omnislash.core.budgets import count_chars
from omnislash.core.corpora import MANAGED_ROOT, Located, Zone
from omnislash.core.credentials import find_secrets, mask_secrets
from omnislash.core.lines import FileKind, ManagedPath, kind_of, parse_authored_path, parse_managed_path
from omnislash.errors import MissingFileError, StorageError
from omnislash.runtime.knowledge.lines import read_budget
from omnislash.runtime.knowledge.sources import find_source
from omnislash.runtime.tools.auditing import AuditRow
from omnislash.runtime.tools.reading import cut_chars
from omnislash.store.documents import Document, read_document
from omnislash.store.hashing import hash_bytes

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from omnislash.core.budgets import Reading
    from omnislash.runtime.turns import Ports

#: Largest file that is shown at all, in bytes: sixteen times what one write can store.
FILE_MAX_BYTES: Final = 16_000_000
#: As much of a file is shown at once, in UTF-16 units; ten times the default budget of a MEMORY.md.
PAGE_CHARS: Final = 100_000
#: Largest file that can be edited, in bytes: as a form of the web it has at most three times as many.
EDIT_MAX_BYTES: Final = 1_000_000
#: How much later than its row in the action log a file may be written by the same job.
_SAME_MOMENT: Final = timedelta(seconds=1)
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """The bytes of a file as the text that a person works on."""

    data: bytes
    #: The text without its byte order mark, every line end as LF; bytes that are no UTF-8 show as U+FFFD.
    plain: str
    #: The same with each credential masked.
    shown: str
    #: Classes of the credentials in it, each once.
    secrets: tuple[str, ...]
    #: True when it is UTF-8.
    is_text: bool

    @property
    def ends(self) -> str:
        """Return how its lines end: `lf`, `crlf`, `mixed`, or `none` where there is one line only."""
        crlf, cr, lf = self.data.count(b"\r\n"), self.data.count(b"\r"), self.data.count(b"\n")
        if not cr and not lf:
            return "none"
        if not cr:
            return "lf"
        return "crlf" if crlf == cr == lf else "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWrite:
    """What the action log knows of who wrote a file last."""

    row: AuditRow
    #: True when the file on disk is younger: somebody changed it by hand, or with git.
    is_outdated: bool

    def to_json(self) -> dict[str, Any]:
        """Return the row of `audit_list` and `changedSince`."""
        return {**self.row.to_json(), "heartbeat": self.row.heartbeat, "changedSince": self.is_outdated}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file, or a part of it."""

    located: Located
    #: memory, daily, week, month, quarter, year, document, or source.
    kind: str
    text: FileText
    modified_at: datetime
    #: The reading of a MEMORY.md; None for any other file.
    reading: Reading | None
    last_write: LastWrite | None
    #: Where the part that is shown begins, in UTF-16 units, and as much of the text.
    offset: int
    content: str
    #: Where the next part begins; None when this is the last.
    next_offset: int | None

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the file."""
        return hash_bytes(self.text.data)

    @property
    def why_not_edited(self) -> str | None:
        """Return why the file can't be edited here, as a sentence; None when it can."""
        if self.located.zone is Zone.AUTHORED:
            return "This is a document of an authored source: people write it, and memory only reads it."
        if not self.text.is_text:
            return "This file is no UTF-8 text, so it can't be edited here without changing it."
        if "\0" in self.text.plain:
            return "This file holds a NUL character, which no form of a browser keeps. Open it with an editor."
        if len(self.text.data) > EDIT_MAX_BYTES:
            return f"This file has {len(self.text.data)} bytes, and at most {EDIT_MAX_BYTES} can be edited here."
        return None

    def to_json(self) -> dict[str, Any]:
        """Return what the file is and the part of its text.

        `{path, zone, line, kind, bytes, chars, modifiedAt, hash, budget, content, offset, previousOffset, nextOffset,
        utf8, lineEnds, maskedCredentials, lastWrite, readOnly}`; `budget` has `reading` beside its numbers, `readOnly` says why.
        """
        budget = {"reading": self.reading.render(), **self.reading.to_json()} if self.reading else None
        return {
            "path": self.located.path,
            "zone": self.located.zone.value,
            "line": self.located.line,
            "kind": self.kind,
            "bytes": len(self.text.data),
            "chars": count_chars(self.text.data.decode("utf-8", "surrogateescape")),
            "modifiedAt": self.modified_at.isoformat(),
            "hash": self.hash,
            "budget": budget,
            "content": self.content,
            "offset": self.offset,
            "previousOffset": max(self.offset - PAGE_CHARS, 0) if self.offset else None,
            "nextOffset": self.next_offset,
            "utf8": self.text.is_text,
            "lineEnds": self.text.ends,
            "maskedCredentials": list(self.text.secrets),
            "lastWrite": self.last_write.to_json() if self.last_write else None,
            "readOnly": self.why_not_edited,
        }


def place_managed(config: BrainFiles, path: str) -> ManagedPath:
    """Return a path of a line as one that may be used.

    Raises:
        InvalidNameError: It is no path of a managed file.
        MissingFileError: A declared source has that path, and no line (SOURCE-O3).
    """
    managed = parse_managed_path(path)
    source = find_source(config, managed)
    if source is not None:
        message = f"{managed} belongs to the authored source {source}, and to no line."
        raise MissingFileError(message, path=managed)
    return managed


def load_managed(ports: Ports, path: ManagedPath) -> Document | None:
    """Return a managed file, None when there is none of exactly this name.

    Raises:
        ScopeError: A symbolic link leads out of its line.
        StorageError: The disk refuses, or it is too large to be shown.
    """
    place = ports.files.locate(path)
    _check_size(str(place), f"{MANAGED_ROOT}/{path}")
    return read_document(ports.files.memory, path, within=path.partition("/")[0])


def _load_authored(ports: Ports, config: BrainFiles, path: str) -> Document | None:
    source = find_source(config, path)
    if source is None:
        message = f"{path} is in no source that omnislash.yaml declares."
        raise MissingFileError(message, path=path)
    _check_size(os.path.join(ports.root, path), path)  # noqa: PTH118 - one stat
    return read_document(ports.root, path, within=source)


def _check_size(place: str, label: str) -> None:
    try:
        size = os.stat(place).st_size  # noqa: PTH116 - one stat
    except (OSError, ValueError):
        return
    if size > FILE_MAX_BYTES:
        message = f"{label} has {size} bytes; files of up to {FILE_MAX_BYTES} bytes are shown. Open it with an editor."
        raise StorageError(message, path=label)


def read_file(ports: Ports, located: Located, *, offset: int = 0, limit: int = PAGE_CHARS) -> FileView:
    """Return a file, or a part of its text.

    Args:
        ports: The brain.
        located: A path of a line or a source; it is checked here.
        offset: Where the part begins, in UTF-16 units of the text that is shown.
        limit: As much of it at most.

    Raises:
        InvalidNameError: It is no path of a file there.
        MissingFileError: There is no such file.
        ScopeError: A symbolic link leads out of its line or source.
        StorageError: The disk refuses, or it is too large to be shown.
    """
    config = ports.config()
    if located.zone is Zone.MANAGED:
        path = place_managed(config, located.path)
        document, kind = load_managed(ports, path), kind_of(path).value
    else:
        document, kind = _load_authored(ports, config, parse_authored_path(located.path)), "source"
    if document is None:
        message = f"There is no file {located.path}."
        raise MissingFileError(message, path=located.path)
    text = make_text(document.data)
    content, next_offset = cut_chars(text.shown, offset=max(offset, 0), limit=limit)
    is_memory = kind == FileKind.MEMORY.value
    return FileView(
        located=located,
        kind=kind,
        text=text,
        modified_at=document.modified_at,
        reading=read_budget(config, ManagedPath(located.path), document.data) if is_memory else None,
        last_write=_find_last_write(ports, located, document) if located.zone is Zone.MANAGED else None,
        offset=max(offset, 0),
        content=content,
        next_offset=next_offset,
    )


def make_text(data: bytes) -> FileText:
    """Return the text of a file as a person works on it."""
    try:
        text, is_text = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, is_text = data.decode("utf-8", "replace"), False
    plain = text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n")
    shown = mask_secrets(plain)
    secrets = () if shown == plain else _name_secrets(plain)
    return FileText(data=data, plain=plain, shown=shown, secrets=secrets, is_text=is_text)


def _name_secrets(text: str) -> tuple[str, ...]:
    """Return the classes of the credentials as `mask_secrets` names them: of two that overlap the first."""
    names, done = [], 0
    for start, end, name in find_secrets(text):
        if start >= done:
            names.append(name)
        done = max(done, end)
    return tuple(dict.fromkeys(names))


def _find_last_write(ports: Ports, located: Located, document: Document) -> LastWrite | None:
    quoted = json.dumps(located.path, ensure_ascii=False)
    row = ports.state().row("find_last_write", line=located.line, path=located.path, quoted=quoted)
    if row is None:
        return None
    found = AuditRow.from_row(row)
    return LastWrite(row=found, is_outdated=document.modified_at > datetime.fromisoformat(found.at) + _SAME_MOMENT)
