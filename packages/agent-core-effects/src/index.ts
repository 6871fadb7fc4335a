export type {
  AgentEffect,
  AskHumanEffect,
  CallLlmEffect,
  CallToolEffect,
  ProbeToolEffect,
  RunStateEffect,
  WaitUntilEffect,
} from "./effect.ts";
export { effectsAt } from "./effects-at.ts";
export { AgentError } from "./errors/agent-error.ts";
export type { AgentErrorDetails, AgentErrorKind } from "./errors/agent-error.ts";
export { BuildError } from "./errors/build-error.ts";
export { MooraError } from "./errors/moora-error.ts";
export { cacheBreakBetween } from "./request/cache-break.ts";
export type { CacheBreak, CacheBreakReason } from "./request/cache-break.ts";
export { llmRequestAt } from "./request/llm-request-at.ts";
export { LlmRequestCache } from "./request/messages.ts";
export type { Piece, Progress } from "@moora/agent-webui-protocol";
export { defaultRunLimits } from "./run/host.ts";
export type {
  AgentParts,
  AskReviewer,
  ApprovalPredicate,
  Clock,
  EffectHost,
  RunLimits,
  StateContext,
  StateContextOf,
  HandlerDecision,
  LateDecision,
  StateDecision,
  StateHandler,
  TimerOptions,
} from "./run/host.ts";
export type { HostFiles } from "./run/host-files.ts";
export { runProgram, runProgramSync, NotSynchronous } from "./run/effect-program.ts";
export type { DispatchBatch, EffectProgram, EffectInstruction } from "./run/effect-program.ts";
export { isIntentRecorded } from "./open-effects.ts";
export { intentOf, interruptionOf, programOf } from "./run/programs.ts";
export type { IntentHost } from "./run/programs.ts";
export { applyInputs, inputAt } from "./run/dispatched-input.ts";
export type { AppliedInputs, DispatchedInput } from "./run/dispatched-input.ts";
export { defineData } from "./data/define-data.ts";
export type {
  AnyData,
  DataChange,
  DataDefinition,
  DataOptions,
  DataValue,
  Recipe,
} from "./data/define-data.ts";
export { DataRefused } from "./data/data-refused.ts";
export type { DataContext, UpdateData } from "./data/data-updates.ts";
export { askHuman } from "./tool/ask-human.ts";
export type { AskHumanOptions } from "./tool/ask-human.ts";
export { defineContext } from "./tool/define-context.ts";
export type {
  ContextDefinition,
  ContextNeededBy,
  HostContext,
  NeedsContext,
  WithNeed,
} from "./tool/define-context.ts";
export { defineTool } from "./tool/define-tool.ts";
export type { Tool, ToolInput, ToolOutput } from "./tool/define-tool.ts";
export type { ProbeOutcome, ToolContext, ToolContextOf, ToolOptions } from "./tool/tool-options.ts";
export type { CheckedValue, SchemaCheck } from "./tool/schema-check.ts";
export type {
  ArgumentsOf,
  OutputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./tool/standard-schema.ts";
export { toolAsks } from "./tool/tool-asks.ts";
export type { AskedByTool, ToolAsksOptions, ToolQuestion } from "./tool/tool-asks.ts";
export { toolReply } from "./tool/tool-reply.ts";
export type { ToolOutcome, ToolReply } from "./tool/tool-reply.ts";
export type {
  Guardrail,
  GuardrailAnswerVerdict,
  GuardrailCheck,
  GuardrailContext,
  GuardrailVerdict,
} from "./run/guardrail.ts";
