/** A note in the status bar while the document in front is older than its resource; must not read anything. */

import * as vscode from "vscode";

import { line } from "./plain";
import { type OlderDocument } from "./protocol";

export class Age implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("lectern.age", vscode.StatusBarAlignment.Right);
  readonly #watching = vscode.window.onDidChangeActiveTextEditor(() => {
    this.#update();
  });
  #older: ReadonlyMap<string, string> = new Map();

  constructor() {
    this.#item.name = "Lectern: older than its resource";
    this.#item.text = "$(warning) Older than its resource";
    this.#item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.#item.command = "lectern.ui.refresh";
  }

  /** The open documents that are older than their resources, as the server names them. */
  show(older: readonly OlderDocument[]): void {
    this.#older = new Map(older.map(({ document, reason }) => [document, reason]));
    this.#update();
  }

  dispose(): void {
    this.#watching.dispose();
    this.#item.dispose();
  }

  #update(): void {
    const document = vscode.window.activeTextEditor?.document.uri.toString();
    const reason = document === undefined ? undefined : this.#older.get(document);
    if (reason === undefined) {
      this.#item.hide();
      return;
    }
    this.#item.tooltip = `Lectern: ${line(reason)} Click to try again.`;
    this.#item.show();
  }
}
