"""Sessions of the command line, each through the real entry point in processes of its own.

Each `*.transcript` beside this file is one session; its first line says what should be true, and `rules:` which rules
it proves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.transcripts import Session, Transcript, matches, read_transcript
from tests.warm import COLD, warm_python

#: What each session proves: the same ids as in its header, here for those who look for a rule in the tests.
PROVES: dict[str, tuple[str, ...]] = {
    "approvals": ("TOOL-16",),
    "audit": (
        "WRITE-11",
        "WRITE-O7",
    ),
    "bad-input": (
        "TOOL-O5",
        "WRITE-O7",
        "SECRET-O1",
        "LINE-07",
    ),
    "broken-config": (
        "KNOB-25",
        "KNOB-O5",
        "KNOB-26",
    ),
    "broken-machine": ("WRITE-O1",),
    "changing": (
        "TOOL-03",
        "TOOL-04",
        "WRITE-O2",
    ),
    "chat": (
        "BOUNDARY-08",
        "BOUNDARY-14",
    ),
    "consolidate": (
        "PERIOD-01",
        "PERIOD-13",
        "PERIOD-15",
        "PERIOD-19",
        "PERIOD-20",
        "PERIOD-25",
        "PERIOD-29",
        "PERIOD-33",
        "PERIOD-34",
        "PERIOD-O7",
        "PERIOD-O9",
    ),
    "doctor": (
        "DOCTOR-05",
        "DOCTOR-10",
        "DOCTOR-15",
        "DOCTOR-16",
        "DOCTOR-O5",
    ),
    "envelope": (
        "ENVELOPE-02",
        "ENVELOPE-04",
        "ENVELOPE-06",
        "ENVELOPE-07",
        "ENVELOPE-08",
        "ENVELOPE-O7",
        "BOUNDARY-08",
    ),
    "envelope-alone": (
        "ENVELOPE-06",
        "ENVELOPE-O7",
    ),
    "flush": (
        "FLUSH-02",
        "FLUSH-03",
        "FLUSH-04",
        "FLUSH-05",
        "FLUSH-07",
        "FLUSH-11",
        "FLUSH-13",
        "BOUNDARY-11",
    ),
    "heartbeat": (
        "DECLARE-01",
        "RESOLVE-03",
        "REPORT-02",
        "BOUNDARY-08",
        "KNOB-25",
    ),
    "index": (
        "LINE-06",
        "LANG-09",
        "LANG-10",
        "LANG-O6",
    ),
    "queue": (
        "WRITE-07",
        "WRITE-08",
        "WRITE-O8",
    ),
    "reading": (
        "TOOL-01",
        "TOOL-14",
        "WRITE-10",
        "SCOPE-07",
    ),
    "recall": (
        "RECALL-02",
        "RECALL-05",
        "RECALL-08",
        "RECALL-14",
    ),
    "replay": (
        "BOUNDARY-08",
        "BOUNDARY-10",
    ),
    "search": (
        "TOOL-01",
        "TOOL-12",
        "TOOL-13",
        "SCOPE-07",
        "RECALL-01",
        "RECALL-03",
        "RECALL-04",
        "RECALL-08",
    ),
    "unsearchable": (
        "RECALL-10",
        "RECALL-11",
        "RECALL-12",
        "RECALL-O3",
        "RECALL-O7",
        "RECALL-O8",
    ),
    "writing": (
        "WRITE-03",
        "WRITE-09",
        "WRITE-12",
        "WRITE-13",
        "WRITE-14",
        "WRITE-O1",
        "WRITE-O9",
        "BUDGET-07",
        "BUDGET-11",
        "REPORT-03",
        "REPORT-04",
        "REPORT-05",
        "REPORT-07",
    ),
}
SESSIONS = [read_transcript(path) for path in sorted(Path(__file__).parent.glob("*.transcript"))]


#: Sessions of many commands, each of which builds or reads an index; the parts they show have tests of their own.
LONG = frozenset({"index", "search", "recall", "consolidate", "heartbeat", "flush", "chat"})


def _as_case(session: Transcript) -> object:
    rules = PROVES.get(session.path.stem, ())
    marks = [pytest.mark.rule(*rules)] if rules else []
    marks += [pytest.mark.long] if session.path.stem in LONG else []
    return pytest.param(session, id=session.path.stem, marks=marks)


@pytest.mark.parametrize("transcript", [_as_case(session) for session in SESSIONS])
def test_the_session_reads_as_written(transcript: Transcript, tmp_path: Path, example_index: Path) -> None:
    """Every command prints what the transcript says and ends with its exit code."""
    session = Session(tmp_path, transcript, index=example_index, python=COLD if transcript.cold else warm_python())
    worker = session.start_worker() if transcript.worker else None
    try:
        for step in transcript.steps:
            done = session.run(step.command)
            place = f"{transcript.path.name}:{step.number}: $ {step.command}"
            shown = f"{place}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}--- exit code {done.returncode}"
            assert "Traceback" not in done.stdout + done.stderr, shown
            assert done.returncode == step.code, shown
            assert matches(step.out, done.stdout), shown
            assert matches(step.err, done.stderr), shown
    finally:
        if worker is not None:
            worker.terminate()
            worker.communicate(timeout=20)


def test_there_are_sessions() -> None:
    """The directory holds the sessions, so that an empty run is noticed."""
    assert len(SESSIONS) >= 12
    assert all(session.title.endswith(".") for session in SESSIONS)
    assert {session.path.stem: session.rules for session in SESSIONS if session.rules} == PROVES
