"""`omnislash init` on a folder with notes, as a person and a script run it: nothing happens unsaid, and nothing is lost."""

from __future__ import annotations

import errno
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
from omnislash import Brain
from omnislash.core.budgets import Chars
from omnislash.errors import StorageError
from omnislash.runtime.adopting.moving import carry_out
from omnislash.runtime.adopting.planning import plan_line, plan_sources
from omnislash.runtime.adopting.surveying import survey_folder
from omnislash.runtime.adopting.values import Left, Move
from omnislash.runtime.adopting.ways import ELSEWHERE
from omnislash.surfaces.cli import init
from omnislash.surfaces.cli.init import make_brain
from omnislash.surfaces.cli.main import main
from omnislash.testing import CountingDisk, StoppingDisk
from omnislash.testing.disks import STOPPED, FailingDisk
from omnislash.testing.power import PowerLossDisk
from tests.crash.harness import run_in_child
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
        [*warm_python(), "-m", "omnislash", *words],
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
    recalled = run("recall", "--role", "nova", "when does the choir sing, is the zeppelin hangar for rent?", cwd=vault)
    assert "[Choir.md:3]" in recalled.stdout
    assert "[notes/Daily Notes/idea.md:1]" in recalled.stdout
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
        carry_out(root, plan.moves, emptied=plan.emptied, disk=disk)

    def list_all(root: Path) -> list[str]:
        return sorted(str(place.relative_to(root)) for place in root.rglob("*"))

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
        assert list_all(root) == list_all(quiet), at
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


@pytest.mark.parametrize("mode", ["line", "sources"])
def test_a_power_cut_loses_no_note(tmp_path: Path, mode: str) -> None:
    """Before any call and at the end the power may go: every note is there, and what is done at the end is durable."""
    template = make_vault(
        tmp_path / "template", {"a/b/c.md": b"c", "a/b/d e/f.md": b"f", "g h/2026-11-30.md": b"g", "a/b/p": b"p"}
    )

    def adopt(root: Path, *, at: int | None) -> PowerLossDisk:
        survey, disk = survey_folder(root), PowerLossDisk(root, at=at)
        line = plan_line(root, survey, line="main", budget=Chars(12_000))
        plan = line if mode == "line" else plan_sources(root, survey, into="notes")
        carry_out(root, plan.moves, emptied=plan.emptied, disk=disk)
        return disk

    quiet = shutil.copytree(template, tmp_path / "quiet")
    disk = adopt(quiet, at=None)
    end = sorted(quiet.rglob("*"))
    disk.cut_power()
    assert sorted(quiet.rglob("*")) == end
    for at in range(1, len(disk.calls) + 1):
        root = shutil.copytree(template, tmp_path / f"cut-{at}")
        assert run_in_child(lambda: adopt(root, at=at)) == STOPPED  # noqa: B023 - run at once
        assert set(read_all(root).values()) == {b"c", b"f", b"g", b"p"}, at


@pytest.mark.parametrize("link", ["memory", "memory/main", "memory/main/a"])
def test_a_link_that_came_after_the_plan_is_not_followed(tmp_path: Path, link: str) -> None:
    """Where a directory on the way has become a link, no note leaves the folder, and it is said which."""
    root, outside = make_vault(tmp_path / "vault", {"a/b.md": b"b"}), tmp_path / "outside"
    (outside / "main/a").mkdir(parents=True)
    (outside / "a").mkdir()
    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)

    with pytest.raises(StorageError) as caught:
        carry_out(root, plan.moves)

    assert caught.value.message.startswith(f"a/b.md can't be moved: {link} is a link")
    assert (root / "a/b.md").read_bytes() == b"b"
    assert not [place for place in outside.rglob("*") if place.is_file()]


def test_a_source_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    """A directory of notes that somebody replaced by a link gives no file of another place away."""
    root, outside = make_vault(tmp_path / "vault", {"a/b.md": b"b"}), make_vault(tmp_path / "outside", {"b.md": b"x"})
    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))
    shutil.rmtree(root / "a")
    (root / "a").symlink_to(outside)

    with pytest.raises(StorageError, match="a is a link"):
        carry_out(root, plan.moves)

    assert read_all(outside) == {"b.md": b"x"}


def test_a_file_of_another_file_system_stays_alone(tmp_path: Path) -> None:
    """What the disk can't move in one step stays and is named, and the others move."""
    root = make_vault(tmp_path / "vault", {"a.md": b"a", "b.md": b"b"})
    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))
    counting = CountingDisk()
    carry_out(shutil.copytree(root, tmp_path / "quiet"), plan.moves, disk=counting)

    stayed = carry_out(root, plan.moves, disk=FailingDisk(at=counting.names.index("rename_new") + 1, error=errno.EXDEV))

    assert stayed == (Left("a.md", ELSEWHERE),)
    assert read_all(root) == {"a.md": b"a", "memory/main/b.md": b"b"}


def test_what_changed_since_it_was_planned_stays(tmp_path: Path) -> None:
    """A target that somebody made meanwhile is not overwritten, and a note that is gone is named."""
    root = make_vault(tmp_path / "vault", {"a.md": b"a", "b.md": b"b", "c.md": b"c"})
    moves = [Move(name, f"memory/main/{name}") for name in ("a.md", "b.md", "c.md")]
    make_vault(root, {"memory/main/a.md": b"another"})
    (root / "b.md").unlink()

    stayed = carry_out(root, moves)

    assert stayed == (Left("a.md", "memory/main/a.md is there already"), Left("b.md", "it is gone"))
    assert read_all(root) == {"a.md": b"a", "memory/main/a.md": b"another", "memory/main/c.md": b"c"}


@pytest.mark.parametrize("notes", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_large_vault(tmp_path: Path, notes: int) -> None:
    """A vault of many notes, half of them twins, is planned and moved with every byte kept, each at a place of its own."""
    files = {
        f"area{number % 97}/Note {number // 2}{'' if number % 2 else '?'}.md": b"%d" % number for number in range(notes)
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


# -- what stands in the way ------------------------------------------------------------------------------------------


def refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run init on the vault, which has to end with exit code 2 and without any change; return what it said."""

    def look() -> dict[str, tuple[int, int, int]]:
        found = {place: place.lstat() for place in tmp_path.rglob("*")}
        return {str(place): (stat.st_ino, stat.st_mode, stat.st_mtime_ns) for place, stat in found.items()}

    before = look()
    assert main(["init", str(tmp_path / "vault"), *words]) == 2
    assert look() == before
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("link", ["memory", "memory/main"])
def test_a_line_that_is_a_link_is_refused_beforehand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str
) -> None:
    """Notes would leave the folder through it, so nothing moves at all."""
    vault = make_vault(tmp_path / "vault", {"a.md": b"a"})
    (tmp_path / "outside/main").mkdir(parents=True)
    (vault / link).parent.mkdir(exist_ok=True)
    (vault / link).symlink_to(tmp_path / "outside", target_is_directory=True)

    said = refuse(tmp_path, capsys, "--adopt", "line", "--yes")

    assert f"No note can become part of memory/main: {link} is a link" in said


@pytest.mark.parametrize("name", ["features", "constitution", "memory", "features/chat"])
@pytest.mark.parametrize("words", [("--adopt", "line", "--yes"), ("--adopt", "none")], ids=" ".join)
def test_a_file_where_the_brain_needs_a_directory_is_refused_beforehand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, words: tuple[str, ...]
) -> None:
    """Nothing moves and nothing is made when the brain could not be made afterwards."""
    make_vault(tmp_path / "vault", {"a.md": b"a", name: b"a file"})

    assert f"vault/{name} is no directory, and a brain needs one there" in refuse(tmp_path, capsys, *words)


@pytest.mark.parametrize(
    ("manifest", "words", "lines"),
    [
        ("locale: {timezone: UTC}\n", ("sources",), "    memory:\n      recall: [a.md, b]"),
        ("memory: {recall: [b]}\n", ("sources",), "    memory:\n      recall: [a.md, b]"),
        ("memory: {}\n", ("line", "--line", "work"), "    memory:\n      write: work"),
        ("memory: {write: ops}\n", ("line",), "    memory:\n      write: main"),
        ("memory: [\n", ("line",), "    memory:\n      write: main"),
    ],
)
def test_a_manifest_that_would_hide_the_notes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], manifest: str, words: tuple[str, ...], lines: str
) -> None:
    """It is not changed, so adopting would have no effect: the lines that it needs are named, and with them it goes."""
    vault = make_vault(tmp_path / "vault", {"a.md": b"a", "b/c.md": b"c"})
    make_vault(vault, {"constitution/MANIFEST.yaml": manifest.encode()})

    said = refuse(tmp_path, capsys, "--adopt", *words, "--yes")

    assert lines in said
    (vault / "constitution/MANIFEST.yaml").write_text(lines.replace("\n    ", "\n").strip())
    assert main(["init", str(vault), "--adopt", *words, "--yes", "--no-git", "--quiet"]) == 0


def test_somebody_else_makes_it_a_brain_meanwhile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What moved is told, with what the other brain needs; its omnislash.yaml stays."""
    vault = make_vault(tmp_path / "vault", {"a b/c.md": b"c"})

    def move_slowly(root: Path, moves: Sequence[Move], *, emptied: Iterable[str]) -> tuple[Left, ...]:
        left = carry_out(root, moves, emptied=emptied)
        (vault / "omnislash.yaml").write_text("# theirs\n")
        return left

    monkeypatch.setattr("omnislash.surfaces.cli.adopting.carry_out", move_slowly)

    assert main(["init", str(vault), "--adopt", "sources", "--into", "notes", "--yes"]) == 1

    said = capsys.readouterr().err
    assert "Nothing was changed" not in said
    assert "1 file had moved to notes before" in said
    assert "sources: [notes]" in said
    assert "recall: [notes]" in said
    assert read_all(vault) == {"notes/a b/c.md": b"c", "omnislash.yaml": b"# theirs\n"}


@pytest.mark.parametrize("example", [False, True])
def test_the_file_that_makes_a_brain_is_made_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: bool
) -> None:
    """Whichever file the disk refuses, the folder is no brain yet, so that the same command can be run again."""
    made: list[Path] = []
    fails_at = 0
    make_file = init._make_file

    def refuse(place: Path, data: bytes) -> bool:
        if len(made) == fails_at - 1:
            raise OSError(28, "No space left on device", str(place))
        made.append(place)
        return make_file(place, data)

    monkeypatch.setattr(init, "_make_file", refuse)
    count = len(make_brain(tmp_path / "whole", example=example))
    assert made[-1] == tmp_path / "whole/omnislash.yaml"
    for fails_at in range(1, count + 1) if not example else ():
        made.clear()
        with pytest.raises(StorageError, match="No space left"):
            make_brain(tmp_path / f"half-{fails_at}", example=example)
        assert not (tmp_path / f"half-{fails_at}/omnislash.yaml").exists()


def test_a_brain_that_appears_while_its_files_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's omnislash.yaml is not passed off as our own."""
    make_file = init._make_file

    def meet(place: Path, data: bytes) -> bool:
        if place.name == "omnislash.yaml":
            place.write_text("# theirs\n")
        return make_file(place, data)

    monkeypatch.setattr(init, "_make_file", meet)

    with pytest.raises(StorageError, match=r"somebody else made omnislash.yaml.*Made beside it: constitution/"):
        make_brain(tmp_path, example=False)

    assert (tmp_path / "omnislash.yaml").read_text() == "# theirs\n"


# -- what the plan tells ---------------------------------------------------------------------------------------------


@pytest.mark.rule("MIGRATE-02", "MIGRATE-O1")
def test_notes_in_the_brains_own_directory_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the writer will move out of `memory/` is in the plan, as the writer then does it."""
    files = {"grandma.md": b"g", "memory/grandma.md": b"m", "memory/2025/x.md": b"x", "memory/aux.md": b"a"}
    vault = make_vault(tmp_path / "vault", files)

    assert main(["init", str(vault), "--adopt", "line", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert main(["init", str(vault), "--adopt", "line", "--yes", "--no-git", "--json"]) == 0
    later = json.loads(capsys.readouterr().out)["adoption"]["later"]

    assert "Moved by the writer when it first starts (1):\n  memory/2025 -> memory/main/2025\n" in shown
    assert later["moves"] == [{"from": "memory/2025", "to": "memory/main/2025"}]
    assert [each["path"] for each in later["left"]] == ["memory/aux.md", "memory/grandma.md"]
    with Brain.open(vault) as brain:
        brain.start_worker()
    after = read_all(vault)
    assert {path for path in after if path.startswith("memory/")} == {
        "memory/aux.md",
        "memory/grandma.md",
        "memory/main/2025/x.md",
        "memory/main/grandma.md",
    }
    assert after["memory/main/grandma.md"] == b"g"


def test_a_folder_whose_only_notes_are_in_memory_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The writer would move them, so that is said before a brain is made; with --adopt none it is said and done."""
    make_vault(tmp_path / "vault", {"memory/grandma.md": b"m", "memory/MEMORY.md": b"- a\n", "x.png": b"x"})

    said = refuse(tmp_path, capsys)
    assert "holds notes in memory/, which is the brain's own directory" in said
    assert "(2 entries)" in said

    assert main(["init", str(tmp_path / "vault"), "--adopt", "none", "--no-git"]) == 0
    assert "  memory/grandma.md -> memory/main/grandma.md\n" in capsys.readouterr().out


def test_a_gitignore_of_its_owner_stays_and_what_it_lacks_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without those lines the next commit would hold the search index; a complete file is nothing to say."""
    vault = make_vault(tmp_path / "vault", {"a.md": b"a", ".gitignore": b"*.tmp\n/.omnislash/\n"})

    assert main(["init", str(vault), "--adopt", "line", "--yes", "--no-git"]) == 0

    out, err = capsys.readouterr()
    assert "Your .gitignore lacks .omnislash-*, memory/.memory-index.db*" in out
    assert err.endswith("Add to it what git should leave out:\n  .omnislash-*\n  memory/.memory-index.db*\n")
    assert (vault / ".gitignore").read_bytes() == b"*.tmp\n/.omnislash/\n"
    whole = make_vault(tmp_path / "whole", {".gitignore": b".omnislash\n.omnislash-*\nmemory/.memory-index.db*\n"})
    assert main(["init", str(whole), "--no-git", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_name_cannot_forge_a_line_of_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A newline in a name is shown as an escape, in the plan and wherever a file is left out."""
    forged = {"a\n  b.md -> memory/main/b.md": b"x", "c\nd.md": b"y"}
    vault = make_vault(tmp_path / "vault", {f"dir/{name}": data for name, data in forged.items()} | {"e\nf.txt": b"z"})

    assert main(["init", str(vault), "--adopt", "line", "--dry-run"]) == 0

    shown = capsys.readouterr().out.splitlines()
    assert "  dir/c\\nd.md -> memory/main/dir/c-d.md" in shown
    assert "    e\\nf.txt" in shown
    assert not any(line.startswith(("  b.md ->", "d.md", "f.txt")) for line in shown)


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
