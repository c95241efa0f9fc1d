"""A person saves MEMORY.md again and again while the engine writes to it: nothing of either side vanishes.

Rules: architecture.md section 4 ("their bytes are never lost"); WRITE-O5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.core.verdicts import Outcome
from tests.crash.editor import start_editor, stop_editor
from tests.crash.harness import MEMORY, leftovers, make_brain, open_writer, text_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.rule("WRITE-01", "WRITE-O5")
@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_loses_a_line(seed: int, tmp_path: Path) -> None:
    """Whatever either side saved stands in the file or in a conflict copy."""
    root = make_brain(tmp_path / "brain", {MEMORY: "# Notes\n\nThe workshop opens at nine.\n"})
    (root / "constitution" / "MANIFEST.yaml").write_text("memory:\n  fileMaxChars: 0\n", encoding="utf-8")
    notes = tmp_path / "saved"
    editor = start_editor(root / "memory" / MEMORY, notes, seed)
    told = [f"The engine wrote e-{number:05} here." for number in range(100)]
    with Brain.open(root) as brain:
        memory = brain.agent("nova").memory
        for text in told:
            verdict = memory.write(text, priority=True)
            assert verdict.outcome is Outcome.WRITTEN, verdict
        stop_editor(editor)
        memory.write("The last one.", priority=True)
    with open_writer(root) as writer:
        writer.check_recent_files()
    text = text_of(root, MEMORY)
    saved = notes.read_text(encoding="utf-8").split()
    assert len(saved) > 10
    assert [tag for tag in saved if tag not in text] == []
    assert [line for line in told if line not in text] == []
    assert not leftovers(root)
