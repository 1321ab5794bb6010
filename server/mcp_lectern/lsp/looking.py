"""Looking through all mentions of a document without holding the event loop; must not know what for.

The document or the catalogue may change meanwhile: then it is looked through again, from what is true now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from mcp_lectern.lsp.unhurried import collected

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.lsp.session import Session
    from mcp_lectern.mentions.incremental import MentionIndex
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document

T = TypeVar("T")
Look = Callable[["Document", "Catalogue", "list[Mention]"], Iterable[T | None]]


async def looked_through(
    session: Session, document_of: Callable[[], Document | None], look: Look[T]
) -> list[T] | None:
    """What ``look`` yields apart from None; None where there is no such document, or no hub yet.

    ``document_of`` is asked again after every pause that saw a change.
    """
    while (document := document_of()) is not None and (hub := session.hub) is not None:
        catalogue, edition = hub.catalogue, document.edition

        def still(
            document: Document = document, edition: int = edition, before: Catalogue = catalogue
        ) -> bool:
            return document_of() is document and document.edition == edition and hub.catalogue is before

        index = session.index(document)
        # To cut a long text into pieces takes a moment of its own.
        await asyncio.sleep(0)
        found = None if not still() else await collected(_steps(index, document, catalogue, look), still)
        if found is not None:
            return found
    return None


def _steps(
    index: MentionIndex, document: Document, catalogue: Catalogue, look: Look[T]
) -> Iterator[T | None]:
    yield from index.steps()
    yield None
    mentions = index.mentions()
    yield None
    yield from look(document, catalogue, mentions)
