"""The benchmark's own arithmetic: what a row says, and that everything it measures with can be loaded."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from bench.__main__ import MEASUREMENTS, main
from bench.bare_server import ITEMS, ready_made
from bench.descriptors import descriptor
from bench.list_server import rendered_pages
from bench.queries import queries, typed
from bench.sampling import alternated
from bench.table import Row, markdown

BENCH = Path(__file__).parents[2] / "bench"


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCH.glob("[a-z]*.py")))
def test_a_module_of_the_benchmark_loads(name: str) -> None:
    importlib.import_module(f"bench.{name}")


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        (Row("at the limit", 8.0, 4.0, "ms", 2.0), True),
        (Row("over the limit", 8.1, 4.0, "ms", 2.0), False),
        (Row("for information", 900.0, 1.0, "ms"), True),
        (Row("without a reference", 149.0, None, "ms", 150.0), True),
        (Row("without a reference, over", 151.0, None, "ms", 150.0), False),
    ],
)
def test_a_row_knows_whether_its_limit_holds(row: Row, ok: bool) -> None:
    assert row.ok is ok
    assert row.to_json()["ok"] is ok


def test_a_limit_that_is_known_to_be_missed_stays_in_sight_and_fails_nothing() -> None:
    known, kept = Row("known", 3, 1, "s", 2, open=True), Row("kept", 2, 1, "s", 2, open=True)
    assert [(row.ok, row.fails, row.cells()[-2:]) for row in (known, kept)] == [
        (False, False, ("2", "open")),
        (True, False, ("2", "yes")),
    ]
    assert Row("unknown", 3, 1, "s", 2).fails


def test_the_table_shows_every_row_in_aligned_columns() -> None:
    table = markdown(
        [Row("fast", 1.234, 123.4, "ms", 0.5), Row("slow", 0.5, 0.25, "s", 1), Row("x", 3, None, "B", 2)]
    )
    lines = table.splitlines()
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["row", "Lectern", "reference", "ratio", "limit", "holds"]
    assert cells[2:] == [
        ["fast", "1.23 ms", "123 ms", "0.01", "0.5", "yes"],
        ["slow", "0.500 s", "0.250 s", "2.00", "1", "NO"],
        ["x", "3.00 B", "", "", "2 B", "NO"],
    ]


def test_samples_are_taken_in_turn_and_nobody_always_goes_first() -> None:
    order: list[str] = []
    ours, theirs = alternated(range(2), lambda: order.append("ours"), lambda: order.append("theirs"))
    assert order == ["ours", "theirs", "theirs", "ours"]
    assert len(ours) == len(theirs) == 2


def test_the_exit_code_tells_whether_every_limit_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.__main__.REPORT", tmp_path / "build" / "bench.json")
    monkeypatch.setattr("bench.__main__.TABLE", tmp_path / "table.md")
    monkeypatch.setitem(
        MEASUREMENTS, "start", lambda quick: [Row("a", 2.0, 1.0, "ms", 3.0 if quick else 1.0)]
    )
    assert main(["--row", "start", "--quick"]) == 0
    assert main(["--row", "start"]) == 1
    assert not (tmp_path / "table.md").exists()
    assert "| a " in capsys.readouterr().out
    assert json.loads((tmp_path / "build" / "bench.json").read_text())["rows"][0]["ratio"] == 2.0


def test_the_pages_hold_every_descriptor_once() -> None:
    pages = [json.loads(b'{"id":1' + page)["result"] for page in rendered_pages(25, 10)]
    assert [page.get("nextCursor") for page in pages] == ["1", "2", None]
    assert [entry for page in pages for entry in page["resources"]] == [
        descriptor(number) for number in range(25)
    ]


def test_descriptors_have_addresses_of_their_own_and_hold_what_queries_ask_for() -> None:
    entries = [descriptor(number) for number in range(10_000)]
    assert len({entry["uri"] for entry in entries}) == len(entries)
    assert "aa-149" in {entry["name"] for entry in entries}
    text = "\n".join(f"{entry['name']} {entry['title']} {entry['uri']}" for entry in entries).lower()
    asked = queries()
    assert "" in asked
    assert sum(query.lower() in text for query in asked) > len(asked) / 2


def test_the_bare_server_has_its_items_ready() -> None:
    assert ready_made() is ready_made()
    assert len(ready_made().items) == ITEMS


def test_a_query_with_a_space_is_typed_in_quotes() -> None:
    assert (typed("aa-149"), typed("alpha beta")) == ("See @aa-149", 'See @"alpha beta')
