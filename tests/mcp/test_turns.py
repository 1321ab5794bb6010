"""Turns and arrivals: in order, one timer for all who wait, and nothing lost or kept by who gives up."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from mcp_lectern.mcp.transport.arrivals import SMALL, Arrivals
from mcp_lectern.mcp.transport.turns import Turns

pytestmark = pytest.mark.anyio


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_turns_are_given_in_order_and_who_gives_up_is_passed_over() -> None:
    turns, order = Turns(1, 10, lambda _identity: None), []

    async def take(identity: int) -> None:
        await turns.take(identity)
        order.append(identity)

    await turns.take(0)
    tasks = [asyncio.create_task(take(number)) for number in range(1, 5)]
    await settle()
    tasks[1].cancel()
    turns.give()
    # Given up in the very moment in which it is its turn.
    tasks[0].cancel()
    await settle()
    assert order == [3]
    turns.give()
    await settle()
    assert order == [3, 4]
    turns.give()
    await turns.take(5)
    turns.close()


async def test_who_waits_is_told_again_and_again_and_at_the_end() -> None:
    told: list[int] = []
    thrice = asyncio.Event()

    def waiting(identity: int) -> None:
        told.append(identity)
        if len(told) >= 6:
            thrice.set()

    turns = Turns(1, 0.01, waiting)
    await turns.take(0)
    tasks = [asyncio.create_task(turns.take(number)) for number in (1, 2)]
    with anyio.fail_after(10):
        await thrice.wait()
    assert told[:4] == [1, 2, 1, 2]
    before = len(told)
    turns.give()
    await tasks[0]
    assert told[before:] == [1]
    turns.give()
    await tasks[1]
    assert told[-1] == 2
    turns.close()


async def test_what_is_brought_is_handled_before_who_brought_it_goes_on() -> None:
    arrivals, order = Arrivals(), []

    async def bring(message: bytes) -> None:
        await arrivals.bring(message)
        order.append(b"after " + message)

    async def take() -> None:
        async for arrival in arrivals.take():
            assert isinstance(arrival, bytes)
            order.append(arrival)

    taking = asyncio.create_task(take())
    await asyncio.gather(bring(b"a"), bring(b"b"))
    assert order == [b"a", b"b", b"after a", b"after b"]
    await arrivals.end()
    with anyio.fail_after(10):
        await taking


async def test_what_is_brought_by_who_gives_up_is_not_taken() -> None:
    arrivals = Arrivals()
    tasks = [asyncio.create_task(arrivals.bring(message)) for message in (b"a", b"b", b"c")]
    await settle()
    tasks[1].cancel()
    await settle()
    await arrivals.end()
    assert [arrival async for arrival in arrivals.take()] == [b"a", b"c"]
    await tasks[0]


async def test_after_something_large_others_come_first() -> None:
    arrivals, order = Arrivals(), []

    async def other() -> None:
        order.append("other")

    async def take() -> None:
        async for arrival in arrivals.take():
            assert isinstance(arrival, bytes)
            order.append(f"{len(arrival)}")
            if len(order) == 1:
                tasks.append(asyncio.create_task(other()))

    tasks = [asyncio.create_task(arrivals.bring(b"x" * (SMALL + 1))) for _ in range(2)]
    await settle()
    await arrivals.end()
    await take()
    assert order == [str(SMALL + 1), "other", str(SMALL + 1)]
    await asyncio.gather(*tasks)
