"""The queue as a person sees it: who writes, what waits, and what became of the last jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.runtime import queue_listing

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


@pytest.mark.rule("WRITE-O3", "WRITE-08")
def test_what_waits_is_listed_with_its_age(sample: SampleBrain) -> None:
    """Jobs that nobody consumes wait in their order, with how long they do; nothing of their text is shown."""
    brain = sample.open(queue_only=True)
    brain.agent("nova").memory.write("first secret thing")
    sample.clock.at += timedelta(minutes=5)
    brain.agent("ops").memory.write("second")

    answer = brain.oversight.queue().to_json()

    assert answer["worker"] == {"running": False, "pid": None, "since": None, "busy": False}
    assert (answer["waiting"], answer["running"], answer["truncated"]) == (2, 0, False)
    assert [(job["line"], job["role"], job["tool"], job["state"], job["ageS"]) for job in answer["jobs"]] == [
        ("main", "nova", "memory_write", "waiting", 300.0),
        ("ops", "ops", "memory_write", "waiting", 0.0),
    ]
    assert [(line["line"], line["waiting"], line["oldestAt"]) for line in answer["lines"]] == [
        ("main", 1, "2026-08-30T09:05:00+00:00"),
        ("ops", 1, "2026-08-30T09:10:00+00:00"),
    ]
    assert "secret thing" not in str(answer)


def test_the_worker_of_this_process_is_seen(sample: SampleBrain) -> None:
    """A running worker is named with its process and since when; once it has stopped nobody is."""
    brain = sample.open()
    worker = brain.start_worker()

    running = brain.oversight.queue().writer
    worker.stop()

    assert running.is_worker
    assert running.pid is not None
    assert running.since == "2026-08-30T09:05:00+00:00"
    assert brain.oversight.queue().writer == queue_listing.WriterState()


def test_the_last_verdicts_come_newest_first(sample: SampleBrain) -> None:
    """What became of a job stays to be read, the newest first, and no more than a screen of it."""
    brain = sample.open()
    for number in range(queue_listing.VERDICTS_MAX + 2):
        sample.clock.at += timedelta(seconds=1)
        brain.agent("nova").memory.write(f"note {number}")
    brain.agent("nova").memory.write(f"note {number}")

    verdicts = brain.oversight.queue().to_json()["verdicts"]

    assert len(verdicts) == queue_listing.VERDICTS_MAX
    assert [each["outcome"] for each in verdicts[:3]] == ["duplicate", "written", "written"]
    assert verdicts[1]["paths"] == ["main/2026/08/2026-08-30.md"]
    assert verdicts[1]["message"].startswith("Written to main/2026/08/2026-08-30.md")


def test_a_long_queue_is_counted_and_its_head_listed(sample: SampleBrain) -> None:
    """Of a queue that is longer than a screen the beginning is listed and all of it counted."""
    brain = sample.open(queue_only=True)
    for number in range(queue_listing.JOBS_MAX + 3):
        brain.agent("nova").memory.write(f"note {number}")

    answer = brain.oversight.queue().to_json()

    assert (answer["waiting"], len(answer["jobs"]), answer["truncated"]) == (53, 50, True)
