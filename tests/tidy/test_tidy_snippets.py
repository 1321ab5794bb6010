"""The snippets for editors parse, start what is there, and attach Lectern where mentions are alive.

Those in Lua and Lisp run in the real editors, in ``tests/e2e``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.documented import EDITORS, snippets

from mcp_lectern.cli.arguments import parser
from mcp_lectern.settings import Settings

READERS = {"toml": tomllib.loads, "json": json.loads}
SNIPPETS = [
    (editor, language, text)
    for editor in re.findall(r"^## (.+)$", EDITORS.read_text(encoding="utf-8"), re.MULTILINE)
    for language in READERS
    for text in snippets(editor, language)
]
COMMAND = ["mcp-lectern", "serve"]


def the(editor: str, language: str, number: int = 0) -> Any:
    """What a snippet says."""
    return READERS[language](snippets(editor, language)[number])


def starts(command: Sequence[str]) -> bool:
    """Whether this is our program, with arguments that it takes."""
    parser().parse_args(list(command[1:]))
    return command[0] == COMMAND[0]


@pytest.mark.parametrize(("editor", "language", "text"), SNIPPETS, ids=lambda one: str(one)[:20])
def test_a_snippet_parses(editor: str, language: str, text: str) -> None:
    assert READERS[language](text), editor


def test_helix_knows_the_server_that_its_languages_name() -> None:
    settings = the("Helix", "toml")
    server = settings["language-server"]["lectern"]
    assert starts([server["command"], *server["args"]])
    for language in settings["language"]:
        assert "lectern" in language["language-servers"]
        assert language["name"] in Settings().languages


def test_sublime_text_starts_it() -> None:
    client = the("Sublime Text", "json")["clients"]["lectern"]
    assert client["enabled"] is True
    assert starts(client["command"])
    assert "text.html.markdown" in client["selector"]


def test_kate_starts_it_for_languages_in_which_mentions_are_alive() -> None:
    servers = the("Kate", "json")["servers"]
    assert set(servers) <= set(Settings().languages)
    for server in servers.values():
        assert re.compile(server["highlightingModeRegex"])
        assert starts(servers[server["use"]]["command"] if "use" in server else server["command"])


def test_zed_s_extension_is_of_one_piece() -> None:
    extension, package = the("Zed", "toml"), the("Zed", "toml", 1)
    server = extension["language_servers"]["lectern"]
    assert set(server["languages"]) == set(server["language_ids"])
    assert set(server["language_ids"].values()) <= set(Settings().languages)
    assert package["lib"]["crate-type"] == ["cdylib"]
    (rust,) = snippets("Zed", "rust")
    assert f'which("{COMMAND[0]}")' in rust
    assert f'vec!["{COMMAND[1]}".into()]' in rust


def test_neovim_and_emacs_attach_it_where_mentions_are_alive() -> None:
    filetypes = re.search(r"filetypes = \{(.*?)\}", snippets("Neovim", "lua")[0], re.DOTALL)
    assert filetypes
    assert set(re.findall(r"'(.*?)'", filetypes[1])) <= set(Settings().languages)
    ids = re.findall(r':language-id "(.*?)"', snippets("Emacs", "elisp")[0])
    assert ids
    assert set(ids) <= set(Settings().languages)
