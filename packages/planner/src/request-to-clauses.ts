import { clauseOf, type Clause } from "./clause.ts";
import { routesOf, routeTo, type Profile, type Route } from "./route.ts";

/** A clause and the tool for it; undefined where none fits. */
export interface RoutedClause {
  readonly clause: Clause;
  readonly route: Route | undefined;
}

/** Further clauses are ignored. */
const maxClauses = 40;

/** The pieces of work in a request, in order, each with its tool. */
export function requestToClauses(text: string, profiles: readonly Profile[]): readonly RoutedClause[] {
  const clauses: RoutedClause[] = [];
  for (const sentence of sentencesOf(text))
    clauses.push(...sentenceToClauses(sentence, clauses.at(-1), profiles));
  return clauses.slice(0, maxClauses);
}

/** Lines, list items, sentences and parts between semicolons. */
const sentencesOf = (text: string): readonly string[] =>
  protectedSplit(text, /\s*(?:\n+|;|(?<=[.?!])\s)\s*/g)
    .map((sentence) => sentence.replace(/^\s*(?:[-*]|\d+[.)])\s+/, "").trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));

const separators = /,?\s+(?:and\s+)?(?:then|after that|afterwards)\s+|,\s+(?:and\s+)?|\s+and\s+/gi;

/** Splits where the right side is a clause of its own: it names a tool, or contains arguments of the last tool. */
function sentenceToClauses(
  sentence: string,
  before: RoutedClause | undefined,
  profiles: readonly Profile[],
): readonly RoutedClause[] {
  const pieces = protectedSplit(sentence, separators, true);
  const done: RoutedClause[] = [];
  let text = "";
  let isLater = /^(?:then|after that|afterwards|finally|next)\b/i.test(sentence);
  for (let index = 0; index < pieces.length; index += 2) {
    const separator = pieces[index - 1] ?? "";
    const piece = pieces[index] ?? "";
    const current =
      text === "" ? undefined : routed(clauseOf(text, isLater), done.at(-1) ?? before, profiles);
    const own = current === undefined ? undefined : ownWork(clauseOf(piece), current, profiles);
    if (current === undefined || own === undefined) {
      text += separator + piece;
      continue;
    }
    done.push(current);
    text = piece;
    isLater = /then|after/i.test(separator);
  }
  if (text.trim() !== "") done.push(routed(clauseOf(text, isLater), done.at(-1) ?? before, profiles));
  return done;
}

/** A clause without a verb goes to the tool of the clause before it: "read a.txt and b.txt". */
function routed(
  clause: Clause,
  before: RoutedClause | undefined,
  profiles: readonly Profile[],
): RoutedClause {
  const [best] = routesOf(clause, profiles);
  const same = before?.route === undefined ? undefined : sameTool(clause, before.route, profiles);
  const inherits = same !== undefined && (best === undefined || best.lexical === 0);
  return { clause, route: inherits ? same : best };
}

function sameTool(clause: Clause, route: Route, profiles: readonly Profile[]): Route | undefined {
  const same = routeTo(clause, route.profile, profiles);
  return same.filled.missing.length === 0 && same.filled.evidence > 0.5 ? same : undefined;
}

/** The tool of the right side if it is a clause of its own. Undefined if it only continues an argument. */
function ownWork(clause: Clause, before: RoutedClause, profiles: readonly Profile[]): Route | undefined {
  const [best] = routesOf(clause, profiles);
  const namesWork = best !== undefined && [...clause.words].some((word) => best.profile.ownWords.has(word));
  if (before.route === undefined) return namesWork ? best : undefined;
  const completes = best?.profile === before.route.profile && before.route.filled.missing.length > 0;
  if (completes || /^\s*[\w-]+\s*[:=]/.test(clause.text)) return undefined;
  if (namesWork && best.lexical >= 1) return best;
  const takesMany = Object.values(before.route.filled.values).some((value) => Array.isArray(value));
  return takesMany ? undefined : sameTool(clause, before.route, profiles);
}

/** Splits outside of quotes and brackets. With `keepsSeparators`, every second piece is a separator. */
function protectedSplit(
  text: string,
  separator: RegExp,
  keepsSeparators: boolean = false,
): readonly string[] {
  const hidden = text.replaceAll(
    /"[^"\n]*"|`[^`\n]*`|\u201c[^\u201d\n]*\u201d|\([^()\n]*\)|\{[^{}\n]*\}|\[[^[\]\n]*\]/g,
    (part) => "\u0000".repeat(part.length),
  );
  const pieces: string[] = [];
  let from = 0;
  for (const match of hidden.matchAll(separator)) {
    pieces.push(text.slice(from, match.index));
    if (keepsSeparators) pieces.push(match[0]);
    from = match.index + match[0].length;
  }
  return [...pieces, text.slice(from)];
}
