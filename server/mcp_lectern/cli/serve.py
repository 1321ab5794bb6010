"""``mcp-lectern serve``: the language server; it must load nothing that the first answer does not need."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from mcp_lectern.cli.program import USAGE, CommandError
from mcp_lectern.lsp.engine import CommandLine

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def run(arguments: argparse.Namespace) -> int:
    """Serves until the editor ends it; the exit code."""
    _log(arguments.log_level, arguments.log_file)
    command_line = CommandLine(
        config_files=tuple(path.absolute() for path in arguments.config),
        discover=not arguments.no_discover,
        workspace_servers=arguments.workspace_servers,
    )
    from mcp_lectern.lsp.run import serve

    return serve(command_line)


def _log(level: str, file: Path | None) -> None:
    try:
        handler: logging.Handler = (
            logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, encoding="utf-8")
        )
    except OSError as error:
        raise CommandError(f"the log file {file} cannot be written ({error.strerror}).", USAGE) from error
    logging.basicConfig(format=_FORMAT, level=level.upper(), handlers=[handler])
