"""`memory_search` as a tool: its arguments, its answer, its grant, and the days that it is narrowed to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from omnislash import ScopeError, UsageError
from omnislash.engine import SearchOptions
from omnislash.testing.embedders import CountingEmbedder

if TYPE_CHECKING:
    from omnislash import Agent
    from tests.integration.conftest import SampleBrain


@pytest.fixture
def finder(sample: SampleBrain) -> SampleBrain:
    """Return a brain that is searched without a real model."""
    sample.open(search=SearchOptions(embedders=(CountingEmbedder(),), catch_up_s=None))
    return sample


def call(agent: Agent, query: str, **arguments: Any) -> dict[str, Any]:
    """Return the tool's answer as JSON has it."""
    answer: dict[str, Any] = json.loads(
        json.dumps(agent.call("memory_search", {"query": query, **arguments}).to_json())
    )
    return answer


@pytest.mark.rule("TOOL-01", "TOOL-12", "TOOL-13", "TOOL-O3", "SOURCE-16", "SOURCE-17", "WRITE-09")
def test_answer(finder: SampleBrain) -> None:
    """It has hits, what lies under the floor, the coverage and the reasons, and each hit all its fields."""
    finder.sources("people")
    finder.role("nova", "{read: [people]}")
    finder.put_memory("main/2026/08/2026-08-29.md", "- 09:05 the anchor chain broke\n- nothing of note\n")
    finder.put("people/maria.md", "# Maria\n\nShe repairs the anchor chain.\n")

    answer = call(finder.agent(), "anchor chain", minScore=0)

    assert set(answer) == {"hits", "belowFloor", "coverage", "reasons"}
    assert (answer["coverage"], answer["reasons"]) == ("full", [])
    by_path = {hit["path"]: hit for hit in answer["hits"] if "anchor" in hit["snippet"]}
    assert set(by_path) == {"main/2026/08/2026-08-29.md", "people/maria.md"}
    log, person = by_path["main/2026/08/2026-08-29.md"], by_path["people/maria.md"]
    assert (log["span"], log["corpus"], log["kind"], log["date"]) == ([1, 1], "main", "daily", "2026-08-29")
    assert log["snippet"] == "- 09:05 the anchor chain broke"
    assert (person["span"], person["corpus"], person["kind"]) == ([3, 3], "people", "source")
    assert "date" not in person
    for hit in answer["hits"]:
        assert 0 <= hit["score"] <= 1
        assert hit["score"] == pytest.approx(0.85 * hit["meaning"] + 0.15 * hit["words"], abs=1e-9)
        assert hit["snippet"] in finder.agent().memory.read(hit["path"]).content


@pytest.mark.rule("TOOL-12", "WRITE-O8")
def test_write_is_found_by_the_very_next_search(finder: SampleBrain) -> None:
    """An entry that was confirmed is found at once, and so is what a person saved."""
    agent = finder.agent()
    for number in range(3):
        agent.memory.write(f"parcel {number} from Lisbon")
        assert len(call(agent, "parcel from Lisbon", minScore=0.5)["hits"]) == number + 1
    finder.put_memory("main/notes/a.md", "a parcel from Porto\n")
    assert call(agent, "Porto", minScore=0)["hits"][0]["path"] == "main/notes/a.md"


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        (None, None, {"27", "28", "29", "MEMORY"}),
        ("2026-08-28", None, {"28", "29"}),
        (None, "2026-08-28", {"27", "28"}),
        ("2026-08-28", "2026-08-28", {"28"}),
        ("2030-01-01", None, set()),
        (None, "1999-12-31", set()),
        ("0001-01-01", "9999-12-31", {"27", "28", "29"}),
    ],
)
def test_days(finder: SampleBrain, since: str | None, until: str | None, found: set[str]) -> None:
    """Only notes of these days are looked at; one without a day is none of them."""
    for day in ("27", "28", "29"):
        finder.put_memory(f"main/2026/08/2026-08-{day}.md", f"- anchor of {day}\n")
    finder.put_memory("main/MEMORY.md", "- anchor\n")

    answer = call(finder.agent(), "anchor", since=since, until=until, minScore=0)

    assert {hit["path"].removesuffix(".md").split("/")[-1].rpartition("-")[2] for hit in answer["hits"]} == found
    assert answer["belowFloor"]["count"] == 0
    assert answer["coverage"] == "full"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "query"),
        ({"query": ""}, "query: it has no words"),
        ({"query": " \n"}, "query"),
        ({"query": 7}, "query"),
        ({"query": "a", "since": "yesterday"}, "since: expected a day as YYYY-MM-DD"),
        ({"query": "a", "since": "2026-02-30"}, "since: there is no day 2026-02-30"),
        ({"query": "a", "until": "2026-13-01"}, "until: there is no day 2026-13-01"),
        ({"query": "a", "since": "2026-08-30", "until": "2026-08-29"}, "2026-08-30 is after until 2026-08-29"),
        ({"query": "a", "minScore": 1.5}, "minScore"),
        ({"query": "a", "minScore": -0.1}, "minScore"),
        ({"query": "a", "minScore": "high"}, "minScore"),
        ({"query": "a", "minScore": float("nan")}, "minScore"),
        ({"query": "a", "limit": 0}, "limit"),
        ({"query": "a", "limit": 101}, "limit"),
        ({"query": "a", "corpora": "main"}, "corpora"),
    ],
)
@pytest.mark.rule("TOOL-12")
def test_wrong_arguments(finder: SampleBrain, arguments: dict[str, Any], named: str) -> None:
    """Each is refused with a sentence that names it; nothing is searched."""
    with pytest.raises(UsageError, match=r"^memory_search: ") as caught:
        finder.agent().call("memory_search", arguments)
    assert named in str(caught.value)


@pytest.mark.rule("TOOL-10", "TOOL-11")
def test_argument_that_names_a_scope_is_dropped(finder: SampleBrain) -> None:
    """Neither `memoryScope` nor another role widens a search."""
    finder.put_memory("ops/MEMORY.md", "- anchor\n")

    assert call(finder.agent(), "anchor", memoryScope="ops", role="ops", refs=["*"], line="ops")["hits"] == []


@pytest.mark.rule("TOOL-05", "DECLARE-06", "TOOL-14")
def test_grant(finder: SampleBrain) -> None:
    """Whoever lacks `memory:read`, or memory, is neither offered the tool nor answered."""
    finder.role("mute", "{}", capabilities="memory:write")
    finder.role("stranger", None)

    assert "memory_search" in finder.agent().tools
    for role in ("mute", "stranger"):
        assert "memory_search" not in finder.agent(role).tools
        with pytest.raises(ScopeError):
            call(finder.agent(role), "anchor")


@pytest.mark.rule("BOUNDARY-08", "BOUNDARY-10")
def test_replay_searches_live(finder: SampleBrain) -> None:
    """A replay is answered from the memory as it is now."""
    finder.put_memory("main/MEMORY.md", "- anchor chain\n")

    assert len(call(finder.agent(replay=True), "anchor chain")["hits"]) == 1


@pytest.mark.rule("LINE-O3")
def test_today_is_that_of_the_brains_zone(sample: SampleBrain) -> None:
    """At 23:30 in UTC a log of the next day, which is today in Auckland, has not aged."""
    sample.manifest(timezone="Pacific/Auckland")
    sample.clock.at = datetime(2026, 8, 30, 23, 30, tzinfo=UTC)
    sample.open(search=SearchOptions(embedders=(CountingEmbedder(),), catch_up_s=None))
    sample.put_memory("main/2026/08/2026-08-31.md", "- anchor\n")
    sample.put_memory("main/2026/08/2026-08-30.md", "- anchor chain\n")
    decays = {
        each.path[-5:-3]: each.decay for each in sample.agent().memory.explain("anchor", min_score=0).explanations
    }

    assert decays["31"] == 1
    assert decays["30"] == pytest.approx(0.5 ** (1 / 30), abs=1e-9)


@pytest.mark.rule("KNOB-26", "SOURCE-08")
def test_configuration_is_taken_up_while_the_brain_is_open(finder: SampleBrain) -> None:
    """A source that is declared now is found by the next turn, and one that is no longer declared is not."""
    finder.role("nova", "{recall: [content]}")
    finder.put("content/plan.md", "the anchor plan\n")
    finder.put("omnislash.yaml", "memory: {sources: [content]}\n")
    agent = finder.agent()
    assert [hit["path"] for hit in call(agent, "anchor plan")["hits"]] == ["content/plan.md"]

    finder.role("nova", "{}")
    finder.put("omnislash.yaml", "memory: {sources: []}\n")
    assert call(finder.agent(), "anchor plan")["hits"] == []


@pytest.mark.rule("LANG-02", "LANG-09", "LANG-10")
def test_languages_are_taken_up_while_the_brain_is_open(finder: SampleBrain) -> None:
    """With russian listed, another form of the word is found, and no note is embedded again for that."""
    finder.put_memory("main/MEMORY.md", "- говорили о встрече\n")
    embedder = CountingEmbedder()
    brain = finder.open(search=SearchOptions(embedders=(embedder,), catch_up_s=None))
    before = brain.agent("nova").memory.search("встреча", min_score=0).hits
    made = len(embedder.passage_calls)
    finder.put("omnislash.yaml", "memory: {languages: [english, russian]}\n")

    (hit,) = brain.agent("nova").memory.search("встреча", min_score=0).hits

    assert [each.words for each in before] in ([], [0.0])
    assert hit.words == 1
    assert len(embedder.passage_calls) == made
