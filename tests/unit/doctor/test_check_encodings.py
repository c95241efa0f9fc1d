"""The check of encodings: bytes that are no text, and line ends that do not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.checks.findings import Finding, Status, fail, info, warn

if TYPE_CHECKING:
    from tests.unit.doctor.conftest import Examine

NOTE = "memory/main/notes.md"
MARK = b"\xef\xbb\xbf"


def findings(examine: Examine, data: bytes | str, path: str = NOTE) -> tuple[Finding, ...]:
    """Return what the check finds in one file."""
    return examine({path: data}, "encodings")["encodings"].findings


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Plain\n\n- one\n",
        "# Журнал\n\n- зима 👍 हिन्दी می‌رود\n".encode(),
        b"# Wholly CRLF\r\n\r\n- one\r\n",
        b"no line end",
        b"one line\r\n",
        "The sign \ufffd itself is text.\n".encode(),
    ],
)
def test_ordinary_text_passes(examine: Examine, data: bytes) -> None:
    """UTF-8 of any script and either line end is fine, an empty file and U+FFFD itself too."""
    assert findings(examine, data) == ()


def test_a_byte_order_mark_is_only_told(examine: Examine) -> None:
    """The mark at the start harms nothing here."""
    message = f"{NOTE} begins with a byte order mark; omnislash passes over it, other programs may not."
    result = examine({NOTE: MARK + b"# Ops\n"}, "encodings")["encodings"]

    assert result.findings == (info(message, path=NOTE, line=1),)
    assert result.status is Status.PASS


def test_a_mark_in_the_middle_is_named_with_its_line(examine: Examine) -> None:
    """Files that were joined have it, and it hides the heading behind it."""
    message = f"{NOTE} holds a byte order mark in the middle, which hides a heading or a list item behind it."
    hint = "Delete the invisible character there."

    assert findings(examine, b"- one\n" + MARK + b"## Two\n") == (warn(message, path=NOTE, line=2, hint=hint),)


def test_latin_1_is_named_with_byte_and_line(examine: Examine) -> None:
    """The first byte that is not UTF-8 is named."""
    message = f"{NOTE} is not UTF-8 (byte E9); those characters are shown and searched as U+FFFD."
    hint = "Open it in the encoding in which it was saved, and save it as UTF-8."

    assert findings(examine, b"# Menu\n\n- caf\xe9\n- th\xe9\n") == (warn(message, path=NOTE, line=3, hint=hint),)


def test_half_of_an_emoji_is_told_apart(examine: Examine) -> None:
    """A surrogate that was written as a character is not another encoding."""
    message = f"{NOTE} holds half of a character (bytes ED A0 BC), most often of an emoji."
    hint = "Type the whole character there."

    assert findings(examine, b"- bed \xed\xa0\xbc sown\n") == (warn(message, path=NOTE, line=1, hint=hint),)


@pytest.mark.parametrize(
    ("data", "able"),
    [
        ("\ufeffbed sown\n".encode("utf-16-le"), "only search can read it"),
        ("\ufeffгрядка\n".encode("utf-16-be"), "only search can read it"),
        ("bed sown\n".encode("utf-16-le"), "nothing can read it"),
    ],
)
def test_utf_16_fails(examine: Examine, data: bytes, able: str) -> None:
    """UTF-16 is a failure with its mark and without."""
    assert findings(examine, data) == (fail(f"{NOTE} is UTF-16: {able}.", path=NOTE, line=1, hint="Save it as UTF-8."),)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        (NOTE, "Take an older version out of git, or delete the file."),
        ("features/team/nova.agent.md", "Take an older version out of git or a backup."),
    ],
)
def test_nothing_but_nul_fails(examine: Examine, path: str, hint: str) -> None:
    """A file that a power cut emptied is named as such."""
    message = f"{path} holds nothing but NUL bytes, as a cut of the power leaves it."

    assert findings(examine, bytes(512), path) == (fail(message, path=path, line=1, hint=hint),)


@pytest.mark.parametrize(
    ("data", "count"), [(b"- one\n- t\0wo\n", "1 NUL byte"), (b"- one\n- \0\0 more\n", "2 NUL bytes")]
)
def test_single_nuls_are_counted(examine: Examine, data: bytes, count: str) -> None:
    """Text with some NUL bytes is a binary file to git."""
    message = f"{NOTE} holds {count}, so git takes it for a binary file."

    assert findings(examine, data) == (warn(message, path=NOTE, line=2, hint="Delete them in an editor."),)


def test_a_picture_is_no_text(examine: Examine) -> None:
    """Bytes that are neither text nor UTF-16 are one finding and not three."""
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xd8" + b"\xaa\xbb\xcc" * 9
    message = f"{NOTE} is no text: it holds 3 NUL bytes and bytes that are not UTF-8."
    hint = "Move it out of here, or give it another ending than .md."

    assert warn(message, path=NOTE, line=3, hint=hint) in findings(examine, data)


@pytest.mark.parametrize(
    ("data", "counts", "line"),
    [
        (b"a\r\nb\r\nc\nd\r\n", "3 lines with CRLF, 1 line with LF", 3),
        (b"a\nb\nc\r\n", "1 line with CRLF, 2 lines with LF", 3),
        (b"a\r\nb\n", "1 line with CRLF, 1 line with LF", 2),
    ],
)
def test_mixed_line_ends_name_the_first_odd_line(examine: Examine, data: bytes, counts: str, line: int) -> None:
    """Both kinds are counted, and the line of the rarer one is named."""
    message = f"{NOTE} mixes line ends: {counts}."
    hint = "Save it with one kind of line end."

    assert findings(examine, data) == (warn(message, path=NOTE, line=line, hint=hint),)


def test_lone_carriage_returns_are_named(examine: Examine) -> None:
    """They end no line for omnislash, so a whole file is one line."""
    message = f"{NOTE} holds 2 lone carriage returns, which end no line here."

    assert findings(examine, b"one\rtwo\rthree\n") == (
        warn(message, path=NOTE, line=1, hint="Save it with ordinary line ends."),
    )


def test_one_file_broken_twice_and_another_once(examine: Examine) -> None:
    """Everything is named, what is worst first."""
    files = {
        "memory/main/a.md": b"caf\xe9\r\ntwo\n",
        "memory/main/b.md": bytes(8),
        "memory/ops/c.md": MARK + b"fine\n",
    }
    found = [
        (finding.severity.value, finding.path, finding.line)
        for finding in examine(files, "encodings")["encodings"].findings
    ]

    assert found == [
        ("fail", "memory/main/b.md", 1),
        ("warn", "memory/main/a.md", 1),
        ("warn", "memory/main/a.md", 2),
        ("info", "memory/ops/c.md", 1),
    ]


def test_what_loading_names_is_not_told_twice(examine: Examine) -> None:
    """A setting that is not UTF-8 is a fault of its file already; its line ends are not."""
    files = {"omnislash.yaml": b"memory: {}\n# caf\xe9\r\n", "features/team/x.agent.md": b"---\nname: caf\xe9\n---\n"}
    found = examine(files, "encodings")["encodings"].findings

    assert [(each.path, each.message.split(": ")[0]) for each in found] == [
        ("omnislash.yaml", "omnislash.yaml mixes line ends"),
    ]


def test_a_long_list_is_cut(examine: Examine) -> None:
    """Twenty are named, the rest counted."""
    found = examine({f"memory/main/{n:02}.md": b"\xe9\n" for n in range(23)}, "encodings")["encodings"].findings

    assert len(found) == 21
    assert found[-1] == warn("3 more files that are not UTF-8.")


def test_a_brain_of_nothing(examine: Examine) -> None:
    """An empty brain and a broken YAML file are no matter of this check."""
    assert findings(examine, "a: [\n", "omnislash.yaml") == ()
