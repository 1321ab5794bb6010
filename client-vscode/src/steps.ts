/** One field of a form as a list or a line to type in; must not know what becomes of the answer. */

import * as vscode from "vscode";

import { type Field, type Reading, typed, type Value } from "./forms";
import { line } from "./plain";

/** What stands over a step, and what may withdraw it. */
export interface Heading {
  readonly title: string;
  readonly step: number;
  readonly steps: number;
  readonly token: vscode.CancellationToken;
}

/** The value, or `[]` where the person gives none. */
export type Answer = readonly [] | readonly [Value];

/** An answer, or how the person left. */
export type Outcome = Answer | "back" | "decline" | "cancel";

/** What lists and lines to type in have in common. */
interface Input extends vscode.QuickInput {
  buttons: readonly vscode.QuickInputButton[];
  readonly onDidAccept: vscode.Event<void>;
  readonly onDidTriggerButton: vscode.Event<vscode.QuickInputButton>;
}

interface Choice<Chosen> extends vscode.QuickPickItem {
  readonly chosen: Chosen | undefined;
}

const DECLINE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("circle-slash"),
  tooltip: "Decline: tell the server that you do not answer",
};

/** A line to type in; it is checked with each key, and only what fits is taken. */
export function typeText(field: Field, text: string, heading: Heading): Promise<Outcome> {
  const input = vscode.window.createInputBox();
  input.value = text;
  input.placeholder = field.required ? "" : "May be left empty";
  input.prompt = caption(field);
  const check = (): Reading => {
    const reading = typed(field, input.value);
    input.validationMessage = typeof reading === "string" && input.value !== "" ? reading : undefined;
    return reading;
  };
  input.onDidChangeValue(check);
  check();
  return ended(input, heading, () => {
    const reading = check();
    if (typeof reading === "string") {
      input.validationMessage = reading;
      return undefined;
    }
    return reading;
  });
}

/** One of several values; one that need not be given can be left out. */
export function chooseOne(
  field: Field,
  options: readonly { readonly title: string; readonly value: Value }[],
  before: Value | undefined,
  heading: Heading,
): Promise<Outcome> {
  const pick = listOf(field, options.map(({ title, value }) => choice(title, value)));
  if (!field.required) {
    pick.items = [...pick.items, { label: "No answer", chosen: undefined, alwaysShow: true }];
  }
  pick.activeItems = pick.items.filter(({ chosen }) => chosen !== undefined && chosen === before);
  return ended(pick, heading, () => {
    const item = pick.selectedItems[0] ?? pick.activeItems[0];
    return item === undefined ? undefined : item.chosen === undefined ? [] : [item.chosen];
  });
}

/** Some of several values, as many as the field allows. */
export function chooseSome(
  field: Field,
  before: readonly string[],
  check: (chosen: readonly string[]) => Reading,
  heading: Heading,
): Promise<Outcome> {
  const pick = listOf(field, field.options.map(({ title, value }) => choice(title, value)));
  pick.canSelectMany = true;
  pick.selectedItems = pick.items.filter(({ chosen }) => chosen !== undefined && before.includes(chosen));
  return ended(pick, heading, () => {
    const chosen = pick.selectedItems.flatMap((item) => (item.chosen === undefined ? [] : [item.chosen]));
    const reading: Reading = chosen.length === 0 && !field.required ? [] : check(chosen);
    if (typeof reading === "string") {
      pick.placeholder = `${reading} ${caption(field)}`;
      return undefined;
    }
    return reading;
  });
}

function listOf<Chosen>(field: Field, items: readonly Choice<Chosen>[]): vscode.QuickPick<Choice<Chosen>> {
  const pick = vscode.window.createQuickPick<Choice<Chosen>>();
  pick.items = items;
  pick.placeholder = caption(field);
  pick.matchOnDescription = true;
  return pick;
}

function choice<Chosen extends Value>(title: string, chosen: Chosen): Choice<Chosen> {
  const label = line(title, 100);
  const isNamed = typeof chosen === "string" && label !== chosen;
  return { label: label === "" ? "(empty)" : label, ...(isNamed ? { description: line(chosen, 100) } : {}), chosen };
}

function caption({ title, description }: Field): string {
  return line(description === "" ? title : `${title}: ${description}`, 300);
}

/** Shows an input until it is accepted with something that fits, or left. */
async function ended(input: Input, heading: Heading, accept: () => Answer | undefined): Promise<Outcome> {
  const { title, step, steps, token } = heading;
  Object.assign(input, { title, step, totalSteps: steps, ignoreFocusOut: true });
  input.buttons = step > 1 ? [vscode.QuickInputButtons.Back, DECLINE] : [DECLINE];
  const withdrawal = token.onCancellationRequested(() => {
    input.hide();
  });
  try {
    return await new Promise<Outcome>((resolve) => {
      input.onDidAccept(() => {
        const answer = accept();
        if (answer !== undefined) {
          resolve(answer);
        }
      });
      input.onDidTriggerButton((button) => {
        resolve(button === DECLINE ? "decline" : "back");
      });
      input.onDidHide(() => {
        resolve("cancel");
      });
      input.show();
    });
  } finally {
    withdrawal.dispose();
    input.dispose();
  }
}
