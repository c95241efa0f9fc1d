"""What the model without a network keeps, where it puts it, and what it leaves out."""

from __future__ import annotations

import re
import time
from datetime import date
from pathlib import Path

import pytest

from omnislash.core.budgets import count_chars
from omnislash.core.clipping import clip_sources
from omnislash.core.periods import Level, parse_period, period_on
from omnislash.runtime.ladder.summarising import Source, SummaryRequest, check_answer
from omnislash.runtime.offline.summaries import OfflineModel

BRAIN = Path(__file__).resolve().parents[3] / "brain-example" / "memory"


def daily(day: int, *entries: str) -> Source:
    """Return the log of a day of August 2026."""
    on = date(2026, 8, day)
    text = f"# {on}\n\n" + "".join(f"- 09:{number:02} {entry}\n" for number, entry in enumerate(entries))
    return Source(f"memory/main/2026/08/{on}.md", on, on, text)


def summary_file(name: str, text: str) -> Source:
    """Return the summary of a period as a source."""
    period = parse_period(name)
    return Source(f"memory/main/2026/{name}.md", period.first, period.last, f"# {name}\n\n{text}")


def ask(*sources: Source, target: int | None = 1_450, lost: str = "", period: str = "2026-W34") -> SummaryRequest:
    """Return a request of the offline model, which reads no criteria."""
    return SummaryRequest("main", parse_period(period), sources, target, bool(lost), lost, "")


def summarise(*sources: Source, target: int | None = 1_450, period: str = "2026-W34") -> str:
    """Return the summary of some sources."""
    return OfflineModel().summarise(ask(*sources, target=target, period=period))


def sections(text: str) -> dict[str, list[str]]:
    """Return the items of a summary below each of its headings."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"(?m)^## ", text)[1:]:
        heading, _, body = block.partition("\n")
        found[heading] = [line[2:] for line in body.splitlines() if line.startswith("- ")]
    return found


# -- what is kept, and where -------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-18")
@pytest.mark.parametrize(
    ("entry", "heading"),
    [
        ("Decided: the shop opens at eight, because the bus comes earlier.", "Decisions"),
        ("Ida agreed to the new rent.", "Decisions"),
        ("Beschlossen: ab Montag gilt der neue Tarif.", "Decisions"),
        ("Решили перейти на новый склад, потому что старый протекает.", "Decisions"),
        ("我们决定从九月开始使用新的仓库。", "Decisions"),
        ("Mara promised the new key by Friday.", "Commitments"),
        ("Herr Auer hat zugesagt, das Angebot bis Freitag zu schicken.", "Commitments"),
        ("Пётр обещал прислать счёт до 20 августа.", "Commitments"),
        ("Open question: who keeps the key at night?", "Open"),
        ("[ ] call the plumber", "Open"),
        ("Noch offen: wer holt die Pakete ab?", "Open"),
        ("Кто закрывает ворота, пока не ясно.", "Open"),
        ("Correction to yesterday: 22 chains came and not 20.", "Corrections"),
        ("It turned out that the pump was fine.", "Corrections"),
        ("Korrektur: es waren drei Pakete.", "Corrections"),
        ("Исправление: счёт был на 340 евро.", "Corrections"),
        ("Fourth puncture this week at the underpass.", "Repeated"),
        ("Schon wieder ist die Heizung ausgefallen.", "Repeated"),
        ("Опять не было воды.", "Repeated"),
        ("Lunch was soup.", "Also"),
    ],
)
def test_a_statement_stands_under_what_it_is(entry: str, heading: str) -> None:
    """Decisions, commitments, open matters, repetitions and corrections are told apart, in several languages."""
    assert sections(summarise(daily(17, entry))) == {heading: [f"{entry} (2026-08-17)"]}


def test_what_matters_is_kept_and_small_talk_goes() -> None:
    """When not everything fits, the ordinary goes first."""
    chatter = [f"Lunch was good, the weather was fine, cups number {n} and {n + 1} were washed." for n in range(20)]
    kept = [
        "Decided: the shop opens at eight.",
        "Mara promised the new key by Friday.",
        "Correction: there are 22 chains.",
    ]
    text = summarise(daily(17, *chatter, kept[0]), daily(18, kept[1], *chatter[:9]), daily(19, kept[2]), target=420)
    assert all(entry in text for entry in kept)
    assert text.count("Lunch was good") <= 2


def test_items_stand_in_the_order_of_time() -> None:
    """Below a heading the older statement stands first, whatever it weighs."""
    text = summarise(
        daily(17, "Ida agreed to the rent."), daily(18, "Decided today: 95 € for the shed, because it leaks.")
    )
    assert [item[-11:-1] for item in sections(text)["Decisions"]] == ["2026-08-17", "2026-08-18"]


def test_the_form_of_the_page() -> None:
    """A page is its period's heading, headings with lists below, blank lines between, one line end at the end."""
    text = summarise(daily(17, "Decided: the shop opens at eight."), daily(18, "Who keeps the key?"))
    assert text == (
        "# 2026-W34\n\n"
        "## Decisions\n\n- Decided: the shop opens at eight. (2026-08-17)\n\n"
        "## Open\n\n- Who keeps the key? (2026-08-18)\n"
    )


def test_a_small_page_has_no_headings() -> None:
    """Where a heading would cost more than it says, the list stands alone."""
    text = summarise(daily(17, "Decided: the shop opens at eight."), target=120)
    assert text == "# 2026-W34\n\n- Decided: the shop opens at eight. (2026-08-17)\n"


# -- one statement and another -----------------------------------------------------------------------------------


def test_what_was_said_on_several_days_stands_once_with_all_of_them() -> None:
    """The same entry on three days is one item that cites the three, and has recurred."""
    text = summarise(*(daily(day, "The drain is blocked with leaves.") for day in (17, 19, 21)))
    assert sections(text) == {"Repeated": ["The drain is blocked with leaves. (2026-08-17, 2026-08-19, 2026-08-21)"]}


def test_of_many_days_the_first_and_the_last_are_cited() -> None:
    """The citation of a month's refrain stays short."""
    text = summarise(*(daily(day, "The drain is blocked.") for day in range(1, 29)), period="2026-08")
    assert "(2026-08-01, 2026-08-02, 2026-08-03, 2026-08-28)" in text


def test_what_differs_in_a_figure_a_name_or_a_not_is_no_repetition() -> None:
    """Two statements of nearly the same words stay two when what differs carries the meaning."""
    long = "the invoice for the second delivery of winter tyres to the workshop beside the old mill"
    said = [
        f"Ida paid {long}: 80 €.",
        f"Ida paid {long}: 90 €.",
        f"Tomek paid {long}: 80 €.",
        f"Ida has not paid {long}: 80 €.",
    ]
    text = summarise(*(daily(17 + at, f"On record, {entry}") for at, entry in enumerate(said)))
    assert all(entry in text for entry in said)


def test_the_order_of_words_makes_a_difference() -> None:
    """Who paid whom is no matter of the words alone; one word more in a long entry is."""
    text = summarise(daily(17, "Ida paid Tom for the rims."), daily(18, "Tom paid Ida for the rims."))
    assert text.count("\n- ") == 2
    long = "the two windows of the workshop beside the door were washed and the frames were oiled"
    text = summarise(daily(17, f"In the morning {long}."), daily(18, f"In the morning {long} as well."))
    assert sections(text) == {"Repeated": [f"In the morning {long}. (2026-08-17, 2026-08-18)"]}


def test_an_open_matter_that_was_settled_later_is_not_open() -> None:
    """The key that was found is not listed as missing."""
    text = summarise(
        daily(17, "The key of the yard gate is missing."),
        daily(18, "Is the cellar damp?"),
        daily(19, "The key of the yard gate has been found behind the compressor."),
    )
    assert sections(text)["Open"] == ["Is the cellar damp? (2026-08-18)"]


def test_what_was_corrected_goes_before_what_was_not() -> None:
    """When there is no room for both, the correction stays and the error goes."""
    wrong = "Kettner delivered the cassettes and the pads complete, and 20 chains of the 24 that were ordered."
    right = "Correction: Kettner delivered 22 chains of the 24, two lay in the box with the pads."
    other = "The lamp above the door of the workshop was cleaned and hung up, and it is brighter now than it was."
    text = summarise(daily(17, wrong, other), daily(18, right), target=260)
    assert right in text
    assert wrong not in text


def test_trifles_do_not_fill_a_page() -> None:
    """A page that says enough is not filled up with what nobody will look for."""
    weighty = [
        f"Decided: bench {n} goes to the {where}, because it rots."
        for n, where in enumerate(("hall", "yard", "shed", "attic"))
    ]
    text = summarise(daily(17, *weighty, "Swept the floor.", "Made tea."), target=480)
    assert all(entry in text for entry in weighty)
    assert "tea" not in text
    assert "tea" in summarise(daily(17, "Swept the floor.", "Made tea."))


# -- summaries of summaries --------------------------------------------------------------------------------------


def test_a_summary_carries_its_citations_over() -> None:
    """What a week cites, the month cites as well, and once."""
    week = summary_file("2026-W34", "## Decisions\n\n- The shop opens at eight. (2026-08-17, 2026-08-19)\n")
    assert sections(summarise(week, period="2026-08")) == {
        "Decisions": ["The shop opens at eight. (2026-08-17, 2026-08-19)"]
    }


def test_what_cites_no_day_rests_on_its_period() -> None:
    """A statement of a week that names no day is found again through the week."""
    week = summary_file("2026-W34", "A quiet week, in which nothing was settled.\n")
    assert "- A quiet week, in which nothing was settled. (2026-W34)\n" in summarise(week, period="2026-08")


@pytest.mark.parametrize(
    ("heading", "becomes"),
    [
        ("Decided", "Decisions"),
        ("Promised", "Commitments"),
        ("Seen more than once", "Repeated"),
        ("Corrected", "Corrections"),
    ],
)
def test_a_heading_of_a_summary_names_what_stands_below(heading: str, becomes: str) -> None:
    """Whoever wrote the week has sorted it already."""
    week = summary_file("2026-W34", f"## {heading}\n\n- The gate and the shed.\n")
    assert list(sections(summarise(week, period="2026-08"))) == [becomes]


def test_what_a_later_week_settles_is_not_open_in_the_month() -> None:
    """An open matter of one week that the next one settles does not stay open for the month."""
    first = summary_file(
        "2026-W33", "## Open\n\n- The shed in the yard and its lease. (2026-08-12)\n- The roof. (2026-08-13)\n"
    )
    second = summary_file("2026-W34", "## Decisions\n\n- The lease of the shed is three years. (2026-08-18)\n")
    assert sections(summarise(first, second, period="2026-08"))["Open"] == ["The roof. (2026-08-13)"]


def test_what_a_page_lists_below_is_not_later() -> None:
    """In a page the order of the headings is no order of time: what was open after a correction stays open."""
    week = summary_file(
        "2026-W34",
        "## Open\n\n- The lease of the shed. (2026-08-20)\n\n## Corrections\n\n- The shed has a lease. (2026-08-18)\n",
    )
    assert sections(summarise(week, period="2026-08"))["Open"] == ["The lease of the shed. (2026-08-20)"]


def test_the_end_of_a_daily_entry_is_no_citation() -> None:
    """A day in brackets at the end of an entry is the entry's own text."""
    text = summarise(daily(17, "Decided what was put off (2026-08-14)"))
    assert "- Decided what was put off (2026-08-14) (2026-08-17)\n" in text


# -- what a log may hold -----------------------------------------------------------------------------------------


def test_an_entry_of_several_lines_is_one_item() -> None:
    """The second line of an entry belongs to it."""
    log = daily(17, "Offer sent: 14 € a bike.\n  They answer by 4 December.")
    assert "- Offer sent: 14 € a bike. They answer by 4 December. (2026-08-17)\n" in summarise(log)


def test_a_long_entry_is_cut_between_sentences() -> None:
    """Of an entry that is too long for the page, the sentence that matters is taken whole."""
    idle = "The lorry drove up the hill and down the hill past the mill and the pond. " * 5
    log = daily(17, f"{idle}Decided: we order from Kettner no more. {idle}")
    text = summarise(log, target=400)
    assert "Decided: we order from Kettner no more." in text
    assert "Decided: we order from Kettner no more. " in f"{text} "
    assert count_chars(text) <= 400


def test_neighbouring_parts_of_an_entry_are_one_item() -> None:
    """An entry that was cut and fits after all stands there whole."""
    entry = " ".join(f"Sentence {n} tells about the {word} bench." for n, word in enumerate("abcdefghijkl"))
    assert summarise(daily(17, entry)).count("\n- ") == 1
    assert entry in summarise(daily(17, entry))


def test_what_a_person_wrote_between_entries_counts() -> None:
    """Prose below a heading is read as well; the headings are not."""
    on = date(2026, 8, 17)
    source = Source(
        "memory/main/2026/08/2026-08-17.md", on, on, "# Monday\n\n### Notes\n\nDecided: no dogs\nin the shop.\n"
    )
    text = summarise(source)
    assert "- Decided: no dogs in the shop. (2026-08-17)\n" in text
    assert "Monday" not in text
    assert "Notes" not in text


@pytest.mark.rule("SECRET-O2")
def test_no_credential_is_carried_into_a_summary() -> None:
    """A credential stays where it is; the rest of the entry may be told."""
    token = "ghp_" + "a1B2" * 9
    request = ask(daily(17, f"Decided: new router. Its token is {token}. Mara helps."))
    text = OfflineModel().summarise(request)
    assert "- Decided: new router. Its token is [redacted: GitHub token]. Mara helps. (2026-08-17)\n" in text
    assert check_answer(text, request) == text


def test_a_day_of_nothing_readable_blocks_no_period() -> None:
    """A period of which nothing may be quoted gets a page that says so."""
    on = date(2026, 8, 17)
    request = ask(Source("memory/main/2026/08/2026-08-17.md", on, on, "\0" * 4_096))
    text = OfflineModel().summarise(request)
    assert "can't be quoted" in text
    assert check_answer(text, request) == text


def test_incomplete_sources_are_said_to_be_so_first() -> None:
    """When the cap took something, the page says so below its heading."""
    lost = clip_sources(["- one\n- two\n"], max_chars=6).render_loss()
    text = OfflineModel().summarise(ask(daily(17, "Decided: no dogs."), lost=lost))
    assert text.startswith(f"# 2026-W34\n\n{lost}\n\n## Decisions\n")


@pytest.mark.rule("PERIOD-22")
def test_no_writing_makes_no_summary() -> None:
    """Nothing is said about nothing."""
    assert summarise() == ""
    assert summarise(daily(17)) == ""


# -- length and time ---------------------------------------------------------------------------------------------


@pytest.mark.rule("PERIOD-37")
@pytest.mark.parametrize("target", [80, 150, 400, 1_450, 5_000])
@pytest.mark.parametrize("line", ["main", "ops", "research"])
def test_the_example_fits_every_target(line: str, target: int) -> None:
    """Every week and the month of the shipped example keeps its length and passes as an answer."""
    files = sorted((BRAIN / line).glob("2026/11/*.md"))
    logs = [
        Source(f"memory/{line}/2026/11/{f.name}", on := date.fromisoformat(f.stem), on, f.read_text("utf-8"))
        for f in files
    ]
    weeks = {period_on(Level.WEEK, log.first) for log in logs}
    spans = [tuple(log for log in logs if week.holds(log.first)) for week in weeks]
    for sources in (*spans, tuple(logs)):
        request = ask(*sources, target=target, period="2026-11")
        text = OfflineModel().summarise(request)
        assert count_chars(text) <= target
        assert check_answer(text, request) == text


@pytest.mark.rule("PERIOD-40")
def test_without_a_target_it_stays_short() -> None:
    """Where no length is asked, the page is still a summary."""
    logs = [
        daily(day, *(f"Decided matter {day}-{n}: the bench is painted." for n in range(90))) for day in range(17, 24)
    ]
    assert 1_000 < count_chars(summarise(*logs, target=None)) <= 3_000


@pytest.mark.parametrize("target", [0, 1, 40])
def test_a_tiny_target_still_gives_a_statement(target: int) -> None:
    """A page is never empty; it is as short as one clipped statement can be."""
    text = summarise(daily(17, "Decided: " + "the workshop opens earlier on all days " * 9), target=target)
    assert "- Decided: the workshop" in text
    assert count_chars(text) <= 80


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("- " + "a" * 1_000_000, id="one word"),
        pytest.param("- " + "Решили открыть склад. " * 45_000, id="one entry"),
        pytest.param("我们决定明天开会。" * 110_000, id="without spaces"),
        pytest.param("." * 1_000_000, id="dots"),
        pytest.param("(2026-08-14, " * 80_000, id="citations that do not end"),
        pytest.param("made up " * 125_000, id="cue words"),
        pytest.param("```\n" * 250_000, id="fences"),
        pytest.param("<!-- " * 200_000, id="comments"),
        pytest.param("\ud83d " * 300_000, id="half characters"),
        pytest.param("".join(f"- 09:00 decided thing {n} because of {n % 7}\n" for n in range(22_000)), id="entries"),
    ],
)
def test_a_megabyte_of_anything_is_done_soon(text: str) -> None:
    """No text makes it slow: the work grows with the length alone."""
    on = date(2026, 8, 17)
    began = time.perf_counter()
    summary = summarise(Source("memory/main/2026/08/2026-08-17.md", on, on, text))
    assert time.perf_counter() - began < 20
    assert 12 < count_chars(summary) <= 1_450
    summary.encode("utf-8")
