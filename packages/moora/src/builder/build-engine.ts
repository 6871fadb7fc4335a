import {
  BuildError,
  defineAgent,
  needsContext,
  type Agent,
  type AgentConfig,
  type AgentConfigChange,
  type DataDefinition,
  type LogListener,
  type OnApproval,
  type PriceList,
  type StateCode,
  type Tool,
} from "@moora/agent";
import { shownValue } from "@moora/agent-core-effects/internal";
import type { ApprovalPredicate, StandardSchema } from "@moora/agent-core-effects";
import type { EventLog } from "@moora/event-log";
import {
  cached,
  fallback,
  rateLimited,
  type CachedOptions,
  type JsonObject,
  type LlmCaller,
  type RateLimits,
} from "@moora/llm";
import { AgentEngine, type EngineHost } from "./agent-engine.ts";
import { checkChange, presetConfig, mergeConfig, presetNames, type BuilderPreset } from "./builder-config.ts";
import type { RunStorage } from "./durable-runner.ts";

/** What an `AgentBuilder` has collected. */
export interface BuilderParts {
  readonly task: string;
  readonly preset?: BuilderPreset;
  /** The changes of the configuration, in the order of the calls. */
  readonly changes: readonly AgentConfigChange[];
  readonly tools: readonly Tool[];
  readonly handlers: readonly (readonly [state: string, handler: StateCode])[];
  readonly llm?: LlmCaller;
  /** The callers that are tried after the model. */
  readonly fallbacks?: readonly LlmCaller[];
  readonly rateLimits?: RateLimits;
  readonly caching?: CachedOptions;
  readonly onApproval?: OnApproval;
  readonly predicate?: ApprovalPredicate;
  readonly answer?: StandardSchema | JsonObject;
  readonly prices?: PriceList;
  readonly data?: DataDefinition;
  readonly context?: object;
  readonly onLog?: LogListener;
  readonly log?: EventLog;
  readonly sessionId?: string;
  readonly resumes?: boolean;
}

/** The name of the predicate of `approvalPolicy`. */
export const predicateName = "approvalPolicy";

/** Creates an engine from what a builder has collected. Throws `BuildError` where that does not define an agent. */
export function buildEngine(collected: BuilderParts, host: EngineHost): AgentEngine {
  const { task, tools, handlers, predicate, onApproval, answer, prices, data, context, onLog } = collected;
  const llm = llmOf(collected);
  if (llm === undefined) throw new BuildError("Missing model: add llm(...) or openai().");
  if (typeof task !== "string") throw new BuildError(`The task must be a string, got ${shownValue(task)}.`);
  if (task.trim() === "") throw new BuildError("The task must not be blank.");
  const storage = storageOf(collected);
  const parts = {
    llm,
    config: configOf(collected),
    tools,
    states: statesOf(handlers),
    predicates: predicate === undefined ? {} : { [predicateName]: predicate },
    ...(prices === undefined ? {} : { prices }),
    ...(data === undefined ? {} : { data }),
  };
  const agent = answer === undefined ? defineAgent(parts) : toTextAgent(defineAgent({ ...parts, answer }));
  if (context === undefined && needsContext(agent))
    throw new BuildError("A tool needs a context: add context(...).");
  return new AgentEngine(agent, task, {
    ...host,
    ...(onApproval === undefined ? {} : { onApproval }),
    ...(context === undefined ? {} : { context }),
    ...(onLog === undefined ? {} : { onLog }),
    ...(storage === undefined ? {} : { storage }),
  });
}

/** The model within its limits, then the other callers, all of them behind the cache. */
function llmOf({ llm, fallbacks = [], rateLimits, caching }: BuilderParts): LlmCaller | undefined {
  if (llm === undefined) return undefined;
  const limited = rateLimits === undefined ? llm : rateLimited(llm, rateLimits);
  const first = fallbacks.length === 0 ? limited : fallback([limited, ...fallbacks]);
  return caching === undefined ? first : cached(first, caching);
}

/** The agent with the text of a validated answer instead of its value: an engine resolves with text. */
const toTextAgent = (agent: Agent<unknown>): Agent => ({
  ...agent,
  answerOf: async (text, schema) => {
    await agent.answerOf(text, schema);
    return text;
  },
});

/** The whole configuration. Throws `BuildError` for a preset that does not exist. */
function configOf({ preset, changes }: BuilderParts): AgentConfig {
  if (preset !== undefined && !presetNames.includes(preset))
    throw new BuildError(`Unknown preset "${preset}". Available presets: ${presetNames.join(", ")}.`);
  changes.forEach(checkChange);
  return changes.reduce(mergeConfig, presetConfig(preset));
}

/** The storage of a run. Throws `BuildError` for `sessionId` or `resume` without a log. */
function storageOf({ log, sessionId, resumes = false }: BuilderParts): RunStorage | undefined {
  if (log !== undefined) return { log, id: sessionId ?? `task_${crypto.randomUUID()}`, resumes };
  if (sessionId === undefined && !resumes) return undefined;
  throw new BuildError("sessionId() and resume() need a log: add log(...).");
}

function statesOf(handlers: BuilderParts["handlers"]): Readonly<Record<string, StateCode>> {
  const names = handlers.map(([name]) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new BuildError(`Duplicate state "${duplicate}".`);
  return Object.fromEntries(handlers);
}
