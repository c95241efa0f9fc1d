"""Failure cases: what a write, a verdict and a deletion owe to git, and what they do not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from omnislash import Outcome

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain

TWO_HOURS_AGO = 1_796_022_000


@pytest.mark.rule("WRITE-03")
def test_o_50_a_lock_left_behind_stops_no_write(brain: CaseBrain) -> None:
    """With git's lock in place, old or young, an entry is on disk at once, and the verdict claims no commit."""
    brain.commit()
    lock = brain.root / ".git/index.lock"
    lock.touch()
    os.utime(lock, (TWO_HOURS_AGO, TWO_HOURS_AGO))
    old = brain.put("with an old lock")
    lock.touch()
    young = brain.put("with a young lock")
    assert lock.exists()
    lock.unlink()
    free = brain.put("without a lock")
    assert [verdict.outcome for verdict in (old, young, free)] == [Outcome.WRITTEN] * 3
    assert "commit" not in f"{old.message} {young.message} {free.message}".lower()
    assert brain.git("log", "--format=%s").split() == ["case"]
    brain.commit()
    assert brain.git("status", "--porcelain") == ""


@pytest.mark.rule("WRITE-03")
def test_o_50_a_brain_without_git_is_written_to(make_brain: MakeBrain) -> None:
    """A write needs no git at all: with a broken repository the entry lands all the same."""
    brain = make_brain()
    head = brain.root / ".git/HEAD"
    text = head.read_text(encoding="utf-8")
    head.write_text("broken", encoding="utf-8")
    assert brain.put("no git needed").outcome is Outcome.WRITTEN
    head.write_text(text, encoding="utf-8")


def test_o_53_the_engines_own_files_stay_out_of_git(brain: CaseBrain) -> None:
    """After writes, `git add -A` takes the memory and nothing of the engine's own, and leaves the tree clean."""
    brain.commit()
    brain.core("tracked")
    brain.put("tracked too")
    brain.git("add", "-A")
    names = brain.git("-c", "core.quotePath=false", "diff", "--cached", "--name-only").split()
    assert names == ["memory/ops/2026/11/2026-11-30.md", "memory/ops/MEMORY.md"]
    brain.commit()
    assert brain.git("status", "--porcelain") == ""
    assert brain.git("ls-files", ".omnislash") == ""


@pytest.mark.rule("WRITE-03")
def test_o_54_memory_that_git_ignores_is_written(brain: CaseBrain) -> None:
    """Rules of git that ignore memory change no verdict: the entry is written, and nobody calls it committed."""
    excludes = brain.root.parent / "excludes"
    excludes.write_text("memory/\n2026-*\n", encoding="utf-8")
    brain.git("config", "core.excludesFile", str(excludes))
    brain.commit()
    verdict = brain.put("ignored by git")
    assert (verdict.outcome, verdict.paths) == (Outcome.WRITTEN, (brain.day,))
    assert "sync" not in verdict.message
    assert "commit" not in verdict.message


@pytest.mark.rule("TOOL-O1", "EVENT-03")
def test_o_66_a_deletion_is_honest_about_git(brain: CaseBrain) -> None:
    """Dropped at once, a text is gone from every file, and the verdict says that git history keeps what it has."""
    assert brain.core("forget-me 5521").outcome is Outcome.WRITTEN
    brain.commit()
    verdicts = [brain.drop("forget-me 5521"), brain.drop("forget-me 5521", path=brain.day)]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.WRITTEN}
    assert all("git history keeps the old text" in verdict.message for verdict in verdicts)
    assert "5521" not in brain.text()
    assert "5521" not in brain.text(brain.day)
    assert "5521" not in str([row.to_json() for row in brain.brain.audit().rows])


@pytest.mark.rule("TOOL-O1")
@pytest.mark.parametrize("way", ["entry", "section", "file", "swap"])
def test_o_66_nothing_of_the_engine_keeps_it(brain: CaseBrain, way: str) -> None:
    """What was dropped before it was committed is nowhere under the brain once the process has ended."""
    brain.core("forget-me 5521")
    memory = brain.agent().memory
    if way == "swap":
        assert brain.swap("forget-me 5521", "something else").outcome is Outcome.WRITTEN
        assert brain.swap("forget-me 5521", "something else", path=brain.day).outcome is Outcome.WRITTEN
    elif way == "entry":
        assert brain.drop("forget-me 5521").outcome is Outcome.WRITTEN
        assert brain.drop("forget-me 5521", path=brain.day).outcome is Outcome.WRITTEN
    else:
        section = "Memory (2026-11-30)" if way == "section" else None
        assert memory.delete(brain.memory, section=section).outcome is Outcome.WRITTEN
        assert memory.delete(brain.day).outcome is Outcome.WRITTEN
    brain.close()
    assert brain.find_everywhere("5521") == []


@pytest.mark.rule("TOOL-O1")
@pytest.mark.parametrize("what", ["file", "section"])
def test_o_66_a_file_or_section_is_honest_too(brain: CaseBrain, what: str) -> None:
    """The deletion of a whole section or file says the same, and the text is gone."""
    brain.core("forget-me 5521")
    section = "Memory (2026-11-30)" if what == "section" else None
    verdict = brain.agent().memory.delete(brain.memory, section=section)
    assert verdict.outcome is Outcome.WRITTEN
    assert "git history keeps the old text" in verdict.message
    assert not brain.place().exists() or "5521" not in brain.text()


@pytest.mark.rule("WRITE-14", "WRITE-O6")
def test_o_66_a_forgotten_text_can_be_told_again(brain: CaseBrain) -> None:
    """After the deletion the same text is new: it is not taken for a duplicate of what is gone."""
    brain.core("forget-me 5521")
    brain.drop("forget-me 5521")
    brain.drop("forget-me 5521", path=brain.day)
    assert brain.core("forget-me 5521").outcome is Outcome.WRITTEN
