"""``mcp-lectern serve``: the language server; it must load nothing that the first answer does not need."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mcp_lectern.cli.program import USAGE, CommandError
from mcp_lectern.lsp.engine import CommandLine

logger = logging.getLogger(__name__)
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def run(arguments: argparse.Namespace) -> int:
    """Serves until the editor ends it; the exit code."""
    _log(arguments.log_level, arguments.log_file)
    command_line = CommandLine(
        config_files=tuple(path.absolute() for path in arguments.config),
        discover=not arguments.no_discover,
        workspace_servers=arguments.workspace_servers,
    )
    _tell_missing(command_line.config_files)
    from mcp_lectern.lsp.run import serve

    return serve(command_line)


def _tell_missing(files: Sequence[Path]) -> None:
    """Whoever starts the server learns of it at once; it serves all the same, and tells its client later."""
    for file in files:
        if not os.path.lexists(file):
            logger.warning("%s does not exist; remove it from the command line or create it.", file)


def _log(level: str, file: Path | None) -> None:
    try:
        handler: logging.Handler = (
            logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, encoding="utf-8")
        )
    except OSError as error:
        raise CommandError(f"the log file {file} cannot be written ({error.strerror}).", USAGE) from error
    logging.basicConfig(format=_FORMAT, level=level.upper(), handlers=[handler])
