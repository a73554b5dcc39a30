"""What an application keeps beside a memory's text: names and plain values to filter by.

Search knows a memory's metadata by words that nobody writes, one for each name and value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..text.cleaning import digest

MetadataValue = str | int | float | bool
LONGEST_METADATA = 4000
"""Characters that all of it may have as JSON."""
_TAG = "tagged"


def has_metadata(own: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether metadata has all that is wanted; 1, 1.0 and True are not the same."""
    return set(metadata_tags(wanted)) <= set(metadata_tags(own))


def metadata_tags(metadata: Mapping[str, Any]) -> list[str]:
    """Return the words by which search knows it, in the order of the names."""
    return [_TAG + digest(name, json.dumps(metadata[name]))[:20] for name in sorted(metadata)]
