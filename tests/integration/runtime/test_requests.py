"""`requestId`: the same id again answers the first verdict and writes nothing more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from omnislash.core.verdicts import Outcome

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

TODAY = "main/2026/08/2026-08-30.md"


@pytest.mark.rule("WRITE-O9")
@pytest.mark.parametrize("worker", ["none", "in this process", "in its own"])
def test_same_id_answers_the_first_verdict(sample: SampleBrain, worker: str) -> None:
    """The second call answers word for word what the first did, whatever it offers, and writes nothing."""
    brain = sample.open()
    own = brain.start_worker() if worker == "in this process" else None
    if worker == "in its own":
        sample.start_worker()
    memory = brain.agent("nova").memory
    first = memory.write("one", request_id="r1")
    sample.clock.at += timedelta(days=1)

    assert memory.write("one", request_id="r1") == first
    assert memory.write("two", request_id="r1", priority=True) == first
    assert first.outcome is Outcome.WRITTEN
    assert sample.files() == {TODAY: b"# 2026-08-30\n\n- 09:05 one\n"}
    assert len(brain.audit().rows) == 1
    if own:
        own.stop()


@pytest.mark.rule("WRITE-O9")
def test_first_verdict_is_kept_when_it_was_no_success(sample: SampleBrain) -> None:
    """A partial answer is repeated as it was, even when there would be room now."""
    sample.manifest("{fileMaxChars: 60}")
    sample.put_memory("main/MEMORY.md", "x" * 59 + "\n")
    memory = sample.agent().memory
    first = memory.write("one", request_id="r1", priority=True)
    sample.put_memory("main/MEMORY.md", "x\n")

    assert first.outcome is Outcome.PARTIAL
    assert memory.write("one", request_id="r1", priority=True) == first
    assert sample.text("main/MEMORY.md") == "x\n"


@pytest.mark.rule("WRITE-O9")
def test_id_outlives_the_process(sample: SampleBrain) -> None:
    """After a restart of caller and worker the id still answers the first verdict."""
    worker = sample.start_worker()
    first_caller = sample.open()
    first = first_caller.agent("nova").memory.write("one", request_id="r1")
    first_caller.close()
    worker.stop()

    sample.start_worker()

    assert sample.open().agent("nova").memory.write("two", request_id="r1") == first
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n"


@pytest.mark.rule("WRITE-O9")
@pytest.mark.parametrize("worker", ["none", "in this process", "in its own"])
def test_same_id_at_the_same_time(sample: SampleBrain, worker: str) -> None:
    """Eight threads with one id get one answer, and one entry is written."""
    brain = sample.open()
    own = brain.start_worker() if worker == "in this process" else None
    if worker == "in its own":
        sample.start_worker()

    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(brain.agent("nova").memory.write, f"from {n}", request_id="r1") for n in range(8)]
    verdicts = {call.result() for call in calls}

    assert {verdict.outcome for verdict in verdicts} == {Outcome.WRITTEN}
    assert len(verdicts) == 1
    assert len(sample.text(TODAY).splitlines()) == 3
    if own:
        own.stop()


@pytest.mark.rule("WRITE-O9")
def test_same_id_from_two_processes(sample: SampleBrain) -> None:
    """A queue-only caller and a writing one with the same id make one entry."""
    waiting = sample.open(queue_only=True).agent("nova").memory
    assert waiting.write("one", request_id="r1").outcome is Outcome.QUEUED

    verdict = sample.open().agent("nova").memory.write("two", request_id="r1")

    assert verdict.outcome is Outcome.WRITTEN
    assert waiting.write("three", request_id="r1") == verdict
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n"


@pytest.mark.rule("WRITE-O9")
def test_ids_of_two_roles_are_apart(sample: SampleBrain) -> None:
    """The same id of another role is another request."""
    sample.role("mira")
    brain = sample.open()

    outcomes = [brain.agent(role).memory.write(role, request_id="r1").outcome for role in ("nova", "mira")]

    assert outcomes == [Outcome.WRITTEN, Outcome.WRITTEN]
    assert len(sample.text(TODAY).splitlines()) == 4


@pytest.mark.rule("WRITE-O9")
def test_without_an_id_every_call_is_its_own(sample: SampleBrain) -> None:
    """Two calls without an id are two requests; the second of the same content is a duplicate."""
    memory = sample.agent().memory

    assert [memory.write("one").outcome.value for _ in range(2)] == ["written", "duplicate"]


@pytest.mark.rule("WRITE-O5", "WRITE-O9")
def test_same_job_handed_in_twice_runs_once(sample: SampleBrain) -> None:
    """A caller that hands the same job in again, by its job id, gets the first verdict."""
    agent = sample.agent()

    first = agent.call("memory_write", {"content": "one"}, job_id="a" * 20)
    again = agent.call("memory_write", {"content": "one"}, job_id="a" * 20)

    assert first.to_json() == again.to_json()
    assert first.to_json()["outcome"] == "written"
    assert sample.text(TODAY) == "# 2026-08-30\n\n- 09:05 one\n"
