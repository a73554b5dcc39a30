"""What is nobody else's business: health, faith and sexuality, told by their words.

Conditions and treatments by name, medicines by the endings that pharmacists give them, religions
with their houses, days and diets, orientation and therapy.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..patterns.late import late_pattern

_HEALTH = r"""
    allerg\w+|anaphyla\w+|epipen|intoleran\w+|diabet\w+|prediabet\w+|asthma\w*|epilep\w+
    |seizures?|migraines?|cancer|tumou?rs?|leuk(?:a)?emia|lymphoma|chemo\w*|remission|hiv
    |(?-i:AIDS)|hepatitis|herpes|pregnan\w+|miscarr\w+|abortion|infertil\w+|ivf|menopaus\w+
    |endometriosis|pcos|c(?:o)?eliac|crohn'?s|colitis|ibs|arthritis|rheuma\w+|lupus|fibromyalgia
    |osteopor\w+|scoliosis|eczema|psoriasis|insomnia|sleep[ ]apn(?:o)?ea|narcolep\w+|thyroid
    |hashimoto'?s|an(?:a)?emia|h(?:a)?emophil\w+|sickle[ ]cell|(?:had|suffered|since|after
    |my)[ ](?:a[ ]|my[ ])?stroke|pacemaker|heart[ ](?:condition|attack|disease|failure)
    |blood[ ](?:thinners?|pressure|sugar)|cholesterol|kidney[ ]\w+|dialysis|transplant
    |parkinson'?s|alzheimer'?s|dementia|multiple[ ]sclerosis|cystic[ ]fibrosis|copd|tuberculosis
    |malaria|long[ ]covid|adhd|autis\w+|asperger'?s|dyslexi\w+|tourette'?s|tinnitus
    |insulin|medication|medicated|prescri(?:bed|ption)|antidepressants?|antipsychotics?
    |lithium|prozac|zoloft|xanax|valium|ritalin|adderall|ozempic|wegovy|methadone|warfarin
    |levothyroxine|quetiapine|lamotrigine|testosterone|estrogen|hormone[ ]therapy|wheelchair
    |prosthe\w+|crutches|disabilit(?:y|ies)|(?:i['\u2019]m|i[ ]am|being)[ ]disabled|deaf
    |(?:i['\u2019]m|i[ ]am|colou?r|legally|partially|going)[ -]blind|blind[ ]in
    |hard[ ]of[ ]hearing|disease|disorder|syndrome|surgery|chronic|medical[ ]condition
    |diagnosed[ ]with|allergisch|allergie|schwanger|allergique|enceinte|al[e\u00e9]rgi\w+
    |embarazada"""
_MIND = r"""
    depress(?:ion|ed|ive)|depressionen|anxiety|panic[ ](?:attacks?|disorder)|anxious[ ]disorder
    |bipolar|manic|psychosis|psychotic|schizo\w+|borderline[ ]personality|ocd|ptsd|trauma\w*
    |burn-?out|phobia|suicid\w+|self[ -]harm\w*|eating[ ]disorder|anorexi\w+|bulimi\w+
    |therap(?:y|ist|ists)|psychiatr\w+|psycholog(?:ist|ists)|psychotherap\w+|counsel(?:l)?(?:or
    |ing)|sober|alcoholic|alcoholism|aa[ ]meetings?|twelve[ -]step|12[ -]step|rehab
    |in[ ]recovery|addict(?:ion|ed)?|overdos\w+"""
_SEXUALITY = r"""
    gay|lesbian|queer|bisexual|pansexual|transgender|transsexual|asexual|aromantic|non-?binary
    |genderfluid|intersex|lgbt\w*|(?:i['\u2019]m|i[ ]am|a)[ ]trans|trans[ ](?:wo)?man
    |transition(?:ed|ing)[ ](?:in|at|from)|c[ao]me[ ]out[ ](?:as|to|last|in)|my[ ](?:pronouns
    |sexuality|orientation)|schwul|lesbisch|polyamor\w+"""
_FAITH = r"""
    muslim|islam\w*|(?<!call[ ]me[ ])(?<!name[ ]is[ ])(?<!named[ ])(?<!called[ ])christian
    |christianity|jew|jewish|judaism|hindu\w*|buddhis\w+|catholic\w*|protestant|evangelical
    |baptist|lutheran|methodist|pentecostal|adventist|jehovah'?s[ ]witness\w*|mormon|quaker
    |sikh\w*|jain\w*|bah[a\u00e1]'?i|zoroastrian|taois[tm]|pagan|wiccan|atheis[tm]|agnostic
    |my[ ](?:faith|church|parish|religion)|religio\w+|pray|praying|mosque|synagogue
    |go[ ]to[ ](?:church|mass|temple)|ramadan|eid|sabbath|shabbat|(?:for|during|keep|observe
    |until)[ ]lent|yom[ ]kippur|diwali|kosher|halal|hijab|kippah?|musulman\w*"""
_MEDICINES = (
    "pril", "sartan", "olol", "statin", "prazole", "triptan", "azepam", "azolam", "oxetine",
    "alopram", "cillin", "mycin", "cycline", "gliptin", "glutide", "formin", "dipine", "thiazide",
    "setron", "barbital", "profen", "coxib", "conazole", "traline", "zodone", "apine", "eridone",
)  # fmt: skip
"""How the names of medicines end."""
_SENSITIVE = late_pattern(
    rf"\b(?:{_HEALTH}|{_MIND}|{_SEXUALITY}|{_FAITH}|\w{{2,20}}(?:{'|'.join(_MEDICINES)}))\b"
    r"|\u8fc7\u654f|\u7cd6\u5c3f\u75c5|\u6000\u5b55|\u6291\u90c1|\u30a2\u30ec\u30eb\u30ae\u30fc|\u7cd6\u5c3f\u75c5"
    r"|\u598a\u5a20",
    re.VERBOSE | re.IGNORECASE,
)
_BEGINNINGS = frozenset(
    """
    aller anaph epipe intol diabe predi asthm epile seizu migra cance tumor tumou leuka leuke lymph
    chemo remis hiv aids hepat herpe pregn misca abort infer ivf menop endom pcos celia coeli crohn
    colit ibs arthr rheum lupus fibro osteo scoli eczem psori insom sleep narco thyro hashi anemi
    anaem hemop haemo sickl strok pacem heart blood chole kidne dialy trans parki alzhe demen multi
    cysti copd tuber malar long adhd autis asper dysle toure tinni insul medic presc
    antid antip lithi proza zolof xanax valiu rital adder ozemp wegov metha warfa levot queti lamot
    testo estro hormo wheel prost crutc disab deaf blind heari hard disea disor syndr surge chron
    diagn schwa encei alerg embar depre anxie panic anxio bipol manic psych schiz borde ocd ptsd
    traum burn burno phobi suici self eatin anore bulim thera couns sober alcoh aa twelv step rehab
    recov addic overd gay lesbi queer bisex panse asexu aroma nonbi binar gende inter lgbt lgbtq
    came come prono sexua orien schwu polya musli islam chris jew jewis judai hindu buddh catho
    prote evang bapti luthe metho pente adven jehov mormo quake sikh sikhs jain jaini bahai baha
    zoroa taois pagan wicca athei agnos faith churc paris relig pray prayi mosqu synag mass templ
    ramad eid sabba shabb lent yom diwal koshe halal hijab kippa musul
    """.split()
)
_WORD = late_pattern(r"[^\W\d_]{1,40}")
_PARTS = late_pattern(
    r"(?<=[.!?;])\s+|\n|,? (?:and|but) (?=(?:i|i'm|i\u2019m|i've|i\u2019ve|we|my|our)\b)",
    re.IGNORECASE,
)


def is_sensitive(text: str) -> bool:
    """Say whether a text tells of health, faith or sexuality."""
    # Hardly any text has a word that begins like one of these, and the pattern is read slowly.
    if text.isascii() and not any(map(_may_be, _WORD.findall(text.lower()))):
        return False
    return bool(_SENSITIVE.search(text))


def discreet(text: str, is_kept: Callable[[str], bool]) -> str:
    """Return a text without the parts of it that are sensitive, but for those that are kept.

    A part is a sentence, or what "and I" joins to it: "I'm gay and I live in Rome." are two.
    """
    if not is_sensitive(text):
        return text
    parts, start, joint = [], 0, ""
    for found in _PARTS.finditer(text):
        parts.append((joint, text[start : found.start()]))
        start, joint = found.end(), found[0]
    parts.append((joint, text[start:]))
    left = [(joint, part) for joint, part in parts if is_kept(part) or not is_sensitive(part)]
    if len(left) == len(parts):
        return text
    # What began in the middle of a sentence begins it now.
    said = "".join(joint + part for joint, part in left).removeprefix(left[0][0] if left else "")
    return (said[:1].upper() + said[1:]).strip()


def _may_be(word: str) -> bool:
    return word[:5] in _BEGINNINGS or (len(word) > 5 and word.endswith(_MEDICINES))
