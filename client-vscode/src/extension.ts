/** What VS Code calls: puts the parts together, and translates nothing. */

import { readFile } from "node:fs/promises";

import * as vscode from "vscode";

import { Age } from "./age";
import { applyLanguages, registerCommands, show } from "./commands";
import { LecternFileSystem } from "./filesystem";
import { type OpenedDocument } from "./protocol";
import { Server } from "./server";
import { watchShown } from "./shown";
import { Status } from "./status";

const RESTARTS_FOR = ["lectern.client", "lectern.languages"];

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const files: LecternFileSystem = new LecternFileSystem({
    text: (uri) => readable(() => started.text(uri)),
    bytes: (uri) => readable(async () => readFile(await started.file(uri))),
  });
  const status = new Status();
  const age = new Age();
  const started = new Server(context.globalStorageUri.fsPath, {
    refreshed: (uri): void => {
      files.refresh(uri);
    },
    show,
    status: ({ servers, older }): void => {
      status.show(servers);
      age.show(older ?? []);
    },
    secrets: context.secrets,
    ran: async (command, answer): Promise<void> => {
      if (command === "lectern.open") {
        const { documents } = answer as { documents: readonly OpenedDocument[] };
        files.learn(documents);
        await applyLanguages(documents);
      }
    },
  });
  server = started;
  const isReadonly = new vscode.MarkdownString("A resource of an MCP server is read-only.");
  context.subscriptions.push(
    started,
    files,
    status,
    age,
    watchShown((documents) => {
      void started.tellShown(documents);
    }),
    vscode.workspace.registerFileSystemProvider("lectern", files, { isCaseSensitive: true, isReadonly }),
    registerCommands(started),
    vscode.workspace.onDidChangeConfiguration((change) => {
      void configurationChanged(started, change);
    }),
  );
  void restart(started);
}

async function configurationChanged(started: Server, change: vscode.ConfigurationChangeEvent): Promise<void> {
  if (RESTARTS_FOR.some((section) => change.affectsConfiguration(section))) {
    await restart(started);
  } else if (change.affectsConfiguration("lectern")) {
    await started.configure();
  }
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

async function restart(started: Server): Promise<void> {
  await started.restart().catch((error: unknown) => started.report(error));
}

/** Shows the server's own sentence where VS Code would show a code of its own. */
async function readable<Content>(read: () => Promise<Content>): Promise<Content> {
  try {
    return await read();
  } catch (error) {
    throw vscode.FileSystemError.Unavailable(error instanceof Error ? error.message : String(error));
  }
}
