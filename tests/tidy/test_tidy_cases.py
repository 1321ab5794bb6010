"""Every case of the fault collection that this release answers has a test, and every mark means something."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest
from tests.support.tree import shown, syntax, under

CASES = {
    f"{kind}-{number:02}"
    for kind, numbers in {
        "URI": (4, 5, 6),
        "CAP": (1,),
        "LST": (3, 4, 5),
        "PAG": (1, 3, 4, 6),
        "RD": (1, 3, 5, 8, 9, 10),
        "SUB": (1, 2),
        "IO": (1, 5, 6, 8, 9),
        "TPL": (2, 3),
        "CMP": (1, 2),
        "VER": (1,),
        "HTTP": (1, 2, 3, 4, 5, 6, 7),
        "CFG": (1, 2, 3, 4, 5, 6),
        "LSP": (2, 4, 5, 6, 7),
        "SEC": (1, 2, 3),
        "UI": (1,),
    }.items()
    for number in numbers
}
TESTS = under("tests")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    found = []
    for path in TESTS:
        found += [(shown(path), node) for node in ast.walk(syntax(path)) if isinstance(node, FUNCTION)]
    return [(path, node) for path, node in found if node.name.startswith("test_")]


def marked(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The ids in a test's ``@pytest.mark.case("...")`` decorators."""
    calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.case"]
    return [argument.value for call in marks for argument in call.args if isinstance(argument, ast.Constant)]


def test_every_case_has_a_test() -> None:
    tested = {case for _, node in functions() for case in marked(node)}
    assert sorted(CASES - tested) == []


def test_a_test_of_a_case_carries_its_id_in_name_and_mark() -> None:
    wrong = []
    for path, node in functions():
        named = re.match(r"test_([a-z]+)_(\d\d)(_|$)", node.name)
        in_name = {f"{named[1].upper()}-{named[2]}"} if named else set()
        if in_name - set(marked(node)) or (marked(node) and not in_name):
            wrong.append(f"{path}: {node.name} is marked {marked(node)}")
    assert wrong == []


def test_no_test_hides_another_of_its_name() -> None:
    hidden = []
    for path in TESTS:
        scopes = [node for node in ast.walk(syntax(path)) if isinstance(node, ast.Module | ast.ClassDef)]
        for scope in scopes:
            names = Counter(node.name for node in scope.body if isinstance(node, FUNCTION))
            hidden += [f"{shown(path)}: {name}" for name, count in names.items() if count > 1]
    assert hidden == []


def test_file_names_of_tests_are_unique() -> None:
    names = Counter(path.name for path in TESTS if path.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("source", "ids"), [('@pytest.mark.case("A-01")\ndef test_x(): ...', ["A-01"]), ("def test_x(): ...", [])]
)
def test_marks_are_found(source: str, ids: list[str]) -> None:
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert marked(node) == ids
