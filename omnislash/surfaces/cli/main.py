"""The entry point: runs a command, and turns whatever goes wrong into a sentence and an exit code.

Nothing heavy is imported before the boundary stands, so that Ctrl-C during loading is quiet too.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # the module `typing` takes a third of an interpreter's start, and a hook does without it
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Exit code of a command that Ctrl-C ended: 128 + SIGINT.
INTERRUPTED = 130
#: The command that hosts call, and the exit code that takes a person's prompt away from them.
_HOOK, _BLOCKS = "hook", 2
#: The option for every command that has a value.
_WITH_VALUE = "--brain"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 queued.

    Args:
        arguments: The words after the program's name; those of this process by default.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if _names_hook(words):
            return _run_hook(words, owns_process=arguments is None)
        from omnislash.surfaces.cli.streams import hold_descriptors  # noqa: PLC0415 - what a hook does without

        hold_descriptors()
        from omnislash.surfaces.cli.root import run  # noqa: PLC0415 - inside the boundary

        return run(words)
    except KeyboardInterrupt:
        return _say_interrupted()
    except BrokenPipeError:
        from omnislash.surfaces.cli.streams import leave  # noqa: PLC0415 - as above

        leave(sys.stdout)
        return 1


def _names_hook(words: Sequence[str]) -> bool:
    """Tell whether the command is the one that hosts call, wherever the options for every command stand."""
    is_value = False
    for word in words:
        if is_value or word.startswith("-"):
            is_value = not is_value and word == _WITH_VALUE
            continue
        return word == _HOOK
    return False


def _run_hook(words: list[str], *, owns_process: bool) -> int:
    """Answer a host without loading the command line, when its words are those that an installation writes."""
    from omnislash.surfaces.adapters import hook_call  # noqa: PLC0415 - what only a hook needs

    code = hook_call.main(words) if owns_process else hook_call.run(words)
    if code is not None:
        return code
    from omnislash.surfaces.cli.root import run  # noqa: PLC0415 - half of a hook's time

    code = run(words)
    if hook_call.parse(words) is not None:  # what an installation writes, beside a variable that makes no sense
        code = 0
    code = 1 if code == _BLOCKS else code
    if owns_process:  # a model that a thread is still loading would end the process by a signal
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _say_interrupted() -> int:
    """Say it in one line; a second Ctrl-C may come at any moment."""
    os.write(2, b"Interrupted. A write that was handed in already may still land: look before you repeat it.\n")
    return INTERRUPTED
