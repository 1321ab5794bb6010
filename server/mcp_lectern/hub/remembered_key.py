"""Under which key the catalogue of a server is remembered; must not know where, and tells no secret.

A key is an HMAC, so that nothing in it can be guessed without the secret of this installation.
"""

from __future__ import annotations

import hmac
import json

from mcp_lectern.config.model import Launch, Remote
from mcp_lectern.hub.entry import Entry


def entry_key(secret: bytes, entry: Entry) -> bytes:
    """Stands for all that an entry says, its variables expanded, and for what an approval of it covers."""
    essence = [
        entry.spec.name,
        entry.spec.kind,
        entry.fingerprint,
        entry.protocol,
        entry.roots,
        _expanded(entry),
    ]
    return hmac.digest(secret, json.dumps(essence, sort_keys=True).encode("ascii"), "sha256")


def listing_key(secret: bytes, entry: bytes, identity: str) -> bytes:
    """Stands for what one authorization is shown by the server of an entry."""
    return hmac.digest(secret, entry + identity.encode("utf-8", "surrogatepass"), "sha256")


def _expanded(entry: Entry) -> object:
    ready = entry.launched
    if isinstance(ready, Launch):
        # The inherited environment is another one after each restart.
        return [ready.command, list(ready.args), dict(ready.own), str(ready.cwd)]
    if isinstance(ready, Remote):
        return [ready.url, dict(ready.headers), ready.kind, repr(ready.ca_file), ready.proxy, _oauth(ready)]
    return None


def _oauth(ready: Remote) -> list[object]:
    oauth = ready.oauth
    how = [oauth.client_id, oauth.client_secret, oauth.private_key, oauth.issuer, oauth.grant]
    return [*how, list(oauth.scopes or ()), oauth.client_metadata_url]
