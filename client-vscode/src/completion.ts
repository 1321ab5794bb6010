/** Which text VS Code holds a row of the list against while somebody types on; must not know what a row is. */

/**
 * The covered text alone. VS Code asks again with each letter and shows the old rows meanwhile, but with what ends
 * a word it does not ask: then it looks through the old rows, scattered letters and typing errors included, and
 * Enter would put one of them in the place of prose. Only what is quoted goes on after white space.
 */
export function heldAgainst(filterText: string): string {
  const end = filterText.indexOf(" ");
  return end < 0 || filterText.startsWith('@"') ? filterText : filterText.slice(0, end);
}
