"""A brain on a real disk: what loads, what is left out alone, and what stops the boot."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from omnislash.brain.constitution import find_overlay, read_overlay
from omnislash.brain.gathering import gather
from omnislash.brain.loading import find_brain, inspect_brain, load_brain
from omnislash.brain.reading import Entry, Reading
from omnislash.errors import ConfigError, Fault, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnislash.brain.files import BrainFiles

ROLE = "features/team/{}.agent.md"
BEAT = "features/team/{}.heartbeat.md"
MANIFEST = "constitution/MANIFEST.yaml"
PROJECT = "omnislash.yaml"


def put(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a directory, which becomes a brain."""
    for name, content in {PROJECT: "", **files}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def role(block: str | None = "{}", more: str = "") -> str:
    """Return the text of a role with a memory block."""
    memory = "" if block is None else f"memory: {block}\n"
    return f"---\n{memory}{more}---\nYou are somebody.\n"


def beat(block: str | None = None, name: str = "nova") -> str:
    """Return the text of a heartbeat that runs a role."""
    memory = "" if block is None else f", memory: {block}"
    return f"---\nschedule: 0 4 * * *\nagent: {{ role: {name}{memory} }}\n---\nDo it.\n"


def load(root: Path) -> BrainFiles:
    """Open a brain that has no shipped constitution."""
    return load_brain(root, shipped=root / "nothing-shipped")


def refused(root: Path) -> tuple[Fault, ...]:
    """Return the faults of a brain that must not boot."""
    with pytest.raises(ConfigError) as caught:
        load(root)
    assert caught.value.faults[0].fatal
    return caught.value.faults


class TestWholeBrain:
    """What a sound brain looks like once it is open."""

    def test_everything_is_found(self, tmp_path: Path) -> None:
        """Roles, heartbeats, hooks, access, overrides, scenarios, sources and lines are all there."""
        brain = load(
            put(
                tmp_path,
                {
                    PROJECT: "memory: { sources: [content, handbook.md] }\n",
                    MANIFEST: "memory: { recall: [content], fileMaxChars: 5000 }\n",
                    "constitution/access.yaml": "chats: { 'telegram:1': nova }\n",
                    "constitution/engine-capabilities.json": '{"memory:delete": {"hitl": false}}',
                    ROLE.format("nova"): role("{ read: [handbook.md] }"),
                    "features/deep/er/still/ops.agent.md": role("{ write: ops }"),
                    BEAT.format("briefing"): beat("{ report: [ops] }"),
                    "features/x/tidy.hook.md": "---\non: memory:written\nagent: ops\n---\n",
                    "features/x/try.scenario.md": "---\nagent: { role: ops, memory: { write: x } }\n---\n",
                    "features/x/README.md": "---\nnot: [ours\n---\n",
                    "memory/journal/MEMORY.md": "x",
                    "memory/.memory-index.db": b"\0",
                },
            )
        )
        assert (brain.faults, brain.warnings) == ((), ())
        assert set(brain.roles) == {"nova", "ops"}
        assert set(brain.heartbeats) == {"briefing"}
        assert set(brain.hooks) == {"tidy"}
        assert brain.access.role_of_chat("telegram:1") == "nova"
        assert not brain.capabilities.needs_approval("memory:delete")
        assert [(scenario.path, scenario.has_memory) for scenario in brain.scenarios] == [
            ("features/x/try.scenario.md", True)
        ]
        assert brain.sources == ("content", "handbook.md")
        assert brain.lines_on_disk == {"journal"}
        assert brain.manifest.memory.file_max_chars == 5000

    @pytest.mark.rule("RESOLVE-03", "RESOLVE-04", "RESOLVE-05", "DECLARE-08")
    def test_scope_of_a_turn(self, tmp_path: Path) -> None:
        """A scope is resolved from the three files of a turn, by the ids of role and beat."""
        brain = load(
            put(
                tmp_path,
                {
                    MANIFEST: "memory: { write: team }\n",
                    ROLE.format("nova"): role("{ read: [ops] }"),
                    ROLE.format("mute"): role(None),
                    BEAT.format("own"): beat("{ write: circles }"),
                },
            )
        )
        assert brain.resolve_scope("nova").line == "team"
        assert brain.resolve_scope("nova", beat="own").line == "circles"
        assert brain.resolve_scope("nova", handed="research").line == "research"
        assert not brain.resolve_scope("mute").has_memory

    def test_unknown_role_names_the_nearest(self, tmp_path: Path) -> None:
        """A role or beat that is asked for and not there is answered with the nearest, or with its fault."""
        brain = load(put(tmp_path, {ROLE.format("nova"): role(), ROLE.format("ops"): role("5")}))
        with pytest.raises(UsageError) as caught:
            brain.find_role("novva")
        assert caught.value.hint == "Did you mean 'nova'?"
        with pytest.raises(UsageError) as caught:
            brain.find_role("ops")
        assert "features/team/ops.agent.md:2:9" in (caught.value.hint or "")
        with pytest.raises(UsageError) as caught:
            brain.find_beat("x")
        assert caught.value.hint == "Known are: none."

    @pytest.mark.parametrize("files", [{}, {MANIFEST: ""}])
    def test_empty_brain_loads(self, tmp_path: Path, files: dict[str, str | bytes]) -> None:
        """A brain without roles is a brain with defaults."""
        brain = load(put(tmp_path, files))
        assert (brain.roles, brain.faults, brain.warnings) == ({}, (), ())

    def test_brain_older_than_the_project_file_loads(self, tmp_path: Path) -> None:
        """A directory with features and no omnislash.yaml is a brain with the default config."""
        file = tmp_path / ROLE.format("nova")
        file.parent.mkdir(parents=True)
        file.write_text(role())
        assert set(load(tmp_path).roles) == {"nova"}

    @pytest.mark.parametrize("name", ["", "missing", "file"])
    def test_other_directories_are_no_brain(self, tmp_path: Path, name: str) -> None:
        """An empty directory, a missing one and a file are refused with what to do."""
        (tmp_path / "file").write_text("x")
        root = tmp_path / "empty" if not name else tmp_path / name
        (tmp_path / "empty").mkdir()
        (fault,) = refused(root)
        assert "is no brain" in fault.message
        assert "omnislash init" in (fault.hint or "")

    def test_nearest_parent_is_found(self, tmp_path: Path) -> None:
        """A brain is found from any directory inside it, and nowhere else."""
        inside = put(tmp_path / "brain", {"memory/main/MEMORY.md": "x"}) / "memory" / "main"
        assert find_brain(inside) == tmp_path / "brain"
        assert find_brain(tmp_path / "brain") == tmp_path / "brain"
        assert find_brain(tmp_path) is None


class TestOverlay:
    """A same-path copy replaces a shipped file, whole."""

    @pytest.mark.rule("DECLARE-11", "FLUSH-06", "PERIOD-17")
    def test_copy_replaces_the_shipped_role(self, tmp_path: Path) -> None:
        """Nothing of the shipped file is left beside a copy, its memory block included."""
        shipped = put(
            tmp_path / "shipped",
            {
                "Agents/system/role-memory.md": role("{}", "capabilities: [memory:write]\n"),
                "Agents/system/loop/role-proposer.md": role(None),
            },
        )
        root = put(
            tmp_path / "brain",
            {
                "constitution/Agents/system/role-memory.md": role(None),
                "constitution/Agents/system/loop/role-proposer.md": role("{}"),
                "constitution/Agents/system/role-own.md": role("{}"),
                "constitution/Agents/system/module.md": "---\nx: [\n",
            },
        )
        brain = load_brain(root, shipped=shipped)
        assert set(brain.roles) == {"system:memory", "system:proposer", "system:own"}
        copy = brain.roles["system:memory"]
        assert (copy.declaration, copy.capabilities, copy.is_shipped) == (None, (), False)
        assert brain.roles["system:proposer"].declaration is not None

    def test_shipped_manifest_holds_without_a_copy(self, tmp_path: Path) -> None:
        """The shipped manifest supplies the defaults; a copy replaces it whole."""
        shipped = put(tmp_path / "shipped", {"MANIFEST.yaml": "memory: { fileMaxChars: 1, recentDays: 5 }\n"})
        root = put(tmp_path / "brain", {})
        assert load_brain(root, shipped=shipped).manifest.memory.recent_days == 5
        put(root, {MANIFEST: "memory: { fileMaxChars: 2 }\n"})
        manifest = load_brain(root, shipped=shipped).manifest.memory
        assert (manifest.file_max_chars, manifest.recent_days) == (2, None)

    def test_broken_copy_does_not_bring_the_shipped_file_back(self, tmp_path: Path) -> None:
        """A copy that does not load hides the shipped role, which might have more rights."""
        shipped = put(tmp_path / "shipped", {"Agents/system/role-memory.md": role()})
        root = put(tmp_path / "brain", {"constitution/Agents/system/role-memory.md": role("5")})
        brain = load_brain(root, shipped=shipped)
        assert brain.roles == {}
        assert [fault.path for fault in brain.faults] == ["constitution/Agents/system/role-memory.md"]

    def test_fault_of_a_shipped_file_says_so(self, tmp_path: Path) -> None:
        """A fault in the installed constitution is not taken for one of the brain."""
        shipped = put(tmp_path / "shipped", {"Agents/system/role-memory.md": role("5")})
        (fault,) = load_brain(put(tmp_path / "brain", {}), shipped=shipped).faults
        assert fault.path == "constitution/Agents/system/role-memory.md (as shipped)"

    def test_any_file_can_be_read_through_the_overlay(self, tmp_path: Path) -> None:
        """Prompt modules are read from the brain's copy, else as shipped, else not at all."""
        shipped = put(tmp_path / "shipped", {"Agents/system/memory.md": "shipped"})
        root = put(tmp_path / "brain", {})
        assert read_overlay(root, "Agents/system/memory.md", shipped=shipped) == "shipped"
        put(root, {"constitution/Agents/system/memory.md": "\ufeffown"})
        assert read_overlay(root, "Agents/system/memory.md", shipped=shipped) == "own"
        assert read_overlay(root, "other.md", shipped=shipped) is None
        assert find_overlay(root, "other.md", shipped=shipped).label == "constitution/other.md (as shipped)"
        put(root, {"constitution/bad.md": b"\xff\xfe"})
        with pytest.raises(ConfigError):
            read_overlay(root, "bad.md", shipped=shipped)


@pytest.mark.rule("KNOB-O5", "KNOB-25")
class TestAlone:
    """A file with faults of its own is left out alone."""

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            pytest.param(role("{ recallResult: 2 }"), 2, "'recallResult' is not a known key", id="unknown key"),
            pytest.param(role("{ read: [a/b] }"), 2, "'a/b' is neither a line name nor a declared source", id="ref"),
            pytest.param(role("{ recall: [Ops] }"), 2, "'Ops' is neither a line name", id="capital ref"),
            pytest.param(role("{ report: [content] }"), 2, "means an authored source", id="report a source"),
            pytest.param("---\nname: x\n", 1, "never closed", id="unclosed"),
            pytest.param("---\nname: `x`\n---\n", 2, "can't begin with '`'", id="syntax"),
            pytest.param("---\nname: caf\xe9\n---\n".encode("latin-1"), 2, "offset 13 is not UTF-8", id="encoding"),
            pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "offset 0 is not UTF-8", id="binary"),
            pytest.param("---\nname: x\n---\n".encode("utf-16"), 1, "UTF-16", id="utf-16"),
            pytest.param(b"x" * 10_485_760, None, "at most 1048576", id="10 MB"),
            pytest.param("---\na: " + "[" * 10_000 + "\n---\n", None, "nested more than", id="deep"),
        ],
    )
    def test_bad_role_does_not_hold_up_the_rest(
        self, tmp_path: Path, text: str | bytes, line: int | None, words: str
    ) -> None:
        """The fault names the file, and every other role runs (O-19)."""
        brain = load(
            put(
                tmp_path,
                {
                    PROJECT: "memory: { sources: [content] }\n",
                    ROLE.format("good"): role("{ recall: [content] }"),
                    ROLE.format("bad"): text,
                },
            )
        )
        assert set(brain.roles) == {"good"}
        (fault,) = brain.faults
        assert fault.path == ROLE.format("bad")
        assert line is None or fault.line == line
        assert words in fault.message
        assert not fault.fatal

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            pytest.param("nobody", "The role 'nobody' does not exist.", id="unknown"),
            pytest.param("bad", "The role 'bad' does not load.", id="broken"),
        ],
    )
    def test_beat_without_its_role_is_left_out(self, tmp_path: Path, name: str, message: str) -> None:
        """A heartbeat or hook whose role does not exist or does not load is left out with its place."""
        hook = f"---\non: a:b\nagent: {name}\n---\n"
        brain = load(
            put(
                tmp_path,
                {ROLE.format("bad"): role("5"), BEAT.format("x"): beat(name=name), "features/y.hook.md": hook},
            )
        )
        assert (brain.heartbeats, brain.hooks) == ({}, {})
        places = [(fault.path, fault.line, fault.column) for fault in brain.faults if fault.message == message]
        assert places == [("features/team/x.heartbeat.md", 3, 16), ("features/y.hook.md", 3, 8)]

    def test_two_files_with_one_id_are_both_left_out(self, tmp_path: Path) -> None:
        """Which of two files is meant is nobody's guess: both are refused, each naming the other."""
        brain = load(
            put(tmp_path, {"features/a/nova.agent.md": role(), "features/b/nova.agent.md": role("{ write: b }")})
        )
        assert brain.roles == {}
        assert [(fault.path, fault.message) for fault in brain.faults] == [
            ("features/a/nova.agent.md", "The role id 'nova' is also that of features/b/nova.agent.md."),
            ("features/b/nova.agent.md", "The role id 'nova' is also that of features/a/nova.agent.md."),
        ]

    def test_broken_access_lets_nobody_in(self, tmp_path: Path) -> None:
        """Access rules that do not load bind no chat, and overrides that do not load open no gate."""
        brain = load(
            put(
                tmp_path,
                {
                    ROLE.format("nova"): role(),
                    "constitution/access.yaml": "chats: { a: nova, b: [nova] }\n",
                    "constitution/engine-capabilities.json": '{"memory:delete": {"hitl": false},}',
                },
            )
        )
        assert brain.access.role_of_chat("a") is None
        assert brain.capabilities.needs_approval("memory:delete")
        assert [fault.path for fault in brain.faults] == [
            "constitution/access.yaml",
            "constitution/engine-capabilities.json",
        ]

    def test_rule_for_an_unknown_role_is_named_and_kept(self, tmp_path: Path) -> None:
        """A rule whose role does not exist is named; it stays, so that the person falls to no broader role."""
        access = "chats: { a: novva }\nbots:\n  - { name: d, role: nova, secretary: { contacts: { m: maria } } }\n"
        brain = load(put(tmp_path, {ROLE.format("nova"): role(), "constitution/access.yaml": access}))
        assert [(fault.key, fault.line, fault.column, fault.hint) for fault in brain.faults] == [
            ("chats.a", 1, 13, "Did you mean 'nova'?"),
            ("bots[0].secretary.contacts.m", 3, 56, "Write the id of a role: its file name."),
        ]
        bot = brain.access.bot("d")
        assert bot is not None
        assert bot.role_for("m") == "maria"


class TestBoot:
    """Faults of the whole brain stop the boot, and every fault of every file is told with them."""

    def test_all_faults_of_all_files_at_once(self, tmp_path: Path) -> None:
        """One run shows the faults of every file, those that stop the boot first."""
        faults = refused(
            put(
                tmp_path,
                {
                    PROJECT: "memory: { sources: [content], languages: [klingon] }\n",
                    MANIFEST: "memory: { recallScore: 2, read: [nowhere/here] }\n",
                    ROLE.format("a"): role("{ recallResult: 2, recall: [else/where] }"),
                    BEAT.format("b"): "---\nagent: nobody\n---\n",
                    "constitution/access.yaml": "chats: []\n",
                    "constitution/engine-capabilities.json": "{",
                },
            )
        )
        assert [(fault.path, fault.key, fault.fatal) for fault in faults] == [
            (MANIFEST, "memory.recallScore", True),
            (MANIFEST, "memory.read", True),
            (PROJECT, "memory.languages[0]", True),
            ("constitution/access.yaml", "chats", False),
            ("constitution/engine-capabilities.json", None, False),
            (ROLE.format("a"), "memory.recallResult", False),
            (ROLE.format("a"), "memory.recall", False),
            (BEAT.format("b"), "schedule", False),
        ]

    @pytest.mark.rule("SOURCE-03", "SOURCE-O2")
    @pytest.mark.parametrize(
        ("source", "files"),
        [
            pytest.param("ops", {"memory/ops/MEMORY.md": "x"}, id="directory"),
            pytest.param("ops", {ROLE.format("a"): role("{ write: ops }")}, id="role"),
            pytest.param("ops", {ROLE.format("a"): role("{ write: ops, zzz: 1 }")}, id="broken role"),
            pytest.param("ops", {ROLE.format("nova"): role(), BEAT.format("b"): beat("{ write: ops }")}, id="beat"),
            pytest.param("ops", {MANIFEST: "memory: { write: ops }\n"}, id="manifest"),
            pytest.param("main", {}, id="main"),
        ],
    )
    def test_source_with_the_name_of_a_line(self, tmp_path: Path, source: str, files: dict[str, str | bytes]) -> None:
        """A source with the name of a line stops the boot, whether or not any role names it."""
        faults = refused(put(tmp_path, files | {PROJECT: f"memory: {{ sources: [{source}] }}\n"}))
        assert (faults[0].path, faults[0].line, faults[0].column, faults[0].key) == (PROJECT, 1, 21, "memory.sources")

    @pytest.mark.rule("SOURCE-14")
    @pytest.mark.parametrize(
        ("file", "text", "column"),
        [
            pytest.param(MANIFEST, "memory: { read: [people] }\n", 18, id="manifest"),
            pytest.param(ROLE.format("a"), role("{ recall: [people] }"), 20, id="role"),
            pytest.param(BEAT.format("b"), beat("{ read: [people] }"), 39, id="beat"),
        ],
    )
    def test_parent_of_sources_stops_the_boot(self, tmp_path: Path, file: str, text: str, column: int) -> None:
        """A ref that is only a parent of declared sources stops the boot, wherever it stands."""
        project = "memory: { sources: [people/maria, people/alex] }\n"
        faults = refused(put(tmp_path, {PROJECT: project, ROLE.format("nova"): role(), file: text}))
        assert (faults[0].path, faults[0].column) == (file, column)
        assert "only a parent" in faults[0].message

    @pytest.mark.rule("SOURCE-O3", "SOURCE-12", "SCOPE-06")
    def test_line_beside_a_source_of_its_name(self, tmp_path: Path) -> None:
        """A line `research` and a source `research/notes` live side by side, and paths inside a source are refs."""
        brain = load(
            put(
                tmp_path,
                {
                    PROJECT: "memory: { sources: [research/notes, people] }\n",
                    ROLE.format("a"): role("{ write: research, recall: [research/notes, people/maria] }"),
                    ROLE.format("b"): role("{ read: [research] }"),
                },
            )
        )
        assert set(brain.roles) == {"a", "b"}
        assert brain.warnings == ()

    @pytest.mark.rule("REPORT-12", "REPORT-13", "REPORT-14")
    @pytest.mark.parametrize(
        ("file", "text"),
        [
            pytest.param(BEAT.format("b"), beat("{ report: [opps] }"), id="beat"),
            pytest.param(ROLE.format("b"), role("{ report: [opps] }"), id="role"),
            pytest.param(MANIFEST, "memory: { report: [opps] }\n", id="manifest"),
        ],
    )
    def test_misspelled_report_stops_the_boot(self, tmp_path: Path, file: str, text: str) -> None:
        """A deposit line that nobody curates stops the boot, with the nearest line."""
        files = {ROLE.format("nova"): role(), ROLE.format("ops"): role("{ write: ops }"), file: text}
        fault = refused(put(tmp_path, {**files}))[0]
        assert (fault.path, fault.fatal) == (file, True)
        assert "Nobody curates the line 'opps'" in fault.message
        assert "'ops'" in fault.message
        assert not (tmp_path / "memory").exists()

    @pytest.mark.rule("REPORT-12", "REPORT-O1", "REPORT-O2")
    @pytest.mark.parametrize(
        "files",
        [
            pytest.param({ROLE.format("ops"): role("{ write: ops }")}, id="role"),
            pytest.param({BEAT.format("x"): beat("{ write: ops }")}, id="beat"),
            pytest.param({MANIFEST: "memory: { write: ops }\n"}, id="manifest"),
            pytest.param({"memory/ops/2026/x.md": "x"}, id="directory"),
        ],
    )
    def test_curated_line_may_be_deposited_into(self, tmp_path: Path, files: dict[str, str | bytes]) -> None:
        """Some role's or beat's line, or an existing directory, is open for deposits."""
        beats: dict[str, str | bytes] = {ROLE.format("nova"): role(), BEAT.format("b"): beat("{ report: [ops] }")}
        assert "b" in load(put(tmp_path, files | beats)).heartbeats

    @pytest.mark.rule("KNOB-O5", "REPORT-13")
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            pytest.param(role("{ write: ops, zzz: 1 }"), {"b"}, id="write can be read"),
            pytest.param("---\nmemory: { write: ops\n---\n", set(), id="nothing can be read"),
        ],
    )
    def test_broken_curator_does_not_stop_the_boot(self, tmp_path: Path, text: str, left: set[str]) -> None:
        """When the curator's own file is broken, the brain still boots; at most the depositor is left out too."""
        files: dict[str, str | bytes] = {ROLE.format("nova"): role(), ROLE.format("ops"): text}
        files |= {BEAT.format("b"): beat("{ report: [ops] }")}
        brain = load(put(tmp_path, files))
        assert set(brain.heartbeats) == left
        assert "nova" in brain.roles

    def test_unknown_sources_give_no_second_fault(self, tmp_path: Path) -> None:
        """While the sources can't be read, no ref is judged by them."""
        faults = refused(put(tmp_path, {PROJECT: "memory: [\n", ROLE.format("a"): role("{ read: [a/b] }")}))
        assert [fault.path for fault in faults] == [PROJECT]

    def test_faults_of_a_brain_can_be_inspected(self, tmp_path: Path) -> None:
        """Doctor sees the same faults without an exception, and whatever loads."""
        root = put(tmp_path, {MANIFEST: "memory: { write: '*' }\n", ROLE.format("nova"): role()})
        brain = inspect_brain(root, shipped=root / "none")
        assert [(fault.path, fault.fatal) for fault in brain.faults] == [(MANIFEST, True)]
        assert set(brain.roles) == {"nova"}

    @pytest.mark.parametrize("kind", ["directory", "pipe", "loop", "dead link", "unreadable"])
    @pytest.mark.parametrize("name", [PROJECT, MANIFEST])
    def test_manifest_that_is_no_file_stops_the_boot(self, tmp_path: Path, name: str, kind: str) -> None:
        """A directory, a pipe or a broken link in place of a file stops the boot and never hangs it."""
        root = put(tmp_path, {"constitution/x": ""})
        make_unreadable(root / name, kind)
        (fault,) = refused(root)
        assert (fault.path, fault.fatal) == (name, True)
        assert fault.hint


def make_unreadable(file: Path, kind: str) -> None:
    """Put something at a path that can't be read as a file, or skip where the system can't make it."""
    file.unlink(missing_ok=True)
    if kind == "directory":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "loop":
        file.symlink_to(file)
    elif kind == "dead link":
        file.symlink_to("nowhere")
    else:
        file.write_text("")
        file.chmod(0)
        if os.access(file, os.R_OK):
            pytest.skip("this user may read everything")


class TestDisk:
    """Odd things on a disk."""

    @pytest.mark.parametrize("kind", ["directory", "pipe", "loop", "dead link", "unreadable"])
    def test_role_that_is_no_file_is_left_out(self, tmp_path: Path, kind: str) -> None:
        """What is no readable file gives a fault of its own, and the rest loads."""
        root = put(tmp_path, {ROLE.format("nova"): role()})
        make_unreadable(root / ROLE.format("odd"), kind)
        brain = load(root)
        assert set(brain.roles) == {"nova"}
        assert [fault.path for fault in brain.faults] == [ROLE.format("odd")]

    def test_links_to_directories_are_not_followed(self, tmp_path: Path) -> None:
        """A link that leads in a circle or out of the brain is named and not searched."""
        root = put(tmp_path / "brain", {ROLE.format("nova"): role()})
        outside = put(tmp_path / "outside", {"spy.agent.md": role()})
        (root / "features/team/again").symlink_to(root / "features")
        (root / "features/out").symlink_to(outside)
        brain = load(root)
        assert set(brain.roles) == {"nova"}
        assert [warning.path for warning in brain.warnings] == ["features/out", "features/team/again"]

    def test_linked_file_is_read(self, tmp_path: Path) -> None:
        """A role file may be a link to a file."""
        root = put(tmp_path / "brain", {"features/x": ""})
        (put(tmp_path / "shared", {"nova": role("{ write: ops }")}) / "nova").rename(tmp_path / "nova.txt")
        (root / "features/nova.agent.md").symlink_to(tmp_path / "nova.txt")
        assert load(root).roles["nova"].declaration is not None

    def test_names_beyond_ascii(self, tmp_path: Path) -> None:
        """Ids and directories of every script load, in the Unicode form in which they are typed."""
        root = put(tmp_path, {"features/команда/Надя.agent.md": role(), "features/cafe\u0301.agent.md": role()})
        brain = load(root)
        assert set(brain.roles) == {"Надя", "caf\u00e9"}
        assert brain.find_role("cafe\u0301").id == "caf\u00e9"

    def test_name_that_gives_no_id(self, tmp_path: Path) -> None:
        """A file whose name can be no id is left out, and its name is printed without doing harm."""
        root = put(tmp_path, {"features/x": ""})
        for name in (b"features/a\nb.agent.md", b"features/\xff.agent.md", b"features/.agent.md"):
            (root / os.fsdecode(name)).write_text(role())
        brain = load(root)
        assert brain.roles == {}
        assert [fault.path for fault in brain.faults] == ["features/\\udcff.agent.md", "features/a\\nb.agent.md"]
        assert all(fault.render().encode() for fault in brain.faults)

    def test_bom_and_crlf_brain_loads(self, tmp_path: Path) -> None:
        """Files with byte order marks and CRLF load like others (O-24, O-25)."""
        texts = {
            PROJECT: "memory:\n  sources: [content]\n",
            MANIFEST: "memory:\n  write: team\n  recall:\n    - content\n",
            ROLE.format("nova"): role("{ write: ops }", "memoryKeep: prices\n"),
        }
        brain = load(put(tmp_path, {k: b"\xef\xbb\xbf" + v.replace("\n", "\r\n").encode() for k, v in texts.items()}))
        nova = brain.roles["nova"]
        assert (nova.memory_keep, nova.body) == ("prices", "You are somebody.\r\n")
        assert (brain.sources, brain.manifest.memory.write) == (("content",), "team")

    @pytest.mark.rule("LINE-10", "LINE-12", "LINE-O2")
    def test_lines_are_directories_with_valid_names(self, tmp_path: Path) -> None:
        """Directories with a line's name are lines, others are named in a warning, dot entries are not."""
        root = put(tmp_path, {f"memory/{name}/x.md": "" for name in ("main", "r2", "Ops", "my notes", "2026", ".git")})
        put(root, {"memory/loose.md": ""})
        brain = load(root)
        assert brain.lines_on_disk == {"main", "r2"}
        assert [warning.path for warning in brain.warnings] == ["memory/2026", "memory/Ops", "memory/my notes"]

    def test_file_that_goes_away_is_no_fault(self, tmp_path: Path) -> None:
        """A file that is gone between listing and reading never was there."""

        class Ghostly(Reading):
            def list(self, directory: Path, keep: Callable[[Entry], bool]) -> tuple[Entry, ...] | None:
                ghosts = (Entry("ghost.agent.md", is_directory=False),) if directory.name == "features" else ()
                return (*(super().list(directory, keep) or ()), *ghosts)

        root = put(tmp_path, {ROLE.format("nova"): role()})
        found = gather(root, shipped=root / "none", reading=Ghostly())
        assert ([one.id for one in found.roles], found.faults) == (["nova"], [])

    def test_too_deep_directories_are_not_searched(self, tmp_path: Path) -> None:
        """A tree without end is searched to a depth, and the rest is named."""
        deep = "features/" + "d/" * 30
        brain = load(put(tmp_path, {f"{deep}nova.agent.md": role()}))
        assert brain.roles == {}
        assert len(brain.warnings) == 1

    @pytest.mark.parametrize(
        ("name", "fatal"),
        [("features", False), ("memory", False), ("constitution/Agents/system", True)],
    )
    def test_directory_that_cannot_be_listed(self, tmp_path: Path, name: str, fatal: bool) -> None:
        """A file where a directory should be is told; with the engine's roles at stake the brain does not boot."""
        root = put(tmp_path, {name: "x", "constitution/x": ""})
        faults = inspect_brain(root, shipped=root / "none").faults
        assert (faults[0].path, faults[0].message, faults[0].fatal) == (name, "The directory can't be listed.", fatal)


class TestWarnings:
    """What loads and should be looked at."""

    @pytest.mark.rule("SOURCE-09", "SOURCE-10", "SOURCE-O4", "SOURCE-O9", "EVENT-11")
    def test_sources_that_nobody_sees(self, tmp_path: Path) -> None:
        """A source that nobody names and one inside memory/ are warned about; the latter is no source."""
        project = "memory: { sources: [content, memory/ops, people, people/maria, journal] }\n"
        brain = load(put(tmp_path, {PROJECT: project, ROLE.format("a"): role("{ read: [people/maria, journal] }")}))
        assert brain.sources == ("content", "people", "people/maria", "journal")
        assert [(warning.path, warning.column) for warning in brain.warnings] == [(PROJECT, 21), (PROJECT, 30)]

    @pytest.mark.rule("SCOPE-O1", "SCOPE-O3", "SOURCE-O1")
    @pytest.mark.parametrize(
        ("block", "words"),
        [
            pytest.param("{ read: [unborn] }", "No role writes the line 'unborn'", id="unborn line"),
            pytest.param("{ read: [content], recall: [content] }", "implies `read`", id="redundant"),
            pytest.param("{ read: [content/x.md] }", "a single file", id="file of a source"),
        ],
    )
    def test_doubtful_ref_loads_with_a_warning(self, tmp_path: Path, block: str, words: str) -> None:
        """A name that may be meant loads, and is warned about."""
        project = "memory: { sources: [content] }\n"
        files = {PROJECT: project, MANIFEST: "memory: { recall: [content] }\n", ROLE.format("a"): role(block)}
        brain = load(put(tmp_path, {**files}))
        assert "a" in brain.roles
        assert [words in warning.message for warning in brain.warnings] == [True]

    def test_model_that_nobody_knows(self, tmp_path: Path) -> None:
        """A modelRef that names neither a model nor a harness is warned about, wherever it stands."""
        consolidation = "{ modelRef: smrt, lines: { main: { periods: [week], modelRef: 'cli:x' } } }"
        brain = load(
            put(
                tmp_path,
                {
                    PROJECT: "models: { smart: offline }\nharnesses: { y: [run] }\n",
                    MANIFEST: f"memory: {{ consolidation: {consolidation} }}\n",
                    ROLE.format("a"): role(None, "modelRef: other\n"),
                    ROLE.format("b"): role(None, "modelRef: cli:y\n"),
                },
            )
        )
        assert [(warning.path, warning.key) for warning in brain.warnings] == [
            (MANIFEST, "memory.consolidation.modelRef"),
            (MANIFEST, "memory.consolidation.lines.main.modelRef"),
            (ROLE.format("a"), "modelRef"),
        ]
        assert brain.warnings[0].hint == "Did you mean 'smart'?"


def test_large_brain_loads_in_no_time_to_speak_of(tmp_path: Path) -> None:
    """Fifty roles and fifty heartbeats take some ten milliseconds; a hundred times that would be another algorithm."""
    files: dict[str, str | bytes] = {PROJECT: "memory: { sources: [content] }\n"}
    for number in range(50):
        files[f"features/a{number}/r{number}.agent.md"] = role(f"{{ write: l{number}, recall: [content] }}")
        files[f"features/a{number}/b{number}.heartbeat.md"] = beat("{ report: [l1] }", f"r{number}")
    root = put(tmp_path, files)
    times = []
    for _ in range(5):
        started = time.process_time()
        assert len(load(root).heartbeats) == 50
        times.append(time.process_time() - started)
    assert min(times) < 1
