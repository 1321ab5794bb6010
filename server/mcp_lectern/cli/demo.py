"""``mcp-lectern demo``: the main job without an editor, step by step; must not know how a step is played."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mcp_lectern import __version__
from mcp_lectern.cli.play import FailedStepError, Play, Told
from mcp_lectern.cli.program import DONE, FAILED, USAGE, CommandError, silence
from mcp_lectern.config.files import UnreadableFileError, is_file, read_typed
from mcp_lectern.lsp.editor import Editor, ResponseError, ServerGoneError, serving, started

STEP_SECONDS = 90.0
"""How long one step may last: a server that has to be downloaded first needs its time."""


def run(arguments: argparse.Namespace) -> int:
    """Plays every step, and prints each; 0 only if all of them did what they say."""
    with tempfile.TemporaryDirectory(prefix="lectern-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        own = [_usable(path.absolute(), folder, number) for number, path in enumerate(arguments.config)]
        try:
            return asyncio.run(_play(folder, own or [_sample(folder)], sample=not own))
        except BrokenPipeError:
            # Steps that were not played must not look like steps that were done.
            silence()
            return FAILED


def _usable(path: Path, folder: Path, number: int) -> Path:
    """The file itself, or a private copy of what a pipe holds: the language server does not inherit pipes."""
    try:
        data = read_typed(path)
    except UnreadableFileError as error:
        raise CommandError(f"{path} {error}.", USAGE) from None
    if is_file(path):
        return path
    copy = folder / f"typed-{number}.json"
    copy.write_bytes(data)
    return copy


def _sample(folder: Path) -> Path:
    """A configuration of the built-in server alone, as somebody would write it."""
    entry = {"command": sys.executable, "args": ["-P", "-m", "mcp_lectern", "demo-server"]}
    path = folder / "mcp.json"
    path.write_text(json.dumps({"servers": {"demo": entry}}), encoding="utf-8")
    return path


async def _play(folder: Path, configs: Sequence[Path], *, sample: bool) -> int:
    against = "its built-in sample server" if sample else ", ".join(str(path) for path in configs)
    _say(f"Lectern {__version__}, driven over LSP by a small editor, against {against}.\n")
    workspace = folder / "workspace"
    workspace.mkdir()
    options = [word for path in configs for word in ("--config", str(path))]
    async with started(serving("--no-discover", *options), folder=folder) as editor:
        code = await _steps(_play_of(editor, workspace, sample=sample))
    if code == DONE:
        _say("\nThat is what your editor does with Lectern. Next: put your servers in, and type @.")
    return code


def _play_of(editor: Editor, workspace: Path, *, sample: bool) -> Play:
    """The sample server has a page to look for and a clock; of other servers nothing is known."""
    return Play(editor, workspace, "wel", "tour://clock", "keys") if sample else Play(editor, workspace, "")


async def _steps(play: Play) -> int:
    for name, step in play.steps():
        try:
            async with asyncio.timeout(STEP_SECONDS):
                told = await step()
        except TimeoutError:
            return _failed(name, f"nothing happened for {STEP_SECONDS:.0f} s.")
        except (FailedStepError, ResponseError, ServerGoneError) as error:
            return _failed(name, str(error))
        _done(name, told)
    return DONE


def _done(name: str, told: Told) -> None:
    mark = _mark(done=True) if told.played else "-"
    _say(f"  {mark} {name:<9} {told.sentence}")
    for line in told.details:
        _say(f"              {line}")


def _failed(name: str, why: str) -> int:
    _say(f"  {_mark(done=False)} {name:<9} {why}")
    return FAILED


def _mark(*, done: bool) -> str:
    """A tick or a cross, in words where the terminal cannot show it and in colour where it can."""
    mark, word, colour = ("✓", "ok", 32) if done else ("✗", "FAILED", 31)
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        mark = word
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return mark if plain else f"\x1b[{colour}m{mark}\x1b[0m"


def _say(line: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    print(line.encode(encoding, "replace").decode(encoding), flush=True)
