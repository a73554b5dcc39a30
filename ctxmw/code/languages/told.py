"""What a definition in a tree tells of itself: its signature, and the comment above it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...text.cleaning import one_line
from ..files import first_line, short_signature

if TYPE_CHECKING:
    from tree_sitter import Node

    Slice = Callable[[int, int], str]

COMMENTS = frozenset(("comment", "line_comment", "block_comment"))
_READ = 600
"""Bytes of a definition that are looked at for its signature."""
_VALUE = 160
"""Characters that are kept of a constant or of a type that is made of others."""
_MOST_LINES = 40
_AROUND = frozenset(
    ("export_statement", "lexical_declaration", "variable_declaration", "type_declaration",
     "const_declaration", "var_declaration", "var_spec_list", "ambient_declaration")
)  # fmt: skip
_MARKS = re.compile(r"^\s*(?:/\*+!?|\*+(?!/)|//+!?|#+)?\s?")
_HEADING = re.compile(r"^#{1,6}\s+")
_KEYWORDS = {"type_spec": "type", "type_alias": "type", "const_spec": "const", "var_spec": "var"}
"""What stands before several definitions of Go at once."""
_MADE_OF = {"struct_type": "struct", "interface_type": "interface"}
_VALUES = frozenset(
    ("type_alias_declaration", "variable_declarator", "const_item", "static_item", "type_item",
     *_KEYWORDS)
)  # fmt: skip


def signature(node: Node, body: Node | None, text: Slice) -> str:
    """Return a definition up to its body on one line, without its comments."""
    end = body.start_byte if body is not None else node.end_byte
    for child in node.named_children:
        if child.type == "where_clause":
            end = min(end, child.start_byte)
    made = node.child_by_field_name("type") if node.type == "type_spec" else None
    what = _MADE_OF.get(made.type, "") if made is not None else ""
    if made is not None and what:
        end = made.start_byte
    begin = node.start_byte
    told = short_signature(text(begin, min(end, begin + _READ)), "//")
    whole = " ".join(filter(None, (_KEYWORDS.get(node.type), told, what)))
    return one_line(whole, _VALUE) if node.type in _VALUES else whole


def comment_above(node: Node, text: Slice) -> str:
    """Return the first line of the comment that stands before a definition."""
    at: Node | None = node
    while at is not None:
        if lines := _lines_above(at, text):
            return said("\n".join(lines))
        first = at.parent is not None and at.parent.named_children[0] == at
        at = at.parent if first and at.parent is not None and at.parent.type in _AROUND else None
    return ""


def said(comment: str) -> str:
    """Return what the first paragraph of a comment says, without its marks."""
    lines = [_MARKS.sub("", line).rstrip("*/ ") for line in comment[:4000].splitlines()]
    return _HEADING.sub("", first_line("\n".join(lines).strip()))


def _lines_above(node: Node, text: Slice) -> list[str]:
    lines: list[str] = []
    before, below = node.prev_sibling, node.start_point[0]
    while before is not None and before.type in (*COMMENTS, "attribute_item"):
        if below - before.end_point[0] > 1 or len(lines) > _MOST_LINES:
            break
        below = before.start_point[0]
        if before.type != "attribute_item":
            lines.insert(0, text(before.start_byte, before.end_byte))
        before = before.prev_sibling
    return lines
