import {
  agentTransition,
  cacheBreakBetween,
  contextAt,
  headerToState,
  llmRequestAt,
  readSoundPart,
  type AgentState,
  type CacheBreak,
  type ContextPlan,
  type Position,
} from "@moora/agent";
import { inputsIn, type UsageReport } from "@moora/agent-core-state-machine";
import { cacheBreakText, leftOutTexts } from "@moora/agent-core-effects/internal";
import type { SessionCall } from "./session-call.ts";

/** The context of the next request, and what a provider can have had of the last one in its cache. */
export interface ShownContext {
  readonly context: ContextPlan;
  /** Undefined if the model was asked for fewer than two steps. */
  readonly cacheBreak: CacheBreak | null | undefined;
  /** What the provider has counted of the last request; undefined without an answer, and for an estimate. */
  readonly usage: UsageReport | undefined;
}

/** The context at a position of a session. */
export async function contextOf({ log, id }: SessionCall, { seq, state }: Position): Promise<ShownContext> {
  const { header, inputs } = await readSoundPart(log, id);
  let now = headerToState(header);
  let plans: readonly AgentState[] = [];
  let usage: UsageReport | undefined;
  for (const input of inputs.slice(0, seq)) {
    now = agentTransition(input)(now);
    if (input.type === "re-act-observed") ({ usage } = input);
    const asks = inputsIn(input).some(({ type }) => type === "llm-call-started");
    if (!asks || now.reActContext.control.type !== "Planning") continue;
    usage = undefined;
    // Of several attempts at a step, the last one counts.
    plans = [...plans.filter((plan) => stepOf(plan) !== stepOf(now)).slice(-1), now];
  }
  const [earlier, later] = plans.map(llmRequestAt);
  return {
    context: contextAt(state),
    cacheBreak: earlier && later && cacheBreakBetween(earlier, later),
    usage: usage?.estimated === true ? undefined : usage,
  };
}

const stepOf = ({ reActContext: { loop, step } }: AgentState): string => `${loop}/${step}`;

/** The title and the lines of a part of the output. */
type Section = readonly [title: string, lines: readonly string[]];

/** What is shown of a context. */
export function contextSections({ context, cacheBreak, usage }: ShownContext): readonly Section[] {
  const { tokens, maxInputTokens, sizes } = context;
  const limit = maxInputTokens === 0 ? "no limit" : `limit ${amount(maxInputTokens)}`;
  const parts = Object.entries(sizes).map(([part, size]) => part.padEnd(12) + amount(size).padStart(12));
  const { inputTokens = 0, cachedInputTokens = 0 } = usage ?? {};
  const cached = `${amount(cachedInputTokens)} of its ${amount(inputTokens)} input tokens were cached.`;
  const broken = cacheBreak === undefined ? [] : [cacheBreakText(cacheBreak)];
  return [
    ["next request", [`${amount(tokens)} tokens, ${limit}`]],
    ["estimated tokens of its parts", parts],
    ["left out", leftOutTexts(context)],
    ["last request", usage === undefined ? broken : [...broken, cached]],
  ];
}

const amount = (tokens: number): string => tokens.toLocaleString("en-US");
