/** One restart runs and at most one waits, however often it is asked for. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Turns } from "../src/turns";

interface Run {
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

function recorded(): { turns: Turns; runs: Run[] } {
  const runs: Run[] = [];
  const turns = new Turns(
    () =>
      new Promise((resolve, reject) => {
        runs.push({ finish: resolve, fail: reject });
      }),
  );
  return { turns, runs };
}

test("requests during a run share one more run", async () => {
  const { turns, runs } = recorded();
  const first = turns.request();
  const later = [turns.request(), turns.request(), turns.request()];
  assert.equal(runs.length, 1);
  runs[0]?.finish();
  await first;
  await new Promise(setImmediate);
  assert.equal(runs.length, 2);
  runs[1]?.finish();
  await Promise.all(later);
  assert.equal(runs.length, 2);
});

test("a request during the second run is not lost", async () => {
  const { turns, runs } = recorded();
  void turns.request();
  const second = turns.request();
  runs[0]?.finish();
  await new Promise(setImmediate);
  const third = turns.request();
  runs[1]?.finish();
  await second;
  await new Promise(setImmediate);
  assert.equal(runs.length, 3);
  runs[2]?.finish();
  await third;
});

test("a run that fails is told to those who asked for it, and the next one runs", async () => {
  const { turns, runs } = recorded();
  const first = turns.request();
  const second = turns.request();
  runs[0]?.fail(new Error("no server"));
  await assert.rejects(first, /no server/u);
  await new Promise(setImmediate);
  runs[1]?.finish();
  await second;
});
