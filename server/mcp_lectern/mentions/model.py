"""What a mention is; must not know how it is found or what it resolves to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention in a text. ``start`` and ``end`` are offsets in code points, ``start`` at the ``@``.

    ``server`` is None where the mention is unqualified. ``server_span`` and ``uri_span`` are the
    offsets of the two parts as written (escapes included), ``server_span`` None where unqualified.

    ``claimed`` is set where an unqualified mention reads like one of a server that is not configured
    (``@nosuch:memo://a``): that server's name, with its offsets in ``claimed_span``. Only then may an
    unknown server be reported, and only if nobody lists ``uri``.
    """

    server: str | None
    uri: str
    start: int
    end: int
    quoted: bool
    uri_span: tuple[int, int]
    server_span: tuple[int, int] | None = None
    claimed: str | None = None
    claimed_span: tuple[int, int] | None = None

    def moved(self, by: int) -> Mention:
        """The same mention, so many code points further on."""
        if not by:
            return self
        return Mention(
            self.server,
            self.uri,
            self.start + by,
            self.end + by,
            self.quoted,
            (self.uri_span[0] + by, self.uri_span[1] + by),
            self.server_span and (self.server_span[0] + by, self.server_span[1] + by),
            self.claimed,
            self.claimed_span and (self.claimed_span[0] + by, self.claimed_span[1] + by),
        )


@dataclass(frozen=True, slots=True)
class HalfTyped:
    """The mention that the cursor stands in. ``query`` is its text after ``@``, quotes and escapes undone.

    ``start`` .. ``end`` is what a completion's edit replaces (``end`` may lie behind the cursor: the rest of
    the mention, or a quote that the editor closed by itself). ``server`` and ``rest`` split the query where
    it names a configured server.
    """

    query: str
    start: int
    end: int
    quoted: bool
    server: str | None
    rest: str
