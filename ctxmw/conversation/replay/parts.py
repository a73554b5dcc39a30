"""The parts of a conversation's turns: made, cut down, and dropped when they grow too many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ...protocols import TokenCounter
from ..blocks import Blocks
from ..record import Build
from ..state import PartRef
from .trail import Places, Stood, Trail, over_cap

MOST = 256
"""Parts that are kept in mind, of all branches; over it, the older half is dropped in one go."""

KNOWN = 1024
"""Turns of which it is known what stood there, of all branches; over it, the older half is dropped.
A history that is cut at every call has new ones at every call."""

Parts = tuple[PartRef, ...]


def part_ref(build: Build, trail: Trail, parts: Sequence[PartRef]) -> PartRef:
    """Return where a new part stands and how it came about."""
    return PartRef(
        anchor=trail.turn,
        local=trail.locals[trail.last] if trail.last is not None else "",
        build=build.ref,
        hash=build.hash,
        tokens=build.tokens,
        shows=build.in_view,
        briefly=tuple([used.ref for used in build.used if used.shown == "brief"]),
        entries=tuple([used.ref for used in build.used if used.kind == "notice"]),
        untrusted=any(used.trust == "untrusted" for used in build.used if used.shown != "none"),
        mentions={ref: build.shown[ref] for ref in build.shown.keys() - build.in_view.keys()},
        order=max((part.order for part in parts), default=0) + 1,
        open=True,
    )


def with_room(parts: Parts, places: Places, cap: int) -> Parts:
    """Return the parts with the oldest in view dropped, when those in view are over the cap."""
    dropped = over_cap(places, cap, keep=())
    left = tuple(part.emptied() if part.build in dropped else part for part in parts)
    return left[-MOST // 2 :] if len(left) > MOST else left


def with_stood(parts: Parts, build: str, stood: Stood) -> Parts:
    """Return the parts, the one of that build with what stood before it."""
    if not stood:
        return parts
    told = [
        part.model_copy(update={"stood": part.stood | stood}) if part.build == build else part
        for part in parts
    ]
    left = sum(len(part.stood) for part in told)
    if left <= KNOWN:
        return tuple(told)
    for at, part in enumerate(told[:-1]):
        if left <= KNOWN // 2:
            break
        left -= len(part.stood)
        told[at] = part.model_copy(update={"stood": {}}) if part.stood else part
    return tuple(told)


def trimmed(
    part: PartRef, refs: set[str], archive: Blocks, count: TokenCounter, now: datetime
) -> PartRef:
    """Return the part without these items."""
    if refs.isdisjoint((*part.shows, *part.mentions)):
        return part
    block = archive.block(part.hash).without(refs)
    if not block.text:
        return part.emptied()
    archive.keep_block(block, now)
    update: dict[str, Any] = {"hash": block.hash, "tokens": count(block.text)}
    for name in ("shows", "mentions"):
        kept = getattr(part, name).items()
        update[name] = {ref: version for ref, version in kept if ref not in refs}
    return part.model_copy(update=update)
