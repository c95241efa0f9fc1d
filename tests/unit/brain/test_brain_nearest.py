"""Names that were probably meant: slips of the hand, and names that only look alike."""

from __future__ import annotations

import pytest

from omnislash.brain.nearest import is_slip


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("agent", "agent"),
        ("Agent", "agent"),
        ("agents", "agent"),
        ("agnt", "agent"),
        ("agemt", "agent"),
        ("agetn", "agent"),
        ("with_memory", "with-memory"),
        ("heart-beat", "heartbeat"),
        ("", "a"),
    ],
)
def test_a_slip_is_one(name: str, meant: str) -> None:
    """Case, one letter more, less or other, two that changed places, and signs between words."""
    assert is_slip(name, meant)
    assert is_slip(meant, name)


@pytest.mark.parametrize(("name", "meant"), [("agenda", "agent"), ("agency", "agent"), ("", "ab"), ("role", "roles-2")])
def test_another_word_is_none(name: str, meant: str) -> None:
    """A person may have meant it."""
    assert not is_slip(name, meant)
    assert not is_slip(meant, name)
