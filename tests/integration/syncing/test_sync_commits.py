"""What brain-sync commits and what it leaves alone, and what its messages say; with real git."""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.values import SyncOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

#: Managed path of the sample brain's day.
DAY = "memory/main/2026/08/2026-08-30.md"
MINE, THEIRS, MIDDLE = "<" * 7, ">" * 7, "=" * 7


# -- who ---------------------------------------------------------------------------------------------------------------


def test_message_names_role_and_person(repo: GitBrain) -> None:
    """The subject says how many entries by whom and which file by hand; the body has a line for each file."""
    for text in ("The gate code changed.", "The pump is back.", "The choir came."):
        repo.agent().memory.write(text)
    repo.agent("ops").memory.write("Backup is done.")
    repo.put_memory("ops/MEMORY.md", "- By a person.\n")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert repo.message() == (
        "main, ops: 3 entries by nova; 1 entry by ops; MEMORY.md by hand\n\n"
        f"{DAY}: nova\n"
        "memory/ops/2026/08/2026-08-30.md: ops\n"
        "memory/ops/MEMORY.md: by hand"
    )
    assert [commit.id for commit in answer.commits] == [repo.git("rev-parse", "HEAD")]
    assert repo.status() == ""


def test_commit_of_one_role_has_trailers(repo: GitBrain) -> None:
    """One role and one heartbeat alone: both are named in trailers that git can read."""
    repo.beat("briefing", "nova")
    repo.commit()
    repo.agent(heartbeat="briefing").memory.write("We open at nine.")

    repo.sync()

    assert repo.message().startswith("main: 1 entry by nova · briefing\n\n")
    assert repo.git("log", "-1", "--format=%(trailers)").split("\n")[:2] == [
        "Omnislash-Role: nova",
        "Omnislash-Heartbeat: briefing",
    ]


def test_file_of_several_authors_names_all(repo: GitBrain) -> None:
    """A role, another role and then a person in the same file: all three are named, and no trailer claims one."""
    repo.role("vera")
    repo.commit()
    repo.agent("nova").memory.write("One.")
    repo.agent("vera").memory.write("Two.")
    repo.put(DAY, (repo.root / DAY).read_text() + "- 10:00 Three.\n")

    repo.sync()

    assert f"{DAY}: nova, vera, by hand" in repo.message()
    assert "Omnislash-" not in repo.message()


def test_what_was_told_is_not_told_again(repo: GitBrain) -> None:
    """A role's entry is told once: when a person edits the file after that commit, the next one is by hand alone."""
    repo.agent().memory.write("One.")
    repo.sync()
    repo.put(DAY, (repo.root / DAY).read_text() + "- 10:00 Two.\n")

    repo.sync()

    assert repo.message() == f"main: 2026-08-30.md by hand\n\n{DAY}: by hand"


def test_subject_is_short_and_body_bounded(repo: GitBrain) -> None:
    """Many files: the subject has at most 72 characters, and the body counts what it does not list."""
    for number in range(230):
        repo.put_memory(f"line-{number:03}/MEMORY.md", f"- {number}\n")

    repo.sync()

    lines = repo.message().split("\n")
    assert lines[0] == "line-000, line-001, line-002 and 227 more: 230 files by hand"
    assert len(lines) == 2 + 200 + 1
    assert lines[-1] == "and 30 more files"


def test_long_subject_is_cut(repo: GitBrain) -> None:
    """A subject that would be longer ends with a mark of that."""
    repo.put_memory("main/" + "n" * 90 + ".md", "x\n")

    repo.sync()

    subject = repo.message().split("\n")[0]
    assert len(subject) == 72
    assert subject.endswith("…")


@pytest.mark.rule("MIGRATE-05")
def test_moved_file_is_a_rename(repo: GitBrain) -> None:
    """A file that lies elsewhere with the same bytes is recorded as a plain rename, and called moved."""
    repo.put_memory("MEMORY.md", "- One.\n- Two.\n")
    repo.commit()
    (repo.root / "memory/main").mkdir()
    (repo.root / "memory/MEMORY.md").rename(repo.root / "memory/main/MEMORY.md")

    repo.sync()

    assert repo.git("show", "--format=", "--name-status", "-M100%") == "R100\tmemory/MEMORY.md\tmemory/main/MEMORY.md"
    assert repo.message().startswith("main, memory: 1 file moved\n")
    assert "memory/main/MEMORY.md: moved from memory/MEMORY.md" in repo.message()


# -- what --------------------------------------------------------------------------------------------------------------


def test_other_new_files_are_left_alone(repo: GitBrain) -> None:
    """New files of the brain are taken, changes of tracked files too; a person's own new files are only named."""
    repo.put("README.md", "one\n")
    repo.put("omnislash.yaml", "memory: {sources: [handbook]}\n")
    repo.commit()
    repo.put("README.md", "two\n")
    repo.put("notes.txt", "mine\n")
    repo.put("sketches/a.md", "mine\n")
    repo.put("handbook/fire.md", "Out by the south door.\n")
    repo.put("constitution/MANIFEST.yaml", "{}\n")
    repo.put("features/team/picture.svg", "<svg/>\n")
    repo.put_memory("main/plan.md", "A plan.\n")

    answer = repo.sync()

    assert repo.committed() == [
        *("README.md", "constitution/MANIFEST.yaml", "features/team/picture.svg", "handbook/fire.md"),
        "memory/main/plan.md",
    ]
    assert answer.left_alone == ("notes.txt", "sketches/")
    assert repo.status() == "?? notes.txt\n?? sketches/"


def test_deleted_file_is_committed_as_such(repo: GitBrain) -> None:
    """A tracked file that is gone is committed as gone."""
    repo.put_memory("main/plan.md", "A plan.\n")
    repo.commit()
    (repo.root / "memory/main/plan.md").unlink()

    repo.sync()

    assert repo.git("show", "--format=", "--name-status") == "D\tmemory/main/plan.md"
    assert repo.message().endswith("memory/main/plan.md: by hand")


def test_staged_work_stays_staged(repo: GitBrain) -> None:
    """What a person has staged outside of the brain's own files is neither committed nor unstaged."""
    repo.put("src/tool.py", "one\n")
    repo.commit()
    repo.put("src/tool.py", "two\n")
    repo.put("src/new.py", "new\n")
    repo.git("add", "src")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert repo.committed() == [DAY]
    assert repo.status() == "A  src/new.py\nM  src/tool.py"
    assert answer.left_alone == ("src/new.py", "src/tool.py")
    assert answer.pending == ()


def test_staged_version_is_kept(repo: GitBrain) -> None:
    """A version that was staged, and that stands neither on disk nor in a commit, can be had back."""
    repo.put_memory("main/plan.md", "first\n")
    repo.commit()
    repo.put_memory("main/plan.md", "staged\n")
    repo.git("add", "memory/main/plan.md")
    repo.put_memory("main/plan.md", "on disk\n")

    answer = repo.sync()

    assert repo.git("show", "HEAD:memory/main/plan.md") == "on disk"
    assert repo.git("for-each-ref", "--format=%(objectname)", "refs/omnislash/staged/").split("\n") == [
        repo.git("hash-object", "-t", "blob", "--stdin", stdin=b"staged\n")
    ]
    assert repo.git(*answer.notes[0].partition(": git ")[2].split()) == "staged"


def test_staged_removal_of_a_file_that_is_there_waits(repo: GitBrain) -> None:
    """`git rm --cached`: the file is not put back under git behind the person's back, and the rest is committed."""
    repo.put_memory("main/plan.md", "A plan.\n")
    repo.commit()
    repo.git("rm", "-q", "--cached", "memory/main/plan.md")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert [each.path for each in answer.blocked] == ["memory/main/plan.md"]
    assert "git restore --staged" in answer.message
    assert repo.committed() == [DAY]
    assert (repo.root / "memory/main/plan.md").read_text() == "A plan.\n"


def test_staged_file_that_is_gone_waits(repo: GitBrain) -> None:
    """A file that was staged and then removed stands only in git's index: it is left there and named."""
    repo.put_memory("main/plan.md", "A plan.\n")
    repo.git("add", "memory/main/plan.md")
    (repo.root / "memory/main/plan.md").unlink()

    answer = repo.sync()

    assert [each.path for each in answer.blocked] == ["memory/main/plan.md"]
    assert repo.git("show", ":memory/main/plan.md") == "A plan."


def test_state_of_the_machine_is_never_committed(repo: GitBrain) -> None:
    """Without a single ignore rule, and even where somebody tracks it, state and temporary files stay out."""
    repo.put(".gitignore", "")
    repo.put_memory("main/.omnislash-0011.tmp", "half\n")
    repo.put_memory(".memory-index.db", "index")
    repo.commit()
    repo.put_memory("main/.omnislash-0011.tmp", "more\n")
    repo.put_memory("main/.omnislash-2233.new", "whole\n")
    repo.put_memory(".memory-index.db", "other")
    repo.put_memory(".memory-index.db-wal", "log")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert repo.committed() == [DAY]
    assert answer.pending == ()
    assert repo.git("ls-files", ".omnislash") == ""


def test_repository_inside_memory_is_left_alone(repo: GitBrain) -> None:
    """A repository of somebody's own below memory/ is named and not entered."""
    inner = repo.root / "memory/main/inner"
    subprocess.run(["git", "init", "-q", "--template=", str(inner)], check=True)
    (inner / "a.md").write_text("a\n")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert repo.committed() == [DAY]
    assert answer.left_alone == ("memory/main/inner/",)


def test_marks_of_a_conflict_wait(repo: GitBrain) -> None:
    """A file with the marks of a conflict is named with the line; headings and fenced examples are committed."""
    repo.put_memory("main/bad.md", f"one\n{MINE} HEAD\na\n{MIDDLE}\nb\n{THEIRS} other\n")
    repo.put_memory("main/heading.md", f"Plan\n{MIDDLE}\n\ntext\n")
    repo.put_memory("main/fenced.md", f"```\n{MINE} HEAD\n{MIDDLE}\n{THEIRS} x\n```\n")
    repo.put_memory("main/open.md", f"```\n{MINE}\n")

    answer = repo.sync()

    assert repo.committed() == ["memory/main/fenced.md", "memory/main/heading.md"]
    assert answer.outcome is SyncOutcome.STOPPED
    assert [(each.path, each.reason) for each in answer.blocked] == [
        ("memory/main/bad.md", "It holds the marks of a conflict (line 2, 6). Edit it and remove them."),
        ("memory/main/open.md", "It holds the marks of a conflict (line 2). Edit it and remove them."),
    ]
    repo.put_memory("main/bad.md", "one\na\nb\n")
    repo.put_memory("main/open.md", "x\n")
    assert repo.sync().outcome is SyncOutcome.DONE
    assert repo.status() == ""


def test_ignored_memory_is_committed(repo: GitBrain) -> None:
    """Notes below memory/ that a rule hides are committed all the same, other hidden files are not."""
    repo.put(".gitignore", ".omnislash/\nmemory/\n2026-*\n")
    repo.commit()
    repo.agent().memory.write("One.")
    repo.put_memory("main/.memory.swp", "x")
    repo.put_memory("main/picture.png", "x")
    found = repo.open().sync_status()

    answer = repo.sync()

    assert found.ignored == ((DAY, ".gitignore:2: memory/"),)
    assert not found.is_in_sync
    assert answer.outcome is SyncOutcome.DONE
    assert repo.committed() == [DAY]


def test_unreadable_file_waits(repo: GitBrain) -> None:
    """A file that this user may not read is named, and holds up nothing else."""
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    repo.put_memory("main/closed.md", "x\n").chmod(0)
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert [each.path for each in answer.blocked] == ["memory/main/closed.md"]
    assert repo.committed() == [DAY]


def test_names_of_every_kind(repo: GitBrain) -> None:
    """Names that git quotes for people are taken as they are: another script, quotes, a newline, bytes of no UTF-8."""
    names = [
        "заметка №5.md",
        'a "q" b.md',
        "two\nlines.md",
        os.fsdecode(b"\xff.md"),
        "-n.md",
        ":(top)x.md",
        "a*?[b].md",
    ]
    for name in names:
        repo.put_memory(f"main/{name}", "x\n")
    repo.put_memory("main/a1b.md", "not meant by the star\n")
    repo.git("add", "-N", "memory/main/a1b.md")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert set(repo.committed()) == {f"memory/main/{name}" for name in (*names, "a1b.md")}
    assert repo.status() == ""
    assert "two\\nlines.md" in repo.message()


def test_line_ends_are_git_s_own(repo: GitBrain) -> None:
    """With a rule for line ends the commit holds what git itself would make of the file, and the tree is clean."""
    repo.put(".gitattributes", "*.md text eol=crlf\n")
    repo.commit()
    repo.put_memory("main/plan.md", "one\r\ntwo\r\n")

    repo.sync()

    assert repo.git("cat-file", "blob", "HEAD:memory/main/plan.md") == "one\ntwo"
    assert repo.status() == ""


def test_links_and_modes_are_committed(repo: GitBrain) -> None:
    """A link that is tracked, a changed mode and a file that became a link are changes like others."""
    place = repo.put("tool.sh", "x\n")
    repo.put_memory("main/plan.md", "x\n")
    repo.commit()
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    (repo.root / "memory/main/plan.md").unlink()
    (repo.root / "memory/main/plan.md").symlink_to("MEMORY.md")

    assert repo.sync().outcome is SyncOutcome.DONE

    assert repo.committed() == ["memory/main/plan.md", "tool.sh"]
    assert repo.status() == ""


# -- hooks, identity, signing ------------------------------------------------------------------------------------------


def _hook(brain: GitBrain, name: str, script: str) -> None:
    place = brain.root / ".git/hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


def test_hook_that_fails_stops(repo: GitBrain) -> None:
    """A hook that says no stops the sync with its own first line; nothing is committed, staged or lost."""
    _hook(repo, "pre-commit", "echo 'notes must have a title' >&2\nexit 1")
    repo.agent().memory.write("One.")
    before = repo.git("rev-parse", "HEAD"), repo.git("ls-files", "--stage")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert answer.message == "The hook pre-commit turned the commit down: notes must have a title."
    assert answer.pending == (DAY,)
    assert (repo.git("rev-parse", "HEAD"), repo.git("ls-files", "--stage")) == before
    (repo.root / ".git/hooks/pre-commit").unlink()
    assert repo.sync().outcome is SyncOutcome.DONE


def test_hook_that_asks_gets_no_answer(repo: GitBrain) -> None:
    """A hook that reads its input or opens the terminal sees the end at once, and its word counts."""
    _hook(repo, "commit-msg", "read answer && exit 3\n(exec </dev/tty) 2>/dev/null && exit 4\necho '# kept' >> $1")
    repo.agent().memory.write("One.")

    assert repo.sync().outcome is SyncOutcome.DONE
    assert repo.message().endswith("# kept")


def test_neutral_identity_for_that_commit_alone(repo: GitBrain) -> None:
    """Where nobody has said who commits, a neutral name stands, and no configuration is written; a name set is used."""
    before = (repo.root / ".git/config").read_bytes()
    repo.agent().memory.write("One.")
    repo.sync()
    assert repo.git("log", "-1", "--format=%an <%ae> %cn <%ce>") == (
        "omnislash <omnislash@localhost> omnislash <omnislash@localhost>"
    )
    assert (repo.root / ".git/config").read_bytes() == before

    repo.git("config", "user.name", "Galina")
    repo.git("config", "user.email", "galina@example.org")
    repo.agent().memory.write("Two.")
    repo.sync()
    assert repo.git("log", "-1", "--format=%an <%ae>") == "Galina <galina@example.org>"


def test_commit_that_can_t_be_signed_stops(repo: GitBrain) -> None:
    """Signing that fails stops with what to do, and no commit without a signature takes its place."""
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "gpg.program", "/bin/false")
    repo.agent().memory.write("One.")
    before = repo.git("rev-parse", "HEAD")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "could not be signed" in answer.message
    assert "commit.gpgsign false" in answer.message
    assert repo.git("rev-parse", "HEAD") == before


# -- kinds of repositories ---------------------------------------------------------------------------------------------


def test_first_commit_of_a_repository(make_brain: Callable[..., GitBrain]) -> None:
    """A repository without a commit gets its first one."""
    brain = make_brain(is_committed=False)
    brain.agent().memory.write("One.")

    answer = brain.sync()

    assert answer.outcome is SyncOutcome.DONE
    assert DAY in brain.committed()
    assert brain.status() == ""


def test_without_a_repository(make_brain: Callable[..., GitBrain], tmp_path: Path) -> None:
    """Without a repository the answer says so and what to do."""
    brain = make_brain(is_committed=False)
    (brain.root / ".git").rename(tmp_path / "elsewhere")

    answer = brain.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert "git init" in answer.message


def test_brain_in_a_larger_repository(tmp_path: Path, make_brain: Callable[..., GitBrain]) -> None:
    """In a larger repository nothing is committed unless it is wanted, and then the brain's own files alone."""
    brain = make_brain("work/brain", is_committed=False)
    (brain.root / ".git").rename(tmp_path / "work/.git")
    (tmp_path / "work/tracked.txt").write_text("one\n")
    brain.git("add", "-A", ":/")
    brain.commit()
    (tmp_path / "work/tracked.txt").write_text("two\n")
    (tmp_path / "work/memory").mkdir()
    (tmp_path / "work/memory/x.md").write_text("not the brain's\n")
    brain.agent().memory.write("One.")

    refused = brain.sync()
    brain.put("constitution/MANIFEST.yaml", "sync: {nested: true}\n")
    done = brain.sync()

    assert refused.outcome is SyncOutcome.STOPPED
    assert "sync.nested" in refused.message
    assert done.outcome is SyncOutcome.DONE
    assert brain.committed() == ["brain/constitution/MANIFEST.yaml", f"brain/{DAY}"]
    assert brain.git("log", "-1", "--format=%s") == "constitution, main: MANIFEST.yaml by hand; 1 entry by nova"
    assert brain.git("status", "--porcelain", ":/") == " M tracked.txt\n?? memory/"


def test_worktree_and_submodule(make_brain: Callable[..., GitBrain], tmp_path: Path) -> None:
    """A brain that is a second working tree, and one that is a submodule, are committed where they lie."""
    origin = make_brain("origin")
    origin.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    outer = make_brain("outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin.root), "inner")
    outer.commit()
    pointer = outer.git("rev-parse", "HEAD:inner")
    for place in (tmp_path / "tree", outer.root / "inner"):
        brain = type(origin)(place, is_clone=True)
        brain.agent().memory.write("One.")
        assert brain.sync(push=False).outcome is SyncOutcome.DONE
        assert brain.committed() == [DAY]
        brain.close()
    assert origin.git("log", "-1", "--format=%s", "side") == "main: 1 entry by nova"
    assert outer.sync().outcome is SyncOutcome.NOTHING
    assert outer.git("rev-parse", "HEAD:inner") == pointer


def test_repository_of_an_outer_hook_is_not_taken(
    repo: GitBrain, make_brain: Callable[..., GitBrain], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run from a hook of another repository, whose variables are set, the brain's own is meant."""
    other = make_brain("other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git/index"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    repo.agent().memory.write("One.")

    assert repo.sync().outcome is SyncOutcome.DONE

    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_AUTHOR_DATE"):
        monkeypatch.delenv(name)
    assert repo.committed() == [DAY]
    assert other.message() == "start"
    assert not repo.git("log", "-1", "--format=%as").startswith("2001")


def test_dry_run_changes_nothing(repo: GitBrain) -> None:
    """A dry run says what would be committed, and not a byte of the repository or the brain is another."""
    repo.agent().memory.write("One.")
    before = {
        place: place.read_bytes()
        for place in repo.root.rglob("*")
        if place.is_file() and ".omnislash" not in str(place)
    }

    answer = repo.sync(is_dry_run=True)

    assert [(commit.id, commit.subject) for commit in answer.commits] == [(None, "main: 1 entry by nova")]
    assert answer.pending == (DAY,)
    after = {
        place: place.read_bytes()
        for place in repo.root.rglob("*")
        if place.is_file() and ".omnislash" not in str(place)
    }
    assert {path for path in before | after if before.get(path) != after.get(path)} <= {repo.root / ".git/index"}
    assert repo.git("ls-files", "--stage", "memory") == ""
