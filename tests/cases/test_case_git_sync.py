"""Failure cases on git and forgetting, with brain-sync: every case by the real command line and real git."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Outcome
from tests.cases.conftest import GIT_ENVIRONMENT, NOW, CaseBrain

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases.conftest import Done, MakeBrain
    from tests.cases.embedding_server import EmbeddingServer

DAY = f"memory/{CaseBrain.day}"
MEMORY = f"memory/{CaseBrain.memory}"


def _sync(brain: CaseBrain) -> Done:
    """SYNC: one sync, with no terminal; all there is of a worker beside it has ended."""
    done = brain.command("sync", "run")
    assert done.code == (0 if done.answer["outcome"] in {"done", "nothing"} else 1)
    return done


def _status(brain: CaseBrain) -> dict[str, Any]:
    return brain.command("sync", "status").answer


def _clone(brain: CaseBrain, make_brain: MakeBrain, remote: Path) -> CaseBrain:
    """Return another clone of what the brain has pushed."""
    other = make_brain()
    other.environment |= brain.environment
    other.git("remote", "add", "origin", str(remote))
    other.git("fetch", "-q", "origin")
    for place in [place for place in other.root.iterdir() if place.name != ".git"]:
        subprocess.run(["rm", "-r", str(place)], check=True)
    other.git("checkout", "-q", "-B", "main", "--track", "origin/main")
    other._baseline = other.tree()
    return other


def _add_remote(brain: CaseBrain, directory: Path) -> Path:
    """Return a bare repository that is the brain's origin."""
    place = directory / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(place)], env=GIT_ENVIRONMENT, check=True)
    brain.git("remote", "add", "origin", str(place))
    return place


def test_o_50_a_lock_left_behind(brain: CaseBrain) -> None:
    """An old lock that nobody holds is cleared and named; a young one is not touched, and nothing is called in sync."""
    brain.commit()
    lock = brain.root / ".git/index.lock"
    lock.touch()
    old = (NOW - timedelta(hours=2)).timestamp()
    os.utime(lock, (old, old))
    assert brain.put("with an old lock").outcome is Outcome.WRITTEN
    cleared = _sync(brain)
    assert (cleared.code, lock.exists()) == (0, False)
    assert "index.lock" in cleared.answer["notes"][0]

    lock.touch()
    os.utime(lock, (NOW.timestamp(), NOW.timestamp()))
    assert brain.put("with a young lock").outcome is Outcome.WRITTEN
    waits, status = _sync(brain), _status(brain)
    assert (waits.code, lock.exists(), status["inSync"]) == (1, True, False)
    assert "index.lock" in waits.answer["message"]
    assert waits.answer["pending"] == [DAY]

    lock.unlink()
    assert brain.put("without a lock").outcome is Outcome.WRITTEN
    assert _sync(brain).code == 0
    assert brain.git("status", "--porcelain") == ""
    committed = brain.git("show", f"HEAD:{DAY}")
    assert all(text in committed for text in ("with an old lock", "with a young lock", "without a lock"))
    assert _status(brain)["inSync"]


def test_o_51_both_sides_wrote(brain: CaseBrain, make_brain: MakeBrain, tmp_path: Path) -> None:
    """Entries of both days once on both sides, both versions of the durable entry, no marks, no merge left open."""
    remote = _add_remote(brain, tmp_path)
    brain.by_hand("content/plan.md", "Plan\n=======\n\nWe sow in March.\n")
    brain.core("the gate code is 1111")
    brain.commit()
    assert _sync(brain).code == 0
    other = _clone(brain, make_brain, remote)
    for each, name in ((brain, "A"), (other, "B")):
        each.put(f"seen by {name}")
        each.swap("the gate code is 1111", f"the gate code is {name}{name}{name}")
    brain.by_hand("content/plan.md", "Plan\n=======\n\nWe sow in April.\n")

    first, second, third = _sync(brain), _sync(other), _sync(brain)

    assert (first.code, second.code, third.code) == (0, 0, 0)
    places = {conflict["path"] for conflict in second.answer["conflicts"]}
    assert MEMORY in places
    assert any("the gate code" in c["note"] or MEMORY in c["path"] for c in second.answer["conflicts"])
    for each in (brain, other):
        day, memory = each.text(each.day), each.text()
        assert day.count("seen by A") == day.count("seen by B") == 1
        assert memory.count("the gate code is AAA") == memory.count("the gate code is BBB") == 1
        assert not [
            name for name in ("MERGE_HEAD", "rebase-merge", "rebase-apply") if (each.root / ".git" / name).exists()
        ]
        assert each.git("status", "--porcelain") == ""
        assert each.git("show", "HEAD:content/plan.md").startswith("Plan\n=======\n")
        each.name(each.day, each.memory)
    other.named.add("content/plan.md")
    ids = [row.split()[0] for row in other.git("rev-list", "--objects", "--all").splitlines()]
    committed = [line for each in ids for line in other.git("cat-file", "-p", each, text=False).split(b"\n")]
    assert not [line for line in committed if line.startswith((b"<" * 7, b">" * 7))]


def test_o_52_detached_head(brain: CaseBrain) -> None:
    """Detached it is said and nothing is up to date; after the way back the entry is on the branch."""
    brain.commit()
    brain.git("checkout", "-q", "--detach")
    brain.put("while detached")
    stopped = _sync(brain)
    assert (stopped.code, stopped.answer["outcome"]) == (1, "stopped")
    assert "detached" in stopped.answer["message"]
    assert not _status(brain)["inSync"]

    brain.git("switch", "-q", "main")
    assert _sync(brain).code == 0
    assert "while detached" in brain.git("show", f"main:{DAY}")


def test_o_53_names_beyond_ascii(make_brain: MakeBrain, embedder: EmbeddingServer, tmp_path: Path) -> None:
    """Another script, blanks and quotes in names: the tree is clean after the sync, and a clone has and finds all."""
    names = {"content/заметка №5.md": "wortel", 'content/a "q" b.md': "kapusta"}
    files = {path: f"{word} grows here.\n" for path, word in names.items()}
    brain = make_brain(embedder=embedder, sources=("content",), files=files)
    brain.remember("- svekla grows there.\n", "ops/журнал.md")
    place = _add_remote(brain, tmp_path)

    done = _sync(brain)

    assert (done.code, done.answer["leftAlone"]) == (0, [])
    assert brain.git("status", "--porcelain") == ""
    other = _clone(brain, make_brain, place)
    other.name("ops/журнал.md")
    for each in (brain, other):
        for path, word in {**names, "memory/ops/журнал.md": "svekla"}.items():
            assert word in (each.root / path).read_text(encoding="utf-8")
            assert path.removeprefix("memory/") in each.find_paths(word)


def test_o_54_memory_that_git_ignores(brain: CaseBrain) -> None:
    """A global list of ignored files hides memory: it is committed all the same, and the rule is named before."""
    excludes = brain.root.parent / "excludes"
    excludes.write_text("memory/\n2026-*\n", encoding="utf-8")
    brain.commit()
    brain.git("config", "core.excludesFile", str(excludes))
    brain.put("ignored by git")

    before = _status(brain)
    done = _sync(brain)

    assert not before["inSync"]
    assert before["ignored"] == [{"path": DAY, "rule": f"{excludes}:1: memory/"}]
    assert done.code == 0
    assert "ignored by git" in brain.git("show", f"HEAD:{DAY}")
    assert _status(brain)["inSync"]


@pytest.mark.rule("TOOL-O1")
def test_o_66_forgotten_on_both_sides(make_brain: MakeBrain, embedder: EmbeddingServer, tmp_path: Path) -> None:
    """A clone that already had the entry forgets it with the next sync, and never brings it back."""
    brain = make_brain(embedder=embedder)
    remote = _add_remote(brain, tmp_path)
    brain.core("forget-me 5521")
    brain.put("stays")
    assert _sync(brain).code == 0
    other = _clone(brain, make_brain, remote)
    assert "5521" in other.text()
    verdicts = [brain.drop("forget-me 5521"), brain.drop("forget-me 5521", path=brain.day)]
    other.put("written meanwhile")

    codes = [_sync(brain).code, _sync(other).code, _sync(brain).code]

    assert codes == [0, 0, 0]
    assert all("git" in verdict.message for verdict in verdicts)
    for each in (brain, other):
        assert not [path for path, data in each.tree().items() if b"5521" in data]
        assert each.find("5521") == []
        assert each.text(each.day).count("written meanwhile") == 1
        each.name(each.day, each.memory)
    assert "5521" in brain.git("log", "-p")
