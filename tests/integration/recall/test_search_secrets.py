"""A credential that came in by hand is nothing that can be searched, embedded, or shown by a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.core.credentials import blank_secrets
from tests.unit.core.test_credentials import CREDENTIALS

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain

TOKEN = "ghp_" + "b1" * 18
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bqQ\n" * 3 + "-----END RSA PRIVATE KEY-----"


@pytest.mark.rule("SECRET-O2")
def test_the_embedder_and_the_words_never_get_it(searched: SearchedBrain) -> None:
    """The note is found by its other words, the text that is embedded lacks the value, and the value finds nothing."""
    searched.sample.role("nova", "{searchScore: 0.1}")
    searched.note(f"anchor for the depot is {TOKEN}", 0.0)
    searched.sample.put_memory("main/keys.md", f"# Harbour crane\n\nThe key:\n\n{KEY}\n")

    assert [hit.path for hit in searched.search("depot anchor").hits] == ["main/MEMORY.md"]
    assert [hit.path for hit in searched.search("harbour crane").hits] == ["main/keys.md"]
    seen = [text for call in searched.embedder.passage_calls for text in call]
    assert seen
    assert not [text for text in seen if TOKEN in text or "MIIEow" in text]
    assert searched.search("MIIEowIBAAKCAQEA7bqQ", min_score=0.01).hits == ()


@pytest.mark.rule("SECRET-O2")
def test_no_file_of_the_index_holds_it(searched: SearchedBrain) -> None:
    """Neither the database nor what stands beside it, and not its words either."""
    searched.note(f"anchor {TOKEN}")
    searched.search("anchor")
    files = [path for path in (searched.sample.root / "memory").glob(".memory-index*") if path.is_file()]

    assert files
    assert not [path.name for path in files if TOKEN.encode() in path.read_bytes()]


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("before", ["", "x " * 74])
def test_what_is_explained_is_masked_before_it_is_cut(searched: SearchedBrain, before: str) -> None:
    """Also where the beginning that is shown ends within the credential."""
    searched.note(f"anchor {before}{TOKEN}")
    searched.embedder.cosines["anchor"] = 0.9

    found = searched.agent().memory.explain("anchor")

    shown = str(found.to_json())
    assert "anchor" in shown
    assert "ghp_" not in shown


@pytest.mark.rule("SECRET-O2")
def test_the_name_of_a_file_is_masked(searched: SearchedBrain) -> None:
    """In hits, in what lies under the floor, in explanations and in the block of a turn."""
    searched.sample.role("nova", "{searchScore: 0.1, recallScore: 0.1}")
    searched.note("anchor of the depot KX-4711", 0.9, at=f"main/{TOKEN}.md")

    memory = searched.agent().memory
    answers = [
        memory.search("anchor").to_json(),
        memory.search("KX-4711", min_score=1.0).to_json(),
        memory.explain("anchor").to_json(),
        searched.recall("anchor").to_json(),
    ]

    for answer in answers:
        assert "main/[redacted: GitHub token].md" in str(answer)
        assert TOKEN not in str(answer)


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("text", [text for texts in CREDENTIALS.values() for text in texts])
def test_blanks_keep_every_offset(text: str) -> None:
    """The text is as long as it was, its lines are where they were, and what stands around a credential is unchanged."""
    whole = f"# 2026-11-30\n\n- 09:05 we use {text}\n- 09:06 next\n"

    blanked = blank_secrets(whole)

    assert len(blanked) == len(whole)
    assert blanked.count("\n") == whole.count("\n")
    assert blanked.startswith("# 2026-11-30\n\n- 09:05 we use ")
    assert blanked.endswith("\n- 09:06 next\n")
    assert blanked != whole
