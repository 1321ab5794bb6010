"""Odd metadata of authorization servers: HTTP-06. Both clients sign in through a page that agrees at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from tests.support.http_server import Handler, Reply, Request
from tests.support.oauth import HTML, NOTHING, World

from bench.cases.model import Case, Section, remote

RESOURCE, SERVER = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
Change = Callable[[World], None]


def world(change: Change) -> Callable[[], Handler]:
    """A server that is its own authorization server, with its documents changed."""

    def make() -> Handler:
        worlds: list[World] = []

        async def handle(request: Request, reply: Reply) -> None:
            base = f"http://{request.headers['host']}"
            if not worlds:
                worlds.append(World(f"{base}/mcp", base))
                change(worlds[0])
            sent = httpx.Request(
                request.verb, base + request.target, headers=dict(request.headers), content=request.body
            )
            answer = worlds[0].handle(sent)
            headers = {name.replace("-", "_"): value for name, value in answer.headers.items()}
            headers.pop("content_length", None)
            await reply.send(answer.status_code, answer.content, **headers)

        return handle

    return make


def case(oddity: str, change: Change) -> Case:
    """A read that wants a sign-in first."""
    return remote("HTTP-06", oddity, (("read", "res://secret"),), world(change), sign_in=True, patience=8)


def origin(place: World) -> str:
    return place.issuer


def moved(place: World) -> None:
    """The resource metadata lies at the root alone."""
    place.documents[origin(place) + RESOURCE] = place.documents.pop(origin(place) + RESOURCE + "/mcp")


def resource(**changes: Any) -> Change:
    return lambda place: place.change_resource(**changes)


def metadata(**changes: Any) -> Change:
    return lambda place: place.change_metadata(**changes)


def slashed(place: World) -> None:
    place.change_resource(resource=place.server_url + "/")


def another_issuer(place: World) -> None:
    place.change_metadata(issuer="https://elsewhere.example")


def issuer_slash(place: World) -> None:
    place.change_metadata(issuer=place.issuer + "/")


def html(place: World) -> None:
    place.documents[origin(place) + SERVER] = HTML


def advertised(place: World) -> None:
    """The challenge names a document that is not there."""
    place.challenge = f'Bearer resource_metadata="{origin(place)}/nowhere"'
    place.documents[origin(place) + "/nowhere"] = NOTHING


def plain(place: World) -> None:
    place.change_metadata(token_endpoint="http://token.example/token")


SECTION = Section(
    "Signing in",
    (
        case("as the specification says", lambda _place: None),
        case("resource metadata at the root alone", moved),
        case("the resource with a slash at its end", slashed),
        case("the resource is another server's", resource(resource="https://elsewhere.example/mcp")),
        case("the issuer with a slash at its end", issuer_slash),
        case("another issuer", another_issuer),
        case("the server's metadata are a page", html),
        case("the advertised metadata are not there", advertised),
        case("no registration endpoint", metadata(registration_endpoint=None)),
        case("a token endpoint without TLS elsewhere", plain),
        case("no S256", metadata(code_challenge_methods_supported=["plain"])),
    ),
)
