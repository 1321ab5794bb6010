/** The language client: what it tells the server about VS Code, and where answers go; must not start or stop it. */

import { type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { type Readable } from "node:stream";

import * as vscode from "vscode";
import {
  CloseAction,
  type CloseHandlerResult,
  type DocumentSelector,
  type ErrorHandler,
  type ErrorHandlerResult,
  type FeatureState,
  LanguageClient,
  type Middleware,
  RevealOutputChannelOn,
  type ShowDocumentParams,
  State,
  type StaticFeature,
} from "vscode-languageclient/node";

import { agrees } from "./approval";
import { heldAgainst } from "./completion";
import { elicit } from "./elicitation";
import { externalAddress, openExternally } from "./external";
import { give } from "./inputs";
import { message } from "./plain";
import {
  ApproveRequest,
  CLIENT_ABILITIES,
  ContentRefreshRequest,
  ElicitRequest,
  ExternalUriRequest,
  InputRequest,
  SecretRequest,
  type StatusParams,
  StatusNotification,
} from "./protocol";
import { secret, traceable } from "./secrets";
import { answer, userSetting, userSettings } from "./settings";

const SCHEMES = ["file", "untitled", "vscode-userdata", "vscode-scm", "vscode-notebook-cell"];
const CONFIG_FILES = ["**/.mcp.json", "**/mcp.json"];

/** The parts of the conversation that others take part in. */
export interface Listeners {
  /** `workspace/textDocumentContent/refresh`. */
  readonly refreshed: (uri: vscode.Uri) => void;
  /** `window/showDocument` for an address that VS Code itself shows. */
  readonly show: (uri: vscode.Uri, options: vscode.TextDocumentShowOptions) => Promise<void>;
  /** A command of the server was run, by us or by a link or a code action. */
  readonly ran: (command: string, answer: unknown) => Promise<void>;
  /** `lectern/status`. */
  readonly status: (told: StatusParams) => void;
  /** Where secrets are kept. */
  readonly secrets: vscode.SecretStorage;
  /** The server died too often to be started once more. */
  readonly gaveUp: () => void;
}

/** Keeps the library's own messages in the log: ours say what to do. */
class QuietClient extends LanguageClient {
  override error(text: string, data?: unknown): void {
    super.error(text, data, false);
  }

  override trace(text: string, data?: unknown): void {
    super.trace(text, traceable(text, data));
  }
}

export function createClient(
  start: () => Promise<ChildProcess>,
  log: vscode.LogOutputChannel,
  listeners: Listeners,
): LanguageClient {
  const client = new QuietClient("lectern", "Lectern", start, {
    documentSelector: documentSelector(userSetting<readonly string[]>("languages", [])),
    initializationOptions: userSettings,
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    stdioOptions: { stdout: () => undefined, stderr: logLines },
    middleware: middleware(listeners),
  });
  // The library's other form of trace holds answers whole, and does not say which of them are private.
  Object.assign(client, { traceObject: () => undefined });
  client.clientOptions.errorHandler = errorHandler(client, listeners);
  client.registerFeature(abilities(client, listeners));
  return client;
}

function abilities(client: LanguageClient, listeners: Listeners): StaticFeature {
  return {
    fillClientCapabilities: (capabilities): void => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), lectern: CLIENT_ABILITIES };
    },
    // The library answers the same request for schemes that the server registers; the last handler counts.
    initialize: (): void => {
      client.onRequest(ContentRefreshRequest, ({ uri }) => {
        listeners.refreshed(client.protocol2CodeConverter.asUri(uri));
        return null;
      });
      answerQuestions(client, listeners);
    },
    getState: (): FeatureState => ({ kind: "static" }),
    clear: (): void => undefined,
  };
}

/** What the server asks of the person, and of VS Code on their behalf. */
function answerQuestions(client: LanguageClient, { secrets, status }: Listeners): void {
  client.onRequest(ElicitRequest, elicit);
  client.onRequest(InputRequest, give);
  client.onRequest(SecretRequest, (params) => secret(secrets, params));
  client.onRequest(ExternalUriRequest, async ({ uri }) => ({ uri: await externalAddress(uri) }));
  client.onRequest(ApproveRequest, async ({ server, shows, changed }) => ({
    approved: await agrees(server, shows, changed),
  }));
  client.onNotification(StatusNotification, (told) => {
    status(told);
  });
}

function middleware({ show, ran }: Listeners): Middleware {
  return {
    provideCompletionItem: async (document, position, context, token, next) => {
      const answer = await next(document, position, context, token);
      for (const item of Array.isArray(answer) ? answer : (answer?.items ?? [])) {
        item.filterText &&= heldAgainst(item.filterText);
      }
      return answer;
    },
    workspace: {
      configuration: ({ items }): unknown[] => items.map(({ section }) => answer(section)),
      // Sent by `Server.configure` instead: the library would send what a workspace set, too.
      didChangeConfiguration: (): Promise<void> => Promise.resolve(),
    },
    window: {
      showDocument: async (params) =>
        params.external === true
          ? openExternally(params.uri).then((success) => ({ success }))
          : show(vscode.Uri.parse(params.uri, true), showOptions(params)).then(
              () => ({ success: true }),
              () => ({ success: false }),
            ),
    },
    executeCommand: async (command, args, next): Promise<unknown> => {
      const result: unknown = await Promise.resolve(next(command, args)).catch((error: unknown) => {
        throw error instanceof Error ? new Error(message(error.message), { cause: error }) : error;
      });
      await ran(command, result);
      return result;
    },
  };
}

function errorHandler(client: LanguageClient, { gaveUp }: Listeners): ErrorHandler {
  const usual = client.createDefaultErrorHandler();
  return {
    error: (...details): ErrorHandlerResult | Promise<ErrorHandlerResult> => usual.error(...details),
    closed: async (): Promise<CloseHandlerResult> => {
      if (client.state === State.Starting) {
        return { action: CloseAction.DoNotRestart, handled: true };
      }
      const verdict = await usual.closed();
      if (verdict.action === CloseAction.DoNotRestart) {
        gaveUp();
      }
      return { ...verdict, handled: true };
    },
  };
}

function documentSelector(languages: readonly string[]): DocumentSelector {
  const everywhere = languages.includes("*");
  const texts = SCHEMES.flatMap((scheme) =>
    everywhere ? [{ scheme }] : languages.map((language) => ({ scheme, language })),
  );
  const configs = CONFIG_FILES.map((pattern) => ({ scheme: "file", pattern }));
  return [...texts, ...configs, { scheme: "lectern" }];
}

function showOptions({ selection, takeFocus }: ShowDocumentParams): vscode.TextDocumentShowOptions {
  const preserveFocus = takeFocus !== true;
  if (selection === undefined) {
    return { preserveFocus };
  }
  const { start, end } = selection;
  return { preserveFocus, selection: new vscode.Range(start.line, start.character, end.line, end.character) };
}

function logLines(stderr: Readable, log: vscode.LogOutputChannel): void {
  createInterface({ input: stderr }).on("line", (text) => {
    log.info(text);
  });
}
