"""Forms of words that no ending tells: `rung` is a form of `ring`, `gerufen` of `rufen`, `ушла` of `уйти`.

The dictionary of the index has them for many languages, but takes a second and 20 MB for each, and does not have `rung`.
So the common ones stand here, each row a word with its forms. A form of two words counts as both.

Source: the lists of irregular verbs in common grammars, without rare and poetic ones.
"""

# ruff: noqa: RUF001  (Cyrillic letters)
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from Stemmer import Stemmer as Snowball

from omnislash.core.words import fold
from omnislash.index.stemming import stem_fully
from omnislash.runtime.offline.languages import Language

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ENGLISH: Final = """
arise arose arisen|bear bore borne born|beat beaten|become became|begin began begun|bend bent|bind bound|bite bit bitten
bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught
choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten
give gave given|go went gone|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|lie lay lain
light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|pay paid|prove proven|ride rode ridden
ring rang rung|rise rose risen|run ran|saw sawn|say said|see saw seen|seek sought|sell sold|send sent|sew sewn
shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat
sleep slept|slide slid|smell smelt|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun
spoil spoilt|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck|swear swore sworn
sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|win won|wind wound
withdraw withdrew withdrawn|write wrote written|overtake overtook overtaken|undertake undertook undertaken
man men|woman women|child children|foot feet|tooth teeth|mouse mice|person people|goose geese|half halves|shelf shelves
knife knives|wife wives|life lives|leaf leaves|key keys|day days
"""
_GERMAN: Final = """
beginnen begann begonnen beginnt|beißen biss gebissen|bekommen bekam bekommt|biegen bog gebogen|bieten bot geboten
binden band gebunden|bitten bat gebeten|bleiben blieb geblieben bleibt|brechen brach gebrochen bricht
brennen brannte gebrannt|bringen brachte gebracht bringt|denken dachte gedacht|dringen drang gedrungen
empfehlen empfahl empfohlen empfiehlt|entscheiden entschied entschieden|essen aß gegessen isst|fahren fuhr gefahren fährt
fallen fiel gefallen fällt|fangen fing gefangen fängt|finden fand gefunden|fliegen flog geflogen|fressen fraß gefressen
frieren fror gefroren|geben gab gegeben gibt|gehen ging gegangen geht|gelten galt gegolten gilt|gewinnen gewann gewonnen
gießen goss gegossen|greifen griff gegriffen|halten hielt gehalten hält|hängen hing gehangen hängt|heben hob gehoben
heißen hieß geheißen|helfen half geholfen hilft|kennen kannte gekannt|kommen kam gekommen kommt|laden lud geladen lädt
lassen ließ gelassen lässt|laufen lief gelaufen läuft|leiden litt gelitten|leihen lieh geliehen leiht
lesen las gelesen liest|liegen lag gelegen liegt|lügen log gelogen|messen maß gemessen misst|nehmen nahm genommen nimmt
nennen nannte genannt|raten riet geraten|reißen riss gerissen|reiten ritt geritten|rennen rannte gerannt
riechen roch gerochen|rufen rief gerufen ruft|schaffen schuf geschaffen|scheinen schien geschienen
schieben schob geschoben|schlafen schlief geschlafen schläft|schlagen schlug geschlagen schlägt
schließen schloss geschlossen schließt|schneiden schnitt geschnitten|schreiben schrieb geschrieben schreibt
schweißen geschweißt|schwimmen schwamm geschwommen|sehen sah gesehen sieht|senden sandte gesandt|singen sang gesungen
sinken sank gesunken|sitzen saß gesessen sitzt|sprechen sprach gesprochen spricht|springen sprang gesprungen
stehen stand gestanden steht|stehlen stahl gestohlen stiehlt|steigen stieg gestiegen|sterben starb gestorben stirbt
streichen strich gestrichen|streiten stritt gestritten|tragen trug getragen trägt|treffen traf getroffen trifft
treiben trieb getrieben|treten trat getreten tritt|trinken trank getrunken|tun tat getan tut
verbieten verbot verboten|vergessen vergaß vergisst|verlieren verlor verloren verliert|vermeiden vermied vermieden
verzeihen verzieh verziehen|wachsen wuchs gewachsen wächst|waschen wusch gewaschen wäscht|weisen wies gewiesen
wenden wandte gewandt|werben warb geworben|werfen warf geworfen wirft|wiegen wog gewogen|wissen wusste gewusst weiß
ziehen zog gezogen zieht|zwingen zwang gezwungen
mann männer|haus häuser|rad räder|buch bücher|land länder|kind kinder|vertrag verträge|schlauch schläuche|zug züge
"""
_RUSSIAN: Final = """
идти шёл шла шло шли шедший иду идёт идут идём йти йду йдёт йдут йдём ходить хожу ходит ходят ходил
ехать еду едет едут ехал ехала ехали езжать езжает езжают ездить езжу ездит ездят
нести несу несёт нёс несла несли носить ношу носит|везти везу везёт вёз везла возить вожу возит
вести веду ведёт вёл вела вели водить вожу водит|взять возьму возьмёт взял взяла взяли брать беру берёт берут брал
дать дам даст дал дала дали давать даю даёт дают давал|сказать скажу скажет говорить говорю говорит
искать ищу ищет ищут искал|платить плачу платит платил|купить куплю купит купил покупать покупает
найти найду найдёт нашёл нашла нашли находить находит|лечь лягу ляжет лёг легла лежать лежит лежат
сесть сяду сядет сел села сидеть сижу сидит|стать стану станет стал стала|встать встану встанет встал вставать встаёт
открыть открою откроет открыл открывать открывает открываемся открывается открыто
закрыть закрою закроет закрыл закрывать закрывает закрываемся закрывается закрыто закрываются
звонить звоню звонит звонят звонил|обещать обещает обещал обещание|решить решим решил решили решать решаем
прийти приду придёт пришёл пришла пришли приходить приходит приходят
уйти уйду уйдёт ушёл ушла ушли уходить уходит|чинить чиню чинит чинил починить|хотеть хочу хочет хотят хотим хотел
послать пошлю пошлёт послал посылать|писать пишу пишет пишут писал|просить прошу просит просил
терять теряет потерял потерять потерян потеряна|стоить стоит стоят стоил|человек люди людей людям
ребёнок дети детей детям|друг друзья друзей|висеть висит висят вешать вешает повесить|сдать сдаём сдаст сдавать сдаёт
"""
_TABLES: Final = {Language.ENGLISH: _ENGLISH, Language.GERMAN: _GERMAN, Language.RUSSIAN: _RUSSIAN}
#: What may stand before a form and keeps its place before the word: `angerufen` is a form of `anrufen`.
_PREFIXES: Final = {
    Language.ENGLISH: ("over", "under", "out", "re", "un", "up", "mis", "with"),
    Language.GERMAN: (
        *("zurück", "vorbei", "weiter", "wieder", "heraus", "herein", "hinaus", "hinein", "zusammen"),
        *("ab", "an", "auf", "aus", "bei", "durch", "ein", "fort", "her", "hin", "los", "mit", "nach", "statt", "um"),
        *("über", "unter", "vor", "weg", "zu", "be", "ent", "er", "ver", "zer", "ge"),
    ),
    Language.RUSSIAN: (
        *("пере", "при", "про", "под", "раз", "рас", "от", "об", "вы", "до", "за", "на", "по", "со", "у", "в", "с"),
    ),
}
#: Fewest letters of a form behind a prefix.
_FORM_MIN: Final = 2
#: German endings and the `ge-` of regular verbs, of which Snowball leaves `macht` and `gemacht` as they are.
_REGULAR_MIN: Final = 5


@cache
def _read(language: Language) -> Mapping[str, frozenset[str]]:
    """Return the stem of each form with the stems of its words."""
    step = Snowball(language.value, 0).stemWord

    def stem(word: str) -> str:
        return stem_fully(step, word)

    found: dict[str, set[str]] = {}
    for row in _TABLES[language].replace("\n", "|").split("|"):
        words = [fold(word) for word in row.split()]
        for form in {shape for word in words for shape in _stem_both(word, stem)}:
            found.setdefault(form, set()).add(stem(words[0]))
    return {form: frozenset(words) for form, words in found.items()}


def _stem_both(word: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """Return the stem of a word, and what is left of it behind a prefix, where Snowball takes more: `ехала`, `уехала`."""
    return stem(word), stem(f"у{word}").removeprefix("у")


@cache
def _prefixes(language: Language) -> tuple[str, ...]:
    return tuple(fold(prefix) for prefix in _PREFIXES[language])


def find_roots(stem: str, language: Language) -> frozenset[str]:
    """Return the stems of the words of which a stem is an irregular form; none for most."""
    table = _read(language)
    if stem in table:
        return table[stem]
    for prefix in _prefixes(language):
        rest = stem.removeprefix(prefix)
        if rest != stem and len(rest) >= _FORM_MIN and rest in table:
            return frozenset(prefix + root for root in table[rest])
    return _find_regular(stem) if language is Language.GERMAN else frozenset()


def _find_regular(stem: str) -> frozenset[str]:
    """Return what a German stem is without the `t` and the `ge` of regular verbs."""
    found = set()
    for bare in (stem, stem.removeprefix("ge")):
        if len(bare) < _REGULAR_MIN - 1 or (bare != stem and len(stem) <= _REGULAR_MIN):
            continue
        found.add(bare)
        if bare.endswith("t") and len(bare) >= _REGULAR_MIN:
            found.add(bare[:-1])
    return frozenset(found - {stem})
