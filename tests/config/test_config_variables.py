"""Variables in the words of each dialect, expanded once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lectern.config.dialects import CLAUDE, VSCODE
from mcp_lectern.config.dialects.model import Dialect, Surroundings
from mcp_lectern.config.variables import environment_lookup, expand

ENVIRONMENT = {"V": "value", "NESTED": "${W}", "W": "never", "EMPTY": "", "PATH": "/bin"}
HERE = Surroundings(ENVIRONMENT.get, "/ws", "/home/user")


@pytest.mark.case("CFG-02")
@pytest.mark.parametrize(
    ("dialect", "text", "result"),
    [
        (VSCODE, "${env:V}", "value"),
        (VSCODE, "a${env:V}b${env:V}", "avaluebvalue"),
        (VSCODE, "${workspaceFolder}/x", "/ws/x"),
        (VSCODE, "${userHome}", "/home/user"),
        (VSCODE, "${env:NESTED}", "${W}"),
        (VSCODE, "${env:EMPTY}", ""),
        (CLAUDE, "${V}", "value"),
        (CLAUDE, "Bearer ${V}", "Bearer value"),
        (CLAUDE, "${V:-d}", "value"),
        (CLAUDE, "${U:-d}", "d"),
        (CLAUDE, "${U:-}", ""),
        (CLAUDE, "${U:-http://x:-y}", "http://x:-y"),
        (CLAUDE, "${EMPTY:-d}", ""),
        (CLAUDE, "${NESTED}", "${W}"),
        (CLAUDE, "$V $$ $ }", "$V $$ $ }"),
        (VSCODE, "$V $$ {env:V}", "$V $$ {env:V}"),
    ],
)
def test_cfg_02_documented_forms_expand_once(dialect: Dialect, text: str, result: str) -> None:
    expansion = expand(text, dialect, HERE)
    assert (expansion.text, expansion.problems) == (result, ())


@pytest.mark.case("CFG-02")
@pytest.mark.parametrize(
    ("dialect", "text", "words"),
    [
        (VSCODE, "${env:U}", "“${env:U}” is not set"),
        (VSCODE, "Bearer ${V}", "write ${env:NAME}"),
        (VSCODE, "${input:key}", "asks for an input, and nobody was asked"),
        (VSCODE, "${env:}", "not a variable"),
        (VSCODE, "${}", "not a variable"),
        (VSCODE, "${command:x}", "not a variable"),
        (VSCODE, "${env:V", "not closed"),
        (CLAUDE, "Bearer ${U}", "“${U}” is not set"),
        (CLAUDE, "${env:V}", "write ${NAME}"),
        (CLAUDE, "${V", "not closed"),
        (CLAUDE, "${U:-${V}}", "holds another variable"),
        (CLAUDE, "${1}", "not a variable"),
        (CLAUDE, "${V-d}", "not a variable"),
    ],
)
def test_cfg_02_anything_else_is_a_problem_and_never_sent(dialect: Dialect, text: str, words: str) -> None:
    (problem,) = expand(text, dialect, HERE).problems
    assert words in problem


def test_values_of_the_environment_are_secrets_and_places_are_not() -> None:
    assert expand("${env:V}${workspaceFolder}${userHome}${env:PATH}", VSCODE, HERE).secrets == ("value",)
    assert expand("${V}${U:-d}", CLAUDE, HERE).secrets == ("value",)


def test_a_workspace_variable_without_a_folder_is_a_problem() -> None:
    (problem,) = expand("${workspaceFolder}", VSCODE, Surroundings(ENVIRONMENT.get, None, "/h")).problems
    assert "no folder is open" in problem


def test_windows_ignores_the_case_of_a_name() -> None:
    assert environment_lookup({"Path": "x"}, ignore_case=True)("PATH") == "x"
    assert environment_lookup({"Path": "x"}, ignore_case=False)("PATH") is None


@given(st.text(alphabet="${}V:-env ", max_size=30), st.sampled_from([VSCODE, CLAUDE]))
def test_without_problems_no_form_of_the_text_is_left(text: str, dialect: Dialect) -> None:
    expansion = expand(text, dialect, HERE)
    if not expansion.problems:
        assert "${" not in expansion.text or "${" not in text.replace("$${", "")
    if "${" not in text:
        assert expansion.text == text
