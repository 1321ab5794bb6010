/** The user's own settings, without what a workspace adds to them: a cloned folder must not configure servers. */

import * as vscode from "vscode";

const SECTION = "lectern";

/** Everything under `lectern` that stands in the user's settings. */
export function userSettings(): Record<string, unknown> {
  const values = userValue(SECTION);
  return typeof values === "object" ? { ...values } : {};
}

/** What the user set for a key, else the extension's default. */
export function userSetting<T>(key: string, otherwise: T): T {
  const inspected = vscode.workspace.getConfiguration(SECTION).inspect<T>(key);
  return inspected?.globalValue ?? inspected?.defaultValue ?? otherwise;
}

/** The answer to one item of `workspace/configuration`: user values of ours, nothing of anyone else's. */
export function answer(section: string | undefined): unknown {
  const isOurs = section === SECTION || section?.startsWith(`${SECTION}.`) === true;
  return isOurs ? (userValue(section) ?? null) : null;
}

function userValue(key: string): unknown {
  return vscode.workspace.getConfiguration().inspect(key)?.globalValue;
}
