"""The check of the file system: the disk, the permissions, the clock."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.examining import choose_checks
from omnislash.checks.findings import Finding, Status, fail, info, warn
from omnislash.checks.mounts import Mount, find_mount, parse_mounts, read_statfs_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.doctor.conftest import Examine

NOTE = "memory/main/MEMORY.md"
MODULE = sys.modules[choose_checks(["file-system"])[0].__module__]
GIGABYTES = 50_000_000_000


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, brain_root: Path) -> SimpleNamespace:
    """A machine on which everything is well: what the check asks it is in the fields of what comes back."""
    state = SimpleNamespace(free=GIGABYTES, inodes=1_000_000, all_inodes=2_000_000, flags=0, mount=Mount("/", "ext4"))

    def statvfs(_path: object) -> SimpleNamespace:
        return SimpleNamespace(
            f_bavail=state.free // 4096,
            f_frsize=4096,
            f_favail=state.inodes,
            f_files=state.all_inodes,
            f_flag=state.flags,
        )

    monkeypatch.setattr(MODULE.os, "statvfs", statvfs)
    monkeypatch.setattr(MODULE, "find_mount", lambda _root: state.mount)
    brain_root.chmod(0o700)
    return state


def findings(examine: Examine, *paths: str) -> tuple[Finding, ...]:
    """Return what the check finds in a brain with one note and these files."""
    return examine(dict.fromkeys((NOTE, *paths), "- one\n"), "file-system")["file-system"].findings


def test_a_sound_machine_passes(examine: Examine) -> None:
    """There is nothing to tell about a brain of one's own on a local disk."""
    assert findings(examine) == ()


# -- room ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        (500_002_816, None),
        (499_998_720, warn("The disk has 500 MB left; a write that does not fit is refused.", hint="Free some space.")),
        (50_003_968, warn("The disk has 50 MB left; a write that does not fit is refused.", hint="Free some space.")),
        (49_999_872, fail("The disk has 50 MB left; a write that does not fit is refused.", hint="Free some space.")),
        (0, fail("The disk has 0 MB left; a write that does not fit is refused.", hint="Free some space.")),
    ],
)
def test_free_space(examine: Examine, machine: SimpleNamespace, free: int, expected: Finding | None) -> None:
    """Below 500 MB is a warning, below 50 MB a failure."""
    machine.free = free

    assert findings(examine) == ((expected,) if expected else ())


@pytest.mark.parametrize(
    ("free", "of", "severity"), [(1_000, 9_000, None), (999, 9_000, warn), (49, 9_000, fail), (0, 0, None)]
)
def test_inodes(
    examine: Examine, machine: SimpleNamespace, free: int, of: int, severity: Callable[..., Finding] | None
) -> None:
    """A disk with space and no room for files is full; one that counts no inodes is not."""
    machine.inodes, machine.all_inodes = free, of
    message = f"The disk has room for {free} more files, however small they are."
    hint = "Delete files that are not needed, or ask for more inodes."

    assert findings(examine) == ((severity(message, hint=hint),) if severity else ())


def test_read_only(examine: Examine, machine: SimpleNamespace) -> None:
    """On such a disk memory is read and never written."""
    machine.flags = os.ST_RDONLY
    message = "The file system is mounted read-only, so memory can be read and nothing can be written."

    assert findings(examine) == (fail(message, hint="Mount it writable, or use a copy of the brain."),)


def test_no_right_to_write(examine: Examine, brain_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of somebody else is named."""
    (brain_root / ".omnislash").mkdir(mode=0o700)
    monkeypatch.setattr(MODULE.os, "access", lambda _place, _mode: False)

    assert findings(examine) == tuple(
        fail(
            f"This user may not write in {name}/, so nothing can be remembered.",
            path=name,
            hint=f"Give it write access: chmod u+rwx {name}, or chown it.",
        )
        for name in ("memory", ".omnislash")
    )


def test_what_can_not_be_read_or_listed(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and directories that no check could look into are failures, with the reason."""
    scan, opened = os.scandir, os.open

    def refuse(path: str) -> bool:
        return str(path).endswith(("secret", "locked.md"))

    def scandir(path: str) -> object:
        if refuse(path):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    def open_(path: str, *arguments: int) -> int:
        if refuse(path):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *arguments)

    monkeypatch.setattr("omnislash.checks.listing.os.scandir", scandir)
    monkeypatch.setattr("omnislash.checks.listing.os.open", open_)

    assert findings(examine, "memory/main/secret/x.md", "memory/main/locked.md") == (
        fail(
            "memory/main/secret can't be listed: permission denied. Nothing in it was looked at.",
            path="memory/main/secret",
            hint="Give this user access: chmod u+rwx memory/main/secret, or chown it.",
        ),
        fail(
            "memory/main/locked.md can't be read: permission denied.",
            path="memory/main/locked.md",
            hint="Give this user read access: chmod u+r memory/main/locked.md, or chown it.",
        ),
    )


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.EACCES, "Give this user access: chmod u+rwx 'memory/main/a b', or chown it."),
        (errno.ENAMETOOLONG, "Move what lies in it up, or give it and the directories above shorter names."),
        (errno.EIO, "Look at the health of the disk, and whether it is mounted."),
    ],
)
def test_what_helps_depends_on_why(examine: Examine, monkeypatch: pytest.MonkeyPatch, code: int, hint: str) -> None:
    """A permission is given, a long path made shorter; a disk that fails is nothing that a permission mends."""
    scan = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("a b"):
            raise OSError(code, os.strerror(code), path)
        return scan(path)

    monkeypatch.setattr("omnislash.checks.listing.os.scandir", scandir)
    message = f"memory/main/a b can't be listed: {os.strerror(code).lower()}. Nothing in it was looked at."

    assert findings(examine, "memory/main/a b/x.md") == (fail(message, path="memory/main/a b", hint=hint),)


@pytest.mark.parametrize("name", ["a b", "it's", "two\nlines", "caf\udce9"])
def test_command_against_a_protected_file_helps(examine: Examine, brain_root: Path, name: str) -> None:
    """The command of the hint opens that file, whatever its name."""
    path = f"memory/main/{name}.md"
    findings(examine, path)
    (brain_root / path).chmod(0o400)
    (finding,) = findings(examine)
    command = (finding.hint or "").removeprefix("Allow them: ")
    subprocess.run(["bash", "-c", command], cwd=brain_root, check=True)

    assert findings(examine) == ()


# -- permissions -----------------------------------------------------------------------------------------------------


def test_a_file_that_is_marked_read_only(examine: Examine, brain_root: Path) -> None:
    """The writer refuses it, whoever runs it."""
    findings(examine, "memory/main/a note.md")
    (brain_root / "memory/main/a note.md").chmod(0o444)

    assert findings(examine) == (
        warn(
            "memory/main/a note.md is marked read-only, so writes to it are refused.",
            path="memory/main/a note.md",
            hint="Allow them: chmod u+w 'memory/main/a note.md'",
        ),
    )


def test_what_every_user_may_change(examine: Examine, brain_root: Path) -> None:
    """Memory, roles and settings are named, with their mode; other files at the top are a person's own."""
    findings(examine, "features/team/x.agent.md", "other.txt")
    for path, mode in {NOTE: 0o666, "features/team": 0o777, "omnislash.yaml": 0o646, "other.txt": 0o666}.items():
        (brain_root / path).chmod(mode)

    assert findings(examine) == tuple(
        warn(
            f"Every user of this machine may change {path} (mode {mode}).",
            path=path,
            hint=f"Take that back: chmod o-w {path}",
        )
        for path, mode in (("features/team", "777"), (NOTE, "666"), ("omnislash.yaml", "646"))
    )


@pytest.mark.parametrize(("mode", "told"), [(0o700, False), (0o750, True), (0o755, True), (0o722, True)])
def test_the_state_directory(examine: Examine, brain_root: Path, mode: int, told: bool) -> None:
    """Texts wait in it for the writer, so it is for its owner alone."""
    (brain_root / ".omnislash").mkdir()
    (brain_root / ".omnislash").chmod(mode)
    message = f"Other users of this machine can look into .omnislash/ (mode {mode:o}), where texts wait to be written."

    found = [each for each in findings(examine) if not each.message.startswith("Every user")]
    assert found == ([warn(message, path=".omnislash", hint="Close it: chmod 700 .omnislash")] if told else [])


def test_memory_that_others_may_read_is_only_told(examine: Examine, brain_root: Path) -> None:
    """It is the usual default; a closed brain closes what is in it."""
    brain_root.chmod(0o755)
    findings(examine)
    (brain_root / "memory").chmod(0o755)
    result = examine({}, "file-system")["file-system"]
    hint = "If they should not, close the brain to them: chmod 700 on its directory."

    assert result.findings == (
        info("Other users of this machine may read memory/ (mode 755).", path="memory", hint=hint),
    )
    assert result.status is Status.PASS
    (brain_root / "memory").chmod(0o700)
    assert findings(examine) == ()


# -- clock -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead_s", "told"), [(-1, False), (300, False), (301, True), (90_000, True)])
def test_a_file_from_the_future(
    examine: Examine, brain_root: Path, monkeypatch: pytest.MonkeyPatch, ahead_s: int, told: bool
) -> None:
    """A file that is more than five minutes newer than now tells that a clock is wrong, whatever stands for the time."""
    now = datetime(2026, 12, 1, 9, 30, tzinfo=UTC).timestamp()
    findings(examine)
    os.utime(brain_root / NOTE, (now + ahead_s, now + ahead_s))
    monkeypatch.setattr(MODULE, "file_time_ns", lambda: int(now) * 10**9)
    changed = datetime.fromtimestamp(now + ahead_s, UTC).strftime("%Y-%m-%dT%H:%MZ")
    message = f"{NOTE} was changed at {changed}, and the clock of this machine shows 2026-12-01T09:30Z; one of the two is wrong."
    hint = "Set the clock, or touch the file when the clock is right."
    found = examine({}, "file-system", now=datetime(2020, 1, 1, tzinfo=UTC))["file-system"].findings

    assert found == ((warn(message, path=NOTE, hint=hint),) if told else ())


def test_a_clock_that_was_never_set(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a battery begins in 1970."""
    monkeypatch.setattr(MODULE, "file_time_ns", lambda: 3600 * 10**9)

    assert findings(examine) == (
        fail("The clock of this machine shows 1970-01-01, so entries would get a wrong day.", hint="Set the clock."),
    )


# -- kind of disk ----------------------------------------------------------------------------------------------------

LOCAL = "Keep it on a local disk, and share it with git"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("btrfs", None),
        ("apfs", None),
        ("fuseblk", None),
        (
            "nfs4",
            warn(
                "The brain lies on a network disk (nfs4), where locks and safe replacement are not certain.",
                hint=f"{LOCAL}; one machine at a time may write here.",
            ),
        ),
        (
            "fuse.sshfs",
            warn(
                "The brain lies on a file system of a program (fuse.sshfs), where locks and safe replacement are not certain.",
                hint=f"{LOCAL}.",
            ),
        ),
        (
            "virtiofs",
            info(
                "The brain lies in a directory that another system shares (virtiofs); changes made there may be noticed late."
            ),
        ),
        (
            "tmpfs",
            info(
                "The brain lies in the memory of the machine (tmpfs) and is gone when it is switched off.",
                hint="Move it to a disk, or push it somewhere.",
            ),
        ),
    ],
)
def test_kinds_of_disk(examine: Examine, machine: SimpleNamespace, kind: str, expected: Finding | None) -> None:
    """Disks on which a promise of the writer does not hold are named; those that forget are told."""
    machine.mount = Mount("/", kind)

    assert findings(examine) == ((expected,) if expected else ())


def test_a_system_that_does_not_tell(examine: Examine, machine: SimpleNamespace) -> None:
    """Nothing is said where nothing is known."""
    machine.mount = None

    assert findings(examine) == ()


MOUNTS = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /srv/my\040brain rw - nfs4 host:/x rw
24 23 0:6 / /srv/my\040brain/memory rw,nosuid shared:2 master:1 - fuse.sshfs x rw
25 22 0:7 / /srv/over rw - ext4 /dev/vdb rw
26 25 0:8 / /srv/over rw - cifs //host/x rw
nonsense
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/home/x", "ext4"),
        ("/srv/my brain", "nfs4"),
        ("/srv/my brain/memory/main", "fuse.sshfs"),
        ("/srv/my brains", "ext4"),
        ("/srv/over/x", "cifs"),
    ],
)
def test_the_list_of_mounts(tmp_path: Path, place: str, kind: str) -> None:
    """The nearest mount above a directory counts, the last one where several hide each other, spaces included."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, encoding="utf-8")

    assert len(list(parse_mounts(MOUNTS))) == 5
    assert (found := find_mount(Path(place), mounts=mounts)) is not None
    assert found.type == kind


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's list is that of Linux")
def test_the_real_list_of_mounts(tmp_path: Path) -> None:
    """This machine tells; a missing list is no fault."""
    assert Mount("/proc", "proc") == find_mount(Path("/proc/self"))
    assert find_mount(tmp_path, mounts=tmp_path / "none") is None


def test_the_structure_of_macos() -> None:
    """The name of the type stands at its place in the bytes of the structure."""
    assert read_statfs_type(bytes(72) + b"smbfs".ljust(16, b"\0") + bytes(2080)) == "smbfs"


def test_a_disk_that_ignores_case(examine: Examine, brain_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by asking for a name in the other case; two names that are there both prove nothing."""
    (brain_root / "MEMORY").mkdir()
    findings(examine)
    lstat = os.lstat
    monkeypatch.setattr(
        MODULE.os,
        "lstat",
        lambda path: lstat(str(path).replace("OMNISLASH.YAML", "omnislash.yaml").replace("MEMORY", "memory")),
    )

    assert findings(examine) == (
        info("The disk ignores letter case: names that differ in nothing else are one file here."),
    )


def test_broken_in_several_ways(examine: Examine, machine: SimpleNamespace, brain_root: Path) -> None:
    """In a brain that does not load everything is told, worst first, and nothing is made."""
    machine.free, machine.mount = 0, Mount("/", "cifs")
    findings(examine)
    (brain_root / NOTE).chmod(0o446)
    before = sorted(brain_root.rglob("*"))
    found = examine({"omnislash.yaml": "a: [\n"}, "file-system")["file-system"].findings

    assert [each.severity.value for each in found] == ["fail", "warn", "warn", "warn"]
    assert sorted(brain_root.rglob("*")) == before


def test_an_empty_brain(examine: Examine) -> None:
    """There is nothing in it to be wrong."""
    assert examine({}, "file-system")["file-system"].findings == ()
