"""The tools by name: what grants each, what it takes, what it does.

The descriptions are what an agent reads; how paths are written and how to get what was cut is said here and nowhere in
a prompt (TOOL-15).

Rules: TOOL-01 to TOOL-06, TOOL-15, DECLARE-06, DECLARE-14, BOUNDARY-10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from omnislash.errors import ScopeError, UsageError
from omnislash.runtime.tools import auditing, reading, writing
from omnislash.runtime.tools.arguments import (
    Arguments,
    AuditArguments,
    DeleteArguments,
    DoctorArguments,
    EditArguments,
    ListArguments,
    MoveArguments,
    OverviewArguments,
    ReadArguments,
    SearchArguments,
    TaskArguments,
    WriteArguments,
    WriteFileArguments,
    parse_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omnislash.runtime.turns import Ports, Turn


class Answer(Protocol):
    """What every tool returns."""

    def to_json(self) -> dict[str, Any]:
        """Return the answer as an object (WRITE-09)."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of an agent."""

    name: str
    #: What grants it.
    capability: str
    #: What an agent reads about it.
    description: str
    #: The arguments; `model_json_schema()` gives their JSON schema.
    arguments: type[Arguments]
    #: True when it may change memory.
    mutates: bool
    run: Callable[[Turn, Ports, Any, str | None], Answer]
    #: False offers it to an agent without memory as well.
    needs_memory: bool = True


def _task(turn: Turn, ports: Ports, arguments: Any, _job: str | None) -> Answer:
    from omnislash.runtime.loop import tasks  # noqa: PLC0415 - models, which only a task needs

    return tasks.run_task(turn, ports, arguments)


def _search(turn: Turn, ports: Ports, arguments: Any, _job: str | None) -> Answer:
    from omnislash.runtime.tools import searching  # noqa: PLC0415 - numpy, which only a search needs

    return searching.search(turn, ports, arguments)


def _examine(turn: Turn, ports: Ports, arguments: Any, _job: str | None) -> Answer:
    from omnislash.runtime.tools import examining  # noqa: PLC0415 - the checks, which only this needs

    return examining.report(turn, ports, arguments)


_PATHS = "Paths begin with the line (main/MEMORY.md); authored documents have their path in the brain."

_TOOLS = (
    Tool(
        "memory_overview",
        "memory:read",
        "Shows your own line: the reading of its MEMORY.md, which days and periods there are, which corpora you may "
        "read, and which lines are open for deposits.",
        OverviewArguments,
        mutates=False,
        run=lambda turn, ports, _arguments, _job: reading.overview(turn, ports),
    ),
    Tool(
        "memory_list",
        "memory:read",
        f"Lists the files that you may read, with their size. {_PATHS} A long list ends with nextCursor: hand it in as "
        "cursor for the rest.",
        ListArguments,
        mutates=False,
        run=lambda turn, ports, arguments, _job: reading.list_files(turn, ports, arguments),
    ),
    Tool(
        "memory_search",
        "memory:read",
        "Finds notes by meaning and by words in what you may read, best first; score runs from 0 to 1. When coverage is "
        "not full, reasons say what could not be looked at, and nothing found proves nothing. belowFloor counts weaker "
        "notes: bestScore as minScore would show the best of them. snippet is the note as it stands; memory_read with "
        f"path shows what is around it. {_PATHS}",
        SearchArguments,
        mutates=False,
        run=_search,
    ),
    Tool(
        "memory_read",
        "memory:read",
        f"Returns a file, one section of it, or a part. {_PATHS} When truncated is true, call again with offset set to "
        "nextOffset. budget is the reading of a MEMORY.md; never measure the file yourself.",
        ReadArguments,
        mutates=False,
        run=lambda turn, ports, arguments, _job: reading.read(turn, ports, arguments),
    ),
    Tool(
        "memory_write",
        "memory:write",
        "Remembers something: an entry in today's daily log and, with priority, in MEMORY.md. The answer is the "
        "verdict: written, duplicate, partial, refused, failed, queued or unconfirmed, with a sentence that says what "
        "to do next.",
        WriteArguments,
        mutates=True,
        run=lambda turn, ports, arguments, job: writing.write(turn, ports, arguments, job_id=job),
    ),
    Tool(
        "memory_edit",
        "memory:edit",
        f"Replaces a whole entry, or a text that occurs once, in a file of your own line. {_PATHS}",
        EditArguments,
        mutates=True,
        run=lambda turn, ports, arguments, job: writing.edit(turn, ports, arguments, job_id=job),
    ),
    Tool(
        "memory_write_file",
        "memory:edit",
        f"Replaces or creates a whole file of your own line. {_PATHS} Hand in the hash of the memory_read you started "
        "from as expectHash, so that nobody's change is lost.",
        WriteFileArguments,
        mutates=True,
        run=lambda turn, ports, arguments, job: writing.write_file(turn, ports, arguments, job_id=job),
    ),
    Tool(
        "memory_move",
        "memory:edit",
        f"Gives a file of your own line another, free name. {_PATHS}",
        MoveArguments,
        mutates=True,
        run=lambda turn, ports, arguments, job: writing.move(turn, ports, arguments, job_id=job),
    ),
    Tool(
        "memory_delete",
        "memory:delete",
        f"Removes a file of your own line, or one entry or one section of it. {_PATHS} A person may have to approve it "
        "first; the answer then is approval-required and nothing has changed.",
        DeleteArguments,
        mutates=True,
        run=lambda turn, ports, arguments, job: writing.delete(turn, ports, arguments, job_id=job),
    ),
    Tool(
        "audit_list",
        "runtime:read",
        "Lists who wrote to the lines that you may read, newest first, with the outcome of each attempt.",
        AuditArguments,
        mutates=False,
        run=lambda turn, ports, arguments, _job: auditing.list_audit(ports, arguments, turn=turn),
    ),
    Tool(
        "doctor_report",
        "runtime:read",
        "Looks for what is wrong with this brain and changes nothing: each check with its status (pass, warn or fail) and "
        "its findings, each with a place and what to do. hidden counts findings about files that you may not read.",
        DoctorArguments,
        mutates=False,
        run=_examine,
        needs_memory=False,
    ),
    Tool(
        "agent_task",
        "agent:task",
        "Hands a task to another agent of this brain and returns what it answers, with the tools it called. It works in "
        "your line when its role has memory, sees nothing of this conversation, and may not write where only you may.",
        TaskArguments,
        mutates=False,
        run=_task,
        needs_memory=False,
    ),
)
#: Every tool by name.
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}


def offered_tools(turn: Turn) -> tuple[Tool, ...]:
    """Return the tools of a turn: those that its capabilities grant, and without memory none that needs it (TOOL-05).

    A replay is offered the same ones (BOUNDARY-10).
    """
    has_memory = turn.scope.has_memory
    return tuple(
        tool for tool in _TOOLS if tool.capability in turn.capabilities and (has_memory or not tool.needs_memory)
    )


def call_tool(
    turn: Turn, ports: Ports, name: str, arguments: Mapping[str, Any], *, job_id: str | None = None
) -> Answer:
    """Run a tool of the turn and return its answer.

    Raises:
        UsageError: There is no such tool, or its arguments are wrong.
        ScopeError: The role has no memory, or lacks the capability.
        OmnislashError: As the tool says.
    """
    tool = TOOLS.get(name)
    if tool is None:
        message = f"There is no tool {name!r}. Known are: {', '.join(TOOLS)}."
        raise UsageError(message)
    decoded = parse_arguments(tool.arguments, arguments, tool=name)
    check_granted(turn, tool)
    return tool.run(turn, ports, decoded, job_id)


def check_granted(turn: Turn, tool: Tool) -> None:
    """Raise ScopeError when the turn is not offered the tool."""
    if tool.needs_memory:
        reading.own_line(turn)
    if tool.capability not in turn.capabilities:
        message = (
            f"The role {turn.scope.role!r} may not use {tool.name}: it lacks the capability {tool.capability}. "
            "Add it to capabilities in the role's file."
        )
        raise ScopeError(message)
