"""Line names, managed paths and sources are judged as text, before anything touches a disk."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from omnislash.core.lines import (
    DEFAULT_LINE,
    FileKind,
    LineName,
    ManagedPath,
    check_portable,
    daily_path,
    date_of,
    fold_name,
    is_inside,
    is_line_name,
    kind_of,
    memory_path,
    parse_authored_path,
    parse_line_name,
    parse_managed_path,
    parse_source,
    quote_name,
    split_path,
)
from omnislash.errors import InvalidNameError

VALID_NAMES = ["main", "research", "r2", "20266", "202", "a_b-c", "0ps", "a" * 64]
INVALID_NAMES = {
    "upper": "Research",
    "slash": "a/b",
    "climbs": "../x",
    "year": "2026",
    "dash first": "-a",
    "underscore first": "_a",
    "space": "a b",
    "dot": "a.b",
    "cyrillic": "заметки",
    "empty": "",
    "65 characters": "a" * 65,
    "parent": "..",
    "climbs far": "../evil",
    "climbs from inside": "a/../../evil",
    "absolute": "/etc",
    "git": ".git",
    "git hooks": ".git/hooks",
    "sideways": "ops/../hr",
    "trailing space": "ops ",
    "trailing newline": "ops\n",
    "trailing dot": "ops.",
    "device": "con",
    "device with a digit": "com1",
    "nul byte": "ops\0",
    "other digits": "٢٠٢٦",
    "star": "*",
}


class TestLineNames:
    """Names of lines."""

    @pytest.mark.rule("LINE-07")
    @pytest.mark.parametrize("name", VALID_NAMES)
    def test_valid_name_is_kept(self, name: str) -> None:
        """Every name of the worked table is accepted as it stands."""
        assert is_line_name(name)
        assert parse_line_name(name) == name

    @pytest.mark.rule("LINE-07", "LINE-08", "LINE-09", "LINE-12")
    @pytest.mark.parametrize("name", INVALID_NAMES.values(), ids=INVALID_NAMES.keys())
    def test_invalid_name_is_refused(self, name: str) -> None:
        """No other name is accepted, and none ever becomes a path."""
        assert not is_line_name(name)
        with pytest.raises(InvalidNameError) as raised:
            parse_line_name(name)
        assert raised.value.message.endswith(".")
        assert raised.value.hint is not None

    @pytest.mark.rule("LINE-08")
    def test_four_digits_are_explained(self) -> None:
        """A year is refused with the reason, because a brain older than lines has such directories."""
        with pytest.raises(InvalidNameError, match="older than lines"):
            parse_line_name("2026")

    @pytest.mark.rule("LINE-02")
    def test_default_line_is_main(self) -> None:
        """The default line is `main`, and its name is an ordinary one."""
        assert DEFAULT_LINE == "main"
        assert parse_line_name(DEFAULT_LINE) == DEFAULT_LINE

    def test_message_quotes_no_more_than_needed(self) -> None:
        """A message shows the start of a long name and escapes what can't be printed."""
        assert quote_name("x" * 80) == repr("x" * 80)
        assert quote_name("x" * 500) == repr("x" * 79 + "…")
        assert quote_name("a\ud800\n") == r"'a\ud800\n'"


CALENDAR = {
    "main/MEMORY.md": FileKind.MEMORY,
    "main/2026/11/2026-11-30.md": FileKind.DAILY,
    "main/2028/02/2028-02-29.md": FileKind.DAILY,
    "main/2026/2026-W34.md": FileKind.WEEK,
    "main/2026/2026-W53.md": FileKind.WEEK,
    "main/2025/2025-W01.md": FileKind.WEEK,
    "main/2026/2026-08.md": FileKind.MONTH,
    "main/2026/2026-Q3.md": FileKind.QUARTER,
    "main/2026/2026.md": FileKind.YEAR,
    "main/notes.md": FileKind.DOCUMENT,
    "main/notes/notes.md": FileKind.DOCUMENT,
    "main/2026-11-30.md": FileKind.DOCUMENT,
    "main/people/Мария Иванова.md": FileKind.DOCUMENT,
    "main/projects/2026/plan.md": FileKind.DOCUMENT,
    "main/what?.md": FileKind.DOCUMENT,
    "main/notes/MEMORY.md": FileKind.DOCUMENT,
}
REFUSED_PATHS = {
    "no such day": "main/2026/11/2026-11-31.md",
    "no leap day": "main/2026/02/2026-02-29.md",
    "day in the wrong month": "main/2026/12/2026-11-30.md",
    "day in the wrong year": "main/2025/11/2026-11-30.md",
    "day without month directory": "main/2026/2026-11-30.md",
    "day too deep": "main/2026/11/x/2026-11-30.md",
    "other digits in a day": "main/2026/11/2026-11-٣٠.md",
    "week 53 of a year with 52": "main/2027/2027-W53.md",
    "week 53 of 2025": "main/2025/2025-W53.md",
    "week 00": "main/2026/2026-W00.md",
    "week in the wrong year": "main/2026/2027-W01.md",
    "lower-case week": "main/2026/2026-w34.md",
    "month 13": "main/2026/2026-13.md",
    "quarter 5": "main/2026/2026-Q5.md",
    "month without its year": "main/2026/-08.md",
    "year in the wrong directory": "main/2026/2027.md",
    "year 0": "main/0000/0000.md",
    "document below a year": "main/2026/notes.md",
    "document in a month": "main/2026/11/notes.md",
    "climbs": "main/../hr/MEMORY.md",
    "climbs out": "../../x",
    "canary": "memory/ops/../../../outside.txt",
    "absolute": "/main/MEMORY.md",
    "empty": "",
    "empty segment": "main//MEMORY.md",
    "trailing slash": "main/notes.md/",
    "dot segment": "main/./MEMORY.md",
    "only a line": "main",
    "only a file": "MEMORY.md",
    "no line name": "Main/MEMORY.md",
    "a year as line": "2026/11/2026-11-30.md",
    "other ending": "main/notes.txt",
    "upper-case ending": "main/notes.MD",
    "no ending": "main/notes",
    "hidden": "main/.notes.md",
    "hidden directory": "main/.git/x.md",
    "only the ending": "main/.md",
    "backslash": "main\\..\\x.md",
    "backslash inside": "main/a\\b.md",
    "nul byte": "main/a\0.md",
    "newline": "main/a\n.md",
    "newline at the end": "main/MEMORY.md\n",
    "line separator": "main/a\u2028.md",
    "half an emoji": "main/\ud83d.md",
    "turned direction": "main/\u202edm.exe.md",
    "space at the end": "main/notes /x.md",
    "space at the start": "main/ notes.md",
    "dot at the end": "main/notes./x.md",
    "device": "main/con.md",
    "device directory": "main/NUL/x.md",
    "device with two endings": "main/aux.tar.md",
    "device with a space": "main/con .md",
    "device with a raised digit": "main/com¹.md",
    "curated file in lower case": "main/memory.md",
    "curated file in mixed case": "main/Memory.md",
    "curated file with an invisible character": "main/MEM\u200cORY.md",
    "curated file as a directory": "main/MEMORY.md/x.md",
    "segment too long": f"main/{'ж' * 130}.md",
    "path too long": f"main/{'long/' * 200}x.md",
}


class TestManagedPaths:
    """Paths of managed files."""

    @pytest.mark.rule("LINE-01", "LINE-05", "TOOL-O3", "PERIOD-04", "PERIOD-05", "PERIOD-06", "PERIOD-07", "PERIOD-O1")
    @pytest.mark.parametrize(("path", "kind"), CALENDAR.items())
    def test_kind_follows_from_place(self, path: str, kind: FileKind) -> None:
        """Every file of the layout is accepted as it stands, and its kind is told by its place."""
        parsed = parse_managed_path(path)
        assert parsed == path
        assert kind_of(parsed) is kind

    @pytest.mark.rule("LINE-01", "SCOPE-02")
    @pytest.mark.parametrize("path", REFUSED_PATHS.values(), ids=REFUSED_PATHS.keys())
    def test_other_paths_are_refused(self, path: str) -> None:
        """A path that climbs, hides, or names no day that exists is refused with a sentence."""
        with pytest.raises(InvalidNameError) as raised:
            parse_managed_path(path)
        assert raised.value.message.endswith(".")

    def test_longest_paths(self) -> None:
        """A segment of 255 bytes and a path of 800 bytes are accepted, and one byte more is refused."""
        longest = ["main/" + "ж" * 126 + ".md", "main/" + "long/" * 158 + "xx.md"]
        assert [len(longest[0].removeprefix("main/").encode()), len(longest[1])] == [255, 800]

        for path in longest:
            assert parse_managed_path(path) == path
            with pytest.raises(InvalidNameError, match="longer than"):
                parse_managed_path(path.replace(".md", "x.md"))

    @pytest.mark.rule("PERIOD-O1")
    def test_every_week_has_one_path(self) -> None:
        """Every day of twenty years has a week file in the directory of its ISO year."""
        for ordinal in range(date(2015, 1, 1).toordinal(), date(2035, 1, 1).toordinal()):
            year, week, _ = date.fromordinal(ordinal).isocalendar()
            path = parse_managed_path(f"main/{year}/{year}-W{week:02d}.md")
            assert kind_of(path) is FileKind.WEEK

    @pytest.mark.rule("LINE-05", "LINE-O3")
    def test_daily_path_round_trips(self) -> None:
        """The path of each day is accepted, is a daily log, and tells its day."""
        for days in range(0, 2000, 7):
            on = date(2024, 1, 1) + timedelta(days=days)
            path = daily_path(LineName("ops"), on)
            assert parse_managed_path(path) == path
            assert date_of(path) == on

    @pytest.mark.rule("LINE-05")
    def test_example_of_the_text(self) -> None:
        """1 January 2026 of `main` is at the place that the text gives."""
        assert daily_path(LineName("main"), date(2026, 1, 1)) == "main/2026/01/2026-01-01.md"
        assert daily_path(LineName("main"), date(987, 6, 5)) == "main/0987/06/0987-06-05.md"

    @pytest.mark.parametrize("path", [path for path, kind in CALENDAR.items() if kind is not FileKind.DAILY])
    def test_only_daily_logs_have_a_day(self, path: str) -> None:
        """A summary, a document and MEMORY.md have no day."""
        assert date_of(ManagedPath(path)) is None

    def test_path_splits_after_its_line(self) -> None:
        """The first segment is the line, the rest the place in it."""
        assert split_path(ManagedPath("main/2026/2026.md")) == ("main", "2026/2026.md")
        assert memory_path(LineName("ops")) == "ops/MEMORY.md"

    @pytest.mark.parametrize("char", '<>:"|?*')
    def test_new_files_are_portable(self, char: str) -> None:
        """A new file whose name some system can't store is refused, while one that stands there is readable."""
        path = parse_managed_path(f"main/a{char}b.md")
        with pytest.raises(InvalidNameError, match="every system"):
            check_portable(path)

    def test_usual_names_are_portable(self) -> None:
        """Spaces, accents and any script may be in the name of a new file."""
        check_portable("main/people/Мария – 2 (neu).md")

    @pytest.mark.parametrize(
        ("name", "twin"),
        [("work", "Work"), ("plan.md", "Plan.md"), ("café.md", "cafe\u0301.md"), ("straße", "STRASSE")],
        ids=["case", "case of a file", "unicode form", "case of two letters"],
    )
    def test_names_that_a_disk_may_take_for_one(self, name: str, twin: str) -> None:
        """Spellings that some disks take for one name fold to the same; another name does not."""
        assert fold_name(name) == fold_name(twin) != fold_name("other")


SOURCES = {
    "directory": "content",
    "nested": "research/notes",
    "file": "handbook.md",
    "cyrillic": "content/Заметки/архив",
    "both cases": "People/Maria_2",
    "dots and dashes": "v1.2/a-b",
    "combining marks": "हिन्दी/नोट्स",
    "decomposed accent": "cafe\u0301",
    "other digits": "٢٠٢٦/ملاحظات",
    "underscores": "tide_notes.md",
}
REFUSED_SOURCES = {
    "absolute": "/content",
    "climbs": "../x",
    "climbs inside": "a/../b",
    "space": "my notes",
    "hidden": ".hidden",
    "underscore first": "a/_b",
    "dash first": "a/-b",
    "empty segment": "a//b",
    "empty": "",
    "trailing slash": "content/",
    "star": "*",
    "drive": "C:/content",
    "backslash": "a\\b",
    "mark first": "\u0301a",
    "newline": "content\n",
    "emoji": "notes/🙂",
    "too long": "a" * 256,
}


class TestSources:
    """Names of authored sources."""

    @pytest.mark.rule("SOURCE-04", "SOURCE-05", "SOURCE-07", "SOURCE-O7")
    @pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES.keys())
    def test_spelling_is_kept(self, text: str) -> None:
        """A source of any script is accepted exactly as spelled."""
        assert parse_source(text) == text

    @pytest.mark.rule("SOURCE-05", "SOURCE-06", "SOURCE-07")
    @pytest.mark.parametrize("text", REFUSED_SOURCES.values(), ids=REFUSED_SOURCES.keys())
    def test_other_spellings_are_refused(self, text: str) -> None:
        """Whatever leaves the alphabet or the brain is refused with a sentence."""
        with pytest.raises(InvalidNameError) as raised:
            parse_source(text)
        assert raised.value.message.endswith(".")

    @pytest.mark.rule("SOURCE-17")
    @pytest.mark.parametrize("path", ["cases/acme/brief.md", "content/tide notes.md", "Tide.Notes.md", "a/_b/–.md"])
    def test_documents_have_any_name(self, path: str) -> None:
        """A document inside a source may be named as people name files."""
        assert parse_authored_path(path) == path

    @pytest.mark.parametrize(
        "path", ["content/../x.md", "/content/x.md", "content/.x.md", "content", "content/x.txt", "a//b.md", "a\\b.md"]
    )
    def test_documents_stay_inside(self, path: str) -> None:
        """A path that climbs, hides or is no markdown file is no document."""
        with pytest.raises(InvalidNameError):
            parse_authored_path(path)


@pytest.mark.rule("SCOPE-12")
@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("people/maria", True),
        ("people/maria/style.md", True),
        ("people/maria-old/x.md", False),
        ("people/maria.md", False),
        ("people", False),
        ("people/Maria/x.md", False),
    ],
)
def test_inside_goes_by_whole_segments(path: str, inside: bool) -> None:
    """`people/maria` holds itself and what is below it, and no neighbour."""
    assert is_inside(path, "people/maria") is inside
