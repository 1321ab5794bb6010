/** Asks the person for what the entry of a server leaves open (`${input:…}`); must not know where a value goes. */

import * as vscode from "vscode";

import { line } from "./plain";
import { type InputParams, type InputResult } from "./protocol";

interface Choice extends vscode.QuickPickItem {
  readonly value: string;
}

/** The value, or `null` where the person gives none. */
export async function give(params: InputParams, token: vscode.CancellationToken): Promise<InputResult | null> {
  const title = params.server === undefined ? "An MCP server" : `The MCP server “${line(params.server, 100)}”`;
  const prompt = line(params.description ?? params.id, 300);
  const value = await (params.options === undefined
    ? vscode.window.showInputBox(
        {
          title: `${title} asks for ${line(params.id, 100)}`,
          prompt,
          value: params.default ?? "",
          password: params.password === true,
          ignoreFocusOut: true,
        },
        token,
      )
    : pick(params, params.options, { title: `${title} asks for ${line(params.id, 100)}`, placeHolder: prompt }, token));
  return value === undefined ? null : { value };
}

/** The default stands first, where Enter takes it. */
async function pick(
  params: InputParams,
  options: NonNullable<InputParams["options"]>,
  shown: vscode.QuickPickOptions,
  token: vscode.CancellationToken,
): Promise<string | undefined> {
  const choices = options.map((option): Choice => {
    const { label, value } = typeof option === "string" ? { label: option, value: option } : option;
    return { label: line(label, 100), ...(label === value ? {} : { description: line(value, 100) }), value };
  });
  const first = choices.filter(({ value }) => value === params.default);
  const others = choices.filter(({ value }) => value !== params.default);
  return (await vscode.window.showQuickPick([...first, ...others], { ...shown, ignoreFocusOut: true }, token))?.value;
}
