/** One quiet item in the status bar while a server waits for the person; must not know how it is helped. */

import * as vscode from "vscode";

import { line } from "./plain";
import { type ServerState } from "./protocol";

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("lectern.status", vscode.StatusBarAlignment.Right);

  constructor() {
    this.#item.name = "Lectern: sign-in";
    this.#item.command = "lectern.ui.signIn";
  }

  /** Shows which servers need a sign-in; nothing where none does. */
  show(servers: readonly ServerState[]): void {
    const waiting = servers.filter(({ state }) => state === "needsSignIn").map(({ name }) => line(name, 40));
    const [first] = waiting;
    if (first === undefined) {
      this.#item.hide();
      return;
    }
    this.#item.text = `$(key) Sign in to ${waiting.length === 1 ? first : `${waiting.length} MCP servers`}`;
    this.#item.tooltip = `Lectern: ${waiting.join(", ")} ${waiting.length === 1 ? "needs" : "need"} you to sign in. Click to do so.`;
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}
