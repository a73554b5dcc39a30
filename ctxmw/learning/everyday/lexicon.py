"""Words by what they tell about somebody who says them of themselves: attitudes, habits, bonds.

A sentence is not compared with phrases; its subject and its verb are looked up here, and whatever
stands around them is free.
"""

from __future__ import annotations

_ATTITUDE = """
prefer prefers like love hate dislike enjoy adore loathe despise detest abhor avoid refuse favor
favour value prioritize prioritise tolerate fear dread resent oppose support advocate
cherish treasure admire crave shun boycott distrust mistrust embrace champion fancy relish decline
"""
ATTITUDES = frozenset(_ATTITUDE.split())
"""Verbs that tell what somebody likes, wants or will have nothing of."""

_HABIT = """
live work study teach own drive ride play collect speak cook bake read wear eat drink watch buy
shop sleep travel commute cycle bike walk swim run jog train exercise practise practice pray sing
dance paint draw knit sew garden fish hunt camp climb hike surf ski volunteer smoke vape vote
identify follow adhere abide observe keep raise breed grow brew follow stream subscribe attend
consume purchase dine listen meditate journal commute struggle suffer tend gravitate lean stick
stay steer shy opt choose care belong manage lead coach treat worship fast consider rely require
learn use take write code carry wake order stock rent lodge skate row sail dress dye shave
"""
HABITS = frozenset(_HABIT.split())
"""Verbs that tell what somebody does again and again, or is, when said in the present."""

FREQUENCY = frozenset(
    "always never usually often rarely seldom mostly generally typically normally regularly only"
    " exclusively strictly hardly mainly primarily solely frequently routinely religiously"
    " occasionally sometimes deliberately consistently daily weekly".split()
)
"""Adverbs that make a habit of any verb."""
EVERY = (
    r"\b(?:every|each) (?:\w{1,30} )?(?:day|morning|evening|night|week|weekend|month|year|summer|"
    r"winter|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|time)\b|\bon (?:mon|tues|wednes|"
    r"thurs|fri|satur|sun)days\b|\b(?:on|at) weekends\b|\bon weekdays\b|\b(?:once|twice|times|"
    r"lit(?:re|er)s|"
    r"cups|hours|\d{1,9}\w{0,9})(?: of \w{1,30})? (?:a|per) (?:day|week)\b|\bfor a living\b|\b(?:in the|"
    r"most) (?:mornings|evenings|afternoons)\b"
)

MIND = frozenset(
    "think guess know see understand wonder hope mean suppose assume imagine doubt agree bet wish"
    " notice promise remember forget recall realize realise expect figure admit swear apologize"
    " apologise thank hear believe get got feel tell told say said ask asked want need try have"
    " look just find keep".split()
)
"""Verbs of the moment: what is thought, asked or tried right now says nothing lasting."""

STATES = frozenset(
    "vegetarian vegan pescatarian flexitarian omnivore celiac coeliac diabetic asthmatic epileptic"
    " anaemic anemic dyslexic autistic bipolar adhd disabled deaf blind colour-blind color-blind"
    " colorblind colourblind left-handed right-handed ambidextrous allergic intolerant married"
    " single divorced widowed engaged retired unemployed self-employed freelance gay lesbian queer"
    " bisexual transgender trans asexual nonbinary non-binary muslim christian jewish"
    " hindu buddhist catholic protestant orthodox atheist agnostic religious sikh mormon quaker"
    " pregnant sober teetotal vaccinated bilingual trilingual introverted extroverted nearsighted"
    " shortsighted claustrophobic agoraphobic arachnophobic adopted childless".split()
)
"""What somebody is for years; the words after it may say to what, or how."""

LEANINGS = frozenset(
    "afraid scared terrified frightened petrified averse sensitive passionate interested"
    " uninterested into opposed against committed dedicated devoted uncomfortable comfortable"
    " fond keen addicted obsessed prone mindful particular picky selective wary skeptical"
    " sceptical"
    " partial accustomed used fluent good bad terrible great hopeless skilled experienced allergic"
    " intolerant conscious cautious squeamish enthusiastic crazy nuts hooked loyal faithful based"
    " drawn attached inclined reluctant hesitant unwilling indifferent strict careful proficient"
    " susceptible vulnerable mad fascinated intrigued bothered disturbed bored driven".split()
)
"""Adjectives that need their object: afraid of heights, keen on trains."""

DOING = frozenset(
    "studying learning training teaching raising saving recovering living working writing"
    " dating homeschooling renting quitting cutting following".split()
)
"""What takes months, said as being done."""

POSSESSED = frozenset(
    "allergy allergies intolerance sensitivity aversion preference dislike hatred distaste fear"
    " phobia passion interest objection bias weakness disease disorder condition diabetes asthma"
    " migraines arthritis eczema epilepsy dyslexia adhd anxiety depression autism celiac coeliac"
    " hypertension tinnitus insomnia ibs pcos skin hair stomach knees knee back eyesight heart"
    " family wife husband partner son sons daughter daughters kid kids child children baby twins"
    " brother brothers sister sisters girlfriend boyfriend fiance fiancee parents mother father"
    " dog dogs cat cats pet pets parrot hamster rabbit rabbits horse horses fish goldfish bird"
    " birds chickens puppy kitten garden house apartment flat farm balcony car motorbike bike"
    " degree phd diploma licence license budget patience practice rehearsal tattoo tattoos braces"
    " pacemaker disability dependents sweet-tooth tooth subscription membership policy rule habit"
    " grandson granddaughter grandchildren stepson stepdaughter mortgage visa citizenship passport"
    " appetite affinity soft-spot penchant taste tolerance belief beliefs principle routine"
    " tendency love knack reservations qualms".split()
)
"""Nouns that one has for long."""
FLEETING = frozenset(
    "headache cold flu fever question questions problem problems issue issues meeting idea doubt"
    " feeling trouble minute moment request error bug file list call appointment exam test flight"
    " deadline function class dataframe dataset script string table text document sentence code"
    " look favour favor suggestion chance hunch cough hangover".split()
)
"""Nouns that one has for a moment, or on the screen."""

CLOSE = (
    r"wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|sons?|daughters?|kids?|"
    r"child(?:ren)?|baby|twins|dogs?|cats?|pets?|puppy|kitten|mother|father|mom|mum|dad|parents|"
    r"other half|grandma|grandpa|grandson|granddaughter|brothers?|sisters?"
)
"""Those whose name, age or health somebody tells as their own."""
ATTRIBUTES = (
    r"(?:full |first |last |middle |maiden |sur|nick)?name|nickname|pronouns|birthday|birth date|"
    r"date of birth|address|e-?mail(?: address)?(?: for [\w ]{1,30})?|time ?zone|hometown|home|"
    r"job|"
    r"occupation|profession|title|"
    r"employer|(?:emergency )?contact|lawyer|solicitor|accountant|vet|coach|trainer|boss|manager|supervisor|assistant|doctor|dentist|therapist|landlord|mentor|"
    r"team lead|native language|mother tongue|first language|nationality|religion|faith|age|"
    r"height|weight|shoe size|(?:dress |ring |clothing |shirt )?size|blood type|skin type|"
    r"hair type|diet|hobby|hobbies|"
    r"goal|goals|budget|salary|income|(?:wedding )?anniversary|contract|lease|phone|laptop|"
    r"computer|tablet|car|bike|printer|router|oven|kitchen|office|apartment|flat|house|garden|"
    r"star sign|zodiac sign|allergies|allergy|condition|commute|schedule|shift|working hours|"
    r"office hours|day off|days off|bedtime|timezone|major|degree|school|university|company|"
    r"database|(?:tech )?stack|framework|backend|frontend|(?:main|default) branch|cloud provider|"
    r"operating system|os|editor|browser|shell|keyboard|bank|insurance|gym|club|"
    r"stand-?up|retro|rehearsal|(?:gym|release|rest|pay|cleaning|laundry|market) day|"
    r"(?:all-time )?favou?rite [\w' -]{1,40}?|go-to [\w -]{1,30}?|preferred [\w' -]{1,30}?|"
    r"(?:biggest |main |only )?(?:fear|weakness|passion|pet peeve|dealbreaker|priority)"
)
"""What of mine is told: "my ... is ..."."""
