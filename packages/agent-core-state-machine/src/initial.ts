import type { Json } from "@moora/agent-webui-protocol";
import { changeConfig, type AgentConfig, type AgentConfigChange } from "./agent-config.ts";
import { frozen } from "./data/frozen.ts";
import { defaultAgentConfig } from "./default-config.ts";
import type { AgentState, ReActContext, ToolDefinition } from "./state.ts";
import { noAgentUsage } from "./usage.ts";

/** The options of `initialAgentState`. */
export interface InitialAgentOptions {
  /** Fields that differ from `defaultAgentConfig`. Default: none. */
  readonly config?: AgentConfigChange;
  /** The tools of the agent by name. Default: none. */
  readonly tools?: Readonly<Record<string, ToolDefinition>>;
  /** The application data and its version. Default: none. */
  readonly data?: { readonly version: number; readonly initial: Json };
  /** The agent of a team that has the conversation. Default: the session is not one of a team. */
  readonly activeAgent?: string;
}

/** The state of an agent before its first message. */
export const initialAgentState = ({ config = {}, ...options }: InitialAgentOptions = {}): AgentState =>
  initialStateOf({ ...options, config: changeConfig(defaultAgentConfig, config) });

/** The initial state with a whole configuration, which can be of an earlier release. */
export function initialStateOf({
  config,
  tools = {},
  data,
  activeAgent,
}: InitialAgentOptions & { readonly config: AgentConfig }): AgentState {
  return frozen({
    version: 1,
    config,
    messages: [],
    tools,
    toolCalls: {},
    toolCallCount: 0,
    transcript: [],
    reActContext: initialContext(config.window.initialSize),
    owner: null,
    opened: 0,
    calledLlmAt: 0,
    updatedAt: 0,
    usage: noAgentUsage,
    unreportedUsage: [],
    data: data?.initial ?? null,
    dataStatus: data === undefined ? null : { version: data.version, isShown: false },
    ...(activeAgent === undefined ? {} : { activeAgent }),
  });
}

const initialContext = (contextWindowSize: number): ReActContext => ({
  contextWindowSize,
  toolCallIds: [],
  loop: 0,
  step: 0,
  stepLimit: 0,
  retryCount: 0,
  truncatedCount: 0,
  summariesFailed: 0,
  confidence: null,
  usage: noAgentUsage,
  inputTokens: 0,
  windowStart: 0,
  widen: false,
  windowCount: 0,
  seen: 0,
  loopStart: 0,
  queued: [],
  entries: 0,
  entriesSincePlan: 0,
  startedAt: 0,
  updatedAt: 0,
  control: { type: "Idle" },
});
