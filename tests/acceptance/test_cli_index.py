"""The search commands as processes: beside a worker and without one, on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.index.embedders.multilingual import is_installed
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("OMNISLASH_", "OPENAI_"))} | {
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
}


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A new brain, with English and Russian listed."""
    root = tmp_path / "brain"
    made = [*warm_python(), "-m", "omnislash", "init", "--no-git", "--quiet", str(root)]
    subprocess.run(made, env=ENVIRONMENT, check=True, timeout=60)
    (root / "omnislash.yaml").write_text("memory:\n  sources: [content]\n  languages: [english, russian]\n", "utf-8")
    (root / "constitution" / "MANIFEST.yaml").write_text("memory:\n  recall: [content]\n", "utf-8")
    (root / "content").mkdir()
    return root


@pytest.fixture
def worker(brain: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A running worker of the brain."""
    words = [*_words(brain), "--quiet", "--json", "worker"]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.2)  # a thread that is just waking up may take the next signal in place of the main one
            process.terminate()


@pytest.fixture
def served(brain: Path, worker: subprocess.Popen[bytes]) -> Path:
    """The same brain with a running worker."""
    assert worker.poll() is None
    return brain


def _words(brain: Path) -> list[str]:
    return [sys.executable, "-m", "omnislash", "--brain", str(brain)]


def run(brain: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command."""
    given = [*warm_python(), *_words(brain)[1:], *words]
    return subprocess.run(given, env=ENVIRONMENT, capture_output=True, timeout=100, check=False)


def ask(brain: Path, *words: str) -> dict[str, Any]:
    """Run a command as nova and return its JSON, which is UTF-8 without a lone surrogate."""
    done = run(brain, "--json", *words)
    text = done.stdout.decode("utf-8")
    answer: dict[str, Any] = json.loads(text)
    json.dumps(answer, ensure_ascii=False).encode("utf-8")
    return answer


def search(brain: Path, query: str, *options: str) -> dict[str, Any]:
    """Search as nova."""
    return ask(brain, "memory", "search", "--role", "nova", *options, "--", query)


def _snippets(answer: dict[str, Any]) -> list[str]:
    return [hit["snippet"] for hit in answer["hits"]]


@pytest.mark.rule("TOOL-01")
def test_a_worker_finds_what_was_written_or_edited_a_moment_ago(served: Path) -> None:
    """The very next search has the entry, a file of a person in a new directory, its edit, and not what was removed."""
    question = "Where does the hedgehog sleep?"
    run(served, "memory", "write", "--role", "nova", "The badger sleeps in the orchard.")
    written = search(served, "Where does the badger sleep?")
    page = served / "memory" / "main" / "animals" / "garden.md"
    page.parent.mkdir()
    page.write_text("# Garden\n\nThe hedgehog sleeps under the woodpile.\n", "utf-8")
    made = search(served, question)
    page.write_text("# Garden\n\nThe hedgehog sleeps under the staircase.\n", "utf-8")
    edited = search(served, question)
    page.unlink()
    removed = search(served, question)

    assert written["hits"][0]["snippet"].endswith("The badger sleeps in the orchard.")
    assert made["hits"][0]["snippet"].endswith("The hedgehog sleeps under the woodpile.")
    assert edited["hits"][0]["snippet"].endswith("The hedgehog sleeps under the staircase.")
    assert not any("hedgehog" in snippet for snippet in _snippets(removed))
    assert {each["coverage"] for each in (written, made, edited, removed)} == {"full"}


@pytest.mark.long
def test_both_ways_give_the_same_answer(served: Path) -> None:
    """Over the worker's socket and in a process of its own, a search, its explanation and a recall are the same."""
    run(served, "memory", "write", "--role", "nova", "The hedgehog sleeps under the woodpile.")
    for words in (
        ("memory", "search", "--role", "nova", "Where does the hedgehog sleep?"),
        ("memory", "search", "--role", "nova", "hedgehog", "--explain", "--limit", "1"),
        (
            "memory",
            "search",
            "--role",
            "nova",
            "hedgehog",
            "--since",
            "2999-01-01",
            "--explain",
            "--target",
            "woodpile",
        ),
        ("recall", "--role", "nova", "Where does the hedgehog sleep?", "--explain"),
        ("recall", "--role", "novva", "Where?"),
    ):
        assert ask(served, *words) == ask(served, "--replay", *words)


@pytest.mark.rule("RECALL-O3", "LANG-02")
def test_a_russian_question_is_answered_honestly(brain: Path) -> None:
    """By meaning where a model reads Russian; else by the stems of the words, and the answer says so."""
    run(brain, "memory", "write", "--role", "nova", "Вчера говорили о встрече с поставщиком цепей.")
    run(brain, "memory", "write", "--role", "nova", "The hedgehog sleeps under the woodpile.")
    found = search(brain, "Когда была встреча с поставщиками?")
    block = ask(brain, "recall", "--role", "nova", "Когда была встреча с поставщиками?")["block"]

    assert "о встрече с поставщиком" in found["hits"][0]["snippet"]
    assert found["coverage"] == ("full" if is_installed() else "incomplete")
    assert ("_INCOMPLETE — " in block) is not is_installed()


def test_odd_names_and_bytes_leave_the_json_whole(brain: Path) -> None:
    """A file whose text is no UTF-8, and a name that is none, break no answer."""
    (brain / "content" / "latin.md").write_bytes("The café of the hedgehog is closed.\n".encode("latin-1"))
    (brain / "content" / os.fsdecode(b"hedge\xffhog.md")).write_text("A hedgehog of another name.\n", "utf-8")
    (brain / "content" / os.fsdecode(b"dangling\xfe.md")).symlink_to("nowhere.md")
    found = search(brain, "hedgehog café", "--min-score", "0")
    status = ask(brain, "index", "status")

    assert any("caf\ufffd of the hedgehog" in snippet for snippet in _snippets(found))
    assert {problem["path"] for problem in status["problems"]} == {"content/latin.md"}
    assert run(brain, "index", "check").returncode == 1


def test_a_bar_is_shown_on_a_terminal_only(brain: Path) -> None:
    """Long work shows how far it is where a person looks; with `--quiet`, and in a pipe, nothing."""
    log = brain / "memory" / "main" / "2026" / "11" / "2026-11-30.md"
    log.parent.mkdir(parents=True)
    entries = (f"- {number // 60:02}:{number % 60:02} Counted the spokes, {number} left.\n" for number in range(200))
    log.write_text("# 2026-11-30\n\n" + "".join(entries), "utf-8")
    piped = run(brain, "index", "sync")
    for path in (brain / "memory").glob(".memory-index.db*"):
        path.unlink()
    quiet = _run_on_terminal(brain, "--quiet", "index", "sync")
    for path in (brain / "memory").glob(".memory-index.db*"):
        path.unlink()
    shown = _run_on_terminal(brain, "index", "sync")

    assert piped.stderr == b""
    assert piped.stdout == b"The index is up to date: 1 file, 200 notes.\n"
    assert quiet == b""
    assert b"Embedding notes" in shown
    assert b"/200" in shown


def _run_on_terminal(brain: Path, *words: str) -> bytes:
    """Run a command whose stderr is a terminal, and return what it wrote there."""
    ours, theirs = pty.openpty()
    environment = ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [*_words(brain), *words], env=environment, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
        process.wait(timeout=100)
    os.close(ours)
    return written


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side is closed
        return b""


@pytest.mark.rule("WRITE-O4")
def test_a_search_beside_a_silent_worker_is_answered(served: Path, worker: subprocess.Popen[bytes]) -> None:
    """A worker that is frozen does not keep a search from looking by itself, within seconds."""
    run(served, "memory", "write", "--role", "nova", "The hedgehog sleeps under the woodpile.")
    deadline = time.monotonic() + 60
    while ask(served, "index", "status")["coverage"] != "full":
        assert time.monotonic() < deadline
    worker.send_signal(signal.SIGSTOP)
    begun = time.monotonic()
    found = search(served, "Where does the hedgehog sleep?")
    took_s = time.monotonic() - begun

    assert len(found["hits"]) == 1
    assert took_s < 30
