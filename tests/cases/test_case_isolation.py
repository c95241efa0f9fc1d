"""Failure cases: every way of reading keeps the line, and secrets are turned away at the door."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import OmnislashError, Outcome, UsageError

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain, Session

TOKEN = "mk-77-private"
PRIVATE = {
    "hr/MEMORY.md": f"# HR\n\n## Gates\n\n- {TOKEN} durable\n",
    "hr/2026/11/2026-11-30.md": f"# 2026-11-30\n\n- 08:00 {TOKEN} log\n",
    "hr/2026/2026-W48.md": f"# 2026-W48\n\n{TOKEN} summary\n",
}


@pytest.fixture
def two_lines(make_brain: MakeBrain) -> CaseBrain:
    """A brain with the lines `ops` and `hr`, the second with private texts."""
    files = {f"memory/{path}": text for path, text in PRIVATE.items()}
    nobody = "---\ncapabilities: [memory:read, memory:write, memory:edit, memory:delete, runtime:read]\n---\n"
    return make_brain(lines=("ops", "hr"), files={**files, "features/team/nobody.agent.md": nobody})


def ways_of_reading() -> list[tuple[str, dict[str, Any]]]:
    """Return every call that could bring a text of `hr` out."""
    calls: list[tuple[str, dict[str, Any]]] = [("memory_overview", {}), ("memory_list", {}), ("audit_list", {})]
    calls += [("memory_list", {"corpus": corpus}) for corpus in ("hr", "*", "memory", "ops")]
    calls += [("memory_list", {"prefix": prefix}) for prefix in ("hr", "hr/2026", "")]
    calls += [("audit_list", {"line": "hr"}), ("audit_list", {"limit": 1000})]
    for path in (*PRIVATE, "hr/absent.md"):
        calls += [
            ("memory_read", {"path": path}),
            ("memory_read", {"path": path, "section": "Gates"}),
            ("memory_read", {"path": path, "offset": 3, "maxChars": 5}),
            ("audit_list", {"path": path}),
            ("memory_edit", {"path": path, "old": "priv", "new": "x"}),
            ("memory_edit", {"path": path, "old": "nowhere in it", "new": "x"}),
            ("memory_write_file", {"path": path, "content": "x"}),
            ("memory_write_file", {"path": path, "content": "x", "expectHash": "absent"}),
            ("memory_move", {"from": path, "to": "ops/x.md"}),
            ("memory_move", {"from": "ops/x.md", "to": path}),
            ("memory_delete", {"path": path}),
            ("memory_delete", {"path": path, "entry": "priv"}),
            ("memory_delete", {"path": path, "entry": "08:00"}),
            ("memory_delete", {"path": path, "section": "Gat"}),
        ]
    calls += [("memory_write", {"content": "x", "line": "hr"}), ("memory_write", {"content": "x", "line": "hr/.."})]
    calls += [("memory_read", {"path": "hr/MEMORY.md", "memoryScope": "hr", "role": "hr"})]
    return calls


def ask_all(session: Session, role: str) -> str:
    """Return every answer that a role gets, as one text."""
    answers = [session.call(tool, role, **arguments) for tool, arguments in ways_of_reading()]
    return json.dumps(answers, ensure_ascii=False)


@pytest.mark.rule("LINE-13", "SCOPE-17", "TOOL-07", "TOOL-14", "TOOL-O5", "TOOL-11", "SCOPE-O8")
def test_o_55_every_tool_keeps_the_line(two_lines: CaseBrain) -> None:
    """As `ops` no tool brings out anything of `hr`, not even an excerpt in an error, and nothing there changes."""
    found = ask_all(two_lines.session(), "ops")
    assert [piece for piece in (TOKEN, "mk-77", "durable", "summary") if piece in found] == []
    assert {path: two_lines.text(path) for path in PRIVATE} == PRIVATE


@pytest.mark.rule("SCOPE-O8", "TOOL-14")
def test_o_55_no_listing_names_a_file_of_another_line(two_lines: CaseBrain) -> None:
    """As `ops` neither files, days, periods nor rows of the action log of `hr` are listed, and there are some."""
    assert two_lines.put("a note of theirs", role="hr", day="hr/2026/11/2026-11-30.md").outcome is Outcome.WRITTEN
    assert two_lines.put("a note of ours").outcome is Outcome.WRITTEN
    listings = [(tool, call) for tool, call in ways_of_reading() if tool in {"memory_list", "audit_list"}]
    for tool, arguments in [*listings, ("memory_overview", {})]:
        answer = two_lines.ask(tool, arguments)
        assert "message" in answer or "hr/" not in json.dumps(answer)
    assert two_lines.agent().memory.overview().to_json()["periods"] == {}
    assert [row["paths"] for row in two_lines.ask("audit_list", {})["rows"]] == [[two_lines.day]]
    assert two_lines.ask("audit_list", {}, role="hr")["rows"][0]["paths"] == ["hr/2026/11/2026-11-30.md"]


@pytest.mark.rule("TOOL-14")
def test_o_55_a_refusal_does_not_tell_what_exists(two_lines: CaseBrain) -> None:
    """The answer about a file of another line is the same whether there is such a file or not."""
    for tool, arguments in ways_of_reading():
        if arguments.get("path") == "hr/MEMORY.md" and tool != "audit_list":
            there = two_lines.ask(tool, arguments)
            absent = two_lines.ask(tool, {**arguments, "path": "hr/absent.md"})
            assert json.dumps(there) == json.dumps(absent).replace("hr/absent.md", "hr/MEMORY.md")


@pytest.mark.rule("LINE-O4", "SCOPE-11", "TOOL-01")
def test_o_55_the_own_role_gets_everything(two_lines: CaseBrain) -> None:
    """As `hr` every file is listed and read whole."""
    session = two_lines.session()
    listed = [entry["path"] for entry in session.call("memory_list", "hr")["entries"]]
    assert listed == sorted(PRIVATE)
    assert {path: session.call("memory_read", "hr", path=path)["content"] for path in PRIVATE} == PRIVATE
    assert session.call("memory_overview", "hr")["periods"] == {"week": ["2026-W48"]}


@pytest.mark.rule("DECLARE-06", "DECLARE-08", "TOOL-05")
def test_o_55_an_unknown_or_unset_role_gets_nothing(two_lines: CaseBrain) -> None:
    """A role without memory, an unknown one and an empty one get nothing at all, by every tool."""
    session = two_lines.session()
    for role in ("nobody", "unknown", "", "HR", "*", "hr/../hr"):
        answers = [session.call(tool, role, **arguments) for tool, arguments in ways_of_reading()]
        assert {answer["kind"] for answer in answers} <= {"scope", "usage"}
        assert TOKEN not in json.dumps(answers)


@pytest.mark.rule("WRITE-O6", "LINE-13")
def test_o_55_dedupe_does_not_look_across_lines(two_lines: CaseBrain) -> None:
    """A text that stands in another line is new here: a verdict is no way to find out what others know."""
    assert two_lines.core(f"{TOKEN} durable").outcome is Outcome.WRITTEN


@pytest.mark.rule("TOOL-10", "REPORT-09", "SCOPE-14")
def test_o_55_deposit_and_oversight_do_not_widen_each_other(make_brain: MakeBrain) -> None:
    """A role that may deposit into a line can't read it, and one that may read every line can change only its own."""
    grants = "capabilities: [memory:read, memory:write, memory:edit, memory:delete, runtime:read]\n"
    files = {
        "features/team/post.agent.md": f"---\n{grants}memory: {{ write: post, report: [hr] }}\n---\n",
        "features/team/watch.agent.md": f"---\n{grants}memory: {{ write: watch, read: ['*'] }}\n---\n",
        **{f"memory/{path}": text for path, text in PRIVATE.items()},
    }
    brain = make_brain(lines=("ops", "hr"), files=files)
    session = brain.session()
    brain.name("hr/2026/11/2026-11-30.md")
    assert session.call("memory_write", "post", content="a letter", line="hr")["outcome"] == "written"
    assert session.call("memory_write", "post", content=f"{TOKEN} log", line="hr")["outcome"] == "written"
    assert session.call("memory_read", "post", path="hr/MEMORY.md")["kind"] == "scope"
    assert session.call("memory_read", "watch", path="hr/MEMORY.md")["content"] == PRIVATE["hr/MEMORY.md"]
    for tool, arguments in ways_of_reading():
        if tool in {"memory_edit", "memory_write_file", "memory_move", "memory_delete"}:
            assert session.call(tool, "watch", **arguments)["outcome"] == "refused"


@pytest.mark.rule("TOOL-05", "TOOL-06")
def test_o_55_the_command_line_keeps_the_line(two_lines: CaseBrain) -> None:
    """The command line answers within the role's line too, in its answer and on standard error."""
    for words in (("list",), ("overview",), ("read", "hr/MEMORY.md"), ("delete", "hr/MEMORY.md")):
        done = two_lines.command("memory", words[0], "--role", "ops", *words[1:])
        assert TOKEN not in json.dumps(done.answer) + done.stderr
    done = two_lines.command("memory", "read", "--role", "ops", "hr/MEMORY.md")
    assert (done.code, done.answer["error"]["kind"]) == (1, "scope")


PEM = "-----BEGIN PRIVATE KEY-----"
KEY_LINES = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "MzEfYyjiWA4R4ypbHqGC0H0"]
#: Text → the raw value that must be nowhere.
SECRETS = {
    "github": (f"ghp_{'b' * 36}", "b" * 36),
    "aws": (f"AKIA{'Q' * 16}", "Q" * 16),
    "private-key": ("\n".join([PEM, *KEY_LINES]), KEY_LINES[1]),
    "password": ("password = correct-horse-9", "correct-horse-9"),
}
HARMLESS = {
    "commit": "3f786850e387550fdab836ed7e6dc881de23001b",
    "uuid": "550e8400-e29b-41d4-a716-446655440000",
    "sentence": "the password page is /help",
}


def offer_everywhere(brain: CaseBrain, text: str) -> list[Any]:
    """Offer a text to every writer, and return the answers."""
    memory = brain.agent().memory
    return [
        brain.put(text),
        brain.core(text),
        brain.put(f"Note this down.\n\n{text}\n\nThat is all."),
        brain.swap("kept", text),
        brain.write_file("ops/notes.md", f"# Notes\n\n{text}\n"),
        memory.write_file(brain.memory, text),
    ]


@pytest.mark.rule("SECRET-O1", "WRITE-O7")
@pytest.mark.parametrize(("text", "raw"), list(SECRETS.values()), ids=list(SECRETS))
def test_o_58_secrets_are_turned_away(
    make_brain: MakeBrain, caplog: pytest.LogCaptureFixture, text: str, raw: str
) -> None:
    """Every writer refuses a credential, and its value is in no file, no git object, no log and no reply."""
    caplog.set_level(logging.DEBUG)
    brain = make_brain(files={"memory/ops/MEMORY.md": "# Ops\n\n- kept\n"})
    answers = offer_everywhere(brain, text)
    assert {answer.outcome for answer in answers} == {Outcome.REFUSED}
    assert raw not in str([answer.to_json() for answer in answers])
    assert brain.find_everywhere(raw) == []
    brain.commit()
    assert brain.find_everywhere(raw) == []
    assert raw not in caplog.text
    assert raw not in str([row.to_json() for row in brain.brain.audit().rows])
    brain.close()
    assert brain.find_everywhere(raw) == []


@pytest.mark.rule("SECRET-O1")
def test_o_58_the_worker_turns_them_away_too(brain: CaseBrain) -> None:
    """Over the worker's own door and by the command line, a credential leaves no trace either."""
    session = brain.session()
    session.ask({"worker": True})
    for text, raw in SECRETS.values():
        assert session.call("memory_write", content=text)["outcome"] == "refused"
        done = brain.command("memory", "write", "--role", "ops", "-", stdin=text)
        assert (done.code, done.answer["outcome"]) == (1, "refused")
        assert raw not in json.dumps(done.answer) + done.stderr
        assert brain.find_everywhere(raw) == []


@pytest.mark.rule("SECRET-O1", "SECRET-O2")
@pytest.mark.parametrize(("text", "raw"), list(SECRETS.values()), ids=list(SECRETS))
def test_o_58_a_secret_that_came_by_hand_can_be_taken_out(make_brain: MakeBrain, text: str, raw: str) -> None:
    """A credential that a person typed can be replaced by name, and then nothing under the brain holds it any more."""
    brain = make_brain()
    brain.remember(f"# Ops\n\n{text}\n\n- kept\n")
    assert brain.swap(text, "In the vault, under `depot`.").outcome is Outcome.WRITTEN
    assert brain.drop(text).outcome is Outcome.REFUSED
    brain.close()
    assert brain.find_everywhere(raw) == []


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize("text", list(HARMLESS.values()), ids=list(HARMLESS))
def test_o_58_harmless_texts_are_stored(brain: CaseBrain, text: str) -> None:
    """Commit ids, UUIDs and sentences about passwords are stored unchanged."""
    assert brain.core(text).outcome is Outcome.WRITTEN
    assert brain.text(brain.day) == f"# 2026-11-30\n\n- 09:00 {text}\n"


@pytest.mark.rule("SECRET-O1", "KNOB-26")
def test_o_58_the_manifest_can_allow_them(make_brain: MakeBrain) -> None:
    """`memory.secrets: allow` switches the refusal off, without a restart."""
    brain = make_brain()
    assert brain.put(SECRETS["github"][0]).outcome is Outcome.REFUSED
    brain.by_hand("constitution/MANIFEST.yaml", "memory:\n  secrets: allow\n")
    assert brain.put(SECRETS["github"][0]).outcome is Outcome.WRITTEN


def test_an_unknown_role_is_a_usage_error(two_lines: CaseBrain) -> None:
    """Asking for an unknown role raises, and the sentence holds no text of any line."""
    with pytest.raises(UsageError) as refused:
        two_lines.agent("unknown")
    assert isinstance(refused.value, OmnislashError)
    assert TOKEN not in f"{refused.value.message} {refused.value.hint}"
