"""A brain as doctor finds it: one listing, each file read once, and its configuration as far as it loads.

Nothing is raised for what is wrong with the brain: that is what the checks are for.

Rules: DOCTOR-16, SOURCE-O8, SECRET-O2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from omnislash.brain.files import BrainFiles


class Area(StrEnum):
    """Which part of the brain an entry belongs to."""

    #: Below `memory/`.
    MEMORY = "memory"
    #: In a declared source.
    SOURCE = "source"
    #: Below `features/`.
    FEATURES = "features"
    #: Below `constitution/`.
    CONSTITUTION = "constitution"
    #: Anything else at the top of the brain, `omnislash.yaml` included; directories there are not entered.
    TOP = "top"


class Kind(StrEnum):
    """What an entry is; links are not followed."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    #: A socket, a pipe, a device.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of the listing."""

    #: Path relative to the brain, with forward slashes; bytes that are no UTF-8 stand as lone surrogates.
    path: str
    area: Area
    kind: Kind
    #: Bytes.
    size: int
    #: Time of the last change, in nanoseconds.
    mtime_ns: int
    #: Permission bits.
    mode: int
    device: int
    inode: int

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def shown(self) -> str:
        """Return the path as a terminal and JSON can take it."""
        return self.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    @property
    def is_markdown(self) -> bool:
        """Tell whether it is a file that ends in `.md`."""
        return self.kind is Kind.FILE and self.path.endswith(".md")


@dataclass(frozen=True)
class SeenFile:
    """One file with its bytes, read once."""

    entry: Listed
    #: The bytes; None when the file can't be read or is larger than doctor reads.
    data: bytes | None
    #: Why there are none, as half a sentence: `permission denied`, `larger than 64 MiB`.
    problem: str | None = None

    @property
    def path(self) -> str:
        """Return the path relative to the brain."""
        return self.entry.path

    @cached_property
    def text(self) -> str:
        """Return the text without a byte order mark; bytes that are no UTF-8 are shown as U+FFFD."""
        return (self.data or b"").decode("utf-8-sig", "replace")

    @cached_property
    def is_utf8(self) -> bool:
        """Tell whether all bytes are UTF-8; True for a file that could not be read."""
        try:
            (self.data or b"").decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True


@dataclass(frozen=True)
class Examined:
    """What the checks may look at beside the files."""

    #: The brain.
    root: Path
    #: The shipped constitution.
    shipped: Path
    #: Now, with a time zone.
    now: datetime
    #: Variables of this process, for keys of providers and the like.
    environment: Mapping[str, str]
    #: The configuration as far as it loads, faults and warnings included; of defaults where nothing loads.
    config: BrainFiles
    #: Every entry that doctor looks at, in the order of paths.
    listing: tuple[Listed, ...]
    #: Directories that could not be listed, each with the reason.
    unlistable: Mapping[str, str] = field(default_factory=dict)

    @property
    def state_directory(self) -> Path:
        """Return `.omnislash/`; it need not exist."""
        return self.root / ".omnislash"

    @property
    def zone(self) -> ZoneInfo:
        """Return the brain's time zone."""
        return ZoneInfo(self.config.manifest.locale.timezone)

    @cached_property
    def by_path(self) -> Mapping[str, Listed]:
        """Return the listing by path."""
        return {entry.path: entry for entry in self.listing}
