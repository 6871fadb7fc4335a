import type { AgentState, ControlOf } from "@moora/agent-core-state-machine";
import {
  isBlacklisted,
  modelFor,
  offeredToolsAt,
  reflectTaskType,
} from "@moora/agent-core-state-machine/internal";
import type { LlmRequest, LlmSettings, LlmTool, LlmToolChoice } from "@moora/llm";
import { internalToolsAt } from "../internal-tools.ts";
import { jsonObjectOf } from "./json-object.ts";
import { messagesAt, type LlmRequestCache } from "./messages.ts";
import { reflectionMessages } from "./reflection.ts";

/**
 * The model request of a state; undefined if the state wants none. Requests are not stored: they are computed from
 * `transcript[windowStart, seen)`. The next request of a loop extends this one by the turn, its results and later entries,
 * except after a reflection or a change of the window.
 */
export const llmRequestAt = (state: AgentState): LlmRequest | undefined => requestAt(state);

/** The model request of a state, with a cache for the requests of its session. */
export function requestAt(state: AgentState, cache?: LlmRequestCache): LlmRequest | undefined {
  const { control } = state.reActContext;
  if (control.type === "Planning" && control.retryAt === null) return planRequest(state, control, cache);
  return control.type === "Reflecting" ? reflectRequest(state, control) : undefined;
}

function planRequest(state: AgentState, control: ControlOf<"Planning">, cache?: LlmRequestCache): LlmRequest {
  const { config } = state;
  const tools = offeredTools(state, cache);
  const answerSchema = config.answerSchema === null ? undefined : jsonObjectOf(config.answerSchema);
  return {
    purpose: "plan",
    model: modelFor(config, config.taskType),
    system: config.systemPrompt,
    messages: messagesAt(state, cache),
    tools,
    toolChoice: tools.length === 0 ? "auto" : toolChoiceOf(state),
    parallelToolCalls: config.toolCalls.parallel,
    ...(answerSchema === undefined ? {} : { answerSchema }),
    settings: settingsOf(state, control),
  };
}

/**
 * The offered tools. A tool of the agent replaces an internal one of the same name: providers refuse duplicate names. Tools that were found
 * are the last ones, in the order of the searches, so that the beginning of the list stays the same.
 */
function offeredTools(state: AgentState, cache?: LlmRequestCache): readonly LlmTool[] {
  const own = toolsAt(state);
  const internal = internalToolsAt(state, cache);
  if (internal.length === 0) return own;
  const offered = offeredToolsAt(state);
  if (offered === undefined) return [...own, ...internal];
  const named = (names: readonly string[]): readonly LlmTool[] =>
    names.flatMap((name) => own.find((tool) => tool.name === name) ?? []);
  return [...named(offered.always), ...internal, ...named(offered.found)];
}

/**
 * The tool choice of a request. On the last step the model must answer. `required` and a named tool apply only to the
 * first step of a loop, and only if the tool is offered.
 */
function toolChoiceOf(state: AgentState): LlmToolChoice {
  const { toolChoice } = state.config;
  const { step, stepLimit } = state.reActContext;
  if (step >= stepLimit) return "none";
  if (toolChoice === "auto" || toolChoice === "none") return toolChoice;
  const isOffered = toolsAt(state).some(({ name }) => toolChoice === "required" || name === toolChoice.name);
  return step === 1 && isOffered ? toolChoice : "auto";
}

const reflectRequest = (state: AgentState, control: ControlOf<"Reflecting">): LlmRequest => ({
  purpose: "reflect",
  model: modelFor(state.config, reflectTaskType),
  system: "",
  messages: reflectionMessages(state, control),
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: false,
  settings: settingsOf(state, control),
});

/**
 * The settings of a request: those of the configuration, with a lower `maxOutputTokens` if the budget requires it. The
 * adapter leaves out, with a warning, settings that its provider does not support.
 */
const settingsOf = (
  { config: { settings } }: AgentState,
  { maxOutputTokens }: ControlOf<"Planning" | "Reflecting">,
): LlmSettings => (maxOutputTokens === null ? settings : { ...settings, maxOutputTokens });

interface OfferedTools {
  readonly blacklist: readonly string[];
  readonly tools: readonly LlmTool[];
}

/** A cache by the tools of a state: they rarely change, and their schemas are long. */
const memo = new WeakMap<AgentState["tools"], OfferedTools>();

/**
 * The tools that the model is offered: all except the blacklisted ones, in the order in which they were given. They change
 * only with the configuration, so that the beginning of requests stays the same. An unreadable schema allows any object.
 */
function toolsAt({ tools, config }: AgentState): readonly LlmTool[] {
  const { blacklist } = config.toolCalls;
  const known = memo.get(tools);
  if (known !== undefined && known.blacklist === blacklist) return known.tools;
  const offered = Object.entries(tools)
    .filter(([name]) => !isBlacklisted({ config, tools }, { name }))
    .map(([name, { description, schema }]) => ({
      name,
      description,
      schema: jsonObjectOf(schema) ?? { type: "object" },
    }));
  memo.set(tools, { blacklist, tools: offered });
  return offered;
}
