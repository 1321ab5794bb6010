"""The environment that a login shell of the user's would have, for editors that a desktop started.

Such an editor inherits a short PATH and none of what the user's profile exports. The shell is the user's own,
it runs in the home folder, and nothing of a workspace takes part. It must not decide for whom this matters.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from mcp_lectern.config.places import Machine

PATIENCE = 5.0
"""Seconds for a profile to run; a slower one counts as none."""
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


@lru_cache(maxsize=4)
def _environment(shell: str, home: Path, inherited: tuple[tuple[str, str], ...]) -> Mapping[str, str] | None:
    mark = secrets.token_hex(16)
    code = f"import json, os; print('{mark}' + json.dumps(dict(os.environ)) + '{mark}')"
    command = f"'{sys.executable}' -I -c \"{code}\""
    flags = ["-c"] if Path(shell).name in _ONE_FLAG else ["-l", "-i", "-c"]
    try:
        answer = subprocess.run(  # noqa: S603 - the user's own shell, by its absolute path
            [shell, *flags, command],
            cwd=home,
            env=dict(inherited),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            start_new_session=True,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return _told(answer.stdout.decode("utf-8", "surrogateescape"), mark)


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
