"""Saving the manifest is one step: it is the old file or the new one, whatever the disk and other people do meanwhile."""

from __future__ import annotations

import errno
import functools
from typing import TYPE_CHECKING

import pytest

from omnislash.brain.yaml_editing import Word
from omnislash.errors import InvalidContentError, StorageError
from omnislash.runtime.manifest_editing import ManifestEditor, SaveOutcome, keep_line_ends
from omnislash.shipped import constitution_directory
from omnislash.store.hashing import hash_bytes
from omnislash.testing.disks import FailingDisk, InterruptingDisk, NoExchangeDisk

if TYPE_CHECKING:
    from omnislash.brain.yaml_editing import Value
    from omnislash.store.disk import Disk
    from tests.integration.conftest import SampleBrain

FILE = "constitution/MANIFEST.yaml"
OLD = b"memory:\n  recallResults: 2 # few\n"
NEW = b"memory:\n  recallResults: 7 # few\n"
THEIRS = b"memory: {recallResults: 3}\n"
CHANGE: dict[tuple[str, ...], Value | None] = {("memory", "recallResults"): Word("7", is_text=False)}


def editor(sample: SampleBrain, disk: Disk | None = None) -> ManifestEditor:
    """Return what changes the manifest of the sample brain."""
    return ManifestEditor(sample.root, shipped=constitution_directory(), disk=disk)


def names(sample: SampleBrain) -> list[str]:
    """Return what lies in the brain's constitution."""
    place = sample.root / "constitution"
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


@pytest.mark.rule("DASH-07")
@pytest.mark.parametrize("has_file", [True, False])
@pytest.mark.parametrize("has_exchange", [True, False])
def test_every_failing_call_leaves_the_file_whole(sample: SampleBrain, *, has_file: bool, has_exchange: bool) -> None:
    """A disk that fails at any call leaves the old file or the new one, no half of either, and nothing beside it."""
    fresh = b"memory:\n  recallResults: 7\n"
    for number in range(1, 30):
        place = sample.root / FILE
        place.unlink(missing_ok=True)
        if has_file:
            sample.put(FILE, OLD)
        disk = FailingDisk(at=number, error=errno.ENOSPC, inner=None if has_exchange else NoExchangeDisk())
        expect = hash_bytes(OLD if has_file else None)
        said = ""
        try:
            done = editor(sample, disk).save(CHANGE, expect=expect)
            assert done.outcome is SaveOutcome.SAVED
        except StorageError as error:
            said = error.message
        new = NEW if has_file else fresh
        there = place.read_bytes() if place.exists() else None
        assert there == (new if not said or "holds the new text" in said else OLD if has_file else None)
        assert not said or "the disk is full" in said
        if len(disk.calls) < number:
            return
        left = set(names(sample)) - {"MANIFEST.yaml"}
        assert not left or disk.calls[number - 1].name == "unlink"
        for name in left:
            (sample.root / "constitution" / name).unlink()
    pytest.fail("the sweep never came to its end")


@pytest.mark.rule("DASH-07")
@pytest.mark.parametrize("has_file", [True, False])
def test_a_person_who_saves_in_the_same_moment_wins(sample: SampleBrain, *, has_file: bool) -> None:
    """Whatever call their save falls into, their bytes are there afterwards, or ours came first and they wrote over it."""
    for number in range(1, 12):
        place = sample.root / FILE
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        if has_file:
            sample.put(FILE, OLD)
        disk = InterruptingDisk({number: functools.partial(place.write_bytes, THEIRS)})

        done = editor(sample, disk).save(CHANGE, expect=hash_bytes(OLD if has_file else None))

        if len(disk.calls) >= number:
            assert done.outcome in {SaveOutcome.STALE, SaveOutcome.SAVED}
            assert place.read_bytes() == THEIRS
        assert names(sample) == ["MANIFEST.yaml"]


def test_a_stale_hash_writes_nothing(sample: SampleBrain) -> None:
    """A change that was made from other bytes is refused, key by key and as text, also where the file is new or gone."""
    sample.put(FILE, THEIRS)
    for expect in (hash_bytes(OLD), hash_bytes(None), "", "nonsense"):
        assert editor(sample).save(CHANGE, expect=expect).outcome is SaveOutcome.STALE
        assert editor(sample).save_text("memory: {}\n", expect=expect).outcome is SaveOutcome.STALE
    (sample.root / FILE).unlink()
    assert editor(sample).save(CHANGE, expect=hash_bytes(THEIRS)).outcome is SaveOutcome.STALE

    assert names(sample) == []


@pytest.mark.rule("DASH-O2")
def test_a_spelling_that_can_not_be_changed_is_a_sentence(sample: SampleBrain) -> None:
    """A value in a shape that only a rewrite could change is refused with its key, and the file stays."""
    text = b"memory:\n  read:\n    - - nested\n"
    sample.put(FILE, text)

    with pytest.raises(InvalidContentError, match=r"memory\.read can't be changed by the form") as caught:
        editor(sample).save({("memory", "read"): Word("x")}, expect=hash_bytes(text))

    assert caught.value.key == "memory.read"
    assert (sample.root / FILE).read_bytes() == text


def test_a_file_that_is_no_utf8_is_left_alone(sample: SampleBrain) -> None:
    """Bytes that are no text are named, and neither form writes over them by mistake."""
    raw = b"memory: {} # \xff\n"
    sample.put(FILE, raw)

    found = editor(sample).read()

    assert (found.text, found.root) == (None, None)
    assert "not UTF-8" in found.faults[0].message
    assert editor(sample).save(CHANGE, expect=found.hash).outcome is SaveOutcome.REFUSED
    assert (sample.root / FILE).read_bytes() == raw


@pytest.mark.parametrize("text", ["memory: {}\n\x00", "memory: {}\n" + "#" * 1_100_000])
def test_a_text_that_can_not_be_read_is_not_saved(sample: SampleBrain, text: str) -> None:
    """A NUL and a file that is too large are refused before anything is written."""
    assert editor(sample).save_text(text, expect=hash_bytes(None)).outcome is SaveOutcome.REFUSED
    assert names(sample) == []


def test_half_a_character_is_not_saved(sample: SampleBrain) -> None:
    """What no file can hold is a sentence."""
    with pytest.raises(InvalidContentError, match="half of a character"):
        editor(sample).save_text("\ud800", expect=hash_bytes(None))
    assert names(sample) == []


def test_what_lies_in_the_way_is_named(sample: SampleBrain) -> None:
    """A directory in the place of the file is a sentence with its path."""
    (sample.root / FILE).mkdir(parents=True)

    with pytest.raises(StorageError, match=f"^{FILE} can't be used: there is a directory"):
        editor(sample).read()


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nc\nb\n", "a\r\nc\r\nb\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n"),
        ("a\r\nb", "a\nb", "a\r\nb"),
        ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"),
        ("a\r\n", "", ""),
        ("a\u2028b\r\n", "a\u2028b\nc\n", "a\u2028b\r\nc\r\n"),
    ],
)
def test_lines_keep_their_ends(old: str, new: str, kept: str) -> None:
    """A line that stays keeps its end, and a new one gets the usual one of the file."""
    assert keep_line_ends(old, new) == kept


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        pytest.param("a\nb\nc\r\n", "a\nb\nc\nd\n", "a\nb\nc\r\nd\n", id="most lines end otherwise"),
        pytest.param("A\nx\nb\r\ny\nC\n", "A\n1\nb\n2\nC\n", "A\n1\nb\r\n2\nC\n", id="between changed lines"),
        pytest.param("x\na\r\nb\n", "y\nz\na\nb\n", "y\nz\na\r\nb\n", id="at the end"),
    ],
)
def test_lines_of_a_mixed_file_keep_their_own_ends(old: str, new: str, kept: str) -> None:
    """Where line ends differ, each line that stays keeps its own, wherever it stands between lines that changed."""
    assert keep_line_ends(old, new) == kept


def test_many_equal_lines_take_no_time() -> None:
    """Twenty thousand equal lines, the last of which is changed, are not compared with each other one by one."""
    old = "# same\r\n" * 20_000

    assert keep_line_ends(old, "# same\n" * 19_999 + "# x\n") == "# same\r\n" * 19_999 + "# x\r\n"
