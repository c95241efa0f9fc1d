"""What a search and a turn's recall look at: the own line, and what the lists name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError

if TYPE_CHECKING:
    from tests.integration.recall.conftest import SearchedBrain

FILES = {
    "memory/main/MEMORY.md": "- anchor of main\n",
    "memory/main/2026/08/2026-08-29.md": "- anchor of a day\n",
    "memory/ops/MEMORY.md": "- anchor of ops\n",
    "memory/journal/MEMORY.md": "- anchor of journal\n",
    "memory/notes/a.md": "anchor of notes, which nobody names\n",
    "content/plan.md": "anchor of content\n",
    "people/maria/a.md": "anchor of maria\n",
    "people/maria-old/a.md": "anchor of maria of old\n",
    "people/alex.md": "anchor of alex\n",
    "cases/acme/brief.md": "anchor of a source that nobody names\n",
    "handbook.md": "anchor of the handbook\n",
    "elsewhere/a.md": "anchor of a directory that is no source\n",
    "memory/loose.md": "anchor of no line\n",
    "memory/Bad Name/a.md": "anchor of no line either\n",
}


@pytest.fixture
def brain(searched: SearchedBrain) -> SearchedBrain:
    """Return a brain with lines and sources, each of which holds a note about an anchor."""
    for path, text in FILES.items():
        searched.sample.put(path, text)
    searched.sample.sources("content", "people", "cases", "handbook.md")
    searched.embedder.cosines = {"anchor": 0.8}
    return searched


def paths(brain: SearchedBrain, role: str) -> tuple[set[str], set[str]]:
    """Return what a role's search finds, and what its turn is shown."""
    found = brain.search("where is the anchor", role=role, limit=100)
    shown = brain.recall("where is the anchor", role=role)
    assert found.coverage == shown.coverage == "full"
    assert found.below_floor.count == 0
    return {hit.path for hit in found.hits}, {hit.path for hit in shown.hits}


MAIN = {"main/MEMORY.md", "main/2026/08/2026-08-29.md"}
EVERY_LINE = MAIN | {"ops/MEMORY.md", "journal/MEMORY.md", "notes/a.md"}


@pytest.mark.rule(
    *(
        "SCOPE-07",
        "SCOPE-08",
        "SCOPE-09",
        "SCOPE-11",
        "SCOPE-12",
        "SCOPE-13",
        "SCOPE-14",
        "SCOPE-15",
        "SCOPE-17",
        "SCOPE-18",
    ),
    *(
        "SCOPE-19",
        "SCOPE-O8",
        "LINE-02",
        "LINE-11",
        "LINE-O4",
        "SOURCE-08",
        "SOURCE-09",
        "SOURCE-16",
        "SOURCE-17",
        "RECALL-05",
    ),
)
@pytest.mark.parametrize(
    ("memory", "read", "recalled"),
    [
        ("{}", MAIN, MAIN),
        ("{write: ops}", {"ops/MEMORY.md"}, {"ops/MEMORY.md"}),
        ("{read: [ops]}", MAIN | {"ops/MEMORY.md"}, MAIN),
        ("{recall: [ops]}", MAIN | {"ops/MEMORY.md"}, MAIN | {"ops/MEMORY.md"}),
        (
            "{write: journal, read: [ops, content], recall: [people/maria]}",
            {"journal/MEMORY.md", "ops/MEMORY.md", "content/plan.md", "people/maria/a.md"},
            {"journal/MEMORY.md", "people/maria/a.md"},
        ),
        ("{read: ['*']}", EVERY_LINE, MAIN),
        ("{recall: ['*'], recallResults: 50}", EVERY_LINE, EVERY_LINE),
        ("{recall: [handbook.md, people/alex.md]}", MAIN | {"handbook.md", "people/alex.md"}, MAIN | {"handbook.md", "people/alex.md"}),
        ("{write: unborn}", set(), set()),
    ],
)  # fmt: skip
def test_sets(brain: SearchedBrain, memory: str, read: set[str], recalled: set[str]) -> None:
    """A search looks at the read set and a turn at the own line and the recall list; the rest is as if it weren't there."""
    brain.sample.role("some", memory)

    assert paths(brain, "some") == (read, recalled)


@pytest.mark.rule("TOOL-14", "SCOPE-07", "SCOPE-O8")
@pytest.mark.parametrize(
    ("corpora", "found"),
    [
        (["ops"], {"ops/MEMORY.md"}),
        (["main", "people/maria"], MAIN | {"people/maria/a.md"}),
        (["people"], {"people/maria/a.md", "people/maria-old/a.md", "people/alex.md"}),
        (["people/alex.md"], {"people/alex.md"}),
        ([], MAIN | {"ops/MEMORY.md", "people/maria/a.md", "people/maria-old/a.md", "people/alex.md"}),
    ],
)
def test_corpora_narrow_a_search(brain: SearchedBrain, corpora: list[str], found: set[str]) -> None:
    """Named corpora of the read set are searched alone."""
    brain.sample.role("some", "{read: [ops, people]}")

    assert {hit.path for hit in brain.search("anchor", role="some", corpora=corpora).hits} == found


@pytest.mark.rule("TOOL-14", "SCOPE-07")
@pytest.mark.parametrize(
    "corpus", ["journal", "cases", "people", "*", "nowhere", "../x", "", "people/../cases", "MAIN"]
)
def test_corpora_do_not_widen_a_search(brain: SearchedBrain, corpus: str) -> None:
    """A corpus outside of the read set is refused, in words that are the same whether it exists or not."""
    brain.sample.role("some", "{read: [ops, people/maria]}")

    with pytest.raises(ScopeError, match="may read 'main', 'ops', 'people/maria'"):
        brain.search("anchor", role="some", corpora=["ops", corpus])


@pytest.mark.rule("SCOPE-O5", "SCOPE-13")
def test_every_line_and_one_of_them(brain: SearchedBrain) -> None:
    """Whoever reads every line may narrow a search to one of them, and a note is found once."""
    brain.sample.role("some", "{read: ['*', ops], recall: [ops]}")

    assert [hit.path for hit in brain.search("anchor", role="some", corpora=["*", "ops"], limit=50).hits].count(
        "ops/MEMORY.md"
    ) == 1
    assert {hit.path for hit in brain.search("anchor", role="some", corpora=["notes"]).hits} == {"notes/a.md"}


@pytest.mark.rule("DECLARE-05", "DECLARE-06", "DECLARE-08")
def test_role_without_memory(brain: SearchedBrain) -> None:
    """A role that declares none neither searches nor is told anything."""
    brain.sample.role("stranger", None)

    with pytest.raises(ScopeError):
        brain.recall("anchor", role="stranger")
    with pytest.raises(ScopeError):
        brain.search("anchor", role="stranger")


@pytest.mark.rule("DECLARE-14", "SCOPE-09")
def test_recall_needs_no_capability(brain: SearchedBrain) -> None:
    """A role without any grant is shown its recall and may not search."""
    brain.sample.role("ambient", "{}", capabilities="")

    assert {hit.path for hit in brain.recall("anchor", role="ambient").hits} == MAIN
    with pytest.raises(ScopeError, match="memory:read"):
        brain.search("anchor", role="ambient")


@pytest.mark.rule("SOURCE-08", "SOURCE-15", "SOURCE-11")
def test_lists_of_the_manifest(brain: SearchedBrain) -> None:
    """The manifest's recall list holds until a role sets its own."""
    brain.sample.manifest("{recall: [content]}")
    brain.sample.role("other", "{recall: [ops]}")

    assert paths(brain, "nova")[1] == MAIN | {"content/plan.md"}
    assert paths(brain, "other")[1] == MAIN | {"ops/MEMORY.md"}


@pytest.mark.rule("SCOPE-O8", "LINE-11")
def test_crowd_of_hidden_notes_pushes_nothing_out(brain: SearchedBrain) -> None:
    """Two thousand better notes of another line change neither hits nor counts nor the rarity of a word."""
    brain.embedder.cosines = {"better": 0.99, "weak ZX-8817": 0.1, "anchor": 0.4}
    before = brain.search("anchor ZX-8817").to_json()
    brain.sample.put_memory("ops/crowd.md", "".join(f"- anchor ZX-8817 better {number}\n" for number in range(2000)))
    brain.sample.put_memory("ops/weak.md", "- weak ZX-8817\n")

    after = brain.search("anchor ZX-8817").to_json()

    assert after == before
    assert {hit["path"] for hit in after["hits"]} == MAIN


@pytest.mark.rule("RESOLVE-11", "RESOLVE-12")
def test_borrowed_line_is_searched(brain: SearchedBrain) -> None:
    """A turn on another agent's behalf recalls from that agent's line, with its own lists."""
    brain.sample.role("helper", "{write: ops, recall: [content]}")
    turn = brain.brain.agent("helper", handed_line="journal").recall("anchor")

    assert {hit.path for hit in turn.hits} == {"journal/MEMORY.md", "content/plan.md"}


@pytest.mark.rule("SOURCE-O3", "SOURCE-02")
def test_source_that_shares_its_path_with_a_line(searched: SearchedBrain) -> None:
    """Under a declared source a path means the source: the managed file there is found by nobody."""
    searched.embedder.cosines = {"anchor": 0.8}
    searched.sample.sources("research/notes")
    searched.sample.role("some", "{write: research, recall: [research/notes]}")
    searched.sample.put("research/notes/a.md", "anchor of the source\n")
    searched.sample.put_memory("research/notes/a.md", "anchor in the shadow\n")
    searched.sample.put_memory("research/MEMORY.md", "- anchor of the line\n")

    hits = searched.search("anchor", role="some").hits

    assert {(hit.path, hit.corpus, hit.snippet) for hit in hits} == {
        ("research/notes/a.md", "research/notes", "anchor of the source"),
        ("research/MEMORY.md", "research", "- anchor of the line"),
    }
