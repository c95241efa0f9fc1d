"""The example brain is what it claims to be: a year in engine-shaped files, inside their budgets, with nothing private.

The checks use nothing of the product, so that a mistake in a parser cannot hide a mistake in the files. The lines are
those of the workshop; the household has a module of its own.
"""

from __future__ import annotations

import itertools
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

BRAIN = Path(__file__).resolve().parents[2] / "brain-example"
MEMORY = BRAIN / "memory"

#: UTF-16 code units that MEMORY.md may have in each line: room enough for a write, too little for a large one.
MEMORY_CHARS = {"main": (3400, 3800), "research": (1800, 2500), "ops": (1400, 2000)}
#: Days with a log in each line, at least and at most, in the twelve months that the example tells.
LOGGED_DAYS = {"main": (190, 220), "ops": (45, 60), "research": (40, 55)}
#: Levels of the ladder of each line, as the example's own manifest has them.
LEVELS = {
    "main": ("week", "month", "quarter", "year"),
    "ops": ("month", "quarter"),
    "research": ("month", "quarter"),
}
FIRST, LAST = date(2025, 12, 1), date(2026, 11, 30)
#: The one summary that was there before the year was written; the others of its level are the offline model's.
OLD_WEEK = "2026-W45"
#: Nobody works in the workshop on these days; on 30 December the stock is counted behind a closed door.
BREAKS = [
    (date(2025, 12, 24), date(2025, 12, 29)),
    (date(2025, 12, 31), date(2026, 1, 5)),
    (date(2026, 4, 3), date(2026, 4, 6)),
    (date(2026, 8, 2), date(2026, 8, 16)),
]
FRIDAY, SUNDAY = 5, 7
#: Budget of `main` in the example's own manifest, in UTF-16 code units.
MAIN_FILE_MAX_CHARS = 4000

MONTHS = ("", *["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"])
ENTRY = re.compile(r"- ((?:[01]\d|2[0-3]):[0-5]\d) \S.*\S")
CONTINUATION = re.compile(r"  \S.*\S")
DATED_HEADER = re.compile(r"## Memory \((\d{4}-\d{2}-\d{2})\)")
CYRILLIC = re.compile("[\u0400-\u04ff]")
CITED = re.compile(r"\d{4}-\d\d-\d\d")
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


def _summaries(line: str) -> list[Path]:
    return sorted((MEMORY / line).glob("[0-9][0-9][0-9][0-9]/*.md"))


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


def _read_entries(line: str) -> list[tuple[date, str]]:
    """Return day and text of every entry of a line, times left out."""
    return [
        (date.fromisoformat(path.stem), entry[6:])
        for path in _daily_logs(line)
        for entry in _split_entries(_read(path).removesuffix("\n").split("\n", 2)[2])
    ]


def _is_russian(text: str) -> bool:
    return len(CYRILLIC.findall(text)) > len(text) / 2


def _name_period(level: str, on: date) -> str:
    """Return the name of the week, month, quarter or year that holds a day."""
    iso = on.isocalendar()
    names = {
        "week": f"{iso.year}-W{iso.week:02}",
        "month": f"{on:%Y-%m}",
        "quarter": f"{on.year}-Q{(on.month + 2) // 3}",
        "year": f"{on.year}",
    }
    return names[level]


def _is_over(level: str, on: date) -> bool:
    """Tell whether the period that holds a day has no day left on the morning after the last log."""
    return _name_period(level, on) != _name_period(level, LAST + timedelta(days=1))


def _find_level(name: str) -> str:
    return "week" if "W" in name else "quarter" if "Q" in name else "month" if "-" in name else "year"


FOLDERS = [
    pytest.param(folder, id=folder.relative_to(BRAIN).as_posix())
    for folder in sorted({each.parent for each in _files()})
]
LOG_FOLDERS = [
    pytest.param(line, folder, id=f"{line}-{folder.parent.name}-{folder.name}")
    for line in MEMORY_CHARS
    for folder in sorted({path.parent for path in _daily_logs(line)})
]
ALL_SUMMARIES = [
    pytest.param(line, path, id=f"{line}-{path.stem}") for line in MEMORY_CHARS for path in _summaries(line)
]
ALL_DATED = [
    pytest.param(line, on, section, id=f"{line}-{on}") for line in MEMORY_CHARS for on, section in _dated_sections(line)
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_text_is_plain_utf8(folder: Path) -> None:
    """Every file is UTF-8 without BOM, carriage return or NUL, and ends in exactly one newline."""
    for path in (each for each in _files() if each.parent == folder):
        data = path.read_bytes()
        data.decode("utf-8")
        assert not data.startswith(b"\xef\xbb\xbf"), path
        assert b"\r" not in data, path
        assert b"\0" not in data, path
        assert data.endswith(b"\n"), path
        assert not data.endswith(b"\n\n"), path


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_private_stands_in_it(folder: Path) -> None:
    """No file holds anything shaped like a credential, a telephone number or an address outside example.org."""
    texts = {path.name: _read(path) for path in _files() if path.parent == folder}
    shapes = (CREDENTIALS | CONTACTS).items()
    found = [(path, name, hit[0]) for path in texts for name, shape in shapes if (hit := shape.search(texts[path]))]
    assert found == []


@pytest.mark.parametrize(("line", "folder"), LOG_FOLDERS)
def test_daily_log_has_engine_shape(line: str, folder: Path) -> None:
    """A daily log is its date as heading, a blank line and timed entries in order, in a file named by the date."""
    for path in sorted(folder.iterdir()):
        on = date.fromisoformat(path.stem)
        heading, blank, body = _read(path).removesuffix("\n").split("\n", 2)
        assert path == MEMORY / line / f"{on:%Y}" / f"{on:%m}" / f"{on:%Y-%m-%d}.md"
        assert (heading, blank) == (f"# {path.stem}", "")
        assert all(ENTRY.fullmatch(row) for row in body.split("\n") if row.startswith("- ")), path
        times = [entry[:5] for entry in _split_entries(body)]
        assert times == sorted(set(times)), path


@pytest.mark.parametrize("line", MEMORY_CHARS)
def test_only_deposits_are_signed(line: str) -> None:
    """No entry ends in a signature outside the line that takes deposits."""
    signed = [text for _, text in _read_entries(line) if SIGNATURE.search(text)]
    assert bool(signed) is (line == "ops")


def test_last_month_is_well_filled() -> None:
    """November 2026 holds a log for nearly every weekday of main, and enough days of the two other lines."""
    days = {line: [date.fromisoformat(path.stem) for path in _daily_logs(line)] for line in MEMORY_CHARS}
    november = {line: [on for on in days[line] if f"{on:%Y-%m}" == "2026-11"] for line in days}
    weekdays = [on for on in november["main"] if on.isoweekday() <= FRIDAY]
    assert all(on >= date(2026, 11, 2) for line in november for on in november[line])
    assert len(weekdays) >= 19
    assert len(weekdays) < len(november["main"])
    assert len(november["research"]) >= 10
    assert len(november["ops"]) >= 10


@pytest.mark.parametrize(("line", "limits"), [pytest.param(line, LOGGED_DAYS[line], id=line) for line in LOGGED_DAYS])
def test_line_tells_a_year(line: str, limits: tuple[int, int]) -> None:
    """Every month from December 2025 to November 2026 has days of the line, main ten or more, and no other month has."""
    days = [date.fromisoformat(path.stem) for path in _daily_logs(line)]
    months = {name: len(list(held)) for name, held in itertools.groupby(f"{on:%Y-%m}" for on in days)}
    assert min(days) >= FIRST
    assert max(days) == LAST
    assert list(months) == ["2025-12", *(f"2026-{month:02}" for month in range(1, 12))]
    assert min(months.values()) >= (10 if line == "main" else 2)
    assert limits[0] <= len(days) <= limits[1]


def test_nobody_notes_anything_while_the_workshop_is_closed() -> None:
    """No log lies in a break, and before November none on a Sunday."""
    days = [date.fromisoformat(path.stem) for line in MEMORY_CHARS for path in _daily_logs(line)]
    assert [on for on in days for first, last in BREAKS if first <= on <= last] == []
    assert [on for on in days if on.isoweekday() == SUNDAY and on < date(2026, 11, 1)] == []


def test_entries_are_many_and_in_two_languages() -> None:
    """The year has 600 to 750 entries; of those, some dozens in Russian, and two or more in each month."""
    entries = [each for line in MEMORY_CHARS for each in _read_entries(line)]
    russian = [on for on, text in entries if _is_russian(text)]
    assert 600 <= len(entries) <= 750
    assert 50 <= len(russian) <= len(entries) / 4
    months = [f"{on:%Y-%m}" for on in russian]
    assert min(months.count(f"{first:%Y-%m}") for first in {on.replace(day=1) for on, _ in entries}) >= 2


def test_no_two_entries_are_twins() -> None:
    """No two entries of the year share more than half of their words: nothing was written by copying."""
    entries = [(on, text) for line in MEMORY_CHARS for on, text in _read_entries(line)]
    words = [(on, text, frozenset(re.findall(r"\w+", text.casefold()))) for on, text in entries]
    twins = [
        (str(one[0]), str(other[0]), one[1])
        for one, other in itertools.combinations(words, 2)
        if len(one[2] & other[2]) > len(one[2] | other[2]) / 2
    ]
    assert twins == []


def test_deposits_are_signed_and_answered() -> None:
    """Twenty-five or more entries of ops carry the briefing's signature, on weekday mornings, and are answered."""
    texts = {path.stem: _read(path) for path in _daily_logs("ops")}
    deposits = [
        (date.fromisoformat(on), row)
        for on, text in texts.items()
        for row in text.split("\n")
        if row.endswith(" — nova · briefing")
    ]
    answered = [on for on, _ in deposits if f"(deposit of {on.day} {MONTHS[on.month]})" in texts[on.isoformat()]]
    assert len(deposits) >= 25
    assert all(on.isoweekday() <= FRIDAY and "07:30" < row[2:7] < "08:00" for on, row in deposits)
    assert len(answered) >= len(deposits) - 1


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


@pytest.mark.parametrize("line", LEVELS)
def test_ladder_is_complete(line: str) -> None:
    """Each period that holds a log and was over on 1 December 2026 has its summary in the folder of its year."""
    days = [date.fromisoformat(path.stem) for path in _daily_logs(line)]
    due = {_name_period(level, on) for level in LEVELS[line] for on in days if _is_over(level, on)}
    assert {path.stem for path in _summaries(line)} == due
    assert all(path.parent.name == path.stem[:4] for path in _summaries(line))
    assert {"2025-12", "2026-11", "2025-Q4", "2026-Q3"} <= due
    assert "2026" not in due
    assert "2026-Q4" not in due


@pytest.mark.parametrize(("line", "path"), ALL_SUMMARIES)
def test_summary_is_a_page_that_cites_its_days(line: str, path: Path) -> None:
    """A summary has its period as its one top heading, keeps its length, and cites logs of its own period only."""
    text = _read(path)
    cited = set(CITED.findall(text)) if path.stem != OLD_WEEK else set()
    held = {log.stem for log in _daily_logs(line)}
    level = _find_level(path.stem)
    assert text.startswith(f"# {path.stem}\n\n")
    assert len(re.findall(r"(?m)^# ", text)) == 1
    assert 150 <= _count_chars(text) <= (1500 if path.stem != OLD_WEEK else 1600)
    assert cited or path.stem == OLD_WEEK
    assert [on for on in cited if on not in held or _name_period(level, date.fromisoformat(on)) != path.stem] == []


@pytest.mark.parametrize(("line", "path"), [each for each in ALL_SUMMARIES if "W" not in str(each.id)])
def test_every_item_of_a_longer_period_names_its_days(line: str, path: Path) -> None:
    """In a month, a quarter and the year each item says on which days it rests."""
    items = [row for row in _read(path).split("\n") if row.startswith("- ")]
    assert items
    assert [item for item in items if not CITED.search(item)] == [], line


def test_main_is_summed_up_in_both_languages() -> None:
    """Every month's page of main has a matter told in Russian beside those told in English."""
    months = [path for path in _summaries("main") if _find_level(path.stem) == "month"]
    assert len(months) == 12
    assert all(re.search(r"[\u0400-\u04ff]{3}", _read(path)) for path in months)


def test_manifest_sets_the_levels() -> None:
    """The example's manifest gives each line the levels that its files have."""
    manifest = _read(BRAIN / "constitution" / "MANIFEST.yaml")
    found = dict(re.findall(r"(?m)^      (\w+):\n        periods: \[(.*)\]$", manifest))
    assert {line: tuple(found[line].split(", ")) for line in LEVELS} == LEVELS


def test_documents_agree_about_prices() -> None:
    """A price that another document names beside what it is for is the one of the price list."""
    listed = dict(
        re.findall(r"(?m)^\| ([A-Z][^|:]*?)(?::[^|]*)? \| (\d+) € \|$", _read(BRAIN / "content/price-list.md"))
    )
    others = [path for path in (BRAIN / "content").glob("*.md") if path.stem != "price-list"]
    named = [
        (path.stem, what, price)
        for path in others
        for what, price in re.findall(r"[Tt]he (small check|large service|winter check), (\d+) €", _read(path))
    ]
    assert ("warranty-and-returns", "small check", "29") in named
    assert [each for each in named if listed[each[1].capitalize()] != each[2]] == []
    assert {"warranty-and-returns", "loan-bikes", "closing-checklist"} <= {path.stem for path in others}


@pytest.mark.rule("CURATE-01")
def test_roles_and_heartbeats_are_there() -> None:
    """The four roles and the heartbeats of the workshop are where a reader looks for them."""
    names = {path.relative_to(BRAIN / "features").as_posix() for path in (BRAIN / "features").rglob("*.md")}
    household = {name for name in names if name.startswith(("home/", "memory-care/home-"))}
    assert names - household == {
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
