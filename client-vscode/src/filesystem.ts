/** `lectern:` documents as read-only files; must not know servers, addresses or what a key holds. */

import * as vscode from "vscode";

import { type OpenedDocument } from "./protocol";

const REMEMBERED_FILES = 500;

// The extensions that an address has only where the listed type is binary.
const BINARY = /\.(?:avif|bin|bmp|flac|gif|gz|ico|jpg|mp3|mp4|ogg|pdf|png|tiff|wav|webm|webp|zip)$/u;

/** Where the content comes from. */
export interface Source {
  readonly text: (uri: vscode.Uri) => Promise<string>;
  readonly bytes: (uri: vscode.Uri) => Promise<Uint8Array>;
}

interface Remembered {
  readonly mtime: number;
  size: number;
  /** What `stat` read, kept for the `readFile` that follows it. */
  content: Uint8Array | undefined;
}

export class LecternFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #files = new Map<string, Promise<Remembered>>();
  readonly #binary = new Map<string, boolean>();
  #lastChange = 0;
  readonly onDidChangeFile = this.#changes.event;

  constructor(private readonly source: Source) {}

  /** Takes over what an answer of `lectern.open` says of its documents. */
  learn(documents: readonly OpenedDocument[]): void {
    for (const { document, kind } of documents) {
      if (document !== undefined && kind !== undefined) {
        remember(this.#binary, vscode.Uri.parse(document, true).toString(), kind === "binary");
      }
    }
  }

  /** The content behind an address has changed. */
  refresh(uri: vscode.Uri): void {
    this.#files.delete(uri.toString());
    this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { mtime, size } = await (this.#files.get(uri.toString()) ?? this.#read(uri));
    return { type: vscode.FileType.File, ctime: 0, mtime, size, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const known = await this.#files.get(uri.toString());
    const file = known?.content === undefined ? await this.#read(uri) : known;
    const content = file.content ?? new Uint8Array();
    file.content = undefined;
    return content;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#changes.dispose();
  }

  #read(uri: vscode.Uri): Promise<Remembered> {
    const key = uri.toString();
    const reading = this.#fetch(uri);
    remember(this.#files, key, reading);
    reading.catch(() => {
      if (this.#files.get(key) === reading) {
        this.#files.delete(key);
      }
    });
    return reading;
  }

  async #fetch(uri: vscode.Uri): Promise<Remembered> {
    // VS Code also asks for neighbours of a file, which have no key and are nothing.
    if (uri.query === "") {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const isBinary = this.#binary.get(uri.toString()) ?? BINARY.test(uri.path);
    const content = isBinary ? await this.source.bytes(uri) : new TextEncoder().encode(await this.source.text(uri));
    // VS Code takes a file for unchanged while time and size are: no two reads share a time.
    this.#lastChange = Math.max(Date.now(), this.#lastChange + 1);
    return { mtime: this.#lastChange, size: content.byteLength, content };
  }
}

/** Adds to a map that holds a bounded number of entries, the oldest out first. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_FILES && oldest !== undefined) {
    map.delete(oldest);
  }
}
