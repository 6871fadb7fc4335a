/** Whether a line is one of those that a search is for. Longer lines than `maxLineLength` are cut before. */
export type LineMatcher = (line: string) => boolean;

/** Longer lines are cut before they are searched: they are minified code, where a match has no meaning. */
export const maxLineLength = 2_000;

const maxPatternLength = 200;

/** Lines that contain a text. */
export function textMatcher(text: string, ignoresCase: boolean): LineMatcher {
  const fold = (line: string): string => (ignoresCase ? line.toLowerCase() : line);
  const wanted = fold(text);
  return (line) => fold(line.slice(0, maxLineLength)).includes(wanted);
}

/**
 * Lines that match a regular expression of RE2, which takes a time that is linear in the length of the line: there are no
 * backreferences and no lookarounds. Throws `SyntaxError` for an invalid expression.
 */
export async function patternMatcher(source: string, ignoresCase: boolean): Promise<LineMatcher> {
  if (source.length > maxPatternLength)
    throw new SyntaxError(`The expression is longer than ${maxPatternLength} characters.`);
  const { RE2JS, RE2JSSyntaxException } = await import("re2js");
  try {
    const flags = ignoresCase ? RE2JS.CASE_INSENSITIVE : 0;
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source), flags);
    return (line) => pattern.test(line.slice(0, maxLineLength));
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "");
    throw new SyntaxError(
      `Invalid regular expression: ${reason}. Use the syntax of RE2: no lookarounds, no backreferences.`,
    );
  }
}
