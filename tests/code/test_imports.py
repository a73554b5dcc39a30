"""Which file imports which, in each language: true, or not told."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code.codebase import Codebase
from ctxmw.code.languages.named_imports import inside_of, rust_paths, script_imports
from ctxmw.code.relations import related


@pytest.fixture
def graph(tmp_path):
    """Return what makes the import graph of files, by path."""

    def made(files):
        for path, text in files.items():
            place = tmp_path / "code" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        with ContextMiddleware.open(":memory:") as ctx:
            ctx.index_code(tmp_path / "code", project="shop")
            with Codebase(ctx.store).use("local", "shop") as code:
                return code

    return made


def imported(code):
    found = {path: sorted(code.graph.imported(path)) for path in code.files}
    return {path: files for path, files in found.items() if files}


def test_a_script_is_imported_by_the_name_it_has_when_compiled(graph):
    code = graph(
        {
            "src/a.ts": 'import { b } from "./b.js";\nexport * from "./c";\nimport "./d.mjs";',
            "src/b.ts": "export const b = 1;",
            "src/b.js": "export const b = 1;",
            "src/c/index.tsx": "export default 1;",
            "src/d.mts": "",
            "src/e.js": 'const b = require("./b"); import("./c").then(() => 1);',
            "src/f.ts": 'export * as names from "../src";\nimport fs from "node:fs";',
            "src/index.ts": "",
        }
    )
    assert imported(code) == {
        "src/a.ts": ["src/b.ts", "src/c/index.tsx", "src/d.mts"],
        "src/e.js": ["src/b.ts", "src/c/index.tsx"],
        "src/f.ts": ["src/index.ts"],
    }


def test_paths_and_base_of_a_tsconfig_are_followed_also_where_they_are_inherited(graph):
    base = """{
      // what all packages share
      "compilerOptions": {
        "baseUrl": "web", "paths": {"@/*": ["lib/*", "made/*"], "cfg": ["c.ts"],}
      },
    }"""
    code = graph(
        {
            "tsconfig.base.json": base,
            "web/tsconfig.json": '{"extends": "../tsconfig.base.json"}',
            "web/app/main.ts": 'import {x} from "@/x"; import "@/y"; import c from "cfg";'
            ' import "lib/x"; import react from "react"; import "@/nowhere";',
            "web/lib/x.ts": "export const x = 1",
            "web/made/y.ts": "",
            "web/c.ts": "",
            "other/main.ts": 'import {x} from "@/x";',
        }
    )
    assert imported(code) == {
        "web/app/main.ts": ["web/c.ts", "web/lib/x.ts", "web/made/y.ts"],
    }
    assert "react" in code.files["web/app/main.ts"].imports


def test_a_solution_of_several_tsconfigs_is_read(graph):
    code = graph(
        {
            "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "tsconfig.app.json": '{"compilerOptions": {"paths": {"~/*": ["./src/*"]}}}',
            "src/a.ts": 'import "~/b";',
            "src/b.ts": "",
        }
    )
    assert imported(code) == {"src/a.ts": ["src/b.ts"]}


def test_a_package_of_the_same_repository_is_known_by_its_name(graph):
    code = graph(
        {
            "package.json": '{"private": true, "workspaces": ["packages/*"]}',
            "packages/cart/package.json": '{"name": "@shop/cart", "main": "dist/index.js"}',
            "packages/cart/src/index.ts": "",
            "packages/cart/src/total.ts": "",
            "packages/web/package.json": '{"name": "web", "exports": {"./x": "./lib/x.ts"}}',
            "packages/web/main.ts": 'import "@shop/cart"; import "@shop/cart/total";'
            ' import "web/x";',
            "packages/web/lib/x.ts": "",
        }
    )
    assert imported(code) == {
        "packages/web/main.ts": [
            "packages/cart/src/index.ts",
            "packages/cart/src/total.ts",
            "packages/web/lib/x.ts",
        ]
    }


def test_a_tsconfig_that_is_odd_tells_nothing(graph):
    code = graph(
        {
            "tsconfig.json": '{"extends": "./tsconfig.json",'
            ' "compilerOptions": {"paths": {"*": 1}}}',
            "package.json": '["no object"]',
            "a.ts": 'import "x"; import "../../outside"; import "/etc/passwd";',
        }
    )
    assert imported(code) == {}


def test_rust_follows_its_modules_and_crates(graph):
    code = graph(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/cart-core/Cargo.toml": '[package]\nname = "cart-core"\nedition = "2021"\n',
            "crates/cart-core/src/lib.rs": "pub mod money;\nmod items;\npub use items::Item;\n"
            "cfg_net! { pub mod net; }\nmod tests { use super::*; use crate::money::Cents; }\n",
            "crates/cart-core/src/money.rs": "mod cents;\npub use self::cents::Cents;\n",
            "crates/cart-core/src/money/cents.rs": "pub struct Cents;\n",
            "crates/cart-core/src/items/mod.rs": "use crate::money::{Cents, self};\n"
            "use super::net;\nuse std::net::TcpStream;\npub struct Item;\n",
            "crates/cart-core/src/net.rs": "",
            "crates/cart-core/tests/buys.rs": "mod common;\nuse cart_core::{Item, money::Cents};\n",
            "crates/cart-core/tests/common/mod.rs": "",
            "crates/web/Cargo.toml": '[package]\nname = "web"\nedition.workspace = true\n',
            "crates/web/src/main.rs": "use cart_core::Item;\nuse money::Other;\nmod routes;\n"
            "use routes::all;\n",
            "crates/web/src/routes.rs": "pub fn all() {}\n",
        }
    )
    cents, items = "crates/cart-core/src/money/cents.rs", "crates/cart-core/src/items/mod.rs"
    money, net = "crates/cart-core/src/money.rs", "crates/cart-core/src/net.rs"
    assert imported(code) == {
        "crates/cart-core/src/lib.rs": [items, money, cents, net],
        money: [cents],
        items: [money, cents, net],
        "crates/cart-core/tests/buys.rs": [items, cents, "crates/cart-core/tests/common/mod.rs"],
        "crates/web/src/main.rs": [items, "crates/web/src/routes.rs"],
    }


def test_modules_of_rust_that_hand_each_other_on_end(graph):
    globs = "".join(f"pub use crate::m{n}::*;\n" for n in range(12))
    files = {f"src/m{n}.rs": globs + "use crate::m0::Nothing;\n" for n in range(12)}
    declared = "".join(f"mod m{n};\n" for n in range(12))
    code = graph({"Cargo.toml": '[package]\nname = "x"\n', "src/lib.rs": declared, **files})
    assert len(code.graph.imported("src/m1.rs")) <= 12


def test_a_module_that_a_file_declares_later_is_found(graph, tmp_path):
    files = {"Cargo.toml": '[package]\nname = "x"\n', "src/lib.rs": "", "src/a.rs": ""}
    code = graph(files)
    assert code.graph.imported("src/lib.rs") == ()
    code.take_in(code.files["src/lib.rs"].model_copy(update={"imports": ("mod a",)}))
    assert code.graph.imported("src/lib.rs") == ("src/a.rs",)


def test_use_declarations_are_taken_apart():
    assert list(rust_paths("crate::{a::{b, c as d, self}, e::*, f}")) == [
        "crate::a::b",
        "crate::a::c",
        "crate::a",
        "crate::e::*",
        "crate::f",
    ]
    assert inside_of("super::super::a", 1) == "super::a"
    assert inside_of("super::a", 1) == "self::a"
    assert inside_of("self::a", 1) is None


def test_statements_of_scripts_are_taken_apart():
    assert list(script_imports('import d, {a as b, type C} from "./x"', "./x")) == [
        "./x:a",
        "./x:C",
        "./x:d",
    ]
    assert list(script_imports('import * as all from "./x"', "./x")) == ["./x:*"]


def test_python_imports_inside_of_functions_count(graph):
    files = {"a.py": "def f():\n    from b import g\n    g()\n", "b.py": "def g(): ...\n"}
    assert imported(graph(files)) == {"a.py": ["b.py"]}


CALLS = {
    "shop/__init__.py": "from .cart import total\n",
    "shop/cart.py": "def total(x): ...\n\nclass Base:\n    def check(self): ...\n",
    "shop/api.py": "from . import cart\nfrom shop import total as t, total\n"
    "from .cart import Base\nimport json\n\n"
    "class View(Base):\n    def get_it(self):\n        self.check()\n        total(1)\n\n"
    "def by_module():\n    cart.total(2)\n\n"
    "def foreign(parser, items):\n    json.total(3)\n    items.append(1)\n    x().check()\n",
    "shop/other.py": "class Other:\n    def check(self): ...\n    def append(self, one): ...\n"
    "    def total(self): ...\n\ndef uses():\n    total(1)\n",
}


def called(code, name):
    (one, _), *_ = code.symbol(name)
    return {other.full_name for relation, other in related(code, one, 99) if relation == "calls"}


def test_a_call_is_told_where_it_is_known_whom_it_means(graph):
    code = graph(CALLS)
    assert called(code, "View.get_it") == {"shop.cart.Base.check", "shop.cart.total"}
    assert called(code, "by_module") == {"shop.cart.total"}


def test_a_call_of_what_is_not_known_is_not_told(graph):
    code = graph(CALLS)
    assert called(code, "foreign") == set()
    assert called(code, "uses") == set()
