// The builder: one engine for one task.
export { AgentBuilder } from "./builder/agent-builder.ts";
export type { BuilderApprovalPolicy } from "./builder/agent-builder.ts";
export { AgentEngine } from "./builder/agent-engine.ts";
export type { EngineHost, EngineOptions, EngineTrace, RunStorage } from "./builder/agent-engine.ts";
export type { BuilderPreset } from "./builder/builder-config.ts";

// Agents, tools, tasks and sessions.
export {
  AgentError,
  agentTool,
  agentToolSessionId,
  defineTeam,
  agentTransition,
  applyInputs,
  askHuman,
  BuildError,
  cacheBreakBetween,
  contextAt,
  DataRefused,
  decisionProblem,
  decisionToInput,
  defineAgent,
  defineContext,
  defineData,
  definePrompt,
  defineTool,
  diffSessions,
  effectsAt,
  effectToQuestion,
  escapeHiddenCharacters,
  exportSession,
  failureText,
  forkSession,
  importSession,
  initialStateOf,
  InputRefused,
  ListenError,
  llmRequestAt,
  memoryAt,
  MooraError,
  moveSession,
  openSession,
  openSharedSession,
  performEffect,
  pruneSessions,
  readSession,
  removeSession,
  rerunSession,
  runTask,
  scheduleInput,
  scheduleTool,
  SessionError,
  sessionOwner,
  startSession,
  systemClock,
  stateAt,
  statusAt,
  ToolRegistry,
  toolAsks,
  toolReply,
  userMessage,
  verifySession,
} from "@moora/agent";
export type * from "@moora/agent";
export type { BuiltInState, ControlEvent } from "@moora/agent-core-state-machine";

// Logs for sessions.
export { LogError, memoryLog } from "@moora/event-log";
export type { DisposableLog, EventLog, LogErrorCode, LogNotice } from "@moora/event-log";
export { jsonlLog } from "@moora/event-log/jsonl";
export type { JsonlOptions } from "@moora/event-log/jsonl";
export { sqliteLog } from "@moora/event-log/sqlite";
export type { SqliteOptions } from "@moora/event-log/sqlite";
export { postgresLog } from "@moora/event-log-postgres";
export type { PostgresOptions, PostgresPool } from "@moora/event-log-postgres";

// Models.
export {
  cached,
  fallback,
  LlmOptionError,
  memoryLlmCache,
  rateLimited,
  recorded,
  replayed,
  route,
} from "@moora/llm";
export type {
  CachedOptions,
  FallbackOptions,
  LlmCache,
  LlmCaller,
  LlmRecording,
  RateLimits,
  RecordingOptions,
} from "@moora/llm";
export { aiSdk, AiSdkCaller } from "@moora/llm-ai-sdk";
export type { AiSdkConnection, AiSdkFactory, AiSdkModel, AiSdkOptions } from "@moora/llm-ai-sdk";
export { anthropic, AnthropicCaller } from "@moora/llm-anthropic";
export type { AnthropicOptions } from "@moora/llm-anthropic";
export { chatProfiles, openai, OpenAiCaller, openaiChat, OpenAiChatCaller } from "@moora/llm-openai";
export type { ChatProfile, OpenAiChatOptions, OpenAiOptions } from "@moora/llm-openai";

// Tools that only read.
export { calculatorTool, currentTimeTool, fetchUrlTool, fileTools } from "@moora/tools";
export type { CurrentTimeOptions, FetchUrlOptions, FileToolsOptions } from "@moora/tools";

// A deterministic stand-in for a model, so that everything runs without an API key. It is not a language model.
export { planner, Planner } from "@moora/planner";
