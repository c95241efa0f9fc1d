"""What the tests of hooks share: recorded payloads, a host that sends them, and a hook as a process sees itself."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnislash.engine import SearchOptions
from omnislash.surfaces.adapters import hook_call
from omnislash.surfaces.adapters.hosts import get_host
from omnislash.surfaces.adapters.running import read_payload, reply
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.integration.conftest import SampleBrain

PAYLOADS = Path(__file__).parent / "payloads"
#: The session of the recorded payloads.
SESSION = "7f1c9a52-4a0e-4d3e-9d55-0c1f6f0b8a11"


def payload(name: str, **changes: Any) -> str:
    """Return a recorded payload as Claude Code writes it, with some of its fields changed; None takes one out."""
    fields = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8")) | changes
    return json.dumps({key: value for key, value in fields.items() if value is not None})


def context_of(stdout: str) -> str:
    """Return what the model is shown by what a hook printed; '' for nothing."""
    return json.loads(stdout)["hookSpecificOutput"]["additionalContext"] if stdout else ""


class HostSession:
    """A session of Claude Code, hook by hook, each against the brain as its files are then."""

    def __init__(self, sample: SampleBrain) -> None:
        self.sample = sample
        self.restart()

    def restart(self) -> None:
        """Go on with a new process that has the same files."""
        search = SearchOptions(embedders=(CountingEmbedder(),), catch_up_s=None)
        self.brain = self.sample.open(search=search)

    def hook(self, name: str, *, role: str = "nova", is_printed: bool = True, **changes: Any) -> str:
        """Run a hook and return what the model is shown; one that was not printed is not noted either."""
        host = get_host("claude-code")
        call = read_payload(payload(name, **changes), host)
        if call is None:
            return ""
        agent = self.brain.agent(role)
        found = reply(agent, call, host)
        if is_printed and found.delivery is not None:
            agent.confirm(found.delivery)
        return context_of(found.stdout)

    def prompt(self, text: str = "Good morning!", **changes: Any) -> str:
        """Send a prompt."""
        return self.hook("user-prompt-submit", prompt=text, **changes)


def run_hook(
    words: Sequence[str], stdin: bytes | str, run: Callable[[Sequence[str]], int | None] | None = None
) -> bytes:
    """Run the hook's own command line in this process, with real descriptors, and return what it printed."""
    run = run or (lambda given: hook_call.run(given, leave=print))
    data = stdin.encode() if isinstance(stdin, str) else stdin
    kept = [os.dup(number) for number in (0, 1)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
        given.write(data)
        given.seek(0)
        try:
            os.dup2(given.fileno(), 0)
            os.dup2(printed.fileno(), 1)
            code = run(words)
        finally:
            for number, before in enumerate(kept):
                os.dup2(before, number)
                os.close(before)
        assert code == 0
        printed.seek(0)
        return printed.read()
