import type { ReActObservedInput } from "@moora/agent-core-state-machine";

/**
 * The names of spans, attributes and metrics: those of the GenAI semantic conventions, which are in development, as
 * instrumentations send them now, and those of this package, which begin with `moora.`.
 */
export const attribute = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  agentName: "gen_ai.agent.name",
  requestModel: "gen_ai.request.model",
  maxTokens: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  topP: "gen_ai.request.top_p",
  seed: "gen_ai.request.seed",
  stopSequences: "gen_ai.request.stop_sequences",
  reasoningLevel: "gen_ai.request.reasoning.level",
  outputType: "gen_ai.output.type",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheCreationTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolDescription: "gen_ai.tool.description",
  toolCallId: "gen_ai.tool.call.id",
  tokenType: "gen_ai.token.type",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  /** The cost in the unit of the price list. */
  cost: "moora.usage.cost",
  loop: "moora.loop",
  step: "moora.step",
  /** Counts the attempts of a model call, a tool call or a handler, from 1. */
  attempt: "moora.attempt",
  /** `plan` or `reflect`. */
  purpose: "moora.purpose",
  /** What a person is asked: `approval`, `outcome` or `answer`. */
  question: "moora.question.about",
  decision: "moora.decision.type",
  state: "moora.state.name",
  /** The event with which a handler left its state. */
  event: "moora.state.event",
  owner: "moora.owner",
  /** Whether a span had not ended at the end of the log. */
  unfinished: "moora.unfinished",
} as const;

/** The attributes that contain what was said: they are set only with `capture`. */
export const contentAttribute = {
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  systemInstructions: "gen_ai.system_instructions",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  decidedBy: "moora.decision.by",
  decisionReason: "moora.decision.reason",
  traceText: "moora.trace.text",
  traceData: "moora.trace.data",
} as const;

/** The operations of spans. The last two are of this package. */
export const operation = {
  invokeAgent: "invoke_agent",
  chat: "chat",
  executeTool: "execute_tool",
  waitForHuman: "wait_for_human",
  handleState: "handle_state",
} as const;

/** The name of an operation. */
export type Operation = (typeof operation)[keyof typeof operation];

/** The names of the metrics. Durations are in seconds. */
export const metric = {
  operationDuration: "gen_ai.client.operation.duration",
  tokenUsage: "gen_ai.client.token.usage",
  toolDuration: "gen_ai.execute_tool.duration",
  agentDuration: "gen_ai.invoke_agent.duration",
  toolCalls: "moora.tool.calls",
  humanWait: "moora.human.wait.duration",
  retries: "moora.retries",
} as const;

/** The event of a root span for an opening of the session by another process. */
export const sessionOpenedEvent = "moora.session.opened";

/** The event of the span of a handler for the note that it adds to the trace. */
export const traceNoteEvent = "moora.trace.note";

/** The value of `error.type` for work that a crash or a restart interrupted, that was canceled, or replaced by other work. */
export const endedEarly = {
  interrupted: "interrupted",
  cancelled: "cancelled",
  replaced: "replaced",
} as const;

/** The instrumentation scope of all spans and metrics. Its schema is the last one before the conventions for GenAI moved elsewhere. */
export const scope = {
  name: "@moora/otel",
  version: "0.1.0",
  schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
} as const;

/** The reason for which a model has stopped, in the words of the conventions; in those of the provider if they have none. */
export const finishReason = ({ unified, raw }: NonNullable<ReActObservedInput["finish"]>): string =>
  unified === "tool-calls" ? "tool_call" : unified === "other" ? raw.replaceAll("-", "_") : unified;

/** Providers whose name in the conventions is not the first part of the origin of a turn. */
const providers: Readonly<Record<string, string>> = {
  "openai-chat": "openai",
  mistral: "mistral_ai",
  xai: "x_ai",
  gemini: "gcp.gemini",
  bedrock: "aws.bedrock",
};

/** The name of a provider in the conventions. */
export const providerName = (provider: string): string =>
  Object.hasOwn(providers, provider) ? (providers[provider] ?? provider) : provider;
