import type { AgentState, ControlOf } from "@moora/agent-core-state-machine";
import type { LlmRequest, LlmSettings, LlmToolChoice } from "@moora/llm";
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
  if (control.type === "Planning" && control.retryAt === null) return planRequest(state);
  return control.type === "Reflecting" ? reflectRequest(state, control) : undefined;
}

function planRequest(state: AgentState): LlmRequest {
  const { config } = state;
  const tools = wantsInternalTools(state) ? [...toolsAt(state), ...internalTools] : toolsAt(state);
  const answerSchema = config.answerSchema === null ? undefined : jsonObjectOf(config.answerSchema);
  return {
    purpose: "plan",
    model: modelOf(state, config.taskType),
    system: config.systemPrompt,
    messages: messagesAt(state),
    tools,
    toolChoice: tools.length === 0 ? "auto" : toolChoiceOf(state),
    parallelToolCalls: config.parallelTools,
    ...(answerSchema === undefined ? {} : { answerSchema }),
    settings: settingsOf(state),
  };
}

/** On the last step the model has to answer. A tool that must be called is called on the first step of a loop only. */
function toolChoiceOf({ config, reActContext: { step, stepLimit } }: AgentState): LlmToolChoice {
  if (step === stepLimit) return "none";
  if (config.toolChoice === "auto" || config.toolChoice === "none") return config.toolChoice;
  return step === 1 ? config.toolChoice : "auto";
}

const reflectRequest = (state: AgentState, control: ControlOf<"Reflecting">): LlmRequest => ({
  purpose: "reflect",
  model: modelOf(state, "reflect"),
  system: "",
  messages: reflectionMessages(state, control),
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: false,
  settings: settingsOf(state),
});

/** The model of a task type, else that of the agent's own type, else the default; "" leaves it to the caller. */
function modelOf({ config: { models, taskType } }: AgentState, type: string): string {
  for (const name of [type, taskType, "default"]) {
    const model = Object.hasOwn(models, name) ? models[name] : undefined;
    if (model !== undefined) return model;
  }
  return "";
}

/** Settings are data that goes through as it is; the adapter leaves out, with a warning, what its model does not know. */
const settingsOf = ({ config }: AgentState): LlmSettings => config.settings as LlmSettings;
