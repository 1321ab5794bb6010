"""Values for the variable that a half-typed mention stands in; must not know how a server is asked for them.

Which values there are is a question to a server. What is known of its answer is handed in; what would have to
be asked is handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_lectern.catalogue.model import ServerListing
from mcp_lectern.catalogue.template import Template
from mcp_lectern.catalogue.template_cursor import Place, place_of
from mcp_lectern.catalogue.template_values import MOST_STEPS, Work
from mcp_lectern.mcp.wire.resources import ResourceTemplate
from mcp_lectern.mentions.model import HalfTyped

MOST_STANDINGS = 4
"""Templates that one half-typed mention is read as; each may cost a request."""
_LOOKED_AT = 1_000
"""Templates of one server that are tried."""

_MOST_STEPS = 2 * MOST_STEPS
"""For one letter that is typed and all templates of one server."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a server is asked (specification, server/utilities/completion).

    ``uri_template`` is the template byte for byte, ``value`` the decoded beginning, ``arguments`` the names
    and decoded values of the variables in front.
    """

    server: str
    uri_template: str
    argument: str
    value: str
    arguments: tuple[tuple[str, str], ...] = ()


Proposals = Callable[[Question], Sequence[str]]
"""The values that are known for a question; none where nobody has asked it yet."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A template that the mention may become, and the place in it where the cursor stands."""

    server: str
    entry: ResourceTemplate
    place: Place

    @property
    def question(self) -> Question | None:
        """What to ask; None where an earlier variable of the same name has settled the value."""
        place = self.place
        if place.variable.name in place.arguments:
            return None
        arguments = tuple(
            (name, value if isinstance(value, str) else ",".join(value))
            for name, value in place.arguments.items()
            if not isinstance(value, Mapping)
        )
        return Question(self.server, self.entry.uri_template, place.variable.name, place.beginning, arguments)

    def values(self, proposals: Proposals) -> Iterator[str]:
        """Each value that can be inserted, once; an empty one would insert nothing."""
        question = self.question
        if question is None:
            settled = self.place.arguments[self.place.variable.name]
            if isinstance(settled, str):
                yield settled
            return
        for value in dict.fromkeys(proposals(question)):
            if value and value.startswith(self.place.known):
                yield value


def standings(half: HalfTyped, offered: Iterable[ServerListing]) -> list[Standing]:
    """The offered templates in a variable of which the cursor stands; several may fit, and each is one."""
    asked = (listing for listing in offered if half.server in (None, listing.server))
    found = (standing for listing in asked for standing in _of_server(half, listing))
    return list(islice(found, MOST_STANDINGS))


def _of_server(half: HalfTyped, listing: ServerListing) -> Iterator[Standing]:
    work = Work(_MOST_STEPS)
    for entry in listing.templates[:_LOOKED_AT]:
        template = Template.parse(entry.uri_template)
        # Where nothing of a template is typed it is offered as itself, and prose must not begin one.
        if isinstance(template, Template) and half.rest and (half.server or ":" in template.start):
            place = place_of(template, half.rest, work)
            if place is not None:
                yield Standing(listing.server, entry, place)
