"""Links to files and notes: the right page for each zone, quoted, and the words that a browser goes to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from omnislash.core.lines import parse_source
from omnislash.surfaces.dashboard.drawing import draw_age, draw_percent
from omnislash.surfaces.dashboard.places import link_file
from omnislash.surfaces.dashboard.zones import localise

if TYPE_CHECKING:
    from typing import Any

SOURCES = (parse_source("content"),)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        pytest.param("main/MEMORY.md", "/knowledge/main/MEMORY.md", id="a managed file"),
        pytest.param("content/a b.md", "/sources/content/a%20b.md", id="a document of a source"),
        pytest.param("main/50%.md", "/knowledge/main/50%25.md", id="a sign of addresses"),
        pytest.param("main/каша.md", "/knowledge/main/%D0%BA%D0%B0%D1%88%D0%B0.md", id="other letters"),
        pytest.param("../../etc/passwd", None, id="out of the brain"),
        pytest.param("//evil.example/x.md", None, id="another site"),
        pytest.param("javascript:alert(1)", None, id="script"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_path_leads_to_its_page_or_nowhere(path: str, place: str | None) -> None:
    """A file of either zone has its page; what can't be a path gets no link."""
    assert link_file(path, SOURCES) == place


@pytest.mark.parametrize(
    ("note", "words"),
    [
        pytest.param("- Releases ship on Fridays.\n  More of it.", "Releases%20ship%20on%20Fridays.", id="a list item"),
        pytest.param("## Two words\n\ntext", "Two%20words", id="a heading"),
        pytest.param("- [x] Call the plumber", "Call%20the%20plumber", id="a ticked box"),
        pytest.param("3. Third of them", "Third%20of%20them", id="a numbered item"),
        pytest.param("- 10:00 It is **very** cold", "10%3A00%20It%20is", id="up to the first markup"),
        pytest.param("well-known thing, a & b", "well%2Dknown%20thing%2C%20a", id="signs that mean something there"),
        pytest.param("**bold** only", "", id="markup at once"),
        pytest.param("", "", id="nothing"),
        pytest.param("word " * 30, ("word%20" * 12).removesuffix("%20"), id="a long one ends with a word"),
    ],
)
def test_a_note_is_named_by_its_first_words(note: str, words: str) -> None:
    """The link names the words that a rendered page shows as they stand, and nothing of the markup."""
    directive = f":~:text={words}" if words else ""
    assert link_file("main/MEMORY.md", SOURCES, at=7, text=note) == f"/knowledge/main/MEMORY.md#L7{directive}"


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=45), "45 s"),
        (timedelta(minutes=2), "2 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=5), "5 h"),
        (timedelta(days=3, hours=1), "3 days"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(span: timedelta, shown: str) -> None:
    """Seconds, minutes, hours or days, rounded down."""
    assert draw_age(span.total_seconds()) == shown


def test_a_share_is_told_in_percent() -> None:
    """A half is 50 %, and what is not known a dash."""
    assert (draw_percent(0.5), draw_percent(None)) == ("50%", "\N{EN DASH}")


def test_instants_move_to_the_zone_and_nothing_else() -> None:
    """Every instant of an object, however deep, is in the zone; other texts stay, and so does what is not there."""
    at = datetime(2026, 8, 30, 22, 0, tzinfo=UTC).isoformat()
    given: dict[str, Any] = {"at": at, "rows": [{"usedAt": at, "path": at}], "decidedAt": None, "count": 3}

    assert localise(given, ZoneInfo("Asia/Kolkata")) == {
        "at": "2026-08-31T03:30:00+05:30",
        "rows": [{"usedAt": "2026-08-31T03:30:00+05:30", "path": at}],
        "decidedAt": None,
        "count": 3,
    }
