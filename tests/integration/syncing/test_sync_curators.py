"""The commit of a curator's run: its mark, its own files, and the commit before as its preimage."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import ModelError
from omnislash.runtime.agents import Agent
from omnislash.runtime.beats.beat_runs import RunOutcome
from omnislash.runtime.loop.run_values import Run
from omnislash.runtime.syncing import curating, syncing
from omnislash.runtime.syncing.curating import find_mark
from omnislash.store.locks import Owner, WriterLock

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.turns import Ports, Turn
    from tests.integration.syncing.conftest import GitBrain

MARK = "memory-care: main: 1 moved, 1 retired."
DAY = "memory/main/2026/08/2026-08-30.md"


@pytest.fixture
def curated(repo: GitBrain) -> GitBrain:
    """A brain with a curator's heartbeat, and pending work of somebody else."""
    repo.put(
        "features/team/care.heartbeat.md",
        "---\nschedule: '0 7 * * *'\nagent: {role: nova}\n---\nTidy up.\n\nEnd with a line that begins with `memory-care:`.\n",
    )
    repo.beat("briefing", "nova")
    repo.commit("start")
    repo.agent("ops").memory.write("Pending.")
    return repo


def _playing(text: str, *, writes: bool = True, during: Callable[[], object] = lambda: None) -> Callable[..., Run]:
    """Return a turn that writes an entry as its role, lets something else happen, and answers so."""

    def run_turn(turn: Turn, ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        if writes:
            Agent(turn, ports).memory.write("By the curator.")
        during()
        return Run(session=session or "", role=turn.scope.role, line=turn.scope.line, model="test", text=text)

    return run_turn


def _subjects(brain: GitBrain) -> list[str]:
    return brain.git("log", "--format=%s", "--reverse").split("\n")


@pytest.mark.rule("CURATE-05")
def test_run_is_committed_under_its_mark(curated: GitBrain) -> None:
    """What was pending goes first, then the run alone, with the last line of its answer as the subject."""
    beside = lambda: curated.put_memory("ops/plan.md", "Meanwhile.\n")  # noqa: E731 - two words
    run = curated.open().run_heartbeat("care", run_turn=_playing(f"Done.\n\n{MARK}\n", during=beside))

    assert run.outcome is RunOutcome.DONE
    assert _subjects(curated)[-2:] == ["ops: 1 entry by ops", MARK]
    assert curated.committed() == [DAY]
    assert curated.committed("HEAD~1") == ["memory/ops/2026/08/2026-08-30.md"]
    assert curated.git("log", "-1", "--format=%(trailers)").split("\n")[:2] == [
        "Omnislash-Role: nova",
        "Omnislash-Heartbeat: care",
    ]
    assert curated.status() == "?? memory/ops/plan.md"


@pytest.mark.rule("CURATE-05")
def test_run_without_the_mark_waits_for_the_tick(curated: GitBrain) -> None:
    """An answer without the mark, a run that changed nothing and a run that failed get no commit of their own."""
    brain = curated.open()

    def fail(*_words: object, **_options: object) -> Run:
        raise ModelError

    brain.run_heartbeat("care", run_turn=_playing(f"{MARK}\nBut not at the end."))
    brain.run_heartbeat("care", run_turn=_playing(MARK, writes=False))
    assert brain.run_heartbeat("care", run_turn=fail).outcome is RunOutcome.FAILED

    assert MARK not in _subjects(curated)


def test_other_beats_commit_nothing(curated: GitBrain) -> None:
    """A heartbeat that is not told of the mark has no commit before it."""
    curated.open().run_heartbeat("briefing", run_turn=_playing("Good morning."))

    assert _subjects(curated) == ["start", "start"]


@pytest.mark.parametrize("way", ["disabled", "replay", "no git"])
def test_where_nothing_is_committed(curated: GitBrain, way: str) -> None:
    """With sync switched off, in a replay and without a repository the run is as before."""
    if way == "disabled":
        curated.put("constitution/MANIFEST.yaml", "sync: {enabled: false}\n")
        curated.commit("start")
    if way == "no git":
        (curated.root / ".git").rename(curated.root.parent / "git")
    run = curated.open().run_heartbeat("care", run_turn=_playing(MARK), replay=way == "replay")
    if way == "no git":
        (curated.root.parent / "git").rename(curated.root / ".git")

    assert run.outcome is RunOutcome.DONE
    assert set(_subjects(curated)) == {"start"}


def test_sync_that_fails_fails_no_beat(curated: GitBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository in trouble, and a fault of our own, leave the run as it is."""
    curated.git("checkout", "-q", "--detach")
    detached = curated.open().run_heartbeat("care", run_turn=_playing(MARK))

    def broken(*_words: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(curating, "sync", broken)
    broken_run = curated.open().run_heartbeat("care", run_turn=_playing(MARK))

    assert [detached.outcome, broken_run.outcome] == [RunOutcome.DONE] * 2


@pytest.mark.rule("CURATE-05")
def test_curator_waits_for_a_sync_that_runs(curated: GitBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync that talks to a slow remote holds the lock: the run waits, so that its preimage is committed."""
    monkeypatch.setattr(syncing, "_ATTEMPTS", 1)
    monkeypatch.setattr(syncing, "_PAUSE_S", 0.02)
    monkeypatch.setattr(curating, "_TRIES", 500)
    brain = curated.open()
    lock = WriterLock(curated.root / syncing.LOCK_FILE)
    assert lock.acquire(Owner(pid=1, role="sync", since="2026-08-30T09:00:00+00:00"))
    release = threading.Timer(0.5, lock.release)
    release.start()

    brain.run_heartbeat("care", run_turn=_playing(MARK))

    release.join()
    assert _subjects(curated)[-2:] == ["ops: 1 entry by ops", MARK]


@pytest.mark.parametrize(
    ("answer", "mark"),
    [
        (f"Text.\n{MARK}", MARK),
        (f"Text.\n\n`{MARK}`\n\n", MARK),
        (f"**{MARK}**", MARK),
        (f"{MARK}\nmore", None),
        ("", None),
        ("I wrote memory-care: main", None),
    ],
)
def test_mark_is_the_last_line(answer: str, mark: str | None) -> None:
    """Only the last line that holds anything counts, and only when it begins with the mark."""
    assert find_mark(answer) == mark
