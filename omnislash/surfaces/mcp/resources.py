"""Files of the read set as resources: listed page by page, read whole.

A resource is what `memory_read` would show under the same path: the own line and the corpora that the role may read, and
nothing else, also in an error.

Rules: TOOL-05, TOOL-14, TOOL-O3, SCOPE-07, SCOPE-11; failure case O-55.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote_to_bytes

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from omnislash.core.lines import MEMORY_FILE, FileKind
from omnislash.errors import InvalidNameError, MissingFileError, ScopeError
from omnislash.surfaces.mcp.seat import READING_TOOL, explain

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import (
        PaginatedRequestParams,
        ReadResourceRequestParams,
        SubscribeRequestParams,
        UnsubscribeRequestParams,
    )

    from omnislash.runtime.agents import Agent
    from omnislash.runtime.tools.reading import FileContent, FileEntry, FileListing
    from omnislash.surfaces.mcp.serving import Service

#: What the address of every resource begins with; a path follows, percent-encoded.
PREFIX: Final = "omnislash:///"
#: Files that one page lists.
PAGE: Final = 500
#: The longest file that is handed out whole, in chars; a longer one would fill any model's window many times over.
LARGEST: Final = 1_000_000
_MIME: Final = "text/markdown"
#: What the protocol answers for a resource that is not there: of its own until 2025-11-25, and a wrong parameter since.
#: Source: https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling
_NOT_FOUND: Final = -32002
#: What a file is, for a person who chooses one.
_KINDS: Final = {
    FileKind.MEMORY: "Curated memory of the line {line}",
    FileKind.DAILY: "Daily log of the line {line}",
    FileKind.WEEK: "Week summary of the line {line}",
    FileKind.MONTH: "Month summary of the line {line}",
    FileKind.QUARTER: "Quarter summary of the line {line}",
    FileKind.YEAR: "Year summary of the line {line}",
    FileKind.DOCUMENT: "Document of the line {line}",
}


def uri_of(path: str) -> str:
    """Return the address of a file, from its path as tools use it."""
    return PREFIX + quote(path, safe="/")


def path_of(uri: str) -> str:
    """Return the path that an address means.

    Raises:
        InvalidNameError: It is none of ours.
    """
    path = uri.removeprefix(PREFIX)
    try:
        if path == uri or not path or {"?", "#"} & set(path):
            raise ValueError(uri)
        return unquote_to_bytes(path).decode()
    except ValueError as error:
        message = f"{uri[:200]!r} is no address of a memory file; they look like {PREFIX}main/MEMORY.md."
        raise InvalidNameError(message) from error


def may_read(agent: Agent) -> bool:
    """Tell whether an agent is offered resources at all (TOOL-05)."""
    return READING_TOOL in agent.tools


# -- listing ---------------------------------------------------------------------------------------------------------


async def list_resources(
    ctx: ServerRequestContext[Service, Any], params: PaginatedRequestParams | None
) -> ListResourcesResult:
    """Return a page of the files that the agent may read, in order of their path; none without `memory:read`."""
    service = ctx.lifespan_context
    agent = await service.calls.run(service.seat.agent)
    if not may_read(agent):
        return ListResourcesResult(resources=[])
    cursor = params.cursor if params else None
    page: FileListing = await service.calls.run(lambda: agent.memory.list(limit=PAGE, cursor=cursor))
    service.changes.note_listed(entry.path for entry in page.entries)
    return ListResourcesResult(
        resources=[_describe(entry, agent) for entry in page.entries], next_cursor=page.next_cursor
    )


def _describe(entry: FileEntry, agent: Agent) -> Resource:
    line = entry.path.partition("/")[0]
    kind = _KINDS.get(FileKind(entry.kind)) if entry.kind in set(FileKind) else None
    is_own = entry.path == f"{agent.scope.line}/{MEMORY_FILE}"
    return Resource(
        uri=uri_of(entry.path),
        name=entry.path,
        description=(kind or "Authored document").format(line=line),
        mime_type=_MIME,
        size=entry.size,
        annotations=Annotations(last_modified=entry.modified_at.isoformat(), priority=1.0 if is_own else None),
    )


async def list_templates(
    ctx: ServerRequestContext[Service, Any], _params: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    """Return how the address of any readable file is made."""
    service = ctx.lifespan_context
    if not await service.calls.run(lambda: may_read(service.seat.agent())):
        return ListResourceTemplatesResult(resource_templates=[])
    template = ResourceTemplate(
        uri_template=f"{PREFIX}{{+path}}",
        name="memory-file",
        title="Memory file",
        description="A file that you may read, by its path as memory_list and memory_search show it: main/MEMORY.md.",
        mime_type=_MIME,
    )
    return ListResourceTemplatesResult(resource_templates=[template])


# -- reading ---------------------------------------------------------------------------------------------------------


async def read_resource(
    ctx: ServerRequestContext[Service, Any], params: ReadResourceRequestParams
) -> ReadResourceResult:
    """Return a file whole.

    Raises:
        MCPError: There is none that the agent may read, or it is too long.
    """
    service = ctx.lifespan_context
    found = await service.calls.run(lambda: _read(service, params.uri, ctx.protocol_version))
    if found.next_offset is not None:
        message = (
            f"{found.path} has {found.chars} chars; at most {LARGEST} are handed out as one resource. "
            "memory_read with offset returns it in parts."
        )
        raise MCPError(code=INVALID_PARAMS, message=message)
    return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type=_MIME, text=found.content)])


def _read(service: Service, uri: str, version: str, *, limit: int = LARGEST) -> FileContent:
    """Return the content behind an address; one that is not there and one that may not be read are answered alike."""
    try:
        return service.seat.agent().memory.read(path_of(uri), max_chars=limit)
    except (MissingFileError, ScopeError, InvalidNameError) as error:
        code = INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _NOT_FOUND
        raise MCPError(code=code, message=explain(error), data={"uri": uri}) from error


# -- following -------------------------------------------------------------------------------------------------------


async def subscribe(ctx: ServerRequestContext[Service, Any], params: SubscribeRequestParams) -> EmptyResult:
    """Tell this client whenever a file changes.

    Raises:
        MCPError: There is none that the agent may read.
    """
    service = ctx.lifespan_context
    found = await service.calls.run(lambda: _read(service, params.uri, ctx.protocol_version, limit=1))
    service.changes.subscribe(ctx.session, params.uri, found.path)
    return EmptyResult()


async def unsubscribe(ctx: ServerRequestContext[Service, Any], params: UnsubscribeRequestParams) -> EmptyResult:
    """Tell it no longer."""
    ctx.lifespan_context.changes.unsubscribe(ctx.session, params.uri)
    return EmptyResult()
