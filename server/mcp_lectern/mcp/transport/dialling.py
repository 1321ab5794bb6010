"""A TCP connection to a name, by whichever of its addresses answers first; must not know what it is for.

RFC 8305 in small: where a machine says that it can reach IPv6 and cannot, nobody waits for that. asyncio's
own way loses a socket when it is cancelled in the moment of success.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import anyio

NEXT_ADDRESS_SECONDS: Final = 0.25

Address = tuple[int, int, int, str, Any]


async def dialled(host: str, port: int) -> socket.socket:
    """A connected socket. Raises OSError: that of the address which was tried first."""
    first, *others = await _addresses(host, port)
    if not others:
        return await _connected(first)
    won: list[socket.socket] = []
    errors: list[OSError] = []
    try:
        await _race([first, *others], won, errors)
    except BaseException:
        for each in won:
            each.close()
        raise
    if not won:
        raise errors[0]
    for late in won[1:]:
        late.close()
    return won[0]


async def _race(addresses: list[Address], won: list[socket.socket], errors: list[OSError]) -> None:
    """One after the other, as soon as the one before has failed or takes long, until one has won."""
    async with anyio.create_task_group() as tasks:

        async def attempt(address: Address, failed: anyio.Event) -> None:
            try:
                won.append(await _connected(address))
                tasks.cancel_scope.cancel()
            except OSError as error:
                errors.append(error)
                failed.set()

        for address in addresses:
            failed = anyio.Event()
            tasks.start_soon(attempt, address, failed)
            with anyio.move_on_after(NEXT_ADDRESS_SECONDS):
                await failed.wait()


async def _addresses(host: str, port: int) -> list[Address]:
    """What a name stands for, the two families in turn. Raises OSError."""
    try:
        # An address in figures needs no thread to look it up.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    preferred = [each for each in found if each[0] == found[0][0]]
    others = [each for each in found if each[0] != found[0][0]]
    turns = [each for pair in zip(preferred, others, strict=False) for each in pair]
    shorter = min(len(preferred), len(others))
    return [*turns, *preferred[shorter:], *others[shorter:]]


async def _connected(address: Address) -> socket.socket:
    family, kind, protocol, _, where = address
    connecting = socket.socket(family, kind, protocol)
    try:
        connecting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connecting, where)
    except BaseException:
        connecting.close()
        raise
    return connecting
