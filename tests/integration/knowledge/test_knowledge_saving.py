"""A person's save and deletion: through the one writer, within the budget, never over what somebody else saved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnislash.core.verdicts import Outcome
from omnislash.errors import UsageError
from omnislash.runtime.knowledge.documents import make_text
from omnislash.runtime.knowledge.saving import restore_form
from omnislash.store.hashing import ABSENT, hash_bytes

if TYPE_CHECKING:
    from omnislash import Brain
    from tests.integration.conftest import SampleBrain

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
DATED = "## Memory (2026-08-0{})\n\n- {}\n\n"


def _save(brain: Brain, path: str, content: str) -> Any:
    """Save as somebody who opened the file just now."""
    return brain.knowledge.save(path, content, expect_hash=brain.knowledge.read(path).hash)


@pytest.mark.rule("DASH-06", "WRITE-11")
def test_a_save_is_a_row_of_the_action_log(sample: SampleBrain) -> None:
    """Tool, path, outcome and size are those of an agent's write; the actor is a person, and no role."""
    sample.put_memory("main/topics/plants.md", "Old.\n")
    brain = sample.open()
    saved = _save(brain, "main/topics/plants.md", "New text.\n")
    row = brain.audit().rows[0].to_json()

    assert sample.text("main/topics/plants.md") == "New text.\n"
    assert saved.verdict.outcome is Outcome.WRITTEN
    assert saved.hash == hash_bytes(b"New text.\n")
    assert (row["actor"], row["role"], row["tool"], row["outcome"]) == ("person", None, "memory_write_file", "written")
    assert (row["paths"], row["chars"]) == (["main/topics/plants.md"], 10)
    last = brain.knowledge.read("main/topics/plants.md").last_write
    assert last is not None
    assert last.row.actor == "person"


@pytest.mark.rule("DASH-06", "WRITE-O7")
def test_refusals_are_rows_too(sample: SampleBrain) -> None:
    """A stale save, a credential and an empty text are noted, and none of them is stored anywhere."""
    sample.put_memory("main/a.md", "Old.\n")
    brain = sample.open()
    brain.knowledge.save("main/a.md", "New.\n", expect_hash="0" * 64)
    _save(brain, "main/a.md", f"Token: {TOKEN}\n")
    _save(brain, "main/a.md", "  \n")
    rows = brain.audit().rows

    assert [(row.outcome, row.actor, row.paths) for row in rows] == [("refused", "person", ("main/a.md",))] * 3
    assert sample.text("main/a.md") == "Old.\n"
    assert not any(TOKEN.encode() in file.read_bytes() for file in (sample.root / ".omnislash").iterdir())


@pytest.mark.rule("DASH-05", "BUDGET-05", "BUDGET-06", "BUDGET-07")
def test_step_one_drops_the_oldest_dated_sections(sample: SampleBrain) -> None:
    """A save over the budget loses its oldest dated section and says which."""
    sample.manifest("{fileMaxChars: 300}")
    sample.put_memory("main/MEMORY.md", "# Memory\n")
    sections = DATED.format(1, "a" * 120) + DATED.format(2, "b" * 120)
    saved = _save(sample.open(), "main/MEMORY.md", f"# Memory\n\nKept.\n\n{sections}")

    assert saved.verdict.outcome is Outcome.WRITTEN
    assert "dropped: 2026-08-01" in saved.verdict.message
    assert "a" * 120 not in sample.text("main/MEMORY.md")
    assert "b" * 120 in sample.text("main/MEMORY.md")
    assert "Kept." in sample.text("main/MEMORY.md")


@pytest.mark.rule("DASH-05", "BUDGET-09", "BUDGET-10", "BUDGET-11")
def test_step_two_refuses_with_the_numbers(sample: SampleBrain) -> None:
    """With nothing left to drop nothing is saved, the dated sections stay, and the sentence names the numbers."""
    sample.manifest("{fileMaxChars: 300}")
    before = "# Memory\n\n" + DATED.format(1, "a" * 20)
    sample.put_memory("main/MEMORY.md", before)
    brain = sample.open()
    saved = _save(brain, "main/MEMORY.md", "# Memory\n\n" + "x" * 400 + "\n\n" + DATED.format(1, "a" * 20))

    assert saved.verdict.outcome is Outcome.REFUSED
    assert not saved.is_stale
    assert re.search(r"would be 4\d\d chars, 1\d\d over its fileMaxChars of 300", saved.verdict.message)
    assert sample.text("main/MEMORY.md") == before
    assert brain.audit().rows[0].outcome == "refused"


@pytest.mark.rule("DASH-O3")
def test_a_stale_save_is_refused(sample: SampleBrain) -> None:
    """What an agent wrote since the page was opened stays; with the new hash the person has the last word."""
    sample.put_memory("main/MEMORY.md", "# Memory\n")
    brain = sample.open()
    opened = brain.knowledge.read("main/MEMORY.md").hash
    brain.agent("nova").memory.write("Between.", priority=True)
    saved = brain.knowledge.save("main/MEMORY.md", "Mine.\n", expect_hash=opened)

    assert saved.is_stale
    assert saved.verdict.outcome is Outcome.REFUSED
    assert "has changed since it was opened" in saved.verdict.message
    assert "Between." in sample.text("main/MEMORY.md")
    assert brain.knowledge.save("main/MEMORY.md", "Mine.\n", expect_hash=saved.hash).is_settled
    assert sample.text("main/MEMORY.md") == "Mine.\n"


@pytest.mark.rule("DASH-O3")
def test_a_file_that_is_gone_or_new_meanwhile_is_stale(sample: SampleBrain) -> None:
    """A save of a deleted file makes none, and a new file does not replace one that somebody made."""
    file = sample.put_memory("main/a.md", "Old.\n")
    brain = sample.open()
    opened = brain.knowledge.read("main/a.md").hash
    file.unlink()
    gone = brain.knowledge.save("main/a.md", "New.\n", expect_hash=opened)
    assert (gone.is_stale, gone.hash, file.exists()) == (True, ABSENT, False)

    sample.put_memory("main/a.md", "Theirs.\n")
    assert brain.knowledge.save("main/a.md", "New.\n", expect_hash=ABSENT).is_stale
    assert sample.text("main/a.md") == "Theirs.\n"


def test_a_save_needs_the_hash(sample: SampleBrain) -> None:
    """Without what the file was when it was opened nothing is saved or deleted."""
    sample.put_memory("main/a.md", "Old.\n")
    knowledge = sample.open().knowledge

    for wrong in ("", "x", "0" * 63, "ABSENT"):
        with pytest.raises(UsageError, match="nothing was saved"):
            knowledge.save("main/a.md", "New.\n", expect_hash=wrong)
        with pytest.raises(UsageError, match="nothing was saved"):
            knowledge.delete("main/a.md", expect_hash=wrong)
    assert sample.text("main/a.md") == "Old.\n"


def test_a_new_file_is_made_with_its_folders(sample: SampleBrain) -> None:
    """Names of any script are possible; those that not every system can store are refused."""
    knowledge = sample.open().knowledge

    assert knowledge.save("main/темы/دليل.md", "سلام\n", expect_hash=ABSENT).is_settled
    assert sample.text("main/темы/دليل.md") == "سلام\n"
    refused = knowledge.save("main/what?.md", "x\n", expect_hash=ABSENT)
    assert refused.verdict.outcome is Outcome.REFUSED
    assert "'?'" in refused.verdict.message


def test_deleting_is_a_row_and_needs_the_file_as_it_was_seen(sample: SampleBrain) -> None:
    """A person deletes without an approval, but only what they saw."""
    sample.put_memory("main/a.md", "Old.\n")
    brain = sample.open()
    opened = brain.knowledge.read("main/a.md").hash
    sample.put_memory("main/a.md", "New.\n")
    stale = brain.knowledge.delete("main/a.md", expect_hash=opened)
    assert (stale.is_stale, sample.text("main/a.md")) == (True, "New.\n")

    done = brain.knowledge.delete("main/a.md", expect_hash=stale.hash)
    assert (done.is_settled, done.hash) == (True, ABSENT)
    assert not (sample.root / "memory/main/a.md").exists()
    row = brain.audit().rows[0]
    assert (row.actor, row.tool, row.outcome, row.paths) == ("person", "memory_delete", "written", ("main/a.md",))


def test_the_same_text_again_changes_nothing(sample: SampleBrain) -> None:
    """A save without a change says so, and the file is not touched."""
    file = sample.put_memory("main/a.md", b"Old.\r\nNo end")
    before = file.stat().st_mtime_ns
    brain = sample.open()
    saved = _save(brain, "main/a.md", "Old.\nNo end")

    assert saved.verdict.outcome is Outcome.DUPLICATE
    assert saved.is_settled
    assert file.stat().st_mtime_ns == before


# -- what a browser does not send ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [
        (b"a\r\nb\r\n", "a\nB\nc\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb", "a\nc", b"a\nc"),
        (b"a\n", "a", b"a"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"a\rb\r", "a\nc\n", b"a\rc\r"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nC\nd\n", b"a\r\nb\nC\r\nd\n"),
        (b"a\r\nb\nc\n", "new\na\nb\nc\n", b"new\r\na\r\nb\nc\n"),
        (b"a  \n\tb\x0c\xe2\x80\xa8c\n", "a  \n\tb\x0c\u2028c\n!", b"a  \n\tb\x0c\xe2\x80\xa8c\n!"),
    ],
)
def test_bytes_that_were_not_touched_stay(sample: SampleBrain, before: bytes, typed: str, after: bytes) -> None:
    """Line ends, the byte order mark, a missing last newline, spaces and odd characters stay as the file has them."""
    sample.put_memory("main/a.md", before)
    _save(sample.open(), "main/a.md", typed)

    assert sample.data("main/a.md") == after


PIECES = st.lists(st.sampled_from(["a", "b", "é", "\U0001f600", "\r\n", "\n", "\r", "\ufeff", " ", "\x0c", "\u2028"]))


@given(pieces=PIECES)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
def test_an_unchanged_text_is_the_same_bytes(pieces: list[str]) -> None:
    """Whatever line ends a file mixes: what a browser shows and sends back unchanged is the file again."""
    data = "".join(pieces).encode()

    assert restore_form(make_text(data).plain, data).encode() == data


@given(pieces=PIECES, typed=PIECES)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
def test_every_typed_line_is_kept(pieces: list[str], typed: list[str]) -> None:
    """Whatever was there before, the saved text has the typed lines, in their order."""
    content = "".join(typed).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    saved = restore_form(content, "".join(pieces).encode())
    before_has_mark = "".join(pieces).startswith("\ufeff")

    assert re.split(r"\r\n|\r|\n", saved.removeprefix("\ufeff") if before_has_mark else saved) == content.split("\n")


@pytest.mark.rule("SECRET-O2")
def test_a_masked_credential_is_never_saved_as_its_mask(sample: SampleBrain) -> None:
    """The mask in the text is refused; without it the file is saved, and the credential is gone on purpose."""
    sample.put_memory("main/a.md", f"First.\nThe key is {TOKEN}.\nLast [redacted: mine].\n")
    brain = sample.open()
    shown = brain.knowledge.read("main/a.md").content
    refused = _save(brain, "main/a.md", shown + "More.\n")

    assert TOKEN not in shown
    assert refused.verdict.outcome is Outcome.REFUSED
    assert "stands for a credential" in refused.verdict.message
    assert TOKEN in sample.text("main/a.md")
    assert _save(brain, "main/a.md", "First.\nLast [redacted: mine].\n").is_settled
    assert sample.text("main/a.md") == "First.\nLast [redacted: mine].\n"


def test_a_file_that_is_no_text_is_not_saved(sample: SampleBrain) -> None:
    """Bytes that a browser can't show are not replaced by what it shows instead."""
    sample.put_memory("main/a.md", "Grüße\n".encode("latin-1"))
    saved = _save(sample.open(), "main/a.md", "Gr\ufffd\ufffde\nmore\n")

    assert saved.verdict.outcome is Outcome.REFUSED
    assert sample.data("main/a.md") == "Grüße\n".encode("latin-1")


def test_an_agents_file_still_gets_its_last_newline(sample: SampleBrain) -> None:
    """Only a person's save is exact: `memory_write_file` ends a file with a newline as before."""
    agent = sample.agent()
    agent.memory.write_file("main/a.md", "No end")

    assert sample.text("main/a.md") == "No end\n"
