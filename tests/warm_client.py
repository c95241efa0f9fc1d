"""Stands for `python` in a command: hands its words, directory, environment and streams to `warm_server.py`.

Started as `python -I -S warm_client.py SOCKET -m omnislash WORDS…` or `… SOCKET SCRIPT WORDS…`; it ends as they do.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys


def is_open(number: int) -> bool:
    """Tell whether a descriptor of this process is open."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def ask(place: str, words: list[str]) -> socket.socket:
    """Send a command with all that a process has from who started it, and return where its end will be told."""
    streams = [number for number in range(3) if is_open(number)]
    client = socket.socket(socket.AF_UNIX)  # which takes the number of a stream that is closed
    client.connect(place)
    request = marshal.dumps({"words": words, "cwd": os.getcwd(), "environment": dict(os.environ), "open": streams})  # noqa: PTH109 - pathlib takes longer to import than all of this
    socket.send_fds(client, [len(request).to_bytes(4, "big")], streams)
    client.sendall(request)
    return client


def main() -> None:
    """Ask, hand signals on, and end as the command does."""
    client = ask(sys.argv[1], sys.argv[2:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda heard, _: client.sendall(bytes([heard])))
    answer = client.recv(4)
    code = int.from_bytes(answer, "big", signed=True) if answer else 70  # the waiting process is gone
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
