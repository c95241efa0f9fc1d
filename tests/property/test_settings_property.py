"""Whatever settings a person has written, an entry goes in once and comes out without a trace of theirs lost."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from omnislash.surfaces.adapters import installing, json_settings
from omnislash.surfaces.adapters.hosts import Entry, HostFile, Part, Scope, get_host
from omnislash.surfaces.adapters.planning import Where
from omnislash.surfaces.adapters.settings_text import SettingsTextError, parse, read_value

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = get_host("claude-code")
NOVA = Entry(program=("/opt/bin/omnislash",), role="nova", brain="/brain")
OURS = {"type": "command", "command": json_settings.hook_command(NOVA, HOST), "timeout": 10}
FILES = (
    HostFile(part=Part.HOOKS, path=Path("/x/settings.json"), keys=("hooks",)),
    HostFile(part=Part.SERVER, path=Path("/x/.mcp.json"), keys=("mcpServers",)),
    HostFile(part=Part.SERVER, path=Path("/x/.claude.json"), keys=("projects", "/p", "mcpServers")),
)
#: Names that mean something to us come up often.
KEYS = st.sampled_from(
    ["hooks", "mcpServers", "projects", "/p", "Stop", "SessionEnd", "omnislash", "a", "ü"]
) | st.text(max_size=4)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "hooks": st.lists(
                st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=6)}), max_size=2
            )
        },
        optional={"matcher": st.text(max_size=3)},
    ),
    max_size=2,
)
OTHERS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
SERVERS = st.dictionaries(st.sampled_from(["x", "y"]), st.just({"command": "z", "args": []}), max_size=2)
#: What a host could read.
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": OTHERS,
        "hooks": st.dictionaries(st.sampled_from(["Stop", "SessionEnd", "PreToolUse"]), GROUPS, max_size=3),
        "mcpServers": SERVERS,
        "projects": st.dictionaries(
            st.sampled_from(["/p", "/q"]), st.fixed_dictionaries({}, optional={"mcpServers": SERVERS, "n": OTHERS})
        ),
        "env": OTHERS,
    },
)


def write(value: Any, pick: Callable[[st.SearchStrategy[Any]], Any], comments: list[str], newline: str) -> str:
    """Return a value as a person may write it: blanks, comments and commas as they come."""

    def gap() -> str:
        kind = str(pick(st.sampled_from(["", "", " ", "\n", "\n  ", "\t", "line", "block"])))
        if kind not in {"line", "block"}:
            return kind.replace("\n", newline)
        comments.append(f'c{len(comments)} {{[,"')
        return f"// {comments[-1]}{newline}" if kind == "line" else f"/* {comments[-1]} */"

    def body(parts: list[str], opening: str, closing: str) -> str:
        comma = pick(st.sampled_from(["", "", ","])) if parts else ""
        return opening + ",".join(f"{gap()}{part}{gap()}" for part in parts) + comma + gap() + closing

    if isinstance(value, dict):
        members = [
            f"{json.dumps(key)}{gap()}:{gap()}{write(each, pick, comments, newline)}" for key, each in value.items()
        ]
        return body(members, "{", "}")
    if isinstance(value, list):
        return body([write(each, pick, comments, newline) for each in value], "[", "]")
    return json.dumps(value, ensure_ascii=pick(st.sampled_from(["", "x"])) == "x")


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str, list[str]]:
    """Draw settings: what they say, their text, and the comments in it."""
    value = draw(SETTINGS)
    comments: list[str] = []
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = write(value, draw, comments, newline)
    return value, draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline])), comments


def value_of(text: str) -> Any:
    """Return what a text says."""
    return read_value(text, parse(text))


def is_part(one: str, other: str) -> bool:
    """Tell whether all characters of one text stand in another, in their order."""
    rest = iter(other)
    return all(char in rest for char in one)


@given(documents())
@settings(max_examples=25)
def test_texts_are_read_as_they_are_meant(document: tuple[Any, str, list[str]]) -> None:
    """Blanks, comments and last commas change nothing of what a text says."""
    value, text, _ = document

    assert value_of(text) == value


@given(documents(), st.sampled_from(FILES))
@settings(max_examples=25)
def test_an_entry_goes_in_once_and_comes_out(document: tuple[Any, str, list[str]], file: HostFile) -> None:
    """Adding only adds, twice is once, and without it the text is what it was, but for blanks."""
    value, text, comments = document
    added = json_settings.add(HOST, file, text, NOVA)

    assert is_part(text, added)
    found = json_settings.find(HOST, file, added)
    assert (found.entries, found.is_complete) == ((NOVA,), True)
    assert json_settings.add(HOST, file, added, NOVA) == added

    kept = json_settings.empty_places(HOST, file, text)
    without = json_settings.take_out(HOST, file, added, kept=kept)
    assert "".join(without.split()) == "".join(text.split())
    assert value_of(without) == value
    assert all(comment in without for comment in comments)


def without_ours(hooks: dict[str, Any]) -> dict[str, Any]:
    """Return hooks without ours, and without the groups and events that are empty then."""
    rest: dict[str, Any] = {}
    for event, groups in hooks.items():
        kept = []
        for group in groups:
            handlers = [each for each in group["hooks"] if each["command"] != OURS["command"]]
            kept += [{**group, "hooks": handlers}] if handlers else []
        rest |= {event: kept} if kept else {}
    return rest


@given(documents(), st.data())
@settings(max_examples=20)
def test_entries_anywhere_come_out_alone(document: tuple[Any, str, list[str]], data: st.DataObject) -> None:
    """Wherever a person has moved our hooks, before, between or behind theirs, only ours go; their comments stay."""
    value: dict[str, Any] = {**document[0], "hooks": {**document[0].get("hooks", {})}}
    place = st.sampled_from(["Stop", "SessionEnd", "PreToolUse"])
    for event in data.draw(st.lists(place, min_size=1, max_size=3)):
        groups = list(value["hooks"].get(event, []))
        at = data.draw(st.integers(0, len(groups)))
        joined = [*groups[at - 1]["hooks"], OURS] if at else []
        if joined and data.draw(st.sampled_from([True, False])):
            groups[at - 1] = {**groups[at - 1], "hooks": data.draw(st.permutations(joined))}
        else:
            groups.insert(at, {"hooks": [OURS]})
        value["hooks"][event] = groups
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = write(value, data.draw, [], newline)
    after = json_settings.take_out(HOST, FILES[0], text, kept=frozenset())

    found = value_of(after)
    assert without_ours(found.get("hooks", {})) == without_ours(value["hooks"])
    assert json_settings.find(HOST, FILES[0], after).entries == ()
    assert {key: each for key, each in found.items() if key != "hooks"} == {
        key: each for key, each in value.items() if key != "hooks"
    }


@given(documents(), documents())
@settings(max_examples=8)
def test_files_get_their_very_bytes_back(one: tuple[Any, str, list[str]], other: tuple[Any, str, list[str]]) -> None:
    """Installed into two files and taken out again, both are what they were, byte for byte."""
    with TemporaryDirectory() as name:
        home, brain = Path(name, "home"), Path(name, "brain")
        for place in (home, brain):
            place.mkdir()
        (brain / "omnislash.yaml").touch()
        where = Where(host=HOST, scope=Scope.USER, project=home, environment={"HOME": name})
        texts = {file.path: text for file, text in zip(where.files(), (one[1], other[1]), strict=True)}
        for place, text in texts.items():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(text.encode())
        entry = Entry(program=("/opt/bin/omnislash",), role="nova", brain=str(brain))

        installing.install(where, entry, stamp="1")
        assert all(b"omnislash" in place.read_bytes() for place in texts)
        installing.uninstall(where, stamp="2")

        assert {place: place.read_bytes() for place in texts} == {place: text.encode() for place, text in texts.items()}


@given(st.text(alphabet='{}[]",:/*\\ \n\r\t01-.eatrufnls\ufeffü', max_size=40))
@settings(max_examples=200)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text crashes or hangs the reader, and whatever JSON reads is read the same."""
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    try:
        found = value_of(text)
    except SettingsTextError as error:
        found, place = None, (error.line, error.column)
    else:
        place = (1, 1)

    assert expected is None or found == expected
    assert min(place) >= 1
