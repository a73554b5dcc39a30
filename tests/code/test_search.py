"""Code is found by what it does, in anybody's words; and small talk finds none."""

from __future__ import annotations

import pytest

from ctxmw.code.files import CodeFile, parse
from ctxmw.code.index import ProjectCode
from ctxmw.code.ranking.search import search_code
from ctxmw.code.ranking.words import (
    asked_terms,
    bag_of,
    bag_words,
    joined_terms,
    own_lines,
    path_terms,
)
from ctxmw.values.records import utc_now

FILES = {
    "net/client.py": '''
class Client:
    """Sends requests."""

    def __init__(self, proxy=None, timeout=5):
        self._proxy = proxy

    def send(self, request):
        # Through the proxy, when the environment names one.
        tunnel = open_tunnel(self._proxy)
        return tunnel.transmit(request)
''',
    "net/retry.py": '''
def with_backoff(call, attempts=3):
    """Try again, waiting longer each time."""
    for attempt in range(attempts):
        sleep(2 ** attempt)
''',
    "net/cookie_jar.py": "class CookieJar:\n    def expire_cookies(self): pass\n",
    "tests/test_client.py": "from net.client import Client\n\ndef test_proxy(): Client(proxy=1)\n",
    "dist/bundle.py": "class Client:\n    def send(self, request): proxy = tunnel\n",
    **{f"net/other_{n}.py": f"def unrelated_{n}(): return {n}\n" for n in range(12)},
}


def known(path, text):
    parsed = parse("python", path, text)
    return CodeFile(
        user="u", ref=path, at=utc_now(), root="/r", path=path, language="python", hash="h",
        lines=len(text.splitlines()), imports=parsed.imports, entities=parsed.entities,
    )  # fmt: skip


@pytest.fixture(scope="module")
def code():
    project = ProjectCode()
    for path, text in FILES.items():
        project.take_in(known(path, text))
    return project


@pytest.mark.parametrize(
    ("asked", "path", "name"),
    [
        ("How does the client send a request through a proxy?", "net/client.py", "Client.send"),
        ("Fix the backoff when an attempt fails", "net/retry.py", "with_backoff"),
        ("where do cookies expire in the cookie jar?", "net/cookie_jar.py", "CookieJar"),
        ("the tunnel is opened twice, transmit once", "net/client.py", "Client.send"),
        ("which test covers the proxy of the client?", "tests/test_client.py", "test_proxy"),
    ],
)
def test_a_request_finds_the_file_and_what_in_it_is_meant(code, asked, path, name):
    found = search_code(code, asked)
    assert found.about > 0
    assert found.files[0].path == path
    assert found.files[0].score == 1.0
    assert found.files[0].definitions[0][0].entity.name.startswith(name)


@pytest.mark.parametrize(
    "said",
    ["Have a nice weekend!", "What should I cook for my parents tonight?", "", "send my love"],
)
def test_what_is_not_about_the_code_says_so(code, said):
    assert search_code(code, said).about <= 0


def test_a_file_that_changes_is_found_by_what_it_says_now():
    project = ProjectCode()
    for path, text in FILES.items():
        project.take_in(known(path, text))
    project.take_in(known("net/other_3.py", "def unpack_zeppelin(): return zeppelin\n"))
    assert search_code(project, "unpack the zeppelin").files[0].path == "net/other_3.py"
    project.let_go("net/other_3.py")
    paths = [file.path for file in search_code(project, "unpack the zeppelin").files]
    assert "net/other_3.py" not in paths


def test_many_changes_leave_the_words_right():
    project = ProjectCode()
    for n in range(900):
        project.take_in(known(f"m{n % 30}.py", f"def step_{n}(): return alpha_{n} + 1\n"))
    project.take_in(known("last.py", "def find_gamma(): return gamma\n"))
    assert search_code(project, "find gamma").files[0].path == "last.py"
    assert project.postings.nbytes < 200_000


def test_words_are_parts_of_names_and_the_names_as_one():
    words, often = bag_words(bag_of("MultiPartParser(max_size)\nmax_size = 1", "parse"))
    counts = dict(zip(words, map(int, often), strict=True))
    assert {"multi", "part", "multipartparser", "max", "maxsize"} <= counts.keys()
    assert counts["max"] == 2
    assert bag_words("app stack") == (["app", "stack"], "11")
    assert bag_words("") == ([], "")
    assert "websocket" in joined_terms("a web socket closes")
    assert asked_terms("Close it\n\nsocket")["socket"] < asked_terms("socket")["socket"]
    assert path_terms("a/multi_part/__init__.py")[0] >= {"multi", "part"}


def test_lines_belong_to_the_innermost_definition():
    assert own_lines(["a", "b", "c", "d"], [(1, 4), (2, 3), (3, 3)]) == ["a\nd", "b", "c"]
    assert own_lines(["a"], [(1, 1), (5, 9)]) == ["a", ""]


def test_what_stands_right_above_a_definition_belongs_to_it():
    lines = ["# licence", "", "# adds", "@cached", "def add():", "    pass"]
    assert own_lines(lines, [(1, 6), (5, 6)]) == ["# licence\n", "\n".join(lines[2:])]


@pytest.mark.parametrize(
    ("said", "left_out"),
    [
        ("Fixed the proxy of the client", "fix"),
        ("can you please add a proxy", "add"),
        ("proxy for clients, closes #12", "clos"),
        ("proxy for clients, refs", "ref"),
        ("proxy, a regression of 2ae3044d9d4dfb8371055513", "dfb"),
    ],
)
def test_what_only_makes_a_request_of_it_is_not_searched_for(said, left_out):
    asked = asked_terms(said)
    assert left_out not in asked
    assert "proxi" in asked or "proxy" in asked
    assert "clos" in asked_terms("it closes the proxy")


def test_a_word_that_the_project_lacks_is_looked_for_in_words_that_begin_alike(code):
    assert search_code(code, "transmitter").files[0].path == "net/client.py"
    assert search_code(code, "tunnelling").files[0].path == "net/client.py"
    assert search_code(code, "xyz").files == ()


def test_what_has_the_shape_of_code_is_about_it(code):
    plain = search_code(code, "the proxy is ignored").about
    for said in ("--proxy is ignored", "/proxy is ignored", "the `proxy` is ignored"):
        assert search_code(code, said).about > plain


def test_a_table_of_words_makes_nothing_be_about_the_code():
    project = ProjectCode()
    for path, text in FILES.items():
        project.take_in(known(path, text))
    said = "What are the main causes of the crocodile and the marmalade?"
    before = search_code(project, said).about
    many = ", ".join(f"'word{n}'" for n in range(3000))
    table = f"EMOJI = ['causes', 'crocodile', 'main', 'marmalade', {many}]\n"
    project.take_in(known("net/_emoji.py", table))
    assert search_code(project, said).about <= max(0.0, before + 0.1)


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("code/index.py", {"index"}),
        ("code/mod.py", {"mod"}),
        ("index.py", {"index"}),
        ("ui/cart/index.ts", {"cart"}),
        ("net/socket/mod.rs", {"socket"}),
        ("shop/__init__.py", {"shop"}),
    ],
)
def test_only_the_file_that_stands_for_its_folder_has_the_name_of_that(path, own):
    assert path_terms(path)[0] == own


def project_of(language, files):
    project = ProjectCode()
    for path, text in files.items():
        parsed = parse(language, path, text)
        project.take_in(
            CodeFile(
                user="u",
                ref=path,
                at=utc_now(),
                root="/r",
                path=path,
                language=language,
                hash="h",
                lines=len(text.splitlines()),
                imports=parsed.imports,
                entities=parsed.entities,
            )
        )
    return project


def first_found(project, asked):
    return search_code(project, asked).files[0]


def test_a_name_that_is_written_as_one_word_is_found_by_its_parts(code):
    others = {f"other_{n}.py": "observed = ignored = git = tree\n" for n in range(4)}
    glued = project_of("python", {"gitignore.py": "def pattern(): pass\n", **others})
    assert first_found(glued, "Change what git should ignore").path == "gitignore.py"


def test_who_asks_what_is_parsed_means_the_parser(code):
    files = {"parser.py": "def run(): pass\n", "other.py": "def run(): pass\n"}
    assert first_found(project_of("python", files), "how are dates parsed").path == "parser.py"


def test_what_is_written_short_is_found_by_the_whole_word():
    files = {"a.py": "def load_cert(): pass\n", "b.py": "def load_key(): pass\n"}
    found = search_code(project_of("python", files), "Load the certificate")
    assert [file.path for file in found.files][:1] == ["a.py"]


def test_a_package_called_test_is_no_test_until_one_is_in_it():
    offered = {"app/test/client.py": "class Client: pass\n", "app/use.py": "client = 1\n"}
    tested = {**offered, "app/test/test_use.py": "def test_use(): pass\n"}
    assert not project_of("python", offered).columns.aside.any()
    assert project_of("python", tested).columns.aside.tolist() == [True, False, True]


def test_examples_and_benchmarks_stand_back():
    files = {
        "examples/show.py": "def dump_secrets(): pass\n",
        "keys.py": "def dump_secrets(): pass\n",
    }
    assert first_found(project_of("python", files), "Change dump_secrets").path == "keys.py"


@pytest.mark.parametrize(
    "said",
    ["fix: answer when the tunnel is closed", "feat(net)!: a second proxy", "chore: cookies"],
)
def test_the_kind_of_a_change_asks_for_one(code, said):
    assert search_code(code, said).about > 0


def test_how_do_i_asks_how_it_is_done(code):
    anybody = search_code(code, "how do I send a request").about
    assert anybody > search_code(code, "when I send a request").about


def test_the_words_of_tests_in_a_rust_file_tell_of_the_file():
    pytest.importorskip("tree_sitter_rust")
    text = """
/// Joins what was split.
pub fn join(parts: &[u8]) -> u8 {
    0
}

#[cfg(test)]
mod tests {
    #[test]
    fn joins_zebras() {
        let zebra = 1;
    }
}
"""
    (module, join, test) = parse("rust", "src/join.rs", text).entities
    assert (test.name, test.line) == ("tests.joins_zebras", 10)
    assert "zebra" in bag_words(module.words)[0]
    assert "split" in bag_words(join.words)[0]
    found = first_found(project_of("rust", {"src/join.rs": text}), "Change zebra")
    assert [one.entity.kind for one, _ in found.definitions] == ["module"]
