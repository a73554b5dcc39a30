"""What is logged: what an error quotes may hold a secret, so it is taken out there too."""

from __future__ import annotations

import logging

from .secrets.redaction import redact


class WithoutSecrets(logging.Filter):
    """Takes secrets out of messages and tracebacks before any handler sees them."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        redacted = redact(said)
        if redacted.found:
            record.msg, record.args = redacted.text, ()
        if record.exc_info and not record.exc_text:
            told = redact(_FORMATTER.formatException(record.exc_info))
            if told.found:
                record.exc_text, record.exc_info = told.text, None
        return True


_FORMATTER = logging.Formatter()
_WITHOUT_SECRETS = WithoutSecrets()


def keep_secrets_out_of_logs() -> None:
    """Have everything that is logged here filtered; once or many times makes no difference."""
    logging.getLogger("ctxmw").addFilter(_WITHOUT_SECRETS)
