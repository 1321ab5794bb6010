"""What tests in real editors need: the parts, or a sentence that says which one is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests import parts
from tests.support.code_server import CodeServer
from tests.support.workbench import Workbench

VSIX = parts.ROOT / "client-vscode" / "dist" / "mcp-lectern.vsix"
SCREENSHOTS = parts.ROOT / "build" / "screenshots"


def demand(found: Path | None, sentence: str) -> Path:
    """What was found; without it the test is skipped, or fails where CI must have everything."""
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(sentence)
    return found


@pytest.fixture(scope="session")
def part() -> Callable[[str], Path]:
    """Where a part is."""
    return lambda name: demand(parts.find(name), parts.missing(name))


@pytest.fixture(scope="session")
def vsix() -> Path:
    """The built extension."""
    return demand(VSIX if VSIX.exists() else None, "The extension is not built: make test builds it.")


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where screenshots are kept as build artefacts."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture(scope="package")
def browser(part: Callable[[str], Path]) -> Iterator[Browser]:
    """A real browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(part("browser")), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def lectern(workbench: Workbench) -> Workbench:
    """The window once Lectern knows what all servers have."""
    workbench.command("Lectern: Refresh")
    expect(workbench.page.locator(".statusbar")).to_contain_text(re.compile(r"Lectern: \d+ resources"))
    return workbench


@pytest.fixture
def workbench(
    browser: Browser,
    code_server: CodeServer,
    tmp_path: Path,
    screenshots: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Workbench]:
    """A window of its own, on a workspace of its own, so that no test depends on another."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    prepare = request.node.get_closest_marker("workspace")
    for name, text in (prepare.args[0] if prepare else {"readme.md": "Hello.\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
    )
    workbench = Workbench(context.new_page(), folder)
    workbench.page.goto(code_server.address(folder))
    workbench.wait_ready()
    yield workbench
    workbench.picture(screenshots / f"{request.node.name}.png")
    context.close()
