"""A search for a person's eyes: over everything or as one role, with the words marked and the reasons beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash import ScopeError
from omnislash.index.stemming import Stemmer
from omnislash.runtime.tools.lookup import mark_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain
    from tests.integration.overseeing.conftest import Visitor


def _mark(text: str, question: str, *languages: str) -> str:
    """Return the text with what is marked in brackets."""
    stemmer = Stemmer(languages or ("english",))
    terms = {word.term for word in stemmer.parse_query(question).words if not word.is_stop}
    pieces = list(mark_words(text, terms, stemmer))
    assert "".join(piece.text for piece in pieces) == text
    return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "question", "languages", "marked"),
    [
        pytest.param("We were shipping it.", "ships", (), "We were [shipping] it.", id="another form of the word"),
        pytest.param("The cat and the dog", "the cat", (), "The [cat] and the dog", id="a word without a topic"),
        pytest.param("call getUserName() now", "user", (), "call [getUserName]() now", id="a part of a compound"),
        pytest.param("明日の東京会議", "東京", (), "明日の[東京]会議", id="text without blanks"),
        pytest.param("東京都庁", "東京都", (), "[東京都]庁", id="two pairs that overlap"),
        pytest.param("cat cat", "cat", (), "[cat] [cat]", id="twice"),
        pytest.param("Мы купили книги", "книга", ("english", "russian"), "Мы купили [книги]", id="another script"),
        pytest.param("nothing here", "cat", (), "nothing here", id="none"),
        pytest.param("", "cat", (), "", id="an empty text"),
    ],
)
def test_the_words_that_count_are_marked(text: str, question: str, languages: tuple[str, ...], marked: str) -> None:
    """What makes a note match is marked in it, in whatever form it stands there; the text stays as it is."""
    assert _mark(text, question, *languages) == marked


@pytest.mark.rule("DASH-04")
def test_a_person_finds_what_no_role_reads(visit: Callable[..., Visitor]) -> None:
    """A person's search covers every line and every source; a role's its own reach and nothing else."""
    brain = visit().brain

    def find(question: str, role: str | None) -> list[str]:
        agent = brain.agent(role) if role else brain.oversight.person()
        return [each.hit.path for each in agent.memory.look_up(question).hits]

    assert find("printer floor three broken", None) == ["ops/2026/08/2026-08-29.md"]
    assert find("holidays asked month ahead", None) == ["content/handbook.md"]
    assert find("printer floor three broken", "nova") == []
    assert find("holidays asked month ahead", "nova") == []
    assert find("holidays asked month ahead", "ops") == ["content/handbook.md"]


def test_a_person_writes_nothing_that_way(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Who may read everything is offered no tool that changes memory, and is read-only besides."""
    person = visit().brain.oversight.person()
    before = sample.files()

    assert person.tools == ("memory_overview", "memory_list", "memory_search", "memory_read")
    with pytest.raises(ScopeError):
        person.memory.write("not this")
    assert {path: data for path, data in sample.files().items() if path in before} == before


def test_hits_are_those_of_the_tool(visit: Callable[..., Visitor]) -> None:
    """What is explained is exactly what memory_search answers, hit by hit, each with its own reason."""
    memory = visit().brain.agent("ops").memory

    plain = memory.search("releases fridays printer", min_score=0.0).to_json()
    seen = memory.look_up("releases fridays printer", minScore=0.0).to_json()

    extra = {"explain", "pieces", "cut"}
    assert [{key: hit[key] for key in hit.keys() - extra} for hit in seen["hits"]] == plain["hits"]
    assert {key: seen[key] for key in plain.keys() - {"hits"}} == {key: plain[key] for key in plain.keys() - {"hits"}}
    assert len(seen["hits"]) >= 2
    assert all(hit["explain"]["path"] == hit["path"] and hit["explain"]["reason"] == "shown" for hit in seen["hits"])


@pytest.mark.rule("TOOL-12")
def test_a_target_is_explained_beside_the_hits(visit: Callable[..., Visitor]) -> None:
    """Naming a note that does not show gives its reason, and the hits stay."""
    memory = visit().brain.agent("nova").memory

    found = memory.look_up("releases ship fridays", target="cat is called")
    outside = memory.look_up("releases ship fridays", target="ops/2026/08/2026-08-29.md")

    assert [each.hit.path for each in found.hits] == ["main/MEMORY.md"]
    assert found.target is not None
    assert [each.span for each in found.target] == [(4, 4)]
    assert found.target[0].reason.value in {"under-floor", "nothing-in-common"}  # its vector is nearly at random
    assert outside.target is not None
    assert [each.reason.value for each in outside.target] == ["out-of-scope"]
    assert memory.look_up("releases").target is None


def test_a_long_note_is_cut_and_a_credential_masked(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """What is shown of a note is bounded, and no credential stands in it whole."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"The token zebra is {secret}{' ' * 3_000}and so on."  # blanks take no room in a note
    sample.put_memory("main/2026/08/2026-08-28.md", f"# 2026-08-28\n\n- 09:00 {text}\n")
    person = visit().brain.oversight.person()
    (hit,) = person.memory.look_up("zebra token", minScore=0.05, limit=1).to_json()["hits"]

    shown = "".join(piece["text"] for piece in hit["pieces"])
    assert hit["cut"]
    assert len(shown) == 1500
    assert secret not in shown
    assert [piece["text"] for piece in hit["pieces"] if piece["match"]][:2] == ["token", "zebra"]
