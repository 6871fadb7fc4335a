import type { Question } from "@moora/agent";

/** What a person is asked about a call whose outcome is unknown. */
const outcomeQuestion =
  "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";

/** A question as far as its text depends on it. `question` is the text that the model or a tool has given. */
interface AskedText {
  readonly about: Question["about"];
  readonly question?: string | undefined;
}

/** The text of a question; undefined where the call itself is the question. */
export const questionText = ({ about, question }: AskedText): string | undefined =>
  about === "outcome" ? outcomeQuestion : question;

/** The text of a question as a field of a chunk; no field where the call itself is the question. */
export function questionField(asked: AskedText): { readonly question?: string } {
  const question = questionText(asked);
  return question === undefined ? {} : { question };
}
