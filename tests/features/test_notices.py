"""The remark on servers that cannot answer: which one, what it says, and what accepting it does."""

from __future__ import annotations

import pytest

from mcp_lectern.features.completion.notices import notice


@pytest.mark.case("LSP-07")
@pytest.mark.parametrize("state", ["notTrusted", "needsSignIn", "failed", "stopped"])
def test_lsp_07_a_name_is_shown_harmless_and_goes_back_as_it_is(state: str) -> None:
    name = "a\u202e](command:x)\n\u200b"
    remark = notice([name], {name: state}, {})
    assert remark is not None
    assert remark.action is not None
    for shown in (remark.text, remark.action.title):
        assert "a] (command:x)" in shown
        assert not set("\u202e\u200b\n") & set(shown)
    assert remark.action.argument == {"server": name}


def test_the_most_pressing_state_speaks_for_the_others() -> None:
    states = {"a": "starting", "b": "failed", "c": "failed", "d": "ready"}
    remark = notice(states, states, {"b": "no luck", "d": "cut short"})
    assert remark is not None
    assert (remark.server, remark.why) == ("b", "no luck")
    assert "b (and 1 more)" in remark.text
    assert notice(["d"], {"d": "ready"}, {}) is None
    assert notice(["a"], states, {"a": "an older trouble"}).why == ""  # type: ignore[union-attr]
