/** Arithmetic in words, and the sign for it. */
const inWords: readonly (readonly [RegExp, string])[] = [
  [/\bsquare root of\b/gi, " sqrt "],
  [/\s*\b(?:percent|per cent) of\b|\s*%\s*of\b/gi, "% * "],
  [/\s*\b(?:percent|per cent)\b/gi, "%"],
  [/\bdivided by\b/gi, " / "],
  [/\b(?:multiplied by|times)\b/gi, " * "],
  [/\bto the power of\b/gi, " ^ "],
  [/\bsquared\b/gi, " ^ 2"],
  [/\bcubed\b/gi, " ^ 3"],
  [/\bplus\b/gi, " + "],
  [/\bminus\b/gi, " - "],
];

const functionNames = "sqrt|abs|min|max|round|floor|ceil|log|ln|exp|sin|cos|tan";
const sign = "\\*\\*|[-+*/^%(),\\u00d7\\u00f7\\u2212]";
const number =
  "(?<![\\w.])(?:\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)(?![\\w.]*\\w)";
/** One token: white space, a number, a name or a sign is in a group; anything else ends an expression. */
const piece = new RegExp(`(\\s+|${number}|\\b(?:${functionNames}|pi|tau|e)\\b|${sign})|\\w+|[^]`, "gu");

const isNumber = (token: string): boolean => /^\d/.test(token);
const isName = (token: string): boolean => /^[a-z]/.test(token);

/** The arithmetic expressions in a text: runs of numbers and signs with at least one thing to calculate. */
export function textToExpressions(text: string): readonly string[] {
  const worded = inWords.reduce((rest, [words, written]) => rest.replaceAll(words, written), text);
  const runs: string[][] = [[]];
  let depth = 0;
  for (const [, token] of worded.matchAll(piece)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === undefined || (token === "," && depth <= 0)) {
      runs.push([]);
      depth = 0;
    } else runs.at(-1)?.push(token);
  }
  return runs.flatMap((run) => runToExpression(run) ?? []);
}

/** A run without tokens that cannot begin or end an expression. Undefined if nothing is calculated in it. */
function runToExpression(run: readonly string[]): string | undefined {
  const tokens = run
    .map((token) => (isNumber(token) ? token.replaceAll(",", "") : token.replace(/^\s+$/, " ")))
    .filter((token, index, all) => token !== " " || all[index - 1] !== " ");
  while (tokens.length > 0 && /^[\s*/^%),\u00d7\u00f7]$/.test(tokens[0] ?? "")) tokens.shift();
  while (tokens.length > 0 && /^[-\s+*/^(,\u00d7\u00f7\u2212]$/.test(tokens.at(-1) ?? "")) tokens.pop();
  balance(tokens);
  const calculates = tokens.some(
    (token, index) => index > 0 && /^[-+*/^%\u00d7\u00f7\u2212]|^\*\*$/.test(token),
  );
  const hasFunction = tokens.some((token) => isName(token) && tokens.some(isNumber) && token.length > 2);
  if (!tokens.some((token) => isNumber(token) || isName(token)) || !(calculates || hasFunction))
    return undefined;
  return withParentheses(tokens.join("").trim());
}

/** Parentheses without a partner belong to the sentence around it. */
function balance(tokens: string[]): void {
  const count = (one: string): number => tokens.filter((token) => token === one).length;
  while (count("(") > count(")") && tokens[0] === "(") tokens.shift();
  while (count(")") > count("(") && tokens.at(-1) === ")") tokens.pop();
}

/** "sqrt 16" means sqrt(16). */
const withParentheses = (expression: string): string =>
  expression.replaceAll(new RegExp(`\\b(${functionNames}) +(\\d+(?:\\.\\d+)?)`, "g"), "$1($2)");
