"""Well-known shapes of credentials, so that no writer stores one.

Only shapes are known here: no network, no list of words, no measure of randomness over whole texts.
A prefix that a vendor reserved is enough for the vendor's class; an assignment (`password = value`) must have a
value that earns it, because notes speak about passwords more often than they hold one.
Each pattern begins where a run of its characters begins and bounds what it repeats, so the time is linear in the
length of the text, also on text made to be slow.

Rules: SECRET-O1, SECRET-O2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    #: Where in a match the credential stands, from and to; None where it doesn't earn it.
    _FindPlace = Callable[[re.Match[str]], tuple[int, int] | None]


#: Everything but a line end.
_ANY = re.compile(r"[^\r\n]")
#: Stands for the ends of a credential: no letter, so that it is no word.
_DOT = "\u2022"


def find_secret(text: str) -> str | None:
    """Return the name of the first class of credentials that the text holds, never the value; None if it holds none.

    Rules: SECRET-O1.
    """
    folded = text.casefold()
    if not any(hint in folded for hint in _HINTS):
        return None
    found = (name for name, pattern, find_place in _CLASSES if any(map(find_place, pattern.finditer(text))))
    return next(found, None)


def mask_secrets(text: str) -> str:
    """Return the text with `[redacted: <class>]` in the place of each credential; what stands around it stays.

    Rules: SECRET-O2.
    """
    parts, done = [], 0
    for start, end, name in find_secrets(text):
        if start >= done:
            parts += [text[done:start], f"[redacted: {name}]"]
        done = max(done, end)
    return "".join([*parts, text[done:]]) if parts else text


def blank_secrets(text: str) -> str:
    """Return the text with blanks in the place of each credential, so that every offset and line stays what it was.

    Its first and its last character are dots: a note that ends with a credential still ends behind it.

    Rules: SECRET-O2.
    """
    parts, done = [], 0
    for start, end, _ in find_secrets(text):
        if end > done:
            parts += [text[done:start], _blank(text[max(start, done) : end])]
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def _blank(secret: str) -> str:
    if len(secret) == 1:
        return _ANY.sub(_DOT, secret)
    return _ANY.sub(_DOT, secret[0]) + _ANY.sub(" ", secret[1:-1]) + _ANY.sub(_DOT, secret[-1])


def find_secrets(text: str) -> list[tuple[int, int, str]]:
    """Return each credential as start, end and the name of its class, in the order of their places.

    Those of different classes may overlap; of one class only the first is told of those that begin in one another.

    Rules: SECRET-O1, SECRET-O2.
    """
    folded = text.casefold()
    if not any(hint in folded for hint in _HINTS):
        return []
    return sorted(
        (start, end, name)
        for name, pattern, find_place in _CLASSES
        for start, end in _find_places(pattern.finditer(text), find_place)
    )


def _find_places(matches: Iterable[re.Match[str]], find_place: _FindPlace) -> Iterator[tuple[int, int]]:
    """Yield where the credentials stand; what begins within one is not measured, or time would be quadratic."""
    done = 0
    for found in matches:
        begins = found.start("value" if "value" in found.re.groupindex else 0)
        if begins >= done and (place := find_place(found)) is not None:
            done = place[1]
            yield place


def _find_match(found: re.Match[str]) -> tuple[int, int]:
    """Return where all that a pattern matched stands: a prefix that a vendor reserved needs no more."""
    return found.span()


# -- vendors -----------------------------------------------------------------------------------------------------

_START = r"(?<![A-Za-z0-9])"
_VENDORS = {
    "GitHub token": r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "Slack token": (
        r"(?:xox[a-z]-(?=[A-Za-z0-9-]{0,80}[0-9]|[A-Za-z0-9]{16})[A-Za-z0-9-]{10,}"
        r"|xapp-[0-9]-[A-Za-z0-9-]{20,}"
        r"|hooks\.slack\.com/services/T[A-Za-z0-9]{6,}/B[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,})"
    ),
    "Stripe key": r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,})",
    "Google API key": r"(?:AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{28,}|ya29\.[A-Za-z0-9_-]{40,})",
    "Anthropic key": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "OpenAI key": r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})",
}
_JWT = r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{6,}"

# -- private keys ------------------------------------------------------------------------------------------------

#: How far behind its header the body of a key may begin, in characters: room for the headers of old formats.
_KEY_BODY_WITHIN = 600
#: How far behind its header a key may end, in characters: one of 16,384 bits in base64, and what a log, a comment or
#: source code puts before and behind each of its lines.
_KEY_END_WITHIN = 32_768
#: How far behind one line of a key the next one may begin where no closing mark says that there is one.
_KEY_GAP = 200
_KEY_HEADER = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_EDGE = re.compile(rf"(?P<header>{_KEY_HEADER})|-{{4,5}} ?END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)? ?-{{4,5}}")
_KEY_RUN_START = r"(?<![A-Za-z0-9+/=])(?=[a-z0-9+/=]*+[A-Z])"
#: Base64 that is no commit id, word or path: long with a capital, or shorter with capitals, small letters and digits.
_KEY_RUN = re.compile(
    _KEY_RUN_START + r"(?:[A-Za-z0-9+/=]{32,}|(?=[A-Z0-9+/=]*+[a-z])(?=[A-Za-z+/=]*+[0-9])[A-Za-z0-9+/=]{16,})"
)
_KEY_BODY = re.compile(
    r"(?:[\r\n]|\\n)[ \t>|]{0,8}[A-Za-z0-9+/=]{8,}[ \t]{0,8}(?=[\r\n]|\\n|\Z)|" + _KEY_RUN_START + "[A-Za-z0-9+/=]{32,}"
)
#: What belongs to a key behind its header where nothing stands before its lines: its own headers, and base64.
_KEY_TAIL = re.compile(
    r"(?:(?:[\r\n]|\\n)[ \t>|]{0,8}(?:[A-Z][A-Za-z-]{1,20}: [^\r\n]{0,200}|[A-Za-z0-9+/=]{0,10000})[ \t]{0,8}(?=[\r\n]|\\n|\Z))*+"
    r"(?:(?:[\r\n]|\\n)?[ \t>|]{0,8}[A-Za-z0-9+/=]{0,10000}-{4,5} ?END [A-Z0-9 ]{0,40}-{4,5})?"
)
#: The last line of a key, which may be short.
_KEY_PADDED = re.compile(r"[^A-Za-z0-9+/=]{1,40}+[A-Za-z0-9+/]{4,31}={1,2}")


def _find_key(found: re.Match[str]) -> tuple[int, int] | None:
    """Return from where to where a key stands with its body; None for a sentence that quotes a header.

    Only what stands before the next header is looked at, so that a text of nothing but headers is read once.
    """
    text, start = found.string, found.end()
    edge = _KEY_EDGE.search(text, start)
    last = edge.start() if edge else len(text)
    closing = edge.end() if edge and edge["header"] is None and last - start <= _KEY_END_WITHIN else None
    has_body = _KEY_BODY.search(text, start, min(last, start + _KEY_BODY_WITHIN)) is not None
    if closing and (has_body or _KEY_RUN.search(text, start, last)):
        return found.start(), closing
    return (found.start(), _find_open_end(text, start, last)) if has_body else None


def _find_open_end(text: str, start: int, last: int) -> int:
    """Return where the body of a key ends that no closing mark ends: behind the last of its lines."""
    tail = _KEY_TAIL.match(text, start, last)
    end = tail.end() if tail else start
    for run in _KEY_RUN.finditer(text, start, last):
        if run.start() > max(start + _KEY_BODY_WITHIN, end + _KEY_GAP):
            break
        end = max(end, run.end())
    padded = _KEY_PADDED.match(text, end, last)
    return padded.end() if padded else end


# -- addresses and assignments -----------------------------------------------------------------------------------

#: A password may hold an `@`, and a `/`, `?` or `#` that should have been escaped; then it is no port, and has a digit.
_URL = (
    r"(?<=[A-Za-z0-9+.-])://[^\s:/?#@]{0,128}:(?P<value>[^\s/?#@][^\s/?#]{0,255}"
    r"|(?P<odd>(?!port\b|[0-9]{1,5}[/?#])[^\s/?#@()<>\[\]\"'`]{1,128})[/?#][^\s@()<>\[\]\"'`]{0,128})@(?=[^\s/?#@])"
)

#: Shortest value of a key such as `password`, in characters.
_SHORTEST = 6
#: Shortest value of a key such as `token`, in characters.
_SHORTEST_WEAK = 8
#: From this length on, letters alone are no word any more, and a slash is no path.
_LONG = 20
#: At most this many different characters make a stand-in such as `xxxx`.
_FEW = 2
#: So many words joined by hyphens make a passphrase, after `=` and after `:`.
_WORDS, _WORDS_IN_PROSE = 3, 4
#: Keys whose value is a credential whenever it is not plainly something else.
_STRONG_KEY = (
    r"passw(?:or)?d|passwort|kennwort|passphrase|pwd|пароль|api[ _-]?key|apikey|access[ _-]?key|private[ _-]?key"
    r"|secret[ _-]?key|secret[ _-]access[ _-]key|secret[ _-]key[ _-]base|client[ _-]secret"
    r"|auth[ _-]?token|access[ _-]token"
)
#: Keys that are ordinary words as well, so that their value has to look like a credential.
_WEAK_KEY = r"secret|token|секрет|токен"
_ASSIGNMENT = (
    rf"(?P<flag>--)?(?:(?P<strong>{_STRONG_KEY})|{_WEAK_KEY})(?:[_-]?(?:[0-9]{{1,3}}|prod|dev|live|test))?"
    r"(?:[\]\"'`*_]{0,4}[ \t]{0,8}(?P<sign>:=|=>|={1,3}|:)|(?=[ \t]))"
    r"[ \t]{0,8}[\"'`*_]{0,4}[ \t]{0,8}(?=(?P<value>[^\s\"'`,;&]{6,64}))"
)

#: What may follow the part of a value by which it is judged: up to the next key, or to the mark that closes a quotation.
_VALUE_TAIL = re.compile(r"(?:[^\s\"'`,;&]|[,;&](?=[^\s\"'`,;&])(?!(?:amp;)?[\w.-]{1,40}(?: [\w.-]{1,20})?[=:]))*+")
_QUOTED_TAILS = {mark: re.compile(rf"(?:[^\r\n\\{mark}]|\\[^\r\n]){{0,256}}+(?={mark})") for mark in "\"'`"}
_PLACEHOLDER = re.compile(
    r"your|example|placeholder|redacted|dummy|sample|change.?me|xxxx|\.\.\.|…|\*\*\*|•••", re.IGNORECASE
)
#: `<password>`, `{{ secret }}`, `[redacted]`, `${PASS}`, `$PASS`, `$pass`, `$2b$…` (a hash), `%(pass)s`, `***`, `xxx`.
_STAND_IN = re.compile(r"[<{\[]|[$](?:[{(A-Z_]|[a-z_]+$|[0-9a-z]{1,10}[$])|%[^0-9A-Fa-f]|[xX*•.]+$")
_NO_CREDENTIAL = re.compile(
    r"""
      [(~./\\]                                  # code, a path
    | [A-Za-z]:[\\/]                           # a path with a drive
    | [A-Za-z][A-Za-z0-9+.-]{1,20}://          # a link: judged as an address
    | [0-9]{4}-[0-9]{2}-[0-9]{2}               # a date
    | v?[0-9]+(?:\.[0-9]+)+(?:[-+:/].*)?$      # a version, a number, an address
    | (?:sha[0-9]{1,3}|md5|pbkdf2|argon2)[:$-] # a hash that names itself
    | [A-Za-z_][A-Za-z0-9_.]*[(\[]             # a call or an index
    | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$         # a dotted name in code
    | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$           # the name of an environment variable
    | (?=\w*_)\w*(?:password|passwd|token|secret|key)\w*$   # a variable called like its content
    | [^@\s]+@[^@\s]+\.[A-Za-z]{2,}$           # an e-mail address
    | (?i:1password|(?:aes|base|ed|es|hs|rs|sha|x)-?[0-9]{2,5}|argon2i?d?|oauth-?[12]|pbkdf2|utf8mb4)$
    """,
    re.VERBOSE,
)
_WORDS_AND_NUMBER = re.compile(r"[^\W\d_]+(?:[-_][^\W\d_]+)*[-_]?[0-9]{0,4}")
_SPECIAL = frozenset("!@#$%^*+=?~|")


def _find_password(found: re.Match[str]) -> tuple[int, int] | None:
    """Return where the password of an address stands; None when it stands for itself."""
    value = found["value"].partition("@")[0]
    if _STAND_IN.match(value) or _PLACEHOLDER.search(value):
        return None
    return found.span("value") if found["odd"] is None or _has_letter_and_digit(value) else None


def _find_value(found: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value of an assignment stands with what belongs to it; None when it is no credential."""
    if not _earns_assignment(found):
        return None
    start, end = found.span("value")
    quoted = _QUOTED_TAILS.get(found.string[start - 1])
    rest = (quoted and quoted.match(found.string, end)) or _VALUE_TAIL.match(found.string, end)
    return start, rest.end() if rest else end


def _earns_assignment(found: re.Match[str]) -> bool:
    """Tell whether the value of an assignment is a credential rather than a word, a number, a path or code."""
    value = found["value"].rstrip(".,;:!?)]}>*_")
    if found["sign"] is None and found["flag"] is None:
        return False
    if len(value) < _SHORTEST or _is_something_else(value):
        return False
    earns = _is_weak_credential if found["strong"] is None else _is_strong_credential
    return earns(value, in_prose=found["sign"] == ":")


def _is_something_else(value: str) -> bool:
    """Tell whether a value is a placeholder, a path, a date, a version, a hash with its name, or code."""
    if len(set(value)) <= _FEW or _STAND_IN.match(value) or _PLACEHOLDER.search(value) or _NO_CREDENTIAL.match(value):
        return True
    return "/" in value and not _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Tell whether a value looks like base64 rather than like a path: long and in both cases."""
    return len(value) >= _LONG and value.lower() != value != value.upper()


def _has_letter_and_digit(value: str) -> bool:
    return any(map(str.isalpha, value)) and any(map(str.isdigit, value))


def _is_strong_credential(value: str, *, in_prose: bool) -> bool:
    """Tell whether the value of a key that always holds a credential is more than a word."""
    if value.isdigit() or _has_letter_and_digit(value) or (len(value) >= _LONG and value.isalpha()):
        return True
    if any(char in _SPECIAL for char in value):
        return len(value) >= _SHORTEST_WEAK and any(map(str.isalpha, value))
    words = re.split(r"[-_.]", value)
    return all(map(str.isalpha, words)) and len(words) >= (_WORDS_IN_PROSE if in_prose else _WORDS)


def _is_weak_credential(value: str, *, in_prose: bool) -> bool:
    """Tell whether the value of a key that is an ordinary word too cannot be an ordinary value."""
    if len(value) < _SHORTEST_WEAK or (in_prose and _WORDS_AND_NUMBER.fullmatch(value)):
        return False
    return _has_letter_and_digit(value)


_CLASSES: tuple[tuple[str, re.Pattern[str], _FindPlace], ...] = (
    ("private key", re.compile(_KEY_HEADER), _find_key),
    *((name, re.compile(_START + shape), _find_match) for name, shape in _VENDORS.items()),
    ("JSON Web Token", re.compile(_JWT), _find_match),
    ("password in an address", re.compile(_URL), _find_password),
    ("password or token", re.compile(_ASSIGNMENT, re.IGNORECASE), _find_value),
)

#: One of these stands in every text that one of the patterns can match, in folded form; most texts hold none, and
#: looking for them costs a twentieth of trying the patterns.
_HINTS = (
    *("private key", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "akia", "asia", "abia", "acca"),
    *("xox", "xapp-", "hooks.slack.com", "k_live_", "k_test_", "whsec_", "aiza", "gocspx-", "ya29.", "sk-", "eyj"),
    *("://", "passw", "kennwort", "passphrase", "pwd", "пароль", "api", "access", "private", "secret", "auth"),
    *("token", "секрет", "токен"),
)
