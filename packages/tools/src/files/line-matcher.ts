import { createContext, Script } from "node:vm";

/** Finds lines. Gives the indices of those that match, and how long it may still go on in this search. */
export interface LineMatcher {
  /** Throws `PatternTooSlow` when the time for the whole search is used up. */
  matches(lines: readonly string[]): readonly number[];
}

/** A pattern that takes for ever on some text. */
export class PatternTooSlow extends Error {
  override readonly name = "PatternTooSlow";
}

/** Lines are searched up to here: beyond it stands minified code, where a match says nothing. */
export const maxLineLength = 2_000;

const maxPatternLength = 200;

/** Lines that contain a text. */
export function textMatcher(text: string, ignoresCase: boolean): LineMatcher {
  const fold = (line: string): string => (ignoresCase ? line.toLowerCase() : line);
  const wanted = fold(text);
  return {
    matches: (lines) =>
      lines.flatMap((line, index) => (fold(line.slice(0, maxLineLength)).includes(wanted) ? [index] : [])),
  };
}

/** The loop runs inside the context, so that the time limit of the context also ends a match under way. */
const loop = new Script(`{
  const found = [];
  for (let index = 0; index < lines.length; index += 1)
    if (pattern.test(lines[index].slice(0, most))) found.push(index);
  found;
}`);

/**
 * Lines that match a regular expression, for at most `budgetMs` of matching in all: an expression that backtracks for
 * ever is ended by the virtual machine. Throws `SyntaxError` for text that is no expression.
 */
export function patternMatcher(source: string, ignoresCase: boolean, budgetMs: number): LineMatcher {
  if (source.length > maxPatternLength)
    throw new SyntaxError(`The expression is longer than ${maxPatternLength} characters.`);
  const pattern = new RegExp(source, ignoresCase ? "iu" : "u");
  const context = createContext({ pattern, lines: [], most: maxLineLength });
  let left = budgetMs;
  return {
    matches(lines) {
      const began = performance.now();
      context["lines"] = lines;
      try {
        if (left < 1) throw new PatternTooSlow();
        return [...loop.runInContext(context, { timeout: Math.ceil(left) })];
      } catch (error) {
        throw isTimeout(error) ? new PatternTooSlow() : error;
      } finally {
        left -= performance.now() - began;
      }
    },
  };
}

/** The error may be of the context's own realm, where `instanceof` says nothing. */
const isTimeout = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
