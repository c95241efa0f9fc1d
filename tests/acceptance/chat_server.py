"""A server on loopback that speaks chat completions, answers as it was told to, and can be made to wait."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: A text, `(tool, arguments)`, or an event that is waited for.
Piece = str | tuple[str, Mapping[str, Any]] | threading.Event
#: Pieces, or a status in place of them.
Answer = list[Piece] | int


class ChatServer:
    """Answers requests in order; after the end of the script with `Done.` as often as it is asked."""

    def __init__(self, *script: Answer) -> None:
        """Start it."""
        self.script: list[Answer] = list(script)
        #: Bodies of the requests, in order.
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a process reaches it."""
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self._server.server_port}/v1", "OPENAI_API_KEY": "of-no-use"}

    def said_to(self, number: int) -> list[str]:
        """Return what the persons and the model said in a request, without what stands beside it."""
        found: list[str] = []
        for message in self.requests[number]["messages"]:
            content = message.get("content")
            if message["role"] == "user" and isinstance(content, list):
                content = content[-1]["text"]
            if message["role"] in {"user", "assistant"} and content and not content.startswith("<agent-"):
                found.append(content)
        return found

    def tools_of(self, number: int) -> list[str]:
        """Return the names of the tools that a request offers."""
        return [tool["function"]["name"] for tool in self.requests[number].get("tools", ())]

    def answers_of_tools(self, number: int) -> list[dict[str, Any]]:
        """Return what tools answered, as a request tells it."""
        return [json.loads(each["content"]) for each in self.requests[number]["messages"] if each["role"] == "tool"]

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()

    def _take(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            self.requests.append(body)
            return self.script.pop(0) if self.script else ["Done."]

    def _make_handler(self) -> type[_Handler]:
        return type("Handler", (_Handler,), {"take": staticmethod(self._take)})


class _Handler(BaseHTTPRequestHandler):
    take: Callable[[dict[str, Any]], Answer]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request."""
        answer = self.take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        try:
            if isinstance(answer, int):
                self._refuse(answer)
            else:
                self._send(answer)
        except OSError:  # the client broke it off
            self.close_connection = True

    def _refuse(self, status: int) -> None:
        data = json.dumps({"error": {"message": "no"}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send(self, answer: list[Piece]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in answer:
            self._send_piece(piece)
        calls = any(isinstance(piece, tuple) for piece in answer)
        self._send_chunk(choices=[_choice({}, end="tool_calls" if calls else "stop")])
        self._send_chunk(choices=[], usage={"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send_piece(self, piece: Piece) -> None:
        if isinstance(piece, threading.Event):
            piece.wait(60)
        elif isinstance(piece, str):
            self._send_chunk(choices=[_choice({"role": "assistant", "content": piece})])
        else:
            function = {"name": piece[0], "arguments": json.dumps(piece[1])}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            self._send_chunk(choices=[_choice({"role": "assistant", "tool_calls": [call]})])

    def _send_chunk(self, **fields: Any) -> None:
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "scripted", **fields}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()


def _choice(delta: dict[str, Any], *, end: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": end}
