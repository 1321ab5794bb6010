/** Which `lectern:` documents are in front of the person, as tabs; must not know what follows from it. */

import * as vscode from "vscode";

/** Tells `changed` whenever other documents are. */
export function watchShown(changed: (documents: readonly vscode.Uri[]) => void): vscode.Disposable {
  let before = "";
  const look = (): void => {
    const documents = shownDocuments();
    const now = documents.map(String).join("\n");
    if (now !== before) {
      before = now;
      changed(documents);
    }
  };
  return vscode.Disposable.from(vscode.window.tabGroups.onDidChangeTabs(look), vscode.window.tabGroups.onDidChangeTabGroups(look));
}

/** The documents of the tabs that are in front of their group. */
export function shownDocuments(): readonly vscode.Uri[] {
  const inFront = vscode.window.tabGroups.all.map(({ activeTab }) => activeTab?.input);
  return inFront.flatMap(urisOf).filter(({ scheme }) => scheme === "lectern");
}

function urisOf(input: unknown): readonly vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) {
    return [input.uri];
  }
  return input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : [];
}
