"""The check of the layout: what stands below `memory/` where nothing reads it, and days that contradict their place."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Status, fail, info, warn
from omnislash.store.state import State
from tests.unit.doctor.conftest import TODAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

MOVE = "Start `omnislash worker` once, or write anything: that moves it there."


def findings(examine: Examine, files: Mapping[str, str | bytes]) -> tuple[Finding, ...]:
    """Return what the check finds in a brain with these files."""
    return examine(files, "brain-layout")["brain-layout"].findings


def notes(*paths: str) -> dict[str, str | bytes]:
    """Return files with a little text."""
    return dict.fromkeys(paths, "- text\n")


@pytest.mark.rule("LINE-05", "PERIOD-04", "PERIOD-08")
def test_a_sound_brain_passes(examine: Examine) -> None:
    """Every kind of file at its place is fine, a folder named conflicts and any text in a log too."""
    files: dict[str, str | bytes] = {
        "memory/main/MEMORY.md": "# Main\n",
        "memory/main/plan/2027.md": "- plan\n",
        "memory/main/conflicts/how we settle them.md": "- talk\n",
        "memory/main/kept/2026-11-30-20261130T090000Z-ab12.md": "- a copy that somebody keeps\n",
        "memory/main/2026/12/2026-12-01.md": "# 2026-12-01\n\n- 09:00 today\n",
        "memory/main/2026/11/2026-11-30.md": "# Monday\n\n# 2026-11-29\n",
        "memory/main/2026/11/2026-11-29.md": "",
        "memory/main/2026/2026-W48.md": "# Week\n",
        "memory/main/2026/2026-11.md": "# November\n",
        "memory/main/2026/2026-Q3.md": "# Q3\n",
        "memory/main/2025/2025.md": "# 2025\n",
        "memory/.memory-index.db": b"\0",
        "memory/knowledge/x.md": "- x\n",
    }

    assert findings(examine, files) == ()


def test_no_memory_yet(examine: Examine) -> None:
    """A brain without memory/ is a new one."""
    result = examine({}, "brain-layout")["brain-layout"]

    assert result.findings == (info("There is no memory/ yet; the first write makes it."),)
    assert result.status is Status.PASS


def test_memory_is_a_file(examine: Examine) -> None:
    """Nothing can be written below a file."""
    assert findings(examine, {"memory": "text"}) == (
        fail(
            "memory is no directory, so nothing can be written or read.",
            path="memory",
            hint="Move it away; the first write makes the directory.",
        ),
    )


def test_memory_is_a_link(examine: Examine, brain_root: Path, tmp_path: Path) -> None:
    """Git keeps the link only."""
    (tmp_path / "elsewhere").mkdir()
    (brain_root / "memory").symlink_to(tmp_path / "elsewhere")

    assert findings(examine, {}) == (
        warn(
            "memory is a link: git keeps the link and not what it leads to, and doctor doesn't follow it.",
            path="memory",
            hint="Move the directory to where the link is.",
        ),
    )


@pytest.mark.rule("MIGRATE-01", "MIGRATE-02", "MIGRATE-06")
def test_a_brain_older_than_lines(examine: Examine) -> None:
    """MEMORY.md, loose notes and years at the root are named, a year once, and what moves them."""
    files = notes("memory/MEMORY.md", "memory/ideas.md", "memory/2026/11/2026-11-30.md", "memory/2026/11/2026-11-29.md")

    assert findings(examine, {**files, "memory/knowledge/x.md": "- x\n"}) == tuple(
        warn(
            f"memory/{name} is older than lines, so nothing reads it; it belongs in memory/main/{name}.",
            path=f"memory/{name}",
            hint=MOVE,
        )
        for name in ("2026", "MEMORY.md", "ideas.md")
    )


@pytest.mark.rule("MIGRATE-O1")
def test_what_can_not_move_is_named_by_itself(examine: Examine) -> None:
    """Where both places hold a file, no migration helps."""
    files = notes(
        "memory/MEMORY.md", "memory/main/MEMORY.md", "memory/2026/2026-W40.md", "memory/main/2026/2026-W40.md"
    )
    found = {each.path: each for each in findings(examine, files)}

    assert found == {path: taken(path, is_same=True) for path in ("memory/MEMORY.md", "memory/2026/2026-W40.md")}


def taken(path: str, *, is_same: bool) -> Finding:
    """Return the warning about a file whose place in the line is taken."""
    place = path.replace("memory/", "memory/main/")
    if is_same:
        message = f"{path} stays where it is: {place} is there already and holds the same, so this copy can be deleted."
        return warn(message, path=path, hint=f"Delete {path}.")
    message = f"{path} stays where it is: {place} is there already and holds something else, so bring the two together by hand."
    return warn(message, path=path, hint=f"Bring the two together in {place}, and delete {path}.")


@pytest.mark.rule("MIGRATE-O1")
@pytest.mark.parametrize("name", ["MEMORY.md", "plan.md", "a.md", "2026/11/2026-11-30.md"])
@pytest.mark.parametrize("text", ["- other\n", "- texT\n", ""])
def test_what_differs_from_what_is_there_is_for_a_person(examine: Examine, name: str, text: str) -> None:
    """The two files are compared byte by byte, whichever is read first, and an empty one too."""
    files = {f"memory/{name}": "- text\n", f"memory/main/{name}": text}

    assert findings(examine, files) == (taken(f"memory/{name}", is_same=False),)


def test_a_year_of_which_something_can_move(examine: Examine) -> None:
    """What moves is named with what moves it; what is in the way of a directory is named too."""
    files = notes("memory/2026/11/2026-11-30.md", "memory/2026/11/2026-11-29.md", "memory/main/2026/11/2026-11-30.md")
    files |= notes("memory/2025/12/2025-12-31.md", "memory/main/2025/12")

    assert findings(examine, files) == (
        fail(
            "memory/main/2025/12 is no directory, so no logs and summaries of that place can be written.",
            path="memory/main/2025/12",
            hint="Move it away; the next write makes the directory.",
        ),
        taken("memory/2025/12", is_same=False),
        old("2026"),
        taken("memory/2026/11/2026-11-30.md", is_same=True),
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("con.md", "no tool could name it in a line ('con.md' is the name of a device on some systems); rename it"),
        (
            "memory.md",
            "no tool could name it in a line (only the curated file itself is named MEMORY.md, spelled like this); rename it",
        ),
    ],
)
def test_a_loose_file_that_no_line_can_hold(examine: Examine, name: str, reason: str) -> None:
    """No write moves it, so nobody is told that one will."""
    (finding,) = findings(examine, notes(f"memory/{name}"))

    assert finding.message == f"memory/{name} stays where it is: {reason}."
    assert finding.hint == "Rename it; `omnislash worker`, or any write, then moves it."


def test_what_is_named_like_a_year_and_is_none(examine: Examine, brain_root: Path) -> None:
    """A file is no year, and a link is told as one."""
    (brain_root / "memory").mkdir()
    (brain_root / "memory/2024").symlink_to("nowhere")

    assert [(each.severity, each.path) for each in findings(examine, notes("memory/2023"))] == [
        ("warn", "memory/2024"),
        ("info", "memory/2023"),
    ]


def test_nothing_moves_where_the_first_line_is_a_file(examine: Examine) -> None:
    """That comes first."""
    assert findings(examine, notes("memory/main", "memory/MEMORY.md")) == (
        fail(
            "memory/main is no directory, so nothing can be written into the line 'main'.",
            path="memory/main",
            hint="Move it away; the next write makes the directory.",
        ),
        old("MEMORY.md", "Make memory/main a directory first; then `omnislash worker`, or any write, moves it there."),
    )


def old(name: str, hint: str = MOVE) -> Finding:
    """Return the warning about an entry of a brain older than lines that will move."""
    message = f"memory/{name} is older than lines, so nothing reads it; it belongs in memory/main/{name}."
    return warn(message, path=f"memory/{name}", hint=hint)


@pytest.mark.rule("MIGRATE-02")
@pytest.mark.parametrize(
    "paths",
    [
        ("MEMORY.md", "main/MEMORY.md", "a.md"),
        ("2026/11/2026-11-30.md", "2026/2026-11.md", "main/2026/2026-11.md", "2025/2025.md"),
        ("con.md", "memory.md", "2023", "list.txt", "knowledge/x.md"),
        ("2026/11/2026-11-30.md", "main/2026/11"),
    ],
)
def test_a_write_moves_exactly_what_it_is_said_to_move(
    examine: Examine, brain_root: Path, paths: Sequence[str]
) -> None:
    """The real write moves whatever the hint says that it moves, and what is named as staying is named again."""
    files = {"features/nova.agent.md": "---\nmemory: {}\ncapabilities: [memory:write]\n---\nA role.\n"}
    files["omnislash.yaml"] = "memory:\n  embeddingModel: none\n"
    before = findings(examine, {**files, **notes(*(f"memory/{path}" for path in paths))})
    write = ["memory", "write", "--role", "nova", "A fact."]
    subprocess.run(
        [sys.executable, "-m", "omnislash", "--brain", brain_root, *write],
        check=True,
        capture_output=True,
        env={**os.environ, "OMNISLASH_NOW": TODAY.isoformat()},  # the day on which doctor looks
    )

    told = [each.path for each in before if each.hint == MOVE]
    after = findings(examine, files)
    assert not [each for each in after if each.hint == MOVE]
    assert [each for each in before if each.path not in told] == list(after)


@pytest.mark.parametrize("command", ["omnislash worker", "omnislash sync run"])
def test_temporary_files_that_a_change_knows(examine: Examine, brain_root: Path, command: str) -> None:
    """Only what an unfinished change names is cleared up by itself, and by whom is said."""
    (brain_root / ".omnislash").mkdir()
    with closing(State(brain_root / ".omnislash/state.db")) as state, state.transaction():
        batch = "sync:1" if "sync" in command else "job"
        row = {"path": "main/topics/a.md", "temp": ".omnislash-01", "hash_before": "absent", "hash_after": "0"}
        state.run("insert_change", batch=batch, **row)
    for name in (".omnislash-01.tmp", ".omnislash-01.new"):
        examine({f"memory/main/topics/{name}": "x"})
        os.utime(brain_root / f"memory/main/topics/{name}", (1_000_000_000, 1_000_000_000))

    assert [each.hint for each in findings(examine, {})] == [
        f"Start `{command}` once, which puts it in its place.",
        f"Start `{command}` once, which removes it.",
    ]


# -- what keeps things from being written (O-03) ----------------------------------------------------------------------

ROLE = {"features/nova.agent.md": "---\nmemory: {write: ops}\n---\nA role.\n"}
FOR_FILE = "Move it away; the next write makes the file."
FOR_DIRECTORY = "Move it away; the next write makes the directory."


@pytest.mark.parametrize(
    "place", ["MEMORY.md", "2026/11/2026-11-30.md", "2026/2026-W40.md", "2026/2026-Q3.md", "2025/2025.md"]
)
def test_a_directory_where_the_writer_keeps_a_file(examine: Examine, place: str) -> None:
    """Nothing can be written there, and the check fails."""
    path = f"memory/main/{place}"
    message = f"{path} is a directory, so nothing can be read from it or written to it."
    result = examine({f"{path}/": "", "memory/main/plans.md/": ""}, "brain-layout")["brain-layout"]

    assert result.findings == (fail(message, path=path, hint=FOR_FILE),)


def test_a_pipe_where_the_writer_keeps_a_file(examine: Examine, brain_root: Path) -> None:
    """It is told once."""
    (brain_root / "memory/main").mkdir(parents=True)
    os.mkfifo(brain_root / "memory/main/MEMORY.md")
    message = "memory/main/MEMORY.md is a socket, a pipe or a device, so nothing can be read from it or written to it."

    assert findings(examine, {}) == (fail(message, path="memory/main/MEMORY.md", hint=FOR_FILE),)


@pytest.mark.parametrize("line", ["main", "ops"])
def test_a_file_where_a_line_that_is_written_should_be(examine: Examine, line: str) -> None:
    """A line of nobody is none, so a file of that name is just no note."""
    message = f"memory/{line} is no directory, so nothing can be written into the line '{line}'."

    assert findings(examine, {**ROLE, **notes(f"memory/{line}", "memory/readme")}) == (
        fail(message, path=f"memory/{line}", hint=FOR_DIRECTORY),
        info("memory/readme is no note: only files that end in .md are read.", path="memory/readme"),
    )


@pytest.mark.parametrize(
    ("place", "what"),
    [("2026", "logs and summaries"), ("2026/11", "logs and summaries"), ("conflicts", "conflict copies")],
)
def test_a_file_where_the_writer_makes_a_directory(examine: Examine, place: str, what: str) -> None:
    """What would be written below it can't be."""
    path = f"memory/main/{place}"
    message = f"{path} is no directory, so no {what} of that place can be written."

    assert findings(examine, notes(path)) == (fail(message, path=path, hint=FOR_DIRECTORY),)


def test_conflict_copies_are_named(examine: Examine) -> None:
    """The copies that the writer keeps are for a person to look at."""
    path = "memory/ops/conflicts/2026-11-30-20261130T090000Z-ab12.md"

    assert findings(examine, notes(path)) == (
        warn(
            f"{path} holds what was saved at the same moment as another version of 2026-11-30.md.",
            path=path,
            hint="Take over what is missing in 2026-11-30.md, then delete the copy.",
        ),
    )


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            ".omnislash-0123456789abcdef.tmp",
            "was left by a write that was cut off, and holds nothing that was promised.",
            "No unfinished write knows it: delete it.",
        ),
        (
            ".omnislash-0123456789abcdef.new",
            "was left by a write that was cut off, and may be the only copy of what it holds.",
            "No unfinished write knows it: read it, take over what is missing in its file, then delete it.",
        ),
    ],
)
def test_temporary_files_of_a_crash(examine: Examine, brain_root: Path, name: str, message: str, hint: str) -> None:
    """An old one is named with what it may hold; one of this minute belongs to a write that is going on."""
    path = f"memory/main/{name}"

    assert findings(examine, {path: "- half"}) == ()
    os.utime(brain_root / path, (1_000_000_000, 1_000_000_000))
    assert findings(examine, {}) == (warn(f"{path} {message}", path=path, hint=hint),)


@pytest.mark.parametrize("name", ["memory.md", "Memory.md", "MEMORY.MD", "MEMORY.txt", "MEMORY.md.txt", "Memory"])
def test_names_almost_like_the_curated_file(examine: Examine, name: str) -> None:
    """Only MEMORY.md, spelled like this, is the curated file."""
    path = f"memory/ops/{name}"
    assert findings(examine, notes(path)) == (
        warn(
            f"{path} is not the curated file of its line, whose name is exactly MEMORY.md.",
            path=path,
            hint="Rename it to MEMORY.md, or give it a name of its own.",
        ),
    )


@pytest.mark.rule("LINE-05", "PERIOD-04")
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("2026/12/2026-11-30.md", "2026/11/2026-11-30.md"),
        ("2026/2026-11-30.md", "2026/11/2026-11-30.md"),
        ("2025/11/2026-11-30.md", "2026/11/2026-11-30.md"),
        ("2026/11/2026-W40.md", "2026/2026-W40.md"),
        ("2025/2026-Q1.md", "2026/2026-Q1.md"),
    ],
)
def test_files_in_the_wrong_directory_of_the_calendar(examine: Examine, path: str, place: str) -> None:
    """The place where each belongs is named."""
    assert findings(examine, notes(f"memory/main/{path}")) == (
        warn(
            f"memory/main/{path} is in the wrong directory, so nothing reads it.",
            path=f"memory/main/{path}",
            hint=f"Move it to memory/main/{place}.",
        ),
    )


@pytest.mark.rule("LINE-05")
@pytest.mark.parametrize("path", ["2026/notes.md", "2026/11/2026-11-31.md", "2026/2026-W54.md", "2026/MEMORY.md"])
def test_files_below_a_year_that_are_none_of_the_calendar(examine: Examine, path: str) -> None:
    """Days that do not exist and notes below a year are read by nothing."""
    message = (
        f"memory/main/{path} stands below a year and is no day, week, month, quarter or year, so nothing reads it."
    )
    hint = "Correct its name, or move it out of the directory of the year."

    assert findings(examine, notes(f"memory/main/{path}")) == (warn(message, path=f"memory/main/{path}", hint=hint),)


def test_a_day_at_the_top_of_a_line_is_a_document(examine: Examine) -> None:
    """It is read, but not as a log, which may be meant."""
    place = "memory/main/2026/11/2026-11-30.md"

    assert findings(examine, notes("memory/main/2026-11-30.md")) == (
        info(
            f"memory/main/2026-11-30.md is named like a day and is a document; the log of that day is {place}.",
            path="memory/main/2026-11-30.md",
            hint=f"Move it to {place} if it is that log.",
        ),
    )


@pytest.mark.parametrize(("text", "line"), [("# 2026-11-29\n\n- x\n", 1), ("\ufeff\r\n\r\n# 2026-11-29\r\n- x\r\n", 3)])
def test_a_log_with_another_day_in_its_heading(examine: Examine, text: str, line: int) -> None:
    """The place decides, and a person would believe the heading."""
    path = "memory/main/2026/11/2026-11-30.md"
    message = f"{path} says 2026-11-29 in its heading; its place decides, so its entries count for the other day."

    assert findings(examine, {path: text}) == (
        warn(message, path=path, line=line, hint="Correct the heading, or move the entries."),
    )


@pytest.mark.rule("LINE-O3")
@pytest.mark.parametrize(("zone", "is_future"), [("UTC", True), ("Asia/Tokyo", False)])
def test_a_log_of_a_day_to_come(examine: Examine, zone: str, is_future: bool) -> None:
    """Today is the day in the brain's time zone."""
    path = "memory/main/2026/12/2026-12-02.md"
    files = {path: "# 2026-12-02\n\n- x\n", "constitution/MANIFEST.yaml": f"locale: {{timezone: {zone}}}\n"}
    late = datetime(2026, 12, 1, 20, 0, tzinfo=UTC)
    found = examine(files, "brain-layout", now=late)["brain-layout"].findings
    message = f"{path} is the log of a day to come (today is 2026-12-01), so no turn carries it before."
    hint = "Move its entries to the right day, or correct the clock or locale.timezone."

    assert found == ((warn(message, path=path, hint=hint),) if is_future else ())


@pytest.mark.rule("PERIOD-08", "PERIOD-19", "PERIOD-20")
@pytest.mark.parametrize(
    ("name", "last"),
    [("2026-W49", "2026-12-06"), ("2026-12", "2026-12-31"), ("2026-Q4", "2026-12-31"), ("2026", "2026-12-31")],
)
def test_a_summary_of_a_period_that_is_not_over(examine: Examine, name: str, last: str) -> None:
    """It is the record from then on, so the rest of the period would be missing."""
    path = f"memory/main/2026/{name}.md"
    message = f"{path} sums up a period that is not over before the end of {last}; it is never written anew, so the rest would be missing."
    hint = "Delete it; the summary is written when the period is over."

    assert findings(examine, notes(path)) == (warn(message, path=path, hint=hint),)


def test_links_and_sockets(examine: Examine, brain_root: Path, tmp_path: Path) -> None:
    """Neither is a note, and a link is not followed."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/memory.md").write_text("canary", encoding="utf-8")
    line = brain_root / "memory/main"
    line.mkdir(parents=True)
    (line / "away").symlink_to(tmp_path / "outside")
    (line / "x.md").symlink_to(tmp_path / "outside/memory.md")
    os.mkfifo(line / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(line, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)

    def link(name: str) -> Finding:
        message = f"memory/main/{name} is a link, and neither search nor the listing of a line follows one."
        return warn(message, path=f"memory/main/{name}", hint="Replace it by the file or directory itself.")

    def other(name: str) -> Finding:
        message = f"memory/main/{name} is a socket, a pipe or a device, and no file."
        return warn(message, path=f"memory/main/{name}", hint="Delete it.")

    assert findings(examine, {}) == (link("away"), other("pipe.md"), other("socket"), link("x.md"))


@pytest.mark.rule("SOURCE-O8")
def test_files_that_are_no_notes(examine: Examine) -> None:
    """They are told and harm nothing; hidden ones belong to other programs."""
    files = notes("memory/main/photo.png", "memory/list.txt", "memory/main/.DS_Store", "memory/.gitkeep")

    assert findings(examine, files) == tuple(
        info(f"{path} is no note: only files that end in .md are read.", path=path)
        for path in ("memory/list.txt", "memory/main/photo.png")
    )


def test_broken_in_several_ways_in_a_brain_that_does_not_load(examine: Examine) -> None:
    """Everything is told, in the order of the kinds; a name of odd bytes stops nothing."""
    files: dict[str, str | bytes] = {
        **notes("memory/MEMORY.md", "memory/ops/memory.md", "memory/ops/2026/x.md", "memory/ops/caf\udce9.md"),
        "memory/ops/2026/11/2026-11-30.md": "# 2026-11-03\n",
        "omnislash.yaml": "a: [\n",
        "constitution/MANIFEST.yaml": "locale: {timezone: Mars/Base}\n",
    }

    assert [(each.severity.value, each.path) for each in findings(examine, files)] == [
        ("warn", "memory/MEMORY.md"),
        ("warn", "memory/ops/memory.md"),
        ("warn", "memory/ops/2026/x.md"),
        ("warn", "memory/ops/2026/11/2026-11-30.md"),
    ]


def test_a_long_list_is_cut(examine: Examine) -> None:
    """Twenty of a kind are told, the rest counted."""
    found = findings(examine, notes(*(f"memory/main/{n:02}.png" for n in range(30))))

    assert len(found) == 21
    assert found[-1] == info("10 more files that are no notes.")
