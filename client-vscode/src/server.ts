/** The one language server of this window, started and started anew; must not know what its answers are used for. */

import { type ChildProcess } from "node:child_process";

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient, State } from "vscode-languageclient/node";

import { createClient, type Listeners } from "./client";
import { line } from "./plain";
import { endProcess, startProcess } from "./process";
import { type Commands, ContentRequest, ShownNotification } from "./protocol";
import { userSettings } from "./settings";
import { shownDocuments } from "./shown";
import { Turns } from "./turns";

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Lectern", { log: true });
  readonly #turns = new Turns(() => this.#replace());
  readonly #listeners: Listeners;
  #client: LanguageClient | undefined;
  #process: ChildProcess | undefined;
  #started: Promise<void> | undefined;
  #disposed = false;

  /** `storage` is a folder of the extension's own, for the process to run in. */
  constructor(
    private readonly storage: string,
    listeners: Omit<Listeners, "gaveUp">,
  ) {
    const gaveUp = new Error("Lectern's language server ended again and again, and was not started once more.");
    this.#listeners = { ...listeners, gaveUp: () => void this.report(gaveUp) };
  }

  /** Starts the server, after ending the one that runs. */
  restart(): Promise<void> {
    this.#started = this.#turns.request();
    return this.#started;
  }

  /** Tells the server what the user's settings are now. */
  async configure(): Promise<void> {
    await this.#client?.sendNotification("workspace/didChangeConfiguration", { settings: { lectern: userSettings() } });
  }

  /** Tells the server which documents are in front of the person. */
  async tellShown(documents: readonly vscode.Uri[]): Promise<void> {
    const client = this.#client;
    if (client?.state === State.Running) {
      const addresses = documents.map((uri) => client.code2ProtocolConverter.asUri(uri));
      await client.sendNotification(ShownNotification, { documents: addresses });
    }
  }

  /** Runs a command of the server; rejected with the server's own sentence. */
  async execute<Name extends keyof Commands>(
    command: Name,
    argument: Commands[Name][0],
    token?: vscode.CancellationToken,
  ): Promise<Commands[Name][1]> {
    const client = await this.#ready();
    const params = { command, arguments: [argument] };
    return (await client.sendRequest(ExecuteCommandRequest.type, params, token)) as Commands[Name][1];
  }

  /** The text of a `lectern:` document. */
  async text(uri: vscode.Uri): Promise<string> {
    const client = await this.#ready();
    const { text } = await client.sendRequest(ContentRequest, { uri: client.code2ProtocolConverter.asUri(uri) });
    return text;
  }

  /** The path of a file that holds the bytes of a `lectern:` document. */
  async file(uri: vscode.Uri): Promise<string> {
    const client = await this.#ready();
    const document = client.code2ProtocolConverter.asUri(uri);
    return (await this.execute("lectern.materialize", { document })).path;
  }

  /** Tells what went wrong and offers what helps. */
  async report(error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error);
    this.log.error(text);
    const sentence = text.startsWith("Lectern") ? text : `Lectern's language server could not be started: ${text}`;
    const [restart, settings, log] = ["Restart", "Open Settings", "Show Log"];
    const choice = await vscode.window.showErrorMessage(line(sentence), restart, settings, log);
    if (choice === restart) {
      await vscode.commands.executeCommand("lectern.ui.restart");
    } else if (choice === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "lectern.client");
    } else if (choice === log) {
      this.log.show();
    }
  }

  async stop(): Promise<void> {
    const [client, child] = [this.#client, this.#process];
    this.#client = this.#process = undefined;
    try {
      await (client?.state === State.Running ? client.dispose(STOP_TIMEOUT_MS) : undefined);
    } catch (error) {
      this.log.warn(`The language server did not stop in an orderly way: ${String(error)}`);
    }
    await endProcess(child);
  }

  dispose(): void {
    this.#disposed = true;
    void this.stop().finally(() => {
      this.log.dispose();
    });
  }

  async #ready(): Promise<LanguageClient> {
    await (this.#started ?? this.restart());
    if (this.#client === undefined) {
      throw new Error("Lectern's language server is not running. “Lectern: Restart Server” starts it again.");
    }
    return this.#client;
  }

  async #replace(): Promise<void> {
    await this.stop();
    if (this.#disposed) {
      return;
    }
    const client = createClient(() => this.#spawn(), this.log, this.#listeners);
    const timer = setTimeout(() => {
      this.log.error(`The language server did not answer within ${START_TIMEOUT_MS / 1000} s.`);
      this.#process?.kill();
    }, START_TIMEOUT_MS);
    try {
      await client.start();
      this.#client = client;
      await this.tellShown(shownDocuments());
    } catch (error) {
      this.#process?.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #spawn(): Promise<ChildProcess> {
    this.#process = await startProcess(this.storage, this.log);
    return this.#process;
  }
}
