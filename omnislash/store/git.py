"""Git, as the product runs it: every command of git goes through here.

A command gets no terminal, no prompt, no pager and no editor, its input is closed or given, and it has a limit of time;
its session is its own, so that nothing of it can ask at the terminal of the person who started us, and all of it can
be ended at once.
Paths come and go separated by NUL, as the bytes that they are (failure case O-53): what git quotes for people is never
read as a path.
The variables by which a git hook tells its children which repository it runs in are removed, and nothing that git
would start behind our back (gc, maintenance, a file watcher) is started.

`git.Git` of GitPython is not used for running: it can't take a variable away from a command, and ends one that takes too
long with the program `ps`, which small machines do not have.

Rules: failure cases O-50 to O-54.
Source: git(1), "Environment Variables"; `git rev-parse --local-env-vars`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self

from omnislash.core.credentials import mask_secrets
from omnislash.errors import GitTroubleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Seconds that a command of git may take which touches this machine only.
LOCAL_LIMIT_S: Final = 120.0
#: Seconds that a command may take which talks to a remote.
REMOTE_LIMIT_S: Final = 300.0
#: Seconds that git has for removing its locks once it is asked to end.
_END_S: Final = 3.0
#: How often is looked whether git has ended while something that it started holds its output open, in seconds.
_STEP_S: Final = 1.0
#: What says who commits where nobody is set: for that one commit, and in no configuration.
NEUTRAL_NAME: Final = "omnislash"
NEUTRAL_EMAIL: Final = "omnislash@localhost"
#: An index.lock that is older than this, in seconds, and that no process holds, was left behind.
LOCK_AGE_S: Final = 600.0

#: Variables that name another repository, other paths, another time or another program for what we do ourselves.
_OUTER = re.compile(
    r"GIT_(?:ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|OBJECT_DIRECTORY|DIR|WORK_TREE|IMPLICIT_WORK_TREE"
    r"|GRAFT_FILE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR|NAMESPACE|QUARANTINE_PATH"
    r"|(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS|(?:AUTHOR|COMMITTER)_DATE|EXTERNAL_DIFF|DIFF_OPTS|REFLOG_ACTION|MERGE_AUTOEDIT"
    r"|(?:SEQUENCE_)?EDITOR|PAGER|ASKPASS|FLUSH|TRACE\w*|TRACE2\w*|REDIRECT_\w+|INTERNAL_\w+)"
    r"|SSH_ASKPASS|SSH_ASKPASS_REQUIRE|GPG_TTY|DISPLAY|WAYLAND_DISPLAY"
)
_QUIET: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}
#: Said to every command: text for programs, and nothing that goes on when the command has ended.
_SETTINGS: Final = (
    *("-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.showSignature=false"),
    *("-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "push.recurseSubmodules=no"),
)
#: The commands that talk to a remote right now, by the thread that waits for each.
_TALKING: Final[dict[int, subprocess.Popen[bytes]]] = {}
_BATCH_SSH: Final = "ssh -oBatchMode=yes"
_NUMBER = re.compile(rb"(\d+)\.(\d+)(?:\.(\d+))?")
#: The files by which git remembers that something was begun, and what to call it.
_OPEN: Final = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """What a command of git came to."""

    #: Its exit code; negative when a signal ended it.
    status: int
    out: bytes
    err: bytes

    @property
    def reason(self) -> str:
        """Return the line in which git says why, as a sentence, with no credential in it."""
        return find_reason(self.err) or find_reason(self.out) or f"It ended with status {self.status}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The git repository that a brain lies in. Paths are relative to its top and use forward slashes."""

    #: The brain.
    root: Path
    #: The top of the working tree.
    top: Path
    #: The repository's own directory: of this working tree, and the one that all its working trees share.
    git_dir: Path
    common_dir: Path
    #: Where the brain lies below the top, with a slash at the end; '' = it is the top.
    prefix: str
    is_shallow: bool = False
    #: False only looks: no index is refreshed on disk.
    may_write: bool = True
    _environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, root: Path, *, environment: Mapping[str, str] | None = None, may_write: bool = True) -> Self | None:
        """Return the repository that holds the working tree of a directory.

        Args:
            root: The brain's directory.
            environment: Variables for git; None = those of this process.
            may_write: False keeps git from refreshing its index on the way; for looking only.

        Returns:
            None when there is no git on this machine, or no repository here.

        Raises:
            GitTroubleError: Git will not work here, for example because somebody else owns the directory.
        """
        given = quiet_environment(os.environ if environment is None else environment, may_write=may_write)
        if not root.is_dir() or shutil.which("git", path=given.get("PATH")) is None:
            return None
        asked = ("--is-inside-work-tree", "--is-shallow-repository", "--absolute-git-dir")
        ways = ("--git-common-dir", "--show-toplevel", "--show-prefix")
        answer = run_git(["rev-parse", *asked, *ways], cwd=root, environment=given)
        if answer.status and b"not a git repository" in answer.err:
            return None
        if answer.out.startswith(b"false"):  # inside of a bare repository or of a .git directory
            return None
        lines = os.fsdecode(answer.out).split("\n")
        if answer.status or len(lines) != 1 + len(asked) + len(ways):
            message = f"git can't be used in this directory: {answer.reason}"
            raise GitTroubleError(message, hint="Run `git status` there: it says what is wrong.")
        _, shallow, git_dir, common, top, prefix, _ = lines
        return cls(
            root=root,
            top=Path(top),
            git_dir=Path(git_dir),
            common_dir=(root / common).resolve(),
            prefix=prefix,
            is_shallow=shallow == "true",
            may_write=may_write,
            _environment=given,
        )

    @property
    def is_nested(self) -> bool:
        """Whether the brain is a part of a larger repository."""
        return bool(self.prefix)

    def ask(
        self,
        *args: str,
        input: bytes = b"",  # noqa: A002 - as subprocess calls it
        limit_s: float = LOCAL_LIMIT_S,
        extra: Mapping[str, str] | None = None,
    ) -> GitAnswer:
        """Return what a command of git came to, whatever its exit code; it runs at the top of the working tree.

        Args:
            args: The command, without `git`.
            input: What it reads.
            limit_s: Seconds after which it is ended.
            extra: Variables for this command.

        Raises:
            GitTroubleError: It could not be started, or was ended because it took too long.
        """
        environment = {**self._environment, **(extra or {})}
        return run_git(args, cwd=self.top, environment=environment, given=input, limit_s=limit_s)

    def run(
        self,
        *args: str,
        input: bytes = b"",  # noqa: A002 - as above
        limit_s: float = LOCAL_LIMIT_S,
        extra: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return what a command of git prints; see :meth:`ask`.

        Raises:
            GitTroubleError: It failed; the message is git's own first line.
        """
        answer = self.ask(*args, input=input, limit_s=limit_s, extra=extra)
        if answer.status:
            raise GitTroubleError(f"git {_name_command(args)} failed: {answer.reason}")
        return answer.out

    def text(self, *args: str) -> str | None:
        """Return the one line that a command prints; None when it fails."""
        answer = self.ask(*args)
        return None if answer.status else os.fsdecode(answer.out).removesuffix("\n")

    # -- where the repository stands ---------------------------------------------------------------------------------

    def head(self) -> str | None:
        """Return the id of the commit that is checked out; None before the first one."""
        return self.resolve("HEAD")

    def resolve(self, name: str) -> str | None:
        """Return the id of the commit that a name stands for; None when there is none."""
        return self.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") or None

    def branch(self) -> str | None:
        """Return the full name of the branch that is checked out (`refs/heads/…`); None for a detached HEAD."""
        return self.text("symbolic-ref", "--quiet", "HEAD")

    def config(self, key: str) -> str | None:
        """Return a value of git's configuration; None when it is not set."""
        return self.text("config", "--get", key)

    def find_open_operation(self) -> str | None:
        """Return what was begun and not ended: `merge`, `rebase`, `cherry-pick`, `revert` or `bisect`; None = nothing."""
        return next((name for file, name in _OPEN if (self.git_dir / file).exists()), None)

    @property
    def index_lock(self) -> Path:
        """The file that a command holds while it changes the index."""
        return self.git_dir / "index.lock"

    def name_identity(self) -> tuple[str, ...]:
        """Return the settings that name a neutral author, for what nobody has set; nothing where all is set."""
        settings: list[str] = []
        for key, variable, neutral in (("name", "NAME", NEUTRAL_NAME), ("email", "EMAIL", NEUTRAL_EMAIL)):
            given = all(self._environment.get(f"GIT_{who}_{variable}") for who in ("AUTHOR", "COMMITTER"))
            if not given and not self.config(f"user.{key}"):
                settings += ["-c", f"user.{key}={neutral}"]
        return tuple(settings)


def quiet_environment(outer: Mapping[str, str], *, may_write: bool = True) -> dict[str, str]:
    """Return the variables under which git asks nobody and knows of no other repository."""
    kept = {name: value for name, value in outer.items() if not _OUTER.fullmatch(name)}
    if "GIT_SSH_COMMAND" not in kept and "GIT_SSH" not in kept:
        kept["OMNISLASH_BATCH_SSH"] = "1"  # read by `run_git`: core.sshCommand, which a person set, comes first
    return {**kept, **_QUIET, "GIT_OPTIONAL_LOCKS": "1" if may_write else "0"}


def read_version(environment: Mapping[str, str] | None = None) -> tuple[int, ...] | None:
    """Return the version of git as numbers, for example `(2, 39, 5)`; None when there is no git.

    Raises:
        GitTroubleError: It could not be started.
    """
    given = quiet_environment(os.environ if environment is None else environment)
    if shutil.which("git", path=given.get("PATH")) is None:
        return None
    found = _NUMBER.search(run_git(["version"], cwd=Path("/"), environment=given).out)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def run_git(
    args: Iterable[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    given: bytes = b"",
    limit_s: float = LOCAL_LIMIT_S,
) -> GitAnswer:
    """Run git in a directory and return what it came to.

    Args:
        args: The command, without `git`.
        cwd: Where it runs.
        environment: All its variables, as :func:`quiet_environment` returns them.
        given: What it reads.
        limit_s: Seconds after which it is ended, with everything that it started.

    Raises:
        GitTroubleError: It could not be started, or took too long.
    """
    words = list(args)
    variables = dict(environment)
    if variables.pop("OMNISLASH_BATCH_SSH", None) and _talks(words) and not _has_own_ssh(cwd, variables):
        variables["GIT_SSH_COMMAND"] = _BATCH_SSH
    try:
        process = subprocess.Popen(  # noqa: S603 - git with a list of words, and no shell
            ["git", *_SETTINGS, *words],  # noqa: S607 - the git that the person has on the path
            cwd=cwd,
            env=variables,
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        message = f"git could not be started: {getattr(error, 'strerror', None) or error}."
        raise GitTroubleError(message, hint="Check that git is installed and on the path.") from error
    if not _talks(words):
        return _await(process, given, limit_s, _name_command(words))
    _TALKING[threading.get_ident()] = process
    try:
        return _await(process, given, limit_s, _name_command(words))
    finally:
        _TALKING.pop(threading.get_ident(), None)


def end_talk(thread: int) -> None:
    """End the command that talks to a remote in a thread, with all that it started; nothing where there is none.

    Args:
        thread: The thread's `ident`. It gets an answer with the status of a command that a signal ended.
    """
    process = _TALKING.get(thread)
    if process is not None:
        _end(process)


def _await(process: subprocess.Popen[bytes], given: bytes, limit_s: float, name: str) -> GitAnswer:
    """Return what a process came to; what it left running, with its output open, is not waited for."""
    until = time.monotonic() + limit_s
    has_ended = False
    _feed(process, given)
    with process:
        try:
            while True:
                try:
                    out, err = process.communicate(timeout=_STEP_S)
                    break
                except subprocess.TimeoutExpired as late:
                    if has_ended:
                        out, err = late.output or b"", late.stderr or b""
                        break
                    has_ended = process.poll() is not None
                    if not has_ended and time.monotonic() > until:
                        message = f"git {name} took longer than {limit_s:.0f} seconds and was ended."
                        raise GitTroubleError(message) from late
        except BaseException:
            _end(process)
            raise
    return GitAnswer(process.returncode, out, err)


def _feed(process: subprocess.Popen[bytes], given: bytes) -> None:
    """Send the input beside all else: `communicate` forgets it when it is called again after its time was up."""
    stream, process.stdin = process.stdin, None
    if stream is not None:
        threading.Thread(target=_send, args=(stream, given), name="omnislash-git-input", daemon=True).start()


def _send(stream: IO[bytes], given: bytes) -> None:
    with contextlib.suppress(OSError), stream:  # a command may end before it has read everything
        stream.write(given)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started: asked first, so that it removes its locks, then made to."""
    for number, wait_s in ((signal.SIGTERM, _END_S), (signal.SIGKILL, _END_S)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=wait_s)
            return


def _name_command(words: Iterable[str]) -> str:
    """Return the name of the command among the words: what stands behind the settings."""
    rest = iter(words)
    for word in rest:
        if word == "-c":
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return "itself"


def _talks(words: list[str]) -> bool:
    return _name_command(words) in {"fetch", "push", "ls-remote"}


def _has_own_ssh(cwd: Path, variables: Mapping[str, str]) -> bool:
    return bool(run_git(["config", "--get", "core.sshCommand"], cwd=cwd, environment=variables).out.strip())


def find_reason(output: bytes) -> str:
    """Return the line of an output of git that says why, as a sentence without credentials; '' for none."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(("hint:", "warning:"))]
    named = [line for line in lines if line.startswith(("fatal:", "error:", " ! [", "! ["))]
    if not lines:
        return ""
    line = mask_secrets((named or lines)[0]).removeprefix("fatal:").removeprefix("error:").strip()
    return line.rstrip(".") + "."


def split_paths(output: bytes) -> Iterator[str]:
    """Yield the paths of an output that is separated by NUL; bytes that are no UTF-8 become lone surrogates."""
    return (os.fsdecode(part) for part in output.split(b"\0") if part)


def join_paths(paths: Iterable[str]) -> bytes:
    """Return paths as a command reads them that was told to expect NUL."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
