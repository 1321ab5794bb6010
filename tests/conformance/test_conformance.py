"""The official conformance suite's client scenarios, one by one, in every revision that it offers.

The suite's own way to run many ignores clients that crash or hang. Here each scenario's checks must have
passed, none failed, and the client must have ended in good order.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import parts

DRIVER = Path(__file__).with_name("driver.py")
OFFERED = re.compile(r"^ +- (\S+) \[(.*)\]$", re.MULTILINE)
TOOLS = "it is about tools, which Lectern neither lists nor calls"
EXTENSION = "it is about an extension of the protocol that Lectern does not claim to speak"

NOT_APPLICABLE = {
    "http-custom-headers": TOOLS,
    "http-invalid-tool-headers": TOOLS,
    "json-schema-2020-12-preservation": TOOLS,
    "auth/enterprise-managed-authorization": EXTENSION,
    "auth/dpop": EXTENSION,
    "auth/dpop-nonce": EXTENSION,
    "auth/wif-jwt-bearer": EXTENSION,
    "sep-2640-client-no-prefetch": EXTENSION,
    "sep-2640-client-verify-digest": EXTENSION,
    "sep-2640-client-verify-size": EXTENSION,
    "sep-2640-client-verify-frontmatter": EXTENSION,
}


@dataclass(frozen=True)
class Run:
    """One scenario in one revision; None for scenarios of extensions."""

    scenario: str
    revision: str | None

    def __str__(self) -> str:
        return f"{self.scenario}-{self.revision or 'extension'}"


def suite(*arguments: str) -> list[str]:
    """The command that runs the suite."""
    node, script = parts.find("node"), parts.find("conformance")
    if node is None or script is None:
        raise parts.UnavailableError(parts.missing("conformance"))
    return [str(node), str(script), *arguments]


def offered() -> list[Run]:
    """What the suite offers for clients, or nothing where it is missing."""
    try:
        command = suite("list", "--client")
    except parts.UnavailableError:
        return []
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    runs = []
    for scenario, revisions in OFFERED.findall(listed):
        dates = re.findall(r"\d{4}-\d\d-\d\d", revisions)
        runs += [Run(scenario, date) for date in dates or [None]]
    return runs


RUNS = offered()
APPLICABLE = [run for run in RUNS if run.scenario not in NOT_APPLICABLE]


@dataclass(frozen=True)
class Outcome:
    code: int
    output: str
    statuses: Counter[str]
    failures: list[str]


def played(run: Run, folder: Path) -> Outcome:
    """Let the suite play one scenario with our client."""
    command = f"{sys.executable} {DRIVER}"
    arguments = ["client", "--command", command, "--scenario", run.scenario, "-o", str(folder)]
    if run.revision is not None:
        arguments += ["--spec-version", run.revision]
    environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONDEVMODE": ""}
    done = subprocess.run(
        suite(*arguments), capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    checks = [check for path in folder.rglob("checks.json") for check in json.loads(path.read_text())]
    failed = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    return Outcome(
        done.returncode,
        done.stdout + done.stderr,
        Counter(check["status"] for check in checks),
        [f"{check['id']}: {check.get('errorMessage') or check['description']}" for check in failed],
    )


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Run, Future[Outcome]]]:
    """All scenarios, a few at a time: most of each is the start of two programs."""
    with ThreadPoolExecutor(max_workers=3) as pool:
        yield {run: pool.submit(played, run, tmp_path_factory.mktemp("checks")) for run in APPLICABLE}
        pool.shutdown(cancel_futures=True)


def test_the_suite_is_there() -> None:
    if not RUNS:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(parts.missing("conformance"))
    assert len({run.scenario for run in RUNS}) >= 48


def test_every_scenario_that_is_left_out_exists() -> None:
    if RUNS:
        assert NOT_APPLICABLE.keys() <= {run.scenario for run in RUNS}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("run", APPLICABLE, ids=str)
def test_a_scenario_passes(run: Run, outcomes: dict[Run, Future[Outcome]]) -> None:
    outcome = outcomes[run].result()
    assert outcome.failures == [], outcome.output
    assert outcome.statuses["SUCCESS"] > 0, outcome.output
    assert "CLIENT EXITED WITH ERROR" not in outcome.output, outcome.output
    assert outcome.code == 0, outcome.output
