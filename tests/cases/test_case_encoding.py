"""Failure cases: byte order marks, line ends, broken emoji, invisible characters."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Outcome

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, MakeBrain

MARK = b"\xef\xbb\xbf"
DAY = "memory/ops/2026/11/2026-11-30.md"


def test_o_24_a_role_with_a_byte_order_mark_has_its_keys(make_brain: MakeBrain) -> None:
    """A role file that begins with the mark has all its keys, and no value begins with the mark."""
    text = MARK + b"---\nname: Marked\ncapabilities: [memory:read]\nmemory: { write: ops }\n---\nWords.\n"
    brain = make_brain(files={"features/team/marked.agent.md": text})
    role = brain.brain.config.roles["marked"]
    assert (role.display_name, role.capabilities, role.body) == ("Marked", ("memory:read",), "Words.\n")
    assert role.declaration is not None
    assert role.declaration.write == "ops"


@pytest.mark.rule("WRITE-15", "BUDGET-02")
def test_o_24_a_memory_with_a_byte_order_mark_keeps_it(make_brain: MakeBrain) -> None:
    """Through adding, replacing and removing, the mark stays exactly once and at the very start."""
    old = MARK + b"---\ntitle: ops\n---\n- first\n- second\n"
    brain = make_brain(files={"memory/ops/MEMORY.md": old})
    assert brain.core("third").outcome is Outcome.WRITTEN
    assert brain.data() == old + b"\n## Memory (2026-11-30)\n\n- third\n"
    assert brain.swap("first", "1st").outcome is Outcome.WRITTEN
    assert brain.drop("second").outcome is Outcome.WRITTEN
    assert brain.data() == MARK + b"---\ntitle: ops\n---\n- 1st\n\n## Memory (2026-11-30)\n\n- third\n"


@pytest.mark.rule("WRITE-10", "WRITE-O6")
def test_o_24_nothing_shown_begins_with_the_mark(make_brain: MakeBrain) -> None:
    """What a reader gets does not begin with the mark, and the first entry and heading are found behind it."""
    brain = make_brain(files={"memory/ops/MEMORY.md": MARK + b"## Gates\n\n- first\n", DAY: MARK + b"- 09:00 gate\n"})
    memory = brain.agent().memory
    assert memory.read(brain.memory).content == "## Gates\n\n- first\n"
    assert memory.read(brain.memory, section="Gates").content == "## Gates\n\n- first\n"
    assert brain.put("gate").outcome is Outcome.DUPLICATE
    assert brain.put("first").outcome is Outcome.DUPLICATE


@pytest.mark.rule("WRITE-15", "LINE-05")
@pytest.mark.parametrize("conversion", ["unset", "true"])
def test_o_25_a_log_with_crlf_gains_only_its_lines(make_brain: MakeBrain, conversion: str) -> None:
    """An entry in a CRLF log adds one line to the diff, and after a commit git sees a clean tree, whatever it converts."""
    brain = make_brain()
    if conversion != "unset":
        brain.git("config", "core.autocrlf", conversion)
    brain.by_hand(DAY, "# 2026-11-30\r\n\r\n- 08:00 opened\r\n- 08:40 counted\r\n")
    brain.commit()
    assert brain.put("supplier called\nback at two").outcome is Outcome.WRITTEN
    expected = "# 2026-11-30\r\n\r\n- 08:00 opened\r\n- 08:40 counted\r\n- 09:00 supplier called\r\n  back at two\r\n"
    assert brain.data(brain.day) == expected.encode()
    assert brain.git("diff", "--numstat").split() == ["2", "0", DAY]
    brain.commit()
    assert brain.git("status", "--porcelain") == ""
    blob = brain.git("rev-parse", f"HEAD:{DAY}").strip()
    assert blob == brain.git("hash-object", f"--path={DAY}", str(brain.place(brain.day))).strip()


@pytest.mark.rule("BUDGET-02", "TOOL-O1")
def test_o_25_a_memory_with_crlf_stays_one(make_brain: MakeBrain) -> None:
    """Adding, replacing and removing in a CRLF file leaves every other line as it was and writes CRLF."""
    brain = make_brain(files={"memory/ops/MEMORY.md": "# Ops\r\n\r\n- one\r\n- two\r\n"})
    brain.core("three\nlines")
    brain.swap("one", "1st\nentry")
    brain.drop("two")
    assert brain.data() == b"# Ops\r\n\r\n- 1st\r\n  entry\r\n\r\n## Memory (2026-11-30)\r\n\r\n- three\r\n  lines\r\n"


def test_o_25_a_role_with_crlf_has_clean_values(make_brain: MakeBrain) -> None:
    """The values of a CRLF role have no carriage return at their end."""
    text = (
        "---\r\nname: Crlf\r\ndescription: ends here\r\nskills:\r\n  - a\r\nmemory:\r\n  write: ops\r\n---\r\nBody.\r\n"
    )
    brain = make_brain(files={"features/team/crlf.agent.md": text})
    role = brain.brain.config.roles["crlf"]
    assert (role.display_name, role.description, role.skills) == ("Crlf", "ends here", ("a",))
    assert role.declaration is not None
    assert role.declaration.write == "ops"


#: As it stands in JSON → the bytes that are stored, or None for a refusal.
TEXTS = {
    "whole": (r"bed \ud83c\udf3b sown", b"bed \xf0\x9f\x8c\xbb sown"),
    "half": (r"bed \ud83c sown", None),
    "other-half": (r"bed \udf3b sown", None),
    "swapped": (r"bed \udf3b\ud83c sown", None),
    "nul": (r"bed \u0000 sown", None),
}


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize("priority", ["false", "true"])
def test_o_26_broken_emoji_from_json(brain: CaseBrain, priority: str) -> None:
    """A whole emoji is stored as its four bytes, half of one or a NUL is refused, and the next call is answered."""
    session = brain.session()
    brain.name(brain.day, brain.memory)
    entries = b"# 2026-11-30\n\n"
    for text, stored in TEXTS.values():
        raw = f'{{"role": "ops", "tool": "memory_write", "arguments": {{"content": "{text}", "priority": {priority}}}}}'
        answer = session.ask(raw)["answer"]
        assert answer["outcome"] == ("refused" if stored is None else "written")
        assert (stored is None) == ("Nothing was written" in answer["message"])
        entries += b"" if stored is None else b"- 09:00 " + stored + b"\n"
        assert brain.data(brain.day) == entries
        assert session.call("memory_overview")["line"] == "ops"


#: Every text argument of every tool, with half an emoji in it.
HALVES = {
    "line": ("memory_write", {"content": "x", "line": "\ud83c"}),
    "request-id": ("memory_write", {"content": "x", "requestId": "\ud83c"}),
    "old": ("memory_edit", {"path": "ops/MEMORY.md", "old": "\ud83c", "new": "x"}),
    "new": ("memory_edit", {"path": "ops/MEMORY.md", "old": "kept", "new": "\ud83c"}),
    "edit-path": ("memory_edit", {"path": "ops/\ud83c.md", "old": "x", "new": "y"}),
    "file": ("memory_write_file", {"path": "ops/a.md", "content": "\ud83c"}),
    "file-path": ("memory_write_file", {"path": "ops/\ud83c.md", "content": "x"}),
    "hash": ("memory_write_file", {"path": "ops/MEMORY.md", "content": "x", "expectHash": "\ud83c"}),
    "move": ("memory_move", {"from": "ops/MEMORY.md", "to": "ops/\ud83c.md"}),
    "entry": ("memory_delete", {"path": "ops/MEMORY.md", "entry": "\ud83c"}),
    "section": ("memory_delete", {"path": "ops/MEMORY.md", "section": "\ud83c"}),
    "read": ("memory_read", {"path": "ops/\ud83c.md"}),
    "read-section": ("memory_read", {"path": "ops/MEMORY.md", "section": "\ud83c"}),
    "corpus": ("memory_list", {"corpus": "\ud83c"}),
    "prefix": ("memory_list", {"prefix": "\ud83c"}),
    "cursor": ("memory_list", {"cursor": "\ud83c"}),
    "audit": ("audit_list", {"path": "\ud83c"}),
    "audit-line": ("audit_list", {"line": "\ud83c"}),
    "audit-cursor": ("audit_list", {"cursor": "\ud83c"}),
}


@pytest.mark.parametrize(("tool", "arguments"), list(HALVES.values()), ids=list(HALVES))
def test_o_26_half_an_emoji_breaks_no_tool(make_brain: MakeBrain, tool: str, arguments: dict[str, Any]) -> None:
    """Half an emoji in any argument is answered, stored nowhere, and the next call is answered too."""
    brain = make_brain(files={"memory/ops/MEMORY.md": "- kept\n"})
    answer = brain.ask(tool, arguments)
    json.dumps(answer)
    if tool not in {"memory_list", "memory_read", "audit_list"}:
        assert (answer.get("outcome") or answer["kind"]) in {"refused", "usage"}
    assert brain.ask("memory_read", {"path": brain.memory})["content"] == "- kept\n"


@pytest.mark.rule("WRITE-O4")
def test_o_26_broken_emoji_over_the_socket(brain: CaseBrain) -> None:
    """The worker's socket answers raw JSON the same way, and answers the next line on the same connection."""
    session = brain.session()
    brain.name(brain.day)
    assert session.ask({"worker": True}) == {"worker": True}
    owner = json.loads((brain.root / ".omnislash/writer.lock").read_text(encoding="utf-8"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.connect(owner["address"])
        with caller.makefile("rwb") as lines:
            for text, stored in TEXTS.values():
                raw = f'{{"op": "call", "role": "ops", "tool": "memory_write", "arguments": {{"content": "{text}"}}}}\n'
                answers = [ask_raw(lines, line.encode()) for line in (raw, "no json at all\n", "[]\n", raw)]
                outcomes = [answer.get("answer", {}).get("outcome") for answer in answers]
                first, second = ("refused", "refused") if stored is None else ("written", "duplicate")
                assert outcomes == [first, None, None, second]
    assert brain.data(brain.day) == b"# 2026-11-30\n\n- 09:00 bed \xf0\x9f\x8c\xbb sown\n"


def ask_raw(lines: Any, line: bytes) -> dict[str, Any]:
    """Send one raw line and return the answer, whether or not an acknowledgement comes before it."""
    lines.write(line)
    lines.flush()
    answer: dict[str, Any] = json.loads(lines.readline())
    return answer if answer != {"ack": True} else dict(json.loads(lines.readline()))


def test_o_26_broken_bytes_on_the_command_line(brain: CaseBrain) -> None:
    """Bytes that are no UTF-8 text are refused by the command, with a reason and without a trace."""
    done = brain.command("memory", "write", "--role", "ops", "-", stdin="bed \ud83c sown")
    assert done.code in {1, 2}
    assert not brain.place(brain.day).exists()


INVISIBLE = {
    "persian": "می\u200cرود",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467 at home",
    "arabic": "\u200fمرحبا بالعالم\u200f.",
    "hindi": "क्\u200dष और र्\u200dय",
}


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize("text", list(INVISIBLE.values()), ids=list(INVISIBLE))
def test_o_57_honest_invisible_characters_are_kept(brain: CaseBrain, text: str) -> None:
    """Joiners and direction marks are accepted, kept byte for byte, and shown."""
    assert brain.core(text).outcome is Outcome.WRITTEN
    assert brain.data(brain.day) == f"# 2026-11-30\n\n- 09:00 {text}\n".encode()
    assert brain.data() == f"## Memory (2026-11-30)\n\n- {text}\n".encode()
    assert brain.agent().memory.read(brain.memory).content.endswith(f"- {text}\n")
    assert brain.put(text).outcome is Outcome.DUPLICATE
    assert brain.drop(text).outcome is Outcome.WRITTEN


@pytest.mark.rule("WRITE-15")
def test_o_57_an_invisible_character_makes_a_difference(brain: CaseBrain) -> None:
    """A text with a joiner and the same letters without one are two facts."""
    assert brain.put("می\u200cرود").outcome is Outcome.WRITTEN
    assert brain.put("میرود").outcome is Outcome.WRITTEN
