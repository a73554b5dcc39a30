"""What a prompt would be given, as JSON: every item with its score, its tokens and the reasons."""

from __future__ import annotations

from typing import Any

from ctxmw import ContextMiddleware, ContextRecord, NotFound

_TEXT = 600
"""Characters of an item's words: enough to know it by."""


def shown_in(ctx: ContextMiddleware, record: ContextRecord) -> dict[str, Any]:
    """Return a record as JSON: what it shows, best first within its block, and what it left out."""
    user = record.user
    shown = [used for used in record.used if used.shown != "none"]
    stored = {one.ref: one for one in ctx.get([used.ref for used in shown], user=user)}
    pins = ctx.pins(user=user)
    items = [
        {
            "ref": used.ref,
            "type": stored[used.ref].type if used.ref in stored else "",
            "kind": used.kind,
            "title": used.title,
            "text": used.words[:_TEXT],
            "score": used.score,
            "tokens": used.tokens,
            "shown": used.shown,
            "block": used.block,
            "include": used.include,
            "trust": used.trust,
            "reason": used.reason,
            "signals": used.signals,
            "pinned": pins.get(used.ref, ""),
            "rated": _rated(ctx, used.ref, user),
            "came_back": used.ref in record.came_back,
        }
        for used in sorted(shown, key=lambda one: (one.block, -one.score))
    ]
    return {
        "tokens": record.tokens,
        "limit": record.limit,
        "exact": record.exact,
        "summary": record.summary(),
        "items": items,
        "left_out": record.left_out,
        "lanes": record.lanes,
        "degraded": record.degraded,
    }


def origin_of(ctx: ContextMiddleware, ref: str, user: str) -> dict[str, Any]:
    """Return where something comes from, what it said before, and what was said of it."""
    found = ctx.get([ref], user=user)
    if not found:
        raise NotFound(f"there is no record {ref!r}: code and rules are in files, see those.")
    record = found[0]
    versions = ctx.versions(ref, user=user) if record.type == "memory" else []
    return {
        "ref": ref,
        "type": record.type,
        "text": record.says(),
        "source": record.source,
        "scope": record.scope,
        "session": record.session,
        "at": record.at.isoformat(),
        "versions": [
            {"ref": one.ref, "text": one.text, "at": one.at.isoformat(), "source": one.source}
            for one in versions
        ],
        "ratings": [
            {"value": one.value, "note": one.note, "at": one.at.isoformat()}
            for one in ctx.ratings(ref=ref, user=user)
        ],
    }


def _rated(ctx: ContextMiddleware, ref: str, user: str) -> int:
    """Return what was last said of a thing; 0 when nothing was, or it was taken back."""
    return next((one.value for one in ctx.ratings(ref=ref, user=user) if not one.replaced), 0)
