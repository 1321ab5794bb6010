"""From all that was configured to entries that a hub can run: settings, discovery, launch, trust.

Reads files and belongs in a thread; starts nothing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mcp_lectern.config.discover import config_layers, discover
from mcp_lectern.config.inputs import Input
from mcp_lectern.config.launch import launch
from mcp_lectern.config.login import answers_within, from_a_desktop
from mcp_lectern.config.model import Configuration, Launch, Level, Problem, Remote, ServerSpec
from mcp_lectern.config.places import Machine
from mcp_lectern.config.remote import Network, remote
from mcp_lectern.hub.entry import Anew, Entry, not_approved, not_examined, not_given
from mcp_lectern.settings import Settings, read
from mcp_lectern.settings.sentences import quoted
from mcp_lectern.settings.untrusted import restrained
from mcp_lectern.trust.approvals import Approvals, ApprovalsError, default_path
from mcp_lectern.trust.fingerprint import NOT_EXAMINED, fingerprint_of, shows
from mcp_lectern.trust.material import gather
from mcp_lectern.trust.policy import decide

GivenFor = Callable[[ServerSpec], Mapping[str, str]]
"""What people gave for the inputs of an entry, by their ids. It may block."""

_HURRY = 0.4
"""Seconds that entries wait for a user's profile which others are not to wait for."""


@dataclass(frozen=True, slots=True)
class Request:
    """``layers`` are what the client sent, weakest first, each with a label for messages.

    ``workspace_servers`` is the command line's word (``ask``, ``never``, ``always``), None for none.
    """

    layers: Sequence[tuple[str, object]] = ()
    config_files: Sequence[Path] = ()
    folders: Sequence[Path] = ()
    discover: bool = True
    trusted_settings: bool = False
    workspace_servers: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """``warnings`` are sentences about settings that were not understood."""

    settings: Settings
    warnings: tuple[str, ...]
    configuration: Configuration
    entries: tuple[Entry, ...]


def prepare(
    request: Request,
    previous: Configuration | None = None,
    *,
    approvals: Approvals | None = None,
    hurried: bool = False,
    given: GivenFor = lambda _spec: {},
) -> Prepared:
    """Everything as it is on disk now. ``previous`` serves files that are broken at the moment.

    ``hurried``: entries that have to wait for the user's profile, or for a store of secrets, are marked as
    ``preparing`` instead.
    """
    machine = Machine.this()
    settings, warnings = _settings(request)
    if not request.discover:
        settings = replace(settings, discover=())
    configuration = discover(
        settings,
        machine=machine,
        config_arguments=request.config_files,
        workspace_folders=request.folders,
        trusted_settings=request.trusted_settings,
        workspace_servers=request.workspace_servers,
        previous=previous,
    )
    network = Network(settings.network_ca_file, settings.network_proxy)
    policy = request.workspace_servers or settings.workspace_servers
    known = approvals or Approvals(default_path())
    folder = request.folders[0] if request.folders else None
    late = hurried and _must_wait(configuration.specs, machine)
    entries = [
        _preparing(spec)
        if late and _is_started(spec)
        else _entry(
            spec, machine, folder, known, policy=policy, network=network, given=None if hurried else given
        )
        for spec in configuration.specs
    ]
    warnings += [entry.warning for entry in entries if entry.warning]
    return Prepared(settings, tuple(warnings), configuration, tuple(entries))


def _is_started(spec: ServerSpec) -> bool:
    return spec.kind == "stdio" and not spec.disabled


def _must_wait(specs: Sequence[ServerSpec], machine: Machine) -> bool:
    """Whether programs can be looked for only once the user's profile has run, which takes a while."""
    if not from_a_desktop(machine) or not any(map(_is_started, specs)):
        return False
    return not answers_within(machine, _HURRY)


def _preparing(spec: ServerSpec) -> Entry:
    # Whether it is approved depends on what it starts: it is no more refused than allowed as yet.
    return Entry(spec, "", {}, approved=True, preparing=True)


def _settings(request: Request) -> tuple[Settings, list[str]]:
    """What all layers say together, as far as each may say it, and a sentence where one says more."""
    files = config_layers(request.config_files)
    said, warnings = read([*files, *request.layers])
    if request.trusted_settings:
        return said, warnings
    settings, ignored = restrained(said, read(files)[0])
    if ignored:
        warnings.append(
            f"Settings that may come from a workspace do not count for {', '.join(map(quoted, ignored))}: "
            "write them into a file that is given to Lectern with --config."
        )
    return settings, warnings


def _entry(
    spec: ServerSpec,
    machine: Machine,
    folder: Path | None,
    approvals: Approvals,
    *,
    policy: str,
    network: Network,
    given: GivenFor | None,
) -> Entry:
    """``given`` is None where the entry is to be decided on without what people gave, which takes a while."""
    # What an approval covers is the same whatever people give.
    as_written = {wanted.id: f"${{input:{wanted.id}}}" for wanted in spec.inputs}
    launched = _launched(spec, machine, folder, network, as_written)
    started = launched if isinstance(launched, Launch) else None
    covered = shows(spec, gather(spec, started, machine=machine, workspace_folder=folder))
    decision = decide(spec, covered, approvals, workspace_servers=policy)
    missing: tuple[Input, ...] = ()
    if spec.inputs and decision.approved and not spec.disabled:
        if given is None:
            return Entry(spec, fingerprint_of(covered), covered, approved=True, preparing=True)
        values = given(spec)
        missing = tuple(each for each in spec.inputs if each.id not in values and each.unusable is None)
        launched = _launched(spec, machine, folder, network, values)
    ready = launched if isinstance(launched, (Launch, Remote)) and not missing else None
    refusal = _refusal(spec, launched, decision.changed, approved=decision.approved)
    if missing:
        refusal = not_given(spec, missing)
    if not decision.approved and not spec.disabled and NOT_EXAMINED in covered:
        refusal = not_examined(spec, covered[NOT_EXAMINED])
    startable = None if spec.disabled else ready
    anew = None
    if (spec.origin.level is not Level.USER or spec.inputs) and not spec.disabled:
        again = partial(_entry, spec, machine, folder, approvals, policy=policy, network=network, given=given)
        anew = Anew(again, approvals.stamp)
    return Entry(
        spec,
        fingerprint_of(covered),
        covered,
        decision.approved,
        startable,
        refusal,
        decision.changed,
        anew,
        missing=missing,
    )


def _launched(
    spec: ServerSpec, machine: Machine, folder: Path | None, network: Network, given: Mapping[str, str]
) -> Launch | Remote | tuple[Problem, ...]:
    try:
        if spec.kind == "stdio":
            return launch(spec, machine=machine, workspace_folder=folder, given=given)
        return remote(spec, machine=machine, network=network, workspace_folder=folder, given=given)
    except Exception as error:  # noqa: BLE001 - whatever one entry holds must not cost the others
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        origin = spec.origin
        message = f"Cannot start {quoted(spec.name)}: its entry cannot be used ({reason})."
        return (Problem(message, origin.path, origin.line, origin.column, server=spec.name),)


def _refusal(
    spec: ServerSpec,
    launched: Launch | Remote | tuple[Problem, ...],
    changed: tuple[str, ...],
    *,
    approved: bool,
) -> str | None:
    if spec.disabled:
        return (
            f"The server “{spec.name}” is disabled in {spec.origin.label}: remove “disabled” there to use it."
        )
    if not approved:
        return not_approved(spec, changed)
    if isinstance(launched, (Launch, Remote)):
        return None
    return " ".join(problem.message for problem in launched)


def approve(entry: Entry, approvals: Approvals | None = None) -> None:
    """Store a person's approval of exactly this entry. Raises ApprovalsError."""
    if NOT_EXAMINED in entry.shows:
        raise ApprovalsError(not_examined(entry.spec, entry.shows[NOT_EXAMINED]))
    known = approvals or Approvals(default_path())
    known.approve(entry.spec.origin.folder, entry.spec.name, entry.fingerprint, entry.shows)


def revoke(entry: Entry, approvals: Approvals | None = None) -> bool:
    """Forget an approval; False where there was none. Raises ApprovalsError."""
    known = approvals or Approvals(default_path())
    return known.revoke(entry.spec.origin.folder, entry.spec.name)


def layer(label: str, value: Mapping[str, object] | None) -> tuple[tuple[str, object], ...]:
    """A layer of settings, or none."""
    return ((label, value),) if value else ()
