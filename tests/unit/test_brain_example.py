"""The example brain is what it claims to be: engine-shaped files, inside their budgets, free of anything private.

The checks use nothing of the product, so that a mistake in a parser cannot hide a mistake in the files.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

BRAIN = Path(__file__).resolve().parents[2] / "brain-example"
MEMORY = BRAIN / "memory"

#: UTF-16 code units that MEMORY.md may have in each line: room enough for a write, too little for a large one.
MEMORY_CHARS = {"main": (3400, 3800), "research": (600, 2500), "ops": (600, 2000)}
FRIDAY = 5
#: Budget of `main` in the example's own manifest, in UTF-16 code units.
MAIN_FILE_MAX_CHARS = 4000

ENTRY = re.compile(r"- ((?:[01]\d|2[0-3]):[0-5]\d) \S.*\S")
CONTINUATION = re.compile(r"  \S.*\S")
DATED_HEADER = re.compile(r"## Memory \((\d{4}-\d{2}-\d{2})\)")
CYRILLIC = re.compile("[\u0400-\u04ff]")
SIGNATURE = re.compile(r" — [a-z][a-z-]*(?: · [a-z][a-z-]*)?$")

CREDENTIALS = {
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY"),
    "vendor token": re.compile(r"\b(?:gh[opsur]_|github_pat_|xox[abprs]-|sk-|sk_live_|rk_live_|AKIA|ASIA|AIza)\w{8,}"),
    "JWT": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\."),
    "URL with a password": re.compile(r"\w://[^\s/@]+:[^\s/@]+@"),
    "assigned password": re.compile(r"(?i)\b(?:password|passwd|passwort|secret|token|api[_-]?key|пароль)\s*[:=]\s*\S"),
    "long random word": re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}\b"),
}
CONTACTS = {
    "mail address": re.compile(r"[\w.+-]+@(?!example\.org\b)[\w-]+\.\w"),
    "web address": re.compile(r"https?://(?!(?:[\w-]+\.)?example\.org\b)"),
    "telephone number": re.compile(r"\+\d{6,}|\b0\d{2,5}[ /-]\d{4,}"),
}


def _files() -> list[Path]:
    return sorted(path for path in BRAIN.rglob("*") if path.is_file() and ".omnislash" not in path.parts)


def _daily_logs(line: str) -> list[Path]:
    return sorted((MEMORY / line).glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]/*.md"))


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def _count_chars(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _split_entries(body: str) -> list[str]:
    """Return list items with their continuation lines joined and dedented, failing on any other line."""
    entries: list[str] = []
    for text in body.split("\n"):
        if text.startswith("- "):
            entries.append(text[2:])
        else:
            assert CONTINUATION.fullmatch(text), text
            entries[-1] += "\n" + text[2:]
    return entries


def _split_sections(text: str) -> list[str]:
    return re.split(r"(?m)^(?=## )", text)


def _dated_sections(line: str) -> list[tuple[str, str]]:
    """Return date and text of each dated section, in the order of the file."""
    sections = _split_sections(_read(MEMORY / line / "MEMORY.md"))
    return [(found[1], section) for section in sections if (found := DATED_HEADER.match(section))]


ALL_FILES = [pytest.param(path, id=path.relative_to(BRAIN).as_posix()) for path in _files()]
ALL_LOGS = [pytest.param(line, path, id=f"{line}-{path.stem}") for line in MEMORY_CHARS for path in _daily_logs(line)]
ALL_DATED = [
    pytest.param(line, on, section, id=f"{line}-{on}") for line in MEMORY_CHARS for on, section in _dated_sections(line)
]


@pytest.mark.parametrize("path", ALL_FILES)
def test_text_is_plain_utf8(path: Path) -> None:
    """Every file is UTF-8 without BOM, carriage return or NUL, and ends in exactly one newline."""
    data = path.read_bytes()
    data.decode("utf-8")
    assert not data.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in data
    assert b"\0" not in data
    assert data.endswith(b"\n")
    assert not data.endswith(b"\n\n")


@pytest.mark.parametrize("path", ALL_FILES)
def test_nothing_private_stands_in_it(path: Path) -> None:
    """No file holds anything shaped like a credential, a telephone number or an address outside example.org."""
    text = _read(path)
    found = {name: hit[0] for name, shape in (CREDENTIALS | CONTACTS).items() if (hit := shape.search(text))}
    assert found == {}


@pytest.mark.parametrize(("line", "path"), ALL_LOGS)
def test_daily_log_has_engine_shape(line: str, path: Path) -> None:
    """A daily log is its date as heading, a blank line and timed entries in order, in a file named by the date."""
    on = date.fromisoformat(path.stem)
    text = _read(path)
    heading, blank, body = text.removesuffix("\n").split("\n", 2)
    assert path == MEMORY / line / f"{on:%Y}" / f"{on:%m}" / f"{on:%Y-%m-%d}.md"
    assert heading == f"# {path.stem}"
    assert blank == ""
    assert all(ENTRY.fullmatch(row) for row in body.split("\n") if row.startswith("- "))
    times = [entry[:5] for entry in _split_entries(body)]
    assert times == sorted(set(times))


@pytest.mark.parametrize(("line", "path"), ALL_LOGS)
def test_entry_stands_once_a_day(line: str, path: Path) -> None:
    """No entry of a day repeats another one, nor ends in a signature outside the line that takes deposits."""
    body = _read(path).removesuffix("\n").split("\n", 2)[2]
    texts = [" ".join(entry[6:].casefold().split()) for entry in _split_entries(body)]
    assert len(texts) == len(set(texts))
    if line != "ops":
        assert not any(SIGNATURE.search(text) for text in texts)


def test_month_is_well_filled() -> None:
    """November 2026 holds a log for nearly every weekday of main, and enough days of the two other lines."""
    days = {line: [date.fromisoformat(path.stem) for path in _daily_logs(line)] for line in MEMORY_CHARS}
    assert all(date(2026, 11, 2) <= on <= date(2026, 11, 30) for line in days for on in days[line])
    weekdays = [on for on in days["main"] if on.isoweekday() <= FRIDAY]
    assert len(weekdays) >= 19
    assert len(weekdays) < len(days["main"])
    assert len(days["research"]) >= 10
    assert len(days["ops"]) >= 10


def test_entries_are_many_and_in_two_languages() -> None:
    """The month has 150 to 250 entries, most in English and a good dozen in Russian."""
    bodies = [_read(path).removesuffix("\n").split("\n", 2)[2] for line in MEMORY_CHARS for path in _daily_logs(line)]
    entries = [entry for body in bodies for entry in _split_entries(body)]
    russian = [entry for entry in entries if len(CYRILLIC.findall(entry)) > len(entry) / 2]
    assert 150 <= len(entries) <= 250
    assert 12 <= len(russian) <= len(entries) / 4


def test_deposits_are_signed_and_answered() -> None:
    """Eight or more entries of ops carry the briefing's signature, on weekday mornings, and most get an answer."""
    texts = {path.stem: _read(path) for path in _daily_logs("ops")}
    deposits = [
        (date.fromisoformat(on), row)
        for on, text in texts.items()
        for row in text.split("\n")
        if row.endswith(" — nova · briefing")
    ]
    answered = [on for on, _ in deposits if f"(deposit of {on.day} Nov)" in texts[on.isoformat()]]
    assert len(deposits) >= 8
    assert all(on.isoweekday() <= FRIDAY and "07:30" < row[2:7] < "08:00" for on, row in deposits)
    assert len(answered) >= 7


@pytest.mark.parametrize(("line", "limits"), [pytest.param(line, MEMORY_CHARS[line], id=line) for line in MEMORY_CHARS])
def test_memory_size_is_in_range(line: str, limits: tuple[int, int]) -> None:
    """MEMORY.md of each line has the size, in UTF-16 code units, that the demo and its budget count on."""
    least, most = limits
    assert least <= _count_chars(_read(MEMORY / line / "MEMORY.md")) <= most


@pytest.mark.parametrize(("line", "on", "section"), ALL_DATED)
def test_dated_section_has_emitted_shape(line: str, on: str, section: str) -> None:
    """A dated section is header, empty line and list entries, and its day's log holds each of them word for word."""
    header, blank, body = section.rstrip("\n").split("\n", 2)
    log = MEMORY / line / on[:4] / on[5:7] / f"{on}.md"
    logged = [entry[6:] for entry in _split_entries(_read(log).removesuffix("\n").split("\n", 2)[2])]
    assert header == f"## Memory ({date.fromisoformat(on).isoformat()})"
    assert blank == ""
    assert all(entry in logged for entry in _split_entries(body))


def test_dated_sections_stand_in_order() -> None:
    """The dated sections of main are several, follow the curated ones, and go from old to new."""
    sections = _split_sections(_read(MEMORY / "main" / "MEMORY.md"))
    dated = [bool(DATED_HEADER.match(section)) for section in sections]
    dates = [on for on, _ in _dated_sections("main")]
    assert dated == sorted(dated)
    assert dates == sorted(set(dates))
    assert len(dates) >= 4
    assert dated.count(False) >= 5


def test_main_feels_its_budget() -> None:
    """One long entry makes main drop its oldest dated section and no other, and the handbook does not fit at all."""
    chars = _count_chars(_read(MEMORY / "main" / "MEMORY.md"))
    dated = [_count_chars(section) for _, section in _dated_sections("main")]
    new_section = _count_chars("\n## Memory (2026-12-01)\n\n- \n")
    longest_kept = MAIN_FILE_MAX_CHARS - chars - new_section
    handbook = _count_chars(_read(BRAIN / "handbook.md").strip())
    assert 0 < longest_kept < 300
    assert longest_kept + dated[0] > 300
    assert chars - sum(dated) + new_section + handbook > MAIN_FILE_MAX_CHARS


def test_manifest_sets_the_budget() -> None:
    """The example's manifest gives main the 4,000 characters on which its size was chosen."""
    manifest = _read(BRAIN / "constitution" / "MANIFEST.yaml")
    assert re.search(rf"(?m)^    main:\n      fileMaxChars: {MAIN_FILE_MAX_CHARS}$", manifest)


def test_only_summary_is_week_45() -> None:
    """Exactly one period has a summary: week 45 of main, under its own heading."""
    summaries = [path for path in MEMORY.glob("*/2026/*.md") if path.is_file()]
    assert summaries == [MEMORY / "main" / "2026" / "2026-W45.md"]
    assert _read(summaries[0]).startswith("# 2026-W45\n\n")


@pytest.mark.rule("CURATE-01")
def test_roles_and_heartbeats_are_there() -> None:
    """The four roles and the heartbeats of the example are where a reader looks for them."""
    names = {path.relative_to(BRAIN / "features").as_posix() for path in (BRAIN / "features").rglob("*.md")}
    assert names == {
        "workshop/nova.agent.md",
        "team/researcher.agent.md",
        "team/ops.agent.md",
        "team/memory-curator.agent.md",
        "briefing/briefing.heartbeat.md",
        "memory-care/memory-curator.heartbeat.md",
        "memory-care/ops-curator.heartbeat.md",
    }


CURATOR_TEXTS = [
    pytest.param("team/memory-curator.agent.md", words, id=name, marks=pytest.mark.rule(rule))
    for rule, name, words in [
        (
            "CURATE-03",
            "evidence-becomes-fact",
            ("daily logs", "## Memory (…)", "with the day it rests on", "retire the notes"),
        ),
        ("CURATE-04", "only-newer-evidence-removes", ("only because a newer entry", "is no evidence; leave it")),
        ("CURATE-05", "run-is-committed-marked", ("`memory-care:`", "committed under that line")),
        ("CURATE-06", "durability-is-routed", ("matter to every future conversation", "stays in the daily logs")),
        ("CURATE-07", "engine-reading-counts", ("shortening curated sections", "reading that the engine gives you")),
    ]
] + [
    pytest.param(
        "memory-care/ops-curator.heartbeat.md",
        ("` — nova · briefing`", "Promote it", "Drop it"),
        id="deposits-are-promoted-or-dropped",
        marks=pytest.mark.rule("CURATE-O1"),
    ),
    pytest.param(
        "workshop/nova.agent.md",
        ("a priority only when", "Never write down"),
        id="role-has-a-policy",
        marks=pytest.mark.rule("CURATE-08"),
    ),
]


@pytest.mark.parametrize(("name", "words"), CURATOR_TEXTS)
def test_prompt_says_what_curation_needs(name: str, words: tuple[str, ...]) -> None:
    """The prompt of a curating or writing role says what its rule asks of it."""
    text = " ".join(_read(BRAIN / "features" / name).split())
    assert [wanted for wanted in words if wanted not in text] == []


@pytest.mark.rule("CURATE-02")
def test_each_curated_line_has_a_heartbeat() -> None:
    """One curator heartbeat belongs to each of the lines main and ops, and each names only its own."""
    care = BRAIN / "features" / "memory-care"
    assert "Curate the line `main`" in _read(care / "memory-curator.heartbeat.md")
    assert "Curate the line `ops`" in _read(care / "ops-curator.heartbeat.md")
    assert "    write: ops\n" in _read(care / "ops-curator.heartbeat.md")
