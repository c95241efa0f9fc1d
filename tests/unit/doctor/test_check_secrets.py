"""The check of secrets: class, path and line of a credential, never its value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Status, warn

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

NOTE = "memory/main/keys.md"
HINT = "Take it out, and revoke it where it was issued: git keeps every version that was committed."
TOKEN = "ghp_" + "b1" * 18
ACCESS = "AKI" + "A" + "Q7" * 8
PASSWORD = "correct-horse" + "-9"
KEY = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bqQ\n" * 3 + "-----END " + "PRIVATE KEY-----\n"


def expected(path: str, line: int, name: str) -> Finding:
    """Return the finding about one credential."""
    message = f"{path}:{line} holds a credential ({name}); agents see it masked, and it can't be searched."
    return warn(message, path=path, line=line, hint=HINT)


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize(
    ("value", "name"),
    [
        (TOKEN, "GitHub token"),
        (ACCESS, "AWS access key"),
        (f"password = {PASSWORD}", "password or token"),
        (f"postgres://depot:{PASSWORD}@db.example/x", "password in an address"),
        (KEY, "private key"),
    ],
)
def test_each_class_is_named_with_its_line(examine: Examine, value: str, name: str) -> None:
    """Path, line and class are told, and no part of the value."""
    result = examine({NOTE: f"# Keys\n\nFor the depot:\n{value}\n"}, "secrets")["secrets"]
    told = json.dumps(result.to_json())

    assert result.findings == (expected(NOTE, 4, name),)
    assert result.status is Status.WARN
    assert not any(part in told for part in (TOKEN, ACCESS, PASSWORD, "MIIEow"))


@pytest.mark.rule("SECRET-O2")
def test_harmless_text_passes(examine: Examine) -> None:
    """A commit id, a UUID, a sentence about passwords and a placeholder are no credentials."""
    text = (
        "- 3f786850e387550fdab836ed7e6dc881de23001b\n- 123e4567-e89b-12d3-a456-426614174000\n"
        "- the password page is /help\n- password: <ask Ida>\n- PASSWORD = ${DEPOT_PASSWORD}\n"
    )
    result = examine(
        {NOTE: text, "features/team/x.agent.md": "---\nname: x\n---\nNever ask for a password.\n"}, "secrets"
    )

    assert result["secrets"].findings == ()


def test_every_file_that_is_read_is_looked_at(examine: Examine) -> None:
    """Memory, sources, roles and settings alike, in the order of paths."""
    files = {
        "omnislash.yaml": f"memory:\n  sources: [content]\n# password = {PASSWORD}\n",
        "content/a.md": TOKEN,
        "features/team/x.agent.md": f"---\nname: x\n---\n\n{TOKEN}\n",
        "constitution/MANIFEST.yaml": f"# {ACCESS}\n",
        NOTE: f"\n{TOKEN}",
    }

    assert examine(files, "secrets")["secrets"].findings == (
        expected("constitution/MANIFEST.yaml", 1, "AWS access key"),
        expected("content/a.md", 1, "GitHub token"),
        expected("features/team/x.agent.md", 5, "GitHub token"),
        expected(NOTE, 2, "GitHub token"),
        expected("omnislash.yaml", 3, "password or token"),
    )


def test_one_within_another_is_one(examine: Examine) -> None:
    """A token that is the value of an assignment is told once, as what it is; lines are counted through the file."""
    text = f"\n- token: {TOKEN}\n\n\n- {ACCESS}\n- {ACCESS}\n"

    assert examine({NOTE: text}, "secrets")["secrets"].findings == (
        expected(NOTE, 2, "GitHub token"),
        expected(NOTE, 5, "AWS access key"),
        expected(NOTE, 6, "AWS access key"),
    )


def test_several_in_one_line_are_counted(examine: Examine) -> None:
    """Two of one class in a line are one finding; another class in it is another one."""
    data = f"- {TOKEN} and {TOKEN} and {ACCESS}\n"
    message = f"{NOTE}:1 holds 2 credentials (GitHub token); agents see them masked."

    assert examine({NOTE: data}, "secrets")["secrets"].findings == (
        warn(message, path=NOTE, line=1, hint=HINT),
        expected(NOTE, 1, "AWS access key"),
    )


@pytest.mark.rule("SECRET-O2")
def test_a_credential_in_a_name_is_masked(examine: Examine) -> None:
    """A file that is named after a token is named without it."""
    result = examine({f"memory/main/{TOKEN}.md": f"- {ACCESS}\n"}, "secrets")["secrets"]
    path = "memory/main/[redacted: GitHub token].md"

    assert result.findings == (
        expected(path, 1, "AWS access key"),
        warn(
            f"The name of {path} holds a credential (GitHub token).",
            path=path,
            hint="Rename it, and revoke the credential where it was issued.",
        ),
    )
    assert TOKEN not in json.dumps(result.to_json())


@pytest.mark.rule("SECRET-O2", "SECRET-O1")
def test_allowing_them_does_not_hide_them(examine: Examine) -> None:
    """With `memory.secrets: allow` writers take credentials, and doctor still says where they are."""
    files = {"constitution/MANIFEST.yaml": "memory: {secrets: allow}\n", NOTE: TOKEN}

    assert examine(files, "secrets")["secrets"].findings == (expected(NOTE, 1, "GitHub token"),)


def test_odd_bytes_and_line_ends_do_not_hide_one(examine: Examine) -> None:
    """CRLF, a mark, NUL and bytes that are not UTF-8 change no line number."""
    data = b"\xef\xbb\xbf# K\xe9ys\r\n\0\r\n- " + TOKEN.encode() + b"\r\n"

    assert examine({NOTE: data}, "secrets")["secrets"].findings == (expected(NOTE, 3, "GitHub token"),)


def test_many_are_cut(examine: Examine) -> None:
    """Twenty lines are named, the rest counted."""
    found = examine({NOTE: f"- {TOKEN}\n" * 25, "omnislash.yaml": "a: [\n"}, "secrets")["secrets"].findings

    assert len(found) == 21
    assert found[-1] == warn("5 more lines with a credential.")
