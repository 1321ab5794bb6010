/** One question after the other: forth, back, and out. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { inOrder, type Step } from "../src/wizard";

function played(...steps: Step<string>[]): { run: ReturnType<typeof inOrder<string, string>>; seen: string[] } {
  const seen: string[] = [];
  const run = inOrder<string, string>(["name", "age"], (question, index, before) => {
    seen.push(`${index} ${question} ${before?.answer ?? "-"}`);
    return Promise.resolve(steps.shift() ?? "cancel");
  });
  return { run, seen };
}

test("answers come in the order of the questions", async () => {
  assert.deepEqual(await played({ answer: "Ada" }, { answer: "36" }).run, ["Ada", "36"]);
});

test("going back asks again, with what was answered before", async () => {
  const { run, seen } = played({ answer: "Ade" }, "back", { answer: "Ada" }, { answer: "36" });
  assert.deepEqual(await run, ["Ada", "36"]);
  assert.deepEqual(seen, ["0 name -", "1 age -", "0 name Ade", "1 age -"]);
});

test("declining and leaving are told apart, and nothing more is asked", async () => {
  for (const ending of ["decline", "cancel"] as const) {
    const { run, seen } = played({ answer: "Ada" }, ending);
    assert.equal(await run, ending);
    assert.equal(seen.length, 2);
  }
});

test("nothing is behind the first question, and no question is answered by nothing", async () => {
  assert.deepEqual(await played("back", { answer: "Ada" }, { answer: "36" }).run, ["Ada", "36"]);
  assert.deepEqual(await inOrder([], () => Promise.resolve("cancel")), []);
});
