"""What differs between the files that were indexed and those on disk: pure.

A file is compared by its stat first and by its content hash only where the stat differs.

Rules: SOURCE-O9, RECALL-11; architecture.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Stat(NamedTuple):
    """What tells without reading that a file is still the same."""

    size: int
    modified_ns: int
    changed_ns: int
    inode: int


#: How long after its last change a file may change again without a new stat, in nanoseconds: kernels stamp files with
#: a clock that ticks every 1 to 10 ms.
SETTLING_NS = 50_000_000
#: In place of an inode: the file was read so soon after its change that its stat proves nothing.
UNSETTLED = -1


def settle(stat: Stat, *, read_at_ns: int) -> Stat:
    """Return the stat to remember for a file: one that no later stat equals, when it was read too soon to be sure.

    Args:
        stat: What the file says.
        read_at_ns: When the reading began, by the clock of files.

    Only the time of the last change counts: the kernel sets it at every write, while anybody can set the time of
    modification, into the future too.
    """
    if read_at_ns - stat.changed_ns > SETTLING_NS:
        return stat
    return stat._replace(inode=UNSETTLED)


@dataclass(frozen=True, slots=True)
class Drift:
    """Places of files that the index does not have as they are."""

    #: On disk, not in the index.
    added: tuple[str, ...] = ()
    #: In both, with another stat; perhaps the same content.
    changed: tuple[str, ...] = ()
    #: In the index, no longer on disk.
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True when anything differs."""
        return bool(self.added or self.changed or self.removed)

    def __len__(self) -> int:
        """Return the number of files that differ."""
        return len(self.added) + len(self.changed) + len(self.removed)


def diff_files(known: Mapping[str, Stat], found: Mapping[str, Stat]) -> Drift:
    """Return what has to be read or forgotten so that the index says what the disk says."""
    if known == found:
        return Drift()
    return Drift(
        added=tuple(sorted(place for place in found if place not in known)),
        changed=tuple(sorted(place for place, stat in found.items() if place in known and known[place] != stat)),
        removed=tuple(sorted(place for place in known if place not in found)),
    )
