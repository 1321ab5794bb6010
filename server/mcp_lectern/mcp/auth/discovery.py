"""From a refused request to an authorization server that may be used; asks documents, must not send tokens.

Specification 2026-07-28, basic/authorization/authorization-server-discovery; for servers older than protected
resource metadata, revision 2025-03-26. What is looked for where is decided in ``addresses``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import httpx

from mcp_lectern.mcp.auth import addresses
from mcp_lectern.mcp.auth.challenge import Challenge
from mcp_lectern.mcp.auth.exchange import Reply, UnreachableError, get
from mcp_lectern.mcp.auth.metadata import (
    UnusableError,
    assumed_metadata,
    resource_metadata,
    server_metadata,
)
from mcp_lectern.mcp.auth.model import Found, ResourceMetadata, ServerMetadata, Step

Metadata = TypeVar("Metadata", ResourceMetadata, ServerMetadata)

_NOTHING_THERE = frozenset({404, 405, 410})


@dataclass(slots=True)
class _Search:
    """What was found where, for the message of a search that found nothing."""

    outcomes: list[str] = field(default_factory=list)
    nothing_there: bool = True

    def missed(self, url: str, reply: Reply) -> None:
        self.outcomes.append(f"{url}: {reply.outcome}")
        self.nothing_there = self.nothing_there and reply.status in _NOTHING_THERE

    def failed(self, url: str, reason: Exception) -> None:
        self.outcomes.append(f"{url}: {reason}")
        self.nothing_there = False

    @property
    def report(self) -> str:
        return "; ".join(self.outcomes) or "there is nowhere to look"


async def discover(
    client: httpx.AsyncClient,
    *,
    server: str,
    server_url: str,
    challenge: Challenge,
    issuer: str | None = None,
) -> Found:
    """Where to sign in for the server at this address. ``issuer`` is the user's own choice, if any.

    Raises SignInFailed, which names the step and every address that was tried.
    """
    step = Step(server, "looking for its resource metadata")
    search = _Search()
    resource = await _resource(client, step, server_url, challenge, search)
    if resource is not None:
        chosen = _choose(step, resource, issuer)
        metadata = await _server(client, server, chosen, server_url)
        return Found(resource.resource, metadata, resource.scopes)
    if issuer is not None:
        return Found(addresses.canonical(server_url), await _server(client, server, issuer, server_url))
    base = addresses.legacy_issuer(server_url)
    if base is None or not search.nothing_there:
        raise step.failed(f"{search.report}.")
    return Found(addresses.canonical(server_url), await _older(client, server, base, server_url, challenge))


async def _resource(
    client: httpx.AsyncClient, step: Step, server_url: str, challenge: Challenge, search: _Search
) -> ResourceMetadata | None:
    for url in addresses.resource_documents(server_url, challenge.resource_metadata):
        objection = addresses.objection(url, server_url=server_url)
        if objection:
            search.failed(url, UnusableError(objection))
            continue
        found = await _document(client, step, url, search, partial(resource_metadata, server_url=server_url))
        if found is not None:
            return found
    return None


def _choose(step: Step, resource: ResourceMetadata, issuer: str | None) -> str:
    """The user's issuer, which the server must name too, or else the first that the server names."""
    if issuer is None:
        return resource.authorization_servers[0]
    if issuer not in resource.authorization_servers:
        named = ", ".join(resource.authorization_servers[:5])
        raise step.failed(
            f"the server names {named}, and “oauth” another issuer, {issuer}: correct it there."
        )
    return issuer


async def _server(client: httpx.AsyncClient, server: str, issuer: str, server_url: str) -> ServerMetadata:
    step = Step(server, f"reading the metadata of its authorization server {issuer[:200]}")
    search = _Search()
    metadata = await _from_documents(client, step, issuer, server_url, search)
    if metadata is None:
        raise step.failed(f"{search.report}.")
    return metadata


async def _older(
    client: httpx.AsyncClient, server: str, base: str, server_url: str, challenge: Challenge
) -> ServerMetadata:
    """A server without resource metadata is its own authorization server (specification 2025-03-26)."""
    step = Step(server, "looking for its authorization server")
    search = _Search()
    metadata = await _from_documents(client, step, base, server_url, search)
    if metadata is not None:
        return metadata
    if not search.nothing_there or challenge.resource_metadata is not None:
        raise step.failed(f"it publishes no resource metadata, and {search.report}.")
    return assumed_metadata(base)


async def _from_documents(
    client: httpx.AsyncClient, step: Step, issuer: str, server_url: str, search: _Search
) -> ServerMetadata | None:
    objection = addresses.objection(issuer, server_url=server_url)
    if objection:
        raise step.failed(f"{objection}.")
    for url in addresses.server_documents(issuer):
        read = partial(server_metadata, issuer=issuer, server_url=server_url)
        found = await _document(client, step, url, search, read)
        if found is not None:
            return found
    return None


async def _document(
    client: httpx.AsyncClient, step: Step, url: str, search: _Search, read: Callable[[Any], Metadata]
) -> Metadata | None:
    """What one address publishes, or None, which the search notes."""
    try:
        reply = await get(client, url)
        if reply.ok and reply.body is not None:
            return read(reply.body)
        search.missed(url, reply)
    except UnreachableError as error:
        search.failed(url, error)
    except UnusableError as error:
        search.failed(url, error)
        if error.final:
            raise step.failed(f"{search.report}.") from error
    return None
