/** Asks a person to approve a server, showing everything that the approval covers; must not decide anything itself. */

import * as vscode from "vscode";

import { line, whole } from "./plain";
import { type ServerState } from "./protocol";

const FITS_A_DIALOG = 1_500;

/** The server to approve, out of those that wait for it. */
export async function chooseServer(waiting: readonly ServerState[]): Promise<ServerState | undefined> {
  const items = waiting.map((server) => ({ label: line(server.name), description: line(origin(server)), server }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "A server that waits for your approval" });
  return chosen?.server;
}

/** Whether the person agrees, after having seen the whole entry; `changed` is what is new since they last did. */
export async function agrees(name: string, shows: unknown, changed: readonly string[] = []): Promise<boolean> {
  const entry = whole(shows);
  const isLong = entry.length > FITS_A_DIALOG;
  if (isLong) {
    const document = await vscode.workspace.openTextDocument({ language: "json", content: entry });
    await vscode.window.showTextDocument(document, { preview: false });
  }
  const news = changed.length === 0 ? "" : `New since you approved it: ${line(changed.join(", "))}\n\n`;
  const approve = "Approve";
  const choice = await vscode.window.showWarningMessage(
    `Approve the MCP server “${line(name, 100)}”? It will be started as it is written here.`,
    { modal: true, detail: isLong ? `${news}The whole entry is too long for this dialog: it stands in the editor behind it.` : `${news}${entry}` },
    approve,
  );
  return choice === approve;
}

function origin(server: ServerState): string {
  return typeof server.origin === "string" ? server.origin : whole(server.origin);
}
