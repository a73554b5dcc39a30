"""The code of a project in memory: found by name, path, line and words, with its neighbours."""

from __future__ import annotations

import pytest

from ctxmw.code.files import CodeFile, is_test, parse
from ctxmw.code.index import ProjectCode
from ctxmw.code.relations import related
from ctxmw.values.items import code_ref
from ctxmw.values.records import utc_now

FILES = {
    "shop/auth/service.py": '''"""Logs people in."""
from .tokens import issue
import json

class Base:
    pass

class AuthService(Base):
    """Handles login and logout."""
    def login(self, user):
        """Log somebody in."""
        return issue(user)
    def refresh(self):
        return self.login(None)
    def dumps(self):
        return json.dumps({})
''',
    "shop/auth/tokens.py": '''
def issue(user):
    """Make a token for a session."""
    return user

def dumps(token):
    return token
''',
    "shop/api.py": '''
from shop.auth.service import AuthService

def login_view(request):
    """Answer a request to log in."""
    return AuthService().login(request)
''',
    "shop/admin.py": "class Admin:\n    def run(self): pass\n    def login(self): pass\n",
    "tests/test_service.py": """
from shop.auth.service import AuthService

def test_login():
    assert AuthService().login(1)
""",
    "web/cart.ts": 'import { x } from "./lib/x";\nexport function total() { return x(); }\n',
    "web/lib/x.ts": "export function x() { return 1; }\n",
}


@pytest.fixture(scope="module")
def code():
    project = ProjectCode()
    for path, text in FILES.items():
        project.take_in(file(path, text))
    return project


def file(path, text):
    language = "python" if path.endswith(".py") else "typescript"
    parsed = parse(language, path, text)
    return CodeFile(
        user="u", ref=path, at=utc_now(), root="/r", path=path, language=language, hash="h",
        imports=parsed.imports, entities=parsed.entities,
    )  # fmt: skip


def meant(code, query, around=()):
    return [one.full_name for one, _ in code.symbol(query, around)]


def test_a_symbol_is_found_by_its_name_whatever_it_stands_in(code):
    assert meant(code, "AuthService") == ["shop.auth.service.AuthService"]
    assert meant(code, "AuthService.login") == ["shop.auth.service.AuthService.login"]
    assert meant(code, "auth.tokens.issue") == ["shop.auth.tokens.issue"]
    assert meant(code, "shop.auth.service.AuthService.login") == [
        "shop.auth.service.AuthService.login"
    ]


def test_a_name_in_another_spelling_is_found_less_surely(code):
    assert code.symbol("auth_service")[0][1] == pytest.approx(0.8)
    assert meant(code, "loginView") == ["shop.api.login_view"]
    assert meant(code, "NOTHING") == []


def test_what_is_named_beside_it_tells_which_one_is_meant(code):
    assert len(meant(code, "login")) == 2
    assert meant(code, "login", ["Admin"]) == ["shop.admin.Admin.login"]
    assert meant(code, "login", ["service.py"]) == ["shop.auth.service.AuthService.login"]


def test_an_unknown_variable_before_a_name_makes_it_unsure(code):
    assert code.symbol("svc.refresh")[0][1] == pytest.approx(0.5)
    assert code.symbol("app.run") == []
    assert code.symbol("json.refresh") == []


def test_a_package_that_is_only_imported_is_not_meant_by_a_name_of_ours():
    project = ProjectCode()
    project.take_in(file("base.py", "def gather(): pass\n"))
    project.take_in(file("sub/use.py", "import asyncio\nfrom shop.base import gather\n"))
    assert project.symbol("asyncio.gather") == []
    assert len(project.symbol("shop.base.gather")) == 1
    assert len(project.symbol("shop.gather")) == 1


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("shop/auth/service.py", ["shop/auth/service.py"]),
        ("auth/service.py", ["shop/auth/service.py"]),
        ("./shop/api.py", ["shop/api.py"]),
        ("../shop/api.py", ["shop/api.py"]),
        ("api.py", ["shop/api.py"]),
        ("/home/ann/work/shop/api.py", ["shop/api.py"]),
        ("other/api.py", []),
        ("nothing.py", []),
        ("../../etc/passwd", []),
        ("", []),
    ],
)
def test_a_path_is_known_by_its_end(code, query, paths):
    assert [found.path for found, _ in code.paths(query)] == paths


def test_a_line_lies_in_its_innermost_definition(code):
    assert code.at_line("shop/auth/service.py", 12).entity.name == "AuthService.login"
    assert code.at_line("shop/auth/service.py", 9).entity.name == "AuthService"
    assert code.at_line("shop/auth/service.py", 1) is None


def neighbours(code, name):
    (one, _), *_ = code.symbol(name)
    return {(relation, other.entity.name) for relation, other in related(code, one, 99)}


def test_neighbours_are_users_bases_and_what_is_used(code):
    assert neighbours(code, "AuthService") == {
        ("called by", "login_view"),
        ("tested by", "test_login"),
        ("inherits", "Base"),
    }
    assert neighbours(code, "Base") == {("inherited by", "AuthService")}
    assert neighbours(code, "issue") == {("called by", "AuthService.login")}
    assert ("calls", "issue") in neighbours(code, "AuthService.login")
    assert ("called by", "AuthService.refresh") in neighbours(code, "AuthService.login")


def test_a_call_of_something_else_of_that_name_is_no_neighbour(code):
    assert neighbours(code, "tokens.dumps") == set()
    assert neighbours(code, "Admin.login") == set()


def test_a_file_knows_what_it_imports_and_who_imports_it(code):
    graph = code.graph
    assert graph.imported("shop/auth/service.py") == ("shop/auth/tokens.py",)
    assert graph.importers("shop/auth/service.py") == ["shop/api.py", "tests/test_service.py"]
    assert graph.imported("web/cart.ts") == ("web/lib/x.ts",)
    assert graph.importers("web/lib/x.ts") == ["web/cart.ts"]


def test_only_a_distinctive_name_is_known_as_a_word(code):
    assert code.knows("Admin", False)
    assert code.knows("Base", False)
    words = ("run", "login", "nothing", "tokens", "base", "I", "Login")
    assert not [word for word in words if code.knows(word, True)]


def test_a_file_that_changes_leaves_nothing_behind():
    project = ProjectCode()
    for n in range(1500):
        project.take_in(file("a.py", f"def name_{n}(): pass\n"))
    assert project.symbol("name_0") == []
    assert len(project.symbol("name_1499")) == 1
    assert len(project) == 2
    project.let_go("a.py")
    assert len(project) == 0
    assert project.paths("a.py") == []


def test_what_calls_and_derives_is_known_of_files_that_come_after_it_was_asked_for():
    project = ProjectCode()
    project.take_in(file("a.py", "class Base: pass\ndef one(): run()\n"))
    assert [one.entity.name for one in project.callers_of("run")] == ["one"]
    project.take_in(file("b.py", "class Later(Base): pass\ndef two(): run()\n"))
    project.let_go("a.py")
    assert [one.entity.name for one in project.callers_of("run")] == ["two"]
    assert [one.entity.name for one in project.derived_from("Base")] == ["Later"]
    assert meant(project, "later") == ["b.Later"]


def test_refs_are_short_and_change_with_what_is_shown():
    assert code_ref("a", "b") == code_ref("a", "b") != code_ref("ab")
    assert len(code_ref("a")) == 8


def test_tests_are_told_by_name_or_folder():
    paths = ("tests/a.py", "a/test_b.py", "b_test.go", "c.spec.ts", "d.test.js")
    assert all(map(is_test, paths))
    assert not any(map(is_test, ("src/latest.py", "contest/a.py", "testing.py")))
