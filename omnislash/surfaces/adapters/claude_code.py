"""Claude Code: its files and what stands in them, its events, the form of its payloads and answers.

Settings of three scopes are read together, and hooks of all of them run: `settings.json` of the person,
`.claude/settings.json` of the directory that it was started in, and `.claude/settings.local.json` of that directory's git
repository, which is one file for all working trees: it lies in the main one.
Outside of a repository, and of one that it does not trust with it, that file lies where the session was started.
MCP servers stand elsewhere: in `.mcp.json` of a project, and in `.claude.json` of the person, there at the top for every
project, or below `projects` for one, whose name is the root of its git repository, or the directory itself.
`CLAUDE_CONFIG_DIR` moves the person's files, `.claude.json` among them.
Both kinds of files are read as plain JSON, the settings again whenever they change.
Of servers with one name it starts one: that of the one project and person, else of the project, else of the person.

A hook runs through a shell, so its words are quoted for one.
At the end of a session all hooks together have one second and a half, unless one of them names a longer limit.

Source: the pages "Hooks reference", "Settings" ("Where Claude Code keeps the local file in a git repository"), "Worktrees"
and "MCP" of the documentation of Claude Code, as of version 2.1.240, August 2026.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omnislash.errors import UsageError
from omnislash.surfaces.adapters.hosts import HookCall, HookKind, HostFile, Part, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.surfaces.adapters.hosts import HookAnswer

#: Its events that we are called at, with the seconds after which it ends a call.
#: A call has a shorter limit of its own; these only end one that hangs.
HOOK_LIMITS: Final = {"SessionStart": 15, "UserPromptSubmit": 15, "PreCompact": 10, "Stop": 10, "SessionEnd": 10}
#: The ways to the servers of every project and to those of one, whose name is any.
_SERVERS: Final = "mcpServers"
_PROJECTS: Final = "projects"
_STATE_PLACES: Final = ((_SERVERS,), (_PROJECTS, None, _SERVERS))
#: What a repository's `.git` file begins with in a linked working tree.
_GITDIR: Final = "gitdir:"


#: What each of them means to us. Compactions inside a sub-agent come with an `agent_id`, and are none of the session.
_KINDS: Final = {
    "SessionStart": HookKind.SESSION_STARTED,
    "UserPromptSubmit": HookKind.PROMPT_SENT,
    "PreCompact": HookKind.COMPACTING,
    "Stop": HookKind.TURN_ENDED,
    "SessionEnd": HookKind.SESSION_ENDED,
}
_EVENTS: Final = {kind: event for event, kind in _KINDS.items()}
#: Of what a hook adds to the conversation the model sees so many UTF-16 units; of more it sees the first 2,000 and the
#: path of a file that nobody asks it to read.
MOST_CHARS: Final = 10_000


class ClaudeCode:
    """Claude Code as a host."""

    id = "claude-code"
    title = "Claude Code"
    next_step = "Start a new session of Claude Code: one that runs takes up the hooks, and has no tools of the server."
    one_server = "Claude Code starts one of them: that of local, else of project, else of user."
    hook_limits: Mapping[str, int] = HOOK_LIMITS
    most_chars: int | None = MOST_CHARS

    # -- running -----------------------------------------------------------------------------------------------------

    def parse(self, payload: Mapping[str, Any]) -> HookCall | None:
        """Return a call from a payload; None for one of a sub-agent, which has a conversation of its own.

        Raises:
            UsageError: It names no event that we are called at, or no session.
        """
        event, session = payload.get("hook_event_name"), payload.get("session_id")
        kind = _KINDS.get(event) if isinstance(event, str) else None
        if kind is None:
            message = "The payload names no event that omnislash is called at."
            raise UsageError(message, key="hook_event_name")
        if not isinstance(session, str) or not session.strip():
            message = "The payload names no session."
            raise UsageError(message, key="session_id")
        if payload.get("agent_id"):
            return None
        return HookCall(
            kind=kind,
            session=session,
            prompt=_text(payload, "prompt") if kind is HookKind.PROMPT_SENT else None,
            transcript=_text(payload, "transcript_path"),
            source=_text(payload, "source") if kind is HookKind.SESSION_STARTED else None,
            cwd=_text(payload, "cwd"),
        )

    def render(self, answer: HookAnswer) -> str:
        """Return the JSON that adds text to the conversation, for the two events that can; empty for no text."""
        if not answer.context:
            return ""
        text = answer.context.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        told = {"hookEventName": _EVENTS[answer.kind], "additionalContext": text}
        return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)

    # -- installing --------------------------------------------------------------------------------------------------

    def files(self, scope: Scope, project: Path, environment: Mapping[str, str]) -> tuple[HostFile, ...]:
        """Return the settings and the file of MCP servers of a scope."""
        named = environment.get("CLAUDE_CONFIG_DIR")
        home = _home(environment)
        own, state = (Path(named), Path(named)) if named else (home / ".claude", home)
        if scope is Scope.USER:
            settings = own / "settings.json"
        elif scope is Scope.PROJECT:
            settings = project / ".claude" / "settings.json"
        else:
            settings = _local_home(project, home) / ".claude" / "settings.local.json"
        if scope is Scope.PROJECT:
            server = HostFile(part=Part.SERVER, path=project / ".mcp.json", keys=(_SERVERS,))
        else:
            keys = (_SERVERS,) if scope is Scope.USER else (_PROJECTS, _name_project(project), _SERVERS)
            path = state / ".claude.json"
            server = HostFile(part=Part.SERVER, path=path, keys=keys, mode=0o600, places=_STATE_PLACES)
        return (HostFile(part=Part.HOOKS, path=settings, keys=("hooks",)), server)

    def scope_notes(self, scope: Scope, project: Path, environment: Mapping[str, str]) -> list[str]:
        """Return what a person should know about a scope."""
        notes = []
        root = Path(_name_project(project))
        is_shared = scope is Scope.LOCAL and _is_repository(root)
        if is_shared and _local_home(project, _home(environment)) == root:
            notes.append(
                f"It counts for every session that is started in the repository {root} or a working tree of it."
            )
        elif scope is not Scope.USER:
            notes.append(f"It counts for sessions that are started in {project}, not in a directory below it.")
            if is_shared:
                notes.append(f"Its MCP server counts for the whole repository {root}.")
        if scope is Scope.PROJECT:
            notes.append(
                "Claude Code asks each person once whether it may start the server of .mcp.json; until somebody says "
                "yes, the hooks work and the tools are missing."
            )
            notes.append(
                "Both files belong to the project and name paths of this machine; with --scope local they stay yours."
            )
        return notes


def _text(payload: Mapping[str, Any], key: str) -> str | None:
    """Return a text of a payload, half characters mended; None where there is none."""
    value = payload.get(key)
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _local_home(project: Path, home: Path) -> Path:
    """Return the directory whose `.claude` has the local settings of a project.

    It is the root of the main working tree of its repository, unless that is the person's home, or root, `.git` or `.claude`
    belongs to somebody else; then, and outside of a repository, it is the project. Versions before 2.1.211 always took the
    directory that they were started in.
    """
    root = Path(_name_project(project))
    is_home = os.path.realpath(root) == os.path.realpath(home)
    return root if not is_home and all(map(_is_own, (root, root / ".git", root / ".claude"))) else project


def _is_own(place: Path) -> bool:
    """Tell whether a file is this person's, or not there."""
    try:
        return place.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return True
    except (OSError, AttributeError):  # AttributeError: not on Windows, where the file stays as well
        return False


def _is_repository(root: Path) -> bool:
    return (root / ".git").exists()


def _name_project(project: Path) -> str:
    """Return the name under which `.claude.json` keeps a project: the root of its repository, or the directory."""
    for place in (project, *project.parents):
        git = place / ".git"
        if git.is_dir():
            return place.as_posix()
        if git.is_file():
            return _main_tree(git, place).as_posix()
    return project.as_posix()


def _main_tree(git: Path, place: Path) -> Path:
    """Return the main working tree of a linked one; a submodule is its own."""
    try:
        text = git.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return place
    found = Path(os.path.normpath(place / text.removeprefix(_GITDIR).strip()))
    is_linked = text.startswith(_GITDIR) and found.parent.name == "worktrees" and found.parents[1].name == ".git"
    return found.parents[2] if is_linked else place
