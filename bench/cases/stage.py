"""Starts a case's server, lets each client play against it in a process of its own, notes what it says."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import multiprocessing
import os
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.http_server import HttpServer
from tests.support.scripted_server import ScriptedServer

from bench.cases.model import Case, Play, Server

CLIENTS = ("lectern", "sdk")
LIMIT, COSTLY_LIMIT = 20.0, 300.0
"""Seconds that a client may take for a whole case."""
AT_ONCE = 4
FORKED = multiprocessing.get_context("forkserver")


async def outcomes(cases: Iterable[Case], *, costly: bool = True) -> dict[str, dict[str, str]]:
    """By case and client, what came of it. Without ``costly``, the costly ones are not played to the peer."""
    FORKED.set_forkserver_preload([f"bench.cases.{client}_client" for client in CLIENTS])
    places = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> tuple[str, dict[str, str]]:
        async with places:
            clients = CLIENTS if costly or not case.costly else CLIENTS[:1]
            return case.key, {client: await played(case, client) for client in clients}

    return dict(await asyncio.gather(*(one(case) for case in cases)))


async def played(case: Case, client: str) -> str:
    """One case to one client."""
    async with _served(case) as (server, play):
        limit = COSTLY_LIMIT if case.costly else LIMIT
        phrases = await _in_a_process(client, play, limit)
        if case.witness:
            phrases.append(case.witness(server))
    return "; ".join(phrase for phrase in phrases if phrase)


@asynccontextmanager
async def _served(case: Case) -> AsyncIterator[tuple[Server, Play]]:
    with TemporaryDirectory(prefix="lectern-case-") as folder:
        if case.handler is None:
            with ScriptedServer(Path(folder), **case.script) as scripted:
                command = (scripted.command, *scripted.args)
                yield scripted, Play(**{"command": command, "steps": case.steps, **case.play})
        else:
            tls = _self_signed() if case.tls else None
            async with HttpServer(case.handler(), tls=tls) as server:
                yield server, Play(url=case.adapted(server.url), steps=case.steps, **case.play)


def _self_signed() -> ssl.SSLContext:
    import trustme

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


async def _in_a_process(client: str, play: Play, limit: float) -> list[str]:
    receiver, sender = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_perform, args=(client, play, sender))
    process.start()
    sender.close()
    hangs = not await _ended(process.sentinel, limit)
    if hangs:
        process.kill()
    process.join()
    phrases = []
    with receiver, contextlib.suppress(EOFError, OSError):
        while receiver.poll():
            phrases.append(receiver.recv())
    if hangs:
        phrases.append(f"hangs ({limit:.0f} s)")
    elif process.exitcode:
        phrases.append(f"crash (exit code {process.exitcode})")
    return phrases


async def _ended(sentinel: int, limit: float) -> bool:
    """Whether it ends in time. No thread waits: two that look after processes take each other's news."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sentinel, ended.set)
    try:
        async with asyncio.timeout(limit):
            await ended.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(sentinel)
    return True


def _perform(client: str, play: Play, sender: Connection) -> None:
    """The client's process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    importlib.import_module(f"bench.cases.{client}_client").play(play, sender.send)
