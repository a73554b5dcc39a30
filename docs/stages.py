"""Draws the pipeline once for each stage, that stage marked: the pictures of docs/concepts.

python -m docs.stages
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

PICTURES = Path(__file__).parent / "pictures"
STAGES = {
    "situation": "who asks, where,\nfor what",
    "sources": "memories, sessions,\ncode, your own",
    "items": "one currency;\nthe scope gate",
    "score": "0 to 1,\nwith reasons",
    "select": "lanes; full, brief,\nindex, none",
    "render": "Markdown, XML\nor compact",
    "place": "stable block and\nthis turn's part",
    "record": "what, how, why;\nwhy not",
}
STYLE = """
  svg { color-scheme: light dark; }
  .box { fill: #f5f7fa; stroke: #c9d1db; }
  .name { fill: #1d2430; font-weight: 600; font-size: 13.5px; }
  .about { fill: #5b6676; font-size: 10.5px; }
  .arrow { stroke: #8793a3; fill: none; }
  .here .box { fill: #2f6fde; stroke: #2f6fde; }
  .here .name { fill: #fff; }
  .here .about { fill: #dbe7ff; }
  text { font-family: system-ui, "Segoe UI", Roboto, Helvetica, sans-serif; text-anchor: middle; }
"""
WIDTH, HEIGHT, GAP, FOUR = 150, 66, 26, 4


def main() -> None:
    """Write one picture for each stage, and one with none marked."""
    for marked in ("", *STAGES):
        name = f"stage-{marked}" if marked else "pipeline"
        (PICTURES / f"{name}.svg").write_text(picture(marked), encoding="utf-8")


def picture(marked: str) -> str:
    """Return the pipeline as SVG, in two rows of four."""
    width = FOUR * WIDTH + (FOUR - 1) * GAP + 2
    height = 2 * HEIGHT + 40
    boxes = [box(name, at, name == marked) for at, name in enumerate(STAGES)]
    arrows = [arrow(at) for at in range(len(STAGES) - 1)]
    label = f"The pipeline; this page is about {marked}" if marked else "The pipeline"
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
            f"<style>{STYLE}</style>",
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def corner(at: int) -> tuple[int, int]:
    """Return where the box of a stage begins."""
    row, column = divmod(at, FOUR)
    return 1 + column * (WIDTH + GAP), 1 + row * (HEIGHT + 38)


def box(name: str, at: int, here: bool) -> str:
    x, y = corner(at)
    middle = x + WIDTH / 2
    lines = [
        f'<text class="about" x="{middle}" y="{y + 38 + 14 * n}">{escape(line)}</text>'
        for n, line in enumerate(STAGES[name].split("\n"))
    ]
    return "\n".join(
        [
            f'<g class="{"here" if here else "stage"}">',
            f'<rect class="box" x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
            f'<text class="name" x="{middle}" y="{y + 21}">{name}</text>',
            *lines,
            "</g>",
        ]
    )


def arrow(at: int) -> str:
    """Return the way from one stage to the next; from row to row it goes around."""
    x, y = corner(at)
    to_x, to_y = corner(at + 1)
    if to_y == y:
        start, end, middle = x + WIDTH, to_x - 2, y + HEIGHT / 2
        path = f"M{start} {middle} H{end} m-6 -4 l6 4 l-6 4"
    else:
        start, end, between = x + WIDTH / 2, to_x + WIDTH / 2, y + HEIGHT + 19
        path = f"M{start} {y + HEIGHT} V{between} H{end} V{to_y - 2} m-4 -6 l4 6 l4 -6"
    return f'<path class="arrow" d="{path}"/>'


if __name__ == "__main__":
    main()
