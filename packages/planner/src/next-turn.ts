import { internalTools } from "@moora/agent-core-effects/internal";
import type { LlmRequest, LlmTool } from "@moora/llm";
import { answerJson } from "./answer-json.ts";
import { answerTo } from "./answer.ts";
import { withoutPipedText } from "./piped-input.ts";
import { forcedCall, plannedCalls, type PlannedCall } from "./planned-calls.ts";
import { messagesToProgress, type Progress } from "./progress.ts";
import { requestToClauses, type RoutedClause } from "./request-to-clauses.ts";
import { profileOf, type Profile } from "./route.ts";
import { historyToSummary, summaryToCalls } from "./summaries.ts";

/** The next turn of the planner: calls, an answer, or a refusal. */
export type NextTurn =
  | { readonly type: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "refusal"; readonly reason: string };

/** Limits for one request: characters that are read, turns with calls, and calls. */
const maxRead = 4_000;
const maxTurns = 8;
const maxCalls = 16;

const unusedInput =
  "\n\nI did not use the text of standard input: the planner cannot read or summarize it. Choose a model with --provider.";

/** A pure function of the request: the same request gives the same turn. */
export function nextTurn(request: LlmRequest): NextTurn {
  const found = messagesToProgress(request.messages);
  // Piped text is data: without a model, nothing in it or in its frame is a request or an argument.
  const seen = { ...found, text: withoutPipedText(found.text) };
  if (request.purpose === "reflect") return { type: "answer", text: historyToSummary(seen.text) };
  const profiles = request.tools.filter(isOffered(request)).map(profileOf);
  const clauses = requestToClauses(seen.text.slice(0, maxRead), profiles);
  const progress = { ...seen, calls: [...summaryToCalls(seen.summary, clauses), ...seen.calls] };
  const calls = nextCalls(request, clauses, progress, profiles);
  if (calls.length > 0) return { type: "calls", calls };
  const unread = seen.text.length > maxRead ? `\n\nI read only the first ${maxRead} characters of this.` : "";
  const unused = seen.text === found.text ? "" : unusedInput;
  const text = answerTo(clauses, progress, profiles) + unread + unused;
  if (request.answerSchema === undefined) return { type: "answer", text };
  const json = answerJson(request.answerSchema, progress, text);
  return json === undefined
    ? {
        type: "refusal",
        reason: "The planner cannot produce an answer for this schema; use a language model.",
      }
    : { type: "answer", text: json };
}

/** Internal tools of the agent are not offered for requests. */
const isOffered =
  ({ toolChoice }: LlmRequest) =>
  ({ name }: LlmTool): boolean =>
    typeof toolChoice === "object"
      ? toolChoice.name === name
      : !internalTools.some((internal) => internal.name === name);

function nextCalls(
  { toolChoice, parallelToolCalls }: LlmRequest,
  clauses: readonly RoutedClause[],
  progress: Progress,
  profiles: readonly Profile[],
): readonly PlannedCall[] {
  const isSpent = progress.rounds >= maxTurns || progress.calls.length >= maxCalls;
  if (toolChoice === "none" || isSpent) return [];
  const planned = plannedCalls(clauses, progress, profiles);
  const mustCall = toolChoice !== "auto" && progress.rounds === 0 && planned.length === 0;
  const forced = mustCall ? forcedCall(progress.text.slice(0, maxRead), profiles) : undefined;
  const calls = forced === undefined ? planned : [forced];
  return calls.slice(0, parallelToolCalls ? maxCalls - progress.calls.length : 1);
}
