"""What a write answers: each outcome, the files it leaves, and the sentence that goes with it."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.verdicts import Outcome
from omnislash.store.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


# -- written ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-03", "WRITE-09", "WRITE-12", "LINE-04", "LINE-05", "LINE-01", "TOOL-02")
def test_write_lands_in_todays_log(sample: SampleBrain) -> None:
    """The first write makes the line and its log; the answer names the file and nothing else is made."""
    answer = sample.agent().call("memory_write", {"content": "We ship on Fridays."}).to_json()

    assert {key: answer[key] for key in ("outcome", "paths")} == {"outcome": "written", "paths": [TODAY]}
    assert TODAY in answer["message"]
    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 09:05 We ship on Fridays.\n"}


@pytest.mark.rule("WRITE-15")
def test_what_adds_something_lands_word_for_word(sample: SampleBrain) -> None:
    """An entry that repeats a part of another one and adds to it lands whole."""
    nova = sample.agent()
    nova.memory.write("We ship on Fridays.")

    assert nova.memory.write("We ship on Fridays. From May on Thursdays too.").outcome is Outcome.WRITTEN
    assert nova.memory.write("Fridays.").outcome is Outcome.WRITTEN
    assert sample.text(TODAY).splitlines()[2:] == [
        "- 09:05 We ship on Fridays.",
        "- 09:05 We ship on Fridays. From May on Thursdays too.",
        "- 09:05 Fridays.",
    ]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("one\n\ntwo", id="blank line"),
        pytest.param("- a\n- b", id="a list"),
        pytest.param("## Memory (2026-08-01)\n\n- x", id="a dated header"),
        pytest.param("```\nleft open", id="an open fence"),
        pytest.param("<!-- left open", id="an open comment"),
        pytest.param("</agent-memory>", id="a closing tag"),
        pytest.param("Решили: релиз 12-го 👍", id="other scripts"),
        pytest.param("09:00 opens", id="begins like a time"),
    ],
)
@pytest.mark.rule("WRITE-15")
def test_hostile_content_stays_one_entry(sample: SampleBrain, content: str) -> None:
    """Whatever an entry holds, the next one is an entry of its own and the first can be deleted by its text."""
    sample.open_gate()
    nova = sample.agent()
    assert nova.memory.write(content, priority=True).outcome is Outcome.WRITTEN
    assert nova.memory.write("after it", priority=True).outcome is Outcome.WRITTEN

    for path in (TODAY, "main/MEMORY.md"):
        assert nova.memory.delete(path, entry=content).outcome is Outcome.WRITTEN
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 after it\n"
    assert sample.text("main/MEMORY.md") == "## Memory (2026-08-30)\n\n- after it\n"


# -- duplicate -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-14", "WRITE-O1", "WRITE-O6")
@pytest.mark.parametrize("again", ["We ship on Fridays.", "  we SHIP\n on   fridays. "])
def test_same_content_is_a_duplicate(sample: SampleBrain, again: str) -> None:
    """What stands in today's log already, case and white space aside, writes nothing and says where it stands."""
    nova = sample.agent()
    nova.memory.write("We ship on Fridays.")
    before = sample.files()

    verdict = nova.memory.write(again)

    assert (verdict.outcome, verdict.paths) == (Outcome.DUPLICATE, (TODAY,))
    assert sample.files() == before


@pytest.mark.rule("WRITE-O6")
def test_duplicate_of_a_curated_line(sample: SampleBrain) -> None:
    """What MEMORY.md says already is a duplicate too; another line's file does not count."""
    sample.put_memory("main/MEMORY.md", "# Rules\n\n- We ship on Fridays.\n")
    sample.put_memory("ops/MEMORY.md", "- The key hangs left.\n")
    nova = sample.agent()

    verdict = nova.memory.write("We ship on Fridays.")

    assert (verdict.outcome, verdict.paths) == (Outcome.DUPLICATE, ("main/MEMORY.md",))
    assert nova.memory.write("The key hangs left.").outcome is Outcome.WRITTEN


@pytest.mark.rule("WRITE-O6")
def test_yesterdays_entry_is_no_duplicate(sample: SampleBrain) -> None:
    """Only today's log counts: what happens again tomorrow is written again."""
    sample.put_memory("main/2026/08/2026-08-29.md", "# 2026-08-29\n\n- 09:05 The backup failed.\n")

    assert sample.agent().memory.write("The backup failed.").outcome is Outcome.WRITTEN


# -- partial ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-13", "WRITE-O1", "BUDGET-09", "BUDGET-11")
def test_over_budget_priority_is_partial(sample: SampleBrain) -> None:
    """The daily half lands, MEMORY.md stays, and the answer says both, with the numbers."""
    sample.manifest("{fileMaxChars: 100}")
    sample.put_memory("main/MEMORY.md", "x" * 90 + "\n")

    verdict = sample.agent().memory.write("We ship on Fridays.", priority=True)

    assert (verdict.outcome, verdict.paths) == (Outcome.PARTIAL, (TODAY,))
    # 91 there, an empty line, the header of 22 with its own empty line, the entry of 22.
    assert TODAY in verdict.message
    assert "138" in verdict.message
    assert "100" in verdict.message
    assert sample.files() == {
        "main/MEMORY.md": b"x" * 90 + b"\n",
        TODAY: b"# 2026-08-30\n\n- 09:05 We ship on Fridays.\n",
    }


@pytest.mark.rule("WRITE-13", "WRITE-O1")
def test_over_budget_again_is_refused(sample: SampleBrain) -> None:
    """When the daily half stands there already, a second refusal by the budget writes nothing at all."""
    sample.manifest("{fileMaxChars: 100}")
    sample.put_memory("main/MEMORY.md", "x" * 90 + "\n")
    nova = sample.agent()
    nova.memory.write("We ship on Fridays.", priority=True)
    before = sample.files()

    assert nova.memory.write("We ship on Fridays.", priority=True).outcome is Outcome.REFUSED
    assert sample.files() == before


# -- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-O1", "WRITE-O2", "WRITE-O7")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        pytest.param("memory_write", {"content": ""}, id="nothing"),
        pytest.param("memory_write", {"content": " \n\t "}, id="white space"),
        pytest.param("memory_write", {"content": "a\x00b"}, id="NUL"),
        pytest.param("memory_write", {"content": "half \ud83d of it"}, id="half a pair"),
        pytest.param("memory_write", {"content": "x" * 10_000_000}, id="ten megabytes"),
        pytest.param("memory_write_file", {"path": "main/a.md", "content": "a\x00b"}, id="file with NUL"),
        pytest.param("memory_write_file", {"path": "main/a.md", "content": "x" * 10_000_000}, id="huge file"),
        pytest.param("memory_write_file", {"path": "main/a.md", "content": " "}, id="empty file"),
        pytest.param("memory_write_file", {"path": "../a.md", "content": "x"}, id="climbing path"),
        pytest.param("memory_write_file", {"path": "main/../../a.md", "content": "x"}, id="climbing later"),
        pytest.param("memory_write_file", {"path": "/etc/a.md", "content": "x"}, id="absolute path"),
        pytest.param("memory_write_file", {"path": "main\\a.md", "content": "x"}, id="backslash"),
        pytest.param("memory_write_file", {"path": "main/a.txt", "content": "x"}, id="no markdown"),
        pytest.param("memory_write_file", {"path": "main/.hidden.md", "content": "x"}, id="hidden"),
        pytest.param("memory_write_file", {"path": "main/2026/02/2026-02-30.md", "content": "x"}, id="no such day"),
        pytest.param("memory_write_file", {"path": "main/a\x00.md", "content": "x"}, id="NUL in the path"),
        pytest.param("memory_write_file", {"path": "main/\ud83d.md", "content": "x"}, id="half a pair in the path"),
        pytest.param("memory_write_file", {"path": "ops/a.md", "content": "x"}, id="other line"),
        pytest.param("memory_edit", {"path": "ops/MEMORY.md", "old": "a", "new": "b"}, id="edit in another line"),
        pytest.param("memory_edit", {"path": "main/MEMORY.md", "old": "rules", "new": "\ud83d"}, id="edit to a half"),
        pytest.param("memory_edit", {"path": "main/MEMORY.md", "old": "", "new": "b"}, id="edit of nothing"),
        pytest.param("memory_edit", {"path": "main/MEMORY.md", "old": "rules", "new": " "}, id="edit to nothing"),
        pytest.param("memory_edit", {"path": "main/MEMORY.md", "old": "absent", "new": "b"}, id="text not there"),
        pytest.param("memory_edit", {"path": "main/none.md", "old": "a", "new": "b"}, id="file not there"),
        pytest.param("memory_move", {"from": "main/MEMORY.md", "to": "ops/x.md"}, id="move out of the line"),
        pytest.param("memory_move", {"from": "main/MEMORY.md", "to": "main/../x.md"}, id="move out of memory"),
        pytest.param("memory_move", {"from": "main/none.md", "to": "main/x.md"}, id="move of nothing"),
        pytest.param("memory_delete", {"path": "ops/MEMORY.md"}, id="delete in another line"),
        pytest.param("memory_delete", {"path": "main/none.md"}, id="delete of nothing"),
        pytest.param("memory_delete", {"path": "main/MEMORY.md", "entry": "a", "section": "b"}, id="two targets"),
    ],
)
def test_refused_changes_nothing(sample: SampleBrain, tool: str, arguments: dict[str, Any]) -> None:
    """A refusal is a value in the usual shape, leaves every byte as it was, and stands in the action log."""
    sample.put_memory("main/MEMORY.md", "rules\n")
    sample.put_memory("ops/MEMORY.md", "a\n")
    before = sample.files()
    brain = sample.open()

    answer = brain.agent("nova").call(tool, arguments).to_json()

    assert (answer["outcome"], answer["paths"]) == ("refused", [])
    assert answer["message"].endswith(".")
    assert sample.files() == before
    assert [(row.tool, row.outcome) for row in brain.audit().rows] == [(tool, "refused")]
    json.dumps(answer, ensure_ascii=False).encode()


def test_refusal_does_not_repeat_a_megabyte(sample: SampleBrain) -> None:
    """A refusal stays a sentence, however large what was offered is."""
    path = "main/" + "x" * 1_000_000 + ".md"

    verdict = sample.agent().memory.write_file(path, "x")

    assert verdict.outcome is Outcome.REFUSED
    assert len(verdict.message) < 1000


def test_largest_content_is_stored(sample: SampleBrain) -> None:
    """A million UTF-16 units are stored whole, and one more is refused."""
    nova = sample.agent()

    assert nova.memory.write("👍" * 500_000).outcome is Outcome.WRITTEN
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 " + "👍" * 500_000 + "\n"
    assert nova.memory.write("👍" * 500_000 + "a").outcome is Outcome.REFUSED


# -- failed ----------------------------------------------------------------------------------------------------------


def _directory_in_the_way(sample: SampleBrain) -> None:
    (sample.root / "memory" / TODAY).mkdir(parents=True)


def _file_in_the_way(sample: SampleBrain) -> None:
    sample.put_memory("main/2026", "x")


def _read_only(sample: SampleBrain) -> None:
    os.chmod(sample.put_memory(TODAY, "# 2026-08-30\n"), 0o444)  # noqa: PTH101


def _pipe(sample: SampleBrain) -> None:
    place = sample.root / "memory" / TODAY
    place.parent.mkdir(parents=True)
    os.mkfifo(place)


@pytest.mark.rule("WRITE-03", "WRITE-O7")
@pytest.mark.parametrize(
    ("prepare", "cause"),
    [
        pytest.param(_directory_in_the_way, "there is a directory", id="directory in the way"),
        pytest.param(_file_in_the_way, "there is a file", id="file in the way"),
        pytest.param(_read_only, "permission denied", id="mode 0444"),
        pytest.param(_pipe, "not a regular file", id="a pipe"),
    ],
)
def test_disk_trouble_fails_with_path_and_cause(
    sample: SampleBrain, prepare: Callable[[SampleBrain], None], cause: str
) -> None:
    """The machine said no: the answer names path and cause, no byte is changed and no temporary file is left."""
    prepare(sample)
    before = sample.files()
    brain = sample.open()

    verdict = brain.agent("nova").memory.write("We ship on Fridays.")

    assert (verdict.outcome, verdict.paths) == (Outcome.FAILED, ())
    assert f"memory/{TODAY}" in verdict.message
    assert cause in verdict.message
    assert sample.files() == before
    assert [row.outcome for row in brain.audit().rows] == ["failed"]


class FullDisk(Disk):
    """Has room for the queue and for no file."""

    def write(self, descriptor: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.rule("WRITE-03")
def test_full_disk_fails_cleanly(sample: SampleBrain) -> None:
    """On a full disk a write fails with the cause, what was begun is removed, and the next write works."""
    sample.put_memory(TODAY, "# 2026-08-30\n")
    before = sample.files()

    verdict = sample.open(disk=FullDisk()).agent("nova").memory.write("We ship on Fridays.")

    assert verdict.outcome is Outcome.FAILED
    assert "the disk is full" in verdict.message
    assert sample.files() == before
    assert sample.open().agent("nova").memory.write("We ship on Fridays.").outcome is Outcome.WRITTEN


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_survive_a_write(sample: SampleBrain, mode: int) -> None:
    """A file keeps the permissions that a person gave it."""
    place = sample.put_memory(TODAY, "# 2026-08-30\n")
    place.chmod(mode)
    nova = sample.agent()
    nova.memory.write("We ship on Fridays.")
    nova.memory.edit(TODAY, old="Fridays", new="Mondays")

    assert place.stat().st_mode & 0o777 == mode


# -- queued ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-07", "WRITE-08", "WRITE-O1", "WRITE-O3", "WRITE-O8")
def test_queue_only_answers_queued_and_runs_later(sample: SampleBrain) -> None:
    """With nobody to write, the job is kept, the answer says so, and whoever writes next runs it once."""
    verdict = sample.open(queue_only=True).agent("nova").memory.write("We ship on Fridays.")

    assert (verdict.outcome, verdict.paths) == (Outcome.QUEUED, ())
    assert "not yet updated" in verdict.message
    assert sample.files() == {}

    brain = sample.open()
    assert brain.agent("nova").memory.write("And on Mondays.").outcome is Outcome.WRITTEN
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 We ship on Fridays.\n- 09:05 And on Mondays.\n"
    assert [row.outcome for row in brain.audit().rows] == ["written", "written"]


@pytest.mark.rule("WRITE-O8")
def test_embedded_call_needs_no_worker(sample: SampleBrain) -> None:
    """Without a worker a Brain writes by itself, and lets go of the lock: two of them can take turns."""
    first, second = sample.open(), sample.open()

    for number, brain in enumerate((first, second, first)):
        assert brain.agent("nova").memory.write(f"Number {number}.").outcome is Outcome.WRITTEN
    assert sample.text(TODAY).splitlines()[2:] == [f"- 09:05 Number {number}." for number in range(3)]


@pytest.mark.rule("WRITE-O3")
def test_queued_entry_keeps_its_own_day(sample: SampleBrain) -> None:
    """An entry that waited over midnight belongs to the day and time of the call."""
    sample.open(queue_only=True).agent("nova").memory.write("Late news.")
    sample.clock.at = sample.clock.at.replace(day=31, hour=1)
    sample.open().agent("nova").memory.write("Early news.")

    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 Late news.\n"
    assert sample.text("main/2026/08/2026-08-31.md") == "# 2026-08-31\n\n- 01:05 Early news.\n"


# -- every answer ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("WRITE-09", "WRITE-O2")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_write", {"content": "x"}),
        ("memory_edit", {"path": "main/a.md", "old": "rules", "new": "laws"}),
        ("memory_write_file", {"path": "main/b.md", "content": "x"}),
        ("memory_move", {"from": "main/a.md", "to": "main/c.md"}),
        ("memory_delete", {"path": "main/a.md"}),
    ],
)
def test_mutators_share_one_shape(sample: SampleBrain, tool: str, arguments: dict[str, Any]) -> None:
    """Each mutator answers an object with outcome, paths and message."""
    sample.open_gate()
    sample.put_memory("main/a.md", "rules\n")

    answer = sample.agent().call(tool, arguments).to_json()

    assert answer["outcome"] == "written"
    assert isinstance(answer["paths"], list)
    assert answer["message"].endswith(".")
    assert json.loads(json.dumps(answer)) == answer


def test_state_directory_is_private(sample: SampleBrain, tmp_path: Path) -> None:
    """The queue lies in a directory that git ignores and only its owner can read; reading alone makes none."""
    nova = sample.agent()
    nova.memory.list()
    assert not (sample.root / ".omnislash").exists()

    nova.memory.write("x")

    assert (sample.root / ".omnislash" / ".gitignore").read_text() == "*\n"
    assert (sample.root / ".omnislash").stat().st_mode & 0o077 == 0
