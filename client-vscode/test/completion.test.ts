import assert from "node:assert/strict";
import { test } from "node:test";

import { heldAgainst } from "../src/completion";

test("a row is held against what it covers, and against all of it where it is quoted", () => {
  for (const [filterText, held] of [
    ["@ picture A lectern, in pixels", "@"],
    ["@docs:no note://x docs", "@docs:no"],
    ["@all", "@all"],
    ['@"docs:two w two words docs', '@"docs:two w two words docs'],
  ] as const) {
    assert.equal(heldAgainst(filterText), held);
  }
});
