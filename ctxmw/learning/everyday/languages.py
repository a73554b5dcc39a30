"""What people tell of themselves and ask for in German, French, Spanish, Chinese and Japanese.

Plain first-person statements and explicit requests only: what the forms of these languages mark
clearly. Everything else is kept as a turn, and found by its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["preference", "fact", "correction"]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of putting something; the group "it", where there is one, is what is stated."""

    kind: Kind
    pattern: re.Pattern[str]


def _way(kind: Kind, pattern: str) -> _Way:
    return _Way(kind, re.compile(pattern, re.VERBOSE))


_GERMAN = (
    _way("fact", r"""(?:bitte[ ])?(?:merk(?:e)?[ ]dir|denk(?:e)?[ ](?:bitte[ ])?daran
        |vergiss[ ]nicht|beachte)
        (?:[ ]bitte)?[,:]?[ ](?:dass[ ])?(?P<it>.+)"""),
    _way("preference", r"""(?:bitte[ ])?(?:ab[ ](?:jetzt|sofort|heute)|k\u00fcnftig|in[ ]zukunft
        |von[ ]nun[ ]an)[ ,].+"""),
    _way("correction", r"""(?:bitte[ ])?(?:benutze?|verwende?|schreib(?:e)?|sag(?:e)?
        |nutze?)[ ](?:nie(?:mals)?|keine?n?)[ ].+"""),
    _way("preference", r"""(?:bitte[ ])?(?:antworte|sprich|schreib(?:e)?|benutze?|verwende|gib
        |rede|erkl\u00e4re?|nutze?|halte?)
        [ ].*\b(?:immer|stets|auf[ ](?:deutsch|englisch|franz\u00f6sisch)|kurz|knapp|einfach
        |metrisch\w*)\b.*"""),
    _way("preference", r"""(?:bitte[ ])?(?:nenn(?:e)?[ ]mich|duze?[ ]mich|sieze?[ ]mich|sag[ ]du
        |sprich[ ]mich[ ]mit)\b.*"""),
    _way("preference", r"""ich[ ](?:(?:mag|liebe|hasse|bevorzuge|vermeide|verabscheue
        |ertrage)[ ]\S.+
        |\w+(?:e|t)[ ](?:\w+[ ]){0,5}(?:lieber|am[ ]liebsten|gerne?|ungern|nie(?:mals)?|immer
        |keine?n?)\b.*
        |(?:esse|trinke)[ ](?:nur|kein\w*|nie)\b.+)"""),
    _way("fact", r"""ich[ ](?:(?:wohne|lebe|arbeite|studiere|hei\u00dfe|heisse|komme[ ]aus|spreche
        |unterrichte)[ ]\S.+
        |bin[ ](?!m\u00fcde|da\b|zur\u00fcck|gerade|hier|bereit|sicher|froh|dran|fertig|verwirrt
        |nicht[ ]sicher|der|die|das|in|im
          |auf|am|jetzt|heute|mir|so|mit|ganz|gespannt|begeistert|noch|schon|wieder)\S.+
        |habe[ ].*(?:allergie|diabetes|asthma|kinder|sohn|tochter|hund|katze|geschwister
        |unvertr\u00e4glichkeit)\w*.*
        |vertrage[ ]kein.+)"""),
    _way("fact", r"""(?:mein|meine)[ ](?:name|geburtstag|adresse|frau|mann|tochter|sohn|kinder
        |hund|katze|beruf|chef|chefin
        |lieblings\w+|hobby|mutter|vater|partner|partnerin)[ ](?:ist|sind|hei\u00dft|heissen|hat
        |haben|wohnt)[ ].+"""),
)  # fmt: skip
_FRENCH = (
    _way("fact", r"""(?:souviens-toi|rappelle-toi|n'oublie[ ]pas|note|retiens|souvenez-vous
        |notez)(?:[ ]bien)?[ ]?[:,]?[ ]
        (?:que[ ]|qu')(?P<it>.+)"""),
    _way("preference", r"""(?:\u00e0[ ]partir[ ]de[ ]maintenant|d\u00e9sormais
        |dor\u00e9navant)\b.+"""),
    _way("correction", r"""(?:ne[ ]|n')\w+(?:[ ]\w+)?[ ](?:jamais|plus|pas[ ](?:d'
        |de[ ])\w+).*"""),
    _way("preference", r"""(?:r\u00e9ponds|r\u00e9pondez|utilise|utilisez|\u00e9cris|parle
        |donne)(?:-moi)?[ ].*\b(?:toujours
        |en[ ](?:fran\u00e7ais|anglais|allemand|espagnol)|bri\u00e8vement|unit\u00e9s)\b.*"""),
    _way("preference", r"""(?:appelle-moi|appelez-moi|tutoie-moi|vouvoie-moi|tutoyez-moi)\b.*"""),
    _way("preference", r"""(?:je[ ](?:pr\u00e9f\u00e8re|d\u00e9teste|adore|n'aime[ ]pas
        |ne[ ](?:mange|bois|supporte|porte|veux)[ ](?:pas|jamais|plus|que)|hais)
        |j'(?:aime|adore|\u00e9vite|ai[ ]horreur))[ ](?!(?:\u00e7a|cela|bien[ ](?:\u00e7a|cette)
        |cette|ce|ton|ta|votre)\b).+"""),
    _way("fact", r"""(?:je[ ]m'appelle|j'habite|je[ ](?:vis|travaille|enseigne|parle|viens[ ]de
        |souffre)|j'\u00e9tudie
        |j'ai[ ](?:un|une|deux|trois|des)[ ](?:\w+[ ])?(?:enfants?|fille|fils|chiens?|chats?
        |allergie|fr\u00e8res?|s\u0153urs?)
        |je[ ]suis[ ](?!(?:fatigu|d\u00e9sol|l\u00e0\b|pr\u00eat|perdu|en[ ]train|content|s\u00fbr
        |d'accord|en[ ]retard|de[ ]retour|curieu
          |ravi|heureu|all\u00e9|bloqu|d'avis))\S)[ ]?.*"""),
    _way("fact", r"""(?:mon|ma|mes)[ ](?:nom|pr\u00e9nom|anniversaire|adresse|femme|mari|fils
        |fille|enfants|chien|chat|m\u00e9tier
        |couleur|plat|m\u00e8re|p\u00e8re)\b.{0,20}[ ](?:est|sont|s'appelle|s'appellent|a
        |habite)[ ].+"""),
)  # fmt: skip
_SPANISH = (
    _way("fact", r"""(?:por[ ]favor,?[ ])?(?:recuerda|no[ ]olvides|ten[ ]en[ ]cuenta|anota
        |recu\u00e9rdalo)[ ]?[:,]?[ ](?:que[ ])?(?P<it>.+)"""),
    _way("preference", r"""(?:a[ ]partir[ ]de[ ]ahora|de[ ]ahora[ ]en[ ]adelante
        |en[ ]adelante)\b.+"""),
    _way("correction", r"""no[ ](?:uses|utilices|escribas|pongas|me[ ]llames|hables)[ ].+"""),
    _way("preference", r"""(?:por[ ]favor,?[ ])?(?:responde|contesta|usa|utiliza|escribe|habla
        |dame)[ ].*\b(?:siempre
        |en[ ](?:espa\u00f1ol|ingl\u00e9s|alem\u00e1n|franc\u00e9s)|brevemente|unidades|corto
        |cortas)\b.*"""),
    _way("preference", r"""(?:por[ ]favor,?[ ])?(?:ll\u00e1mame|tut\u00e9ame
        |tr\u00e1tame[ ]de)\b.*"""),
    _way("preference", r"""(?:yo[ ])?(?:prefiero|odio|detesto|adoro|evito|me[ ](?:gustan?
        |encantan?|molestan?)|no[ ]me[ ]gustan?
        |no[ ](?:como|bebo|soporto|uso)|siempre[ ]\w+o|nunca[ ]\w+o)[ ](?!(?:esto|eso|esta|este
        |tu)\b).+"""),
    _way("fact", r"""(?:me[ ]llamo|vivo[ ]en|trabajo[ ](?:como|en|de|para)|estudio
        |(?:yo[ ])?soy(?![ ](?:yo|milk|sauce|beans?|is|protein|products?|and|or)\b)|hablo|vengo[ ]de
        |tengo[ ](?:un|una|dos|tres)[ ](?:\w+[ ])?(?:hij[oa]s?|perr[oa]s?|gat[oa]s?|alergia
        |herman[oa]s?)
        |tengo[ ](?:alergia|diabetes|asma)|estoy[ ](?:casad|embarazad|divorciad
        |jubilad))[ ]?\w.*"""),
    _way("fact", r"""mis?[ ](?:nombre|cumplea\u00f1os|direcci\u00f3n|esposa|mujer|marido|hij[oa]s?
        |perr[oa]|gat[oa]|trabajo|color
        |comida|madre|padre)\b.{0,20}[ ](?:es|son|se[ ]llaman?|tienen?|viven?)[ ].+"""),
)  # fmt: skip
_CHINESE = (
    _way("fact", r"""(?:\u8bf7)?(?:\u8bb0\u4f4f|\u8bb0\u5f97
        |\u522b\u5fd8\u4e86?)[\uff0c\uff1a:, ]*(?P<it>.{3,})"""),
    _way("correction", r"""(?:\u8bf7)?(?:\u4ee5\u540e)?(?:\u4e0d\u8981|\u522b)(?:\u518d
        |\u4f7f\u7528|\u7528).+"""),
    _way("preference", r"""(?:\u8bf7)?(?:\u59cb\u7ec8|\u4e00\u76f4|\u603b\u662f|\u6c38\u8fdc
        |\u4ee5\u540e|\u4eca\u540e|\u4ece\u73b0\u5728(?:\u8d77|\u5f00\u59cb)).+"""),
    _way("preference", r"""(?:\u8bf7|\u4f60\u53ef\u4ee5)?(?:\u53eb\u6211|\u79f0\u547c\u6211).+"""),
    _way("preference", r"""\u6211(?:\u5e73\u65f6|\u4e00\u76f4|\u771f\u7684|\u975e\u5e38
        |\u7279\u522b|\u6bd4\u8f83|\u66f4)?(?:\u559c\u6b22|\u4e0d\u559c\u6b22|\u8ba8\u538c|\u7231
        |\u504f\u597d|\u4e0d\u5403|\u4e0d\u559d|\u53ea|\u4ece\u4e0d|\u603b\u662f|\u6bcf\u5929
        |\u4e60\u60ef)(?!\u8fd9|\u4f60\u7684).+"""),
    _way("fact", r"""\u6211(?:\u7684(?:\u540d\u5b57|\u751f\u65e5|\u5bb6|\u5de5\u4f5c|\u5973\u513f
        |\u513f\u5b50|\u59bb\u5b50|\u4e08\u592b|\u72d7|\u732b).*\u662f?|\u53eb|\u4f4f\u5728
        |\u6765\u81ea|\u4f1a\u8bf4|\u662f(?!\u8bf4|\u60f3|\u4e0d\u662f|\u5426)
        |\u5728.{1,12}(?:\u5de5\u4f5c|\u4e0a\u73ed|\u4e0a\u5b66|\u5b66\u4e60)
        |\u5bf9.{1,12}\u8fc7\u654f|\u6709.{0,6}(?:\u5b69\u5b50|\u5973\u513f|\u513f\u5b50|\u732b
        |\u72d7|\u7cd6\u5c3f\u75c5)).*"""),
)  # fmt: skip
_JAPANESE = (
    _way("fact", r"""(?P<it>.{3,}?)(?:\u3060)?(?:\u3068
        |\u3053\u3068\u3092)\u899a\u3048\u3066(?:\u304a\u3044\u3066)?(?:\u304f\u3060\u3055\u3044)?"""),
    _way("correction", r""".+\u306a\u3044\u3067\u304f\u3060\u3055\u3044"""),
    _way("preference", r"""(?:\u3044\u3064\u3082|\u5fc5\u305a|\u3053\u308c\u304b\u3089\u306f
        |\u4eca\u5f8c\u306f?|\u5e38\u306b).+"""),
    _way("preference", r""".{1,20}\u3068\u547c\u3093\u3067\u304f\u3060\u3055\u3044"""),
    _way("preference", r"""(?:(?:\u79c1|\u50d5|\u4ffa
        |\u308f\u305f\u3057)\u306f)?[^\u306f]{1,40}(?:\u304c(?:\u5927)?\u597d\u304d
        |\u304c(?:\u5927)?\u5acc\u3044|\u304c\u82e6\u624b|\u3092(?:\u98df\u3079
        |\u98f2\u307f)\u307e\u305b\u3093)(?:\u3067\u3059)?"""),
    _way("fact", r"""(?:(?:\u79c1|\u50d5|\u4ffa
        |\u308f\u305f\u3057)\u306f)?[^\u306f]{1,40}(?:\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059
        |\u3067\u50cd\u3044\u3066\u3044\u307e\u3059
        |\u30a2\u30ec\u30eb\u30ae\u30fc(?:\u304c\u3042\u308a\u307e\u3059|\u3067\u3059)
        |\u3092\u98fc\u3063\u3066\u3044\u307e\u3059|\u3068\u7533\u3057\u307e\u3059
        |\u51fa\u8eab\u3067\u3059)"""),
    _way("fact", r"""(?:\u79c1|\u50d5|\u4ffa|\u308f\u305f\u3057)(?:\u306f|\u306e(?:\u540d\u524d
        |\u8a95\u751f\u65e5|\u8da3\u5473|\u4ed5\u4e8b|\u59bb|\u592b|\u5a18
        |\u606f\u5b50)\u306f).{1,40}\u3067\u3059"""),
    _way("preference", r"""(?!\u5f7c|\u3042\u306a\u305f|\u53cb|\u3053\u306e|\u305d\u306e
        |\u3042\u306e|\u3053\u308c|\u305d\u308c
        |\u4eca)[^\u306f\u3002]{1,30}\u306f(?:\u3042\u307e\u308a|\u5168\u7136
        |\u3068\u3066\u3082)?(?:\u82e6\u624b|\u5acc\u3044
        |\u5927?\u597d\u304d)(?:\u3067\u3059
        |\u3058\u3083\u306a\u3044(?:\u3067\u3059)?
        |\u3067\u306f\u3042\u308a\u307e\u305b\u3093|\u3060)?"""),
    _way("preference", r"""(?!\u5f7c|\u3042\u306a\u305f|\u53cb|\u3053\u306e|\u305d\u306e
        |\u3042\u306e|\u3053\u308c|\u305d\u308c
        |\u4eca)[^\u306f\u3002]{1,20}(?:\u306f|\u3092)(?:\u98df\u3079
        |\u98f2\u307f|\u4f7f\u3044)(?:\u307e\u305b\u3093|\u306a\u3044)"""),
    _way("preference", r"""(?:\u56de\u7b54|\u8fd4\u4e8b|\u8fd4\u4fe1|\u7b54\u3048|\u8aac\u660e
        |\u5358\u4f4d|\u65e5\u4ed8|\u6e29\u5ea6|\u8ddd\u96e2|\u91d1\u984d
        |\u6642\u523b
        |\u30b3\u30fc\u30c9)\u306f.{1,25}(?:\u304a\u9858\u3044\u3057\u307e\u3059
        |\u304f\u3060\u3055\u3044)"""),
    _way("preference", r"""(?:\u656c\u8a9e|\u7d75\u6587\u5b57|\u5c02\u9580\u7528\u8a9e|\u82f1\u8a9e
        |\u65e5\u672c\u8a9e|\u7b87\u6761\u66f8\u304d|\u8868
        |\u30bf\u30e1\u53e3).{1,20}(?:\u304f\u3060\u3055\u3044
        |\u304a\u9858\u3044\u3057\u307e\u3059|\u306a\u3044\u3067)"""),
    _way("preference", r"""(?!\u3053\u306e|\u305d\u306e
        |\u6b21\u306e).{2,40}\u3088\u3046\u306b\u3057\u3066\u304f\u3060\u3055\u3044"""),
    _way("fact", r"""(?:\u5b50\u4f9b|\u5b50\u3069\u3082|\u606f\u5b50|\u5a18|\u59bb|\u592b
        |\u72ac|\u732b|\u5144|\u59c9|\u5f1f|\u59b9)(?:\u304c
        |\u3092).{0,10}(?:\u3044\u307e\u3059
        |\u98fc\u3063\u3066\u3044\u307e\u3059)"""),
    _way("fact", r"""(?!\u5f7c|\u3053\u306e
        |\u305d\u306e)[^\u306f\u3002]{1,20}(?:\u3068\u3057\u3066(?:\u50cd\u3044\u3066
        |\u52e4\u3081\u3066)|\u306b\u52e4\u3081\u3066)\u3044\u307e\u3059"""),
    _way("fact", r"""\u540d\u524d\u306f.{1,15}\u3067\u3059"""),
    _way("preference", r"""\u6bce(?:\u65e5|\u671d|\u6669|\u9031|\u6708).{2,30}\u307e\u3059"""),
)  # fmt: skip
_SPACED = (*_GERMAN, *_FRENCH, *_SPANISH)
_UNSPACED = (*_CHINESE, *_JAPANESE)

_LEAD = re.compile(
    r"(?:(?:ok|okay|ja|nein|also|hallo|hi|danke|\u00fcbrigens|oui|non|bonjour|salut|merci|"
    r"au fait|s\u00ed|no,|hola|"
    r"gracias|por cierto)[,.!]* )+"
)
_DOUBTFUL = re.compile(
    r"""\?|\u00bf|\uff1f|\u00a4|[\u300c\u300e]
      | \b(?:wenn[ ]ich|w\u00fcrde|w\u00e4re|vielleicht|stell[ ]dir|heute|gerade|jetzt[ ]nicht
      |morgen|diesmal|si[ ]j'|si[ ]je|peut-\u00eatre
        |aujourd'hui|demain|cette[ ]fois|si[ ]yo|si[ ]fuera|quiz\u00e1s?|tal[ ]vez|hoy|ma\u00f1ana
        |esta[ ]vez|ahora[ ]mismo)\b
      | \u5417|\u5462|\u4ec0\u4e48|\u600e\u4e48|\u5982\u679c|\u8981\u662f|\u5047\u5982
      |\u7ffb\u8bd1|\u4eca\u5929|\u660e\u5929|\u73b0\u5728\u5728
      | \u3082\u3057|\u8a33\u3057|\u304b[\u3002]?$|\u4eca\u65e5|\u660e\u65e5|\u305f\u3089""",
    re.VERBOSE,
)
_TEXT_WANTED = re.compile(
    r"(?:bitte )?(?:\u00fcbersetze?|schreib(?:e)? (?:mir |einen? |das )|korrigiere|formuliere|"
    r"traduis|\u00e9cris (?:une?|moi)|corrige|"
    r"r\u00e9sume|traduce|escribe(?:me)? (?:una?|me)|resume)\b"
)
_HAN_OR_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_STOPS = re.compile(r"[^\u3002\uff01\uff1f!?]+[\u3002\uff01\uff1f!?]?")
_MARKS = re.compile(
    "[\u00e4\u00f6\u00fc\u00df\u00e9\u00e8\u00ea\u00e0\u00e7\u00f1\u00e1\u00ed\u00f3\u00fa\u0153]"
)


def told_elsewhere(text: str, plain: str) -> Iterator[tuple[Kind, str]]:
    """Yield what a sentence states in one of these languages: its kind and its words."""
    if not _HAN_OR_KANA.search(text):
        if found := _first(_SPACED, text, plain):
            yield found
        return
    for part in _STOPS.finditer(plain):
        start, end = part.span()
        if found := _first(_UNSPACED, text[start:end].strip(), plain[start:end].strip()):
            yield found


def _first(ways: tuple[_Way, ...], text: str, plain: str) -> tuple[Kind, str] | None:
    if _DOUBTFUL.search(plain) or _TEXT_WANTED.match(plain):
        return None
    lead = _LEAD.match(plain)
    start = lead.end() if lead else 0
    for way in ways:
        if found := way.pattern.match(plain, start):
            it = found.start("it") if "it" in way.pattern.groupindex else start
            end = found.end("it") if "it" in way.pattern.groupindex else len(text)
            return way.kind, text[it:end].strip()
    return None
