"""Many sources to one list of servers, each name once; must not know how sources were read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_lectern.config.model import Level, Origin, Problem, Reading, ServerSpec
from mcp_lectern.settings.sentences import quoted


@dataclass(frozen=True, slots=True)
class Contribution:
    """One source's reading; ``origin`` is the source's own."""

    origin: Origin
    reading: Reading


_RANK = {Level.USER: 0, Level.HOST: 1, Level.WORKSPACE: 2}


def merge(contributions: Sequence[Contribution]) -> tuple[tuple[ServerSpec, ...], tuple[Problem, ...]]:
    """The servers, and a warning for each entry that another one keeps out.

    The more trusted source has a name, and among equals the one that stands first. A name counts as taken
    by an entry that was rejected, too: a typing error must not hand it to a less trusted file.
    """
    ranked = sorted(contributions, key=lambda contribution: _RANK[contribution.origin.level])
    owners: dict[str, Origin] = {}
    specs: list[ServerSpec] = []
    problems: list[Problem] = []
    for contribution in ranked:
        for spec in contribution.reading.specs:
            owner = owners.get(spec.name)
            if owner is None:
                specs.append(spec)
            else:
                problems.append(_kept_out(spec, owner))
        _claim(contribution.reading.claimed, contribution.origin, owners)
    return tuple(specs), tuple(problems)


def _claim(names: Iterable[str], origin: Origin, owners: dict[str, Origin]) -> None:
    for name in names:
        owners.setdefault(name, origin)


def _kept_out(spec: ServerSpec, owner: Origin) -> Problem:
    trusted = _RANK[owner.level] < _RANK[spec.origin.level]
    reason = "which is more trusted" if trusted else "which is read first"
    message = (
        f"{quoted(spec.name)} of {_where(spec.origin)} is left out: that name belongs to "
        f"{_where(owner)}, {reason}. Rename one of them."
    )
    origin = spec.origin
    return Problem(message, origin.path, origin.line, origin.column, "warning", spec.name)


def _where(origin: Origin) -> str:
    return str(origin.path) if origin.path else origin.label
