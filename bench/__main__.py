"""``python -m bench``: measures, shows one table, fails where a limit is missed; must not know any row."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from bench.completion import completion_1_000_000, completion_10_000, completion_100_000
from bench.document import document
from bench.listing import listing
from bench.memory import memory
from bench.reads import reads_http, reads_stdio
from bench.restart import restart
from bench.start import start
from bench.starting import starting
from bench.table import Row, markdown

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "bench" / "table.md"
REPORT = ROOT / "build" / "bench.json"
PEERS = ("pygls", "mcp")

MEASUREMENTS: dict[str, Callable[[bool], list[Row]]] = {
    "start": start,
    "restart": restart,
    "completion-10000": completion_10_000,
    "completion-100000": completion_100_000,
    "completion-1000000": completion_1_000_000,
    "listing": listing,
    "memory": memory,
    "document": document,
    "reads-stdio": reads_stdio,
    "reads-http": reads_http,
    "starting": starting,
}
"""What there is to measure, each by a function that is told whether few samples are enough."""


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a limit was missed."""
    arguments = _parser().parse_args(words)
    rows: list[Row] = []
    for name in arguments.row or MEASUREMENTS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows += MEASUREMENTS[name](arguments.quick)
    table = markdown(rows)
    print(table, end="")
    REPORT.parent.mkdir(exist_ok=True)
    report = {"circumstances": _circumstances(), "rows": [row.to_json() for row in rows]}
    REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    if not arguments.row and not arguments.quick:
        TABLE.write_text(f"# Speed and footprint\n\n{table}\n{_circumstances()}.\n", encoding="utf-8")
    return 1 if any(row.fails for row in rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Lectern against its peers.")
    parser.add_argument(
        "--row", action="append", choices=tuple(MEASUREMENTS), help="measure only this; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="take few samples")
    return parser


def _circumstances() -> str:
    """What the numbers depend on, apart from the machine."""
    peers = ", ".join(f"{name} {version(name)}" for name in PEERS)
    python, processors = platform.python_version(), os.cpu_count()
    return f"Python {python}, {peers}, {processors} processors, {platform.system()}"


if __name__ == "__main__":
    sys.exit(main())
