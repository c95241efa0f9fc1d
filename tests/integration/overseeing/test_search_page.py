"""The search page: what is found and why, what could not be looked at, and questions that make no sense."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from omnislash.engine import SearchOptions
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import SampleBrain
    from tests.integration.overseeing.conftest import Visitor


def _text(html: str) -> str:
    """Return what a person reads of the content."""
    content = html.partition('<main id="content"')[2]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", content)).split())


def test_an_empty_question_shows_the_form_and_how_to_ask(visit: Callable[..., Visitor]) -> None:
    """Without a question nothing is searched, and the page says how to ask."""
    visitor = visit()

    assert "How to ask" in visitor.see("/search")
    assert "How to ask" in visitor.see("/search", q="  ")
    answer = visitor.ask("/search")
    assert (answer["result"], answer["recall"], answer["searched"]) == (None, None, None)
    assert [each["name"] for each in answer["corpora"]] == ["main", "ops", "content"]


@pytest.mark.rule("DASH-04")
def test_a_person_searches_everything_and_a_role_its_own(visit: Callable[..., Visitor]) -> None:
    """Without a role every line and source is searched; as a role the page shows what the role's own tool answers."""
    visitor = visit()

    def find(**query: Any) -> list[str]:
        return [
            hit["path"] for hit in visitor.ask("/search", q="printer floor three broken", **query)["result"]["hits"]
        ]

    assert find() == ["ops/2026/08/2026-08-29.md"]
    assert find(role="ops") == ["ops/2026/08/2026-08-29.md"]
    assert find(role="nova") == []
    plain = visitor.brain.agent("ops").memory.search("printer floor three broken").to_json()
    seen = visitor.ask("/search", q="printer floor three broken", role="ops")["result"]
    assert [hit["score"] for hit in seen["hits"]] == [hit["score"] for hit in plain["hits"]]
    assert visitor.ask("/search", q="x")["searched"] == ["*", "content"]


def test_a_hit_leads_to_its_place_with_its_words_marked(visit: Callable[..., Visitor]) -> None:
    """The note is linked at its line, and the words that were asked for stand out in it."""
    html = visit().see("/search", q="when do releases ship")

    place = "/knowledge/main/MEMORY.md#L3:~:text=Releases%20ship%20on%20Fridays%20at%20noon."
    assert f'<a class="mono" href="{place}" dir="auto">main/MEMORY.md:3</a>' in html
    assert "- <mark>Releases</mark> <mark>ship</mark> on Fridays at noon." in html
    source = visit().ask("/search", q="holidays asked month ahead")["result"]["hits"][0]
    assert source["href"] == "/sources/content/handbook.md#L3:~:text=Holidays%20are%20asked%20for%20a%20month%20ahead."


@pytest.mark.rule("RECALL-01", "TOOL-12")
def test_a_hit_says_what_its_score_is_made_of(visit: Callable[..., Visitor]) -> None:
    """Score, meaning, words, recency and floor stand with each hit, and the sum is the documented formula."""
    visitor = visit()
    hit = visitor.ask("/search", q="when do releases ship")["result"]["hits"][0]
    why = hit["explain"]

    assert hit["score"] == pytest.approx(0.85 * max(why["meaning"], 0) + 0.15 * 2 / 4, abs=1e-6)
    assert (why["matched"], why["missing"]) == (["releases", "ship"], ["when", "do"])
    assert why["how"] == f"0.85 × meaning {why['meaning']:.4f} + 0.15 × 2 of 4 words"
    text = _text(visitor.see("/search", q="when do releases ship"))
    assert f"Score {hit['score']:.4f}, floor 0.3: {why['how']}." in text


@pytest.mark.rule("TOOL-13")
def test_the_floor_can_be_lowered_by_a_link(visit: Callable[..., Visitor]) -> None:
    """What lies under the floor is counted, and the link that lowers the floor shows the best of it."""
    visitor = visit()
    query: dict[str, Any] = {"q": "is the printer of the cat", "role": "ops", "minScore": "0.9"}
    found = visitor.ask("/search", **query)
    below, link = found["result"]["belowFloor"], found["lowerFloor"]

    assert found["result"]["hits"] == []
    assert below["count"] >= 1
    assert parse_qs(urlsplit(link).query)["role"] == ["ops"]
    lowered = visitor.ask(link)["result"]
    assert lowered["hits"][0]["score"] == pytest.approx(below["bestScore"])
    assert visitor.ask("/search", q="zzzz", minScore="0")["lowerFloor"] is None


def test_a_target_says_why_it_does_not_show(visit: Callable[..., Visitor]) -> None:
    """A path or a text is explained: outside of the scope, under the floor, unknown, or shown."""
    visitor = visit()

    def why(target: str, **query: Any) -> list[str]:
        found = visitor.ask("/search", q="releases ship fridays", target=target, **query)["target"]
        return [each["reason"] for each in found]

    assert why("ops/2026/08/2026-08-29.md", role="nova") == ["out-of-scope"]
    assert why("no such words anywhere") == ["not-indexed"]
    assert set(why("main/MEMORY.md")) == {"shown", "under-floor"} or set(why("main/MEMORY.md")) == {
        "shown",
        "nothing-in-common",
    }
    narrowed = visitor.ask("/search", q="releases", target="main/MEMORY.md", corpora="ops")["target"]
    assert narrowed[0]["message"] == "It lies in none of the lines and sources that were searched."
    page = _text(visitor.see("/search", q="releases", role="nova", target="ops/2026/08/2026-08-29.md"))
    assert "out-of-scope" in page


@pytest.mark.rule("RECALL-02")
def test_recall_shows_the_exact_block(visit: Callable[..., Visitor]) -> None:
    """In recall mode the page holds the very text that a turn of the role would carry, with the reasons."""
    visitor = visit()
    message = "when do the releases ship on fridays"

    answer = visitor.ask("/search", q=message, role="nova", mode="recall")

    block = visitor.brain.agent("nova").recall(message).block
    assert block
    assert answer["recall"]["block"] == block
    assert answer["recall"]["explain"][0]["reason"] == "shown"
    assert answer["searched"] == ["main"]
    html = visitor.see("/search", q=message, role="nova", mode="recall")
    assert unescape(html.partition('aria-label="The recall block">\n')[2].partition("</pre>")[0]) == block
    assert "no note passes the floor" in visitor.see("/search", q="zzzz", role="nova", mode="recall")
    silent = visitor.ask("/search", q="zzzz", role="nova", mode="recall", target="cat is called")
    assert (silent["recall"]["silent"], len(silent["target"])) == (True, 1)


@pytest.mark.rule("RECALL-10", "RECALL-12", "RECALL-O8")
def test_what_could_not_be_looked_at_is_said_loudly(visit: Callable[..., Visitor]) -> None:
    """With the model down, hits stand under INCOMPLETE, and finding nothing under NOT CHECKED, each with its reason."""
    embedder = CountingEmbedder()
    embedder.fail(1_000, "the model <b>is away</b>")
    visitor = visit(search=SearchOptions(embedders=(embedder,), catch_up_s=None))

    found = _text(visitor.see("/search", q="releases"))
    missing = _text(visitor.see("/search", q="zeppelin"))

    assert "INCOMPLETE : there may be more notes than these." in found
    assert "NOT CHECKED : memory could not be searched properly." in missing
    assert "That nothing was found is no proof that nothing is there." in missing
    assert "the model <b>is away</b>" in missing
    assert "No notes found" not in missing


def test_a_role_that_may_not_search_is_told_so(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """A role without memory, or without the capability, is given nothing, and the page says why in its words."""
    sample.role("plain", None)
    sample.role("mute", capabilities="memory:write")
    visitor = visit()

    assert "no memory" in visitor.ask("/search", status=403, q="x", role="plain")["problem"]
    assert "memory:read" in visitor.ask("/search", status=403, q="x", role="mute")["problem"]
    outside = visitor.ask("/search", status=403, q="x", role="nova", corpora="ops")
    assert "'ops' is not a corpus" in outside["problem"]


BAD = [
    pytest.param({"minScore": "2"}, "minScore", id="a score over 1"),
    pytest.param({"minScore": "nan"}, "minScore", id="no number"),
    pytest.param({"minScore": "much"}, "minScore", id="a word for a score"),
    pytest.param({"limit": "0"}, "limit", id="none at most"),
    pytest.param({"limit": "1e9"}, "limit", id="a number in letters"),
    pytest.param({"limit": "9" * 5000}, "limit", id="a very long number"),
    pytest.param({"since": "yesterday"}, "since", id="no day"),
    pytest.param({"until": "2026-02-30"}, "until", id="a day that no calendar has"),
    pytest.param({"since": "2026-02-02", "until": "2026-02-01"}, "until", id="a span that is upside down"),
    pytest.param({"role": "nobody"}, "role", id="no such role"),
    pytest.param({"role": "../../etc"}, "role", id="a path for a role"),
    pytest.param({"mode": "recall"}, "role", id="recall of nobody"),
    pytest.param({"mode": "other"}, "mode", id="no such mode"),
]


@pytest.mark.parametrize(("query", "field"), BAD)
def test_what_makes_no_sense_is_said_beside_its_field(
    visit: Callable[..., Visitor], query: dict[str, str], field: str
) -> None:
    """A field that makes no sense has its sentence beside it, nothing is searched, and what was typed stays."""
    visitor = visit()
    query = {"q": "releases <ship>", **query}

    answer = visitor.ask("/search", status=400, **query)
    html = visitor.client.get("/search", params=query).text

    assert list(answer["errors"]) == [field]
    assert answer["result"] is None
    assert f'<p class="wrong" id="wrong-{field}">' in html
    assert f'aria-describedby="wrong-{field}"' in html
    assert 'value="releases &lt;ship&gt;"' in html


def test_a_target_without_a_question_asks_for_one(visit: Callable[..., Visitor]) -> None:
    """Why a note does not show depends on the question, so one is asked for."""
    assert list(visit().ask("/search", status=400, target="main/MEMORY.md")["errors"]) == ["q"]


def test_nothing_of_a_note_or_an_address_is_markup(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """Script in a note, in a question, in a file's name or in any field is text on the page."""
    script = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    sample.put_memory("main/2026/08/2026-08-28.md", f"# 2026-08-28\n\n- 09:00 zebra {script}\n")
    sample.put("content/<b>.md", "# Zebra\n\nzebra stripes zebra\n")
    visitor = visit()

    for query in (
        {"q": "zebra", "minScore": "0"},
        {"q": f"zebra {script}", "target": script},
        {"q": "zebra", "role": f'"{script}', "corpora": script, "since": script, "limit": script, "mode": script},
    ):
        html = visitor.client.get("/search", params=query).text
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "<b>.md" not in html


def test_days_and_lines_narrow_the_search(visit: Callable[..., Visitor]) -> None:
    """Corpora may be named several times, and days leave out what has none or lies outside."""
    visitor = visit()
    asked: dict[str, Any] = {"q": "printer cat holidays", "minScore": "0"}
    both = visitor.ask("/search", **asked, corpora=["main", "content"])
    assert {hit["corpus"] for hit in both["result"]["hits"]} == {"main", "content"}
    assert both["searched"] == ["main", "content"]
    days = visitor.ask("/search", **asked, since="2026-08-29", until="2026-08-29")["result"]["hits"]
    assert {hit["path"] for hit in days} == {"ops/2026/08/2026-08-29.md"}
    assert len(visitor.ask("/search", **asked, limit="1")["result"]["hits"]) == 1


def test_other_scripts_are_shown_in_their_direction(visit: Callable[..., Visitor], sample: SampleBrain) -> None:
    """A note in Hebrew is found and stands in an element that takes the direction of its text."""
    sample.put_memory("main/2026/08/2026-08-28.md", "# 2026-08-28\n\n- 09:00 שלום לכל העולם\n")

    html = visit().see("/search", q="שלום לכל")

    assert '<p class="snippet" dir="auto">- 09:00 <mark>שלום</mark> <mark>לכל</mark> העולם</p>' in html
