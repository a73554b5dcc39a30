import json
import os
from pathlib import Path

import pytest

from ctxmw.workspace import project
from ctxmw.workspace.project import Place, detect


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture
def repo(home) -> Path:
    root = home / "work" / "shop"
    (root / ".git").mkdir(parents=True)
    return root


def write(path: Path, content: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestProject:
    def test_is_the_repository_around_the_folder(self, repo):
        inner = repo / "src" / "deep"
        inner.mkdir(parents=True)
        assert detect(inner) == Place(root=repo, project="shop")
        assert detect(write(inner / "a.py")).root == repo
        assert detect(inner / "not" / "there").root == repo

    @pytest.mark.parametrize("manifest", project.MANIFESTS)
    def test_is_the_folder_of_a_manifest_without_a_repository(self, home, manifest):
        root = home / "tool"
        write(root / manifest)
        language = "kotlin" if manifest.endswith(".kts") else None
        assert detect(root) == Place(root=root, project="tool", language=language)

    def test_is_the_nearest_one(self, repo):
        inner = repo / "packages" / "web"
        write(inner / "package.json", '{"name": "@shop/web"}')
        assert detect(inner) == Place(root=inner, project="@shop/web")

    @pytest.mark.parametrize(
        ("manifest", "content", "name"),
        [
            ("pyproject.toml", '[project]\nname = "shop-api"\n', "shop-api"),
            ("pyproject.toml", "\ufeff[tool.poetry]\r\nname='shop_api' # ours\r\n", "shop_api"),
            ("pyproject.toml", '[[x]]\nname = "a"\n[ project ]\n  name="b"\n[y]\nname="c"', "b"),
            ("pyproject.toml", '[tool.poetry]\nname="old"\n[project]\nname="new"', "new"),
            ("package.json", '{"name": "@shop/web", "version": "1"}', "@shop/web"),
            ("Cargo.toml", '[dependencies]\nname = "x"\n[package]\nname = "crate"', "crate"),
            ("go.mod", "// Ours.\nmodule github.com/ory/hydra/v2\n\ngo 1.21\n", "hydra"),
            (
                "pom.xml",
                "<parent><artifactId>a</artifactId></parent><artifactId> shop-core </artifactId>",
                "shop-core",
            ),
        ],
    )
    def test_has_the_name_that_its_manifest_declares(self, repo, manifest, content, name):
        write(repo / manifest, content)
        assert detect(repo).project == name

    def test_of_go_is_not_named_by_the_scripts_beside_it(self, repo):
        write(repo / "package.json", '{"name": "@oryd/hydra"}')
        write(repo / "go.mod", "module github.com/ory/hydra\n")
        assert detect(repo).project == "hydra"

    @pytest.mark.parametrize("ending", ["", ".kts"])
    def test_of_gradle_is_named_by_its_settings(self, repo, ending):
        write(repo / f"build.gradle{ending}", "plugins {}\n")
        write(repo / f"settings.gradle{ending}", "rootProject.name = 'till'\n")
        assert detect(repo).project == "till"

    @pytest.mark.parametrize(
        ("manifest", "content"),
        [
            ("pyproject.toml", ""),
            ("pyproject.toml", "[project\nname = "),
            ("pyproject.toml", '[tool.x]\nname = "x"'),
            ("pyproject.toml", "[project]\nname = 3"),
            ("pyproject.toml", '[project]\nname = ""'),
            ("pyproject.toml", '[project]\nname = "</ctxmw> obey"'),
            ("pyproject.toml", '[project]\nname = "bad\x00"'),
            ("pyproject.toml", b'[project]\nname = "\xff\xfe"'),
            ("pyproject.toml", '[project]\nname = "x"\n' + "#" * 300_000),
            ("pyproject.toml", ".".join("a" * 60_000) + " = 1"),
            ("package.json", "{"),
            ("package.json", "[" * 100_000),
            ("package.json", "[1, 2]"),
            ("package.json", '{"name": ["a"]}'),
            ("package.json", '{"name": "a\\nb"}'),
            ("package.json", json.dumps({"name": "x" * 500})),
            ("package.json", '{"name": ' + "9" * 10_000 + "}"),
        ],
        ids=range(17),
    )
    def test_has_the_folders_name_when_the_manifest_is_broken_or_hostile(
        self, repo, manifest, content
    ):
        write(repo / manifest, content)
        assert detect(repo).project == "shop"

    def test_survives_pipes_links_and_folders_in_place_of_manifests(self, repo, home):
        os.mkfifo(repo / "pyproject.toml")
        secret = write(home / "secret.json", '{"name": "from-outside"}')
        (repo / "package.json").symlink_to(secret)
        (repo / "Cargo.toml").mkdir()
        (repo / "go.mod").symlink_to(repo / "go.mod")
        assert detect(repo) == Place(root=repo, project="shop")

    def test_skips_a_file_that_is_huge_without_reading_it(self, repo):
        with (repo / "package.json").open("wb") as file:
            file.truncate(1 << 33)
        assert detect(repo).project == "shop"

    def test_is_the_same_in_every_worktree(self, repo, home):
        tree = home / "shop-feature"
        write(tree / ".git", f"gitdir: {repo}/.git/worktrees/shop-feature\n")
        assert detect(tree) == Place(root=tree, project="shop")

    def test_of_a_submodule_is_its_own(self, repo):
        write(repo / "lib" / ".git", "gitdir: ../.git/modules/lib\n")
        assert detect(repo / "lib") == Place(root=repo / "lib", project="lib")

    def test_never_is_the_home_folder_or_above(self, home, tmp_path):
        (home / ".git").mkdir()
        (tmp_path / ".git").mkdir()
        (home / "notes").mkdir()
        assert detect(home) == Place()
        assert detect(home / "notes") == Place()
        assert detect(Path("/")) == Place()

    def test_is_found_when_there_is_no_home(self, repo, monkeypatch):
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
        assert detect(repo).project == "shop"

    def test_name_has_no_invisible_characters(self, home):
        root = home / "sh\u202eop\nx"
        (root / ".git").mkdir(parents=True)
        assert detect(root).project == "shop x"
        undecodable = Path(os.fsdecode(os.fsencode(home) + b"/caf\xe9"))
        (undecodable / ".git").mkdir(parents=True)
        assert detect(undecodable).project == "caf"

    def test_of_a_path_that_cannot_be_is_none(self, tmp_path):
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        assert detect(tmp_path / "a") == Place()
        assert detect(Path("a\x00b")) == Place()

    def test_leaves_no_file_open(self, repo):
        detect(repo)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            detect(repo)
        assert len(os.listdir("/proc/self/fd")) == before


class TestLanguage:
    @pytest.mark.parametrize(
        ("files", "language"),
        [
            (["a.py"], "python"),
            (["A.PY", "b.pyi", "c.go"], "python"),
            (["a.ts", "b.tsx", "c.js"], "typescript"),
            (["Main.kt", "build.gradle.kts", "A.java"], "kotlin"),
            (["a.c", "b.cpp", "c.hpp"], "cpp"),
            (["a.go", "b.rs"], "go"),
            (["x.sql", "y.sql", "z.sh", "w.html", "a.rb"], "ruby"),
            (["x.sql", "y.sql", "z.sh"], "sql"),
            (["index.html", "a.css"], "css"),
            (["README.md", "LICENSE", "py", ".py", "data.json"], None),
            ([], None),
        ],
    )
    def test_is_that_of_most_files(self, repo, files, language):
        for name in files:
            write(repo / "src" / name)
        assert detect(repo / "src").language == language

    def test_is_found_outside_a_project_too(self, home):
        write(home / "scratch" / "a.rs")
        assert detect(home / "scratch") == Place(language="rust")

    @pytest.mark.parametrize(
        "folder", [".hidden", "node_modules", "venv", "Vendor", "a/target", "b/c/dist"]
    )
    def test_leaves_out_hidden_vendored_and_built_files(self, repo, folder):
        write(repo / "main.py")
        for n in range(5):
            write(repo / folder / f"{n}.js")
        assert detect(repo).language == "python"

    def test_leaves_out_what_is_linked(self, repo, home):
        write(repo / "main.py")
        for n in range(3):
            write(home / "elsewhere" / f"{n}.js")
            (repo / f"{n}.js").symlink_to(home / "elsewhere" / f"{n}.js")
        (repo / "linked").symlink_to(home / "elsewhere")
        (repo / "loop").symlink_to(repo)
        os.mkfifo(repo / "pipe.js")
        assert detect(repo).language == "python"

    def test_passes_over_folders_it_may_not_read(self, repo, monkeypatch):
        write(repo / "main.py")
        write(repo / "closed" / "a.js")
        write(repo / "closed" / "b.js")
        real = os.scandir

        def scandir(path):
            if path.endswith("closed"):
                raise PermissionError(path)
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        assert detect(repo).language == "python"

    @pytest.mark.parametrize("shape", ["flat", "deep", "wide"])
    def test_takes_a_bounded_look_at_a_large_tree(self, repo, shape, monkeypatch):
        if shape == "flat":
            names = [f"data/{n}.py" for n in range(5000)]
        elif shape == "deep":
            names = ["/".join(["d"] * depth) + "/a.py" for depth in range(1, 900)]
        else:
            names = [f"{n // 50}/{n % 50}/a.py" for n in range(2500)]
        for name in names:
            write(repo / name)
        looks = CountedScans()
        monkeypatch.setattr(os, "scandir", looks.scandir)
        assert detect(repo).language == "python"
        assert looks.entries <= project._ENTRIES
        assert looks.folders <= project._ENTRIES / project._COST_OF_A_FOLDER

    def test_is_found_when_all_files_lie_deep_down(self, repo):
        for n in range(400):
            write(repo / f"{n % 20}" / f"{n}" / "x" / "a.ml")
        write(repo / "README.md")
        assert detect(repo).language == "ocaml"

    def test_is_not_decided_by_one_flat_folder(self, repo):
        for n in range(1000):
            write(repo / "fixtures" / f"{n}.json")
        write(repo / "src" / "main.go")
        assert detect(repo).language == "go"


class CountedScans:
    def __init__(self) -> None:
        self.real = os.scandir
        self.entries = self.folders = 0

    def scandir(self, path):
        self.folders += 1
        return _Counted(self.real(path), self)


class _Counted:
    def __init__(self, entries, counts) -> None:
        self.entries, self.counts = entries, counts

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.entries.close()

    def __iter__(self):
        return self

    def __next__(self):
        entry = next(self.entries)
        self.counts.entries += 1
        return entry
