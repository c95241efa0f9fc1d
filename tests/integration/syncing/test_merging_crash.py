"""A merge that is cut off anywhere, and a person who saves anywhere in it: nothing is lost, doubled or torn."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.merge_values import MergeOutcome
from omnislash.store import git as store_git
from omnislash.testing import CountingDisk, StoppingDisk
from omnislash.testing.disks import STOPPED, InterruptingDisk
from omnislash.writer.recovery import recover
from tests.integration.syncing.merge_stage import DAY, MEMORY, NOW, MergeStage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omnislash.store.disk import Disk
    from omnislash.store.git import GitAnswer

LOG = "# 2026-11-30\n\n- 08:00 opened the shop\n"
OLD = "memory/main/old.md"
NEW = "memory/ops/2026/11/2026-11-30.md"
NOTE = "features/a/note.md"
FILLER = "".join(f"line {number}\n" for number in range(9))
FINAL = {
    ".gitignore": ".omnislash/\n.omnislash-*\n",
    DAY: LOG + "- 08:30 from theirs\n- 09:00 from ours\n",
    MEMORY: "# Memory\n\n- one\n- ours\n- theirs\n",
    NEW: "# 2026-11-30\n\n- 10:00 in a new line\n",
    NOTE: f"a changed note\n{FILLER}",
}


@pytest.fixture(scope="module")
def parted() -> Iterator[MergeStage]:
    """Return a brain whose two sides changed, added and removed files; it is only ever copied."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="omnislash-") as directory:
        base = {DAY: LOG, MEMORY: "# Memory\n\n- one\n", OLD: "old\n", NOTE: f"a note\n{FILLER}"}
        stage = MergeStage(Path(directory) / "brain", base)
        yield stage.part(
            ours={DAY: LOG + "- 09:00 from ours\n", MEMORY: "# Memory\n\n- one\n- ours\n"},
            theirs={
                DAY: LOG + "- 08:30 from theirs\n",
                MEMORY: "# Memory\n\n- one\n- theirs\n",
                OLD: None,
                NEW: FINAL[NEW],
                NOTE: FINAL[NOTE],
            },
        )


@pytest.fixture
def copy(parted: MergeStage) -> Iterator[Callable[[], MergeStage]]:
    """Return what gives a copy of that brain."""
    made: list[Path] = []

    def make() -> MergeStage:
        root = parted.root.with_name(f"copy-{len(made)}")
        shutil.copytree(parted.root, root, symlinks=True)
        made.append(root)
        twin = MergeStage.__new__(MergeStage)
        twin.root, twin.base, twin.ours, twin.theirs = root, parted.base, parted.ours, parted.theirs
        return twin

    yield make
    for root in made:
        shutil.rmtree(root)


def run_in_child(work: Callable[[], object]) -> int:
    """Run something in a child that may end itself, and return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def stop_git_at(number: int, *, when: str) -> None:
    """Let this process end right before or after its n-th command of git."""
    run_git, calls = store_git.run_git, [0]

    def stopping(args: Sequence[str], **options: object) -> GitAnswer:
        calls[0] += 1
        if calls[0] == number and when == "before":
            os._exit(STOPPED)
        answer = run_git(args, **options)  # type: ignore[arg-type]
        if calls[0] == number:
            os._exit(STOPPED)
        return answer

    store_git.run_git = stopping  # type: ignore[assignment]


def finish(stage: MergeStage) -> None:
    """Do what syncs do after a crash until there is nothing to do any more."""
    stage.resume()
    for _ in range(4):
        if stage.status():
            stage.commit("what is pending")
        result = stage.merge()
        if result.outcome is MergeOutcome.UP_TO_DATE:
            return
        assert result.outcome is not MergeOutcome.STOPPED, result
    pytest.fail("the two sides do not come together")


def assert_finished(stage: MergeStage) -> None:
    """Hold that the end is that of the undisturbed run."""
    assert {path: data.decode() for path, data in stage.files().items()} == FINAL
    assert stage.parents() == [stage.ours, stage.theirs]
    assert len(stage.rows("list_audit")) == 1
    stage.assert_settled()


def count_calls(stage: MergeStage) -> tuple[list[str], int]:
    """Return the changes of the disk that an undisturbed merge makes, and how many commands of git it takes."""
    commands = [0]
    run_git = store_git.run_git

    def counting(args: Sequence[str], **options: object) -> GitAnswer:
        commands[0] += 1
        return run_git(args, **options)  # type: ignore[arg-type]

    disk = CountingDisk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_git, "run_git", counting)
        assert stage.merge(disk=disk).outcome is MergeOutcome.MERGED
    assert_finished(stage)
    return disk.names, commands[0]


def list_points(names: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each place beside the changes of the disk: the number of the call, and before or after it.

    A directory that is not empty is not removed: that call fails, and nothing comes after it.
    """
    for at, name in enumerate(names, start=1):
        yield at, "before"
        if name != "remove_directory":
            yield at, "after"
        if name == "write":
            yield at, "during"


def test_stopped_at_a_change_of_the_disk(copy: Callable[[], MergeStage]) -> None:
    """A few of the places, spread over the whole merge; the sweep over all of them is the long one."""
    names, _ = count_calls(copy())
    assert len(names) >= 30
    for at in range(9, len(names), len(names) // 5):
        stage = copy()
        assert run_in_child(partial(stage.merge, disk=StoppingDisk(at=at, when="after"))) == STOPPED
        finish(stage)
        assert_finished(stage)


@pytest.mark.long
def test_stopped_at_every_change_of_the_disk(copy: Callable[[], MergeStage]) -> None:
    """Wherever the process ends, the next sync finishes."""
    names, _ = count_calls(copy())
    for at, when in list_points(names):
        stage = copy()
        disk = StoppingDisk(at=at, when=when)  # type: ignore[arg-type]
        assert run_in_child(partial(stage.merge, disk=disk)) == STOPPED
        finish(stage)
        assert_finished(stage)


def test_stopped_around_the_last_commands_of_git(copy: Callable[[], MergeStage]) -> None:
    """Between the files, the index and the branch: each state is finished by the next sync."""
    _, commands = count_calls(copy())
    for number in range(commands - 4, commands):
        stage = copy()

        def work(stage: MergeStage = stage, number: int = number) -> None:
            stop_git_at(number, when="after")
            stage.merge()

        assert run_in_child(work) == STOPPED
        finish(stage)
        assert_finished(stage)


@pytest.mark.long
def test_stopped_at_every_command_of_git(copy: Callable[[], MergeStage]) -> None:
    """The same for all of them, before and after."""
    _, commands = count_calls(copy())
    for number in range(1, commands + 1):
        for when in ("before", "after"):
            stage = copy()

            def work(stage: MergeStage = stage, number: int = number, when: str = when) -> None:
                stop_git_at(number, when=when)
                stage.merge()

            assert run_in_child(work) == STOPPED
            finish(stage)
            assert_finished(stage)


# -- a person beside it ----------------------------------------------------------------------------------------------


def save_in_place(place: Path, more: str) -> None:
    """Save a file with one more line, as an editor does that writes into it."""
    with place.open("a", encoding="utf-8") as file:
        file.write(more)


def save_by_rename(place: Path, more: str) -> None:
    """Save a file with one more line, as an editor does that writes a new one."""
    text = place.read_text() if place.exists() else ""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name("editor~")
    beside.write_text(text + more)
    beside.rename(place)


SAVES: dict[str, tuple[str, Callable[[Path, str], None], str]] = {
    "log in place": (DAY, save_in_place, "- 11:00 by a person\n"),
    "log by rename": (DAY, save_by_rename, "- 11:00 by a person\n"),
    "curated": (MEMORY, save_by_rename, "- by a person\n"),
    "removed file": (OLD, save_by_rename, "by a person\n"),
    "new file": (NEW, save_by_rename, "- 11:00 by a person\n"),
    "other file": (NOTE, save_by_rename, "by a person\n"),
}


def assert_nothing_lost(stage: MergeStage, told: str) -> None:
    """Hold that every text of both sides and the person's is in the brain, and each entry in its file only once."""
    files = {path: data.decode() for path, data in stage.files().items()}
    everything = "".join(files.values())
    assert told in everything
    for path, text in FINAL.items():
        for line in text.splitlines():
            if line and path != NOTE:
                assert files[path].splitlines().count(line) == 1, (path, line, files[path])
    for path, text in files.items():
        assert text.count(told) <= 1, (path, text)
        assert "<<<<<<<" not in text
    stage.assert_settled()


def save_beside(stage: MergeStage, at: int, save: str, when: str) -> None:
    """Let a person save at one call of the disk, bring the sides together, and hold the end against what was told."""
    path, how, told = SAVES[save]
    disk = InterruptingDisk({at: lambda: how(stage.root / path, told)}, when=when)  # type: ignore[arg-type]
    stage.merge(disk=disk)
    finish(stage)
    assert_nothing_lost(stage, told.strip())


@pytest.mark.parametrize("save", SAVES)
def test_person_saves_beside_a_merge(copy: Callable[[], MergeStage], save: str) -> None:
    """A save right before the files are exchanged, and one in the middle of the exchanges."""
    disk = CountingDisk()
    copy().merge(disk=disk)
    names = disk.names
    first = next(index for index, name in enumerate(names, start=1) if name in {"exchange", "link"})
    for at in (first, first + 2):
        save_beside(copy(), at, save, "before")


@pytest.mark.long
@pytest.mark.parametrize("save", SAVES)
def test_person_saves_beside_every_step(copy: Callable[[], MergeStage], save: str) -> None:
    """The same beside each change of the disk, before and after."""
    names, _ = count_calls(copy())
    for at, when in list_points(names):
        if when != "during":
            save_beside(copy(), at, save, when)


def save_and_stop(copy: Callable[[], MergeStage], at: int, save: str) -> None:
    """Let a person save at a call of the disk, end the process at the next one, and hold the end."""
    path, how, told = SAVES[save]
    stage = copy()

    def work() -> None:
        inner = InterruptingDisk({at: lambda: how(stage.root / path, told)})
        stage.merge(disk=StoppingDisk(at=at, when="after", inner=inner))

    assert run_in_child(work) in {STOPPED, 0}  # 0: the save made that very call fail, so that nothing came after it
    finish(stage)
    assert_nothing_lost(stage, told.strip())


@pytest.mark.parametrize("save", ["log by rename", "other file"])
def test_person_saves_and_the_process_ends(copy: Callable[[], MergeStage], save: str) -> None:
    """What an exchange brought out when the process ended is put back by the next sync."""
    disk = CountingDisk()
    copy().merge(disk=disk)
    for at in [index for index, name in enumerate(disk.names, start=1) if name == "exchange"]:
        save_and_stop(copy, at, save)


def test_writer_that_starts_in_between_leaves_it_to_the_sync(copy: Callable[[], MergeStage]) -> None:
    """The writer's own recovery touches nothing of a merge, which may be running in another process."""
    path, how, told = SAVES["log by rename"]
    disk = CountingDisk()
    copy().merge(disk=disk)
    at = [index for index, name in enumerate(disk.names, start=1) if name == "exchange"][1]
    stage = copy()

    def work() -> None:
        inner = InterruptingDisk({at: lambda: how(stage.root / path, told)})
        stage.merge(disk=StoppingDisk(at=at, when="after", inner=inner))

    assert run_in_child(work) == STOPPED
    before, place = stage.files(), stage.place()
    recovered = recover(place.state, place.files, now=NOW)
    place.state.close()

    assert recovered.leftover == {}
    assert stage.files() == before
    resumed = stage.resume()
    assert resumed is not None
    assert resumed.outcome is MergeOutcome.MOVED_ON
    assert stage.read(path).endswith(told)
    finish(stage)
    assert_nothing_lost(stage, told.strip())


@pytest.mark.long
@pytest.mark.parametrize("save", SAVES)
def test_person_saves_and_the_process_ends_everywhere(copy: Callable[[], MergeStage], save: str) -> None:
    """The same at each change of the disk."""
    names, _ = count_calls(copy())
    for at, when in list_points(names):
        if when == "after":
            save_and_stop(copy, at, save)


def test_full_disk_changes_nothing(copy: Callable[[], MergeStage]) -> None:
    """A disk that says no in the middle leaves all files as they were, and the next sync finishes."""
    import errno

    from omnislash.errors import StorageError
    from omnislash.testing.disks import FailingDisk

    counting = CountingDisk()
    copy().merge(disk=counting)
    for at in [index for index, name in enumerate(counting.names, start=1) if name in {"exchange", "link"}][:3]:
        stage = copy()
        before = stage.files()
        disk: Disk = FailingDisk(at=at, error=errno.ENOSPC)
        with pytest.raises(StorageError, match="full"):
            stage.merge(disk=disk)
        assert stage.files() == before
        finish(stage)
        assert_finished(stage)
