"""The check of file names."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Status, info, warn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

SOURCE = {"omnislash.yaml": "memory: {sources: [content]}\n"}
CAFE = "caf\u00e9.md"
CAFE_APART = unicodedata.normalize("NFD", CAFE)


def findings(examine: Examine, *paths: str) -> tuple[Finding, ...]:
    """Return what the check finds in a brain with these files."""
    return examine({**SOURCE, **dict.fromkeys(paths, "text\n")}, "file-names")["file-names"].findings


def test_ordinary_names_pass(examine: Examine) -> None:
    """Names of any script, with spaces, dots and signs that every disk takes, are fine."""
    names = (
        "Tide.Notes",
        "tide notes",
        "tide-notes",
        "tide_notes",
        "заметка №5",
        "हिन्दी",
        "猫",
        "a+b (1), c & d’s",
        "console",
    )

    assert findings(examine, *(f"content/{name}.md" for name in names), *(f"memory/main/{n}.md" for n in names)) == ()


@pytest.mark.parametrize("folder", ["content", "memory/main", "features/team", "constitution"])
def test_names_that_differ_in_case(examine: Examine, folder: str) -> None:
    """Two files that some disks take for one are named, wherever they lie."""
    message = (
        f"{folder}/plan.md and 'Plan.md' beside it differ only in letter case, so they can't both be on every disk."
    )
    result = examine({**SOURCE, f"{folder}/Plan.md": "1\n", f"{folder}/plan.md": "2\n"}, "file-names")["file-names"]

    assert result.findings == (warn(message, path=f"{folder}/plan.md", hint="Rename one of them."),)
    assert result.status is Status.WARN


def test_directories_have_twins_too(examine: Examine) -> None:
    """Of directories the directory is named, and not each file in it."""
    assert [each.path for each in findings(examine, "content/A/x.md", "content/a/x.md", "content/a/y.md")] == [
        "content/a"
    ]


def test_lines_are_left_to_another_check(examine: Examine) -> None:
    """Directories of memory/ that differ in case are lines, and told by the check of lines."""
    assert findings(examine, "memory/Work/x.md", "memory/work/x.md") == ()


def test_accents_stored_in_two_ways(examine: Examine) -> None:
    """NFC and NFD of a name are twins, and the second is told for itself."""
    message = (
        f"content/{CAFE} and {CAFE_APART!r} beside it differ only in how their accents are stored (NFC and NFD), "
        "so they can't both be on every disk."
    )

    assert findings(examine, f"content/{CAFE}", f"content/{CAFE_APART}") == (
        warn(message, path=f"content/{CAFE}", hint="Rename one of them."),
        info(
            f"The name of content/{CAFE_APART} stores its accents apart (NFD): typed on a keyboard it is another name.",
            path=f"content/{CAFE_APART}",
            hint=f"Rename it to {CAFE!r}.",
        ),
    )


def test_an_invisible_character_makes_a_twin(examine: Examine) -> None:
    """A name with a zero-width space looks like the one beside it."""
    first = findings(examine, "content/plan.md", "content/pl\u200ban.md")[0]

    assert (first.severity.value, first.path) == ("warn", "content/pl\u200ban.md")
    assert "signs that look alike or are invisible" in first.message


@pytest.mark.parametrize(
    ("name", "problem", "better"),
    [
        ('a "q" b.md', "its name holds '\"'", "a -q- b.md"),
        ("what?.md", "its name holds '?'", "what-.md"),
        ("12:30.md", "its name holds ':'", "12-30.md"),
        ("con.md", "its name is that of a device", "con-note.md"),
        ("Aux.backup.md", "its name is that of a device", "Aux.backup-note.md"),
    ],
)
def test_names_that_windows_refuses(examine: Examine, name: str, problem: str, better: str) -> None:
    """In a source they are read, and can't be checked out everywhere."""
    message = f"content/{name} can't be on Windows: {problem}."

    assert findings(examine, f"content/{name}") == (
        warn(message, path=f"content/{name}", hint=f"Rename it, for example to {better!r}."),
    )


@pytest.mark.rule("TOOL-O3")
@pytest.mark.parametrize(
    ("name", "problem", "better"),
    [
        ("nul.md", "'nul.md' is the name of a device on some systems", "nul-note.md"),
        (" x.md", "' x.md' begins with a space, or ends in a dot or a space", "x.md"),
        ("a\\b.md", "the character U+005C is not allowed", "a-b.md"),
        ("a\u202eb.md", "the character U+202E is not allowed", "a-b.md"),
    ],
)
def test_names_in_memory_that_no_tool_can_spell(examine: Examine, name: str, problem: str, better: str) -> None:
    """The reason is that of the tools, and what Windows says of the same name is not told besides."""
    shown = name.replace("\u202e", "\ufffd")
    message = f"No tool can name memory/main/{shown}, and search leaves it out: {problem}."

    assert findings(examine, f"memory/main/{name}") == (
        warn(message, path=f"memory/main/{shown}", hint=f"Rename it, for example to {better!r}."),
    )


def test_a_line_end_in_a_name(examine: Examine) -> None:
    """A name that would break a line of the report is shown without it, in memory and elsewhere."""
    found = findings(examine, "content/a\nb.md", "features/c\nd.md")

    assert [each.path for each in found] == ["content/a\ufffdb.md", "features/c\ufffdd.md"]
    assert not any("\n" in (each.message + str(each.hint)) for each in found)


def test_a_directory_with_a_dot_at_its_end(examine: Examine) -> None:
    """What Windows strips from a name is told for directories too."""
    assert findings(examine, "content/drafts./x.md") == (
        warn(
            "content/drafts. can't be on Windows: its name ends in a dot or a space.",
            path="content/drafts.",
            hint="Rename it, for example to 'drafts'.",
        ),
    )


def test_a_name_that_is_not_utf_8(examine: Examine) -> None:
    """It is shown with U+FFFD, so that a terminal and JSON can take it."""
    shown = "memory/main/caf\ufffd.md"
    message = f"The name of {shown} is not UTF-8, so no tool can open it and search leaves it out."

    assert findings(examine, "memory/main/caf\udce9.md") == (
        warn(message, path=shown, hint="Rename it in a file manager or with `mv`."),
    )


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (12, "has 856 bytes; tools take at most 800."),
        (3, "is longer than 200 characters, too long for most Windows systems."),
    ],
)
def test_paths_that_are_too_long(examine: Examine, segments: int, message: str) -> None:
    """Two limits: that of the tools in bytes, that of Windows in characters."""
    path = "/".join(["content", *["d" * 69] * segments, "notes.md"])
    hint = "Use shorter names, or fewer directories."

    assert findings(examine, path) == (warn(f"The path of {path} {message}", path=path, hint=hint),)


@pytest.mark.rule("SOURCE-O8")
@pytest.mark.parametrize(("name", "better"), [("A.MD", "A.md"), ("b.markdown", "b.md"), ("c.Md", "c.md")])
@pytest.mark.parametrize("folder", ["content", "memory/main"])
def test_endings_that_are_almost_md(examine: Examine, folder: str, name: str, better: str) -> None:
    """Such files look like notes and are not read."""
    message = f"{folder}/{name} is not read and not found: only files that end in .md are notes."

    assert findings(examine, f"{folder}/{name}") == (
        warn(message, path=f"{folder}/{name}", hint=f"Rename it to {better!r}."),
    )


def test_what_is_meant_as_the_curated_file_is_told_elsewhere(examine: Examine) -> None:
    """The check of the layout has the better advice for MEMORY.MD."""
    assert findings(examine, "memory/main/MEMORY.MD") == ()


def test_hidden_files_are_nobodys_business(examine: Examine) -> None:
    """Hidden names, and whatever lies below directories that belong to other programs, are passed over."""
    assert findings(examine, "content/.DS_Store", "memory/.x?.md", ".obsidian/What?.md", "other/What?.md") == ()


def test_broken_in_two_ways_in_an_odd_brain(examine: Examine, brain_root: Path) -> None:
    """Each oddity is told once, worst first, in a brain whose settings do not load."""
    (brain_root / "memory/main").mkdir(parents=True)
    (brain_root / "memory/main/What?.md").symlink_to("nowhere")
    files = {"omnislash.yaml": "a: [\n", "memory/main/x.md": "", "memory/main/X.md": "", "memory/main/y:.md": ""}
    found = examine(files, "file-names")["file-names"].findings

    assert [each.path for each in found] == ["memory/main/x.md", "memory/main/What?.md", "memory/main/y:.md"]


def test_a_long_list_is_cut(examine: Examine) -> None:
    """Twenty names of a kind are told, the rest counted."""
    found = findings(examine, *(f"content/{n:02}?.md" for n in range(24)))

    assert len(found) == 21
    assert found[-1] == warn("4 more names that some systems refuse.")
