"""A process of its own that works in a brain: one JSON object a line comes in, one a line goes out.

::

    {"now": ISO}                          → {"now": ISO}       sets the clock
    {"role", "tool", "arguments"}         → {"answer": …} or {"failure": …}
    {"fork": {"role", "tool", …}}         → {"pid": N}; the child makes that call and writes its own line
    {"reap": N}                           → {"reaped": N} once that child has ended, killed or not
    {"race": {"role", …}, "calls": N}     → N lines, each of a fresh process that made the call at the same moment
    {"worker": true}                      → {"worker": true}   starts the long-lived worker

Started as `python engine_process.py BRAIN NOW`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import datetime
from typing import Any

import omnislash.engine
from omnislash.errors import OmnislashError
from omnislash.testing import FixedClock


def answer_call(brain: omnislash.engine.Brain, request: dict[str, Any]) -> dict[str, Any]:
    """Run one tool and return what a caller sees."""
    try:
        agent = brain.agent(request["role"], heartbeat=request.get("heartbeat"))
        return {"answer": agent.call(request["tool"], request["arguments"]).to_json()}
    except OmnislashError as error:
        return {"failure": error.to_json()}


def say(line: dict[str, Any]) -> None:
    """Write one line in one call, so that lines of two processes never mix."""
    os.write(1, json.dumps(line, ensure_ascii=True).encode() + b"\n")


def run_child(root: str, now: datetime, request: dict[str, Any]) -> int:
    """Make one call in a fresh process; return its process id to the parent."""
    if (pid := os.fork()) != 0:
        return pid
    with omnislash.engine.Brain.open(root, clock=FixedClock(now)) as brain:
        say(answer_call(brain, request))
    os._exit(0)


def run_race(root: str, now: datetime, request: dict[str, Any], calls: int) -> None:
    """Make the same call in several fresh processes that have opened the brain and wait for one signal."""
    gate, opener = os.pipe()
    children = []
    for _ in range(calls):
        if (pid := os.fork()) == 0:
            os.close(opener)
            with omnislash.engine.Brain.open(root, clock=FixedClock(now)) as brain:
                brain.agent(request["role"])
                os.read(gate, 1)
                say(answer_call(brain, request))
            os._exit(0)
        children.append(pid)
    os.close(gate)
    time.sleep(0.05)
    os.close(opener)
    for pid in children:
        os.waitpid(pid, 0)


def main(root: str, start: str) -> None:
    """Answer until the input ends."""
    clock = FixedClock(datetime.fromisoformat(start))
    brain: omnislash.engine.Brain | None = None
    say({"ready": os.getpid()})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "fork" in request:
            say({"pid": run_child(root, clock.now(), request["fork"])})
        elif "race" in request:
            run_race(root, clock.now(), request["race"], request["calls"])
        elif "reap" in request:
            os.waitpid(request["reap"], 0)
            say({"reaped": request["reap"]})
        elif "now" in request:
            clock.advance(datetime.fromisoformat(request["now"]) - clock.now())
            say({"now": request["now"]})
        else:
            brain = brain or omnislash.engine.Brain.open(root, clock=clock)
            if "worker" in request:
                brain.start_worker()
                say({"worker": True})
            else:
                say(answer_call(brain, request))


if __name__ == "__main__":
    main(*sys.argv[1:])
