"""The language server's process: streams, loop, end; must not know what is served."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import BinaryIO

from mcp_lectern.lsp.engine import CommandLine
from mcp_lectern.lsp.server import Lectern
from mcp_lectern.lsp.stdio import Loop, Writer

_FAREWELL = 5.0
"""Seconds within which every process that was started must have ended."""


def serve(command_line: CommandLine) -> int:
    """Serve LSP over standard input and output until the end; returns the exit code.

    The process leaves the folder that it was started in: a workspace must not be where modules or
    programs are looked for.
    """
    os.chdir(_safe_folder())
    return asyncio.run(_serve(command_line, _claimed_output()))


def _safe_folder() -> Path:
    home = Path.home()
    return home if home.is_dir() else Path(home.anchor or "/")


def _claimed_output() -> BinaryIO:
    """Standard output for the protocol alone: whatever else prints goes to standard error."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


async def _serve(command_line: CommandLine, output: BinaryIO) -> int:
    lectern: Lectern | None = None

    def receive(message: object) -> None:
        if lectern is not None:
            lectern.protocol.receive(message)

    loop = Loop(receive, sys.stdin.fileno())
    lectern = Lectern(command_line, loop.end)
    lectern.watch_parent = loop.watch
    writer = Writer(output)
    lectern.protocol.set_writer(writer)
    try:
        return await loop.run()
    finally:
        try:
            await asyncio.wait_for(lectern.engine.ended(), _FAREWELL)
        except TimeoutError:
            sys.stderr.write("Lectern: some servers did not end in time.\n")
        writer.close()
