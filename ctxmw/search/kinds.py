"""Kinds of things by which people ask for one of them: "which database do we use?".

The words before the bar ask, those behind it answer. Unlike words that are merely near, one of
these is an answer to the question, so that it opens the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

_KINDS = """
database databases db dbms datastore | postgres postgresql mysql mariadb sqlite mongodb mongo oracle
    dynamodb cockroachdb cassandra clickhouse duckdb firestore supabase neo4j mssql couchdb
stack tech backend framework frameworks | django flask fastapi rails spring express nestjs laravel
    symfony nextjs nuxt remix phoenix aspnet dotnet gin actix axum graphql
stack tech frontend framework frameworks ui | react vue angular svelte sveltekit solidjs ember
    tailwind bootstrap
stack tech language programming | python typescript javascript java kotlin golang rust ruby php
    elixir scala swift csharp haskell clojure cobol
cache caching | redis memcached valkey varnish
queue queues broker messaging events | kafka rabbitmq nats sqs pulsar activemq redpanda
jobs job background worker workers tasks scheduler | celery sidekiq rq dramatiq resque bullmq
    django-q2 airflow temporal cron prefect
infrastructure infra orchestration cluster deploy deployed deployment | kubernetes k8s docker helm
    terraform ansible nomad pulumi argocd openshift
hosting hosted host cloud provider region deploy deployed deployment production prod | heroku aws
    azure gcp vercel netlify hetzner digitalocean linode cloudflare render fly ovh
ci pipeline builds | jenkins circleci travis buildkite teamcity gitlab github
monitoring logging logs errors observability alerts alerting | sentry grafana prometheus datadog
    newrelic kibana splunk loki honeycomb opentelemetry pagerduty
auth authentication login sso identity | auth0 keycloak okta cognito oauth oauth2 jwt saml ldap
payment payments billing checkout | stripe paypal adyen klarna braintree mollie square
tickets ticket tracker issues board | jira linear trello asana redmine youtrack clickup
chat messenger messaging | slack teams discord mattermost zulip whatsapp signal telegram
editor ide | vim neovim emacs vscode pycharm intellij webstorm sublime zed helix xcode
shell terminal | bash zsh fish powershell
tests testing test | pytest unittest jest vitest mocha junit rspec playwright cypress
browser | chrome firefox safari edge brave opera vivaldi
phone mobile smartphone | iphone android pixel samsung galaxy fairphone nokia oneplus xiaomi huawei
computer laptop machine os | macbook thinkpad mac windows linux ubuntu debian fedora arch imac
car cars vehicle drive | volvo tesla toyota honda ford bmw audi mercedes volkswagen vw golf opel
    peugeot renault citroen fiat skoda seat kia hyundai mazda nissan subaru lexus jeep dacia suzuki
bank banking account | chase hsbc barclays santander revolut n26 monzo sparkasse ing dkb natwest
parcel parcels courier carrier shipping delivery | dhl ups fedex hermes dpd gls usps evri postnord
supermarket groceries shop | tesco aldi lidl sainsbury walmart costco kroger rewe edeka carrefour
streaming series | netflix hulu disney hbo spotify tidal deezer
insurer insurance insured | allianz axa aviva geico aetna cigna bupa
race races event competition | marathon half-marathon triathlon parkrun ironman 5k 10k duathlon
    ultramarathon regatta tournament
shift shifts hours schedule | nights days mornings evenings weekends earlies lates
pet pets animal | dog cat puppy kitten rabbit hamster parrot budgie horse beagle labrador poodle
    terrier spaniel dachshund tortoise goldfish
allergy allergies allergic intolerance | peanuts peanut nuts shellfish lactose gluten penicillin
    pollen latex dairy eggs soy
injury injuries injured | knee ankle shoulder wrist elbow hip hamstring achilles sprain sprained
    fracture fractured
diet diets eat | vegetarian vegan pescatarian coeliac celiac keto halal kosher gluten-free
instrument instruments play | piano guitar violin cello drums flute saxophone trumpet clarinet bass
    ukulele harp trombone accordion
sport sports exercise workout | running swimming tennis football yoga bouldering climbing pilates
    cycling rowing badminton volleyball crossfit karate judo hiking run-walk jogging
job profession work occupation living | nurse teacher doctor engineer lawyer midwife carpenter
    electrician plumber accountant architect designer chef baker farmer journalist pharmacist
    programmer developer translator paramedic librarian
sibling siblings | brother sister brothers sisters
kid kids child children | son daughter sons daughters twins toddler baby
partner spouse | wife husband girlfriend boyfriend fiance fiancee
"""


def _read() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _KINDS.replace("\n    ", " ").strip().splitlines():
        asking, answering = (side.split() for side in line.split("|"))
        for word in asking:
            found.setdefault(word, set()).update(answering)
    return MappingProxyType({word: frozenset(those) for word, those in found.items()})


KINDS = _read()
"""The words that answer a question, by the word that asks for them."""
THINGS = frozenset(chain.from_iterable(KINDS.values()))
"""All words that answer."""
