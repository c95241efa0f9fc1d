"""Pages are told that something changed, whoever changed it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from omnislash.surfaces.dashboard.live import LISTENERS_MAX, Changes, Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Seconds after which a test gives up; what is waited for takes well under one.
LIMIT_S = 20.0


def _make_brain(root: Path) -> Path:
    (root / "memory" / "main").mkdir(parents=True)
    (root / "omnislash.yaml").write_text("memory: {}\n")
    (root / "features").mkdir()
    (root / "features" / "desk.agent.md").write_text("---\nmemory: {}\ncapabilities: [memory:write]\n---\nHello.\n")
    return root


async def _next(changes: Changes, act: Callable[[], None], wanted: Topic) -> set[Topic]:
    """Return what is told until the wanted topic came, after something was done once the watch stands."""
    seen: set[Topic] = set()
    with changes.listen() as queue:
        doing = asyncio.create_task(_repeat(act, seen, wanted))
        async with asyncio.timeout(LIMIT_S):
            while wanted not in seen:
                topic = await queue.get()
                assert topic is not None
                seen.add(topic)
        await doing
    return seen


async def _repeat(act: Callable[[], None], seen: set[Topic], wanted: Topic) -> None:
    """Do it again until it was noticed: the system's watch takes a moment to stand."""
    while wanted not in seen:
        await asyncio.to_thread(act)
        await asyncio.sleep(0.4)


def _save(file: Path) -> None:
    file.write_text("# Ours\n")


def test_a_saved_file_is_told(tmp_path: Path) -> None:
    """A person's editor saves a memory file, and open pages hear of it."""
    file = _make_brain(tmp_path) / "memory" / "main" / "MEMORY.md"
    changes = Changes(tmp_path, lambda: 0)

    assert Topic.FILES in asyncio.run(_next(changes, lambda: _save(file), Topic.FILES))


def test_a_name_that_is_no_text_ends_no_watch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The system's watch breaks at a file whose name is no UTF-8: that is said once, and later changes are told."""
    memory = _make_brain(tmp_path) / "memory" / "main"
    odd = os.fsencode(memory) + b"/\xff\xfe.md"
    changes = Changes(tmp_path, lambda: 0)

    async def follow() -> None:
        with changes.listen() as queue:
            async with asyncio.timeout(LIMIT_S):
                while "not told" not in caplog.text:
                    await asyncio.to_thread(_write, odd)
                    await asyncio.sleep(0.2)
                os.unlink(odd)  # noqa: PTH108 - a path in bytes
                await asyncio.sleep(1.5)  # the watch begins again
                while not queue.empty():
                    queue.get_nowait()
                for number in range(3):
                    await asyncio.to_thread(_save, memory / f"{number}.md")
                    assert await queue.get() is Topic.FILES

    asyncio.run(follow())
    assert caplog.text.count("not told") == 1


def _write(path: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123 - a path in bytes
        file.write(b"x")


def test_a_write_of_an_agent_is_told_as_state(tmp_path: Path) -> None:
    """A verdict of another connection is told without any file being looked at."""
    with Brain.open(_make_brain(tmp_path)) as brain:
        numbers = iter(range(1000))
        agent = brain.agent("desk")
        changes = Changes(tmp_path, brain.open_version())

        def write() -> None:
            agent.memory.write(f"Note {next(numbers)}.")

        assert Topic.STATE in asyncio.run(_next(changes, write, Topic.STATE))


@pytest.mark.parametrize(
    ("path", "is_inner"),
    [
        (".git/index", True),
        (".omnislash/state.db-wal", True),
        ("memory/.memory-index.db-wal", True),
        ("memory/main/MEMORY.md", False),
        ("memory/main/MEMORY.md~", True),
        ("constitution/MANIFEST.yaml", False),
        ("content/.gitkeep", False),
    ],
)
def test_the_engines_own_files_are_not_told(tmp_path: Path, path: str, *, is_inner: bool) -> None:
    """What git and the engine keep for themselves is shown on no page."""
    assert Changes(tmp_path, lambda: 0)._is_inner(f"{tmp_path}/{path}") is is_inner


def test_a_stream_ends_when_the_server_stops(tmp_path: Path) -> None:
    """Every listener is told to end, also one whose queue is full."""
    changes = Changes(tmp_path, lambda: 0)

    async def listen() -> Topic | None:
        with changes.listen() as queue:
            for _ in range(100):
                changes._tell(Topic.STATE)
            await asyncio.sleep(0)
            changes.close()
            last: Topic | None = Topic.STATE
            async with asyncio.timeout(LIMIT_S):
                while last is not None:
                    last = await queue.get()
            return last

    assert asyncio.run(listen()) is None


def test_only_so_many_listen(tmp_path: Path) -> None:
    """A page too many is not told, rather than the server filled."""
    changes = Changes(tmp_path, lambda: 0)

    async def listen() -> bool:
        import contextlib

        with contextlib.ExitStack() as opened:
            for _ in range(LISTENERS_MAX):
                opened.enter_context(changes.listen())
            return changes.is_full

    assert asyncio.run(listen())
    assert not changes.is_full
