"""`omnislash chat` as a person and as a program use it: real processes, a real terminal, a server on loopback."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain
from tests.acceptance.chat_server import ChatServer
from tests.warm import warm_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
#: Variables that make the programs below behave otherwise than for a person.
_OURS = ("OMNISLASH_", "PYTHON", "PYTEST", "PYDANTIC", "CI", "OPENAI_", "ANTHROPIC_")
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)} | {
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
    "OMNISLASH_NOW": "2026-11-30T18:00:00+01:00",
    "LC_ALL": "C.UTF-8",
}
#: Makes its standard input the terminal of a session of its own, so that its keys are signals.
_ON_TERMINAL = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
CTRL_C, CTRL_D, LEFT = "\x03", "\x04", "\x1b[D"
EVERYTHING = "memory:read, memory:write, memory:edit, memory:delete"
FILES = {
    "omnislash.yaml": "memory: {embeddingModel: none}\nmodels: {default: 'openai-chat:scripted'}\n",
    "constitution/MANIFEST.yaml": "locale: {timezone: Europe/Berlin}\n",
    "constitution/access.yaml": 'chats: {"telegram:1": nova, "telegram:2": nova, "group:ops": ops}\n'
    'bots: [{name: desk, role: ops, secretary: {contacts: {"maria@example.org": nova}}}]\n',
    "features/team/nova.agent.md": f"---\ncapabilities: [{EVERYTHING}]\nmemory: {{report: [ops]}}\n---\nYou are Nova.\n",
    "features/team/ops.agent.md": "---\ncapabilities: [memory:read]\nmemory: {write: ops}\n---\nYou are Ops.\n",
    "memory/main/MEMORY.md": "# Main\n\n- Tomek is not rung before nine.\n",
}


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A small brain that searches by words alone, and whose model is the server's."""
    for path, text in FILES.items():
        place = tmp_path / "brain" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return tmp_path / "brain"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """The model; its answers are put in by the test."""
    server = ChatServer()
    yield server
    server.close()


class Chat:
    """Runs `omnislash chat` in a brain, against the server."""

    def __init__(self, brain: Path, server: ChatServer) -> None:
        self.brain = brain
        self.environment = ENVIRONMENT | server.environment

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "omnislash", "--brain", str(self.brain), "chat", *words]

    def run(self, *words: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        """Run it with stdin and both outputs as pipes."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*warm_python(), *self.words(*words)[1:]],
            env=self.environment,
            input=data,
            capture_output=True,
            timeout=60,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, out + err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def sessions(self) -> list[tuple[str, str, int]]:
        """Return id, role and turns of the sessions that are kept."""
        with Brain.open(self.brain) as brain:
            return [(each.id, each.role, each.turns) for each in brain.sessions().sessions]


@pytest.fixture
def chat(brain: Path, server: ChatServer) -> Chat:
    """What runs the command."""
    return Chat(brain, server)


class Terminal:
    """A person at a terminal."""

    def __init__(self, chat: Chat, *words: str) -> None:
        """Start the command; what it shows is read with `wait_for`."""
        self._leader, follower = pty.openpty()
        environment = chat.environment | {"TERM": "xterm", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *chat.words(*words)],
            env=environment,
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        #: All that was shown so far, without colours.
        self.shown = ""
        self._raw = b""
        self._seen = 0

    def type(self, text: str, *, end: str = "\r") -> None:
        """Type a line, or keys."""
        os.write(self._leader, (text + end).encode())

    def wait_for(self, text: str) -> str:
        """Wait until this is shown after what was waited for before, and return what came until then."""
        deadline = time.monotonic() + 45
        while (at := self.shown.find(text, self._seen)) < 0:
            if time.monotonic() > deadline or not self._read(0.5):
                raise AssertionError(f"{text!r} is not shown: {self.shown[self._seen :]!r}")
        start, self._seen = self._seen, at + len(text)
        return self.shown[start : self._seen]

    def _read(self, patience_s: float) -> bool:
        """Read what there is; False at the end."""
        if not select.select([self._leader], [], [], patience_s)[0]:
            return True
        try:
            part = os.read(self._leader, 1 << 16)
        except OSError:
            part = b""
        self._raw += part
        text = self._raw.decode("utf-8", "ignore").replace("\r\n", "\n")
        self.shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
        return bool(part)

    def end(self) -> int:
        """Read to the end and return the exit code."""
        deadline = time.monotonic() + 45
        while self._read(0.5):
            assert time.monotonic() < deadline, f"The talk does not end: {self.shown[self._seen :]!r}"
        os.close(self._leader)
        assert "Traceback" not in self.shown
        assert "observability" not in self.shown  # the library's advertisement
        return self.process.wait(timeout=30)


@pytest.fixture
def sit_down(chat: Chat) -> Iterator[Callable[..., Terminal]]:
    """Start talks at a terminal; what a test leaves running is ended."""
    started: list[Terminal] = []

    def start(*words: str) -> Terminal:
        started.append(Terminal(chat, *words))
        return started[-1]

    yield start
    for talk in started:
        if talk.process.poll() is None:
            talk.process.kill()
            talk.process.wait()


# -- at a terminal ---------------------------------------------------------------------------------------------------


def test_an_answer_comes_piece_by_piece_and_the_talk_goes_on(
    sit_down: Callable[..., Terminal], chat: Chat, server: ChatServer
) -> None:
    """The first word is shown while the model still writes; tools, tokens and memory are told; and the talk resumes."""
    gate = threading.Event()
    noted = ("memory_write", {"content": "The stove is out."})
    server.script = [["The first ", gate, "and the \x1b[31msecond\u202e."], [noted], ["Noted."]]
    talk = sit_down("--role", "nova")
    first = talk.wait_for("\n")
    assert first.startswith("nova · line main · model default (openai-chat:scripted) · session ")
    talk.wait_for("> ")
    talk.type("Hello.")
    talk.wait_for("The first ")
    assert "second" not in talk.shown
    gate.set()
    talk.wait_for("and the \\x1b[31msecond\\u202e.\n")
    talk.wait_for("1 request · tokens 11 in, 3 out")
    talk.wait_for("> ")
    talk.type("The stove is out.")
    talk.wait_for("  memory_write 'The stove is out.': written, main/2026/11/2026-11-30.md\n")
    talk.wait_for("Noted.\n2 requests · tokens 22 in, 6 out")
    talk.wait_for("> ")
    talk.type("/memory")
    talk.wait_for("agent-memory main/MEMORY.md: ")
    talk.wait_for("recall: silent")
    talk.type("/quit")
    assert talk.end() == 0
    session = first.split("session ")[1].strip()
    resuming = talk.shown[talk.shown.index(f"Session {session}; go on with: ") :]
    assert f"--role nova --session {session}" in resuming
    assert "\u202e" not in talk.shown
    assert server.said_to(1)[:2] == ["Hello.", "The first and the \x1b[31msecond\u202e."]
    assert chat.sessions() == [(session, "nova", 2)]


def test_ctrl_c_ends_an_answer_and_keeps_it_and_at_the_prompt_the_talk(
    sit_down: Callable[..., Terminal], chat: Chat, server: ChatServer
) -> None:
    """What was said until Ctrl-C is in the conversation that follows; the second Ctrl-C, at the prompt, ends it."""
    gate = threading.Event()
    server.script = [["The first half", gate, " never comes."], ["And on."]]
    talk = sit_down("--chat", "telegram:1")
    talk.wait_for("> ")
    talk.type("Hello.")
    talk.wait_for("The first half")
    talk.type(CTRL_C, end="")
    talk.wait_for("\nCancelled; what was said until then is kept.")
    talk.wait_for("> ")
    talk.type("Go on.")
    talk.wait_for("And on.")
    talk.wait_for("> ")
    talk.type(CTRL_C, end="")
    assert talk.end() == 0
    gate.set()
    assert "Session chat:telegram:1; go on with: " in talk.shown
    assert talk.shown.rstrip().endswith("--chat telegram:1")
    assert "never comes" not in talk.shown
    said = server.said_to(1)
    assert (said[0], said[1].startswith("The first half"), said[-1]) == ("Hello.", True, "Go on.")


def test_lines_are_edited_joined_and_ended_with_ctrl_d(
    sit_down: Callable[..., Terminal], chat: Chat, server: ChatServer
) -> None:
    """The arrow keys work, a message may have several lines, an error of the model ends no talk, and Ctrl-D does."""
    server.script = [["One."], ["Two."], ["Three."], 400, ["Five."]]
    talk = sit_down("--role", "ops")
    talk.wait_for("> ")
    talk.type(f"Helo{LEFT}l")
    talk.wait_for("One.")
    talk.wait_for("> ")
    talk.type("first\\")
    talk.wait_for(". ")
    talk.type("second")
    talk.wait_for("Two.")
    talk.wait_for("> ")
    talk.type('"""a')
    talk.wait_for(". ")
    talk.type('/quit"""')
    talk.wait_for("Three.")
    talk.wait_for("> ")
    talk.type("This one fails.")
    talk.wait_for("omnislash: ")
    talk.wait_for("> ")
    talk.type("//etc")
    talk.wait_for("Five.")
    talk.wait_for("> ")
    talk.type(CTRL_D, end="")
    assert talk.end() == 0
    said = [server.said_to(number)[-1] for number in range(5)]
    assert said == ["Hello", "first\nsecond", "a\n/quit", "This one fails.", "/etc"]
    assert "This one fails." not in server.said_to(4)


@pytest.mark.rule("BOUNDARY-14", "KNOB-26")
def test_a_rule_that_goes_while_people_talk_ends_their_talk(
    sit_down: Callable[..., Terminal], chat: Chat, server: ChatServer
) -> None:
    """The next message gets a sentence and no answer; /new and SIGTERM at the prompt work as anywhere."""
    server.script = [["One."]]
    talk = sit_down("--bot", "desk", "--contact", "maria@example.org")
    assert talk.wait_for("\n").startswith("nova · line main")
    talk.wait_for("> ")
    talk.type("Hello.")
    talk.wait_for("One.")
    talk.wait_for("> ")
    talk.type("/sesion")
    talk.wait_for("Did you mean 'session'?")
    talk.type("/new")
    talk.wait_for("nova · line main")
    talk.wait_for("> ")
    (chat.brain / "constitution" / "access.yaml").write_text("chats: {}\n", encoding="utf-8")
    talk.type("And now?")
    talk.wait_for("omnislash: No rule of constitution/access.yaml names the bot 'desk', so it runs no role.")
    talk.wait_for("> ")
    talk.process.send_signal(signal.SIGTERM)
    assert talk.end() == 128 + signal.SIGTERM
    assert len(server.requests) == 1


# -- one message -----------------------------------------------------------------------------------------------------


def test_one_message_is_answered_on_stdout_and_the_rest_is_told_on_stderr(chat: Chat, server: ChatServer) -> None:
    """Stdout holds the answer, as the model wrote it; its session goes on by its id, for this role alone."""
    server.script = [["Not before \x1bnine", "."], ["I said."]]
    done = chat.run("--role", "nova", "May I ring Tomek?")
    assert (done.returncode, done.stdout) == (0, "Not before \x1bnine.\n")
    head, *_, cost = done.stderr.strip().split("\n")
    session = head.split("session ")[1]
    assert cost.startswith("1 request · tokens 11 in, 3 out")
    more = chat.run("--quiet", "--role", "nova", "--session", session, "-", stdin="And\nnow?\n")
    assert (more.returncode, more.stdout, more.stderr) == (0, "I said.\n", "")
    assert server.said_to(1) == ["May I ring Tomek?", "Not before \x1bnine.", "And\nnow?"]
    other = chat.run("--role", "ops", "--session", session, "Hello.")
    assert (other.returncode, other.stdout, len(server.requests)) == (2, "", 2)
    assert f"The session '{session}' belongs to the role 'nova', not to 'ops'." in other.stderr


def test_a_model_that_fails_is_one_sentence_and_exit_code_1(chat: Chat, server: ChatServer) -> None:
    """Nothing goes to stdout, or with --json one object that says why; and nothing of the turn is kept."""
    server.script = [400]
    done = chat.run("--role", "nova", "--quiet", "Hello.")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("omnislash: ")
    unknown = chat.run("--role", "nova", "--json", "--model", "defolt", "Hello.")
    error = json.loads(unknown.stdout)["error"]
    assert (unknown.returncode, error["kind"]) == (1, "model")
    assert "Did you mean 'default'?" in error["message"]
    assert chat.sessions() == []


def test_ctrl_c_keeps_what_one_message_was_told(chat: Chat, server: ChatServer) -> None:
    """The process ends with 130, its one object says so, and the session holds the turn."""
    gate = threading.Event()
    server.script = [["The first half", gate, " never comes."]]
    process = subprocess.Popen(
        chat.words("--role", "nova", "--session", "s1", "--json", "Hello."),
        env=chat.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not server.requests:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    gate.set()
    answer = json.loads(out)
    assert (process.returncode, answer["cancelled"]) == (130, True)
    assert "The first half".startswith(answer["text"])
    assert chat.sessions() == [("s1", "nova", 1)]


# -- a pipe ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("BOUNDARY-14", "TOOL-06")
def test_each_line_of_a_pipe_is_a_message_of_one_talk(chat: Chat, server: ChatServer) -> None:
    """The answers come in order, with an empty line between; a line that gets none does not hold up the others.

    The group's narrow role is offered the tools of that role, and is shown nothing of the line `main`.
    """
    server.script = [["One."], 400, ["Three\nlines."]]
    done = chat.run("--chat", "group:ops", "--quiet", stdin=b"first\n\n/quit\n\xff\nlast")
    assert (done.returncode, done.stdout) == (1, "One.\n\nThree\nlines.\n")
    assert "Line 4 of stdin is no UTF-8 text" in done.stderr
    assert server.said_to(2) == ["first", "One.", "last"]
    assert server.tools_of(2) == ["memory_overview", "memory_list", "memory_search", "memory_read"]
    assert "Tomek" not in json.dumps(server.requests[2])
    assert chat.sessions() == [("chat:group:ops", "ops", 2)]


def test_json_is_one_object_a_line(chat: Chat, server: ChatServer) -> None:
    """A turn with tools, and a turn that failed; stderr has the sentence alone."""
    server.script = [[("memory_write", {"content": "The stove is out."})], ["Noted."], 400]
    done = chat.run("--chat", "telegram:1", "--json", stdin="Note it.\nAgain.\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["session"], first["text"]) == (1, "chat:telegram:1", "Noted.")
    assert [(call["tool"], call["answer"]["outcome"]) for call in first["calls"]] == [("memory_write", "written")]
    assert first["usage"] | {"costUsd": None} == {"requests": 2, "inputTokens": 22, "outputTokens": 6, "costUsd": None}
    assert {"role", "line", "model", "cancelled"} <= first.keys()
    assert second["error"]["kind"] == "model"
    assert len(done.stderr.splitlines()) <= 2


# -- chats, replay ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("BOUNDARY-13", "BOUNDARY-14", "BOUNDARY-16", "REPORT-08", "REPORT-14")
def test_chats_share_the_line_of_their_role_and_nothing_said(chat: Chat, server: ChatServer) -> None:
    """The second chat is shown what the first one wrote and hears nothing of it; a deposit is signed with the role."""
    write = ("memory_write", {"content": "The stove is out.", "priority": True})
    deposit = ("memory_write", {"content": "Look at the stove.", "line": "ops"})
    server.script = [[write], [deposit], ["Noted."], ["Yes."]]
    assert chat.run("--chat", "telegram:1", "My word is heliotrope.").returncode == 0
    assert chat.run("--chat", "telegram:2", "What is new?").stdout == "Yes.\n"
    told = json.dumps(server.requests[3])
    assert "The stove is out." in told
    assert "heliotrope" not in told
    log = (chat.brain / "memory/ops/2026/11/2026-11-30.md").read_text(encoding="utf-8")
    assert log == "# 2026-11-30\n\n- 18:00 Look at the stove. — nova\n"
    unknown = chat.run("--chat", "telegram:3", "Hello.")
    assert (unknown.returncode, unknown.stdout, len(server.requests)) == (2, "", 4)
    assert "constitution/access.yaml" in unknown.stderr


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-10", "BOUNDARY-11")
def test_a_replay_reads_live_and_keeps_nothing(chat: Chat, server: ChatServer) -> None:
    """Memory is delivered, the write answers the fixed sentence, the second message knows nothing of the first one."""
    server.script = [[("memory_write", {"content": "The stove is out."})], ["Sorry."], ["Who are you?"]]
    done = chat.run("--replay", "--chat", "telegram:1", stdin="Note it.\nAnd?\n")
    assert (done.returncode, done.stdout) == (0, "Sorry.\n\nWho are you?\n")
    assert "not before nine" in json.dumps(server.requests[0]).replace("rung before", "not before")
    (answer,) = server.answers_of_tools(1)
    assert answer["message"] == "memory is read-only for this turn; nothing was written; do not retry"
    assert server.said_to(2) == ["And?"]
    assert "memory_write" in server.tools_of(0)
    assert "Replay: " in done.stderr
    assert chat.sessions() == []
    assert not (chat.brain / "memory/main/2026").exists()
