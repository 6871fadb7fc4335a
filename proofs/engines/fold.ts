/**
 * What every engine runs: one file without imports, which puts `moora` on the global object. A question and its answer are
 * JSON text.
 */
import { positionsOf, shownAt, type Shown } from "@moora/testbed/corpus/positions";
import { withoutSurroundings } from "./surroundings.ts";

/** Sessions to fold, by name; or one position of one of them, in full. */
export interface Question {
  readonly sessions: Readonly<Record<string, string>>;
  /** Whether clocks, chance, locales and all else that is not the same everywhere are taken away first. */
  readonly bare: boolean;
  readonly show?: { readonly session: string; readonly seq: number };
}

export interface Answer {
  /** The lines of each session, or why it could not be folded. */
  readonly positions: Readonly<Record<string, readonly string[] | string>>;
  /** What was taken away and asked for all the same. */
  readonly touched: readonly string[];
  readonly shown?: Shown;
}

function folded(text: string): readonly string[] | string {
  try {
    return positionsOf(text);
  } catch (error) {
    return String(error);
  }
}

function answered({ sessions, show }: Question): Omit<Answer, "touched"> {
  if (show !== undefined) return { positions: {}, shown: shownAt(sessions[show.session] ?? "", show.seq) };
  const entries = Object.entries(sessions).map(([name, text]) => [name, folded(text)] as const);
  return { positions: Object.fromEntries(entries) };
}

const answer = (questionText: string): string => {
  const question: Question = JSON.parse(questionText);
  const { result, touched } = question.bare
    ? withoutSurroundings(() => answered(question))
    : { result: answered(question), touched: [] };
  return JSON.stringify({ ...result, touched });
};

Object.assign(globalThis, { moora: { answer } });
