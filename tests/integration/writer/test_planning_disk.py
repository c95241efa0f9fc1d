"""Planning against files that a person changes: between two writes, in the moment of one, and long after."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.core.lines import ManagedPath
from omnislash.core.verdicts import Outcome
from omnislash.store.disk import Disk
from omnislash.store.files import MemoryFiles
from omnislash.writer.plans import PlannedChange
from omnislash.writer.views import BatchView, UnitCache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"
MEMORY = "main/MEMORY.md"


class Meanwhile(Disk):
    """Lets a person act right before the first exchange or link of each named file."""

    def __init__(self) -> None:
        self.acts: list[Callable[[Path], None]] = []

    def _act(self, target: Path) -> None:
        if self.acts:
            self.acts.pop(0)(target)

    def exchange(self, temp: Path, target: Path) -> None:
        self._act(target)
        super().exchange(temp, target)

    def link(self, temp: Path, target: Path) -> None:
        self._act(target)
        super().link(temp, target)


def save_in_place(text: str) -> Callable[[Path], None]:
    """Return an editor that writes over the file."""

    def save(target: Path) -> None:
        target.write_text(text)

    return save


def save_by_rename(text: str) -> Callable[[Path], None]:
    """Return an editor that writes beside the file and renames."""

    def save(target: Path) -> None:
        draft = target.with_name("draft.swp")
        draft.write_text(text)
        draft.replace(target)

    return save


def delete(target: Path) -> None:
    """Delete the file, as a person would."""
    target.unlink()


# -- between two writes ----------------------------------------------------------------------------------------------


def test_edit_by_hand_between_two_writes_stays(sample: SampleBrain) -> None:
    """What a person changed since the last write is kept, byte for byte, and the entry comes on top of it."""
    memory = sample.agent().memory
    memory.write("one")
    sample.put_memory(TODAY, "# My Sunday\r\n\r\n- 09:05 one, corrected\r\nand prose \r\n")

    assert memory.write("two").outcome is Outcome.WRITTEN

    assert sample.text(TODAY) == "# My Sunday\r\n\r\n- 09:05 one, corrected\r\nand prose \r\n- 09:05 two\r\n"
    assert memory.write("one").outcome is Outcome.WRITTEN


@pytest.mark.rule("WRITE-O6")
def test_entry_that_a_person_added_is_known(sample: SampleBrain) -> None:
    """What a person wrote into the log since counts for deduplication; what they took out does not any more."""
    memory = sample.agent().memory
    memory.write("one")
    memory.write("two")
    text = sample.text(TODAY)

    sample.put_memory(TODAY, text.replace("- 09:05 one\n", "- by hand\n"))

    assert memory.write("By hand").outcome is Outcome.DUPLICATE
    assert memory.write("one").outcome is Outcome.WRITTEN


def test_deleted_file_is_begun_anew(sample: SampleBrain) -> None:
    """A log that a person deleted is a new one at the next write, and nothing of the old one comes back."""
    sample.clock.at -= timedelta(hours=2)
    memory = sample.agent().memory
    memory.write("one")
    sample.clock.at += timedelta(hours=2)
    (sample.root / "memory" / TODAY).unlink()

    assert memory.write("two").outcome is Outcome.WRITTEN
    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 09:05 two\n"}


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf# 2026-08-30\r\n", b"no heading", b"\xff\xfe\n", b"# 2026-08-30\n\n- 08:00 a\n\n\n"]
)
def test_append_leaves_every_old_byte(sample: SampleBrain, data: bytes) -> None:
    """Whatever stands in a log, an append leaves it as it is, at the beginning of the new file."""
    sample.put_memory(TODAY, data)

    sample.agent().memory.write("x")

    assert sample.data(TODAY).startswith(data)
    assert sample.data(TODAY).rstrip().endswith(b"- 09:05 x")


# -- in the same moment ----------------------------------------------------------------------------------------------


SAVES = pytest.mark.parametrize("save", [save_in_place, save_by_rename], ids=["in place", "by rename"])


@pytest.mark.rule("WRITE-01", "WRITE-15")
@SAVES
def test_save_in_the_same_moment_is_kept(sample: SampleBrain, save: Callable[[str], Callable[[Path], None]]) -> None:
    """A person saves between planning and replacing: their bytes are there, and the entry on top of them."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a\n")
    disk = Meanwhile()
    disk.acts = [save("# 2026-08-30\n\n- 08:00 a\n- saved\n")]

    verdict = sample.open(disk=disk).agent("nova").memory.write("x")

    assert (verdict.outcome, disk.acts) == (Outcome.WRITTEN, [])
    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 08:00 a\n- saved\n- 09:05 x\n"}


@SAVES
@pytest.mark.parametrize("times", range(2, 8))
def test_last_of_many_saves_is_kept(
    sample: SampleBrain, save: Callable[[str], Callable[[Path], None]], times: int
) -> None:
    """A person saves at every step of the exchange: the last save stands in the log or in a copy, the entry once."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a\n")
    disk = Meanwhile()
    disk.acts = [save(f"# 2026-08-30\n\n- 08:00 a\n- saved {number}\n") for number in range(times)]

    verdict = sample.open(disk=disk).agent("nova").memory.write("x")

    assert (verdict.outcome, disk.acts) == (Outcome.WRITTEN, [])
    assert sample.text(TODAY).count("- 09:05 x\n") == 1
    assert any(f"- saved {times - 1}\n".encode() in data for data in sample.files().values())
    assert all(path == TODAY or path.startswith("main/conflicts/") for path in sample.files())


def test_file_made_in_the_same_moment_is_kept(sample: SampleBrain) -> None:
    """A person makes today's log while the engine is about to: the entry is appended to theirs."""
    disk = Meanwhile()
    disk.acts = [save_in_place("# Mine\n\n- hello\n")]

    verdict = sample.open(disk=disk).agent("nova").memory.write("x")

    assert verdict.outcome is Outcome.WRITTEN
    assert sample.files() == {TODAY: b"# Mine\n\n- hello\n- 09:05 x\n"}


def test_file_deleted_in_the_same_moment(sample: SampleBrain) -> None:
    """A person deletes the file while the engine is about to change it: the edit is refused, and it stays gone."""
    sample.put_memory(MEMORY, "- rules\n")
    disk = Meanwhile()
    disk.acts = [delete]

    verdict = sample.open(disk=disk).agent("nova").memory.edit(MEMORY, old="rules", new="laws")

    assert verdict.outcome is Outcome.REFUSED
    assert sample.files() == {}


def test_both_halves_move_on_together(sample: SampleBrain) -> None:
    """When the second file of a priority write moved on, the first is taken back, and both are written on top of it."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a\n")
    sample.put_memory(MEMORY, "# M\n")
    disk = Meanwhile()
    disk.acts = [lambda _target: None, save_by_rename("# M, by hand\n")]

    verdict = sample.open(disk=disk).agent("nova").memory.write("x", priority=True)

    assert verdict.outcome is Outcome.WRITTEN
    assert sample.files() == {
        TODAY: b"# 2026-08-30\n\n- 08:00 a\n- 09:05 x\n",
        MEMORY: b"# M, by hand\n\n## Memory (2026-08-30)\n\n- x\n",
    }


@pytest.mark.rule("BUDGET-09", "WRITE-13")
def test_save_in_the_same_moment_counts_for_the_budget(sample: SampleBrain) -> None:
    """The budget is judged by what stands there in the end, not by what was planned against."""
    sample.manifest("{fileMaxChars: 100}")
    sample.put_memory(MEMORY, "# M\n")
    sample.put_memory(TODAY, "# 2026-08-30\n")
    disk = Meanwhile()
    disk.acts = [lambda _target: None, save_by_rename("m" * 99 + "\n")]

    verdict = sample.open(disk=disk).agent("nova").memory.write("x", priority=True)

    assert verdict.outcome is Outcome.PARTIAL
    assert sample.text(MEMORY) == "m" * 99 + "\n"
    assert sample.text(TODAY).count("- 09:05 x\n") == 1


# -- an editor that saves late ---------------------------------------------------------------------------------------


def test_late_save_that_drops_a_confirmed_entry_is_noticed(sample: SampleBrain) -> None:
    """An editor that read the file before a write and saves after it: the entry is kept in a copy, and said."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a\n")
    memory = sample.agent().memory
    memory.write("one")
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 a, corrected\n")

    verdict = memory.write("two")

    assert sample.text(TODAY) == "# 2026-08-30\n\n- 08:00 a, corrected\n- 09:05 two\n"
    (copy,) = [path for path in sample.files() if path.startswith("main/conflicts/2026-08-30-")]
    assert "one" in sample.text(copy)
    assert copy in verdict.message


def test_deletion_by_a_person_makes_no_copy(sample: SampleBrain) -> None:
    """A person who deletes an older entry and leaves the newest one knew what they did: nothing is kept."""
    memory = sample.agent().memory
    memory.write("one")
    memory.write("two")
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 09:05 two\n")

    memory.write("three")

    assert set(sample.files()) == {TODAY}


def test_late_save_long_after_is_a_decision(sample: SampleBrain) -> None:
    """A save more than an hour after the write that drops its entry is taken as meant."""
    memory = sample.agent().memory
    memory.write("one")
    sample.clock.at += timedelta(minutes=61)
    sample.put_memory(TODAY, "# 2026-08-30\n")

    memory.write("two")

    assert set(sample.files()) == {TODAY}


# -- the view of a batch ---------------------------------------------------------------------------------------------


@pytest.fixture
def files(sample: SampleBrain) -> MemoryFiles:
    """Return the managed files of the sample brain, today's log among them."""
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 One\n")
    return MemoryFiles(sample.root / "memory")


def test_view_puts_planned_changes_on_top(files: MemoryFiles) -> None:
    """A later job of a batch sees what an earlier one planned, and the disk is still as it was."""
    path, other = ManagedPath(TODAY), ManagedPath("main/new.md")
    view = BatchView(files, UnitCache())
    after = b"# 2026-08-30\n\n- 08:00 One\n- 09:05 Two\n"

    view.apply([PlannedChange(path, after, appended="- 09:05 Two", unit="two"), PlannedChange(other, b"x\n")])

    assert view.read(path) == after
    assert view.read(other) == b"x\n"
    assert view.holds(path, "one")
    assert view.holds(path, "two")
    assert not view.holds(path, "three")
    assert view.originals[other] is None
    assert files.read(path) == b"# 2026-08-30\n\n- 08:00 One\n"


def test_view_reads_a_file_once(files: MemoryFiles, sample: SampleBrain) -> None:
    """Within a batch a file is what it was when the batch first looked; the next batch looks again."""
    path, cache = ManagedPath(TODAY), UnitCache()
    view = BatchView(files, cache)
    assert view.holds(path, "one")
    sample.put_memory(TODAY, "# 2026-08-30\n\n- 08:00 Other\n")

    assert view.holds(path, "one")
    assert BatchView(files, cache).holds(path, "other")
    assert not BatchView(files, cache).holds(path, "one")


def test_view_forgets_a_reshaped_file(files: MemoryFiles) -> None:
    """After an edit the entries are those of the new text; the old ones do not count any more."""
    path, cache = ManagedPath(TODAY), UnitCache()
    view = BatchView(files, cache)
    assert view.holds(path, "one")

    view.apply([PlannedChange(path, b"# 2026-08-30\n\n- 08:00 Two\n")])
    assert (view.holds(path, "one"), view.holds(path, "two")) == (False, True)
    view.apply([PlannedChange(path, None)])
    assert not view.holds(path, "two")
    view.settle()
    assert BatchView(files, cache).holds(path, "one")


def test_view_knows_foreign_files(files: MemoryFiles, sample: SampleBrain) -> None:
    """A file that does not hold what was left there is foreign; one that does is not."""
    path, cache = ManagedPath(TODAY), UnitCache()
    first = BatchView(files, cache)
    first.read(path)
    assert first.foreign() == [path]
    after = b"# 2026-08-30\n\n- 08:00 One\n- 09:05 Two\n"
    first.apply([PlannedChange(path, after, appended="- 09:05 Two", unit="two")])
    sample.put_memory(TODAY, after)
    first.settle()

    second = BatchView(files, cache)
    second.read(path)
    assert second.foreign() == []
    sample.put_memory(TODAY, b"# mine\n")
    third = BatchView(files, cache)
    third.read(path)
    assert third.foreign() == [path]


def test_memory_of_many_files_is_bounded(files: MemoryFiles) -> None:
    """The remembered entries of a hundred files are let go, the oldest first."""
    cache = UnitCache()
    paths = [ManagedPath(f"main/{number}.md") for number in range(100)]
    for path in paths:
        cache.put(path, b"x", {"x"})

    assert not cache.knows(paths[0], b"x")
    assert cache.knows(paths[-1], b"x")
    assert len(cache._known) <= 64
