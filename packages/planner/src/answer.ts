import { callsFor } from "./planned-calls.ts";
import type { Progress } from "./progress.ts";
import type { RoutedClause } from "./request-to-clauses.ts";
import { resultToText } from "./result-to-text.ts";
import type { Profile } from "./route.ts";

/** The maximum number of tools that are listed when none matches. */
const maxListed = 20;

/** The answer to a request, from the results of its calls only. */
export function answerTo(
  clauses: readonly RoutedClause[],
  progress: Progress,
  profiles: readonly Profile[],
): string {
  const isLost = clauses.every(({ route }) => route === undefined) && progress.calls.length === 0;
  if (isLost) return progress.summary === "" ? nothingFits(profiles) : progress.summary;
  return clauses.map((clause, index) => clauseAnswer(clause, index, progress)).join("\n\n");
}

/** The result of one clause. A call that a later one replaced is omitted. */
function clauseAnswer({ clause, route }: RoutedClause, index: number, progress: Progress): string {
  const own = callsFor(progress, index, "own");
  const good = own.filter(({ isError }) => !isError);
  const toolWords = route?.profile.ownWords ?? new Set();
  const quoted = good.length > 0 ? good : own.slice(-1);
  if (quoted.length > 0) return quoted.map((call) => resultToText(clause, call, toolWords)).join("\n\n");
  const asked = `"${clause.text.slice(0, 200).toWellFormed()}"`;
  if (route === undefined) return `None of my tools matches ${asked}.`;
  const missing = route.filled.missing.map(({ name }) => name).join(" and ");
  const { name } = route.profile.tool;
  return missing === ""
    ? `I did not get to ${asked}.`
    : `For ${asked} I would call ${name}, but its ${missing} is missing.`;
}

function nothingFits(profiles: readonly Profile[]): string {
  const what =
    "I am the planner that comes with Moora, not a language model: I hand requests to tools by their words";
  if (profiles.length === 0) return `${what}, and I have no tools here.`;
  const listed = profiles.slice(0, maxListed).map(({ tool: { name, description } }) => {
    const [first = ""] = description.split(/(?<=[.!?])\s|[:(]\s/);
    return `- ${name}: ${first}`;
  });
  const rest = profiles.length > maxListed ? [`- and ${profiles.length - maxListed} more`] : [];
  return [`${what}. None of them matches this request. I have:`, ...listed, ...rest].join("\n");
}
