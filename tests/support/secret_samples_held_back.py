"""Samples that rules are not tuned on: other kinds, other carriers. Made up by chance as well."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator

from tests.support.secret_samples import (
    ALNUM,
    BASE64,
    DIGITS,
    HEX,
    LOWER,
    UPPER,
    WORD,
    Chance,
    Make,
    Sample,
    made,
    placed,
)

TOKENS: dict[str, Make] = {
    "openai_service": lambda c: "sk-svcacct-" + c(58, WORD) + "T3Blbk" + "FJ" + c(58, WORD),
    "anthropic_admin": lambda c: "sk-ant-admin01-" + c(93, WORD) + "AA",
    "aws_temporary": lambda c: "ASIA" + c(16, UPPER),
    "github_server": lambda c: "ghs_" + c(36),
    "gitlab_runner": lambda c: "glrt-" + c(20, WORD),
    "gitlab_agent": lambda c: "glagent-" + c(50, WORD),
    "slack_user": lambda c: f"xoxp-{c(12, DIGITS)}-{c(12, DIGITS)}-{c(12, DIGITS)}-{c(32, HEX)}",
    "slack_app": lambda c: f"xapp-1-A{c(10, UPPER)}-{c(13, DIGITS)}-{c(64, HEX)}",
    "google_access": lambda c: "ya29." + c(120, WORD),
    "stripe_restricted": lambda c: "rk_live_" + c(24),
    "stripe_webhook": lambda c: "whsec_" + c(32),
    "shopify_private": lambda c: "shppa_" + c(32, HEX),
    "vault_batch": lambda c: "hvb." + c(140, WORD),
    "linear_oauth": lambda c: "lin_oauth_" + c(64, HEX),
    "doppler_service": lambda c: "dp.st.prd." + c(43),
    "newrelic_insert": lambda c: "NRII-" + c(32, WORD),
    "artifactory": lambda c: "AKCp" + c(69),
    "sendinblue": lambda c: f"xkeysib-{c(64, HEX)}-{c(16)}",
    "mailgun": lambda c: "key-" + c(32, HEX),
    "mailchimp": lambda c: c(32, HEX) + "-us12",
    "readme": lambda c: "rdme_" + c(70, LOWER),
    "prefect": lambda c: "pnu_" + c(36),
    "typeform": lambda c: "tfp_" + c(59, WORD),
    "perplexity": lambda c: "pplx-" + c(48),
    "xai": lambda c: "xai-" + c(80),
    "replicate": lambda c: "r8_" + c(37),
    "heroku": lambda c: "HRKU-AA" + c(58, WORD),
    "flyio": lambda c: "fm2_" + c(120, BASE64),
    "teams_webhook": lambda c: (
        f"https://acme.webhook.office.com/webhookb2/{c.uuid()}@{c.uuid()}/IncomingWebhook/"
        f"{c(32, HEX)}/{c.uuid()}"
    ),
    "openshift": lambda c: "sha256~" + c(43, WORD),
}

CARRIERS: dict[str, str] = {
    "chat": "sure, here: {}, does it work?",
    "toml": '[deploy]\nvalue = "{}"\n',
    "export": "export SERVICE_VALUE={}; make deploy",
    "xml": "<value>{}</value>",
    "brackets": "see ({0}) and [{0}]",
    "address": "https://x.example/hook/{}",
    "csv": "ann,{},3",
    "python": 'client = Client("{}", retries=3)',
}
HIDDEN: dict[str, str] = {"non-joiner": "\u200c", "bidi": "\u202e", "tag": "\U000e0041"}

PLACES: dict[str, Callable[[Chance], tuple[str, str]]] = {
    "cookie_header": lambda c: (f"curl -H 'Cookie: a=1; session_id={(s := c(24))}' x.example", s),
    "wget": lambda c: (f"wget --user=ann --password={(s := c(12))} https://x.example", s),
    "curl_u_joined": lambda c: (f'curl -u "ann:{(s := c(16))}" -X POST https://x.example', s),
    "mysqldump": lambda c: (f"mysqldump -uroot -p'{(s := c(12))}' shop > x.sql", s),
    "netrc_lines": lambda c: (f"machine x.example\n  login ann\n  password {(s := c(12))}", s),
    "pgpass_star": lambda c: (f"*:*:*:postgres:{(s := c(15))}", s),
    "shadow_yescrypt": lambda c: (f"root:$y$j9T${(s := c(22))}${c(43)}:19500::::::", s),
    "htpasswd": lambda c: (f"ann:$apr1${(s := c(8))}${c(22)}", s),
    "query_token": lambda c: (f"wss://x.example/live?access_token={(s := c(32))}", s),
    "query_signature": lambda c: (
        f"https://b.s3.amazonaws.com/f?X-Amz-Expires=60&X-Amz-Signature={(s := c(64, HEX))}",
        s,
    ),
    "pgpassword": lambda c: (f"PGPASSWORD={(s := c(10))} psql -h db -U app", s),
    "redis": lambda c: (f"redis-cli -h cache -a {(s := c(16))} ping", s),
    "dsn": lambda c: (f"mongodb+srv://ann:{(s := c(14))}@cluster0.example.net/test", s),
    "proxy_authorization": lambda c: (f"Proxy-Authorization: Basic {(s := c(20))}", s),
    "x_auth": lambda c: (f"X-Auth-Token: {(s := c(32, HEX))}", s),
    "npmrc": lambda c: (f"//packages.example.com/:_authToken={(s := c.uuid())}", s),
    "named_algolia": lambda c: (f"algolia = '{(s := c(32, LOWER))}'", s),
    "named_okta": lambda c: (f"okta: 00{(s := c(40, ALNUM))}", s),
    "named_sentry": lambda c: (f'sentry_dsn_auth="{(s := c(64, HEX))}"', s),
    "passphrase": lambda c: (f'passphrase = "{(s := c(16))}"', s),
    "german_letters": lambda c: (f'password: "{(s := c(6, string.ascii_letters))}ß1ü!"', s),
    "connection": lambda c: (f"Server=db;Database=x;User Id=sa;Password={(s := c(12))};", s),
}

AROUND: dict[str, str] = {
    "list": "1. first\n2. {}\n3. last",
    "quoted": "> {}",
    "told": "I ran this yesterday:\n\n    {}\n\nand it failed.",
}


def held_back() -> Iterator[Sample]:
    """Return every kind held back, in every carrier held back."""
    yield from made(TOKENS, CARRIERS, HIDDEN)
    yield from placed(PLACES, AROUND, HIDDEN)
