"""Where grants are kept: in memory, in the operating system's key store, or in private files.

All of it may block and belongs in a thread. It must not know what is asked with a token, and writes none into
any log. A store is keyed by server address, configured issuer and client id; the issuer and client that a
grant names bind its tokens to them (client registration, authorization server binding).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Protocol

from mcp_lectern.mcp.auth.model import Client, Grant, OAuthSettings, ServerMetadata, Tokens

SERVICE = "mcp-lectern"
_VERSION = 1
_LARGEST = 4 * 1024 * 1024
_KEY_STORE_SECONDS = 10.0


class TokenStorage(Protocol):
    """Keeps one text for each key. No method raises: a store that fails is as good as an empty one."""

    def load(self, key: str) -> str | None:
        """What is kept, or None."""

    def save(self, key: str, text: str) -> bool:
        """Keep this instead; False if that cannot be done."""

    def delete(self, key: str) -> None:
        """Keep nothing."""


def key_of(server_url: str, settings: OAuthSettings) -> str:
    """The key of a server's grant under these settings."""
    return json.dumps([server_url, settings.issuer or "", settings.client_id or "", settings.grant])


def encode(grant: Grant) -> str:
    """A grant as text. The user's own secret and key stay out of it: they stand in the configuration."""
    value = asdict(grant)
    if not grant.client.registered:
        value["client"]["secret"] = value["client"]["key"] = None
    return json.dumps({"version": _VERSION, **value}, separators=(",", ":"))


def decode(text: str, settings: OAuthSettings) -> Grant | None:
    """A grant that was kept; None for anything that is none any more."""
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("version") != _VERSION:
            return None
        client: Client = _restored(Client, value["client"])
        if not client.registered:
            client = Client(client.id, settings.client_secret, settings.private_key, client.authentication)
        return Grant(
            str(value["resource"]),
            _restored(ServerMetadata, value["metadata"]),
            client,
            _restored(Tokens, value["tokens"]),
            tuple(value["asked"]),
            str(value["identity"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _restored(kind: Any, members: Any) -> Any:
    known = {member.name for member in fields(kind)}
    return kind(
        **{
            name: tuple(value) if isinstance(value, list) else value
            for name, value in members.items()
            if name in known
        }
    )


class InMemory:
    """Forgets with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def load(self, key: str) -> str | None:
        """What is kept, or None."""
        return self._kept.get(key)

    def save(self, key: str, text: str) -> bool:
        """Keep this instead."""
        self._kept[key] = text
        return True

    def delete(self, key: str) -> None:
        """Keep nothing."""
        self._kept.pop(key, None)


class Keyring:
    """The operating system's key store, where the ``keyring`` package finds one that can be used.

    One that does not answer, since it waits for a person to unlock it, is passed over for as long.
    """

    def __init__(self, seconds: float = _KEY_STORE_SECONDS) -> None:
        self._seconds = seconds
        self._backend: Any = None
        self._looked = False
        self._busy = threading.Lock()

    def load(self, key: str) -> str | None:
        """What is kept, or None."""
        found = self._asked(lambda backend: backend.get_password(SERVICE, key))
        return found if isinstance(found, str) else None

    def save(self, key: str, text: str) -> bool:
        """Keep this instead; False where there is no key store, or it takes no text as long as this."""

        def save(backend: Any) -> bool:
            backend.set_password(SERVICE, key, text)
            return True

        return self._asked(save) is True

    def delete(self, key: str) -> None:
        """Keep nothing."""
        self._asked(lambda backend: backend.delete_password(SERVICE, key))

    def _asked(self, ask: Callable[[Any], Any]) -> Any:
        """The backend's answer; None where it has none in time, or raises whatever its system raises."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        if not self._busy.acquire(timeout=self._seconds):
            return None

        def work() -> None:
            answer = None
            try:
                with contextlib.suppress(Exception):
                    backend = self._usable()
                    answer = ask(backend) if backend is not None else None
            finally:
                self._busy.release()
                answers.put(answer)

        # A daemon: a key store that never answers must not keep the program from ending.
        threading.Thread(target=work, name="key store", daemon=True).start()
        try:
            return answers.get(timeout=self._seconds)
        except queue.Empty:
            return None

    def _usable(self) -> Any:
        """The best backend that keeps secrets from others; null and plain text ones have a low priority."""
        if not self._looked:
            self._looked = True
            import keyring

            backend = keyring.get_keyring()
            self._backend = backend if backend.priority >= 1 else None
        return self._backend


class PrivateFolder:
    """A folder that only its owner may enter, with one file for each key.

    One each, so that processes that renew different grants at the same time lose nothing, without a lock.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, key: str) -> str | None:
        """What is kept, or None."""
        try:
            with self._path(key).open("rb") as file:
                kept = json.loads(file.read(_LARGEST))
        except (OSError, ValueError, RecursionError):
            return None
        found = kept.get("text") if isinstance(kept, dict) and kept.get("key") == key else None
        return found if isinstance(found, str) else None

    def save(self, key: str, text: str) -> bool:
        """Keep this instead; False if the file cannot be written."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(self._path(key), json.dumps({"key": key, "text": text}))
        except OSError:
            return False
        return True

    def delete(self, key: str) -> None:
        """Keep nothing."""
        with contextlib.suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


def _replace(path: Path, text: str) -> None:
    """All or nothing, and never readable by others: a file of mkstemp has mode 0600 from the start."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class FirstThatCan:
    """Several stores: what is saved goes into the first that takes it, and out of the others."""

    def __init__(self, *stores: TokenStorage) -> None:
        self._stores = stores

    def load(self, key: str) -> str | None:
        """What the first store that has something keeps."""
        return next((text for store in self._stores if (text := store.load(key)) is not None), None)

    def save(self, key: str, text: str) -> bool:
        """Keep this instead, in one store only, or an old grant could come back from another."""
        keeper = next((store for store in self._stores if store.save(key, text)), None)
        for store in self._stores:
            if store is not keeper:
                store.delete(key)
        return keeper is not None

    def delete(self, key: str) -> None:
        """Keep nothing, anywhere."""
        for store in self._stores:
            store.delete(key)
