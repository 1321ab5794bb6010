/**
 * Signing in to a server and out of it, because the person said so; must not know how that is done.
 *
 * One signs in to remote servers, and to others whose entry asks for an input.
 */

import * as vscode from "vscode";

import { line } from "./plain";
import { type ServerState } from "./protocol";
import { type Server } from "./server";

/** Signs in to the one server that waits for it, or to one that is chosen. */
export async function signIn(server: Server): Promise<void> {
  const possible = await asking(server);
  const waiting = possible.filter(({ state }) => state === "needsSignIn");
  const chosen = await choose(waiting.length > 0 ? waiting : possible, "Sign in to which MCP server?");
  if (chosen === undefined) {
    return;
  }
  const name = line(chosen.name, 100);
  const where = chosen.transport === "stdio" ? "" : ": go on in your browser";
  const options = { location: vscode.ProgressLocation.Notification, title: `Signing in to “${name}”${where}`, cancellable: true };
  await vscode.window.withProgress(options, (_progress, token) => server.execute("lectern.signIn", { server: chosen.name }, token));
  vscode.window.setStatusBarMessage(`Lectern: signed in to ${name}`, 5_000);
}

/** Signs out of a server that is chosen; its tokens, and what was read with them, are forgotten. */
export async function signOut(server: Server): Promise<void> {
  const signedIn = (await asking(server)).filter(({ state }) => state !== "needsSignIn");
  const chosen = await choose(signedIn, "Sign out of which MCP server?", true);
  if (chosen === undefined) {
    return;
  }
  await server.execute("lectern.signOut", { server: chosen.name });
  vscode.window.setStatusBarMessage(`Lectern: signed out of ${line(chosen.name, 100)}`, 5_000);
}

async function asking(server: Server): Promise<readonly ServerState[]> {
  const { servers } = await server.execute("lectern.servers", {});
  return servers.filter((each) => (each.transport !== "stdio" || asksForInputs(each)) && each.state !== "notTrusted");
}

function asksForInputs({ trust: { shows } }: ServerState): boolean {
  return typeof shows === "object" && shows !== null && "inputs" in shows;
}

async function choose(servers: readonly ServerState[], placeHolder: string, always = false): Promise<ServerState | undefined> {
  const [first] = servers;
  if (first === undefined) {
    await vscode.window.showInformationMessage("No MCP server is there that one could do this with: only remote ones, and those whose entry asks for an input, are signed in to.");
    return undefined;
  }
  if (servers.length === 1 && !always) {
    return first;
  }
  const items = servers.map((server) => ({ label: line(server.name), description: line(server.state), server }));
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.server;
}
