"""File system: where the brain lies, who may touch it, and whether there is room.

Rules: DOCTOR-16; architecture.md section 4.
"""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.checks.examined import Area, Kind
from omnislash.checks.faults import shorten
from omnislash.checks.findings import Check, Group, fail, info, warn
from omnislash.checks.listing import BYTES_MAX
from omnislash.checks.mounts import find_mount
from omnislash.checks.quoting import quote_path
from omnislash.core.corpora import MANAGED_ROOT
from omnislash.store.system_clock import file_time_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.checks.examined import Examined, Listed, SeenFile
    from omnislash.checks.findings import Finding

#: File systems of another machine.
_NETWORK: Final = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "afs", "ncpfs", "webdav", "davfs", "davfs2"),
        *("ceph", "glusterfs", "lustre", "beegfs", "ocfs2", "gfs2"),
    }
)
#: Directories that a virtual machine shares with its host.
_SHARED: Final = frozenset({"9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "grpcfuse"})
#: File systems in the memory of the machine.
_FLEETING: Final = frozenset({"tmpfs", "ramfs"})
#: File systems of a process: of another machine, of an archive, of anything.
_FUSE: Final = ("fuse.", "fuseblk", "fuse", "macfuse", "osxfuse")
#: Free space that is little, and too little, in bytes.
_SPACE_LITTLE, _SPACE_NONE = 500_000_000, 50_000_000
#: Free inodes that are few, and too few: a write takes up to eight, for directories, the file and its twin.
_INODES_FEW, _INODES_NONE = 1_000, 50
#: A file may be so much newer than now: clocks of two machines differ a little.
_AHEAD_NS: Final = 5 * 60 * 1_000_000_000
#: There was no omnislash before this year, so a clock that shows an earlier one is wrong.
_FIRST_YEAR: Final = 2025
_OTHERS_READ, _OTHERS_WRITE, _OWNER_WRITES = 0o055, 0o002, 0o200


class FileSystem(Check):
    """Looks at the disk, the permissions and the clock."""

    id: ClassVar[str] = "file-system"
    title: ClassVar[str] = "File system"
    protects: ClassVar[str] = "Writes are kept, only the right people read them, and they get the right day."
    group: ClassVar[Group] = Group.MACHINE
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._unreadable: list[Finding] = []

    def see(self, file: SeenFile) -> None:
        """Take a file that can't be read; one that is too large is told elsewhere."""
        if file.data is None and file.entry.size <= BYTES_MAX:
            message = f"{file.entry.shown} can't be read: {file.problem}."
            hint = f"Give this user read access: chmod u+r {quote_path(file.path)}, or chown it."
            self._unreadable.append(fail(message, path=file.entry.shown, hint=hint))

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what is wrong around the brain."""
        yield from shorten(list(_find_unlistable(brain)), "directories that can't be listed")
        yield from shorten(self._unreadable, "files that can't be read")
        yield from _find_room(brain)
        yield from _find_read_only(brain)
        yield from shorten(list(_find_write_protected(brain)), "files that are write-protected")
        yield from shorten(list(_find_open_to_writers(brain)), "files that every user may change")
        yield from _find_open_state(brain)
        yield from _find_clock(brain)
        yield from _find_mount(brain)
        yield from _find_case(brain)
        yield from _find_open_memory(brain)


# -- reading and room ------------------------------------------------------------------------------------------------


def _find_unlistable(brain: Examined) -> Iterator[Finding]:
    for path, reason in sorted(brain.unlistable.items()):
        shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        message = f"{shown} can't be listed: {reason}. Nothing in it was looked at."
        yield fail(message, path=shown, hint=_advise(path, reason))


def _advise(path: str, reason: str) -> str:
    """Return what opens a directory that could not be listed."""
    if reason == os.strerror(errno.ENAMETOOLONG).lower():
        return "Move what lies in it up, or give it and the directories above shorter names."
    if reason != os.strerror(errno.EACCES).lower():
        return "Look at the health of the disk, and whether it is mounted."
    return f"Give this user access: chmod u+rwx {quote_path(path)}, or chown it."


def _find_room(brain: Examined) -> Iterator[Finding]:
    disk = os.statvfs(brain.root)
    free = disk.f_bavail * disk.f_frsize
    if free < _SPACE_LITTLE:
        tell = fail if free < _SPACE_NONE else warn
        yield tell(
            f"The disk has {free / 1e6:.0f} MB left; a write that does not fit is refused.", hint="Free some space."
        )
    if disk.f_files and disk.f_favail < _INODES_FEW:
        tell = fail if disk.f_favail < _INODES_NONE else warn
        message = f"The disk has room for {disk.f_favail} more files, however small they are."
        yield tell(message, hint="Delete files that are not needed, or ask for more inodes.")


def _find_read_only(brain: Examined) -> Iterator[Finding]:
    if os.statvfs(brain.root).f_flag & os.ST_RDONLY:
        message = "The file system is mounted read-only, so memory can be read and nothing can be written."
        yield fail(message, hint="Mount it writable, or use a copy of the brain.")
        return
    for name in (MANAGED_ROOT, brain.state_directory.name):
        place = brain.root / name
        if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):  # noqa: PTH112 - False where none may look
            message = f"This user may not write in {name}/, so nothing can be remembered."
            yield fail(message, path=name, hint=f"Give it write access: chmod u+rwx {name}, or chown it.")


# -- permissions -----------------------------------------------------------------------------------------------------


def _find_write_protected(brain: Examined) -> Iterator[Finding]:
    for entry in brain.listing:
        is_note = entry.area is Area.MEMORY and entry.is_markdown
        if is_note and not entry.mode & _OWNER_WRITES:
            message = f"{entry.shown} is marked read-only, so writes to it are refused."
            yield warn(message, path=entry.shown, hint=f"Allow them: chmod u+w {quote_path(entry.path)}")


def _find_open_to_writers(brain: Examined) -> Iterator[Finding]:
    """Yield what any user of the machine may change: the text of memory, and the instructions of roles."""
    for entry in brain.listing:
        is_ours = entry.kind in {Kind.FILE, Kind.DIRECTORY} and (entry.area is not Area.TOP or _is_setting(entry))
        if is_ours and entry.mode & _OTHERS_WRITE:
            message = f"Every user of this machine may change {entry.shown} (mode {entry.mode:o})."
            yield warn(message, path=entry.shown, hint=f"Take that back: chmod o-w {quote_path(entry.path)}")


def _is_setting(entry: Listed) -> bool:
    return entry.path == "omnislash.yaml"


def _find_open_state(brain: Examined) -> Iterator[Finding]:
    entry = brain.by_path.get(brain.state_directory.name)
    if entry is not None and entry.kind is Kind.DIRECTORY and entry.mode & (_OTHERS_READ | 0o022):
        message = f"Other users of this machine can look into {entry.path}/ (mode {entry.mode:o}), where texts wait to be written."
        yield warn(message, path=entry.path, hint=f"Close it: chmod 700 {entry.path}")


def _find_open_memory(brain: Examined) -> Iterator[Finding]:
    """Yield that others can read memory: for a person who shares the machine worth knowing, and the usual default."""
    entry = brain.by_path.get(MANAGED_ROOT)
    if entry is None or not entry.mode & _OTHERS_READ or not brain.root.stat().st_mode & 0o011:
        return
    message = f"Other users of this machine may read memory/ (mode {entry.mode:o})."
    yield info(
        message, path=MANAGED_ROOT, hint="If they should not, close the brain to them: chmod 700 on its directory."
    )


# -- clock and kind of disk ------------------------------------------------------------------------------------------


def _find_clock(brain: Examined) -> Iterator[Finding]:
    """Yield that the machine's clock is wrong; files carry its time, and not that which stands for it."""
    now = file_time_ns()
    instant = datetime.fromtimestamp(now / 1e9, UTC)
    if instant.year < _FIRST_YEAR:
        message = f"The clock of this machine shows {instant:%Y-%m-%d}, so entries would get a wrong day."
        yield fail(message, hint="Set the clock.")
        return
    files = [entry for entry in brain.listing if entry.kind is Kind.FILE and entry.area is not Area.TOP]
    newest = max(files, key=lambda entry: entry.mtime_ns, default=None)
    if newest is not None and newest.mtime_ns - now > _AHEAD_NS:
        changed = datetime.fromtimestamp(newest.mtime_ns / 1e9, UTC)
        message = (
            f"{newest.shown} was changed at {changed:%Y-%m-%dT%H:%MZ}, and the clock of this machine shows "
            f"{instant:%Y-%m-%dT%H:%MZ}; one of the two is wrong."
        )
        yield warn(message, path=newest.shown, hint="Set the clock, or touch the file when the clock is right.")


def _find_mount(brain: Examined) -> Iterator[Finding]:
    mount = find_mount(brain.root)
    kind = mount.type if mount is not None else ""
    if kind in _NETWORK:
        message = f"The brain lies on a network disk ({kind}), where locks and safe replacement are not certain."
        yield warn(
            message, hint="Keep it on a local disk, and share it with git; one machine at a time may write here."
        )
    elif kind in _SHARED:
        message = f"The brain lies in a directory that another system shares ({kind}); changes made there may be noticed late."
        yield info(message)
    elif kind.startswith(_FUSE) and kind != "fuseblk":
        message = (
            f"The brain lies on a file system of a program ({kind}), where locks and safe replacement are not certain."
        )
        yield warn(message, hint="Keep it on a local disk, and share it with git.")
    elif kind in _FLEETING:
        message = f"The brain lies in the memory of the machine ({kind}) and is gone when it is switched off."
        yield info(message, hint="Move it to a disk, or push it somewhere.")


def _find_case(brain: Examined) -> Iterator[Finding]:
    """Yield that the disk takes `memory` and `MEMORY` for one name; found by looking, nothing is made."""
    for entry in brain.listing:
        other = entry.path.swapcase()
        if "/" in entry.path or other == entry.path or not entry.path.isascii() or other in brain.by_path:
            continue
        try:
            found = os.lstat(brain.root / other)
        except OSError:
            return
        if (found.st_dev, found.st_ino) == (entry.device, entry.inode):
            yield info("The disk ignores letter case: names that differ in nothing else are one file here.")
        return
