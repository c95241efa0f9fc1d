"""Failure cases: how files change under a worker that keeps the index up to date."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cases.conftest import CaseBrain, MakeBrain
    from tests.cases.embedding_server import EmbeddingServer

NOTE = "notes/n.md"


def save_as_vim(brain: CaseBrain, text: str) -> None:
    """Try the directory with a file, move the old one away, write a new one, remove the old one."""
    brain.by_hand("notes/4913", "")
    brain.remove("notes/4913")
    brain.rename(NOTE, "notes/n.md~")
    brain.by_hand(NOTE, text)
    brain.remove("notes/n.md~")


def save_beside(brain: CaseBrain, text: str) -> None:
    """Write a temporary file and rename it over the note."""
    brain.by_hand("notes/n.md.tmp", text)
    brain.rename("notes/n.md.tmp", NOTE)


def save_in_two_steps(brain: CaseBrain, text: str) -> None:
    """Empty the note in place, and write it a moment later."""
    brain.by_hand(NOTE, "")
    time.sleep(0.3)
    brain.by_hand(NOTE, text)


@pytest.mark.rule("RECALL-11")
def test_o_15_how_editors_save(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Twenty saves in four ways: the newest word is one hit in the note, older words none, and no helper file is a hit."""
    brain = make_brain(embedder=embedder, sources=("notes",), files={NOTE: "the word alpha1 stands here\n"})
    watch, session = brain.watch(), brain.session()
    ways: list[Callable[[CaseBrain, str], None]] = [save_as_vim, save_beside, save_in_two_steps]
    word = "alpha1"
    for turn in range(20):
        older = word
        if turn % 4 < 3:
            word = f"beta{turn}"
            ways[turn % 4](brain, f"the word {word} stands here\n")
        else:
            brain.by_hand(NOTE, f"the word {word} stands here\n")
        watch.settle()
        answer = session.call("memory_search", query=word)
        assert [hit["path"] for hit in answer["hits"]] == [NOTE]
        assert word in answer["hits"][0]["snippet"]
        assert answer["coverage"] == "full"
        if older != word:
            assert all(older not in hit["snippet"] for hit in session.call("memory_search", query=older)["hits"])


@pytest.mark.rule("RECALL-11")
def test_o_16_fresh_year_and_month_folders(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """Thirty new folders with a log each, and a tree that is moved in, are indexed within ten seconds."""
    brain = make_brain(embedder=embedder)
    watch, session = brain.watch(), brain.session()
    watch.settle()
    outside = brain.root.parent / "outside"
    for number in range(3):
        (outside / f"deep{number}").mkdir(parents=True)
        (outside / f"deep{number}/note.md").write_text(f"moved token mv{number}x\n")
    tokens = {}
    for number in range(30):
        year = 2027 + number
        tokens[f"kx{number}x"] = f"ops/{year}/01/{year}-01-01.md"
        brain.remember(f"- 09:00 token kx{number}x\n", f"ops/{year}/01/{year}-01-01.md")
    outside.replace(brain.place("ops/tree"))
    for number in range(3):
        tokens[f"mv{number}x"] = f"ops/tree/deep{number}/note.md"
        brain.remember(f"moved token mv{number}x\n", tokens[f"mv{number}x"])
    watch.settle(10)
    for token, path in tokens.items():
        assert session.find(token)[0] == path


def can_limit_watches() -> bool:
    """Tell whether this machine lets a process have a limit of its own."""
    limit = ["unshare", "-Ur", "sh", "-c", "echo 3 > /proc/sys/user/max_inotify_watches"]
    try:
        return subprocess.run(limit, check=False, capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@pytest.mark.rule("RECALL-11")
def test_o_17_the_limit_of_watches_is_reached(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """One clear warning names the limit, and a change in the deepest folder is indexed all the same."""
    if not can_limit_watches():
        pytest.skip("no user namespaces here")
    files = {f"memory/ops/d{number}/a.md": f"note {number}\n" for number in range(40)}
    brain = make_brain(embedder=embedder, files=files)
    limited = 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"'
    watch = brain.watch("unshare", "-Ur", "sh", "-c", limited, "sh")
    watch.settle()
    brain.by_hand("memory/ops/d39/deep/er/b.md", "the word zephyr77 stands here\n")
    watch.settle(60)
    warnings = [line for line in watch.said().splitlines() if "not watched" in line]
    assert len(warnings) == 1
    assert "max_user_watches" in warnings[0]
    assert brain.find_paths("zephyr77")[0] == "ops/d39/deep/er/b.md"
