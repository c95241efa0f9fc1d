"""The MCP server by raw lines: the handshake, calls, errors, and everything on stdin that is no message."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.conftest import SampleBrain
from tests.mcp_lines import NEW, OLD, McpLines, make_request, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
TODAY = "main/2026/08/2026-08-30.md"
ENVIRONMENT = {"OMNISLASH_NOW": "2026-08-30T09:05:00+00:00"}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleBrain]:
    """A small brain with a search by words alone."""
    brain = SampleBrain(tmp_path_factory.mktemp("lines") / "brain")
    brain.put("omnislash.yaml", "memory: {embeddingModel: none}\n")
    brain.role("nova")
    brain.put_memory("main/MEMORY.md", "The float of the till is 150.\n")
    yield brain
    brain.close()


def start(sample: SampleBrain) -> McpLines:
    """Start a server of its own."""
    return McpLines(sample.root, role="nova", environment=ENVIRONMENT)


@pytest.fixture(scope="module")
def server(sample: SampleBrain) -> Iterator[McpLines]:
    """One process for most of this; at its end every line that it said was a message, and it ends well."""
    started = start(sample)
    try:
        early = [started.ask("tools/list"), started.ask("tools/call", {"name": "memory_overview", "arguments": {}})]
        assert all("error" in answer for answer in early), "nothing is served before the handshake"
        assert "result" in started.ask("ping"), "a ping is answered at any time"
        assert started.begin("1999-01-01")["protocolVersion"] == NEW, "a revision that never was"
        yield started
        assert "result" in started.ask("ping")
        assert started.finish() == 0
        assert "Traceback" not in started.stderr
    finally:
        started.close()


def test_the_handshake_says_who_serves(server: McpLines) -> None:
    """A second handshake on the connection is answered too, and the tools are the ones of the role."""
    listed = server.ask("tools/list")["result"]["tools"]

    assert {"memory_overview", "memory_read", "memory_write", "memory_search"} <= {tool["name"] for tool in listed}
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed)


def test_a_call_answers_as_text_and_as_an_object(server: McpLines, sample: SampleBrain) -> None:
    """Both say the same, and the entry is on the disk when the answer comes."""
    result = server.call("memory_write", content="The ferry leaves at seven.")

    assert result["structuredContent"]["outcome"] == "written"
    assert json.loads(text_of(result)) == result["structuredContent"]
    assert "The ferry leaves at seven." in sample.text(TODAY)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        pytest.param("no/such/method", {}, METHOD_NOT_FOUND, id="an unknown method"),
        pytest.param("tools/call", {"name": "no_such_tool", "arguments": {}}, INVALID_PARAMS, id="an unknown tool"),
        pytest.param("tools/call", {}, INVALID_PARAMS, id="a call of nothing"),
        pytest.param("tools/call", {"name": 5}, INVALID_PARAMS, id="a name that is a number"),
        pytest.param("tools/call", {"name": "memory_read", "arguments": [1]}, INVALID_PARAMS, id="arguments as a list"),
        pytest.param("resources/read", {"uri": "file:///etc/passwd"}, None, id="a file of the machine"),
        pytest.param("prompts/get", {"name": "no_such_prompt"}, INVALID_PARAMS, id="an unknown prompt"),
    ],
)
def test_errors_are_errors_of_the_protocol(
    server: McpLines, method: str, params: dict[str, Any], code: int | None
) -> None:
    """Each has its own code and a sentence, and bears the id of the request."""
    error = server.ask(method, params)["error"]

    assert code is None or error["code"] == code
    assert "/etc/passwd" not in error["message"] or "root:" not in error["message"]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": 5}, {"path": "../../etc/passwd"}, {"path": "/etc/passwd"}, {"path": "main/nothing.md"}, {"path": ""}],
)
def test_a_wrong_call_is_an_answer_that_an_agent_can_read(server: McpLines, arguments: dict[str, Any]) -> None:
    """Arguments that can't be meant come back marked as an error, with a sentence."""
    result = server.call("memory_read", **arguments)

    assert result["isError"] is True
    assert text_of(result).strip().endswith((".", "'", "”"))


NOT_JSON = [
    pytest.param(b"hello", id="a word"),
    pytest.param(b"{", id="half an object"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"ping"', id="half a request"),
    pytest.param(b"\x00\x01\x02\xff\xfe\x80", id="binary"),
    pytest.param(b'{"jsonrpc":"2.0","method":"ping","x":"\xff"}', id="bytes that are no UTF-8"),
    pytest.param(b"[" * 100_000, id="100,000 open brackets"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, id="100,000 brackets"),
    pytest.param(b'{"a":' * 50_000 + b"1" + b"}" * 50_000, id="50,000 objects"),
    pytest.param(b'{"jsonrpc":"2.0","method":"x"} {"jsonrpc":"2.0","method":"x"}', id="two on a line"),
    pytest.param(b"Content-Length: 5", id="a header of another protocol"),
    pytest.param(b"GET / HTTP/1.1\r", id="a request of HTTP"),
    pytest.param("\ufeff".encode() + b"{}", id="a byte order mark"),
    pytest.param('{"jsonrpc":"2.0"}'.encode("utf-16"), id="UTF-16"),
]
NO_REQUEST = [
    pytest.param(b"5", id="a number"),
    pytest.param(b"null", id="null"),
    pytest.param(b"[]", id="an empty batch"),
    pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', id="a batch"),
    pytest.param(b"{}", id="an empty object"),
    pytest.param(b'{"jsonrpc":"1.0","method":"ping"}', id="an older JSON-RPC"),
    pytest.param(b'{"jsonrpc":"2.0","method":5}', id="a method that is a number"),
]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        *[pytest.param(*case.values, {PARSE_ERROR}, id=str(case.id)) for case in NOT_JSON],
        *[pytest.param(*case.values, {INVALID_REQUEST}, id=str(case.id)) for case in NO_REQUEST],
    ],
)
def test_a_line_that_is_no_message_is_said_to_be_none(server: McpLines, line: bytes, codes: set[int]) -> None:
    """It is an error without an id, and the next request is answered."""
    server.send(line)
    error = server.wait_for(None)["error"]

    assert error["code"] in codes
    assert "result" in server.ask("ping")


@pytest.mark.parametrize("line", [b"", b"   ", b"\t", b"\r"])
def test_an_empty_line_is_nothing(server: McpLines, line: bytes) -> None:
    """White space between messages is not worth an error."""
    server.send(line)

    assert "result" in server.ask("ping")
    assert [message for message in server.held if "method" not in message] == []


def test_lines_may_end_as_on_windows(server: McpLines) -> None:
    """A carriage return before the end of the line belongs to no message."""
    number = server.new_number()
    server.send(json.dumps(make_request("ping", number=number)).encode() + b"\r")

    assert server.wait_for(number)["result"] == {}


@pytest.mark.parametrize("number", ["a text", 0, -5, 2**53, "", "ünïcode 🌻", "x" * 10_000])
def test_an_id_comes_back_as_it_was(server: McpLines, number: int | str) -> None:
    """Text stays text and a number stays a number."""
    server.send(make_request("ping", number=number))

    assert server.wait_for(number)["id"] == number


@pytest.mark.parametrize("number", [1.5, {}, []])
def test_an_id_that_can_be_none_is_refused(server: McpLines, number: object) -> None:
    """Who asks with an id that no answer can bear is told so, and waits for nothing."""
    server.send(json.dumps({"jsonrpc": "2.0", "method": "ping", "id": number}).encode())

    assert server.wait_for(None)["error"]["code"] == INVALID_REQUEST
    assert "result" in server.ask("ping")


@pytest.mark.parametrize("number", [None, True])
def test_an_id_that_means_little_ends_nothing(server: McpLines, number: object) -> None:
    """Some clients write an empty id into what wants no answer; whatever is answered, the next request is too."""
    server.send(json.dumps({"jsonrpc": "2.0", "method": "ping", "id": number}).encode())

    assert "result" in server.ask("ping")
    server.held.clear()


def test_the_same_id_twice_ends_nothing(server: McpLines) -> None:
    """Two requests of one id at once both get an answer, or the second is refused; further ones are served."""
    for _ in range(2):
        server.send(make_request("tools/list", number="twice"))
    first = server.wait_for("twice")

    assert "result" in first or "error" in first
    assert "result" in server.wait_for("twice")
    assert "result" in server.ask("ping")


def test_notifications_are_never_answered(server: McpLines) -> None:
    """Known and unknown ones, and answers to what nobody asked, are heard in silence."""
    for line in (
        make_request("notifications/initialized", number=None),
        make_request("notifications/nothing-known", {"a": 1}, number=None),
        make_request("notifications/cancelled", {"requestId": 999_999}, number=None),
        make_request("notifications/cancelled", {}, number=None),
        make_request("notifications/progress", {"progressToken": 1, "progress": 5}, number=None),
        make_request("tools/list", number=None),
        {"jsonrpc": "2.0", "id": 12_345, "result": {}},
        {"jsonrpc": "2.0", "id": 12_346, "error": {"code": 1, "message": "no"}},
    ):
        server.send(line)

    assert "result" in server.ask("ping")
    assert [message for message in server.held if "method" not in message] == []


@pytest.mark.parametrize("escape", ["\\ud83c", "\\udf3b", "\\ud83c sown \\udf3b"])
def test_half_an_emoji_is_refused_and_its_request_is_answered(
    server: McpLines, sample: SampleBrain, escape: str
) -> None:
    """A lone surrogate is no text: the request that holds one is answered under its own id, and nothing is written."""
    number = server.new_number()
    call = json.dumps(
        make_request("tools/call", {"name": "memory_write", "arguments": {"content": "HERE"}}, number=number)
    )
    before = sample.files()
    server.send(call.replace("HERE", escape).encode())
    answer = server.wait_for(number)

    assert "error" in answer or answer["result"]["isError"]
    assert sample.files() == before


def test_a_nul_is_refused(server: McpLines, sample: SampleBrain) -> None:
    """It is JSON, and no text that can be stored; the reason is said."""
    before = sample.files()
    result = server.call("memory_write", content="bed \x00 sown")

    assert result["isError"] is True
    assert "NUL" in text_of(result)
    assert sample.files() == before


def test_a_line_of_ten_megabytes_is_a_message_or_said_to_be_too_long(server: McpLines, sample: SampleBrain) -> None:
    """A request of ten megabytes gets its answer; a line beyond what is taken is refused, and the next one is read."""
    number = server.new_number()
    server.send(make_request("ping", {"_meta": {"padding": "x" * 10_000_000}}, number=number))
    answer = server.wait_for(number)
    server.send(b"x" * 20_000_000)
    error = server.wait_for(None)["error"]

    assert "result" in answer
    assert error["code"] in {INVALID_REQUEST, PARSE_ERROR}
    assert "result" in server.ask("ping")


def test_a_long_call_can_be_cancelled(server: McpLines, sample: SampleBrain) -> None:
    """A write that waits for a writer which does not come on is let go; meanwhile and afterwards others are answered."""
    worker = sample.start_worker()
    worker.send(signal.SIGSTOP)
    number = server.new_number()
    server.send(
        make_request("tools/call", {"name": "memory_write", "arguments": {"content": "Never mind."}}, number=number)
    )
    began = time.monotonic()
    during = server.ask("tools/list")
    server.send(make_request("notifications/cancelled", {"requestId": number, "reason": "enough"}, number=None))
    after = server.call("memory_read", path="main/MEMORY.md")
    took = time.monotonic() - began
    worker.kill()
    done = server.call("memory_write", content="After the cancelled one.")

    assert "result" in during
    assert "150" in text_of(after)
    assert took < 20
    assert [message for message in server.held if message.get("id") == number and "result" in message] == []
    assert done["structuredContent"]["outcome"] == "written"
    assert sample.text(TODAY).count("After the cancelled one.") == 1
    server.held.clear()


def test_an_old_client_is_served_and_the_end_of_input_loses_nothing(sample: SampleBrain) -> None:
    """The oldest revision is spoken; when input ends in the middle of a line, what was sent before is answered."""
    started = start(sample)
    try:
        found = started.begin(OLD)["protocolVersion"]
        number = started.new_number()
        content = "Sent at the very end."
        started.send(
            make_request("tools/call", {"name": "memory_write", "arguments": {"content": content}}, number=number)
        )
        started.send_part(b'{"jsonrpc":"2.0","id":77,"method":"pi')
        started.end_input()
        answer = started.wait_for(number)
        code = started.finish()
    finally:
        started.close()

    assert found == OLD
    assert answer["result"]["structuredContent"]["outcome"] == "written"
    assert sample.text(TODAY).count(content) == 1
    assert code == 0


def test_a_signal_ends_it_well(sample: SampleBrain) -> None:
    """With stdin still open, what was sent before is answered, and nothing is said that is no message."""
    started = start(sample)
    try:
        started.begin()
        content = "Sent before SIGTERM."
        asked = started.new_number()
        started.send(
            make_request("tools/call", {"name": "memory_write", "arguments": {"content": content}}, number=asked)
        )
        answer = started.wait_for(asked)
        started.stop(signal.SIGTERM)
        code = started.finish()
    finally:
        started.close()

    assert answer["result"]["structuredContent"]["outcome"] == "written"
    assert sample.text(TODAY).count(content) == 1
    assert code == 0
    assert "Traceback" not in started.stderr
