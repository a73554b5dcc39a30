"""What source files define, in every language that is read."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.code.files import Unparsable, called_in, module_name, parse
from ctxmw.errors import MissingPackage

PYTHON = '''"""Sells things.

At length.
"""
import os
from .tokens import Token, check as verify
from shop import *

MAX_ITEMS: int = 10
ShopId = str
lower = 1

@decorated(
    "x",
)
class Cart(base.Basket[int], Generic[T]):
    """Holds what somebody
    wants to buy.

    More.
    """

    def add(
        self,
        item: str,  # what
        *,
        n: int = 1,
    ) -> None:
        """Add one; see remove(x)."""
        self.check(item)
        verify(item)

    class Inner:
        pass

    @property
    async def size(self): return len(self.items)


if True:
    def outer(a, b=(1, 2)) -> "Cart":
        def nested():
            return Cart()
        return nested()
try:
    pass
except ImportError:
    def fallback(): ...
'''


def named(parsed):
    return {entity.name: entity for entity in parsed.entities}


def test_a_python_file_gives_its_definitions_with_signature_doc_and_lines():
    found = named(parse("python", "shop/cart.py", PYTHON))
    kinds = {name: entity.kind for name, entity in found.items()}
    assert kinds == {
        "shop.cart": "module",
        "MAX_ITEMS": "constant",
        "ShopId": "constant",
        "Cart": "class",
        "Cart.add": "method",
        "Cart.Inner": "class",
        "Cart.size": "method",
        "outer": "function",
        "fallback": "function",
    }
    assert found["shop.cart"].doc == "Sells things."
    assert found["Cart"].doc == "Holds what somebody wants to buy."
    assert found["Cart"].signature == "class Cart(base.Basket[int], Generic[T])"
    assert found["Cart"].bases == ("base.Basket", "Generic")
    assert found["Cart.add"].signature == "def add(self, item: str, *, n: int = 1) -> None"
    assert found["Cart.size"].signature == "async def size(self)"
    assert found["outer"].signature == 'def outer(a, b=(1, 2)) -> "Cart"'
    assert PYTHON.splitlines()[found["Cart.add"].line - 1].strip() == "def add("
    assert found["Cart.add"].end - found["Cart.add"].line == 8


def test_calls_are_those_of_the_code_and_not_of_the_docstring():
    found = named(parse("python", "shop/cart.py", PYTHON))
    assert found["Cart.add"].calls == ("self.check", "verify")
    assert found["outer"].calls == ("Cart", "nested")
    assert called_in("if (x): first(a).then(b); def h(") == ("first", "().then")


def test_imports_are_kept_as_written():
    assert parse("python", "shop/cart.py", PYTHON).imports == (
        "os",
        ".tokens:Token",
        ".tokens:check",
        "shop:*",
    )


def test_what_begins_a_comment_may_stand_in_a_string():
    text = """URL = "https://a.b/#c"  # where
HALF = TOTAL // 2
def get(url="https://a.b",  # the "place"
        mark=" # "): return 1
"""
    signatures = [one.signature for one in parse("python", "a.py", text).entities[1:]]
    assert signatures == [
        'URL = "https://a.b/#c"',
        "HALF = TOTAL // 2",
        'def get(url="https://a.b", mark=" # ")',
    ]
    script = "class A { static #count(url = 'http://a', // where\n n) { return 1 } }"
    method = parse("javascript", "a.js", script).entities[2]
    assert method.signature == "static #count(url = 'http://a', n)"


def test_a_tuple_of_one_keeps_its_comma():
    found = parse("python", "a.py", "def f(\n    a=(1,),\n    b=2,\n): return a\n").entities[1]
    assert found.signature == "def f(a=(1,), b=2)"


def test_a_base_with_a_thousand_dots_is_read():
    name = ".".join(["a"] * 1500)
    with suppress(Unparsable):  # how much the parser takes is its own affair
        assert parse("python", "a.py", f"class A({name}): pass").entities[1].bases == (name,)


def test_overloads_are_left_to_what_they_describe():
    overloads = "@overload\ndef f(a: int): ...\n@typing.overload\ndef f(a: str): ...\n"
    text = f"{overloads}def f(a): return a\n"
    found = parse("python", "f.py", text)
    assert [entity.signature for entity in found.entities[1:]] == ["def f(a)"]


def test_secrets_in_code_are_not_kept():
    text = 'API_KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"\n'
    kept = repr(parse("python", "keys.py", text))
    assert "abcdefghijklmnop" not in kept
    assert "REDACTED" in kept


@pytest.mark.parametrize(
    "text",
    ["def f(:\n", "x = '\n", "(" * 500, "-" * 100_000 + "1", "a" + ".a" * 50_000, "\0"],
    ids=["syntax", "quote", "brackets", "signs", "dots", "nul"],
)
def test_a_broken_python_file_says_why_it_cannot_be_read(text):
    with pytest.raises(Unparsable, match=r"its syntax is wrong|cannot be parsed"):
        parse("python", "a.py", text)


def test_odd_escapes_do_not_warn():
    assert parse("python", "a.py", 'X = "\\d"\n').entities[1].name == "X"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("shop/auth/__init__.py", "shop.auth"),
        ("shop/auth.py", "shop.auth"),
        ("web/app.test.ts", "web.app.test"),
        ("Makefile", "Makefile"),
    ],
)
def test_a_module_is_named_after_its_file(path, name):
    assert module_name(path) == name


JAVASCRIPT = """// Handles carts.
import {x} from "./lib/x.js";
import React from 'react';
/** The largest cart. */
export const MAX_ITEMS = 10;
/**
 * A cart of things.
 *
 * More.
 */
export class Cart extends Base {
  /** Adds one. */
  add(item, n = 1) { this.total(item); return checkout(item); }
  total = (a) => { return sum(a); }
}
// Checks out.
export async function checkout(cart) { return new Cart().add(cart); }
const helper = (a, b) => checkout(a);
const plain = 3;
"""
TYPESCRIPT = """import type { A } from "../a";
export interface Shape extends Base<string> { area(): number }
export abstract class Sq<T> extends Shape implements X { area(): number { return side(); } }
export type Id = string;
export enum Color { Red }
namespace N { export function inner(a: string): void { foo(a) } }
export default function main(): Promise<void> { return run(); }
"""
GO = """// Package shop sells.
package shop

import (
\t"fmt"
\tx "a/b"
)

// MaxItems is it.
const MaxItems = 10

// Cart holds.
type Cart struct{ n int }

// Add adds.
func (c *Cart) Add(n int) error { return check(n) }

func check(n int) error { fmt.Println(n); return nil }
"""
RUST = """//! Sells things.
use std::collections::HashMap;
/// A cart.
#[derive(Debug)]
pub struct Cart { n: u32 }
impl<T> Trait for Cart<T> { fn go(&self) -> u32 { run(self.n) } }
pub trait Trait { fn go(&self) -> u32; }
mod inner { pub fn deep() {} }
const MAX: u32 = 3;
"""
JAVA = """package a.b;
import java.util.List;
/** A cart. */
public class Cart extends Base<String> implements Runnable, X {
  public static final int MAX_ITEMS = 3;
  private int n;
  /** Adds. */
  @Override public int add(int n) { return check(n); }
  Cart() {}
  interface Inner { void f(); }
}
"""


@pytest.mark.parametrize(
    ("language", "path", "text", "names"),
    [
        ("javascript", "cart.js", JAVASCRIPT, "MAX_ITEMS Cart Cart.add Cart.total checkout helper"),
        ("typescript", "cart.ts", TYPESCRIPT, "Shape Sq Sq.area Id Color inner main"),
        ("go", "cart.go", GO, "MaxItems Cart Cart.Add check"),
        ("rust", "cart.rs", RUST, "Cart Cart.go Trait Trait.go inner.deep MAX"),
        (
            "java",
            "Cart.java",
            JAVA,
            "Cart Cart.MAX_ITEMS Cart.add Cart.Cart Cart.Inner Cart.Inner.f",
        ),
    ],
)
def test_other_languages_give_their_definitions(language, path, text, names):
    found = parse(language, path, text)
    assert [entity.name for entity in found.entities[1:]] == names.split()
    assert all(entity.line <= entity.end for entity in found.entities)


def test_what_other_languages_tell_of_a_definition():
    script = named(parse("javascript", "cart.js", JAVASCRIPT))
    assert script["cart"].doc == "Handles carts."
    assert script["Cart"].doc == "A cart of things."
    assert script["Cart"].bases == ("Base",)
    assert script["Cart.add"].calls == ("this.total", "checkout")
    assert script["checkout"].signature == "async function checkout(cart)"
    typed = named(parse("typescript", "sq.ts", TYPESCRIPT))
    assert typed["Sq"].bases == ("Shape", "X")
    assert typed["Sq.area"].signature == "area(): number"
    go = named(parse("go", "cart.go", GO))
    assert (go["Cart.Add"].doc, go["Cart.Add"].calls) == ("Add adds.", ("check",))
    assert parse("go", "cart.go", GO).imports == ("fmt", "a/b")
    rust = named(parse("rust", "cart.rs", RUST))
    assert (rust["Cart"].doc, rust["MAX"].kind) == ("A cart.", "constant")
    java = named(parse("java", "Cart.java", JAVA))
    assert java["Cart"].bases == ("Base", "Runnable", "X")
    assert java["Cart.add"].doc == "Adds."


def test_jsx_is_read():
    text = "export function App() { return <div onClick={() => go()}>hi</div>; }"
    assert "App" in named(parse("javascript", "app.jsx", text))
    assert "App" in named(parse("typescript", "app.tsx", text))


@pytest.mark.parametrize("language", ["javascript", "typescript", "go", "rust", "java"])
@given(text=st.text(alphabet="(){}<>[];:=.,'\"`/* \nfunctioclasdefimptrub", max_size=300))
def test_no_text_breaks_a_grammar(language, text):
    parse(language, f"a.{language}", text)


@given(text=st.text(max_size=200))
def test_no_text_breaks_python(text):
    with suppress(Unparsable):
        assert parse("python", "a.py", text).entities[0].kind == "module"


def test_deeply_nested_code_is_read_without_recursion():
    parse("javascript", "a.js", "function f() {" * 3000 + "}" * 3000)


def test_a_missing_grammar_names_the_install_line(monkeypatch):
    from ctxmw.code.languages import tree_sitter as code_tree_sitter

    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    code_tree_sitter._language.cache_clear()
    with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[code\]"'):
        parse("go", "a.go", "package a")


def entities_of(language, path, text):
    pytest.importorskip(f"tree_sitter_{language}")
    return {one.name: one for one in parse(language, path, text).entities[1:]}


def test_go_types_and_variables_are_told_as_they_are_written():
    text = """package x

// Options say how.
type Options struct {
	// Depth of it.
	Depth int
}

type (
	// Walker walks.
	Walker interface {
		Walk() error
	}
)

var (
	// DefaultOptions are used without any.
	DefaultOptions = Options{Depth: 1}
	_ Walker = nil
)

const Head = "HEAD"
"""
    found = entities_of("go", "x.go", text)
    told = {name: (one.signature, one.doc) for name, one in found.items()}
    assert told == {
        "Options": ("type Options struct", "Options say how."),
        "Walker": ("type Walker interface", "Walker walks."),
        "DefaultOptions": (
            "var DefaultOptions = Options{Depth: 1}", "DefaultOptions are used without any.",
        ),
        "Head": ('const Head = "HEAD"', ""),
    }  # fmt: skip


def test_what_a_rust_function_demands_of_its_types_is_left_out():
    text = "/// # Adds\npub fn add<T>(x: T) -> u8\nwhere\n    T: Into<u8>,\n{\n    x.into()\n}\n"
    one = entities_of("rust", "a.rs", text)["add"]
    assert (one.signature, one.doc) == ("pub fn add<T>(x: T) -> u8", "Adds")


def test_long_and_exported_values_of_a_script_are_definitions():
    text = """
export const limit = 5
const handler = {
  /** Parses it. */
  parse() {
    return 1
  },
}
const short = 1
type Options = { /** Said here. */ depth: number }
"""
    found = entities_of("typescript", "a.ts", text)
    assert [one.kind for one in found.values()] == ["constant", "constant", "class"]
    assert found["Options"].signature == "type Options = { depth: number }"
    assert "Parses" not in found["handler"].signature
