"""``mcp-lectern expand``: a text with the resources that it mentions; must not know how they are framed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mcp_lectern.cli.layout import write_text
from mcp_lectern.cli.program import DONE, FAILED, USAGE, CommandError
from mcp_lectern.cli.running import Running, note, run_with_hub
from mcp_lectern.features.expand import Outcome
from mcp_lectern.lsp.expanding import Wish, expanded
from mcp_lectern.text.untrusted import single_line

STDIN = "-"


def run(arguments: argparse.Namespace) -> int:
    """Prints the expanded text; 1 where a mentioned resource could not be had."""
    text = _text(arguments.file)
    return run_with_hub(arguments, lambda running: _expand(running, arguments, text))


async def _expand(running: Running, arguments: argparse.Namespace, text: str) -> int:
    wish = Wish(
        text,
        markdown=not running.prepared.settings.code_fences,
        style=arguments.format,
        max_bytes=arguments.max_bytes,
        unlisted=arguments.unlisted,
    )
    expansion = await expanded(running.hub, wish)
    write_text(expansion.text)
    missing = [outcome for outcome in expansion.resources if outcome.status not in ("included", "binary")]
    for outcome in missing:
        note(_missing(outcome))
    for outcome in expansion.resources:
        if outcome.stale:
            note(f"{_name(outcome)}: {outcome.stale}")
    return FAILED if missing else DONE


def _missing(outcome: Outcome) -> str:
    return f"{_name(outcome)} is not included: {outcome.reason}"


def _name(outcome: Outcome) -> str:
    owner = f" of “{single_line(outcome.server)}”" if outcome.server is not None else ""
    return f"{single_line(outcome.uri, 500)}{owner}"


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.", USAGE) from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{name} is not UTF-8: the byte at offset {error.start} is none of it.", USAGE
        ) from error
