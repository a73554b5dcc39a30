"""The grammars of the languages that tree-sitter reads, and what their nodes mean."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..files import EntityKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Where a language's grammar is, and what its nodes mean."""

    module: str
    factory: str = "language"
    kinds: dict[str, EntityKind]
    """What a node of this type defines."""
    holders: frozenset[str] = frozenset()
    """Nodes that give what is inside them their name, besides classes."""
    passed: frozenset[str] = frozenset()
    """Nodes whose children are looked at as if they stood there themselves."""
    imports: frozenset[str] = frozenset()
    bases: frozenset[str] = field(default_factory=frozenset)
    """Children of a class that name what it builds on."""


_SCRIPT: dict[str, EntityKind] = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "interface_declaration": "class",
    "enum_declaration": "class",
    "type_alias_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "constant",
    "public_field_definition": "method",
    "field_definition": "method",
}
_SCRIPT_PASSED = frozenset(
    ("program", "export_statement", "lexical_declaration", "variable_declaration", "class_body",
     "ambient_declaration", "internal_module", "module", "statement_block", "expression_statement")
)  # fmt: skip
_SCRIPT_BASES = frozenset(("class_heritage", "extends_type_clause", "extends_clause"))
SCRIPT_IMPORTS = frozenset(("import_statement", "export_statement"))

_JAVASCRIPT = Grammar(
    module="tree_sitter_javascript",
    kinds=_SCRIPT,
    passed=_SCRIPT_PASSED,
    imports=SCRIPT_IMPORTS,
    bases=_SCRIPT_BASES,
)
_TYPESCRIPT = replace(_JAVASCRIPT, module="tree_sitter_typescript")

GRAMMARS: dict[str, Grammar] = {
    "javascript": _JAVASCRIPT,
    "typescript": replace(_TYPESCRIPT, factory="language_typescript"),
    "tsx": replace(_TYPESCRIPT, factory="language_tsx"),
    "go": Grammar(
        module="tree_sitter_go",
        kinds={
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "class",
            "type_alias": "class",
            "const_spec": "constant",
            "var_spec": "constant",
        },
        passed=frozenset(
            (
                "source_file",
                "type_declaration",
                "const_declaration",
                "var_declaration",
                "var_spec_list",
            )
        ),
        imports=frozenset(("import_spec", "import_spec_list", "import_declaration")),
    ),
    "rust": Grammar(
        module="tree_sitter_rust",
        kinds={
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "class",
            "enum_item": "class",
            "union_item": "class",
            "trait_item": "class",
            "type_item": "class",
            "const_item": "constant",
            "static_item": "constant",
            "macro_definition": "function",
        },
        holders=frozenset(("impl_item", "mod_item")),
        passed=frozenset(("source_file", "declaration_list")),
        imports=frozenset(("use_declaration", "mod_item", "macro_invocation")),
    ),
    "java": Grammar(
        module="tree_sitter_java",
        kinds={
            "class_declaration": "class",
            "interface_declaration": "class",
            "enum_declaration": "class",
            "record_declaration": "class",
            "annotation_type_declaration": "class",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "field_declaration": "constant",
        },
        passed=frozenset(
            ("program", "class_body", "interface_body", "enum_body", "enum_body_declarations")
        ),
        imports=frozenset(("import_declaration",)),
        bases=frozenset(("superclass", "super_interfaces", "extends_interfaces")),
    ),
}
