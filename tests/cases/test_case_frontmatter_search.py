"""Failure cases: frontmatter that is no YAML holds up neither its own file nor the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cases.conftest import MakeBrain
    from tests.cases.embedding_server import EmbeddingServer

HARBOUR = "---\nname: harbour\nsummary: tide notes: north quay\n---\nHigh water at 06:10.\n"
GOOD = {
    "notes/good1.md": "---\ntitle: First\n---\nThe alder stands here.\n",
    "notes/good2.md": "The birch stands here.\n",
}
#: The six bad ones of the case, each with a word of its own.
BAD = {
    "notes/bad1.md": ("path: `D:\\agent\\in`\n---\nThe cedar stands here.\n", "cedar"),
    "notes/bad2.md": ("The dogwood stands here.\n\nAnd the elder too.\n", "dogwood"),
    "notes/bad3.md": ("title: *Soft launch*\n---\nThe fir stands here.\n", "fir"),
    "notes/bad4.md": ("links:\n  - [[harbour]]s\n---\nThe ginkgo stands here.\n", "ginkgo"),
    "notes/bad5.md": ("note: 50% off: today\n---\nThe hazel stands here.\n", "hazel"),
    "notes/bad6.md": ("a:\n\tb: 1\n---\nThe ivy stands here.\n", "ivy"),
}


@pytest.mark.rule("SOURCE-18")
def test_o_18_bad_frontmatter_is_named_and_searched(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """CHECK names the file and line 3, a rebuild changes no byte of it, and its body is found."""
    brain = make_brain(embedder=embedder, sources=("notes",), files={"notes/r.md": HARBOUR})
    assert brain.index().code == 0
    findings = brain.check().answer["findings"]
    assert len(findings) == 1
    assert findings[0].startswith("notes/r.md")
    assert brain.status()["problems"][0]["line"] == 3
    assert brain.command("index", "rebuild").code == 0
    assert brain.data("../notes/r.md") == HARBOUR.encode()
    hits = brain.find("high water")
    assert hits[0]["path"] == "notes/r.md"
    assert "High water at 06:10." in hits[0]["snippet"]


@pytest.mark.rule("SOURCE-16")
def test_o_19_one_bad_file_does_not_hold_up_the_rest(make_brain: MakeBrain, embedder: EmbeddingServer) -> None:
    """All eight bodies are found, each bad file is listed, and the mended one is taken up without a rebuild."""
    files = {**GOOD, **{path: f"---\n{text}" for path, (text, _) in BAD.items()}}
    brain = make_brain(embedder=embedder, sources=("notes",), files=files)
    brain.index()
    session = brain.session()
    words = {"notes/good1.md": "alder", "notes/good2.md": "birch", **{path: word for path, (_, word) in BAD.items()}}
    for path, word in words.items():
        hits = session.call("memory_search", query=word)["hits"]
        assert hits[0]["path"] == path
        assert word in hits[0]["snippet"]
    assert session.find("elder")[0] == "notes/bad2.md"
    named = {finding.partition(":")[0] for finding in brain.check().answer["findings"]}
    broken = {path for path in BAD if path != "notes/bad2.md"}
    assert broken <= named <= set(BAD)
    assert {problem["path"] for problem in brain.status()["problems"]} == named
    embedded = len(embedder.texts)
    brain.by_hand("notes/bad3.md", "---\ntitle: Soft launch\n---\nThe fir stands here.\n")
    brain.index()
    assert len(embedder.texts) <= embedded + 1
    assert session.find("fir")[0] == "notes/bad3.md"
    assert "notes/bad3.md" not in {problem["path"] for problem in brain.status()["problems"]}
