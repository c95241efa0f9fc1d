"""The check of note frontmatter: headers that were meant and can't be read, and none of what people write freely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Severity

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

SOURCES = {"omnislash.yaml": "memory: {sources: [content]}\n"}


def findings(examine: Examine, files: dict[str, str | bytes]) -> tuple[Finding, ...]:
    """Return what the check finds."""
    return examine({**SOURCES, **files}, "note-frontmatter")["note-frontmatter"].findings


@pytest.mark.parametrize(
    "text",
    [
        "# No header\n",
        "---\ntitle: Prices\ndate: 2026-11-30\n---\nText.\n",
        "---\r\ntags: [a, b]\r\naliases:\r\n  - Цены\r\nwhatever_key: {deep: 1}\r\n---\r\nText.\r\n",
        "\ufeff---\ntitle: x\n---\nText.\n",
        "---\n\nA rule, and text below it.\n\n---\n",
        "---\nMeeting with Olga: she said this: that.\nThen we left.\n---\nText.\n",
        "---\n\nRemember: call Olga\nand also Bob [soon: today]\n\n---\n",
        "",
    ],
)
def test_ordinary_notes_pass(examine: Examine, text: str) -> None:
    """With any keys, with none, with a mark, and with a rule at the top that opens no header."""
    assert findings(examine, {"content/note.md": text, "memory/main/note.md": text}) == ()


def test_a_header_that_does_not_parse_is_named_with_its_line(examine: Examine) -> None:
    """In a source and in a line; the third line holds the fault."""
    text = "---\ntitle: Prices\ntags: [unclosed\n---\nText.\n"
    found = findings(examine, {"content/note.md": text, "memory/main/note.md": text})
    assert [(each.severity, each.path, each.line) for each in found] == [
        (Severity.WARN, "content/note.md", found[0].line),
        (Severity.WARN, "memory/main/note.md", found[0].line),
    ]
    assert found[0].line in {3, 4}
    assert found[0].message.startswith("The frontmatter can't be read: ")
    assert "---" in (found[0].hint or "")


def test_two_faults_in_one_header(examine: Examine) -> None:
    """A key that stands twice is named by the line of the second, beside whatever else is wrong."""
    found = findings(examine, {"content/note.md": "---\ntitle: a\ntitle: b\ndate: x\ndate: y\n---\nText.\n"})
    assert [each.line for each in found] == [3, 5]


def test_a_header_that_never_ends(examine: Examine) -> None:
    """It is named, because keys were meant."""
    (found,) = findings(examine, {"content/note.md": "---\ntitle: a\n\nText.\n"})
    assert (found.severity, found.path) == (Severity.WARN, "content/note.md")


def test_files_of_settings_are_left_to_their_check(examine: Examine) -> None:
    """A role's broken header is no note's."""
    assert findings(examine, {"features/a/nova.agent.md": "---\nmemory: [\n---\nHi.\n"}) == ()


def test_many_are_counted(examine: Examine) -> None:
    """Twenty are shown, and the rest is a number."""
    files: dict[str, str | bytes] = {f"content/{number:02}.md": "---\na: 1\na: 2\n---\n" for number in range(25)}
    found = findings(examine, files)
    assert len(found) == 21
    assert found[-1].message == "5 more faults in the frontmatter of notes."


def test_one_note_leaves_the_others_their_place(examine: Examine) -> None:
    """Three faults of a note are told, each once, and the rest is a number."""
    aliases = "".join(f"k{number}: [*a, *a]\n" for number in range(30))
    found = findings(
        examine, {"content/a.md": f"---\nto: &a x\n{aliases}---\n", "content/b.md": "---\na: 1\na: 2\n---\n"}
    )
    assert [(each.path, each.line) for each in found] == [
        *(("content/a.md", line) for line in (2, 3, 4)),
        ("content/a.md", None),
        ("content/b.md", 3),
    ]
    assert found[3].message == "The frontmatter has 28 more faults."
    assert len(set(found)) == len(found)
