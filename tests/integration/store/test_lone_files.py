"""One file of another program is replaced whole or not at all, and never over what somebody saved meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from omnislash.store.disk import Disk, ExchangeUnsupportedError
from omnislash.store.lone_files import FileChangedError, read_lone, remove_lone, replace_lone, resolve_link, write_new
from omnislash.testing.disks import WrappedDisk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.testing.disks import Call

OLD, NEW, THEIRS = b"old", b"new", b"theirs"


class SavingDisk(WrappedDisk):
    """A disk at which somebody saves the file just before a certain call."""

    def __init__(self, name: str, save: Callable[[], None]) -> None:
        super().__init__()
        self._name, self._save = name, save

    def before(self, call: Call) -> None:
        if call.name == self._name:
            self._name = ""
            self._save()


class FailingDisk(WrappedDisk):
    """A disk whose call of a certain name fails."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def before(self, call: Call) -> None:
        if call.name == self._name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class PlainDisk(Disk):
    """A disk that can't exchange two names."""

    def exchange(self, temp: Path, target: Path) -> None:
        raise ExchangeUnsupportedError(errno.ENOSYS, "no exchange", str(target))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file with old bytes."""
    target = tmp_path / "settings.json"
    target.write_bytes(OLD)
    return target


def names(place: Path) -> list[str]:
    """Return what lies beside the file, itself included."""
    return sorted(each.name for each in place.parent.iterdir())


@pytest.mark.parametrize("disk", [Disk(), PlainDisk()], ids=["exchange", "plain"])
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_permissions_are_kept(place: Path, disk: Disk, mode: int) -> None:
    """The new file has the bytes and the permissions, and nothing else lies there."""
    place.chmod(mode)

    replace_lone(place, before=OLD, after=NEW, disk=disk)

    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (NEW, mode)
    assert names(place) == ["settings.json"]


@pytest.mark.parametrize("disk", [Disk(), PlainDisk()], ids=["exchange", "plain"])
def test_other_bytes_than_expected_stay(place: Path, disk: Disk) -> None:
    """A file that is not what the change was made from stays as it is."""
    place.write_bytes(THEIRS)

    with pytest.raises(FileChangedError):
        replace_lone(place, before=OLD, after=NEW, disk=disk)

    assert place.read_bytes() == THEIRS
    assert names(place) == ["settings.json"]


@pytest.mark.parametrize("call", ["create_temp", "write", "sync", "exchange"])
def test_a_save_in_the_last_instant_wins(place: Path, call: str) -> None:
    """Whoever saves just before the exchange keeps their bytes, by an in-place save or by a rename."""
    other = place.with_name("other")
    other.write_bytes(THEIRS)

    def save() -> None:
        other.replace(place)

    disk = SavingDisk(call, save)
    with pytest.raises(FileChangedError):
        replace_lone(place, before=OLD, after=NEW, disk=disk)

    assert place.read_bytes() == THEIRS
    assert names(place) == ["settings.json"]


@pytest.mark.parametrize("call", ["create_temp", "write", "sync", "exchange"])
def test_a_full_disk_changes_nothing(place: Path, call: str) -> None:
    """Whichever step fails, the old bytes are there and no temporary file is left."""
    with pytest.raises(OSError, match="No space"):
        replace_lone(place, before=OLD, after=NEW, disk=FailingDisk(call))

    assert place.read_bytes() == OLD
    assert names(place) == ["settings.json"]


def test_read_only_is_respected(place: Path) -> None:
    """A file that is marked read-only is neither replaced nor removed."""
    place.chmod(0o444)

    with pytest.raises(PermissionError):
        replace_lone(place, before=OLD, after=NEW, disk=Disk())
    with pytest.raises(PermissionError):
        remove_lone(place, before=OLD, disk=Disk())

    assert place.read_bytes() == OLD


@pytest.mark.parametrize("call", ["link", "sync"])
def test_a_new_file_is_whole_or_absent(tmp_path: Path, call: str) -> None:
    """A new file that can't be finished leaves nothing; a name that is taken is not overwritten."""
    place = tmp_path / "new.json"
    with pytest.raises(OSError, match="No space"):
        write_new(place, NEW, mode=0o600, disk=FailingDisk(call))
    assert names(place) == []

    write_new(place, NEW, mode=0o600, disk=Disk())
    with pytest.raises(FileExistsError):
        write_new(place, THEIRS, mode=0o600, disk=Disk())

    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (NEW, 0o600)
    assert names(place) == ["new.json"]


def test_removing_looks_first(place: Path) -> None:
    """A file is removed only when it is what was expected."""
    with pytest.raises(FileChangedError):
        remove_lone(place, before=THEIRS, disk=Disk())
    assert names(place) == ["settings.json"]
    assert place.read_bytes() == OLD

    remove_lone(place, before=OLD, disk=Disk())
    assert names(place) == []


def test_links_lead_to_their_file(tmp_path: Path) -> None:
    """A link is followed to its end, also one to nowhere; a circle is an error."""
    (tmp_path / "link").symlink_to("dots/settings.json")
    (tmp_path / "round").symlink_to("round")

    assert resolve_link(tmp_path / "link") == tmp_path.resolve() / "dots" / "settings.json"
    with pytest.raises(OSError, match="symbolic"):
        resolve_link(tmp_path / "round")
    assert read_lone(tmp_path / "absent") is None
