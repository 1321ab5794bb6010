"""What is on the disk and should be there no longer, without anybody having written or asked; reads nothing.

Editors share the file, and another workspace may use what this one has given up. So each workspace notes
which entries it has: only what this one had, has no more, and no other has, is removed before its time.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_lectern.documents.files import evict, purge
from mcp_lectern.hub.catalogue_file import CatalogueFile, is_busy
from mcp_lectern.hub.entry import Entry
from mcp_lectern.hub.remembered_key import entry_key

AFTER = 2.0
"""Seconds after a configuration: whoever types ``@`` first comes first."""
EVERY = 86_400.0
"""Seconds: an editor may run for weeks."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be kept as files, in bytes, and for how many days."""

    max_bytes: int = 512 * 1024 * 1024
    max_days: float = 30.0


def sweep(file: CatalogueFile, who: Sequence[str], entries: Collection[Entry], files: Path) -> bool:
    """Remove what is too old, and what this workspace has given up. Blocks on the disk.

    ``who`` names the workspace. False where another process uses the file just now.
    """
    secret = file.key()
    workspace = hmac.digest(secret, json.dumps(list(who)).encode("ascii"), "sha256")
    used = {entry_key(secret, entry): entry.spec.name for entry in entries if entry.can_start}
    # Whether they are the same as before cannot be told, since what their variables stand for is not known.
    unknown = {entry.spec.name for entry in entries if not entry.can_start}
    try:
        removed = file.settle(workspace, used, unknown)
    except sqlite3.Error as error:
        if is_busy(error):
            return False
        raise
    for server in removed:
        purge(files, server)
    return True


def sweep_files(files: Path, room: Room) -> None:
    """Remove the files that are too old, or too many."""
    evict(files, max_bytes=room.max_bytes, max_days=room.max_days)
