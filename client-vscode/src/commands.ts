/** The `lectern.ui.*` commands; the server's own commands are registered by the language client. */

import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";

import { agrees, chooseServer } from "./approval";
import { pickResources } from "./picker";
import { line, message } from "./plain";
import { type OpenedDocument, type Resource, type ServerState } from "./protocol";
import { type Server } from "./server";
import { signIn, signOut } from "./signing";

/** Registers every command. */
export function registerCommands(server: Server): vscode.Disposable {
  const commands: Record<string, () => Promise<void>> = {
    "lectern.ui.open": () => open(server),
    "lectern.ui.refresh": () => refresh(server),
    "lectern.ui.restart": () => restart(server),
    "lectern.ui.showLog": () => showLog(server),
    "lectern.ui.approve": () => approve(server),
    "lectern.ui.signIn": () => signIn(server),
    "lectern.ui.signOut": () => signOut(server),
    "lectern.ui.copyWithResources": () => copyWithResources(server),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, () => reported(run))),
  );
}

/** Opens a document as VS Code sees fit: text in an editor, an image in its viewer. */
export async function show(uri: vscode.Uri, options: vscode.TextDocumentShowOptions): Promise<void> {
  await vscode.commands.executeCommand("vscode.open", uri, options);
}

/** Gives documents that are open the language that their content turned out to have. */
export async function applyLanguages(documents: readonly OpenedDocument[]): Promise<void> {
  for (const { document, languageId } of documents) {
    const uri = document === undefined ? undefined : vscode.Uri.parse(document, true).toString();
    const open = vscode.workspace.textDocuments.find((candidate) => candidate.uri.toString() === uri);
    if (open !== undefined && languageId !== undefined && open.languageId !== languageId) {
      await vscode.languages.setTextDocumentLanguage(open, languageId);
    }
  }
}

async function open(server: Server): Promise<void> {
  const resources = await pickResources((query, limit, token) =>
    server.execute("lectern.resources", { query, limit }, token),
  );
  // One after the other, so that the tabs stand in the order of the list; one that fails does not stop the rest.
  for (const resource of resources) {
    await reported(() => openResource(server, resource, resources.length === 1));
  }
}

async function openResource(server: Server, { server: name, uri }: Resource, preview: boolean): Promise<void> {
  const opening = { location: vscode.ProgressLocation.Window, title: `Lectern: opening ${line(uri, 60)}` };
  const { documents } = await vscode.window.withProgress(opening, () =>
    vscode.commands.executeCommand<{ documents: readonly OpenedDocument[] }>("lectern.open", {
      server: name,
      uri,
      reveal: false,
    }),
  );
  const readable = documents.find(({ document, error }) => document !== undefined && error === undefined);
  if (readable?.document === undefined) {
    throw new Error(documents[0]?.error ?? `“${line(uri)}” of the server “${line(name)}” is empty.`);
  }
  await show(vscode.Uri.parse(readable.document, true), { preview });
  await applyLanguages([readable]);
}

/** Copies the selection, or else the whole text, together with what it mentions. */
async function copyWithResources(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error("Open a text first: it is copied with the resources that it mentions.");
  }
  const { document, selection } = editor;
  const text = document.getText(selection.isEmpty ? undefined : selection);
  const reading = { location: vscode.ProgressLocation.Window, title: "Lectern: reading resources" };
  const expansion = await vscode.window.withProgress(reading, () =>
    server.execute("lectern.expand", { text, languageId: document.languageId }),
  );
  await vscode.env.clipboard.writeText(expansion.text);
  const included = expansion.resources.filter(({ status }) => status === "included");
  const tokens = included.reduce((sum, resource) => sum + resource.tokens, 0);
  vscode.window.setStatusBarMessage(`Lectern: copied with ${counted(included.length, "resource")}, about ${counted(tokens, "token")}`, 5_000);
  const missing = expansion.resources.filter((resource) => !included.includes(resource));
  if (missing.length > 0) {
    const sentences = missing.map(({ uri, status, reason }) => `${line(uri, 100)}: ${line(reason ?? status)}`);
    void vscode.window.showWarningMessage(`Copied without ${missing.length} of the resources. ${sentences.join(" ")}`);
  }
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function refresh(server: Server): Promise<void> {
  const { servers } = await server.execute("lectern.refresh", {});
  const total = servers.reduce((sum, { resources }) => sum + resources, 0);
  vscode.window.setStatusBarMessage(`Lectern: ${total} resources`, 5_000);
  const failures = servers.flatMap(({ state, lastError }) => (state === "failed" && lastError ? [lastError] : []));
  if (failures.length > 0) {
    throw new Error(failures.join(" "));
  }
}

async function restart(server: Server): Promise<void> {
  await server.restart().catch((error: unknown) => server.report(error));
}

async function showLog(server: Server): Promise<void> {
  const languageServer = { label: "Language server", name: undefined };
  const choices = (await states(server)).map(({ name, state }) => ({ label: line(name), description: line(state), name }));
  if (choices.length === 0) {
    server.log.show();
    return;
  }
  const choice = await vscode.window.showQuickPick([languageServer, ...choices], { placeHolder: "Whose log?" });
  if (choice?.name === undefined) {
    if (choice !== undefined) {
      server.log.show();
    }
    return;
  }
  const { text } = await server.execute("lectern.log", { server: choice.name });
  const document = await vscode.workspace.openTextDocument({ content: text, language: "log" });
  await vscode.window.showTextDocument(document);
}

async function approve(server: Server): Promise<void> {
  const waiting = (await states(server)).filter(({ trust }) => !trust.approved);
  if (waiting.length === 0) {
    await vscode.window.showInformationMessage("No MCP server waits for approval.");
    return;
  }
  const chosen = await chooseServer(waiting);
  if (chosen !== undefined && (await agrees(chosen.name, chosen.trust.shows))) {
    await server.execute("lectern.approve", { server: chosen.name, fingerprint: chosen.trust.fingerprint });
  }
}

/** The servers' states; none where the language server does not run, so that its log can still be read. */
async function states(server: Server): Promise<readonly ServerState[]> {
  return server.execute("lectern.servers", {}).then(
    ({ servers }) => servers,
    () => [],
  );
}

async function reported(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isCancellation(error)) {
      void vscode.window.showErrorMessage(message(error instanceof Error ? error.message : String(error)));
    }
  }
}

/** Whoever cancels knows that they did. */
function isCancellation(error: unknown): boolean {
  return (
    error instanceof vscode.CancellationError ||
    (error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled)
  );
}
