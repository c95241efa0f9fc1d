"""Our entries in a host's JSON: hooks in groups by event, and a server in an object by name.

An entry is known by the shape of its command, and by nothing else: a key of our own could make the host refuse the file.
Only a command that is exactly ours is one; what a person has built around it is theirs, and is never changed.

A command of hooks is one text for a shell, `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}`; a
server is `{"mcpServers": {"omnislash": {"command": …, "args": […]}}}`.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from omnislash.surfaces.adapters.hosts import Entry, Part
from omnislash.surfaces.adapters.settings_text import (
    BOM,
    Kind,
    Node,
    SettingsTextError,
    has_comment,
    has_trailing_comma,
    insert,
    parse,
    read_value,
    remove,
    replace,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omnislash.surfaces.adapters.hosts import Host, HostFile

#: Under this name hosts know our MCP server.
SERVER: Final = "omnislash"
_OPTIONS: Final = ("--role", "--heartbeat", "--brain")
#: What stands in a file that is not there yet.
_NOTHING: Final = "{}\n"
_PROGRAMS: Final = frozenset({"omnislash", "omnislash.exe"})
#: What an interpreter is given where there is no script; an older installation left `-P` out.
_MODULES: Final = (("-P", "-m", "omnislash"), ("-m", "omnislash"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Our entries in one file."""

    #: Those that stand there, each once.
    entries: tuple[Entry, ...]
    #: Every place has one: each moment that we are called at, or the server.
    is_complete: bool
    #: Those of other scopes and projects in the same file, by the keys that lead to what holds them.
    elsewhere: tuple[tuple[tuple[str, ...], Entry], ...] = ()


# -- commands --------------------------------------------------------------------------------------------------------


def hook_command(entry: Entry, host: Host) -> str:
    """Return the command of a hook, for a POSIX shell."""
    return shlex.join(entry.words("hook", host.id))


def server_value(entry: Entry) -> dict[str, Any]:
    """Return what a host keeps of our MCP server."""
    first, *rest = entry.words("mcp")
    return {"type": "stdio", "command": first, "args": rest}


def read_words(words: Sequence[str], command: Sequence[str]) -> Entry | None:
    """Return the entry of a command of ours from its words; None for any other command."""
    if not words:
        return None
    module = next((each for each in _MODULES if tuple(words[1 : len(each) + 1]) == each), ())
    size = 1 if _base(words[0]) in _PROGRAMS else len(module) + 1 if module else 0
    rest = list(words[size + len(command) :])
    if not size or tuple(words[size : size + len(command)]) != tuple(command) or len(rest) % 2:
        return None
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    if len(options) != len(rest) // 2 or not {"--role", "--brain"} <= set(options) <= set(_OPTIONS):
        return None
    return Entry(
        program=tuple(words[:size]),
        role=options["--role"],
        brain=options["--brain"],
        heartbeat=options.get("--heartbeat"),
    )


def _base(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]


def _read_hook(text: str, handler: Node, host: Host) -> Entry | None:
    """Return the entry of a hook; None when it is not ours."""
    kind, command = _string(text, handler.get("type")), _string(text, handler.get("command"))
    if kind != "command" or command is None or handler.get("args") is not None:
        return None
    try:
        return read_words(shlex.split(command), ("hook", host.id))
    except ValueError:  # quotes without an end
        return None


def _read_server(text: str, node: Node) -> Entry | None:
    command, words = _string(text, node.get("command")), node.get("args")
    if command is None or words is None or words.kind is not Kind.ARRAY:
        return None
    args = [_string(text, each.node) for each in words.elements]
    return None if None in args else read_words([command, *map(str, args)], ("mcp",))


def _string(text: str, node: Node | None) -> str | None:
    return read_value(text, node) if node is not None and node.kind is Kind.STRING else None


# -- looking ---------------------------------------------------------------------------------------------------------


def is_blank(text: str) -> bool:
    """Tell whether a file holds nothing, or an object without anything in it."""
    bare = text.removeprefix(BOM).strip()
    if not bare:
        return True
    root = parse(text)
    return root.kind is Kind.OBJECT and not root.elements and not has_comment(text)


def find(host: Host, file: HostFile, text: str) -> Found:
    """Return which entries of ours stand in a file's text.

    Raises:
        SettingsTextError: The text is no JSON, or has another form than the host knows.
    """
    text = _fill(text)
    if file.part is Part.SERVER:
        found = [hit.entry for hit in _servers(text, file)]
        others = tuple(dict.fromkeys(_elsewhere(text, file)))
        return Found(entries=tuple(dict.fromkeys(found)), is_complete=bool(found), elsewhere=others)
    hits = list(_hooks(host, text))
    entries = tuple(dict.fromkeys(hit.entry for hit in hits))
    return Found(entries=entries, is_complete={hit.event for hit in hits} >= set(host.hook_limits))


def empty_places(host: Host, file: HostFile, text: str) -> frozenset[tuple[str, ...]]:
    """Return the keys of objects and lists on the way to our entries that stand in a text, and are empty."""
    root = parse(_fill(text))
    ends = [(*file.keys, event) for event in host.hook_limits] if file.part is Part.HOOKS else [file.keys]
    paths = {end[: size + 1] for end in ends for size in range(len(end))}
    return frozenset(path for path in paths if (node := _at(root, path)) is not None and not node.elements)


def describe_oddities(host: Host, text: str) -> list[str]:
    """Return what stands in a text that the host may not read as its owner means it, as sentences without the path."""
    root = parse(_fill(text))
    notes = []
    is_plain = _is_plain(text)
    odd = {
        "comments": not is_plain and has_comment(text),
        "a comma before a closing bracket": not is_plain and has_trailing_comma(root),
        "a byte order mark": text.startswith(BOM),
    }
    if any(odd.values()):
        what = " and ".join(name for name, is_there in odd.items() if is_there)
        notes.append(f"holds {what}, and stays so; {host.title} may pass over a file that is not plain JSON.")
    switch = root.get("disableAllHooks")
    if switch is not None and read_value(text, switch) is True:
        notes.append("turns all hooks off: disableAllHooks is true.")
    return notes


def _is_plain(text: str) -> bool:
    """Tell whether a text that was read is JSON without any addition."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Hit:
    """An entry of ours, and the way to it."""

    entry: Entry
    event: str
    #: What it stands in, from the root: each object or list with the number of its element.
    way: tuple[tuple[Node, int], ...]

    @property
    def node(self) -> Node:
        return _follow(self.way[0][0], self.way)


def _follow(root: Node, way: Sequence[tuple[Node, int]]) -> Node:
    """Return what is at the end of a way, in this text or in one that is built alike."""
    for _, index in way:
        root = root.elements[index].node
    return root


def _hooks(host: Host, text: str) -> Iterator[_Hit]:
    """Yield every hook of ours; twins of a key are looked at as well."""
    root = _check_kind(text, parse(text), Kind.OBJECT, "the settings")
    for at, member in enumerate(root.elements):
        if member.key != "hooks":
            continue
        events = _check_kind(text, member.node, Kind.OBJECT, "hooks")
        for number, event in enumerate(events.elements):
            groups = _check_kind(text, event.node, Kind.ARRAY, f"hooks.{event.key}")
            way = ((root, at), (events, number))
            for handler_way in _handlers(groups):
                entry = _read_hook(text, _follow(groups, handler_way), host)
                if entry is not None:
                    yield _Hit(entry, str(event.key), (*way, *handler_way))


def _handlers(groups: Node) -> Iterator[tuple[tuple[Node, int], ...]]:
    """Yield the way from a list of groups to each hook in it; a group of another form holds none of ours."""
    for number, group in enumerate(groups.elements):
        for at, member in enumerate(group.node.elements):
            if member.key == "hooks" and member.node.kind is Kind.ARRAY:
                for index in range(len(member.node.elements)):
                    yield ((groups, number), (group.node, at), (member.node, index))


def _servers(text: str, file: HostFile) -> Iterator[_Hit]:
    """Yield our server; one of the same name that is not ours is none."""
    way: list[tuple[Node, int]] = []
    node = _check_kind(text, parse(text), Kind.OBJECT, "the file")
    for depth, key in enumerate(file.keys, 1):
        index = _index_of(node, key)
        if index is None:
            return
        way.append((node, index))
        node = _check_kind(text, node.elements[index].node, Kind.OBJECT, ".".join(file.keys[:depth]))
    index = _index_of(node, SERVER)
    if index is not None and (entry := _read_server(text, node.elements[index].node)) is not None:
        yield _Hit(entry, SERVER, (*way, (node, index)))


def _elsewhere(text: str, file: HostFile) -> Iterator[tuple[tuple[str, ...], Entry]]:
    """Yield our servers of other scopes and projects; what has another form holds none."""
    for place in file.places:
        for keys, node in _lead(parse(text), place):
            server = node.get(SERVER)
            if keys != file.keys and server is not None and (entry := _read_server(text, server)) is not None:
                yield keys, entry


def _lead(
    node: Node, place: tuple[str | None, ...], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield every node that a way leads to, with its keys."""
    if not place:
        yield keys, node
        return
    for each in node.elements:
        if each.key is not None and place[0] in {None, each.key}:
            yield from _lead(each.node, place[1:], (*keys, each.key))


def _index_of(node: Node, key: str) -> int | None:
    """Return which member has a key; of several the last one, which is what programs see."""
    return next((at for at in range(len(node.elements) - 1, -1, -1) if node.elements[at].key == key), None)


def _check_kind(text: str, node: Node, kind: Kind, what: str) -> Node:
    """Return a node of the kind that is needed.

    Args:
        text: What it stands in.
        node: The node.
        kind: What it must be.
        what: Its name: keys with dots between them, or words.

    Raises:
        SettingsTextError: It is another.
    """
    if node.kind is kind:
        return node
    wanted = "an object" if kind is Kind.OBJECT else "a list"
    name = what if what.startswith("the ") else f"`{what}`"
    message = f"{name} must be {wanted}"
    raise SettingsTextError(message, text=text, at=node.start, hint=f"Make it {wanted}, or take it out.")


def _at(root: Node, path: Sequence[str]) -> Node | None:
    node: Node | None = root
    for key in path:
        node = node.get(key) if node is not None else None
    return node


def _fill(text: str) -> str:
    """Return the text with an empty object in it when it holds nothing."""
    bare = text.removeprefix(BOM)
    return text + _NOTHING if not bare.strip() else text


# -- adding ----------------------------------------------------------------------------------------------------------


def add(host: Host, file: HostFile, text: str, entry: Entry) -> str:
    """Return the text with exactly this entry of ours in it, and everything else as it was.

    Raises:
        SettingsTextError: The text is no JSON, has another form, or somebody else's server has our name.
    """
    text = _fill(text)
    return _add_server(file, text, entry) if file.part is Part.SERVER else _add_hooks(host, text, entry)


def _add_hooks(host: Host, text: str, entry: Entry) -> str:
    text = _drop_stale(host, text)
    command = hook_command(entry, host)
    for event, limit in host.hook_limits.items():
        hit = next((hit for hit in _hooks(host, text) if hit.event == event), None)
        if hit is None:
            text = _make(text, ("hooks", event), Kind.ARRAY)
            groups = _need(parse(text), ("hooks", event))
            handler = {"type": "command", "command": command, "timeout": limit}
            text = insert(text, groups, {"hooks": [handler]})
        elif hit.entry != entry:
            text = replace(text, _need(hit.node, ("command",)), command)
    return text


def _drop_stale(host: Host, text: str) -> str:
    """Return the text with at most one hook of ours at each event, and none at an event that is not one of ours."""
    while True:
        seen: set[str] = set()
        for hit in _hooks(host, text):
            if hit.event in seen or hit.event not in host.hook_limits:
                text = _cut(text, hit, kept=frozenset())
                break
            seen.add(hit.event)
        else:
            return text


def _add_server(file: HostFile, text: str, entry: Entry) -> str:
    value = server_value(entry)
    hit = next(_servers(text, file), None)
    if hit is None:
        text = _make(text, file.keys, Kind.OBJECT)
        servers = _need(parse(text), file.keys)
        other = servers.get(SERVER)
        if other is None:
            return insert(text, servers, value, key=SERVER)
        message = f"`{'.'.join(file.keys)}.{SERVER}` is a server that omnislash did not put there"
        raise SettingsTextError(message, text=text, at=other.start, hint="Give it another name, or take it out.")
    if hit.entry == entry:
        return text
    text = replace(text, _need(hit.node, ("args",)), value["args"])
    return replace(text, _need(_follow(parse(text), hit.way), ("command",)), value["command"])


def _make(text: str, path: tuple[str, ...], kind: Kind) -> str:
    """Return the text with empty objects on a path where there are none, and at its end a list or an object."""
    for depth in range(len(path)):
        parent = _check_kind(text, _need(parse(text), path[:depth]), Kind.OBJECT, ".".join(path[:depth]) or "the file")
        is_end = depth == len(path) - 1
        wanted = kind if is_end else Kind.OBJECT
        child = parent.get(path[depth])
        if child is None:
            text = insert(text, parent, [] if wanted is Kind.ARRAY else {}, key=path[depth])
        else:
            _check_kind(text, child, wanted, ".".join(path[: depth + 1]))
    return text


def _need(root: Node, path: Sequence[str]) -> Node:
    node = _at(root, path)
    if node is None:
        message = f"there is nothing at {'.'.join(path)}"
        raise LookupError(message)
    return node


# -- removing --------------------------------------------------------------------------------------------------------


def take_out(host: Host, file: HostFile, text: str, *, kept: frozenset[tuple[str, ...]]) -> str:
    """Return the text without our entries, and without the objects and lists that are empty for it.

    Args:
        host: Whose file it is.
        file: Which file.
        text: What stands in it.
        kept: Keys of objects and lists that stay even when they are empty.

    Raises:
        SettingsTextError: The text is no JSON, or has another form than the host knows.
    """
    filled = _fill(text)
    while True:
        hits = _servers(filled, file) if file.part is Part.SERVER else _hooks(host, filled)
        hit = next(hits, None)
        if hit is None:
            return filled if filled != _fill(text) else text
        filled = _cut(filled, hit, kept=kept)


def _cut(text: str, hit: _Hit, *, kept: frozenset[tuple[str, ...]]) -> str:
    """Return the text without one entry; what holds nothing else and no comment goes with it."""
    way = hit.way
    while (shorter := _shorten(text, way, kept=kept)) is not None:
        way = shorter
    parent, index = way[-1]
    return remove(text, parent, index)


def _shorten(
    text: str, way: tuple[tuple[Node, int], ...], *, kept: frozenset[tuple[str, ...]]
) -> tuple[tuple[Node, int], ...] | None:
    """Return the way to what goes along with an element; None when it goes alone.

    A group without its list of hooks would be none that the host knows, so it goes as a whole or keeps the list.
    """
    if len(way) == 1 or not _goes_along(text, way, kept=kept):
        return None
    shorter = way[:-1]
    is_group = len(shorter) > 1 and shorter[-2][0].kind is Kind.ARRAY
    return _shorten(text, shorter, kept=kept) if is_group else shorter


def _goes_along(text: str, way: tuple[tuple[Node, int], ...], *, kept: frozenset[tuple[str, ...]]) -> bool:
    """Tell whether what an element stands in is empty without it, and may go."""
    parent, index = way[-1]
    keys = tuple(str(node.elements[at].key) for node, at in way[:-1])
    rest = [each.key for at, each in enumerate(parent.elements) if at != index]
    is_group = len(way) > 1 and way[-2][0].kind is Kind.ARRAY and parent.kind is Kind.OBJECT
    return not [key for key in rest if not (is_group and key == "matcher")] and not (
        has_comment(text, parent) or keys in kept
    )
