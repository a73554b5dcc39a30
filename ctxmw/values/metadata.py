"""What an application keeps beside a memory's text: names and plain values to filter by.

Search knows a memory's metadata by words that nobody writes, one for each name and value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidValue
from ..text.cleaning import digest
from ..text.secrets.redaction import redact_name, redact_values

MetadataValue = str | int | float | bool
LONGEST = 4000
"""Characters that all of it may have as JSON."""
_TAG = "tagged"


def checked_metadata(metadata: object) -> dict[str, MetadataValue]:
    """Return metadata without secrets; raise for what cannot be kept or filtered by."""
    if not isinstance(metadata, Mapping):
        raise InvalidValue(
            f"metadata is {metadata!r:.60}: give names and values, such as {{'team': 'web'}}."
        )
    for name, value in metadata.items():
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"metadata has the name {name!r:.60}: give text.")
        infinite = isinstance(value, float) and value - value != 0
        if not isinstance(value, str | int | float | bool) or infinite:
            raise InvalidValue(
                f"metadata {name!r:.60} is {value!r:.60}: give text, a number, True or False."
            )
    if len(json.dumps(dict(metadata))) > LONGEST:
        raise InvalidValue(f"metadata has more than {LONGEST} characters: keep it elsewhere.")
    return {redact_name(name): redact_values(value) for name, value in metadata.items()}


def wanted_metadata(metadata: object) -> dict[str, MetadataValue]:
    """Return metadata to filter by; raise for none, which would let everything through."""
    wanted = checked_metadata(metadata)
    if not wanted:
        raise InvalidValue("metadata is empty: name what it must have, or leave it out.")
    return wanted


def has_metadata(own: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether metadata has all that is wanted; 1, 1.0 and True are not the same."""
    return set(metadata_tags(wanted)) <= set(metadata_tags(own))


def metadata_tags(metadata: Mapping[str, Any]) -> list[str]:
    """Return the words by which search knows it, in the order of the names."""
    return [_TAG + digest(name, json.dumps(metadata[name]))[:20] for name in sorted(metadata)]
