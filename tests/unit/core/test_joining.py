"""Two versions of a file of memory as one: what is right was worked out by hand, for each way in which sides can part."""

from __future__ import annotations

import pytest

from omnislash.core.joining import join_daily, join_document, join_entries, join_memory
from omnislash.core.joining_sequences import CannotJoinError

LOG = "# 2026-11-30\n\n- 08:00 opened\n- 09:00 called Ada\n"
CURATED = "# Memory\n\nA preamble.\n\n## Facts\n\n- the code is 4\n- the boat is green\n\n## People\n\n- Ada\n"


def daily(base: str | None, ours: str, theirs: str) -> str:
    """Join two logs given as text, in both orders, which must not matter."""
    return _both_ways(base, ours, theirs, timed=True)


def memory(base: str | None, ours: str, theirs: str) -> str:
    """Join two MEMORY.md given as text, in both orders, which must not matter."""
    return _both_ways(base, ours, theirs, timed=False)


def document(base: str | None, ours: str, theirs: str) -> str:
    """Join two documents given as text, in both orders, which must not matter."""
    return _both_ways(base, ours, theirs, timed=False, by_lines=True)


def _both_ways(base: str | None, ours: str, theirs: str, *, timed: bool, by_lines: bool = False) -> str:
    data = None if base is None else base.encode()
    first = join_entries(data, ours.encode(), theirs.encode(), timed=timed, by_lines=by_lines)
    second = join_entries(data, theirs.encode(), ours.encode(), timed=timed, by_lines=by_lines)
    assert first == second
    return first.data.decode()


# -- daily logs ------------------------------------------------------------------------------------------------------


def test_entries_of_both_sides_in_order_of_time() -> None:
    """What both appended is there once, by time."""
    ours = LOG + "- 10:00 ours\n- 12:00 ours again\n"
    theirs = LOG + "- 11:00 theirs\n- 13:00 theirs again\n"

    assert daily(LOG, ours, theirs) == (
        LOG + "- 10:00 ours\n- 11:00 theirs\n- 12:00 ours again\n- 13:00 theirs again\n"
    )


def test_log_that_each_side_made() -> None:
    """Without a common beginning the heading is there once, and what both say as well."""
    assert daily(None, LOG + "- 10:00 ours\n", LOG + "- 07:00 a late one\n") == (
        LOG + "- 07:00 a late one\n- 10:00 ours\n"
    )
    assert daily(None, "# 2026-11-30\n\n- 10:00 ours\n", "# 2026-11-30\n\n- 09:00 theirs\n") == (
        "# 2026-11-30\n\n- 09:00 theirs\n- 10:00 ours\n"
    )


def test_entries_of_the_same_minute() -> None:
    """The same text in the same minute is one entry; another text is another, and the order of a side stays."""
    ours, theirs = LOG + "- 10:00 same\n- 10:00 z\n- 10:00 b\n", LOG + "- 10:00 same\n- 10:00 c\n"

    assert daily(LOG, ours, theirs) == LOG + "- 10:00 same\n- 10:00 c\n- 10:00 z\n- 10:00 b\n"


def test_same_text_at_another_time_is_another_entry() -> None:
    """Two calls are two calls."""
    assert daily(LOG, LOG + "- 10:00 rang\n", LOG + "- 11:00 rang\n") == LOG + "- 10:00 rang\n- 11:00 rang\n"


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (LOG.replace("- 09:00 called Ada\n", ""), "# 2026-11-30\n\n- 08:00 opened\n- 10:00 theirs\n"),
        (LOG.replace("called Ada", "called Eve"), LOG.replace("called Ada", "called Eve") + "- 10:00 theirs\n"),
        (LOG.replace("- 08:00 opened\n", ""), "# 2026-11-30\n\n- 09:00 called Ada\n- 10:00 theirs\n"),
    ],
)
def test_removed_or_changed_on_one_side(ours: str, expected: str) -> None:
    """What only one side removed is gone, what only one side changed is changed, beside an entry of the other side."""
    assert daily(LOG, ours, LOG + "- 10:00 theirs\n") == expected


def test_changed_on_both_sides() -> None:
    """Both versions stay, one after the other, and their lines are named."""
    ours, theirs = LOG.replace("called Ada", "called Ada, she is ill"), LOG.replace("called Ada", "called Ada at home")

    joined = join_entries(LOG.encode(), ours.encode(), theirs.encode(), timed=True)

    assert (
        joined.data.decode()
        == "# 2026-11-30\n\n- 08:00 opened\n- 09:00 called Ada at home\n- 09:00 called Ada, she is ill\n"
    )
    assert joined.kept_both == (4, 5)


def test_changed_on_one_side_and_removed_on_the_other() -> None:
    """The changed version stays."""
    assert daily(LOG, LOG.replace("opened", "opened late"), LOG.replace("- 08:00 opened\n", "")) == (
        LOG.replace("opened", "opened late")
    )


def test_bytes_that_nobody_touched_stay() -> None:
    """A byte order mark, CRLF, indented lines with a fence, blank lines inside of an entry, and bytes that are no UTF-8."""
    base = (
        b"\xef\xbb\xbf# 2026-11-30\r\n\r\nBy hand: \xff\r\n\r\n- 08:00 a\r\n  ```\r\n  - x\r\n  ```\r\n\r\n  more\r\n"
    )

    joined = join_daily(base, base + b"- 10:00 ours\r\n", base + b"- 09:00 theirs\r\n")

    assert joined == base + b"- 09:00 theirs\r\n- 10:00 ours\r\n"


def test_missing_line_end_is_added() -> None:
    """An entry whose line did not end does not swallow the next one."""
    base = LOG.removesuffix("\n")

    assert daily(base, base + "\n- 10:00 ours", base + "\n- 11:00 theirs") == LOG + "- 10:00 ours\n- 11:00 theirs"


def test_line_ends_changed_on_one_side() -> None:
    """A whole file turned to CRLF doubles nothing, and the other side's change is there."""
    ours, theirs = LOG.replace("\n", "\r\n"), LOG.replace("opened", "opened late") + "- 10:00 theirs\n"

    assert daily(LOG, ours, theirs).replace("\r\n", "\n") == theirs


def test_writing_by_hand_stays_with_its_entry() -> None:
    """A line below an entry that one side added comes right after it, whatever the other side wrote."""
    ours = LOG + "- 10:00 ours\nby hand, about ours\n"

    assert daily(LOG, ours, LOG + "- 10:30 theirs\n") == ours + "- 10:30 theirs\n"


# -- MEMORY.md -------------------------------------------------------------------------------------------------------


def test_entries_stay_under_their_heading() -> None:
    """What each side adds to a section is in that section, also where the other adds a section of its own."""
    ours = CURATED.replace("- the boat is green\n", "- the boat is green\n- ours\n\n## New\n\n- new\n")
    theirs = CURATED.replace("- the boat is green\n", "- the boat is green\n- theirs\n")

    assert memory(CURATED, ours, theirs) == CURATED.replace(
        "- the boat is green\n", "- the boat is green\n- ours\n- theirs\n\n## New\n\n- new\n"
    )


def test_dated_section_that_both_made() -> None:
    """One section of the day, with the entries of both; sections of different days in the order of the days."""
    ours = CURATED + "\n## Memory (2026-11-30)\n\n- ours\n"
    theirs = CURATED + "\n## Memory (2026-11-29)\n\n- older\n\n## Memory (2026-11-30)\n\n- theirs\n"

    assert memory(CURATED, ours, theirs) == (
        CURATED + "\n## Memory (2026-11-29)\n\n- older\n\n## Memory (2026-11-30)\n\n- ours\n- theirs\n"
    )


def test_entry_that_both_moved_is_there_once() -> None:
    """One side moved it to one section, the other to another one."""
    base = CURATED.replace("- Ada\n", "- Ada\n\n## Old\n\n- x\n")
    without = base.replace("- the code is 4\n", "")

    joined = memory(
        base, without.replace("- Ada\n", "- Ada\n- the code is 4\n"), without.replace("- x\n", "- x\n- the code is 4\n")
    )

    assert joined.count("- the code is 4\n") == 1


def test_entry_that_one_side_moved_and_the_other_removed_is_gone() -> None:
    """What somebody forgot does not come back by being moved."""
    without = CURATED.replace("- the code is 4\n", "")

    assert memory(CURATED, without.replace("- Ada\n", "- Ada\n- the code is 4\n"), without) == without


def test_section_that_one_side_removed() -> None:
    """It is gone with its heading, unless the other side wrote to it."""
    without = CURATED.replace("\n## People\n\n- Ada\n", "")

    assert "People" not in memory(CURATED, without, CURATED.replace("code is 4", "code is 5"))
    assert memory(CURATED, without, CURATED + "- Eve\n").endswith("\n## People\n\n- Eve\n")


def test_two_of_the_same_of_which_each_side_removed_one() -> None:
    """One is left."""
    base = "- twice\n- other\n- twice\n"

    assert memory(base, "- twice\n- other\n", "- other\n- twice\n").count("- twice") == 1


def test_heading_with_underline_and_a_fence_stay_whole() -> None:
    """A setext heading is not taken for a mark of a conflict, and a fence that both changed is there whole, twice."""
    base = "Plan\n=======\n\n```\none\ntwo\n```\n\n- a\n"

    joined = memory(base, base.replace("two", "two ours"), base.replace("two", "two theirs") + "- b\n")

    assert joined == ("Plan\n=======\n\n```\none\ntwo ours\n```\n\n```\none\ntwo theirs\n```\n\n- a\n- b\n")


def test_fence_whose_lines_both_changed_apart_is_joined() -> None:
    """Different lines of a fence are joined in it."""
    base = "```\none\ntwo\nthree\n```\n"

    assert memory(base, base.replace("one", "1"), base.replace("three", "3")) == "```\n1\ntwo\n3\n```\n"


# -- documents -------------------------------------------------------------------------------------------------------


def test_document_keeps_the_lines_of_both() -> None:
    """Lines that one side changed are changed, and of those that both changed both versions are there."""
    base = "# Plan\n\nfirst\nsecond\nthird\n"

    assert document(base, "# Plan\n\nFIRST\nsecond\nthird o\n", "# Plan\n\nfirst\nsecond\nthird t\nfourth\n") == (
        "# Plan\n\nFIRST\nsecond\nthird o\nthird t\nfourth\n"
    )


def test_long_list_item_is_joined_by_lines() -> None:
    """The children of one item that both sides changed are not doubled."""
    base = "- top\n  - one\n  - two\n  - three\n"

    assert document(base, base.replace("two", "2 o"), base.replace("two", "2 t") + "  - four\n") == (
        "- top\n  - one\n  - 2 o\n  - 2 t\n  - three\n  - four\n"
    )


def test_frontmatter_is_joined_or_kept_whole() -> None:
    """Different keys are joined; of the same key both blocks stay whole, so that the first is still valid."""
    base = "---\nname: a\ntype: b\n---\nText.\n"

    assert document(base, base.replace("a\n", "A\n", 1), base.replace("b\n", "B\n", 1)) == (
        "---\nname: A\ntype: B\n---\nText.\n"
    )
    both = document(base, base.replace("name: a", "name: x"), base.replace("name: a", "name: y"))
    assert both == "---\nname: x\ntype: b\n---\n---\nname: y\ntype: b\n---\nText.\n"


# -- what can't be joined --------------------------------------------------------------------------------------------


def test_fence_that_would_hide_the_other_side() -> None:
    """One side opened a fence and the other, further down, too: together they would hide what is between them."""
    base = "- a\n\ntext\n\n- b\n"

    with pytest.raises(CannotJoinError, match="fence"):
        join_memory(base.encode(), b"```\n" + base.encode(), base.encode() + b"\n```\n")


def test_binary_is_refused() -> None:
    """A NUL byte is no text."""
    with pytest.raises(CannotJoinError, match="NUL"):
        join_document(b"a\n", b"a\0\n", b"b\n")


@pytest.mark.parametrize("join", [join_daily, join_memory, join_document])
def test_one_side_alone(join: object) -> None:
    """What only one side changed is that side's version, byte for byte, binary or not."""
    assert callable(join)
    assert join(b"a\0", b"a\0", b"b\0") == b"b\0"
    assert join(b"a\0", b"b\0", b"a\0") == b"b\0"
    assert join(b"a\0", b"b\0", b"b\0") == b"b\0"
    assert join(None, b"b\0", b"b\0") == b"b\0"


def test_endless_repetition_is_left_to_a_person() -> None:
    """Thousands of equal lines in other places on both sides are an error at once, and no minutes of work."""
    same = "- lorem\n" * 3000
    with pytest.raises(CannotJoinError, match="so often"):
        join_memory(same.encode(), f"- a\n{same}- q\n".encode(), f"{same[:800]}- b\n{same}".encode())
