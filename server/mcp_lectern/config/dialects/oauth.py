"""The ``oauth`` member of a remote entry: which members it has and what they look like; expands nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_lectern.settings.sentences import kind_of, quoted

TEXTS = ("clientId", "clientSecret", "privateKey", "issuer", "clientMetadataUrl")
GRANTS = ("authorization_code", "client_credentials")
PORTS = ("redirectPort", "callbackPort")
"""The second is Claude Code's name for it."""
MEMBERS = (*TEXTS, "scopes", *PORTS, "grant")


def complaint(value: object) -> str | None:
    """What is wrong with it, as a sentence that ends there; None for what can be used."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return f"“oauth” is an object, not {kind_of(value)}"
    return _wrong_text(value) or _wrong_scopes(value) or _wrong_port(value) or _wrong_grant(value)


def unknown(value: object) -> tuple[str, ...]:
    """Members that mean nothing to Lectern."""
    return tuple(name for name in value if name not in MEMBERS) if isinstance(value, Mapping) else ()


def port(value: Mapping[str, Any]) -> int | None:
    """The port that the browser's answer is to come to; None where the system may choose."""
    return next((value[name] for name in PORTS if value.get(name) is not None), None)


def scopes(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The scopes to ask for; None where the server may say."""
    written = value.get("scopes")
    if written is None:
        return None
    return tuple(written.split()) if isinstance(written, str) else tuple(written)


def _wrong_text(value: Mapping[str, object]) -> str | None:
    for name in TEXTS:
        written = value.get(name)
        if written is not None and (not isinstance(written, str) or not written.strip()):
            return f"“oauth.{name}” is a text, not {kind_of(written)}"
    if value.get("clientSecret") is not None and value.get("privateKey") is not None:
        return "“oauth” has both “clientSecret” and “privateKey”: keep the one that the server knows"
    return None


def _wrong_scopes(value: Mapping[str, object]) -> str | None:
    written = value.get("scopes")
    if written is None or isinstance(written, str):
        return None
    if not isinstance(written, list) or not all(_is_scope(scope) for scope in written):
        return "“oauth.scopes” is a list of texts without white space, or one text with the scopes in it"
    return None


def _is_scope(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not any(character.isspace() for character in value)


def _wrong_port(value: Mapping[str, object]) -> str | None:
    for name in PORTS:
        written = value.get(name)
        if written is None:
            continue
        if isinstance(written, bool) or not isinstance(written, int) or not 1 <= written <= 65_535:
            return f"“oauth.{name}” is a number from 1 to 65535, not {kind_of(written)}"
    return None


def _wrong_grant(value: Mapping[str, object]) -> str | None:
    written = value.get("grant")
    if written is None or written in GRANTS:
        return None
    return f"“oauth.grant” is {' or '.join(quoted(grant) for grant in GRANTS)}, not {kind_of(written)}"
