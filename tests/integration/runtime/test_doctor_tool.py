"""The tool `doctor_report`: offered for `runtime:read` alone, and silent about what the agent may not read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ScopeError, UsageError
from omnislash.checks.examining import choose_checks, examine
from omnislash.shipped import constitution_directory
from omnislash.store.state import State

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain

#: Twice the same entry in a line, and a MEMORY.md that is over its budget.
TWICE = "# Notes\n\n- canary of the depot\n- canary of the depot\n"


@pytest.fixture
def brain(sample: SampleBrain) -> SampleBrain:
    """Two lines with a fault each, a role that may ask, one that may not, and one that may ask without memory."""
    sample.put("constitution/MANIFEST.yaml", "memory: {fileMaxChars: 40}\n")
    sample.put("features/a/asker.agent.md", "---\ncapabilities: [runtime:read]\nmemory: {write: ops}\n---\nAsk.\n")
    sample.put("features/a/bare.agent.md", "---\ncapabilities: [runtime:read]\n---\nAsk.\n")
    sample.put("features/a/mute.agent.md", "---\ncapabilities: [memory:read]\nmemory: {write: hr}\n---\nBe quiet.\n")
    sample.put_memory("ops/MEMORY.md", TWICE)
    sample.put_memory("hr/MEMORY.md", TWICE)
    return sample


def found(brain: SampleBrain, role: str, check: str) -> tuple[str, list[str | None], int]:
    """Return the status of a check, the paths of its findings as the role sees them, and how many are hidden."""
    answer = brain.open().agent(role).call("doctor_report", {"check": check}).to_json()
    (only,) = answer["checks"]
    assert answer["status"] == only["status"]
    return only["status"], [each.get("path") for each in only["findings"]], only.get("hidden", 0)


@pytest.mark.rule("DOCTOR-10", "DOCTOR-12", "DOCTOR-O4", "SCOPE-07")
def test_findings_about_other_lines_are_counted_and_not_shown(brain: SampleBrain) -> None:
    """The agent of `ops` is told of its own line, and that there is one finding more."""
    assert found(brain, "asker", "memory-budget") == ("warn", ["memory/ops/MEMORY.md"], 1)
    assert found(brain, "bare", "Memory budget") == ("warn", [], 2)


@pytest.mark.rule("DOCTOR-12")
def test_runtime_read_is_needed(brain: SampleBrain) -> None:
    """Without the capability the tool is neither offered nor answered, and the refusal names it."""
    agent = brain.open().agent("mute")
    with pytest.raises(ScopeError, match="lacks the capability runtime:read"):
        agent.call("doctor_report", {})


def test_every_check_is_answered_and_a_wrong_name_is_told(brain: SampleBrain) -> None:
    """Without an argument all checks run; a name that is none gets the list of those that are."""
    agent = brain.open().agent("asker")
    answer = agent.call("doctor_report", {}).to_json()
    ids = [each["id"] for each in answer["checks"]]
    assert "memory-budget" in ids
    assert len(ids) == len(set(ids)) > 5
    with pytest.raises(UsageError, match="There is no check 'budget'"):
        agent.call("doctor_report", {"check": "budget"})


def test_no_text_of_a_line_is_told_to_others(brain: SampleBrain) -> None:
    """Whatever a check quotes, nothing of it reaches a role that may not read the line."""
    answer = str(brain.open().agent("bare").call("doctor_report", {}).to_json())
    assert "canary" not in answer


# -- what is named in a line or a source that the role may not read ---------------------------------------------------

#: Stands in the name of every file of the closed line, of the closed source and of the root of `memory/`.
CANARY = "zqx"
OLD_NS = 1_700_000_000 * 10**9
#: Every check that can name such a file, or such a line.
NAMING = {
    *(
        "agent-memory",
        "brain-layout",
        "brain-sync",
        "duplicate-entries",
        "encodings",
        "file-names",
        "file-system",
        "git",
    ),
    *("large-files", "memory-budget", "memory-sources", "note-frontmatter", "runs", "search-index", "secrets"),
    "write-queue",
}
KEY = "AKIA" + "Q3EXAMPLE7ABCD45"
FAULTS: dict[str, str | bytes] = {
    "memory/hr/MEMORY.md": TWICE,
    "memory/hr/2026/08/2026-08-29.md": "# 2026-08-28\n\n- 09:00 twice\n- 09:00 twice\n",
    "memory/hr/2026/zqx.md": "- below a year\n",
    "memory/hr/zqx-front.md": "---\nname: a: b: c\ntitle: [\n---\n- x\n",
    "memory/hr/ZQX-front.md": "- a twin\n",
    "memory/hr/zqx-latin.md": b"caf\xe9 \r\n and\n",
    "memory/hr/zqx-key.md": f"- {KEY}\n",
    "memory/hr/zqx:colon.md": "- x\n",
    "memory/hr/zqx-mark.md": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> zqx\n",
    "memory/hr/zqx-ignored.md": "- x\n",
    "memory/hr/zqx-list.txt": "x\n",
    "memory/hr/zqx-inner/a.md": "- x\n",
    "memory/hr/conflicts/zqx-20260829T090000Z-1f2e.md": "- x\n",
    "memory/zqx-loose.md": "- older than lines\n",
    "memory/zqx no line/a.md": "- x\n",
    "private/zqx-front.md": "---\nname: a: b: c\ntitle: [\n---\nx\n",
    "private/zqx-new.md": "x\n",
}


def run_git(root: Any, *words: str, given: str = "") -> str:
    """Run git in a brain as somebody."""
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    return subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, text=True, input=given
    ).stdout


@pytest.fixture
def broken(sample: SampleBrain) -> SampleBrain:
    """A brain with every kind of fault in `hr` and `private`, and a role that may read everything beside two that may not."""
    sample.put("omnislash.yaml", "memory: {sources: [content, private, private-zqx/x.md], embeddingModel: none}\n")
    sample.put("constitution/MANIFEST.yaml", "memory: {fileMaxChars: 40}\n")
    ask = "---\ncapabilities: [runtime:read]\nmemory: {"
    sample.put("features/a/asker.agent.md", ask + "write: ops, read: [content]}\n---\nAsk.\n")
    sample.put("features/a/bare.agent.md", "---\ncapabilities: [runtime:read]\n---\nAsk.\n")
    sample.put(
        "features/a/chief.agent.md", ask + "write: ops, read: ['*', content, private, private-zqx/x.md]}\n---\nAsk.\n"
    )
    sample.put("features/a/mute.agent.md", ask + "write: hr, report: [hr]}\n---\nBe quiet.\n")
    sample.put("features/a/dawn.heartbeat.md", "---\nschedule: '0 4 * * *'\nagent: mute\n---\nGo.\n")
    sample.put_memory("ops/MEMORY.md", TWICE)
    sample.put("content/a.md", "x\n")
    sample.put(".gitignore", ".omnislash/\nmemory/.memory-index.db*\nzqx-ig*\n")
    _put_into_index_and_git(sample)
    for path, content in FAULTS.items():
        os.utime(sample.put(path, content), ns=(OLD_NS, OLD_NS))
    _put_odd_entries(sample)
    (sample.root / ".omnislash").mkdir(exist_ok=True)
    _leave_rows(sample)
    return sample


def _put_into_index_and_git(brain: SampleBrain) -> None:
    """Leave files that are gone from disk or changed since, and one that git has not merged."""
    brain.put_memory("hr/zqx-gone.md", "x\n")
    brain.put_memory("hr/zqx-mark.md", "x\n")
    words = [sys.executable, "-m", "omnislash", "--brain", str(brain.root), "index", "sync"]
    subprocess.run(words, check=True, capture_output=True)
    run_git(brain.root, "init", "--quiet")
    run_git(brain.root, "add", "--all")
    run_git(brain.root, "commit", "--quiet", "--message", "x")
    blob = run_git(brain.root, "hash-object", "-w", "--stdin", given="x").strip()
    stages = "".join(f"100644 {blob} {stage}\tmemory/hr/zqx-unmerged.md\n" for stage in (1, 2, 3))
    run_git(brain.root, "update-index", "--index-info", given=stages)
    (brain.root / "memory/hr/zqx-gone.md").unlink()


def _put_odd_entries(brain: SampleBrain) -> None:
    """Make a repository, a file for everybody, a link and a huge file in the closed line."""
    line = brain.root / "memory/hr"
    run_git(line / "zqx-inner", "init", "--quiet")
    (line / "zqx-open.md").write_text("x\n")
    (line / "zqx-open.md").chmod(0o666)
    (line / "zqx-link.md").symlink_to("zqx-key.md")
    with (line / "zqx-huge.md").open("wb") as file:
        file.truncate((64 << 20) + 1)


def _leave_rows(brain: SampleBrain) -> None:
    """Leave in the state database a failed write, a copy without a name, a sync that stopped and a run that failed."""
    at = brain.clock.now().isoformat()
    row: dict[str, Any] = {"actor": "agent", "role": "mute", "heartbeat": None, "paths": "[]", "chars": 1, "job": None}
    due = {"key": "k", "kind": "heartbeat", "beat": "dawn", "role": "mute", "line": "hr", "session": None}
    with closing(State(brain.root / ".omnislash/state.db")) as state, state.transaction():
        state.run("insert_audit", **row, tool="memory_write", line="hr", outcome="failed", at=at)
        change = {"path": "hr/zqx.md", "temp": ".omnislash-1", "hash_before": "absent", "hash_after": "0"}
        state.run("insert_change", batch="copy:a", **change)
        state.run(
            "insert_sync", at=at, outcome="stopped", message="zqx.md of hr changed meanwhile.", head=None, audit=0
        )
        state.run("start_run", **due, due_at=at, started_at=at)
        state.run("finish_run", key="k", outcome="failed", message="zqx.md can't be read", at=at)


def findings_of(answer: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of an answer by check."""
    return {check["id"]: check["findings"] for check in answer["checks"]}


def names_it(finding: dict[str, Any]) -> bool:
    """Tell whether a finding speaks of what is closed."""
    text = json.dumps(finding, ensure_ascii=False)
    return CANARY in text.lower() or "memory/hr" in text or "'hr'" in text or "line hr" in text or "private" in text


@pytest.mark.rule("SCOPE-07")
@pytest.mark.parametrize("role", ["asker", "bare"])
def test_no_check_names_a_file_of_a_closed_line_or_source(broken: SampleBrain, role: str) -> None:
    """Whatever is wrong there, in messages, paths, keys and hints: the findings are counted and not shown."""
    everything = examine(
        broken.root, shipped=constitution_directory(), now=broken.clock.now(), checks=choose_checks(())
    ).to_json()
    naming = {check for check, findings in findings_of(everything).items() if any(map(names_it, findings))}
    assert naming >= NAMING

    answer = broken.open().agent(role).call("doctor_report", {}).to_json()

    assert [each for findings in findings_of(answer).values() for each in findings if names_it(each)] == []
    assert answer["status"] == everything["status"]
    for check, told in zip(answer["checks"], everything["checks"], strict=True):
        assert len(check["findings"]) + check.get("hidden", 0) == len(told["findings"])
        assert check["status"] == told["status"]


def test_whoever_may_read_everything_is_told_everything(broken: SampleBrain) -> None:
    """Nothing is hidden from a role that reads every line and every source."""
    answer = broken.open().agent("chief").call("doctor_report", {}).to_json()
    assert [check["id"] for check in answer["checks"] if "hidden" in check] == []
    assert {check for check, found in findings_of(answer).items() if any(map(names_it, found))} >= NAMING


def test_a_role_is_told_of_its_own_line_and_source(broken: SampleBrain) -> None:
    """What is closed to one is open to another; a finding about both is for neither of them."""
    told = findings_of(broken.open().agent("mute").call("doctor_report", {}).to_json())
    assert {each["path"] for each in told["note-frontmatter"]} == {"memory/hr/zqx-front.md"}
    assert {each["path"] for each in told["duplicate-entries"]} == {
        "memory/hr/MEMORY.md",
        "memory/hr/2026/08/2026-08-29.md",
    }
    assert not any("private" in str(each) or "loose" in str(each) for found in told.values() for each in found)


def test_a_fault_of_the_configuration_that_names_a_closed_line_is_not_shown(sample: SampleBrain) -> None:
    """What loading found stands in a file that everybody may know of, and quotes the name of a line that not all may."""
    sample.put("features/a/asker.agent.md", "---\ncapabilities: [runtime:read]\nmemory: {write: ops}\n---\nAsk.\n")
    sample.put(
        "features/a/giver.agent.md", "---\nmemory: {write: ops, recall: [attic, ops], read: [attic, ops]}\n---\nGive.\n"
    )
    sample.put("features/a/reader.agent.md", "---\ncapabilities: [runtime:read]\nmemory: {write: attic}\n---\nAsk.\n")
    sample.put_memory("attic/a.md", "x\n")
    sample.put_memory("ops/a.md", "x\n")

    def told(role: str) -> list[str]:
        answer = sample.open().agent(role).call("doctor_report", {"check": "agent-memory"}).to_json()
        return [name for name in ("attic", "ops") if f"'{name}' is in" in str(findings_of(answer)["agent-memory"])]

    assert told("asker") == ["ops"]
    assert told("reader") == ["attic"]


def test_what_is_older_than_lines_is_told_to_readers_of_the_first_line(broken: SampleBrain) -> None:
    """It belongs into `main`, which is who may know of it."""
    broken.put("features/a/first.agent.md", "---\ncapabilities: [runtime:read]\nmemory: {}\n---\nAsk.\n")
    told = findings_of(broken.open().agent("first").call("doctor_report", {"check": "brain-layout"}).to_json())
    assert [each["path"] for each in told["brain-layout"]] == ["memory/zqx-loose.md"]
