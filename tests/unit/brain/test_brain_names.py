"""Ids from file names, capabilities, events and references to roles."""

from __future__ import annotations

import pytest

from omnislash.brain.fields import UnfitError
from omnislash.brain.names import parse_capability, parse_event, parse_id, parse_role_name
from omnislash.brain.nearest import find_nearest, suggest
from omnislash.errors import InvalidNameError


@pytest.mark.parametrize("stem", ["nova", "memory-curator", "v1.2_a", "Заметки", "नमस्ते", "my role", "7"])
def test_id_is_the_file_name(stem: str) -> None:
    """Letters and digits of any script, with a few signs between them, make an id."""
    assert parse_id(stem) == stem


def test_id_has_one_unicode_form() -> None:
    """A name that a disk gives in decomposed form equals the one that people type."""
    assert parse_id("cafe\u0301") == "caf\u00e9"


@pytest.mark.parametrize("stem", ["", ".hidden", "a\nb", "a/b", "a:b", "-a", "a ", "a  b", "a\udc80", "x" * 101, "a·b"])
def test_other_names_give_no_id(stem: str) -> None:
    """A name that could break a line, a signature or a command is refused with a hint to rename."""
    with pytest.raises(InvalidNameError) as caught:
        parse_id(stem)
    assert "Rename the file" in (caught.value.hint or "")


@pytest.mark.rule("TOOL-06")
@pytest.mark.parametrize("text", ["memory:read", "memory:delete", "agent:task", "runtime:read", "db:execute"])
def test_capability_is_area_and_verb(text: str) -> None:
    """Capabilities of every area are taken."""
    assert parse_capability(text) == text


@pytest.mark.parametrize(
    ("text", "step"),
    [
        pytest.param("memory:reed", "'memory:read'", id="slip"),
        pytest.param("memory:fly", "memory:read, memory:write", id="unknown verb"),
        pytest.param("memory", "memory:read", id="no verb"),
        pytest.param("Memory:Read", "memory:read", id="capitals"),
    ],
)
def test_wrong_capability_names_the_right_one(text: str, step: str) -> None:
    """A capability that grants nothing is refused with what was probably meant."""
    with pytest.raises(UnfitError) as caught:
        parse_capability(text)
    assert step in (caught.value.hint or "")


def test_event_is_area_and_event() -> None:
    """Events of every area are taken, other shapes are not."""
    assert parse_event("memory:budget-refused") == "memory:budget-refused"
    with pytest.raises(UnfitError):
        parse_event("written")


def test_role_name_may_be_of_the_engine() -> None:
    """A reference may name a role of the engine; a path is none."""
    assert parse_role_name("system:memory") == "system:memory"
    with pytest.raises(UnfitError):
        parse_role_name("team/nova")


def test_nearest_ignores_case_and_signs() -> None:
    """Letter case, `-` and `_` do not hide the name that was meant."""
    known = ["recentDays", "recallResults"]
    assert find_nearest("recent_days", known) == "recentDays"
    assert find_nearest("RECALLRESULT", known) == "recallResults"
    assert suggest("zzz", known) is None
