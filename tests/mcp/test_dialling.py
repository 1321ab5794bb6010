"""Connecting to a name with several addresses: nobody waits for a dead one, and no socket is left over."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import anyio
import psutil
import pytest

from mcp_lectern.mcp.transport.dialling import Address, _race, dialled

pytestmark = pytest.mark.anyio


def address(port: int) -> Address:
    return (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield server.getsockname()[1]


@pytest.fixture
def refusing() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def silent() -> Iterator[int]:
    """A port whose queue is full, so that the system answers nothing."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port: int = server.getsockname()[1]
        for _ in range(3):
            filling = stack.enter_context(socket.socket())
            filling.setblocking(False)
            filling.connect_ex(("127.0.0.1", port))
        yield port


async def race(*ports: int) -> tuple[list[socket.socket], list[OSError]]:
    won: list[socket.socket] = []
    errors: list[OSError] = []
    with anyio.fail_after(10):
        await _race([address(port) for port in ports], won, errors)
    return won, errors


async def test_the_next_address_is_tried_where_one_refuses(refusing: int, listening: int) -> None:
    won, errors = await race(refusing, listening)
    with won[0]:
        assert won[0].getpeername()[1] == listening
    assert [type(error) for error in errors] == [ConnectionRefusedError]


async def test_the_next_address_is_tried_where_one_is_silent(silent: int, listening: int) -> None:
    won, _ = await race(silent, listening)
    with won[0]:
        assert won[0].getpeername()[1] == listening


async def test_all_refuse(refusing: int) -> None:
    won, errors = await race(refusing, refusing)
    assert won == []
    assert len(errors) == 2
    with pytest.raises(ConnectionRefusedError):
        await dialled("localhost", refusing)


async def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(OSError, match=r".+"):
        await dialled("no-such-name.invalid", 1)


@pytest.mark.parametrize("turns", range(8))
async def test_who_gives_up_leaves_no_socket(listening: int, turns: int) -> None:
    await asyncio.get_running_loop().getaddrinfo("localhost", listening)
    before = psutil.Process(os.getpid()).num_fds()

    async def dial_and_close(host: str) -> None:
        (await dialled(host, listening)).close()

    for host in ("127.0.0.1", "localhost"):
        task = asyncio.create_task(dial_and_close(host))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert psutil.Process(os.getpid()).num_fds() == before
