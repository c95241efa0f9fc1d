"""Failure cases: what doctor says about names, bytes, line ends and credentials that people put into a brain.

CHECK here is the command `omnislash doctor`, and after every one of them no byte of the brain is another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import Outcome

if TYPE_CHECKING:
    from tests.cases.conftest import CaseBrain, Done, MakeBrain

CHECKS = (*("brain-layout", "file-names", "encodings", "secrets", "large-files", "duplicate-entries", "file-system"),)
MARK = b"\xef\xbb\xbf"
TOKEN = "ghp_" + "b" * 36
ACCESS = "AKI" + "A" + "Q" * 16
KEY = f"{'-' * 5}BEGIN PRIVATE KEY{'-' * 5}\n" + "MIIEowIBAAKCAQEA7bqQ\n" * 3
PASSWORD = "correct-horse" + "-9"
UUID = "123e4567-e89b-12d3-a456-426614174000"
COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"


def check(brain: CaseBrain, *names: str) -> Done:
    """CHECK: run doctor, and see that nothing is another afterwards and that the exit code tells."""
    before = (brain.tree(), brain.temporary_files(), sorted(brain.root.rglob("*")))
    done = brain.command("doctor", *(word for name in names or CHECKS for word in ("--check", name)))
    assert (brain.tree(), brain.temporary_files(), sorted(brain.root.rglob("*"))) == before
    assert done.code == (1 if done.answer["status"] == "fail" else 0)
    return done


def told(done: Done) -> list[dict[str, Any]]:
    """Return what is wrong: every finding that is more than information."""
    findings = [finding for result in done.answer["checks"] for finding in result["findings"]]
    return [finding for finding in findings if finding["severity"] != "info"]


def places(done: Done) -> list[tuple[str | None, int | None]]:
    """Return path and line of what is wrong."""
    return [(finding.get("path"), finding.get("line")) for finding in told(done)]


def test_o_24_a_byte_order_mark_is_no_trouble(make_brain: MakeBrain) -> None:
    """The mark is named as information, and stays where it is."""
    role = MARK + b"---\nmemory: {write: ops}\n---\nYou keep the line.\n"
    files = {"features/team/marked.agent.md": role, "memory/ops/MEMORY.md": MARK + b"---\ntitle: ops\n---\n- first\n"}
    brain = make_brain(files=files)
    done = check(brain)

    assert told(done) == []
    assert json.dumps(done.answer).count("begins with a byte order mark") == 2


def test_o_25_crlf_everywhere_is_fine_and_half_of_it_is_named(make_brain: MakeBrain) -> None:
    """A file that is CRLF throughout, an entry of the engine included, is sound; one LF in it is found with its line."""
    day = "memory/ops/2026/11/2026-11-30.md"
    brain = make_brain(files={day: "# 2026-11-30\r\n\r\n- 08:00 opened\r\n"})
    assert brain.put("supplier called").outcome is Outcome.WRITTEN
    assert told(check(brain)) == []
    brain.by_hand(day, "# 2026-11-30\r\n\r\n- 08:00 opened\n- 08:40 counted\r\n")

    assert places(check(brain)) == [(day, 3)]


def test_o_26_the_engine_leaves_no_half_characters(make_brain: MakeBrain) -> None:
    """What agents send broken is refused, so doctor has nothing to say; what a person saves broken is named."""
    brain = make_brain()
    assert brain.put("bed \U0001f33b sown").outcome is Outcome.WRITTEN
    for broken in ("bed \ud83c sown", "bed \0 sown"):
        assert brain.put(broken).outcome is Outcome.REFUSED
    assert told(check(brain)) == []
    brain.by_hand("memory/ops/half.md", b"# Beds\n\n- bed \xed\xa0\xbc sown\n")
    brain.by_hand("memory/ops/zero.md", b"- bed \0 sown\n")

    assert places(check(brain)) == [("memory/ops/zero.md", 1), ("memory/ops/half.md", 3)]


def test_o_48_lookalikes_are_four_sound_files(make_brain: MakeBrain) -> None:
    """Names that differ in one sign can live together everywhere."""
    names = ("tide_notes.md", "tide-notes.md", "tide notes.md", "Tide.Notes.md")
    brain = make_brain(sources=("notes",), files={f"notes/{name}": f"{name}\n" for name in names})

    assert told(check(brain)) == []


def test_o_49_names_that_differ_in_case_only(make_brain: MakeBrain) -> None:
    """CHECK warns that the two sources can't live together on other disks."""
    brain = make_brain(sources=("notes",), files={"notes/Plan.md": "upper\n", "notes/plan.md": "lower\n"})
    done = check(brain)

    assert places(done) == [("notes/plan.md", None)]
    assert "'Plan.md'" in told(done)[0]["message"]
    assert "can't both be on every disk" in told(done)[0]["message"]
    assert done.answer["status"] == "warn"


def test_o_53_names_beyond_ascii(make_brain: MakeBrain) -> None:
    """Scripts and signs are fine; quotes are read here and named, because not every system can store them."""
    files = {"журнал/заметка №5.md": "Пятая.\n", 'журнал/a "q" b.md': "Quoted.\n", "журнал/हिन्दी.md": "छठी।\n"}
    brain = make_brain(sources=("журнал",), files=files)

    assert places(check(brain)) == [('журнал/a "q" b.md', None)]


def test_o_53_names_that_are_no_text(make_brain: MakeBrain) -> None:
    """A name of other bytes and one with a line end break neither the report nor JSON."""
    brain = make_brain(sources=("notes",), files={"notes/a.md": "a\n"})
    for name in ("caf\udce9.md", "two\nlines.md"):
        (brain.root / "notes" / name).write_text("text\n", encoding="utf-8")
    done = brain.command("doctor", "--check", "file-names")

    assert places(done) == [("notes/caf\ufffd.md", None), ("notes/two\ufffdlines.md", None)]
    for name in ("caf\udce9.md", "two\nlines.md"):
        (brain.root / "notes" / name).unlink()


@pytest.mark.rule("SECRET-O2")
def test_o_58_secrets_that_came_in_by_hand(make_brain: MakeBrain) -> None:
    """The four of the case are named by class, path and line, and shown nowhere; the three harmless ones are not."""
    day = "memory/ops/2026/11/2026-11-30.md"
    entries = (TOKEN, ACCESS, f"password = {PASSWORD}", COMMIT, UUID, "the password page is /help")
    brain = make_brain(sources=("notes",), files={
        day: "# 2026-11-30\n\n" + "".join(f"- {entry}\n" for entry in entries),
        "notes/key.md": f"# Key\n\n{KEY}",
    })  # fmt: skip
    done = check(brain)

    assert places(done) == [(day, 3), (day, 4), (day, 5), ("notes/key.md", 3)]
    assert [
        word
        for word in ("GitHub token", "AWS access key", "password or token", "private key")
        if word not in str(told(done))
    ] == []
    everything = json.dumps(done.answer, ensure_ascii=False) + done.stderr
    assert not any(value in everything for value in (TOKEN, ACCESS, PASSWORD, "MIIEow"))


@pytest.mark.rule("SECRET-O2")
def test_o_58_no_value_in_any_output(make_brain: MakeBrain) -> None:
    """With all checks on, a credential that stands twice, in a broken file and in settings is shown by none of them."""
    secret = f"password = {PASSWORD}"
    files: dict[str, str | bytes] = {
        "memory/ops/MEMORY.md": f"- {secret}\n- {secret}\n<<<<<<< {TOKEN}\n",
        "memory/ops/a.md": f"---\n{secret}: [\n---\n".encode() + b"\xff",
        "memory/ops/2026/x.md": TOKEN,
        "features/team/bad.agent.md": f"---\nmemory: {{write: {TOKEN}}}\n{TOKEN}: 1\n---\n",
        f"features/team/{TOKEN}.agent.md": f"---\nmemory: {{}}\nmodel: {TOKEN}\n---\n",
        "constitution/capabilities.md": TOKEN,
    }
    done = make_brain(files=files).command("doctor")

    assert ("memory/ops/MEMORY.md", 1) in places(done)
    assert ("memory/ops/MEMORY.md", 3) in places(done)
    readable = json.dumps(done.answer, ensure_ascii=False) + done.stderr
    assert TOKEN not in readable
    assert PASSWORD not in readable


def test_o_59_no_link_is_followed(make_brain: MakeBrain) -> None:
    """A link out of the brain is named, and the file that it leads to is not looked into."""
    brain = make_brain(files={"memory/ops/MEMORY.md": "- kept\n"})
    outside = brain.root.parent / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(TOKEN.encode() + b"\xff")
    brain.place("ops/away").symlink_to(outside)
    brain.place("ops/x.md").symlink_to(outside / "x.md")
    done = brain.command("doctor", *(word for name in CHECKS for word in ("--check", name)))

    assert places(done) == [("memory/ops/away", None), ("memory/ops/x.md", None)]
    brain.place("ops/away").unlink()
    brain.place("ops/x.md").unlink()


def test_o_62_a_healthy_but_unusual_brain(make_brain: MakeBrain) -> None:
    """An extra folder, unknown keys in a note, comments in YAML, a CRLF note and other settings are no trouble."""
    brain = make_brain(sources=("notes",), files={
        "attic/What?/readme.MD": "anything\n",
        "notes/a.md": '---\nunknown: key\nmood: [grey, "blue"]\n---\nText.\n',
        "notes/crlf.md": "# Note\r\n\r\nText.\r\n",
        "notes/picture.png": b"\x89PNG\r\n\x1a\n\0\0",
        "memory/knowledge/deep/note.md": "- text\n",
        "constitution/MANIFEST.yaml": (
            "# A comment\nmemory:\n  priorityChars: 60000  # all of it\n  fileMaxChars: 0\n  secrets: allow\n"
            "locale:\n  timezone: Asia/Tokyo\n"
        ),
        "memory/ops/MEMORY.md": "# Ops\n\n" + "".join(f"- fact {number}\n" for number in range(4000)),
        "memory/ops/2026/11/2026-11-30.md": "# 2026-11-30 (Monday)\n\nSome prose.\n\n- 09:00 a\n  - nested\n  - nested\n",
    })  # fmt: skip

    assert told(check(brain)) == []


@pytest.mark.rule("SOURCE-O8")
def test_o_64_one_line_of_eight_megabytes(make_brain: MakeBrain) -> None:
    """The file is read, and named as one that search cuts; the others are not."""
    files = {
        "notes/big.md": "word " * 1_600_000 + "needle42",
        "notes/cyr.md": "а" * 100_000,
        "memory/ops/MEMORY.md": "- small\n",
    }
    done = check(make_brain(sources=("notes",), files=files))
    (large,) = [result for result in done.answer["checks"] if result["id"] == "large-files"]

    assert told(done) == []
    assert [finding["path"] for finding in large["findings"]] == ["notes/big.md"]


def test_o_65_empty_files(make_brain: MakeBrain) -> None:
    """A file without bytes, with frontmatter, white space or a title only is sound, in a source and in a line."""
    bodies = {"bytes.md": "", "front.md": "---\ntitle: x\n---\n", "space.md": " \n\t\n", "title.md": "# Title\n"}
    files = {f"{folder}/{name}": text for folder in ("notes", "memory/ops") for name, text in bodies.items()}
    files |= {"memory/ops/2026/11/2026-11-30.md": "", "memory/ops/MEMORY.md": ""}

    assert told(check(make_brain(sources=("notes",), files=files))) == []
