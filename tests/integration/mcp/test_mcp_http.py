"""The HTTP door of the MCP server over real sockets: the SDK's own clients, raw requests, and callers who may not come in."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from omnislash.engine import SearchOptions
from omnislash.surfaces.mcp import http
from omnislash.surfaces.mcp.progress import tell
from omnislash.surfaces.mcp.server import Caller, make_server
from omnislash.surfaces.web.binding import Binding
from omnislash.surfaces.web.limits import Limits
from tests.integration.conftest import SampleBrain, WorkerProcess
from tests.unit.surfaces.web.doors import Door, open_door

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omnislash import Brain

TOKEN = "a-token-of-some-length"
#: One client for all raw requests: each of its own would load the certificates of the machine anew.
WEB = httpx.Client(verify=False, timeout=30)
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
#: The newest revision that begins with a handshake, and the oldest.
NEW, OLD = "2025-11-25", "2024-11-05"


@pytest.fixture(scope="module", autouse=True)
def _web() -> Iterator[None]:
    """Close what the raw requests left open."""
    yield
    WEB.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleBrain]:
    """A small brain with a search by words alone."""
    brain = SampleBrain(tmp_path_factory.mktemp("http") / "brain")
    brain.put("omnislash.yaml", "memory: {embeddingModel: none}\n")
    brain.role("nova")
    brain.put_memory("main/MEMORY.md", "The float of the till is 150.\n")
    yield brain
    brain.close()


@pytest.fixture(scope="module")
def brain(sample: SampleBrain) -> Brain:
    """The brain, open as the command opens it."""
    return sample.open(search=SearchOptions(on_progress=tell))


@pytest.fixture(scope="module")
def door(brain: Brain) -> Iterator[Door]:
    """The server as the command starts it."""
    place = Binding(host="127.0.0.1", port=0)
    caller = Caller(role="nova")
    opened = Door(lambda on_ready, stop: http.serve_http(brain, caller, place, stop_descriptor=stop, on_ready=on_ready))
    with contextlib.closing(opened):
        assert opened.binding.port
        yield opened


@contextlib.contextmanager
def other_door(brain: Brain, binding: Binding | None = None, **options: Any) -> Iterator[Door]:
    """Open a door of its own with other limits."""
    server = make_server(brain, Caller(role="nova"))
    with open_door(lambda real: http.make_app(server, real, role="nova", **options), binding) as opened:
        yield opened


def message(method: str, params: dict[str, Any] | None = None, *, number: int | str | None = 1) -> dict[str, Any]:
    """Return a request; without a number a notification."""
    head: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return head if number is None else {**head, "id": number}


def hello(version: str = NEW) -> dict[str, Any]:
    """Return the request that begins a session."""
    return message(
        "initialize",
        {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}},
    )


class Session:
    """A session by raw requests."""

    def __init__(self, url: str, *, version: str = NEW, headers: dict[str, str] | None = None) -> None:
        self.url = f"{url}/mcp"
        self.headers = {**HEADERS, **(headers or {})}
        begun = WEB.post(self.url, headers=self.headers, json=hello(version))
        assert begun.status_code == 200, begun.text
        self.hello = read_event(begun)
        self.headers |= {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": version}
        assert self.post(message("notifications/initialized", number=None)).status_code == 202

    def post(self, content: Any, **headers: str) -> httpx.Response:
        """Send one message."""
        return WEB.post(self.url, headers={**self.headers, **headers}, json=content)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        answer = read_event(self.post(message("tools/call", {"name": name, "arguments": arguments})))
        result: dict[str, Any] = answer["result"]
        return result


def read_event(response: httpx.Response) -> dict[str, Any]:
    """Return the last message of a stream."""
    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    found: dict[str, Any] = json.loads(data[-1])
    assert found["jsonrpc"] == "2.0"
    return found


# -- the SDK's clients -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_two_clients_work_at_once(door: Door, sample: SampleBrain, mode: str) -> None:
    """Two of the SDK's clients write and read in turns; every verdict is true, and each reads what the other wrote."""

    async def work(client: Client, name: str) -> None:
        for number in range(5):
            done = await client.call_tool("memory_write", {"content": f"Note {number} of {name} in {mode}."})
            assert done.structured_content is not None
            assert done.structured_content["outcome"] == "written"

    async def run() -> str:
        async with (
            Client(f"{door.url}/mcp", mode=mode, cache=None) as one,
            Client(f"{door.url}/mcp", mode=mode, cache=None) as two,
        ):
            async with anyio.create_task_group() as group:
                group.start_soon(work, one, "one")
                group.start_soon(work, two, "two")
            read = await two.call_tool("memory_read", {"path": "main/2026/08/2026-08-30.md"})
            assert read.structured_content is not None
            return str(read.structured_content["content"])

    text = anyio.run(run)
    on_disk = (sample.root / "memory/main/2026/08/2026-08-30.md").read_text(encoding="utf-8")

    for name in ("one", "two"):
        assert [on_disk.index(f"Note {number} of {name} in {mode}.") for number in range(5)] == sorted(
            on_disk.index(f"Note {number} of {name} in {mode}.") for number in range(5)
        )
        assert on_disk.count(f"of {name} in {mode}.") == 5
        assert text.count(f"of {name} in {mode}.") == 5


def test_a_token_is_asked_for_and_enough(brain: Brain) -> None:
    """With the token the SDK's client works; without it, and with another one, every path is 401 with a challenge."""
    binding = Binding(host="127.0.0.1", port=0, token=TOKEN)

    async def run(url: str) -> int:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as web,
            Client(streamable_http_client(url, http_client=web), mode="legacy") as client,
        ):
            return len((await client.list_tools()).tools)

    with other_door(brain, binding) as opened:
        assert anyio.run(run, f"{opened.url}/mcp") >= 6
        session = Session(opened.url, headers={"Authorization": f"Bearer {TOKEN}"})
        refused = [
            WEB.post(f"{opened.url}/mcp", headers=HEADERS, json=hello()),
            WEB.get(opened.url),
            session.post(message("tools/list"), Authorization="Bearer another-token-here"),
            WEB.get(f"{opened.url}/.well-known/oauth-protected-resource"),
        ]

    assert [answer.status_code for answer in refused] == [401] * 4
    assert all(answer.headers["www-authenticate"].startswith("Bearer") for answer in refused)


def test_a_worker_that_is_killed_loses_nothing(door: Door, sample: SampleBrain) -> None:
    """While two clients write, the worker that serves them is killed: what was confirmed is there once, and it goes on."""
    worker = WorkerProcess(sample.root)
    verdicts: dict[str, str] = {}
    is_killed = threading.Event()

    def write(name: str) -> None:
        session = Session(door.url)
        number = 0
        while number < 60 and not (is_killed.is_set() and number % 3 == 0 and number > 20):
            text = f"Killed {name} {number:03}."
            verdicts[text] = session.call("memory_write", content=text)["structuredContent"]["outcome"]
            number += 1

    threads = [threading.Thread(target=write, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    while len(verdicts) < 10:
        time.sleep(0.01)
    worker.kill()
    is_killed.set()
    for thread in threads:
        thread.join(60)
    last = Session(door.url).call("memory_write", content="The worker is dead, and this is written.")
    on_disk = (sample.root / "memory/main/2026/08/2026-08-30.md").read_text(encoding="utf-8")

    assert set(verdicts.values()) <= {"written", "unconfirmed", "queued"}
    assert list(verdicts.values()).count("written") >= 20
    assert {text: on_disk.count(text) for text in verdicts} == dict.fromkeys(verdicts, 1)
    assert last["structuredContent"]["outcome"] == "written"


# -- sessions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [NEW, "2025-06-18", "2025-03-26", OLD])
def test_every_handshake_revision_is_spoken(door: Door, version: str) -> None:
    """The server answers in the revision that the client speaks, and the tools are there."""
    session = Session(door.url, version=version)
    listed = read_event(session.post(message("tools/list")))

    assert session.hello["result"]["protocolVersion"] == version
    assert "memory_search" in {tool["name"] for tool in listed["result"]["tools"]}


def test_a_session_ends_when_the_client_says_so(door: Door) -> None:
    """After DELETE its id is unknown, as is one that never was; a client without one is told to begin."""
    session = Session(door.url)
    ended = WEB.delete(session.url, headers=session.headers)
    after = session.post(message("tools/list"))
    never = session.post(message("tools/list"), **{"Mcp-Session-Id": "0" * 32})
    without = WEB.post(session.url, headers=HEADERS, json=message("tools/list"))

    assert ended.status_code == 200
    assert [after.status_code, never.status_code, without.status_code] == [404, 404, 400]
    assert {answer.json()["jsonrpc"] for answer in (after, never, without)} == {"2.0"}


def test_sessions_are_limited_and_forgotten(brain: Brain) -> None:
    """The third of two sessions is refused; when they have been idle their ids are unknown, and there is room again."""
    with other_door(brain, max_sessions=2, session_idle_s=0.5) as opened:
        first, _second = Session(opened.url), Session(opened.url)
        third = WEB.post(first.url, headers=HEADERS, json=hello())
        deadline = time.monotonic() + 20
        while (answer := WEB.post(first.url, headers=HEADERS, json=hello())).status_code == 503:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        gone = first.post(message("tools/list"))

    assert third.status_code == 503
    assert answer.status_code == 200
    assert gone.status_code == 404


def test_a_stop_ends_open_streams_and_answers_what_runs(sample: SampleBrain) -> None:
    """A client that waits for news and one that writes: the stream ends at once, and the write has its verdict."""
    brain = sample.open(search=SearchOptions(on_progress=tell))
    place = Binding(host="127.0.0.1", port=0)
    opened = Door(
        lambda on_ready, stop: http.serve_http(
            brain, Caller(role="nova"), place, stop_descriptor=stop, on_ready=on_ready
        )
    )
    got: list[str] = []
    with contextlib.closing(opened):
        session = Session(opened.url)
        headers = {**session.headers, "Accept": "text/event-stream"}
        with WEB.stream("GET", session.url, headers=headers) as stream:
            assert stream.status_code == 200
            writing = threading.Thread(
                target=lambda: got.append(
                    session.call("memory_write", content="Just before the end.")["structuredContent"]["outcome"]
                )
            )
            writing.start()
            time.sleep(0.02)
            began = time.monotonic()
            opened.stop()
            rest = list(stream.iter_raw())
            ended = time.monotonic() - began
        writing.join(20)
        opened.wait()
        stopped = time.monotonic() - began
    brain.close()

    assert rest == []
    assert got == ["written"]
    assert ended < 2
    assert stopped < 6


# -- callers who may not come in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Host": "rebound.example"}, 421, id="another host"),
        pytest.param({"Host": "rebound.example:80"}, 421, id="another host with a port"),
        pytest.param({"Origin": "http://rebound.example"}, 403, id="another page"),
        pytest.param({"Origin": "null"}, 403, id="a sandboxed page"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="a request across sites"),
        pytest.param({"Content-Type": "text/plain"}, 400, id="what a form of any page may send"),
        pytest.param({"Accept": "application/json"}, 406, id="a client that takes no stream"),
        pytest.param({"MCP-Protocol-Version": "1999-01-01"}, 400, id="a revision that never was"),
    ],
)
def test_what_should_not_come_in_does_not(door: Door, headers: dict[str, str], status: int) -> None:
    """Each is refused before anything is done, also with the id of a session that is open."""
    session = Session(door.url)
    answer = session.post(
        message("tools/call", {"name": "memory_write", "arguments": {"content": "From somewhere else."}}), **headers
    )

    assert answer.status_code == status
    assert "Traceback" not in answer.text
    found = session.call("memory_read", path="main/2026/08/2026-08-30.md")
    assert "From somewhere else" not in str(found)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half an object"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b"[" * 100_000, id="open brackets"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep brackets"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, id="deep"
        ),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', id="a batch, which no revision in use has"),
        pytest.param(b'{"jsonrpc":"1.0","id":1,"method":"ping"}', id="an older JSON-RPC"),
        pytest.param(b'{"id":1,"method":"ping"}', id="no version"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":5}', id="a method that is a number"),
        pytest.param(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', id="an endless number"),
        pytest.param(b"null", id="null"),
    ],
)
@pytest.mark.parametrize("version", [NEW, "2026-07-28"])
def test_what_is_no_message_is_an_error_of_the_protocol(door: Door, body: bytes, version: str) -> None:
    """Both generations of the protocol answer 400 with a JSON-RPC error, and the session goes on."""
    session = Session(door.url)
    answer = WEB.post(session.url, headers={**session.headers, "MCP-Protocol-Version": version}, content=body)

    assert answer.status_code == 400
    assert answer.json()["jsonrpc"] == "2.0"
    assert answer.json()["error"]["message"]
    assert "Traceback" not in answer.text
    assert read_event(session.post(message("ping")))["result"] == {}


def test_a_body_of_five_megabytes_is_refused(door: Door) -> None:
    """With a length and in chunks without one it is 413, and the session goes on."""
    session = Session(door.url)
    piece = b"x" * 1_000_000
    announced = WEB.post(session.url, headers=session.headers, content=piece * 5)
    streamed = WEB.post(session.url, headers=session.headers, content=(piece for _ in range(5)))

    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert "4194304 bytes" in streamed.text
    assert read_event(session.post(message("ping")))["result"] == {}


def test_callers_who_ask_too_often_wait(brain: Brain) -> None:
    """A burst over the limit is 429 with the seconds to wait, and nothing of it is done."""
    with other_door(brain, limits=Limits(rate=1, burst=3)) as opened:
        statuses = [WEB.get(opened.url) for _ in range(6)]

    assert [answer.status_code for answer in statuses] == [200] * 3 + [429] * 3
    assert int(statuses[-1].headers["retry-after"]) >= 1


def test_a_slow_caller_holds_nobody_up(brain: Brain) -> None:
    """A client that sends half a body is given up, and another one works meanwhile."""
    with other_door(brain, limits=Limits(body_s=1.0)) as opened:
        place = f"127.0.0.1:{opened.binding.port}"
        head = f"POST /mcp HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{{"
        slow: list[bytes] = []
        thread = threading.Thread(target=lambda: slow.append(opened.talk(head.encode(), timeout_s=20)))
        thread.start()
        outcome = Session(opened.url).call("memory_overview")["structuredContent"]["line"]
        thread.join(20)

    assert outcome == "main"
    assert slow[0].startswith(b"HTTP/1.1 408 ")


def test_a_person_who_looks_is_told_what_this_is(door: Door) -> None:
    """The first page says what to connect to, other pages are 404, and a stray slash leads to the right place."""
    page = WEB.get(door.url)

    assert page.headers["content-type"].startswith("text/plain")
    assert f"{door.url}/mcp" in page.text
    assert "nova" in page.text
    assert WEB.get(f"{door.url}/nowhere").status_code == 404
    assert WEB.post(door.url).status_code == 405
    slash = WEB.post(f"{door.url}/mcp/", headers=HEADERS, json=hello())
    assert (slash.status_code, slash.headers["location"]) == (307, f"{door.url}/mcp")
