"""Asks the client to show something, and tells where it is if it does not; must not know what it is."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from mcp_lectern.lsp.server import Lectern

logger = logging.getLogger(__name__)


def show(lectern: Lectern, target: str, otherwise: str) -> None:
    """``window/showDocument``, which nobody waits for; ``otherwise`` is the sentence for a person."""
    if lectern.session.client.shows_documents:
        lectern.spawn(_asked(lectern, target, otherwise), "showing a document")
    else:
        lectern.show(types.MessageType.Info, otherwise)


async def _asked(lectern: Lectern, target: str, otherwise: str) -> None:
    params = {"uri": target, "external": False, "takeFocus": True}
    try:
        answer = await lectern.protocol.ask(types.WINDOW_SHOW_DOCUMENT, params)
    except JsonRpcException as error:
        logger.info("the client shows no document: %s", error)
        answer = {"success": False}
    # An editor that answers nothing may have shown it all the same.
    if isinstance(answer, Mapping) and answer.get("success") is False:
        lectern.show(types.MessageType.Info, otherwise)
