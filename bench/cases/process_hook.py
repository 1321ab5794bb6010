"""A scripted server that takes its time: sleeps before the methods that the script's ``slow`` names."""

from __future__ import annotations

import time
from typing import Any


def handle(server: Any, message: dict[str, Any]) -> bool:
    """Wait for as many seconds as the script says, then let the answer come as usual."""
    time.sleep(server.script["slow"].get(message.get("method"), 0))
    return False
