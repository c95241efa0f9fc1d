"""JSON without the package: the same values and the same texts as with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnislash.surfaces.adapters.quick_json import decode, encode

SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters())
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(VALUES)
def test_both_ways_are_the_packages(value: object) -> None:
    """What it writes the package reads, and what the package writes it reads, half characters included."""
    assert json.loads(encode(value)) == value
    assert encode(value).isascii()
    assert decode(json.dumps(value)) == value
    assert decode(json.dumps(value, ensure_ascii=False)) == value


@pytest.mark.parametrize("text", ["", " ", "what?", "{", '{"a": }', "[1", '"a', "{]"])
def test_what_is_no_json_is_refused(text: str) -> None:
    """A text that begins with no value raises ValueError, as the package does."""
    with pytest.raises(ValueError, match=r"(?i)json|expecting|unterminated"):
        decode(text)
