"""What one editor's session is made of: client, settings, open documents, hub; must not know any LSP method.

Before ``initialize`` is answered nothing here has loaded the hub: ``hub`` is None until the engine has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_lectern.lsp.capabilities import Client
from mcp_lectern.settings import Settings
from mcp_lectern.text.document import Document
from mcp_lectern.text.encodings import Encoding

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.hub.opened import Opened
    from mcp_lectern.mentions.model import Mention

SCHEME = "lectern:"
_MARKDOWN = frozenset({"markdown", "prompt", "instructions", "chatagent", "skill"})
"""Language ids whose fences and code spans are code."""


class Session:
    """The state that handlers and commands share."""

    def __init__(self) -> None:
        self.client = Client()
        self.encoding: Encoding = "utf-16"
        self.settings = Settings()
        self.folders: list[Path] = []
        self.hub: Hub | None = None
        self.opened: Opened | None = None
        self.served: set[str] = set()
        self.documents: dict[str, Document] = {}
        self._mentions: dict[str, tuple[int, object, list[Mention]]] = {}

    def open(self, document: Document) -> None:
        """The client owns this document's text from now on."""
        self.documents[document.uri] = document
        self._mentions.pop(document.uri, None)

    def close(self, uri: str) -> Document | None:
        """The client gives the document up."""
        self._mentions.pop(uri, None)
        return self.documents.pop(uri, None)

    def reconsider(self) -> None:
        """The settings have changed: where mentions are alive is found out again."""
        self._mentions.clear()

    def living(self, uri: str) -> Document | None:
        """The open document, if mentions in it are alive in full (completion, diagnostics)."""
        document = self.documents.get(uri)
        if document is None or uri.startswith(SCHEME):
            return None
        return document if self._speaks(document) else None

    def readable(self, uri: str) -> Document | None:
        """The open document, if its mentions may be followed: living ones and ``lectern:`` documents."""
        document = self.documents.get(uri)
        if document is not None and uri.startswith(SCHEME):
            return document
        return self.living(uri)

    def _speaks(self, document: Document) -> bool:
        languages = self.settings.languages
        return "*" in languages or document.language_id in languages

    def all_living(self) -> Iterator[Document]:
        """Every open document in which mentions are alive."""
        return (document for uri in list(self.documents) if (document := self.living(uri)) is not None)

    def mentions(self, document: Document, catalogue: Catalogue) -> list[Mention]:
        """The mentions of a document under this snapshot, code left out where the settings say so."""
        known = self._mentions.get(document.uri)
        if known is not None and known[0] == document.version and known[1] is catalogue:
            return known[2]
        found = self._parse(document, catalogue)
        self._mentions[document.uri] = (document.version, catalogue, found)
        return found

    def _parse(self, document: Document, catalogue: Catalogue) -> list[Mention]:
        from mcp_lectern.mentions.parser import parse

        found = parse(document.text, catalogue.listings, _listed(catalogue))
        zones = self.dead_zones(document)
        return [mention for mention in found if not _inside(mention.start, zones)] if zones else found

    def dead_zones(self, document: Document) -> Sequence[tuple[int, int]]:
        """The spans of a document that are code, and so hold no mention."""
        if self.settings.code_fences or document.language_id not in _MARKDOWN:
            return ()
        from mcp_lectern.mentions.fences import dead_zones

        return dead_zones(document.text)

    def is_code(self, document: Document, offset: int) -> bool:
        """Whether the offset lies in code."""
        return _inside(offset, self.dead_zones(document))


def _inside(offset: int, zones: Sequence[tuple[int, int]]) -> bool:
    from bisect import bisect_right

    at = bisect_right(zones, (offset, float("inf"))) - 1
    return at >= 0 and zones[at][0] <= offset < zones[at][1]


def _listed(catalogue: Catalogue) -> Callable[[str | None, str], bool]:
    def listed(server: str | None, uri: str) -> bool:
        if server is None:
            return any(uri in listing.by_uri for listing in catalogue.listings.values())
        return catalogue.resource(server, uri) is not None

    return listed
