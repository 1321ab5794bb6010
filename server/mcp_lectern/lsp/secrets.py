"""Sign-ins kept by the editor, in its own secret storage (``lectern/secret``); must not know what they hold.

What is kept here goes to the client and nowhere else: into no log, and into no other storage while it works.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern
    from mcp_lectern.mcp.auth.tokens import TokenStorage

_PATIENCE = 10.0
"""Seconds within which a client must answer; a person may have to unlock its storage."""


def storage(lectern: Lectern) -> Callable[[], TokenStorage]:
    """What makes the storage for this client: its own where it has one, else, and where that fails, ours."""
    loop = asyncio.get_running_loop()

    def made() -> TokenStorage:
        from mcp_lectern.hub.credentials import default_storage
        from mcp_lectern.mcp.auth.tokens import FirstThatCan

        ours = default_storage()
        if not lectern.session.client.secrets:
            return ours
        return FirstThatCan(EditorSecrets(lectern, loop), ours)

    return made


class EditorSecrets:
    """A ``TokenStorage`` in the client. Its methods are called in threads other than the loop's."""

    def __init__(self, lectern: Lectern, loop: asyncio.AbstractEventLoop) -> None:
        self._lectern = lectern
        self._loop = loop

    def load(self, key: str) -> str | None:
        """What is kept, or None."""
        answer = self._ask({"action": "get", "key": key})
        value = answer.get("value") if answer else None
        return value if isinstance(value, str) else None

    def save(self, key: str, text: str) -> bool:
        """Keep this instead; False where the client does not."""
        return self._ask({"action": "set", "key": key, "value": text}) is not None

    def delete(self, key: str) -> None:
        """Keep nothing."""
        self._ask({"action": "delete", "key": key})

    def _ask(self, params: Mapping[str, str]) -> Mapping[str, Any] | None:
        """The client's answer; None where it has none in time."""
        asking = self._lectern.protocol.ask("lectern/secret", params)
        future = asyncio.run_coroutine_threadsafe(asking, self._loop)
        try:
            answer = future.result(_PATIENCE)
        except (JsonRpcException, TimeoutError, concurrent.futures.CancelledError):
            future.cancel()
            return None
        return answer if isinstance(answer, Mapping) else {}
