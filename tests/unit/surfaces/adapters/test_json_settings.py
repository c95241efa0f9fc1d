"""Entries of omnislash in a host's JSON are known by their command, put in once, and taken out alone."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from omnislash.errors import UsageError
from omnislash.surfaces.adapters import json_settings
from omnislash.surfaces.adapters.hosts import HOST_IDS, Entry, HostFile, Part, Scope, get_host
from omnislash.surfaces.adapters.settings_text import SettingsTextError

HOST = get_host("claude-code")
HOOKS = HostFile(part=Part.HOOKS, path=Path("/x/settings.json"), keys=("hooks",))
SERVER = HostFile(part=Part.SERVER, path=Path("/x/.mcp.json"), keys=("mcpServers",))
LOCAL = HostFile(part=Part.SERVER, path=Path("/x/.claude.json"), keys=("projects", "/p", "mcpServers"))
NOVA = Entry(program=("/opt/bin/omnislash",), role="nova", brain="/brain")
OPS = Entry(program=("/opt/bin/omnislash",), role="ops", brain="/brain", heartbeat="briefing")
#: The moments that issue 7 names.
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")


def add(file: HostFile, text: str, entry: Entry = NOVA) -> str:
    """Return the text with the entry."""
    return json_settings.add(HOST, file, text, entry)


def take_out(file: HostFile, text: str) -> str:
    """Return the text without entries."""
    return json_settings.take_out(HOST, file, text, kept=frozenset())


class TestCommands:
    """What counts as a command of ours."""

    def test_form_that_is_installed(self) -> None:
        """A hook calls the program with the host, the role and the brain, each as one word."""
        command = json_settings.hook_command(NOVA, HOST)

        assert command == "/opt/bin/omnislash hook claude-code --role nova --brain /brain"

    @pytest.mark.parametrize("name", ["a b", "o'neil", 'quo"te', "dollar$HOME", "ключ", "back\\slash", "a;b&c|d`e`"])
    def test_a_shell_hands_every_word_over(self, name: str, tmp_path: Path) -> None:
        """Whatever a directory is called, a POSIX shell starts the program there and gives it these very words."""
        program = tmp_path / name / "omnislash"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done\n')
        program.chmod(0o755)
        entry = Entry(program=(str(program),), role="nova", brain=str(tmp_path / name))

        done = subprocess.run(
            ["sh", "-c", json_settings.hook_command(entry, HOST)], capture_output=True, text=True, check=True
        )

        assert done.stdout.split("\0")[:-1] == ["hook", "claude-code", "--role", "nova", "--brain", entry.brain]

    @pytest.mark.parametrize(
        "command",
        [
            "omnislash hook claude-code --role nova --brain /b",
            "'/my tools/omnislash' hook claude-code --brain /b --role nova",
            "/usr/bin/python3 -m omnislash hook claude-code --role nova --heartbeat x --brain /b",
            "C:/Tools/omnislash.exe hook claude-code --role nova --brain /b",
        ],
    )
    def test_known(self, command: str) -> None:
        """Any program of that name counts, however it is started, so that a moved one is found again."""
        text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})

        assert [entry.role for entry in json_settings.find(HOST, HOOKS, text).entries] == ["nova"]

    @pytest.mark.parametrize(
        "command",
        [
            "omnislash hook claude-code --role nova",
            "omnislash hook codex --role nova --brain /b",
            "omnislash hook claude-code --role nova --brain /b; echo done",
            "omnislash hook claude-code --role nova --brain /b && true",
            "timeout 5 omnislash hook claude-code --role nova --brain /b",
            "omnislash doctor --role nova --brain /b",
            "my-omnislash hook claude-code --role nova --brain /b",
            "echo 'omnislash hook claude-code --role nova --brain /b",
            "omnislash hook claude-code --role nova --role ops --brain /b",
            "",
        ],
    )
    def test_somebody_elses(self, command: str) -> None:
        """What a person has written or built around ours is theirs: it is not found, and not taken out."""
        text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})

        assert json_settings.find(HOST, HOOKS, text).entries == ()
        assert take_out(HOOKS, text) == text


class TestHooks:
    """Hooks in settings."""

    def test_each_moment_gets_one(self) -> None:
        """Each event has one group with one command and a limit in seconds, and nothing that the host does not know."""
        settings: dict[str, Any] = json.loads(add(HOOKS, ""))

        assert tuple(settings["hooks"]) == EVENTS
        for groups in settings["hooks"].values():
            (group,) = groups
            (handler,) = group.pop("hooks")
            assert group == {}
            assert set(handler) == {"type", "command", "timeout"}
            assert 1 <= handler["timeout"] <= 60

    def test_the_end_of_a_session_gets_more_than_its_budget(self) -> None:
        """SessionEnd names a limit above the second and a half that the host gives otherwise, and below its 60."""
        assert 2 <= HOST.hook_limits["SessionEnd"] <= 60

    def test_others_keep_their_place(self) -> None:
        """Hooks of somebody else stay first, in their order, and every other key stays."""
        mine: dict[str, Any] = {
            "model": "opus",
            "hooks": {
                "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
                "Stop": [{"hooks": [{"type": "command", "command": "bell"}]}, {"hooks": []}],
            },
            "env": {"A": "1"},
        }
        after: dict[str, Any] = json.loads(add(HOOKS, json.dumps(mine)))

        assert list(after) == ["model", "hooks", "env"]
        assert after["hooks"]["PreToolUse"] == mine["hooks"]["PreToolUse"]
        assert after["hooks"]["Stop"][:2] == mine["hooks"]["Stop"]
        assert len(after["hooks"]["Stop"]) == 3

    def test_twice_is_once(self) -> None:
        """Adding again changes no character, also when a person has set another limit."""
        text = add(HOOKS, "{}").replace('"timeout": 10', '"timeout": 42')

        assert add(HOOKS, text) == text

    def test_another_role_takes_the_place(self) -> None:
        """A new role changes the commands where they stand, and leaves what a person set beside them."""
        text = add(HOOKS, "{}").replace('"timeout": 10', '"timeout": 42')
        after = add(HOOKS, text, OPS)

        assert json_settings.find(HOST, HOOKS, after).entries == (OPS,)
        assert after.count('"timeout": 42') == 3
        assert len(json.loads(after)["hooks"]["Stop"]) == 1

    def test_what_is_too_much_goes(self) -> None:
        """A second hook of ours at one event, and one at an event that we no longer need, are taken out."""
        settings = json.loads(add(HOOKS, "{}"))
        settings["hooks"]["Stop"] *= 2
        settings["hooks"]["Notification"] = settings["hooks"]["Stop"][:1]
        after = json.loads(add(HOOKS, json.dumps(settings)))

        assert len(after["hooks"]["Stop"]) == 1
        assert "Notification" not in after["hooks"]

    def test_a_missing_moment_is_completed(self) -> None:
        """When somebody took one hook out, the entry counts as incomplete, and adding brings it back."""
        settings = json.loads(add(HOOKS, "{}"))
        del settings["hooks"]["PreCompact"]
        text = json.dumps(settings)

        assert not json_settings.find(HOST, HOOKS, text).is_complete
        assert json_settings.find(HOST, HOOKS, add(HOOKS, text)).is_complete

    def test_taking_out_leaves_the_neighbours(self) -> None:
        """In a group that holds a hook of somebody else too, only ours goes."""
        ours = {"type": "command", "command": json_settings.hook_command(NOVA, HOST)}
        bell = {"type": "command", "command": "bell"}
        text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [bell, ours]}]}, "x": 1})

        assert json.loads(take_out(HOOKS, text)) == {"hooks": {"Stop": [{"matcher": "", "hooks": [bell]}]}, "x": 1}

    def test_comments_around_ours_stay(self) -> None:
        """A list in which a person wrote a comment is not removed with our entry."""
        text = add(HOOKS, '{\n  "hooks": {\n    "Stop": [\n      // quiet, please\n    ]\n  }\n}\n')
        after = take_out(HOOKS, text)

        assert "// quiet, please" in after
        assert json_settings.find(HOST, HOOKS, after).entries == ()

    def test_a_group_keeps_its_list(self) -> None:
        """A group in which a person wrote a comment stays, with an empty list: one without a list the host would refuse."""
        command = json_settings.hook_command(NOVA, HOST)
        text = f'{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{command}"}}] /* mine */}}]}}}}'

        assert take_out(HOOKS, text) == '{"hooks": {"Stop": [{"hooks": [] /* mine */}]}}'

    def test_twins_of_a_key(self) -> None:
        """Of two members with one name the last counts, as for the host; ours is taken out of both."""
        text = '{"hooks": {"Stop": []}, "hooks": {"Stop": [1]}}'
        after = add(HOOKS, text)
        assert after.startswith('{"hooks": {"Stop": []}, "hooks": {"Stop": [1,')

        doubled = after.replace('{"hooks": {"Stop": []}', '{"hooks": ' + json.dumps(json.loads(after)["hooks"]), 1)
        assert len(json_settings.find(HOST, HOOKS, doubled).entries) == 1
        assert "omnislash" not in take_out(HOOKS, doubled)

    @pytest.mark.parametrize(
        ("text", "line", "key"),
        [
            ("[]", 1, "settings"),
            ('"text"', 1, "settings"),
            ('{\n  "hooks": []\n}', 2, "`hooks`"),
            ('{\n  "hooks": "none"\n}', 2, "`hooks`"),
            ('{\n  "hooks": {\n    "Stop": {}\n  }\n}', 3, "`hooks.Stop`"),
            ('{\n  "hooks": {\n    "Mine": null\n  }\n}', 3, "`hooks.Mine`"),
        ],
    )
    def test_other_forms_are_refused(self, text: str, line: int, key: str) -> None:
        """Settings of another form are refused with the line and the key."""
        with pytest.raises(SettingsTextError) as caught:
            add(HOOKS, text)

        assert caught.value.line == line
        assert caught.value.message.startswith(key) or key in caught.value.message

    @pytest.mark.parametrize("groups", ["[1, null, {}]", '[{"hooks": "x"}]', '[{"hooks": [1, {"command": 2}]}]'])
    def test_odd_groups_of_others_are_left_alone(self, groups: str) -> None:
        """What a person wrote inside of an event is not judged: ours is added behind it."""
        after = json.loads(add(HOOKS, f'{{"hooks": {{"Stop": {groups}}}}}'))

        assert after["hooks"]["Stop"][:-1] == json.loads(groups)


class TestServers:
    """The MCP server in its file."""

    @pytest.mark.parametrize(("file", "way"), [(SERVER, ()), (LOCAL, ("projects", "/p"))])
    def test_form(self, file: HostFile, way: tuple[str, ...]) -> None:
        """The server stands under its name, with the program and its words."""
        found: dict[str, Any] = json.loads(add(file, ""))
        for key in way:
            found = found[key]

        assert found == {
            "mcpServers": {
                "omnislash": {
                    "type": "stdio",
                    "command": "/opt/bin/omnislash",
                    "args": ["mcp", "--role", "nova", "--brain", "/brain"],
                }
            }
        }

    @pytest.mark.parametrize("module", [("-P", "-m", "omnislash"), ("-m", "omnislash")])
    def test_renewal_keeps_what_was_set_beside_it(self, module: tuple[str, ...]) -> None:
        """A moved program and another role are brought up to date; variables that a person set stay."""
        old = Entry(program=("/usr/bin/python3", *module), role="nova", brain="/old")
        text = add(SERVER, "{}", old).replace('"type": "stdio"', '"env": {"A": "1"}')
        after = json.loads(add(SERVER, text, OPS))["mcpServers"]["omnislash"]

        assert after["env"] == {"A": "1"}
        assert [after["command"], *after["args"]] == OPS.words("mcp")

    def test_somebody_elses_server_is_not_touched(self) -> None:
        """A server of our name that is not ours is refused, and stays when ours is taken out."""
        text = '{\n  "mcpServers": {\n    "omnislash": {"command": "other"}\n  }\n}'
        with pytest.raises(SettingsTextError) as caught:
            add(SERVER, text)

        assert caught.value.line == 3
        assert take_out(SERVER, text) == text

    @pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": 1}'])
    def test_other_forms_of_servers_are_refused(self, text: str) -> None:
        """A file of another form is refused."""
        with pytest.raises(SettingsTextError):
            add(SERVER, text)


def test_oddities_are_named() -> None:
    """Comments, a last comma, a byte order mark and a switch that turns hooks off are told; plain settings are not."""
    assert json_settings.describe_oddities(HOST, '{"a": 1}') == []
    (odd,) = json_settings.describe_oddities(HOST, '\ufeff{"a": 1, /* c */}')
    assert all(word in odd for word in ("comments", "comma", "byte order mark"))
    (off,) = json_settings.describe_oddities(HOST, '{"disableAllHooks": true}')
    assert "disableAllHooks" in off


# -- files and hosts -------------------------------------------------------------------------------------------------


def paths(scope: Scope, project: Path, **environment: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return where the files of a scope lie and which keys lead to our entries."""
    return [(str(file.path), file.keys) for file in HOST.files(scope, project, {"HOME": "/home/maria", **environment})]


def test_files_of_each_scope(tmp_path: Path) -> None:
    """Each scope has the two files that the documentation of Claude Code names for it."""
    project = tmp_path.resolve()
    local, servers = project / ".claude", ("mcpServers",)

    assert paths(Scope.USER, project) == [
        ("/home/maria/.claude/settings.json", ("hooks",)),
        ("/home/maria/.claude.json", servers),
    ]
    assert paths(Scope.PROJECT, project) == [
        (f"{local}/settings.json", ("hooks",)),
        (f"{project}/.mcp.json", servers),
    ]
    assert paths(Scope.LOCAL, project) == [
        (f"{local}/settings.local.json", ("hooks",)),
        ("/home/maria/.claude.json", ("projects", str(project), *servers)),
    ]


def test_another_directory_for_the_persons_files(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR moves the person's settings and `.claude.json`."""
    assert [path for path, _ in paths(Scope.USER, tmp_path, CLAUDE_CONFIG_DIR="/cfg")] == [
        "/cfg/settings.json",
        "/cfg/.claude.json",
    ]


def test_a_project_is_named_after_its_repository(tmp_path: Path) -> None:
    """Below a repository its root names the project; in a linked working tree, the root of the main one."""
    main, linked, module = tmp_path / "main", tmp_path / "linked", tmp_path / "main" / "module"
    for place in (main / ".git" / "worktrees" / "linked", main / "src", linked / "src", module):
        place.mkdir(parents=True)
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/linked\n")
    (module / ".git").write_text("gitdir: ../.git/modules/module\n")

    named = {place: paths(Scope.LOCAL, place)[1][1][1] for place in (main / "src", linked / "src", module)}

    assert named == {main / "src": str(main), linked / "src": str(main), module: str(module)}


def settings_of(project: Path, home: Path) -> Path:
    """Return where the local settings of a project lie."""
    return HOST.files(Scope.LOCAL, project, {"HOME": str(home)})[0].path


def test_local_settings_lie_at_the_root_of_the_repository(tmp_path: Path) -> None:
    """Below a repository and in its linked working trees they are those of the main one, as since Claude Code 2.1.211."""
    main, linked, alone = tmp_path / "main", tmp_path / "linked", tmp_path / "alone"
    for place in (main / ".git" / "worktrees" / "linked", main / "src", linked / "src", alone / "src"):
        place.mkdir(parents=True)
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/linked\n")

    found = {place: settings_of(place, tmp_path) for place in (main, main / "src", linked / "src", alone / "src")}

    at_main = main / ".claude" / "settings.local.json"
    assert found == {
        main: at_main,
        main / "src": at_main,
        linked / "src": at_main,
        alone / "src": alone / "src" / ".claude" / "settings.local.json",
    }
    shared = HOST.files(Scope.PROJECT, main / "src", {"HOME": str(tmp_path)})[0].path
    assert shared == main / "src" / ".claude" / "settings.json"


@pytest.mark.parametrize("strange", [".", ".git", ".claude"])
def test_local_settings_stay_where_the_repository_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strange: str
) -> None:
    """In a repository that is the person's home, or of somebody else in part, they lie where the session is started."""
    project = tmp_path / "src"
    for place in (tmp_path / ".git", tmp_path / ".claude", project):
        place.mkdir()
    assert settings_of(project, tmp_path).parent == project / ".claude"
    assert settings_of(project, tmp_path / "elsewhere").parent == tmp_path / ".claude"

    mine = Path.lstat

    def lstat(place: Path) -> os.stat_result:
        found = list(mine(place))
        found[4] += place == tmp_path / strange
        return os.stat_result(found)

    monkeypatch.setattr(Path, "lstat", lstat)
    assert settings_of(project, tmp_path / "elsewhere").parent == project / ".claude"


def test_scope_says_where_it_counts(tmp_path: Path) -> None:
    """In a repository the local scope counts for all of it, elsewhere and in other scopes for the directory alone."""
    main, project = tmp_path / "main", tmp_path / "main" / "src"
    project.mkdir(parents=True)
    home = {"HOME": str(tmp_path / "home")}
    (alone,) = HOST.scope_notes(Scope.LOCAL, project, home)
    (main / ".git").mkdir()
    (shared,) = HOST.scope_notes(Scope.LOCAL, project, home)
    in_home = HOST.scope_notes(Scope.LOCAL, project, {"HOME": str(main)})

    assert f"started in {project}, not in a directory below it" in alone
    assert f"the repository {main} or a working tree of it" in shared
    assert [
        f"started in {project}, not in" in in_home[0],
        f"server counts for the whole repository {main}" in in_home[1],
    ]
    assert f"started in {project}, not" in HOST.scope_notes(Scope.PROJECT, project, home)[0]
    assert HOST.scope_notes(Scope.USER, project, home) == []


def test_an_unknown_host_is_answered_with_the_known_ones() -> None:
    """A host that there is not is refused with the list of those that there are."""
    with pytest.raises(UsageError, match="claude-code"):
        get_host("vim")

    assert [get_host(name).id for name in HOST_IDS] == list(HOST_IDS)
