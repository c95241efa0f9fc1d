"""What is handed about in the process of a hook; like the rest of it, it loads next to nothing."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # the module `typing` takes a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable


class Call:
    """What the command line of a hook says; no dataclass, whose module costs as much as all the rest."""

    __slots__ = ("began", "brain", "deadline", "heartbeat", "host", "outcome", "role")

    def __init__(self, *, host: str, role: str, heartbeat: str | None, brain: str) -> None:
        """Keep the host, whose memory is meant, and the brain's directory."""
        self.host, self.role, self.heartbeat, self.brain = host, role, heartbeat, brain
        #: When the work on it began, and when its time is up, by the monotonic clock.
        self.began, self.deadline = time.monotonic(), float("inf")
        #: What came of it when it ends here, for the log; empty when all of it was done.
        self.outcome = "nothing was done"


class Trouble(Exception):  # noqa: N818 - it is no error of anybody's, and ends here
    """Why there is no answer, as one sentence."""


class Answer:
    """What a hook prints, how it is noted as sent, and what is closed at the end."""

    __slots__ = ("close", "confirm", "stdout")

    def __init__(
        self,
        stdout: str = "",
        confirm: Callable[[], object] = lambda: None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """Keep the text, empty for nothing, what is called once it was printed, and what is called last."""
        self.stdout, self.confirm, self.close = stdout, confirm, close
