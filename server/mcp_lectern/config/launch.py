"""A stdio entry as written to what a process is started with; starts nothing.

Everything that can be known to fail before a process exists fails here, with a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from mcp_lectern.config.dialects import BY_NAME, VSCODE
from mcp_lectern.config.dialects.model import Surroundings, Unknown, Value
from mcp_lectern.config.env_file import parse_env_file
from mcp_lectern.config.files import UnreadableFileError, is_file, is_folder, read_file
from mcp_lectern.config.jsonc import JsoncError, decode
from mcp_lectern.config.login import from_a_desktop, logged_in
from mcp_lectern.config.mask import masker
from mcp_lectern.config.model import Launch, Level, Problem, ServerSpec
from mcp_lectern.config.places import Machine, expand_home
from mcp_lectern.config.search import DEFAULT_EXTENSIONS, Search, for_a_shell, is_bare
from mcp_lectern.config.variables import Expansion, environment_lookup, expand
from mcp_lectern.settings.sentences import quoted

SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth|cookie|session|dsn", re.IGNORECASE
)


_NOTHING: Mapping[str, str] = MappingProxyType({})


def launch(
    spec: ServerSpec,
    *,
    machine: Machine,
    workspace_folder: Path | None = None,
    given: Mapping[str, str] = _NOTHING,
) -> Launch | tuple[Problem, ...]:
    """What to start, or why it cannot be started. Reads the ``envFile`` and looks for the program.

    ``workspace_folder`` is what the variable stands for; an entry of a workspace file has its own folder.
    ``given`` are the values of its inputs, by id.
    An editor that a desktop started lacks what the user's profile exports: then a login shell is asked for
    it, and also where a user's own program is found in no other way.
    """
    folder = spec.origin.folder or workspace_folder
    fuller = logged_in(machine) if from_a_desktop(machine) else None
    launching = _Launching(spec, fuller or machine, folder, given)
    launched = launching.run()
    if launching.program_missing and fuller is None and spec.origin.level is Level.USER:
        fuller = logged_in(machine)
        again = _Launching(spec, fuller, folder, given).run() if fuller else None
        return again if isinstance(again, Launch) else launched
    return launched


def expanded(
    text: str,
    spec: ServerSpec,
    *,
    machine: Machine,
    workspace_folder: Path | None = None,
    given: Mapping[str, str] = _NOTHING,
) -> Expansion:
    """One text of an entry with its variables expanded, in the entry's own dialect."""
    folder = spec.origin.folder or workspace_folder
    surroundings = Surroundings(
        environment_lookup(machine.environment, ignore_case=machine.windows),
        str(folder) if folder else None,
        str(machine.home),
        partial(_given, spec, given),
    )
    return expand(text, BY_NAME.get(spec.dialect, VSCODE), surroundings)


def _given(spec: ServerSpec, values: Mapping[str, str], name: str) -> Value | Unknown:
    wanted = next((each for each in spec.inputs if each.id == name), None)
    if wanted is None:
        return Unknown("names no input")
    value = values.get(name)
    if wanted.unusable is not None or value is None:
        return Unknown(wanted.unusable or "has not been given yet")
    return Value(value, secret=wanted.password)


def working_folder(spec: ServerSpec, written: str | None, machine: Machine) -> Path:
    """The folder that a process starts in; ``written`` is the entry's expanded ``cwd``.

    A user's server starts at home, so that no folder that happens to be open can slip files under it.
    """
    base = machine.home
    if spec.origin.level is Level.WORKSPACE and spec.origin.folder:
        base = spec.origin.folder
    return base / expand_home(written, machine.home) if written else base


@dataclass(slots=True)
class _Launching:
    spec: ServerSpec
    machine: Machine
    folder: Path | None
    given: Mapping[str, str]
    secrets: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    program_missing: bool = False
    own: dict[str, str | None] = field(default_factory=dict)

    def run(self) -> Launch | tuple[Problem, ...]:
        if self.spec.command is None:
            return (self._problem(f"it is reached over {self.spec.kind}, so that there is nothing to start"),)
        command = self._expand(self.spec.command, "command")
        arguments = tuple(self._expand(argument, "args") for argument in self.spec.args)
        written_folder = self._expand(self.spec.cwd, "cwd") if self.spec.cwd else None
        folder = working_folder(self.spec, written_folder, self.machine)
        self._check_network(command, str(folder), self.spec.env_file or "")
        environment = self._environment(folder)
        self._check_characters(command, arguments, environment)
        if not self.problems and not is_folder(folder):
            hint = "correct “cwd” or create it" if self.spec.cwd else "set “cwd” to a folder that exists"
            self.problems.append(f"its working folder {folder} does not exist: {hint}")
        program = "" if self.problems else self._program(command, arguments, folder, environment)
        if self.problems:
            return tuple(self._problem(reason) for reason in self.problems)
        secrets = tuple(dict.fromkeys(self.secrets))
        return Launch(program, arguments, environment, folder, secrets, self.own)

    def _check_network(self, *paths: str) -> None:
        """On Windows, merely looking at a path on another host tells that host who is looking."""
        for path in paths if self.machine.windows and self.spec.origin.level is not Level.USER else ():
            if path.startswith(("\\\\", "//")):
                self.problems.append(
                    f"it names a place on the network, {quoted(path)}: only your own entries may"
                )

    def _problem(self, reason: str) -> Problem:
        origin = self.spec.origin
        message = masker(self.secrets)(f"Cannot start {quoted(self.spec.name)}: {reason}.")
        return Problem(message, origin.path, origin.line, origin.column, server=self.spec.name)

    def _expand(self, text: str, where: str) -> str:
        expansion = expanded(
            text, self.spec, machine=self.machine, workspace_folder=self.folder, given=self.given
        )
        self.secrets.extend(secret for secret in expansion.secrets if secret)
        self.problems.extend(f"in “{where}”, {problem}" for problem in expansion.problems)
        return expansion.text

    def _environment(self, folder: Path) -> dict[str, str]:
        """The inherited environment, over it the file's, over that the entry's own."""
        merged = dict(self.machine.environment)
        if self.spec.env_file:
            written = self._expand(self.spec.env_file, "envFile")
            for name, value in self._env_file(folder / expand_home(written, self.machine.home)).items():
                self._set(merged, name, value)
                self._mask(name, value)
        for name, text in self.spec.env.items():
            own = None if text is None else self._expand(text, f"env.{name}")
            self._set(merged, name, own)
            self._mask(name, own)
        return merged

    def _set(self, environment: dict[str, str], name: str, value: str | None) -> None:
        self.own[name] = value
        if self.machine.windows:
            for same in [other for other in environment if other.upper() == name.upper()]:
                del environment[same]
        else:
            environment.pop(name, None)
        if value is not None:
            environment[name] = value

    def _mask(self, name: str, value: str | None) -> None:
        if value and SECRET_NAME.search(name):
            self.secrets.append(value)

    def _env_file(self, path: Path) -> Mapping[str, str]:
        if self.problems:
            return {}
        try:
            return parse_env_file(decode(read_file(path)))
        except (UnreadableFileError, JsoncError) as error:
            self.problems.append(f"its envFile {path} {error}".rstrip("."))
            return {}

    def _check_characters(
        self, command: str, arguments: Iterable[str], environment: Mapping[str, str]
    ) -> None:
        """A NUL in what a variable held would raise in the middle of starting a process."""
        texts = {"command": [command], "args": arguments, "env": environment.values()}
        for where, values in texts.items():
            if any("\0" in value for value in values):
                self.problems.append(f"“{where}” holds a NUL character")

    def _program(
        self, command: str, arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str]
    ) -> str:
        lookup = environment_lookup(environment, ignore_case=self.machine.windows)
        path = lookup("PATH") or ""
        extensions = (lookup("PATHEXT") or DEFAULT_EXTENSIONS) if self.machine.windows else None
        search = Search(path, extensions)
        program: str | None
        if is_bare(command, windows=self.machine.windows):
            program = search.find(command)
            self.program_missing = program is None
            missing = f"no program {quoted(command)} on PATH ({path or 'which is empty'})"
        else:
            file = folder / expand_home(command, self.machine.home)
            program = search.complete(str(file))
            missing = f"{file} is not executable" if is_file(file) else f"there is no program {file}"
        if program is None:
            self.problems.append(missing + _advice(command))
            return ""
        refused = for_a_shell(program, arguments)
        if refused:
            number, argument = refused
            self.problems.append(
                f"argument {number}, {quoted(argument)}, holds a character that Windows would interpret on "
                f"its way to {program}: name the program that this batch file starts as “command” instead"
            )
        return program


def _advice(command: str) -> str:
    if any(character.isspace() for character in command):
        return ": “command” is the program alone, and each of its arguments stands in “args”"
    return ": install it, or write its full path as “command”"
