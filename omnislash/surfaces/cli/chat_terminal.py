"""A person talks to a role at a terminal, turn by turn.

Ctrl-C while an answer comes ends that answer and keeps what was said; at the prompt it ends the talk, as Ctrl-D does.

Rules: interface.md, "Command line" (`chat`).
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

from omnislash.errors import OmnislashError
from omnislash.surfaces.cli.chat_reading import Command, make_asker, read_typed
from omnislash.surfaces.cli.chat_showing import Talk, show_memory
from omnislash.surfaces.cli.commands import suggest
from omnislash.surfaces.cli.output import print_error, print_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from omnislash.runtime.loop.run_values import Run
    from omnislash.surfaces.cli.chat_conversation import Conversation

#: What a person may ask of the program, with what it does.
_COMMANDS: Final = {
    "help": "these lines",
    "memory": "what memory the last turn carried",
    "session": "the session, and how to go on with it",
    "new": "go on in a new session, that knows nothing of this one",
    "model": "the model; /model REF takes another one, /model - the role's own",
    "quit": "end, as Ctrl-D does",
}
_HELP: Final = (
    r'A line that ends with \ goes on in the next one; """ opens and closes a message of several lines.',
    "Ctrl-C ends an answer and keeps what was said; at the prompt it ends the talk, as Ctrl-D does.",
    "A message that begins with / is written with two of them.",
)


def hold_talk(conversation: Conversation) -> int:
    """Answer what a person types until the talk is over, and return the exit code.

    Raises:
        OmnislashError: Before the first prompt: the role or the chat can't be run any more.
    """
    return _Terminal(conversation).run()


class _Ending:
    """Ends the talk for a signal that asks the process to end; a running turn is cancelled by it."""

    def __init__(self) -> None:
        #: The signal that came; 0 for none.
        self.number = 0
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._take)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        raise KeyboardInterrupt


class _Terminal:
    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._talk = Talk(live=True, person=True, quiet=conversation.settings.quiet)
        self._ask = make_asker()
        self._last: Run | None = None
        self._is_over = False
        self._answers: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "memory": lambda _given: show_memory(self._last.delivery if self._last else None, self._tell),
            "session": lambda _given: self._tell(self._conversation.describe_resuming()),
            "new": self._begin_anew,
            "model": self._choose_model,
            "quit": self._quit,
        }

    def run(self) -> int:
        ending = _Ending()
        for line in self._conversation.describe():
            self._talk.note(line)
        self._talk.note("/help says what can be typed.")
        while not self._is_over and not ending.number:
            try:
                said = read_typed(self._ask)
            except (KeyboardInterrupt, EOFError):
                print_line()  # the cursor stands behind the prompt
                break
            except OmnislashError as error:
                print_error(error.to_json(), as_json=False)
                continue
            self._take(said)
        if not ending.number and not self._conversation.settings.replay:
            self._say_goodbye()
        return 128 + ending.number if ending.number else 0

    def _take(self, said: str | Command) -> None:
        try:
            if isinstance(said, Command):
                self._obey(said)
            elif said:
                self._answer(said)
        except OmnislashError as error:
            self._talk.end_line()
            print_error(error.to_json(), as_json=False)
        except KeyboardInterrupt:
            self._talk.end_line()
            self._tell("Cancelled.")

    def _answer(self, message: str) -> None:
        self._last = run = self._conversation.run(message, self._talk.on_event)
        self._talk.end_turn(run, is_replay=self._conversation.settings.replay)

    def _say_goodbye(self) -> None:
        try:
            if self._conversation.is_kept():
                self._talk.note(self._conversation.describe_resuming())
        except OmnislashError as error:  # the chat's rule is gone meanwhile
            print_error(error.to_json(), as_json=False)

    # -- commands ----------------------------------------------------------------------------------------------------

    def _tell(self, text: str) -> None:
        self._talk.note(text, needed=True)

    def _obey(self, command: Command) -> None:
        answer = self._answers.get(command.name)
        if answer is not None:
            answer(command.argument)
            return
        near = suggest(command.name, list(_COMMANDS)) or f"There are: {', '.join(f'/{name}' for name in _COMMANDS)}."
        self._tell(
            f"There is no command /{command.name}. {near} A message that begins with / is written with two of them."
        )

    def _help(self, _given: str) -> None:
        for name, text in _COMMANDS.items():
            self._tell(f"/{name}: {text}")
        for line in _HELP:
            self._tell(line)

    def _begin_anew(self, _given: str) -> None:
        self._conversation.begin_anew()
        self._last = None
        self._tell(self._conversation.describe()[0])

    def _choose_model(self, given: str) -> None:
        if given:
            self._conversation.asked.model = None if given == "-" else given
        self._tell(f"model {self._conversation.describe_model()}")

    def _quit(self, _given: str) -> None:
        self._is_over = True
