"""Who imports whom, and what is loaded before an editor has its first answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.tree import ROOT

HEAVY = ("pydantic", "httpx", "http", "sqlite3", "rapidfuzz")


def test_the_floors_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def loaded(*modules: str) -> set[str]:
    return modules_after(f"import sys, {', '.join(modules)}")


def modules_after(script: str) -> set[str]:
    command = [sys.executable, "-P", "-c", f"{script}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_nothing_heavy_is_loaded_before_initialize_is_answered() -> None:
    before = loaded("mcp_lectern.cli.serve", "mcp_lectern.lsp.server")
    assert [name for name in HEAVY if name in before] == []
    assert "pygls" in before


def test_what_signs_in_is_loaded_for_remote_servers_alone() -> None:
    before = loaded("mcp_lectern.hub.hub", "mcp_lectern.hub.sign_in", "mcp_lectern.mcp.connect")
    assert [name for name in ("httpx", "keyring", "jwt", "cryptography") if name in before] == []
    assert "jwt" not in loaded("mcp_lectern.mcp.auth.flow", "mcp_lectern.mcp.auth.tokens")


def test_the_look_at_loaded_modules_would_see_a_heavy_one() -> None:
    assert "pydantic" in loaded("pydantic")


NAMING = ("read", "expand", "approve", "revoke", "sign-in", "sign-out")
"""Commands that want a name."""


@pytest.mark.parametrize("command", ["serve", "demo", "list", "doctor", *NAMING])
def test_the_command_line_loads_nothing_but_its_grammar(command: str) -> None:
    words = [command, "x"] if command in NAMING else [command]
    script = f"import sys; from mcp_lectern.cli.arguments import parser; parser().parse_args({words})"
    own = {name for name in modules_after(script) if name.startswith("mcp_lectern")}
    assert own == {"mcp_lectern", "mcp_lectern.cli", "mcp_lectern.cli.arguments"}
