"""What tests in real editors need: the parts, or a sentence that says which one is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import parts

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
