"""Recall searches on every turn, whether it finds something or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.engine import SearchOptions
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from tests.integration.conftest import SampleBrain


@pytest.mark.rule("SCOPE-10", "SCOPE-08", "SCOPE-09", "RECALL-08")
def test_every_turn_with_a_message_is_searched_for(sample: SampleBrain) -> None:
    """Each message is looked up, found or not, also in a session that is going on; the block speaks of finds only."""
    sample.role("nova", "{priorityChars: 0, recall: [ops], read: [research]}")
    sample.put_memory("ops/2026/08/2026-08-28.md", "# 2026-08-28\n\n- 08:00 valve seven leaks\n")
    sample.put_memory("research/2026/08/2026-08-28.md", "# 2026-08-28\n\n- 08:00 gasket nine fits\n")
    embedder = CountingEmbedder()
    brain = sample.open(search=SearchOptions(embedders=(embedder,), catch_up_s=None))
    messages = ["good morning all", "valve seven leaks", "gasket nine fits", "good morning all"]

    blocks = []
    for message in messages:
        found = brain.agent("nova").turn(session="s", message=message).recall
        blocks.append("" if found is None else found.block)

    assert embedder.query_calls == messages
    assert ["valve seven leaks" in block for block in blocks] == [False, True, False, False]
    assert [block for block in blocks if "gasket" in block] == []
    assert (blocks[0], blocks[2], blocks[3]) == ("", "", "")
