"""``completion/complete``: what is sent and what comes back; must not know who completes what.

Specification 2026-07-28, server/utilities/completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Any

COMPLETE: Final = "completion/complete"
MOST_VALUES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Completion:
    """Values as the server wrote them, unencoded, best first. ``has_more``: these are not all."""

    values: tuple[str, ...] = ()
    has_more: bool = False


def completion_params(
    uri_template: str, argument: str, value: str, arguments: Mapping[str, str]
) -> dict[str, Json]:
    """The parameters: the template byte for byte, ``value`` decoded, ``arguments`` those chosen before."""
    params: dict[str, Json] = {
        "ref": {"type": "ref/resource", "uri": uri_template},
        "argument": {"name": argument, "value": value},
    }
    return {**params, "context": {"arguments": dict(arguments)}} if arguments else params


def completion_of(result: Mapping[str, Json]) -> Completion | None:
    """The values that are text; None if the result holds no completion at all.

    A list longer than the specification's 100 is taken; ``total`` counts only where it exceeds what came.
    """
    body = result.get("completion")
    if not isinstance(body, dict):
        return None
    listed = body.get("values")
    listed = listed if isinstance(listed, list) else []
    values = tuple(dict.fromkeys(value for value in listed if isinstance(value, str)))
    total = body.get("total")
    counted = isinstance(total, (int, float)) and not isinstance(total, bool) and total > len(listed)
    has_more = body.get("hasMore") is True or counted or len(values) > MOST_VALUES
    return Completion(values[:MOST_VALUES], has_more)
