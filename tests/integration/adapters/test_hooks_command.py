"""`omnislash hooks` as a person types it: what it says, what it refuses, and that the real files then work."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.surfaces.cli.root import run

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

PAYLOADS = Path(__file__).parent / "payloads"


class Person:
    """Types commands in a project, with a home of their own."""

    def __init__(self, sample: SampleBrain, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.sample, self.capsys = sample, capsys
        self.home, self.project = root / "home", root / "my project's"
        self.home.mkdir()
        self.project.mkdir()

    @property
    def settings(self) -> Path:
        """The settings of this person in this project."""
        return self.project / ".claude" / "settings.local.json"

    def type(self, *words: str, brain: bool = True, code: int = 0) -> str:
        """Run `omnislash hooks …` and return what was printed; the exit code is checked."""
        where = ["--brain", str(self.sample.root)] if brain else []
        assert run([*where, "hooks", *words]) == code
        out, err = self.capsys.readouterr()
        return out if code == 0 else out + err

    def ask(self, *words: str, brain: bool = True, code: int = 0) -> dict[str, Any]:
        """Run it with `--json` and return the answer."""
        answer: dict[str, Any] = json.loads(self.type(*words, "--json", brain=brain, code=code).splitlines()[0])
        return answer

    def files(self) -> list[str]:
        """Return every file of home, project and brain."""
        places = [self.home, self.project, self.sample.root]
        return sorted(str(path) for place in places for path in place.rglob("*"))


@pytest.fixture
def person(
    sample: SampleBrain, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Person:
    """A person who stands in a project, beside a brain with the role `nova`."""
    person = Person(sample, tmp_path, capsys)
    monkeypatch.setenv("HOME", str(person.home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(person.project)
    return person


def test_install_says_what_it_did(person: Person) -> None:
    """The answer names role, brain, files, backup, tools, and what to do next."""
    person.settings.parent.mkdir()
    person.settings.write_text('{"model": "opus",}\n')
    text = person.type("install", "claude-code", "--role", "nova")

    assert f"Claude Code now carries the role nova of {person.sample.root}." in text
    assert f"{person.settings}: changed; before: {person.sample.root}/.omnislash/backups/" in text
    assert f"{person.home}/.claude.json: made" in text
    assert "memory_search, memory_read, memory_write" in text
    assert "a comma before a closing bracket" in text
    assert "Start a new session" in text
    assert "omnislash worker" in text
    assert "already" in person.type("install", "claude-code", "--role", "nova")


def test_project_scope_says_what_others_will_see(person: Person) -> None:
    """Whoever installs for a project is told of the question that Claude Code asks, and of the paths in the files."""
    text = person.type("install", "claude-code", "--role", "nova", "--scope", "project")

    assert "asks each person once" in text
    assert "paths of this machine" in text
    assert (person.project / ".mcp.json").is_file()


def test_json_answers(person: Person) -> None:
    """Each command answers with one object; a second role says whom it replaced."""
    person.sample.role("ops", capabilities="memory:read")
    first = person.ask("install", "claude-code", "--role", "nova", "--heartbeat", "x", code=2)
    assert first["error"]["kind"] == "usage"

    first = person.ask("install", "claude-code", "--role", "nova")
    assert (first["outcome"], first["role"], first["scope"], first["replaced"]) == ("installed", "nova", "local", [])
    assert [file["changed"] for file in first["files"]] == [True, True]
    assert person.ask("install", "claude-code", "--role", "nova")["outcome"] == "unchanged"

    second = person.ask("install", "claude-code", "--role", "ops")
    assert second["replaced"] == [{"role": "nova", "brain": str(person.sample.root)}]
    assert second["tools"] == ["memory_overview", "memory_list", "memory_search", "memory_read"]

    status = person.ask("status", "claude-code", brain=False)
    assert [(file["scope"], file["condition"]) for file in status["files"]] == [
        ("local", "installed"),
        ("local", "installed"),
        *([("project", "absent")] * 2),
        *([("user", "absent")] * 2),
    ]
    gone = person.ask("uninstall", "claude-code", brain=False)
    assert (gone["outcome"], [file["changed"] for file in gone["files"]]) == ("uninstalled", [True, True])
    assert person.ask("uninstall", "claude-code", brain=False)["outcome"] == "unchanged"


def test_dry_runs_change_nothing(person: Person) -> None:
    """A dry run shows a diff of each file and leaves every file of home, project and brain as it is."""
    before = person.files()
    text = person.type("install", "claude-code", "--role", "nova", "--dry-run")
    answer = person.ask("install", "claude-code", "--role", "nova", "--dry-run")

    assert person.files() == before
    assert f"+++ {person.settings}" in text
    assert '+            "command": ' in text
    assert [file["changes"] for file in answer["files"]] == [True, True]

    assert (
        run(["--brain", str(person.sample.root), "hooks", "install", "claude-code", "--role", "nova", "--dry-run"]) == 0
    )
    notes = person.capsys.readouterr().err
    assert "Nothing was changed." in notes
    assert "new session" not in notes

    person.type("install", "claude-code", "--role", "nova")
    installed = {place: Path(place).read_bytes() for place in person.files() if Path(place).is_file()}
    assert f"--- {person.settings}" in person.type("uninstall", "claude-code", "--dry-run")
    assert {place: Path(place).read_bytes() for place in person.files() if Path(place).is_file()} == installed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["install", "vim", "--role", "nova"], "known are: claude-code"),
        (["install", "claude-code", "--role", "nobody"], "no role 'nobody'"),
        (["install", "claude-code", "--role", "ghost"], "no memory"),
        (["install", "claude-code"], "--role"),
        (["install", "claude-code", "--role", "nova", "--project", "nowhere"], "not there"),
        (["install", "claude-code", "--role", "nova", "--scope", "team"], "team"),
        (["uninstall", "vim"], "known are: claude-code"),
        (["status", "vim"], "known are: claude-code"),
        (["--replay", "install", "claude-code", "--role", "nova"], "--replay"),
        (["--replay", "uninstall", "claude-code"], "--replay"),
    ],
)
def test_wrong_usage_is_one_sentence(person: Person, words: list[str], said: str) -> None:
    """Each mistake is answered with a sentence and exit code 2, and nothing is made."""
    person.sample.role("ghost", None)
    before = person.files()

    text = person.type(*words, code=2)

    assert said in text
    assert "Traceback" not in text
    assert person.files() == before


def test_a_broken_file_stops_the_command(person: Person) -> None:
    """Settings that are no JSON are named with file, line and a next step; status says so with exit code 1."""
    person.settings.parent.mkdir()
    person.settings.write_text('{\n  "a": 1\n  "b": 2\n}\n')

    text = person.type("install", "claude-code", "--role", "nova", code=2)
    assert f"{person.settings}:3:3: A comma or `}}` is missing. Nothing was changed." in text
    assert "local hooks: can't be read" in person.type("status", "claude-code", code=1)


def test_uninstall_means_what_it_names(person: Person, tmp_path: Path) -> None:
    """With a role or a brain that is not the installed one, nothing is taken out."""
    person.type("install", "claude-code", "--role", "nova")
    before = person.settings.read_bytes()

    assert "carries the role nova" in person.type("uninstall", "claude-code", "--role", "ops", code=2)
    (tmp_path / "other").mkdir()
    assert run(["hooks", "uninstall", "claude-code", "--brain", str(tmp_path / "other")]) == 2
    assert person.settings.read_bytes() == before
    person.type("uninstall", "claude-code", "--role", "nova")
    assert not person.settings.exists()


def test_two_scopes_are_told(person: Person) -> None:
    """Who installs a second role for everywhere is told that sessions of this project get both."""
    person.sample.role("ops")
    person.type("install", "claude-code", "--role", "nova")
    text = person.type("install", "claude-code", "--role", "ops", "--scope", "user")

    assert (
        f"{person.settings} carries the role nova of {person.sample.root} too: sessions here get the blocks of both"
        in text
    )
    state = f"{person.home}/.claude.json carries the role nova of {person.sample.root} too: "
    assert f"{state}Claude Code starts one of them: that of local" in text


def test_working_trees_of_a_repository_share_what_is_local(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed in one working tree it is there in the other, and is taken out from there; nothing is made in either."""
    git = person.project / ".git" / "worktrees" / "linked"
    linked = person.project.parent / "linked"
    git.mkdir(parents=True)
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {git}\n")
    monkeypatch.chdir(linked)
    text = person.type("install", "claude-code", "--role", "nova")
    assert f"the repository {person.project} or a working tree of it" in text
    assert person.settings.is_file()
    assert list(json.loads((person.home / ".claude.json").read_text())["projects"]) == [str(person.project)]

    monkeypatch.chdir(person.project)
    assert "already" in person.type("install", "claude-code", "--role", "nova")
    monkeypatch.chdir(linked)
    person.type("uninstall", "claude-code", brain=False)
    assert not person.settings.parent.exists()
    assert [place.name for place in linked.iterdir()] == [".git"]


def test_status_shows_the_last_line_and_the_worker(person: Person) -> None:
    """Status shows the newest line of the hooks' log, and whether a worker answers them."""
    person.type("install", "claude-code", "--role", "nova")
    person.sample.put(".omnislash/logs/hooks.log", "older\n2026-08-30T09:05:00+0000 no time left\n")
    assert "last noted: 2026-08-30T09:05:00+0000 no time left" in person.type("status", "claude-code")
    text = person.type("status", "claude-code", "--role", "nova")
    assert "No worker runs" in text
    assert "A worker runs" not in text
    assert "No file carries" in person.type("status", "claude-code", "--role", "ops")

    person.sample.start_worker()
    assert {
        file["entries"][0]["workerRuns"] for file in person.ask("status", "claude-code", "--role", "nova")["files"]
    } == {True}
    text = person.type("status", "claude-code", "--role", "nova")
    assert "A worker runs" in text
    assert "No worker runs" not in text


@pytest.mark.parametrize("scope", ["local", "project", "user"])
def test_the_command_to_take_it_out_works_anywhere(
    person: Person, scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that an installation names takes out what it put in, typed in whichever directory."""
    before = person.files()
    text = person.type("install", "claude-code", "--role", "nova", "--scope", scope)
    (said,) = [line.partition(": ")[2] for line in text.splitlines() if "Take it out again with" in line]
    monkeypatch.chdir(tmp_path)

    name, *words = shlex.split(said)
    assert Path(name).name == "omnislash"
    assert "no longer carries" in person.type(*words[1:], brain=False)
    assert [place for place in person.files() if ".omnislash" not in place] == before


def test_two_scopes_in_one_file_go_alone(person: Person) -> None:
    """For me here, then for me everywhere, then no longer here: everywhere still works, and goes as well."""
    state = person.home / ".claude.json"
    state.write_text('{"projects": {}}\n')
    person.type("install", "claude-code", "--role", "nova")
    person.type("install", "claude-code", "--role", "nova", "--scope", "user")
    person.type("uninstall", "claude-code", brain=False)

    kept = json.loads(state.read_text())
    assert (kept["projects"], list(kept["mcpServers"])) == ({}, ["omnislash"])
    assert "local server: not installed" in person.type("status", "claude-code", brain=False)
    assert f"{state}: changed" in person.type("uninstall", "claude-code", "--scope", "user", brain=False)
    assert state.read_text() == '{"projects": {}}\n'


def test_what_is_installed_works(person: Person) -> None:
    """The command in the settings, run as the host runs it, in another directory, shows the model the role's memory."""
    person.sample.put_memory("main/MEMORY.md", "We ship on Fridays, because the carrier comes at four.\n")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(person.home), "PYTHONUTF8": "1"}
    program = Path(sys.executable).with_name("omnislash")
    words = ["--brain", str(person.sample.root), "hooks", "install", "claude-code", "--role", "nova"]
    subprocess.run([program, *words], cwd=person.project, env=environment, capture_output=True, check=True)

    (group,) = json.loads(person.settings.read_text())["hooks"]["SessionStart"]
    (handler,) = group["hooks"]
    done = subprocess.run(
        ["sh", "-c", handler["command"]],
        cwd="/",
        env=environment,
        input=(PAYLOADS / "session-start-startup.json").read_text(),
        capture_output=True,
        text=True,
        check=True,
        timeout=handler["timeout"],
    )
    assert "We ship on Fridays" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    state = json.loads((person.home / ".claude.json").read_text())
    server = state["projects"][os.path.realpath(person.project)]["mcpServers"]["omnislash"]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    served = subprocess.run(
        [server["command"], *server["args"]],
        cwd="/",
        env=environment,
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert json.loads(served.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "omnislash"
