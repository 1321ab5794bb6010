"""Finds the mentions in a text; must not know what they resolve to, nor editors.

Every step looks at a stretch of text once or at a bounded piece of it, so that the worst document costs
time in proportion to its length. No other line (ended by a line feed or a carriage return) decides what is a
mention, and of its own line only what the mention itself, or its name, may reach.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from mcp_lectern.mentions.grammar import (
    BREAKS_NAME,
    HARD_STOP,
    LINE_END,
    NAME_LIMIT,
    QUOTED,
    QUOTED_COLON,
    SOFT,
    STARTS,
    STOP,
    claims_server,
    looks_like_uri,
    prose_begins,
    trimmed,
    unescape,
)
from mcp_lectern.mentions.model import Mention

Listed = Callable[[str | None, str], bool]
"""Whether that server lists that URI; for None, whether any server lists it."""

_TAIL_LIMIT = 32
"""Prose characters with which a listed URI may end; more are prose."""
_PLAIN_RUN_LIMIT = 1024
"""Code points in a listed URI without a scheme that is mentioned unqualified and bare."""
_LOOKS = 256
"""Beginnings in one run of text that are looked at, and the last one."""
_WORD = 16 * NAME_LIMIT
"""Code points behind a run in which the end of the word is looked for; no more of it than a name counts."""
_PLAIN_TRIES = 4
"""Beginnings in one run of text that are looked up as such a URI."""


def parse(
    text: str, servers: Container[str], listed: Listed, start: int = 0, end: int | None = None
) -> list[Mention]:
    """The mentions that begin and end in ``text[start:end]``, in order; they do not overlap.

    ``servers`` holds the configured names. An unqualified mention is among them if it looks like a URI
    (``memo://a``) or is listed; whether it means anything is for the caller to find out.
    """
    end = len(text) if end is None else min(end, len(text))
    return _Reader(text, servers, listed, end).mentions(start, end)


def parse_part(
    text: str, servers: Container[str], listed: Listed, start: int, stop: int
) -> tuple[list[Mention], int]:
    """The mentions that begin in ``text[start:stop]``, and how far the text was looked at for them.

    ``stop`` must be an end of the text, or stand behind what ends a run. A mention, or a part of a name, that
    began before ``start`` must be no part of what is read: parts are read one after the other.
    """
    reader = _Reader(text, servers, listed, len(text))
    return reader.mentions(start, stop), reader.looked_at


class _Reader:
    """One pass over one text. It remembers where a stretch ends, since hostile text is all beginnings.

    ``looked_at`` is the end of what was looked at, where that is behind what was to be read.
    """

    __slots__ = (
        "_colon",
        "_end",
        "_listed",
        "_looks",
        "_reserve",
        "_run_end",
        "_servers",
        "_text",
        "_tries",
        "_word_end",
        "looked_at",
    )

    def __init__(self, text: str, servers: Container[str], listed: Listed, end: int) -> None:
        self._text = text
        self._servers = servers
        self._listed = listed
        self._end = end
        self._run_end = -1
        self._word_end = -1
        self._reserve = 0
        self._colon = -1
        self._tries = 0
        self._looks = 0
        self.looked_at = 0

    def mentions(self, start: int, stop: int) -> list[Mention]:
        found: list[Mention] = []
        text, position = self._text, max(start, 0)
        self.looked_at = stop
        while match := STARTS.search(text, position, stop):
            at = match.start()
            quoted = text.startswith('"', at + 1, self._end)
            mention = self._quoted(at) if quoted else self._bare(at)
            if mention:
                found.append(mention)
                position = mention.end
            else:
                position = at + 2 if quoted else self._next_worth_a_look(at)
        return found

    def _quoted(self, at: int) -> Mention | None:
        body = QUOTED.match(self._text, at + 1, self._end)
        if body is None:
            # Of such there is one on a line: the quote of any later one would have ended it.
            line_end = LINE_END.search(self._text, at, self._end)
            self.looked_at = max(self.looked_at, line_end.start() if line_end else self._end)
            return None
        begin, end = body.span(1)
        self.looked_at = max(self.looked_at, end + 1)
        match = QUOTED_COLON.match(self._text, begin, end)
        if match is None:
            return self._without_server(at, unescape(body[1]), (begin, end), end, quoted=True)
        colon = match.end() - 1
        name = unescape(self._text[begin:colon])
        if name in self._servers:
            uri = unescape(self._text[colon + 1 : end])
            return Mention(name, uri, at, end + 1, True, (colon + 1, end), (begin, colon))
        return self._without_server(at, unescape(body[1]), (begin, end), colon, quoted=True)

    def _bare(self, at: int) -> Mention | None:
        begin = at + 1
        run_end, colon = self._end_of_run(begin), self._next_colon(begin)
        if self._word_end > self.looked_at:
            self.looked_at = max(self.looked_at, min(self._word_end, begin + NAME_LIMIT + 2))
        if colon < self._word_end and not self._text.startswith("//", colon + 1, self._end):
            name = self._name(begin, colon)
            if name is not None and (mention := self._qualified(at, name, colon + 1, run_end)):
                return mention
        return self._unqualified(at, begin, run_end, colon)

    def _name(self, begin: int, colon: int) -> str | None:
        """The configured server's name that ends at ``colon``; it may hold what would end a bare URI."""
        if not 0 < colon - begin <= NAME_LIMIT:
            return None
        name = self._text[begin:colon]
        return name if name in self._servers and not BREAKS_NAME.search(name) else None

    def _qualified(self, at: int, name: str, begin: int, run_end: int) -> Mention | None:
        if run_end < begin:
            match = STOP.search(self._text, begin, self._end)
            run_end = match.start() if match else self._end
            self.looked_at = max(self.looked_at, run_end)
        uri = self._without_prose(name, self._text[begin:run_end])
        end = begin + len(uri)
        return Mention(name, uri, at, end, False, (begin, end), (at + 1, begin - 1)) if uri else None

    def _unqualified(self, at: int, begin: int, run_end: int, colon: int) -> Mention | None:
        if not self._may_be_uri(begin, run_end, colon):
            return None
        uri = self._without_prose(None, self._text[begin:run_end])
        end = begin + len(uri)
        return self._without_server(at, uri, (begin, end), colon, quoted=False)

    def _without_server(
        self, at: int, uri: str, span: tuple[int, int], colon: int, *, quoted: bool
    ) -> Mention | None:
        """The unqualified mention of ``uri``, if it reads like one or is listed."""
        claimed = self._claims(span[0], colon, span[1], quoted=quoted)
        if not claimed and not looks_like_uri(uri) and not (uri and self._listed(None, uri)):
            return None
        name = self._text[span[0] : colon] if claimed else None
        return Mention(
            None,
            uri,
            at,
            span[1] + quoted,
            quoted,
            span,
            claimed=unescape(name) if name and quoted else name,
            claimed_span=(span[0], colon) if claimed else None,
        )

    def _claims(self, begin: int, colon: int, end: int, *, quoted: bool = False) -> bool:
        """Whether a server that nobody configured is named before ``colon``."""
        if not 0 < colon - begin <= NAME_LIMIT or colon >= end or "@" in self._text[begin:colon]:
            return False  # of "@bob,@docs:memo://a" the second "@" begins the mention
        if not quoted and (self._text[max(begin - 2, 0)] == "/" or "/" in self._text[begin:colon]):
            return False  # "@scope/package:build:production", and a part of an address
        return claims_server(self._text, colon + 1, end)

    def _may_be_uri(self, begin: int, run_end: int, colon: int) -> bool:
        """Whether the run is worth a copy: it reads like one, or it is short enough to be looked up."""
        if looks_like_uri(self._text, begin, run_end) or self._claims(begin, colon, run_end):
            return True
        self._tries += 1
        return begin < run_end and self._tries <= _PLAIN_TRIES and run_end - begin <= _PLAIN_RUN_LIMIT

    def _without_prose(self, server: str | None, run: str) -> str:
        """The longest listed part of ``run`` that leaves only prose behind, else the one that reads well."""
        stem = prose_begins(run)
        for length in range(min(len(run), stem + _TAIL_LIMIT), max(stem, 1) - 1, -1):
            if self._listed(server, run[:length]):
                return run[:length]
        return run[: trimmed(run)]

    def _end_of_run(self, begin: int) -> int:
        """Where the stretch ends that a bare URI beginning here may fill."""
        if begin > self._run_end:
            match = STOP.search(self._text, begin, self._end)
            self._run_end = match.start() if match else self._end
            self._tries = self._looks = 0
        return self._run_end

    def _next_colon(self, begin: int) -> int:
        """The next colon; the end of the word where there is none. A name may hold what ends a URI."""
        if begin > self._word_end - self._reserve:
            self._reserve, self._word_end = 0, self._run_end
            if self._text[self._run_end : self._run_end + 1] in SOFT:
                end = min(self._run_end + _WORD, self._end)
                match = HARD_STOP.search(self._text, self._run_end, end)
                self._word_end = match.start() if match else end
                self._reserve = 0 if match or end == self._end else NAME_LIMIT + 1
            self._colon = -1
        if begin > self._colon:
            colon = self._text.find(":", begin, self._word_end)
            self._colon = self._word_end if colon < 0 else colon
        return self._colon

    def _next_worth_a_look(self, at: int) -> int:
        """Where to go on behind an ``@`` that began nothing: of very many in one run the last one counts."""
        self._looks += 1
        if self._looks <= _LOOKS:
            return at + 1
        # It may be that of a quoted mention, which the run's end begins.
        last = self._text.rfind("@", at + 1, self._run_end)
        return self._run_end if last < 0 else last
