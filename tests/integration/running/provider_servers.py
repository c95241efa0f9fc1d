"""Real HTTP servers on this machine that speak the protocols of two providers, with streaming and tool calls.

One server speaks all three protocols and tells them apart by path: OpenAI's Responses API, OpenAI's chat completions,
and Anthropic's Messages API. It answers by a script and keeps what it was sent.

Source: the event streams as https://platform.openai.com/docs/api-reference/responses-streaming,
https://platform.openai.com/docs/api-reference/chat-streaming and https://docs.anthropic.com/en/api/messages-streaming
show them.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Tokens that every answer claims to have cost.
TOKENS_IN, TOKENS_OUT = 1_200, 34


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in an answer."""

    tool: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it streams: text, then calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    #: Events of the stream that are sent before it breaks off; None = all of it.
    cut_after: int | None = None
    #: What happens at the cut: `drop` the connection, `end` it in good order, or send `garbage` and end.
    cut: str = "drop"
    #: Why it ended, in the protocol's own word; '' = as the content says.
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is none."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Silence:
    """Says nothing until the server is closed, after some events of a stream."""

    after: int = 0


Step = Answer | Failure | Silence


def fail(status: int, kind: str, message: str, *, retry_after: str | None = None, code: str | None = None) -> Failure:
    """Return a failure in the form that both providers use."""
    error = {"type": kind, "message": message, "code": code}
    headers = {"content-type": "application/json", **({"retry-after": retry_after} if retry_after else {})}
    return Failure(status, json.dumps({"type": "error", "error": error}).encode(), headers)


class ProviderServer:
    """Answers by its script, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        #: Bodies, paths and headers of the requests, in order.
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.closing = threading.Event()
        self._lock = threading.Lock()

    def play(self, *steps: Step) -> None:
        """Set the answers of the next requests."""
        self.script = list(steps)

    def take(self, handler: BaseHTTPRequestHandler) -> tuple[int, Step]:
        """Keep a request and return its number and its answer."""
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.bodies.append(body)
            self.paths.append(handler.path)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            return len(self.bodies), self.script.pop(0) if self.script else Answer("Done.")

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which a brain reaches it, with keys that nobody may ever see."""
        return {
            "OPENAI_API_KEY": "sk-" + "proj-" + "q7ZkV0pLx3" * 4,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_API_KEY": "sk-ant-" + "api03-" + "w9TrB2mNc5" * 4,
            "ANTHROPIC_BASE_URL": self.url,
        }


@contextmanager
def serve_providers() -> Iterator[ProviderServer]:
    """Serve on a free port until the block ends."""
    server = ProviderServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            number, step = server.take(self)
            try:
                _answer(self, server, step, number)
            except OSError:
                return  # the client hung up

        def log_message(self, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            http.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, server: ProviderServer, step: Step, number: int) -> None:
    if isinstance(step, Failure):
        handler.send_response(step.status)
        for name, value in {"content-length": str(len(step.body)), **step.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(step.body)
        return
    if isinstance(step, Silence) and not step.after:
        server.closing.wait()
        handler.close_connection = True
        return
    events = list(_stream(handler.path, step if isinstance(step, Answer) else Answer("One moment."), number))
    most = step.after if isinstance(step, Silence) else step.cut_after
    _send_stream(handler, events[:most])
    if isinstance(step, Silence):
        server.closing.wait()
        handler.close_connection = True
    else:
        _end_stream(handler, step)


def _send_stream(handler: BaseHTTPRequestHandler, events: Iterable[str]) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for event in events:
        _send_chunk(handler, event.encode())


def _send_chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    handler.wfile.flush()


def _end_stream(handler: BaseHTTPRequestHandler, step: Answer) -> None:
    if step.cut_after is not None and step.cut == "drop":
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
        return
    if step.cut_after is not None and step.cut == "garbage":
        _send_chunk(handler, b'event: message_delta\ndata: {"type": "message_delta", "delta"\n\n')
    _send_chunk(handler, b"")


def _stream(path: str, answer: Answer, number: int) -> Iterator[str]:
    if path.endswith("/chat/completions"):
        yield from _stream_chat(answer, number)
    elif path.endswith("/responses"):
        yield from _stream_responses(answer, number)
    else:
        yield from _stream_messages(answer, number)


def _pieces(text: str) -> list[str]:
    """Return a text in three pieces, so that a reader has to put them together."""
    third = max(len(text) // 3, 1)
    return [piece for piece in (text[:third], text[third : 2 * third], text[2 * third :]) if piece]


def _render_arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _event(data: dict[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


# -- chat completions ------------------------------------------------------------------------------------------------


def _stream_chat(answer: Answer, number: int) -> Iterator[str]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return _chat_chunk(number, [choice])

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(answer.text):
        yield chunk({"content": piece})
    for place, call in enumerate(answer.calls):
        function = {"name": call.tool, "arguments": ""}
        yield chunk(
            {"tool_calls": [{"index": place, "id": f"call_{number}_{place}", "type": "function", "function": function}]}
        )
        for piece in _pieces(_render_arguments(call)):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield chunk({}, answer.reason or ("tool_calls" if answer.calls else "stop"))
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
    yield _chat_chunk(number, [], usage=usage)
    yield "data: [DONE]\n\n"


def _chat_chunk(number: int, choices: list[dict[str, Any]], **more: Any) -> str:
    chunk = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "gpt-4o-mini",
        "choices": choices,
        **more,
    }
    return f"data: {json.dumps(chunk)}\n\n"


# -- responses -------------------------------------------------------------------------------------------------------


def _stream_responses(answer: Answer, number: int) -> Iterator[str]:
    place = 0
    head = _response(number, "in_progress", [])
    yield _event({"type": "response.created", "sequence_number": 0, "response": head})
    items: list[dict[str, Any]] = []
    if answer.text:
        item = _message_item(number, answer.text)
        yield from _stream_message_item(item, answer.text, place)
        items.append(item)
        place += 1
    for call in answer.calls:
        item = _call_item(number, place, call)
        yield from _stream_call_item(item, place)
        items.append(item)
        place += 1
    status = "incomplete" if answer.reason else "completed"
    done = _response(number, status, items, reason=answer.reason)
    yield _event({"type": f"response.{status}", "sequence_number": 99, "response": done})


def _response(number: int, status: str, items: list[dict[str, Any]], *, reason: str = "") -> dict[str, Any]:
    usage = {
        "input_tokens": TOKENS_IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": "gpt-4o-mini",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status == "in_progress" else usage,
    }


def _message_item(number: int, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": f"msg_{number}", "type": "message", "status": "completed", "role": "assistant", "content": content}


def _stream_message_item(item: dict[str, Any], text: str, place: int) -> Iterator[str]:
    at = {"item_id": item["id"], "output_index": place, "sequence_number": 1}
    part = {"type": "output_text", "text": "", "annotations": []}
    yield _event({"type": "response.output_item.added", **at, "item": {**item, "status": "in_progress", "content": []}})
    yield _event({"type": "response.content_part.added", **at, "content_index": 0, "part": part})
    for piece in _pieces(text):
        yield _event({"type": "response.output_text.delta", **at, "content_index": 0, "delta": piece, "logprobs": []})
    yield _event({"type": "response.output_text.done", **at, "content_index": 0, "text": text, "logprobs": []})
    yield _event({"type": "response.content_part.done", **at, "content_index": 0, "part": {**part, "text": text}})
    yield _event({"type": "response.output_item.done", **at, "item": item})


def _call_item(number: int, place: int, call: Call) -> dict[str, Any]:
    return {
        "id": f"fc_{number}_{place}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{number}_{place}",
        "name": call.tool,
        "arguments": _render_arguments(call),
    }


def _stream_call_item(item: dict[str, Any], place: int) -> Iterator[str]:
    at = {"item_id": item["id"], "output_index": place, "sequence_number": 1}
    yield _event(
        {"type": "response.output_item.added", **at, "item": {**item, "status": "in_progress", "arguments": ""}}
    )
    for piece in _pieces(item["arguments"]):
        yield _event({"type": "response.function_call_arguments.delta", **at, "delta": piece})
    done = {"arguments": item["arguments"], "name": item["name"]}
    yield _event({"type": "response.function_call_arguments.done", **at, **done})
    yield _event({"type": "response.output_item.done", **at, "item": item})


# -- messages --------------------------------------------------------------------------------------------------------


def _stream_messages(answer: Answer, number: int) -> Iterator[str]:
    message: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": TOKENS_IN, "output_tokens": 1},
    }
    yield _event({"type": "message_start", "message": message})
    yield _event({"type": "ping"})
    place = 0
    if answer.text:
        yield from _stream_block(place, {"type": "text", "text": ""}, "text_delta", "text", answer.text)
        place += 1
    for call in answer.calls:
        block = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.tool, "input": {}}
        yield from _stream_block(place, block, "input_json_delta", "partial_json", _render_arguments(call))
        place += 1
    reason = answer.reason or ("tool_use" if answer.calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": TOKENS_OUT}})
    yield _event({"type": "message_stop"})


def _stream_block(place: int, block: dict[str, Any], kind: str, key: str, text: str) -> Iterator[str]:
    yield _event({"type": "content_block_start", "index": place, "content_block": block})
    for piece in _pieces(text):
        yield _event({"type": "content_block_delta", "index": place, "delta": {"type": kind, key: piece}})
    yield _event({"type": "content_block_stop", "index": place})
