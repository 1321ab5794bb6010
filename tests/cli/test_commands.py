"""``list``, ``read``, ``doctor``, ``approve`` and ``revoke``: what they print where, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import DEMO, PROGRAM, Run

from mcp_lectern import __version__
from mcp_lectern.cli.demo_server import picture, tour
from mcp_lectern.config.files import LARGEST

Config = Callable[..., Path]

DEAD = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no such luck')"]}


def quiet(result: subprocess.CompletedProcess[bytes], code: int = 0) -> bytes:
    """The answer of a command that had nothing else to say."""
    assert (result.stderr.decode(), result.returncode) == ("", code)
    return result.stdout


def complaint(result: subprocess.CompletedProcess[bytes], code: int) -> str:
    """What a command that failed said; it has no answer."""
    assert (result.stdout, result.returncode) == (b"", code), result.stderr
    return result.stderr.decode()


class TestList:
    def test_every_resource_and_template_has_a_line(self, lectern: Run, config: Config) -> None:
        lines = quiet(lectern("list", "--config", config(demo=DEMO))).decode().splitlines()
        assert len(lines) == len(tour.exhibits()) + 2
        assert lines[0].split("  ")[0] == "@demo:tour://welcome"
        assert any(line.startswith('@"demo:tour://a page with spaces"') for line in lines)
        assert any("{editor}" in line and line.endswith("template") for line in lines)

    def test_a_query_ranks_and_a_limit_says_that_there_is_more(self, lectern: Run, config: Config) -> None:
        result = lectern("list", "mention", "--limit", "1", "--config", config(demo=DEMO))
        assert result.returncode == 0
        assert result.stdout.decode().split()[0] == "@demo:tour://mentions"

    def test_what_was_opened_last_in_the_folder_comes_first_among_its_equals(
        self, lectern: Run, config: Config, environment: Mapping[str, str], workspace: Path
    ) -> None:
        script = "import sys, pathlib; from mcp_lectern.hub.opened import Opened, place; "
        script += "Opened(place((pathlib.Path(sys.argv[1]),))).add(('demo', 'tour://second'))"
        subprocess.run([sys.executable, "-c", script, workspace], env=environment, check=True)
        names = [f"tour://{name}" for name in ("first", "second", "third")]
        server = [sys.executable, "-P", "-c", LISTING, *names]
        answer = quiet(lectern("list", "--config", config(demo={"command": server[0], "args": server[1:]})))
        assert [line.split()[0].removeprefix("@demo:tour://") for line in answer.decode().splitlines()] == [
            "second",
            "first",
            "third",
        ]

    def test_json_has_the_shape_of_the_command(self, lectern: Run, config: Config) -> None:
        answer = json.loads(quiet(lectern("list", "--json", "--config", config(demo=DEMO))))
        assert set(answer) == {"items", "templates", "incomplete", "partial", "truncated"}
        assert (answer["incomplete"], answer["partial"], answer["truncated"]) == (False, False, False)
        item = next(item for item in answer["items"] if item["uri"] == "tour://welcome")
        assert item["mention"] == "@demo:tour://welcome"
        assert {"server", "name", "title", "description", "mimeType", "size", "annotations"} < set(item)

    def test_a_dead_server_costs_its_own_entries_and_the_exit_code(
        self, lectern: Run, config: Config
    ) -> None:
        result = lectern("list", "--config", config(demo=DEMO, dead=DEAD))
        assert result.returncode == 1
        assert len(result.stdout.splitlines()) == len(tour.exhibits()) + 2
        assert "dead" in result.stderr.decode()
        assert "no such luck" in result.stderr.decode()

    def test_one_server_is_asked_and_no_other_is_started(
        self, lectern: Run, config: Config, tmp_path: Path
    ) -> None:
        marker = {"command": sys.executable, "args": ["-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]}
        quiet(lectern("list", "--server", "demo", "--config", config(demo=DEMO, other=marker)))
        assert not (tmp_path / "ran").exists()

    def test_no_servers_is_an_empty_answer(self, lectern: Run) -> None:
        assert quiet(lectern("list", "--no-discover")) == b""

    def test_an_unknown_server_is_a_usage_error(self, lectern: Run, config: Config) -> None:
        said = complaint(lectern("list", "--server", "nobody", "--config", config(demo=DEMO)), 2)
        assert "nobody" in said
        assert "demo" in said

    @pytest.mark.parametrize("text", ["{", '{"servers": 7}', '{"servers": {"x": 5}}'])
    def test_a_broken_config_file_is_named_with_its_place(
        self, lectern: Run, tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "broken.json"
        path.write_text(text)
        said = complaint(lectern("list", "--config", path), 2)
        assert f"{path}:1:" in said

    def test_a_missing_config_file_is_a_configuration_error(self, lectern: Run, tmp_path: Path) -> None:
        assert "does not exist" in complaint(lectern("list", "--config", tmp_path / "nothing.json"), 2)

    def test_a_reader_that_has_seen_enough_hears_no_complaint(
        self, config: Config, environment: dict[str, str], workspace: Path
    ) -> None:
        command = [*PROGRAM, "list", "--config", str(config(demo=DEMO))]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=workspace, env=environment
        )
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(20) == 0

    def test_what_a_terminal_would_obey_is_not_printed(
        self, lectern: Run, config: Config, tmp_path: Path
    ) -> None:
        evil = tmp_path / "evil.py"
        evil.write_text(EVIL)
        result = lectern("list", "--config", config(evil={"command": sys.executable, "args": [str(evil)]}))
        assert result.returncode == 0
        assert "danger" in result.stdout.decode()
        assert b"\x1b" not in result.stdout
        assert len(result.stdout.splitlines()) == 1


LISTING = r"""
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    answer = {"resources": [{"uri": uri, "name": uri} for uri in sys.argv[1:]], "resourceTemplates": []}
    if ask["method"] == "initialize":
        capabilities, info = {"resources": {}}, {"name": "l"}
        answer = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if "id" in ask:
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": answer}), flush=True)
"""

EVIL = r"""
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    method, answer = ask["method"], {}
    if method == "initialize":
        capabilities, info = {"resources": {}}, {"name": "e"}
        answer = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    elif method == "resources/list":
        answer = {"resources": [{"uri": "e://1", "name": "\x1b]0;owned\x07danger\nsecond line"}]}
    elif method == "resources/templates/list":
        answer = {"resourceTemplates": []}
    elif method == "resources/read":
        answer = {"contents": [{"uri": "e://1", "text": "\x1b[31mred\x07"}]}
    elif method == "server/discover":
        refusal = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "error": refusal}), flush=True)
        continue
    if "id" in ask:
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": answer}), flush=True)
"""


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have names on POSIX alone")
class TestPipes:
    @pytest.mark.parametrize("command", [["list", "welcome"], ["doctor"], ["demo"]])
    def test_a_configuration_may_be_piped(self, lectern: Run, command: list[str]) -> None:
        reading, writing = os.pipe()
        os.write(writing, json.dumps({"servers": {"piped": DEMO}}).encode())
        os.close(writing)
        result = lectern(*command, "--config", f"/dev/fd/{reading}", pass_fds=[reading])
        os.close(reading)
        assert (result.returncode, result.stderr) == (0, b""), result.stdout.decode()
        assert "piped" in result.stdout.decode()

    @pytest.mark.parametrize("text", ["", "{", "x" * (LARGEST + 1)], ids=["empty", "broken", "too large"])
    def test_what_cannot_be_read_from_a_pipe_is_a_usage_error(
        self, lectern: Run, tmp_path: Path, text: str
    ) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=_write, args=(pipe, text))
        writer.start()
        result = lectern("list", "--no-discover", "--config", pipe)
        writer.join()
        assert (result.returncode, result.stdout) == (2, b"")
        assert len(result.stderr.splitlines()) == 1

    def test_no_other_file_may_be_a_pipe(self, lectern: Run, workspace: Path, config: Config) -> None:
        os.mkfifo(workspace / ".mcp.json")
        result = lectern("list", "welcome", "--config", config(demo=DEMO))
        assert "not a regular file" in result.stderr.decode()
        assert "demo" in result.stdout.decode()


def _write(pipe: Path, text: str) -> None:
    with contextlib.suppress(BrokenPipeError), pipe.open("w") as file:
        file.write(text)


class TestRead:
    @pytest.mark.parametrize(
        "words",
        [
            ["@demo:tour://welcome"],
            ["tour://welcome", "--server", "demo"],
            ["@tour://welcome"],
            ["tour://welcome"],
        ],
    )
    def test_text_goes_to_stdout_as_it_is(self, lectern: Run, config: Config, words: list[str]) -> None:
        result = lectern("read", *words, "--config", config(demo=DEMO))
        assert quiet(result) == tour.page("welcome.md").encode()

    def test_a_resource_that_no_list_holds_is_read_by_name(self, lectern: Run, config: Config) -> None:
        result = lectern("read", "@demo:tour://keys/VS%20Code/follow", "--config", config(demo=DEMO))
        assert b"F12" in quiet(result)

    def test_control_characters_pass_through_a_pipe(
        self, lectern: Run, config: Config, tmp_path: Path
    ) -> None:
        evil = tmp_path / "evil.py"
        evil.write_text(EVIL)
        entry = {"command": sys.executable, "args": [str(evil)]}
        assert quiet(lectern("read", "@evil:e://1", "--config", config(evil=entry))) == b"\x1b[31mred\x07"

    @pytest.mark.parametrize(
        ("mention", "subject"),
        [("", "An empty text"), (" ", "An empty text"), ("@", "“@”"), ("a b", "“a b”")],
    )
    def test_what_is_no_mention_is_named(
        self, lectern: Run, config: Config, mention: str, subject: str
    ) -> None:
        said = complaint(lectern("read", mention, "--config", config(demo=DEMO)), 2)
        assert said.startswith(f"mcp-lectern: {subject} is no mention.")

    def test_binary_content_is_refused_without_a_file(self, lectern: Run, config: Config) -> None:
        said = complaint(lectern("read", "@demo:tour://picture", "--config", config(demo=DEMO)), 1)
        assert "--out" in said
        assert "image/png" in said

    def test_binary_content_is_written_to_a_new_file_only(
        self, lectern: Run, config: Config, tmp_path: Path
    ) -> None:
        words = ["read", "@demo:tour://picture", "--config", config(demo=DEMO), "--out", tmp_path / "p.png"]
        result = lectern(*words)
        assert (result.returncode, result.stdout) == (0, b"")
        assert (tmp_path / "p.png").read_bytes() == picture.png()
        assert "exists" in complaint(lectern(*words), 1)
        assert (tmp_path / "p.png").read_bytes() == picture.png()

    def test_several_items_have_headings(self, lectern: Run, config: Config) -> None:
        lines = (
            quiet(lectern("read", "@demo:tour://parcel", "--config", config(demo=DEMO))).decode().splitlines()
        )
        assert [line for line in lines if line.startswith("--- ")] == [
            "--- tour://parcel/letter.md (text/markdown)",
            "--- tour://parcel/inventory.json (application/json)",
            "--- tour://parcel/stamp.png (image/png)",
        ]
        assert not any("�" in line for line in lines)

    def test_several_items_do_not_fit_into_one_file(
        self, lectern: Run, config: Config, tmp_path: Path
    ) -> None:
        out = tmp_path / "parcel"
        said = complaint(
            lectern("read", "@demo:tour://parcel", "--config", config(demo=DEMO), "--out", out), 1
        )
        assert "3 items" in said
        assert not out.exists()

    def test_json_holds_every_item_and_no_bytes(self, lectern: Run, config: Config) -> None:
        result = lectern("read", "@demo:tour://parcel", "--json", "--config", config(demo=DEMO))
        answer = json.loads(quiet(result))
        assert (answer["server"], answer["uri"]) == ("demo", "tour://parcel")
        assert [item["kind"] for item in answer["items"]] == ["text", "text", "binary"]
        assert answer["items"][2] == {
            "uri": "tour://parcel/stamp.png",
            "mimeType": "image/png",
            "kind": "binary",
            "size": len(picture.png(2)),
        }

    @pytest.mark.parametrize(
        ("words", "code", "words_said"),
        [
            (["@demo:tour://nothing"], 1, ["demo", "tour://nothing"]),
            (["tour://welcome", "--server", "nobody"], 2, ["nobody", "demo"]),
            (["two words"], 2, ["mention"]),
            (["@demo:tour://welcome", "--json", "--out", "x"], 2, ["--json", "--out"]),
        ],
    )
    def test_a_failure_is_one_sentence(
        self, lectern: Run, config: Config, words: list[str], code: int, words_said: list[str]
    ) -> None:
        said = complaint(lectern("read", *words, "--config", config(demo=DEMO)), code)
        assert len(said.splitlines()) == 1
        assert all(word in said for word in words_said)

    def test_a_uri_of_two_servers_is_ambiguous(self, lectern: Run, config: Config) -> None:
        said = complaint(lectern("read", "@tour://welcome", "--config", config(one=DEMO, two=DEMO)), 2)
        assert "@one:tour://welcome" in said
        assert "@two:tour://welcome" in said


OPENED = r"""
import sys, pathlib
from mcp_lectern.hub.opened import Opened, place
opened = Opened(place([pathlib.Path(sys.argv[1])]))
print(("demo", "tour://welcome") in opened)
opened.add(("demo", "tour://welcome"))
"""


class TestApproval:
    @pytest.fixture
    def named(self, workspace: Path) -> Path:
        path = workspace / ".vscode" / "mcp.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"servers": {"demo": DEMO}}))
        return path

    def test_a_workspace_server_is_not_started_before_it_is_approved(self, lectern: Run, named: Path) -> None:
        result = lectern("list")
        assert (result.stdout, result.returncode) == (b"", 0)
        assert "not approved" in result.stderr.decode()
        assert "not approved" in complaint(lectern("read", "@demo:tour://welcome"), 1)
        assert "not approved" in complaint(lectern("list", "--server", "demo"), 1)

    def test_approve_shows_the_entry_and_the_server_may_start(self, lectern: Run, named: Path) -> None:
        shown = quiet(lectern("approve", "demo")).decode()
        assert json.dumps(DEMO["command"]) in shown
        assert all(word in shown for word in DEMO["args"])
        assert ".vscode/mcp.json" in shown
        assert quiet(lectern("read", "@demo:tour://welcome")) == tour.page("welcome.md").encode()

    def test_a_changed_entry_asks_again_and_says_what_changed(self, lectern: Run, named: Path) -> None:
        quiet(lectern("approve", "demo"))
        changed = {**DEMO, "env": {"COLOUR": "red"}}
        named.write_text(json.dumps({"servers": {"demo": changed}}))
        assert "COLOUR" in complaint(lectern("list", "--server", "demo"), 1)
        assert "COLOUR" in quiet(lectern("approve", "demo")).decode()
        quiet(lectern("list", "--server", "demo"))

    def test_an_approval_holds_in_its_folder_only(self, lectern: Run, named: Path, tmp_path: Path) -> None:
        quiet(lectern("approve", "demo"))
        other = tmp_path / "other" / ".vscode"
        other.mkdir(parents=True)
        (other / "mcp.json").write_text(named.read_text())
        assert "not approved" in complaint(
            lectern("list", "--server", "demo", "--workspace", other.parent), 1
        )

    def test_revoke_takes_it_back(self, lectern: Run, named: Path) -> None:
        quiet(lectern("approve", "demo"))
        assert "not approved any more" in quiet(lectern("revoke", "demo")).decode()
        assert "not approved" in complaint(lectern("list", "--server", "demo"), 1)
        assert json.loads(quiet(lectern("revoke", "demo", "--json"))) == {"server": "demo", "revoked": False}

    def test_revoke_forgets_what_was_opened(
        self, lectern: Run, named: Path, workspace: Path, environment: dict[str, str]
    ) -> None:
        def opened() -> bytes:
            command = [sys.executable, "-P", "-c", OPENED, str(workspace)]
            return subprocess.run(command, env=environment, capture_output=True, check=True).stdout.strip()

        quiet(lectern("approve", "demo"))
        assert [opened(), opened()] == [b"False", b"True"]
        quiet(lectern("revoke", "demo"))
        assert opened() == b"False"

    def test_an_approval_that_outlived_its_entry_can_be_taken_back(self, lectern: Run, named: Path) -> None:
        quiet(lectern("approve", "demo"))
        entry = named.read_text()
        named.unlink()
        quiet(lectern("revoke", "demo"))
        named.write_text(entry)
        assert "not approved" in complaint(lectern("list", "--server", "demo"), 1)

    def test_json_tells_the_fingerprint(self, lectern: Run, named: Path) -> None:
        answer = json.loads(quiet(lectern("approve", "demo", "--json")))
        assert answer["trust"]["approved"] is True
        assert answer["trust"]["shows"]["command"] == DEMO["command"]
        assert answer["trust"]["fingerprint"]

    @pytest.mark.parametrize("command", ["approve", "revoke"])
    def test_an_unknown_name_is_a_usage_error(self, lectern: Run, named: Path, command: str) -> None:
        assert "nobody" in complaint(lectern(command, "nobody"), 2)

    def test_one_s_own_server_needs_none(self, lectern: Run, config: Config) -> None:
        assert "no approval" in quiet(lectern("approve", "demo", "--config", config(demo=DEMO))).decode()
        assert "your own" in complaint(lectern("revoke", "demo", "--config", config(demo=DEMO)), 2)

    def test_what_cannot_be_started_is_not_approved(self, lectern: Run, named: Path) -> None:
        named.write_text(json.dumps({"servers": {"demo": {"command": "no-such-program-anywhere"}}}))
        result = lectern("approve", "demo")
        assert result.returncode == 1
        assert "no-such-program-anywhere" in result.stderr.decode()

    @pytest.mark.skipif(os.name != "posix", reason="the test plays a terminal, which only POSIX lets it")
    @pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
    def test_a_person_at_a_terminal_is_asked(
        self, lectern: Run, named: Path, typed: bytes, code: int
    ) -> None:
        terminal, side = os.openpty()
        try:
            os.write(terminal, typed)
            result = lectern("approve", "demo", stdin=side)
        finally:
            os.close(side)
            os.close(terminal)
        assert result.returncode == code
        assert b"[y/N]" in result.stderr
        assert lectern("list", "--server", "demo").returncode == code


class TestDoctor:
    def test_a_healthy_server_is_told_in_full(self, lectern: Run, config: Config) -> None:
        path = config(demo=DEMO)
        report = json.loads(quiet(lectern("doctor", "--json", "--config", path)))
        assert report["version"] == __version__
        assert report["files"] == [str(path)]
        (server,) = report["servers"]
        assert server["state"] == "ready"
        assert server["trust"]["approved"] is True
        assert (server["transport"], server["protocolVersion"]) == ("stdio", "2026-07-28")
        assert server["resources"] == len(tour.exhibits())
        assert server["templates"] == 2
        assert server["startSeconds"] > 0
        assert server["serverInfo"]["name"] == "lectern-tour"

    def test_a_person_reads_the_same(self, lectern: Run, config: Config, tmp_path: Path) -> None:
        path = config(demo=DEMO)
        text = quiet(lectern("doctor", "--config", path)).decode()
        for word in (
            "demo: ready, approved",
            str(path),
            "2026-07-28",
            "11 resources",
            ".mcp.json: It does not exist.",
        ):
            assert word in text

    def test_a_dead_server_shows_its_last_words(self, lectern: Run, config: Config) -> None:
        result = lectern("doctor", "--json", "--config", config(demo=DEMO, dead=DEAD))
        assert (result.returncode, result.stderr) == (1, b"")
        servers = {server["name"]: server for server in json.loads(result.stdout)["servers"]}
        assert "no such luck" in servers["dead"]["lastError"]
        assert any("no such luck" in line for line in servers["dead"]["log"])
        assert servers["demo"]["state"] == "ready"

    def test_a_broken_file_is_a_problem_with_a_place(self, lectern: Run, workspace: Path) -> None:
        (workspace / ".mcp.json").write_text('{"mcpServers": {\n  oops')
        report = json.loads(quiet(lectern("doctor", "--json")))
        (problem,) = report["problems"]
        assert problem["path"] == str(workspace / ".mcp.json")
        assert problem["line"] == 2

    def test_a_workspace_server_is_reported_and_not_started(
        self, lectern: Run, workspace: Path, tmp_path: Path
    ) -> None:
        marker = {"command": sys.executable, "args": ["-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]}
        (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": marker}}))
        report = json.loads(quiet(lectern("doctor", "--json")))
        assert [server["state"] for server in report["servers"]] == ["notTrusted"]
        assert not (tmp_path / "ran").exists()


def test_a_file_that_cannot_be_written_is_one_sentence(lectern: Run, config: Config, tmp_path: Path) -> None:
    words = ["read", "@demo:tour://picture", "--config", config(demo=DEMO), "--out", tmp_path / "no" / "x"]
    assert "cannot be written" in complaint(lectern(*words), 1)


def processes_of(marker: str) -> Iterator[Any]:
    import psutil

    for process in psutil.process_iter(["cmdline"]):
        if marker in " ".join(process.info["cmdline"] or ()):
            yield process


@pytest.mark.parametrize("command", [["list"], ["doctor"], ["read", "@demo:tour://welcome"]])
def test_no_server_outlives_its_command(lectern: Run, config: Config, command: list[str]) -> None:
    entry = {**DEMO, "args": [*DEMO["args"], "--tick", "77.125"]}
    quiet(lectern(*command, "--config", config(demo=entry)))
    assert list(processes_of("77.125")) == []
