import {
  BuildError,
  defineAgent,
  type AgentConfig,
  type AgentConfigChange,
  type OnApproval,
  type StateCode,
  type Tool,
} from "@moora/agent";
import { shownValue } from "@moora/agent-core-effects/internal";
import type { ApprovalPredicate } from "@moora/agent-core-effects";
import type { EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { AgentEngine, type EngineHost, type RunStorage } from "./agent-engine.ts";
import { checkChange, presetConfig, mergeConfig, presetNames, type BuilderPreset } from "./builder-config.ts";

/** What an `AgentBuilder` has collected. */
export interface BuilderParts {
  readonly task: string;
  readonly preset?: BuilderPreset;
  /** The changes of the configuration, in the order of the calls. */
  readonly changes: readonly AgentConfigChange[];
  readonly tools: readonly Tool[];
  readonly handlers: readonly (readonly [state: string, handler: StateCode])[];
  readonly llm?: LlmCaller;
  readonly onApproval?: OnApproval;
  readonly predicate?: ApprovalPredicate;
  readonly log?: EventLog;
  readonly sessionId?: string;
  readonly resumes?: boolean;
}

/** The name of the predicate of `approvalPolicy`. */
export const predicateName = "approvalPolicy";

/** Creates an engine from what a builder has collected. Throws `BuildError` where that does not define an agent. */
export function buildEngine(collected: BuilderParts, host: EngineHost): AgentEngine {
  const { task, llm, tools, handlers, predicate, onApproval } = collected;
  if (llm === undefined) throw new BuildError("Missing model: add llm(...) or openai().");
  if (typeof task !== "string") throw new BuildError(`The task must be a string, got ${shownValue(task)}.`);
  if (task.trim() === "") throw new BuildError("The task must not be blank.");
  const storage = storageOf(collected);
  const agent = defineAgent({
    llm,
    config: configOf(collected),
    tools,
    states: statesOf(handlers),
    predicates: predicate === undefined ? {} : { [predicateName]: predicate },
  });
  return new AgentEngine(agent, task, {
    ...host,
    ...(onApproval === undefined ? {} : { onApproval }),
    ...(storage === undefined ? {} : { storage }),
  });
}

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
