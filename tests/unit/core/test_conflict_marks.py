"""The marks that a merge leaves: found where they are marks, and not in what people write."""

from __future__ import annotations

import time

import pytest

from omnislash.core.conflict_marks import find_conflict_marks

OURS, MIDDLE, THEIRS = "<" * 7, "=" * 7, ">" * 7
CONFLICT = f"{OURS} ours\na\n{MIDDLE}\nb\n{THEIRS} theirs\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", (), id="empty"),
        pytest.param(f"Title\n{MIDDLE}\n", (), id="heading"),
        pytest.param(CONFLICT, (1, 5), id="conflict"),
        pytest.param(CONFLICT.replace("\n", "\r\n"), (1, 5), id="CRLF"),
        pytest.param(f"x\n{CONFLICT}y\n{CONFLICT}", (2, 6, 8, 12), id="two"),
        pytest.param(f"{OURS} ours\na\n", (1,), id="begun"),
        pytest.param(f"{OURS}\n{THEIRS}", (1, 2), id="bare"),
        pytest.param(f"{THEIRS} She wrote:\n{THEIRS} hello\n", (), id="a mail quoted seven deep"),
        pytest.param(f"{CONFLICT}{THEIRS} She wrote\n", (1, 5), id="a quote below a conflict"),
        pytest.param(f"{THEIRS} She wrote\n{CONFLICT}", (2, 6), id="a quote above a conflict"),
        pytest.param(f"{OURS}<\n {OURS}\n{OURS}x\n", (), id="eight, indented, a word"),
        pytest.param(f"```\n{CONFLICT}```\n", (), id="shown in a block"),
        pytest.param(f"```\n{CONFLICT}```\n{CONFLICT}~~~\n{CONFLICT}~~~\n", (8, 12), id="between blocks"),
        pytest.param(f"```\n{CONFLICT}", (2, 6), id="a block that never closes"),
        pytest.param(f"```\n{OURS}\n```\n{THEIRS} She wrote\n", (), id="a quote below a block"),
        pytest.param(f"````\n```\n{CONFLICT}````\n", (), id="a block in a block"),
    ],
)
def test_lines_that_are_marks(text: str, lines: tuple[int, ...]) -> None:
    """A closing mark counts where one is open, and none counts inside of a closed block."""
    assert find_conflict_marks(text.encode()) == lines


@pytest.mark.parametrize(
    "piece", [f"```\nx\n```\n{CONFLICT}", f"```\n{CONFLICT}```\n", CONFLICT, "```\nx\n", "`" * 99 + "\n"]
)
def test_time_is_linear(piece: str) -> None:
    """A megabyte of blocks and marks takes about as long for each as a tenth of it."""
    took = []
    for size in (100_000, 1_000_000):
        data = (piece * (size // len(piece)) + CONFLICT).encode()
        started = time.perf_counter()
        find_conflict_marks(data)
        took.append(time.perf_counter() - started)

    assert took[1] < 40 * took[0] + 0.5
