"""Secrets of every kind, made up by chance where they are used: no file of ours holds one.

A sample is a text and the part of it that must be gone. A third of the kinds and carriers is in
`secret_samples_held_back`, which rules are not tuned on.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
DIGITS = string.digits
BASE64 = ALNUM + "+/"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    kind: str
    carrier: str
    text: str
    leak: str


class Chance:
    """Random texts, the same for the same seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def __call__(self, length: int, alphabet: str = ALNUM) -> str:
        """Return a random text that has a letter and a digit, where the alphabet has them."""
        while True:
            text = "".join(self._random.choices(alphabet, k=length))
            odd = [any(c.isalpha() for c in text), any(c.isdigit() for c in text)]
            able = [any(c.isalpha() for c in alphabet), any(c.isdigit() for c in alphabet)]
            if odd == able and text[0].isalnum() and text[-1].isalnum():
                return text

    def uuid(self) -> str:
        return "-".join(self(length, HEX) for length in (8, 4, 4, 4, 12))


Make = Callable[[Chance], str]

TOKENS: dict[str, Make] = {
    "openai": lambda c: "sk-" + c(48),
    "openai_project": lambda c: "sk-proj-" + c(70, WORD) + "T3Blbk" + "FJ" + c(70, WORD),
    "anthropic": lambda c: "sk-ant-api03-" + c(93, WORD) + "AA",
    "aws": lambda c: "AKIA" + c(16, UPPER),
    "github": lambda c: "ghp_" + c(36),
    "github_fine": lambda c: "github_pat_" + c(22) + "_" + c(59),
    "gitlab": lambda c: "glpat-" + c(20, WORD),
    "slack_bot": lambda c: f"xoxb-{c(12, DIGITS)}-{c(12, DIGITS)}-{c(24)}",
    "google": lambda c: "AIza" + c(35, WORD),
    "google_oauth_secret": lambda c: "GOCSPX-" + c(28, WORD),
    "google_refresh": lambda c: "1//0" + c(1, DIGITS) + c(60, WORD),
    "huggingface": lambda c: "hf_" + c(34, string.ascii_letters),
    "stripe": lambda c: "sk_live_" + c(24),
    "npm": lambda c: "npm_" + c(36),
    "pypi": lambda c: "pypi-AgEIcHlwaS5vcmc" + c(80, WORD),
    "sendgrid": lambda c: f"SG.{c(22, WORD)}.{c(43, WORD)}",
    "twilio": lambda c: "SK" + c(32, HEX),
    "shopify": lambda c: "shpat_" + c(32, HEX),
    "shopify_secret": lambda c: "shpss_" + c(32, HEX),
    "databricks": lambda c: "dapi" + c(32, HEX),
    "vault": lambda c: "hvs." + c(92, WORD),
    "notion": lambda c: "ntn_" + c(11, DIGITS) + c(35),
    "notion_old": lambda c: "secret_" + c(43),
    "linear": lambda c: "lin_api_" + c(40),
    "figma": lambda c: "figd_" + c(40, WORD),
    "supabase": lambda c: "sbp_" + c(40, HEX),
    "pinecone": lambda c: "pcsk_" + c(6) + "_" + c(60),
    "tailscale": lambda c: f"tskey-auth-{c(12)}-{c(32)}",
    "grafana": lambda c: f"glsa_{c(32)}_{c(8, HEX)}",
    "grafana_cloud": lambda c: "glc_" + c(100, BASE64),
    "newrelic": lambda c: "NRAK-" + c(27, UPPER),
    "doppler": lambda c: "dp.pt." + c(43),
    "atlassian": lambda c: "ATATT3xFfGF0" + c(180, WORD),
    "age": lambda c: "AGE-SECRET-KEY-1" + c(58, BECH32),
    "terraform": lambda c: f"{c(14)}.atlasv1.{c(67, WORD)}",
    "telegram": lambda c: f"{c(10, '123456789')}:AA{c(33, WORD)}",
    "discord_bot": lambda c: f"M{c(25)}.{c(6)}.{c(38, WORD)}",
    "jwt": lambda c: f"eyJ{c(30)}.eyJ{c(60)}.{c(43, WORD)}",
    "digitalocean": lambda c: "dop_v1_" + c(64, HEX),
    "groq": lambda c: "gsk_" + c(52),
    "langsmith": lambda c: f"lsv2_pt_{c(32, HEX)}_{c(10, HEX)}",
    "postman": lambda c: f"PMAK-{c(24, HEX)}-{c(34, HEX)}",
    "pulumi": lambda c: "pul-" + c(40, HEX),
    "rubygems": lambda c: "rubygems_" + c(48, HEX),
    "sentry_user": lambda c: "sntryu_" + c(64, HEX),
    "1password": lambda c: "ops_eyJ" + c(260),
    "azure_client": lambda c: c(3) + "8Q~" + c(34),
    "dynatrace": lambda c: f"dt0c01.{c(24, UPPER)}.{c(64, UPPER)}",
    "square": lambda c: "sq0atp-" + c(22, WORD),
    "planetscale": lambda c: "pscale_tkn_" + c(43, WORD),
    "slack_webhook": lambda c: (
        f"https://hooks.slack.com/services/T{c(10, UPPER)}/B{c(10, UPPER)}/{c(24)}"
    ),
    "discord_webhook": lambda c: f"https://discord.com/api/webhooks/{c(18, DIGITS)}/{c(68, WORD)}",
}
"""Keys that tell by themselves what they are."""

CARRIERS: dict[str, str] = {
    "prose": "I think the one for staging is {} but ask Ann first.",
    "line end": "Use this one: {}\nand tell nobody.",
    "sentence end": "It is {}.",
    "env": "SERVICE_URL=x\nSERVICE_VALUE={}\nDEBUG=1",
    "json": '{{"name": "deploy", "value": "{}", "n": 1}}',
    "yaml": "deploy:\n  value: {}\n  n: 1",
    "quoted": "x = '{}'",
    "shell": "deploy --with {} --now",
    "markdown": "- **Value**: `{}`",
    "escaped line": '{{"text": "use this:\\n{}\\nplease"}}',
    "escaped json": '{{\\"value\\": \\"{}\\"}}',
}
HIDDEN: dict[str, str] = {
    "zero width space": "\u200b",
    "word joiner": "\u2060",
    "soft hyphen": "\u00ad",
    "joiner": "\u200d",
    "byte order mark": "\ufeff",
    "nul": "\0",
}

PLACES: dict[str, Callable[[Chance], tuple[str, str]]] = {
    "cookie": lambda c: (f"Cookie: sid={(s := c(32))}; theme=dark", s),
    "set_cookie": lambda c: (f"Set-Cookie: session={(s := c(40))}; Path=/; HttpOnly", s),
    "curl_user": lambda c: (f"curl -s -u admin:{(s := c(12))} https://x.example/api", s),
    "curl_quoted_user": lambda c: (f"curl --user 'ann:{(s := c(9))}!x' https://x.example", s),
    "mysql": lambda c: (f"mysql -h db -u root -p{(s := c(11))} shop", s),
    "netrc": lambda c: (f"machine api.example.com login ann password {(s := c(14))}", s),
    "pgpass": lambda c: (f"db.example.com:5432:shop:ann:{(s := c(13))}", s),
    "shadow": lambda c: (f"ann:$6${(s := c(8))}${c(86)}:19000:0:99999:7:::", s),
    "sas": lambda c: (
        f"https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig={(s := c(42))}%3D",
        s,
    ),
    "query_key": lambda c: (f"https://maps.example.com/api?key={(s := c(30))}&q=x", s),
    "basic": lambda c: (f"Authorization: Basic {(s := c(24))}==", s),
    "bearer": lambda c: (f"curl -H 'Authorization: Bearer {(s := c(40))}' https://x.example", s),
    "url": lambda c: (f"postgresql://app:{(s := c(12))}@db.example.org/shop", s),
    "env_password": lambda c: (f"DB_PASSWORD={(s := c(12))}", s),
    "json_password": lambda c: (f'{{"password": "{(s := c(12))}"}}', s),
    "yaml_secret": lambda c: (f'client_secret: "{(s := c(32))}"', s),
    "told": lambda c: (f"The password is {(s := c(10))}.", s),
    "aws_secret": lambda c: (f"aws_secret_access_key = {(s := c(40, BASE64))}", s),
    "azure_storage": lambda c: (
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={(s := c(86))}==;",
        s,
    ),
    "named_cloudflare": lambda c: (f'cloudflare = "{(s := c(40, LOWER))}"', s),
    "named_datadog": lambda c: (f"datadog: {(s := c(40, LOWER))}", s),
    "named_heroku": lambda c: (f"HEROKU={(s := c.uuid())}", s),
    "named_twitter": lambda c: (f"twitter_bearer = 'AAAAAAAAAAAAAAAAAAAAAA{(s := c(90))}'", s),
    "nuget": lambda c: (f'<add key="ClearTextPassword" value="{(s := c(14))}" />', s),
    "kubernetes": lambda c: (
        f"apiVersion: v1\nkind: Secret\ndata:\n  tls.crt: {(s := c(40))}==\n",
        s,
    ),
    "sshpass": lambda c: (f"sshpass -p {(s := c(12))} ssh ann@host", s),
    "docker": lambda c: (f"docker login -u ann -p {(s := c(12))} registry.example.com", s),
}
"""Lines in which a secret is told by where it stands."""

AROUND: dict[str, str] = {
    "alone": "{}",
    "line": "Here you are:\n{}\nThat is all.",
    "code block": "```\n{}\n```",
    "indented": "notes\n    {}\nend",
}


def samples() -> Iterator[Sample]:
    """Return every kind in every carrier."""
    yield from made(TOKENS, CARRIERS, HIDDEN)
    yield from placed(PLACES, AROUND, HIDDEN)


def made(
    tokens: dict[str, Make], carriers: dict[str, str], hidden: dict[str, str]
) -> Iterator[Sample]:
    for kind, make in tokens.items():
        for carrier, around in carriers.items():
            secret = make(Chance(kind + carrier))
            yield Sample(kind=kind, carrier=carrier, text=around.format(secret), leak=_body(secret))
        for carrier, char in hidden.items():
            secret = make(Chance(kind + carrier))
            text = f"Use {_hide(secret, _body(secret), char)} today."
            yield Sample(kind=kind, carrier=carrier, text=text, leak=_body(secret))


def placed(
    places: dict[str, Callable[[Chance], tuple[str, str]]],
    arounds: dict[str, str],
    hidden: dict[str, str],
) -> Iterator[Sample]:
    for kind, place in places.items():
        for carrier, around in arounds.items():
            text, leak = place(Chance(kind + carrier))
            yield Sample(kind=kind, carrier=carrier, text=around.format(text), leak=leak)
        for carrier, char in hidden.items():
            text, leak = place(Chance(kind + carrier))
            yield Sample(kind=kind, carrier=carrier, text=_hide(text, leak, char), leak=leak)


def _body(secret: str) -> str:
    """Return the part that must not be left: the last characters, beyond every prefix."""
    return secret[-min(len(secret) // 2, 24) :]


def _hide(text: str, leak: str, char: str) -> str:
    """Put an invisible character into the middle of what is secret."""
    middle = text.index(leak) + len(leak) // 2
    return text[:middle] + char + text[middle:]
