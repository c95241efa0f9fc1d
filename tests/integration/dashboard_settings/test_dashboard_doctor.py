"""The page of doctor shows the last result at once, and runs the checks when there is a reason."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks import examining
from omnislash.checks.loading import load_checks
from omnislash.surfaces.dashboard.drawing import draw_code
from omnislash.surfaces.dashboard.live import Topic
from omnislash.surfaces.dashboard.pages.doctor import find_place

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain
    from tests.integration.dashboard_settings.conftest import Pages

_EXAMINE = "omnislash.runtime.examinations.examine"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often the checks run."""
    counted: list[int] = []
    real = examining.examine

    def examine(*given: Any, **named: Any) -> Any:
        counted.append(1)
        return real(*given, **named)

    monkeypatch.setattr(_EXAMINE, examine)
    return counted


def checks(pages: Pages) -> dict[str, Any]:
    """Return the checks of the page by id."""
    return {check["id"]: check for group in pages.json("/doctor")["groups"] for check in group["checks"]}


@pytest.mark.rule("DOCTOR-16")
def test_every_check_is_shown_and_nothing_is_changed(sample: SampleBrain, pages: Pages) -> None:
    """Each check stands in the group of its state; a finding names its place, links it, and says what to do."""
    sample.put("features/team/odd.agent.md", "---\nmemry: {}\n---\nHm.\n")
    before = sample.files()

    content = pages.json("/doctor")
    html = pages.html("/doctor")

    found = {check["id"]: check for group in content["groups"] for check in group["checks"]}
    assert set(found) == {check.id for check in load_checks()}
    assert all(check["status"] == group["status"] for group in content["groups"] for check in group["checks"])
    assert content["status"] == "fail"
    assert sum(content["counts"].values()) == len(found)
    finding = next(each for check in found.values() for each in check["findings"] if "memry" in f"{each}")
    assert (finding["path"], finding["line"]) == ("features/team/odd.agent.md", 2)
    assert "memory" in finding["hint"]
    assert "What to do:" in html
    assert all(f'href="/help/checks/{check}"' in html for check in found)
    assert sample.files() == before


def test_the_last_result_is_kept(sample: SampleBrain, pages: Pages, runs: list[int]) -> None:
    """Looking again runs nothing; asking for it does, and finds what is new."""
    assert checks(pages)
    pages.json("/doctor")
    pages.html("/doctor")
    assert len(runs) == 1

    sample.put("features/team/odd.agent.md", "---\nmemry: {}\n---\nHm.\n")
    stale = pages.json("/doctor")
    assert (stale["isCurrent"], "memry" in f"{stale}", len(runs)) == (False, False, 1)

    page = pages.follow(pages.send("/doctor/run"))
    assert "The checks ran." in page
    assert "memry" in page
    assert len(runs) == 2
    assert pages.json("/doctor")["isCurrent"]


def test_a_change_is_looked_at_beside_the_page(
    sample: SampleBrain, pages: Pages, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the last result is old enough, a visit starts the checks and shows the last result meanwhile."""
    monkeypatch.setattr("omnislash.surfaces.dashboard.pages.doctor._KEPT_S", 0.0)
    monkeypatch.setattr("omnislash.surfaces.dashboard.pages.doctor._KEPT_TIMES", 0.0)
    told: list[Topic] = []
    monkeypatch.setattr(pages.desk.changes, "tell", told.append)
    pages.json("/doctor")
    told.clear()
    sample.put("features/team/odd.agent.md", "---\nmemry: {}\n---\nHm.\n")

    pages.json("/doctor")

    deadline = time.monotonic() + 10
    while not told and time.monotonic() < deadline:
        time.sleep(0.01)
    content = pages.json("/doctor")
    assert (content["isCurrent"], "memry" in f"{content}", len(runs)) == (True, True, 2)
    assert told == [Topic.STATE]  # open pages ask again


def test_two_never_run_at_a_time(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks while the checks run gets that run's result."""
    brain, real = sample.open(), examining.examine
    going, counted = threading.Event(), []

    def examine(*given: Any, **named: Any) -> Any:
        counted.append(1)
        going.wait(10)
        return real(*given, **named)

    monkeypatch.setattr(_EXAMINE, examine)
    found: list[Any] = []
    asking = [threading.Thread(target=lambda: found.append(brain.examinations.run())) for _ in range(3)]
    for thread in asking:
        thread.start()
    deadline = time.monotonic() + 10
    while not counted and time.monotonic() < deadline:
        time.sleep(0.005)
    assert brain.examinations.is_running
    assert not brain.examinations.start()
    going.set()
    for thread in asking:
        thread.join(10)

    assert len(counted) == 1
    assert len(found) == 3
    assert all(each is found[0] for each in found)
    assert not brain.examinations.is_running


def test_a_run_that_breaks_leaves_the_page_usable(sample: SampleBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a run is the caller's, and the next run begins."""
    brain, real = sample.open(), examining.examine

    def fail(*_given: Any, **_named: Any) -> Any:
        raise OSError("gone")

    monkeypatch.setattr(_EXAMINE, fail)
    with pytest.raises(OSError, match="gone"):
        brain.examinations.run()
    monkeypatch.setattr(_EXAMINE, real)

    assert not brain.examinations.is_running
    assert brain.examinations.run().report.checks


@pytest.mark.parametrize(
    ("path", "line", "page"),
    [
        ("memory/main/MEMORY.md", 3, "/knowledge/main/MEMORY.md#L3"),
        ("memory/main/2026/08/2026-08-30.md", None, "/knowledge/main/2026/08/2026-08-30.md"),
        ("memory/main", None, "/knowledge/main"),
        ("memory/.memory-index.db", None, None),
        ("memory/No Line/x.md", None, None),
        ("content/a b.md", None, "/sources/content/a%20b.md"),
        ("content/picture.png", None, None),
        ("features/team/nova.agent.md", 2, "/agents/nova"),
        ("features/team/gone.agent.md", 2, None),
        ("features/team/early.heartbeat.md", 2, "/heartbeats/early"),
        ("constitution/MANIFEST.yaml", 1, "/settings"),
        ("omnislash.yaml", 1, None),
        ("../elsewhere.md", None, None),
    ],
)
def test_a_place_leads_to_its_page(sample: SampleBrain, path: str, line: int | None, page: str | None) -> None:
    """Files of lines, sources, roles, heartbeats and settings have pages; nothing else is linked."""
    sample.sources("content")
    sample.put("content/a b.md", "# A\n")
    sample.beat("early", "nova")

    assert find_place(path, sample.open().config, line=line) == page


def test_hostile_names_are_text(sample: SampleBrain, pages: Pages) -> None:
    """What stands in a file's name or in a finding is no markup."""
    sample.put("memory/main/<img src=x onerror=alert(1)>.md", "# Hm\n")

    assert not re.search(r"<img[^>]*onerror", pages.html("/doctor"))


def test_a_slow_first_run_keeps_nobody_waiting(
    sample: SampleBrain, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look at a large brain says that the checks run, and finds the result when they are done."""
    going, real = threading.Event(), examining.examine

    def examine(*given: Any, **named: Any) -> Any:
        going.wait(10)
        return real(*given, **named)

    monkeypatch.setattr(_EXAMINE, examine)
    monkeypatch.setattr("omnislash.surfaces.dashboard.pages.doctor._PATIENCE_S", 0.01)
    page = pages.html("/doctor")
    content = pages.json("/doctor")

    assert "The checks run." in page
    assert "data-pending" in page
    assert (content["status"], content["isRunning"], content["groups"]) == (None, True, [])
    going.set()
    deadline = time.monotonic() + 10
    while pages.json("/doctor")["isRunning"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert checks(pages)


def test_words_of_a_finding_are_drawn_as_code() -> None:
    """What stands between backticks is code, and markup in it is text; a lone backtick is one."""
    assert draw_code("Run `a <b>` and `c`.") == "Run <code>a &lt;b&gt;</code> and <code>c</code>."
    assert draw_code("One ` <b>") == "One ` &lt;b&gt;"
