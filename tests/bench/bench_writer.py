"""Measure the writer against the floor of this disk, and the command line against a bare interpreter.

The floor is the bare sequence of syncs that one durable write needs: the job and its intent, the new file, its
directory, the verdict. It is measured in turn with the writes, so that both see the same disk.
Figures are medians and 95th percentiles; the ratios are what counts, because machines differ and are shared.

Run it with `make bench-writer`; `--writes N` and `--starts N` scale it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from omnislash import Brain
from omnislash.store.disk import Disk

LINES = ("main", "research", "ops", "home")
CLIENTS = 8
#: How often one client and all of them are measured in turn.
ROUNDS = 5
#: The words of an entry as people write them: about a hundred characters.
ENTRY = "{tag} The supplier called back: twelve chains arrive on Thursday, and two of them stay on account until then."


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure, and what the issue asks of it."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    def render(self) -> str:
        """Return the row that is printed."""
        met = self.value >= self.limit if self.at_least else self.value <= self.limit
        sign = ">=" if self.at_least else "<="
        return f"  {self.name:<58} {self.value:8.2f}   goal {sign} {self.limit:<6g} {'met' if met else 'NOT MET'}"


def make_brain(root: Path) -> Path:
    """Make a brain with four roles, one for each line."""
    (root / "features" / "bench").mkdir(parents=True)
    (root / "omnislash.yaml").write_text("memory: {}\n", encoding="utf-8")
    for line in LINES:
        role = f"---\nmemory: {{ write: {line} }}\ncapabilities: [memory:read, memory:write]\n---\nA bench role.\n"
        (root / "features" / "bench" / f"{line}.agent.md").write_text(role, encoding="utf-8")
    return root


def start_worker(root: Path) -> subprocess.Popen[bytes]:
    """Start the real worker and wait until it listens."""
    command = [sys.executable, "-m", "omnislash", "--brain", str(root), "worker"]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    label = root / ".omnislash" / "writer.lock"
    for _ in range(2000):
        if label.is_file() and "address" in (text := label.read_text(encoding="utf-8")) and json.loads(text)["address"]:
            return worker
        time.sleep(0.01)
    message = "the worker did not start"
    raise SystemExit(message)


def percentile(samples: list[float], share: float) -> float:
    """Return a percentile, in the unit of the samples."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


class Floor:
    """The bare syncs of one durable write, without anything around them."""

    def __init__(self, root: Path) -> None:
        """Make the log and the file that are written."""
        self._root = root
        self._disk = Disk()
        self._log = os.open(root / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._target = root / "target"
        self._target.write_bytes(b"")

    def write(self, data: bytes) -> float:
        """Do it once; return the seconds."""
        started = time.perf_counter()
        os.write(self._log, b"j" * 4096)
        self._disk.sync(self._log)
        temp = self._root / "temp"
        descriptor = self._disk.create_temp(temp, mode=0o644)
        os.write(descriptor, data)
        self._disk.sync(descriptor)
        os.close(descriptor)
        self._disk.replace(temp, self._target)
        self._disk.sync_directory(self._root)
        os.write(self._log, b"v" * 4096)
        self._disk.sync(self._log)
        return time.perf_counter() - started


def measure_verdicts(root: Path, writes: int) -> tuple[list[float], list[float]]:
    """Return the seconds of each write and of each floor, measured in turn."""
    place = root / "floor"
    place.mkdir()
    floor, taken, bare = Floor(place), [], []
    with Brain.open(root) as brain:
        memory = brain.agent("main").memory
        for number in range(writes):
            text = ENTRY.format(tag=f"one-{number}")
            started = time.perf_counter()
            verdict = memory.write(text)
            taken.append(time.perf_counter() - started)
            if verdict.outcome != "written":
                raise SystemExit(verdict.message)
            data = (root / "memory" / verdict.paths[0]).read_bytes()
            bare.append(floor.write(data))
    return taken, bare


def write_many(root: str, client: int, writes: int, ready: multiprocessing.Barrier) -> None:  # type: ignore[valid-type]
    """Write from one client process, once all are ready."""
    with Brain.open(root) as brain:
        memory = brain.agent(LINES[client % len(LINES)]).memory
        memory.write(f"client {client} of a round that begins at {time.perf_counter_ns()}")
        ready.wait()  # type: ignore[attr-defined]
        for number in range(writes):
            memory.write(ENTRY.format(tag=f"{time.perf_counter_ns()}-{client}-{number}"))
        ready.wait()  # type: ignore[attr-defined]


def measure_throughput(clients: int, writes: int) -> float:
    """Return the writes per second of so many client processes together, in a new brain with a worker of its own.

    Every line ends with the same number of entries whatever the number of clients, so that files of the same size are
    written.
    """
    root = make_brain(Path(tempfile.mkdtemp(prefix="omnislash-bench-")))
    worker = start_worker(root)
    try:
        return run_clients(root, clients, writes)
    finally:
        worker.terminate()
        worker.wait()
        shutil.rmtree(root, ignore_errors=True)


def run_clients(root: Path, clients: int, writes: int) -> float:
    """Return the writes per second of so many client processes against the running worker."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(clients + 1)
    processes = [context.Process(target=write_many, args=(str(root), n, writes, barrier)) for n in range(clients)]
    for process in processes:
        process.start()
    barrier.wait()
    started = time.perf_counter()
    barrier.wait()
    seconds = time.perf_counter() - started
    for process in processes:
        process.join()
    return clients * writes / seconds


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status")
    if status.is_file():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout) / 1024


def measure_starts(root: Path, starts: int) -> dict[str, list[float]]:
    """Return the seconds of each command, measured in turn with a bare interpreter."""
    command = [str(Path(sys.executable).parent / "omnislash")]
    runs = {
        "bare": [sys.executable, "-c", "pass"],
        "help": [*command, "--help"],
        "write": [*command, "--brain", str(root), "memory", "write", "--role", "main"],
    }
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(starts + 1):
        for name, argv in runs.items():
            words = [*argv, f"A write from the command line, number {number}."] if name == "write" else argv
            started = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            if number:
                taken[name].append(time.perf_counter() - started)
    return taken


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writes", type=int, default=500, help="writes of one client")
    parser.add_argument("--starts", type=int, default=15, help="starts of each command")
    options = parser.parse_args()
    root = make_brain(Path(tempfile.mkdtemp(prefix="omnislash-bench-")))
    worker = start_worker(root)
    try:
        report(root, worker.pid, writes=options.writes, starts=options.starts)
    finally:
        worker.terminate()
        worker.wait()
        shutil.rmtree(root, ignore_errors=True)


def report(root: Path, pid: int, *, writes: int, starts: int) -> None:
    """Measure and print the figures, the ratios and the goals."""
    idle = resident_mb(pid)
    taken, bare = measure_verdicts(root, writes)
    share = writes * len(LINES) // CLIENTS
    rounds = [(measure_throughput(1, writes), measure_throughput(CLIENTS, share)) for _ in range(ROUNDS)]
    one, many = (statistics.median(column) for column in zip(*rounds, strict=True))
    gain = statistics.median(b / a for a, b in rounds)
    commands = measure_starts(root, starts)
    middle = {name: statistics.median(samples) for name, samples in commands.items()}
    print(f"python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores")
    print(f"\nverdict of one client against a running worker, {writes} writes, in ms")
    for name, samples in (("floor: 4 syncs", bare), ("verdict", taken)):
        print(f"  {name:<18} p50 {percentile(samples, 0.5) * 1e3:7.2f}   p95 {percentile(samples, 0.95) * 1e3:7.2f}")
    print(f"\nwrites per second: one client {one:.0f}, {CLIENTS} clients {many:.0f} (median of {ROUNDS} rounds)")
    print("start of a process, in ms (median): " + ", ".join(f"{name} {s * 1e3:.0f}" for name, s in middle.items()))
    print("\nratios and goals")
    floor_p50 = percentile(bare, 0.5)
    for goal in (
        Goal("verdict p50 / floor p50", percentile(taken, 0.5) / floor_p50, 3),
        Goal("verdict p95 / floor p50", percentile(taken, 0.95) / floor_p50, 6),
        Goal("verdict p95 / floor p95", percentile(taken, 0.95) / percentile(bare, 0.95), 6),
        Goal(f"throughput of {CLIENTS} clients / of one, round by round", gain, 2.5, at_least=True),
        Goal("memory of an idle worker, MB", idle, 80),
        Goal("omnislash --help / python -c pass", middle["help"] / middle["bare"], 8),
        Goal("memory write to a running worker / python -c pass", middle["write"] / middle["bare"], 15),
    ):
        print(goal.render())


if __name__ == "__main__":
    main()
