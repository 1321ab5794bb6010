/** One question after the other, with a way back; knows nothing of what is asked, nor of VS Code. */

/** How a step ended: with an answer, or with the wish to go back, to decline, or to leave. */
export type Step<Answer> = { readonly answer: Answer } | "back" | "decline" | "cancel";

/** Asks one after the other; `ask` is given the answer that was given before, where there was one. */
export async function inOrder<Question, Answer>(
  questions: readonly Question[],
  ask: (question: Question, index: number, before: { readonly answer: Answer } | undefined) => Promise<Step<Answer>>,
): Promise<readonly Answer[] | "decline" | "cancel"> {
  const given: { readonly answer: Answer }[] = [];
  let index = 0;
  for (let question = questions[0]; question !== undefined; question = questions[index]) {
    const step = await ask(question, index, given[index]);
    if (step === "decline" || step === "cancel") {
      return step;
    }
    if (step === "back") {
      index = Math.max(0, index - 1);
    } else {
      given[index] = step;
      index += 1;
    }
  }
  return given.map(({ answer }) => answer);
}
