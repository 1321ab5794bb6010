"""What is wrong in configuration files, where the user sees it: diagnostics in the file, or a message."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_lectern.config.model import Configuration, Problem
    from mcp_lectern.lsp.server import Lectern

_SEVERITIES = {"error": 1, "warning": 2}


def publish(lectern: Lectern, configuration: Configuration, warnings: Sequence[str]) -> None:
    """Diagnostics for every file that has problems now or had some before; the rest is told.

    A file that is not there can show nothing.
    """
    by_file: dict[str, list[dict[str, Any]]] = defaultdict(list)
    messages = list(warnings)
    for problem in configuration.problems:
        if problem.path is not None and os.path.isfile(problem.path):  # noqa: PTH113
            by_file[problem.path.as_uri()].append(_diagnostic(problem))
        else:
            messages.append(problem.message)
    concerned = [*by_file, *(uri for uri in lectern.file_problems if uri not in by_file)]
    lectern.file_problems = dict(by_file)
    for uri in concerned:
        lectern.publishing.again(uri)
    lectern.tell_once(messages)


def _diagnostic(problem: Problem) -> dict[str, Any]:
    place = {"line": problem.line, "character": problem.column}
    return {
        "range": {"start": place, "end": place},
        "severity": _SEVERITIES.get(problem.severity, 1),
        "source": "Lectern",
        "message": problem.message,
    }
