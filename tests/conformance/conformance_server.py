"""The demo server that MCP's conformance suite asks for, behind the HTTP door of omnislash.

A memory server has none of the tools that the suite calls, so this one has them: what is tested is the door, with its
guards, its streams, and questions to the client in the middle of a call.
Prints its address as one line of JSON and serves until its stdin ends.

Source: the descriptions of the scenarios in @modelcontextprotocol/conformance 0.1.16.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata

from omnislash.surfaces.mcp.http import PATH, make_app
from omnislash.surfaces.web.binding import Binding
from omnislash.surfaces.web.serving import serve

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

#: A red pixel, and no sound.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
WHO = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
THREE = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": THREE},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": THREE, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": THREE}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


def text(words: str) -> types.TextContent:
    """Return a text."""
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    """Return the red pixel."""
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, mime: str = "text/plain") -> types.EmbeddedResource:
    """Return a resource inside of an answer."""
    contents = types.TextResourceContents(uri=uri, mime_type=mime, text=words)
    return types.EmbeddedResource(type="resource", resource=contents)


FIXED: dict[str, list[types.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
    "json_schema_2020_12_tool": [text("Nothing to do.")],
}
ASKING = {
    "test_elicitation": WHO,
    "test_elicitation_sep1034_defaults": DEFAULTS,
    "test_elicitation_sep1330_enums": ENUMS,
}
OTHERS = ("test_tool_with_logging", "test_error_handling", "test_tool_with_progress", "test_sampling")


async def list_tools(_ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """Return every tool of the suite."""
    schemas = {"json_schema_2020_12_tool": JSON_SCHEMA}
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, description=f"{name} of the suite", input_schema=schemas.get(name, NO_ARGUMENTS))
            for name in (*FIXED, *ASKING, *OTHERS)
        ]
    )


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Do what the suite expects of the tool."""
    name, given = params.name, params.arguments or {}
    if name in FIXED:
        return types.CallToolResult(content=FIXED[name])
    if name in ASKING:
        asked = types.ElicitRequestFormParams(
            message=str(given.get("message", "Please.")), requested_schema=ASKING[name]
        )
        reply = await ctx.session.elicit_form(asked.message, asked.requested_schema, related_request_id=ctx.request_id)
        said = f"action={reply.action}, content={json.dumps(reply.content)}"
        return types.CallToolResult(content=[text(f"Elicitation completed: {said}")])
    if name == "test_sampling":
        return types.CallToolResult(content=[text(f"LLM response: {await sample(ctx, str(given.get('prompt')))}")])
    if name in OTHERS and name != "test_error_handling":
        await tell(ctx, name)
        return types.CallToolResult(content=[text("Done.")])
    return types.CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)


async def sample(ctx: Context, prompt: str) -> str:
    """Ask the client's model."""
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=text(prompt))], max_tokens=100
        )
    )
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    reply = await ctx.session.send_request(request, types.CreateMessageResult, metadata=metadata)
    return reply.content.text if isinstance(reply.content, types.TextContent) else ""


async def tell(ctx: Context, name: str) -> None:
    """Send three notifications with a pause between them."""
    for number, words in enumerate(("Tool execution started", "Tool processing data", "Tool execution completed")):
        if name == "test_tool_with_logging":
            await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
        else:
            await ctx.session.report_progress(number * 50, 100)
        await anyio.sleep(0.05)


# -- resources and prompts ---------------------------------------------------------------------------------------------


async def list_resources(_ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """Return the resources without a template."""
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    return types.ListResourcesResult(resources=[types.Resource(uri=uri, name=uri, description=uri) for uri in uris])


async def read_resource(_ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Return a resource of the suite."""
    uri = str(params.uri)
    if uri == "test://static-binary":
        blob = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        return types.ReadResourceResult(contents=[blob])
    if uri.startswith("test://template/"):
        number = uri.split("/")[3]
        data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=data)]
        )
    words = "This is the content of the static text resource."
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)])


async def note_subscription(_ctx: Context, _params: object) -> types.EmptyResult:
    """Take note of a subscription, or of its end."""
    return types.EmptyResult()


async def set_level(_ctx: Context, _params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Take note of a level."""
    return types.EmptyResult()


PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


async def list_prompts(_ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """Return every prompt of the suite."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=each, description=each, required=True) for each in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(_ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Return a prompt of the suite."""
    given = params.arguments or {}
    found: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", "test://none"), "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [image(), text("Please analyze the image above.")],
    }
    return types.GetPromptResult(
        messages=[types.PromptMessage(role="user", content=content) for content in found[params.name]]
    )


async def complete(_ctx: Context, _params: types.CompleteRequestParams) -> types.CompleteResult:
    """Suggest nothing."""
    return types.CompleteResult(completion=types.Completion(values=[], has_more=False))


def main() -> None:
    """Serve until stdin ends."""
    server: Server[Any] = Server(
        "conformance",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_subscribe_resource=note_subscription,
        on_unsubscribe_resource=note_subscription,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=set_level,
    )
    serve(
        lambda real: make_app(server, real, role="conformance"),
        Binding(host="127.0.0.1", port=0),
        on_ready=lambda real: print(json.dumps({"url": f"{real.url}{PATH}"}), flush=True),
        stop=sys.stdin.fileno(),
    )


if __name__ == "__main__":
    main()
