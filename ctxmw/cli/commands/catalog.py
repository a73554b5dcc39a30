"""`ctxmw catalog`: rules, references and tools on offer."""

from __future__ import annotations

import argparse

from ...errors import NotFound
from ...recall.catalog import Catalog
from ...recall.offering.items import CATALOG_KINDS, INCLUDES
from .terminal import Terminal

HELP = "list, add or remove rules, references and tools"
_HOW = "always: with every conversation; manual: when added; agent: when search finds it relevant"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what is listed as JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    actions.add_parser("list", help="what is on offer (the default)")
    add = actions.add_parser("add", help="offer something; the same name again replaces it")
    add.add_argument("kind", choices=CATALOG_KINDS)
    add.add_argument("name")
    add.add_argument("content", nargs="*", help="from the pipe when left out")
    add.add_argument("--include", choices=INCLUDES, help=_HOW)
    add.add_argument("--server", default="", help="the server a tool is on")
    add.add_argument("--disabled", action="store_true", help="keep it, but do not offer it")
    remove = actions.add_parser("remove", help="offer it no longer")
    remove.add_argument("name")
    server = actions.add_parser("server", help="say how the tools of a server come in")
    server.add_argument("name")
    server.add_argument("--include", choices=INCLUDES, required=True, help=_HOW)


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """List, add or remove."""
    from .memory import existing, opened

    adding = chosen.action in ("add", "server")
    with (opened if adding else existing)(chosen) as ctx:
        catalog = ctx.catalog
        match chosen.action:
            case "add":
                item = catalog.add(
                    chosen.kind,
                    chosen.name,
                    _content(chosen),
                    include=chosen.include,
                    enabled=not chosen.disabled,
                    server=chosen.server,
                )
                terminal.line(f"{item.ref}  {item.kind} {item.full_name}")
            case "remove":
                _remove(catalog, chosen.name)
                terminal.line(f"removed: {chosen.name}")
            case "server":
                catalog.add_server(chosen.name, include=chosen.include)
                terminal.line(f"tools of {chosen.name}: {chosen.include}")
            case _:
                _list(chosen, terminal, catalog)


def _remove(catalog: Catalog, name: str) -> None:
    try:
        catalog.remove(name)
    except NotFound as error:
        raise NotFound(f"{error} See ctxmw catalog.") from error


def _content(chosen: argparse.Namespace) -> str:
    """Return what was given; a tool says enough by its name."""
    from .memory import text_from

    if chosen.kind == "tool" and not chosen.content:
        return ""
    return text_from(chosen.content, "content")


def _list(chosen: argparse.Namespace, terminal: Terminal, catalog: Catalog) -> None:
    items = [(item, catalog.include_of(item)) for item in catalog.items()]
    if chosen.json:
        told = [item.model_dump(mode="json") | {"include": include} for item, include in items]
        terminal.json(told)
    elif items:
        rows = [
            (item.ref, item.kind, include, item.full_name, item.text) for item, include in items
        ]
        terminal.table(("ref", "kind", "include", "name", "text"), rows)
    else:
        terminal.note("nothing is on offer yet")
