"""Which keys tell by themselves what they are: how each vendor's begins, and of what it is made.

A table of facts, one row a kind. The prefixes, alphabets and lengths are those that the vendors
publish and that two well-kept lists record: gitleaks (github.com/gitleaks/gitleaks, MIT,
`config/gitleaks.toml`) and detect-secrets (github.com/Yelp/detect-secrets, Apache-2.0). Left out is
what is public by design: client ids, account ids and publishable keys. All prefixes become one
pattern, a tree in which each character is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..patterns.late import late_pattern

ALPHABETS = {
    "alnum": "A-Za-z0-9",
    "upper": "A-Z0-9",
    "hex": "A-Fa-f0-9",
    "word": r"A-Za-z0-9_\-",
    "dotted": r"A-Za-z0-9_.=\-",
    "base64": r"A-Za-z0-9_+/=\-",
}


class Secret(NamedTuple):
    """Where a secret stands in a text, and of what kind it is."""

    start: int
    end: int
    kind: str


class Prefixed(NamedTuple):
    """A kind of key that begins with one of some prefixes."""

    kind: str
    prefixes: str
    alphabet: str
    least: int
    """So many characters follow at least."""
    exact: bool = False
    """No more follow either: a short prefix alone would not tell it."""


PREFIXED: tuple[Prefixed, ...] = (
    # Models
    Prefixed("anthropic_key", "sk-ant-", "word", 20),
    Prefixed("openai_key", "sk-", "word", 20),
    Prefixed("google_key", "AIza", "word", 35),
    Prefixed("google_key", "ya29.", "word", 20),
    Prefixed("google_key", "GOCSPX-", "word", 20),
    Prefixed("google_key", "1//0", "word", 38),
    Prefixed("huggingface_token", "hf_ api_org_", "alnum", 30),
    Prefixed("langsmith_key", "lsv2_pt_ lsv2_sk_", "word", 32),
    Prefixed("model_key", "gsk_ xai- tvly- pplx- r8_ nvapi- jina_ pcsk_", "word", 24),
    Prefixed("model_key", "sk_", "hex", 48, exact=True),
    # Clouds and infrastructure
    Prefixed("aws_key", "AKIA ASIA ABIA ACCA", "upper", 16, exact=True),
    Prefixed("aws_key", "A3T", "upper", 17, exact=True),
    Prefixed("alibaba_key", "LTAI", "alnum", 20, exact=True),
    Prefixed("cloudflare_key", "v1.0-", "word", 100),
    Prefixed("databricks_token", "dapi", "hex", 32),
    Prefixed("digitalocean_token", "doo_v1_ dop_v1_ dor_v1_", "hex", 64),
    Prefixed("doppler_token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "dotted", 40),
    Prefixed("dynatrace_token", "dt0c01.", "dotted", 80),
    Prefixed("fly_token", "fo1_", "word", 43),
    Prefixed("fly_token", "fm1a_ fm1r_ fm2_", "base64", 100),
    Prefixed("heroku_key", "HRKU-", "word", 36),
    Prefixed("infracost_token", "ico-", "alnum", 32, exact=True),
    Prefixed("openshift_token", "sha256~", "word", 43),
    Prefixed("planetscale_token", "pscale_tkn_ pscale_oauth_ pscale_pw_", "dotted", 32),
    Prefixed("pulumi_token", "pul-", "hex", 40),
    Prefixed("scalingo_token", "tk-us-", "word", 48),
    Prefixed("supabase_key", "sbp_", "hex", 40),
    Prefixed("supabase_key", "sb_secret_", "word", 20),
    Prefixed("tailscale_key", "tskey-", "word", 20),
    Prefixed("vault_token", "hvs. hvb. hvr.", "word", 24),
    Prefixed("vault_token", "s.", "alnum", 24, exact=True),
    Prefixed("clickhouse_key", "4b1d", "alnum", 38, exact=True),
    Prefixed("yandex_key", "AQVN", "word", 35),
    # Code and packages
    Prefixed("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", "alnum", 30),
    Prefixed("github_token", "github_pat_", "word", 22),
    Prefixed(
        "gitlab_token",
        "glpat- glptt- gldt- glrt- glsoat- glcbt- glft- glffct- glimt- glagent- gloas-",
        "dotted",
        20,
    ),
    Prefixed("gitlab_token", "GR1348941", "word", 20),
    Prefixed("artifactory_token", "AKCp", "alnum", 60),
    Prefixed("artifactory_token", "cmVmd", "alnum", 59, exact=True),
    Prefixed("clojars_token", "CLOJARS_", "alnum", 60),
    Prefixed("docker_token", "dckr_pat_ dckr_oat_", "word", 20),
    Prefixed("npm_token", "npm_", "alnum", 36),
    Prefixed("nuget_key", "oy2", "alnum", 43, exact=True),
    Prefixed("postman_key", "PMAK-", "word", 50),
    Prefixed("prefect_token", "pnu_ pnb_", "alnum", 36),
    Prefixed("pypi_token", "pypi-", "word", 50),
    Prefixed("readme_token", "rdme_", "alnum", 60),
    Prefixed("rubygems_token", "rubygems_", "hex", 48),
    Prefixed("sourcegraph_token", "sgp_", "word", 40),
    Prefixed("terraform_token", "at-", "alnum", 40, exact=True),
    Prefixed("buildkite_token", "bkua_", "hex", 40),
    Prefixed("octopus_key", "API-", "upper", 26, exact=True),
    Prefixed("harness_key", "pat. sat.", "dotted", 68),
    Prefixed("netlify_token", "nfp_", "alnum", 36),
    # Work, chat, mail
    Prefixed("airtable_token", "pat", "dotted", 79, exact=True),
    Prefixed("adobe_secret", "p8e-", "alnum", 32),
    Prefixed("atlassian_token", "ATATT3 ATCTT3 ATBB", "base64", 28),
    Prefixed("contentful_token", "CFPAT-", "word", 40),
    Prefixed("figma_token", "figd_ figo_ figoh_", "word", 30),
    Prefixed("frameio_token", "fio-u-", "dotted", 64),
    Prefixed("hubspot_token", "pat-na1- pat-eu1-", "word", 36),
    Prefixed("linear_key", "lin_api_ lin_oauth_", "alnum", 32),
    Prefixed("notion_token", "ntn_", "alnum", 40),
    Prefixed("notion_token", "secret_", "alnum", 43, exact=True),
    Prefixed("sendgrid_key", "SG.", "dotted", 40),
    Prefixed("mailgun_key", "key-", "hex", 32, exact=True),
    Prefixed("sendinblue_key", "xkeysib- xsmtpsib-", "word", 64),
    Prefixed(
        "slack_token",
        "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-",
        "word",
        10,
    ),
    Prefixed("typeform_token", "tfp_", "dotted", 40),
    Prefixed("twilio_key", "SK", "hex", 32, exact=True),
    Prefixed("settlemint_token", "sm_aat_ sm_pat_ sm_sat_", "alnum", 16),
    Prefixed("defined_networking_token", "dnkey-", "word", 60),
    Prefixed("intra42_secret", "s-s4t2ud- s-s4t2af-", "hex", 64),
    # Watching
    Prefixed("grafana_token", "glc_", "base64", 32),
    Prefixed("grafana_token", "glsa_", "word", 40),
    Prefixed("grafana_token", "eyJrIjoi", "base64", 60),
    Prefixed("newrelic_key", "NRAK- NRII- NRRA- NRJS- NRIQ-", "word", 19),
    Prefixed("sentry_token", "sntrys_ sntryu_", "base64", 40),
    # Money and shops
    Prefixed("duffel_token", "duffel_test_ duffel_live_", "dotted", 40),
    Prefixed("easypost_key", "EZAK EZTK", "alnum", 54),
    Prefixed("facebook_token", "EAAM EAAC", "alnum", 100),
    Prefixed("flutterwave_key", "FLWSECK_TEST- FLWSECK-", "word", 12),
    Prefixed("plaid_token", "access-sandbox- access-development- access-production-", "word", 36),
    Prefixed("shippo_token", "shippo_live_ shippo_test_", "hex", 40),
    Prefixed("shopify_token", "shpat_ shpca_ shppa_ shpss_", "hex", 32),
    Prefixed("square_token", "EAAA", "word", 60, exact=True),
    Prefixed("square_token", "sq0atp- sq0csp-", "word", 22),
    Prefixed(
        "stripe_key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_",
        "alnum",
        10,
    ),
    # Keys of people
    Prefixed("1password_key", "ops_eyJ", "base64", 100),
    Prefixed("1password_key", "A3-", "word", 33),
    Prefixed("age_key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", "word", 50),
    Prefixed("jwt", "ZXlK", "base64", 60),
)


class Marked(NamedTuple):
    """A kind of key that something within it tells."""

    kind: str
    mark: str
    """Stands in every one; a text without it needs no closer look."""
    pattern: re.Pattern[str]


# A word begins there. Behind the first character, so that only such characters are looked at.
_FIRST = r"(?<![A-Za-z0-9_-].)"
MARKED: tuple[Marked, ...] = tuple(
    Marked(kind, mark, late_pattern(first + _FIRST + rest, re.ASCII))
    for kind, mark, first, rest in (
        ("jwt", "eyJ", "e", r"yJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+"),
        ("terraform_token", ".atlasv1.", "[A-Za-z0-9]", r"[A-Za-z0-9]{13}\.atlasv1\.[\w=-]{40,}+"),
        ("azure_secret", "Q~", r"[\w~.]", r"[\w~.]{2}\dQ~[\w~.-]{31,}+"),
        ("telegram_token", ":A", r"[b\d]", r"(?:(?<=b)ot\d)?\d{7,15}:A[\w-]{34}(?![\w-])"),
        ("discord_token", ".", "[MNO]", r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}+"),
        ("authress_key", ".acc", "[aes]", r"\w{1,40}\.\w{4,6}\.acc[_-][\w.+/=-]{40,}+"),
        ("maxmind_key", "_mmk", "[A-Za-z0-9]", r"[A-Za-z0-9]{5}_[A-Za-z0-9]{29}_mmk(?!\w)"),
        ("mailchimp_key", "-us", "[a-f0-9]", r"[a-f0-9]{31}-us\d{1,2}(?!\w)"),
        ("facebook_token", "acebook", r"\d", r"\d{14,15}(?:\||%7C)[\w-]{27,40}"),
        ("mailgun_key", "ailgun", "[a-h0-9]", r"[a-h0-9]{31}-[a-h0-9]{8}-[a-h0-9]{8}(?![\w-])"),
        ("mapbox_token", "k.eyJ", "[sp]", r"k\.eyJ[\w-]{20,}+\.[\w-]{15,}+"),
        ("yandex_key", "t1.", "t", r"1\.[\w-]{20,}+={0,2}\.[\w-]{80,}+={0,2}"),
    )
)  # fmt: skip


class Hooked(NamedTuple):
    """A kind of address that lets whoever knows it post."""

    host: str
    pattern: re.Pattern[str]


HOOKED: tuple[Hooked, ...] = tuple(
    Hooked(host, late_pattern(re.escape(host) + path, re.ASCII))
    for host, path in (
        ("hooks.slack.com/", r"(?:services|workflows|triggers)/([\w+/-]{20,}+)"),
        ("/api/webhooks/", r"(\d{15,21}/[\w-]{30,}+)"),
        (".webhook.office.com/", r"(?:webhookb2|webhook)/([\w@/-]{36,}+)"),
        ("hooks.zapier.com/", r"hooks/catch/(\d{4,}+/\w{5,}+)"),
        ("api.softlayer.com/", r"(?:soap|rest)/v3(?:\.1)?/([a-z0-9]{64})"),
    )
)


class Named(NamedTuple):
    """A vendor whose keys look like any other text: only its name beside one tells."""

    names: str
    alphabet: str
    lengths: tuple[int, ...]


_SHAPES = {
    "uuid": "[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}",
    "pair": "[a-f0-9]{8}:[a-f0-9]{8}",
    "bearer": r"A{22}[\w%]{80,100}",
}
NAMED: tuple[Named, ...] = (
    Named("adafruit algolia asana bittrex bitbucket codecov droneci", "word", (32,)),
    Named("adobe finicity facebook linear", "hex", (32,)),
    Named("airtable", "alnum", (17,)),
    Named("alibaba plaid twitch", "alnum", (30,)),
    Named("atlassian confluence jira", "alnum", (24,)),
    Named("beamer", "word", (46,)),
    Named("bitbucket coinbase confluent freshbooks sumo", "word", (64,)),
    Named("newrelic new_relic new-relic", "alnum", (64,)),
    Named("cloudflare", "word", (37, 40)),
    Named("cohere datadog meraki sendbird", "alnum", (40,)),
    Named("confluent", "alnum", (16,)),
    Named("contentful", "word", (43,)),
    Named("discord sentry", "hex", (64,)),
    Named("discord fastly flickr nytimes privateai private_ai", "dotted", (32,)),
    Named("dropbox", "dotted", (15, 64, 138)),
    Named("etsy", "alnum", (24,)),
    Named("finicity finnhub", "alnum", (20,)),
    Named("gitter launchdarkly netlify sonar zendesk", "dotted", (40, 41, 42, 43, 44, 45, 46)),
    Named("gocardless", "word", (45,)),
    Named("heroku hubspot kucoin sendbird snyk squarespace messagebird", "uuid", (36,)),
    Named("intercom", "dotted", (60,)),
    Named("jfrog artifactory bintray xray", "alnum", (64, 73)),
    Named("kraken", "base64", tuple(range(80, 91))),
    Named("kucoin", "hex", (24,)),
    Named("linkedin linked_in linked-in", "alnum", (16,)),
    Named("lob", "word", (40,)),
    Named("mattermost", "alnum", (26,)),
    Named("messagebird message_bird message-bird", "alnum", (25,)),
    Named("okta", "dotted", (42,)),
    Named("rapidapi", "word", (50,)),
    Named("travis", "alnum", (22,)),
    Named("twitter", "alnum", (25, 45, 50)),
    Named("yandex", "word", (40,)),
    Named("_gitlab_session", "alnum", (32,)),
    Named("contribsys__com", "pair", (17,)),
    Named("twitter", "bearer", tuple(range(102, 123))),
)  # fmt: skip


def prefixed_pattern() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return the pattern of every prefix, and the kind that each of its groups tells."""
    leaves = [(prefix, row) for row in PREFIXED for prefix in row.prefixes.split()]
    kinds: list[str] = []
    first = "".join(sorted({prefix[0] for prefix, _ in leaves}))
    tree = _tree(leaves, kinds)
    return late_pattern(rf"(?<![A-Za-z0-9])(?=[{first}]){tree}", re.ASCII), tuple(kinds)


NAMED_LENGTHS = frozenset(length for row in NAMED for length in row.lengths)
"""How long a value beside a vendor's name may be."""


def named_patterns() -> dict[str, re.Pattern[str]]:
    """Return what the value beside each vendor's name is made of."""
    found: dict[str, list[str]] = {}
    for row in NAMED:
        for name in row.names.split():
            found.setdefault(name, []).extend(_values(row))
    return {name: late_pattern("|".join(values), re.ASCII) for name, values in found.items()}


def _values(row: Named) -> Iterator[str]:
    for length in row.lengths:
        yield _SHAPES.get(row.alphabet) or f"[{ALPHABETS[row.alphabet]}]{{{length}}}"


def _tree(leaves: list[tuple[str, Prefixed]], kinds: list[str]) -> str:
    """Return a pattern in which prefixes that begin alike share their beginning."""
    branches = []
    for first in sorted({rest[0] for rest, _ in leaves if rest}):
        below = [(rest[1:], row) for rest, row in leaves if rest[:1] == first]
        branches.append(re.escape(first) + _tree(below, kinds))
    for row in (row for rest, row in leaves if not rest):
        kinds.append(row.kind)
        branches.append(f"({_body(row)})")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _body(row: Prefixed) -> str:
    alphabet = ALPHABETS[row.alphabet]
    if row.exact:
        return rf"[{alphabet}]{{{row.least}}}(?![A-Za-z0-9_])"
    return f"[{alphabet}]{{{row.least},}}+"
