"""Shape of the code: a sentence at the top, short files, short functions, telling names, and pure floors."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.support.tree import shown, syntax, under

SERVER = under("server")
EVERY_MODULE = under("server", "tests", "bench")
PURE = under(
    "server/mcp_lectern/features",
    "server/mcp_lectern/mentions",
    "server/mcp_lectern/catalogue",
    "server/mcp_lectern/text",
    "server/mcp_lectern/settings",
    "server/mcp_lectern/mcp/wire",
    "server/mcp_lectern/mcp/eras",
)
TYPESCRIPT = under("client-vscode/src", suffix=".ts")
FILE_LINES, FUNCTION_LINES = 400, 60
VAGUE = re.compile(
    r"(^|_)(util|utils|utilities|helper|helpers|manager|misc|common|stuff)(_|$)", re.IGNORECASE
)
INPUT_OUTPUT = {
    "anyio", "asyncio", "concurrent", "http", "httpx", "io", "multiprocessing", "os", "pathlib", "select",
    "selectors", "shutil", "signal", "socket", "ssl", "subprocess", "tempfile", "threading",
}  # fmt: skip
IN_MEMORY = {"io.BytesIO"}
"""Named after input and output, but neither."""


def test_there_is_something_to_look_at() -> None:
    assert len(SERVER) > 50
    assert len(PURE) > 15
    assert TYPESCRIPT


@pytest.mark.parametrize("path", EVERY_MODULE, ids=shown)
def test_a_module_opens_with_a_sentence(path: Path) -> None:
    text = ast.get_docstring(syntax(path))
    if not path.read_text(encoding="utf-8").strip():
        assert path.name == "__init__.py"
        assert path.is_relative_to(Path(__file__).parents[1])
        return
    assert text
    assert re.match(r"\S.*[.:?!]$", text.split("\n\n")[0].replace("\n", " "))


@pytest.mark.parametrize("path", SERVER + TYPESCRIPT, ids=shown)
def test_a_file_fits_on_a_few_screens(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("path", SERVER, ids=shown)
def test_a_function_fits_on_one_screen(path: Path) -> None:
    functions = [
        node for node in ast.walk(syntax(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES]
    assert long == []


@pytest.mark.parametrize("path", TYPESCRIPT, ids=shown)
def test_a_function_of_the_extension_fits_on_one_screen(path: Path) -> None:
    assert long_blocks(path.read_text(encoding="utf-8").splitlines()) == []


def long_blocks(lines: list[str]) -> list[str]:
    """The first lines of functions and methods longer than the limit, found by their indentation."""
    opening = re.compile(
        r"^(?P<indent> *)(export )?(async )?(function|(public |private |protected )?(async )?\w+\()"
    )
    found = []
    for number, line in enumerate(lines):
        begins = opening.match(line)
        if begins is None or not line.rstrip().endswith("{"):
            continue
        closing = begins["indent"] + "}"
        end = next((n for n in range(number, len(lines)) if lines[n].startswith(closing)), len(lines))
        if end - number >= FUNCTION_LINES:
            found.append(line.strip())
    return found


def test_the_search_for_long_functions_finds_one() -> None:
    body = ["  one();"] * FUNCTION_LINES
    assert long_blocks(["export async function long(): void {", *body, "}"]) != []
    assert long_blocks(["function short(): void {", "  one();", "}", *body]) == []


@pytest.mark.parametrize("path", EVERY_MODULE + TYPESCRIPT, ids=shown)
def test_a_module_is_named_after_what_it_is(path: Path) -> None:
    names = [path.stem, *path.parent.parts[-3:]]
    assert [name for name in names if VAGUE.search(name.replace("-", "_"))] == []


@pytest.mark.parametrize("path", PURE, ids=shown)
def test_a_pure_floor_waits_for_nothing(path: Path) -> None:
    waits = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert [node.lineno for node in ast.walk(syntax(path)) if isinstance(node, waits)] == []


@pytest.mark.parametrize("path", PURE, ids=shown)
def test_a_pure_floor_does_no_input_or_output(path: Path) -> None:
    tree = syntax(path)
    roots = {name.split(".")[0] for name in imported(tree) - IN_MEMORY}
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert roots & INPUT_OUTPUT == set()
    assert [call.lineno for call in calls if call.func.id in ("open", "print", "input")] == []  # type: ignore[attr-defined]


def imported(tree: ast.Module) -> set[str]:
    """The absolute names of what a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module or ''}.{alias.name}" for alias in node.names}
    return names
