"""Scopes and projects that share a file of the host: each takes out its own entry, and the last leaves no trace."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from omnislash.errors import UsageError
from omnislash.surfaces.adapters import installing
from omnislash.surfaces.adapters.hosts import Entry, Part, Scope, get_host
from omnislash.surfaces.adapters.planning import Where
from omnislash.surfaces.adapters.standing import Condition, look

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOST = get_host("claude-code")
#: Who installs: three scopes of one project, and another project that shares only the file of the servers.
LOCAL, PROJECT, USER, OTHER = ("local", "project", "user", "other")
#: `~/.claude.json` before the first installation.
STATES = {
    "absent": None,
    "empty": b"",
    "bare": b"{ }",
    "projects": b'{"projects": {  }, "n": 1.0}\n',
    "servers": b'{\n\t"mcpServers": {\n\t}\n}',
    "lived-in": b'{\n    "a": 1, // mine\n    "projects": {"/x": {"mcpServers": {}}},\n}\n',
}


class Machine:
    """A home, two projects and two brains; the entry of `user` carries the second brain."""

    def __init__(self, root: Path, state: bytes | None = None) -> None:
        self.home, self.stamps = root / "home", itertools.count(1)
        places = {name: root / name for name in ("project", "beside", "brain", "second")}
        for place in (self.home, *places.values()):
            place.mkdir(parents=True)
        self.wheres: dict[str, Where] = {}
        self.entries: dict[str, Entry] = {}
        for name, scope in {LOCAL: Scope.LOCAL, PROJECT: Scope.PROJECT, USER: Scope.USER, OTHER: Scope.LOCAL}.items():
            project = places["beside" if name == OTHER else "project"]
            brain = places["second" if name == USER else "brain"]
            (brain / "omnislash.yaml").touch()
            self.wheres[name] = Where(host=HOST, scope=scope, project=project, environment={"HOME": str(self.home)})
            self.entries[name] = Entry(program=("/opt/bin/omnislash",), role=name, brain=str(brain))
        self.shared = self.home / ".claude.json"
        if state is not None:
            self.shared.write_bytes(state)
        self._hosts = [self.home, places["project"], places["beside"]]

    def install(self, name: str, *, role: str | None = None) -> bool:
        """Install and tell whether anything changed."""
        known = self.entries[name]
        entry = Entry(program=known.program, role=role or known.role, brain=known.brain)
        done = installing.install(self.wheres[name], entry, stamp=str(next(self.stamps)))
        return any(each.change.is_needed for each in done)

    def uninstall(self, name: str) -> bool:
        """Take out and tell whether anything changed."""
        done = installing.uninstall(self.wheres[name], stamp=str(next(self.stamps)))
        return any(each.change.is_needed for each in done)

    def standing(self) -> set[str]:
        """Return who is installed; both files of a scope must say the same, and carry the right role."""
        found = set()
        for name, where in self.wheres.items():
            views = [view for view in look(HOST, where.project, where.environment) if view.scope is where.scope]
            roles = {tuple(each.entry.role for each in view.entries) for view in views}
            assert roles in ({()}, {(name,)})
            assert {view.condition for view in views} in ({Condition.INSTALLED}, {Condition.ABSENT})
            found |= {name} if roles == {(name,)} else set()
        return found

    def world(self) -> dict[str, bytes]:
        """Return every file and directory of home and projects."""
        places = [path for host in self._hosts for path in host.rglob("*")]
        return {str(path): b"" if path.is_dir() else path.read_bytes() for path in sorted(places)}


def interleave(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return every order in which all of them come in and go out again: the second time that one is named, it goes."""
    return sorted(set(itertools.permutations([*names, *names])))


@pytest.mark.parametrize(
    ("names", "state"),
    [
        *(((LOCAL, USER), state) for state in STATES),
        *(((LOCAL, OTHER), state) for state in ("absent", "bare", "projects")),
        ((LOCAL, PROJECT), "absent"),
    ],
)
def test_every_order_of_two(tmp_path: Path, names: tuple[str, str], state: str) -> None:
    """In whichever order two come and go, each twice, only what is meant goes, and in the end all is as it was."""
    for number, order in enumerate(interleave(names)):
        machine = Machine(tmp_path / str(number), STATES[state])
        before, present = machine.world(), set[str]()
        for name in order:
            act = machine.uninstall if name in present else machine.install
            assert act(name)
            assert not act(name)
            present ^= {name}
            assert machine.standing() == present, order
        assert machine.world() == before, order


def test_orders_of_all(tmp_path: Path) -> None:
    """Four of two brains, in half of the orders of going and several of coming; one may come anew in between."""
    names = (LOCAL, PROJECT, USER, OTHER)
    for number, leaving in enumerate(list(itertools.permutations(names))[::2]):
        machine = Machine(tmp_path / str(number), STATES[("absent", "projects", "lived-in")[number % 3]])
        before = machine.world()
        coming = [*names[number % 4 :], *names[: number % 4]]
        assert all(machine.install(name) for name in coming)
        if number // 4 % 2:
            assert machine.uninstall(coming[1])
            assert machine.install(coming[1])
        for left, name in enumerate(leaving, 1):
            assert machine.uninstall(name)
            assert machine.standing() == set(leaving[left:])
        assert machine.world() == before, (coming, leaving)


def test_one_that_goes_at_once_leaves_the_other_untouched(tmp_path: Path) -> None:
    """A second scope that is installed and taken out again leaves the file as the first one left it."""
    machine = Machine(tmp_path, STATES["projects"])
    machine.install(USER)
    middle = machine.world()
    machine.install(LOCAL)
    machine.uninstall(LOCAL)

    assert machine.world() == middle


@pytest.mark.parametrize("order", [(LOCAL, USER), (USER, LOCAL)])
def test_an_edit_in_between_stays(tmp_path: Path, order: tuple[str, str]) -> None:
    """What somebody writes between two installations, or after them, stays when both are taken out."""
    for number, first_out in enumerate(order):
        machine = Machine(tmp_path / str(number), STATES["projects"])
        machine.install(order[0])
        machine.shared.write_bytes(machine.shared.read_bytes().replace(b'"n": 1.0', b'"n": 2'))
        machine.install(order[1])
        machine.uninstall(first_out)
        machine.shared.write_bytes(machine.shared.read_bytes().replace(b'"n": 2', b'"n": 3'))
        machine.uninstall(next(name for name in order if name != first_out))

        assert json.loads(machine.shared.read_bytes()) == {"projects": {}, "n": 3}


@pytest.mark.parametrize("names", [(LOCAL,), (LOCAL, USER)])
def test_another_role_takes_no_edit_along(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Installed, edited by somebody, installed with another role and taken out: the edit is still there."""
    machine = Machine(tmp_path)
    for name in names:
        machine.install(name)
    places = [file.path for file in machine.wheres[LOCAL].files()]
    for place in places:
        place.write_bytes(place.read_bytes().replace(b"{", b'{ "mine": 7,', 1))
    machine.install(LOCAL, role="ops")
    for name in names:
        machine.uninstall(name)

    assert [json.loads(place.read_bytes()) for place in places] == [{"mine": 7}] * 2


def test_without_the_brain_of_one_the_other_stays(tmp_path: Path) -> None:
    """When the brain of one scope was deleted, its entry goes alone, and the other is known as before."""
    machine = Machine(tmp_path, STATES["projects"])
    machine.install(USER)
    machine.install(LOCAL)
    (tmp_path / "second" / "omnislash.yaml").unlink()
    machine.uninstall(USER)
    assert machine.standing() == {LOCAL}
    machine.uninstall(LOCAL)

    assert json.loads(machine.shared.read_bytes()) == {"projects": {}, "n": 1.0}


def test_a_lost_receipt_takes_nothing_of_the_other(tmp_path: Path) -> None:
    """Without anything kept about either, each entry still goes alone."""
    for number, order in enumerate(itertools.permutations([LOCAL, USER, OTHER])):
        machine = Machine(tmp_path / str(number), STATES["lived-in"])
        for name in order:
            machine.install(name)
        for place in tmp_path.glob(f"{number}/*/.omnislash/hosts/*"):
            place.unlink()
        for left, name in enumerate(order, 1):
            machine.uninstall(name)
            assert machine.standing() == set(order[left:])

        assert machine.shared.read_bytes() == STATES["lived-in"]


@pytest.mark.parametrize("field", ["file", "keys", "existed", "own", "first", "kept", "made"])
def test_a_receipt_of_another_form_is_no_obstacle(tmp_path: Path, field: str) -> None:
    """When what was kept lacks a field, or has a number in its place, each entry still goes alone."""
    for number, value in enumerate([None, {"after": "x"}, 3]):
        machine = Machine(tmp_path / str(number), STATES["lived-in"])
        machine.install(LOCAL)
        for place in tmp_path.glob(f"{number}/*/.omnislash/hosts/*"):
            kept = json.loads(place.read_text())
            rest = {key: each for key, each in kept.items() if key != field}
            place.write_text(json.dumps(rest if value is None else {**rest, field: value}))
        machine.install(USER)
        machine.uninstall(LOCAL)
        assert machine.standing() == {USER}
        machine.uninstall(USER)

        assert machine.shared.read_bytes() == STATES["lived-in"]


def test_a_project_that_json_cannot_name_is_refused(tmp_path: Path) -> None:
    """A directory whose name is no UTF-8 can't be a key of a JSON file: one sentence, and nothing changes."""
    machine = Machine(tmp_path)
    where = machine.wheres[LOCAL]
    odd = Where(host=HOST, scope=Scope.LOCAL, project=tmp_path / "half\udce4", environment=where.environment)

    with pytest.raises(UsageError) as caught:
        installing.install(odd, machine.entries[LOCAL], stamp="1")

    assert "Nothing was changed." in caught.value.message
    assert machine.world() == {}


def test_odd_neighbours_are_no_obstacle(tmp_path: Path) -> None:
    """Projects of other forms than the host knows, and servers of our name that are not ours, are passed over."""
    state = {"projects": {"/a": 1, "/b": {"mcpServers": []}, "/c": {"mcpServers": {"omnislash": {"command": "x"}}}}}
    machine = Machine(tmp_path, json.dumps(state).encode())
    before = machine.world()
    machine.install(USER)
    (server,) = (file for file in machine.wheres[USER].files() if file.part is Part.SERVER)
    machine.install(LOCAL)
    machine.uninstall(USER)
    machine.uninstall(LOCAL)

    assert server.path == machine.shared
    assert machine.world() == before
