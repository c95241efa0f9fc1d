"""Failure cases: the weeks that a tick summarises, a model that answers nonsense, and what happens meanwhile."""

from __future__ import annotations

import os
import sys
import threading
import time
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.runtime.models.harness import HarnessModel
from omnislash.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cases.conftest import CaseBrain, MakeBrain

#: The seven days of the ISO week 2026-W48; it is over on the cases' day, a Monday.
DAYS = [date(2026, 11, 23) + timedelta(days=number) for number in range(7)]
LOGS = [f"ops/2026/11/{on}.md" for on in DAYS]
WEEK = "ops/2026/2026-W48.md"
GOOD = "# 2026-W48\n\nThe pump was repaired, and the depot stays open.\n"
#: Reads the prompt and answers as the file `answer` beside the brain says, so that no case needs a model.
STUB = """
import pathlib, sys, time
prompt = sys.stdin.read()
here = pathlib.Path(sys.argv[1])
with (here / "prompts").open("a") as out:
    out.write(prompt + "\\n<<< end >>>\\n")
time.sleep(float((here / "pause").read_text()) if (here / "pause").exists() else 0)
answer = (here / "answer").read_text()
if answer == "raise":
    raise RuntimeError("the stub was told to fail")
sys.stdout.write(answer * 40_000 if answer == "A long and winding answer. " else answer)
"""


class Stub:
    """The stub as a harness of one brain."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "stub.py").write_text(STUB)
        self.answer(GOOD)

    def answer(self, text: str) -> None:
        """Set what it answers from now on."""
        (self.directory / "answer").write_text(text)

    def pause(self, seconds: float) -> None:
        """Set how long it takes."""
        (self.directory / "pause").write_text(str(seconds))

    @property
    def prompts(self) -> list[str]:
        """What it was asked."""
        file = self.directory / "prompts"
        return file.read_text().split("\n<<< end >>>\n")[:-1] if file.exists() else []

    @property
    def project(self) -> str:
        """Return the project file that names it."""
        return f"harnesses: {{stub: ['{sys.executable}', '{self.directory}/stub.py', '{self.directory}']}}\n"


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    """The stub."""
    return Stub(tmp_path)


def manifest(periods: str = "[week]", zone: str = "UTC", more: str = "") -> str:
    """Return a manifest with the ladder of `ops`."""
    lines = f"{{ops: {{periods: {periods}}}}}"
    return f"memory: {{consolidation: {{lines: {lines}, modelRef: 'cli:stub'{more}}}}}\nlocale: {{timezone: {zone}}}\n"


def with_logs(make_brain: MakeBrain, stub: Stub, days: list[date], **files: str) -> CaseBrain:
    """Return a brain with a log for each day."""
    logs = {f"memory/ops/{on:%Y/%m}/{on}.md": f"# {on}\n\n- 09:00 entry-{on}\n" for on in days}
    settings = {"omnislash.yaml": stub.project, "constitution/MANIFEST.yaml": manifest()}
    return make_brain(files={**settings, **logs, **{f"memory/{path}": text for path, text in files.items()}})


def rollup(brain: CaseBrain) -> tuple[int, dict[str, Any]]:
    """ROLLUP: run a tick by command and return its exit code and what it says of the line."""
    done = brain.command("consolidate")
    (line,) = done.answer["lines"]
    return done.code, line


@pytest.mark.rule("PERIOD-04", "PERIOD-O1", "PERIOD-O5")
@pytest.mark.parametrize("locale", ["C", "de_DE.UTF-8", "ar_EG.UTF-8"])
def test_o_33_each_log_is_read_by_exactly_one_week(make_brain: MakeBrain, stub: Stub, locale: str) -> None:
    """The days of the table: each is in the prompt of its own ISO week and of no other, under any locale."""
    days = ["2026-11-30", "2026-12-27", "2026-12-28", "2026-12-31", "2027-01-01", "2027-01-03", "2027-01-04"]
    brain = with_logs(make_brain, stub, [date.fromisoformat(on) for on in days])
    brain.at("2027-01-12T09:00:00+00:00")
    brain.environment |= {"LC_ALL": locale, "LC_TIME": locale}
    weeks = ["2026-W49", "2026-W52", "2026-W53", "2027-W01"]
    brain.name(*(f"ops/{week[:4]}/{week}.md" for week in weeks))

    code, line = rollup(brain)

    assert code == 0
    assert [done["period"] for done in line["done"]] == weeks
    read = [[on for on in days if f"entry-{on}" in prompt] for prompt in stub.prompts]
    assert read == [days[:1], days[1:2], days[2:6], days[6:]]


@pytest.mark.rule("PERIOD-04", "PERIOD-O1")
def test_o_34_the_53rd_week_reads_seven_logs_of_two_years(make_brain: MakeBrain, stub: Stub) -> None:
    """All weeks from 2026-12-20 to 2027-01-10; W53 has the last days of one year and the first of the next."""
    brain = with_logs(make_brain, stub, [date(2026, 12, 20) + timedelta(days=number) for number in range(22)])
    brain.at("2027-01-12T09:00:00+00:00")
    weeks = ["2026-W51", "2026-W52", "2026-W53", "2027-W01"]
    brain.name(*(f"ops/{week[:4]}/{week}.md" for week in weeks))

    _, line = rollup(brain)

    assert [(done["period"], len(done["sources"])) for done in line["done"]] == [
        ("2026-W51", 1),
        ("2026-W52", 7),
        ("2026-W53", 7),
        ("2027-W01", 7),
    ]
    assert line["done"][2]["sources"] == [
        *(f"ops/2026/12/2026-12-{day}.md" for day in range(28, 32)),
        *(f"ops/2027/01/2027-01-0{day}.md" for day in range(1, 4)),
    ]


NONSENSE = {
    "nothing": ("", "empty"),
    "white space": (" \n \t\n", "empty"),
    "the wrong form": (
        '{"summary": "The pump was repaired, and the depot stays open."}',
        "JSON value|data or a web page",
    ),
    "an exception": ("raise", "the stub was told to fail"),
    "a megabyte": ("A long and winding answer. ", "more than 1000000 bytes"),
}


@pytest.mark.rule("PERIOD-O9", "PERIOD-19")
@pytest.mark.parametrize("kind", NONSENSE)
def test_o_35_the_summariser_answers_nonsense(make_brain: MakeBrain, stub: Stub, kind: str) -> None:
    """The period is named as failed with the reason, status not 0, one try a tick; logs and disk are as they were."""
    answer, reason = NONSENSE[kind]
    brain = with_logs(make_brain, stub, DAYS)
    before = brain.tree()
    stub.answer(answer)

    for tries in (1, 2):
        code, line = rollup(brain)

        assert code == 1
        assert (line["done"], line["queued"]) == ([], 1)
        assert line["failed"][0]["period"] == "2026-W48"
        assert any(part in line["failed"][0]["reason"] for part in reason.split("|"))
        assert line["message"] == "Consolidated 0/1 due period(s), 1 more queued for the next tick"
        assert len(stub.prompts) == tries
        assert brain.tree() == before

    stub.answer(GOOD)
    brain.name(WEEK)
    assert rollup(brain)[0] == 0
    assert brain.text(WEEK) == GOOD


@pytest.mark.rule("PERIOD-O9")
def test_o_35_no_answer_within_the_time_limit(make_brain: MakeBrain, stub: Stub) -> None:
    """A command that is late is ended; the period is failed with that reason."""
    brain = with_logs(make_brain, stub, DAYS)
    before = brain.tree()
    stub.pause(60)
    command = [sys.executable, f"{stub.directory}/stub.py", str(stub.directory)]
    model = HarnessModel("cli:stub", command, directory=brain.root, environment=os.environ, time_limit_s=1.0)
    started = time.monotonic()

    (line,) = brain.brain.consolidate(models=lambda _reference, _config: model).lines

    assert time.monotonic() - started < 10
    assert [each.reason for each in line.failed] == ["cli:stub gave no answer within 1 seconds."]
    assert brain.tree() == before


@pytest.mark.rule("PERIOD-19")
@pytest.mark.parametrize("kind", NONSENSE)
def test_o_35_an_earlier_summary_is_kept(make_brain: MakeBrain, stub: Stub, kind: str) -> None:
    """With a good summary there, nobody is asked at all, and every file stays byte for byte."""
    brain = with_logs(make_brain, stub, DAYS, **{WEEK: GOOD})
    stub.answer(NONSENSE[kind][0])
    before = brain.tree()

    code, line = rollup(brain)

    assert (code, line["message"]) == (0, "Consolidated 0/0 due period(s)")
    assert stub.prompts == []
    assert brain.tree() == before


@pytest.mark.rule("PERIOD-36", "PERIOD-43")
def test_o_36_an_entry_during_the_summary(make_brain: MakeBrain, stub: Stub) -> None:
    """A late entry of the period and a save of MEMORY.md both stand; the entry is in what the summary was made from."""
    brain = with_logs(make_brain, stub, DAYS, **{"ops/MEMORY.md": "# Notes\n\n- first\n"})
    brain.name(WEEK)
    stub.pause(1.0)
    answers: list[tuple[int, dict[str, Any]]] = []
    thread = threading.Thread(target=lambda: answers.append(rollup(brain)))
    thread.start()
    while not stub.prompts:
        time.sleep(0.02)
    brain.remember(f"# {DAYS[5]}\n\n- 09:00 entry-{DAYS[5]}\n- 22:10 late-991\n", LOGS[5])
    brain.remember("# Notes\n\n- first\n- hand-992\n", "ops/MEMORY.md")
    stub.pause(0)
    thread.join()

    ((code, line),) = answers
    assert (code, line["message"]) == (0, "Consolidated 1/1 due period(s)")
    assert ["late-991" in prompt for prompt in stub.prompts] == [False, True]
    assert "late-991" in brain.text(LOGS[5])
    assert "hand-992" in brain.text("ops/MEMORY.md")
    assert brain.text(WEEK) == GOOD


@pytest.mark.rule("PERIOD-O9")
def test_o_36_entries_during_every_summary(make_brain: MakeBrain, stub: Stub) -> None:
    """Where the period changes each time, the run leaves nothing and is due again: the next quiet tick writes it."""
    brain = with_logs(make_brain, stub, DAYS)
    brain.name(WEEK)

    def save(_request: object) -> None:
        number = len(model.requests)
        brain.remember(f"# {DAYS[5]}\n\n- 09:00 entry-{DAYS[5]}\n- 22:10 late-{number}\n", LOGS[5])

    model = ScriptedModel(during=save)
    (line,) = brain.brain.consolidate(models=model).lines

    assert (len(model.requests), line.queued, line.done) == (2, 1, ())
    assert "changed again and again" in line.failed[0].reason
    assert rollup(brain)[0] == 0
    assert "late-2" in stub.prompts[-1]


@pytest.mark.rule("PERIOD-19")
def test_o_37_three_times_the_same(make_brain: MakeBrain, stub: Stub) -> None:
    """After the first time no file changes, there is nothing to commit, and nobody is asked."""
    brain = with_logs(make_brain, stub, DAYS)
    brain.name(WEEK)
    assert rollup(brain)[1]["message"] == "Consolidated 1/1 due period(s)"
    brain.commit()
    after = brain.tree()

    for _ in range(2):
        assert rollup(brain)[1]["message"] == "Consolidated 0/0 due period(s)"

    assert brain.tree() == after
    assert brain.git("status", "--porcelain", "--", "memory") == ""
    assert len(stub.prompts) == 1
    assert brain.text(WEEK).count("# 2026-W48") == 1


SILENT: dict[str, Callable[[date], bytes]] = {
    "nothing": lambda _on: b"",
    "its heading": lambda on: f"# {on}\n".encode(),
    "headings": lambda on: f"# {on}\r\n\r\n## Plans\r\n\r\n### Later\r\n".encode(),
    "a mark and spaces": lambda _on: b"\xef\xbb\xbf  \n\t\n",
}


@pytest.mark.rule("PERIOD-22", "PERIOD-O3")
@pytest.mark.parametrize("kind", SILENT)
def test_o_39_nothing_to_do_no_call(make_brain: MakeBrain, stub: Stub, kind: str) -> None:
    """Logs that say nothing cause no call and no file, and the view says why; one real entry causes one call."""
    brain = with_logs(make_brain, stub, [])
    for on, path in zip(DAYS, LOGS, strict=True):
        brain.remember(SILENT[kind](on), path)
    before = brain.tree()

    assert rollup(brain) == (0, rollup(brain)[1])
    assert stub.prompts == []
    assert brain.tree() == before
    (shown,) = brain.command("consolidate", "--show").answer["lines"]
    assert {rung["period"]: rung["stage"] for rung in shown["rungs"]} in ({}, {"2026-W48": "silent"})

    brain.remember(f"# {DAYS[2]}\n\n- 09:00 A task.\n", LOGS[2])
    brain.name(WEEK)
    assert rollup(brain)[1]["message"] == "Consolidated 1/1 due period(s)"
    assert len(stub.prompts) == 1
