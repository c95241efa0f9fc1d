"""Failure cases: names that are almost the same, beyond ASCII, or on their way out of the brain."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash import InvalidNameError, OmnislashError, Outcome, ScopeError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases.conftest import CaseBrain, MakeBrain

LOOKALIKES = {name: f"The word is {number}.\n" for number, name in enumerate(
    ["notes/tide_notes.md", "notes/tide-notes.md", "notes/tide notes.md", "notes/Tide.Notes.md"]
)}  # fmt: skip


@pytest.mark.rule("SOURCE-16", "SOURCE-17", "SOURCE-O6")
def test_o_48_almost_the_same_file_name(make_brain: MakeBrain) -> None:
    """Four names that differ in one sign are four documents, and each path opens its own."""
    brain = make_brain(sources=("notes",), files=LOOKALIKES)
    memory = brain.agent().memory
    listed = [entry.path for entry in memory.list(corpus="notes").entries]
    assert listed == sorted(LOOKALIKES)
    assert {path: memory.read(path).content for path in listed} == LOOKALIKES


@pytest.mark.rule("SOURCE-O6")
@pytest.mark.parametrize("path", ["notes/Tide_notes.md", "notes/tide notes .md", "notes/TIDE.NOTES.md"])
def test_o_48_another_spelling_is_another_file(make_brain: MakeBrain, path: str) -> None:
    """A path that differs from the disk in letter case or a space only does not exist."""
    brain = make_brain(sources=("notes",), files=LOOKALIKES)
    with pytest.raises(OmnislashError, match="There is no file"):
        brain.agent().memory.read(path)


@pytest.mark.rule("LINE-07", "LINE-12")
def test_o_49_a_line_that_differs_in_case_only(make_brain: MakeBrain) -> None:
    """Beside a directory `Work` no line `work` comes to be, and the reason names both."""
    brain = make_brain(lines=("ops", "work"), files={"memory/Work/MEMORY.md": "- by hand\n"})
    verdict = brain.put("first", role="work", day="work/2026/11/2026-11-30.md")
    assert verdict.outcome in {Outcome.REFUSED, Outcome.FAILED}
    assert "memory/Work" in verdict.message
    assert "memory/work" in verdict.message
    assert not brain.place("work").exists()
    assert any(fault.path == "memory/Work" for fault in brain.brain.config.warnings)


@pytest.mark.rule("SOURCE-O6")
def test_o_49_two_sources_that_differ_in_case_only(make_brain: MakeBrain) -> None:
    """`Plan.md` and `plan.md` are two documents where the disk can hold both."""
    notes = {"notes/Plan.md": "The upper one.\n", "notes/plan.md": "The lower one.\n"}
    brain = make_brain(sources=("notes",), files=notes)
    memory = brain.agent().memory
    assert {entry.path: memory.read(entry.path).content for entry in memory.list(corpus="notes").entries} == notes


@pytest.mark.rule("SOURCE-04", "SOURCE-05", "SOURCE-O7")
def test_o_53_names_beyond_ascii_are_written_listed_and_read(make_brain: MakeBrain) -> None:
    """Names in any script, with signs and quotes, are listed and read, and git sees a clean tree and clones them all."""
    notes = {"журнал/заметка №5.md": "Пятая.\n", 'журнал/a "q" b.md': "Quoted.\n", "журнал/हिन्दी.md": "छठी।\n"}
    brain = make_brain(sources=("журнал",), files=notes)
    memory = brain.agent().memory
    assert [entry.path for entry in memory.list(corpus="журнал").entries] == sorted(notes)
    assert {path: memory.read(path).content for path in notes} == notes
    own = "ops/заметки/сводка №5.md"
    assert brain.write_file(own, "Сводка.\n").outcome is Outcome.WRITTEN
    assert brain.put("запись").outcome is Outcome.WRITTEN
    assert brain.swap("Сводка.", "Сводка дня.", path=own).outcome is Outcome.WRITTEN
    brain.commit()
    assert brain.git("status", "--porcelain") == ""
    clone = brain.root.with_name("clone")
    brain.git("clone", "-q", str(brain.root), str(clone))
    assert (clone / "memory" / own).read_text(encoding="utf-8") == "Сводка дня.\n"
    assert {path: (clone / path).read_text(encoding="utf-8") for path in notes} == notes


@pytest.mark.rule("LINE-07", "LINE-09")
def test_o_53_a_line_beyond_ascii_is_refused_by_the_rules(make_brain: MakeBrain) -> None:
    """The case's line `журнал` is no line name by LINE-07: the role is refused and named, the others run."""
    brain = make_brain(lines=("ops", "журнал"))
    (fault,) = [fault for fault in brain.brain.config.faults if "журнал" in fault.path]
    assert fault.key == "memory.write"
    assert brain.put("the others run").outcome is Outcome.WRITTEN


BAD_LINES = {
    "parent": "../evil",
    "climbing": "a/../../evil",
    "absolute": "/tmp/evil",
    "dots": "..",
    "dot": ".",
    "git": ".git",
    "git-hooks": ".git/hooks",
    "sideways": "ops/../hr",
    "space": "ops ",
    "trailing-dot": "ops.",
    "device": "con",
    "nul": "ops\0",
    "backslash": "..\\evil",
    "newline": "ops\n",
    "engine": ".omnislash",
}
bad_lines = pytest.mark.parametrize("line", list(BAD_LINES.values()), ids=list(BAD_LINES))


@pytest.fixture
def guarded(make_brain: MakeBrain) -> CaseBrain:
    """A brain with a file outside of it that holds `canary`, and the lines `ops` and `hr`."""
    brain = make_brain(lines=("ops", "hr"), files={"memory/ops/MEMORY.md": "- kept\n", "memory/hr/MEMORY.md": "- hr\n"})
    (brain.root.parent / "outside.txt").write_text("canary", encoding="utf-8")
    (brain.root.parent / "outside.md").write_text("canary", encoding="utf-8")
    return brain


def listing(brain: CaseBrain) -> list[Path]:
    """Return everything in the brain and beside it, without the engine's and git's own files."""
    places = sorted(brain.root.parent.rglob("*"))
    return [place for place in places if ".omnislash" not in place.parts and place.suffix != ".stderr"]


@bad_lines
@pytest.mark.rule("LINE-07", "LINE-09", "TOOL-09", "SCOPE-02")
def test_o_59_no_tool_makes_such_a_line(guarded: CaseBrain, line: str) -> None:
    """Whatever an agent gives as a line or as the start of a path, nothing is made in the brain or beside it."""
    before = listing(guarded)
    verdicts = [
        guarded.agent().memory.write("climbing out", line=line),
        guarded.write_file(f"{line}/MEMORY.md", "climbing out\n"),
        guarded.write_file(f"{line}/2026/11/2026-11-30.md", "climbing out\n"),
        guarded.agent().memory.move("ops/MEMORY.md", f"{line}/MEMORY.md"),
        guarded.agent().memory.move(f"{line}/MEMORY.md", "ops/x.md"),
        guarded.drop("hr", path=f"{line}/MEMORY.md"),
        guarded.swap("hr", "climbing out", path=f"{line}/MEMORY.md"),
    ]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.REFUSED}
    assert listing(guarded) == before


@bad_lines
@pytest.mark.rule("LINE-09", "REPORT-11", "REPORT-12", "KNOB-O5")
def test_o_59_no_role_declares_such_a_line(make_brain: MakeBrain, line: str) -> None:
    """A role that would write, read or report to such a line does not run, alone, and nothing is made."""
    files = {}
    for key, value in (("write", line), ("read", [line]), ("recall", [line]), ("report", [line])):
        block = json.dumps({key: value})
        files[f"features/bad/{key}.agent.md"] = f"---\nmemory: {block}\ncapabilities: [memory:write]\n---\n"
    brain = make_brain(files=files)
    before = listing(brain)
    assert not {"write", "read", "recall", "report"} & set(brain.brain.config.roles)
    assert {fault.path for fault in brain.brain.config.faults} == set(files)
    for key in ("write", "read", "recall", "report"):
        with pytest.raises(UsageError):
            brain.agent(key)
    assert listing(brain) == before


BAD_PATHS = {
    "no-such-day": "ops/2026/11/2026-11-31.md",
    "wrong-month": "ops/2026/12/2026-11-30.md",
    "climbing-date": "ops/2026/11/../../x.md",
    "climbing-day": "ops/../../x.md",
    "no-markdown": "ops/outside.txt",
    "hidden": "ops/.hidden.md",
    "empty-segment": "ops//x.md",
    "dot-segment": "ops/./x.md",
    "nul": "ops/x\0.md",
    "engine": ".omnislash/x.md",
    "index": ".memory-index.db",
    "managed-root": "memory/ops/x.md",
    "device": "ops/nul.md",
    "trailing-dot": "ops/x./y.md",
    "long": f"ops/{'x' * 300}.md",
    "line-only": "ops",
    "other-case": "ops/memory.md",
}


@pytest.mark.rule("LINE-05", "SCOPE-02", "TOOL-O5")
@pytest.mark.parametrize("path", list(BAD_PATHS.values()), ids=list(BAD_PATHS))
def test_o_59_no_such_path_is_made(guarded: CaseBrain, path: str) -> None:
    """A date that does not exist and a path that climbs, hides or can't live on every disk are refused."""
    before = listing(guarded)
    assert guarded.write_file(path, "climbing out\n").outcome is Outcome.REFUSED
    assert guarded.agent().memory.move("ops/MEMORY.md", path).outcome is Outcome.REFUSED
    assert listing(guarded) == before


@pytest.mark.rule("TOOL-14", "SCOPE-02")
@pytest.mark.parametrize(
    "path",
    [
        "memory/ops/../../../outside.txt",
        "ops/../../../outside.md",
        "../../outside.md",
        "../outside.md",
        "memory/ops/MEMORY.md",
        "ops/../hr/MEMORY.md",
        "hr/MEMORY.md",
        "./ops/MEMORY.md",
        "features/team/ops.agent.md",
        "omnislash.yaml",
        ".git/config",
        ".omnislash/state.db",
        "/etc/passwd",
        "ops/MEMORY.md/../../hr/MEMORY.md",
    ],
)
def test_o_59_nothing_outside_is_read(guarded: CaseBrain, path: str) -> None:
    """A path that leads out of the line is refused, by every way of reading, and the file there is not read."""
    answers = [guarded.ask("memory_read", {"path": path}), guarded.ask("memory_read", {"path": path, "section": "x"})]
    assert {answer["kind"] for answer in answers} <= {"name", "scope"}
    listed = [guarded.ask("memory_list", {"corpus": path}), guarded.ask("memory_list", {"prefix": path})]
    assert "canary" not in json.dumps([answers, listed])


@pytest.mark.rule("TOOL-14", "SCOPE-02")
def test_o_59_the_command_reads_nothing_outside(guarded: CaseBrain) -> None:
    """The command line refuses the case's path too, with an exit status that is not 0 and without a word of that file."""
    done = guarded.command("memory", "read", "--role", "ops", "memory/ops/../../../outside.txt")
    assert done.code in {1, 2}
    assert done.answer["error"]["kind"] == "name"
    assert "canary" not in json.dumps(done.answer) + done.stderr


@pytest.mark.rule("SCOPE-O6")
@pytest.mark.parametrize("kind", ["file", "directory", "line"])
def test_o_59_no_link_leads_out(guarded: CaseBrain, kind: str) -> None:
    """A symbolic link inside `memory/` leads neither a write nor a read out of the line."""
    outside = guarded.root.parent / "elsewhere"
    outside.mkdir()
    (outside / "x.md").write_text("canary\n", encoding="utf-8")
    link = {"file": "ops/x.md", "directory": "ops/deep", "line": "ops"}[kind]
    path = {"file": "ops/x.md", "directory": "ops/deep/x.md", "line": "ops/x.md"}[kind]
    if kind == "line":
        shutil.rmtree(guarded.place("ops"))
        guarded.name("ops/MEMORY.md", "ops/x.md")
    guarded.place(link).symlink_to(outside / "x.md" if kind == "file" else outside)
    memory = guarded.agent().memory
    verdicts = [
        memory.write_file(path, "climbing out\n"),
        memory.edit(path, old="canary", new="climbing out"),
        memory.delete(path),
        memory.move(path, "ops/y.md"),
    ]
    assert not {verdict.outcome for verdict in verdicts} & {Outcome.WRITTEN, Outcome.PARTIAL, Outcome.DUPLICATE}
    with pytest.raises((ScopeError, InvalidNameError, OmnislashError)) as refused:
        memory.read(path)
    assert "canary" not in refused.value.message
    assert sorted(place.name for place in outside.iterdir()) == ["x.md"]
    assert (outside / "x.md").read_text(encoding="utf-8") == "canary\n"
    guarded.place(link).unlink()


def test_o_59_the_shell_sees_no_new_name(guarded: CaseBrain) -> None:
    """After all of the lines above in one go, the parent of the brain holds what it held before."""
    before = listing(guarded)
    memory = guarded.agent().memory
    for line in BAD_LINES.values():
        memory.write_file(f"{line}/x.md", "climbing out\n")
    assert listing(guarded) == before
    grep = subprocess.run(
        ["grep", "-rlF", "climbing out", str(guarded.root.parent)], capture_output=True, check=False, text=True
    )
    assert grep.stdout == ""
