"""The environment that a login shell of the user's would have, for editors that a desktop started.

Such an editor inherits a short PATH and none of what the user's profile exports. The shell is the user's own,
it runs in the home folder, and nothing of a workspace takes part. It must not decide for whom this matters.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO

from mcp_lectern.config.places import Machine

PATIENCE = 5.0
"""Seconds for a profile to run; a slower one counts as none."""
AGAIN = 30.0
"""Seconds after which a profile that told nothing is given another chance."""
LARGEST = 16 * 1024 * 1024
"""Bytes of output; what says more has no environment to tell."""
_ASKING = threading.Lock()
_KNOWN: dict[tuple[object, ...], tuple[Mapping[str, str] | None, float]] = {}
_OF_THE_SHELL = frozenset({"SHLVL", "PWD", "OLDPWD", "_"})
_ONE_FLAG = frozenset({"csh", "tcsh"})
"""Shells that take ``-l`` only alone."""


def from_a_desktop(machine: Machine) -> bool:
    """Whether no shell stands between the desktop and this process, as far as the environment tells."""
    return not machine.windows and not machine.environment.keys() & {"SHLVL", "TERM"}


def logged_in(machine: Machine) -> Machine | None:
    """The machine with a login shell's environment over its own; None where there is none to be had."""
    if machine.windows:
        return None
    shell = machine.environment.get("SHELL") or _registered_shell()
    if not shell or not Path(shell).is_absolute():
        return None
    found = _environment(shell, machine.home, tuple(sorted(machine.environment.items())))
    if found is None:
        return None
    path = _joined(found.get("PATH", ""), machine.environment.get("PATH", ""))
    return Machine(machine.home, {**machine.environment, **found, "PATH": path}, machine.platform)


def answers_within(machine: Machine, seconds: float) -> bool:
    """Whether :func:`logged_in` can be asked without waiting. The profile goes on running where it cannot."""
    asking = threading.Thread(target=logged_in, args=(machine,), name="lectern-login", daemon=True)
    asking.start()
    asking.join(seconds)
    return not asking.is_alive()


def _joined(path: str, inherited: str) -> str:
    """Both, since a profile often sets the PATH anew and forgets what the editor was started with."""
    return os.pathsep.join(
        dict.fromkeys(filter(None, [*path.split(os.pathsep), *inherited.split(os.pathsep)]))
    )


def _registered_shell() -> str | None:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_shell
    except (ImportError, KeyError):
        return None


def _environment(shell: str, home: Path, inherited: tuple[tuple[str, str], ...]) -> Mapping[str, str] | None:
    key = (shell, home, inherited)
    with _ASKING:
        found, until = _KNOWN.get(key, (None, 0.0))
        if found is None and time.monotonic() >= until:
            found = _asked(shell, home, dict(inherited))
            _KNOWN[key] = (found, time.monotonic() + AGAIN)
        return found


def _asked(shell: str, home: Path, inherited: Mapping[str, str]) -> Mapping[str, str] | None:
    mark = secrets.token_hex(16)
    code = f"import json, os; print('{mark}' + json.dumps(dict(os.environ)) + '{mark}')"
    command = f"'{sys.executable}' -I -c \"{code}\""
    if Path(shell).name in _ONE_FLAG:
        arguments = ["-c", f"if ( -r ~/.login ) source ~/.login >& /dev/null; {command}"]
    else:
        arguments = ["-l", "-i", "-c", command]
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own shell, by its absolute path
            [shell, *arguments],
            cwd=home,
            env=inherited,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError):
        return None
    with process.stdout or nullcontext() as output:
        told = _heard(output, mark.encode()) if output is not None else b""
    found = _told(told.decode("utf-8", "surrogateescape"), mark)
    if found is None:
        # Whatever the profile began belongs to the session that the shell leads.
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    _reap(process)
    return found


def _heard(output: IO[bytes], mark: bytes) -> bytes:
    """All until the mark has come twice, the end, or the end of patience.

    What a profile leaves running holds the other end for as long as it lives: its end is not waited for.
    """
    told, until = b"", time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while told.count(mark) < 2 and selector.select(max(0.0, until - time.monotonic())):
            piece = os.read(output.fileno(), 65536)
            if not piece or len(told) > LARGEST:
                break
            told += piece
    return told


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Leave no ended process behind; a shell that goes on after it has told everything may."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(1.0)


def _told(output: str, mark: str) -> Mapping[str, str] | None:
    """The environment between the marks: a profile may greet before, and say goodbye after."""
    _, found, rest = output.partition(mark)
    text, closed, _ = rest.partition(mark)
    if not found or not closed:
        return None
    try:
        environment = json.loads(text)
    except ValueError:
        return None
    return {str(name): str(value) for name, value in environment.items() if name not in _OF_THE_SHELL}
