"""One hook of a host as a process of its own: asks the running worker, prints what it answers, and is gone.

A host waits for it before every prompt, so this module imports next to nothing, and speaks the worker's protocol by itself
(:mod:`omnislash.writer.wake` is the same with everything that a longer command needs). Without a worker the brain is
opened here.

A hook never fails a session. Whatever goes wrong, it ends with 0 and prints nothing, and a line in
`.omnislash/logs/hooks.log` says what it was: never a word of memory or of the conversation. A thread ends the process when
its time is up, whatever the rest of it waits for. What was printed is noted as sent afterwards, so that a hook that is
killed in between costs one more delivery, and none that was cut off counts as sent.

Rules: ENVELOPE-02, ENVELOPE-04, ENVELOPE-06, ENVELOPE-O7, FLUSH-O5, WRITE-O4.
Source: documentation of Claude Code, "Hooks reference", November 2026: an exit code of 2 takes the person's prompt away,
and no other output than the answer may stand on stdout.
"""

from __future__ import annotations

import gc
import os
import time

from omnislash.surfaces.adapters import hook_log
from omnislash.surfaces.adapters.hook_values import Answer, Call, Trouble
from omnislash.surfaces.adapters.quick_json import decode, encode

TYPE_CHECKING = False  # the module `typing` takes a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

#: How long a hook may take, in seconds. A person has pressed return and waits: an answer of the worker takes a tenth of a
#: second and one without a worker about one, so five seconds mean that something is wrong, and the prompt should go on.
LIMIT_S = 5.0
#: Another limit, in seconds; held between the two bounds.
LIMIT_VARIABLE = "OMNISLASH_HOOK_TIMEOUT"
_LIMIT_BOUNDS_S = (0.2, 60.0)
#: Set for what a harness starts that omnislash itself has started as a model: it must be left alone.
INSIDE = "OMNISLASH_INSIDE"
#: With one of these set the command goes the long way, which knows what they mean.
_LONG_WAY = ("OMNISLASH_REPLAY", "OMNISLASH_NOW")
#: How long a worker may take for its first word, in seconds. It says within half a second that it has read a request; one
#: that is stopped says nothing, and there must be time left to do without it.
_FIRST_WORD_S = 1.5
#: Kept for opening the brain here when an answer that the worker has begun does not come, in seconds: enough for the
#: blocks, on a slow machine too, and not for a search.
_REST_S = 2.0
#: How long the note of what was printed may take, in seconds: the host waits for the process, and a database that another
#: program holds costs one more delivery. A note takes some milliseconds.
_NOTE_S = 2.0
#: The version of the protocol and its longest line, as in `omnislash.writer.wake`; a test holds that they are the same.
PROTOCOL, LINE_LIMIT_BYTES = 1, 16 * 1024 * 1024
#: Most that is read of a payload, in bytes; escaped it still is a line.
PAYLOAD_MAX_BYTES = 4 * 1024 * 1024
_OPTIONS = ("--role", "--heartbeat", "--brain")
_STDIN, _STDOUT, _STDERR = 0, 1, 2
#: How long the end waits for its line in the log, in seconds: a disk that hangs holds up nobody.
_LOG_S = 0.2


def parse(words: Sequence[str]) -> Call | None:
    """Return the call that `hook HOST --role R [--heartbeat H] --brain DIR` makes; None for any other words."""
    if len(words) < 2 or len(words) % 2 or words[1].startswith("-"):  # noqa: PLR2004 - `hook` and the host
        return None
    options = dict(zip(words[2::2], words[3::2], strict=True))
    if not options.keys() <= set(_OPTIONS) or not {"--role", "--brain"} <= options.keys():
        return None
    if len(options) * 2 != len(words) - 2 or any(value.startswith("-") for value in options.values()):
        return None
    brain = os.path.abspath(os.path.expanduser(options["--brain"]))  # noqa: PTH100, PTH111 - pathlib costs as much as json
    return Call(host=words[1], role=options["--role"], heartbeat=options.get("--heartbeat"), brain=brain)


def run(words: Sequence[str], *, leave: Callable[[int], object] = os._exit) -> int | None:
    """Do what a host's settings ask for, and return 0; None when the words or the variables want the long way.

    Args:
        words: The command line, from `hook` on.
        leave: Ends the process when the time is up.
    """
    call = parse(words)
    if call is None or any(os.environ.get(name) for name in _LONG_WAY):
        return None
    serve(call, answer_here=_answer_here, leave=leave)
    return 0


def serve(
    call: Call,
    *,
    answer_here: Callable[..., Answer],
    leave: Callable[[int], object],
    asks_worker: bool = True,
) -> None:
    """Answer a hook within its time; nothing is raised.

    Args:
        call: Which hook.
        answer_here: Answers in this process when no worker does: `(call, payload, searches=…)`.
        leave: Ends the process when the time is up.
        asks_worker: False does without a worker.
    """
    if os.environ.get(INSIDE):
        return
    limit_s = read_limit(os.environ)
    ending = _Ending(call, limit_s, leave)
    try:
        payload = _read_payload()
        answer = _ask(call, payload, answer_here) if asks_worker else answer_here(call, payload)
        try:
            if answer.stdout:
                _print(answer.stdout)
                call.outcome = "what was shown may be shown again"
                ending.watch(_NOTE_S)
                answer.confirm()
                call.outcome = ""
        finally:
            answer.close()
    except Trouble as trouble:
        _note(call, str(trouble))
    except OSError as error:
        _note(call, f"the machine refused: {error.strerror or type(error).__name__}")
    except KeyboardInterrupt:
        _note(call, "it was interrupted")
    except Exception as error:  # noqa: BLE001 - the edge of the process: a hook fails no session
        _note(call, f"an error inside omnislash: {type(error).__name__}")
    finally:
        ending.is_done = True


def read_limit(environment: Mapping[str, str]) -> float:
    """Return how long a hook may take, in seconds."""
    try:
        wanted = float(environment.get(LIMIT_VARIABLE) or LIMIT_S)
    except ValueError:
        return LIMIT_S
    low, high = _LIMIT_BOUNDS_S
    return min(max(wanted, low), high) if wanted == wanted else LIMIT_S  # noqa: PLR0124 - not a number is no limit


class _Ending:
    """Ends the process when its time is up, from a thread: the main one may sit in a read, a lock or a library."""

    def __init__(self, call: Call, limit_s: float, leave: Callable[[int], object]) -> None:
        import _thread  # noqa: PLC0415 - threading costs more, and nobody waits for this one

        self.is_done = False
        call.deadline = time.monotonic() + limit_s
        self._call, self._leave = call, leave
        self._start = _thread.start_new_thread
        self.watch(limit_s)

    def watch(self, limit_s: float) -> None:
        """Give the rest so many seconds; the first limit that is over counts."""
        self._start(self._watch, (limit_s,))

    def _watch(self, limit_s: float) -> None:
        time.sleep(limit_s)
        if self.is_done:
            return
        self._start(_note, (self._call, f"it took longer than {limit_s:g} seconds"))
        time.sleep(_LOG_S)
        if not self.is_done:
            self._leave(0)


def _note(call: Call, why: str) -> None:
    if call.outcome:
        hook_log.note(call.brain, f"{call.host} {call.role}: {call.outcome}: {why}")


# -- in and out ------------------------------------------------------------------------------------------------------


def _read_payload() -> str:
    """Return what the host wrote on stdin.

    Raises:
        Trouble: It is too long, or no text.
    """
    parts, size = [], 0
    while size <= PAYLOAD_MAX_BYTES and (part := os.read(_STDIN, 1 << 16)):
        parts.append(part)
        size += len(part)
    if size > PAYLOAD_MAX_BYTES:
        message = f"the payload is longer than {PAYLOAD_MAX_BYTES} bytes"
        raise Trouble(message)
    try:
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "the payload is no UTF-8"
        raise Trouble(message) from None


def _print(text: str) -> None:
    """Write all of the answer.

    Raises:
        OSError: It could not be written whole; then nobody may note it as sent.
    """
    left = memoryview(text.encode("utf-8", "replace") + b"\n")
    while left:
        left = left[os.write(_STDOUT, left) :]


def _ask(call: Call, payload: str, answer_here: Callable[..., Answer]) -> Answer:
    connection = _connect(call.brain)
    if connection is None:
        return answer_here(call, payload)
    who = {"role": call.role, "heartbeat": call.heartbeat}
    given, searches = None, True
    try:
        given = connection.ask({"op": "hook", **who, "host": call.host, "payload": payload}, call.deadline - _REST_S)
    except TimeoutError:
        searches = False
    finally:
        if given is None:
            connection.close()
    if given is None:
        return answer_here(call, payload, searches=searches)
    noted = {"session": given["session"], "receipt": given["receipt"]}

    def confirm() -> None:
        if (
            noted["receipt"] is not None
            and connection.ask({"op": "sent", **who, "arguments": noted}, call.deadline) is None
        ):
            _confirm_here(call, noted)

    return Answer(given["stdout"], confirm, connection.close)


def _answer_here(call: Call, payload: str, *, searches: bool = True) -> Answer:
    if not os.path.isdir(call.brain):  # noqa: PTH112 - as above
        return Answer()
    from omnislash.surfaces.adapters import running  # noqa: PLC0415 - half a second of imports

    return running.answer_here(call, payload, searches=searches)


def _confirm_here(call: Call, noted: dict[str, Any]) -> None:
    """Note in this process what a worker delivered that is gone by now."""
    from omnislash.surfaces.adapters import running  # noqa: PLC0415 - as above

    running.confirm_here(call, noted)


# -- the worker ------------------------------------------------------------------------------------------------------


def _connect(brain: str) -> _Connection | None:
    """Return a connection to the worker that holds this very brain's lock; None without one."""
    lock = f"{brain}/.omnislash/writer.lock"
    try:
        with open(lock, "rb") as file:  # noqa: PTH123 - as above
            owner = decode(file.read(1 << 16).decode())
        if owner["protocol"] != PROTOCOL or not owner["address"] or not _is_locked(lock):
            return None
        return _Connection(owner["address"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _is_locked(lock: str) -> bool:
    import fcntl  # noqa: PLC0415 - not where there is no lock

    number = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


class _Connection:
    """One connection to the worker."""

    def __init__(self, address: str) -> None:
        import _socket  # noqa: PLC0415 - what `socket` adds to it costs more than the whole exchange

        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.settimeout(_FIRST_WORD_S)
        self._buffer = b""
        try:
            self._socket.connect(address)
        except OSError:
            self._socket.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def ask(self, request: dict[str, Any], deadline: float) -> dict[str, Any] | None:
        """Return the worker's answer; None when it gives none: it is gone, stopped, or does not know what is asked.

        Raises:
            TimeoutError: It is at work, and not done in time.
            Trouble: It says why it can't answer.
        """
        is_at_work = False
        try:
            self._socket.sendall(encode(request).encode("ascii") + b"\n")
            answer = self._read()
            if "ack" in answer:
                is_at_work = True
                self._socket.settimeout(max(deadline - time.monotonic(), 0.01))
                answer = self._read()
        except (OSError, ValueError) as error:
            if is_at_work and isinstance(error, TimeoutError):
                raise
            return None
        return _open_answer(answer)

    def _read(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            part = self._socket.recv(1 << 16)
            if not part:
                raise ConnectionError
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = decode(line.decode("utf-8", "surrogatepass"))
        return answer


def _open_answer(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    if "failure" in answer:
        raise Trouble(str(answer["failure"].get("message", "the worker can't answer")))
    if "error" in answer and answer["error"] != "this request is not understood":
        message = f"an error inside the worker: {str(answer['error']).partition(':')[0]}"
        raise Trouble(message)
    found: dict[str, Any] | None = answer.get("answer")
    return found


def main(words: Sequence[str]) -> int | None:
    """Run a hook as this process: it ends here, without what an interpreter tidies up; None for the long way."""
    can_print = _is_open(_STDOUT)
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:  # as `streams.hold_descriptors`, without its imports
        pass
    os.close(number)
    if not can_print and parse(words) is not None:
        return 0  # nobody hears the answer, and what would be noted as sent was not
    gc.disable()  # the process lives for a second; looking for garbage took a twentieth of its work
    code = run(words)
    if code is not None:
        os._exit(code)
    gc.enable()
    return None


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
