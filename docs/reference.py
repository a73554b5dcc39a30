"""Writes the reference of commands and settings from the code.

make reference
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ctxmw.cli.commands import EXIT_CODES, GROUPS, command
from ctxmw.cli.main import WHERE, parsers
from ctxmw.settings.reference import Key, keys

FOLDER = Path(__file__).parent / "reference"
_MADE = "Written from the code by `make reference`."


def pages() -> dict[Path, str]:
    """Return each page's path and text."""
    return {
        FOLDER / "commands.md": "\n".join(_commands()) + "\n",
        FOLDER / "settings.md": "\n".join(_settings()) + "\n",
    }


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text, "utf-8")


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield f"{_MADE} How to use them: [the command line](../cli.md)."
    yield from ("", "Every command also takes, before its name or after it:", "")
    yield from (f"- `--{name} {metavar}`: {told}" for name, (metavar, told) in WHERE.items())
    yield from ("", "How a command ends:", "")
    yield from (f"- `{code}`: {told}" for code, told in EXIT_CODES.items())
    made = parsers()
    for group, names in GROUPS.items():
        yield from ("", f"## {group[0].upper()}{group[1:]}")
        for name in names:
            taken = list(_taken(made[name]))
            yield from ("", f"### ctxmw {name}", "", _sentence(command(name).HELP))
            yield from ("", *taken) if taken else ()


def _taken(parser: argparse.ArgumentParser, indent: str = "") -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f"{indent}- `{choice.dest}`: {choice.help}"
                yield from _taken(action.choices[choice.dest], indent + "  ")
        elif action.dest not in ("help", *WHERE):
            yield f"{indent}- `{_written(action)}`{_told(action)}"


def _written(action: argparse.Action) -> str:
    value = action.metavar or action.dest
    shown = str(value).upper() if action.option_strings else str(value)
    if action.choices and action.metavar is None:
        shown = "|".join(map(str, action.choices))
    if not action.option_strings:
        return shown if action.nargs not in ("*", "?") else f"[{shown}]"
    return (
        action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {shown}"
    )


def _told(action: argparse.Action) -> str:
    return f": {action.help}" if action.help else ""


def _settings() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield f"{_MADE} How they are found: [the command line](../cli.md)."
    for table, group in groupby(keys(), key=lambda key: key.table):
        yield from ("", f"## `{table}`" if table else "## At the top of the file", "")
        yield from ("| key | default | |", "| --- | --- | --- |")
        yield from map(_row, group)


def _row(key: Key) -> str:
    default = f"`{key.default}`" if key.default else ""
    return f"| `{key.name}` | {default} | {key.says.replace('|', chr(92) + '|')} |"


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


if __name__ == "__main__":
    main()
