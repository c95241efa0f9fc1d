"""Failure cases: frontmatter, keys given twice, and words that YAML takes for something else."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from omnislash import Brain, ConfigError, UsageError
from omnislash.brain.yaml_editing import Word

if TYPE_CHECKING:
    from omnislash.brain.files import BrainFiles
    from tests.cases.conftest import CaseBrain, MakeBrain

HARBOUR = "---\nname: harbour\n{key}: tide notes: north quay\n---\nHigh water at 06:10.\n"


def faults(found: BrainFiles, path: str) -> list[str]:
    """Return the faults of one file, as a person reads them."""
    return [fault.render() for fault in found.faults if fault.path == path]


@pytest.mark.rule("SOURCE-18", "SCOPE-02")
def test_o_18_a_note_with_a_bad_block_stays_as_it_is(make_brain: MakeBrain) -> None:
    """A note whose frontmatter is no YAML reads back whole, word for word, and nothing can set anything on it."""
    text = HARBOUR.format(key="summary")
    brain = make_brain(sources=("notes",), files={"notes/r.md": text})
    assert brain.agent().memory.read("notes/r.md").content == text
    assert brain.write_file("notes/r.md", "---\nname: x\n---\n").outcome == "refused"
    assert brain.swap("name: harbour", "name: quay", path="notes/r.md").outcome == "refused"


@pytest.mark.rule("KNOB-O5")
def test_o_18_a_role_with_a_bad_block_is_refused(make_brain: MakeBrain) -> None:
    """A role whose frontmatter is no YAML does not run, and its file and line 3 are named."""
    brain = make_brain(files={"features/quay/r.agent.md": HARBOUR.format(key="description")})
    (fault,) = faults(brain.brain.config, "features/quay/r.agent.md")
    assert fault.startswith("features/quay/r.agent.md:3:")
    assert "second ': '" in fault
    with pytest.raises(UsageError) as refused:
        brain.agent("r")
    assert "features/quay/r.agent.md:3" in (refused.value.hint or "")
    assert refused.value.message == "The role 'r' does not load."
    assert (refused.value.path, refused.value.line) == ("features/quay/r.agent.md", 3)


@pytest.mark.rule("KNOB-O5")
@pytest.mark.parametrize(("kind", "when"), [("heartbeat", "schedule: '0 7 * * *'"), ("hook", "on: memory:written")])
def test_o_19_a_beat_that_does_not_load_is_said_to_be_there(make_brain: MakeBrain, kind: str, when: str) -> None:
    """A heartbeat or hook whose file has a fault is not called missing: the sentence names file, line and key."""
    path = f"features/quay/tide.{kind}.md"
    brain = make_brain(files={path: f"---\n{when}\nagents: x\nagent: ops\n---\nLook.\n"})
    with pytest.raises(UsageError) as refused:
        brain.agent(heartbeat="tide")
    assert refused.value.message == "The heartbeat or hook 'tide' does not load."
    assert (refused.value.path, refused.value.line, refused.value.key) == (path, 3, "agents")


#: Each is the head of a file that people wrote; the body comes behind it.
BAD = {
    "backquote": "---\npath: `D:\\agent\\in`\n---\n",
    "open-rule": "---\n",
    "star": "---\ntitle: *Soft launch*\n---\n",
    "double-bracket": "---\nlinks:\n  - [[harbour]]s\n---\n",
    "percent": "---\nnote: 50% off: today\n---\n",
    "tab": "---\nnote:\n\tx: 1\n---\n",
}
GOOD = {"plain": "", "with-keys": "---\ntitle: Quay\n---\n"}


@pytest.mark.rule("SOURCE-16", "SOURCE-18")
def test_o_19_bad_notes_do_not_hold_up_the_rest(make_brain: MakeBrain) -> None:
    """Two good notes and six bad ones are all listed, and each reads whole, its own word included."""
    notes = {f"notes/{name}.md": f"{head}The word is {name}-word.\n" for name, head in {**BAD, **GOOD}.items()}
    brain = make_brain(sources=("notes",), files=notes)
    memory = brain.agent().memory
    assert [entry.path for entry in memory.list(corpus="notes").entries] == sorted(notes)
    assert {path: memory.read(path).content for path in notes} == notes


@pytest.mark.rule("KNOB-O5", "KNOB-26", "DECLARE-01")
def test_o_19_bad_roles_do_not_hold_up_the_rest(make_brain: MakeBrain) -> None:
    """Six bad roles are each listed with their path, the good ones run, and a mended one runs without a restart."""
    block = "memory:\n  write: ops\ncapabilities: [memory:read, memory:write]\n"
    bad = {f"features/team/{name}.agent.md": f"{head}Words.\n" for name, head in BAD.items()}
    brain = make_brain(files={**bad, "features/team/good.agent.md": f"---\n{block}---\n"})
    config = brain.brain.config
    assert {"ops", "good"} <= set(config.roles)
    assert [path for path in bad if not faults(config, path)] == []
    assert not set(config.roles) & set(BAD)
    assert brain.put("the good ones work", role="good").outcome == "written"
    brain.by_hand("features/team/star.agent.md", f'---\nname: "*Soft launch*"\n{block}---\nWords.\n')
    assert brain.brain.config.roles["star"].display_name == "*Soft launch*"
    assert faults(brain.brain.config, "features/team/star.agent.md") == []
    assert brain.put("and so does the mended one", role="star").outcome == "written"


@pytest.mark.rule("KNOB-O5")
def test_o_19_a_bad_heartbeat_does_not_hold_up_the_rest(make_brain: MakeBrain) -> None:
    """A heartbeat that does not load is named and left out; the others run."""
    good = "---\nschedule: '0 7 * * *'\nagent: ops\n---\nLook.\n"
    bad = "---\nschedule: 0 7 * *\nagent: ops\n---\nLook.\n"
    brain = make_brain(files={"features/a/good.heartbeat.md": good, "features/a/bad.heartbeat.md": bad})
    config = brain.brain.config
    assert set(config.heartbeats) == {"good"}
    assert len(faults(config, "features/a/bad.heartbeat.md")) == 1
    assert brain.agent("ops", heartbeat="good").scope.heartbeat == "good"


#: A settings file as a person keeps it: keys in an order of its own, notes, quotes, odd spaces, empty lines at the end.
KEPT = (
    "# Ours.\nmemory:\n  searchScore:   0.25\n  # The page must fit on a screen.\n  fileMaxChars: 4000   # keep\n"
    '  write: "ops"\nlocale: {timezone: "Europe/Berlin"}\n\n\n'
)


@pytest.mark.rule("DASH-O2", "DASH-07")
def test_o_20_an_update_keeps_order_and_comments(make_brain: MakeBrain) -> None:
    """One setting that is changed through the product is one line to git: order, comments, quotes and ends stay.

    Of the files with keys, the manifest is the one that the product changes; roles are edited by people alone.
    """
    brain = make_brain(files={"constitution/MANIFEST.yaml": KEPT})
    brain.commit()
    editor = brain.brain.manifest_editor

    save = editor.save({("memory", "fileMaxChars"): Word("5000", is_text=False)}, expect=editor.read().hash)

    assert save.outcome == "saved"
    assert brain.git("diff", "--numstat", "--", "constitution").split() == ["1", "1", "constitution/MANIFEST.yaml"]
    right = KEPT.replace("fileMaxChars: 4000   # keep", "fileMaxChars: 5000   # keep")
    assert brain.tree()["constitution/MANIFEST.yaml"] == right.encode()
    brain.by_hand("constitution/MANIFEST.yaml", right)


@pytest.mark.rule("TOOL-06", "KNOB-O5")
def test_o_21_rights_given_twice_are_refused(make_brain: MakeBrain) -> None:
    """A role with two lists of rights, in lines 3 and 9, does not run, and both lines are named."""
    wide = "[memory:read, memory:write, memory:delete]"
    text = (
        "---\nname: twice\ncapabilities: [memory:read]\ndescription: x\nskills: [a]\nmemory:\n  write: ops\n"
        f"memoryFlush: false\ncapabilities: {wide}\n---\n"
    )
    assert text.split("\n")[2].startswith("capabilities")
    assert text.split("\n")[8].startswith("capabilities")
    brain = make_brain(files={"features/team/twice.agent.md": text})
    (fault,) = faults(brain.brain.config, "features/team/twice.agent.md")
    assert "line 3" in fault
    assert "line 9" in fault
    with pytest.raises(UsageError):
        brain.agent("twice")


@pytest.mark.rule("DECLARE-01", "KNOB-O5")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("---\nmemory:\n  write: ops\n  write: hr\n---\n", (3, 4), id="line"),
        pytest.param("---\nmemory: { write: ops }\nname: x\nmemory: { write: hr }\n---\n", (2, 4), id="block"),
        pytest.param("---\nmemory: { write: ops, 'write': hr }\n---\n", (2, 2), id="quoted"),
    ],
)
def test_o_21_a_line_given_twice_is_refused(make_brain: MakeBrain, text: str, lines: tuple[int, int]) -> None:
    """A role whose line is given twice does not run; the later value never wins in silence."""
    brain = make_brain(files={"features/team/twice.agent.md": text})
    (fault,) = faults(brain.brain.config, "features/team/twice.agent.md")
    assert f"in line {lines[0]} and in line {lines[1]}" in fault
    assert "twice" not in brain.brain.config.roles


@pytest.mark.rule("DECLARE-O1")
def test_o_21_the_manifest_refuses_a_key_given_twice(make_brain: MakeBrain) -> None:
    """A budget that the manifest gives twice stops the boot, both lines named."""
    brain = make_brain(files={"constitution/MANIFEST.yaml": "memory:\n  fileMaxChars: 900\n  fileMaxChars: 0\n"})
    with pytest.raises(ConfigError, match="in line 2 and in line 3"):
        Brain.open(brain.root)


DATES = {
    "day": "created: 2026-11-30",
    "instant": "seen: 2026-11-30 08:00:00",
    "no-day": "due: 2026-02-30",
    "no-month": "due: 2026-13-45",
}


@pytest.mark.rule("SOURCE-16")
def test_o_22_bare_dates_in_notes_are_text(make_brain: MakeBrain) -> None:
    """Notes with dates, possible or not, are all listed, and reading them gives valid JSON with the text as typed."""
    notes = {f"notes/{name}.md": f"---\n{line}\n---\nBody of {name}.\n" for name, line in DATES.items()}
    brain = make_brain(sources=("notes",), files=notes)
    session = brain.session()
    assert [entry["path"] for entry in session.call("memory_list", corpus="notes")["entries"]] == sorted(notes)
    assert {path: session.call("memory_read", path=path)["content"] for path in notes} == notes


@pytest.mark.parametrize("line", list(DATES.values()), ids=list(DATES))
def test_o_22_bare_dates_in_roles_are_text(make_brain: MakeBrain, line: str) -> None:
    """A date in a role is the text that was typed, possible or not; it is no object and no reason to stop."""
    value = line.partition(": ")[2]
    brain = make_brain(files={"features/team/dated.agent.md": f"---\nname: {value}\ndescription: {value}\n---\n"})
    role = brain.brain.config.roles["dated"]
    assert (role.display_name, role.description) == (value, value)
    assert json.loads(json.dumps(role.description)) == value


@pytest.mark.parametrize("value", ["012", "1.10", "NO", "no", "on", "12:30", "0x1f", "1e3", "y", "1_000"])
def test_o_23_words_stay_words(make_brain: MakeBrain, value: str) -> None:
    """What YAML takes for a number or a switch is, where text is wanted, the text that was typed."""
    text = f"---\nname: {value}\ndescription: {value}\nmodel: {value}\nskills: [{value}]\n---\n"
    brain = make_brain(files={"features/team/words.agent.md": text})
    role = brain.brain.config.roles["words"]
    assert (role.display_name, role.description, role.model, role.skills) == (value, value, value, (value,))


@pytest.mark.rule("LINE-07")
def test_o_23_a_line_of_digits_is_a_name(make_brain: MakeBrain) -> None:
    """The line `012` is the line `012`: it is neither ten nor twelve."""
    brain = make_brain(lines=("ops", "012"))
    assert brain.put("filed", role="012", day="012/2026/11/2026-11-30.md").paths == ("012/2026/11/2026-11-30.md",)


@pytest.mark.rule("LANG-O1", "LANG-11")
@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param(
            {"omnislash.yaml": "memory:\n  languages: [no]\n"}, ("languages", "'no'", "norwegian"), id="language-no"
        ),
        pytest.param({"omnislash.yaml": "memory:\n  languages: no\n"}, ("languages", "list"), id="no-list"),
        pytest.param(
            {"constitution/MANIFEST.yaml": "memory:\n  flush:\n    enabled: on\n"},
            ("enabled", "true or false"),
            id="on",
        ),
        pytest.param({"constitution/MANIFEST.yaml": "memory:\n  fileMaxChars: 012\n"}, ("fileMaxChars",), id="octal"),
        pytest.param({"constitution/MANIFEST.yaml": "memory:\n  fileMaxChars: 1.10\n"}, ("fileMaxChars",), id="float"),
    ],
)
def test_o_23_a_doubtful_word_is_refused_with_a_hint(
    make_brain: MakeBrain, files: dict[str, str], words: tuple[str, ...]
) -> None:
    """Where text is not wanted, a doubtful word stops the boot and the message says what to write."""
    brain = make_brain(files=files)
    with pytest.raises(ConfigError) as refused:
        Brain.open(brain.root)
    assert all(word in refused.value.message for word in words)
    assert (refused.value.line or 0) > 1


@pytest.mark.rule("LANG-11", "KNOB-25")
def test_o_23_a_role_has_no_language_of_its_own(make_brain: MakeBrain) -> None:
    """The case's keys `language`, `id`, `version`, `country` are none of a role's: each is refused, none is guessed."""
    keys = {"language": "no", "id": "012", "version": "1.10", "country": "NO"}
    text = "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + "---\n"
    brain = make_brain(files={"features/team/norse.agent.md": text})
    found = faults(brain.brain.config, "features/team/norse.agent.md")
    assert [key for key in keys if not any(f"`{key}`" in fault or f" {key}: " in fault for fault in found)] == []
    assert "norse" not in brain.brain.config.roles


HEALTHY: dict[str, str | bytes] = {
    "attic/old/thing.bin": b"\x00\xff\x00",
    "notes/crlf.md": "---\r\nunknown: key # why\r\ntags: [a,  b]\r\n---\r\nText.\r\n",
    "constitution/MANIFEST.yaml": (
        "# Ours.\nmemory:\n  # The page must fit on a screen.\n  fileMaxChars:   4000   # was 10000\n"
        'locale: {timezone: "Europe/Berlin"}\n\n\n'
    ),
    "memory/ops/MEMORY.md": "\ufeff# Ops\r\n\r\n- one\r\n",
    "memory/ops/2026/11/2026-11-29.md": "# 2026-11-29\n\n- 25:61 odd\n-no item\n",
    "memory/stray.txt": "a loose file",
    "memory/.hidden": "x",
}


@pytest.mark.rule("TOOL-05")
def test_o_62_looking_at_an_unusual_brain_changes_no_byte(make_brain: MakeBrain) -> None:
    """Opening a healthy but unusual brain and reading all of it changes no byte and makes no file or directory."""
    brain = make_brain(sources=("notes",), files=HEALTHY)
    before, places = brain.tree(), sorted(brain.root.rglob("*"))
    memory = brain.agent().memory
    assert memory.overview().budget is not None
    for entry in memory.list(limit=1000).entries:
        memory.read(entry.path)
    with pytest.raises(UsageError):
        brain.agent("nobody")
    assert brain.brain.config.faults == ()
    brain.close()
    assert sorted(brain.root.rglob("*")) == places
    assert brain.tree() == before


def test_o_62_looking_by_command_changes_no_byte(make_brain: MakeBrain) -> None:
    """The looking commands leave every byte of the brain as it is, too."""
    brain = make_brain(sources=("notes",), files=HEALTHY)
    before = brain.tree()
    for words in (("overview",), ("list",), ("read", "ops/MEMORY.md")):
        assert brain.command("memory", words[0], "--role", "ops", *words[1:]).code == 0
    assert brain.tree() == before


@pytest.mark.rule("KNOB-26")
def test_o_62_a_write_touches_what_it_names_only(make_brain: MakeBrain) -> None:
    """A write into an unusual brain adds its entry and leaves mark, line ends, keys and comments as they were."""
    brain = make_brain(sources=("notes",), files=HEALTHY)
    assert brain.core("two").outcome == "written"
    assert brain.data() == "\ufeff# Ops\r\n\r\n- one\r\n\r\n## Memory (2026-11-30)\r\n\r\n- two\r\n".encode()


def test_o_62_a_copied_brain_is_a_brain(brain: CaseBrain) -> None:
    """A brain that was copied with its engine's own files works under its new name, and the old one is left alone."""
    brain.put("before the copy")
    brain.close()
    copy = brain.root.with_name("copy")
    shutil.copytree(brain.root, copy)
    before = brain.tree()
    with Brain.open(copy, clock=brain.clock) as other:
        assert other.agent("ops").memory.write("after the copy").outcome == "written"
    assert brain.tree() == before
