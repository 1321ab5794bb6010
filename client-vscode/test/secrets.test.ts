/** Secrets are kept where VS Code keeps them, and stand in no trace of the conversation. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { SecretStorage } from "vscode";

import type { SecretParams } from "../src/protocol";
import { secret, traceable } from "../src/secrets";

function storage(): SecretStorage {
  const kept = new Map<string, string>();
  return {
    get: (key: string) => Promise.resolve(kept.get(key)),
    store: (key: string, value: string) => Promise.resolve(void kept.set(key, value)),
    delete: (key: string) => Promise.resolve(void kept.delete(key)),
  } as unknown as SecretStorage;
}

test("a secret is kept, read and deleted", async () => {
  const here = storage();
  assert.deepEqual(await secret(here, { action: "get", key: "k" }), {});
  assert.deepEqual(await secret(here, { action: "set", key: "k", value: "v" }), {});
  assert.deepEqual(await secret(here, { action: "get", key: "k" }), { value: "v" });
  assert.deepEqual(await secret(here, { action: "get", key: "other" }), {});
  assert.deepEqual(await secret(here, { action: "delete", key: "k" }), {});
  assert.deepEqual(await secret(here, { action: "get", key: "k" }), {});
});

test("what cannot be meant is refused, in words without the secret", async () => {
  const wrong: unknown[] = [{ action: "set", key: "k" }, { action: "list", key: "k" }, { action: "set", key: 7, value: "hush" }];
  for (const params of wrong) {
    await assert.rejects(secret(storage(), params as SecretParams), (error: Error) => !error.message.includes("hush"));
  }
});

test("a trace holds neither secrets nor answers of a person", () => {
  for (const message of [
    "Received request 'lectern/secret - (3)'.",
    "Sending response 'lectern/secret - (3)'. Processing request took 2ms.",
    "Sending response 'lectern/elicit - (lectern-4)'. Processing request took 2ms.",
    "Sending response 'lectern/input - (lectern-5)'. Processing request took 2ms.",
  ]) {
    assert.equal(traceable(message, "Params: hush"), undefined);
  }
  assert.equal(traceable("Received notification 'lectern/status'.", "Params: {}"), "Params: {}");
});
