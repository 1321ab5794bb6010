"""The catalogue on disk: shown before its server has spoken, private, shared, forgotten in time."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.hubs import News, entries_of
from tests.support.scripted_server import ScriptedServer

from mcp_lectern.catalogue import store
from mcp_lectern.catalogue.index import ServerIndex
from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.documents.address import Key
from mcp_lectern.documents.files import materialize
from mcp_lectern.hub import catalogue_file, remembered
from mcp_lectern.hub.catalogue_file import CatalogueFile
from mcp_lectern.hub.hub import Hub
from mcp_lectern.hub.remembered import file_in
from mcp_lectern.hub.remembered_key import entry_key, listing_key
from mcp_lectern.mcp.auth.tokens import InMemory, TokenStorage
from mcp_lectern.mcp.wire.resources import Resource

pytestmark = pytest.mark.anyio

ONE = [{"uri": "a://1", "name": "one"}]
LISTED = Resource("a://1", "one")


@asynccontextmanager
async def remembering(
    folder: Path,
    servers: dict[str, Any],
    *,
    remember: bool = True,
    tokens: TokenStorage | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[Hub, News]]:
    news = News()
    hub = news.hub = Hub(news, "0")
    storage = tokens or InMemory()
    hub.tokens = lambda: storage
    prepared = entries_of(servers, **settings)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hub.run)
        hub.adopt(prepared.settings, ())
        await hub.remembered.keep_in(folder, remember=remember)
        await hub.configure(prepared.entries)
        try:
            yield hub, news
        finally:
            with anyio.CancelScope(shield=True):
                await hub.close()


def rows(folder: Path) -> int:
    with sqlite3.connect(folder / "catalogue.sqlite3") as file:
        count = file.execute("SELECT count(*) FROM listing").fetchone()[0]
        parts = file.execute("SELECT count(*) FROM part").fetchone()[0]
    file.close()
    assert parts == count * 26
    return int(count)


async def until_written(hub: Hub, server: str) -> None:
    with anyio.fail_after(20):
        while server not in hub.remembered._written:
            await anyio.sleep(0.01)


async def listed_once(folder: Path, servers: dict[str, Any], **settings: Any) -> None:
    async with remembering(folder, servers, **settings) as (hub, _):
        await hub.ensure_listed()
        for name in servers:
            await until_written(hub, name)


def filled(folder: Path, *servers: str, layout: str = "1") -> CatalogueFile:
    file = CatalogueFile(folder, layout)
    parts = store.pack(ServerIndex.of(ServerListing.of("a", [LISTED])))
    for server in servers:
        file.store(server.encode(), server.encode() * 2, server, parts)
    return file


async def test_it_is_shown_before_the_server_has_spoken_and_replaced_when_it_has(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry()}
        await listed_once(tmp_path / "c", servers)
        server.change(resources=[{"uri": "a://2", "name": "two"}])
        async with remembering(tmp_path / "c", servers) as (hub, news):
            assert list(hub.indexes["docs"].resources.entries) == [LISTED]
            await news.until(lambda: hub.catalogue.resource("docs", "a://1") is not None)
            assert not hub.catalogue.listings["docs"].listed
            assert hub.incomplete()
            assert server.starts == 1
            await hub.ensure_listed()
            assert [entry.uri for entry in hub.catalogue.listings["docs"].resources] == ["a://2"]
            assert not hub.incomplete()


async def test_a_short_session_remembers_all_of_its_servers_as_they_were_at_its_end(tmp_path: Path) -> None:
    """What came within some seconds of the first write was lost: all servers but one, and every change."""
    folder = tmp_path / "catalogue"
    with (
        ScriptedServer(tmp_path, name="first", resources=ONE) as first,
        ScriptedServer(tmp_path, name="second", resources=ONE) as second,
    ):
        servers = {"first": first.entry(), "second": second.entry()}
        async with remembering(folder, servers) as (hub, news):
            await hub.ensure_listed(["first"])
            await until_written(hub, "first")
            await hub.ensure_listed(["second"])
            first.change(resources=[*ONE, {"uri": "a://2", "name": "two"}])
            await news.until(lambda: len(hub.catalogue.listings["first"].resources) == 2)
        assert rows(folder) == 2
        async with remembering(folder, servers) as (hub, news):
            await news.until(lambda: all(listing.resources for listing in hub.catalogue.listings.values()))
            assert hub.catalogue.resource("first", "a://2") is not None
            assert hub.catalogue.resource("second", "a://1") is not None
        assert (first.starts, second.starts) == (1, 1)


async def test_filters_hold_for_what_is_remembered(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=[*ONE, {"uri": "b://1", "name": "other"}]) as server:
        servers = {"docs": server.entry()}
        filters = {"docs": {"exclude": ["b:*"]}}
        await listed_once(tmp_path / "c", servers, filters=filters)
        async with remembering(tmp_path / "c", servers, filters=filters) as (hub, news):
            await news.until(lambda: hub.catalogue.resource("docs", "b://1") is not None)
            assert list(hub.indexes["docs"].resources.entries) == [LISTED]


async def test_another_entry_knows_nothing_of_it(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry(env={"TOKEN": "mine"})})
        async with remembering(tmp_path / "c", {"docs": server.entry(env={"TOKEN": "yours"})}) as (hub, _):
            assert hub.indexes == {}
        assert b"mine" not in (tmp_path / "c" / "catalogue.sqlite3").read_bytes()
        async with remembering(tmp_path / "c", {"docs": server.entry(env={"TOKEN": "mine"})}) as (hub, _):
            assert "docs" in hub.indexes


async def test_an_inherited_variable_that_changes_with_each_start_is_no_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry()})
        monkeypatch.setenv("LECTERN_TEST_SESSION", "another")
        async with remembering(tmp_path / "c", {"docs": server.entry()}) as (hub, _):
            assert "docs" in hub.indexes


async def test_a_server_without_resources_is_not_started_for_an_at_sign_again(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=[]) as server:
        servers = {"docs": server.entry()}
        await listed_once(tmp_path / "c", servers)
        async with remembering(tmp_path / "c", servers) as (hub, _):
            hub.want()
            assert hub.states_shown() == {"docs": "idle"}
            assert not hub.incomplete()
            server.change(resources=ONE)
            await hub.ensure_listed()
            assert server.starts == 2
            assert hub.catalogue.resource("docs", "a://1") is not None
        other = {"docs": server.entry(env={"OTHER": "1"})}
        async with remembering(tmp_path / "c", other) as (hub, news):
            hub.want()
            await news.until(lambda: hub.states_shown() == {"docs": "ready"})


async def test_a_list_that_was_cut_short_replaces_nothing(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry()}
        await listed_once(tmp_path / "c", servers)
        server.change(answers={"resources/list": {"error": {"code": -32000, "message": "later"}}})
        async with remembering(tmp_path / "c", servers) as (hub, _):
            await hub.ensure_listed()
            assert hub.catalogue.listings["docs"].partial
        async with remembering(tmp_path / "c", servers) as (hub, _):
            assert list(hub.indexes["docs"].resources.entries) == [LISTED]


async def test_a_removed_entry_is_forgotten_and_overwritten(tmp_path: Path) -> None:
    marked = [{"uri": "a://unmistakable", "name": "one"}]
    with ScriptedServer(tmp_path, resources=marked) as server:
        async with remembering(tmp_path / "c", {"docs": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            await until_written(hub, "docs")
            assert rows(tmp_path / "c") == 1
            assert b"unmistakable" in (tmp_path / "c" / "catalogue.sqlite3").read_bytes()
            await hub.configure(())
            assert rows(tmp_path / "c") == 0
            assert b"unmistakable" not in (tmp_path / "c" / "catalogue.sqlite3").read_bytes()


async def test_purging_a_server_forgets_it_under_every_entry(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry(), "other": server.entry()})
        async with remembering(tmp_path / "c", {"docs": server.entry()}) as (hub, _):
            assert rows(tmp_path / "c") == 2
            kept = materialize(tmp_path / "materialized", Key("other", "a://1"), b"png", "image/png")
            gone = materialize(tmp_path / "materialized", Key("docs", "a://1"), b"png", "image/png")
            await hub.remembered.purge("docs")
            assert rows(tmp_path / "c") == 1
            assert kept.exists()
            assert not gone.exists()


async def test_remember_false_removes_everything(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry()})
        async with remembering(tmp_path / "c", {"docs": server.entry()}, remember=False) as (hub, _):
            assert hub.indexes == {}
            await hub.ensure_listed()
        assert list((tmp_path / "c").iterdir()) == []


@pytest.mark.parametrize("damage", ["no database", "cut", "a part", "nothing", "a folder for the key"])
async def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "c"
    path = folder / "catalogue.sqlite3"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry()}
        await listed_once(folder, servers)
        if damage == "no database":
            path.write_bytes(b"this is no database" * 1000)
        elif damage == "cut":
            path.write_bytes(path.read_bytes()[:5000])
        elif damage == "nothing":
            path.write_bytes(b"")
        elif damage == "a part":
            with sqlite3.connect(path) as file:
                file.execute("UPDATE part SET data = x'00000000' WHERE number = 3")
            file.close()
        else:
            (folder / "key").write_bytes(b"short")
        async with remembering(folder, servers) as (hub, _):
            assert hub.indexes == {}
            await hub.ensure_listed()
            await until_written(hub, "docs")
        async with remembering(folder, servers) as (hub, _):
            assert "docs" in hub.indexes


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE part",
        "DROP TABLE listing",
        "ALTER TABLE listing RENAME COLUMN saved TO stored",
        "DROP TRIGGER gone; DELETE FROM listing",
        "DROP TABLE part; CREATE VIEW part AS SELECT * FROM listing",
    ],
)
def test_a_damaged_schema_is_made_anew_by_whoever_comes_next(tmp_path: Path, damage: str) -> None:
    file = filled(tmp_path, "a")
    with sqlite3.connect(file.path) as connection:
        connection.executescript(damage)
    connection.close()
    assert file.load(b"a") is None
    assert filled(tmp_path, "a").load(b"a")
    assert rows(tmp_path) == 1


def test_rows_that_contradict_each_other_are_made_anew_by_the_write_that_meets_them(tmp_path: Path) -> None:
    file = filled(tmp_path, "a")
    with sqlite3.connect(file.path) as connection:
        connection.execute("INSERT INTO part VALUES (x'62', 0, 0, x'00')")
    connection.close()
    assert filled(tmp_path, "b").load(b"b")
    assert rows(tmp_path) == 1


@contextmanager
def locked(file: CatalogueFile) -> Iterator[None]:
    connection = sqlite3.connect(file.path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def test_a_locked_file_is_neither_made_anew_nor_waited_for_to_be_read(tmp_path: Path) -> None:
    file = filled(tmp_path, "a")
    before = file.path.stat().st_ino
    with locked(file):
        began = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            file.load(b"a")
        assert time.monotonic() - began < catalogue_file._PATIENCE / 2
    assert file.path.stat().st_ino == before
    assert file.load(b"a")


async def test_a_list_that_another_process_locks_is_shown_when_it_is_free_again(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry()}
        await listed_once(tmp_path / "c", servers)
        with locked(file_in(tmp_path / "c")):
            opening = remembering(tmp_path / "c", servers)
            hub, news = await opening.__aenter__()
            assert hub.indexes == {}
        try:
            await news.until(lambda: hub.catalogue.resource("docs", "a://1") is not None)
            assert server.starts == 1
        finally:
            await opening.__aexit__(None, None, None)


async def test_a_disk_that_does_not_let_us_costs_the_memory_alone(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("no folder", encoding="utf-8")
    with ScriptedServer(tmp_path, resources=ONE) as server:
        async with remembering(tmp_path / "c", {"docs": server.entry()}) as (hub, _):
            await hub.ensure_listed()
            assert hub.catalogue.resource("docs", "a://1") is not None
            await hub.remembered.purge("docs")


def test_another_layout_is_forgotten(tmp_path: Path) -> None:
    filled(tmp_path, "a", layout="1")
    assert CatalogueFile(tmp_path, "1").load(b"a") is not None
    assert CatalogueFile(tmp_path, "2").load(b"a") is None
    assert CatalogueFile(tmp_path, "1").load(b"a") is None


def test_what_is_older_than_thirty_days_is_neither_shown_nor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = filled(tmp_path, "a", "b")
    now = catalogue_file.time.time()
    monkeypatch.setattr(catalogue_file.time, "time", lambda: now + 30 * 86_400 - 60)
    assert file.keys(b"aa") == [b"a"]
    monkeypatch.setattr(catalogue_file.time, "time", lambda: now + 30 * 86_400 + 60)
    assert file.keys(b"aa") == []
    assert file.load(b"a") is None
    assert rows(tmp_path) == 2
    file.forget()
    assert rows(tmp_path) == 0


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_folder_file_and_key_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir(mode=0o755)
    file = filled(folder, "a")
    assert len(file.key()) == 32
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "catalogue.sqlite3": 0o600,
        "key": 0o600,
    }


@pytest.mark.skipif(os.name != "posix", reason="links need no rights on POSIX")
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    folder, target = tmp_path / "c", tmp_path / "target"
    folder.mkdir()
    target.write_bytes(b"mine")
    (folder / "catalogue.sqlite3").symlink_to(target)
    assert filled(folder, "a").load(b"a") is not None
    assert target.read_bytes() == b"mine"


def test_keys_tell_entries_and_authorizations_apart() -> None:
    one, other = entries_of({"a": {"command": sys.executable}, "b": {"command": sys.executable}}).entries
    keys = {entry_key(secret, entry) for secret in (b"1", b"2") for entry in (one, other)}
    assert len(keys) == 4
    assert len({listing_key(b"1", entry, identity) for entry in keys for identity in ("", "x", "y")}) == 12


@pytest.mark.parametrize("saved", ["saved - 31 * 86400", "9e99", "'never'"])
async def test_a_session_that_writes_nothing_removes_what_has_had_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: str
) -> None:
    monkeypatch.setattr(remembered, "AFTER", 0.0)
    folder = tmp_path / "c"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry()}
        await listed_once(folder, servers)
        with sqlite3.connect(folder / "catalogue.sqlite3") as file:
            file.execute(f"UPDATE listing SET saved = {saved}")
        file.close()
        old = materialize(tmp_path / "materialized", Key("docs", "a://1"), b"png", "image/png")
        os.utime(old, (1.0, 1.0))
        async with remembering(folder, servers):
            with anyio.fail_after(20):
                while old.exists() or rows(folder):
                    await anyio.sleep(0.01)
        assert server.starts == 1


async def test_what_vanished_while_no_editor_ran_is_removed_unless_another_workspace_has_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "c"
    with ScriptedServer(tmp_path, resources=ONE) as server:
        servers = {"docs": server.entry(), "other": server.entry()}
        for who in ("one", "two"):
            async with remembering(folder, servers) as (hub, _):
                await hub.remembered.keep_in(folder, remember=True, who=[who])
                await hub.ensure_listed()
                for name in servers:
                    await until_written(hub, name)
                assert await hub.remembered.sweep()
        kept = materialize(tmp_path / "materialized", Key("other", "a://1"), b"png", "image/png")
        gone = materialize(tmp_path / "materialized", Key("docs", "a://1"), b"png", "image/png")
        del servers["docs"]
        for who, left in (("one", 2), ("three", 2), ("two", 1)):
            async with remembering(folder, servers) as (hub, _):
                await hub.remembered.keep_in(folder, remember=True, who=[who])
                assert await hub.remembered.sweep()
            assert rows(folder) == left
            assert gone.exists() == (left == 2)
        assert kept.exists()


async def test_an_entry_that_cannot_be_started_just_now_is_not_taken_for_removed(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry()})
        for entry in (server.entry(), {"command": "no-such-program-anywhere"}):
            async with remembering(tmp_path / "c", {"docs": entry}) as (hub, _):
                assert await hub.remembered.sweep()
        assert rows(tmp_path / "c") == 1


async def test_a_locked_file_is_swept_later(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        await listed_once(tmp_path / "c", {"docs": server.entry()})
        async with remembering(tmp_path / "c", {"docs": server.entry()}) as (hub, _):
            with locked(file_in(tmp_path / "c")):
                assert not await hub.remembered.sweep()
            assert await hub.remembered.sweep()


WRITER = """
import sqlite3
import sys
from pathlib import Path
from mcp_lectern.hub.catalogue_file import CatalogueFile, is_busy
file = CatalogueFile(Path(sys.argv[1]), "1")
print(file.key().hex())
for number in range(20):
    name = f"{sys.argv[2]} {number}"
    file.store(name.encode(), b"e", name, (name.encode(),) * 26)
    found = None
    while found is None:
        try:
            found = file.load(name.encode())
            assert found
        except sqlite3.OperationalError as error:
            assert is_busy(error)
    assert found == (name.encode(),) * 26
"""


def test_processes_share_the_file_and_the_key(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", WRITER, str(tmp_path / "c")]
    running = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(set(said)) == 1
    assert rows(tmp_path / "c") == 60


async def test_what_did_not_change_is_not_written_again(tmp_path: Path) -> None:
    with ScriptedServer(tmp_path, resources=ONE) as server:
        entry = entries_of({"docs": server.entry()}).entries[0]
        index = ServerIndex.of(ServerListing.of("docs", [LISTED]))
        walked = remembered._Walked(entry, "", index.listing, index)
        file = file_in(tmp_path / "c")
        remembered._write(file, walked, walked)
        assert not file.path.exists()
        remembered._write(file, walked, remembered._Walked(entry, "x", index.listing, index))
        assert file.path.exists()
