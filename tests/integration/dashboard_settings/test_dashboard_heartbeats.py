"""The page of heartbeats shows what runs by itself, and starts a run that a person asks for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.errors import WriterUnavailableError
from omnislash.runtime.loop.run_values import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.runtime.loop.run_values import RunOptions
    from omnislash.runtime.turns import Ports, Turn
    from tests.integration.conftest import SampleBrain
    from tests.integration.dashboard_settings.conftest import Pages

MORNING = """\
---
schedule: '30 7 * * 1-5'
agent: { role: nova, memory: { report: [ops], recallResults: 1 } }
description: The plan of the day.
---
Write **the plan** for today.

<script>alert(1)</script>
"""


@pytest.fixture
def beating(sample: SampleBrain) -> SampleBrain:
    """A brain in Berlin with a heartbeat, one that is switched off, a hook, and a file that does not load."""
    sample.manifest(timezone="Europe/Berlin")
    sample.put_memory("ops/MEMORY.md", "# Memory\n")
    sample.put("features/team/morning.heartbeat.md", MORNING)
    sample.put("features/team/off.heartbeat.md", "---\nschedule: '5 4 3 2 *'\nagent: nova\nenabled: false\n---\nHm.\n")
    sample.put("features/team/echo.hook.md", "---\non: memory:written\nagent: nova\n---\nLook.\n")
    sample.put("features/team/broken.heartbeat.md", "---\nschedul: '0 7 * * *'\nagent: nova\n---\nNo.\n")
    return sample


def turn(during: Callable[[RunOptions], object] = lambda _options: None) -> Any:
    """Return what stands in for a turn with a model."""

    def run_turn(turn: Turn, _ports: Ports, *, session: str | None, message: str, options: RunOptions) -> Run:
        assert message
        during(options)
        scope = turn.scope
        return Run(
            session=session or "made",
            role=scope.role,
            line=scope.line,
            model="fake",
            text="Done.",
            is_cancelled=options.is_over(),
        )

    return run_turn


#: The log of the day of the sample's clock.
TODAY = "main/2026/08/2026-08-30.md"


def wait_for(pages: Pages, name: str, outcome: str) -> dict[str, Any]:
    """Return the newest run of a heartbeat once it has an outcome."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        runs = pages.json(f"/heartbeats/{name}")["runs"]
        if runs and runs[0]["outcome"] == outcome:
            found: dict[str, Any] = runs[0]
            return found
        time.sleep(0.01)
    raise AssertionError(runs)


def test_what_runs_by_itself_is_listed(beating: SampleBrain, pages: Pages) -> None:
    """Each heartbeat with its schedule in words and its next run in the brain's zone, each hook with its events."""
    content = pages.json("/heartbeats")
    html = pages.html("/heartbeats")

    beats = {beat["name"]: beat for beat in content["heartbeats"]}
    assert content["timezone"] == "Europe/Berlin"
    assert beats["morning"]["inWords"] == "from Monday to Friday at 07:30"
    # The clock stands at Sunday, 30 August 2026, and Berlin is two hours ahead of UTC then.
    assert beats["morning"]["next"] == "2026-08-31T07:30:00+02:00"
    assert (beats["morning"]["last"], beats["morning"]["isRunning"]) == (None, False)
    assert (beats["off"]["enabled"], beats["off"]["next"], beats["off"]["inWords"]) == (
        False,
        None,
        "on 3 February of every year at 04:05",
    )
    assert [(hook["name"], hook["on"]) for hook in content["hooks"]] == [("echo", ["memory:written"])]
    assert [each["name"] for each in content["faulty"]] == ["broken"] * len(content["faulty"])
    assert "schedul" in html
    assert "2026-08-31 07:30" in html
    assert "switched off" in html


def test_a_brain_without_heartbeats_says_how_to_make_one(pages: Pages) -> None:
    """An empty table is a sentence."""
    assert "There is no heartbeat." in pages.html("/heartbeats")


def test_the_page_of_one_shows_its_prompt_and_its_reach(beating: SampleBrain, pages: Pages) -> None:
    """The prompt is rendered and does nothing; the line, the report set and the role are there."""
    html = pages.html("/heartbeats/morning")
    content = pages.json("/heartbeats/morning")

    assert "<strong>the plan</strong>" in html
    assert "<script>alert" not in html
    assert content["prompt"] == "Write **the plan** for today.\n\n<script>alert(1)</script>\n"
    assert (content["kind"], content["agent"]["line"], content["agent"]["reports"]) == ("heartbeat", "main", ["ops"])
    assert 'href="/agents/nova?heartbeat=morning"' in html
    assert "Run now" in html
    assert "Run now" not in pages.html("/heartbeats/echo")


def test_a_name_that_is_not_there_is_a_page(beating: SampleBrain, pages: Pages) -> None:
    """A heartbeat that does not exist, or does not load, is a 404 with its reason."""
    assert "There is no heartbeat" in pages.html("/heartbeats/nothing", status=404)
    assert "broken.heartbeat.md" in pages.html("/heartbeats/broken", status=404)


def test_a_run_begins_at_once_and_its_outcome_is_shown(
    beating: SampleBrain, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes while the run goes on; a second one is refused meanwhile; its end is noted."""
    going = threading.Event()
    monkeypatch.setattr("omnislash.engine.run_with_model", turn(lambda _options: going.wait(10)))

    place = pages.send("/heartbeats/morning/run").headers["location"]
    page = pages.html(place)

    assert "morning runs now." in page
    assert "A run is going on." in page
    assert pages.json("/heartbeats")["heartbeats"][0]["isRunning"]
    assert "is running already" in pages.follow(pages.send("/heartbeats/morning/run"))
    pages.brain.agent("nova", heartbeat="morning").memory.write("Written by the run.")
    pages.brain.agent("nova").memory.write("Written by somebody else.")
    going.set()
    run = wait_for(pages, "morning", "done")
    assert run["startedAt"] == "2026-08-30T11:05:00+02:00"
    assert [row.tool for row in pages.brain.audit().rows] == ["heartbeat", "memory_write", "memory_write"]
    over = pages.html(place)
    assert "runs now" not in over
    assert "The run of 2026-08-30 11:05 is over: done." in over
    writes = pages.json(place)["begun"]["writes"]
    assert [(each["tool"], each["outcome"], each["paths"]) for each in writes] == [
        ("memory_write", "written", [{"path": TODAY, "href": f"/knowledge/{TODAY}"}])
    ]
    assert pages.json("/heartbeats/morning")["begun"] is None


def test_a_run_that_fails_says_why(beating: SampleBrain, pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong is the outcome on the page, not a lost trace."""

    def fail(_options: RunOptions) -> None:
        raise WriterUnavailableError("The model <b>hung up</b>.")

    monkeypatch.setattr("omnislash.engine.run_with_model", turn(fail))

    pages.send("/heartbeats/morning/run")

    assert wait_for(pages, "morning", "failed")["message"] == "The model <b>hung up</b>."
    assert "The model &lt;b&gt;hung up&lt;/b&gt;." in pages.html("/heartbeats/morning")


def test_a_hook_is_not_run_by_hand(beating: SampleBrain, pages: Pages) -> None:
    """A hook needs its event, and the page says so."""
    assert "is a hook: it runs on memory:written, and not by hand" in pages.follow(pages.send("/heartbeats/echo/run"))


def test_closing_the_brain_cancels_a_run(beating: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that a person started ends with its process, and is noted as interrupted."""
    began = threading.Event()

    def wait_until_over(options: RunOptions) -> None:
        began.set()
        deadline = time.monotonic() + 10
        while not options.is_over() and time.monotonic() < deadline:
            time.sleep(0.005)

    brain = beating.open()
    assert brain.start_heartbeat("morning", run_turn=turn(wait_until_over)).outcome.value == "running"
    assert began.wait(10)
    brain.close()

    assert beating.open().beat_runs("morning")[0].outcome.value == "interrupted"


def test_a_prompt_that_asks_nothing_runs_nothing(beating: SampleBrain, pages: Pages) -> None:
    """A heartbeat without a prompt is skipped, and the page says why."""
    beating.put("features/team/idle.heartbeat.md", "---\nschedule: '0 7 * * *'\nagent: nova\n---\n")

    page = pages.follow(pages.send("/heartbeats/idle/run"))

    assert "asks for nothing below its header" in page
