"""The check `constitution-structure`: the manifest, and copies that replace nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity, Status

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

ID = "constitution-structure"
MANIFEST = "constitution/MANIFEST.yaml"
SYSTEM = "constitution/Agents/system"
UNREAD = "is not read: it replaces no shipped file, so what it says is not in force."


def copy(path: str) -> Finding:
    """Return what is said of a copy."""
    return Finding(Severity.INFO, f"This copy replaces the shipped file: {path}.", path)


def test_a_brain_without_copies_passes(examine: Examine) -> None:
    """There is nothing to say."""
    assert examine({}, ID)[ID].findings == ()


@pytest.mark.rule("DECLARE-11")
def test_copies_and_files_of_ones_own_pass(examine: Examine) -> None:
    """O-62: comments, a README and a role of one's own are healthy."""
    files = {
        MANIFEST: "# ours\nmemory:\n  recentDays: 3 # more\n",
        f"{SYSTEM}/role-chief.md": "---\nname: Chief\n---\nYou.\n",
        f"{SYSTEM}/role-librarian.md": "---\nname: Librarian\n---\nYou.\n",
        f"{SYSTEM}/role-coder-at-night.md": "---\nname: Night\n---\nYou.\n",
        "constitution/MANIFEST.bak": "memory: [\n",
        "constitution/README.md": "Why.\n",
        "constitution/style/voice.md": "Dry.\n",
        "constitution/MANIFEST.yaml.orig": "memory: [\n",
        "constitution/.hidden.yaml": "",
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (copy(f"{SYSTEM}/role-chief.md"), copy(MANIFEST))


@pytest.mark.rule("DOCTOR-15", "DOCTOR-16", "KNOB-25")
@pytest.mark.parametrize(
    ("text", "line", "key", "message", "hint"),
    [
        (
            "memory:\n  recallResult: 3\n",
            2,
            "memory.recallResult",
            "'recallResult' is not a known key.",
            "Did you mean 'recallResults'?",
        ),
        (
            "memory:\n  recentDays: -1\n",
            2,
            "memory.recentDays",
            "-1 is too small; expected a whole number from 0 to 100000.",
            "0 switches it off.",
        ),
        (
            "locale:\n  timezone: Europe/Berlyn\n",
            2,
            "locale.timezone",
            "'Europe/Berlyn' is not a time zone; expected its IANA name.",
            "Did you mean 'Europe/Berlin'?",
        ),
        (
            "memory:\n  consolidation:\n    schedule: '0 4 30 2 *'\n",
            3,
            "memory.consolidation.schedule",
            "'0 4 30 2 *' is not a cron expression of five fields that ever comes due.",
            "Write five fields, minute hour day month weekday, for example '0 4 * * *'.",
        ),
    ],
)
def test_a_manifest_that_does_not_load_fails(  # noqa: PLR0917
    examine: Examine, text: str, line: int, key: str, message: str, hint: str
) -> None:
    """The offending key is named, with its line and what to write."""
    result = examine({MANIFEST: text}, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings == (Finding(Severity.FAIL, message, MANIFEST, line, key, hint), copy(MANIFEST))


@pytest.mark.rule("DOCTOR-15")
def test_a_manifest_that_is_no_yaml_fails(examine: Examine) -> None:
    """The line is named; there is no key."""
    result = examine({MANIFEST: "memory:\n  read: [a\n"}, ID)[ID]

    assert result.status is Status.FAIL
    assert (result.findings[0].path, result.findings[0].key) == (MANIFEST, None)
    assert result.findings[0].line is not None


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("constitution/manifest.yaml", MANIFEST),
        ("constitution/MANIFEST.yml", MANIFEST),
        ("constitution/MANFIEST.yaml", MANIFEST),
        ("constitution/Agents/MANIFEST.yaml", MANIFEST),
        ("constitution/acces.yaml", "constitution/access.yaml"),
        ("constitution/engine_capabilities.json", "constitution/engine-capabilities.json"),
        ("constitution/Agents/role-memory.md", f"{SYSTEM}/role-memory.md"),
        (f"{SYSTEM}/role-memory.markdown", f"{SYSTEM}/role-memory.md"),
        (f"{SYSTEM}/with_memory.md", f"{SYSTEM}/with-memory.md"),
    ],
)
def test_a_file_that_is_almost_one_of_the_shipped_is_a_warning(examine: Examine, path: str, meant: str) -> None:
    """Nothing reads it."""
    result = examine({path: "---\nname: X\n---\n"}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(Severity.WARN, f"{path} {UNREAD}", path, hint=f"Rename it to {meant}, if that one is meant."),
    )


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        (f"{SYSTEM}/role-memroy.md", f"{SYSTEM}/role-memory.md"),
        (f"{SYSTEM}/loop/role-propser.md", f"{SYSTEM}/loop/role-proposer.md"),
        (f"{SYSTEM}/loop/role-memory.md", f"{SYSTEM}/role-memory.md"),
    ],
)
def test_a_misspelled_engine_role_is_a_new_role(examine: Examine, path: str, meant: str) -> None:
    """It is read, as a role that nobody calls, and the shipped one stays in force."""
    result = examine({path: "---\nname: X\nmemory: {}\n---\n"}, ID)[ID]

    does = "gives the brain a new role, and replaces no shipped file, so what it says is not in force."
    hint = f"Rename it to {meant}, if that one is meant."
    assert result.findings == (Finding(Severity.WARN, f"{path} {does}", path, hint=hint),)


def test_a_project_config_in_the_constitution_is_a_warning(examine: Examine) -> None:
    """It lies at the root of the brain."""
    path = "constitution/omnislash.yaml"

    assert examine({path: "{}\n"}, ID)[ID].findings == (
        Finding(
            Severity.WARN,
            f"{path} is not read: the project config lies at the root of the brain.",
            path,
            hint="Move it to omnislash.yaml.",
        ),
    )


def test_two_things_at_once_are_both_said(examine: Examine) -> None:
    """A manifest with two faults and a misnamed file: everything in one run."""
    files = {MANIFEST: "memory:\n  reed: []\n  wirte: x\n", "constitution/acess.yaml": ""}

    findings = examine(files, ID)[ID].findings

    assert [(each.severity.value, each.key or each.path) for each in findings] == [
        ("fail", "memory.reed"),
        ("fail", "memory.wirte"),
        ("warn", "constitution/acess.yaml"),
        ("info", MANIFEST),
    ]


def test_odd_names_break_nothing(examine: Examine) -> None:
    """Bytes that are no UTF-8, a name of signs, and a directory with the name of a file."""
    files = {"constitution/a\udcff.md": "", "constitution/(1).yaml": "", "constitution/access.yaml/x.md": ""}

    assert [each.severity for each in examine(files, ID)[ID].findings if each.severity is Severity.WARN] == []


@pytest.mark.rule("DOCTOR-15")
def test_a_directory_of_roles_that_is_a_file_fails(examine: Examine) -> None:
    """No role of the engine could be copied."""
    result = examine({SYSTEM: "not a directory"}, ID)[ID]

    assert (result.status, result.findings[0].path) == (Status.FAIL, SYSTEM)
    assert result.findings[0].message == "The directory can't be listed."
