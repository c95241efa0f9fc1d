"""What brain-sync takes and what it leaves: hooks that edit, files that git can't store, clutter, announced files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from omnislash.runtime.syncing import changes
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.surfaces.cli import templates
from omnislash.surfaces.cli.main import main
from tests.integration.syncing.test_sync_commits import _hook

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.integration.syncing.conftest import GitBrain

DAY = "memory/main/2026/08/2026-08-30.md"


# -- announced with `git add -N` -----------------------------------------------------------------------------------------


def test_announced_file_of_a_person_is_left_alone(repo: GitBrain) -> None:
    """`git add -N` on a file outside of the brain's own makes it no file of the brain, even when it is gone again."""
    repo.put("private.txt", "not for the remote\n")
    gone = repo.put("gone.txt", "x\n")
    repo.git("add", "-N", "private.txt", "gone.txt")
    gone.unlink()
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert repo.committed() == [DAY]
    assert answer.left_alone == ("gone.txt", "private.txt")
    assert repo.status() == " D gone.txt\n A private.txt"


def test_announced_file_that_is_gone_is_forgotten(repo: GitBrain) -> None:
    """An announced note that was removed again is nothing to commit; a tracked empty file that is gone is."""
    repo.put_memory("main/empty.md", "")
    repo.commit()
    gone = repo.put_memory("main/gone.md", "x\n")
    repo.git("add", "-N", "memory/main/gone.md")
    gone.unlink()

    planned = repo.sync(is_dry_run=True)
    first = repo.sync()
    assert repo.status() == ""
    (repo.root / "memory/main/empty.md").unlink()
    second = repo.sync()

    assert (planned.commits, planned.pending) == ((), ())
    assert (first.outcome, first.pending) == (SyncOutcome.NOTHING, ())
    assert second.outcome is SyncOutcome.DONE
    assert repo.committed() == ["memory/main/empty.md"]
    assert repo.status() == ""


# -- hooks that edit -----------------------------------------------------------------------------------------------------


def test_hook_that_edits_leaves_a_clean_tree(repo: GitBrain) -> None:
    """A hook that formats, adds what it changed and makes a file: committed as the hook left it, and all is clean.

    What a person has staged beside it stays staged.
    """
    repo.put("tool.txt", "one\n")
    repo.put("list.txt", "none\n")
    repo.commit()
    repo.put("tool.txt", "two\n")
    repo.git("add", "tool.txt")
    repo.put_memory("main/plan.md", "text  \n")
    _hook(
        repo,
        "pre-commit",
        "sed -i 's/ *$//' memory/main/plan.md && ls memory/main > list.txt\ngit add memory/main/plan.md list.txt",
    )

    answer = repo.sync()
    again = repo.sync()

    assert (answer.outcome, again.outcome, again.notes) == (SyncOutcome.DONE, SyncOutcome.NOTHING, ())
    assert repo.git("show", "HEAD:memory/main/plan.md") == "text"
    assert repo.git("show", "HEAD:list.txt") == "plan.md"
    assert repo.status() == "M  tool.txt"
    assert repo.git("for-each-ref", "refs/omnislash/") == ""


# -- what git can't store ------------------------------------------------------------------------------------------------


def test_file_whose_filter_fails_holds_up_nothing_else(repo: GitBrain) -> None:
    """A filter whose program is missing keeps its own files back, named with the reason; all else is committed."""
    repo.git("config", "filter.gone.clean", "/nowhere/filter %f")
    repo.git("config", "filter.gone.required", "true")
    repo.put(".gitattributes", "*.bin.md filter=gone\n")
    repo.commit()
    names = ["a.bin.md", "two\nlines.bin.md", "z.bin.md"]
    for name in names:
        repo.put_memory(f"main/{name}", "x\n")
    repo.put_memory("main/m.md", "x\n")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert answer.outcome is SyncOutcome.STOPPED
    assert repo.committed() == [DAY, "memory/main/m.md"]
    assert [each.path for each in answer.blocked] == [f"memory/main/{name}" for name in names]
    assert all("git can't store it: " in each.reason for each in answer.blocked)
    assert repo.git("ls-files", "memory/main/a.bin.md") == ""


def test_repository_that_takes_nothing_is_no_fault_of_a_file(
    repo: GitBrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where git can store nothing at all, no file is blamed: the sync fails with git's own words."""
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *" commit "*|*" hash-object "*) echo "fatal: No space left on device" >&2; exit 128;; esac\n'
        f'exec /usr/bin/env -S PATH="{os.environ["PATH"]}" git "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert (answer.outcome, answer.blocked) == (SyncOutcome.FAILED, ())
    assert "No space left on device" in answer.message


def test_mixed_line_ends_hold_up_nothing_else(repo: GitBrain) -> None:
    """`core.safecrlf=true` refuses a file with mixed line ends: that one waits, the others do not."""
    repo.git("config", "core.autocrlf", "input")
    repo.git("config", "core.safecrlf", "true")
    repo.put_memory("main/mixed.md", "one\r\ntwo\n")
    repo.put_memory("main/plain.md", "one\n")

    answer = repo.sync()

    assert [each.path for each in answer.blocked] == ["memory/main/mixed.md"]
    assert repo.committed() == ["memory/main/plain.md"]


# -- clutter -------------------------------------------------------------------------------------------------------------

CLUTTER = [
    *("features/chat/.env", "features/chat/.env.local", "features/chat/.envrc"),
    *("memory/main/#plan.md#", "memory/main/.#plan.md", "memory/main/.DS_Store", "memory/main/.MEMORY.md.swp"),
    *("memory/main/._plan.md", "memory/main/Thumbs.db", "memory/main/plan.md~"),
]


def test_clutter_of_editors_is_left_alone(repo: GitBrain) -> None:
    """New files that editors and systems leave, and files of keys, are named and not taken; what looks alike is taken."""
    alike = ["features/chat/.env.example", "features/chat/environment.md", "memory/main/plan.swp.md"]
    for path in [*CLUTTER, *alike]:
        repo.put(path, "x\n")

    answer = repo.sync()

    assert repo.committed() == alike
    assert answer.left_alone == tuple(sorted(CLUTTER))
    assert answer.pending == ()


def test_new_brain_hides_clutter(repo: GitBrain) -> None:
    """The .gitignore of a new brain hides all of it, also from `git add -A`, and the answer needs not name it."""
    repo.put(*templates.IGNORE)
    repo.commit()
    for path in [*CLUTTER, "features/chat/.env.example"]:
        repo.put(path, "x\n")

    answer = repo.sync()

    assert repo.committed() == ["features/chat/.env.example"]
    assert answer.left_alone == ()
    assert repo.open().sync_status().ignored == ()
    assert repo.status() == ""


def test_tracked_clutter_is_a_file_like_others(repo: GitBrain) -> None:
    """What a person has put under git stays under git."""
    repo.put_memory("main/plan.md~", "one\n")
    repo.commit()
    repo.put_memory("main/plan.md~", "two\n")

    repo.sync()

    assert repo.committed() == ["memory/main/plan.md~"]


# -- large files and odd names -------------------------------------------------------------------------------------------


def test_large_files_are_not_taken_for_empty_ones(repo: GitBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file too large to look into has not the hash of an empty one: a removed empty file was not moved there."""
    monkeypatch.setattr(changes, "_LOOKED_AT", 10)
    place = repo.put_memory("main/empty.md", "")
    repo.commit()
    place.unlink()
    repo.put_memory("main/large.md", "more than ten bytes\n")

    repo.sync()

    assert "moved" not in repo.message()
    assert repo.git("show", "HEAD:memory/main/large.md") == "more than ten bytes"


def test_names_are_shown_on_one_line(repo: GitBrain, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line spells out what would break a line or drive a terminal; `--json` has the name itself."""
    repo.put_memory("main/two\nlines.md", "x\n")
    repo.put("esc\x1b[2J.txt", "x\n")

    main(["--brain", str(repo.root), "sync", "status"])
    shown = capsys.readouterr().out
    main(["--brain", str(repo.root), "--json", "sync", "status"])
    answer = json.loads(capsys.readouterr().out)
    main(["--brain", str(repo.root), "sync", "run"])
    shown += capsys.readouterr().out

    assert "memory/main/two\\nlines.md  by hand" in shown
    assert shown.count("left alone, because they are not the brain's: esc\\x1b[2J.txt\n") == 2
    assert answer["pending"] == [{"path": "memory/main/two\nlines.md", "by": ["by hand"]}]
    assert answer["leftAlone"] == ["esc\x1b[2J.txt"]


# -- a directory where a file was, and the reverse -----------------------------------------------------------------------


def test_directory_that_is_not_the_brains_holds_up_nothing_else(repo: GitBrain) -> None:
    """A tracked file in whose place stands a directory with nothing to commit waits; the rest is committed."""
    repo.put("README", "one\n")
    repo.commit()
    (repo.root / "README").unlink()
    repo.put("README/mine.txt", "x\n")
    repo.agent().memory.write("One.")

    answer = repo.sync()

    assert [each.path for each in answer.blocked] == ["README"]
    assert repo.committed() == [DAY]
