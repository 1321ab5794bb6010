"""A whole configuration value to its entries and problems; must not know where files lie.

Every entry that is written ends as a spec or as a problem of its own: none is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_lectern.config import inputs
from mcp_lectern.config.dialects.entry import FIELDS, RejectedError, read_entry, unused
from mcp_lectern.config.dialects.model import Dialect
from mcp_lectern.config.inputs import Inputs
from mcp_lectern.config.jsonc import Document
from mcp_lectern.config.model import Level, Origin, Problem, Reading, ServerSpec
from mcp_lectern.settings.sentences import did_you_mean, kind_of, quoted


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value came from. ``origin`` lacks the position, which ``document`` knows below ``prefix``."""

    origin: Origin
    document: Document | None = None
    prefix: tuple[str, ...] = ()

    def problem(
        self, message: str, *keys: str, severity: str = "error", server: str | None = None
    ) -> Problem:
        """A problem at these keys."""
        line, column = self.document.place(*self.prefix, *keys) if self.document else (0, 0)
        return Problem(message, self.origin.path, line, column, severity, server)

    def at(self, *keys: str) -> Origin:
        """The origin with the position of these keys."""
        line, column = self.document.place(*self.prefix, *keys) if self.document else (0, 0)
        return replace(self.origin, line=line, column=column)


def read(value: object, source: Source, dialects: Sequence[Dialect]) -> Reading:
    """All entries of a file in any of these dialects; where two sections share a name, the first counts."""
    if not isinstance(value, Mapping):
        return Reading(problems=(source.problem(f"A configuration is an object, not {kind_of(value)}."),))
    present = [dialect for dialect in dialects if dialect.section in value]
    if not present:
        return Reading(problems=(_no_section(value, source, dialects),))
    readings = [_with_inputs(value, source, dialect) for dialect in present]
    strays = _strays(value, source, dialects)
    return _together(readings, (*_duplicates(source), *strays))


def _with_inputs(value: Mapping[str, object], source: Source, dialect: Dialect) -> Reading:
    """The entries of a section together with what the file says of the inputs that they ask for."""
    if dialect.inputs is None:
        return read_section(value[dialect.section], source, dialect)
    described = inputs.read(value.get(dialect.inputs))
    reading = read_section(value[dialect.section], source, dialect, described)
    wrong = [source.problem(text, dialect.inputs, severity="warning") for text in described.problems]
    return replace(reading, problems=(*reading.problems, *wrong))


def read_section(value: object, source: Source, dialect: Dialect, described: Inputs = inputs.NONE) -> Reading:
    """The entries of one section; ``described`` are the inputs that they may ask for."""
    section = dialect.section
    if not isinstance(value, Mapping):
        message = f"{quoted(section)} is an object with one entry per server, not {kind_of(value)}."
        return Reading(problems=(source.problem(message, section),))
    specs: list[ServerSpec] = []
    problems: list[Problem] = []
    for name, entry in value.items():
        try:
            spec = read_entry(name, entry, dialect, source.at(section, name))
            if dialect.inputs is not None:
                spec = _asking(spec, described)
        except RejectedError as error:
            keys = (section, name, error.field) if error.field else (section, name)
            problems.append(source.problem(f"{quoted(name)} is left out: {error}.", *keys, server=name))
        else:
            specs.append(spec)
            problems.extend(_unused(spec, source, dialect))
            for text in described.strangers(spec.raw) if dialect.inputs is not None else ():
                keys = (section, name)
                problems.append(
                    source.problem(f"{quoted(name)}: {text}", *keys, severity="warning", server=name)
                )
    return Reading(tuple(specs), tuple(problems), tuple(value))


def _asking(spec: ServerSpec, described: Inputs) -> ServerSpec:
    """The spec with what it asks for. Raises `RejectedError`.

    An approval covers the program and the files that an entry leads to: what leads there is not asked for.
    """
    leading = {"command": spec.command, "cwd": spec.cwd, "envFile": spec.env_file}
    for field, text in leading.items() if spec.origin.level is not Level.USER else ():
        if inputs.used(text):
            raise RejectedError(f"“{field}” asks for an input, which only your own entries may", field)
    return replace(spec, inputs=described.of(spec.raw))


def _unused(spec: ServerSpec, source: Source, dialect: Dialect) -> Iterable[Problem]:
    for member in unused(spec, dialect):
        hint = "" if member in FIELDS else did_you_mean(member, FIELDS)
        transport = f" in a server of type {spec.kind}" if member in FIELDS else ""
        message = f"{quoted(spec.name)}: {quoted(member)} means nothing to Lectern{transport}{hint or '.'}"
        keys = (dialect.section, spec.name, member)
        yield source.problem(message, *keys, severity="warning", server=spec.name)


def _no_section(value: Mapping[str, object], source: Source, dialects: Sequence[Dialect]) -> Problem:
    sections = " or ".join(quoted(dialect.section) for dialect in dialects)
    for member, inner in value.items():
        hint = did_you_mean(member, [dialect.section for dialect in dialects])
        if hint:
            return source.problem(f"No servers here: {quoted(member)} is not known{hint}", member)
        if _looks_like_entry(inner):
            message = f"No servers here: {quoted(member)} looks like one, but servers stand under {sections}."
            return source.problem(message, member)
    return source.problem(f"No servers here: they stand under {sections}.", severity="warning")


def _strays(value: Mapping[str, object], source: Source, dialects: Sequence[Dialect]) -> Iterable[Problem]:
    """Entries beside the section instead of in it: somebody expects them to work."""
    known = {dialect.section for dialect in dialects}.union(*(dialect.beside for dialect in dialects))
    for member, inner in value.items():
        if member not in known and _looks_like_entry(inner):
            sections = " or ".join(quoted(section) for section in sorted(known & value.keys()))
            message = f"{quoted(member)} is left out: it stands beside {sections} instead of in it."
            yield source.problem(message, member, server=member)


def _looks_like_entry(value: object) -> bool:
    return isinstance(value, Mapping) and ("command" in value or "url" in value)


def _duplicates(source: Source) -> Iterable[Problem]:
    for path in source.document.duplicates if source.document else ():
        keys = path[len(source.prefix) :]
        message = f"{quoted(path[-1])} is written twice; the last one counts."
        server = keys[1] if len(keys) > 1 else None
        yield source.problem(message, *keys, severity="warning", server=server)


def _together(readings: Sequence[Reading], more: Iterable[Problem]) -> Reading:
    specs: dict[str, ServerSpec] = {}
    problems = [problem for reading in readings for problem in reading.problems]
    for spec in (spec for reading in readings for spec in reading.specs):
        first = specs.setdefault(spec.name, spec)
        if first is not spec:
            message = f"{quoted(spec.name)} stands in two sections of this file; the other one counts."
            origin = spec.origin
            problems.append(Problem(message, origin.path, origin.line, origin.column, "warning", spec.name))
    claimed = dict.fromkeys(name for reading in readings for name in reading.claimed)
    return Reading(tuple(specs.values()), (*problems, *more), tuple(claimed))
