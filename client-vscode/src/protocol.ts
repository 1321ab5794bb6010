/** The requests and commands of the language server that this client uses, as types; holds no behaviour. */

import { RequestType } from "vscode-languageclient/node";

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

/** What the server may rely on beyond the protocol: `capabilities.experimental.lectern`. */
export const CLIENT_ABILITIES = {
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
  readonly state: string;
  readonly trust: { readonly approved: boolean; readonly fingerprint: string; readonly shows: unknown };
  readonly resources: number;
  readonly templates: number;
  readonly lastError?: string;
}

export interface Servers {
  readonly servers: readonly ServerState[];
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
  "lectern.log": [{ server: string }, { text: string }];
}
