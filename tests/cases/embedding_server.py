"""The stub embedder of the cases: an OpenAI-compatible endpoint on this machine that counts, waits, fails and changes."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from omnislash.testing.embedders import CountingEmbedder

#: What `memory.embeddingModel` says in a brain that uses it.
MODEL = "stub"


class EmbeddingServer:
    """Answers `POST /embeddings`; texts that share words lie near each other."""

    def __init__(self) -> None:
        """Listen on a free port."""
        #: Every text that was asked for, messages included, in the order of the requests.
        self.texts: list[str] = []
        #: Seconds that each request takes.
        self.delay_s = 0.0
        #: Numbers in a vector.
        self.dimension = 64
        server = self

        class Handler(BaseHTTPRequestHandler):
            """One request."""

            def do_POST(self) -> None:
                """Answer it."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps(server.answer(body["input"])).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which a process uses it."""
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self._server.server_port}/v1", "OPENAI_API_KEY": "no-key"}

    def answer(self, given: str | list[str]) -> dict[str, Any]:
        """Return the answer to some texts; a blank one is an error of the caller."""
        texts = [given] if isinstance(given, str) else given
        self.texts += texts
        time.sleep(self.delay_s)
        vectors = CountingEmbedder(dimension=self.dimension).embed_passages(texts)
        data = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
        return {"object": "list", "model": MODEL, "data": data}

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
