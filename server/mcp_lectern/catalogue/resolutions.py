"""What the mentions of documents mean in one snapshot, each found out once; must not know the documents."""

from __future__ import annotations

from mcp_lectern.catalogue.model import Catalogue
from mcp_lectern.catalogue.resolve import Resolution, UnknownResource, UnknownServer, resolve
from mcp_lectern.mentions.model import Mention

_MOST = 20_000
"""So many are remembered; whoever types leaves one behind with each letter."""


class Resolutions:
    """Good for as long as ``catalogue`` is the snapshot of the day."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._known: dict[tuple[str | None, str, str | None], tuple[bool, Resolution]] = {}

    def of(self, mention: Mention, *, suggest: bool = False) -> Resolution:
        """What ``resolve`` says; with ``suggest`` also what may have been meant, which takes a moment."""
        key = (mention.server, mention.uri, mention.claimed)
        known = self._known.get(key)
        if known is not None and (known[0] or not suggest):
            return known[1]
        if len(self._known) >= _MOST:
            self._known.clear()
        found = resolve(self.catalogue, mention, suggest=suggest)
        whole = suggest or not isinstance(found, UnknownResource | UnknownServer)
        self._known[key] = (whole, found)
        return found
