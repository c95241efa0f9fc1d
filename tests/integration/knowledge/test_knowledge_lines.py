"""What a person sees of lines and sources: all of them, in numbers that are right, whatever a role may do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.errors import InvalidNameError, MissingFileError, ScopeError, StorageError
from omnislash.runtime.knowledge.line_views import Browse

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


@pytest.mark.rule("DASH-02", "DASH-03", "DASH-O1")
@pytest.mark.parametrize(
    ("declared", "written", "opens"),
    [
        ("{}", ["zoo", "main", "aha"], "main"),
        ("{write: zoo}", ["zoo", "main", "aha"], "zoo"),
        ("{write: zoo}", ["main", "aha"], "aha"),
        ("{}", ["zoo", "ops"], "ops"),
        ("{write: zoo}", [], "zoo"),
        ("{}", [], "main"),
    ],
)
def test_it_opens_on_the_line_of_the_manifest(
    sample: SampleBrain, declared: str, written: list[str], opens: str
) -> None:
    """It is the line that the manifest names, else main; while nothing is in it the first that has something."""
    sample.manifest(declared)
    for line in written:
        sample.put_memory(f"{line}/2026/08/2026-08-29.md", "- 09:00 Hello.\n")
    knowledge = sample.open().knowledge

    assert knowledge.default_line() == opens
    assert knowledge.line().line.line == opens


@pytest.mark.rule("DASH-03")
def test_an_empty_folder_is_nothing_written(sample: SampleBrain) -> None:
    """A folder without a note, or with foreign files only, does not make the page open there."""
    (sample.root / "memory" / "main").mkdir(parents=True)
    sample.put_memory("main/picture.png", b"\x89PNG")
    sample.put_memory("ops/MEMORY.md", "x\n")

    assert sample.open().knowledge.default_line() == "ops"


@pytest.mark.rule("DASH-04")
def test_every_line_is_there_whatever_roles_may_read(sample: SampleBrain) -> None:
    """A line that no role names is listed as well, and who may write to each is told."""
    sample.role("scout", "{write: trails, report: [ops]}")
    sample.role("clerk", "{write: ops}")
    sample.role("mute", None)
    sample.beat("dawn", "scout", "{write: mornings}")
    sample.put_memory("secret/notes.md", "x\n")
    sample.put_memory("ops/MEMORY.md", "x\n")
    lines = {str(each.line): each.to_json() for each in sample.open().knowledge.lines()}

    assert list(lines) == ["main", "mornings", "ops", "secret", "trails"]
    assert lines["secret"]["files"] == 1
    assert lines["secret"]["curators"] == lines["secret"]["depositors"] == []
    assert "scout" in lines["trails"]["curators"]
    assert "clerk" in lines["ops"]["curators"]
    assert lines["ops"]["depositors"] == ["scout", "scout · dawn"]
    assert lines["mornings"]["curators"] == ["scout · dawn"]
    assert not any("mute" in each["curators"] for each in lines.values())


@pytest.mark.rule("BUDGET-20", "BUDGET-15", "DASH-04")
def test_readings_are_those_of_each_line(sample: SampleBrain) -> None:
    """The words and numbers of a MEMORY.md are in UTF-16 units, with the budget of its own line."""
    sample.manifest("{fileMaxChars: 12000, lines: {free: {fileMaxChars: 0}}}")
    sample.put_memory("main/MEMORY.md", "a" * 8794)
    sample.put_memory("free/MEMORY.md", "\U0001f600" * 5)
    sample.put_memory("none/note.md", "x\n")
    lines = {str(each.line): each.to_json()["memory"] for each in sample.open().knowledge.lines()}

    assert lines["main"] == {
        "path": "main/MEMORY.md",
        "reading": "8794 of 12000 fileMaxChars (73%)",
        "chars": 8794,
        "fileMaxChars": 12000,
        "percent": 73,
    }
    assert lines["free"]["reading"] == "10 chars (no fileMaxChars)"
    assert lines["none"] is None


def test_files_are_counted_by_what_they_are(sample: SampleBrain) -> None:
    """Logs, summaries, documents and conflict copies are told apart; what no tool can name is said."""
    sample.put_memory("main/MEMORY.md", "x\n")
    for day in ("2025/12/2025-12-31", "2026/08/2026-08-01", "2026/08/2026-08-30"):
        sample.put_memory(f"main/{day}.md", "- 09:00 Hi.\n")
    sample.put_memory("main/2026/2026-W34.md", "Week.\n")
    sample.put_memory("main/topics/plants.md", "Plants.\n")
    sample.put_memory("main/topics/deep/er.md", "Deep.\n")
    sample.put_memory('main/plan %#?"&.md', "Odd.\n")
    sample.put_memory("main/conflicts/MEMORY-20260830T090500Z-ab12.md", "Copy.\n")
    sample.put_memory("main/2026/notes.md", "Lost.\n")
    sample.put_memory("main/2026/08/2026-08-32.md", "No day.\n")
    sample.put_memory("main/.hidden.md", "Hidden.\n")
    sample.put_memory("main/picture.png", b"x")
    (sample.root / "memory/main/linked.md").symlink_to("/etc/hostname")
    view = sample.open().knowledge.line("main").to_json()

    assert view["summary"]["files"] == 9
    assert view["days"]["years"] == [{"year": "2026", "files": 2}, {"year": "2025", "files": 1}]
    assert [row["name"] for row in view["days"]["files"]] == ["2026-08-30.md", "2026-08-01.md"]
    assert view["conflictCopies"] == 1
    assert view["misplaced"] == {"count": 2, "first": ["2026/notes.md", "2026/08/2026-08-32.md"]}
    assert [row["name"] for row in view["documents"]["files"]] == ['plan %#?"&.md']
    assert view["documents"]["folders"] == [
        {"name": "conflicts", "folder": "conflicts", "files": 1},
        {"name": "topics", "folder": "topics", "files": 2},
    ]


def test_one_month_and_one_folder_are_open(sample: SampleBrain) -> None:
    """What is asked for is shown; what is not there falls back to the newest, and a wrong folder is told."""
    for month in ("2025/11", "2026/07", "2026/08"):
        year, number = month.split("/")
        sample.put_memory(f"main/{month}/{year}-{number}-02.md", "- 09:00 Hi.\n")
    sample.put_memory("main/topics/plants.md", "Plants.\n")
    knowledge = sample.open().knowledge

    def open_month(**asked: Any) -> str | None:
        return knowledge.line("main", Browse(**asked)).days.month

    assert open_month() == "2026-08"
    assert open_month(month="2026-07") == "2026-07"
    assert open_month(year="2025") == "2025-11"
    assert open_month(year="1999", month="x") == "2026-08"
    assert [row.path for row in knowledge.line("main", Browse(folder="topics")).documents.files] == [
        "main/topics/plants.md"
    ]
    with pytest.raises(MissingFileError, match="no folder 'nope'"):
        knowledge.line("main", Browse(folder="nope"))
    with pytest.raises(MissingFileError, match="There is no line 'nope'"):
        knowledge.line("nope")


def test_a_folder_is_shown_in_pages(sample: SampleBrain) -> None:
    """Of 250 files in a folder each page has a hundred, in order, and every file is on one page."""
    for number in range(250):
        sample.put_memory(f"main/notes/n{number:03}.md", "x\n")
    knowledge = sample.open().knowledge
    pages = [knowledge.line("main", Browse(folder="notes", page=page)).documents for page in (1, 2, 3)]

    assert [len(page.files) for page in pages] == [100, 100, 50]
    assert [row.name for page in pages for row in page.files] == [f"n{number:03}.md" for number in range(250)]
    assert knowledge.line("main", Browse(folder="notes", page=99)).documents.page == 3


@pytest.mark.rule("PERIOD-08", "PERIOD-10", "PERIOD-34")
def test_the_timeline_tells_what_is_written_due_and_waiting(sample: SampleBrain) -> None:
    """Today is Sunday, 30 August 2026: what is over and was written in is due, or waits for a level below.

    The log of 20 August has a heading only, so its week is none in which something was written.
    """
    sample.manifest("{consolidation: {lines: {main: {periods: [week, month]}}}}")
    for day in ("2026-07-08", "2026-07-15", "2026-08-28"):
        sample.put_memory(f"main/{day[:4]}/{day[5:7]}/{day}.md", "- 09:00 Hi.\n")
    sample.put_memory("main/2026/08/2026-08-20.md", "# Memory (2026-08-20)\n")
    sample.put_memory("main/2026/2026-W28.md", "Week.\n")
    sample.put_memory("main/2019/2019-12.md", "Old.\n")
    ladder = sample.open().knowledge.line("main").ladder.to_json()
    july, august = ladder["rungs"]

    assert ladder["enabled"]
    assert [(year["year"], year["filed"], year["due"], year["waiting"]) for year in ladder["years"]] == [
        ("2026", 1, 1, 1),
        ("2019", 1, 0, 0),
    ]
    assert (july["period"], july["stage"], july["waitsFor"], july["path"]) == ("2026-07", "waiting", ["2026-W29"], None)
    assert [(each["period"], each["stage"], each["path"]) for each in july["parts"]] == [
        ("2026-W28", "filed", "main/2026/2026-W28.md"),
        ("2026-W29", "due", None),
    ]
    assert (august["period"], august["stage"]) == ("2026-08", "open")
    assert [(each["period"], each["stage"]) for each in august["parts"]] == [("2026-W35", "open")]


def test_the_timeline_is_the_engines_ladder(sample: SampleBrain) -> None:
    """Ten years of it agree with what `show_ladder` says of the same files."""
    sample.manifest("{consolidation: {lines: {main: {periods: [week, month, quarter, year]}}}}")
    for year in range(2017, 2027):
        for month in range(1, 8):
            sample.put_memory(f"main/{year}/{month:02}/{year}-{month:02}-1{month}.md", "- 09:00 Hi.\n")
        sample.put_memory(f"main/{year}/{year}.md", "Year.\n")
    brain = sample.open()
    shown = brain.knowledge.line("main").ladder

    assert shown.ladder == brain.show_ladder(lines=["main"]).lines[0]
    assert len(shown.years) == 10
    assert {rung["period"] for rung in shown.to_json()["rungs"]} == {"2026"}


@pytest.mark.rule("SOURCE-O3")
def test_a_shadowed_file_is_no_file_of_the_line(sample: SampleBrain) -> None:
    """What lies at the path of a declared source belongs to it, so the line neither lists nor opens it."""
    sample.put_memory("research/notes/a.md", "Managed.\n")
    sample.put_memory("research/plan.md", "Managed.\n")
    sample.put("research/notes/a.md", "Authored.\n")
    sample.sources("research/notes")
    knowledge = sample.open().knowledge

    assert knowledge.line("research").line.files == 1
    with pytest.raises(MissingFileError, match="authored source research/notes"):
        knowledge.read("research/notes/a.md")
    assert knowledge.read_source("research/notes/a.md").content == "Authored.\n"


# -- one file --------------------------------------------------------------------------------------------------------


def test_a_file_is_read_with_its_numbers(sample: SampleBrain) -> None:
    """Text, size, hash, reading, line ends and who wrote it last."""
    sample.role("nova")
    sample.agent().memory.write("Mila is allergic to hazelnuts.", priority=True)
    brain = sample.open()
    file = brain.knowledge.read("main/MEMORY.md").to_json()

    assert "Mila is allergic to hazelnuts." in file["content"]
    assert file["kind"] == "memory"
    assert file["chars"] == len(sample.text("main/MEMORY.md"))
    assert file["budget"]["reading"].startswith(f"{file['chars']} of 10000 fileMaxChars")
    assert (file["lastWrite"]["role"], file["lastWrite"]["tool"]) == ("nova", "memory_write")
    assert file["readOnly"] is None
    sample.put_memory("main/other.md", "By hand.\r\nTwo.\r\n")
    assert brain.knowledge.read("main/other.md").to_json()["lastWrite"] is None
    assert brain.knowledge.read("main/other.md").to_json()["lineEnds"] == "crlf"


@pytest.mark.rule("SECRET-O2")
def test_credentials_are_masked(sample: SampleBrain) -> None:
    """What came in by hand is shown as its class, in part and whole."""
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    sample.put_memory("main/keys.md", f"Token: {token}\n")
    file = sample.open().knowledge.read("main/keys.md").to_json()

    assert token not in str(file)
    assert "[redacted: " in file["content"]
    assert len(file["maskedCredentials"]) == 1


def test_odd_files_are_shown_as_far_as_possible(sample: SampleBrain) -> None:
    """No UTF-8, a byte order mark, nothing at all, and one that is far too large."""
    sample.put_memory("main/latin.md", "Grüße\n".encode("latin-1"))
    sample.put_memory("main/bom.md", b"\xef\xbb\xbfHello\n")
    sample.put_memory("main/empty.md", b"")
    huge = sample.put_memory("main/huge.md", b"")
    os.truncate(huge, 16_000_001)
    knowledge = sample.open().knowledge

    assert knowledge.read("main/latin.md").content == "Gr\ufffd\ufffde\n"
    assert "no UTF-8" in str(knowledge.read("main/latin.md").why_not_edited)
    assert knowledge.read("main/bom.md").content == "Hello\n"
    assert knowledge.read("main/empty.md").content == ""
    with pytest.raises(StorageError, match="16000001 bytes"):
        knowledge.read("main/huge.md")


def test_a_long_file_is_read_in_parts(sample: SampleBrain) -> None:
    """The parts put together are the text, and no pair of surrogates is split."""
    text = "\U0001f600x" * 90_000
    sample.put_memory("main/long.md", text)
    knowledge = sample.open().knowledge
    offset: int | None = 0
    parts = []
    while offset is not None:
        file = knowledge.read("main/long.md", offset=offset)
        parts.append(file.content)
        offset = file.next_offset

    assert len(parts) == 3
    assert "".join(parts) == text
    assert knowledge.read("main/long.md", offset=10**11).content == ""


@pytest.mark.parametrize(
    "path",
    [
        "../omnislash.yaml",
        "main/../../omnislash.yaml",
        "main/../../secret.md",
        "/etc/passwd",
        "main//etc/hosts.md",
        "main/.omnislash/x.md",
        "main/.git/config.md",
        ".omnislash/token",
        "main\\..\\x.md",
        "main/a\x00.md",
        "main/x.txt",
        "main",
        "",
        "main/" + "a" * 300 + ".md",
    ],
)
def test_path_tricks_read_nothing(sample: SampleBrain, path: str) -> None:
    """A path that climbs, hides or is none is refused by its words alone."""
    sample.put("secret.md", "secret\n")
    sample.sources("people")
    knowledge = sample.open().knowledge

    with pytest.raises((InvalidNameError, MissingFileError)):
        knowledge.read(path)
    with pytest.raises((InvalidNameError, MissingFileError)):
        knowledge.read_source(path)
    with pytest.raises((InvalidNameError, MissingFileError)):
        knowledge.source(f"people/{path}" if path else "other")
    with pytest.raises((InvalidNameError, MissingFileError)):
        knowledge.save(path, "x", expect_hash="absent")


@pytest.mark.rule("SCOPE-O6")
def test_a_link_out_of_a_line_or_source_leads_nowhere(sample: SampleBrain) -> None:
    """A link to a file elsewhere is neither read nor written through."""
    outside = sample.put("outside.md", "secret\n")
    sample.put_memory("main/MEMORY.md", "x\n")
    sample.put("people/a.md", "A.\n")
    sample.sources("people")
    for place in ("memory/main/link.md", "people/link.md"):
        (sample.root / place).symlink_to(outside)
    (sample.root / "memory/main/folder").symlink_to(sample.root)
    knowledge = sample.open().knowledge

    for path in ("main/link.md", "main/folder/outside.md"):
        with pytest.raises(ScopeError, match="nothing was read"):
            knowledge.read(path)
        with pytest.raises(ScopeError, match="nothing was read"):
            knowledge.save(path, "x\n", expect_hash="absent")
    with pytest.raises(ScopeError, match="nothing was read"):
        knowledge.read_source("people/link.md")
    assert outside.read_text() == "secret\n"


# -- sources ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SOURCE-O5", "SOURCE-O6", "SOURCE-O8")
def test_sources_are_listed_with_what_is_wrong(sample: SampleBrain) -> None:
    """Folders, single files, what is missing, and who reads each."""
    sample.put("people/maria/style.md", "Maria.\n")
    sample.put("people/.draft.md", "Hidden.\n")
    sample.put("people/photo.png", b"x")
    sample.put("handbook.md", "Book.\n")
    sample.sources("people", "handbook.md", "gone", "People2")
    sample.put("people2/x.md", "x\n")
    sample.role("nova", "{read: [people]}")
    knowledge = sample.open().knowledge
    found = {str(each.path): each.to_json() for each in knowledge.sources()}

    assert {path: (each["kind"], each["files"]) for path, each in found.items()} == {
        "People2": ("missing", 0),
        "gone": ("missing", 0),
        "handbook.md": ("file", 1),
        "people": ("folder", 1),
    }
    assert found["people"]["readers"] == ["nova"]
    assert found["gone"]["problems"] == ["There is nothing at gone in the brain."]
    assert [folder for folder, _ in knowledge.source("people").documents.folders] == ["maria"]
    assert knowledge.source("people/maria").documents.files[0].path == "people/maria/style.md"
    assert knowledge.read_source("people/maria/style.md").why_not_edited is not None
    with pytest.raises(MissingFileError):
        knowledge.source("people/nobody")
    with pytest.raises(MissingFileError):
        knowledge.read_source("people/maria/none.md")
    with pytest.raises(MissingFileError):
        knowledge.source("constitution")


def test_names_that_are_no_text_are_shown(sample: SampleBrain) -> None:
    """A name of bytes that are no UTF-8, or that climbs in the eye, is listed with why it can't be opened."""
    sample.put_memory("main/MEMORY.md", "x\n")
    place = os.fsencode(sample.root / "memory/main") + b"/caf\xe9.md"
    with open(place, "wb") as file:  # noqa: PTH123 - bytes that no path of text has
        file.write(b"x")
    sample.put_memory("main/\u202etxt.md", "x\n")
    rows = sample.open().knowledge.line("main").documents.files

    assert [row.name for row in rows] == ["caf\ufffd.md", "\u202etxt.md"]
    assert all(row.problem for row in rows)
