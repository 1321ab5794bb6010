"""``mcp-lectern approve``: show everything that an approval covers, then approve it; starts nothing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping

from mcp_lectern.cli.layout import say
from mcp_lectern.cli.program import DONE, FAILED, CommandError
from mcp_lectern.cli.running import Running, print_json, run_with_hub
from mcp_lectern.config.launch import launch
from mcp_lectern.config.model import Launch, Level
from mcp_lectern.config.places import Machine
from mcp_lectern.hub import prepare
from mcp_lectern.hub.entry import Entry
from mcp_lectern.text.untrusted import visible
from mcp_lectern.trust.approvals import ApprovalsError


def run(arguments: argparse.Namespace) -> int:
    """Approves what is on disk now; on a terminal it asks first. 1 where the answer is no."""
    return run_with_hub(arguments, lambda running: _approve(running, arguments))


async def _approve(running: Running, arguments: argparse.Namespace) -> int:
    entry = running.entry(arguments.server)
    name = visible(entry.spec.name)
    if not arguments.json:
        for line in covered(entry):
            say(line)
    if entry.spec.origin.level is not Level.USER:
        if entry.launched is None:
            raise CommandError(
                f"“{name}” cannot be started, so there is nothing to approve: {_why_not(running, entry)}"
            )
        if not entry.approved and not arguments.yes and not _agreed():
            return FAILED
        _store(entry)
    if arguments.json:
        shown = {"approved": True, "fingerprint": entry.fingerprint, "shows": dict(entry.shows)}
        print_json({"server": entry.spec.name, "trust": shown})
    elif entry.spec.origin.level is Level.USER:
        say(f"“{name}” is yours already ({visible(entry.spec.origin.label)}): it needs no approval.")
    else:
        say(f"“{name}” is approved, exactly as shown.")
    return DONE


def covered(entry: Entry) -> Iterator[str]:
    """Everything that an approval of this entry covers, and what changed since an earlier one."""
    yield f"{visible(entry.spec.name)}, from {visible(entry.spec.origin.label)}"
    yield from _members(entry.shows, 1)
    if entry.changed:
        yield "Since it was approved:"
        for change in entry.changed:
            yield f"  {visible(change)}"


def _members(members: Mapping[str, object], depth: int) -> Iterator[str]:
    for key, value in members.items():
        label = f"{'  ' * depth}{json.dumps(key, ensure_ascii=False)[1:-1]}"
        if isinstance(value, Mapping):
            yield f"{visible(label)}:"
            yield from _members(value, depth + 1)
        else:
            yield visible(f"{label}: {json.dumps(value, ensure_ascii=False)}")


def _agreed() -> bool:
    """Whether the person at the terminal says yes; without a terminal the command itself was the word."""
    if not sys.stdin.isatty():
        return True
    print("Approve exactly this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _why_not(running: Running, entry: Entry) -> str:
    if entry.spec.disabled:
        return entry.refusal or "it is disabled."
    outcome = launch(entry.spec, machine=Machine.this(), workspace_folder=running.folder)
    return "it can be started now; try again." if isinstance(outcome, Launch) else outcome[0].message


def _store(entry: Entry) -> None:
    try:
        prepare.approve(entry)
    except ApprovalsError as error:
        raise CommandError(str(error)) from error
