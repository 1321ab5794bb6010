"""All configuration there is, read and merged; starts nothing, and never raises for what a file holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcp_lectern.config import jsonc
from mcp_lectern.config.config_argument import further_files, read_argument, settings_of
from mcp_lectern.config.dialects import VSCODE, Source, read, read_section
from mcp_lectern.config.files import (
    MissingFileError,
    UnreadableFileError,
    inside,
    leads_out,
    read_file,
    read_typed,
)
from mcp_lectern.config.merge import Contribution, merge
from mcp_lectern.config.model import Configuration, Level, Origin, Problem, Reading, Skipped
from mcp_lectern.config.places import READ, Candidate, Machine, named_file, vscode_files, workspace_files
from mcp_lectern.settings import Settings
from mcp_lectern.settings.sentences import quoted

TYPED = "--config"
"""The place of files that a person named on the command line."""


def discover(
    settings: Settings,
    *,
    machine: Machine,
    config_arguments: Sequence[Path] = (),
    workspace_folders: Sequence[Path] = (),
    trusted_settings: bool = False,
    workspace_servers: str | None = None,
    previous: Configuration | None = None,
) -> Configuration:
    """The configuration as it is on disk now.

    ``config_arguments`` are the ``--config`` files, ``workspace_servers`` the command line's word, which
    counts before the setting's. ``trusted_settings``: the settings cannot come from a workspace. What
    ``previous`` read from a file stays active while that file is broken.
    """
    search = _Search(machine, tuple(workspace_folders), trusted_settings, previous or Configuration())
    search.settings(settings)
    search.arguments(config_arguments)
    search.named(settings.config_files)
    search.places(settings.discover)
    return search.result(never=(workspace_servers or settings.workspace_servers) == "never")


def config_layers(paths: Iterable[Path]) -> list[tuple[str, object]]:
    """The settings in ``--config`` files, as layers. `discover` reports the files that cannot be read."""
    layers: list[tuple[str, object]] = []
    for path in paths:
        try:
            document = jsonc.parse(jsonc.decode(read_typed(path)))
        except (UnreadableFileError, jsonc.JsoncError):
            continue
        layers.append((f"--config {path}", settings_of(document.value)))
    return layers


@dataclass(slots=True)
class _Search:
    """What has been found so far, more trusted sources first."""

    machine: Machine
    folders: tuple[Path, ...]
    trusted: bool
    previous: Configuration
    contributions: list[Contribution] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    watched: list[Path] = field(default_factory=list)
    readings: dict[Path, Reading] = field(default_factory=dict)
    seen: dict[Path, str] = field(default_factory=dict)

    def settings(self, settings: Settings) -> None:
        folder = self.folders[0] if self.folders and not self.trusted else None
        level = Level.USER if self.trusted else Level.WORKSPACE
        origin = Origin(level, "settings", folder=folder)
        self._contribute(origin, read_section(settings.servers, Source(origin), VSCODE))

    def arguments(self, paths: Sequence[Path]) -> None:
        """The file that was typed last counts first, and all of them before the files that they name."""
        further: list[Candidate] = []
        for path in reversed([path.absolute() for path in paths]):
            label = f"--config {path}"
            candidate = Candidate(path, Level.USER, label, TYPED, expected=True, settings=True)
            value = self._file(candidate)
            for written in further_files(value):
                named = named_file(written, self.machine, path.parent)
                if named is None:
                    self.problems.append(_no_path(written))
                else:
                    further.append(Candidate(named, Level.USER, str(named), "configFiles", expected=True))
        for candidate in further:
            self._file(candidate)

    def named(self, written_paths: Iterable[str]) -> None:
        base = self.folders[0] if self.folders else None
        level = Level.USER if self.trusted else Level.WORKSPACE
        for written in written_paths:
            path = named_file(written, self.machine, base)
            if path is None:
                self.problems.append(_no_path(written))
                continue
            folder = None if self.trusted else base
            candidate = Candidate(path, level, written, "configFiles", folder=folder, expected=True)
            self._file(self._levelled(candidate))

    def places(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in READ:
                self.skipped.append(Skipped(name, f"This release does not read the files of {quoted(name)}."))
        if "vscode" in names:
            for candidate in vscode_files(self.machine):
                self._file(self._levelled(candidate))
        if "workspace" in names:
            for folder in self.folders:
                for candidate in workspace_files(folder):
                    self._file(candidate)

    def result(self, *, never: bool) -> Configuration:
        if never:
            self._drop_workspace()
        specs, kept_out = merge(self.contributions)
        return Configuration(
            specs,
            (*self.problems, *kept_out),
            tuple(self.skipped),
            tuple(self.files),
            tuple(dict.fromkeys(self.watched)),
            self.readings,
        )

    def _levelled(self, candidate: Candidate) -> Candidate:
        """A file inside a workspace folder is workspace level, whoever named it."""
        for folder in self.folders:
            if inside(candidate.path, folder):
                return replace(candidate, level=Level.WORKSPACE, folder=folder)
        return candidate

    def _file(self, candidate: Candidate) -> object:
        """Reads one candidate into the search; returns its value, None where there is none."""
        path = candidate.path
        self.watched.append(path)
        origin = Origin(candidate.level, candidate.label, path, candidate.folder)
        if candidate.place == "workspace" and candidate.folder and leads_out(path, candidate.folder):
            self._refuse(candidate, "leads out of the workspace by a symbolic link and is not read")
            return None
        if self._read_already(candidate):
            return None
        try:
            data = read_typed(path) if candidate.place == TYPED else read_file(path)
        except MissingFileError as error:
            if candidate.expected:
                self._refuse(candidate, f"{error}; remove its name or create it")
            else:
                self.skipped.append(Skipped(candidate.place, "It does not exist.", path))
            return None
        except UnreadableFileError as error:
            self._refuse(candidate, str(error))
            self._keep_previous(origin)
            return None
        try:
            document = jsonc.parse(jsonc.decode(data))
        except jsonc.JsoncError as error:
            self.problems.append(Problem(str(error), path, error.place.line, error.place.column))
            self._keep_previous(origin)
            return None
        self._document(document, origin, candidate)
        return document.value

    def _document(self, document: jsonc.Document, origin: Origin, candidate: Candidate) -> None:
        source = Source(origin, document)
        if candidate.settings:
            reading = read_argument(document.value, source)
        else:
            reading = read(document.value, source, candidate.dialects)
        self.files.append(candidate.path)
        self._contribute(origin, reading)

    def _contribute(self, origin: Origin, reading: Reading) -> None:
        self.contributions.append(Contribution(origin, reading))
        self.problems.extend(reading.problems)
        if origin.path:
            self.readings[origin.path] = reading

    def _keep_previous(self, origin: Origin) -> None:
        """The last good reading stays active, under the trust that the file has now."""
        reading = self.previous.readings.get(origin.path) if origin.path else None
        if reading is None:
            return
        specs = tuple(
            replace(spec, origin=replace(origin, line=spec.origin.line, column=spec.origin.column))
            for spec in reading.specs
        )
        self._contribute(origin, Reading(specs, (), reading.claimed))

    def _read_already(self, candidate: Candidate) -> bool:
        try:
            real = candidate.path.resolve()
        except (OSError, RuntimeError, ValueError):
            return False
        first = self.seen.get(real)
        if first is None:
            self.seen[real] = candidate.label
            return False
        self.skipped.append(Skipped(candidate.place, f"It was read already, as {first}.", candidate.path))
        return True

    def _refuse(self, candidate: Candidate, reason: str) -> None:
        message = f"{candidate.path} {reason}."
        self.problems.append(Problem(message, candidate.path))
        self.skipped.append(Skipped(candidate.place, message, candidate.path))

    def _drop_workspace(self) -> None:
        kept: list[Contribution] = []
        for contribution in self.contributions:
            if contribution.origin.level is not Level.WORKSPACE:
                kept.append(contribution)
            elif contribution.reading.claimed:
                names = ", ".join(quoted(name) for name in contribution.reading.claimed[:10])
                reason = f"The setting workspaceServers is “never”, so these are left out: {names}."
                self.skipped.append(Skipped(contribution.origin.label, reason, contribution.origin.path))
        self.contributions = kept


def _no_path(written: str) -> Problem:
    message = f"{quoted(written)} in “configFiles” cannot be read: write an absolute path, or one after ~/."
    return Problem(message)
