"""What people gave for the inputs of entries, and asking for what is missing; must not know how one is asked.

A value belongs to the file that asks for it: another one that uses the same id never gets it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread

from mcp_lectern.hub import failure

if TYPE_CHECKING:
    from mcp_lectern.config.inputs import Input
    from mcp_lectern.config.model import ServerSpec
    from mcp_lectern.hub.entry import Entry
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.mcp.auth.tokens import TokenStorage


class Prompt(Protocol):
    """The person, as an editor or a terminal reaches them."""

    async def value(self, server: str, wanted: Input) -> str | None:
        """What they give for one input of a server; None where they give nothing. Raises Refused."""


class Given:
    """The values, in memory and in the storage of secrets. Its methods may block: they belong in a thread."""

    def __init__(self, storage: Callable[[], TokenStorage]) -> None:
        self._storage = storage
        self._values: dict[str, str] = {}
        self._access = threading.Lock()

    def values(self, spec: ServerSpec) -> dict[str, str]:
        """What has been given for an entry, by the id of the input."""
        found = {wanted.id: self._value(key(spec, wanted)) for wanted in spec.inputs}
        allowed = {wanted.id for wanted in spec.inputs if wanted.allows(found[wanted.id] or "")}
        return {name: value for name, value in found.items() if value is not None and name in allowed}

    def keep(self, spec: ServerSpec, wanted: Input, value: str) -> None:
        """From now on; where no storage takes it, as long as this process lives."""
        name = key(spec, wanted)
        with self._access:
            self._values[name] = value
        self._storage().save(name, value)

    def forget(self, spec: ServerSpec) -> None:
        """All that an entry asks for is to be given anew."""
        for wanted in spec.inputs:
            name = key(spec, wanted)
            with self._access:
                self._values.pop(name, None)
            self._storage().delete(name)

    def _value(self, name: str) -> str | None:
        with self._access:
            known = self._values.get(name)
        if known is not None:
            return known
        kept = self._storage().load(name)
        if kept is not None:
            with self._access:
                self._values.setdefault(name, kept)
        return kept


def key(spec: ServerSpec, wanted: Input) -> str:
    """What a value is kept under: it tells neither the file's place nor the input's name."""
    origin = spec.origin
    place = [origin.level.value, str(origin.path or origin.label), str(origin.folder or ""), wanted.id]
    return f"input:{hashlib.sha256(json.dumps(place).encode()).hexdigest()}"


class Inputs:
    """For one hub. ``prompt`` is the person, where there is one; ``turn`` is held while they are asked."""

    def __init__(self, hub: Hub) -> None:
        self.given = Given(self._storage)
        self.prompt: Prompt | None = None
        self.turn = anyio.Lock()
        self._hub = hub

    def _storage(self) -> TokenStorage:
        return self._hub.tokens()

    async def give(self, server: str, *, anew: bool = False) -> None:
        """Ask for what an entry still lacks (``anew``: for all that it asks for), so that it can be started.

        Raises Refused where nothing is given, or nobody can be asked.
        """
        await self._hub.link(server).decided()
        # Who lacks nothing does not wait for the turn of others.
        if not self._wanted(server, anew=anew):
            return
        async with self.turn:
            entry = self._hub.link(server).entry
            wanted = self._wanted(server, anew=anew)
            for each in wanted:
                value = await self._asked(server, each)
                await anyio.to_thread.run_sync(self.given.keep, entry.spec, each, value)
            if wanted:
                await self._decide_anew(entry.spec)

    def _wanted(self, server: str, *, anew: bool) -> Sequence[Input]:
        entry = self._hub.link(server).entry
        if not entry.approved or entry.spec.disabled:
            return ()
        return entry.spec.inputs if anew else entry.missing

    async def give_each(self, servers: Iterable[str]) -> None:
        """The same for several; one that is given nothing says so when it is used."""
        for server in servers:
            with contextlib.suppress(failure.Refused):
                await self.give(server)

    async def forget(self, server: str) -> None:
        """Forget what was given for an entry; it goes for others of its file that ask for the same."""
        spec = self._hub.link(server).entry.spec
        await anyio.to_thread.run_sync(self.given.forget, spec)
        await self._decide_anew(spec)

    async def _asked(self, server: str, wanted: Input) -> str:
        if self.prompt is None:
            raise failure.refused(
                "needsSignIn",
                f"The server “{server}” asks for {wanted.label}, and there is nobody to ask: "
                f"give it with `mcp-lectern sign-in` in a terminal, or write ${{env:NAME}} instead.",
                server=server,
            )
        value = await self.prompt.value(server, wanted)
        if value is None:
            message = f"“{server}” was not started: nothing was given for {wanted.label}."
            raise failure.refused("cancelled", message, server=server)
        if not wanted.allows(value):
            message = f"“{server}” was not started: what was given for {wanted.label} is none of its choices."
            raise failure.refused("invalidArgument", message, server=server)
        return value

    async def _decide_anew(self, spec: ServerSpec) -> None:
        """By what is given now: a server that is started with something else by that is another one."""
        keys = {key(spec, wanted) for wanted in spec.inputs}
        found: dict[str, tuple[Entry, Entry]] = {}
        for name in self._hub.states():
            before = self._hub.link(name).entry
            if before.anew and keys & {key(before.spec, wanted) for wanted in before.spec.inputs}:
                found[name] = before, await anyio.to_thread.run_sync(before.anew.entry)

        def entries() -> Iterator[Entry]:
            """As they are when it is the turn of this change: one that is newer than what was found stays."""
            for name in self._hub.states():
                now = self._hub.link(name).entry
                before, after = found.get(name, (None, now))
                yield after if now is before else now

        await self._hub.configure(entries())
