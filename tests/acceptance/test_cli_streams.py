"""What reaches a terminal or a pipe: encodings, control characters, closed pipes, Ctrl-C and faults of our own."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.example_brain import copy_example

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("OMNISLASH_")} | {
    "PYTHONPATH": str(ROOT),
    "TERM": "xterm",
    "COLUMNS": "120",
}
HOSTILE = "# Note\n\n- red \x1b[31m alert \x07 and \u202eesrever\u202c, c1 \x9b2J\n"


@pytest.fixture
def brain(tmp_path: Path, example_index: Path) -> Path:
    """A copy of the example brain with a hostile file in it."""
    root = copy_example(tmp_path / "brain", index=example_index)
    (root / "memory" / "main" / "hostile.md").write_text(HOSTILE, encoding="utf-8")
    return root


def _words(brain: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "omnislash", "--brain", str(brain), *words]


def _run_on_terminal(words: list[str]) -> str:
    """Run a command on a terminal of its own and return what it shows."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(words, env=ENVIRONMENT, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    process.wait(timeout=30)
    return shown.decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_never_gets_control_characters_of_a_file(brain: Path) -> None:
    """On a terminal escape sequences and marks of direction are shown as text."""
    shown = _run_on_terminal(_words(brain, "memory", "read", "--role", "nova", "main/hostile.md"))

    assert "red \\x1b[31m alert \\x07 and \\u202eesrever\\u202c, c1 \\x9b2J" in shown
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown


def test_a_pipe_gets_the_text_as_it_is(brain: Path) -> None:
    """In a pipe the bytes are those of the file."""
    done = subprocess.run(
        _words(brain, "memory", "read", "--role", "nova", "main/hostile.md"),
        env=ENVIRONMENT | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
    )

    assert done.stdout == HOSTILE.encode()


def test_tables_are_drawn_on_a_terminal(brain: Path) -> None:
    """On a terminal the action log is a table, and names in it are no markup."""
    subprocess.run(
        _words(brain, "memory", "write-file", "--role", "nova", "main/[bold]x.md", "Hello."),
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
    )
    shown = _run_on_terminal(_words(brain, "audit"))

    assert "─" in shown
    assert "main/[bold]x.md" in shown


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_old_encoding_crashes_nothing(brain: Path, encoding: str) -> None:
    """A stream that can't hold the text shows escapes, and JSON stays JSON with the same text."""
    environment = ENVIRONMENT | {"PYTHONIOENCODING": encoding}
    words = _words(brain, "memory", "read", "--role", "researcher", "content/памятка-зима.md")
    plain = subprocess.run(words, env=environment, capture_output=True, check=False)
    as_json = subprocess.run([*words, "--json"], env=environment, capture_output=True, check=True)

    assert plain.returncode == 0
    assert b"\\u0" in plain.stdout
    assert json.loads(as_json.stdout)["content"] == (brain / "content" / "памятка-зима.md").read_text(encoding="utf-8")


def test_a_closed_pipe_is_quiet(brain: Path) -> None:
    """A reader that goes away is no error that anybody has to read."""
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m omnislash --brain {brain} memory list --role nova --limit 900 | :"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""


def test_ctrl_c_is_one_line(brain: Path) -> None:
    """Ctrl-C while a command waits ends it with 130, one line and no trace."""
    process = subprocess.Popen(
        _words(brain, "memory", "write", "--role", "nova", "-"),
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("Interrupted.")


def test_our_own_fault_is_a_sentence(brain: Path) -> None:
    """An error that nobody foresaw is one sentence with the way to its trace, also as JSON."""
    code = (
        "import sys\n"
        "from omnislash.surfaces.cli import asking, main, memory\n"
        "def fail(*args, **options): raise TypeError('a thing that nobody foresaw')\n"
        "memory.call_tool = fail\n"
        "sys.exit(main.main(sys.argv[1:]))\n"
    )
    words = [sys.executable, "-c", code, "--brain", str(brain), "--json", "memory", "overview", "--role", "nova"]
    quiet = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    loud = subprocess.run(
        words, env=ENVIRONMENT | {"OMNISLASH_DEBUG": "1"}, capture_output=True, text=True, check=False
    )

    error = json.loads(quiet.stdout)["error"]
    assert quiet.returncode == 1
    assert error["kind"] == "internal"
    assert "a thing that nobody foresaw" in error["message"]
    assert "OMNISLASH_DEBUG=1" in error["hint"]
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr


def test_a_full_disk_behind_stdout_is_said(brain: Path) -> None:
    """An answer that can't be printed is an error with exit code 1."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            _words(brain, "memory", "overview", "--role", "nova"),
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.startswith("omnislash: ")
    assert "Traceback" not in done.stderr


@pytest.mark.rule("WRITE-O1")
def test_a_read_only_disk_fails_in_a_sentence(brain: Path) -> None:
    """On a file system that is mounted read-only the answer is a sentence, exit code 1, and nothing changes."""
    script = f'mount -t tmpfs none /mnt && cp -r "{brain}" /mnt/b && mount -o remount,ro /mnt && exec "$@"'
    command = ["unshare", "-Urm", "sh", "-c", script, "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("this machine lets nobody mount anything")
    write = [sys.executable, "-m", "omnislash", "--brain", "/mnt/b", "--json", "memory", "write", "--role", "nova", "x"]
    done = subprocess.run([*command, *write], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    read = [
        sys.executable,
        "-m",
        "omnislash",
        "--brain",
        "/mnt/b",
        "memory",
        "read",
        "--role",
        "nova",
        "main/hostile.md",
    ]
    still = subprocess.run([*command, *read], env=ENVIRONMENT, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert json.loads(done.stdout)["outcome"] == "failed"
    assert "Traceback" not in done.stderr
    assert still.returncode == 0
