"""The comparison as a page: tables, and plots that are drawn as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

OURS = "ctxmw"
BUDGETS = ("rec@500", "rec@1000", "rec@2000")


def write(results: dict[str, Any], folder: Path) -> None:
    """Write peers.md and its plots into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "peers.md").write_text(page(results), encoding="utf-8")
    if results.get("recall"):
        (folder / "peers-recall.svg").write_text(_recall_plot(results["recall"]), encoding="utf-8")
    if results.get("growth"):
        (folder / "peers-growth.svg").write_text(_growth_plot(results["growth"]), encoding="utf-8")


def page(results: dict[str, Any]) -> str:
    """Return the page as Markdown."""
    parts = [_head(results), *_recall(results), *_growth(results), *_prefix(results)]
    parts += [*_compaction(results), *_footprint(results), *_faults(results), *_ahead(results)]
    parts += _setup(results)
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(results: dict[str, Any]) -> str:
    return (
        "# Side by side\n\n"
        f"One run of `{results['command']}` on {results['date']}, Python {results['python']}, "
        f"{results['cores']} cores; embedder for whoever needs one: {results['embedder']}.\n"
        f"Versions: {', '.join(f'{name} {at}' for name, at in results['versions'].items())}."
    )


def _recall(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("recall"):
        return
    yield "## Evidence within a budget"
    yield (
        "Share of the turns an answer needs that are in the text put into the prompt, at 500, "
        "1,000 and 2,000 tokens; how long a recall takes; texts over the budget asked for. A peer "
        "without a token budget is asked for many hits, which then fill the budget."
    )
    yield "![Recall at 1,000 tokens](peers-recall.svg)"
    for stem, rows in results["recall"].items():
        head = ["", *BUDGETS, "recall p50 / p99 ms", "add ms", "budget used", "overruns"]
        body = [[name, *_recall_cells(row)] for name, row in rows.items()]
        yield f"### {stem} ({_questions(rows)} questions)"
        yield _table(head, body)


def _recall_cells(row: dict[str, Any]) -> list[str]:
    if "error" in row:
        return [row["error"], *[""] * 6]
    times = row["recall_ms"]
    return [
        *(f"{row[budget]:.1f}" for budget in BUDGETS),
        f"{times['p50']:.1f} / {times['p99']:.1f}",
        f"{row['add_ms']:.2f}",
        f"{row['budget_used']:.0f} %",
        str(row["overruns"]),
    ]


def _questions(rows: dict[str, Any]) -> int:
    return max(row.get("questions", 0) for row in rows.values())


def _growth(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("growth"):
        return
    sizes = list(next(iter(results["growth"].values())))
    yield "## As records grow"
    yield "Recall within 1,000 tokens and adding one record, p50 in ms, by records of one user."
    yield "![Recall time by records](peers-growth.svg)"
    head = ["", *(f"{int(size):,}: recall / add" for size in sizes)]
    body = [
        [name, *(_growth_cell(row.get(size, {})) for size in sizes)]
        for name, row in results["growth"].items()
    ]
    yield _table(head, body)


def _growth_cell(cost: dict[str, Any]) -> str:
    if "recall_ms" not in cost:
        return str(cost.get("left out", cost.get("error", "")))
    return f"{cost['recall_ms']:.1f} / {cost['add_ms']:.1f}"


def _prefix(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("prefix"):
        return
    yield "## The provider's prompt cache"
    yield (
        f"A conversation of {results['turns']} turns under a system prompt of 6,000 tokens. Served "
        "from the cache when a prefix matches anywhere, and when it only matches at the ends of "
        "messages that were sent before; what all prompts cost, in thousands of new tokens, a "
        "cached one counting a tenth. Where each system puts what it found is its own way."
    )
    head = ["", "anywhere", "breakpoints", "prompts that break it", "cost anywhere / breakpoints"]
    body = [[name, *_prefix_cells(row)] for name, row in results["prefix"].items()]
    yield _table(head, body)


def _prefix_cells(row: dict[str, Any]) -> list[str]:
    if "error" in row:
        return [row["error"], *[""] * 3]
    costs = [row["tokens"] * (1 - 0.9 * row[way]) / 1000 for way in ("anywhere", "breakpoints")]
    return [
        f"{row['anywhere']:.1%}",
        f"{row['breakpoints']:.1%}",
        f"{row['breaks']:.0f}",
        " / ".join(f"{cost:,.0f}" for cost in costs),
    ]


def _compaction(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("compaction"):
        return
    yield "## A long conversation made short"
    yield (
        "At a fifth of the tokens: evidence still in the history, and with one search of 500 "
        "tokens where the system has one."
    )
    for stem, rows in results["compaction"].items():
        names = sorted({name for row in rows.values() for name in row})
        body = [[way, *(str(row.get(name, "")) for name in names)] for way, row in rows.items()]
        yield f"### {stem}"
        yield _table(["", *names], body)


def _footprint(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("footprint"):
        return
    yield "## What an installation brings"
    head = ["", "packages", "MB", "import s"]
    body = [
        [name, *(str(row.get(key, "")) for key in ("packages", "megabytes", "import_s"))]
        for name, row in results["footprint"].items()
    ]
    yield _table(head, body)


def _faults(results: dict[str, Any]) -> Iterable[str]:
    if not results.get("faults"):
        return
    yield "## Faults that users report"
    head = ["", "who", "what it does", "ctxmw"]
    body = [
        [name, row.get("peer", ""), row.get("did", row.get("error", "")), row.get("ours", "")]
        for name, row in results["faults"].items()
    ]
    yield _table(head, body)


def _ahead(results: dict[str, Any]) -> Iterable[str]:
    """Yield who is ahead of ctxmw as it comes, and in what."""
    lines: list[str] = []
    for stem, rows in results.get("recall", {}).items():
        ours = rows.get(OURS, {})
        for name, row in rows.items():
            if name.startswith(OURS) or "error" in row or not ours:
                continue
            better = [budget for budget in BUDGETS if row[budget] > ours[budget]]
            faster = row["recall_ms"]["p50"] < ours["recall_ms"]["p50"]
            if better:
                lines.append(f"- {name} finds more on {stem} at {', '.join(better)}")
            if faster:
                lines.append(
                    f"- {name} answers sooner on {stem}: {row['recall_ms']['p50']:.1f} ms against "
                    f"{ours['recall_ms']['p50']:.1f}, and finds {row['rec@1000']:.1f} against "
                    f"{ours['rec@1000']:.1f} at 1,000 tokens"
                )
    footprint = results.get("footprint", {})
    for name, row in footprint.items():
        smaller = [
            f"{row[key]} against {footprint[OURS][key]} {unit}"
            for key, unit in (("megabytes", "MB"), ("import_s", "s to import"))
            if key in row and row[key] < footprint.get(OURS, {}).get(key, 0)
        ]
        if smaller:
            lines.append(f"- {name} is lighter: {', '.join(smaller)}")
    if lines:
        yield "## Where others are ahead"
        yield "\n".join(lines)


def _setup(results: dict[str, Any]) -> Iterable[str]:
    yield "## How each was set up"
    yield "\n".join(f"- {name}: {setting}" for name, setting in results["settings"].items())
    if results.get("missing"):
        yield "## What could not be run"
        yield "\n".join(f"- {name}: {why}" for name, why in results["missing"].items())


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- plots ---


def _recall_plot(recall: dict[str, Any]) -> str:
    """Return bars: recall at 1,000 tokens, by file and system."""
    drawn: list[str] = []
    y = 30
    for stem, rows in recall.items():
        drawn.append(_text(10, y, stem, weight="bold"))
        y += 10
        for name, row in rows.items():
            value = row.get("rec@1000", 0.0)
            colour = "#2f6f4f" if name.startswith("ctxmw") else "#9aa5b1"
            drawn.append(_text(190, y + 12, name, anchor="end"))
            drawn.append(
                f'<rect x="200" y="{y}" width="{4 * value:.0f}" height="16" fill="{colour}"/>'
            )
            drawn.append(_text(206 + 4 * value, y + 12, f"{value:.1f}"))
            y += 21
        y += 26
    return _svg(660, y, drawn)


def _growth_plot(growth: dict[str, Any]) -> str:
    """Return lines: milliseconds of a recall by records, both axes in powers of ten."""
    sizes = [int(size) for size in next(iter(growth.values()))]
    drawn: list[str] = []
    for power in range(-1, 4):
        y = _y(10.0**power)
        drawn.append(f'<line x1="60" x2="560" y1="{y}" y2="{y}" stroke="#d5d9de"/>')
        drawn.append(_text(54, y + 4, f"{10.0**power:g} ms", anchor="end"))
    for at, size in enumerate(sizes):
        drawn.append(_text(_x(at, len(sizes)), 350, f"{size:,}", anchor="middle"))
    ends: dict[float, list[float]] = {}
    for place, (name, row) in enumerate(growth.items()):
        points = [
            (_x(at, len(sizes)), _y(row[str(size)]["recall_ms"]))
            for at, size in enumerate(sizes)
            if "recall_ms" in row.get(str(size), {})
        ]
        if not points:
            continue
        colour = "#2f6f4f" if name.startswith("ctxmw") else _GREYS[place % len(_GREYS)]
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"/>' for x, y in points]
        label = _free(points[-1][1] + 4, ends.setdefault(points[-1][0], []))
        drawn.append(_text(points[-1][0] + 8, label, name, colour=colour))
    return _svg(800, 370, drawn)


_GREYS = ("#5c6773", "#8a6d3b", "#3b6d8a", "#7a5c8a", "#8a3b4e", "#4e8a3b")


def _free(y: float, taken: list[float]) -> float:
    """Return a height near this one where no label stands yet."""
    while any(abs(y - other) < 13 for other in taken):
        y += 13
    taken.append(y)
    return y


def _x(at: int, n: int) -> float:
    return 80 + at * 480 / max(1, n - 1) if n > 1 else 300


def _y(milliseconds: float) -> float:
    from math import log10

    return 330 - 75 * (log10(max(milliseconds, 0.1)) + 1)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    weight: str = "normal",
    colour: str = "",
) -> str:
    fill = colour or "#3c4650"
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{fill}">{text}</text>'
    )


def _svg(width: int, height: float, drawn: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )
