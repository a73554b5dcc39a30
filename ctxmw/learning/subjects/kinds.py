"""Kinds of things of which people mostly have, use or prefer one, and the words for them.

"We traded the Volvo in for a Tesla" is about the same as "We drive a Volvo": both are cars. A word
with a minus says no to its kind: who is vegetarian eats no meat, who is sober drinks no alcohol.
Words of two parts are written with an underscore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

_ONE_OF = """
eats meat: meat beef pork chicken steak steaks bacon burgers fish omnivore carnivore
  -vegetarian -vegan -veggie -plant-based -meatless
eats dairy: dairy cheese butter yoghurt yogurt -vegan -dairy-free
eats bread: bread pasta rice carbs sugar sweets potatoes -keto -low-carb -paleo -atkins -sugar-free
eats gluten: wheat gluten bread pasta -gluten-free -coeliac -celiac
diet: vegetarian vegan pescatarian pescetarian flexitarian omnivore keto paleo low-carb
drinks alcohol: alcohol beer beers wine gin whisky whiskey vodka rum cocktails booze
  -sober -teetotal -teetotaler -alcohol-free
smokes: smoke smoker smoking cigarette cigarettes cigars vape vaping -non-smoker -nonsmoker
  -smoke-free
flies: fly flying flights planes plane airplanes aeroplanes
spice: spicy spice chilli chillies chili chilis curries jalapenos hot_sauce hot_food
has a partner: married engaged girlfriend boyfriend fiance fiancee seeing_someone dating
  in_a_relationship -single -divorced -widowed -separated -broke_up
sleep: early_bird morning_person early_riser lark -night_owl -evening_person -late_riser
goes to work: commute commuting on-site onsite -remote -remotely -home_office -work_from_home
  -working_from_home
expects a child: pregnant -gave_birth -baby_was_born -had_the_baby
formal: formal formally -informal -informally -casual -casually
level: beginner beginners basics novice newbie newcomer from_scratch -expert -advanced
  -experienced -pro
"""
_EITHER = """
car: volvo tesla toyota honda ford bmw audi mercedes volkswagen vw golf passat polo opel peugeot
  renault citroen fiat skoda seat_leon kia hyundai mazda nissan subaru lexus jeep chevrolet chevy
  porsche mini_cooper dacia suzuki mitsubishi jaguar land_rover polestar rivian byd prius civic
  corolla camry hatchback estate_car suv car
phone: phone smartphone iphone android samsung galaxy pixel nokia oneplus xiaomi huawei fairphone
  motorola blackberry
computer: laptop windows mac macbook imac macos linux ubuntu debian fedora arch_linux thinkpad
  chromebook dell_xps surface_pro
editor: vim neovim emacs vs_code vscode pycharm intellij webstorm sublime sublime_text atom zed
  notepad++ helix eclipse nano xcode textmate
browser: chrome firefox safari edge brave opera vivaldi chromium
tickets: jira linear trello asana redmine youtrack clickup github_issues
team chat: slack teams discord mattermost zulip
hosting: heroku fly.io fly aws azure gcp vercel netlify hetzner digitalocean linode cloudflare
notes app: notion obsidian evernote onenote confluence roam logseq
music service: spotify tidal deezer apple_music youtube_music
video service: netflix hulu disney+ hbo_max
ci: jenkins circleci travis github_actions gitlab_ci buildkite teamcity
shift: nights night_shifts night_shift day_shifts day_shift early_shifts late_shifts
shell: bash zsh fish_shell powershell
packages: npm yarn pnpm bun poetry conda pipenv
tests: pytest unittest jest vitest mocha jasmine
database: postgres postgresql mysql mariadb sqlite mongodb oracle dynamodb
frontend: react vue angular svelte
storage: dropbox google_drive onedrive icloud nextcloud
code host: github gitlab bitbucket codeberg
passwords: 1password bitwarden lastpass keepass dashlane
operator: vodafone o2 telekom verizon t-mobile
bank: chase hsbc barclays santander revolut n26 monzo sparkasse ing dkb natwest lloyds
milk: oat_milk soy_milk almond_milk dairy_milk cow's_milk
look: dark_mode light_mode dark_theme light_theme
eyes: glasses contact_lenses contacts
queue: kafka rabbitmq nats sqs pulsar activemq
jobs: celery sidekiq rq dramatiq resque bullmq django-q2 django-q huey airflow prefect temporal
payments: stripe adyen paypal braintree mollie klarna
logins: auth0 keycloak okta cognito
temperature: celsius fahrenheit kelvin
length: metric imperial kilometres kilometers miles metres meters feet inches centimetres
  centimeters
weight: kilograms kilos kg pounds lbs stones grams ounces
money: euros euro dollars dollar pounds sterling yen francs rupees kroner
clock: 24-hour 12-hour am_and_pm military_time
spelling: british_english american_english british_spelling american_spelling us_spelling
  uk_spelling
versions: subtitles subtitled dubbed original_version dubs
reader: kindle paper_books paperbacks ebooks e-reader audiobooks
"""
_PREFERRED = """
hot drink: tea coffee espresso cappuccino matcha chai cocoa decaf
season: winter spring summer autumn fall
colour: red blue green yellow purple orange pink black white grey gray turquoise
seat: window_seat window_seats aisle_seat aisle_seats middle_seat
genre: fantasy horror romance romances romantic_comedies thrillers thriller sci-fi science_fiction
  non-fiction nonfiction biographies crime mysteries comedies documentaries westerns poetry manga
music: jazz rock pop classical hip-hop techno metal folk opera country blues reggae punk
sport: running swimming tennis football soccer basketball yoga crossfit bouldering climbing pilates
  cycling gym boxing hockey golf rowing badminton volleyball spinning
instrument: piano guitar bass drums violin cello flute saxophone trumpet ukulele
food: pizza sushi ramen pasta tacos curry burgers
transport: train trains bus buses bike car cars planes
language: english german french spanish italian portuguese dutch polish russian chinese mandarin
  japanese korean arabic hindi turkish swedish danish norwegian finnish greek
"""


def _read(text: str) -> Iterator[tuple[str, str]]:
    kind = ""
    for line in text.strip().splitlines():
        named, colon, words = line.partition(":")
        kind = named if colon else kind
        for word in (words if colon else line).split():
            yield kind, word


def _by_first_word(*texts: str) -> Mapping[str, Sequence[tuple[tuple[str, ...], str, bool]]]:
    found: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
    for kind, word in (pair for text in texts for pair in _read(text)):
        parts = tuple(word.removeprefix("-").split("_"))
        found.setdefault(parts[0], []).append((parts, kind, not word.startswith("-")))
    return MappingProxyType({first: tuple(those) for first, those in found.items()})


_KNOWN = _by_first_word(_ONE_OF, _EITHER, _PREFERRED)
YES_OR_NO = frozenset(kind for kind, _ in _read(_ONE_OF)) - {"diet"}
"""Kinds that one says yes or no to."""
HELD_ALONE = frozenset(kind for kind, _ in _read(_EITHER)) | {"diet"}
"""Kinds of which one is had, or used, at a time."""
PREFERRED = frozenset(kind for kind, _ in _read(_PREFERRED))
"""Kinds of which one may like many: only a preference names one."""
NEEDS_NO_WORD = frozenset({"has a partner"})
"""Kinds of which another answer is news, though nothing says that it is."""
OF_REQUESTS = frozenset("temperature length weight money clock spelling formal".split())
"""Kinds that are asked for, in whatever is answered."""

Named = tuple[str, str, int, bool]
"""A kind, the word for it, where it stands, and whether it says yes to its kind."""


def named_kinds(words: Sequence[str]) -> list[Named]:
    """Return the things that words name, each with its kind."""
    return [
        (kind, " ".join(parts), at, yes)
        for at, word in enumerate(words)
        for parts, kind, yes in _KNOWN.get(word, ())
        if tuple(words[at : at + len(parts)]) == parts
    ]


def words_of_kinds(kinds: frozenset[str]) -> list[str]:
    """Return the words by which things of these kinds are looked up."""
    return sorted(
        {
            part
            for those in _KNOWN.values()
            for parts, kind, _ in those
            if kind in kinds
            for part in parts[:1]
        }
    )
