"""Sources that have only `items`: what they offer is checked before it is used."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ...protocols import Source
from ...runtime.telemetry import stage
from ...text.secrets.redaction import redact, redact_name
from ...values.budget import MEMORY_LANES
from ...values.items import Item
from ...values.records import INSTRUCTING
from ...values.situation import Situation, Weights, score_all
from ..block import checked_item
from .shelf import Shortlist

log = logging.getLogger("ctxmw")

CRITICAL = 3
"""Critical items that a source may have at a time before it is told."""


class OwnSource:
    """A source as the pipeline asks it, made of one that has a name and `items`."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self._source = source

    def best(
        self, situation: Situation, weights: Weights, _: Mapping[str, int] | None = None
    ) -> Shortlist:
        """Return everything that it offers here, checked and rated: a source keeps that small.

        Memories of the kinds that instruct are instructions, whoever offers them.
        """
        with stage(f"source {self.name}"):
            checked = [checked_item(item) for item in self._source.items(situation)]
            items = [_instructing(_without_secrets(item)) for item in checked]
        warn_of_overuse(self.name, items)
        return Shortlist(items=tuple(score_all(items, situation, weights)))


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
