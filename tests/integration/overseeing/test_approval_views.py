"""What a person is shown before a deletion: the very text that a yes takes away, as it stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from omnislash.core.verdicts import Outcome
from omnislash.runtime.approval_views import TEXT_MAX, Standing

if TYPE_CHECKING:
    from omnislash.runtime.approval_views import OpenApproval
    from tests.integration.conftest import SampleBrain

MEMORY = "# M\n\n## Memory (2026-08-01)\n\n- a\n- b\n\n## People\n\n- Maria\n  who plays\n\n## Rest\n\n- c\n"
TARGETS = [
    pytest.param({}, MEMORY, id="the file"),
    pytest.param({"entry": "a"}, "- a\n", id="an entry"),
    pytest.param({"entry": "c"}, "- c\n", id="the last entry"),
    pytest.param({"section": "People"}, "## People\n\n- Maria\n  who plays\n\n", id="a section"),
]


def _ask(sample: SampleBrain, **arguments: Any) -> OpenApproval:
    """Ask for a deletion and return how it is shown."""
    brain = sample.open()
    verdict = brain.agent("nova").memory.delete("main/MEMORY.md", **arguments)
    assert verdict.outcome is Outcome.APPROVAL_REQUIRED
    (seen,) = brain.oversight.approvals().waiting
    return seen


@pytest.mark.rule("TOOL-16")
@pytest.mark.parametrize(("target", "text"), TARGETS)
def test_what_is_shown_is_what_goes(sample: SampleBrain, target: dict[str, Any], text: str) -> None:
    """The text that is shown is the text that the file lacks once the deletion was granted."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    seen = _ask(sample, **target)
    brain = sample.open()

    assert (seen.text, seen.standing, seen.trouble) == (text, Standing.SAME, "")
    assert brain.approve(seen.approval.id).outcome is Outcome.WRITTEN
    left = sample.files().get("main/MEMORY.md", b"").decode()
    assert left == ("" if not target else MEMORY.replace(text, ""))


def test_an_entry_that_still_stands_is_shown_though_its_file_changed(sample: SampleBrain) -> None:
    """A change elsewhere in the file is said, and the entry that was asked about is shown as it stands."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    seen = _ask(sample, entry="a")
    sample.put_memory("main/MEMORY.md", MEMORY + "- d\n")

    (again,) = sample.open().oversight.approvals().waiting

    assert (again.standing, again.text) == (Standing.FILE_CHANGED, seen.text)


@pytest.mark.parametrize(
    ("target", "changed", "standing", "text"),
    [
        pytest.param({}, MEMORY + "- d\n", Standing.CHANGED, MEMORY + "- d\n", id="another file"),
        pytest.param(
            {"section": "Rest"},
            MEMORY + "- d\n",
            Standing.CHANGED,
            "## Rest\n\n- c\n- d\n",
            id="another section",
        ),
        pytest.param({"entry": "a"}, MEMORY.replace("- a\n", ""), Standing.GONE, "", id="the entry is gone"),
        pytest.param({"entry": "a"}, MEMORY + "- a\n", Standing.GONE, "", id="two of them"),
        pytest.param({}, None, Standing.GONE, "", id="the file is gone"),
    ],
)
def test_a_yes_that_deletes_nothing_is_foretold(
    sample: SampleBrain, target: dict[str, Any], changed: str | None, standing: Standing, text: str
) -> None:
    """What has changed since shows as changed with a reason, and granting it then indeed deletes nothing."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    _ask(sample, **target)
    place = sample.put_memory("main/MEMORY.md", changed or "")
    if changed is None:
        place.unlink()
    brain = sample.open()
    before = sample.files()

    (seen,) = brain.oversight.approvals().waiting

    assert (seen.standing, seen.text) == (standing, text)
    assert "nothing was deleted" in seen.trouble or "a yes deletes nothing" in seen.trouble or "no file" in seen.trouble
    assert brain.approve(seen.approval.id).outcome is Outcome.REFUSED
    assert sample.files() == before


def test_a_long_text_is_cut_and_counted(sample: SampleBrain) -> None:
    """Of a very long file the beginning is shown, with the length of all of it."""
    text = "# M\n\n" + "- an entry of some length\n" * 2_000
    sample.put_memory("main/2026/08/2026-08-01.md", text)
    brain = sample.open()
    brain.agent("nova").memory.delete("main/2026/08/2026-08-01.md")

    answer = brain.oversight.approvals().to_json()["open"][0]

    assert (answer["chars"], answer["truncated"]) == (len(text), True)
    assert answer["text"] == text[:TEXT_MAX]


def test_what_was_decided_is_listed_newest_first(sample: SampleBrain) -> None:
    """A decision leaves the list of questions and is listed with its day; the deleted text is not kept in it."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    brain = sample.open()
    for entry in ("a", "b"):
        brain.agent("nova").memory.delete("main/MEMORY.md", entry=entry)
    first, second = (each.approval.id for each in brain.oversight.approvals().waiting)
    brain.refuse(first)
    sample.clock.at = sample.clock.at.replace(hour=11)
    brain.approve(second)

    board = brain.oversight.approvals().to_json()

    assert (board["open"], board["total"]) == ([], 0)
    assert [(each["id"], each["state"], each["decidedAt"][:13]) for each in board["decided"]] == [
        (second, "approved", "2026-08-30T11"),
        (first, "refused", "2026-08-30T09"),
    ]
    assert "entry" not in board["decided"][0]["arguments"]


@pytest.mark.rule("SECRET-O2")
def test_no_credential_is_shown_whole(sample: SampleBrain) -> None:
    """A credential that stands in a file by a person's hand is masked in the question, wherever it would show."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    sample.put_memory("main/MEMORY.md", f"# M\n\n- key {secret}\n")
    brain = sample.open()
    brain.agent("nova").memory.delete("main/MEMORY.md")
    sample.put_memory("main/MEMORY.md", f"# M\n\n- key {secret}\n- more\n")

    answer = brain.oversight.approvals().to_json()

    assert "- more" in answer["open"][0]["text"]
    assert secret not in str(answer)
