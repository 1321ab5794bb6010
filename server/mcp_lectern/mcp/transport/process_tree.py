"""Ends a started process with everything that it started, on POSIX and Windows; must not know what it runs.

POSIX: the process leads a session of its own, and signals go to its group. Windows: it is put into a job
object that the system ends with its last handle, so that nothing outlives us even if we are killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol


class ProcessTree(Protocol):
    """A process and its descendants."""

    def alive(self) -> bool:
        """Whether anything of it is left."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it for certain. Also releases what the system holds for us."""


def start_options() -> dict[str, Any]:
    """What ``subprocess.Popen`` has to be told, so that the tree can be ended later."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def tree_of(pid: int) -> ProcessTree:
    """The tree of a process that was started with ``start_options``."""
    if sys.platform == "win32":
        from .windows_job import JobTree

        return JobTree(pid)
    return GroupTree(pid)


class GroupTree:
    """The process group that the process leads."""

    def __init__(self, pid: int) -> None:
        self._group = pid

    def alive(self) -> bool:
        """Whether the group has members that run."""
        return self._signal(0) and not self._only_zombies()

    def terminate(self) -> None:
        """SIGTERM to all of it."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to all of it."""
        if sys.platform != "win32":
            self._signal(signal.SIGKILL)

    def _only_zombies(self) -> bool:
        """Dead members that nobody collects look alive to ``killpg``: usual in containers without an init."""
        states = [state for state, group in _processes() if group == self._group]
        return bool(states) and all(state in "ZX" for state in states)

    def _signal(self, number: int) -> bool:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)
                return True
        return False


def _processes() -> Iterator[tuple[str, int]]:
    """State and process group of every process; nothing where there is no ``/proc`` (proc(5))."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, _parent, group = stat.read_text(errors="replace").rpartition(")")[2].split()[:3]
            yield state, int(group)
