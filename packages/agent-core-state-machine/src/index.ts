export type {
  AgentAttachment,
  AgentMessage,
  AgentMessageStatus,
  Immutable,
  Json,
} from "@moora/agent-webui-protocol";
export { agentMessageSchema } from "@moora/agent-webui-protocol";
export { agentConfigSchema } from "./config.ts";
export type { AgentConfig, AgentConfigChange, ModelSettings, ToolSearch } from "./agent-config.ts";
export type { Approval, ApprovalPolicy, Budget, ControlGraph, Risk } from "./config-parts.ts";
export type {
  AskingStatus,
  Control,
  ControlOf,
  ControlType,
  OpenCall,
  OpenCallStatus,
} from "./control/control.ts";
export type { QuestionReason } from "./control/approval-rule.ts";
export { modelFailureKinds } from "./failure.ts";
export type { AgentFailure } from "./failure.ts";
export { controlName, statusAt } from "./control/enter.ts";
export { controlEdges, graphProblems, graphToMermaid } from "./control/graph.ts";
export type { ControlEdge } from "./control/graph.ts";
export { builtInStates, nextStateName, transitionTable } from "./control/transition-table.ts";
export type { BuiltInState, ControlEvent } from "./control/transition-table.ts";
export { waitsAt } from "./control/waits.ts";
export type { Wait } from "./control/waits.ts";
export type { AgentChange } from "./changes.ts";
export type { ControlMove, MemoryCall } from "./state-edit.ts";
export { contextAt } from "./control/context-plan.ts";
export type { ContextPlan } from "./control/context-plan.ts";
export type { ContextSizes } from "./control/context-sizes.ts";
export { defaultAgentConfig } from "./default-config.ts";
export { applyPatches, keysToPointer } from "./data/patches.ts";
export type { DataPatch } from "./data/patches.ts";
export { initialAgentState } from "./initial.ts";
export type { InitialAgentOptions } from "./initial.ts";
export { agentEventSchema, inputSchemas } from "./input.ts";
export { inputsIn } from "./starts.ts";
export type {
  AddContextNoteInput,
  SnapshotTakenInput,
  AddToolCallsToContextInput,
  AgentConfiguredInput,
  AgentInput,
  DeadlinePassedInput,
  Handoff,
  ExpandContextWindowInput,
  HistoryReflectedInput,
  InputOf,
  InputType,
  IntentInput,
  LlmCallFailedInput,
  LlmCallInterruptedInput,
  LlmCallStartedInput,
  LlmChunkInput,
  LlmMessageCompleteInput,
  LlmMessageStartedInput,
  ObservedToolCall,
  DataChangedInput,
  LoopRetriedInput,
  ReActCancelledInput,
  ReActObservedInput,
  ScheduleChangedInput,
  SessionOpenedInput,
  SessionPausedInput,
  SessionResumedInput,
  Start,
  StateHandledInput,
  StateHandlerInterruptedInput,
  StateHandlerStartedInput,
  UsageReportedInput,
  ToolCallDecidedInput,
  ToolCallInterruptedInput,
  ToolCallAskedInput,
  ToolCallResultInput,
  ToolCallStartedInput,
  ToolsFoundInput,
  UserMessageInput,
} from "./input.ts";
export { isLoopRunning } from "./inputs/loop.ts";
export { isPaused } from "./inputs/pause.ts";
export type { IgnoredReason } from "./inputs/input-handler.ts";
export type { JsonProblem } from "./json-copy.ts";
export { inputTraits } from "./input-traits.ts";
export type { InputAccess, InputTraits } from "./input-traits.ts";
export { memoryAt } from "./memory.ts";
export type { AgentMemory, MemoryStep } from "./memory.ts";
export { parseState } from "./migrate.ts";
export type { ParsedState } from "./migrate.ts";
export { rulesVersion } from "./rules.ts";
export { parseInput } from "./parse-input.ts";
export type { InputProblem, ParsedInput } from "./parse-input.ts";
export {
  hasNotRun,
  agentStateSchema,
  reActContextSchema,
  toolCallRecordSchema,
  toolCallResultSchema,
  toolDefinitionSchema,
} from "./state.ts";
export type {
  AgentState,
  ContextEntry,
  FailureCode,
  ObservedTurn,
  ReActContext,
  ToolCallDecision,
  ToolCallRecord,
  ToolQuestionRecord,
  ToolCallResult,
  ToolDefinition,
  TurnEntry,
  TurnPart,
} from "./state.ts";
export { failureText } from "./wording.ts";
export { traceOf } from "./trace.ts";
export type { Trace } from "./trace.ts";
export type { TraceNote } from "./trace-note.ts";
export {
  agentTransition,
  beginReplay,
  createAgentTransition,
  fire,
  replay,
  step,
  ignoredReason,
} from "./transition.ts";
export type { AgentStep, AgentTransitionOptions, Replay } from "./transition.ts";
export type { ModelPrice, PriceList } from "./prices.ts";
export type { AgentUsage, Spending, UsageReport } from "./usage.ts";
export type { Replacement } from "./replacement.ts";
export type { Schedule } from "./schedule.ts";
