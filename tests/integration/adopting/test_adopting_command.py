"""`omnislash init` on a folder with notes, as a person and a script run it: nothing happens unsaid, and nothing is lost."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omnislash
from omnislash.core.budgets import Chars
from omnislash.errors import StorageError
from omnislash.runtime.adopting.moving import carry_out
from omnislash.runtime.adopting.planning import plan_line, plan_sources
from omnislash.runtime.adopting.surveying import survey_folder
from omnislash.runtime.adopting.values import Left, Move
from omnislash.testing import CountingDisk, StoppingDisk
from omnislash.testing.disks import STOPPED, FailingDisk
from tests.crash.harness import run_in_child

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = Path(omnislash.__file__).parents[1]
VAULT = {
    ".obsidian/app.json": b"{}",
    ".trash/old.md": b"thrown away\n",
    "MEMORY.md": b"\xef\xbb\xbf## People\r\n\r\n- Ida wants whole euros.\r\n",
    "Daily/2026-11-30.md": b"---\ntags: [day]\n---\nTen vouchers for the [[Choir]].\n",
    "Daily Notes/idea.md": b"The zeppelin hangar is for rent. ![[pic.png]]\n",
    "Daily Notes/pic.png": b"\x89PNG",
    "Choir.md": b"# Choir\n\nThe choir sings on Thursdays.\n",
    "broken.md": b"\xff\xfe\x00\n",
    "README.md": b"About.\n",
}


def make_vault(root: Path, files: Mapping[str, bytes] = VAULT) -> Path:
    """Make a folder with these files."""
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def read_all(root: Path) -> dict[str, bytes]:
    """Return every file below a directory but git's and the engine's own."""
    places = [place for place in root.rglob("*") if place.is_file() and not {".git", ".omnislash"} & set(place.parts)]
    return {str(place.relative_to(root)): place.read_bytes() for place in places}


def environment() -> dict[str, str]:
    """Return the variables of a person who has set nothing."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "OMNISLASH_NOW": "2026-12-01T12:00:00+00:00",
    }


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "omnislash", *words],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--example",),
        ("--adopt", "sources"),
        ("--adopt", "line"),
        ("--adopt", "line", "--dry-run"),
        ("--adopt", "sources", "--into", "notes", "--dry-run", "--json"),
        ("--adopt", "line", "--into", "notes", "--yes"),
        ("--adopt", "sources", "--line", "work", "--yes"),
        ("--adopt", "line", "--line", "Work", "--yes"),
        ("--adopt", "line", "--line", "", "--yes"),
        ("--adopt", "line", "--example", "--yes"),
        ("--adopt", "none", "--yes"),
        ("--dry-run",),
        ("--replay", "--adopt", "line", "--yes"),
    ],
    ids=" ".join,
)
def test_nothing_changes_before_it_is_said_and_confirmed(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Without --adopt, without --yes, with --dry-run, or with options that make no sense, no byte and no name changes."""
    make_vault(tmp_path / "vault")
    before = sorted(str(place) for place in tmp_path.rglob("*"))

    done = run("init", "vault", *words, cwd=tmp_path)

    assert done.returncode == (0 if "--dry-run" in words and "--adopt" in words else 2), done.stderr
    assert sorted(str(place) for place in tmp_path.rglob("*")) == before
    assert read_all(tmp_path / "vault") == VAULT
    assert "Traceback" not in done.stderr


def test_a_script_is_told_what_there_is_and_what_to_say(tmp_path: Path) -> None:
    """The kind, the numbers and the commands, as text and as JSON."""
    make_vault(tmp_path / "my vault")

    text = run("init", "my vault", cwd=tmp_path)
    answer = json.loads(run("init", "my vault", "--json", cwd=tmp_path).stdout)

    assert "my vault is an Obsidian vault with 5 notes, 1 of them named after a day." in text.stderr
    assert "omnislash init 'my vault' --adopt sources --dry-run" in text.stderr
    assert "omnislash init 'my vault' --adopt line --dry-run" in text.stderr
    assert answer["error"]["found"] == {"kind": "obsidian", "notes": 5, "dated": 1}


@pytest.mark.rule("LINE-05", "SOURCE-18")
def test_a_vault_becomes_a_line_that_is_recalled(tmp_path: Path) -> None:
    """Every note is moved byte for byte, the rest stays, a role recalls what they say, and doctor finds nothing broken."""
    vault = make_vault(tmp_path / "vault")

    done = run("init", "vault", "--adopt", "line", "--line", "work", "--yes", "--json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    adoption = json.loads(done.stdout)["adoption"]
    after = read_all(vault)
    moved = {each["from"]: each["to"] for each in adoption["moves"]}
    assert moved == {
        "MEMORY.md": "memory/work/MEMORY.md",
        "Daily/2026-11-30.md": "memory/work/2026/11/2026-11-30.md",
        "Daily Notes/idea.md": "memory/work/Daily Notes/idea.md",
        "Choir.md": "memory/work/Choir.md",
        "broken.md": "memory/work/broken.md",
    }
    assert {path: after[moved.get(path, path)] for path in VAULT} == VAULT
    assert not (vault / "Daily").exists()
    assert adoption["stayed"] == []
    recalled = run("recall", "--role", "nova", "when does the choir sing?", cwd=vault)
    assert "[work/Choir.md:3] The choir sings on Thursdays." in recalled.stdout
    overview = run("memory", "overview", "--role", "nova", "--json", cwd=vault)
    assert json.loads(overview.stdout)["line"] == "work"
    report = json.loads(run("doctor", "--json", cwd=vault).stdout)
    broken = [finding for check in report["checks"] for finding in check["findings"] if finding["severity"] == "fail"]
    assert [finding.get("path") for finding in broken] in ([], ["memory/work/broken.md"])


@pytest.mark.rule("SOURCE-18", "SCOPE-09")
def test_a_vault_becomes_sources_that_are_recalled(tmp_path: Path) -> None:
    """Only what --into gathers has moved, and what both kinds of places say is recalled."""
    vault = make_vault(tmp_path / "vault")

    done = run("init", "vault", "--adopt", "sources", "--into", "notes", "--yes", "--no-git", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    after = read_all(vault)
    moved = {"Daily Notes/idea.md": "notes/Daily Notes/idea.md", "Daily Notes/pic.png": "notes/Daily Notes/pic.png"}
    assert {path: after[moved.get(path, path)] for path in VAULT} == VAULT
    assert not (vault / "Daily Notes").exists()
    for question, place in (
        ("when does the choir sing?", "Choir.md:3"),
        ("is the zeppelin hangar for rent?", "notes/Daily Notes/idea.md:1"),
    ):
        assert f"[{place}]" in run("recall", "--role", "nova", question, cwd=vault).stdout
    verdict = run("memory", "write", "--role", "nova", "The tyres are due.", cwd=vault)
    assert verdict.returncode == 0
    assert {path: data for path, data in read_all(vault).items() if path in after} == after


def test_none_leaves_the_notes_alone(tmp_path: Path) -> None:
    """With --adopt none an ordinary brain is made around them."""
    vault = make_vault(tmp_path / "vault")

    done = run("init", "vault", "--adopt", "none", "--no-git", "--quiet", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path: data for path, data in read_all(vault).items() if path in VAULT} == VAULT
    assert (vault / "omnislash.yaml").read_text(encoding="utf-8").count("# sources:") == 1


def test_a_folder_without_notes_is_filled_up_as_ever(tmp_path: Path) -> None:
    """A README.md and files that are no notes stop nobody; there is nothing to adopt in it."""
    make_vault(tmp_path / "code", {"README.md": b"About.\n", "main.py": b"print()\n", ".git-skip/x.md": b"x"})

    assert run("init", "code", "--adopt", "line", "--yes", cwd=tmp_path).returncode == 2
    done = run("init", "code", "--no-git", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "code/README.md").read_bytes() == b"About.\n"


def test_a_git_repository_stays_and_nothing_is_committed(tmp_path: Path) -> None:
    """In a repository with history and staged work nothing is committed, staged or taken back."""
    vault = make_vault(tmp_path / "vault")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "Choir.md"], ["commit", "-q", "-m", "mine"], ["add", "broken.md"]):
        subprocess.run([*git, *words], cwd=vault, env=environment(), check=True)

    done = run("init", "vault", "--adopt", "line", "--yes", cwd=tmp_path)

    assert "nothing was committed" in done.stdout
    shown = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no"],
        cwd=vault,
        env=environment(),
        capture_output=True,
        check=True,
    )
    assert shown.stdout.decode().split("\n")[:2] == [" D Choir.md", "AD broken.md"]


def test_a_first_commit_holds_no_credential(tmp_path: Path) -> None:
    """Where notes hold what looks like a credential, they are in no commit yet, and it is said."""
    vault = make_vault(tmp_path / "vault", {"a.md": ("password = " + "hunter2-" + "Xy9Kq3\n").encode()})

    done = run("init", "vault", "--adopt", "line", "--yes", cwd=tmp_path)

    assert "a.md:1: password or token" in done.stdout
    assert "the notes are in none yet" in done.stdout
    assert "hunter2" not in done.stdout
    files = subprocess.run(["git", "ls-files"], cwd=vault, env=environment(), capture_output=True, check=True)
    assert b"a.md" not in files.stdout
    assert (vault / "memory/main/a.md").exists()


# -- cut off -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["line", "sources"])
def test_a_kill_at_any_step_is_finished_by_the_same_command(tmp_path: Path, mode: str) -> None:
    """Whatever call of the disk it dies at, every file is there once, and planning and moving again ends as undisturbed."""
    template = make_vault(tmp_path / "template")

    def adopt(root: Path, disk: CountingDisk | StoppingDisk | None = None) -> None:
        survey = survey_folder(root)
        line = plan_line(root, survey, line="main", budget=Chars(12_000))
        plan = line if mode == "line" else plan_sources(root, survey, into="notes")
        carry_out(root, plan.moves, disk=disk)

    quiet, disk = shutil.copytree(template, tmp_path / "quiet"), CountingDisk()
    adopt(quiet, disk)
    end = read_all(quiet)
    assert disk.names.count("rename_new") == (5 if mode == "line" else 2)
    codes = set()
    for at in range(1, len(disk.names) + 1):
        root = shutil.copytree(template, tmp_path / f"brain-{at}")
        codes.add(run_in_child(lambda: adopt(root, StoppingDisk(at=at, when="before"))))  # noqa: B023 - run at once
        assert sorted(read_all(root).values()) == sorted(VAULT.values()), at
        adopt(root)
        assert read_all(root) == end, at
    assert codes == {STOPPED}


def test_a_disk_that_refuses_stops_with_a_sentence(tmp_path: Path) -> None:
    """A move that fails names its file, says how far it came, and what to do."""
    root = make_vault(tmp_path / "vault")
    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))
    counting = CountingDisk()
    carry_out(shutil.copytree(root, tmp_path / "quiet"), plan.moves, disk=counting)
    second = [at for at, name in enumerate(counting.names, start=1) if name == "rename_new"][1]

    with pytest.raises(StorageError) as caught:
        carry_out(root, plan.moves, disk=FailingDisk(at=second, error=28))

    assert caught.value.message.startswith(
        f"{plan.moves[1].source} can't be moved: No space left on device. 1 of 5 files"
    )
    assert sorted(read_all(root).values()) == sorted(VAULT.values())


def test_what_changed_since_it_was_planned_stays(tmp_path: Path) -> None:
    """A target that somebody made meanwhile is not overwritten, and a note that is gone is named."""
    root = make_vault(tmp_path / "vault", {"a.md": b"a", "b.md": b"b", "c.md": b"c"})
    moves = [Move(name, f"memory/main/{name}") for name in ("a.md", "b.md", "c.md")]
    make_vault(root, {"memory/main/a.md": b"another"})
    (root / "b.md").unlink()

    stayed = carry_out(root, moves)

    assert stayed == (Left("a.md", "memory/main/a.md is there already"), Left("b.md", "it is gone"))
    assert read_all(root) == {"a.md": b"a", "memory/main/a.md": b"another", "memory/main/c.md": b"c"}


def test_ten_thousand_notes(tmp_path: Path) -> None:
    """A vault of ten thousand notes, many of them twins, is planned and moved with every byte kept, each at a place of its own."""
    files = {
        f"area{number % 97}/Note {number // 2}{'' if number % 2 else '?'}.md": b"%d" % number
        for number in range(10_000)
    }
    root = tmp_path / "vault"
    for area in {path.partition("/")[0] for path in files}:
        (root / area).mkdir(parents=True)
    for path, data in files.items():
        (root / path).write_bytes(data)
    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))

    assert len({move.target for move in plan.moves}) == len(files)
    assert carry_out(root, plan.moves) == ()
    assert sorted(read_all(root).values()) == sorted(files.values())
    assert [place.name for place in root.iterdir()] == ["memory"]


# -- at a terminal -----------------------------------------------------------------------------------------------------


def converse(cwd: Path, *words: str, answers: tuple[tuple[str, str], ...]) -> tuple[int, str]:
    """Run the command at a terminal: wait for each text, then type the answer; return the exit code and what it showed."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "omnislash", *words],
        cwd=cwd,
        env={**environment(), "TERM": "dumb"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    shown = ""
    waiting = list(answers)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if waiting and waiting[0][0] in shown:
            os.write(leader, f"{waiting.pop(0)[1]}\n".encode())
        if select.select([leader], [], [], 0.05)[0]:
            try:
                data = os.read(leader, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data.decode("utf-8", "replace")
        elif process.poll() is not None:
            break
    os.close(leader)
    return process.wait(timeout=30), shown


def test_a_terminal_is_asked_twice(tmp_path: Path) -> None:
    """A person says what shall become of the notes, sees the plan, and says yes."""
    vault = make_vault(tmp_path / "vault")

    code, shown = converse(tmp_path, "init", "vault", "--no-git", answers=(("[s/l/n", "l"), ("Do this?", "y")))

    assert code == 0, shown
    assert "Choir.md -> memory/main/Choir.md" in shown
    assert (vault / "memory/main/Choir.md").read_bytes() == VAULT["Choir.md"]
    assert (vault / "omnislash.yaml").exists()


@pytest.mark.parametrize(
    "answers",
    [(("[s/l/n", "q"),), (("[s/l/n", ""),), (("[s/l/n", "s"), ("Do this?", "")), (("[s/l/n", "l"), ("Do this?", "no"))],
)
def test_a_person_who_does_not_say_yes_changes_nothing(tmp_path: Path, answers: tuple[tuple[str, str], ...]) -> None:
    """Any other answer ends without a change, and with exit code 2."""
    vault = make_vault(tmp_path / "vault")

    code, shown = converse(tmp_path, "init", "vault", answers=answers)

    assert code == 2, shown
    assert read_all(vault) == VAULT
    assert not (vault / ".git").exists()
