"""A credential that came in by hand is masked wherever its file is read for others."""

from __future__ import annotations

import base64
import hashlib
import time

import pytest

from omnislash.core.credentials import blank_secrets, find_secret, find_secrets, mask_secrets
from tests.unit.core.test_credentials import CREDENTIALS, HARMLESS

GITHUB = "ghp_" + "a1B2" * 9
OPENS, CLOSES = (f"-----{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
BODY = [base64.b64encode(hashlib.sha384(bytes([number])).digest()).decode() for number in range(12)]
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq\n" * 3 + "-----END RSA PRIVATE KEY-----"


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param("Nothing to see here.\n", "Nothing to see here.\n", id="no credential"),
        pytest.param(f"Use {GITHUB} for it.\n", "Use [redacted: GitHub token] for it.\n", id="vendor"),
        pytest.param("password = hunter2secret9!\n", "password = [redacted: password or token]\n", id="assignment"),
        pytest.param(
            "password = " + "k9Xq7" * 24 + " and more\n",
            "password = [redacted: password or token] and more\n",
            id="long",
        ),
        pytest.param(
            "postgres://shop:s3cr3tPass@db/main\n",
            "postgres://shop:[redacted: password in an address]@db/main\n",
            id="url",
        ),
        pytest.param(f"The key:\n{PEM}\nKeep it.\n", "The key:\n[redacted: private key]\nKeep it.\n", id="key"),
        pytest.param(
            f"{GITHUB} and {GITHUB}", "[redacted: GitHub token] and [redacted: GitHub token]", id="twice in a line"
        ),
        pytest.param(
            "Пароль: `Zima2026!snow`, дальше текст\n",
            "Пароль: `[redacted: password or token]`, дальше текст\n",
            id="russian",
        ),
        pytest.param(
            "password = hunter2abc,tail9secret;more and more\n",
            "password = [redacted: password or token] and more\n",
            id="separators within",
        ),
        pytest.param(
            "password=hunter2abc&tail9secret&page=2\n",
            "password=[redacted: password or token]&page=2\n",
            id="up to the next key",
        ),
        pytest.param(
            "Server=a;Password=hunter2abc;Initial Catalog=b\n",
            "Server=a;Password=[redacted: password or token];Initial Catalog=b\n",
            id="connection string",
        ),
        pytest.param(
            "?token=abc123def456&amp;page=2\n",
            "?token=[redacted: password or token]&amp;page=2\n",
            id="escaped address",
        ),
        pytest.param(
            'password: "hunter2abc tail9 \\"secret", port: 5\n',
            'password: "[redacted: password or token]", port: 5\n',
            id="words in quotes",
        ),
        pytest.param(
            "password: 'hunter2abc tail\nnext 'line'\n",
            "password: '[redacted: password or token] tail\nnext 'line'\n",
            id="quotes that never close",
        ),
        pytest.param(
            "postgres://u:pa9@tail9@host/db, mail a@b.org\n",
            "postgres://u:[redacted: password in an address]@host/db, mail a@b.org\n",
            id="an at sign in an address",
        ),
        pytest.param(
            "postgres://u:pa9/tail?x#y@host/db\n",
            "postgres://u:[redacted: password in an address]@host/db\n",
            id="a slash in an address",
        ),
    ],
)
def test_only_the_value_goes(text: str, masked: str) -> None:
    """The class is named, the words around it stay, and no credential is left."""
    assert mask_secrets(text) == masked
    assert find_secret(mask_secrets(text)) is None


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("text", [text for texts in CREDENTIALS.values() for text in texts])
def test_every_known_shape_is_masked(text: str) -> None:
    """Inside a note nothing of it is found any more, and the entries around it stay word for word."""
    note = f"# 2026-11-30\n\n- 09:05 we use {text}\n- 09:06 next\n"

    masked = mask_secrets(note)

    assert find_secret(masked) is None
    assert masked.startswith("# 2026-11-30\n\n- 09:05 we use ")
    assert masked.endswith("\n- 09:06 next\n")
    assert "[redacted: " in masked


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_text_is_not_touched(text: str) -> None:
    """What is no credential stays."""
    assert mask_secrets(f"- 09:05 we use {text}\n") == f"- 09:05 we use {text}\n"


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize("closes", [True, False], ids=["closed", "open"])
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        *(("", "\n"), (" " * 9, "\n"), (" " * 40, "\n"), ("\t\t\t", "\n"), ("# ", "\n"), ("// ", "\n"), ("- ", "\n")),
        *(("> > ", "\n"), ("    12: ", "\n"), ('    "', '\\n" +\n'), ("", " \\\n"), ("", "<br>"), ("", " ")),
        *(
            ("", "\\n"),
            ("| ", " |\n"),
            ("2026-11-30T09:05:01.123Z INFO [shop.keys] main-thread ", "\n"),
            ("", "\r\n\r\n"),
        ),
    ],
)
def test_the_body_of_a_key_goes_whatever_stands_around_its_lines(before: str, behind: str, *, closes: bool) -> None:
    """In a comment, a list, a quote, source code, a log, a table or on one line; also where it is never closed."""
    lines = [OPENS, *BODY, *([CLOSES] if closes else [])]
    text = "We use\n" + "".join(f"{before}{line}{behind}" for line in lines) + "\nfor the depot, says Olga.\n"

    masked, blanked = mask_secrets(text), blank_secrets(text)

    assert find_secret(text) == "private key"
    assert not [line for line in BODY if line in masked or line in blanked]
    assert masked.count("[redacted: ") == 1
    for shown in (masked, blanked):
        assert shown.startswith("We use\n")
        assert shown.endswith("\nfor the depot, says Olga.\n")
    assert (len(blanked), blanked.count("\n")) == (len(text), text.count("\n"))


@pytest.mark.rule("SECRET-O2")
def test_short_lines_and_a_short_last_line_go() -> None:
    """A key that somebody wrapped early, and the rest of one, behind the mark of a comment."""
    narrow = [line[start : start + 20] for line in BODY for start in (0, 20, 40)]
    text = "\n".join(f"# {line}" for line in (OPENS, *narrow, CLOSES))
    assert mask_secrets(text) == "# [redacted: private key]"
    text = "\n".join(f"# {line}" for line in (OPENS, *BODY, "q83vEjRWeJA=")) + "\n# next\n"
    assert mask_secrets(text) == "# [redacted: private key]\n# next\n"


@pytest.mark.rule("SECRET-O2")
def test_what_lies_far_behind_an_open_key_stays() -> None:
    """Only what follows close on it belongs to it: not an image further below, and not a second header's sentence."""
    image = "data:image/png;base64," + BODY[0] * 4
    words = "Nothing of this is a key. " * 40
    text = f"# {OPENS}\n# {BODY[1]}\n{words}\n![x]({image})\n"
    assert mask_secrets(text) == f"# [redacted: private key]\n{words}\n![x]({image})\n"


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize(
    "text",
    [
        f"A file begins with {OPENS} and ends with {CLOSES}, see docs/keys/rotation and mail Olga.",
        f"A file begins with {OPENS}; the check came with {hashlib.sha1(b'x', usedforsecurity=False).hexdigest()}.",
        f"{OPENS}\n<your key>\n{CLOSES}\n\n![x](data:image/png;base64,{BODY[0]})",
        f"![x](data:image/png;base64,{BODY[0]})\n\n{BODY[1]}\n",
        f"{CLOSES}\n{BODY[0]}\n",
    ],
    ids=["both marks", "commit id", "stand-in", "no header", "closing mark alone"],
)
def test_a_header_without_a_body_is_no_key(text: str) -> None:
    """Sentences about keys stay, and so do base64 and ids near them."""
    assert mask_secrets(text) == text


@pytest.mark.rule("SECRET-O2")
@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:4111/users/maria9@shop",
        "http://example.org:port/v2/maria9@shop",
        "http://[::1]:8080/v2@shop",
        "https://host:{port}/a9@b",
        "(https://cloud:eu)/a9 mail x@y.org",
        "registry://img:latest/arm@shop",
    ],
)
def test_a_port_and_a_path_are_no_password(text: str) -> None:
    """An address whose path holds an at sign stays."""
    assert mask_secrets(text) == text


def test_one_key_is_told_once() -> None:
    """However many lines it has."""
    text = "\n".join(f"- {line}" for line in (OPENS, *BODY, CLOSES))
    assert [(text[start:end][:5], name) for start, end, name in find_secrets(text)] == [("-----", "private key")]


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n",
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA" + "A" * 9_000,
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA\\n",
        "password = Kr4nich#77 ",
        f"{GITHUB} ",
        f"Key: {OPENS}\nMIIEowIBAAKCAQEA\n",
        f"{OPENS}\n# {BODY[0]}\n",
        f"{OPENS} ",
        f"{CLOSES} ",
        f"{BODY[0]} ",
        "token=abc123def",
        "token=abc123d,",
        'password = "abc123de ',
        "x://u:a9/",
        "x://u:a9@",
    ],
    ids=[
        *("keys", "long keys", "escaped keys", "assignments", "tokens", "headers of headers", "open keys", "headers"),
        *(
            "closing marks",
            "base64",
            "runs of assignments",
            "lists of assignments",
            "open quotes",
            "slashes",
            "at signs",
        ),
    ],
)
def test_time_is_linear(piece: str) -> None:
    """A megabyte that is made to be slow takes about as long for each credential as a tenth of it."""
    took = []
    for size in (100_000, 1_000_000):
        text = piece * (size // len(piece))
        started = time.perf_counter()
        mask_secrets(text)
        took.append(time.perf_counter() - started)

    assert took[1] < 40 * took[0] + 0.5
