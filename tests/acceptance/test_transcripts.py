"""Sessions of the command line, each through the real entry point in processes of its own.

Each `*.transcript` beside this file is one session; its first line says what should be true, and `rules:` which rules
it proves.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from transcripts import Session, Transcript, matches, read_transcript

SESSIONS = [read_transcript(path) for path in sorted(Path(__file__).parent.glob("*.transcript"))]


def _as_case(session: Transcript) -> object:
    marks = [pytest.mark.rule(*session.rules)] if session.rules else []
    return pytest.param(session, id=session.path.stem, marks=marks)


@pytest.mark.parametrize("transcript", [_as_case(session) for session in SESSIONS])
def test_the_session_reads_as_written(transcript: Transcript, tmp_path: Path) -> None:
    """Every command prints what the transcript says and ends with its exit code."""
    session = Session(tmp_path, transcript)
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
