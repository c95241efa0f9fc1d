"""Soak the writer: processes, not threads, and a worker that is killed again and again.

First 8 client processes make 500 writes each into 4 lines while the worker is killed with SIGKILL 200 times, each time
a random moment after the clients got going.  A client that hears `queued` or `unconfirmed` asks again with the same
requestId.  In the end every write has to be there exactly once, in order for each client, with no torn line and no
temporary file, and git has to find nothing wrong.
Then a person's editor saves MEMORY.md in every way while 2,000 writes go to the same file, and nothing may vanish.

Run it with `make soak-writer`; `--clients`, `--writes`, `--kills`, `--seconds` and `--edits` scale it.
The exit code is 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random  # noqa: TID251 - which moment is hit is up to chance
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from omnislash import Brain, Outcome  # noqa: E402 - the repository has to be on the path first
from tests.crash.editor import start_editor, stop_editor  # noqa: E402 - the same

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

LINES = ("main", "research", "ops", "home")
#: The longest wait between the moment in which the clients may go on and the kill, in seconds.
KILL_WITHIN_S = 0.06
#: The pause of the editor between two saves, in seconds: a person in a great hurry.
EDITOR_PAUSE_S = 0.1
#: How long a client may need for one write before the soak calls it stuck, in seconds.
STUCK_S = 60.0


@dataclass
class Report:
    """What was counted, and what went wrong."""

    violations: list[str] = field(default_factory=list)
    kills: int = 0
    hits: int = 0
    jobs_hit: int = 0

    def check(self, what: str, *, holds: bool) -> None:
        """Note a violation unless it holds."""
        if not holds:
            self.violations.append(what)


# -- the brain ---------------------------------------------------------------------------------------------------------


def make_brain(root: Path) -> Path:
    """Make a brain with a role for each line, under git."""
    (root / "features" / "soak").mkdir(parents=True)
    (root / "constitution").mkdir()
    (root / "omnislash.yaml").write_text("memory: {}\n", encoding="utf-8")
    (root / "constitution" / "MANIFEST.yaml").write_text("memory:\n  fileMaxChars: 0\n", encoding="utf-8")
    for line in LINES:
        role = f"---\nmemory: {{ write: {line} }}\ncapabilities: [memory:read, memory:write]\n---\nA soak role.\n"
        (root / "features" / "soak" / f"{line}.agent.md").write_text(role, encoding="utf-8")
    git(root, "init", "--quiet")
    commit(root, "before")
    return root


def git(root: Path, *arguments: str) -> str:
    """Run git without anybody's configuration and return what it says."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": f"soak@{who}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    done = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode == 0 else f"exit {done.returncode}: {done.stdout}{done.stderr}"


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def start_worker(root: Path) -> subprocess.Popen[bytes]:
    """Start the brain's worker and wait until it serves."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "omnislash", "--brain", str(root), "worker"]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    if worker.stdout is None or not worker.stdout.readline().startswith(b"Writing for"):
        message = "the worker did not start"
        raise RuntimeError(message)
    return worker


def kill(worker: subprocess.Popen[bytes]) -> None:
    """End a process at once."""
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    if worker.stdout:
        worker.stdout.close()


def count_running(root: Path) -> int:
    """Return how many jobs the state database calls running."""
    with contextlib.closing(sqlite3.connect(root / ".omnislash" / "state.db")) as connection:
        found: int = connection.execute("SELECT count(*) FROM jobs WHERE state = 'running'").fetchone()[0]
        return found


# -- the clients ---------------------------------------------------------------------------------------------------------


def run_client(root: Path, number: int, writes: int, gate: Synchronized[float]) -> None:
    """Make the writes of one client, and note what it heard on the way."""
    heard: Counter[str] = Counter()
    line = LINES[number % len(LINES)]
    with Brain.open(root, queue_only=bool(number // len(LINES) % 2)) as brain:
        memory = brain.agent(line).memory
        for count in range(writes):
            while count >= gate.value * writes:
                time.sleep(0.0005)
            tag = f"c{number}-{count:05}"
            started = time.monotonic()
            while True:
                verdict = memory.write(f"tag {tag} is written here, end.", request_id=tag)
                heard[verdict.outcome.value] += 1
                if verdict.outcome not in {Outcome.QUEUED, Outcome.UNCONFIRMED}:
                    break
                if time.monotonic() - started > STUCK_S:
                    heard["stuck"] += 1
                    break
                time.sleep(0.005)
    (root.parent / f"heard-{number}.json").write_text(json.dumps(heard), encoding="utf-8")


def soak_clients(root: Path, options: argparse.Namespace, report: Report) -> Counter[str]:
    """Let the clients write while the worker dies; return what they heard."""
    context = multiprocessing.get_context("fork")
    gate: Synchronized[float] = context.Value("d", 0.0)
    clients = [
        context.Process(target=run_client, args=(root, number, options.writes, gate))
        for number in range(options.clients)
    ]
    for client in clients:
        client.start()
    deadline = time.monotonic() + options.seconds
    chance = random.Random()
    for round_number in range(1, options.kills + 1):
        worker = start_worker(root)
        gate.value = round_number / options.kills
        time.sleep(chance.random() * KILL_WITHIN_S)
        kill(worker)
        running = count_running(root)
        report.kills += 1
        report.hits += bool(running)
        report.jobs_hit += running
        if time.monotonic() > deadline:
            break
    gate.value = 1.0
    worker = start_worker(root)
    for client in clients:
        client.join()
        report.check("a client failed", holds=client.exitcode == 0)
    kill(worker)
    heard: Counter[str] = Counter()
    for file in root.parent.glob("heard-*.json"):
        heard.update(json.loads(file.read_text(encoding="utf-8")))
    return heard


def tags_in(root: Path, line: str, report: Report) -> list[str]:
    """Return the tags in the daily logs of a line, in order; a torn line is a violation."""
    tags: list[str] = []
    for path in sorted((root / "memory" / line).rglob("20*.md")):
        for text in path.read_bytes().decode("utf-8").split("\n")[2:]:
            whole = not text or (text.startswith("- ") and text.endswith(" is written here, end."))
            report.check(f"a torn line in {path}: {text!r}", holds=whole)
            tags += [text.split(" ")[3]] if text and whole else []
    return tags


def check_clients(root: Path, options: argparse.Namespace, heard: Counter[str], report: Report) -> None:
    """Hold what is there against what was accepted."""
    total = options.clients * options.writes
    report.check(f"accepted {heard['written']} of {total}", holds=heard["written"] == total)
    others = set(heard) - {"written", "queued", "unconfirmed"}
    report.check(f"answers that nobody should hear: {sorted(others)}", holds=not others)
    for number in range(options.clients):
        tags = [tag for tag in tags_in(root, LINES[number % len(LINES)], report) if tag.startswith(f"c{number}-")]
        wanted = [f"c{number}-{count:05}" for count in range(options.writes)]
        report.check(f"client {number}: {len(tags)} entries, or another order", holds=tags == wanted)
    check_order(root, report)


def check_order(root: Path, report: Report) -> None:
    """Check what has to hold after any soak: no temporary file, nothing open, sound git objects."""
    with Brain.open(root) as brain:  # a writer that starts clears what the last kill left
        brain.start_worker().stop()
    left = [path.name for path in (root / "memory").rglob(".omnislash-*")]
    report.check(f"temporary files are left: {left}", holds=not left)
    with contextlib.closing(sqlite3.connect(root / ".omnislash" / "state.db")) as connection:
        not_done = connection.execute("SELECT count(*) FROM jobs WHERE state <> 'done'").fetchone()[0]
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    report.check(f"{not_done} jobs are not done", holds=not_done == 0)
    report.check(f"the state database: {sound}", holds=sound == "ok")
    commit(root, "after")
    fsck = git(root, "fsck", "--full", "--strict")
    report.check(f"git fsck: {fsck}", holds=not any(word in fsck for word in ("error", "exit", "missing", "corrupt")))


# -- the editor ----------------------------------------------------------------------------------------------------------


def soak_editor(root: Path, writes: int, report: Report) -> tuple[int, int]:
    """Write to MEMORY.md while an editor saves it; return how often it saved, and how many conflict copies there are."""
    target, notes = root / "memory" / "main" / "MEMORY.md", root.parent / "saved"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("# Notes\n\nThe workshop opens at nine.\n", encoding="utf-8")
    worker = start_worker(root)
    editor = start_editor(target, notes, 1, pause_s=EDITOR_PAUSE_S)
    told = [f"The engine wrote e-{number:05} here." for number in range(writes)]
    with Brain.open(root) as brain:
        memory = brain.agent("main").memory
        for text in told:
            outcome = memory.write(text, priority=True).outcome
            report.check(f"a write beside the editor was {outcome.value}", holds=outcome is Outcome.WRITTEN)
        stop_editor(editor)
        memory.write("The last one.", priority=True)
    time.sleep(2.5)  # an idle worker looks whether the editor's last save dropped anything
    kill(worker)
    copies = list((root / "memory" / "main" / "conflicts").glob("*.md"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in [target, *copies])
    saved = notes.read_text(encoding="utf-8").split()
    lost = [tag for tag in saved if f"A person saved {tag} here." not in text] + [
        line for line in told if line not in text
    ]
    report.check(f"vanished beside the editor: {lost[:5]} ({len(lost)} in all)", holds=not lost)
    check_order(root, report)
    return len(saved), len(copies)


# -- the run -------------------------------------------------------------------------------------------------------------


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Soak the writer: many processes, a worker that is killed, an editor.")
    parser.add_argument("--clients", type=int, default=8, help="client processes (8)")
    parser.add_argument("--writes", type=int, default=500, help="writes of each client (500)")
    parser.add_argument("--kills", type=int, default=200, help="how often the worker is killed (200)")
    parser.add_argument("--seconds", type=float, default=1800.0, help="stop killing after so many seconds (1800)")
    parser.add_argument("--edits", type=int, default=2000, help="writes beside the editor (2000)")
    return parser.parse_args()


def main() -> int:
    """Soak, print the figures, return the exit code."""
    options, report = _options(), Report()
    with tempfile.TemporaryDirectory(prefix="omnislash-soak-") as directory:
        started = time.monotonic()
        root = make_brain(Path(directory) / "killed" / "brain")
        heard = soak_clients(root, options, report)
        check_clients(root, options, heard, report)
        print(f"{options.clients} clients x {options.writes} writes, {report.kills} kills")
        print(f"  kills that hit a running job   {report.hits} ({report.jobs_hit} jobs)")
        print(f"  accepted                       {heard['written']}")
        print(f"  unconfirmed / queued on the way {heard['unconfirmed']} / {heard['queued']}")
        print(f"  duration                       {time.monotonic() - started:.0f} s")
        started = time.monotonic()
        beside = make_brain(Path(directory) / "edited" / "brain")
        saves, copies = soak_editor(beside, options.edits, report)
        print(f"{options.edits} writes beside an editor")
        print(f"  saves of the editor            {saves}")
        print(f"  conflict copies                {copies}")
        print(f"  duration                       {time.monotonic() - started:.0f} s")
    for violation in report.violations[:20]:
        print(f"VIOLATION: {violation}")
    print("nothing lost" if not report.violations else f"{len(report.violations)} violations")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
