import { createContext, Script } from "node:vm";

/** Finds lines. Returns the indices of those that match, within the remaining time of this search. */
export interface LineMatcher {
  /** Throws `PatternTooSlow` when the time for the whole search is used up. */
  matches(lines: readonly string[]): readonly number[];
}

/** A pattern whose matching exceeded the time limit. */
export class PatternTooSlow extends Error {
  override readonly name = "PatternTooSlow";
}

/** Longer lines are cut before they are searched: they are minified code, where a match has no meaning. */
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

/** The loop runs inside the context, so that the time limit of the context also stops a match in progress. */
const loop = new Script(`{
  const found = [];
  for (let index = 0; index < lines.length; index += 1)
    if (pattern.test(lines[index].slice(0, most))) found.push(index);
  found;
}`);

/**
 * Lines that match a regular expression, for at most `budgetMs` of matching in total: the virtual machine stops an
 * expression that backtracks longer. Throws `SyntaxError` for an invalid expression.
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

/** The error may come from the realm of the context, so `instanceof` does not work. */
const isTimeout = (error: unknown): boolean =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
