"""A person's editor as a process of its own: it saves one file again and again, in the ways in which editors save.

`python tests/crash/editor.py FILE NOTES SEED PAUSE` runs until its standard input ends, with so many seconds between two
saves; each tag that it has saved becomes a line of NOTES.
"""

from __future__ import annotations

import random  # noqa: TID251 - seeded: the same each time
import select
import subprocess
import sys
import time
from pathlib import Path


class Editor:
    """One person, who adds a line with each save."""

    def __init__(self, target: Path, notes: Path, seed: int) -> None:
        self._target = target
        self._notes = notes
        self._seed = seed
        self._chance = random.Random(seed)
        self._saved = 0

    def save(self) -> None:
        """Read, perhaps wait, add a line, save in one of the ways."""
        text = self._read()
        if self._chance.random() < 0.5:
            time.sleep(self._chance.random() * 0.03)
        self._saved += 1
        tag = f"p-{self._seed}-{self._saved:05}"
        if text and not text.endswith("\n"):
            text += "\n"
        self._chance.choice([self._by_rename, self._in_place])(f"{text}\nA person saved {tag} here.\n")
        with self._notes.open("a", encoding="utf-8") as notes:
            notes.write(f"{tag}\n")

    def _read(self) -> str:
        try:
            return self._target.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _by_rename(self, text: str) -> None:
        aside = self._target.with_name(f".{self._target.name}.swp")
        aside.write_text(text, encoding="utf-8")
        Path(aside).replace(self._target)

    def _in_place(self, text: str) -> None:
        with self._target.open("w", encoding="utf-8") as file:
            time.sleep(self._chance.random() * 0.004)
            file.write(text[: len(text) // 2])
            file.flush()
            time.sleep(self._chance.random() * 0.004)
            file.write(text[len(text) // 2 :])


def start_editor(target: Path, notes: Path, seed: int, *, pause_s: float = 0.01) -> subprocess.Popen[bytes]:
    """Start the process."""
    notes.touch()
    command = [sys.executable, __file__, str(target), str(notes), str(seed), str(pause_s)]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def stop_editor(process: subprocess.Popen[bytes]) -> None:
    """Let the process finish its save and end.

    Raises:
        RuntimeError: It failed.
    """
    if process.stdin:
        process.stdin.close()
    if process.wait(timeout=60) != 0:
        message = "the editor failed"
        raise RuntimeError(message)


def _main() -> None:
    editor = Editor(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    while not select.select([sys.stdin], [], [], float(sys.argv[4]))[0]:
        editor.save()


if __name__ == "__main__":
    _main()
