"""Failure cases: several processes and people in the same file, and processes that are killed."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.core.entries import parse_entries

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain, Session

DAY = "memory/ops/2026/11/2026-11-30.md"
MEMORY = "memory/ops/MEMORY.md"
WRITES = 200


def tags(brain: CaseBrain, begin: str) -> list[str]:
    """Return the entries of today's log that begin with a letter, in the order of the file."""
    entries = parse_entries(brain.text(brain.day), timed=True)
    return [entry.text for entry in entries if entry.text.startswith(begin)]


@pytest.mark.rule("WRITE-01", "WRITE-03", "WRITE-O8", "ADAPT-O3")
@pytest.mark.parametrize("run", range(5))
def test_o_01_two_processes_append_at_once(make_brain: MakeBrain, run: int) -> None:
    """All 400 entries of two processes are there, each once and each process's in its order, and so is the old one."""
    brain = make_brain(files={DAY: "# 2026-11-30\n\n- seed\n"})
    brain.name(brain.day)
    writers = {"A": brain.session(), "B": brain.session()}
    wanted = {name: [f"{name}-{number:03d}" for number in range(WRITES)] for name in writers}
    for number in range(WRITES):
        for name, writer in writers.items():
            writer.send({"role": "ops", "tool": "memory_write", "arguments": {"content": wanted[name][number]}})
    for writer in writers.values():
        answers = [writer.receive()["answer"] for _ in range(WRITES)]
        assert [answer for answer in answers if answer["outcome"] != "written"] == []
    lines = brain.text(brain.day).split("\n")
    assert lines[:3] == ["# 2026-11-30", "", "- seed"]
    assert sorted(lines[3:]) == sorted([*(f"- 09:00 {tag}" for name in writers for tag in wanted[name]), ""])
    assert {name: tags(brain, name) for name in writers} == wanted


@pytest.mark.rule("WRITE-02", "WRITE-O8")
def test_o_01_the_very_first_writes_meet(brain: CaseBrain) -> None:
    """Processes that meet in a brain that nobody has written to yet wait for each other; none is turned away."""
    brain.name(brain.day)
    nursery = brain.session()
    for number in range(10):
        answers = nursery.race(4, "memory_write", content=f"round {number}")
        assert sorted(answer["outcome"] for answer in answers) == ["duplicate"] * 3 + ["written"]
        assert tags(brain, "round")[-1] == f"round {number}"
        while (brain.root / ".omnislash").exists():  # the last process to close takes its files away itself
            shutil.rmtree(brain.root / ".omnislash", ignore_errors=True)


@pytest.mark.rule("WRITE-02", "WRITE-O8")
def test_o_01_a_state_database_in_the_making_is_waited_for(brain: CaseBrain) -> None:
    """A process that comes while another one is making the state database waits for it and then writes."""
    (brain.root / ".omnislash").mkdir()
    (brain.root / ".omnislash/.gitignore").write_text("*\n", encoding="utf-8")
    begun = threading.Event()

    def hold() -> None:
        with contextlib.closing(sqlite3.connect(brain.root / ".omnislash/state.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            begun.set()
            time.sleep(0.3)
            other.execute("COMMIT")

    maker = threading.Thread(target=hold)
    maker.start()
    begun.wait()
    verdict = brain.put("patient")
    maker.join()
    assert verdict.outcome == "written"


@pytest.mark.rule("WRITE-01", "TOOL-O1")
def test_o_02_a_hand_edit_under_a_live_process_stays(brain: CaseBrain) -> None:
    """A line that a person types while a process is up survives that process's next change, byte for byte."""
    brain.name(brain.day, brain.memory)
    server = brain.session()
    for entry in ("e1", "e2", "e3"):
        assert server.call("memory_write", content=entry, priority=True)["outcome"] == "written"
    with brain.place().open("ab") as file:
        file.write(b"- e4 typed by hand\n")
    assert server.call("memory_edit", path=brain.memory, old="e1", new="e1b")["outcome"] == "written"
    assert brain.text() == "## Memory (2026-11-30)\n\n- e1b\n- e2\n- e3\n- e4 typed by hand\n"
    assert "- e4 typed by hand\n" in server.call("memory_read", path=brain.memory)["content"]


@pytest.mark.rule("WRITE-01", "TOOL-O1")
def test_o_02_a_worker_sees_a_hand_edit_too(brain: CaseBrain) -> None:
    """The long-lived worker, which remembers what it wrote, starts from what is on disk all the same."""
    brain.name(brain.day, brain.memory)
    server = brain.session()
    assert server.ask({"worker": True}) == {"worker": True}
    for entry in ("e1", "e2", "e3"):
        assert server.call("memory_write", content=entry, priority=True)["outcome"] == "written"
    with brain.place().open("ab") as file:
        file.write(b"- e4 typed by hand\n")
    assert server.call("memory_edit", path=brain.memory, old="e1", new="e1b")["outcome"] == "written"
    assert server.call("memory_write", content="E4  typed by hand", priority=True)["outcome"] == "duplicate"
    assert brain.text() == "## Memory (2026-11-30)\n\n- e1b\n- e2\n- e3\n- e4 typed by hand\n"


@pytest.mark.rule("WRITE-05", "WRITE-O5")
def test_o_08d_a_replacement_is_killed(make_brain: MakeBrain) -> None:
    """However often a replacing process is killed, exactly one of the two texts is there after each round."""
    texts = ["# Ops\n\n- prefers tea\n", "# Ops\n\n- prefers coffee\n"]
    brain = make_brain(files={MEMORY: texts[0]})
    brain.name(brain.memory)
    nursery = brain.session()
    for number in range(20):
        old, new = ("tea", "coffee") if "tea" in brain.text() else ("coffee", "tea")
        request = {"path": brain.memory, "old": f"prefers {old}", "new": f"prefers {new}"}
        answer = nursery.killed_call(number * 23 % 51 / 1000, "memory_edit", **request)
        assert brain.text() in texts
        if answer is not None:
            # Refused means that the call before it, which was killed, has landed meanwhile: it wanted the same.
            assert answer["outcome"] in {"written", "refused"}
            assert f"prefers {new}" in brain.text()
    settle(nursery, brain)


@pytest.mark.rule("WRITE-05", "WRITE-O3", "WRITE-O5")
def test_o_09_an_append_is_killed(make_brain: MakeBrain) -> None:
    """A killed append loses nothing that was confirmed, shortens nothing, tears nothing and blocks nobody."""
    log = "# 2026-11-30\n\n" + "".join(f"- 08:{n % 60:02d} entry {n:03d} {'of the morning ' * 4}\n" for n in range(600))
    brain = make_brain(files={DAY: log})
    brain.name(brain.day)
    nursery = brain.session()
    confirmed: list[str] = []
    size = len(log)
    for number in range(120):
        tag = f"k-{number:03d}"
        answer = nursery.killed_call(number * 37 % 81 / 1000, "memory_write", content=tag)
        if answer is not None:
            assert answer["outcome"] == "written"
            confirmed.append(tag)
        text = brain.text(brain.day)
        assert text.startswith(log)
        assert len(text) >= size
        size = len(text)
        assert "\0" not in text
        assert all(line.removeprefix("- 09:00 k-").isdecimal() for line in text[len(log) :].splitlines())
        assert set(confirmed) <= set(tags(brain, "k-"))
    settle(nursery, brain)
    found = tags(brain, "k-")
    assert len(found) == len(set(found))
    assert 0 < len(confirmed) < 120


def settle(nursery: Session, brain: CaseBrain) -> None:
    """Write once more: a dead process's lock blocks nobody, and what it left behind goes."""
    answer = nursery.call("memory_write", content="the next one works")
    assert answer["outcome"] == "written"
    assert "- 09:00 the next one works\n" in brain.text(brain.day)
    brain.name(brain.day)
