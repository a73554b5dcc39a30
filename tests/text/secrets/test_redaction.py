import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw.text.secrets import redaction
from ctxmw.text.secrets.redaction import redact, redact_name
from tests.support.growth import BOUND, TIMES, growth

A36 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
PEM_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n" * 3
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
# Put together here, so that no scanner takes this file for a leak.
TOKENS = {
    "openai_key": ["sk-" + A36 + A36[:12], "sk-proj-" + A36 + "_-" + A36],
    "anthropic_key": ["sk-ant-api03-" + A36 + "-" + A36],
    "aws_key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "IOSFODNN7EXAMPLE"],
    "github_token": ["ghp_" + A36, "gho_" + A36, "github_pat_" + A36[:22] + "_" + A36],
    "gitlab_token": ["glpat-" + A36[:20]],
    "slack_token": ["xoxb-" + "123456789012-" + A36[:24]],
    "google_key": ["AIza" + A36[:35]],
    "huggingface_token": ["hf_" + A36[:34]],
    "stripe_key": ["sk_live_" + A36[:24], "rk_test_" + A36[:24]],
    "npm_token": ["npm_" + A36],
    "pypi_token": ["pypi-AgEIcHlwaS5vcmc" + A36 + A36],
    "sendgrid_key": ["SG." + A36[:22] + "." + A36],
    "model_key": ["gsk_" + A36, "xai-" + A36],
    "jwt": [JWT],
    "private_key": [
        "-----BEGIN RSA PRIVATE KEY-----\n" + PEM_BODY + "-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + PEM_BODY,
        "-----BEGIN PRIVATE KEY-----\\nMIIEvQ==\\n-----END PRIVATE KEY-----",
    ],
}
ASSIGNED = [
    ("password = 'hunter2!'", "hunter2!"),
    ("password=hunter2", "hunter2"),
    ("password: 482913", "482913"),
    ("the password is hunter2.", "hunter2"),
    ("**Password**: `tr0ub4dor`", "tr0ub4dor"),
    ('{"password": "correcthorse"}', "correcthorse"),
    ('{\\"password\\": \\"hunter22\\"}', "hunter22"),
    ('password: str = "hunter22"', "hunter22"),
    ("DB_PASSWORD=correcthorse", "correcthorse"),
    ("DB_PASSWORD_PROD=pa55word!x", "pa55word!x"),
    ("connect(user='a', passwd='p4$$w0rd')", "p4$$w0rd"),
    ("Server=db;Pwd=s3cret77;Port=1", "s3cret77"),
    ('client_secret: "a1b2c3d4e5"', "a1b2c3d4e5"),
    ('api_key: "4f9a7c1e2b3d4f5a"', "4f9a7c1e2b3d4f5a"),
    ("X-Api-Key: 4f9a7c1e2b3d4f5a", "4f9a7c1e2b3d4f5a"),
    ('os.environ["SERVICE_TOKEN"] = "4f9a7c1e2b3d4f5a"', "4f9a7c1e2b3d4f5a"),
    ("https://x.org/cb?token=4f9a7c1e2b3d4f5a&next=1", "4f9a7c1e2b3d4f5a"),
    ("deploy --auth-token 4f9a7c1e2b3d4f5a now", "4f9a7c1e2b3d4f5a"),
    ("apiKey => '4f9a7c1e2b3d4f5a'", "4f9a7c1e2b3d4f5a"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("token=" + "a1" * 700, "a1"),
    ("Authorization: Bearer opaque-token_value", "opaque"),
    ('"Authorization": "Basic dXNlcjpwYXNzd29yZA=="', "dXNlcjp"),
    ("curl -H 'bearer 4f9a7c1e2b3d4f5a6b7c'", "4f9a7c1e"),
    ("postgresql://app:s3cret@db.example.org/shop", "s3cret"),
    ("redis://:s3cret@localhost:6379/0", "s3cret"),
    ("https://" + "ghp_" + A36 + ":x-oauth-basic@github.com/a/b", "ghp_"),
]
BENIGN = [
    "The session is 123e4567-e89b-12d3-a456-426614174000.",
    "Fixed in 9fceb02d0ae598e95dc970b74767f19372d61af8, see the log.",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "![logo](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4)",
    "The token budget is 4000 and max_tokens=4096; token_count: 123456789012.",
    "password = get_password()",
    "password = getpass.getpass('Password for db1: ')",
    'password = os.environ["DB_PASSWORD"]',
    "api_key=settings.api_key, token=self.token, secret=config.client_secret",
    "const token = await fetchToken(user1)",
    "def login(user: str, password: str) -> bool: ...",
    "password: str = Field(min_length=8)",
    'f"postgresql://{user}:{password}@{host}/db"',
    "postgresql://$USER:$PASSWORD@localhost/db",
    "https://example.com:8443/a@b and ssh://git@github.com/a/b.git",
    "Use <password> or ${API_KEY} or your_api_key_goes_here1 as the value.",
    'api_key = "your-api-key-here-123"; token: "<token-from-step-2>"',
    "The password is required. The password is sha256 hashed with argon2id.",
    'label: password, "password": "password", token: "access_token"',
    "PBKDF2 with password_iterations = 600000",
    "password_file: /run/secrets/db1_password",
    'token_url = "https://auth.example.org/v2/token12345"',
    "PASS: tests/test_login2.py, bypass: level12345",
    "Pneumonoultramicroscopicsilicovolcanoconiosis is a long word.",
    '<div class="sk-fading-circle-container-wrapper"></div>',
    "The header is Authorization: Bearer <token>; bearer authentication-mechanisms-differ.",
    'headers["Authorization"] = f"Bearer {token}"',
    "Search the logs for -----BEGIN PRIVATE KEY----- and tell me.",
    "-----BEGIN CERTIFICATE-----\n" + PEM_BODY + "-----END CERTIFICATE-----",
    "The secretary: Bob1234567 sits in room 12; tokenizer: cl100k_base",
    "asset eyJ.x.y and task-force-one-two-three-four-five-6",
    "Set a private </private> field.",
    "grant: oauth2.grant.refresh_token, token = oauth2.grant.refresh_token",
    'secret_ref: "V1LocalObjectReference", "secret_name": "secretName", token: ".v1_token_review"',
    "private_key: Ed25519PrivateKey | None, api_key=api_key, refresh_token=refresh_token_v2",
    "key.code===32?o.key=String.fromCharCode(e.keyCode-64):x",
    'headers={"Authorization": "Bearer valid_token"}; api_key = "sk-..."; token = "<your key>"',
    "docker run -u 1000:1000 -p 8080:80 web; mysql -u root -p shop; ssh -p 2222 ann@host1",
    "Set-Cookie: theme=dark; Path=/; Max-Age=3600; Cookie: lang=en",
    "src/app.py:12:4:E501:line-too-long and db:5432:up:ok:no and 10:30:15:200:300",
    "The machine at work needs a login; the default user password prompt is ugly.",
    "linear_sha256 = 9f86d081884c7d659a2feaa0c55ad015, sentry: commit 9fceb02d0ae598e95dc970b7",
    "kind: ConfigMap\ndata:\n  color: turquoise1\n",
    'START = b"-----BEGIN OPENSSH PRIVATE KEY-----"\nEND = b"-----END OPENSSH PRIVATE KEY-----"',
    "https://user:password@example.org and git://[path[:]]x@y and http://a:b@localhost",
    "I\u200d like \u2764\ufe0f tea, \u0915\u094d\u200d\u0937 and \u200bnothing.",
    "",
]


@pytest.mark.parametrize(
    ("kind", "secret"), [(kind, secret) for kind, all_ in TOKENS.items() for secret in all_]
)
@pytest.mark.parametrize("around", ["{}", "see {} please", "x='{}'", "({}).", "a\n{}\n"])
def test_a_known_key_is_replaced_wherever_it_stands(kind, secret, around):
    redacted = redact(around.format(secret))
    assert redacted.found == (kind,)
    assert f"[REDACTED:{kind}]" in redacted.text
    assert not set(re.findall(r"\w{12,}", secret)) & set(re.findall(r"\w{12,}", redacted.text))


@pytest.mark.parametrize(("text", "secret"), ASSIGNED)
def test_a_value_that_stands_where_secrets_stand_is_replaced(text, secret):
    redacted = redact(text)
    assert secret not in redacted.text
    assert "[REDACTED:" in redacted.text
    assert redacted.found


@pytest.mark.parametrize("text", BENIGN)
def test_text_without_secrets_stays_as_it_is(text):
    assert redact(text) == redaction.Redacted(text=text)


def test_what_surrounds_a_secret_stays():
    text = "db: postgresql://app:s3cret@db/shop?sslmode=on, password='hunter22', ok"
    assert redact(text).text == (
        "db: postgresql://[REDACTED:url_credentials]@db/shop?sslmode=on, "
        "password='[REDACTED:password]', ok"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [REDACTED:private] c"),
        ("a <PRIVATE >b\nb</ private> c", "a [REDACTED:private] c"),
        ("a <private>b", "a [REDACTED:private]"),
        ("<private>a<private>b</private>c</private>d", "[REDACTED:private]d"),
        ("<private></private><private>x</private>", "[REDACTED:private][REDACTED:private]"),
    ],
)
def test_private_regions_are_dropped_whole(text, expected):
    assert redact(text).text == expected


def test_a_key_does_not_take_the_text_after_it_along():
    key = TOKENS["private_key"][0]
    assert redact(f"{key}\nand more").text == "[REDACTED:private_key]\nand more"


FRAGMENTS = st.lists(
    st.sampled_from(
        [secret for all_ in TOKENS.values() for secret in all_]
        + [text for text, _ in ASSIGNED]
        + BENIGN
        + ["password", "token", "secret", "api_key", "--", "=", ": ", " is ", '"', "'", "`", "\\"]
        + ["://", "@", ":", "/", ".", "-", "_", "[", "]", "(", " ", "\n", "a1b2c3d4e5f6g7", "&x="]
        + ["\u200b", "\u00ad", "\0", "\u200d", "curl -u a:", "Cookie: a=", "?sig=", "xoxb-", "İ"]
        + ["<private>", "</private>", "[REDACTED:", "REDACTED", "sk-", "eyJ", "AKIA", "Bearer "]
        + ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Authorization: ", "é", "2"]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=1000)
@given(FRAGMENTS | st.text())
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text)
    assert redact(once.text).text == once.text
    assert redact_name(redact_name(text)) == redact_name(text)


HARD = [
    "<private>",
    "</private>",
    "<   ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY----- - ",
    "-----",
    "-",
    "sk-",
    "sk-ant-",
    "ghp_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "AKIA",
    "AIza",
    "ya29.",
    "SG.a",
    "SG.aaaaaaaaaaaaaaaaa",
    "eyJ",
    "eyJ-",
    "eyJaaaaaaaaa-",
    "eyJaaaaaaaaa.",
    "lsv2_pt_",
    "://",
    "://a:",
    "a:",
    "Authorization: Bearer ",
    "Bearer ",
    "bearer-",
    "token",
    "token:",
    "token='",
    'password="a ',
    "password=",
    "password is ",
    "--a-",
    "--token ",
    "pass_",
    "secret:a1",
    "secret:(a1",
    "secret=.a1/",
    "secret='a1 ",
    "secret:a1....",
    "secret:your-a1",
    "api_key",
    "a1",
    "&a",
    "/a",
    "\\",
    "...",
    "Cookie: a=",
    "a=b;",
    "curl ",
    "curl -u a",
    "mysql -p",
    "machine a login b ",
    "a:5432:",
    ":*:a:b:",
    "$6$",
    "kind: Secret\ndata:\n a: b\n",
    "?key=",
    "hooks.slack.com/services/",
    "twitter = ",
    "twitter",
    "M.",
    "12345678:A",
    "a\u200b",
    "\u200b",
    "ghp_\u200b",
]


@pytest.mark.parametrize("unit", HARD)
def test_four_times_the_text_takes_about_four_times_the_work(unit):
    once, more = (f"{unit * (size // len(unit))}~" for size in (15_000, TIMES * 15_000))
    assert growth(redact, once, more) < BOUND
