"""A server that we did not write, over both HTTP transports that it offers, listed and read as by a user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(120)
PRELOAD = Path(__file__).parent.parent / "support" / "loopback.cjs"
PATHS = {"streamableHttp": "/mcp", "sse": "/sse"}


@pytest.fixture(params=PATHS)
def entry(request: pytest.FixtureRequest, part: Callable[[str], Path]) -> Iterator[dict[str, Any]]:
    """The entry of the running server."""
    command = [str(part("npm-servers") / "mcp-server-everything"), request.param]
    environment = {**os.environ, "PORT": "0", "NODE_OPTIONS": f"--require {PRELOAD}"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = next(line.split()[1] for line in process.stderr if line.startswith("LISTENING"))
        yield {"url": f"http://127.0.0.1:{port}{PATHS[request.param]}"}
        process.kill()


def test_it_is_listed_and_read(entry: dict[str, Any], tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"everything": entry}}))

    def lectern(*arguments: str) -> str:
        options = ["--no-discover", "--config", str(config)]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mcp_lectern", *arguments, *options],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    (state,) = json.loads(lectern("doctor", "--json"))["servers"]
    assert (state["state"], state["resources"], state["templates"]) == ("ready", 7, 2)
    assert state["transport"] == ("sse" if entry["url"].endswith("/sse") else "http")
    assert state["protocolVersion"] == "2025-11-25"
    assert "Resource 1" in lectern("read", "@everything:demo://resource/dynamic/text/1")
