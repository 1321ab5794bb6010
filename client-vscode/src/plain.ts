/** Text that a server wrote, made harmless for a label, a message or a dialog; knows nothing of VS Code. */

const LONGEST_LINE = 500;

// Control, bidirectional and invisible characters can hide or reorder what a person agrees to.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** One line: no unseen characters, no command link (`](`), no icon (`$(`), not endless. */
export function line(text: string, longest = LONGEST_LINE): string {
  const seen = text.replace(UNSEEN, " ").replace(/\s+/gu, " ").trim();
  const short = seen.length > longest ? `${seen.slice(0, longest - 1)}…` : seen;
  return message(short).replaceAll("$(", "$ (");
}

/** A sentence for a notification, which would run a Markdown link to a command. */
export function message(text: string): string {
  return text.replaceAll("](", "] (");
}

/** A value in full, as JSON that reads back as the same; unseen characters and command links are written as escapes. */
export function whole(value: unknown): string {
  const json = JSON.stringify(value ?? null, undefined, 2);
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, escaped).replaceAll("](", "]\\u0028");
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
    .join("");
}
