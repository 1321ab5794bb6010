"""Runs one subcommand and turns how it ends into an exit code; must not know what it does.

Each subcommand is a module with ``run(arguments) -> int`` that is imported only when it is asked for.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

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
        return _run(words)
    except CommandError as error:
        _complain(str(error))
        return error.code
    except BrokenPipeError:
        # Whoever read the answer has seen enough.
        silence()
        return DONE
    except OSError as error:
        silence()
        reason, code = _reason(error)
        _complain(reason)
        return code
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(words: Sequence[str]) -> int:
    _complete_streams()
    try:
        arguments = parser().parse_args(words)
        code: int = importlib.import_module(f"mcp_lectern.cli.{arguments.module}").run(arguments)
    except SystemExit:
        # Help, the version and wrong usage: what was printed must have arrived here, too.
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return code


def _complete_streams() -> None:
    """Streams that whoever started us has closed. Raises CommandError where there is no standard output."""
    # Opened first, so that nothing else gets their numbers and is read or written by mistake.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123
    missing = sys.stdout is None
    if missing:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if missing:
        raise CommandError("standard output is closed, so there is nowhere to answer.")


def _reason(error: OSError) -> tuple[str, int]:
    """A sentence and an exit code for what no command has expected."""
    try:
        Path.cwd()
    except OSError:
        return "the working folder does not exist any more: change to another one.", USAGE
    where = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return f"{where}{error.strerror or error}.", FAILED


def _complain(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"mcp-lectern: {message}", file=sys.stderr, flush=True)


def silence() -> None:
    """Nobody reads stdout any more: what is still buffered goes nowhere, and is not reported at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
