"""The check of git, with real repositories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.checks.findings import CheckResult
    from tests.unit.doctor.conftest import Examine

    Git = Callable[..., str]

SYNC = "Run `omnislash sync run`."
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
YESTERDAY = (NOW - timedelta(hours=25)).isoformat()
NOTES = {"memory/main/MEMORY.md": "- We ship on Fridays.\n", ".gitignore": ".omnislash/\nmemory/.memory-index.db*\n"}
IGNORE = {".gitignore": NOTES[".gitignore"]}
BY_HAND = "Commit it by hand: brain-sync leaves a part of a larger repository alone."
RESOLVE = "Keep what is right, and remove the lines of `<<<<<<<`, `=======` and `>>>>>>>`."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the home of somebody who has set nothing."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def surroundings(home: Path) -> dict[str, str]:
    """Return the variables of a quiet machine whose clock stands at the day of the tests."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_COMMITTER_DATE": NOW.isoformat(),
        "GIT_AUTHOR_DATE": NOW.isoformat(),
    }


@pytest.fixture
def git(brain_root: Path, surroundings: dict[str, str]) -> Git:
    """Return what runs git in the brain."""

    def run(*args: str, cwd: Path = brain_root, check: bool = True, date: str = NOW.isoformat()) -> str:
        dates = {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
        done = subprocess.run(
            ["git", *args],
            cwd=cwd,
            env={**surroundings, **dates},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def look(examine: Examine, brain_root: Path, surroundings: dict[str, str]) -> Callable[..., CheckResult]:
    """Return the examination; every file that it writes was last changed at the day of the tests."""

    def run(files: Mapping[str, str | bytes] | None = None, **options: Any) -> CheckResult:
        for path, content in (files or {}).items():
            place = brain_root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
            os.utime(place, (NOW.timestamp(), NOW.timestamp()))
        settings = brain_root / "omnislash.yaml"
        kept = {"omnislash.yaml": settings.read_text()} if settings.exists() else {}
        return examine(kept, "git", environment=surroundings, **options)["git"]

    return run


@pytest.fixture
def committed(git: Git, brain_root: Path, examine: Examine) -> Git:
    """Make a brain whose every file is committed, and return what runs git in it."""
    git("init", "--quiet", "--initial-branch=main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    examine(NOTES, "git")
    commit(git)
    return git


def commit(git: Git, message: str = "A change", **options: Any) -> None:
    """Commit everything that changed."""
    git("add", "--all", **options)
    git("commit", "--quiet", "--message", message, **options)


def found(severity: Severity, message: str, **fields: Any) -> Finding:
    """Return a finding."""
    return Finding(severity, message, **fields)


# -- passing ---------------------------------------------------------------------------------------------------------


def test_committed_brain_passes(committed: Git, look: Any) -> None:
    """A brain in which everything is committed passes without a word."""
    result = look()
    assert (result.status, result.findings) == (Status.PASS, ())


def test_brain_without_git_passes(look: Any) -> None:
    """A brain in no repository is told what git would give."""
    message = "The brain is in no git repository: changes can't be looked at or taken back."
    hint = "Run `git init` in the brain, then `omnislash sync run`."
    assert look().findings == (found(Severity.INFO, message, hint=hint),)


def test_machine_without_git_passes(look: Any, surroundings: dict[str, str], tmp_path: Path) -> None:
    """Where git is not installed the brain works without."""
    surroundings["PATH"] = str(tmp_path)
    message = "Git is not installed: the brain works without, but changes can't be looked at or taken back."
    assert look().findings == (found(Severity.INFO, message),)


def test_changes_of_today_are_fine(committed: Git, look: Any) -> None:
    """What was written today waits for the next sync."""
    edited = {"memory/main/MEMORY.md": "- We ship on Mondays.\n", "memory/ops/MEMORY.md": "- New.\n"}
    assert look(edited).findings == ()


def test_worktree_and_submodule_work(committed: Git, look: Any, brain_root: Path, tmp_path: Path) -> None:
    """A brain in a second working tree, with a submodule in it, is looked at like any other."""
    committed("init", "--quiet", str(tmp_path / "other"))
    committed(
        "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x", cwd=tmp_path / "other"
    )
    committed("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "tools")
    commit(committed)
    kept = tmp_path / "kept"
    brain_root.rename(kept)
    committed("worktree", "add", "--quiet", str(brain_root), "-b", "second", cwd=kept)
    assert look().findings == ()
    git_dir = committed("rev-parse", "--absolute-git-dir").strip()
    Path(git_dir, "MERGE_HEAD").write_text(committed("rev-parse", "HEAD"), encoding="ascii")
    assert [finding.severity for finding in look().findings] == [Severity.WARN]


# -- what hinders git ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age_s", "says"), [(0, "0 seconds old"), (61, "1 minute old"), (599, "9 minutes old")], ids=["now", "61s", "599s"]
)
def test_young_lock_is_only_told(committed: Git, look: Any, brain_root: Path, age_s: float, says: str) -> None:
    """A lock that somebody may hold is told with its age, and nobody is asked to remove it (O-50)."""
    lock_git(brain_root, age_s)
    message = f"Git's lock index.lock is {says}; a git command may be at work."
    assert look().findings == (found(Severity.INFO, message, path=".git/index.lock"),)


def test_old_lock_is_a_warning(committed: Git, look: Any, brain_root: Path) -> None:
    """A lock of two hours is named with its age and with what removes it (O-50)."""
    lock_git(brain_root, 2 * 3600)
    lock_git(brain_root, 3 * 86_400, "HEAD.lock")
    tail = "old: nothing can be committed while it lies there."
    assert look().findings == (
        found(
            Severity.WARN,
            f"Git's lock index.lock is 2 hours {tail}",
            path=".git/index.lock",
            hint=f"{SYNC} It removes the lock when no process holds it.",
        ),
        found(
            Severity.WARN,
            f"Git's lock HEAD.lock is 3 days {tail}",
            path=".git/HEAD.lock",
            hint="Remove HEAD.lock from the .git directory once no git command runs.",
        ),
    )


def lock_git(root: Path, age_s: float, name: str = "index.lock") -> None:
    """Leave a lock of an age."""
    lock = root / ".git" / name
    lock.touch()
    os.utime(lock, (NOW.timestamp() - age_s, NOW.timestamp() - age_s))


def test_detached_head_is_a_warning(committed: Git, look: Any) -> None:
    """A HEAD on no branch is named, with the way back (O-52)."""
    committed("checkout", "--quiet", "--detach")
    message = "HEAD is detached: commits would be on no branch, so brain-sync makes none."
    hint = "Run `git switch` with the name of your branch, then `omnislash sync run`."
    assert look().findings == (found(Severity.WARN, message, hint=hint),)


def test_repository_without_commits_is_told(git: Git, look: Any) -> None:
    """A repository in which nothing was committed yet, by nobody in particular, is no fault."""
    git("init", "--quiet")
    assert look(IGNORE).findings == (
        found(Severity.INFO, "There is no commit yet.", hint=SYNC),
        found(
            Severity.INFO,
            "Git has no user.name and user.email: commits are by omnislash <omnislash@localhost>.",
            hint="Run `git config user.name NAME` and `git config user.email ADDRESS` in the brain.",
        ),
    )


def test_name_in_the_environment_is_one(git: Git, look: Any, surroundings: dict[str, str]) -> None:
    """Whoever is named by the environment is named."""
    git("init", "--quiet")
    surroundings |= {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
    assert [finding.message for finding in look(IGNORE).findings] == ["There is no commit yet."]


def diverge(git: Git, root: Path) -> None:
    """Make two branches that changed the same line."""
    git("switch", "--quiet", "--create", "other")
    (root / "memory/main/MEMORY.md").write_text("- We ship on Mondays.\n")
    commit(git)
    git("switch", "--quiet", "main")
    (root / "memory/main/MEMORY.md").write_text("- We ship on Sundays.\n")
    commit(git)


UNMERGED = found(
    Severity.FAIL,
    "memory/main/MEMORY.md is unmerged: git waits for somebody to choose between two versions.",
    path="memory/main/MEMORY.md",
    hint="Settle it in the file, then run `git add -- memory/main/MEMORY.md`.",
)
MARKED = found(
    Severity.FAIL,
    "memory/main/MEMORY.md has a conflict mark of git in line 1: two versions stand in it.",
    path="memory/main/MEMORY.md",
    line=1,
    hint=RESOLVE,
)


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick", "revert"])
def test_open_operation_is_told_with_its_end(committed: Git, look: Any, brain_root: Path, operation: str) -> None:
    """What was begun and stands at a conflict is named once, with what ends it, and so is each file (O-51)."""
    diverge(committed, brain_root)
    if operation == "revert":
        (brain_root / "memory/main/MEMORY.md").write_text("- We ship never.\n")
        commit(committed)
    committed(operation, "HEAD~1" if operation == "revert" else "other", check=False)
    result = look()
    message = f"A {operation} was begun and not ended: brain-sync commits nothing until it is."
    hint = f"End it with `git {operation} --continue`, or take it back with `git {operation} --abort`."
    assert result.findings == (found(Severity.WARN, message, hint=hint), UNMERGED, MARKED)
    assert result.status is Status.FAIL


def test_bisect_is_told_with_its_end(committed: Git, look: Any) -> None:
    """A search for a commit that was begun keeps memory from being committed."""
    committed("bisect", "start")
    message = "A bisect was begun and not ended: brain-sync commits nothing until it is."
    hint = "End it with `git bisect reset`."
    assert look().findings == (found(Severity.WARN, message, hint=hint),)


def test_broken_repository_is_a_warning(look: Any) -> None:
    """A .git that git does not know is named."""
    message = "There is a .git in the brain, but git takes it for no repository with a working tree."
    hint = "Run `git status` in the brain: it says what is wrong."
    assert look({".git/x": ""}).findings == (found(Severity.WARN, message, path=".git", hint=hint),)


def test_bare_repository_is_a_warning(committed: Git, look: Any) -> None:
    """A repository that says that it has no working tree commits nothing."""
    committed("config", "core.bare", "true")
    message = "There is a .git in the brain, but git takes it for no repository with a working tree."
    assert [finding.message for finding in look().findings] == [message]


def test_damaged_index_is_a_warning(committed: Git, look: Any, brain_root: Path) -> None:
    """What git can't tell is said in git's own words, and the files are looked at all the same."""
    (brain_root / ".git/index").write_bytes(b"x" * 100)
    result = look({"memory/main/MEMORY.md": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"})
    assert result.findings[0].severity is Severity.WARN
    assert result.findings[0].message.startswith("Git can't tell how the brain stands: git status failed: ")
    assert result.findings[1:] == (MARKED,)


# -- conflict marks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Plan\n=======\n\nWe ship.\n",
        "```\n<<<<<<< HEAD\n=======\n>>>>>>> b\n```\n",
        "- <<<<<<< HEAD\n",
        "<<<<<<<< eight\n",
    ],
    ids=["a heading of seven", "in a fence", "in an entry", "eight of them"],
)
def test_what_looks_like_a_mark_is_none(look: Any, text: str) -> None:
    """An underlined heading and an example are no conflict (O-51)."""
    assert [finding.severity for finding in look({"memory/main/plan.md": text}).findings] == [Severity.INFO]


def test_marks_are_found_without_git(look: Any) -> None:
    """A mark is found in every file that doctor reads, repository or not, in the order of paths."""
    text = "a: 1\r\n<<<<<<< HEAD\r\nb: 1\r\n=======\r\nb: 2\r\n>>>>>>> other\r\n"
    result = look({"memory/main/MEMORY.md": text, "constitution/MANIFEST.yaml": text})
    assert [(finding.path, finding.line) for finding in result.findings] == [
        (None, None),
        ("constitution/MANIFEST.yaml", 2),
        ("memory/main/MEMORY.md", 2),
    ]


def test_many_marks_are_cut_short(look: Any) -> None:
    """Of many files with marks the first twenty are named and the rest counted."""
    files = {f"memory/main/n{number:02}.md": "<<<<<<< HEAD\n" for number in range(25)}
    result = look(files)
    assert len(result.findings) == 22
    assert result.findings[-1] == found(Severity.FAIL, "5 more files with conflict marks.")


# -- files -----------------------------------------------------------------------------------------------------------


def test_files_of_this_machine_that_are_tracked_are_a_warning(committed: Git, look: Any) -> None:
    """The state, the index and temporary files are named with the command that takes each out of git."""
    files = {".omnislash/state.json": "x", "memory/.memory-index.db": "", "memory/main/.omnislash-1f.tmp": "x"}
    look(files)
    committed("add", "--force", "--", *files)
    commit(committed)
    assert look().findings == (
        found(
            Severity.WARN,
            ".omnislash/state.json is tracked by git, and belongs to this machine alone.",
            path=".omnislash/state.json",
            hint="Run `git rm -r -f --cached .omnislash`, which keeps the files, and put `.omnislash/` into .gitignore.",
        ),
        found(
            Severity.WARN,
            "memory/.memory-index.db is tracked by git: it is made from the files and changes all the time.",
            path="memory/.memory-index.db",
            hint="Run `git rm -f --cached -- memory/.memory-index.db`, which keeps the file, "
            "and put `memory/.memory-index.db*` into .gitignore.",
        ),
        found(
            Severity.WARN,
            "memory/main/.omnislash-1f.tmp is a temporary file of omnislash, and tracked by git.",
            path="memory/main/.omnislash-1f.tmp",
            hint="Run `git rm -f --cached -- memory/main/.omnislash-1f.tmp`, which keeps the file.",
        ),
    )


@pytest.mark.parametrize(
    ("rules", "places", "lines"),
    [
        (
            "",
            ".omnislash/ and memory/.memory-index.db",
            "the line `.omnislash/` and the line `memory/.memory-index.db*`",
        ),
        (".omnislash/\n", "memory/.memory-index.db", "the line `memory/.memory-index.db*`"),
        (
            ".memory-index.db*\n!memory/.memory-index.db\n.omnislash\n",
            "memory/.memory-index.db",
            "the line `memory/.memory-index.db*`",
        ),
        ("*.db*\n", "", ""),
    ],
    ids=["no rule", "one rule", "a rule taken back", "a rule of one's own"],
)
def test_files_of_this_machine_that_are_not_ignored_are_a_warning(  # noqa: PLR0917
    committed: Git, look: Any, brain_root: Path, rules: str, places: str, lines: str
) -> None:
    """What `git add --all` would take in is named with the lines to add, which help; it need not be there yet."""
    committed("rm", "--quiet", "-f", "--cached", ".gitignore")
    (brain_root / ".gitignore").write_text(rules)
    (brain_root / ".omnislash").mkdir()
    message = f"Git does not ignore {places}, of this machine alone: `git add --all` would take it in."
    hint = f"Add {lines} to the .gitignore of the brain."
    assert look().findings == ((found(Severity.WARN, message, path=".gitignore", hint=hint),) if places else ())
    with (brain_root / ".gitignore").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", *re.findall("`(.+?)`", lines), ""]))
    assert look().findings == ()


def test_state_that_does_not_exist_brings_its_own_rule(committed: Git, look: Any) -> None:
    """Where there is no .omnislash/ yet, only the index is asked about: the other one hides itself when it is made."""
    (finding,) = look({".gitignore": ""}).findings
    assert finding.hint == "Add the line `memory/.memory-index.db*` to the .gitignore of the brain."


def run_hint(hint: str | None, root: Path, environment: Mapping[str, str]) -> None:
    """Run the command that a hint names in bash, in the brain."""
    command = re.findall(r"`(git .+?)`[,.]", hint or "", re.DOTALL)
    subprocess.run(["bash", "-c", command[0]], cwd=root, env=environment, check=True, capture_output=True)


def test_commands_against_tracked_files_help(
    committed: Git, look: Any, brain_root: Path, surroundings: dict[str, str]
) -> None:
    """Each command takes its file out of git and keeps it on disk, also where it was staged and changed since."""
    files = {".omnislash/state.json": "x", "memory/.memory-index.db": "", "memory/a b/.omnislash-1f.tmp": "x"}
    look(files)
    committed("add", "--force", "--", *files)
    look(dict.fromkeys(files, "changed"))
    told = look().findings
    assert [finding.path for finding in told] == list(files)
    for finding in told:
        run_hint(finding.hint, brain_root, surroundings)
    assert committed("ls-files", "--", *files) == ""
    assert [(brain_root / path).read_text() for path in files] == ["changed"] * 3
    assert look().findings == ()


ODD = ["memory/main/a b.md", "memory/main/it's $(x).md", "memory/main/two\nlines.md", "memory/main/caf\udce9.md"]


@pytest.mark.parametrize("path", ODD, ids=["space", "quote", "line end", "no UTF-8"])
def test_command_against_an_unmerged_file_helps(
    committed: Git, look: Any, brain_root: Path, surroundings: dict[str, str], path: str
) -> None:
    """Whatever the name, the command settles that file: a name is one word of it."""
    place = brain_root / path
    place.write_text("- a\n")
    commit(committed)
    committed("switch", "--quiet", "--create", "other")
    place.write_text("- b\n")
    commit(committed)
    committed("switch", "--quiet", "main")
    place.write_text("- c\n")
    commit(committed)
    committed("merge", "other", check=False)
    place.write_text("- b and c\n")
    unmerged = [finding for finding in look().findings if finding.severity is Severity.FAIL]
    assert [finding.about for finding in unmerged] == [
        (path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),)
    ]
    run_hint(unmerged[0].hint, brain_root, surroundings)
    assert [finding.severity for finding in look().findings] == [Severity.WARN]


def test_uncommitted_files_are_all_what_it_is_about(committed: Git, look: Any, brain_root: Path) -> None:
    """The finding carries every file, also those that its message only counts."""
    files = {f"memory/ops/n{number}.md": "x\n" for number in range(7)}
    look(files)
    for path in files:
        os.utime(brain_root / path, (NOW.timestamp() - 90_000, NOW.timestamp() - 90_000))
    (finding,) = look().findings
    assert "and 2 more" in finding.message
    assert set(finding.about) == set(files)


def test_ignored_memory_is_named_with_its_rule(committed: Git, look: Any, home: Path) -> None:
    """Each note that git ignores is named with the rule, its file and its line (O-54)."""
    (home / "excludes").write_text("# mine\n2026-*\n")
    committed("config", "core.excludesFile", str(home / "excludes"))
    path = "memory/main/2026/12/2026-12-01.md"
    message = f"{path} is ignored by git: the rule `2026-*` stands in {home}/excludes, line 2."
    hint = "Remove the rule; brain-sync adds files below memory/ in spite of it."
    assert look({path: "# Memory (2026-12-01)\n"}).findings == (found(Severity.WARN, message, path=path, hint=hint),)


def test_ignored_directory_names_its_notes(committed: Git, look: Any) -> None:
    """A rule for a whole directory is told for the notes in it, and not for what is no note."""
    look(
        {
            "memory/ops/a.md": "x\n",
            "memory/ops/b.txt": "x\n",
            "handbook/c.md": "x\n",
            "omnislash.yaml": "memory:\n  sources: [handbook]\n",
        }
    )
    result = look({".gitignore": f"memory/ops/\nhandbook\n{NOTES['.gitignore']}"})
    rules = [(finding.path, finding.message) for finding in result.findings]
    assert rules == [
        ("handbook/c.md", "handbook/c.md is ignored by git: the rule `handbook` stands in .gitignore, line 2."),
        ("memory/ops/a.md", "memory/ops/a.md is ignored by git: the rule `memory/ops/` stands in .gitignore, line 1."),
    ]


def test_tracked_memory_is_not_ignored(committed: Git, look: Any) -> None:
    """A rule that comes after the commit ignores nothing."""
    assert look({".gitignore": "memory/\n.omnislash/\n"}).findings == ()


def test_many_ignored_notes_are_cut_short(committed: Git, look: Any) -> None:
    """Of many ignored notes the first twenty are named and the rest counted."""
    files = {f"memory/ops/n{number:02}.md": "x\n" for number in range(23)}
    result = look({**files, ".gitignore": f"memory/ops\n{NOTES['.gitignore']}"})
    assert len(result.findings) == 21
    assert result.findings[-1] == found(Severity.WARN, "3 more files are ignored by git.")


def test_repository_in_memory_is_a_warning(committed: Git, look: Any, brain_root: Path) -> None:
    """A directory of memory that is a repository of its own is in no commit of the brain."""
    look({"memory/ops/MEMORY.md": "x\n"})
    committed("init", "--quiet", "memory/ops")
    message = "memory/ops is a git repository of its own, so its files are in no commit of the brain."
    hint = "Remove memory/ops/.git, unless that is what you want."
    assert look().findings == (found(Severity.WARN, message, path="memory/ops", hint=hint),)


@pytest.mark.parametrize("settings", ["{}\n", "sync:\n  enabled: false\n"], ids=["sync on", "sync off"])
def test_memory_that_stays_uncommitted_is_a_warning(committed: Git, look: Any, brain_root: Path, settings: str) -> None:
    """Memory that was changed or made more than a day ago is counted and named, whoever is to commit it."""
    files = {"memory/main/MEMORY.md": "- Mondays.\n", "memory/ops/a/b.md": "x\n", "memory/ops/c.txt": "x\n"}
    look({**files, "constitution/MANIFEST.yaml": settings})
    for path, hours in (("memory/main/MEMORY.md", 25), ("memory/ops/a/b.md", 49), ("memory/ops/c.txt", 99)):
        at = NOW.timestamp() - hours * 3600
        os.utime(brain_root / path, (at, at))
    message = (
        "2 files of memory have not been committed for more than a day, the oldest since 2026-11-29 08:30: "
        "memory/main/MEMORY.md, memory/ops/a/b.md."
    )
    assert look().findings == (found(Severity.WARN, message, path="memory/main/MEMORY.md", hint=SYNC),)


# -- remotes and settings --------------------------------------------------------------------------------------------


def add_remote(git: Git, tmp_path: Path) -> Path:
    """Make a bare remote and follow its branch; return it."""
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "remote.git"))
    git("remote", "add", "origin", str(tmp_path / "remote.git"))
    git("fetch", "--quiet", "origin")
    git("branch", "--quiet", "--set-upstream-to=origin/main")
    return tmp_path / "remote.git"


def change(git: Git, root: Path, text: str, **options: Any) -> None:
    """Change a file and commit it."""
    (root / "memory/main/MEMORY.md").write_text(text)
    commit(git, **options)


def test_pushed_brain_passes(committed: Git, look: Any, tmp_path: Path) -> None:
    """A brain that stands where its remote stands passes without a word."""
    add_remote(committed, tmp_path)
    assert look().findings == ()


def test_commits_of_both_sides_are_told(committed: Git, look: Any, brain_root: Path, tmp_path: Path) -> None:
    """Ahead and behind are told as of the last fetch; a commit of today may wait."""
    add_remote(committed, tmp_path)
    change(committed, brain_root, "- a\n")
    change(committed, brain_root, "- b\n")
    committed("push", "--quiet")
    committed("reset", "--quiet", "--hard", "HEAD~2")
    change(committed, brain_root, "- c\n")
    assert look().findings == (
        found(Severity.INFO, "origin/main has 2 commits that are not here, as of the last fetch.", hint=SYNC),
        found(Severity.INFO, "1 commit is not pushed to origin/main, the oldest of 2026-12-01 09:30.", hint=SYNC),
    )


def test_commits_that_stay_here_are_a_warning(committed: Git, look: Any, brain_root: Path, tmp_path: Path) -> None:
    """Commits that have not been pushed for more than a day are a warning, unless nobody wants them pushed."""
    add_remote(committed, tmp_path)
    change(committed, brain_root, "- a\n", date=YESTERDAY)
    change(committed, brain_root, "- b\n")
    message = "2 commits are not pushed to origin/main, the oldest of 2026-11-30 08:30."
    assert look().findings == (found(Severity.WARN, message, hint=SYNC),)
    assert look({"constitution/MANIFEST.yaml": "sync:\n  push: false\n"}).findings == (
        found(Severity.INFO, message, hint="Run `git push`."),
    )


def test_branch_that_is_gone_from_the_remote_is_fine(committed: Git, look: Any, tmp_path: Path) -> None:
    """An upstream that does not exist is compared with nothing."""
    add_remote(committed, tmp_path)
    committed("update-ref", "-d", "refs/remotes/origin/main")
    assert look().findings == ()


@pytest.mark.parametrize(
    ("address", "is_told"),
    [
        pytest.param("https://ada:" + "hunter" + "22@example.org/b.git", True, id="password"),
        pytest.param("https://" + "ghp" + "_" + "A1b2C3d4E5" * 4 + "@example.org/b.git", True, id="token"),
        pytest.param("https://ada@example.org/b.git", False, id="name alone"),
        pytest.param("git@example.org:b.git", False, id="ssh"),
        pytest.param("ssh://git@example.org:22/b.git", False, id="port"),
    ],
)
def test_password_of_a_remote_is_named_and_not_shown(committed: Git, look: Any, address: str, is_told: bool) -> None:
    """A remote whose address holds a password is named, and the address never (O-58)."""
    committed("remote", "add", "origin", address)
    hint = "Run `git remote set-url origin URL` with an address without it; a credential helper or ssh keeps it."
    message = "The address of the remote origin has a password in it, readable in git's configuration."
    assert look().findings == ((found(Severity.WARN, message, hint=hint),) if is_told else ())


def test_password_in_a_rewritten_address_is_named(committed: Git, look: Any) -> None:
    """An address that replaces another one may hold a password too."""
    committed("config", "url.https://ada:" + "hunter" + "22@example.org/.insteadOf", "https://example.org/")
    message = "An address that git replaces has a password in it, readable in git's configuration."
    hint = "Write it without the password, and let a credential helper or ssh keep that."
    assert look().findings == (found(Severity.WARN, message, hint=hint),)


def test_brain_in_a_larger_repository_is_told(git: Git, look: Any, brain_root: Path, tmp_path: Path) -> None:
    """A part of a larger repository is looked at alone: what else lies in that is not the brain's."""
    git("init", "--quiet", "--initial-branch=main", cwd=tmp_path)
    git("config", "user.name", "Ada", cwd=tmp_path)
    git("config", "user.email", "ada@example.org", cwd=tmp_path)
    look(NOTES)
    (tmp_path / ".gitignore").write_text("/home/\n")
    commit(git, cwd=tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "x.md").write_text("x\n")
    old = {"memory/main/MEMORY.md": "- Mondays.\n", "memory/main/2026/12/a.md": "x\n"}
    look(old)
    for path in old:
        os.utime(brain_root / path, (NOW.timestamp() - 90_000, NOW.timestamp() - 90_000))
    uncommitted = (
        "2 files of memory have not been committed for more than a day, the oldest since 2026-11-30 08:30: "
        "memory/main/2026/12/a.md, memory/main/MEMORY.md."
    )
    hint = "`sync.nested: true` in constitution/MANIFEST.yaml commits it there; nothing is pushed."
    assert look().findings == (
        found(Severity.WARN, uncommitted, path="memory/main/2026/12/a.md", hint=BY_HAND),
        found(
            Severity.INFO,
            "The brain is a part of a larger git repository, so brain-sync leaves it alone.",
            hint=hint,
        ),
    )
    assert len(look({"constitution/MANIFEST.yaml": "sync:\n  nested: true\n"}).findings) == 1


def test_larger_repository_without_commits_is_committed_by_hand(git: Git, look: Any, tmp_path: Path) -> None:
    """Where brain-sync commits nothing, no finding sends anybody to it; where it is to, it is named."""
    git("init", "--quiet", cwd=tmp_path)
    told = {finding.message: finding.hint for finding in look(NOTES).findings}
    assert told["There is no commit yet."] == BY_HAND
    told = {
        finding.message: finding.hint
        for finding in look({"constitution/MANIFEST.yaml": "sync:\n  nested: true\n"}).findings
    }
    assert told["There is no commit yet."] == SYNC


def test_old_lock_of_a_larger_repository_is_removed_by_hand(git: Git, look: Any, tmp_path: Path) -> None:
    """Brain-sync does not touch it there."""
    git("init", "--quiet", cwd=tmp_path)
    lock_git(tmp_path, 7200)
    hints = [finding.hint for finding in look(NOTES).findings if "index.lock" in finding.message]
    assert hints == ["Remove index.lock from the .git directory once no git command runs."]


def test_brain_that_a_larger_repository_ignores_is_told(git: Git, look: Any, brain_root: Path, tmp_path: Path) -> None:
    """A brain that the repository around it ignores as a whole is named by its notes."""
    git("init", "--quiet", cwd=tmp_path)
    (tmp_path / ".gitignore").write_text("brain/\n")
    result = look(NOTES)
    message = "memory/main/MEMORY.md is ignored by git: the rule `brain/` stands in .gitignore, line 1."
    assert message in [finding.message for finding in result.findings]


# -- two at once, and what is odd ------------------------------------------------------------------------------------


def test_two_faults_are_both_told(committed: Git, look: Any, brain_root: Path) -> None:
    """An old lock and a detached HEAD are told together."""
    committed("checkout", "--quiet", "--detach")
    lock_git(brain_root, 3600)
    assert [finding.message.split()[0] for finding in look().findings] == ["Git's", "HEAD"]


def test_names_of_every_kind_are_paths(committed: Git, look: Any, brain_root: Path) -> None:
    """Names with quotes, line ends, other scripts and no UTF-8 are told as they are (O-53)."""
    names = ['журнал/a "q" b.md', "main/two\nlines.md", b"main/caf\xe9.md".decode("utf-8", "surrogateescape")]
    for name in names:
        place = brain_root / "memory" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x\n")
        os.utime(place, (NOW.timestamp() - 90_000, NOW.timestamp() - 90_000))
    (finding,) = look().findings
    assert finding.message.startswith("3 files of memory have not been committed for more than a day, ")
    for name in ("main/caf\ufffd.md", "main/two\nlines.md", 'журнал/a "q" b.md'):
        assert f"memory/{name}" in finding.message


def test_brain_that_does_not_load_is_looked_at(committed: Git, look: Any) -> None:
    """Settings that do not load keep git from nothing (DOCTOR-16)."""
    assert look({"omnislash.yaml": "memory: [\n", "constitution/MANIFEST.yaml": ":\n- ["}).findings == ()


def test_looking_leaves_no_trace(committed: Git, look: Any, brain_root: Path) -> None:
    """Git refreshes no index and makes no file: nothing below .git is another one afterwards (O-62)."""
    look({"memory/main/MEMORY.md": "- Mondays.\n"})
    committed("config", "core.fsmonitor", "true")
    committed("config", "core.untrackedCache", "true")

    def seen() -> dict[str, tuple[int, int]]:
        places = [place for place in (brain_root / ".git").rglob("*") if place.is_file()]
        return {str(place): (place.stat().st_mtime_ns, place.stat().st_size) for place in places}

    os.utime(brain_root / "memory/main/MEMORY.md", (NOW.timestamp() - 7, NOW.timestamp() - 7))
    before = seen()
    look()
    assert seen() == before


def test_settings_of_an_outer_git_are_not_taken(
    committed: Git, look: Any, surroundings: dict[str, str], tmp_path: Path
) -> None:
    """Within a hook of another repository the brain's own one is looked at."""
    surroundings |= {"GIT_DIR": str(tmp_path / "nowhere"), "GIT_INDEX_FILE": str(tmp_path / "index")}
    assert look().findings == ()


def test_git_that_hangs_is_given_up(committed: Git, look: Any, surroundings: dict[str, str], tmp_path: Path) -> None:
    """A git that fails is told in its own words, and ends no examination."""
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    real = shutil.which("git")
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *status*) echo "fatal: no such luck" >&2; exit 128;; esac\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    surroundings["PATH"] = f"{fake.parent}:{surroundings['PATH']}"
    message = "Git can't tell how the brain stands: git status failed: no such luck."
    assert look().findings == (found(Severity.WARN, message),)
