"""Whether an entry may be started: one pure decision; must not know where approvals are kept."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mcp_lectern.config.model import Level, ServerSpec
from mcp_lectern.trust.approvals import Approval
from mcp_lectern.trust.fingerprint import NOT_EXAMINED, difference, fingerprint_of


class Approved(Protocol):
    """Where earlier approvals are looked up; `mcp_lectern.trust.approvals.Approvals` is one."""

    def find(self, folder: Path | None, name: str) -> Approval | None:
        """The approval of this name in this folder, whatever its fingerprint."""


@dataclass(frozen=True, slots=True)
class Decision:
    """``reason`` is a sentence. ``changed`` says what differs from what was approved before."""

    approved: bool
    reason: str
    changed: tuple[str, ...] = ()


def decide(
    spec: ServerSpec, shows: Mapping[str, object], approvals: Approved, *, workspace_servers: str
) -> Decision:
    """Whether this entry may be started.

    ``shows`` is everything that an approval would cover. ``workspace_servers`` is ``ask``, ``never`` or
    ``always``; the last exists on the command line only, and the settings' reader refuses it.
    """
    level = spec.origin.level
    if level is Level.USER:
        return Decision(True, "You configured it yourself.")
    if level is Level.WORKSPACE and workspace_servers == "never":
        return Decision(False, "Servers that a workspace names are switched off (workspaceServers).")
    if level is Level.WORKSPACE and workspace_servers == "always":
        return Decision(True, "The command line approves all servers of workspaces.")
    return _remembered(spec, shows, approvals.find(spec.origin.folder, spec.name))


def _remembered(spec: ServerSpec, shows: Mapping[str, object], approval: Approval | None) -> Decision:
    whose = "a workspace" if spec.origin.level is Level.WORKSPACE else f"another program, {spec.origin.label}"
    if NOT_EXAMINED in shows:
        return Decision(False, "It leads to more than can be looked at.")
    if approval is None:
        return Decision(False, f"It was configured by {whose}, and nobody has approved it yet.")
    if hmac.compare_digest(approval.fingerprint, fingerprint_of(shows)):
        return Decision(True, "You approved exactly this.")
    changed = tuple(difference(approval.shows, shows)) or ("it differs from what was approved",)
    return Decision(False, "It has changed since you approved it.", changed)
