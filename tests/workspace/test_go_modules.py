"""An import of Go is of the own module, or of nobody here."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware
from ctxmw.code.codebase import Codebase
from ctxmw.workspace.go_modules import GoModules


@pytest.mark.parametrize(
    ("text", "importer", "meant"),
    [
        ("example.org/shop/auth", "main.go", "/auth"),
        ("example.org/shop", "auth/auth.go", "/"),
        ("example.org/shopping", "main.go", "example.org/shopping"),
        ("context", "main.go", "context"),
        ("example.org/tool/run", "tool/cmd/main.go", "/tool/run"),
        ("example.org/shop/auth", "tool/main.go", "example.org/shop/auth"),
    ],
)
def test_what_begins_with_the_module_is_a_folder_of_it(tmp_path, text, importer, meant):
    (tmp_path / "tool").mkdir()
    (tmp_path / "go.mod").write_text("// shop\nmodule example.org/shop\n\ngo 1.22\n")
    (tmp_path / "tool/go.mod").write_text('module "example.org/tool"\n')
    assert GoModules(tmp_path).local(text, importer) == meant


def test_without_a_go_mod_nothing_is_told(tmp_path):
    assert GoModules(tmp_path).local("a.org/b", "x/y.go") == "a.org/b"


def test_a_package_is_imported_and_the_standard_one_is_not(tmp_path):
    (tmp_path / "go.mod").write_text("module example.org/shop\n")
    for path, text in {
        "main.go": 'package main\n\nimport (\n\t"context"\n\t"example.org/shop/auth"\n)\n',
        "auth/login.go": "package auth\n\nfunc Login() {}\n",
        "auth/login_test.go": "package auth\n",
        "context/context.go": "package context\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(tmp_path, project="shop")
        with Codebase(ctx.store).use("local", "shop") as code:
            assert code.graph.imported("main.go") == ("auth/login.go",)
