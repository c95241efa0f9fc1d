"""Bringing in what is not placed as it is: a machine's own state, changes of shape, and what git does not look at."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import OmnislashError
from omnislash.runtime.syncing.merge_values import MergeOutcome
from omnislash.runtime.syncing.values import SyncOutcome
from omnislash.store import git as store_git
from omnislash.testing import CountingDisk, StoppingDisk
from omnislash.testing.disks import InterruptingDisk
from tests.integration.syncing.merge_stage import DAY, MEMORY, MergeStage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tests.integration.syncing.conftest import GitBrain

    Make = Callable[[Mapping[str, str | bytes | None]], MergeStage]

LOG = "# 2026-11-30\n\n- 08:00 opened the shop\n"
MORE = LOG + "- 09:00 more\n"
#: Each so many changes of the disk a merge is cut off; 1 = at all of them.
STEP = 6
STATE = ".omnislash/note.json"


@pytest.fixture
def stage(tmp_path: Path) -> Make:
    """Return what makes a brain with these files in its first commit."""
    return lambda base: MergeStage(tmp_path / "brain", base)


# -- the state of a machine ------------------------------------------------------------------------------------------


def test_state_of_another_machine_is_not_put_on_disk(stage: Make) -> None:
    """Somebody committed `.omnislash/` by accident: ours stays as it is on disk, and all else comes in."""
    brain = stage({DAY: LOG})
    brain.git("checkout", "-q", "-b", "other")
    brain.put({DAY: MORE, STATE: "theirs\n", ".gitignore": ""})
    brain.theirs = brain.commit("by accident")
    brain.git("checkout", "-q", "main")
    brain.put({STATE: "ours\n"})

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert (brain.read(STATE), brain.read(DAY)) == ("ours\n", MORE)
    assert brain.git("rev-parse", "HEAD") == brain.theirs


def test_state_that_is_taken_out_of_git_stays_on_disk(stage: Make) -> None:
    """`git rm --cached` on the other side takes nothing away from this machine."""
    brain = stage({DAY: LOG, STATE: "x\n", ".gitignore": ""})
    brain.git("rm", "-q", "--cached", STATE)
    brain.git("commit", "-q", "-m", "out of git")
    brain.theirs = brain.git("rev-parse", "HEAD")
    brain.git("reset", "-q", "--soft", brain.base)
    brain.git("reset", "-q")
    brain.put({STATE: "alive\n"})

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert brain.read(STATE) == "alive\n"
    assert STATE not in brain.git("ls-files")


@pytest.mark.parametrize("theirs", ["theirs\n", None])
def test_state_that_both_sides_committed_is_no_conflict(stage: Make, theirs: str | None) -> None:
    """Two machines' states under git do not keep memory from being joined; who takes it out of git wins."""
    brain = stage({DAY: LOG, STATE: "base\n", ".gitignore": ""}).part(
        ours={MEMORY: "- ours\n", STATE: "ours\n"}, theirs={DAY: MORE, STATE: theirs}
    )

    result = brain.merge()

    assert (result.outcome, result.conflicts) == (MergeOutcome.MERGED, ())
    assert (brain.read(STATE), brain.read(DAY)) == ("ours\n", MORE)
    assert (STATE in brain.git("ls-files")) is (theirs is not None)


# -- files and directories of one name -------------------------------------------------------------------------------

FILE, INNER = {"notes": "a file\n"}, {"notes/a/x.md": "x\n", "notes/b.md": "b\n"}
SHAPES = pytest.mark.parametrize(("before", "after"), [(FILE, INNER), (INNER, FILE)], ids=["to_directory", "to_file"])


def _reshape(stage: Make, before: Mapping[str, str], after: Mapping[str, str], *, folder: str = "") -> MergeStage:
    """Return a brain whose other side has made a directory of a file, or the reverse."""
    before, after = ({f"{folder}{path}": text for path, text in each.items()} for each in (before, after))
    brain = stage({DAY: LOG, **before})
    brain.git("checkout", "-q", "-b", "other")
    brain.git("rm", "-q", "-r", *before)
    brain.put({DAY: MORE, **after})
    brain.theirs = brain.commit("another shape")
    brain.git("checkout", "-q", "main")
    return brain


@SHAPES
@pytest.mark.parametrize("folder", ["", "memory/main/"])
def test_file_and_directory_change_places(
    stage: Make, before: Mapping[str, str], after: Mapping[str, str], folder: str
) -> None:
    """A file that became a directory on the other side comes in like anything else, and so does the reverse."""
    brain = _reshape(stage, before, after, folder=folder)

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    wanted = {DAY: MORE.encode()} | {f"{folder}{path}": text.encode() for path, text in after.items()}
    assert {path: data for path, data in brain.files().items() if path != ".gitignore"} == wanted
    brain.assert_settled()


def _sweep(brain: MergeStage, spoil: Callable[[MergeStage, int], None], wanted: dict[str, bytes], *, step: int) -> None:
    """Spoil a merge of a copy at each step-th change of the disk; the syncs after it have to come to the whole."""
    disk = CountingDisk()
    shutil.copytree(brain.root, brain.root.with_name("counted"))
    _twin(brain, "counted").merge(disk=disk)
    assert len(disk.names) > 15
    points = [at for at, name in enumerate(disk.names, start=1) if name != "unlink"]  # where that fails a name is left
    for at in points[1::step]:
        shutil.copytree(brain.root, brain.root.with_name(f"at-{at}"))
        copy = _twin(brain, f"at-{at}")
        spoil(copy, at)
        copy.resume()
        copy.merge()
        assert {path: data for path, data in copy.files().items() if path != ".gitignore"} == wanted, at
        copy.assert_settled()


def _twin(brain: MergeStage, name: str) -> MergeStage:
    twin = MergeStage.__new__(MergeStage)
    twin.root, twin.base, twin.ours, twin.theirs = brain.root.with_name(name), brain.base, brain.ours, brain.theirs
    return twin


def _kill(brain: MergeStage, at: int) -> None:
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            brain.merge(disk=StoppingDisk(at=at, when="before"))
        os._exit(1)
    os.waitpid(child, 0)


def _fail(brain: MergeStage, at: int) -> None:
    def refuse() -> None:
        raise OSError(errno.EIO, "the disk says no")

    with contextlib.suppress(OmnislashError):
        brain.merge(disk=InterruptingDisk({at: refuse}))


@SHAPES
@pytest.mark.parametrize("spoil", [_kill, _fail])
def test_change_of_shape_that_is_cut_off(
    stage: Make, before: Mapping[str, str], after: Mapping[str, str], spoil: Callable[[MergeStage, int], None]
) -> None:
    """However far it came, the next sync goes on, and nothing is lost or left behind."""
    wanted = {DAY: MORE.encode()} | {path: text.encode() for path, text in after.items()}
    _sweep(_reshape(stage, before, after), spoil, wanted, step=STEP)


def test_directory_with_a_persons_file_stays(stage: Make) -> None:
    """A file of the person's own in a directory whose name a file takes: it is named, and nothing is touched."""
    brain = _reshape(stage, INNER, FILE)
    brain.put({"notes/a/mine.txt": "mine\n"})
    before = brain.files()

    result = brain.merge()

    assert (result.outcome, [each.path for each in result.conflicts]) == (MergeOutcome.STOPPED, ["notes/a/mine.txt"])
    assert "notes/a/mine.txt is in its way" in result.message
    assert brain.files() == before


def test_a_persons_file_in_the_place_of_a_directory_stays(stage: Make) -> None:
    """A file that is not under git has the name of a directory that comes in: it is named, and nothing is touched."""
    brain = stage({DAY: LOG}).part(ours={}, theirs={DAY: MORE, "notes/b.md": "b\n"})
    brain.put({"notes": "mine\n"})

    result = brain.merge()

    assert (result.outcome, [each.path for each in result.conflicts]) == (MergeOutcome.STOPPED, ["notes"])
    assert (brain.read("notes"), brain.read(DAY)) == ("mine\n", LOG)


@SHAPES
def test_change_of_shape_is_committed(repo: GitBrain, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """A file that a person made a directory of is committed as such, and so is the reverse."""
    for path, text in before.items():
        repo.put(f"memory/main/{path}", text)
    repo.commit()
    for path in before:
        (repo.root / "memory/main" / path).unlink()
    for folder in ("notes/a", "notes"):
        if (repo.root / "memory/main" / folder).is_dir():
            (repo.root / "memory/main" / folder).rmdir()
    for path, text in after.items():
        repo.put(f"memory/main/{path}", text)

    assert repo.sync().outcome is SyncOutcome.DONE
    assert repo.committed() == sorted(f"memory/main/{path}" for path in {**before, **after})
    assert repo.status() == ""


def test_directory_without_files_does_not_hold_up_the_rest(repo: GitBrain) -> None:
    """An empty directory in the place of a file is named, and all else is committed."""
    repo.put("memory/main/notes", "a file\n")
    repo.commit()
    (repo.root / "memory/main/notes").unlink()
    (repo.root / "memory/main/notes").mkdir()
    repo.put_memory("main/other.md", "x\n")

    answer = repo.sync()

    assert [each.path for each in answer.blocked] == ["memory/main/notes"]
    assert "git rm --cached memory/main/notes" in answer.message
    assert repo.committed() == ["memory/main/other.md"]


# -- what git does not look at ---------------------------------------------------------------------------------------


def test_sparse_checkout_takes_everything_in(stage: Make) -> None:
    """A file that is not checked out stays so: the other side's version is in the commit and in the index."""
    brain = stage({DAY: LOG, "notes/x.md": "1\n"}).part(ours={}, theirs={DAY: MORE, "notes/x.md": "2\n"})
    brain.git("sparse-checkout", "set", "--no-cone", "/memory/", "/.gitignore")
    assert not (brain.root / "notes/x.md").exists()

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert (brain.read(DAY), brain.git("show", ":notes/x.md")) == (MORE, "2")
    assert not (brain.root / "notes/x.md").exists()
    brain.assert_settled()


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_changed_file_that_git_does_not_look_at_is_told(stage: Make, flag: str) -> None:
    """It is neither replaced nor called a save of this moment: the file, the flag and the way out are named."""
    brain = stage({DAY: LOG, "notes/x.md": "1\n"}).part(ours={}, theirs={DAY: MORE, "notes/x.md": "2\n"})
    brain.git("update-index", f"--{flag}", "notes/x.md")
    brain.put({"notes/x.md": "mine\n"})

    result = brain.merge()

    assert (result.outcome, [each.path for each in result.conflicts]) == (MergeOutcome.STOPPED, ["notes/x.md"])
    assert f"git update-index --no-{flag} PATH" in result.message
    assert (brain.read("notes/x.md"), brain.read(DAY)) == ("mine\n", LOG)


def test_name_that_git_does_not_allow(stage: Make) -> None:
    """A path in the other side's tree that git puts on no disk is told as what it is, and nothing as staged."""
    brain = stage({DAY: LOG})
    blob = brain.git("rev-parse", f"HEAD:{DAY}")
    place = brain.place()
    tree = place.repository.run("mktree", input=f"100644 blob {blob}\tgit~1\n".encode()).decode().strip()
    place.state.close()
    brain.theirs = brain.git("commit-tree", tree, "-p", brain.base, "-m", "odd")

    result = brain.merge()

    assert result.outcome is MergeOutcome.STOPPED
    assert "a file whose name git does not allow" in result.message
    assert "staged" not in result.message
    assert brain.read(DAY) == LOG


@pytest.mark.parametrize(("attributes", "filtered"), [("* text=auto", 0), ("* text eol=lf", 0), ("* eol=crlf", 9)])
def test_only_what_git_converts_is_filtered(
    stage: Make, monkeypatch: pytest.MonkeyPatch, attributes: str, filtered: int
) -> None:
    """Files that git stores as they are on disk are read all at once, whatever it says about text."""
    brain = stage({".gitattributes": attributes, DAY: LOG}).part(
        ours={}, theirs={f"notes/{number}.md": f"{number}\n" for number in range(9)}
    )
    calls = []
    run_git = store_git.run_git

    def counting(args: Sequence[str], **options: object) -> store_git.GitAnswer:
        calls.append("--filters" in args)
        return run_git(args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store_git, "run_git", counting)

    assert brain.merge().outcome is MergeOutcome.FAST_FORWARD
    assert sum(calls) == filtered
    assert (brain.root / "notes/3.md").read_bytes() == (b"3\r\n" if filtered else b"3\n")
    brain.assert_settled()
