/** Puts a server's questions to the person at VS Code, one at a time; must not know why a server asks. */

import * as vscode from "vscode";

import { openExternally } from "./external";
import { checked, type Field, readFields, type Value } from "./forms";
import { line, message } from "./plain";
import { type ElicitParams, type ElicitResult } from "./protocol";
import { type Answer, chooseOne, chooseSome, type Heading, type Outcome, typeText } from "./steps";
import { inOrder, type Step } from "./wizard";

/** A title can be read without a window for it. */
const FITS_A_TITLE = 70;
const LONGEST_MESSAGE = 4_000;
const CANCELLED: ElicitResult = { action: "cancel" };

let turn: Promise<unknown> = Promise.resolve();

/** Puts a question when the one before it is answered; a withdrawn one is not shown any more. */
export async function elicit(params: ElicitParams, token: vscode.CancellationToken): Promise<ElicitResult> {
  const before = turn;
  const asked = before.then(() => (token.isCancellationRequested ? CANCELLED : answer(params, token)));
  turn = asked.catch(() => undefined);
  return asked;
}

async function answer(params: ElicitParams, token: vscode.CancellationToken): Promise<ElicitResult> {
  return params.mode === "url" ? visit(params) : fillIn(params, token);
}

async function visit({ server, message: words, url, host }: ElicitParams & { mode: "url" }): Promise<ElicitResult> {
  if (!leadsTo(url, host)) {
    return CANCELLED;
  }
  const isDisguised = host.split(".").some((label) => label.startsWith("xn--"));
  const show = isDisguised ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  const [open, decline] = ["Open", "Decline"];
  const flag = isDisguised ? "   (written in another alphabet: it may look like a name that it is not)" : "";
  const detail = `${plain(words)}\n\nHost:\n${message(host)}${flag}\n\nWhole address:\n${message(url)}`;
  const choice = await show(`The MCP server “${line(server, 100)}” asks you to open a page on ${line(host)}`, { modal: true, detail }, open, decline);
  if (choice === open) {
    return (await openExternally(url)) ? { action: "accept" } : CANCELLED;
  }
  return choice === decline ? { action: "decline" } : CANCELLED;
}

/** The address is shown to be what it is: the host that is set off is the one it leads to. */
function leadsTo(url: string, host: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLoopback = /^(?:localhost|[^/]*\.localhost|127(?:\.\d+){3}|\[::1\])$/u.test(parsed?.hostname ?? "");
  const isSafe = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopback);
  const named = URL.canParse(`https://${host}/`) || !host.includes(":") ? `https://${host}/` : `https://[${host}]/`;
  return isSafe && URL.canParse(named) && new URL(named).hostname === parsed.hostname;
}

async function fillIn({ server, message: words, schema }: ElicitParams & { mode: "form" }, token: vscode.CancellationToken): Promise<ElicitResult> {
  const fields = readFields(schema);
  if (fields === undefined) {
    return CANCELLED;
  }
  const name = line(server, 60);
  const isShort = words === line(words, FITS_A_TITLE);
  if (fields.length === 0 || !isShort) {
    const consent = fields.length === 0 ? "Accept" : "Answer…";
    const ending = await introduce(name, words, consent);
    if (ending !== undefined || fields.length === 0) {
      return { action: ending ?? "accept", ...(ending === undefined ? { content: {} } : {}) };
    }
  }
  const title = `“${name}” asks: ${line(words, FITS_A_TITLE)}`;
  const answers = await inOrder<Field, Answer>(fields, (field, index, before) =>
    token.isCancellationRequested
      ? Promise.resolve("cancel" as const)
      : askField(field, before?.answer, { title, step: index + 1, steps: fields.length, token }),
  );
  if (answers === "decline" || answers === "cancel") {
    return { action: answers };
  }
  // What was left empty is said to be so, or a default would be filled in for it.
  const content = Object.fromEntries(fields.map((field, index) => [field.name, answers[index]?.[0] ?? null]));
  return { action: "accept", content };
}

/** The whole message of a form, before its first field; how it ended, if it ended here. */
async function introduce(name: string, words: string, consent: string): Promise<"decline" | "cancel" | undefined> {
  const decline = "Decline";
  const choice = await vscode.window.showInformationMessage(
    `The MCP server “${name}” asks something`,
    { modal: true, detail: plain(words) },
    consent,
    decline,
  );
  return choice === consent ? undefined : choice === decline ? "decline" : "cancel";
}

async function askField(field: Field, before: Answer | undefined, heading: Heading): Promise<Step<Answer>> {
  const [value] = before ?? (field.proposal === undefined ? [] : [field.proposal]);
  const outcome = await put(field, value, heading);
  return typeof outcome === "string" ? outcome : { answer: outcome };
}

function put(field: Field, value: Value | undefined, heading: Heading): Promise<Outcome> {
  if (field.kind === "array") {
    return chooseSome(field, Array.isArray(value) ? value : [], (chosen) => checked(field, chosen), heading);
  }
  if (field.kind === "boolean") {
    const options = [
      { title: "Yes", value: true },
      { title: "No", value: false },
    ];
    return chooseOne(field, options, value, heading);
  }
  if (field.options.length > 0) {
    return chooseOne(field, field.options, value, heading);
  }
  return typeText(field, value === undefined || typeof value === "object" ? "" : String(value), heading);
}

/** A server's words over several lines: no unseen characters, no command link, not endless. */
function plain(words: string): string {
  const lines = words.slice(0, LONGEST_MESSAGE).split(/\r\n|\r|\n/u);
  return lines.map((each) => line(each, LONGEST_MESSAGE)).join("\n");
}
