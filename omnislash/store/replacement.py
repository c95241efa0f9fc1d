"""One file on its way from its old bytes to its new ones, and the names that carry it there.

A new file is written as `<name>.tmp` and gets the name `<name>.new` once it is whole and durable; an exchange then
swaps `<name>.new` with the target.  So a `.tmp` never holds anything but unfinished bytes of our own, and after the
exchange `.new` holds what came out, a person's bytes included, until the caller says that it is no longer needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from omnislash.core.lines import ManagedPath

#: Suffixes of a temporary name: being written, and whole.
_UNFINISHED, _READY = ".tmp", ".new"


@dataclass(slots=True)
class Replacement:
    """One file on its way from `before` to `after`, with the temporary name that carries it."""

    #: Managed path.
    path: ManagedPath
    #: Where it lies on disk.
    target: Path
    #: The temporary name beside it, without its suffix.
    temp: Path
    #: The bytes that the change was planned against; None where there was no file.
    before: bytes | None
    #: The bytes that shall be there; None for a removal.
    after: bytes | None
    #: True from the moment in which the new bytes stand under the real name.
    applied: bool = False
    #: True where the platform had no exchange and the old bytes did not come out.
    blind: bool = False
    #: True while the `.new` name may hold the only copy of somebody else's bytes.
    foreign: bool = False
    #: True once the new bytes are whole and have the `.new` name, so that no `.tmp` is left.
    staged: bool = False
    #: Permissions of the new file; None takes over those of the file that it replaces.
    mode: int | None = None
    #: Directories that were made for it, outermost first.
    made: list[Path] = field(default_factory=list)
    #: The name while the new bytes are being written.
    unfinished: Path = field(init=False)
    #: The name of the whole new file and, after the exchange, of what came out.
    ready: Path = field(init=False)

    def __post_init__(self) -> None:
        """Derive the two temporary names."""
        self.unfinished = self.temp.with_name(self.temp.name + _UNFINISHED)
        self.ready = self.temp.with_name(self.temp.name + _READY)
