"""Several processes share one index: each sees every write at once, none does another's work again, none harms another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omnislash
from omnislash.errors import IndexUnavailableError
from omnislash.index.database import Database
from omnislash.index.embedding import BATCH_TEXTS
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.index.conftest import IndexBrain

SCRIPT = Path(__file__).with_name("index_process.py")
#: Notes of a first build here: more than a search waits for.
MANY = 6 * BATCH_TEXTS


class IndexProcess:
    """A process of its own that has the index open."""

    def __init__(self, brain: IndexBrain, *, delay_s: float = 0.0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(brain.root), str(log_of(brain)), str(delay_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(omnislash.__file__).parents[1])},
            text=True,
        )
        assert self.receive() == {"ready": True}

    def send(self, **request: Any) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def find(self, text: str) -> list[str]:
        self.send(find=text)
        answer = self.receive()
        assert (answer["behind"], answer["failure"]) == (0, None)
        places: list[str] = answer["places"]
        return places

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self.end()

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        if self._process.poll() is None:
            self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdin.close()
        self._process.stdout.close()


def log_of(brain: IndexBrain) -> Path:
    """Return where the processes write down what they embed."""
    return brain.root.parent / "embedded.txt"


def embedded(brain: IndexBrain) -> Counter[str]:
    """Return how often each text was embedded by any process."""
    return Counter(log_of(brain).read_text().splitlines()) if log_of(brain).exists() else Counter()


@pytest.fixture
def started() -> Iterator[list[IndexProcess]]:
    """Processes that are ended with the test."""
    processes: list[IndexProcess] = []
    yield processes
    for process in processes:
        process.end()


def write_many(brain: IndexBrain) -> None:
    """Write what takes a while to embed."""
    for number in range(MANY // 8):
        text = "".join(f"# Note {number} {each}\n\nword{number}x{each} quay\n\n" for each in range(8))
        brain.write(f"memory/ops/n{number:03}.md", text)


@pytest.mark.rule("LINE-06", "RECALL-11")
def test_the_very_next_search_of_another_process_sees_a_write(
    index_brain: IndexBrain, started: list[IndexProcess]
) -> None:
    """Three processes have the index open; after every write, move and deletion each of them answers rightly."""
    started += [IndexProcess(index_brain) for _ in range(3)]
    path = index_brain.root / "memory/ops/MEMORY.md"
    for turn in range(10):
        index_brain.write("memory/ops/MEMORY.md", f"- token{turn} at the quay\n")
        for process in started:
            assert process.find(f"token{turn}") == ["memory/ops/MEMORY.md"]
    path.rename(path.with_name("moved.md"))
    for process in started:
        assert process.find("token9") == ["memory/ops/moved.md"]
    path.with_name("moved.md").unlink()
    for process in started:
        assert process.find("token9") == []
    assert set(embedded(index_brain).values()) == {1}


@pytest.mark.rule("LANG-10")
def test_two_that_build_at_once_share_the_work(index_brain: IndexBrain, started: list[IndexProcess]) -> None:
    """Two processes begin a first build in the same moment: no text is embedded twice, and both have everything."""
    write_many(index_brain)
    started += [IndexProcess(index_brain, delay_s=0.05) for _ in range(2)]
    for process in started:
        process.send(find="word3x3")
    for process in started:
        assert process.receive()["places"] == ["memory/ops/n003.md"]
    for process in started:
        process.find("word3x3")
    assert len(embedded(index_brain)) == MANY
    assert set(embedded(index_brain).values()) == {1}
    assert index_brain.count_waiting(index_brain.open(CountingEmbedder())) == 0


@pytest.mark.rule("RECALL-11")
def test_a_process_that_is_killed_leaves_what_it_has_made(index_brain: IndexBrain, started: list[IndexProcess]) -> None:
    """A kill -9 in the middle of embedding: its lock is free, its batches are kept, and one batch is made again at most."""
    write_many(index_brain)
    first = IndexProcess(index_brain, delay_s=0.1)
    first.send(find="quay")
    while len(embedded(index_brain)) < 3 * BATCH_TEXTS:
        time.sleep(0.005)
    first.kill()
    started.append(IndexProcess(index_brain))
    assert len(started[0].find("quay")) == MANY // 8
    counts = embedded(index_brain)
    assert len(counts) == MANY
    assert sum(count > 1 for count in counts.values()) <= BATCH_TEXTS
    live = index_brain.open(CountingEmbedder())
    assert index_brain.count_waiting(live) == 0
    assert live.open_database().find_damage() == []


@pytest.mark.parametrize("after_s", [0.02, 0.1, 0.3])
def test_killed_at_any_moment(index_brain: IndexBrain, started: list[IndexProcess], after_s: float) -> None:
    """Whenever a process is killed, the next one finds everything and the file is sound."""
    write_many(index_brain)
    first = IndexProcess(index_brain)
    first.send(find="quay")
    time.sleep(after_s)
    first.kill()
    started.append(IndexProcess(index_brain))
    assert started[0].find("word5x5") == ["memory/ops/n005.md"]
    assert index_brain.open().open_database().find_damage() == []


def test_rebuilds_and_changes_at_once(index_brain: IndexBrain, started: list[IndexProcess]) -> None:
    """While one process rebuilds again and again, another one writes and asks, and a third asks; all are right."""
    write_many(index_brain)
    started += [IndexProcess(index_brain) for _ in range(3)]
    for turn in range(4):
        index_brain.write("memory/ops/MEMORY.md", f"- token{turn} at the quay\n")
        started[0].send(rebuild=True)
        assert started[1].find(f"token{turn}") == ["memory/ops/MEMORY.md"]
        assert started[2].find("word7x7 quay") == ["memory/ops/n007.md"]
        assert started[0].receive()["failure"] is None
    assert set(embedded(index_brain).values()) == {1}
    database = index_brain.open().open_database()
    assert database.find_damage() == []
    assert database.value("SELECT count(*) FROM files") == MANY // 8 + 1


def test_the_file_is_damaged_under_several(index_brain: IndexBrain, started: list[IndexProcess]) -> None:
    """All processes find the damage at about the same time: they agree on one new file, and all of them are right."""
    write_many(index_brain)
    started += [IndexProcess(index_brain) for _ in range(3)]
    assert [len(process.find("quay")) for process in started] == [MANY // 8] * 3
    size = index_brain.index_path.stat().st_size
    for turn in range(3):
        with index_brain.index_path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        index_brain.write("memory/ops/MEMORY.md", f"- token{turn} at the quay\n")
        for process in started:
            process.send(find=f"token{turn}")
        assert [process.receive()["places"] for process in started] == [["memory/ops/MEMORY.md"]] * 3
    assert [len(process.find("quay")) for process in started] == [MANY // 8 + 1] * 3
    assert index_brain.open().open_database().find_damage() == []


def test_threads_of_one_process(index_brain: IndexBrain) -> None:
    """Eight threads ask one index while files change: no error, no text twice, and each sees its own write."""
    embedder = CountingEmbedder()
    live = index_brain.open(embedder)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(6):
                index_brain.write(f"memory/ops/t{number}.md", f"# T\n\ntoken{number}x{turn} quay\n")
                assert index_brain.find_words(live, f"token{number}x{turn}") == [f"memory/ops/t{number}.md"]
                index_brain.find_meaning(live, embedder, "quay")
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    texts = Counter(text for call in embedder.passage_calls for text in call)
    assert set(texts.values()) == {1}


def open_write_and_close(path: Path, gate: int) -> int:
    """Open an index when the gate opens, write into it, close it; return 0, or 1 when it could not be used."""
    os.read(gate, 1)
    try:
        database = Database(path)
        with database.writing():
            database.set_meta(str(os.getpid()), "was here")
        database.close()
    except IndexUnavailableError:
        return 1
    return 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_many_make_the_file_at_once(tmp_path: Path) -> None:
    """Eight processes open an index that is not there yet in the same moment and close it again: none is turned away."""
    for turn in range(8):
        path = tmp_path / f"{turn}.db"
        gate, opener = os.pipe()
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                os.close(opener)
                os._exit(open_write_and_close(path, gate))
            children.append(child)
        os.close(gate)
        os.close(opener)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 8
        assert Database(path).value("SELECT count(*) FROM meta WHERE value = 'was here'") == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_opens_its_own(index_brain: IndexBrain) -> None:
    """A child of a process with an open index finds and writes through a connection of its own; the parent goes on."""
    index_brain.write("memory/ops/a.md", "# A\n\nquay\n")
    live = index_brain.open()
    live.refresh(limit_s=None)
    mine = live.open_database()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            index_brain.write("memory/ops/b.md", "# B\n\nlamp\n")
            is_right = index_brain.find_words(live, "lamp") == ["memory/ops/b.md"]
            code = 0 if is_right and live.open_database() is not mine else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert live.open_database() is mine
    assert index_brain.find_words(live, "lamp") == ["memory/ops/b.md"]
    assert mine.find_damage() == []
