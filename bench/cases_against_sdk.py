"""Plays servers' oddities to our client and to the official SDK's, and writes the table in docs/protocol.md.

``python -m bench.cases_against_sdk`` needs the project's environment with the groups ``dev`` and ``peer``.
With ``--json`` the outcomes are printed instead (``--quick``: without what takes the peer long), and with
words only the cases are played whose keys hold one of them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version

from bench.cases import completing, listing, paging, processes, reading, remote, signing_in
from bench.cases.model import Case, Section
from bench.cases.stage import outcomes
from bench.language_server import ROOT

DOCUMENT = ROOT / "docs" / "protocol.md"
BEGIN, END = "<!-- cases: begin -->\n", "<!-- cases: end -->\n"
SECTIONS: tuple[Section, ...] = (
    listing.SECTION,
    paging.SECTION,
    reading.SECTION,
    completing.SECTION,
    processes.SECTION,
    remote.SECTION,
    signing_in.SECTION,
)
CASES: tuple[Case, ...] = tuple(case for section in SECTIONS for case in section.cases)


def peer() -> str:
    """The official SDK, as the table's heads name it."""
    return f"mcp {version('mcp')}"


def cell(text: str) -> str:
    """A text as it stands in a cell."""
    return text.replace("|", "\\|").replace("\u2028", "\\u2028")


def row(case: Case, ours: str, theirs: str) -> str:
    """One line of the table."""
    return f"| {' | '.join(cell(text) for text in (case.identity, case.oddity, ours, theirs))} |\n"


def table(found: dict[str, dict[str, str]]) -> str:
    """A table for each section."""
    parts = []
    for section in SECTIONS:
        head = f"\n| {section.title} | a server's oddity | Lectern | {peer()} |\n|---|---|---|---|\n"
        rows = [
            row(case, *(found[case.key][client] for client in ("lectern", "sdk"))) for case in section.cases
        ]
        parts.append(head + "".join(rows))
    return "".join(parts).lstrip("\n")


def main(arguments: list[str]) -> None:
    """Play, and write or print."""
    words = [word for word in arguments if not word.startswith("--")]
    cases = [case for case in CASES if not words or any(word in case.key for word in words)]
    found = asyncio.run(outcomes(cases, costly="--quick" not in arguments))
    if "--json" in arguments:
        print(json.dumps({case.key: found[case.key] for case in cases}, indent=1, ensure_ascii=False))
        return
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    DOCUMENT.write_text(before + BEGIN + table(found) + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
