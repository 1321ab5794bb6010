"""Which files of a workspace are searched: no more than git would show, and never without end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mcp_lectern.lsp.workspace.ignoring import Ignoring
from mcp_lectern.lsp.workspace.languages import language_of
from mcp_lectern.lsp.workspace.search import Bounds, Search


def tree(root: Path, *names: str, **texts: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}", encoding="utf-8")
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def ignore(folder: Path, *lines: str, name: str = ".gitignore") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines), encoding="utf-8")


def found(*roots: Path, bounds: Bounds | None = None) -> list[str]:
    search = Search(roots, lambda name: name.endswith(".md"), bounds)
    return [path.relative_to(roots[0]).as_posix() for path, _ in search.texts()]


def test_ignore_files_are_respected_at_every_level(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        *("a.md", "drafts/b.md", "docs/c.md", "docs/old/d.md", "docs/old/keep.md", "out/e.md", "x.txt"),
        *(".git/f.md", "node_modules/g.md", "docs/h.tmp.md"),
    )
    ignore(root, "/drafts/", "*.tmp.md", "# a comment", "[z-a]", "!", "\\")
    ignore(root / "docs", "old/*", "!old/keep.md")
    ignore(root, "out", name=".ignore")
    assert found(root) == ["a.md", "docs/c.md", "docs/old/keep.md"]


def test_the_rules_of_the_repository_above_a_folder_count(tmp_path: Path) -> None:
    tree(tmp_path, "above/.gitignore")
    ignore(tmp_path / "above", "*.md")
    repository = tmp_path / "above" / "repository"
    root = tree(repository / "sub" / "opened", "a.md", "out.md", "secret.md", "keep.md", "deep/b.tmp.md")
    ignore(repository, "out.md", "*.tmp.md", "/keep.md", "!secret.md")
    ignore(repository / "sub", "opened/out.*")
    (repository / ".git").mkdir()
    assert found(root) == ["a.md", "keep.md", "secret.md"]
    ignore(repository / ".git" / "info", "secret.md", "keep.md", name="exclude")
    assert found(root) == ["a.md", "secret.md"]


def test_a_folder_that_is_to_be_left_alone_can_be_opened(tmp_path: Path) -> None:
    root = tree(tmp_path / "drafts", "a.md", "b.tmp.md")
    ignore(tmp_path, "/drafts/", "*.tmp.md")
    (tmp_path / ".git").mkdir()
    assert found(root) == ["a.md", "b.tmp.md"]


def test_links_pipes_and_binaries_are_left_alone(tmp_path: Path) -> None:
    root = tree(tmp_path / "root", "a.md")
    tree(tmp_path / "outside", "secret.md")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.md")
    (root / "binary.md").write_bytes(b"a\0b")
    (root / "latin.md").write_bytes(b"caf\xe9")
    assert found(root) == ["a.md"]


def test_a_folder_inside_another_is_searched_once(tmp_path: Path) -> None:
    tree(tmp_path, "sub/a.md", "b.md")
    assert sorted(found(tmp_path, tmp_path / "sub")) == ["b.md", "sub/a.md"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf@a:b")
    assert [text for _, text in Search([tmp_path], lambda _: True).texts()] == ["@a:b"]


@pytest.mark.parametrize(
    ("bounds", "least"),
    [(Bounds(entries=4), 0), (Bounds(files=3), 3), (Bounds(all_bytes=60), 1), (Bounds(seconds=-1), 0)],
)
def test_every_bound_ends_the_search_with_a_sentence(tmp_path: Path, bounds: Bounds, least: int) -> None:
    tree(tmp_path, *(f"d{number}/{number}.md" for number in range(9)))
    search = Search([tmp_path], lambda _: True, bounds)
    assert least <= len(list(search.texts())) < 9
    assert search.cut is not None
    assert search.cut.startswith("The search ended after ")


def test_a_large_file_is_skipped_and_a_stop_is_obeyed(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.md", **{"large.md": "x" * 200})
    assert found(tmp_path, bounds=Bounds(file_bytes=100)) == ["a.md", "b.md"]
    search = Search([tmp_path], lambda _: True)
    texts = search.texts()
    next(texts)
    search.stop()
    assert list(texts) == []


def test_hostile_rules_cost_no_time(tmp_path: Path) -> None:
    ignore(tmp_path, "*a" * 60 + "b", "**/a" * 60, "x" * 10_000, "*" * 400, *(["a" * 50] * 5000))
    name = "a" * 250
    began = time.process_time()
    assert not Ignoring(tmp_path).ignores(tmp_path / name / name / "a.md", is_folder=False)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("A.MD", "markdown"),
        ("x.txt", "plaintext"),
        ("review.prompt.md", "prompt"),
        ("x.py", None),
        ("README", None),
        ("md", None),
    ],
)
def test_the_language_of_a_file(name: str, language: str | None) -> None:
    assert language_of(name, ("markdown", "plaintext", "prompt")) == language
    assert language_of(name, ("*",)) == (language or "plaintext")
    assert language_of(name, ()) is None
