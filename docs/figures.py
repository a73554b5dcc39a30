"""Draws the figures of docs/benchmarks/index.md from what was measured.

python -m docs.figures
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "ctxmw"  # the same picture for the same numbers
mpl.rcParams["svg.fonttype"] = "none"

import matplotlib.pyplot as plt

from docs.measured import row_of

PICTURES = Path(__file__).parent / "pictures"
PAGE = Path(__file__).parent / "searching.md"
"""Has the table of recall, plain BM25 included."""
WAYS = {
    "ctxmw": "ctxmw",
    "in system": "what was found closes the system prompt",
    "left out": "what was found stands before the question, then is gone",
}
OURS = ("#2f6fde", "#17845b", "#8a45c9")
OTHERS = ("#9aa5b5", "#c9d1db")


def main() -> None:
    """Draw every figure."""
    recall = table("| rec@1000 |")
    groups = ["LoCoMo", "REALTALK", "BEAM 100K"]
    bars(
        recall, groups, "% of the evidence within 1,000 tokens", "figure-recall", (OTHERS[0], *OURS)
    )
    prefix = {title: [served(name, turns) for turns in (50, 200)] for name, title in WAYS.items()}
    bars(
        prefix,
        ["50 turns", "200 turns"],
        "% served from the cache",
        "figure-prefix",
        (OURS[0], *OTHERS),
    )


def served(way: str, turns: int) -> float:
    """Return the share of prompt tokens that a provider with breakpoints serves, in percent."""
    row = row_of("prefix", f"{turns} turns / {way}")
    return float(row["breakpoints %"]) if row else 0.0


def table(header: str) -> dict[str, list[float]]:
    """Return the rows of the table that begins like this, by their first cell."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(header))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[name.replace("`", "")] = [float(cell.removesuffix(" %")) for cell in cells]
    return rows


def bars(
    rows: dict[str, list[float]],
    groups: list[str],
    label: str,
    name: str,
    colours: tuple[str, ...],
) -> None:
    """Draw one group of bars for each column."""
    figure, ax = plt.subplots(figsize=(7.4, 3.0), layout="constrained")
    width = 0.8 / len(rows)
    for at, (title, values) in enumerate(rows.items()):
        places = [group + at * width for group in range(len(groups))]
        drawn = ax.bar(places, values, width * 0.92, label=title, color=colours[at])
        ax.bar_label(drawn, fmt="%.0f", fontsize=8, color="#5b6676")
    ax.set_xticks([group + 0.4 - width / 2 for group in range(len(groups))], groups)
    ax.set_ylabel(label, fontsize=9)
    ax.set_ylim(0, 110)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *ax.get_legend_handles_labels(),
        frameon=False,
        fontsize=8,
        loc="outside upper left",
        ncols=2,
    )
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    main()
