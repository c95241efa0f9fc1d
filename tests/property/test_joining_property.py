"""Joining two versions of any file: nothing that either side added is lost, nothing that both had is there twice."""

from __future__ import annotations

from collections import Counter

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from omnislash.core.entries import parse_entries
from omnislash.core.joining import join_entries
from omnislash.core.joining_sequences import CannotJoinError

#: What entries say; a few of them hold what would mean something to a markdown parser.
WORDS = ["a", "b", "c", "- nested", "x\n  y", "x\n\n  z", "```\n  q\n  ```", "## inert", "<!-- open"]
entries = st.builds(
    lambda time, word, number: f"- {time}{word}{number}\n",
    st.sampled_from(["", "", "10:00 ", "10:10 ", "11:00 "]), st.sampled_from(WORDS), st.integers(0, 6),
)  # fmt: skip
other_lines = st.sampled_from(
    ["prose 1\n", "prose 2\n", "## H1\n\n", "## H2\n\n", "### Sub\n", "\n", "```\ncode\n```\n", "Title\n====\n", "---\n",
     "<!-- hidden\n- not one -->\n", "crlf\r\n"],
)  # fmt: skip
wild_lines = st.sampled_from(
    ["```\n", "~~~\n", "<!-- c\n", "c -->\n", "  indented\n", "\tindented\n", "\ufeff\n", "- "]
)
lines = st.lists(entries | entries | other_lines, max_size=9)
#: What a side does to a line, by its place: keep it, remove it, replace it, put something before it, or move it away.
edits = st.lists(
    st.tuples(
        st.sampled_from(["remove", "replace", "insert", "append", "move"]), st.integers(0, 20), entries | other_lines
    ),
    max_size=4,
)


def edit(base: list[str], changes: list[tuple[str, int, str]]) -> list[str]:
    """Return the lines after a side's changes."""
    result = list(base)
    for kind, number, line in changes:
        place = number % (len(result) + 1)
        if kind == "append":
            result.append(line)
        elif kind == "insert" or place == len(result):
            result.insert(place, line)
        elif kind == "replace":
            result[place] = line
        else:
            moved = result.pop(place)
            if kind == "move":
                result.insert((number * 7) % (len(result) + 1), moved)
    return result


def count(data: bytes, *, timed: bool) -> Counter[tuple[str | None, str]]:
    """Return how often each entry stands in a file."""
    return Counter((entry.time, entry.text) for entry in parse_entries(data.decode(), timed=timed))


def bounds(base: int, ours: int, theirs: int) -> tuple[int, int]:
    """Return how often at least and at most an entry may be there that was there so often."""
    here, there = ours - base, theirs - base
    if here > 0 and there > 0:
        return base + max(here, there), base + here + there
    exact = min(here, there) if here <= 0 and there <= 0 else here + there
    return base + exact, base + exact


@settings(max_examples=300)
@given(lines, edits, edits, st.booleans(), st.booleans())
def test_entries_are_neither_lost_nor_doubled(
    base: list[str], ours: list[tuple[str, int, str]], theirs: list[tuple[str, int, str]], timed: bool, by_lines: bool
) -> None:
    """By how often each entry stood in the base and in both versions, and the same whichever side runs it."""
    versions = ["".join(each).encode() for each in (base, edit(base, ours), edit(base, theirs))]
    try:
        joined = join_entries(*versions, timed=timed)
    except CannotJoinError:
        return
    swapped = join_entries(versions[0], versions[2], versions[1], timed=timed)
    old, one, other, found = (count(data, timed=timed) for data in (*versions, joined.data))

    assert joined == swapped
    for entry in old | one | other | found:
        least, most = bounds(old[entry], one[entry], other[entry])
        assert least <= found[entry] <= most, entry
    assert join_entries(versions[0], versions[1], versions[1], timed=timed, by_lines=by_lines).data == versions[1]
    assert join_entries(versions[0], versions[0], versions[2], timed=timed, by_lines=by_lines).data == versions[2]


@example(
    ["- a5\n", "## H1\n\n", "- b2\n", "## H1\n\n"],
    [("remove", 1, ""), ("remove", 2, "")],
    [("append", 0, "- 10:00 x\n\n  z3\n")],
)
@settings(max_examples=200)
@given(lines, edits, edits)
def test_joining_again_changes_no_entry(
    base: list[str], ours: list[tuple[str, int, str]], theirs: list[tuple[str, int, str]]
) -> None:
    """A join that was put in place by half and is made again comes to the same entries, where no two are alike."""
    sides = [base, edit(base, ours), edit(base, theirs)]
    assume(all(max(count("".join(side).encode(), timed=True).values(), default=1) == 1 for side in sides))
    versions = ["".join(each).encode() for each in sides]
    try:
        joined = join_entries(*versions, timed=True).data
        again = join_entries(versions[0], joined, versions[2], timed=True).data
    except CannotJoinError:
        return

    assert count(again, timed=True) == count(joined, timed=True)


@settings(max_examples=200)
@given(st.lists(entries | other_lines | wild_lines, max_size=9), edits, edits, st.booleans())
def test_wild_files_are_joined_or_refused(
    base: list[str], ours: list[tuple[str, int, str]], theirs: list[tuple[str, int, str]], timed: bool
) -> None:
    """Whatever stands in them, no entry that a side added is hidden in the result."""
    versions = ["".join(each).encode() for each in (base, edit(base, ours), edit(base, theirs))]
    try:
        joined = join_entries(*versions, timed=timed).data
    except CannotJoinError:
        return
    old, one, other, found = (count(data, timed=timed) for data in (*versions, joined))

    for entry in one | other:
        assert found[entry] >= min(max(one[entry], other[entry]), bounds(old[entry], one[entry], other[entry])[0])


@settings(max_examples=100)
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes(base: bytes, ours: bytes, theirs: bytes) -> None:
    """Nothing but the one error comes out, whatever the bytes are."""
    try:
        join_entries(base, ours, theirs, timed=False, by_lines=True)
    except CannotJoinError:
        return
