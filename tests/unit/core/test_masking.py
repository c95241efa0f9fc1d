"""A credential that came in by hand is masked wherever its file is read for others."""

from __future__ import annotations

import time

import pytest

from omnislash.core.credentials import find_secret, mask_secrets
from tests.unit.core.test_credentials import CREDENTIALS, HARMLESS

GITHUB = "ghp_" + "a1B2" * 9
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


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n",
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA" + "A" * 9_000,
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA\\n",
        "password = Kr4nich#77 ",
        f"{GITHUB} ",
    ],
    ids=["keys", "long keys", "escaped keys", "assignments", "tokens"],
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
