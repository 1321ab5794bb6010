"""Runs one subcommand and turns how it ends into an exit code; must not know what it does.

Each subcommand is a module with ``run(arguments) -> int`` that is imported only when it is asked for.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from mcp_lectern.cli.arguments import parser

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class CommandError(Exception):
    """A command that cannot be done: one sentence for stderr, and the exit code (1 failed, 2 usage)."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def run(words: Sequence[str]) -> int:
    """The exit code of a command line (without the program's name)."""
    try:
        arguments = parser().parse_args(words)
        code: int = importlib.import_module(f"mcp_lectern.cli.{arguments.module}").run(arguments)
        sys.stdout.flush()
    except CommandError as error:
        print(f"mcp-lectern: {error}", file=sys.stderr)
        return error.code
    except BrokenPipeError:
        # Whoever read the answer has seen enough.
        silence()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def silence() -> None:
    """Nobody reads stdout any more: what is still buffered goes nowhere, and is not reported at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
