"""Sources of the application's own: what they offer is checked before it is used."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from ...protocols import Source
from ...runtime.stages import stage
from ...text.secrets.redaction import redact, redact_name
from ...values.budget import MEMORY_LANES
from ...values.items import Item
from ...values.records import INSTRUCTING
from ...values.scoring import Weights, score_all
from ...values.situation import Situation
from ..block import checked_item

log = logging.getLogger("ctxmw")

CRITICAL = 3
"""Critical items that a source may have at a time before it is told."""


def offered(source: Source, situation: Situation, weights: Weights) -> list[Item]:
    """Return what a source has to offer here, checked and rated.

    Memories of the kinds that instruct are instructions, whoever offers them.
    """
    with stage(f"source {source.name}"):
        checked = [checked_item(item) for item in source.items(situation)]
        items = [_instructing(_without_secrets(item)) for item in checked]
    warn_of_overuse(source.name, items)
    return score_all(items, situation, weights)


def _without_secrets(item: Item) -> Item:
    """Return an item whose texts may be stored: what a prompt showed is kept with its record."""
    values = {field.name: getattr(item, field.name) for field in fields(item)}
    said = {name: value for name, value in values.items() if isinstance(value, str)}
    if not redact("\n\n".join(said.values())).found:
        return item
    clean: dict[str, Any] = {name: redact(text).text for name, text in said.items()}
    clean |= {name: redact_name(said[name]) for name in ("ref", "session", "source", "version")}
    return replace(item, **clean)


def _instructing(item: Item) -> Item:
    instructs = item.kind in INSTRUCTING and item.lane in MEMORY_LANES
    return replace(item, instructs=True) if instructs else item


def warn_of_overuse(name: str, items: Sequence[Item]) -> None:
    """Warn of a source that calls much of what it says critical: then nothing is."""
    critical = sum(item.priority == "critical" for item in items)
    if critical > CRITICAL:
        log.warning(
            "%s has %d critical items: critical is for safety, and goes before everything else. "
            "Give most of them the priority normal.",
            name,
            critical,
        )
