import { internalTools, searchToolName } from "@moora/agent-core-effects/internal";
import type { JsonObject, LlmRequest, LlmTool } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { answerJson, answerTo } from "./answer.ts";
import { withoutPipedText } from "./piped-input.ts";
import { historyToSummary, messagesToProgress, type PastCall, type Progress } from "./progress.ts";
import { requestToSteps, stepOf, type Step } from "./request-to-steps.ts";

/** A call that the planner requests, for the step at this position. */
interface PlannedCall {
  readonly name: string;
  readonly values: JsonObject;
  readonly step: number;
}

/** The next turn of the planner: calls, an answer, or a refusal. */
export type NextTurn =
  | { readonly type: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "refusal"; readonly reason: string };

/** Limits for one request: characters that are read, and turns and steps with calls. */
const maxRead = 4_000;
const maxTurns = 8;
const maxSteps = 8;

const unusedInput =
  "\n\nI did not use the text of standard input: the planner cannot read or summarize it. Choose a model with --provider.";

/** A pure function of the request: the same request gives the same turn. */
export function nextTurn(request: LlmRequest): NextTurn {
  const found = messagesToProgress(request.messages);
  // Piped text is data: without a model, nothing in it or in its frame is a request or an argument.
  const text = withoutPipedText(found.text);
  if (request.purpose === "reflect") return { type: "answer", text: historyToSummary(text) };
  if (found.rounds === 0 && maySearch(request)) {
    const values = { query: text.slice(0, maxRead) };
    return { type: "calls", calls: [{ name: searchToolName, values, step: -1 }] };
  }
  const tools = request.tools.filter(isOffered(request));
  const steps = stepsOf(request, text.slice(0, maxRead), tools, found.rounds);
  const past = found.calls.filter(({ name }) => name !== searchToolName);
  const progress = { ...found, calls: withSteps(past, steps) };
  const calls = nextCalls(request, steps, progress);
  if (calls.length > 0) return { type: "calls", calls };
  const unread = text.length > maxRead ? `\n\nI read only the first ${maxRead} characters of this.` : "";
  const answer = answerTo(steps, progress, tools) + unread + (text === found.text ? "" : unusedInput);
  if (request.answerSchema === undefined) return { type: "answer", text: answer };
  const json = answerJson(request.answerSchema, progress, answer);
  const reason = "The planner cannot produce an answer for this schema; use a language model.";
  return json === undefined ? { type: "refusal", reason } : { type: "answer", text: json };
}

/** Whether the tools that a text names may have to be found first. */
const maySearch = ({ tools, toolChoice }: LlmRequest): boolean =>
  (toolChoice === "auto" || toolChoice === "required") && tools.some(({ name }) => name === searchToolName);

/** Internal tools of the agent are not offered for requests. */
const isOffered =
  ({ toolChoice }: LlmRequest) =>
  ({ name }: LlmTool): boolean =>
    typeof toolChoice === "object"
      ? toolChoice.name === name
      : !internalTools.some((internal) => internal.name === name);

/** The steps of a request. A tool that has to be called is one, with the whole text for what the text does not say. */
function stepsOf({ toolChoice }: LlmRequest, text: string, tools: readonly LlmTool[], rounds: number) {
  const steps = requestToSteps(text, tools);
  const isForced = toolChoice !== "auto" && toolChoice !== "none" && rounds === 0;
  const [tool] = tools;
  if (steps.length > 0 || !isForced || tool === undefined) return steps;
  const step = stepOf(tool, text);
  const rest = Object.fromEntries(step.missing.map((name) => [name, text]));
  return [{ ...step, values: { ...step.values, ...rest }, missing: [] }];
}

/**
 * The calls with the positions of their steps. What a summary says has none: it belongs to the first step of its tool that has no call,
 * except a call that the request has as well.
 */
function withSteps(calls: readonly PastCall[], steps: readonly Step[]): readonly PastCall[] {
  const shown = calls.filter(({ step }) => step !== undefined);
  const open = new Set(steps.keys());
  for (const { step } of shown) if (step !== undefined) open.delete(step);
  const reported = calls.filter(
    (call) => call.step === undefined && !shown.some((other) => isSame(call, other)),
  );
  const found = reported.map((call) => {
    const step = [...open].find((index) => steps[index]?.tool.name === call.name);
    if (step !== undefined) open.delete(step);
    return { ...call, step };
  });
  return [...found, ...shown];
}

const isSame = (a: PastCall, b: PastCall): boolean =>
  a.name === b.name && JSON.stringify(a.values) === JSON.stringify(b.values);

/** The calls that can start now: those of every step that does not wait for an earlier one. */
function nextCalls(
  { toolChoice, parallelToolCalls }: LlmRequest,
  steps: readonly Step[],
  { calls, rounds }: Progress,
): readonly PlannedCall[] {
  if (toolChoice === "none" || rounds >= maxTurns) return [];
  const next: PlannedCall[] = [];
  for (const [index, { tool, values, missing, isLater }] of steps.slice(0, maxSteps).entries()) {
    if ((isLater || missing.length > 0) && next.length > 0) break;
    if (calls.some(({ step }) => step === index)) continue;
    const found = missing.map((name) => [name, foundIn(calls, name)] as const);
    if (found.some(([, value]) => value === undefined)) continue;
    const rest = Object.fromEntries(
      found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    next.push({ name: tool.name, values: { ...values, ...rest }, step: index });
  }
  return parallelToolCalls ? next : next.slice(0, 1);
}

/** A value for an argument from the newest result that has one: under its name, or the first path in it. */
function foundIn(calls: readonly PastCall[], name: string): string | undefined {
  for (const { isError, content } of calls.toReversed()) {
    if (isError) continue;
    const json = textToJson(content);
    const item: unknown = Array.isArray(json) ? json[0] : json;
    if (isJsonObject(item) && (typeof item[name] === "string" || typeof item[name] === "number"))
      return String(item[name]);
    const place = /(?:^|[\s"])((?:[\w.-]+\/)*[\w-]+\.\w+)(?=[\s:"(]|$)/m.exec(content)?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}
