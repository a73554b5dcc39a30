"""The head of a rule file: a few lines of YAML between two lines of dashes.

The file may be anybody's. Anchors and aliases are refused (a few hundred bytes of them unfold to
gigabytes), and so is what is long or nested; whatever is wrong is a `BadFrontmatter` that says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

LARGEST = 8192
"""Characters of a head."""
DEEPEST = 16


class BadFrontmatter(Exception):
    """Why the head of a file cannot be used; for a warning."""


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A file: what its head says, and the text below."""

    head: dict[str, Any]
    body: str


def split(text: str) -> MarkedDocument:
    """Return the head and the body of a file; a file without a head is all body."""
    opening = _OPENING.match(text)
    if opening is None:
        return MarkedDocument({}, text)
    closing = _CLOSING.search(text, opening.end() - 1, opening.end() + LARGEST)
    if closing is None:
        raise BadFrontmatter(f"its head has no end within {LARGEST} characters")
    return MarkedDocument(_loaded(text[opening.end() : closing.start()]), text[closing.end() :])


_OPENING = re.compile(r"\ufeff?---[ \t]*\n")
_CLOSING = re.compile(r"\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
# Globs begin with a star, which YAML takes for an alias: people write them without quotes.
_BARE_GLOB = re.compile(
    r"^(\s{0,20}(?:-\s{1,8})?(?:[\w-]{1,40}:\s{1,8})?)([*{][^\n\"']*+)$", re.MULTILINE
)


def _loaded(head: str) -> dict[str, Any]:
    import yaml  # few files have a head, and every start would wait for it

    head = _BARE_GLOB.sub(lambda found: f'{found[1]}"{found[2].rstrip()}"', head)
    depth = 0
    try:
        for token in yaml.scan(head, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
                raise BadFrontmatter("its head has anchors, aliases or tags")
            depth += isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken)
            depth -= isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken)
            if depth > DEEPEST:
                raise BadFrontmatter("its head is nested too deeply")
        values = yaml.safe_load(head)
    except BadFrontmatter:
        raise
    except Exception as error:  # noqa: BLE001 - yaml raises ValueError, RecursionError and more
        raise BadFrontmatter(f"its head is no YAML ({type(error).__name__})") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadFrontmatter("its head is no table")
    return {str(name): value for name, value in values.items()}
