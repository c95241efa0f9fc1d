"""Bringing two sides together: what the files, the index, the branch and the audit log hold afterwards."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import StorageError
from omnislash.runtime.syncing.merge_values import MergeOutcome
from omnislash.store import git as store_git
from omnislash.store.git import GitAnswer
from omnislash.store.hashing import hash_bytes
from tests.integration.syncing.merge_stage import DAY, MEMORY, MergeStage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Make = Callable[[Mapping[str, str | bytes | None]], MergeStage]

LOG = "# 2026-11-30\n\n- 08:00 opened the shop\n"
CURATED = "# Memory\n\n## Facts\n\n- the code is 4\n- the boat is green\n"
PLAN = "Plan\n=======\n\nFirst line.\n\nSecond line.\n\nThird line.\n"


@pytest.fixture
def stage(tmp_path: Path) -> Make:
    """Return what makes a brain with these files in its first commit."""
    return lambda base: MergeStage(tmp_path / "brain", base)


def test_both_sides_wrote_to_the_same_files(stage: Make) -> None:
    """Case O-51: each entry once, both versions of what both changed, and no mark of a conflict anywhere."""
    brain = stage({DAY: LOG, MEMORY: CURATED, "memory/main/plan.md": PLAN}).part(
        ours={
            DAY: LOG + "- 09:00 from ours\n",
            MEMORY: CURATED.replace("code is 4", "code is 5"),
            "memory/main/plan.md": PLAN.replace("First line", "First line of ours"),
        },
        theirs={
            DAY: LOG + "- 08:30 from theirs\n",
            MEMORY: CURATED.replace("code is 4", "code is 6"),
            "memory/main/plan.md": PLAN.replace("First line", "First line of theirs"),
        },
    )

    result = brain.merge()

    assert result.outcome is MergeOutcome.MERGED
    assert brain.read(DAY) == "# 2026-11-30\n\n- 08:00 opened the shop\n- 08:30 from theirs\n- 09:00 from ours\n"
    assert brain.read(MEMORY) == "# Memory\n\n## Facts\n\n- the code is 5\n- the code is 6\n- the boat is green\n"
    assert brain.read("memory/main/plan.md") == (
        "Plan\n=======\n\nFirst line of ours.\n\nFirst line of theirs.\n\nSecond line.\n\nThird line.\n"
    )
    assert {conflict.path: conflict.how for conflict in result.conflicts} == {
        DAY: "joined",
        MEMORY: "both kept",
        "memory/main/plan.md": "both kept",
    }
    assert result.conflicts[1].note.endswith("at lines 5, 6.")
    assert result.head == brain.git("rev-parse", "HEAD")
    assert brain.parents() == [brain.ours, brain.theirs]
    assert brain.git("log", "-1", "--format=%s|%an|%cI").replace("+00:00", "Z") == (
        "Merge 1 commit from the remote|Person|2026-12-01T09:30:00Z"
    )
    brain.assert_settled()


def test_fast_forward(stage: Make) -> None:
    """Without a commit of its own the branch goes to the other side's commit; new, changed and removed files follow."""
    brain = stage({DAY: LOG, "notes/old.md": "old\n", "omnislash.yaml": "memory: {}\n"}).part(
        ours={},
        theirs={DAY: LOG + "- 09:00 more\n", "notes/old.md": None, "features/a/new.md": "new\n"},
    )

    result = brain.merge()

    assert result.outcome is MergeOutcome.FAST_FORWARD
    assert result.head == brain.git("rev-parse", "main") == brain.theirs
    assert result.changed == ("features/a/new.md", DAY, "notes/old.md")
    assert brain.files() == {
        ".gitignore": b".omnislash/\n.omnislash-*\n",
        "features/a/new.md": b"new\n",
        DAY: (LOG + "- 09:00 more\n").encode(),
        "omnislash.yaml": b"memory: {}\n",
    }
    assert not (brain.root / "notes").exists()
    brain.assert_settled()


def test_nothing_to_do(stage: Make) -> None:
    """A side whose commits are there already changes nothing."""
    brain = stage({DAY: LOG}).part(ours={DAY: LOG + "- 09:00 x\n"}, theirs={})
    brain.theirs = brain.base

    assert brain.merge().outcome is MergeOutcome.UP_TO_DATE
    assert brain.git("rev-parse", "HEAD") == brain.ours


def test_audit_and_watched_texts(stage: Make) -> None:
    """The audit log names the memory files, and the writer takes what came in for known, what went for gone."""
    base = "# Memory\n\n- stays\n- goes\n"
    brain = stage({MEMORY: base, "features/a/x.md": "x\n"}).part(
        ours={DAY: LOG},
        theirs={MEMORY: "# Memory\n\n- stays\n- comes\n", "features/a/x.md": "y\n"},
    )
    place = brain.place()
    with place.state.transaction() as state:
        state.run("add_addition", path="main/MEMORY.md", text="goes", at="2026-12-01T09:00:00+00:00", own=1)
    place.state.close()

    brain.merge()

    (row,) = brain.rows("list_audit")
    assert (row["tool"], row["actor"], row["role"], row["outcome"], row["line"]) == (
        "sync",
        "engine",
        None,
        "written",
        "main",
    )
    assert json.loads(str(row["paths"])) == ["main/MEMORY.md"]
    state = brain.place().state
    assert [each["text"] for each in state.rows("list_additions", path="main/MEMORY.md")] == ["comes"]
    known = state.row("find_file", path="main/MEMORY.md")
    assert known is not None
    assert known["hash"] == hash_bytes(b"# Memory\n\n- stays\n- comes\n")
    state.close()


# -- outside of memory -----------------------------------------------------------------------------------------------


def test_other_files_merge_as_git_does(stage: Make) -> None:
    """Different lines of a configuration that each side changed are merged."""
    text = "".join(f"key{number}: 1\n" for number in range(9))
    brain = stage({"omnislash.yaml": text}).part(
        ours={"omnislash.yaml": text.replace("key0: 1", "key0: 2")},
        theirs={"omnislash.yaml": text.replace("key8: 1", "key8: 3")},
    )

    assert brain.merge().outcome is MergeOutcome.MERGED
    assert brain.read("omnislash.yaml") == text.replace("key0: 1", "key0: 2").replace("key8: 1", "key8: 3")
    brain.assert_settled()


def test_a_conflict_outside_of_memory_stops_everything(stage: Make) -> None:
    """Nothing is merged, the file is named, and so is the command that brings it to an end."""
    brain = stage({"omnislash.yaml": "a: 1\n", DAY: LOG}).part(
        ours={"omnislash.yaml": "a: 2\n"}, theirs={"omnislash.yaml": "a: 3\n", DAY: LOG + "- 09:00 theirs\n"}
    )
    before = brain.files()

    result = brain.merge()

    assert result.outcome is MergeOutcome.STOPPED
    assert result.head == brain.ours == brain.git("rev-parse", "HEAD")
    assert [(conflict.path, conflict.how) for conflict in result.conflicts] == [("omnislash.yaml", "stopped")]
    assert f"git merge {brain.theirs[:12]}" in result.message
    assert brain.files() == before
    brain.assert_settled()


def test_executable_bit_comes_along(stage: Make) -> None:
    """A script that the other side made executable is executable."""
    brain = stage({"features/run.sh": "echo 1\n", "features/new.md": "x\n"})
    (brain.root / "features/run.sh").chmod(0o755)
    brain.theirs = brain.commit("executable")
    brain.git("reset", "-q", "--hard", brain.base)

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert os.access(brain.root / "features/run.sh", os.X_OK)
    assert not os.access(brain.root / "features/new.md", os.X_OK)
    brain.assert_settled()


def test_links_stop(stage: Make) -> None:
    """A link that comes in is not put on disk."""
    brain = stage({DAY: LOG})
    (brain.root / "link.md").symlink_to("omnislash.yaml")
    brain.theirs = brain.commit("link")
    brain.git("reset", "-q", "--hard", brain.base)

    result = brain.merge()

    assert (result.outcome, [conflict.path for conflict in result.conflicts]) == (MergeOutcome.STOPPED, ["link.md"])
    assert not (brain.root / "link.md").is_symlink()
    brain.assert_settled()


def test_unrelated_histories_stop(stage: Make) -> None:
    """Two brains that have no commit in common are not mixed."""
    brain = stage({DAY: LOG})
    brain.git("checkout", "-q", "--orphan", "other")
    brain.theirs = brain.commit("another brain")
    brain.git("checkout", "-q", "main")

    result = brain.merge()

    assert result.outcome is MergeOutcome.STOPPED
    assert "--allow-unrelated-histories" in result.message
    brain.assert_settled()


def test_git_that_is_too_old(stage: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git before 2.38 can't merge beside the working tree: that is said, and a fast-forward works all the same."""
    run_git = store_git.run_git

    def old_git(args: Sequence[str], **options: object) -> GitAnswer:
        if "merge-tree" in args:
            return GitAnswer(129, b"", b"usage: git merge-tree <base-tree> <branch1> <branch2>\n")
        return run_git(args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store_git, "run_git", old_git)
    brain = stage({DAY: LOG}).part(ours={MEMORY: "- a\n"}, theirs={DAY: LOG + "- 09:00 theirs\n"})

    result = brain.merge()
    assert (result.outcome, result.head) == (MergeOutcome.STOPPED, brain.ours)
    assert "2.38" in result.message
    brain.git("reset", "-q", "--hard", brain.base)
    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    brain.assert_settled()


def test_spelling_that_the_disk_can_not_tell_apart(stage: Make) -> None:
    """On a disk that ignores case a file that only got another spelling is not removed; two names play such a disk."""
    brain = stage({"notes/plan.md": "a plan\n"}).part(
        ours={}, theirs={"notes/plan.md": None, "notes/Plan.md": "a plan\n"}
    )
    (brain.root / "notes/Plan.md").hardlink_to(brain.root / "notes/plan.md")

    result = brain.merge()

    assert (result.outcome, [each.path for each in result.conflicts]) == (MergeOutcome.STOPPED, ["notes/Plan.md"])
    assert brain.read("notes/plan.md") == "a plan\n"


def test_working_tree_beside_another(stage: Make, tmp_path: Path) -> None:
    """A second working tree of the same repository is merged by itself, and what is noted is its own."""
    brain = stage({DAY: LOG}).part(ours={}, theirs={DAY: LOG + "- 09:00 theirs\n"})
    brain.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"), brain.base)
    second = MergeStage.__new__(MergeStage)
    second.root, second.base, second.ours, second.theirs = tmp_path / "second", brain.base, brain.base, brain.theirs
    (second.root / ".omnislash").mkdir()

    assert second.merge().outcome is MergeOutcome.FAST_FORWARD
    assert second.read(DAY) == LOG + "- 09:00 theirs\n"
    assert (brain.read(DAY), brain.git("rev-parse", "main")) == (LOG, brain.base)
    second.assert_settled()


def test_read_only_file(stage: Make) -> None:
    """A file that a person marked read-only is not replaced, nothing else is either, and the error names it."""
    brain = stage({DAY: LOG, "notes/a.md": "1\n"}).part(ours={}, theirs={DAY: LOG + "- 09:00 x\n", "notes/a.md": "2\n"})
    (brain.root / "notes/a.md").chmod(0o444)

    with pytest.raises(StorageError, match=r"^notes/a\.md can't be used: permission denied"):
        brain.merge()

    assert (brain.read(DAY), brain.read("notes/a.md")) == (LOG, "1\n")
    (brain.root / "notes/a.md").chmod(0o644)
    resumed = brain.resume()
    assert resumed is not None
    assert resumed.outcome is MergeOutcome.FAST_FORWARD
    brain.assert_settled()


# -- below memory ----------------------------------------------------------------------------------------------------


def test_file_that_one_side_removed_and_the_other_changed_stays(stage: Make) -> None:
    """The changed version stays, whichever side it is, and is named."""
    other = "memory/main/2026/11/2026-11-29.md"
    brain = stage({DAY: LOG, other: LOG, "memory/main/x.md": "same\n"}).part(
        ours={DAY: None, other: LOG + "- 09:00 ours\n", "memory/main/x.md": None},
        theirs={DAY: LOG + "- 09:00 theirs\n", other: None},
    )

    result = brain.merge()

    assert brain.read(DAY) == LOG + "- 09:00 theirs\n"
    assert brain.read(other) == LOG + "- 09:00 ours\n"
    assert not (brain.root / "memory/main/x.md").exists()
    assert {conflict.path: conflict.how for conflict in result.conflicts} == {DAY: "both kept", other: "both kept"}
    brain.assert_settled()


@pytest.mark.parametrize("moving", ["ours", "theirs"])
def test_moved_file_keeps_what_the_other_side_added(stage: Make, moving: str) -> None:
    """What one side wrote to the old place is at the new one, and only there: the move to lines (MIGRATE-05)."""
    old = "memory/2026/11/2026-11-30.md"
    sides: dict[str, dict[str, str | bytes | None]] = {
        "move": {old: None, DAY: LOG},
        "change": {old: LOG + "- 09:00 later\n"},
    }
    names = ("move", "change") if moving == "ours" else ("change", "move")
    brain = stage({old: LOG}).part(sides[names[0]], sides[names[1]])

    assert brain.merge().outcome is MergeOutcome.MERGED
    assert list(brain.files()) == [".gitignore", DAY]
    assert brain.read(DAY) == LOG + "- 09:00 later\n"
    brain.assert_settled()


def test_alike_logs_are_not_taken_for_a_move(stage: Make) -> None:
    """A log that went and another one that came are two logs, however much they are alike."""
    new = "memory/main/2026/12/2026-12-01.md"
    brain = stage({DAY: LOG}).part(
        ours={DAY: None, new: LOG.replace("11-30", "12-01")}, theirs={DAY: LOG + "- 09:00 theirs\n"}
    )

    brain.merge()

    assert brain.read(DAY) == LOG + "- 09:00 theirs\n"
    assert brain.read(new) == LOG.replace("11-30", "12-01")
    brain.assert_settled()


def test_summaries_of_both_sides(stage: Make) -> None:
    """The remote's summary stays, and the commit that holds the other one is named."""
    week = "memory/main/2026/2026-W48.md"
    brain = stage({DAY: LOG}).part(ours={week: "# Week 48\n\nOurs.\n"}, theirs={week: "# Week 48\n\nTheirs.\n"})

    result = brain.merge()

    assert brain.read(week) == "# Week 48\n\nTheirs.\n"
    assert brain.ours[:12] in result.conflicts[0].note
    brain.assert_settled()


def test_summary_that_one_side_changed(stage: Make) -> None:
    """A summary that only one side touched is that side's."""
    week = "memory/main/2026/2026-W48.md"
    brain = stage({week: "made\n"}).part(ours={week: "made, edited by hand\n"}, theirs={DAY: LOG})

    result = brain.merge()

    assert (brain.read(week), result.conflicts) == ("made, edited by hand\n", ())


def test_files_that_are_no_text_stop(stage: Make) -> None:
    """A picture, and a note with a NUL byte, that both sides changed are left to a person."""
    paths = ("memory/main/a.png", "memory/main/b.md")
    brain = stage(dict.fromkeys(paths, b"\0one")).part(
        ours=dict.fromkeys(paths, b"\0two"), theirs=dict.fromkeys(paths, b"\0three")
    )

    result = brain.merge()

    assert [(each.path, each.how) for each in result.conflicts] == [(path, "stopped") for path in paths]
    assert brain.git("rev-parse", "HEAD") == brain.ours
    brain.assert_settled()


def test_file_against_directory_stops(stage: Make) -> None:
    """A name that is a file on one side and a directory on the other is left to a person."""
    brain = stage({DAY: LOG}).part(ours={"memory/main/x.md": "a\n"}, theirs={"memory/main/x.md/y.md": "b\n"})

    result = brain.merge()

    assert result.outcome is MergeOutcome.STOPPED
    assert "memory/main/x.md" in {conflict.path for conflict in result.conflicts}
    brain.assert_settled()


def test_several_merge_bases(stage: Make) -> None:
    """After both sides merged each other, what one of them removed stays removed, and nothing is there twice."""
    brain = stage({MEMORY: CURATED}).part(
        ours={MEMORY: CURATED + "- ours 1\n"}, theirs={MEMORY: CURATED + "- theirs 1\n"}
    )
    ours, theirs = brain.ours, brain.theirs
    brain.merge()
    first = brain.git("rev-parse", "HEAD")
    brain.git("checkout", "-q", "-B", "main", theirs)
    brain.theirs = ours
    brain.merge()
    brain.theirs, brain.ours = brain.git("rev-parse", "HEAD"), first
    joined = brain.read(MEMORY)
    brain.part(
        ours={MEMORY: joined.replace("- theirs 1\n", "")},
        theirs={MEMORY: joined + "- theirs 2\n"},
    )
    assert len(brain.git("merge-base", "--all", brain.ours, brain.theirs).split()) == 2

    brain.merge()

    assert sorted(brain.read(MEMORY).splitlines()[4:]) == [
        "- ours 1",
        "- the boat is green",
        "- the code is 4",
        "- theirs 2",
    ]
    brain.assert_settled()


def test_names_of_every_kind(stage: Make) -> None:
    """Case O-53: names beyond ASCII, with quotes, spaces, a tab and a newline, and bytes that are no UTF-8."""
    names = ["memory/main/заметка №5.md", 'memory/main/a "q" b.md', "memory/main/ta\tb\n.md", "notes/\udcff.md"]
    brain = stage(dict.fromkeys(names, "- a\n")).part(
        ours=dict.fromkeys(names, "- a\n- b\n"), theirs=dict.fromkeys(names, "- a\n- c\n") | {"новое.md": "x\n"}
    )
    brain.put({names[3]: "- a\n"})
    brain.ours = brain.commit("back")

    assert brain.merge().outcome is MergeOutcome.MERGED
    assert [brain.read(name) for name in names] == ["- a\n- b\n- c\n"] * 3 + ["- a\n- c\n"]
    assert brain.read("новое.md") == "x\n"
    brain.assert_settled()


def test_line_ends_that_git_converts(stage: Make) -> None:
    """A file that has CRLF on disk and LF in git counts as unchanged, and what comes in has CRLF on disk."""
    brain = stage({".gitattributes": "*.md eol=crlf\n", DAY: LOG}).part(
        ours={DAY: LOG + "- 09:00 ours\n"}, theirs={DAY: LOG + "- 10:00 theirs\n"}
    )
    brain.git("checkout", "-q", "other")
    brain.git("checkout", "-q", "main")
    assert b"\r\n" in (brain.root / DAY).read_bytes()

    assert brain.merge().outcome is MergeOutcome.MERGED
    assert brain.read(DAY) == (LOG + "- 09:00 ours\n- 10:00 theirs\n").replace("\n", "\r\n")
    brain.assert_settled()


# -- what a person does meanwhile ------------------------------------------------------------------------------------


def test_changed_file_is_never_replaced(stage: Make) -> None:
    """A save that is not committed stands, nothing else is touched, and the answer says that it has to be made again."""
    brain = stage({DAY: LOG, MEMORY: CURATED}).part(
        ours={}, theirs={DAY: LOG + "- 09:00 theirs\n", MEMORY: CURATED + "- theirs\n"}
    )
    brain.put({MEMORY: CURATED + "- not committed\n"})
    before = brain.files()

    result = brain.merge()

    assert (result.outcome, result.head) == (MergeOutcome.MOVED_ON, brain.base)
    assert brain.files() == before
    assert brain.git("for-each-ref", "refs/worktree") == ""


def test_untracked_file_is_never_replaced(stage: Make) -> None:
    """A file that is not under git stands where the other side has one: it stays, and is named."""
    brain = stage({DAY: LOG}).part(ours={}, theirs={"notes/x.md": "theirs\n"})
    brain.put({"notes/x.md": "mine\n"})

    result = brain.merge()

    assert (result.outcome, [each.path for each in result.conflicts]) == (MergeOutcome.STOPPED, ["notes/x.md"])
    assert brain.read("notes/x.md") == "mine\n"


def test_file_that_holds_the_result_already(stage: Make) -> None:
    """An untracked file with the very bytes of the other side's is taken for it."""
    brain = stage({DAY: LOG}).part(ours={}, theirs={"notes/x.md": "theirs\n"})
    brain.put({"notes/x.md": "theirs\n"})

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    brain.assert_settled()


def test_staged_work_in_other_files_stays_staged(stage: Make) -> None:
    """What a person staged is neither committed nor lost."""
    brain = stage({DAY: LOG, "a.md": "1\n", "b.md": "1\n"}).part(ours={}, theirs={DAY: LOG + "- 09:00 theirs\n"})
    brain.put({"a.md": "2\n", "c.md": "new\n"})
    brain.git("add", "a.md", "c.md")
    brain.put({"a.md": "3\n"})

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert brain.status() == "MM a.md\nA  c.md"
    assert brain.git("show", ":a.md") == "2"


def test_staged_work_in_the_same_file_stops(stage: Make) -> None:
    """Where the merge would change a file whose other version is staged, nothing is touched."""
    brain = stage({"a.md": "1\n", DAY: LOG}).part(ours={}, theirs={"a.md": "theirs\n", DAY: LOG + "- 09:00 x\n"})
    brain.put({"a.md": "staged\n"})
    brain.git("add", "a.md")
    brain.put({"a.md": "1\n"})

    result = brain.merge()

    assert result.outcome is MergeOutcome.STOPPED
    assert "git restore --staged" in result.message
    assert (brain.read(DAY), brain.status()) == (LOG, "MM a.md")


def test_branch_that_moved_meanwhile(stage: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that a person makes in the very moment stays on the branch, and nothing is lost."""
    from omnislash.runtime.syncing import placing

    brain = stage({DAY: LOG, "a.md": "1\n"}).part(ours={}, theirs={DAY: LOG + "- 09:00 theirs\n"})
    change_index = placing.Placing._change_index

    def commit_first(self: placing.Placing, *, dry_run: bool) -> None:
        change_index(self, dry_run=dry_run)
        if not dry_run:
            brain.git("commit", "-q", "--allow-empty", "-m", "by a person")

    monkeypatch.setattr(placing.Placing, "_change_index", commit_first)
    result = brain.merge()
    monkeypatch.undo()

    assert result.outcome is MergeOutcome.MOVED_ON
    assert brain.git("log", "-1", "--format=%s") == "by a person"
    assert brain.resume() is None
    brain.commit("what is on disk")
    assert brain.merge().outcome is MergeOutcome.MERGED
    assert brain.read(DAY) == LOG + "- 09:00 theirs\n"
    brain.assert_settled()
