/** The requests and commands of the language server that this client uses, as types; holds no behaviour. */

import { NotificationType, RequestType } from "vscode-languageclient/node";

export interface ContentParams {
  readonly uri: string;
}

export const ContentRequest = new RequestType<ContentParams, { readonly text: string }, ErrorData>(
  "workspace/textDocumentContent",
);

export const ContentRefreshRequest = new RequestType<ContentParams, null, void>("workspace/textDocumentContent/refresh");

/** What `data` of a failed request holds. */
export interface ErrorData {
  readonly kind: string;
  readonly server?: string;
  readonly uri?: string;
}

/** A question of a server, named as the person configured it. */
export type ElicitParams =
  | { readonly server: string; readonly mode: "form"; readonly message: string; readonly schema: unknown }
  | { readonly server: string; readonly mode: "url"; readonly message: string; readonly url: string; readonly host: string };

export interface ElicitResult {
  readonly action: "accept" | "decline" | "cancel";
  /** `null` stands for a field that was left empty. */
  readonly content?: Readonly<Record<string, unknown>>;
}

export const ElicitRequest = new RequestType<ElicitParams, ElicitResult, void>("lectern/elicit");

/** What the entry of a server asks the person for; an option is its own label, or has one. */
export interface InputParams {
  readonly server?: string;
  readonly id: string;
  readonly description?: string;
  readonly default?: string;
  readonly password?: boolean;
  readonly options?: readonly (string | { readonly label: string; readonly value: string })[];
}

export interface InputResult {
  readonly value: string;
}

export const InputRequest = new RequestType<InputParams, InputResult | null, void>("lectern/input");

export interface SecretParams {
  readonly action: "get" | "set" | "delete";
  readonly key: string;
  readonly value?: string;
}

export const SecretRequest = new RequestType<SecretParams, { readonly value?: string }, void>("lectern/secret");

export interface ApproveParams {
  readonly server: string;
  readonly shows: unknown;
  readonly changed?: readonly string[];
}

export const ApproveRequest = new RequestType<ApproveParams, { readonly approved: boolean }, void>("lectern/approve");

export const ExternalUriRequest = new RequestType<ContentParams, ContentParams, void>("lectern/externalUri");

export const StatusNotification = new NotificationType<StatusParams>("lectern/status");

/** Which `lectern:` documents are in front of the person: only for these a server may ask something. */
export const ShownNotification = new NotificationType<{ readonly documents: readonly string[] }>("lectern/shown");

/** What the server may rely on beyond the protocol: `capabilities.experimental.lectern`. */
export const CLIENT_ABILITIES = {
  elicitation: ["form", "url"],
  externalUri: true,
  input: true,
  secrets: true,
  shown: true,
  status: true,
  trustPrompt: true,
  trustedSettings: true,
  fileSystem: true,
  triggerSuggest: "editor.action.triggerSuggest",
} as const;

export interface Resource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly mention: string;
}

export interface Found {
  readonly items: readonly Resource[];
  readonly incomplete: boolean;
  readonly partial: boolean;
  readonly truncated: boolean;
}

/** One item of a resource; an item that could not be decoded has `error` and may have no `document`. */
export interface OpenedDocument {
  readonly document?: string;
  readonly title: string;
  readonly languageId?: string;
  readonly mimeType?: string;
  readonly kind?: "text" | "binary";
  readonly error?: string;
}

export interface ServerState {
  readonly name: string;
  readonly origin: unknown;
  readonly transport: string;
  readonly state: string;
  readonly trust: { readonly approved: boolean; readonly fingerprint: string; readonly shows: unknown };
  readonly resources: number;
  readonly templates: number;
  readonly lastError?: string;
}

export interface Servers {
  readonly servers: readonly ServerState[];
}

/** An open document that is older than its resource, since a read of it failed. */
export interface OlderDocument {
  readonly document: string;
  readonly reason: string;
}

export interface StatusParams extends Servers {
  readonly older?: readonly OlderDocument[];
}

/** What became of one resource that a text mentions; `reason` is there where it is not included. */
export interface Mentioned {
  readonly uri: string;
  readonly tokens: number;
  readonly status: string;
  readonly reason?: string;
}

/** Each command's argument and answer. */
export interface Commands {
  "lectern.resources": [{ query: string; limit: number }, Found];
  "lectern.open": [{ server: string; uri: string; reveal: boolean }, { documents: readonly OpenedDocument[] }];
  "lectern.materialize": [{ document: string }, { path: string; size: number; mimeType?: string }];
  "lectern.expand": [{ text: string; languageId: string }, { text: string; resources: readonly Mentioned[] }];
  "lectern.servers": [Record<string, never>, Servers];
  "lectern.refresh": [Record<string, never>, Servers];
  "lectern.approve": [{ server: string; fingerprint: string }, Servers];
  "lectern.signIn": [{ server: string }, Servers];
  "lectern.signOut": [{ server: string }, Servers];
  "lectern.log": [{ server: string }, { text: string }];
}
