"""Finds the mentions of one resource in open documents and in files; must not know which request asks.

Files are read and searched in a thread. What it finds is handed over piece by piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_lectern.lsp.looking import looked_through

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.features.references import Named
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.lsp.workspace.search import Search
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document
    from mcp_lectern.text.encodings import Encoding

Ranges = list[dict[str, Any]]
Tell = Callable[[str, Ranges], object]
"""Told of a document and the ranges of mentions in it."""

MOST = 10_000
"""Mentions of one answer."""


async def in_document(session: Session, uri: str, wanted: Named) -> Ranges:
    """The mentions in an open document in which mentions are alive."""

    def look(
        document: Document, catalogue: Catalogue, mentions: list[Mention]
    ) -> Iterator[dict[str, Any] | None]:
        from mcp_lectern.features.references import mentions_of
        from mcp_lectern.lsp.to_proto.ranges import Ranges as Walk

        walk = Walk(document, session.encoding)
        for mention in mentions_of(session.resolutions(catalogue), wanted, mentions):
            yield None if mention is None else walk.of(mention.start, mention.end)

    return await looked_through(session, lambda: session.living(uri), look) or []


async def in_files(
    session: Session, wanted: Named, tell: Tell, look_at: Callable[[Search], None]
) -> str | None:
    """The mentions in the workspace's files that are not open; a sentence where the search ended early.

    ``look_at`` is shown the search every now and then. Both are called on the event loop.
    """
    from mcp_lectern.lsp.from_proto import folder_path
    from mcp_lectern.lsp.workspace.languages import language_of
    from mcp_lectern.lsp.workspace.search import Search

    languages = session.settings.languages
    search = Search(list(session.folders), lambda name: language_of(name, languages) is not None)
    opened = {path for uri in session.documents if (path := folder_path(uri)) is not None}
    task = _Task(session, wanted, opened, search)
    loop = asyncio.get_running_loop()
    try:
        await asyncio.to_thread(
            task.run,
            lambda uri, ranges: loop.call_soon_threadsafe(tell, uri, ranges),
            lambda: loop.call_soon_threadsafe(look_at, search),
        )
    finally:
        search.stop()
    return search.cut


class _Task:
    """What the thread works with: nothing of it is shared with the event loop but immutable data."""

    def __init__(self, session: Session, wanted: Named, opened: set[Path], search: Search) -> None:
        from mcp_lectern.catalogue.model import Catalogue
        from mcp_lectern.catalogue.resolutions import Resolutions

        self._resolutions = Resolutions(session.hub.catalogue if session.hub else Catalogue())
        self._languages = session.settings.languages
        self._has_code = session.has_code
        self._encoding: Encoding = session.encoding
        self._wanted = wanted
        self._opened = opened
        self._search = search

    def run(self, tell: Tell, look_at: Callable[[], object]) -> None:
        from mcp_lectern.features.references import may_mention

        found = 0
        for path, text in self._search.texts():
            if self._search.read % 200 == 0:
                look_at()
            if path in self._opened or not may_mention(text, self._wanted):
                continue
            ranges = self._ranges(path, text)
            if ranges:
                tell(path.as_uri(), ranges)
            found += len(ranges)
            if found >= MOST:
                self._search.cut = f"The search ended after {found} mentions."
                return

    def _ranges(self, path: Path, text: str) -> Ranges:
        from mcp_lectern.features.references import mentions_of
        from mcp_lectern.lsp.session import listed_in
        from mcp_lectern.lsp.to_proto.ranges import Ranges as Walk
        from mcp_lectern.lsp.workspace.languages import language_of
        from mcp_lectern.mentions.incremental import MentionIndex
        from mcp_lectern.text.document import Document

        catalogue = self._resolutions.catalogue
        language = language_of(path.name, self._languages) or ""
        document = Document(path.as_uri(), language, 0, text)
        index = MentionIndex(document.text)
        index.read_as(catalogue.listings, listed_in(catalogue), catalogue, markdown=self._has_code(language))
        walk = Walk(document, self._encoding)
        found = mentions_of(self._resolutions, self._wanted, index.mentions())
        return [walk.of(mention.start, mention.end) for mention in found if mention is not None]
