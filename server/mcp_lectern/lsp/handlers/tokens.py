"""``textDocument/semanticTokens``: the parts of mentions, whole, for a range, or as a difference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from mcp_lectern.catalogue.model import Catalogue
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mentions.model import Mention
    from mcp_lectern.text.document import Document


def register(lectern: Lectern) -> None:
    """Offer semantic tokens."""
    legend = types.SemanticTokensLegend(token_types=["namespace", "string"], token_modifiers=["unresolved"])
    answers = Answers(lectern)

    @lectern.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    async def full(params: types.SemanticTokensParams) -> dict[str, Any] | None:
        return await answers.full(params.text_document.uri)

    @lectern.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
    async def delta(params: types.SemanticTokensDeltaParams) -> dict[str, Any] | None:
        return await answers.delta(params.text_document.uri, params.previous_result_id)

    @lectern.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    async def part(params: types.SemanticTokensRangeParams) -> dict[str, Any] | None:
        data = await tokens_of(lectern, params.text_document.uri, params.range)
        return None if data is None else {"data": data}


class Answers:
    """Remembers the last answer for each open document, to tell the next one as a difference."""

    def __init__(self, lectern: Lectern) -> None:
        self._lectern = lectern
        self._numbers = count(1)
        self._last: dict[str, tuple[str, list[int]]] = {}

    async def full(self, uri: str) -> dict[str, Any] | None:
        """All tokens, with an id; None where nothing can be said (yet)."""
        data = await tokens_of(self._lectern, uri)
        return None if data is None else {"resultId": self._remembered(uri, data), "data": data}

    async def delta(self, uri: str, previous: str) -> dict[str, Any] | None:
        """What has changed since the answer with the id ``previous``, or all if that is not at hand."""
        from mcp_lectern.lsp.to_proto.tokens import edits

        data = await tokens_of(self._lectern, uri)
        if data is None:
            return None
        known, before = self._last.get(uri, ("", []))
        number = self._remembered(uri, data)
        if known != previous:
            return {"resultId": number, "data": data}
        return {"resultId": number, "edits": edits(before, data)}

    def _remembered(self, uri: str, data: list[int]) -> str:
        for closed in [other for other in self._last if other not in self._lectern.session.documents]:
            del self._last[closed]
        number = str(next(self._numbers))
        self._last[uri] = (number, data)
        return number


async def tokens_of(lectern: Lectern, uri: str, within: types.Range | None = None) -> list[int] | None:
    """The numbers of a document's tokens, or of those that begin in a range."""
    from mcp_lectern.lsp.looking import looked_through

    await lectern.loaded(uri)
    session = lectern.session

    def look(
        document: Document, catalogue: Catalogue, mentions: list[Mention]
    ) -> Iterator[tuple[int, ...] | None]:
        from mcp_lectern.features.tokens import tokens
        from mcp_lectern.lsp.to_proto.tokens import encoded

        if within is not None:
            start, end = (
                document.offset(place.line, place.character, session.encoding)
                for place in (within.start, within.end)
            )
            mentions = [one for one in mentions if one.end > start and one.start < end]
        found = tokens(session.resolutions(catalogue), mentions)
        yield from encoded(found, document, session.encoding)

    found = await looked_through(session, lambda: session.living(uri), look)
    return None if found is None else list(chain.from_iterable(found))
