"""``make vscode``: the built extension in a real VS Code, apart from your own, on a copy of the sample.

It is the desktop's ``code`` where there is one, else code-server in your browser.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from tests import parts
from tests.support.code_server import CodeServer

from scripts.door import Door

HOME = parts.ROOT / "build" / "vscode"
WORKSPACE = HOME / "workspace"
LECTERN = [sys.executable, "-P", "-m", "mcp_lectern"]
SETTINGS = {
    "lectern.client.server": [*LECTERN, "serve"],
    "lectern.servers": {"tour": {"command": LECTERN[0], "args": [*LECTERN[1:], "demo-server"]}},
}


def main(vsix: Path) -> int:
    """Open the sample workspace; return when the window is open, or the server for the browser is ended."""
    if not WORKSPACE.exists():
        shutil.copytree(parts.ROOT / "examples" / "workspace", WORKSPACE)
    if code := shutil.which("code"):
        return _desktop(code, vsix)
    return _browser(vsix)


def _desktop(code: str, vsix: Path) -> int:
    CodeServer(HOME, user=SETTINGS)
    apart = [code, "--user-data-dir", str(HOME / "data"), "--extensions-dir", str(HOME / "extensions")]
    subprocess.run([*apart, "--install-extension", str(vsix), "--force"], check=True)
    return subprocess.run([*apart, str(WORKSPACE)], check=False).returncode


def _browser(vsix: Path) -> int:
    for name in ("node", "code-server"):
        try:
            parts.bring(name)
        except parts.UnavailableError as error:
            print(f"{parts.missing(name)} ({error})", file=sys.stderr)
            return 1
    password = secrets.token_urlsafe(24)
    server = CodeServer(HOME, machine=SETTINGS, password=password)
    server.install_extension(vsix)
    with server, Door(server.address(WORKSPACE), password) as door:
        print(f"VS Code is at {door.address} until you press Ctrl-C.", flush=True)
        try:
            server.wait()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
