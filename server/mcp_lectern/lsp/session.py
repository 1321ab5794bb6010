"""What one editor's session is made of: client, settings, open documents, hub; must not know any LSP method.

Before ``initialize`` is answered nothing here has loaded the hub: ``hub`` is None until the engine has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_lectern.lsp.capabilities import Client
from mcp_lectern.settings import Settings
from mcp_lectern.text.document import Document
from mcp_lectern.text.encodings import Encoding

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.catalogue.recency import Key, Recency
    from mcp_lectern.catalogue.resolutions import Resolutions
    from mcp_lectern.features.completion import CompletionAnswer
    from mcp_lectern.hub.hub import Hub
    from mcp_lectern.hub.opened import Opened
    from mcp_lectern.mentions.incremental import MentionIndex

SCHEME = "lectern:"
_MOST_ACCEPTED = 50
_MARKDOWN = frozenset({"markdown", "prompt", "instructions", "chatagent", "skill"})
"""Language ids whose fences and code spans are code."""


class Session:
    """The state that handlers and commands share.

    ``served`` are the ``lectern:`` documents that were answered or may be asked for, ``shown`` those in
    front of the person, and ``unasked`` those that a question stands behind which nobody was asked.
    """

    def __init__(self) -> None:
        self.client = Client()
        self.encoding: Encoding = "utf-16"
        self.settings = Settings()
        self.folders: list[Path] = []
        self.hub: Hub | None = None
        self.opened: Opened | None = None
        self.served: set[str] = set()
        self.shown: frozenset[str] = frozenset()
        self.unasked: dict[str, None] = {}
        self.documents: dict[str, Document] = {}
        self._indexes: dict[str, MentionIndex] = {}
        self._resolutions: Resolutions | None = None
        self._accepted: dict[Key, None] = {}
        self._recency: Recency | None = None
        self._offer: tuple[Document, int, dict[str, Key]] | None = None

    def open(self, document: Document) -> None:
        """The client owns this document's text from now on."""
        self.documents[document.uri] = document
        self._indexes.pop(document.uri, None)

    def close(self, uri: str) -> Document | None:
        """The client gives the document up."""
        self._indexes.pop(uri, None)
        self.unasked.pop(uri, None)
        return self.documents.pop(uri, None)

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

    def index(self, document: Document) -> MentionIndex:
        """The mentions of an open document under what is configured and listed now."""
        from mcp_lectern.mentions.incremental import MentionIndex

        index = self._indexes.get(document.uri)
        if index is None:
            index = self._indexes[document.uri] = MentionIndex(document.text)
            document.watch = index.replaced
        catalogue = self.hub.catalogue if self.hub else None
        listings = catalogue.listings if catalogue else ()
        listed = listed_in(catalogue) if catalogue else _nothing
        index.read_as(listings, listed, catalogue, markdown=self.has_code(document.language_id))
        return index

    def resolutions(self, catalogue: Catalogue) -> Resolutions:
        """What mentions mean in this snapshot, as far as somebody has asked already."""
        from mcp_lectern.catalogue.resolutions import Resolutions

        known = self._resolutions
        if known is None or known.catalogue is not catalogue:
            known = self._resolutions = Resolutions(catalogue)
        return known

    @property
    def recency(self) -> Recency:
        """What was accepted or opened last."""
        from mcp_lectern.catalogue.recency import MOST, Recency

        opened = self.opened.latest(MOST) if self.opened else []
        latest = tuple(dict.fromkeys((*reversed(self._accepted), *opened)))[:MOST]
        if self._recency is None or self._recency.latest != latest:
            self._recency = Recency(latest)
        return self._recency

    def offered(self, document: Document, answer: CompletionAnswer) -> None:
        """What may be accepted next in this document."""
        kinds = {item.insert_text: (item.server, item.uri) for item in answer.items if item.accepts_resource}
        self._offer = (document, answer.start, kinds) if kinds else None

    def edited(self, document: Document) -> None:
        """The document has changed: if something that was offered stands there now, it was accepted."""
        if self._offer is None or self._offer[0] is not document:
            return
        _, start, offered = self._offer
        there = [text for text in offered if document.text.startswith(text, start)]
        if there:
            key = offered[max(there, key=len)]
            self._accepted.pop(key, None)
            self._accepted[key] = None
            for old in list(self._accepted)[:-_MOST_ACCEPTED]:
                del self._accepted[old]
            self._offer = None

    @property
    def hidden(self) -> frozenset[str]:
        """The servers that are not to be offered."""
        filters = self.settings.filters
        return frozenset(name for name in filters if filters[name].hide) if filters else frozenset()

    def has_code(self, language_id: str) -> bool:
        """Whether what is code in a document of this language holds no mentions."""
        return language_id in _MARKDOWN and not self.settings.code_fences


def _nothing(_server: str | None, _uri: str) -> bool:
    return False


def listed_in(catalogue: Catalogue) -> Callable[[str | None, str], bool]:
    """What the mention grammar asks: whether a server, or for None any, lists a URI."""

    def listed(server: str | None, uri: str) -> bool:
        if server is None:
            return any(uri in listing.by_uri for listing in catalogue.listings.values())
        listing = catalogue.listings.get(server)
        return listing is not None and uri in listing.by_uri

    return listed
