"""The help pages say everything that there is: commands, tools, settings, errors, outcomes and words."""

from __future__ import annotations

import inspect
import re
import shlex
from datetime import date, timedelta
from typing import TYPE_CHECKING

import click
import pytest

from omnislash import errors
from omnislash.brain.names import MEMORY_CAPABILITIES
from omnislash.brain.settings import settings_table
from omnislash.checks.loading import load_checks
from omnislash.core import events, scoring
from omnislash.core.ladder import Stage
from omnislash.core.lines import LineName
from omnislash.core.periods import LADDER, Level, parse_period
from omnislash.core.verdicts import Outcome
from omnislash.errors import OmnislashError
from omnislash.index.embedders import opening
from omnislash.index.embedders.calibrating import CalibrationRefusedError
from omnislash.index.embedders.ports import EmbedderUnavailableError
from omnislash.recall.explain import Reason
from omnislash.recall.hits import Coverage
from omnislash.runtime.tools.catalog import TOOLS, Tool
from omnislash.surfaces.cli.options import EVERYWHERE, Settings
from omnislash.surfaces.cli.output import ERROR_CODES, OUTCOME_CODES
from omnislash.surfaces.cli.root import COMMANDS, cli
from omnislash.surfaces.help_pages import ALIASES, ORDER, PAGES
from tests.docs.tables import PATCHING, check_rows, setting_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash.checks.findings import Check

TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}


def _commands(group: click.Group = cli, path: str = "omnislash") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMAND_TREE = list(_commands())


def _part(page: str, heading: str) -> str:
    """Return what stands under a `## ` heading."""
    parts = re.split(r"^## (.*)$", TEXTS[page], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(heading, "")


@pytest.mark.parametrize(("alias", "page"), ALIASES.items())
def test_other_names_lead_to_pages(alias: str, page: str) -> None:
    """A name that people try leads to a page, and is not one itself."""
    assert page in ORDER
    assert alias not in ORDER
    assert alias not in COMMANDS


def test_every_page_is_listed_once() -> None:
    """`omnislash help` lists exactly the pages that ship."""
    assert sorted(ORDER) == sorted(TEXTS)


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_pages_are_written_alike(page: str) -> None:
    """A page begins with a title, and its prose has one sentence a line."""
    lines = TEXTS[page].split("\n")
    prose = re.sub(r"^```.*?^```", "", TEXTS[page], flags=re.MULTILINE | re.DOTALL).split("\n")

    assert lines[0].startswith("# ")
    assert TEXTS[page].endswith("\n")
    assert [line for line in prose if re.search(r"[a-z`]\. [A-Z]", line) and not line.startswith("|")] == []


# -- doctor, events --------------------------------------------------------------------------------------------------


def test_every_check_is_listed() -> None:
    """The page about doctor lists each check with what it protects, in the order of the table."""
    assert [line for line in _part("doctor", "The checks").split("\n") if line.startswith("| `")] == check_rows()


@pytest.mark.parametrize("check", load_checks(), ids=lambda check: check.id)
def test_every_check_has_a_page(check: type[Check]) -> None:
    """The page of a check begins with its title, and its prose has one sentence a line."""
    text = (PAGES / "checks" / f"{check.id}.md").read_text(encoding="utf-8")

    assert text.startswith(f"# {check.title}\n")
    assert len(text.split("\n")) >= 8
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).split("\n")
    assert [line for line in prose if re.search(r"[a-z`]\. [A-Z]", line) and not line.startswith("|")] == []


def test_no_page_is_about_a_check_that_is_not_there() -> None:
    """Each page of `checks/` belongs to a check."""
    assert {page.stem for page in (PAGES / "checks").iterdir()} == {check.id for check in load_checks()}


_EVENTS = {
    kind.name: kind
    for kind in (
        *(events.MemoryWritten, events.MemoryEdited, events.MemoryDeleted, events.MemoryCompacted),
        *(events.BudgetRefused, events.MemoryConsolidated, events.MemoryFlushed),
    )
}


@pytest.mark.parametrize("name", events.EVENT_NAMES)
def test_every_event_is_documented(name: str) -> None:
    """The page about events has each with the fields of its JSON, and the page about hooks has it too."""
    row = next(line for line in TEXTS["events"].split("\n") if line.startswith(f"| `{name}` |"))
    fields = re.findall(r"`(\w+)`", row.split("|")[3])
    shown = re.search(r"Return `\{(.*)\}`", inspect.getdoc(_EVENTS[name].to_json) or "")

    assert shown is not None
    assert fields == shown[1].split(", ")
    assert f"| `{name}` |" in TEXTS["heartbeats"]


# -- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "command"), [pytest.param(*each, id=each[0]) for each in COMMAND_TREE])
def test_every_command_is_documented(path: str, command: click.Command) -> None:
    """The page has each command with an example that begins like it, and names each of its options."""
    text = _part("commands", path)
    elsewhere = TEXTS["writing"] if path.startswith("omnislash memory") else ""

    assert f"\n{path}" in text
    assert command.help
    assert getattr(command, "example", None)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter not in EVERYWHERE:
            known = {*parameter.opts, *parameter.secondary_opts} - {"--role", "--heartbeat", "--git", "--file"}
            assert all(name in text or name in elsewhere for name in known), known


def test_no_command_is_documented_that_is_not_there() -> None:
    """Each command of the page exists."""
    named = re.findall(r"^## (omnislash .*)$", TEXTS["commands"], flags=re.MULTILINE)

    assert named == [path for path, _ in COMMAND_TREE]


@pytest.mark.parametrize("option", EVERYWHERE, ids=lambda option: option.opts[0])
def test_options_of_every_command_are_documented(option: click.Option) -> None:
    """The options that work everywhere stand in the page."""
    assert f"`{option.opts[0]}" in TEXTS["commands"]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_table_says_what_the_command_says(name: str) -> None:
    """The one-line help of the lazy table is the one of the command itself."""
    command = COMMANDS[name].load()
    first = (command.help or "").partition("\n")[0]

    assert COMMANDS[name].help.rstrip(".") in first


def _examples() -> list[str]:
    blocks = [
        block for text in TEXTS.values() for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]
    blocks += [getattr(command, "example", "") for _, command in COMMAND_TREE]
    lines = {line for block in blocks for line in block.split("\n") if line.startswith("omnislash")}
    return sorted(lines - {"omnislash"})


@pytest.mark.parametrize("example", _examples())
def test_examples_are_understood(example: str) -> None:
    """Each example of the pages and of the helps is a command line that the program takes."""
    words = shlex.split(example.partition(" < ")[0])[1:]
    context = click.Context(cli, obj=Settings())
    command: click.Command = cli
    while isinstance(command, click.Group):
        while words[0].startswith("-"):
            del words[: 2 if words[0] == "--brain" else 1]
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found

    command.make_context("example", words, parent=context)


# -- tools, settings, errors, words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_is_documented(tool: Tool) -> None:
    """The page has each tool with its capability and exactly its arguments."""
    text = _part("tools", tool.name)
    line = next(line for line in text.split("\n") if line.startswith("Arguments:"))
    names = [field.alias or name for name, field in tool.arguments.model_fields.items()]

    assert f"`{tool.capability}`" in text
    assert re.findall(r"`(\w+)`", line) == names
    assert f"`{tool.capability}`" in TEXTS["roles"]


def test_every_memory_capability_is_documented() -> None:
    """The page about roles has each capability of memory."""
    assert all(f"`{name}`" in TEXTS["roles"] for name in MEMORY_CAPABILITIES)


@pytest.mark.parametrize("file", list(setting_rows()))
def test_every_setting_is_documented(file: str) -> None:
    """The page has a row for each setting, word for word as the table of settings says."""
    found = [line for line in _part("configuration", file).split("\n") if line.startswith("| `")]

    assert found == setting_rows()[file]


def test_memory_blocks_share_their_keys() -> None:
    """What the page leaves out for roles, heartbeats and hooks is what it says for the manifest."""
    manifest = {row.key: (row.expects, row.default, row.help) for row in settings_table() if "MANIFEST" in row.file}
    for row in settings_table():
        key = row.key.removeprefix("agent.")
        if row.file in PATCHING and key.startswith("memory."):
            assert (row.expects, row.default, row.help) == manifest[key]


def _kinds(root: type[OmnislashError] = OmnislashError) -> Iterator[type[OmnislashError]]:
    yield root
    for each in root.__subclasses__():
        yield from _kinds(each)


SHOWN_KINDS = {each.kind for each in _kinds() if each.__module__ == errors.__name__} | {
    EmbedderUnavailableError.kind,
    CalibrationRefusedError.kind,
}


@pytest.mark.parametrize("kind", sorted(SHOWN_KINDS))
def test_every_kind_of_error_is_documented(kind: str) -> None:
    """The page has each kind of error with the exit code that the command line gives it."""
    row = next(line for line in TEXTS["errors"].split("\n") if line.startswith(f"| `{kind}` |"))

    assert row.endswith(f"| {ERROR_CODES.get(kind, 1)} |")


@pytest.mark.rule("WRITE-O1")
@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_is_documented(outcome: Outcome) -> None:
    """The page has each outcome with its exit code."""
    row = next(line for line in TEXTS["writing"].split("\n") if line.startswith(f"| `{outcome.value}` |"))

    assert row.endswith(f"| {OUTCOME_CODES.get(outcome.value, 1)} |")


@pytest.mark.parametrize(
    "word",
    [
        *(
            "Brain",
            "Line",
            "Role",
            "Heartbeat",
            "Corpus",
            "Entry",
            "Dated section",
            "Period",
            "Budget",
            "Deposit",
            "Job",
        ),
        *("Ladder", "Level", "Summary", "Tick"),
        *("Note", "Hit", "Score", "Floor", "Recall", "Coverage", "Embedder", "Index", "Stem"),
    ],
)
def test_words_are_explained(word: str) -> None:
    """The glossary has the words of the product."""
    assert f"**{word}**:" in TEXTS["glossary"]


# -- search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_documented(reason: Reason) -> None:
    """The page about search has each reason of an explanation, in the order in which they are tried."""
    rows = re.findall(r"^\| `([\w-]+)` \|", _part("search", "Why a note was shown, or was not"), re.MULTILINE)

    assert rows[list(Reason).index(reason)] == reason.value


@pytest.mark.rule("RECALL-10", "RECALL-12")
@pytest.mark.parametrize("coverage", list(Coverage))
def test_every_coverage_is_documented(coverage: Coverage) -> None:
    """The page has each answer to how far a search could look, with the exit code of the command."""
    row = next(line for line in TEXTS["search"].split("\n") if line.startswith(f"| `{coverage.value}` |"))

    assert row.endswith(f"| {int(coverage is Coverage.NOT_CHECKED)} |")


@pytest.mark.rule("RECALL-01", "RECALL-02", "RECALL-03")
def test_the_worked_table_is_right() -> None:
    """Each row of the page has the score of the formula, and what the two default floors make of it."""
    rows = [line.strip("|").split("|") for line in _part("search", "The score").split("\n") if re.match(r"\| \d", line)]

    assert len(rows) >= 8
    for meaning, words, score, recall, search in rows:
        found, total = map(int, words.split(" of "))
        right = 0.85 * float(meaning) + 0.15 * found / total
        assert float(score) == pytest.approx(right, abs=5e-5)
        assert ("shown" in recall) == (right >= 0.41)
        assert ("shown" in search) == (right >= 0.3 - 1e-9)


@pytest.mark.rule("RECALL-15", "RECALL-O4")
def test_the_numbers_of_the_order_are_documented() -> None:
    """The page tells the order key with the numbers that it is made of."""
    text = _part("search", "The order")

    assert f"(1 + {scoring.COVERAGE_WEIGHT:g} × agreement × coverage^{scoring.COVERAGE_EXPONENT:g})" in text
    assert f"{scoring.NEIGHBOUR_WEIGHT:g} × agreement of the better neighbour" in text
    assert f"{scoring.RECENCY_WEIGHT:.0%} of it ages" in text
    assert f"every {scoring.HALF_LIFE_DAYS:g} days" in text


@pytest.mark.parametrize("model", [opening.LOCAL, opening.LOCAL_MULTILINGUAL, opening.NONE])
def test_every_embedding_model_is_documented(model: str) -> None:
    """The page has what `memory.embeddingModel` may say."""
    assert f"\n| `{model}` |" in _part("search", "Embedders")


# -- the ladder ------------------------------------------------------------------------------------------------------


def _rows(page: str, heading: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose head begins with a word, without their code marks."""
    table = _part(page, heading).partition(f"| {first} |")[2].partition("\n\n")[0].split("\n")[2:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in table]


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_is_documented(stage: Stage) -> None:
    """The page about the ladder has each stage of a period, in the order of the code."""
    rows = _rows("ladder", "When a summary is due", "stage")

    assert rows[list(Stage).index(stage)][0] == stage.value


@pytest.mark.rule("PERIOD-04", "PERIOD-05", "PERIOD-06", "PERIOD-07")
def test_the_files_of_the_ladder_are_right() -> None:
    """Each row of the page has the level, the period and the path of its file."""
    rows = _rows("ladder", "Which file", "period")

    assert [row[0].split()[0] for row in rows] == list(LADDER)
    for (level, name), path in ((row[0].split(), row[1]) for row in rows):
        period = parse_period(name)
        assert (period.level, period.path_in(LineName("main"))) == (Level(level), path)


@pytest.mark.rule("PERIOD-26", "PERIOD-O1")
def test_the_weeks_of_the_page_are_right() -> None:
    """Each row of the page has the first and the last day of a week, and the month in which it ends."""
    rows = _rows("ladder", "Which file", "week")

    assert len(rows) >= 4
    for name, first, last, month in rows:
        assert date.fromisoformat(first).isocalendar() == (int(name[:4]), int(name[6:]), 1)
        assert date.fromisoformat(last) - date.fromisoformat(first) == timedelta(days=6)
        assert last[:7] == month
