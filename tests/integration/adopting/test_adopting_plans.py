"""What an adoption would do with each file of a folder: kinds of folders, places of notes, and what is left out."""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING

import pytest

from omnislash.core.budgets import Chars
from omnislash.errors import InvalidNameError, UsageError
from omnislash.runtime.adopting import ways
from omnislash.runtime.adopting.naming import DocumentNames, make_portable
from omnislash.runtime.adopting.planning import locate_credentials, plan_line, plan_sources
from omnislash.runtime.adopting.surveying import find_day, survey_folder
from omnislash.runtime.adopting.values import FolderKind, Left, Move

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TOPIC = "---\nname: choir\ndescription: What the choir ordered\ntype: project\n---\nTen vouchers.\n"
#: A value that a person would not write down, put together so that no scanner takes this file for a leak.
CREDENTIAL = "password = " + "hunter2-" + "Xy9Kq3"


def fill(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make a folder with these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def line_moves(root: Path, *, line: str = "main") -> dict[str, str]:
    """Return where each note would go below the line."""
    plan = plan_line(root, survey_folder(root), line=line, budget=Chars(12_000))
    return {move.source: move.target.removeprefix(f"memory/{line}/") for move in plan.moves}


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"MEMORY.md": "- [Choir](choir.md)\n", "choir.md": TOPIC}, FolderKind.CLAUDE_CODE),
        ({"MEMORY.md": "- x\n", "choir.md": TOPIC.replace("\n", "\r\n")}, FolderKind.CLAUDE_CODE),
        ({"MEMORY.md": "- x\n", "choir.md": "# Choir\n"}, FolderKind.NOTES),
        ({".obsidian/app.json": "{}", "a.md": "x"}, FolderKind.OBSIDIAN),
        ({".obsidian/app.json": "{}", "MEMORY.md": "x", "choir.md": TOPIC}, FolderKind.OBSIDIAN),
        ({"journals/2026_11_30.md": "- x\n", "pages/choir.md": "- y\n"}, FolderKind.LOGSEQ),
        ({"journals/2026-11-30.md": "- x\n"}, FolderKind.NOTES),
        ({"a.md": "x"}, FolderKind.NOTES),
    ],
)
def test_the_kind_of_a_folder(tmp_path: Path, files: dict[str, str], kind: FolderKind) -> None:
    """A folder is told by what lies in it, as those programs leave it."""
    assert survey_folder(fill(tmp_path, files)).kind is kind


def test_what_is_a_note(tmp_path: Path) -> None:
    """Markdown is a note; hidden things, packages, links, the brain's own directories and README.md are none, and named."""
    files = ["a.md", "deep/er/b.md", "x.png", "README.md", "deep/README.md", ".obsidian/c.md", ".trash/d.md", ".e.md"]
    files += ["node_modules/f/g.md", "memory/MEMORY.md", "features/h.md", "constitution/i.md", "deep/memory/j.md"]
    fill(tmp_path, dict.fromkeys(files, "x"))
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "loop").symlink_to(".", target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.md")

    found = survey_folder(tmp_path)

    assert found.notes == ("a.md", "deep/README.md", "deep/er/b.md", "deep/memory/j.md")
    assert found.others == (Left("README.md", "it tells about the folder"), Left("x.png", "it is not markdown"))
    assert {each.path: each.reason for each in found.left} == {
        ".e.md": "it is hidden",
        ".obsidian/": "it is hidden",
        ".trash/": "it is hidden",
        "constitution/": "it is a directory of the brain itself",
        "features/": "it is a directory of the brain itself",
        "link.md": "it is a link",
        "loop": "it is a link",
        "memory/": "it is a directory of the brain itself",
        "node_modules/": "it holds packages",
        "pipe.md": "it is no regular file",
    }


def test_a_directory_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory without permission is left out with the reason, and the rest is seen."""
    fill(tmp_path, {"a.md": "x", "closed/b.md": "y"})
    scandir = os.scandir

    def refuse(place: Path) -> object:
        if place.name == "closed":
            raise PermissionError(13, "Permission denied", str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refuse)
    found = survey_folder(tmp_path)

    assert found.notes == ("a.md",)
    assert found.left == (Left("closed/", "permission denied"),)


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026-11-30.md", date(2026, 11, 30)),
        ("journals/2026_11_30.md", date(2026, 11, 30)),
        ("a/2024-02-29.md", date(2024, 2, 29)),
        ("2026-02-29.md", None),
        ("2026-11_30.md", None),
        ("2026-11-30 Standup.md", None),
        ("٢٠٢٦-11-30.md", None),
        ("0000-01-01.md", None),
        ("2026-W49.md", None),
    ],
)
def test_notes_that_are_named_after_a_day(path: str, day: date | None) -> None:
    """A day that exists, written with hyphens or underscores, and nothing else in the name."""
    assert find_day(path) == day


@pytest.mark.rule("LINE-05", "LINE-07")
def test_a_claude_code_memory_folder_becomes_a_line(tmp_path: Path) -> None:
    """MEMORY.md becomes the line's, and topic files lie beside it, so that its links lead where they did."""
    fill(tmp_path, {"MEMORY.md": "- [Choir](choir.md)\n", "choir.md": TOPIC})

    plan = plan_line(tmp_path, survey_folder(tmp_path), line="research", budget=Chars(12_000))

    assert plan.moves == (
        Move("MEMORY.md", "memory/research/MEMORY.md"),
        Move("choir.md", "memory/research/choir.md"),
    )
    assert (plan.left, plan.advice, plan.credentials, plan.adopted) == ((), (), (), 2)


@pytest.mark.rule("LINE-05")
def test_dated_notes_become_daily_logs_once_a_day(tmp_path: Path) -> None:
    """The first note of a day is its log, wherever it lay; the second one and one with more in its name are documents."""
    files = [
        "2026-11-28.md",
        "Daily/2026-11-30.md",
        "journals/2026_11_29.md",
        "journals/2026_11_30.md",
        "2026-11-30 x.md",
    ]
    fill(tmp_path, dict.fromkeys([*files, "memory/main/2026/11/2026-11-29.md"], "x"))

    assert line_moves(tmp_path) == {
        "2026-11-28.md": "2026/11/2026-11-28.md",
        "2026-11-30 x.md": "2026-11-30 x.md",
        "Daily/2026-11-30.md": "2026/11/2026-11-30.md",
        "journals/2026_11_29.md": "journals/2026_11_29.md",
        "journals/2026_11_30.md": "journals/2026_11_30.md",
    }


def test_names_change_only_where_they_must(tmp_path: Path) -> None:
    """What some system can't store, twins, years and the engine's own names get another name; all others keep theirs."""
    files = ["Plans/a.md", "plans/b.md", "Plan.md", "plan.md", "what?.md", "what-.md", "aux.md", "2026/2026-W49.md"]
    files += ["memory.md", "conflicts/x.md", "Заметки/№5 «так».md", "dots.../y.md", "sub/MEMORY.md", "sub/2026/z.md"]
    fill(tmp_path, dict.fromkeys(files, "x"))

    assert line_moves(tmp_path) == {
        "2026/2026-W49.md": "notes-2026/2026-W49.md",
        "Plan.md": "Plan.md",
        "Plans/a.md": "Plans/a.md",
        "aux.md": "note-aux.md",
        "conflicts/x.md": "conflicts-2/x.md",
        "dots.../y.md": "dots/y.md",
        "memory.md": "memory-2.md",
        "plan.md": "plan-2.md",
        "plans/b.md": "plans-2/b.md",
        "sub/2026/z.md": "sub/2026/z.md",
        "sub/MEMORY.md": "sub/MEMORY.md",
        "what-.md": "what-.md",
        "what?.md": "what--2.md",
        "Заметки/№5 «так».md": "Заметки/№5 «так».md",
    }


def test_two_forms_of_one_letter_are_kept_apart(tmp_path: Path) -> None:
    """`é` as one character and as two are two notes here and would be one name on some disks."""
    fill(tmp_path, {"caf\u00e9.md": "one", "cafe\u0301.md": "two"})

    moves = line_moves(tmp_path)

    assert sorted(moves.values()) == ["cafe\u0301.md", "caf\u00e9-2.md"]


def test_what_stands_in_the_line_is_never_taken(tmp_path: Path) -> None:
    """A name that the line has already is avoided, a directory of it is shared, and its MEMORY.md stays alone."""
    files = ["a.md", "MEMORY.md", "Work/b.md", "memory/main/a.md", "memory/main/MEMORY.md", "memory/main/Work/c.md"]
    fill(tmp_path, dict.fromkeys(files, "x"))

    plan = plan_line(tmp_path, survey_folder(tmp_path), line="main", budget=Chars(12_000))

    assert {move.source: move.target for move in plan.moves} == {
        "a.md": "memory/main/a-2.md",
        "Work/b.md": "memory/main/Work/b.md",
    }
    assert Left("MEMORY.md", "memory/main/MEMORY.md is there already") in plan.left


def test_a_name_that_is_no_utf8_is_left_out(tmp_path: Path) -> None:
    """Bytes that are no text are no name that a tool could spell: the note stays, and is named."""
    odd = os.fsdecode(b"caf\xe9.md")
    fill(tmp_path, {odd: "x", "a.md": "y"})

    line = plan_line(tmp_path, survey_folder(tmp_path), line="main", budget=Chars(12_000))
    sources = plan_sources(tmp_path, survey_folder(tmp_path), into=None)

    assert line.left == sources.left == (Left(odd, "its name is no UTF-8"),)
    assert line.to_json()["left"] == [{"path": "caf\ufffd.md", "reason": "its name is no UTF-8"}]
    assert sources.sources == ("a.md",)


@pytest.mark.parametrize("name", ["Work", "2026", "a/b", "../x", ""])
@pytest.mark.rule("LINE-07", "LINE-08", "LINE-09")
def test_no_line_of_another_name(tmp_path: Path, name: str) -> None:
    """What can be no line by its name is refused before anything is planned."""
    with pytest.raises(InvalidNameError):
        plan_line(fill(tmp_path, {"a.md": "x"}), survey_folder(tmp_path), line=name, budget=Chars(12_000))


@pytest.mark.rule("BUDGET-04", "BUDGET-18")
def test_a_memory_over_its_budget_is_said(tmp_path: Path) -> None:
    """One unit over is said with both ways out, as many units as the budget has is nothing to say."""
    fill(tmp_path, {"MEMORY.md": "🙂" * 10})
    survey = survey_folder(tmp_path)

    assert plan_line(tmp_path, survey, line="main", budget=Chars(20)).advice == ()
    (said,) = plan_line(tmp_path, survey, line="main", budget=Chars(19)).advice
    assert "20 of 19 fileMaxChars (105%)" in said
    assert "memory.lines.main.fileMaxChars" in said
    assert "documents of the line" in said


@pytest.mark.rule("SECRET-O2")
def test_credentials_are_named_and_refuse_nothing(tmp_path: Path) -> None:
    """Path, line and class of each place that is taken up; the value is nowhere in the plan."""
    fill(tmp_path, {"a.md": f"fine\n\n{CREDENTIAL}\n", "b c.md": CREDENTIAL, ".obsidian/x.md": CREDENTIAL})

    plan = plan_line(tmp_path, survey_folder(tmp_path), line="main", budget=Chars(12_000))

    assert [(each.path, each.line, each.credential) for each in plan.credentials] == [
        ("a.md", 3, "password or token"),
        ("b c.md", 1, "password or token"),
    ]
    assert "hunter2" not in str(plan.to_json())
    assert len(plan.moves) == 2
    left_out = plan_sources(tmp_path, survey_folder(tmp_path), into=None)
    assert [each.path for each in left_out.credentials] == ["a.md"]


def test_a_note_is_counted_through_once(tmp_path: Path) -> None:
    """However many places a note has, each part of it is looked at once to tell their lines."""
    counted = 0

    class Text(str):
        """A text that tells how much of it is counted."""

        __slots__ = ()

        def count(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
            nonlocal counted
            counted += (len(self) if end is None else end) - start
            return str(self).count(sub, start, end)

    text = Text(f"fine\n{CREDENTIAL}\n" * 50)

    assert [each.line for each in locate_credentials("a.md", text)] == list(range(2, 101, 2))
    assert counted <= len(text)


@pytest.mark.parametrize(
    ("way", "note", "reason"),
    [
        ("memory/main/2026", "2026-11-30.md", "memory/main/2026 is a link, so its files lie elsewhere"),
        ("memory/main/2026/11", "2026-11-30.md", "memory/main/2026/11 is a link, so its files lie elsewhere"),
    ],
)
def test_a_note_whose_way_is_a_link_stays(tmp_path: Path, way: str, note: str, reason: str) -> None:
    """A link deeper in the line keeps just what would go through it; a name beside it is chosen elsewhere."""
    root, outside = fill(tmp_path / "vault", {note: "x", "Work/a.md": "y"}), tmp_path / "outside"
    outside.mkdir()
    (root / way).parent.mkdir(parents=True)
    (root / way).symlink_to(outside)
    (root / "memory/main/Work").symlink_to(outside)

    plan = plan_line(root, survey_folder(root), line="main", budget=Chars(12_000))

    assert plan.moves == (Move("Work/a.md", "memory/main/Work-2/a.md"),)
    assert Left(note, reason) in plan.left


def test_what_lies_on_another_file_system_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mounted directory can't be moved in one step, so its notes are left out beforehand; as sources they are fine."""
    fill(tmp_path, {"a.md": "x", "stick/b.md": "y", "stick stick/c.md": "z"})
    monkeypatch.setattr(ways, "device_of", lambda place: 2 if "stick" in str(place.relative_to(tmp_path)) else 1)
    survey = survey_folder(tmp_path)

    line = plan_line(tmp_path, survey, line="main", budget=Chars(12_000))
    sources = plan_sources(tmp_path, survey, into="notes")

    assert line.moves == (Move("a.md", "memory/main/a.md"),)
    assert line.left == (Left("stick stick/c.md", ways.ELSEWHERE), Left("stick/b.md", ways.ELSEWHERE))
    assert (sources.sources, sources.moves) == (("a.md", "stick"), ())
    assert sources.left == (Left("stick stick/c.md", ways.ELSEWHERE),)


def test_a_twin_of_the_line_is_refused(tmp_path: Path) -> None:
    """`memory/Main` beside `memory/main` would keep every later write from the line."""
    fill(tmp_path, {"a.md": "x", "memory/Main/b.md": "y"})

    with pytest.raises(UsageError, match="differ in letter case only"):
        plan_line(tmp_path, survey_folder(tmp_path), line="main", budget=Chars(12_000))


def test_directories_without_a_file_go_only_after_a_cut(tmp_path: Path) -> None:
    """A folder's own empty directories stay; where an adoption was cut off, those that it emptied are named and go."""
    fill(tmp_path, {"a.md": "x", "full/b.md": "y"})
    for path in ("empty", "deep/er", "full/empty", ".hidden"):
        (tmp_path / path).mkdir(parents=True)
    survey = survey_folder(tmp_path)
    assert survey.empty == ("deep", "deep/er", "empty", "full/empty")
    assert plan_line(tmp_path, survey, line="main", budget=Chars(12_000)).emptied == ()
    (tmp_path / "memory/main").mkdir(parents=True)
    assert plan_line(tmp_path, survey, line="main", budget=Chars(12_000)).emptied == survey.empty
    (tmp_path / "notes").mkdir()
    (tmp_path / "c d/e").mkdir(parents=True)
    assert plan_sources(tmp_path, survey_folder(tmp_path), into="notes").emptied == ("c d", "c d/e")


def test_a_folder_deeper_than_python_can_call(tmp_path: Path) -> None:
    """However deep a note lies, it is planned."""
    assert DocumentNames(tmp_path).place(f"{'a/' * 1500}x.md") == f"{'a/' * 1500}x.md"


# -- sources ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SOURCE-04", "SOURCE-05", "SOURCE-06", "SOURCE-03")
def test_sources_are_what_can_be_spelled_as_one(tmp_path: Path) -> None:
    """Directories and notes at the top become sources; other names, and that of a line, are left out with the reason."""
    files = [
        "notes/a b.md",
        "Заметки/x.md",
        "handbook.md",
        "Daily Notes/y.md",
        "a b.md",
        "main/z.md",
        "ops/q.md",
        "img/p.png",
    ]
    fill(tmp_path, dict.fromkeys([*files, "memory/ops/MEMORY.md"], "x"))

    plan = plan_sources(tmp_path, survey_folder(tmp_path), into=None)

    assert plan.sources == ("handbook.md", "notes", "Заметки")
    assert plan.moves == ()
    reasons = {each.path: each.reason for each in plan.left}
    assert reasons.pop("memory/") == "it is a directory of the brain itself"
    assert reasons.pop("img/p.png") == "it is not markdown"
    assert reasons.pop("main/z.md") == "'main' is the name of a line"
    assert reasons.pop("ops/q.md") == "'ops' is the name of a line"
    assert set(reasons) == {"Daily Notes/y.md", "a b.md"}
    assert all(reason.startswith("no source can have its name: the character ' '") for reason in reasons.values())


def test_into_gathers_just_what_cannot_stay(tmp_path: Path) -> None:
    """The directories and notes that can't be sources move with all their files; everything else stays."""
    files = ["good/a.md", "Daily Notes/b.md", "Daily Notes/pic.png", "c d.md", "top.png", "main/e.md", "notes/c d.md"]
    fill(tmp_path, dict.fromkeys(files, "x"))

    plan = plan_sources(tmp_path, survey_folder(tmp_path), into="notes")

    assert {move.source: move.target for move in plan.moves} == {
        "Daily Notes/b.md": "notes/Daily Notes/b.md",
        "Daily Notes/pic.png": "notes/Daily Notes/pic.png",
        "main/e.md": "notes/main/e.md",
    }
    assert plan.left == (Left("c d.md", "notes/c d.md is there already"), Left("top.png", "it is not markdown"))
    assert plan.sources == ("good", "notes")


@pytest.mark.parametrize(
    "into", ["a b", "../x", "/tmp", "memory", "features/x", "main", "notes.md", "taken", "link", "link/deep", ""]
)
def test_into_has_to_be_a_directory_of_sources(tmp_path: Path, into: str) -> None:
    """What can be no source, belongs to the brain, or is something else already, is refused."""
    fill(tmp_path, {"a b.md": "x", "taken": "a file"})
    (tmp_path / "link").symlink_to("/tmp")
    with pytest.raises(UsageError):
        plan_sources(tmp_path, survey_folder(tmp_path), into=into)


def test_many_single_notes_are_for_into(tmp_path: Path) -> None:
    """Two hundred notes at the top are a source each; one more, and they have to be gathered."""
    fill(tmp_path, {f"n{number}.md": "x" for number in range(200)})
    assert len(plan_sources(tmp_path, survey_folder(tmp_path), into=None).sources) == 200
    fill(tmp_path, {"one-more.md": "x", "dir/a.md": "x"})
    assert plan_sources(tmp_path, survey_folder(tmp_path), into=None).sources == ("dir",)
    gathered = plan_sources(tmp_path, survey_folder(tmp_path), into="all")
    assert (gathered.sources, len(gathered.moves)) == (("all", "dir"), 201)


@pytest.mark.parametrize(
    ("name", "portable"),
    [
        ("a b", "a b"),
        ("a:b*", "a-b-"),
        ("x.", "x"),
        (" x ", "x"),
        ("...", "note"),
        ("nul", "note-nul"),
        ("a\u202eb", "a-b"),
    ],
)
def test_names_that_every_system_can_store(name: str, portable: str) -> None:
    """Only what can't stay is changed."""
    assert make_portable(name) == portable
