"""Cut the power at every call: only synced bytes and synced names survive, and what was answered holds.

Rules: WRITE-05, WRITE-O3, WRITE-O5; architecture.md section 4 ("every confirmed write is on disk exactly once").
"""

from __future__ import annotations

import random  # noqa: TID251 - seeded: the same each time
import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash.testing import PowerLossDisk, StoppingDisk
from omnislash.testing.disks import STOPPED
from tests.crash.harness import Work, leftovers, read_result, restart, run_in_child
from tests.crash.kinds import KINDS, SWEPT
from tests.crash.test_stop_everywhere import bring_to_an_end, check_answers, note_answers, quiet_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.harness import Kind


def cut_at(work: Work, at: int, seed: int | None) -> Path:
    """Run the work until the power is cut before a call, or after the last one; return the brain that is left."""
    root = work.copy()
    note = note_answers(root)

    def run() -> None:
        chance = None if seed is None else random.Random(seed)
        disk = PowerLossDisk(root / "memory", at=at, chance=chance)
        work.run(root, disk=disk, answered=note)
        disk.cut_power(chance)

    assert run_in_child(run) in {STOPPED, 0}
    check_answers(root)
    return root


@pytest.mark.rule("WRITE-05", "WRITE-O3", "WRITE-O5")
@pytest.mark.parametrize("kind", SWEPT)
def test_power_cut_loses_nothing(kind: Kind, place: Path) -> None:
    """Whatever the disk kept when the power went, what was confirmed is there, once, and the rest is made up for."""
    work = Work(kind, place)
    quiet, names = quiet_run(work)
    cuts = 0
    for at in range(1, len(names) + 2):
        for seed in (None, at, 1000 + at):
            root = cut_at(work, at, seed)
            bring_to_an_end(work, root, again_first=bool(at % 2))
            result = read_result(root)
            assert result.files == quiet.files, f"cut before call {at} of {names}, seed {seed}"
            assert [row[6] for row in result.audit] == [row[6] for row in quiet.audit], f"cut before call {at}"
            assert not leftovers(root), f"cut before call {at}, seed {seed}"
            shutil.rmtree(root)
            cuts += 1
    assert cuts > 3 * kind.floor


@pytest.mark.rule("WRITE-O5")
def test_directory_of_a_dead_process_is_made_durable(place: Path) -> None:
    """A directory that a dead process made and did not sync survives a power cut after the next confirmed write."""
    work = Work(KINDS[0], place)
    quiet, names = quiet_run(work)
    for at, name in enumerate(names, start=1):
        if name != "make_directory":
            continue
        root = work.copy()
        disk = PowerLossDisk(root / "memory")
        assert run_in_child(lambda: work.run(root, disk=StoppingDisk(at=at, when="after"))) == STOPPED  # noqa: B023
        work.run(root, disk=disk)
        disk.cut_power()
        restart(root)
        assert read_result(root).files == quiet.files, f"call {at}"
