"""Notices the death of the editor's process; must not know why anybody asks."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable

_POLL_SECONDS = 1.0
_SYNCHRONIZE = 0x00100000
_FOREVER = 0xFFFFFFFF


def watch_parent(process_id: int, died: Callable[[], None]) -> None:
    """Call ``died`` on the running event loop when the process ends.

    A process that cannot be seen now (another container, say) is not watched.
    """
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        _watch_handle(process_id, lambda: loop.call_soon_threadsafe(died))
    elif hasattr(os, "pidfd_open"):
        _watch_descriptor(loop, process_id, died)
    elif _lives(process_id):
        _poll(loop, process_id, died)


def _watch_descriptor(loop: asyncio.AbstractEventLoop, process_id: int, died: Callable[[], None]) -> None:
    try:
        descriptor = os.pidfd_open(process_id)
    except OverflowError:
        return
    except OSError:
        if _lives(process_id):
            _poll(loop, process_id, died)
        return

    def ended() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        died()

    loop.add_reader(descriptor, ended)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _poll(loop: asyncio.AbstractEventLoop, process_id: int, died: Callable[[], None]) -> None:
    if _lives(process_id):
        loop.call_later(_POLL_SECONDS, _poll, loop, process_id, died)
    else:
        died()


def _watch_handle(process_id: int, died: Callable[[], object]) -> None:
    import ctypes

    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, process_id)
    if not handle:
        return

    def wait() -> None:
        kernel.WaitForSingleObject(handle, _FOREVER)
        kernel.CloseHandle(handle)
        died()

    threading.Thread(target=wait, name="lectern-parent", daemon=True).start()
