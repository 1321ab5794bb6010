"""The opening messages of both eras, ``initialize`` and ``server/discover``; must not decide between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLIENT_NAME = "mcp-lectern"
META = "io.modelcontextprotocol/"

Json = Any


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The server's word about itself, for display only."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What of the server's capabilities concerns resources. ``{}`` counts as declared, ``null`` does not."""

    resources: bool = False
    subscribe: bool = False
    list_changed: bool = False
    completions: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that the server may look at: a ``file:`` URI and a name for people."""

    uri: str
    name: str


@dataclass(frozen=True, slots=True)
class Initialized:
    """An ``initialize`` result; ``version`` is None where it is missing or no string."""

    version: str | None
    server_info: ServerInfo | None
    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class Discovered:
    """A ``server/discover`` result (specification 2026-07-28, server/discover)."""

    versions: tuple[str, ...]
    server_info: ServerInfo | None
    capabilities: Capabilities


def initialize_params(
    protocol_version: str, client_version: str, *, roots: bool, offers: Mapping[str, Json]
) -> dict[str, Json]:
    """The parameters of ``initialize`` (specification 2025-11-25, basic/lifecycle).

    ``offers`` are the client capabilities that both eras have.
    """
    return {
        "protocolVersion": protocol_version,
        "capabilities": {**({"roots": {}} if roots else {}), **offers},
        "clientInfo": client_info(client_version),
    }


def client_info(client_version: str) -> dict[str, Json]:
    """Who we are, in either era."""
    return {"name": CLIENT_NAME, "version": client_version}


def initialized(result: Json) -> Initialized | None:
    """Read an ``initialize`` result as far as it goes; None if it is no object."""
    if not isinstance(result, dict):
        return None
    version = result.get("protocolVersion")
    return Initialized(
        version if isinstance(version, str) and version else None,
        _server_info(result.get("serverInfo")),
        capabilities(result.get("capabilities")),
    )


def discovered(result: Json) -> Discovered | None:
    """Read a ``server/discover`` result; None for anything that does not name versions."""
    if not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
        return None
    versions = named_versions(result.get("supportedVersions"))
    if not versions:
        return None
    meta = result.get("_meta")
    info = meta.get(META + "serverInfo") if isinstance(meta, dict) else None
    return Discovered(
        versions,
        _server_info(info if info is not None else result.get("serverInfo")),
        capabilities(result.get("capabilities")),
    )


def capabilities(value: Json) -> Capabilities:
    """The declared capabilities; a wrong type counts as not declared."""
    if not isinstance(value, dict):
        return Capabilities()
    resources = value.get("resources")
    options: Mapping[str, Json] = resources if isinstance(resources, dict) else {}
    return Capabilities(
        resources=isinstance(resources, dict) or resources is True,
        subscribe=options.get("subscribe") is True,
        list_changed=options.get("listChanged") is True,
        completions=isinstance(value.get("completions"), dict),
    )


def named_versions(value: Json) -> tuple[str, ...]:
    """The strings of a list of versions, in its order."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _server_info(value: Json) -> ServerInfo | None:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    version = value.get("version")
    return ServerInfo(value["name"], version if isinstance(version, str) else "")
