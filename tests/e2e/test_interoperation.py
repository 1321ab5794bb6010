"""Servers that we did not write, in every way and era: what is found there is what docs/protocol.md says.

With ``LECTERN_WRITE_TABLES`` set, the table there is written anew instead of being compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from tests.support.real_servers import OFFICIAL, OTHERS, WAYS, RealServer, reached
from tests.support.tree import ROOT

from mcp_lectern.mcp.connect import Connection, connect
from mcp_lectern.mcp.errors import McpError

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

DOCUMENT = ROOT / "docs" / "protocol.md"
BEGIN, END = "<!-- interoperation: begin -->\n", "<!-- interoperation: end -->\n"
HEAD = "| server | reached over | revision | resources | templates | read |\n|---|---|---|---:|---:|---:|\n"
WRITING = "LECTERN_WRITE_TABLES" in os.environ

Preference = Literal["auto", "legacy"]
Case = tuple[RealServer, str, Preference]
CASES: list[Case] = [
    *((server, way, era) for server in OFFICIAL for way in WAYS for era in ("auto", "legacy")),
    *((server, "stdio", "auto") for server in OTHERS),
]
# The official servers speak one era in some ways; a second row would be the first again.
ONE_ERA = {("server-everything", way) for way in WAYS} | {(server.name, "sse") for server in OFFICIAL}
CASES = [case for case in CASES if case[2] == "auto" or (case[0].name, case[1]) not in ONE_ERA]


class Silent:
    """An observer that wants to know nothing."""

    def log(self, line: str) -> None: ...

    def resources_changed(self) -> None: ...

    def resource_updated(self, uri: str | None) -> None: ...

    def subscriptions_changed(self) -> None: ...


def committed() -> list[str]:
    """The table's rows."""
    section = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    return section.removeprefix(HEAD).splitlines(keepends=True)


@pytest.fixture(scope="module")
def written() -> Iterator[list[str]]:
    """The rows that were found; they become the table where that is asked for."""
    rows: list[str] = []
    yield rows
    if WRITING and len(rows) == len(CASES):
        before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
        DOCUMENT.write_text(
            before + BEGIN + HEAD + "".join(rows) + END + rest.split(END)[1], encoding="utf-8"
        )


async def readable(connection: Connection, uris: list[str]) -> int:
    """How many of these have something to read; every read ends in items or in one of our errors."""
    count = 0
    for uri in uris:
        try:
            result = await connection.read(uri)
        except McpError:
            continue
        count += bool(result.items)
    return count


def name(case: Case) -> str:
    server, way, preference = case
    return f"{server.name} {way} {preference}"


@pytest.mark.parametrize("case", CASES, ids=name)
async def test_a_server_is_listed_and_read_as_the_table_says(
    case: Case, part: Callable[[str], Path], tmp_path: Path, written: list[str]
) -> None:
    server, way, preference = case
    with reached(server, way, part, tmp_path) as parameters:
        async with connect(
            parameters, server=server.name, observer=Silent(), version="1", protocol=preference
        ) as connection:
            assert connection.transport == way
            resources = (await connection.list_resources()).entries
            templates = (await connection.list_templates()).entries
            read = await readable(connection, [resource.uri for resource in resources])
            revision = connection.protocol_version
    cells = (server.name, WAYS[way], revision, str(len(resources)), str(len(templates)), str(read))
    row = f"| {' | '.join(cells)} |\n"
    written.append(row)
    assert WRITING or row in committed()


def test_the_table_has_a_row_for_every_server_and_way_and_no_other() -> None:
    if not WRITING:
        named = [row.split(" | ")[:2] for row in committed()]
        assert named == [[f"| {server.name}", WAYS[way]] for server, way, _ in CASES]
