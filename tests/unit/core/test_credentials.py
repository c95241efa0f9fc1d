"""Credentials are known by their shape, and notes about credentials are not taken for them.

Every credential here is put together from pieces, so that no scanner of repositories takes one for real.
"""

from __future__ import annotations

import base64
import hashlib
import re  # noqa: TC003 - hypothesis reads the annotations
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnislash.core import credentials
from omnislash.core.credentials import find_secret

DASHES = "-" * 5
KEY_LINES = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQ"] * 3)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def key_block(kind: str, body: str = KEY_LINES) -> str:
    """Return a private-key block of that kind."""
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\n{DASHES}END {kind}{DASHES}"


def jwt() -> str:
    """Return a token of three parts with an empty claim."""
    parts = (b'{"alg":"HS256"}', b'{"sub":"1"}', b"signature-of-it")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


CREDENTIALS = {
    "private key": [
        key_block("PRIVATE " + "KEY"),
        key_block("RSA PRIVATE " + "KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + KEY_LINES),
        key_block("OPENSSH PRIVATE " + "KEY"),
        key_block("PGP PRIVATE " + "KEY BLOCK", "Version: 1\n\n" + KEY_LINES),
        key_block("EC PRIVATE " + "KEY").replace("\n", "\n  "),
        key_block("PRIVATE " + "KEY").replace("\n", "\r\n"),
        key_block("PRIVATE " + "KEY").replace("\n", "\\n"),
        f"the key {DASHES}BEGIN PRIVATE " + f"KEY{DASHES} {'A1b2' * 16}",
    ],
    "GitHub token": [
        *(prefix + "_" + "b" * 36 for prefix in ("ghp", "gho", "ghu", "ghs", "ghr")),
        "github_" + "pat_" + LETTERS[:22] + "_" + LETTERS[:59],
        "https://ghp_" + "b" * 36 + "@github.com/x/y",
    ],
    "AWS access key": ["AKIA" + "Q" * 16, "ASIA" + "Q7" * 8, 'id = "AKIA' + "Q" * 16 + '"'],
    "Slack token": [
        "xoxb" + "-123456789012-123456789012-" + LETTERS[:24],
        "xoxp" + "-1-" + LETTERS[:24],
        "xapp" + "-1-A012-345-" + LETTERS[:32],
        "https://hooks." + "slack.com/services/T01234567/B01234567/" + LETTERS[:24],
    ],
    "Stripe key": ["sk_" + "live_" + LETTERS[:24], "rk_" + "test_" + LETTERS[:24], "whsec" + "_" + LETTERS[:32]],
    "Google API key": ["AIza" + LETTERS[:35], "GOCSPX" + "-" + LETTERS[:28], "ya29" + "." + LETTERS],
    "Anthropic key": ["sk-" + "ant-api03-" + LETTERS + "-_AA"],
    "OpenAI key": ["sk-" + LETTERS[:48], "sk-" + "proj-" + LETTERS, "sk-" + "svcacct-" + LETTERS[:30]],
    "JSON Web Token": [jwt(), "Authorization: Bearer " + jwt()],
    "password in an address": [
        "postgres://" + "admin:hunter2@db.internal:5432/app",
        "https://" + "user:pass@host",
        "redis://" + ":correct-horse@localhost",
        "see amqps+ssl://" + "u:p%40ss@[::1]/ today",
    ],
    "password or token": [
        "password" + " = correct-horse-9",
        "Password" + ": correct-horse-9",
        "PASSWORD" + "=Tr0ub4dor&3",
        "passwd" + ":hunter2",
        "db_password" + ": 'hunter2'",
        "DB_PASSWORD" + "=hunter2",
        '{"password"' + ': "hunter2"}',
        "**Password:** " + "hunter2.",
        "pwd" + " := s3cret!",
        "password" + " = 123456",
        "password" + " = P@ssword!",
        "password" + " = correct-horse-battery-staple",
        "password" + " = correcthorsebatterystaple",
        "пароль" + ": корова77",
        "Пароль" + " = qwerty12",
        "api_key" + " = 0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "API key" + ": 550e8400-e29b-41d4-a716-446655440000",
        "apikey" + "=Zx81kk20",
        "token" + " = abc123def456",
        "secret" + ": x9Kq2mPz7w",
        "https://x.example/?token" + "=abc123def456&page=2",
        "aws_secret_access_key" + " = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzz2KEY",
        "SECRET_KEY_BASE" + "=" + hashlib.sha256(b"x").hexdigest(),
        "mysql --password" + " hunter2 --host x",
        "tool --token" + "=abc123def456",
        "first\n- 09:05 password" + " = correct-horse-9\nlast",
    ],
}

HARMLESS = {
    "commit id": "fixed in " + hashlib.sha1(b"x", usedforsecurity=False).hexdigest(),
    "uuid": str(uuid.UUID(int=0x550E8400E29B41D4A716446655440000)),
    "sha256": "sha256:" + hashlib.sha256(b"x").hexdigest(),
    "sha256 in base64": base64.b64encode(hashlib.sha256(b"x").digest()).decode(),
    "subresource": "integrity sha384-" + base64.b64encode(hashlib.sha384(b"x").digest()).decode(),
    "bcrypt": "password = $2b$12$" + LETTERS[:53],
    "hash with its name": "token: sha256:" + hashlib.sha256(b"x").hexdigest(),
    "task with commit": "task-" + hashlib.sha1(b"x", usedforsecurity=False).hexdigest(),
    "password page": "the password page is /help",
    "no sign": "The password hunter2 is a joke, and the token abc123def456 is one too.",
    "no value": "password = ",
    "no value on the line": "password:\nhunter2 is a joke",
    "required": "password: required",
    "twelve characters": "password: 12 characters at least, one digit",
    "sentence": "The password was changed on 2026-11-30; ask Olga for the new one.",
    "date": "password: 2026-11-30 is when it expires",
    "case": "password: case-sensitive",
    "two hyphens": "password: up-to-date",
    "manager": "password: 1Password",
    "algorithm": "password: argon2id, token: RS256",
    "stars": "password: ********",
    "crosses": "token = xxxxxxxxxxxx1",
    "angle placeholder": "password = <your-password-1>",
    "braces placeholder": "token: ${{ secrets.DEPLOY_TOKEN_1 }}",
    "shell variable": "password=$DB_PASSWORD1",
    "lower shell variable": "password=$db_pass",
    "percent placeholder": "password=%(pass1)s",
    "words placeholder": "api_key = your-api-key-1",
    "redacted": "the note says [redacted: GitHub token], password: [redacted: password or token]",
    "path": "password: ~/.pgpass2",
    "route": "password: /help/v2",
    "relative path": "secret: docs/login2.md",
    "drive": "pwd: C:\\Users\\x1",
    "call": "token = get_token2()",
    "environment": 'password = os.environ["PASSWORD_2"]',
    "attribute": "password = settings.password2",
    "name of a variable": "secret = client_secret_2",
    "environment name": "password: DB_PASSWORD_2",
    "type": "password: SecretStr",
    "number": "max_token = 4096, token: 12345678",
    "tokens": "tokens: 128000, maxTokens = 4096",
    "token type": "token_type = bearer42x, token_count: 123456789x",
    "secretary": "secretary: maria-2026x",
    "tokenizer": "tokenizer: minilm-l6-v2",
    "secret plan": "secret: surprise-party-2026",
    "version": "token: v1.2.3-rc1",
    "mail": "password: ask admin@example.org",
    "mail as value": "пароль: admin2@mail.ru",
    "config key": "memory.secrets: refuse",
    "russian reminder": "Пароль от вики лежит в сейфе, спросить у Маши.",
    "russian rule": "пароль: не менее 12 символов, менять каждые 90 дней",
    "russian no value": "пароль: нужен",
    "russian token": "токен: обновить до пятницы",
    "url with a port": "http://localhost:4111/knowledge and https://example.org:8443/@maria",
    "url with a mail": "https://example.org:80/?to=a@b.org",
    "ssh address": "git+ssh://git@example.org:22/x.git",
    "scp address": "git@example.org:team/repo.git",
    "url with a name only": "postgres://admin@db.internal/app",
    "url with placeholders": "postgres://user:<password>@host/db, https://$USER:${PASS}@host, ftp://u:***@h",
    "image digest": "docker://registry.example:5000/img@sha256:" + hashlib.sha256(b"x").hexdigest(),
    "mail address": "maria.k@example.org, +49 30 1234567",
    "prefix alone": "tokens begin with ghp_, AKIA, xoxb-, sk_live_, AIza, sk-ant- or eyJ",
    "short token": "ghp_" + "b" * 35,
    "long aws": "AKIA" + "Q" * 17,
    "inside a word": "xAKIA" + "Q" * 16,
    "slack placeholder": "xoxb-" + "your-token-here",
    "publishable": "pk_" + "live_" + LETTERS[:24],
    "two-part token": ".".join(jwt().split(".")[:2]),
    "public key": key_block("PUBLIC " + "KEY"),
    "certificate": key_block("CERTIFICATE"),
    "header in a sentence": f"A key file begins with {DASHES}BEGIN PRIVATE " + f"KEY{DASHES} and nobody commits it.",
    "header before a list": f"It begins with\n{DASHES}BEGIN PRIVATE " + f"KEY{DASHES}\nRemember to rotate it.",
    "empty": "",
    "emoji and halves": "🙂 password 🙂 \ud83d",
}


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(
    ("name", "text"),
    [pytest.param(name, text, id=f"{name}-{n}") for name, texts in CREDENTIALS.items() for n, text in enumerate(texts)],
)
def test_credential_is_named(name: str, text: str) -> None:
    """A credential is found alone and inside a note, and its class is named."""
    assert find_secret(text) == name
    assert find_secret(f"# 2026-11-30\n\n- 09:05 we use {text}\n- 09:06 next\n") == name


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_harmless_text_is_left_alone(text: str) -> None:
    """Hashes, ids, addresses, placeholders, code and sentences about passwords are no credentials."""
    assert find_secret(text) is None
    assert find_secret(f"# 2026-11-30\n\n- 09:05 we use {text}\n- 09:06 next\n") is None


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(
    ("below", "enough"),
    [
        ("PW = hunt2.", "PW = hunt2r."),
        ("TK = abcd123", "TK = abcd1234"),
        ("TK: phase-1234", "TK = phase-1234"),
        ("TK: abcdefgh", "TK: abc4efgh"),
        ("PW = ababab", "PW = abcaba1"),
        ("PW = abcdefghijklmnopqrs", "PW = abcdefghijklmnopqrst"),
        ("PW = correct-horse", "PW = correct-horse-battery"),
        ("PW: correct-horse-battery", "PW: correct-horse-battery-staple"),
        ("PW = --ask-every-time", "PW = ask-every-time"),
        ("PW = P@sswor", "PW = P@ssword"),
        ("PW = 12+34-56", "PW = ab+cd-ef"),
        ("PW = abcdefghi/Abcdefgh1", "PW = abcdefghij/Abcdefgh1"),
        ("PW = abcdefghij/abcdefgh1", "PW = abcdefghij/abcdefgH1"),
        ("see ftp://" + "u:your-word@host", "see ftp://" + "u:word@host"),
    ],
    ids=[
        "five characters", "seven of a token", "words in prose", "letters of a token", "two different characters",
        "nineteen letters", "two words", "three words in prose", "an option", "seven with a sign", "a sum",
        "nineteen with a slash", "a path in one case", "a placeholder in an address",
    ],
)  # fmt: skip
def test_value_has_to_earn_it(below: str, enough: str) -> None:
    """Of two values that differ little, one is a word or a number and the other one is refused."""
    below, enough = (text.replace("PW", "pass" + "word").replace("TK", "tok" + "en") for text in (below, enough))
    assert find_secret(below) is None
    assert find_secret(enough) in {"password or token", "password in an address"}


@pytest.mark.rule("SECRET-O1")
def test_answer_never_holds_the_value() -> None:
    """The answer is the name of the class, whatever the value is."""
    for texts in CREDENTIALS.values():
        assert {find_secret(text) for text in texts} <= set(CREDENTIALS)


@pytest.mark.rule("SECRET-O1")
def test_harmless_texts_stay_harmless_together() -> None:
    """A file that holds all of them, line by line, holds no credential."""
    assert find_secret("\n\n".join(HARMLESS.values())) is None


@pytest.mark.parametrize(
    "piece",
    [
        "token=",
        "password:  ",
        "eyJ",
        "eyJaaaa.",
        "xoxa-",
        "://a:",
        "a",
        "-",
        f"{DASHES}BEGIN RSA ",
        " ",
        "token=a/",
    ],
)
def test_time_is_linear(piece: str) -> None:
    """Much text made to be slow is read to its end at once, where quadratic time would take many minutes."""
    text = piece * (250_000 // len(piece))
    assert find_secret(text) is None
    assert find_secret(f"{text}\nAKIA{'Q' * 16}") == "AWS access key"


@pytest.mark.rule("SECRET-O1")
@pytest.mark.parametrize(
    "pattern", [pattern for _, pattern, _ in credentials._CLASSES], ids=[name for name, _, _ in credentials._CLASSES]
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_every_match_holds_a_hint(pattern: re.Pattern[str], data: st.DataObject) -> None:
    """Nothing that a pattern matches is passed over by the quick look that comes before the patterns."""
    text = data.draw(st.from_regex(pattern))
    assert any(hint in text.casefold() for hint in credentials._HINTS)
