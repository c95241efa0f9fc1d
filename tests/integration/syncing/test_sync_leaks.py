"""What a push would hand over: credentials in every part of a commit, whatever a person has set (SECRET-O3)."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime.syncing.leaks import find_held
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.store.git import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omnislash.runtime.syncing.values import Held
    from tests.integration.syncing.conftest import GitBrain

#: Put together here, so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "b" * 36
OTHER = "gh" + "p_" + "c" * 36


class Plain:
    """A repository with nothing of the product in it."""

    def __init__(self, root: Path) -> None:
        """Make it."""
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main", "--template=")
        self.git("config", "user.name", "Person")
        self.git("config", "user.email", "p@example.org")

    def git(self, *words: str) -> str:
        """Run git in it and return what it prints."""
        done = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.rstrip("\n")

    def commit(self, files: dict[str, str | bytes], message: str = "x") -> str:
        """Commit these files and return the commit."""
        for name, content in files.items():
            (self.root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def find(self, *revisions: str) -> Sequence[Held]:
        """Return what is held of the commits."""
        repository = Repository.open(self.root)
        assert repository is not None
        return find_held(repository, *(revisions or ("HEAD",)))


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    """Return an empty repository."""
    return Plain(tmp_path / "plain")


def _tell(held: Sequence[Held]) -> list[tuple[str, str, int]]:
    return [(each.commit, each.path, each.line) for each in held]


@pytest.mark.rule("SECRET-O3")
@pytest.mark.parametrize(
    "setting",
    [
        "log.showRoot=false",
        "diff.noPrefix=true",
        "diff.interHunkContext=9",
        "diff.mnemonicPrefix=true",
        "diff.context=9",
    ],
)
def test_settings_of_a_person_hide_nothing(plain: Plain, setting: str) -> None:
    """The first commit of all is looked at like another, and what is shown to people changes no answer."""
    first = plain.commit({"a.md": f"- One.\n- {TOKEN}\n- Two.\n- Three.\n"})
    second = plain.commit({"a.md": f"- 1.\n- {TOKEN}\n- Two.\n- {OTHER}\n"})
    plain.git("config", *setting.split("="))

    assert _tell(plain.find()) == [(first, "a.md", 2), (second, "a.md", 4)]


@pytest.mark.rule("SECRET-O3")
def test_replaced_commit_is_looked_at_as_it_is_pushed(plain: Plain) -> None:
    """A push hands over the commit itself, not the one that `git replace` shows in its place."""
    clean = plain.commit({"a.md": "- One.\n"})
    bad = plain.commit({"a.md": f"- {TOKEN}\n"})
    plain.git("replace", bad, clean)

    assert _tell(plain.find(bad)) == [(bad, "a.md", 1)]


@pytest.mark.rule("SECRET-O3")
@pytest.mark.parametrize(("text", "line"), [(f"- {TOKEN}\n- {OTHER}\n", 2), (f"- {OTHER}\n", 1)])
def test_merge_that_adds_another_value_is_held(plain: Plain, text: str, line: int) -> None:
    """A parent holds one of the class in that file: the one that the merge itself adds is another, and is held."""
    plain.commit({"a.md": f"- {TOKEN}\n"})
    plain.git("switch", "-q", "-c", "side")
    plain.commit({"b.md": "- Side.\n"})
    plain.git("switch", "-q", "main")
    plain.commit({"c.md": "- Main.\n"})
    plain.git("merge", "-q", "--no-commit", "--no-ff", "side")
    merge = plain.commit({"a.md": text}, "joined")

    assert _tell(plain.find("HEAD", "--not", "HEAD^1", "HEAD^2")) == [(merge, "a.md", line)]


@pytest.mark.rule("SECRET-O3")
def test_merge_that_carries_on_is_not_held(plain: Plain) -> None:
    """What stands in a parent is that parent's, also where its line changed around it or its file was renamed."""
    plain.commit({"a.md": "- One.\n", "b.md": "- Two.\n"})
    plain.git("switch", "-q", "-c", "side")
    plain.commit({"a.md": f"- One: {TOKEN}\n", "b.md": f"- Two.\n- {OTHER}\n"})
    plain.git("switch", "-q", "main")
    plain.git("mv", "b.md", "new.md")
    plain.commit({})
    plain.git("merge", "-q", "--no-commit", "--no-ff", "side")
    plain.commit({"a.md": f"- Both: {TOKEN}\n"}, "joined")

    assert (plain.root / "new.md").read_text().count(OTHER) == 1
    assert plain.find("HEAD", "--not", "HEAD^1", "HEAD^2") == ()


@pytest.mark.rule("SECRET-O3")
def test_merge_that_is_the_same_as_a_parent_is_not_held(plain: Plain) -> None:
    """`git merge -s ours` adds nothing to the side that it keeps."""
    plain.commit({"a.md": "- One.\n"})
    plain.git("switch", "-q", "-c", "side")
    plain.commit({"b.md": "- Two.\n"})
    plain.git("switch", "-q", "main")
    plain.commit({"a.md": f"- {TOKEN}\n"})
    plain.git("merge", "-q", "-s", "ours", "-m", "x", "side")

    assert plain.find("HEAD", "--not", "HEAD^1", "HEAD^2") == ()


@pytest.mark.rule("SECRET-O3", "SECRET-O2")
def test_name_and_message_are_looked_at(plain: Plain) -> None:
    """The name of a new file goes out, and so does the message; neither shows the value."""
    first = plain.commit({f'"{TOKEN}"\t.md': "", "a.md": "diff --git a/x b/x\n"})
    second = plain.commit({"a.md": "- One.\n"}, f"Try it\n\ncommit 1\n+ with {TOKEN}")
    plain.git("rm", "-q", "--", f'"{TOKEN}"\t.md')
    plain.commit({})

    held = plain.find()

    assert _tell(held) == [(first, '"[redacted: GitHub token]"\\t.md', 0), (second, "", 4)]
    assert TOKEN not in str([(each.to_json(), each.place) for each in held])
    assert [each.place for each in held] == [
        '"[redacted: GitHub token]"\\t.md (GitHub token in its name)',
        "the commit's message, line 4 (GitHub token)",
    ]


@pytest.mark.rule("SECRET-O3")
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_two_bytes_a_letter_hide_nothing(plain: Plain, encoding: str) -> None:
    """A text in UTF-16 is looked at as the text that it is, and its lines are counted."""
    commit = plain.commit({"a.txt": f"One.\nTwo.\nThe key is {TOKEN}.\n".encode(encoding)})

    assert _tell(plain.find()) == [(commit, "a.txt", 3)]


@pytest.mark.rule("SECRET-O3")
def test_lines_that_look_like_a_patch_are_lines(plain: Plain) -> None:
    """Content that begins like a header of a patch moves nothing to another file."""
    text = f"++ b/other.md\n-- a/other.md\n@@ -1 +90 @@\ncommit {'1' * 40}\ndiff --git a/x b/x\n{TOKEN}\n"
    first = plain.commit({"a.md": text})
    plain.commit({"a.md": ""})

    assert _tell(plain.find()) == [(first, "a.md", 6)]


@pytest.mark.rule("SECRET-O3")
def test_way_out_of_a_held_push_works(repo: GitBrain, remote: Path) -> None:
    """The command that the message names takes the value out of what is pushed, and loses nothing else."""
    repo.sync()
    repo.put_memory("main/MEMORY.md", f"- One.\n- {TOKEN}\n")
    repo.sync()
    repo.agent().memory.write("After.")
    answer = repo.sync()
    said = answer.message.split("`")[1]

    repo.git(*said.split()[1:])
    repo.put_memory("main/MEMORY.md", "- One.\n")
    done = repo.sync()

    assert "All commits after them wait too." in answer.message
    assert said.startswith("git reset ")
    assert (done.outcome, done.held, done.pushed) == (SyncOutcome.DONE, (), 1)
    pushed = subprocess.run(["git", "log", "-p", "main"], cwd=remote, check=True, capture_output=True, text=True).stdout
    assert TOKEN not in pushed
    assert "After." in pushed


@pytest.mark.rule("SECRET-O3")
def test_way_out_of_a_held_first_push_works(repo: GitBrain, remote: Path) -> None:
    """Where nothing was pushed yet, the message names what begins the history anew."""
    repo.put_memory("main/MEMORY.md", f"- {TOKEN}\n")
    repo.git("add", "-A")
    repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--amend", "-m", "start")
    said = repo.sync().message.split("`")[1]

    repo.git(*said.split()[1:])
    repo.put_memory("main/MEMORY.md", "- One.\n")

    assert repo.sync().outcome is SyncOutcome.DONE
    log = subprocess.run(["git", "log", "-p", "main"], cwd=remote, check=True, capture_output=True, text=True).stdout
    assert TOKEN not in log
    assert "- One." in log


@pytest.mark.rule("SECRET-O3")
def test_many_commits_before_a_held_one_cost_nothing(
    repo: GitBrain, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How often git is started does not grow with the commits that wait."""
    repo.sync()
    started: list[str] = []
    ask = Repository.ask

    def count(self: Repository, *args: str, **options: object) -> object:
        started.append(args[0])
        return ask(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "ask", count)
    counts = []
    for number in (1, 12):
        for _ in range(number):
            repo.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "--allow-empty", "-m", "x")
        clean = repo.git("rev-parse", "HEAD")
        repo.put_memory("main/MEMORY.md", f"- {number} {TOKEN}\n")
        started.clear()
        answer = repo.sync()
        counts.append(len(started))
        assert (answer.outcome, answer.pushed) == (SyncOutcome.STOPPED, number)
        main = subprocess.run(["git", "rev-parse", "main"], cwd=remote, check=True, capture_output=True, text=True)
        assert main.stdout.strip() == clean
        repo.git("reset", "-q", "--hard", clean)

    assert counts[0] == counts[1]
