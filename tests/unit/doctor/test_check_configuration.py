"""The check `configuration`: files that do not load, and files that are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.faults import owner_of
from omnislash.checks.findings import Finding, Severity, Status
from omnislash.checks.loading import load_checks
from omnislash.errors import Fault, Topic

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

ID = "configuration"
NOVA = "features/nova.agent.md"
GOOD = "---\ncapabilities: [memory:read]\nmemory: {}\n---\nYou are Nova.\n"
BEAT = "---\nschedule: '0 7 * * *'\nagent: nova\n---\nGo.\n"
#: The checks that tell what loading found.
OWNERS = {
    *(
        "configuration",
        "constitution-structure",
        "memory-sources",
        "agent-memory",
        "memory-lines",
        "models",
        "schedules",
    ),
}


def unread(path: str, meant: str) -> Finding:
    """Return the warning about a file that is not read."""
    return Finding(Severity.WARN, f"{path} is not read.", path, hint=f"Rename it to {meant}, if that is meant.")


def test_a_healthy_but_unusual_brain_passes(examine: Examine) -> None:
    """O-62: an extra folder, YAML comments, CRLF, unknown keys in notes, and changed settings."""
    files = {
        "omnislash.yaml": "# ours\r\nmemory:\r\n  languages: [german]  # more\r\n",
        "constitution/MANIFEST.yaml": "locale: {timezone: Europe/Berlin}\nloop: {anything: [1, 2]}\n",
        "constitution/engine-capabilities.json": '{"memory:delete": {"hitl": false}}\n',
        "attic/nova.agent.md": "no role\n",
        "notes.md": "x\n",
        "MEMORY.md": "x\n",
        "features/README.md": "x\n",
        "features/team/nova.notes.md": "x\n",
        "features/a.b.c.md": "x\n",
        "features/meeting.agenda.md": "x\n",
        "features/my.book.md": "x\n",
        "features/old.agents.md/": "",
        "features/team/photo.agent.png": "\udc89PNG",
        NOVA: GOOD.replace("\n", "\r\n"),
        "features/dawn.heartbeat.md": BEAT,
        "memory/main/a.md": "---\nunknown: [1]\n---\nx\n",
    }

    result = examine(files, ID)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


@pytest.mark.rule("KNOB-25", "KNOB-O3")
@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "omnislash.yaml",
            "memory:\n  sauces: [a]\n",
            ("'sauces' is not a known key.", 2, "memory.sauces", "Did you mean 'sources'?"),
        ),
        (
            NOVA,
            "---\nmemory:\n  recallResult: 2\n---\n",
            ("'recallResult' is not a known key.", 3, "memory.recallResult", "Did you mean 'recallResults'?"),
        ),
        (
            NOVA,
            "---\nmemory: {fileMaxChars: 1}\n---\n",
            (
                "'fileMaxChars' is not a known key.",
                2,
                "memory.fileMaxChars",
                "It belongs in `memory` of constitution/MANIFEST.yaml.",
            ),
        ),
        (
            NOVA,
            "---\nmemory: true\n---\n",
            (
                "'true' is a switch; expected a block of keys.",
                2,
                "memory",
                "Write `memory: {}` to turn memory on, or remove the key to leave it off.",
            ),
        ),
        (
            "features/dawn.heartbeat.md",
            "---\nschedule: '0 7 * * *'\nagent: nove\n---\nGo.\n",
            ("The role 'nove' does not exist.", 3, "agent", None),
        ),
        (
            "features/dusk.hook.md",
            "---\non: memory:written\n---\nGo.\n",
            ("The key is missing; expected a block of keys, or the role alone.", 2, "agent", None),
        ),
        (
            "constitution/access.yaml",
            "chats:\n  desk: visitor\n",
            ("The role 'visitor' does not exist.", 2, "chats.desk", None),
        ),
        (
            "constitution/engine-capabilities.json",
            '{"memory:delete": {"hitl": "no"}}\n',
            (
                "'no' is text in quotes; expected true or false.",
                1,
                "memory:delete.hitl",
                "Write false, without quotes.",
            ),
        ),
        (
            "features/team/-x-.agent.md",
            GOOD,
            (
                "'-x-' can't be an id.",
                None,
                None,
                "Rename the file: letters, digits, '.', '_' and '-', with a letter or digit first and last.",
            ),
        ),
    ],
)
def test_what_does_not_load_fails(
    examine: Examine, path: str, text: str, expected: tuple[str, int | None, str | None, str | None]
) -> None:
    """File, line and key are named, and what to write instead."""
    message, line, key, hint = expected

    result = examine({path: text}, ID)[ID]

    assert result.status is Status.FAIL
    (finding,) = result.findings
    assert (finding.severity, finding.message, finding.path) == (Severity.FAIL, message, path)
    assert (finding.line, finding.key) == (line, key)
    assert finding.hint == hint if hint else finding.hint


def test_two_files_with_one_id_are_both_named(examine: Examine) -> None:
    """Each names the other."""
    findings = examine({NOVA: GOOD, "features/b/nova.agent.md": GOOD}, ID)[ID].findings

    assert [each.message for each in findings] == [
        f"The role id 'nova' is also that of {NOVA}.",
        "The role id 'nova' is also that of features/b/nova.agent.md.",
    ]


def test_an_event_that_never_happens_is_a_warning(examine: Examine) -> None:
    """The hook loads and never runs on it."""
    hook = "---\non: [memory:written, memory:writen]\nagent: nova\n---\nGo.\n"

    result = examine({NOVA: GOOD, "features/h.hook.md": hook}, ID)[ID]

    assert result.findings == (
        Finding(
            Severity.WARN,
            "There is no event 'memory:writen', so the hook never runs on it.",
            "features/h.hook.md",
            2,
            "on",
            "Did you mean 'memory:written'?",
        ),
    )


def test_a_linked_directory_is_a_warning(examine: Examine, brain_root: Path, tmp_path: Path) -> None:
    """Roles in it are not found."""
    (tmp_path / "team").mkdir()
    (brain_root / "features").mkdir()
    (brain_root / "features/team").symlink_to(tmp_path / "team")

    (finding,) = examine({}, ID)[ID].findings

    assert (finding.severity, finding.path) == (Severity.WARN, "features/team")
    assert finding.hint == "Move its files to a real directory."


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("omnislash.yml", "omnislash.yaml"),
        ("Omnislash.yaml", "omnislash.yaml"),
        ("MANIFEST.yaml", "constitution/MANIFEST.yaml"),
        ("access.yaml", "constitution/access.yaml"),
        ("nova.agent.md", "features/nova.agent.md"),
        ("features/nova.agents.md", "features/nova.agent.md"),
        ("features/nova.Agent.md", "features/nova.agent.md"),
        ("features/nova.agnt.md", "features/nova.agent.md"),
        ("features/nova.agent.MD", "features/nova.agent.md"),
        ("features/a/dawn.heartbeats.md", "features/a/dawn.heartbeat.md"),
        ("features/a/dawn.heartbeat.markdown", "features/a/dawn.heartbeat.md"),
        ("features/a/dawn.hook.md.txt", "features/a/dawn.hook.md"),
    ],
)
def test_a_file_that_is_almost_read_is_a_warning(examine: Examine, path: str, meant: str) -> None:
    """A role under such a name is silently not there."""
    result = examine({path: GOOD}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (unread(path, meant),)


@pytest.mark.parametrize(("name", "meant"), [("Memory", "memory"), ("FEATURES", "features")])
def test_a_directory_in_another_case_is_a_warning(examine: Examine, name: str, meant: str) -> None:
    """Nothing in it is read where case counts."""
    assert examine({f"{name}/a.md": "x"}, ID)[ID].findings == (unread(name, meant),)


def test_a_directory_that_is_no_brain_fails(examine: Examine, brain_root: Path) -> None:
    """It says what to run."""
    examine({}, ID)
    (brain_root / "omnislash.yaml").unlink()

    result = examine_again(brain_root)

    assert result == (
        Finding(
            Severity.FAIL,
            "This directory is no brain: it holds no omnislash.yaml.",
            "omnislash.yaml",
            hint="Run `omnislash init` there, or name the right directory.",
        ),
    )


def test_a_brain_that_no_command_finds_is_a_warning(examine: Examine, brain_root: Path) -> None:
    """It has memory and no project config."""
    examine({"memory/main/a.md": "x"}, ID)
    (brain_root / "omnislash.yaml").unlink()

    result = examine_again(brain_root)

    assert result == (
        Finding(
            Severity.WARN,
            "There is no omnislash.yaml, so commands find this brain only when it is named with --brain.",
            "omnislash.yaml",
            hint="Make a file omnislash.yaml there; it may be empty.",
        ),
    )
    (brain_root / "omnislash.yaml").touch()
    assert examine_again(brain_root) == ()


def examine_again(root: Path) -> tuple[Finding, ...]:
    """Return what the check finds without putting any file there."""
    from datetime import UTC, datetime

    from omnislash.checks.examining import choose_checks, examine
    from omnislash.shipped import constitution_directory

    now = datetime(2026, 12, 1, tzinfo=UTC)
    report = examine(root, shipped=constitution_directory(), now=now, environment={}, checks=choose_checks((ID,)))
    return report.checks[0].findings


def test_two_things_at_once_are_both_said_failures_first(examine: Examine) -> None:
    """A file with two faults and one that is not read."""
    files = {NOVA: "---\nmemory: {reed: [a], wirte: b}\n---\n", "features/ops.agents.md": GOOD}

    assert [(each.severity.value, each.key) for each in examine(files, ID)[ID].findings] == [
        ("fail", "memory.reed"),
        ("fail", "memory.wirte"),
        ("warn", None),
    ]


@pytest.mark.parametrize("text", ["memory: [\n", "\t- x\n", "a: *b\n", "a: 1\na: 2\n", b"\xff\xfe", b"a: \x00\n"])
def test_a_broken_project_config_is_named_by_its_line(examine: Examine, text: str | bytes) -> None:
    """Whatever is wrong with it, it is one file with a fault and no stack trace."""
    result = examine({"omnislash.yaml": text}, ID)[ID]

    assert result.status is Status.FAIL
    assert {each.path for each in result.findings} == {"omnislash.yaml"}


def test_odd_names_break_nothing(examine: Examine) -> None:
    """A name that is no UTF-8 is shown as far as it can be."""
    files = {"features/n\udcff.agents.md": GOOD, "features/.agent.md": GOOD, "features/.x.agents.md": GOOD}

    assert examine(files, ID)[ID].findings == (unread("features/n�.agents.md", "features/n�.agent.md"),)


@pytest.mark.rule("SECRET-O2")
def test_a_credential_in_a_setting_is_not_shown(examine: Examine) -> None:
    """Sentences about settings quote what stands there; a key that was put there by mistake is masked."""
    key = "sk-" + "ant-api03-" + "Ab3dEf6hIj9l" * 8 + "-_AA"
    files = {"omnislash.yaml": f"memory:\n  languages: [{key}]\n", NOVA: f"---\nmemory: {{read: ['{key}x y']}}\n---\n"}

    findings = examine(files, ID)[ID].findings

    assert len(findings) == 2
    assert all("[redacted: Anthropic key]" in each.message for each in findings)
    assert "Ab3dEf6h" not in str([each.to_json() for each in findings])


@pytest.mark.rule("DOCTOR-16")
def test_every_fault_is_told_by_exactly_one_check(examine: Examine) -> None:
    """A brain that is broken in every file: whatever loading finds stands in the report once."""
    files = {
        "omnislash.yaml": "memory: {sources: [main, people/a, memory/x]}\nmodels: {own: 'openai:x'}\n",
        "constitution/MANIFEST.yaml": "memory: {read: [opps], recallResult: 1, consolidation: {modelRef: owm}}\n",
        "constitution/access.yaml": "chats: {a: nobody}\n",
        "constitution/engine-capabilities.json": "{",
        "features/a.agent.md": "---\nmemory: {read: [people], recall: [x/y], report: [zz]}\nmodelRef: nix\n---\n",
        "features/b.agent.md": "---\nmemory: {read: [main], recall: [main]}\n---\n",
        "features/c.heartbeat.md": "---\nschedule: '0 0 30 2 *'\nagent: b\n---\n",
        "features/d.hook.md": "---\non: memory:never\nagent: b\n---\nGo.\n",
        "memory/Ops/a.md": "",
        "memory/2026/01/2026-01-01.md": "",
    }

    results = examine(files, *OWNERS)
    told = [
        each.message for result in results.values() for each in result.findings if each.severity is not Severity.INFO
    ]

    assert len(told) == len(set(told))
    for part in (
        "has the name of the line",
        "is in the managed zone",
        "is only a parent",
        "is neither a line name nor",
        "Nobody curates the line 'zz'",
        "'recallResult' is not a known key",
        "The role 'nobody' does not exist",
        "'0 0 30 2 *' is not a cron expression",
        "There is no event 'memory:never'",
        "The directory is no line",
    ):
        assert sum(part in message for message in told) == 1, part


@pytest.mark.parametrize("topic", list(Topic))
def test_each_topic_has_an_owner_that_exists(topic: Topic) -> None:
    """No fault is lost because of what it is about."""
    ids = {check.id for check in load_checks()}

    assert owner_of(Fault("features/x.agent.md", "It is wrong.", topic=topic)) in OWNERS & ids
