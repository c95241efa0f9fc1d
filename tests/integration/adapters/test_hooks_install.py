"""`omnislash hooks` on a real disk, in a home and a project of its own: nothing of the user's is ever lost."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.errors import ConfigError, OmnislashError, StorageError, UsageError
from omnislash.store.disk import Disk
from omnislash.surfaces.adapters import installing, json_settings, planning
from omnislash.surfaces.adapters.diffing import diff
from omnislash.surfaces.adapters.hosts import Entry, Part, Scope, get_host
from omnislash.surfaces.adapters.planning import Where
from omnislash.surfaces.adapters.standing import Condition, look
from omnislash.testing.disks import WrappedDisk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from omnislash.testing.disks import Call

HOST = get_host("claude-code")
#: What a person may have: comments, a comma too many, odd spacing, numbers in several forms, another hook.
LIVED_IN = """\
{
    // models first
    "model":   "opus",   /* the big one */
    "env": {"N": "1", "X": "\\u00e4\\/"}, "cleanupPeriodDays": 3.0e1,
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "check" } ] }   // keep
        ],
        "Stop": [],
    },
}
"""
STATES = {
    "absent": None,
    "empty": b"",
    "blank": b" \n\n",
    "object": b"{}",
    "spread": b"{\n}\n",
    "lived-in": LIVED_IN.encode(),
    "windows": LIVED_IN.replace("\n", "\r\n").encode(),
    "tabs": b'{\n\t"a": {\n\t\t"b": 1\n\t}\n}',
    "one-line": b'{"a":1,"hooks":{"Stop":[{"hooks":[]}]},"mcpServers":{"x":{"command":"y"}}}',
    "mark": b'\xef\xbb\xbf{\n  "a": 1\n}\n',
    "twins": b'{\n  "a": 1,\n  "a": 2,\n  "hooks": {},\n  "hooks": {}\n}\n',
    "scripts": '{\n  "ключ": "значение 🙂", "\u2028": "\u05d0"\n}\n'.encode(),
}


class Desk:
    """A home, a project and a brain in a temporary directory."""

    def __init__(self, root: Path, scope: Scope = Scope.USER) -> None:
        self.home, self.project, self.brain = root / "home", root / "project", root / "brain"
        for place in (self.home, self.project, self.brain):
            place.mkdir()
        (self.brain / "omnislash.yaml").touch()
        self.where = Where(host=HOST, scope=scope, project=self.project, environment={"HOME": str(self.home)})
        self.entry = Entry(program=("/opt/bin/omnislash",), role="nova", brain=str(self.brain))
        self.settings, self.servers = (file.path for file in self.where.files())

    def put(self, place: Path, data: bytes | None) -> None:
        """Save a file, as a person would; None leaves it absent."""
        if data is not None:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def install(self, entry: Entry | None = None, *, disk: Disk | None = None) -> list[installing.Done]:
        """Install and return what became of each file."""
        return installing.install(self.where, entry or self.entry, stamp="20261201T090000Z", disk=disk)

    def uninstall(self, *, disk: Disk | None = None) -> list[installing.Done]:
        """Uninstall and return what became of each file."""
        return installing.uninstall(self.where, stamp="20261201T100000Z", disk=disk)

    def conditions(self) -> list[Condition]:
        """Return how the two files of the scope stand."""
        views = look(HOST, self.project, self.where.environment)
        return [view.condition for view in views if view.scope is self.where.scope]

    def world(self) -> dict[str, bytes]:
        """Return every file of home and project, directories too."""
        places = sorted([*self.home.rglob("*"), *self.project.rglob("*")])
        return {str(place): b"" if place.is_dir() else place.read_bytes() for place in places}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Everything that belongs to one person."""
    return Desk(tmp_path)


# -- states of the files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("scope", list(Scope))
def test_there_and_back(tmp_path: Path, scope: Scope, state: str) -> None:
    """In every scope and from every state of both files: installed, once for all, and back to the very bytes."""
    desk = Desk(tmp_path, scope)
    desk.put(desk.settings, STATES[state])
    desk.put(desk.servers, STATES[state])
    before = desk.world()

    desk.install()
    once = desk.world()
    assert desk.conditions() == [Condition.INSTALLED, Condition.INSTALLED]

    assert not any(done.change.is_needed for done in desk.install())
    assert desk.world() == once

    desk.uninstall()
    assert desk.world() == before
    assert not any(done.change.is_needed for done in desk.uninstall())


def is_part(one: str, other: str) -> bool:
    """Tell whether all characters of one text stand in another, in their order."""
    rest = iter(other)
    return all(char in rest for char in one)


@pytest.mark.parametrize("state", STATES)
def test_nothing_of_the_users_is_lost(desk: Desk, state: str) -> None:
    """Installing only adds: every character that was there is there, in its order; line ends and the mark too."""
    before = STATES[state] or b""
    desk.put(desk.settings, STATES[state])
    desk.put(desk.servers, STATES[state])
    desk.install()

    for place in (desk.settings, desk.servers):
        after = place.read_bytes()
        assert is_part(before.decode(), after.decode())
        assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
        assert after.count(b"\r\n") == (after.count(b"\n") if b"\r\n" in before else 0)


@pytest.mark.parametrize("state", ["object", "lived-in", "tabs", "one-line", "windows", "scripts"])
def test_only_ours_goes_when_somebody_edited(desk: Desk, state: str) -> None:
    """A file that was edited since keeps the edit and everything else but blanks, and loses our entries alone."""
    desk.put(desk.settings, STATES[state])
    desk.put(desk.servers, STATES[state])
    desk.install()
    for place in (desk.settings, desk.servers):
        place.write_bytes(place.read_bytes().replace(b"{", b'{ "mine": 7,', 1))
    desk.uninstall()

    expected = (STATES[state] or b"").replace(b"{", b'{ "mine": 7,', 1).replace(b",}", b"}")
    for place in (desk.settings, desk.servers):
        assert b"".join(place.read_bytes().split()) == b"".join(expected.split())
        assert state == "object" or place.read_bytes() == expected


def test_what_was_made_goes_unless_it_is_used(desk: Desk) -> None:
    """A file that we made and somebody else wrote into stays, with the directory that it is in."""
    desk.install()
    settings = json.loads(desk.settings.read_text())
    settings["model"] = "opus"
    desk.settings.write_text(json.dumps(settings))
    desk.servers.write_text(desk.servers.read_text() + "\n")
    desk.uninstall()

    assert json.loads(desk.settings.read_text()) == {"model": "opus"}
    assert not desk.servers.exists()


def test_without_the_brain_ours_goes_too(desk: Desk) -> None:
    """When the brain was deleted, its entries are taken out all the same, and the backup lies beside the file."""
    desk.put(desk.settings, LIVED_IN.encode())
    desk.install()
    installed = desk.settings.read_bytes()
    (desk.brain / "omnislash.yaml").unlink()
    (done, _) = desk.uninstall()

    assert desk.conditions() == [Condition.ABSENT, Condition.ABSENT]
    assert done.backup is not None
    assert done.backup.parent == desk.settings.parent
    assert done.backup.read_bytes() == installed


# -- what is refused -------------------------------------------------------------------------------------------------

BROKEN = {
    "comma": (b'{\n  "a": 1\n  "b": 2\n}', 3),
    "text": (b"hello", 1),
    "half": (b'{\n  "a": [1,\n', 3),
    "list": (b"[]", 1),
    "latin": (b'{\n  "a": "\xe4"\n}', 2),
    "utf-16": ("{}".encode("utf-16"), 1),
    "nul": (b'{"a": "\x00"}', 1),
}


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("state", BROKEN)
def test_broken_files_are_refused(desk: Desk, state: str, which: int) -> None:
    """A file that the host could not read either is named with its line, and neither file changes."""
    data, line = BROKEN[state]
    place = (desk.settings, desk.servers)[which]
    desk.put(place, data)
    before = desk.world()

    for act in (desk.install, desk.uninstall):
        with pytest.raises(ConfigError) as caught:
            act()
        assert (caught.value.path, caught.value.line) == (str(place), line)
        assert "Nothing was changed." in caught.value.message
        assert caught.value.hint
    assert desk.world() == before
    assert desk.conditions()[which] is Condition.BROKEN


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (0, '{"hooks": []}'),
        (0, '{"hooks": {"Stop": "x"}}'),
        (1, '{"mcpServers": []}'),
        (1, '{"mcpServers": {"omnislash": {}}}'),
    ],
)
def test_other_forms_change_nothing(desk: Desk, which: int, text: str) -> None:
    """Settings of another form, and a server of our name that is somebody else's, stop everything."""
    desk.put((desk.settings, desk.servers)[which], text.encode())
    before = desk.world()

    with pytest.raises(ConfigError):
        desk.install()

    assert desk.world() == before


def test_read_only_files_are_left_alone(desk: Desk) -> None:
    """A file that is marked read-only stays, and so does the other one."""
    desk.put(desk.settings, b"{}")
    desk.put(desk.servers, b"{}")
    desk.servers.chmod(0o444)
    before = desk.world()

    with pytest.raises(StorageError) as caught:
        desk.install()

    assert str(desk.servers) in caught.value.message
    assert "Nothing was changed." in caught.value.message
    assert desk.world() == before


@pytest.mark.parametrize("kind", ["directory", "pipe", "file-above", "circle"])
def test_what_is_no_file_is_refused(desk: Desk, kind: str) -> None:
    """A directory, a pipe, a circle of links or a file where a directory should be is one sentence, and no wait."""
    if kind == "directory":
        desk.settings.mkdir(parents=True)
    elif kind == "file-above":
        desk.settings.parent.write_text("x")
    else:
        desk.settings.parent.mkdir()
        if kind == "pipe":
            os.mkfifo(desk.settings)
        else:
            desk.settings.symlink_to(desk.settings)

    with pytest.raises(StorageError) as caught:
        desk.install()

    assert str(desk.settings) in caught.value.message
    assert not desk.servers.exists()
    assert desk.conditions()[0] is Condition.BROKEN


def test_a_huge_file_is_refused(desk: Desk) -> None:
    """A file that can't be settings is not read into memory for long."""
    desk.settings.parent.mkdir()
    with desk.settings.open("wb") as file:
        file.truncate(planning.BYTES_MAX + 1)

    with pytest.raises(StorageError, match="too much"):
        desk.install()


@pytest.mark.parametrize("name", ["a${HOME}b", "line\nbreak", "half\udce4"])
def test_paths_that_a_host_would_change_are_refused(tmp_path: Path, name: str) -> None:
    """A path that can't stand in settings as it is is refused before anything is read."""
    with pytest.raises(UsageError):
        installing.check_entry(Entry(program=("/opt/omnislash",), role="nova", brain=f"{tmp_path}/{name}"))


@pytest.mark.parametrize("name", ["全角\u3000空白", "no\xa0break", "it's", "$HOME `id`", "ключ"])
def test_paths_of_all_kinds_are_carried(name: str) -> None:
    """Any other path is one that settings can carry."""
    installing.check_entry(Entry(program=("/opt/omnislash",), role="nova", brain=f"/home/{name}"))


# -- links, permissions, backups -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_there", [True, False])
def test_links_stay(desk: Desk, is_there: bool) -> None:
    """A linked file is changed where it lies, the link stays, and a link to nowhere leads to nowhere again."""
    target = desk.home / "dots" / "settings.json"
    target.parent.mkdir()
    if is_there:
        target.write_bytes(LIVED_IN.encode())
    desk.settings.parent.mkdir()
    desk.settings.symlink_to("../dots/settings.json")
    desk.install()

    assert desk.settings.is_symlink()
    assert b"omnislash" in target.read_bytes()

    desk.uninstall()
    assert desk.settings.is_symlink()
    assert (target.read_bytes() if target.exists() else None) == (LIVED_IN.encode() if is_there else None)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_permissions_stay(desk: Desk, mode: int) -> None:
    """The permissions of a file are kept; the person's own state is made for them alone."""
    desk.put(desk.settings, b"{}")
    desk.settings.chmod(mode)
    desk.install()

    assert stat.S_IMODE(desk.settings.stat().st_mode) == mode
    assert stat.S_IMODE(desk.servers.stat().st_mode) == 0o600


def test_each_change_has_a_backup(desk: Desk) -> None:
    """Each changed file is kept as it was under a new name, readable for this user alone, and hidden from git."""
    desk.put(desk.settings, LIVED_IN.encode())
    desk.put(desk.servers, b"{}")
    first = [done.backup for done in desk.install()]
    middle = desk.settings.read_bytes()
    second = [done.backup for done in desk.uninstall()]
    third = [done.backup for done in desk.install()]

    places = [place for place in (*first, *second, *third) if place is not None]
    assert len(set(places)) == 6
    assert [places[0].read_bytes(), places[2].read_bytes()] == [LIVED_IN.encode(), middle]
    assert {stat.S_IMODE(place.stat().st_mode) for place in places} == {0o600}
    assert {stat.S_IMODE(place.parent.stat().st_mode) for place in places} == {0o700}
    assert (desk.brain / ".omnislash" / ".gitignore").read_text() == "*\n"


def test_a_lost_backup_is_no_obstacle(desk: Desk) -> None:
    """When a person deleted the backups, our entries are taken out all the same."""
    desk.put(desk.settings, STATES["tabs"])
    for done in desk.install():
        if done.backup:
            done.backup.unlink()
    desk.uninstall()

    assert desk.settings.read_bytes() == STATES["tabs"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"file": 1}', "\x00", '{"file": "x", "existed": true, "after": "", "kept": 3}']
)
def test_a_damaged_receipt_is_no_obstacle(desk: Desk, text: str) -> None:
    """When what was kept about a file makes no sense, our entries are taken out all the same."""
    desk.put(desk.settings, STATES["tabs"])
    desk.install()
    receipts = list((desk.brain / ".omnislash" / "hosts").iterdir())
    for place in receipts:
        place.write_text(text)
    desk.uninstall()

    assert len(receipts) == 2
    assert desk.settings.read_bytes() == STATES["tabs"]
    assert b"omnislash" not in desk.servers.read_bytes()


# -- other roles, programs and brains --------------------------------------------------------------------------------


def test_another_role_of_the_brain_takes_the_place(desk: Desk) -> None:
    """A second role replaces the first, and taking it out leads back to what was before the first."""
    desk.put(desk.settings, LIVED_IN.encode())
    desk.install()
    ops = Entry(program=("/new/omnislash",), role="ops", brain=str(desk.brain), heartbeat="briefing")
    desk.install(ops)

    views = [view for view in look(HOST, desk.project, desk.where.environment) if view.entries]
    assert [[each.entry for each in view.entries] for view in views] == [[ops], [ops]]

    desk.uninstall()
    assert desk.settings.read_bytes() == LIVED_IN.encode()
    assert not desk.servers.exists()


def test_another_brain_is_refused_while_the_first_is_there(desk: Desk, tmp_path: Path) -> None:
    """The role of another brain does not push the first out; when the first is gone, it gives way."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "omnislash.yaml").touch()
    desk.install()
    before = desk.world()
    entry = Entry(program=("/opt/bin/omnislash",), role="nova", brain=str(other))

    with pytest.raises(UsageError) as caught:
        desk.install(entry)
    assert str(desk.brain) in caught.value.message
    assert "uninstall" in str(caught.value.hint)
    assert desk.world() == before

    (desk.brain / "omnislash.yaml").unlink()
    desk.install(entry)
    assert str(other) in desk.settings.read_text()
    assert str(desk.brain) not in desk.settings.read_text() + desk.servers.read_text()


# -- trouble in the middle -------------------------------------------------------------------------------------------


class TroubledDisk(WrappedDisk):
    """A disk at whose n-th call something happens."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        super().__init__()
        self._number, self._act = number, act

    def before(self, call: Call) -> None:
        if call.number == self._number:
            self._act()


def fail() -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class StoppedError(BaseException):
    """Stands for the end of the process: nothing cleans up."""


def stop() -> None:
    """End the process, as far as a test can."""
    raise StoppedError


def sweep(tmp_path: Path, act: Callable[[], None]) -> Iterator[tuple[Desk, TroubledDisk]]:
    """Yield a desk of its own and a disk in trouble at the first, second, third call, as long as it comes that far."""
    for number in range(1, 200):
        root = tmp_path / str(number)
        root.mkdir()
        desk = Desk(root)
        desk.put(desk.settings, LIVED_IN.encode())
        desk.put(desk.servers, b'{"a": 1}')
        disk = TroubledDisk(number, act)
        yield desk, disk
        if len(disk.calls) < number:
            break
    else:
        pytest.fail("the work has no end")
    assert number > 15


@pytest.mark.parametrize("acting", ["install", "uninstall"])
def test_a_disk_that_fails_once_loses_nothing(tmp_path: Path, acting: str) -> None:
    """Whichever call fails, both files are as before or both are done, and trying again succeeds."""
    for desk, disk in sweep(tmp_path, fail):
        clean = desk.world()
        if acting == "uninstall":
            desk.install()
        before = desk.world()
        act = desk.install if acting == "install" else desk.uninstall
        said = "Nothing was changed."
        try:
            act(disk=disk)
        except OmnislashError as error:
            said = error.message
            assert desk.world() == before
        assert "Nothing was changed." in said
        act()
        assert desk.conditions() == [Condition.INSTALLED if acting == "install" else Condition.ABSENT] * 2
        desk.uninstall()
        assert {path: data for path, data in desk.world().items() if ".omnislash-" not in path} == clean


def test_a_process_that_ends_between_the_files_can_be_run_again(tmp_path: Path) -> None:
    """Whenever the process ends, no file is torn, the same command completes the work, and nothing is lost."""
    for desk, disk in sweep(tmp_path, stop):
        try:
            desk.install(disk=disk)
        except StoppedError:
            for file in desk.where.files():
                json_settings.find(HOST, file, file.path.read_text())
        desk.install()
        assert desk.conditions() == [Condition.INSTALLED, Condition.INSTALLED]
        desk.uninstall()
        assert (desk.settings.read_bytes(), desk.servers.read_bytes()) == (LIVED_IN.encode(), b'{"a": 1}')


def test_a_save_meanwhile_is_kept(tmp_path: Path) -> None:
    """Somebody who saves both files at any instant keeps their bytes, and the entry is installed on top of them."""
    desks: list[Desk] = []

    def save() -> None:
        for place in (desks[-1].settings, desks[-1].servers):
            text = place.read_bytes().replace(b"{", b'{"saved": 1,', 1)
            place.with_name("editor").write_bytes(text)
            place.with_name("editor").replace(place)

    for desk, disk in sweep(tmp_path, save):
        desks.append(desk)
        desk.install(disk=disk)

        for place in (desk.settings, desk.servers):
            assert (b'"saved": 1' in place.read_bytes()) == (len(disk.calls) >= len(desks))
        assert desk.conditions() == [Condition.INSTALLED, Condition.INSTALLED]


def test_a_file_that_never_rests_is_given_up(desk: Desk) -> None:
    """When another program saves again and again, the command ends with a sentence and leaves its bytes alone."""
    desk.put(desk.settings, b"{}")

    class Restless(WrappedDisk):
        def before(self, call: Call) -> None:
            if call.name == "exchange":
                desk.settings.write_text(json.dumps({"n": len(self.calls)}))

    with pytest.raises(StorageError, match="again and again"):
        desk.install(disk=Restless())

    assert list(json.loads(desk.settings.read_text())) == ["n"]
    assert not desk.servers.exists()


# -- dry run ---------------------------------------------------------------------------------------------------------


def test_a_plan_changes_nothing_and_shows_all(desk: Desk) -> None:
    """A plan is a diff that leads from the file to what an installation makes of it."""
    desk.put(desk.settings, LIVED_IN.encode())
    before = desk.world()
    changes = planning.plan_install(desk.where, desk.entry, Disk())
    shown = [diff(change) for change in changes]

    assert desk.world() == before
    assert not (desk.brain / ".omnislash").exists()
    assert shown[0].startswith(f"--- {desk.settings}\n+++ {desk.settings}\n@@ ")
    assert shown[1].startswith(f"--- /dev/null\n+++ {desk.servers}\n@@ -0,0 +1,")
    desk.install()
    for change, text in zip(changes, shown, strict=True):
        lines = text.splitlines()[2:]
        added, gone = ([line[1:] for line in lines if line.startswith(sign)] for sign in "+-")
        old, new = change.loaded.text.splitlines(), change.loaded.file.path.read_text().splitlines()
        assert len(new) - len(old) == len(added) - len(gone)
        assert set(added) <= set(new)
        assert set(gone) <= set(old)


def test_a_plan_has_the_lines_of_the_file(desk: Desk) -> None:
    """The numbers of a diff are those of the whole file, however long it is."""
    lines = "".join(f'  "k{number}": {number},\n' for number in range(1000))
    desk.put(desk.servers, f'{{\n{lines}  "last": 1\n}}\n'.encode())
    _, change = planning.plan_install(desk.where, desk.entry, Disk())

    assert "@@ -999,5 +999,17 @@" in diff(change) or "@@ -999,5 +999," in diff(change)


def test_status_says_what_would_not_work(desk: Desk) -> None:
    """An entry whose program or brain is gone is shown as such; a file without one is simply absent."""
    desk.install()
    (desk.brain / "omnislash.yaml").unlink()
    views = look(HOST, desk.project, desk.where.environment)
    answers: dict[tuple[str, str], dict[str, Any]] = {
        (view.scope.value, view.file.part.value): view.to_json() for view in views
    }

    assert answers["user", "hooks"]["condition"] == "installed"
    (entry,) = answers["user", Part.HOOKS.value]["entries"]
    assert (entry["role"], entry["programExists"], entry["brainExists"], entry["workerRuns"]) == (
        "nova",
        False,
        False,
        False,
    )
    assert answers["project", "hooks"]["condition"] == "absent"


@pytest.mark.parametrize(
    ("script", "starts"),
    [
        ("#!{python}\nimport omnislash\n", True),
        ("#!{python}.gone -sE\nimport omnislash\n", False),
        ("#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n' '''\n", True),
        ("#!/bin/sh\n'''exec' '{python}.gone' \"$0\" \"$@\"\n' '''\n", False),
        ('#!/bin/sh\nexec omnislash "$@"\n', True),
        ("\x7fELF", True),
    ],
)
def test_status_sees_that_python_has_moved(desk: Desk, script: str, starts: bool) -> None:
    """A script whose interpreter is gone does not start, though the script is there; installers write two forms of it."""
    program = desk.home / "omnislash"
    program.write_text(script.format(python=sys.executable))
    program.chmod(0o755)
    desk.install(replace(desk.entry, program=(str(program),)))

    views = [view for view in look(HOST, desk.project, desk.where.environment) if view.entries]
    assert {view.entries[0].has_program for view in views} == {starts}
