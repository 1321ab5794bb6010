"""A ``--config`` file: settings, or an mcp.json of any shape, or both; must not read files.

Its servers and further files stay apart from its settings: they keep the trust of the command line, which
settings that arrive from an editor do not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_lectern.config.dialects import ALL, VSCODE, Source, read
from mcp_lectern.config.model import Reading
from mcp_lectern.settings.reading import KEYS, SECTION, leaves

_ENTRIES = frozenset(dialect.section for dialect in ALL)
_BESIDE = _ENTRIES.union(*(dialect.beside for dialect in ALL))
"""What an mcp.json holds and settings do not."""


def read_argument(value: object, source: Source) -> Reading:
    """All entries of the file, under whichever spelling of the section."""
    if not isinstance(value, Mapping):
        return read(value, source, ALL)
    readings: list[Reading] = []
    nested = value.get(SECTION)
    if isinstance(nested, Mapping) and _ENTRIES & nested.keys():
        readings.append(read(nested, replace(source, prefix=(*source.prefix, SECTION)), ALL))
    dotted = replace(VSCODE, section=f"{SECTION}.servers")
    if dotted.section in value:
        readings.append(read(value, source, (dotted,)))
    if _ENTRIES & value.keys() or not (readings or _is_settings(value)):
        readings.append(read(value, source, ALL))
    return Reading(
        tuple({spec.name: spec for reading in readings for spec in reading.specs}.values()),
        tuple(dict.fromkeys(problem for reading in readings for problem in reading.problems)),
        tuple(dict.fromkeys(name for reading in readings for name in reading.claimed)),
    )


def further_files(value: object) -> Sequence[str]:
    """The ``configFiles`` that the file names; what is no list is reported with its settings."""
    if not isinstance(value, Mapping):
        return ()
    lists = [inner for key, inner in leaves(value) if key == "configFiles" and isinstance(inner, list)]
    return [path for paths in lists for path in paths if isinstance(path, str) and path]


def settings_of(value: object) -> Mapping[str, object]:
    """The file's settings as a layer for `mcp_lectern.settings.read`, without its servers."""
    if not isinstance(value, Mapping):
        return {}
    return {key: inner for key, inner in leaves(value) if key not in _BESIDE and not _read_apart(key, inner)}


def _read_apart(key: str, value: object) -> bool:
    return key == "configFiles" and isinstance(value, list)


def _is_settings(value: Mapping[str, object]) -> bool:
    return not value or any(key in KEYS for key, _ in leaves(value))
