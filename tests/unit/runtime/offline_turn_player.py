"""Plays a turn of the offline model against answers of tools that a test makes up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.runtime.offline.turns import OfflineRequest, Said, answer_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: What every tool answers that a test says nothing about.
WRITTEN = {"outcome": "written", "paths": [], "message": "Written to main/2026/12/2026-12-01.md."}
#: All tools of a role that may do anything with memory.
ALL_TOOLS = (
    "memory_overview",
    "memory_list",
    "memory_search",
    "memory_read",
    "memory_write",
    "memory_edit",
    "memory_write_file",
    "memory_move",
    "memory_delete",
)


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that came to its end."""

    #: The tools that were called, with their arguments, in order.
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    #: The answer, without the notice.
    text: str
    #: The notice that it is the offline model; '' when it was not said.
    notice: str

    def contents(self) -> list[str]:
        """Return what `memory_write` was called with."""
        return [str(arguments["content"]) for tool, arguments in self.calls if tool == "memory_write"]


def play(  # noqa: PLR0913 - what a request has
    message: str,
    *,
    context: str = "",
    system: str = "",
    tools: Sequence[str] = ALL_TOOLS,
    answers: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] = lambda _tool, _arguments: WRITTEN,
    before: Sequence[Said] = (),
    most: int = 40,
) -> Played:
    """Return what the offline model does with a message until it answers; each step is asked twice and must agree."""
    history = [*before, Said(role="user", text=message)]
    calls: list[tuple[str, Mapping[str, Any]]] = []
    for _ in range(most):
        request = OfflineRequest(
            message=message, system=system, context=context, history=tuple(history), tools=tuple(tools)
        )
        step = answer_turn(request)
        assert step == answer_turn(request)
        if isinstance(step, str):
            text, _, notice = step.partition("\n\n(")
            return Played(tuple(calls), text, notice and f"({notice}")
        assert step.tool in tools
        calls.append((step.tool, step.arguments))
        answer = answers(step.tool, step.arguments)
        history.append(Said(role="tool", tool=step.tool, arguments=step.arguments, answer=answer))
    raise AssertionError(calls)


def environment(day: str = "2026-12-01", weekday: str = "Tuesday") -> str:
    """Return the block of a day."""
    return f"<agent-environment>\ndate: {day} ({weekday})\ntime zone: Europe/Berlin\n</agent-environment>"


def memory_block(*sections: str, line: str = "main") -> str:
    """Return the block of a MEMORY.md."""
    body = "\n\n".join(section.replace("\n## ", "\n\\## ") for section in sections)
    return f'<agent-memory path="{line}/MEMORY.md">\n812 of 4000 fileMaxChars (20%)\n{body}\n</agent-memory>'


def window_block(*days: tuple[str, str], line: str = "main") -> str:
    """Return the window: each day with its entries."""
    parts = [f"[{line}/{day[:4]}/{day[5:7]}/{day}.md]\n{entries}" for day, entries in days]
    pointer = "(older entries exist — memory_search finds them, memory_read opens a path)"
    return f'<agent-memory-daily line="{line}">\n' + "\n\n".join([*parts, pointer]) + "\n</agent-memory-daily>"
