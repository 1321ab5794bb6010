"""How this client proves to an authorization server that it is itself (OAuth 2.1, 2.4); must not do I/O.

No Authlib: its httpx client knows neither the discovery of MCP nor ``iss`` or ``resource``, warns that it has
left httpx, and takes 70 ms longer to import than httpx alone; what remains of it is PKCE, two lines. A
private key is PyJWT's business, which is imported when there is one.
"""

from __future__ import annotations

import base64
import secrets
import time
from typing import Any
from urllib.parse import quote_plus

from mcp_lectern.mcp.auth.model import Client, ClientAuthentication, ServerMetadata, Step

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 300


def choose(metadata: ServerMetadata, *, secret: bool, key: bool) -> ClientAuthentication:
    """The strongest method that we can use and the server takes.

    Where it announces none of ours, the one that its specification makes the default.
    """
    offered = metadata.authentication_methods
    if key:
        return "private_key_jwt"
    if not secret:
        return "none"
    return (
        "client_secret_post"
        if "client_secret_post" in offered and "client_secret_basic" not in offered
        else "client_secret_basic"
    )


def authenticated(
    form: dict[str, str], client: Client, metadata: ServerMetadata, step: Step
) -> tuple[dict[str, str], dict[str, str]]:
    """The form and headers of a request to the token or revocation endpoint. Raises SignInFailed."""
    if client.authentication == "client_secret_basic" and client.secret is not None:
        # Both halves are form-encoded before they are joined (RFC 6749, 2.3.1).
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret)}"
        return form, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if client.authentication == "client_secret_post" and client.secret is not None:
        return {**form, "client_id": client.id, "client_secret": client.secret}, {}
    if client.authentication == "private_key_jwt" and client.key is not None:
        assertion = _assertion(client, client.key, metadata, step)
        proof = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion}
        return {**form, "client_id": client.id, **proof}, {}
    return {**form, "client_id": client.id}, {}


def _assertion(client: Client, key: str, metadata: ServerMetadata, step: Step) -> str:
    """A signed statement of who we are, for this issuer alone (RFC 7523, 3)."""
    import jwt

    now = int(time.time())
    claims = {
        "iss": client.id,
        "sub": client.id,
        "aud": metadata.issuer,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
        "jti": secrets.token_urlsafe(16),
    }
    try:
        private, algorithm = _private_key(key)
        offered = metadata.signing_algorithms
        if offered and algorithm not in offered:
            raise step.failed(f"its key signs by {algorithm}, and the server takes {', '.join(offered)}.")
        return jwt.encode(claims, private, algorithm=algorithm)
    except (ValueError, TypeError, jwt.PyJWTError) as error:
        # The error's own words could quote the key.
        raise step.failed("“privateKey” is not a private key in PEM that can be used.") from error


def _private_key(pem: str) -> tuple[Any, str]:
    """The key, and the algorithm that goes with its kind. Raises ValueError or TypeError."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except UnsupportedAlgorithm as error:
        raise ValueError("unsupported") from error
    if isinstance(key, ec.EllipticCurvePrivateKey):
        curves = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
        if key.curve.name not in curves:
            raise ValueError("unsupported curve")
        return key, curves[key.curve.name]
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key, "EdDSA"
    if isinstance(key, rsa.RSAPrivateKey):
        return key, "RS256"
    raise ValueError("unsupported kind of key")
