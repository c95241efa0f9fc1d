"""The household of the example brain: a private line with a year of days, its ladder, its people and its recipes.

What files look like is checked without the product; who may read them, and what the access rules and the hook do, is
asked of the product.
"""

from __future__ import annotations

import itertools
import re
import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.brain.loading import load_brain
from omnislash.core.corpora import locate
from omnislash.engine import SearchOptions
from omnislash.runtime.beats.scheduler import Scheduler
from omnislash.runtime.loop.turn_runs import run_with_model
from omnislash.shipped import constitution_directory
from omnislash.testing import CountingEmbedder, FixedClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.brain.files import BrainFiles

BRAIN = Path(__file__).resolve().parents[2] / "brain-example"
HOME = BRAIN / "memory" / "home"
NOW = datetime(2026, 12, 1, 8, 30, tzinfo=UTC)
FILE_MAX_CHARS = 3500
FIRST, LAST = date(2025, 12, 1), date(2026, 11, 30)

ENTRY = re.compile(r"- ((?:[01]\d|2[0-3]):[0-5]\d) (\S.*\S)")
CYRILLIC = re.compile("[\u0400-\u04ff]")
CITED = re.compile(r"\d{4}-\d\d-\d\d")
DATED_HEADER = re.compile(r"## Memory \((\d{4}-\d{2}-\d{2})\)")
SIGNATURE = re.compile(r" — [a-z][a-z-]*(?: · [a-z][a-z-]*)?$")
MONTHS = ["2025-12", *(f"2026-{month:02}" for month in range(1, 12))]
LADDER = [*MONTHS, "2025-Q4", "2026-Q1", "2026-Q2", "2026-Q3", "2025"]

LOGS = sorted(HOME.glob("20[0-9][0-9]/[0-9][0-9]/*.md"))
ALL_LOGS = [pytest.param(path, id=path.stem) for path in LOGS]


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def _read_entries(path: Path) -> list[tuple[str, str]]:
    """Return time and text of every entry of a log, with continuation lines joined and dedented."""
    entries: list[tuple[str, str]] = []
    for row in _read(path).removesuffix("\n").split("\n")[2:]:
        if row.startswith("  "):
            entries[-1] = (entries[-1][0], f"{entries[-1][1]}\n{row[2:]}")
        else:
            found = ENTRY.fullmatch(row)
            assert found, row
            entries.append((found[1], found[2]))
    return entries


def _is_russian(text: str) -> bool:
    return len(CYRILLIC.findall(text)) > len(text) / 2


def _count_chars(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _find_period(day: date, level: str) -> str:
    names = {"month": f"{day:%Y-%m}", "quarter": f"{day.year}-Q{(day.month + 2) // 3}", "year": f"{day.year}"}
    return names[level]


def _find_level(name: str) -> str:
    return "year" if len(name) == len("2025") else "quarter" if "Q" in name else "month"


ENTRIES = [text for path in LOGS for _, text in _read_entries(path)]


# -- the days ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ALL_LOGS)
def test_home_log_has_engine_shape(path: Path) -> None:
    """A log is its date as heading, a blank line and one to three timed entries in order, in its month's directory."""
    on = date.fromisoformat(path.stem)
    entries = _read_entries(path)
    assert _read(path).startswith(f"# {path.stem}\n\n- ")
    assert _read(path).endswith("\n")
    assert path == HOME / f"{on:%Y}" / f"{on:%m}" / f"{on:%Y-%m-%d}.md"
    assert FIRST <= on <= LAST
    assert [time for time, _ in entries] == sorted({time for time, _ in entries})
    assert 1 <= len(entries) <= 3
    assert not any(SIGNATURE.search(text) for _, text in entries)


def test_home_year_is_well_filled() -> None:
    """About 150 days in all twelve months, with 40 to 60 kB of text, and never two weeks of silence."""
    days = [date.fromisoformat(path.stem) for path in LOGS]
    gaps = [later - earlier for earlier, later in itertools.pairwise(days)]
    assert (days[0], days[-1]) == (FIRST, LAST)
    assert 140 <= len(days) <= 170
    assert [month for month in MONTHS if sum(f"{on:%Y-%m}" == month for on in days) < 10] == []
    assert max(gaps) < timedelta(days=14)
    assert 40_000 <= sum(path.stat().st_size for path in LOGS) <= 60_000


def test_home_entries_are_of_two_languages_and_none_repeats() -> None:
    """About two thirds are Russian and one third English, and no entry stands twice in the whole year."""
    russian = sum(map(_is_russian, ENTRIES))
    folded = [" ".join(entry.casefold().split()) for entry in ENTRIES]
    assert 240 <= len(ENTRIES) <= 320
    assert 0.6 <= russian / len(ENTRIES) <= 0.72
    assert len(folded) == len(set(folded))


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        # A promise and how it ended, a mistake and its correction, a bill and its settlement.
        (("2026-05-23", "Swing for the apple tree"), ("2026-06-07", "Качели висят, как обещано")),
        (("2026-02-06", "Colour: blue, number 14"), ("2026-02-08", "Correction: not blue.")),
        (("2026-08-11", "New rubber seal needed, 5 metres"), ("2026-10-15", "has to be 6 metres and not 5")),
        (("2026-05-13", "we are to pay 214 € more"), ("2026-07-06", "61 € instead of 214")),
        (("2026-04-04", "he wants it back by 15 August"), ("2026-08-08", "a week before the date he named")),
        (("2026-09-14", "в субботу 28 ноября в 14:20"), ("2026-11-28", "Поезд пришёл минута в минуту")),
    ],
)
def test_home_threads_have_their_end(said: tuple[str, str], answered: tuple[str, str]) -> None:
    """What was begun on a day is taken up on a later one."""
    for on, part in (said, answered):
        assert part in _read(HOME / on[:4] / on[5:7] / f"{on}.md")
    assert said[0] < answered[0]


@pytest.mark.parametrize(
    ("workshop", "home"),
    [
        (("2026-11-04", "oil radiator from the flat"), ("2026-11-04", "oil radiator over to the workshop")),
        (("2026-11-11", "погас фонарь, Томек починил"), ("2026-11-11", "Томек поставил велосипедную лампочку")),
        (("2026-11-26", "Мила пела вторым голосом"), ("2026-11-26", "Мила пела вторым голосом")),
        (("2026-11-26", "поездом в 14:20"), ("2026-09-14", "28 ноября в 14:20")),
        (("2026-11-28", "Остаётся до 13 декабря"), ("2026-11-28", "воскресенье 13 декабря")),
        (("2026-11-30", "просит корзину"), ("2026-11-30", "просит корзину")),
    ],
)
def test_home_and_workshop_tell_the_same(workshop: tuple[str, str], home: tuple[str, str]) -> None:
    """What the workshop's line says of the family, the family's line says as well."""
    for line, (on, part) in (("main", workshop), ("home", home)):
        assert part in _read(BRAIN / "memory" / line / on[:4] / on[5:7] / f"{on}.md")


# -- MEMORY.md ---------------------------------------------------------------------------------------------------------


def test_home_memory_is_near_its_budget() -> None:
    """It fills 85 to 95 percent of the 3,500 characters that the manifest gives it."""
    manifest = _read(BRAIN / "constitution" / "MANIFEST.yaml")
    used = _count_chars(_read(HOME / "MEMORY.md")) / FILE_MAX_CHARS
    assert re.search(rf"(?m)^    home:\n      fileMaxChars: {FILE_MAX_CHARS}$", manifest)
    assert 0.85 <= used <= 0.95


def test_home_memory_is_curated_and_then_dated() -> None:
    """Five curated sections in two languages, each fact with its day; then dated ones, word for word in their logs."""
    sections = re.split(r"(?m)^(?=## )", _read(HOME / "MEMORY.md"))[1:]
    dated = [section for section in sections if DATED_HEADER.match(section)]
    curated = sections[: -len(dated)]
    facts = [row for section in curated for row in section.split("\n") if row.startswith("- ")]
    assert dated == sections[-len(dated) :] == sorted(dated)
    assert len(dated) >= 3
    assert len(curated) == 5
    assert [fact for fact in facts if not re.search(r"\([\d, -]+\)\.$", fact)] == []
    assert 0.3 <= sum(map(_is_russian, facts)) / len(facts) <= 0.7
    for section in dated:
        on = section[len("## Memory (") :][:10]
        logged = [text for _, text in _read_entries(HOME / on[:4] / on[5:7] / f"{on}.md")]
        assert {row[2:] for row in section.rstrip("\n").split("\n")[2:]} <= set(logged)


def test_home_memory_cites_days_that_are_there() -> None:
    """Every day in brackets behind a fact has a log."""
    cited = set(CITED.findall(_read(HOME / "MEMORY.md")))
    assert cited - {path.stem for path in LOGS} == set()


# -- the ladder --------------------------------------------------------------------------------------------------------


def test_home_ladder_is_complete() -> None:
    """Every month, quarter and year that was over on 1 December 2026 has its summary, and no week or open period."""
    found = {path.stem for path in HOME.glob("20[0-9][0-9]/*.md")}
    manifest = _read(BRAIN / "constitution" / "MANIFEST.yaml")
    assert found == set(LADDER)
    assert re.search(r"(?m)^      home:\n        periods: \[month, quarter, year\]$", manifest)


@pytest.mark.parametrize("name", LADDER)
def test_home_summary_is_what_the_consolidator_is_asked_for(name: str) -> None:
    """It has its heading, 600 to 1,300 characters, both languages, and cites days of its own period that have a log."""
    text = _read(HOME / name[:4] / f"{name}.md")
    heading, body = text.split("\n\n", 1)
    items = [row for row in body.split("\n") if row.startswith("- ")]
    days = {date.fromisoformat(on) for on in CITED.findall(body)}
    russian = len(CYRILLIC.findall(body)) / len(body)
    assert heading == f"# {name}"
    assert not body.startswith("# ")
    assert 600 <= _count_chars(body) <= 1300
    assert 0.2 <= russian <= 0.8
    assert [item for item in items if not CITED.search(item)] == []
    assert {_find_period(on, _find_level(name)) for on in days} == {name}
    assert {on.isoformat() for on in days} - {path.stem for path in LOGS} == set()


@pytest.mark.parametrize("name", MONTHS)
def test_home_month_carries_figures_of_its_days_only(name: str) -> None:
    """An amount in euros that stands in a month's summary stands in a log of that month as well."""
    amounts = re.compile(r"\d+(?:,\d+)?(?= (?:€|евро))")
    logs = " ".join(_read(path) for path in LOGS if path.stem.startswith(name))
    assert set(amounts.findall(_read(HOME / name[:4] / f"{name}.md"))) <= set(re.findall(r"\d+(?:,\d+)?", logs))


# -- people and recipes ------------------------------------------------------------------------------------------------


def test_home_sources_are_declared_and_filled() -> None:
    """Three people and four recipes, two of them Russian and two English, in two sources of their own."""
    assert "sources: [content, handbook.md, people, recipes]" in _read(BRAIN / "omnislash.yaml")
    assert {path.name for path in (BRAIN / "people").iterdir()} == {"mila.md", "lena.md", "galina.md"}
    recipes = [_read(path) for path in sorted((BRAIN / "recipes").iterdir())]
    assert len(recipes) == 4
    assert sum(len(CYRILLIC.findall(text)) > len(text) / 3 for text in recipes) == 2
    assert all(re.search(r"(?i)без орехов|орехов нет|no nuts|without nuts", text) for text in recipes)


def test_mila_is_told_alike_everywhere() -> None:
    """That she may not have hazelnuts stands in her page, in MEMORY.md of both lines, and in a log."""
    for path, words in [
        (BRAIN / "people" / "mila.md", "Фундук нельзя"),
        (HOME / "MEMORY.md", "Mila may not have hazelnuts"),
        (BRAIN / "memory" / "main" / "MEMORY.md", "may not have hazelnuts"),
    ]:
        assert words in _read(path)


# -- who may read it ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def config() -> BrainFiles:
    """The declarations of the example."""
    return load_brain(BRAIN, shipped=constitution_directory())


@pytest.mark.rule("SCOPE-13", "SCOPE-17")
def test_home_is_private(config: BrainFiles) -> None:
    """Only its own roles may read the line, beside the workshop's curator, who oversees every line and changes one."""
    paths = ["home/MEMORY.md", "home/2026/07/2026-07-28.md", "home/2026/2026-07.md"]
    located = [locate(path, sources=config.sources) for path in paths]
    scopes = {role: config.resolve_scope(role) for role in config.roles}
    readers = {role for role, scope in scopes.items() if any(map(scope.may_read, located))}
    assert readers == {"sova", "home-curator", "memory-curator"}
    assert {role for role, scope in scopes.items() if any(map(scope.may_recall, located))} == {"sova", "home-curator"}
    assert {role for role, scope in scopes.items() if any(map(scope.may_change, located))} == {"sova", "home-curator"}


@pytest.mark.rule("SCOPE-05", "SCOPE-11")
def test_people_and_recipes_are_for_sova_alone(config: BrainFiles) -> None:
    """She is shown people unasked and may look up both; no other role may."""
    mila, blini = (locate(path, sources=config.sources) for path in ("people/mila.md", "recipes/блины-с-творогом.md"))
    sova = config.resolve_scope("sova")
    assert [sova.may_recall(one) for one in (mila, blini)] == [True, False]
    assert [sova.may_read(one) for one in (mila, blini)] == [True, True]
    others = [config.resolve_scope(role) for role in config.roles if role != "sova"]
    assert not any(scope.may_read(one) for scope in others for one in (mila, blini))


@pytest.mark.parametrize(
    ("beat", "role"), [("home-curator", "home-curator"), ("weekend", "sova"), ("kept-promises", "home-curator")]
)
def test_home_beats_stay_at_home(config: BrainFiles, beat: str, role: str) -> None:
    """Neither heartbeat nor hook opens another line: nothing is read beyond the role's own, and nothing deposited."""
    scope = config.resolve_scope(role, beat=beat)
    assert scope.writable_lines == ("home",)
    assert scope.readable == config.resolve_scope(role).readable
    assert {ref.name for ref in scope.readable} <= {"home", "people", "recipes"}


@pytest.mark.rule("BOUNDARY-15")
def test_access_gives_the_family_its_own_role(config: BrainFiles) -> None:
    """The workshop's chat is nova's and the family's is sova's; a message to the bot is nova's but for the family."""
    assert config.access.chats == {"telegram:1001": "nova", "telegram:1002": "sova"}
    bot = config.access.bot("desk")
    assert bot is not None
    assert {who: bot.role_for(who) for who in ("Lena@example.org", "galina@example.org", "ida@example.org", None)} == {
        "Lena@example.org": "sova",
        "galina@example.org": "sova",
        "ida@example.org": "nova",
        None: "nova",
    }


# -- what the prompts say ----------------------------------------------------------------------------------------------

PROMPTS = [
    pytest.param(path, words, id=name, marks=pytest.mark.rule(rule))
    for rule, name, path, words in [
        (
            "CURATE-01",
            "a-role-and-a-heartbeat",
            "memory-care/home-curator.heartbeat.md",
            ("schedule: '30 20 * * 0'", "agent: home-curator"),
        ),
        ("CURATE-02", "its-own-line", "memory-care/home-curator.heartbeat.md", ("Curate the line `home`",)),
        (
            "CURATE-03",
            "evidence-becomes-fact",
            "home/home-curator.agent.md",
            ("daily logs", "## Memory (…)", "with the day it rests on", "retire the notes"),
        ),
        (
            "CURATE-04",
            "only-newer-evidence-removes",
            "home/home-curator.agent.md",
            ("only because a newer entry", "is no evidence; leave it"),
        ),
        (
            "CURATE-05",
            "run-is-committed-marked",
            "home/home-curator.agent.md",
            ("`memory-care:`", "committed under that line"),
        ),
        (
            "CURATE-06",
            "durability-is-routed",
            "home/home-curator.agent.md",
            ("matter to every future conversation", "stays in the daily logs"),
        ),
        (
            "CURATE-07",
            "engine-reading-counts",
            "home/home-curator.agent.md",
            ("shortening curated sections", "reading that the engine gives you", "Do not count by other means"),
        ),
        ("CURATE-08", "role-has-a-policy", "home/sova.agent.md", ("A priority is for", "Never write down")),
    ]
]


@pytest.mark.parametrize(("name", "words"), PROMPTS)
def test_home_prompt_says_what_curation_needs(name: str, words: tuple[str, ...]) -> None:
    """The prompts of the household say what the rules ask of a curating and of a writing role."""
    text = " ".join(_read(BRAIN / "features" / name).split())
    assert [wanted for wanted in words if wanted not in text] == []


# -- what happens ------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> FixedClock:
    """The morning of 1 December 2026."""
    return FixedClock(NOW)


def _open(place: Path, clock: FixedClock) -> Brain:
    """Return a copy of the example, whose notes are read by a cheap stand-in."""
    root = shutil.copytree(BRAIN, place / "brain", ignore=shutil.ignore_patterns(".omnislash", ".memory-index.db*"))
    return Brain.open(root, clock=clock, search=SearchOptions(catch_up_s=None, embedders=(CountingEmbedder(),)))


@pytest.fixture
def home(tmp_path: Path, clock: FixedClock) -> Iterator[Brain]:
    """A copy to write into."""
    with _open(tmp_path, clock) as brain:
        yield brain


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brain]:
    """A copy that is only asked."""
    with _open(tmp_path_factory.mktemp("asked"), FixedClock(NOW)) as brain:
        yield brain


def _run_hooks(brain: Brain, clock: FixedClock, looks: int = 3) -> None:
    scheduler = Scheduler(brain._ports(), run_with_model, threaded=False)
    for _ in range(looks):
        clock.advance(timedelta(seconds=5))
        scheduler.look()


def _count_hook_runs(brain: Brain) -> int:
    return sum(row.tool == "hook" for row in brain.audit().rows)


LONG = (
    "Ола пишет, кто с кем едет летом: "
    + ", ".join(f"день {number} до переправы и назад" for number in range(1, 14))
    + "."
)


def test_home_hook_hears_what_was_dropped_and_is_quiet(home: Brain, clock: FixedClock, tmp_path: Path) -> None:
    """Dropped sections call it, once each time, in any line; it changes nothing more, and does not call itself."""
    file = tmp_path / "brain" / "memory" / "home" / "MEMORY.md"
    _run_hooks(home, clock, looks=1)
    verdict = home.agent("sova").memory.write(LONG, priority=True)
    before = _read(file)
    _run_hooks(home, clock)
    (hook,) = home.heartbeats().to_json()["hooks"]
    assert verdict.outcome.value == "written"
    assert ("## Memory (2026-11-16)" in before, "## Memory (2026-11-22)" in before) == (False, True)
    assert (hook["name"], hook["last"]["outcome"]) == ("kept-promises", "done")
    assert _count_hook_runs(home) == 1
    home.agent("nova").memory.write(LONG, priority=True)
    _run_hooks(home, clock)
    assert _count_hook_runs(home) == 2
    assert _read(file) == before


def test_home_hook_sleeps_while_nothing_is_dropped(home: Brain, clock: FixedClock) -> None:
    """Ordinary entries and priorities of home and of the workshop that fit call nothing."""
    _run_hooks(home, clock, looks=1)
    home.agent("sova").memory.write("Шпуля спала на карте.")
    home.agent("sova").memory.write("Галина обещала связать Томеку шапку к 12 декабря.", priority=True)
    home.agent("nova").memory.write("The choir came.")
    _run_hooks(home, clock)
    assert _count_hook_runs(home) == 0


def test_sova_finds_her_year(asked: Brain) -> None:
    """Words in both languages find the day, the page of a person and the recipe that hold them."""
    memory = asked.agent("sova").memory
    found = {
        words: [str(hit.path) for hit in memory.search(words).hits]
        for words in (
            "potatoes kilos sand",
            "гроза сарае хозяйки кемпинга",
            "двенадцать книг",
            "блины творог изюм",
        )
    }
    assert "home/2026/08/2026-08-29.md" in found["potatoes kilos sand"]
    assert "home/2026/07/2026-07-22.md" in found["гроза сарае хозяйки кемпинга"]
    assert "home/2026/2026-06.md" in found["двенадцать книг"]
    assert "recipes/блины-с-творогом.md" in found["блины творог изюм"]


def test_nova_knows_nothing_of_home(asked: Brain) -> None:
    """What the household noted is neither recalled nor found for the workshop's assistant."""
    found = asked.agent("nova").memory.search("Шпуля плавание бронза обои").hits
    assert [hit.path for hit in found if str(hit.path).startswith(("home/", "people/", "recipes/"))] == []
    assert "home/" not in asked.agent("nova").run("How many kilos of potatoes came out?").text
