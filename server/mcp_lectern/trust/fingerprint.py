"""What an approval covers, and its fingerprint: pure functions of an entry and its material.

A person approves exactly what `shows` holds; what is not in it must not change what is started.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from mcp_lectern.config.model import ServerSpec
from mcp_lectern.settings.sentences import quoted
from mcp_lectern.trust.material import Material

_NAMES = {
    "kind": "type",
    "resolvedCommand": "program that the command leads to",
    "envFileContent": "content of envFile",
    "oauth": "sign-in",
    "inputs": "what it asks you for",
    "notExamined": "what cannot be looked at",
}
NOT_EXAMINED = "notExamined"
"""The member of what is shown that says why there is no approving it."""
_ABSENT = object()


def shows(spec: ServerSpec, material: Material) -> dict[str, object]:
    """Everything that an approval covers, as JSON, without what the entry does not say.

    Variables stand as written: a token that changes asks nobody again, and none is put on a screen.
    """
    covered: dict[str, object] = {
        "name": spec.name,
        "kind": spec.kind,
        "command": spec.command,
        "args": list(spec.args),
        "env": dict(spec.env),
        "cwd": spec.cwd,
        "envFile": spec.env_file,
        "url": spec.url,
        "headers": dict(spec.headers),
        "oauth": spec.raw.get("oauth"),
        "roots": spec.roots,
        "protocol": None if spec.protocol == "auto" else spec.protocol,
        "dialect": spec.dialect,
        "inputs": [wanted.to_json() for wanted in spec.inputs],
        "resolvedCommand": material.command,
        "envFileContent": material.env_file,
        "scripts": dict(material.scripts),
        NOT_EXAMINED: material.too_much,
    }
    return {key: value for key, value in covered.items() if value not in (None, [], {})}


def fingerprint(spec: ServerSpec, material: Material) -> str:
    """SHA-256 of what an approval covers, in hexadecimal; independent of the order of names."""
    return fingerprint_of(shows(spec, material))


def fingerprint_of(covered: Mapping[str, object]) -> str:
    """The fingerprint of what `shows` returned, which need not be built twice."""
    text = json.dumps(covered, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def difference(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """What changed between two answers of `shows`, one short sentence part each, in their order."""
    changes: list[str] = []
    for key in dict.fromkeys((*new, *old)):
        before, after = old.get(key, _ABSENT), new.get(key, _ABSENT)
        if before == after:
            continue
        if isinstance(before, Mapping) or isinstance(after, Mapping):
            changes.extend(_members(key, before, after))
        else:
            changes.append(_change(_NAMES.get(key, key), before, after, plain=key != "envFileContent"))
    return changes


def _members(key: str, before: object, after: object) -> list[str]:
    old = before if isinstance(before, Mapping) else {}
    new = after if isinstance(after, Mapping) else {}
    return [
        _change(
            _member_name(key, name), old.get(name, _ABSENT), new.get(name, _ABSENT), plain=key != "scripts"
        )
        for name in dict.fromkeys((*new, *old))
        if old.get(name, _ABSENT) != new.get(name, _ABSENT)
    ]


def _member_name(key: str, name: object) -> str:
    return f"content of {quoted(str(name))}" if key == "scripts" else f"{key}.{name}"


def _change(name: str, before: object, after: object, *, plain: bool) -> str:
    """``plain``: the values mean something to a person, unlike digests."""
    if before is _ABSENT:
        return f"{name} is new" + (f": {_shown(after)}" if plain else "")
    if after is _ABSENT:
        return f"{name} is gone" + (f": it was {_shown(before)}" if plain else "")
    return f"{name} changed" + (f" from {_shown(before)} to {_shown(after)}" if plain else "")


def _shown(value: object) -> str:
    return quoted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
