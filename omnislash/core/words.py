r"""Text as words: where they stand, what script they are in, and what a compound is made of.

What is written together is one word with its parts: `snake_case`, `kebab-case`, `v1.2.3`, `C:\temp`, an address.
Text without blanks between its words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is read as characters and pairs
of neighbours.
Everything here takes time in proportion to the text, whatever it holds: pieces have fixed longest sizes, and no
pattern can match one stretch in two ways.

Rules: LANG-04, LANG-05, LANG-08, LANG-O5.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from omnislash.core.languages import Script

#: Longest word or term, in characters: a SHA-256 in hexadecimal just fits; the longest words of prose have about 40.
WORD_MAX = 64
#: Most parts of one compound; what follows is a new word.
PARTS_MAX = 32
#: Most characters of a piece that are looked at: room for four marks on each of 64 letters.
_RAW_MAX = 4 * WORD_MAX
#: Shortest piece beside an apostrophe that is a word of its own: `Maria` in `Maria's`, not the `l` of `l'école`.
_PIECE_MIN = 3

#: Combining marks (general category M) below U+20000, with letters of the same blocks that lie between them.
#: Source: Unicode 14, as in Python 3.11; a test compares the ranges with the character database.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
    "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84"
    "\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd\u180b-\u180d"
    "\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2"
    "\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua672\ua674-\ua67d"
    "\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d"
    "\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U000101fd-\U0001037a\U00010a01-\U00010a3f\U00010ae5\U00010ae6\U00010d24-\U00010eac\U00010f46-\U00010f50"
    "\U00010f82-\U00010f85\U00011000-\U00011046\U00011070-\U000110ba\U000110c2\U00011100-\U00011134"
    "\U00011145-\U00011173\U00011180-\U000111c0\U000111c9-\U000111cc\U000111ce\U000111cf\U0001122c-\U00011237"
    "\U0001123e\U000112df-\U00011446\U0001145e-\U000114c3\U000115af-\U000115c0\U000115dc-\U00011640"
    "\U000116ab-\U000116b7\U0001171d-\U0001172b\U0001182c-\U0001183a\U00011930-\U00011943\U000119d1-\U000119e0"
    "\U000119e4-\U00011a3e\U00011a47-\U00011a99\U00011c2f-\U00011c3f\U00011c92-\U00011ef6\U00016af0-\U00016af4"
    "\U00016b30-\U00016b36\U00016f4f-\U00016f92\U00016fe4-\U00016ff1\U0001bc9d\U0001bc9e\U0001cf00-\U0001cf46"
    "\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad"
    "\U0001d242-\U0001d244\U0001da00-\U0001da36\U0001da3b-\U0001da6c\U0001da75\U0001da84\U0001da9b-\U0001e136"
    "\U0001e2ae-\U0001e2ef\U0001e8d0-\U0001e94a"
)
#: What shows nothing and changes no word: soft hyphen, zero-width non-joiner and joiner, word joiner.
_INVISIBLE = "\u00ad\u200c\u200d\u2060"
#: Scripts that are written without blanks between words.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe"
    "\uaa60-\uaa7f\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303b\u3041-\u309a\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u9fff\uf900-\ufad9\uff66-\uff9f"
    "\U0001aff0-\U0001b167\U00020000-\U000323af"
)
#: Marks of those scripts: they belong to the character before them.
_UNSPACED_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u302a-\u302f"
    "\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
#: Where the letters of each script lie: first and last code point.
_LETTERS = sorted(
    (first, last, script)
    for script, ranges in {
        Script.latin: (
            (0x41, 0x2AF), (0x1D00, 0x1D25), (0x1D2C, 0x1D65), (0x1D6B, 0x1D77), (0x1D79, 0x1DBF), (0x1E00, 0x1EFF),
            (0x2071, 0x209C), (0x2184, 0x2184), (0x2C60, 0x2C7F), (0xA722, 0xA7FF), (0xAB30, 0xAB64), (0xAB66, 0xAB68),
            (0xFB00, 0xFB06), (0xFF21, 0xFF5A),
        ),
        Script.cyrillic: ((0x400, 0x52F), (0x1C80, 0x1C88), (0x1D2B, 0x1D2B), (0xA640, 0xA69F)),
        Script.greek: (
            (0x370, 0x3E1), (0x3F0, 0x3FF), (0x1D26, 0x1D2A), (0x1D66, 0x1D6A), (0x1F00, 0x1FFF), (0xAB65, 0xAB65),
        ),
        Script.arabic: ((0x610, 0x6FF), (0x750, 0x77F), (0x870, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)),
        Script.armenian: ((0x531, 0x588), (0xFB13, 0xFB17)),
        Script.devanagari: ((0x900, 0x97F), (0xA8E0, 0xA8FF)),
        Script.tamil: ((0xB80, 0xBFF),),
    }.items()
    for first, last in ranges
)  # fmt: skip
_STARTS = [first for first, _, _ in _LETTERS]

#: What joins two pieces to one word, when nothing stands beside it.
_JOINER = r"(?::\\{1,2}|:/{1,3}|/\.|\\\\|[-\u2010\u2011.:/\\@'\u2019\uff07&])"
_HARD_JOINER = re.compile(r"[-\u2010\u2011.:/\\@&_]+")
#: `C++`, `C#`: one letter with a sign that changes what it names.
_LANGUAGE_NAME = r"[A-Za-z](?:\+\+|#)(?!\w)"


def _compile_words(piece: str) -> re.Pattern[str]:
    return re.compile(rf"{_LANGUAGE_NAME}|{piece}(?:{_JOINER}{piece}){{0,{PARTS_MAX - 1}}}")


_ASCII_WORD = _compile_words(r"[A-Za-z0-9_]+")
_WORD = _compile_words(rf"\w[\w{_MARKS}{_INVISIBLE}]*")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}][{_UNSPACED}{_UNSPACED_MARKS}{_INVISIBLE}]*")
_CHARACTER = re.compile(f"[{_UNSPACED}][{_UNSPACED_MARKS}]*")
#: Thirty marks in a row and more: the Stream-Safe Text Format (UAX #15) ends a run of them at thirty.
#: Putting marks in order takes quadratic time in the length of the run.
_FLOOD = re.compile(rf"((?:(?!\w)[{_MARKS}]){{30}})(?:(?!\w)[{_MARKS}])+")
_DROPPED = re.compile(f"[{_INVISIBLE}]+")
#: Letters that are read as others: apostrophes of three kinds, the Cyrillic yo as ye (LANG-O5).
_READ_AS = str.maketrans(
    {"\u2019": "'", "\u02bc": "'", "\uff07": "'", "\u0451": "\u0435", "\u2010": "-", "\u2011": "-"}
)
#: What lower-casing the Turkish capital I with a dot gives.
_DOTTED_I = "i\u0307"
#: Signs that are no part of a word when they stand at its ends.
_OUTER = "_-.:/\\@&'"
#: Where `camelCase`, `HTTPServer` and the Irish `hÉireann` fall apart; the plural `IDs` does not.
_HUMP = re.compile(r"(?<=[a-z0-9\u00df-\u00ff])(?=[A-Z\u00c0-\u00de])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_NUMBERED = re.compile(r"([^\W\d_]+)(\d+)|(\d+)([^\W\d_]+)")
#: A hyphen or an underscore that a compound can be written without; the hyphens of a date stay.
_LOOSE_JOINER = re.compile(r"(?<![0-9])[-_]+|[-_]+(?![0-9])")
_VERSION_MARK = re.compile(r"v(?=\d+\.\d)")


class TokenKind(StrEnum):
    """What a token is."""

    #: One word.
    WORD = "word"
    #: A word made of words: an identifier, a path, a number with a unit, a contraction.
    COMPOUND = "compound"
    #: A character, or two neighbours, of text without blanks.
    GRAM = "gram"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text and where it stands."""

    #: As it is compared: composed (NFC), in small letters, the Cyrillic yo as ye, at most 64 characters.
    text: str
    #: Offset of the first character in the text.
    start: int
    #: Offset behind the last character.
    end: int
    #: The script of its letters; None for numbers, mixed scripts and scripts that no listed language is written in.
    script: Script | None
    #: The parts of a compound, else empty.
    parts: tuple[str, ...]
    kind: TokenKind


@lru_cache(maxsize=4096)
def _find_letter_script(letter: str) -> Script | None:
    place = bisect_right(_STARTS, ord(letter)) - 1
    if place < 0 or not letter.isalpha():
        return None
    _, last, script = _LETTERS[place]
    return script if ord(letter) <= last else None


def find_script(text: str) -> Script | None:
    """Return the script that all letters of `text` are in; None when there is no such one.

    Marks, digits and signs belong to no script.

    Rules: LANG-05.
    """
    scripts = {_find_letter_script(letter) for letter in text if letter.isalpha()}
    return scripts.pop() if len(scripts) == 1 else None


def _compose(text: str) -> str:
    """Return `text` composed (NFC), without invisible joiners and with no more than thirty marks in a row."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _DROPPED.sub("", _FLOOD.sub(r"\1", text)))


def fold(text: str) -> str:
    """Return `text` as words are compared: in small letters, composed (NFC), with one kind of apostrophe and of hyphen.

    The Cyrillic yo is read as ye, invisible joiners go, and of a run of combining marks no more than thirty stay.

    Rules: LANG-04, LANG-O5.
    """
    if text.isascii():
        return text.lower()
    small = _compose(text).lower().replace(_DOTTED_I, "i")
    return unicodedata.normalize("NFC", small).translate(_READ_AS)


def find_raw_words(text: str) -> list[str]:
    """Return the words of `text` as they are written, in order; a compound is one word."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def find_unspaced_runs(raw: str) -> list[tuple[int, str]]:
    """Return the stretches of a raw word that are written without blanks, each with its offset."""
    return [] if raw.isascii() else [(run.start(), run.group()) for run in _UNSPACED_RUN.finditer(raw)]


def split_characters(run: str) -> list[str]:
    """Return the characters of a stretch without blanks, folded, each with its marks.

    Rules: LANG-08.
    """
    return _CHARACTER.findall(fold(run))


def shorten(text: str) -> str:
    """Return a term of at most 64 characters: a longer one keeps its beginning and its end.

    Two long paths mostly begin alike; the end tells them apart.
    """
    half = WORD_MAX // 2
    return text if len(text) <= WORD_MAX else f"{text[: half - 1]}\u2026{text[-half:]}"


def fold_word(raw: str) -> str:
    """Return a raw word folded: of a longer run of letters the first 64, of a longer compound both ends.

    Nothing is left of a word that is nothing but signs.
    """
    if len(raw) <= WORD_MAX and raw.isascii():
        return raw.lower().strip(_OUTER)
    if len(raw) > _RAW_MAX:
        raw = raw[:_RAW_MAX] if raw.isalnum() else raw[: _RAW_MAX // 2] + raw[-_RAW_MAX // 2 :]
    folded = fold(raw).strip(_OUTER)
    return folded[:WORD_MAX] if folded.isalnum() else shorten(folded)


def join_parts(folded: str) -> str:
    """Return a folded compound in the one spelling under which it is known.

    `e-mail` is `email`, `user_id` is `userid` as `userId` is, `v1.2.3` is `1.2.3`; a date keeps its hyphens.
    """
    if folded.isalnum():
        return folded
    return _VERSION_MARK.sub("", _LOOSE_JOINER.sub("", folded), count=1)


def split_parts(raw: str) -> tuple[str, ...]:
    """Return the parts of a raw compound as they are written; empty for a simple word.

    A part may have parts of its own: `readFile` in `tools/readFile`.
    """
    if len(raw) <= WORD_MAX and raw.isascii() and raw.isalpha() and (raw.islower() or raw.istitle()):
        return ()
    pieces = tuple(piece for piece in _HARD_JOINER.split(_compose(raw[: _RAW_MAX * PARTS_MAX])) if piece)
    if len(pieces) > 1:
        return pieces[:PARTS_MAX]
    return _split_piece(pieces[0]) if pieces and len(pieces[0]) <= WORD_MAX else ()


def has_humps(raw: str) -> bool:
    """Tell whether a raw word falls apart at its capitals, as `readFile` does."""
    return _HUMP.search(raw) is not None


def _split_piece(piece: str) -> tuple[str, ...]:
    plain = piece.translate(_READ_AS)
    if "'" in plain:
        return _split_apostrophes(plain)
    humps = tuple(_HUMP.split(piece))
    if len(humps) > 1:
        return humps
    numbered = _NUMBERED.fullmatch(piece)
    return tuple(part for part in numbered.groups() if part) if numbered else ()


def _split_apostrophes(plain: str) -> tuple[str, ...]:
    """Return the words around apostrophes; in Cyrillic the apostrophe is a letter, and `n't` is no ending."""
    if find_script(plain) is Script.cyrillic or plain.lower().endswith("n't"):
        return ()
    return tuple(piece for piece in plain.split("'") if len(piece) >= _PIECE_MIN)


def split_words(text: str) -> list[Token]:
    """Return the words of `text` in the order of their beginnings.

    A run of more than 64 letters is one token with the first 64.
    A stretch without blanks gives every character and every pair of neighbours.

    Rules: LANG-04, LANG-05, LANG-08.
    """
    pattern = _ASCII_WORD if text.isascii() else _WORD
    return [token for word in pattern.finditer(text) for token in _read(word.group(), word.start())]


def _read(raw: str, start: int) -> list[Token]:
    runs = find_unspaced_runs(raw)
    if not runs:
        return _read_word(raw, start)
    tokens: list[Token] = []
    done = 0
    for offset, run in runs:
        tokens += _read_between(raw[done:offset], start + done)
        tokens += _read_run(run, start + offset)
        done = offset + len(run)
    return tokens + _read_between(raw[done:], start + done)


def _read_between(raw: str, start: int) -> list[Token]:
    return [token for word in _WORD.finditer(raw) for token in _read_word(word.group(), start + word.start())]


def _read_word(raw: str, start: int) -> list[Token]:
    """Return the one token of a raw word; none when it is nothing but signs."""
    text = fold_word(raw)
    if not text:
        return []
    parts = tuple(fold_word(part) for part in split_parts(raw))
    kind = TokenKind.COMPOUND if parts else TokenKind.WORD
    return [Token(text, start, start + len(raw), find_script(text), parts, kind)]


def _read_run(run: str, start: int) -> list[Token]:
    """Return each character of a stretch without blanks, and each with its right neighbour."""
    places = [(match.start() + start, match.end() + start) for match in _CHARACTER.finditer(run)]
    texts = [fold(run[first - start : end - start]) for first, end in places]
    tokens = []
    for place, (first, end) in enumerate(places):
        tokens.append(Token(texts[place], first, end, None, (), TokenKind.GRAM))
        if place + 1 < len(places):
            pair = texts[place] + texts[place + 1]
            tokens.append(Token(pair, first, places[place + 1][1], None, (), TokenKind.GRAM))
    return tokens
