"""A key that an entry of a workspace's mcp.json asks for: typed once in VS Code, and used by its server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.support.code_server import CodeServer
from tests.support.scripted_server import ScriptedServer
from tests.support.workbench import Workbench, until

pytestmark = pytest.mark.timeout(300)

RESOURCES = [{"uri": "vault://plan", "name": "plan", "mimeType": "text/plain"}]
INPUTS = [
    {"type": "promptString", "id": "key", "description": "API key of the vault", "password": True},
    {
        "type": "pickString",
        "id": "where",
        "description": "Which vault?",
        "options": ["eu", "us"],
        "default": "us",
    },
]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedServer]:
    folder = tmp_path_factory.mktemp("vault")
    with ScriptedServer(
        folder, name="vault", resources=RESOURCES, contents={"vault://plan": "the plan"}
    ) as server:
        yield server


@pytest.fixture(scope="module")
def code_server(
    tmp_path_factory: pytest.TempPathFactory, part: Callable[[str], Path], vsix: Path
) -> Iterator[CodeServer]:
    part("code-server")
    machine = {
        "lectern.client.server": [sys.executable, "-P", "-m", "mcp_lectern", "serve"],
        "lectern.discover": ["workspace"],
    }
    server = CodeServer(tmp_path_factory.mktemp("vscode"), machine=machine)
    server.install_extension(vsix)
    with server:
        yield server


def test_a_key_is_typed_once_and_goes_to_the_server_alone(
    workbench: Workbench, vault: ScriptedServer, code_server: CodeServer, screenshots: Path
) -> None:
    entry = vault.entry(env={"KEY": "${input:key}", "WHERE": "${input:where}"})
    file = workbench.folder / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"inputs": INPUTS, "servers": {"vault": entry}}))
    workbench.reload()
    workbench.command("Lectern: Refresh")
    expect(workbench.page.locator(".statusbar")).to_contain_text("resources")
    workbench.command("Lectern: Approve Server…")
    workbench.page.locator(".quick-input-widget .monaco-list-row", has_text="vault").click()
    dialog = workbench.page.locator(".monaco-dialog-box")
    expect(dialog).to_contain_text("API key of the vault")
    dialog.get_by_role("button", name="Approve", exact=True).click()
    widget = workbench.page.locator(".quick-input-widget:visible")
    expect(widget.locator(".quick-input-title")).to_contain_text("The MCP server “vault” asks for key")
    expect(widget.locator("input:visible").first).to_have_attribute("type", "password")
    assert vault.starts == 0
    workbench.type("hush-hush")
    workbench.picture(screenshots / "input-key.png")
    workbench.press("Enter")
    expect(widget.locator(".quick-input-title")).to_contain_text("The MCP server “vault” asks for where")
    workbench.picture(screenshots / "input-choice.png")
    workbench.press("Enter")
    until(workbench.page, lambda: vault.starts == 1, "not started")
    assert (vault.started[0]["env"]["KEY"], vault.started[0]["env"]["WHERE"]) == ("hush-hush", "us")
    note = workbench.new_text("note.md", "See ")
    workbench.type("@pla")
    workbench.wait_suggestion("plan")
    workbench.press("Enter")
    until(workbench.page, lambda: workbench.saved(note) == "See @vault:vault://plan", "not completed")
    logs = [path for path in code_server.home.rglob("*.log") if path.is_file()]
    assert logs
    assert not [path for path in logs if "hush-hush" in path.read_text(errors="replace")]
    workbench.command("Lectern: Sign Out of Server…")
    workbench.page.locator(".quick-input-widget .monaco-list-row", has_text="vault").click()
    again = workbench.page.locator(".statusbar-item", has_text="Sign in to vault")
    again.wait_for()
    workbench.picture(screenshots / "input-forgotten.png")
    again.click()
    expect(widget.locator(".quick-input-title")).to_contain_text("asks for key")
    workbench.press("Escape")
    widget.wait_for(state="hidden")
    again.wait_for()
    # Whoever leaves a question knows that nothing was given.
    until(workbench.page, lambda: workbench.messages() == [], "a message stays")
    assert vault.starts == 1
