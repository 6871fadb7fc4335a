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
export { after, isPromise } from "./is-promise.ts";
export { AgentError } from "./errors/agent-error.ts";
export type { AgentErrorDetails, AgentErrorKind } from "./errors/agent-error.ts";
export { BuildError, refuse } from "./errors/build-error.ts";
export { MooraError } from "./errors/moora-error.ts";
export { fieldPath, fieldProblem, shownValue } from "./field-problem.ts";
export type { FieldIssue } from "./field-problem.ts";
export { internalTools } from "./internal-tools.ts";
export { didYouMean, nearest } from "./nearest.ts";
export { llmRequestAt } from "./request/llm-request-at.ts";
export { reflectionPrompt } from "./request/reflection.ts";
export { defaultRunLimits } from "./run/agent-parts.ts";
export type {
  AgentParts,
  ApprovalPredicate,
  Clock,
  RunHost,
  RunLimits,
  RunNotice,
  StateContext,
  StateDecision,
  StateHandler,
  TimerOptions,
} from "./run/agent-parts.ts";
export { callDigest } from "./run/observed.ts";
export { runOf } from "./run/run-effect.ts";
export { drive, inputsNow, inputsOf, NotSynchronous } from "./run/run-steps.ts";
export type { Run, RunStep } from "./run/run-steps.ts";
export { shortened } from "./shortened.ts";
export { askHuman } from "./tool/ask-human.ts";
export type { AskHumanOptions } from "./tool/ask-human.ts";
export { defineTool } from "./tool/define-tool.ts";
export type {
  ProbeOutcome,
  Tool,
  ToolContext,
  ToolInput,
  ToolOptions,
  ToolOutput,
} from "./tool/define-tool.ts";
export { checkToolName } from "./tool/tool-definition.ts";
export { schemaCheckOf } from "./tool/schema-check.ts";
export type { CheckedValue, SchemaCheck } from "./tool/schema-check.ts";
export { isStandardSchema } from "./tool/standard-schema.ts";
export type { OutputOf, StandardIssue, StandardResult, StandardSchema } from "./tool/standard-schema.ts";
export { toolReply } from "./tool/tool-reply.ts";
export type { ToolOutcome, ToolReply } from "./tool/tool-reply.ts";
