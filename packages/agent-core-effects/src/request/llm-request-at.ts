import type { AgentState, ControlOf } from "@moora/agent-core-state-machine";
import { modelFor, reflectTaskType, toolOf } from "@moora/agent-core-state-machine/internal";
import type { LlmRequest, LlmSettings, LlmTool, LlmToolChoice } from "@moora/llm";
import { internalTools, wantsInternalTools } from "../internal-tools.ts";
import { jsonObjectOf } from "./json-object.ts";
import { messagesAt } from "./messages.ts";
import { reflectionMessages } from "./reflection.ts";
import { toolsAt } from "./tools.ts";

/**
 * The request that the state wants to make now, undefined when it wants none. Nothing of it is stored: it is a map over
 * `transcript[windowStart, seen)`. The next request of a loop is this one, the turn with its results, and what came
 * later, except after a reflection or a change of the window.
 */
export function llmRequestAt(state: AgentState): LlmRequest | undefined {
  const { control } = state.reActContext;
  if (control.type === "Planning" && control.retryAt === null) return planRequest(state, control);
  return control.type === "Reflecting" ? reflectRequest(state, control) : undefined;
}

function planRequest(state: AgentState, control: ControlOf<"Planning">): LlmRequest {
  const { config } = state;
  const tools = offeredTools(state);
  const answerSchema = config.answerSchema === null ? undefined : jsonObjectOf(config.answerSchema);
  return {
    purpose: "plan",
    model: modelFor(config, config.taskType),
    system: config.systemPrompt,
    messages: messagesAt(state),
    tools,
    toolChoice: tools.length === 0 ? "auto" : toolChoiceOf(state),
    parallelToolCalls: config.toolCalls.parallel,
    ...(answerSchema === undefined ? {} : { answerSchema }),
    settings: settingsOf(state, control),
  };
}

/** A tool of the host replaces an internal one of the same name: providers refuse a name that comes twice. */
function offeredTools(state: AgentState): readonly LlmTool[] {
  const own = toolsAt(state);
  if (!wantsInternalTools(state)) return own;
  return [...own, ...internalTools.filter(({ name }) => toolOf(state, name) === undefined)];
}

/**
 * On the last step the model has to answer. A tool that must be called is called on the first step of a loop only; one
 * that is not offered need not be called.
 */
function toolChoiceOf(state: AgentState): LlmToolChoice {
  const { toolChoice } = state.config;
  const { step, stepLimit } = state.reActContext;
  if (step === stepLimit) return "none";
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
 * Settings are passed on as they are, but for the limit of the answer where the budget leaves less. The adapter leaves out,
 * with a warning, what its provider does not know.
 */
const settingsOf = (
  { config: { settings } }: AgentState,
  { maxOutputTokens }: ControlOf<"Planning" | "Reflecting">,
): LlmSettings => (maxOutputTokens === null ? settings : { ...settings, maxOutputTokens });
