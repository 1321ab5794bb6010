/** A quick pick over the resources of all servers, asked again with every key; must not know how one is opened. */

import * as vscode from "vscode";

import { line } from "./plain";
import { type Found, type Resource } from "./protocol";

const LIMIT = 200;
const ASK_AGAIN_MS = 400;

export type Query = (query: string, limit: number, token: vscode.CancellationToken) => Promise<Found>;

interface Item extends vscode.QuickPickItem {
  readonly resource: Resource;
}

/** The resources that the user chose; none where the list was closed. */
export async function pickResources(query: Query): Promise<readonly Resource[]> {
  const picker = new Picker(query);
  try {
    return await picker.chosen;
  } finally {
    picker.dispose();
  }
}

class Picker implements vscode.Disposable {
  readonly #pick = vscode.window.createQuickPick<Item>();
  #asking = new vscode.CancellationTokenSource();
  #again: NodeJS.Timeout | undefined;
  readonly chosen: Promise<readonly Resource[]>;

  constructor(private readonly query: Query) {
    // The server ranks: VS Code must neither sort by its own rules nor hide what it does not match itself.
    Object.assign(this.#pick, { sortByLabel: false });
    this.#pick.canSelectMany = true;
    this.#pick.placeholder = "Find resources of all servers; tick several, or press Enter for the one that is highlighted";
    this.#pick.onDidChangeValue(() => {
      this.#ask();
    });
    this.chosen = new Promise((resolve) => {
      this.#pick.onDidAccept(() => {
        const { selectedItems, activeItems } = this.#pick;
        resolve((selectedItems.length > 0 ? selectedItems : activeItems).map(({ resource }) => resource));
      });
      this.#pick.onDidHide(() => {
        resolve([]);
      });
    });
    this.#pick.show();
    this.#ask();
  }

  dispose(): void {
    clearTimeout(this.#again);
    this.#asking.cancel();
    this.#asking.dispose();
    this.#pick.dispose();
  }

  #ask(): void {
    clearTimeout(this.#again);
    this.#asking.cancel();
    this.#asking.dispose();
    this.#asking = new vscode.CancellationTokenSource();
    const { token } = this.#asking;
    this.#pick.busy = true;
    this.query(this.#pick.value, LIMIT, token).then(
      (found) => {
        if (!token.isCancellationRequested) {
          this.#show(found);
        }
      },
      (error: unknown) => {
        if (!token.isCancellationRequested) {
          this.#pick.busy = false;
          this.#pick.title = line(error instanceof Error ? error.message : String(error));
        }
      },
    );
  }

  #show(found: Found): void {
    const chosen = this.#pick.selectedItems;
    const items = merged(chosen, found.items.map(toItem));
    this.#pick.keepScrollPosition = true;
    this.#pick.items = items;
    this.#pick.selectedItems = chosen;
    this.#pick.busy = found.incomplete;
    this.#pick.title = title(found);
    if (found.incomplete) {
      this.#again = setTimeout(() => {
        this.#ask();
      }, ASK_AGAIN_MS);
    }
  }
}

function toItem(resource: Resource): Item {
  const { server, uri, name, title, description, mimeType } = resource;
  const details = [mimeType, uri, description].filter((part) => part !== undefined && part !== "");
  return {
    resource,
    label: line(title ?? name),
    description: line(server),
    detail: line(details.join(" · "), 300),
    alwaysShow: true,
  };
}

function merged(chosen: readonly Item[], found: readonly Item[]): readonly Item[] {
  const key = ({ resource }: Item): string => JSON.stringify([resource.server, resource.uri]);
  const kept = new Set(chosen.map(key));
  return [...chosen, ...found.filter((item) => !kept.has(key(item)))];
}

function title({ items, incomplete, partial, truncated }: Found): string {
  const count = `${items.length} resource${items.length === 1 ? "" : "s"}`;
  if (incomplete) {
    return `${count} so far: a server is still listing`;
  }
  if (truncated) {
    return `The first ${count}: type on to find more`;
  }
  return partial ? `${count}: a server's listing was cut short` : count;
}
