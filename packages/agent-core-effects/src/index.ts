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
export { defaultRunLimits } from "./run/host.ts";
export type {
  AgentParts,
  ApprovalPredicate,
  Clock,
  EffectHost,
  RunLimits,
  Progress,
  StateContext,
  StateDecision,
  StateHandler,
  TimerOptions,
} from "./run/host.ts";
export { callDigest } from "./run/observation.ts";
export { programOf } from "./run/run-effect.ts";
export { runProgram, syncInputs, inputsOf, NotSynchronous } from "./run/effect-program.ts";
export type { EffectProgram, EffectInstruction } from "./run/effect-program.ts";
export { truncated } from "./truncate.ts";
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
