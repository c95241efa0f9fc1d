"""`omnislash demo`: the whole story, in real processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from omnislash.index.embedders.multilingual import is_installed

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has nothing set up, with temporary files here."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("OMNISLASH_", "GIT_"))}
    place = {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return kept | place


def _demo(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "omnislash", "demo", *options],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.rule("WRITE-04", "WRITE-05", "WRITE-06", "WRITE-O5", "BUDGET-07", "BUDGET-11", "REPORT-07", "TOOL-16")
@pytest.mark.rule("RECALL-05", "RECALL-08", "SCOPE-07", "ENVELOPE-06", "FLUSH-05")
def test_the_demo_tells_the_whole_story(environment: dict[str, str], tmp_path: Path) -> None:
    """Every kind of verdict, the files, the log, the search, the turns, the crash and the approval are shown."""
    done = _demo(environment)
    root = next(tmp_path.glob("omnislash-demo-*"))
    today = (root / "memory/main/2026/12/2026-12-01.md").read_text(encoding="utf-8")
    caught = re.search(r"nova: “(Counted .*)”", done.stdout)

    assert (done.returncode, done.stderr) == (0, "")
    for outcome in ("written", "duplicate", "partial", "unconfirmed", "approval-required"):
        assert f"    {outcome}: " in done.stdout
    shown = " ".join(done.stdout.split())
    assert "oldest dated sections were dropped: 2026-11-17. MEMORY.md is now 3835 of 4000" in shown
    assert "it would be 4583 chars, 583 over its fileMaxChars of 4000" in shown
    assert "+++ b/memory/main/MEMORY.md" in done.stdout
    assert "“Have the singers picked up what they bought?” main/2026/12/2026-12-01.md:3, score 0." in shown
    assert "out-of-scope: The role neither reads nor recalls its corpus" in shown
    assert "“Thanks, that was quick!” (nothing)" in shown
    assert "- [main/MEMORY.md:17] - Tomek is not rung before nine." in shown
    assert "second turn: nothing" in shown
    assert "- The choir collected its six vouchers and asked whether they may be given away." in shown
    assert "flush: nothing_saved" in shown
    assert "flush: saved Written to main/2026/12/2026-12-01.md." in shown
    assert ("pip install 'omnislash[multilingual]'" in shown) is not is_installed()
    assert "exactly once." in shown
    assert "\x1b" not in done.stdout
    assert caught is not None
    assert today.count(caught.group(1)) == 1
    assert not list((root / "memory").rglob(".omnislash-*"))


@pytest.mark.long
def test_the_demo_answers_as_json(environment: dict[str, str], tmp_path: Path) -> None:
    """`--json` prints one object, and `--rm` leaves nothing behind."""
    done = _demo(environment, "--json", "--rm")
    answer = json.loads(done.stdout)

    assert done.returncode == 0
    assert answer["landed"] == 1
    assert [verdict["outcome"] for verdict in answer["verdicts"]] == [
        "written",
        "written",
        "written",
        "written",
        "duplicate",
        "written",
        "partial",
        "unconfirmed",
        "approval-required",
        "written",
    ]
    found, hidden, silent, recalled, russian = answer["searches"]
    assert found["hits"][0]["snippet"].startswith("- 09:00 The choir collected its six vouchers")
    assert [each["reason"] for each in hidden["explain"]] == ["out-of-scope"]
    assert (silent["silent"], silent["coverage"]) == (True, "full")
    assert any(hit["snippet"] == "- Tomek is not rung before nine." for hit in recalled["hits"])
    assert any("чеки" in hit["snippet"] for hit in russian["hits"])
    assert russian["coverage"] == ("full" if is_installed() else "incomplete")
    assert [run["flush"]["outcome"] for run in answer["runs"]] == ["nothing_saved", "saved"]
    assert not list(tmp_path.glob("omnislash-demo-*"))
