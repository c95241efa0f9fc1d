"""The shipped prompt module about memory: what each block is and how to read it, without tools and without a policy."""

from __future__ import annotations

import re

import pytest

from omnislash.envelope.blocks import BlockName
from omnislash.shipped import constitution_directory

TEXT = (constitution_directory() / "Agents" / "system" / "with-memory.md").read_text(encoding="utf-8")


@pytest.mark.rule("ENVELOPE-25")
@pytest.mark.parametrize("name", [f"<{name}>" for name in BlockName] + ["### Memory recall"])
def test_every_block_is_explained(name: str) -> None:
    """Each block that a turn can carry has its line."""
    assert re.search(rf"^- `{re.escape(name)}`", TEXT, re.MULTILINE)


@pytest.mark.rule("ENVELOPE-25")
@pytest.mark.parametrize(
    "said",
    [
        *("coarsest comes first", "Partial means that the rest exists", "never measure the file yourself", "withdrawn"),
        "A block that could not be read says so as well; that is no evidence that nothing is there.",
    ],
)
def test_how_to_read_a_block(said: str) -> None:
    """Coarsest first, a partial block has a rest, the reading is not measured again, a withdrawn copy is void.

    A block that could not be read proves nothing about what is there.
    """
    assert said in TEXT


@pytest.mark.rule("ENVELOPE-27")
def test_no_policy_of_what_to_save() -> None:
    """The module never says what is worth keeping, nor tells the agent to keep anything."""
    assert not re.search(
        r"\b(save|saving|store|remember|record|memori[sz]e|write down|worth keeping)\b", TEXT, re.IGNORECASE
    )
