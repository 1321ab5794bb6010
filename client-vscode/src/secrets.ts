/** What the server keeps in VS Code's secret storage; must not know what it is, and writes none of it anywhere else. */

import type { SecretStorage } from "vscode";

import type { SecretParams } from "./protocol";

/** Requests whose content is nobody's but the person's: not even a trace of the conversation may hold it. */
const PRIVATE = /'lectern\/(?:secret|elicit|input)\b/u;

/** Does what a `lectern/secret` asks for; refused for anything that it cannot mean. */
export async function secret(storage: SecretStorage, { action, key, value }: SecretParams): Promise<{ value?: string }> {
  if (typeof key !== "string") {
    throw new TypeError("A secret needs a key.");
  }
  switch (action) {
    case "get": {
      const kept = await storage.get(key);
      return kept === undefined ? {} : { value: kept };
    }
    case "set":
      if (typeof value !== "string") {
        throw new TypeError("There is nothing to keep.");
      }
      await storage.store(key, value);
      return {};
    case "delete":
      await storage.delete(key);
      return {};
    default:
      throw new TypeError("A secret is read, kept or deleted, and nothing else.");
  }
}

/** What a trace may say of a message: its data, unless that is private. */
export function traceable(message: string, data: unknown): unknown {
  return PRIVATE.test(message) ? undefined : data;
}
