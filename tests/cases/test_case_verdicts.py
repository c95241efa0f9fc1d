"""Failure cases: a verdict can be checked, and agrees with the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import Outcome, StorageError

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain


@pytest.mark.rule("WRITE-03", "WRITE-O1")
def test_o_03_a_log_that_cannot_be_made(make_brain: MakeBrain) -> None:
    """A write whose day log can't be made fails, names the path, and leaves what is in the way alone."""
    brain = make_brain(files={"memory/ops/2026": "stop"})
    verdict = brain.put("till float is 150")
    assert (verdict.outcome, verdict.paths) == (Outcome.FAILED, ())
    assert "memory/ops/2026" in verdict.message
    assert "Nothing was written" in verdict.message
    brain.close()
    assert brain.find_everywhere("till float is 150") == []


@pytest.mark.rule("WRITE-O1")
def test_o_03_the_command_fails(make_brain: MakeBrain) -> None:
    """On the command line the same write ends with exit status 1 and a reason that names the path."""
    brain = make_brain(files={"memory/ops/2026": "stop"})
    done = brain.command("memory", "write", "--role", "ops", "till float is 150")
    assert done.code == 1
    assert done.answer["outcome"] == "failed"
    assert "memory/ops/2026" in done.answer["message"]


@pytest.mark.rule("WRITE-10")
def test_o_03_the_command_can_not_read(brain: CaseBrain) -> None:
    """On the command line a durable memory that can't be read is an error with exit status 1, not an empty one."""
    brain.place().mkdir(parents=True)
    done = brain.command("memory", "read", "--role", "ops", brain.memory)
    assert done.code == 1
    assert "can't be read" in done.answer["error"]["message"]
    brain.place().rmdir()


@pytest.mark.rule("WRITE-03", "WRITE-12", "WRITE-O1")
def test_o_03_a_durable_memory_that_is_a_directory(brain: CaseBrain) -> None:
    """With a directory in the place of MEMORY.md a durable write fails as a whole, its daily half too."""
    brain.place().mkdir(parents=True)
    verdict = brain.core("till float is 150")
    assert (verdict.outcome, verdict.paths) == (Outcome.FAILED, ())
    assert "memory/ops/MEMORY.md" in verdict.message
    brain.place().rmdir()


@pytest.mark.rule("WRITE-10")
def test_o_03_reading_what_cannot_be_read(brain: CaseBrain) -> None:
    """A memory that can't be read says so; it is not the same as one that does not exist yet."""
    brain.place().mkdir(parents=True)
    for look in (lambda: brain.agent().memory.read(brain.memory), brain.agent().memory.overview):
        with pytest.raises(StorageError, match=r"ops/MEMORY\.md can't be read") as refused:
            look()
        assert "no file" not in refused.value.message
    brain.place().rmdir()


def refused_nowhere(brain: CaseBrain) -> list[str]:
    """Return every file under the brain that holds one of the refused texts."""
    needles = [f"{word}-{number}" for word in ("overlong", "impossible") for number in range(3)]
    return [place for needle in needles for place in brain.find_everywhere(needle)]


@pytest.mark.rule("WRITE-03", "WRITE-O1", "WRITE-O7")
def test_o_04_receipts_can_be_checked(make_brain: MakeBrain) -> None:
    """Of 50 writes every accepted one reads back where its verdict says, and every refused one is nowhere at all."""
    brain = make_brain(budget=600, files={"memory/ops/MEMORY.md": "# Ops\n\n- short\n"})
    accepted = [brain.put(f"receipt-{number:02d} of the day") for number in range(40)]
    assert {verdict.outcome for verdict in accepted} == {Outcome.WRITTEN}
    assert {verdict.paths for verdict in accepted} == {(brain.day,)}
    empty = [brain.put(text) for text in ("", " ", "\n\n", " \t\u3000")]
    over = [brain.swap("short", f"overlong-{number} {'x' * 600}") for number in range(3)]
    dates = ["ops/2026/11/2026-11-31.md", "ops/2026/02/2026-02-29.md", "ops/2026/13/2026-13-01.md"]
    impossible = [brain.write_file(path, f"impossible-{number}") for number, path in enumerate(dates)]
    refused = [*empty, *over, *impossible]
    assert {verdict.outcome for verdict in refused} == {Outcome.REFUSED}
    assert {verdict.paths for verdict in refused} == {()}
    brain.commit()
    brain.close()
    assert refused_nowhere(brain) == []
    assert [len(brain.find_everywhere(f"receipt-{number:02d} of")) > 0 for number in range(40)] == [True] * 40


@pytest.mark.rule("WRITE-O1")
def test_o_04_a_refused_text_is_nowhere_at_once(make_brain: MakeBrain) -> None:
    """A text that was refused is in no file of the brain, also while the process that asked goes on."""
    brain = make_brain(budget=600, files={"memory/ops/MEMORY.md": "# Ops\n\n- short\n"})
    assert brain.swap("short", f"overlong-0 {'x' * 600}").outcome is Outcome.REFUSED
    assert refused_nowhere(brain) == []


@pytest.mark.rule("WRITE-11", "WRITE-O7")
def test_o_04_every_attempt_has_its_row(brain: CaseBrain) -> None:
    """Accepted or refused, each attempt is one row of the action log, with its outcome and without its text."""
    brain.put("first")
    brain.put("first")
    brain.put(" ")
    rows = [row.to_json() for row in brain.brain.audit().rows]
    assert [(row["tool"], row["outcome"], row["chars"]) for row in rows] == [
        ("memory_write", "refused", 1),
        ("memory_write", "duplicate", 5),
        ("memory_write", "written", 5),
    ]
    assert "first" not in str(rows)
