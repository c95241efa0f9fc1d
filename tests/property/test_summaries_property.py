"""Whatever the sources hold, the offline summary quotes them, keeps its length, and passes as an answer."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from omnislash.core.budgets import count_chars
from omnislash.core.daily import append_entry, has_writing
from omnislash.core.periods import parse_period
from omnislash.runtime.ladder.summarising import Refused, Source, SummaryRequest, check_answer, render_prompt
from omnislash.runtime.offline.summaries import UNQUOTABLE, OfflineModel

MONDAY = date(2026, 8, 17)
WEEK = parse_period("2026-W34")
#: Control characters, format characters and half characters.
UNSEEN = {"Cc", "Cf", "Cs"}
#: The shortest page there can be: the heading, a citation, and a statement of two words or one clipped.
SHORTEST = 75

WORDS = st.sampled_from(
    [
        *(
            "decided",
            "promised",
            "by Friday",
            "because",
            "open question",
            "correction",
            "again",
            "the",
            "key",
            "gate",
            "42 €",
        ),
        *("решили", "обещал", "до пятницы", "вопрос", "исправление", "снова", "склад", "ключ"),
        *("beschlossen", "zugesagt", "offen", "Korrektur", "wieder", "Schlüssel", "nicht", "Dr.", "z. B.", "14:30"),
        *(
            "我们决定",
            "问题",
            "更正",
            "仓库",
            "。",
            "🙂",
            "e\u0301",
            "</agent-memory>",
            "(2026-08-14)",
            "- ",
            "# x",
            "```",
            "<!--",
            "-->",
        ),
    ]
)
ENDS = st.sampled_from([". ", "? ", "! ", "… ", "。", "\n", " "])
SENTENCES = st.tuples(st.lists(WORDS, min_size=1, max_size=14).map(" ".join), ENDS).map("".join)
ENTRIES = st.lists(SENTENCES, min_size=1, max_size=6).map("".join).filter(str.strip)
ANYTHING = st.text(max_size=400) | st.text(alphabet="ab .!?\n\r\t-#*`<>()0\0\ud83d\u200b", max_size=600)


@st.composite
def logs(draw: st.DrawFn) -> str:
    """Return the text of a daily log as the engine and a person write it."""
    text = draw(st.sampled_from(["", "Notes of a person.\n", "## Decided\n\n", "\ufeff"]))
    for entry in draw(st.lists(ENTRIES, max_size=8)):
        text = append_entry(text, entry, on=MONDAY, time="09:30")
    return text


@st.composite
def requests(draw: st.DrawFn) -> SummaryRequest:
    """Return a request about a week of logs, or about anything."""
    texts = draw(st.lists(logs() | ANYTHING, min_size=1, max_size=7))
    target = draw(st.none() | st.integers(SHORTEST, 3_000))
    days = [MONDAY + timedelta(days=at) for at in range(len(texts))]
    sources = [Source(f"memory/main/2026/08/{on}.md", on, on, text) for on, text in zip(days, texts, strict=True)]
    return SummaryRequest("main", WEEK, tuple(sources), target, is_clipped=False, lost="", criteria="Keep decisions.")


def squeeze(text: str) -> str:
    """Return a text without white space and without what nobody sees."""
    return "".join(char for char in text if not char.isspace() and unicodedata.category(char) not in UNSEEN)


def items(text: str) -> list[tuple[str, list[str]]]:
    """Return the statements of a page, each with the days that it cites."""
    found = (
        re.fullmatch(r"- (.*) \(([0-9-]+(?:, [0-9-]+)*)\)", line) for line in text.splitlines() if line[:2] == "- "
    )
    return [(match[1], match[2].split(", ")) for match in found if match]


@pytest.mark.long
@pytest.mark.rule("PERIOD-37")
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests())
def test_a_page_quotes_its_sources(request: SummaryRequest) -> None:
    """A page fits, quotes word for word, cites the days on which it was said, says nothing twice, and can be filed."""
    text = OfflineModel().summarise(request)
    assert text == OfflineModel().summarise(request)
    written = [source for source in request.sources if has_writing(source.text)]
    if not text:
        assert not written
        return
    if UNQUOTABLE in text:
        assert not any(squeeze(source.text) for source in written)
        return
    check_page(text, request)
    assert check_answer(text, request) == text
    text.encode("utf-8")


def check_page(text: str, request: SummaryRequest) -> None:
    """Check a page against its sources."""
    assert count_chars(text) <= (3_000 if request.target_chars is None else request.target_chars)
    lines = text.splitlines()
    assert lines[0] == "# 2026-W34"
    said = items(text)
    assert said
    assert len(said) == sum(bool(line) and line[:2] != "##" for line in lines[1:])
    by_day = {str(source.first): squeeze(source.text) for source in request.sources}
    for statement, days in said:
        assert days == sorted(set(days))
        assert set(days) <= set(by_day)
        assert squeeze(statement) in by_day[days[0]]
    assert len({" ".join(statement.split()).casefold() for statement, _ in said}) == len(said)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(requests(), min_size=1, max_size=4))
def test_a_page_of_pages_quotes_them(weeks: list[SummaryRequest]) -> None:
    """A month made from weeks quotes the weeks, and cites only days that these cite, or the weeks themselves."""
    pages = [OfflineModel().summarise(week) for week in weeks]
    assume(all(pages))
    sources = []
    for number, page in enumerate(pages, 31):
        week = parse_period(f"2026-W{number}")
        sources.append(
            Source(f"memory/main/2026/{week}.md", week.first, week.last, page.replace("2026-W34", str(week)))
        )
    request = SummaryRequest(
        "main", parse_period("2026-08"), tuple(sources), 1_450, is_clipped=False, lost="", criteria=""
    )
    text = OfflineModel().summarise(request)
    assert count_chars(text) <= 1_450
    known = {day for page in pages for _, days in items(page) for day in days}
    allowed = known | {str(parse_period(f"2026-W{number}")) for number in range(31, 36)}
    whole = squeeze("".join(source.text for source in sources))
    for line in text.splitlines():
        found = re.fullmatch(r"- (.*) \(([0-9W-]+(?:, [0-9W-]+)*)\)", line)
        if found:
            assert set(found[2].split(", ")) <= allowed
            assert squeeze(found[1]) in whole


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=600) | ENTRIES | st.text(alphabet="ab`~\n\r#-. \ufeff\0", max_size=80), requests())
def test_an_answer_is_filed_or_refused(answer: str, request: SummaryRequest) -> None:
    """Any answer is either refused with a sentence or filed in a form that is filed again as it is."""
    judged = check_answer(answer, request)
    if isinstance(judged, Refused):
        assert judged.reason.endswith(".")
        assert "\n" not in judged.reason
        return
    assert judged.startswith("# 2026-W34")
    assert judged.endswith("\n")
    assert not judged.endswith("\n\n")
    assert "\r" not in judged
    assert has_writing(judged)
    assert check_answer(judged, request) == judged


@settings(max_examples=80, deadline=None)
@given(requests())
def test_a_prompt_holds_every_source_whole(request: SummaryRequest) -> None:
    """Each source stands between its marks as it is, whatever it says, and nothing else carries the mark."""
    prompt = render_prompt(request)
    prompt.encode("utf-8")
    mark = prompt.rstrip("\n").rsplit("[", 1)[1].split("]")[0]
    assert prompt.count(f"[{mark}]") == 2 * len(request.sources)
    for source in request.sources:
        shown = re.sub("[\ud800-\udfff]", "\ufffd", source.text.rstrip())
        assert f"[{mark}] -----\n{shown}\n-----" in prompt
