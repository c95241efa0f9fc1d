"""The words by which the offline model knows a decision, a promise, an open matter, a correction, a repetition.

A cue is a word or two that people write when they settle, promise, ask or correct something, in English, German,
Russian and Chinese. No cue is proof; they add up, and the kind with the strongest ones names the statement.
Text without any, in whatever language, is ranked by its numbers and by the matters that it shares with other days.

Source: the November logs of brain-example, read for what a person would have kept (2026-12-01); the German and Chinese
cues are translations of the others. The weights are a judgement of these readings and not fitted to anything.

Rules: PERIOD-18.
"""

# ruff: noqa: RUF001  (words of other scripts)
from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a statement is to somebody who looks back; the earlier of two equally strong kinds names it."""

    CORRECTION = "correction"
    DECISION = "decision"
    COMMITMENT = "commitment"
    OPEN = "open"
    REPEAT = "repeat"
    ALSO = "also"


@dataclass(frozen=True, slots=True)
class Cues:
    """What the words of a statement say about it."""

    #: Its kind; `ALSO` when no cue is strong enough.
    kind: Kind
    #: How much the cues weigh together, 0 for none.
    weight: float
    #: Whether it says that something came to its end.
    closes: bool


_CORRECTION, _DECISION, _COMMITMENT, _OPEN, _REPEAT = list(Kind)[:5]
#: The kind, what one cue of it weighs, and the cues. One ends where its letters end; `*` leaves the end open.
_TABLE: Final[tuple[tuple[str, float, str], ...]] = (
    (
        _DECISION,
        4,
        "decided|decision|entschieden|beschlossen|решено",
    ),
    (
        _DECISION,
        3,
        (
            "decides to|agreed|agrees|agreement|approved|chose|settled on|settled that"
            "|from now on|rule from|rule:"
            "|rule since|new rule|policy|resolved to|made up * mind|signed"
            "|entschied|entschließ*|entschloss*|entscheidung|beschloss|beschluss|beschließ*|vereinbart*|geeinigt"
            "|einigte*|ab sofort|ab jetzt|von nun an|festgelegt|regel:"
            "|решил|решила|решили|решение|договорил*|согласил*|согласна|согласен|согласны|утверд*|отныне|с этого дня"
        ),
    ),
    (
        _DECISION,
        1.5,
        (
            "accepted|accepts|begin with|begins with|says no|said no|says yes|said yes"
            "|refused|declined|instead of|rather than"
            "|recommendation"
            "|recommends|concluded|we will|never|always|must|not before"
            "|statt|angenommen|abgelehnt|empfiehlt|empfehlung|immer|niemals"
            "|вместо|отказал*|нельзя|всегда|никогда|выбрал*"
        ),
    ),
    (
        _COMMITMENT,
        3,
        (
            "promise|promises|commits|committed|commitment|guarantee*|owes|owe|deadline|due|reminder|no later than"
            "|versprach*|versprochen|verspricht|zugesagt|zusage|frist|fällig|spätestens|schuldet"
            "|обещал*|обещает|обязал*|срок|не позднее|должен|должна|должны|напомн*|напоминать"
        ),
    ),
    (
        _COMMITMENT,
        1,
        (
            "will|shall|confirmed|confirms|ready on|ordered|order|offer|is to|are to|has to|have to|going to|gets"
            "|wird|werden|soll|sollen|bestätigt*|bestellt*|angebot"
            "|будет|будут|надо|придёт|придет|подтверд*|заказал*|просит"
        ),
    ),
    (
        _OPEN,
        3,
        (
            "open question|still open|stays open|left open|remains open|unresolved|undecided|not settled"
            "|not yet settled"
            "|not decided|not yet decided|to be decided|to be answered|to be slept on|to be put right"
            "|to be seen|waiting for"
            "|waits for|wait for|awaiting|pending|todo|to do|unclear|question from|new question|outstanding"
            "|blocked by"
            "|offene frage|ungeklärt|unklar|noch offen|bleibt offen|wartet auf|warten auf|steht noch aus|ausstehend*"
            "|не решен*|не решён*|неясно|вопрос|пока не|ещё не|еще не|ждём|ждем|ждёт|ждет|ожида*"
        ),
    ),
    (
        _OPEN,
        1.5,
        (
            "still shows|still owes|still waits|still has|still out|not yet|has not|have not|did not come"
            "|no message|no answer|nothing came|asks|asked|think about"
            "|thinks of|wants|would like|idea of|idea|why|whether|failed|is out|put off"
            "|fehlt|fehlen|noch nicht|noch nichts|fragt*|ob|fehlgeschlagen|verschoben"
            "|нет ответа|не хватает|спросил*|хочет|отложил*|не пришл*|не пришёл|не работает"
        ),
    ),
    (
        _CORRECTION,
        4,
        "corrects|erratum|korrigiert*|berichtig*|richtigstellung|исправил*|уточнени*",
    ),
    (
        _CORRECTION,
        2,
        (
            "corrected|turned out|in truth|was wrong|were wrong"
            "|is wrong|mistaken|mistakenly|in fact|in reality|not true"
            "|had reached only|after all|stellte sich heraus|in wahrheit|falsch|irrtum|irrtümlich|versehentlich"
            "|doch nicht"
            "|оказал*|на самом деле|ошиб*|неверно|неправильно"
        ),
    ),
    (
        _REPEAT,
        3,
        (
            "second time|third time|fourth time|fifth time|third one this|second one this|every time|each time"
            "|repeatedly"
            "|once more|over and over|same again|as every|zum zweiten mal|zum dritten mal|jedes mal|immer wieder"
            "|schon wieder|wiederholt|каждый раз|второй раз|третий раз|опять|снова и снова|постоянно"
        ),
    ),
    (
        _REPEAT,
        1.5,
        "again|twice|three times|as always|as usual|this week|this month|wieder|erneut|снова|ещё раз|как всегда",
    ),
    (
        "reason",
        0.75,
        "because|since|so that|reason|therefore|weil|damit|deshalb|grund|потому|так как|чтобы|поскольку|поэтому",
    ),
    (
        "horizon",
        1,
        (
            "until|by monday|by tuesday|by wednesday|by thursday|by friday|by saturday|by sunday|next week"
            "|next month|bis|nächste woche|nächsten monat|до|на следующей неделе"
        ),
    ),
    (
        "passing",
        1,
        "today|tomorrow|this morning|this afternoon|this evening|tonight|heute|morgen|сегодня|завтра|утром|вечером",
    ),
    (
        "close",
        1,
        (
            "settled|brought|closed|found|finished|done|delivered|works again|is back|are here|is here|has come"
            "|came back|paid|solved"
            "|fixed|ran through|passed|fetched|collected|complete|returned|has been found|erledigt|fertig"
            "|abgeschlossen"
            "|geliefert|gefunden|bezahlt|behoben|gelöst|bestanden|найден*|нашл*|нашёл|готов|готова|готово"
            "|забрал*|заплатил*"
            "|закрыт*|решена"
        ),
    ),
)
#: Words of languages without spaces: they stand anywhere.
_UNSPACED: Final[tuple[tuple[str, float, str], ...]] = (
    (_DECISION, 3, "决定|決定|同意|商定|批准"),
    (_COMMITMENT, 3, "承诺|承諾|答应|截止|约定"),
    (_OPEN, 3, "待定|尚未|未决|未決|等待|问题|問題"),
    (_CORRECTION, 4, "更正|纠正|修正|訂正"),
    (_REPEAT, 3, "再次|又一次|反复|每次"),
    ("reason", 0.75, "因为|因為|为了"),
    ("close", 1, "完成|解决|解決"),
)
#: What no word says: an open box, a question, a rule, "and not 20", an ordinal with what recurred.
_SHAPES: Final[tuple[tuple[str, float, str], ...]] = (
    (_OPEN, 3, r"^\[ \]"),
    ("close", 1, r"^\[x\]"),
    (_COMMITMENT, 3, r"\bpromised\b(?! da)"),
    (_OPEN, 2, r"[?？]"),
    (_OPEN, 1.5, r"(?<!nothing )\bmissing\b"),
    (_CORRECTION, 4, r"(?:^|[.:;] )(?:correction|korrektur|исправление|поправка)\b"),
    (_DECISION, 3, r"\bit (?:will be|becomes) [0-9]"),
    (_CORRECTION, 2, r"\band not [0-9]|, not [0-9]"),
    (_DECISION, 2, r"\b\w+'s rule\b|^rule\b"),
    (_REPEAT, 3, r"\b(?:second|third|fourth|fifth|sixth) \w+ (?:this|in|of)\b"),
    (_REPEAT, 3, r"\b(?:missed|failed|late|broke) (?:two|three|four|[2-9]|again|twice)\b"),
    (
        "horizon",
        1,
        (
            r"\b(?:by|until|before|bis|vor|до|к) (?:the )?(?:end of |ende )?(?:[0-9]{1,2}\b|[0-9]{4}-|\w+(?:ber"
            r"|uary)\b|март|апрел)"
        ),
    ),
)
#: From this weight on a kind names a statement; below it the statement has hints of many kinds and is of none.
_NAMES_FROM: Final = 1.5
#: What a commitment gains from a day by which it is due: without one it is a plan (PERIOD-18: "with a horizon").
_HORIZON_GAIN: Final = 1.5
#: What the cues of other kinds than the strongest one count.
_OTHERS: Final = 0.3
#: Cues of one kind beyond this weight add nothing: a statement that decides twice is one decision.
_MOST: Final = 5.0
#: From this weight on a cue is a strong one.
_STRONG: Final = 3
#: What a strong cue gains within so many characters of the beginning, where people say what they are about to say.
_EARLY_GAIN: Final = 1.0
_EARLY_CHARS: Final = 30
#: What an open matter loses by words that say it came to its end.
_CLOSED_LOSS: Final = 1.5
#: What a statement loses that is about the passing day.
_PASSING_LOSS: Final = 1.0


def _compile() -> tuple[re.Pattern[str], tuple[tuple[str, float], ...]]:
    """Return one pattern with a group for each row of the tables, and what the groups mean."""
    spaced = [rf"(?<!\w)({_pattern(words)})(?!\w)" for _, _, words in _TABLE]
    unspaced = [f"({words})" for _, _, words in _UNSPACED]
    meanings = tuple((kind, weight) for kind, weight, _ in _TABLE + _UNSPACED)
    return re.compile("|".join(spaced + unspaced)), meanings


def _pattern(words: str) -> str:
    return re.escape(words).replace(r"\|", "|").replace(r"\ \*\ ", r" \w+ ").replace(r"\*", r"\w*+")


_WORDS, _MEANINGS = _compile()
_COMPILED_SHAPES: Final = tuple((kind, weight, re.compile(shape)) for kind, weight, shape in _SHAPES)


def find_cues(text: str) -> Cues:
    """Return what the words of one statement say about it; the same text always gives the same."""
    weights = _weigh(text.lower())
    extra = weights.pop("reason", 0.0) - _PASSING_LOSS * (weights.pop("passing", 0.0) > 0)
    horizon = weights.pop("horizon", 0.0)
    closes = weights.pop("close", 0.0) > 0
    if horizon and weights.get(Kind.COMMITMENT):
        weights[Kind.COMMITMENT] = min(weights[Kind.COMMITMENT] + _HORIZON_GAIN, _MOST)
    if closes and weights.get(Kind.OPEN):
        weights[Kind.OPEN] -= _CLOSED_LOSS
    kinds = [(weights[kind], kind) for kind in Kind if kind in weights]
    if not kinds:
        return Cues(Kind.ALSO, extra + horizon / 2, closes)
    strongest, kind = max(kinds, key=lambda pair: pair[0])
    total = strongest + _OTHERS * sum(weight for weight, other in kinds if other is not kind) + extra + horizon / 2
    return Cues(kind if strongest >= _NAMES_FROM else Kind.ALSO, total, closes)


def _weigh(lowered: str) -> dict[str, float]:
    """Return the weight of each kind of cue in a text; the same cue counts once."""
    weights: dict[str, float] = {}
    seen: set[str] = set()
    for found in _WORDS.finditer(lowered):
        if found.lastindex is None or found[0] in seen:
            continue
        seen.add(found[0])
        kind, weight = _MEANINGS[found.lastindex - 1]
        early = _EARLY_GAIN if weight >= _STRONG and found.start() < _EARLY_CHARS else 0.0
        weights[kind] = min(weights.get(kind, 0.0) + weight + early, _MOST)
    for kind, weight, shape in _COMPILED_SHAPES:
        if shape.search(lowered):
            weights[kind] = min(weights.get(kind, 0.0) + weight, _MOST)
    return weights


#: Words of headings under which a person or a model gathers statements of one kind.
_HEADINGS: Final = (
    (_CORRECTION, re.compile(r"correct|korrektur|berichtig|исправлен|поправк|更正")),
    (_DECISION, re.compile(r"deci[ds]|agreed|settled|entscheid|beschl|решен|решил|决定|決定")),
    (_COMMITMENT, re.compile(r"promis|commit|due|zusage|versprech|frist|обещ|обязательств|срок|承诺")),
    (_OPEN, re.compile(r"\bopen\b|pending|question|thread|offen|открыт|вопрос|待")),
    (_REPEAT, re.compile(r"repeat|pattern|more than once|recurr|again|wiederhol|muster|повтор|反复")),
    (Kind.ALSO, re.compile(r"also|other|außerdem|sonst|также|прочее")),
)


def kind_of_heading(text: str) -> Kind | None:
    """Return the kind of the statements below a heading; None when it names none."""
    lowered = text.lower()
    return next((kind for kind, words in _HEADINGS if words.search(lowered)), None)
