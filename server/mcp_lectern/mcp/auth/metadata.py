"""Metadata documents to checked facts (RFC 9728, RFC 8414, OpenID Connect Discovery); must not fetch any.

A document that breaks a rule of these specifications is not used; what is merely odd in it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_lectern.mcp.auth import addresses
from mcp_lectern.mcp.auth.model import ResourceMetadata, ServerMetadata

Json = Any


class UnusableError(Exception):
    """A document that cannot be used; ``str()`` is the end of a sentence that names the document.

    ``final`` where a document in another place cannot help: the server itself says something wrong.
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


def resource_metadata(document: Json, server_url: str) -> ResourceMetadata:
    """Protected resource metadata for this server. Raises UnusableError."""
    members = _object(document)
    resource = members.get("resource")
    if not isinstance(resource, str):
        raise UnusableError("it names no “resource”")
    if not addresses.covers(resource, server_url):
        raise UnusableError(f"it is for {_shown(resource)}, which is not {server_url}", final=True)
    issuers = _strings(members, "authorization_servers")
    if not issuers:
        raise UnusableError("it names no authorization server")
    scopes = members.get("scopes_supported")
    return ResourceMetadata(
        resource, issuers, _strings(members, "scopes_supported") if isinstance(scopes, list) else None
    )


def server_metadata(document: Json, issuer: str, server_url: str) -> ServerMetadata:
    """An authorization server's metadata, which must name exactly this issuer. Raises UnusableError."""
    members = _object(document)
    named = members.get("issuer")
    if named != issuer:
        shown = _shown(named) if isinstance(named, str) else "none"
        raise UnusableError(f"its issuer is {shown}, not exactly {issuer}")
    token_endpoint = _endpoint(members, "token_endpoint", server_url)
    if token_endpoint is None:
        raise UnusableError("it names no token endpoint")
    methods = _strings(members, "token_endpoint_auth_methods_supported")
    return ServerMetadata(
        issuer=issuer,
        token_endpoint=token_endpoint,
        authorization_endpoint=_endpoint(members, "authorization_endpoint", server_url),
        registration_endpoint=_endpoint(members, "registration_endpoint", server_url),
        revocation_endpoint=_endpoint(members, "revocation_endpoint", server_url),
        challenge_methods=_strings(members, "code_challenge_methods_supported"),
        authentication_methods=methods or ("client_secret_basic",),
        signing_algorithms=_strings(members, "token_endpoint_auth_signing_alg_values_supported"),
        scopes=_strings(members, "scopes_supported"),
        names_itself=members.get("authorization_response_iss_parameter_supported") is True,
        metadata_documents=members.get("client_id_metadata_document_supported") is True,
    )


def assumed_metadata(issuer: str) -> ServerMetadata:
    """The default paths of a server without any metadata (specification 2025-03-26, basic/authorization).

    That revision requires PKCE of everybody, so there S256 need not be announced.
    """
    return ServerMetadata(
        issuer=issuer,
        token_endpoint=f"{issuer}/token",
        authorization_endpoint=f"{issuer}/authorize",
        registration_endpoint=f"{issuer}/register",
        challenge_methods=("S256",),
        authentication_methods=("none", "client_secret_post", "client_secret_basic"),
        assumed=True,
    )


def _object(document: Json) -> Mapping[str, Json]:
    if not isinstance(document, dict):
        raise UnusableError("it is no JSON object")
    return document


def _endpoint(members: Mapping[str, Json], name: str, server_url: str) -> str | None:
    url = members.get(name)
    if url is None:
        return None
    if not isinstance(url, str):
        raise UnusableError(f"its {name} is no text", final=True)
    objection = addresses.objection(url, server_url=server_url)
    if objection:
        raise UnusableError(f"its {name} {_shown(url)} may not be used: {objection}", final=True)
    return url


def _strings(members: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = members.get(name)
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(item for item in value if isinstance(item, str) and item))


def _shown(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
