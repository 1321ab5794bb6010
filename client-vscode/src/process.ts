/** The language server's process: how it is started and ended; must not know what is said to it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";

import * as vscode from "vscode";

import { locate, runningFolder } from "./locate";
import { userSetting } from "./settings";

const STOP_TIMEOUT_MS = 5_000;

/**
 * Starts the server in a folder outside every workspace.
 *
 * @throws ServerNotFound where there is none, or the system's error where it cannot be started.
 */
export async function startProcess(storage: string, log: vscode.LogOutputChannel): Promise<ChildProcess> {
  const workspaceFolders = (vscode.workspace.workspaceFolders ?? [])
    .filter(({ uri }) => uri.scheme === "file")
    .map(({ uri }) => uri.fsPath);
  const { command, args } = locate({
    server: userSetting<readonly string[]>("client.server", []),
    python: userSetting("client.python", ""),
    searchPath: process.env["PATH"] ?? "",
    home: homedir(),
    workspaceFolders,
    platform: process.platform,
  });
  mkdirSync(storage, { recursive: true });
  log.info(`Starting ${[command, ...args].join(" ")}`);
  const cwd = runningFolder(storage, workspaceFolders);
  const child = spawn(command, args, { cwd, env: environment(), windowsHide: true });
  await once(child, "spawn");
  child.on("error", (error) => {
    log.warn(error.message);
  });
  return child;
}

/** Waits for the process to end by itself, and kills it if it does not. */
export async function endProcess(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  child.stdin?.end();
  await once(child, "exit");
  clearTimeout(timer);
}

/** The environment for the server, and so for MCP servers: without what makes an Electron program act as Node. */
function environment(): NodeJS.ProcessEnv {
  const isVSCodes = (name: string): boolean => name.startsWith("ELECTRON_") || name.startsWith("VSCODE_");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isVSCodes(name)));
}
