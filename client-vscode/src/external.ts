/** The way from this machine to the person's browser, and back; must not know what is opened. */

import * as vscode from "vscode";

/** Opens an address in the browser, letter by letter as it is: a `Uri` would write parts of its query anew. */
export async function openExternally(url: string): Promise<boolean> {
  return vscode.env.openExternal(url as unknown as vscode.Uri);
}

/** The address under which the person's browser reaches one of this machine. */
export async function externalAddress(local: string): Promise<string> {
  const external = await vscode.env.asExternalUri(vscode.Uri.parse(local, true));
  return encodeURI(external.toString(true));
}
