"""The endpoint embedder against a real server on this machine: batches, retries, limits, and a key that stays a secret."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnislash.core.languages import Script
from omnislash.index.embedders import openai_compatible
from omnislash.index.embedders.endpoint import Endpoint
from omnislash.index.embedders.openai_compatible import OpenAICompatible, RefusedError, Timing, cut_bytes, plan_requests
from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "sk-not-a-real-key-1234"

Answer = tuple[int, dict[str, str], bytes]


def embed(texts: list[str], size: int = 3) -> bytes:
    """Return the right answer: each text's length and place, so that a mix-up shows."""
    rows = [[float(len(text)), float(place), 1.0, *[0.0] * (size - 3)] for place, text in enumerate(texts)]
    return json.dumps({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}).encode()


def answer_well(request: dict[str, Any], number: int) -> Answer:
    """Answer as the reference does."""
    return 200, {}, embed(request["input"])


class Server:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any], int], Answer] = answer_well
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.drip_s = 0.0
        self.url = ""


@contextmanager
def serve(server: Server) -> Iterator[Server]:
    """Serve on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.requests.append(request)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.paths.append(self.path)
            status, headers, body = server.answer(request, len(server.requests))
            try:
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                step = 1 if server.drip_s else max(len(body), 1)
                for start in range(0, len(body), step):
                    self.wfile.write(body[start : start + step])
                    time.sleep(server.drip_s)
            except OSError:
                return  # the embedder hung up

        def log_message(self, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        server.url = f"http://127.0.0.1:{http.server_port}/v1"
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers well until it is told otherwise."""
    with serve(Server()) as running:
        yield running


class Seconds:
    """A clock whose sleeps cost nothing; real time passes on top of them."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.extra = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.extra

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.extra += seconds


@pytest.fixture
def seconds() -> Seconds:
    """A clock for one test."""
    return Seconds()


@pytest.fixture
def embedder(server: Server, seconds: Seconds) -> Iterator[OpenAICompatible]:
    """An embedder for the server."""
    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/"}
    made = OpenAICompatible(
        "text-embedding-3-small",
        Endpoint.from_environment(environment),
        timing=Timing(seconds.monotonic, seconds.sleep),
    )
    yield made
    made.close()


@pytest.mark.rule("KNOB-21")
def test_request_is_the_documented_one(server: Server, embedder: OpenAICompatible) -> None:
    """Model, texts and bearer token go to `/embeddings`; the vector comes back at unit length."""
    vector = embedder.embed_query("four")

    assert vector == pytest.approx(np.array([4, 0, 1]) / np.sqrt(17))
    assert vector.dtype == np.float32
    assert server.paths == ["/v1/embeddings"]
    assert server.requests == [{"model": "text-embedding-3-small", "input": ["four"], "encoding_format": "float"}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_many_notes_go_in_batches(server: Server, embedder: OpenAICompatible) -> None:
    """Batches hold 64 texts at most, and come back in the order of the notes."""
    texts = ["x" * number for number in range(1, 151)]
    vectors = embedder.embed_passages(texts)

    assert [len(request["input"]) for request in server.requests] == [64, 64, 22]
    assert [text for request in server.requests for text in request["input"]] == texts
    assert np.rint(vectors[:, 0] / vectors[:, 2]).tolist() == list(range(1, 151))
    assert embedder.embed_passages([]).shape == (0, 3)


def test_batches_hold_a_size_too() -> None:
    """A request has 100,000 bytes of text at most, a text alone 8,191, cut between characters."""
    assert plan_requests([40_000, 40_000, 20_000, 1, 100_000, 7]) == [
        range(3),
        range(3, 4),
        range(4, 5),
        range(5, 6),
    ]
    assert plan_requests([]) == []
    assert len(cut_bytes("я" * 9_000).encode()) == 8_190
    assert cut_bytes("half \ud83d") == "half ?"


def test_dimension_is_known_after_the_first_answer(server: Server, embedder: OpenAICompatible) -> None:
    """The size is 0 until an answer tells it, and follows the endpoint when that changes."""
    before = embedder.dimension
    embedder.embed_query("one")
    server.answer = lambda request, number: (200, {}, embed(request["input"], 8))
    after = embedder.dimension
    embedder.embed_query("one")

    assert (before, after, embedder.dimension) == (0, 3, 8)


def test_size_that_changes_within_a_call_is_refused(server: Server, embedder: OpenAICompatible) -> None:
    """Vectors of two sizes never come back as one matrix; the message names both."""
    server.answer = lambda request, number: (200, {}, embed(request["input"], 3 if number == 1 else 8))

    with pytest.raises(EmbedderUnavailableError, match="from 3 to 8"):
        embedder.embed_passages(["x"] * 65)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_trouble_that_passes_is_tried_again(
    server: Server, embedder: OpenAICompatible, seconds: Seconds, status: int
) -> None:
    """Too many requests, a timeout and every 5xx are tried again, at longer and longer distances."""
    server.answer = lambda request, number: (status, {}, b"") if number < 4 else answer_well(request, number)

    assert embedder.embed_passages(["four"]).shape == (1, 3)
    assert seconds.slept == [0.5, 1.0, 2.0]


def test_pause_that_is_asked_for_is_kept(server: Server, embedder: OpenAICompatible, seconds: Seconds) -> None:
    """`Retry-After` decides the pause."""
    server.answer = lambda request, number: (
        (429, {"retry-after": "7"}, b"") if number == 1 else answer_well(request, number)
    )
    embedder.embed_passages(["four"])

    assert seconds.slept == [7.0]


def test_message_does_not_wait_for_a_long_pause(server: Server, embedder: OpenAICompatible, seconds: Seconds) -> None:
    """A pause past the five seconds that a message has is not begun; it is left alone for as long as it asked."""
    server.answer = lambda request, number: (429, {"retry-after": "90"}, b'{"error": {"message": "slow down"}}')

    with pytest.raises(EmbedderUnavailableError, match="answered 429: slow down"):
        embedder.embed_query("four")
    with pytest.raises(EmbedderUnavailableError, match=r"slow down\. It is asked again in (90|89) s"):
        embedder.embed_query("four")
    assert seconds.slept == []
    assert len(server.requests) == 1


@pytest.mark.rule("RECALL-11")
def test_dead_endpoint_costs_one_wait(server: Server, embedder: OpenAICompatible, seconds: Seconds) -> None:
    """After a failure the next turns are told at once; half a minute later one asks again, and all is well."""
    server.answer = lambda request, number: (503, {}, b"")
    with pytest.raises(EmbedderUnavailableError, match="answered 503"):
        embedder.embed_query("four")
    tries, waited = len(server.requests), sum(seconds.slept)
    for _ in range(5):
        with pytest.raises(EmbedderUnavailableError, match="asked again in"):
            embedder.embed_query("four")
    server.answer = answer_well
    seconds.extra += 30

    assert waited < 5
    assert len(server.requests) == tries
    assert embedder.embed_query("four").shape == (3,)
    assert embedder.embed_query("four").shape == (3,)


@pytest.mark.parametrize("drip_s", [pytest.param(0.0, id="silent"), pytest.param(0.05, id="a byte at a time")])
def test_slow_endpoint_is_given_up(server: Server, drip_s: float) -> None:
    """Whether it says nothing or a byte now and then, the time limit holds."""
    gone = threading.Event()
    server.drip_s = drip_s
    if not drip_s:
        server.answer = lambda request, number: (gone.wait(5), answer_well(request, number))[1]
    made = OpenAICompatible("m", Endpoint(server.url, KEY), timing=Timing(query_limit_s=0.4))
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailableError, match="did not answer in time"):
        made.embed_query("four")
    took = time.monotonic() - started
    gone.set()
    made.close()

    assert took < 2


def test_nobody_listens(seconds: Seconds) -> None:
    """A server that is not there is told with its host, after a few tries."""
    made = OpenAICompatible(
        "m", Endpoint("http://127.0.0.1:9/v1", KEY), timing=Timing(seconds.monotonic, seconds.sleep)
    )
    with pytest.raises(EmbedderUnavailableError, match=r"127\.0\.0\.1:9 can't be reached") as caught:
        made.embed_query("four")
    made.close()

    assert "OPENAI_BASE_URL" in str(caught.value.hint)
    assert seconds.slept


@pytest.mark.rule("RECALL-O8")
@pytest.mark.parametrize(
    ("status", "says", "hint"),
    [
        pytest.param(401, "refused the key", "OPENAI_API_KEY", id="wrong key"),
        pytest.param(403, "refused the key", "OPENAI_API_KEY", id="key without the right"),
        pytest.param(404, "answered 404: no such model", "OPENAI_BASE_URL", id="not there"),
        pytest.param(307, "answered 307", "OPENAI_BASE_URL", id="moved"),
        pytest.param(400, "answered 400: no such model", "text-embedding-3-small", id="bad request"),
    ],
)
def test_what_stays_wrong_is_not_tried_again(
    server: Server, embedder: OpenAICompatible, status: int, says: str, hint: str
) -> None:
    """Such an answer is told at once, with what to look at."""
    server.answer = lambda request, number: (status, {"location": "/x"}, b'{"error": {"message": "no such model"}}')

    with pytest.raises(EmbedderUnavailableError, match=says) as caught:
        embedder.embed_passages(["four"])
    assert hint in str(caught.value.hint)
    assert len(server.requests) == 1


def test_refused_text_does_not_stop_the_others(server: Server, embedder: OpenAICompatible) -> None:
    """A text that the endpoint will not have is that text's trouble: the next one is asked at once."""
    server.answer = lambda request, number: (400, {}, b"") if number == 1 else answer_well(request, number)
    with pytest.raises(RefusedError):
        embedder.embed_query("bad")

    assert embedder.embed_query("good").shape == (3,)


def test_nonsense_is_told(server: Server, embedder: OpenAICompatible) -> None:
    """A page instead of vectors is told as what it is."""
    server.answer = lambda request, number: (200, {}, b"<html>welcome</html>")

    with pytest.raises(EmbedderUnavailableError, match="answered no list of embeddings"):
        embedder.embed_query("four")
    assert embedder.dimension == 0


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_key_is_shown_nowhere(
    server: Server, embedder: OpenAICompatible, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """No message, hint, log line, name or identity holds the key, also when the endpoint repeats it."""
    body = json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()
    server.answer = lambda request, number: (status, {}, body)
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbedderUnavailableError) as caught:
        embedder.embed_passages(["four"])

    told = [str(caught.value), str(caught.value.hint), caplog.text, embedder.identity, embedder.name]
    told += [repr(embedder.__dict__), json.dumps(caught.value.to_json())]
    assert not any(KEY in text for text in told)


@pytest.mark.rule("RECALL-11", "RECALL-O8")
@pytest.mark.parametrize(
    ("environment", "says"),
    [
        pytest.param({}, "OPENAI_API_KEY is not set", id="nothing"),
        pytest.param({"OPENAI_API_KEY": " "}, "OPENAI_API_KEY is not set", id="a blank key"),
        pytest.param({"OPENAI_API_KEY": "ключ"}, "OPENAI_API_KEY holds", id="another script"),
        pytest.param({"OPENAI_API_KEY": "a\nb"}, "OPENAI_API_KEY holds", id="two lines"),
        pytest.param(
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "localhost:80"}, "OPENAI_BASE_URL is no", id="no scheme"
        ),
        pytest.param({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "ftp://h/v1"}, "OPENAI_BASE_URL is no", id="ftp"),
        pytest.param({"OPENAI_BASE_URL": f"http://u:{KEY}@h/v1"}, "OPENAI_BASE_URL is no", id="a key in the address"),
        pytest.param({"OPENAI_BASE_URL": "http://two words/v1"}, "OPENAI_BASE_URL is no", id="a blank in the address"),
        pytest.param({"OPENAI_BASE_URL": "http://h:port/v1"}, "OPENAI_BASE_URL is no", id="a port that is none"),
        pytest.param({"OPENAI_API_KEY": KEY, "HTTPS_PROXY": "what"}, "the proxy", id="a proxy that is none"),
        pytest.param({"OPENAI_API_KEY": KEY, "SSL_CERT_FILE": "/nowhere"}, "SSL_CERT_FILE", id="no certificates"),
    ],
)
def test_what_is_missing_is_told_before_anything_is_sent(environment: dict[str, str], says: str) -> None:
    """`load` names the variable; the key in an address is not repeated."""
    with pytest.raises(EmbedderUnavailableError, match=says) as caught:
        OpenAICompatible("text-embedding-3-small", Endpoint.from_environment(environment)).load()

    assert KEY not in f"{caught.value} {caught.value.hint}"


def test_missing_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package that sends requests the message names it."""
    monkeypatch.setitem(sys.modules, "httpx", None)

    with pytest.raises(EmbedderUnavailableError, match="httpx"):
        OpenAICompatible("m", Endpoint("http://127.0.0.1:9/v1", KEY)).load()


def test_answer_without_end_is_given_up(
    server: Server, embedder: OpenAICompatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is far larger than vectors could be fills no memory."""
    monkeypatch.setattr(openai_compatible, "_MOST_ANSWER_BYTES", 1_000)
    server.answer = lambda request, number: (200, {}, b" " * 100_000)

    with pytest.raises(EmbedderUnavailableError, match="without end"):
        embedder.embed_query("four")


def test_every_model_reads_everything(embedder: OpenAICompatible) -> None:
    """What an endpoint's model reads is for those who chose it."""
    assert embedder.reads(None, None)
    assert embedder.reads(Script.greek, "greek")


def test_own_server_needs_no_key(server: Server) -> None:
    """With an address of one's own a key is optional, and no empty one is sent."""
    made = OpenAICompatible("m", Endpoint.from_environment({"OPENAI_BASE_URL": server.url}))
    vector = made.embed_query("four")
    made.close()

    assert vector.shape == (3,)
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"HTTPS_PROXY": "http://p:1"}, "http://p:1", id="capitals"),
        pytest.param({"https_proxy": "http://p:1", "NO_PROXY": "other.example"}, "http://p:1", id="small letters"),
        pytest.param({"HTTP_PROXY": "http://p:1"}, None, id="for another scheme"),
        pytest.param({"ALL_PROXY": "http://p:1"}, "http://p:1", id="for all"),
        pytest.param({"ALL_PROXY": "http://p:1", "no_proxy": "a, .models.example"}, None, id="domain left out"),
        pytest.param({"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, None, id="all left out"),
    ],
)
def test_proxy_comes_from_what_is_handed_in(environment: dict[str, str], proxy: str | None) -> None:
    """The proxy is chosen as curl chooses it, from the mapping and not from the process."""
    url = {"OPENAI_BASE_URL": "https://embed.models.example/v1"}

    assert Endpoint.from_environment({**environment, **url}).proxy == proxy


def test_environment_of_the_process_is_not_read(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy or key that only the process has is not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    made = OpenAICompatible("m", Endpoint(server.url, KEY))
    made.embed_query("four")
    made.close()

    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_spaces_of_two_endpoints_differ() -> None:
    """The same name elsewhere may be another model; the key is no part of it."""
    here, there = Endpoint("http://a.example/v1", "k1"), Endpoint("http://b.example/v1", "k1")
    identities = [
        OpenAICompatible(model, endpoint).identity
        for model, endpoint in [("m", here), ("m", there), ("n", here), ("m", Endpoint(here.url, "k2"))]
    ]

    assert len(set(identities)) == 3
    assert identities[0] == identities[3]


def test_threads_share_one_embedder(server: Server, embedder: OpenAICompatible) -> None:
    """Several threads at once each get their own answer."""
    found: dict[int, float] = {}

    def ask(length: int) -> None:
        vector = embedder.embed_query("x" * length)
        found[length] = float(vector[0] / vector[2])

    threads = [threading.Thread(target=ask, args=(length,)) for length in range(1, 17)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {length: round(value) for length, value in found.items()} == {length: length for length in range(1, 17)}
