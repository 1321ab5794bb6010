"""Rows: how long a big document keeps the event loop from everything else; must not know other rows.

The language server runs in this process, so that every single call that its event loop makes can be timed:
in seconds of its thread's processor time, since nothing there waits, and other work does not count.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from typing import Any

from bench.descriptors import descriptor
from bench.language_server import friendly
from bench.table import Row
from mcp_lectern.catalogue.model import Catalogue, ServerListing
from mcp_lectern.lsp.editor import CAPABILITIES
from mcp_lectern.lsp.engine import CommandLine
from mcp_lectern.lsp.server import Lectern
from mcp_lectern.mcp.wire.resources import Resource

MENTIONS = 2_000
BYTES = 1_000_000
LISTED = 10_000
TOTAL_LIMIT, TYPED_LIMIT, STRETCH_LIMIT = 150, 75, 20
_URI = "file:///bench/document.md"
_PATIENCE_SECONDS = 30.0
_SMALL = 2_000
"""Bytes; what the server asks of its client is no longer."""

Json = Any


class Watch:
    """Seconds that callbacks of the event loop take while it is on: in all, and the longest one."""

    def __init__(self) -> None:
        self.total = self.longest = 0.0


@contextmanager
def watching() -> Iterator[Watch]:
    """Time every callback of the event loop."""
    watch, run = Watch(), asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began = thread_time()
        run(handle)
        seconds = thread_time() - began
        watch.total += seconds
        watch.longest = max(watch.longest, seconds)

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    try:
        yield watch
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]


class Client:
    """Keeps what the server says as bytes, so that reading them is not timed, and waits for it."""

    def __init__(self) -> None:
        self.lectern = Lectern(CommandLine(discover=False), lambda _code: None)
        self.lectern.protocol.set_writer(self)  # type: ignore[arg-type]
        self._said: list[bytes] = []
        self._news = asyncio.Event()
        self._count = 0

    def write(self, data: bytes) -> None:
        """What the server's writer would do on a thread of its own."""
        body = data.partition(b"\r\n\r\n")[2]
        message = json.loads(body) if len(body) < _SMALL else {}
        if "method" in message and "id" in message:
            self._receive({"id": message["id"], "result": friendly(message)})
        self._said.append(body)
        self._news.set()

    def _receive(self, message: Json) -> None:
        whole = {"jsonrpc": "2.0", **message}
        asyncio.get_running_loop().call_soon(self.lectern.protocol.receive, whole)

    def notify(self, method: str, params: Json) -> None:
        """Hand a message over as the reading thread does."""
        self._receive({"method": method, "params": params})

    async def request(self, method: str, params: Json) -> bytes:
        """The answer."""
        self._count += 1
        self._receive({"id": self._count, "method": method, "params": params})
        return await self.until(b'{"jsonrpc":"2.0","id":%d,"result"' % self._count)

    async def until(self, beginning: bytes) -> bytes:
        """The next message that begins so; those before it are forgotten."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                while self._said:
                    message = self._said.pop(0)
                    if message.startswith(beginning):
                        return message
                self._news.clear()
                await self._news.wait()

    async def diagnostics_and_tokens(self) -> tuple[bytes, bytes]:
        """The next ones of the document."""
        found = await self.until(b'{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics"')
        where = {"textDocument": {"uri": _URI}}
        return found, await self.request("textDocument/semanticTokens/full", where)


def document(quick: bool) -> list[Row]:
    """A document of 1 MB, opened and typed in: many lines, and all of it in one."""
    return [*_lines(quick), *_line(quick)]


def _line(quick: bool) -> list[Row]:
    samples = [asyncio.run(_sample(one_line)) for _ in range(2 if quick else 4)]
    name = f"a single line of {BYTES:,} bytes and {MENTIONS:,} mentions"
    opened = [sample[0] for sample in samples]
    typed = [sample[1] for sample in samples]
    return [
        _row(f"{name}: diagnostics and tokens, event loop in all", opened, "total", TOTAL_LIMIT),
        _row(f"{name}: the same, longest stretch", opened, "longest", STRETCH_LIMIT),
        _row("one letter typed in that line: the same, longest stretch", typed, "longest", STRETCH_LIMIT),
    ]


def _lines(quick: bool) -> list[Row]:
    samples = [asyncio.run(_sample(big_document)) for _ in range(2 if quick else 6)]
    opened = [sample[0] for sample in samples]
    typed = [sample[1] for sample in samples]
    name = f"a document of {BYTES:,} bytes and {MENTIONS:,} mentions"
    return [
        _row(f"{name}: diagnostics and tokens, event loop in all", opened, "total", TOTAL_LIMIT),
        _row(f"{name}: the same, longest stretch", opened, "longest", STRETCH_LIMIT),
        _row(
            "one letter typed in it: diagnostics and tokens, event loop in all", typed, "total", TYPED_LIMIT
        ),
        _row("one letter typed in it: the same, longest stretch", typed, "longest", STRETCH_LIMIT),
        Row(
            "one letter typed in it, until its mentions are known again",
            min(s[2] for s in samples),
            None,
            "ms",
            20,
        ),
    ]


def _row(name: str, watches: list[Watch], what: str, limit: float) -> Row:
    """The best of all samples: other work on the machine can only make it longer."""
    return Row(name, min(getattr(watch, what) * 1000 for watch in watches), None, "ms", limit)


async def _sample(written: Callable[[list[str]], str]) -> tuple[Watch, Watch, float]:
    client = Client()
    await client.request("initialize", {"processId": None, "rootUri": None, "capabilities": CAPABILITIES})
    client.notify("initialized", {})
    hub = await asyncio.wait_for(client.lectern.hub(), _PATIENCE_SECONDS)
    resources = [Resource(entry["uri"], entry["name"]) for entry in map(descriptor, range(LISTED))]
    listing = ServerListing.of("bench", resources)
    hub.indexes = {"bench": await hub.offering.index(listing)}
    hub.catalogue = Catalogue({"bench": listing})
    text = written([resource.uri for resource in resources])
    try:
        item = {"uri": _URI, "languageId": "markdown", "version": 1, "text": text}
        with watching() as opened:
            client.notify("textDocument/didOpen", {"textDocument": item})
            answers = [await client.diagnostics_and_tokens()]
        client.notify("textDocument/didChange", _letter(text))
        seconds = await _found_again(client)
        with watching() as typed:
            client.notify("textDocument/didChange", _letter(text))
            answers.append(await client.diagnostics_and_tokens())
    finally:
        await client.lectern.on_shutdown()
        await client.lectern.engine.ended()
    for number, (diagnostics, tokens) in enumerate(answers):
        _check(diagnostics, tokens, MENTIONS // 20 + bool(number))
    return opened, typed, seconds * 1000


def _letter(text: str) -> Json:
    """A letter typed into a mention."""
    at = text.index("@bench:", len(text) // 3) + len("@bench:")
    place = {"line": text.count("\n", 0, at), "character": at - text.rfind("\n", 0, at) - 1}
    edit = {"range": {"start": place, "end": place}, "text": "x"}
    return {"textDocument": {"uri": _URI, "version": 2}, "contentChanges": [edit]}


async def _found_again(client: Client) -> float:
    """Seconds until all mentions are known again after the change that was sent last."""
    session = client.lectern.session
    before = session.documents[_URI].edition
    while session.documents[_URI].edition == before:
        await asyncio.sleep(0)
    began = thread_time()
    mentions = session.index(session.documents[_URI]).mentions()
    seconds = thread_time() - began
    if len(mentions) != MENTIONS:
        raise RuntimeError(f"{len(mentions)} mentions were found")
    return seconds


def _check(diagnostics: bytes, tokens: bytes, unknown: int) -> None:
    """A server that misses something is not a fast one."""
    found = json.loads(diagnostics)["params"]["diagnostics"]
    numbers = json.loads(tokens)["result"]["data"]
    if len(found) != unknown or len(numbers) != 2 * 5 * MENTIONS:
        raise RuntimeError(f"{len(found)} diagnostics and {len(numbers)} numbers were answered")


def big_document(uris: list[str]) -> str:
    """Markdown of lists, quotes, code spans and fences; every twentieth mention is of what is not listed."""
    blocks, length, number = [], 0, 0
    filler = "Some prose with `code` in it that goes on for a while, as prose does. "
    share = BYTES // MENTIONS
    while number < MENTIONS:
        uri = uris[number % len(uris)] if number % 20 else f"file:///nowhere/{number}"
        lead = ("", "- ", "> ", "")[number % 4]
        block = f"{lead}{filler}See @bench:{uri} for more.\n"
        if number % 10 == 0:
            block += "\n```python\nprint('@bench:file:///not/a/mention')\n```\n\n"
        number += 1
        fill = max(share * number - length - len(block), 0)
        lines = (filler * 2 + "\n") * (fill // (2 * len(filler)))
        blocks.append(lines + block)
        length += len(blocks[-1])
    return "".join(blocks)


def one_line(uris: list[str]) -> str:
    """As many mentions in as many bytes without a newline: what a machine wrote, or a very long paragraph."""
    filler, parts = "Some prose with `code` in it that goes on for a while, as prose does. ", []
    for number in range(MENTIONS):
        uri = uris[number % len(uris)] if number % 20 else f"file:///nowhere/{number}"
        part = f"See @bench:{uri} for more. "
        whole, rest = divmod(BYTES // MENTIONS - len(part), len(filler))
        parts.append(part + filler * whole + "." * (rest - 1) + " ")
    return "".join(parts)
