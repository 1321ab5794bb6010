"""Servers that read a template's literals as they stand, and servers that read them percent-encoded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.catalogues import listing
from tests.support.hubs import hub_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.hub.failure import Refused
from mcp_lectern.hub.spelling import other_spelling
from mcp_lectern.mcp.wire.resources import TextItem

pytestmark = pytest.mark.anyio

TEMPLATES = [{"uriTemplate": "file:///docs/café/{n}", "name": "page"}]
RAW, ENCODED = "file:///docs/café/1", "file:///docs/caf%C3%A9/1"


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize("known", [RAW, ENCODED])
@pytest.mark.parametrize("written", [RAW, ENCODED])
async def test_tpl_02_either_spelling_reads_what_the_server_knows(
    tmp_path: Path, known: str, written: str
) -> None:
    with ScriptedServer(tmp_path, templates=TEMPLATES, contents={known: "page 1"}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            (item,) = (await hub.read("it", written)).items
            assert isinstance(item, TextItem)
            assert item.text == "page 1"
            read = [message["params"]["uri"] for message in server.received("resources/read")]
            assert read == ([written] if known == written else [written, known])


@pytest.mark.case("TPL-02")
@pytest.mark.parametrize("uri", [RAW, ENCODED, "file:///docs/cafe/1", "file:///elsewhere"])
async def test_tpl_02_there_is_one_more_try_at_most(tmp_path: Path, uri: str) -> None:
    with ScriptedServer(tmp_path, templates=TEMPLATES, contents={}) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            with pytest.raises(Refused) as refusal:
                await hub.read("it", uri)
            assert refusal.value.failure.kind == "notFound"
            assert len(server.received("resources/read")) == (2 if "/caf" in uri and "cafe" not in uri else 1)


@pytest.mark.case("TPL-02")
async def test_tpl_02_another_failure_is_no_reason_to_try_again(tmp_path: Path) -> None:
    broken = {"resources/read": {"error": {"code": -32603, "message": "broken"}}}
    with ScriptedServer(tmp_path, templates=TEMPLATES, answers=broken) as server:
        async with hub_of({"it": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            with pytest.raises(Refused):
                await hub.read("it", RAW)
            assert len(server.received("resources/read")) == 1


def test_a_listed_uri_has_one_spelling() -> None:
    assert other_spelling(listing("it", [RAW], ["file:///docs/café/{n}"]), RAW) is None
    assert other_spelling(listing("it", [], ["file:///docs/café/{n}"]), RAW) == ENCODED
    assert other_spelling(None, RAW) is None
