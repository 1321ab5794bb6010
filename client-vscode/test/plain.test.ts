/** LSP-07: what a server wrote cannot act, hide or reorder anything in VS Code's own labels and messages. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { line, message, whole } from "../src/plain";

test("LSP-07: no command link survives", () => {
  assert.ok(!line("see [here](command:evil)").includes("]("));
  assert.ok(!message("see [here](command:evil)\nand [there](command:evil)").includes("]("));
  assert.ok(!whole({ command: "[x](command:evil)" }).includes("]("));
});

test("LSP-07: no link comes into being where something is taken out of the middle", () => {
  assert.ok(!line("[x]\u202e(command:evil)").includes("]("));
  assert.ok(!line("[x]\u{e0041}(command:evil)").includes("]("));
});

test("LSP-07: a label is one line, without icons, unseen characters or endless length", () => {
  assert.equal(line("a\r\nb\u2028c\td"), "a b c d");
  assert.equal(line("$(flame) hot"), "$ (flame) hot");
  assert.equal(line("safe\u202egnp.exe\u200b"), "safe gnp.exe");
  assert.equal(line("x".repeat(1_000)).length, 500);
  assert.equal(line("日本語 é 👩"), "日本語 é 👩");
});

test("an entry is shown in full, its unseen characters as escapes that JSON reads back", () => {
  const entry = { command: "a\u202eb", args: ["\u{e0041}", "[x](command:evil)", "x".repeat(5_000), "line\nbreak"], env: { KEY: "\u0000" } };
  const shown = whole(entry);
  assert.doesNotMatch(shown, /[^\P{C}\n]/u);
  assert.deepEqual(JSON.parse(shown), entry);
});

test("an entry without a value has a text too", () => {
  assert.equal(whole(undefined), "null");
});
