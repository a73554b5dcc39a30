"""Reading files of a folder that may hold anything."""

from __future__ import annotations

import os

import pytest

from ctxmw.workspace.files import Unreadable, read_under


def test_a_text_file_under_the_root_is_read(tmp_path):
    (tmp_path / "a.md").write_text("\ufeffGrüße", encoding="utf-8")
    assert read_under(tmp_path, tmp_path / "a.md") == "Grüße"


def test_a_link_that_stays_inside_is_followed(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert read_under(tmp_path, tmp_path / "CLAUDE.md") == "Be brief."


def _outside(root):
    outside = root.parent / f"{root.name}-secret.txt"
    outside.write_text("secret", encoding="utf-8")
    return outside


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda root: root / ".." / _outside(root).name, "leads out"),
        (_outside, "leads out"),
        (lambda root: _linked(root / "link", _outside(root)), "leads out"),
        (lambda root: _linked(root / "loop", root / "loop"), "cannot be found"),
        (lambda root: _linked(root / "gone", root / "nothing"), "cannot be found"),
        (lambda root: root / "missing", "cannot be found"),
        (lambda root: root / "nul\0name", "cannot be found"),
        (lambda root: root, "no regular file"),
        (lambda root: _pipe(root / "pipe"), "no regular file"),
        (lambda root: _sparse(root / "giant"), "more than"),
        (lambda root: _bytes(root / "binary", b"MZ\0\1"), "binary"),
        (lambda root: _bytes(root / "latin", "é".encode("latin-1")), "not UTF-8"),
    ],
)
def test_what_is_no_text_file_of_the_folder_is_refused_at_once(tmp_path, make, reason):
    root = tmp_path / "root"
    root.mkdir()
    with pytest.raises(Unreadable, match=reason):
        read_under(root, make(root))


def _linked(path, target):
    path.symlink_to(target)
    return path


def _pipe(path):
    os.mkfifo(path)
    return path


def _sparse(path):
    with path.open("wb") as file:
        file.truncate(1024**3)
    return path


def _bytes(path, data):
    path.write_bytes(data)
    return path
