"""Layers of settings, as JSON carries them, to one `Settings`; must not know where a layer came from.

Nothing here raises, whatever the layers hold: a wrong value keeps what was there and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mcp_lectern.settings.model import PLACES, Settings
from mcp_lectern.settings.sentences import did_you_mean, kind_of, quoted
from mcp_lectern.settings.values import (
    Reader,
    WrongValueError,
    amount,
    boolean,
    choice,
    entries,
    filters,
    subset,
    switch_or,
    text,
    texts,
    whole,
)

SECTION = "lectern"


class _Key(NamedTuple):
    attribute: str
    reader: Reader


KEYS: Mapping[str, _Key] = {
    "servers": _Key("servers", entries),
    "configFiles": _Key("config_files", texts),
    "discover": _Key("discover", subset(PLACES)),
    "languages": _Key("languages", texts),
    "completion.limit": _Key("completion_limit", whole(1)),
    "diagnostics": _Key("diagnostics", switch_or("hint", "information", "warning")),
    "codeFences": _Key("code_fences", boolean),
    "symbols": _Key("symbols", boolean),
    "filters": _Key("filters", filters),
    "startup": _Key("startup", choice("onDemand", "eager")),
    "documents.languageFromName": _Key("documents_language_from_name", boolean),
    "limits.readBytes": _Key("limits_read_bytes", whole(1)),
    "limits.materializedBytes": _Key("limits_materialized_bytes", whole(0)),
    "materialized.days": _Key("materialized_days", amount(zero=True)),
    "timeouts.start": _Key("timeouts_start", amount(zero=False)),
    "timeouts.request": _Key("timeouts_request", amount(zero=False)),
    "timeouts.total": _Key("timeouts_total", amount(zero=False)),
    "workspaceServers": _Key("workspace_servers", choice("ask", "never")),
    "remember": _Key("remember", boolean),
    "network.caFile": _Key("network_ca_file", text),
    "network.proxy": _Key("network_proxy", text),
}
GROUPS = frozenset(key.split(".")[0] for key in KEYS if "." in key)
OF_CLIENTS = frozenset({"trace", "client"})
"""Groups that belong to language clients: theirs to read, nothing to warn about."""


def read(layers: Sequence[tuple[str, object]]) -> tuple[Settings, list[str]]:
    """The settings of all layers, and one sentence per thing that was not understood.

    A layer is a label for messages and a JSON value: an object with nested or dotted keys, with or without
    the section's name in front. A later layer wins, key by key; ``null`` is as good as absent.
    """
    values: dict[str, object] = {}
    warnings: list[str] = []
    for label, layer in layers:
        if not isinstance(layer, Mapping):
            warnings.append(f"{label}: settings are an object, not {kind_of(layer)}.")
            continue
        for key, value in leaves(layer):
            warning = _take(key, value, values)
            if warning:
                warnings.append(f"{label}: {warning}")
    return Settings(**values), warnings  # type: ignore[arg-type]


def leaves(layer: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The members of a layer as dotted keys of settings, known or not, each with its value."""
    for name, value in layer.items():
        if name == SECTION and isinstance(value, Mapping):
            yield from _members(value, "")
        else:
            yield from _members({name.removeprefix(f"{SECTION}."): value}, "")


def _members(layer: Mapping[str, object], group: str) -> Iterator[tuple[str, object]]:
    """Only known groups are entered, so depth is bounded by the dots of known keys."""
    for name, value in layer.items():
        key = f"{group}.{name}" if group else name
        if key in GROUPS and isinstance(value, Mapping):
            yield from _members(value, key)
        elif value is not None:
            yield key, value


def _take(key: str, value: object, values: dict[str, object]) -> str | None:
    """Reads one value into ``values``; returns a sentence if it could not."""
    known = KEYS.get(key)
    if known is None:
        return _unknown(key, value)
    try:
        values[known.attribute] = known.reader(value)
    except WrongValueError as expected:
        return f"{quoted(key)} must be {expected}, not {kind_of(value)}; it is left as it was."
    return None


def _unknown(key: str, value: object) -> str | None:
    group = key.split(".", 1)[0]
    if group in OF_CLIENTS:
        return None
    if key in GROUPS:
        return f"{quoted(key)} must be an object, not {kind_of(value)}; it is left as it was."
    return f"unknown setting {quoted(key)}{did_you_mean(key, [*KEYS, *GROUPS]) or '.'}"
