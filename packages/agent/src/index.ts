// Re-exports from the packages below: the functions that applications need, and every type that a signature here uses, so
// that an application can depend on this package alone.
export {
  agentTransition,
  contextAt,
  failureText,
  inputsIn,
  memoryAt,
  rulesVersion,
  statusAt,
  traceOf,
} from "@moora/agent-core-state-machine";
export type {
  AgentAttachment,
  AgentChange,
  AgentConfig,
  AgentConfigChange,
  ModelSettings,
  AgentFailure,
  AgentInput,
  AgentMemory,
  AgentMessage,
  AgentState,
  AgentUsage,
  Approval,
  ApprovalPolicy,
  Budget,
  ContextEntry,
  ContextPlan,
  ContextSizes,
  Control,
  ControlGraph,
  ControlMove,
  DataPatch,
  IntentInput,
  IgnoredReason,
  Immutable,
  Json,
  QuestionReason,
  Start,
  ReActContext,
  Risk,
  Schedule,
  ScheduleChangedInput,
  ToolCallDecidedInput,
  ToolCallRecord,
  ToolCallResult,
  ToolDefinition,
  ToolSearch,
  Trace,
  TraceNote,
  UserMessageInput,
} from "@moora/agent-core-state-machine";
export {
  AgentError,
  applyInputs,
  askHuman,
  BuildError,
  cacheBreakBetween,
  DataRefused,
  defineContext,
  defineData,
  defineTool,
  effectsAt,
  interruptionOf,
  llmRequestAt,
  MooraError,
  toolAsks,
  toolReply,
} from "@moora/agent-core-effects";
export type {
  AgentErrorDetails,
  AgentErrorKind,
  AgentEffect,
  AgentParts,
  ApprovalPredicate,
  AskHumanEffect,
  AskReviewer,
  AskHumanOptions,
  AnyData,
  AppliedInputs,
  ArgumentsOf,
  CacheBreak,
  CacheBreakReason,
  Clock,
  ContextDefinition,
  ContextNeededBy,
  DataContext,
  DataDefinition,
  DataOptions,
  DataValue,
  DispatchBatch,
  DispatchedInput,
  OutputOf,
  Recipe,
  UpdateData,
  ProbeOutcome,
  EffectHost,
  HostContext,
  NeedsContext,
  RunLimits,
  Piece,
  Progress,
  StandardIssue,
  StandardResult,
  StandardSchema,
  StateContext,
  StateContextOf,
  Guardrail,
  GuardrailAnswerVerdict,
  GuardrailCheck,
  GuardrailContext,
  GuardrailVerdict,
  HandlerDecision,
  LateDecision,
  StateDecision,
  StateHandler,
  TimerOptions,
  Tool,
  ToolContext,
  ToolContextOf,
  ToolInput,
  ToolOutput,
  ToolOptions,
  ToolOutcome,
  AskedByTool,
  ToolAsksOptions,
  ToolQuestion,
  ToolReply,
  WithNeed,
} from "@moora/agent-core-effects";
export type { AnswerDraft, DraftPart } from "@moora/agent-webui-protocol";
export type {
  BlobStore,
  ChainHead,
  EventLog,
  Lease,
  LeaseClaim,
  LogInfo,
  LogNotice,
  LogRecord,
  MaybePromise,
  SessionLog,
  Snapshot,
} from "@moora/event-log";
export { LogError } from "@moora/event-log";
export type {
  JsonObject,
  LlmCaller,
  LlmCallOptions,
  LlmChunk,
  LlmContent,
  LlmFailure,
  LlmMessage,
  LlmOutcome,
  LlmPart,
  LlmRequest,
  LlmSettings,
  LlmTool,
  LlmTurn,
  LlmUsage,
} from "@moora/llm";

export { failureToError } from "./failure-to-error.ts";
export { ListenError } from "./listen-error.ts";
export type { LogCode, LogEntry, LogLevel, LogListener } from "./logger.ts";
export type {
  AgentEvent,
  ApprovalRequested,
  Decision,
  OutcomeDecision,
  Question,
  SubAgentEvent,
} from "./agent-event.ts";
export type { AgentRun, RunResult } from "./agent-run.ts";
export { defineTeam, type TeamMember, type TeamOptions } from "./team/define-team.ts";
export type { Team } from "./team/member-at.ts";
export { agentTool, type AgentToolOptions } from "./agent-tool.ts";
export { askedText } from "./asked-text.ts";
export { answerTextAt } from "./answer-text-at.ts";
export { systemClock } from "./clock.ts";
export { decisionProblem, type DecisionProblem } from "./decision-problem.ts";
export { decisionToInput } from "./decision-to-input.ts";
export { escapeHiddenCharacters } from "./escape-hidden-characters.ts";
export { defineAgent, initialStateOf } from "./define-agent.ts";
export type { HandlerOf, StateCode, StateDefinition, StateWrapper } from "./custom-states.ts";
export type { Agent, AgentOptions } from "./define-agent.ts";
export { definePrompt } from "./define-prompt.ts";
export type { Prompt, PromptValue, PromptValues, PromptVariable } from "./define-prompt.ts";
export type { ErrorListener, ErrorReport, ErrorReportSource } from "./error-reports.ts";
export { needsContext, type OpeningContext, type OptionsParameter } from "./session-context.ts";
export { agentToolSessionId } from "./session-of-tool.ts";
export { openSession, type OpenOptions } from "./open-session.ts";
export type { BlobOptions } from "./session/session-files.ts";
export type { Access, DurableSession, SessionInfo } from "./durable/durable-session.ts";
export type { LoggedInput } from "./durable/follow-log.ts";
export { canonicalJson } from "./durable/canonical-json.ts";
export { releaseEngineLease } from "./durable/engine-lease.ts";
export { sessionOwner, type OwnerOptions } from "./durable/lease-keeper.ts";
export { SessionError, type SessionErrorCode } from "./durable/session-error.ts";
export { openSharedSession } from "./durable/shared-session.ts";
export type { SharedAppend, SharedSession, SharedSessionOptions } from "./durable/shared-session.ts";
export { headerToState, identityOf, textToHeader, type SessionHeader } from "./durable/session-header.ts";
export type { JsonOf } from "./json-of.ts";
export type { DecisionOn, OtherToolName, QuestionAbout, QuestionOf, TypedQuestion } from "./question-of.ts";
export { foldHeader, newSessionHeader, recordInputs, releaseInputs } from "./host/folded-session.ts";
export type { FoldedSession, RecordedInputs } from "./host/folded-session.ts";
export { checkChanges, digestOfChanges, inputToRecord, recordToInput } from "./durable/session-record.ts";
export { performEffect, type PerformOptions } from "./perform-effect.ts";
export type { ModelPrice, PriceList } from "./price-list.ts";
export { runTask, type TaskOptions } from "./run-task.ts";
export type { OnApproval } from "./session/host-approvals.ts";
export { nextWorkAt } from "./session/next-work-at.ts";
export { effectToQuestion } from "./session/questions.ts";
export { scheduleInput, type ScheduleOptions } from "./session/schedules.ts";
export { scheduleTool, type ScheduleToolOptions } from "./schedule-tool.ts";
export { InputRefused, type Receipt, type Session, type SessionView } from "./session/session.ts";
export type { Settlement } from "./session/settlement.ts";
export { startSession, type StartOptions } from "./start-session.ts";
export { ToolRegistry } from "./tool-registry.ts";
export { userMessage, type UserContent } from "./user-message.ts";

export { moveSession, type MoveOptions } from "./retention/move-session.ts";
export { pruneSessions } from "./retention/prune-sessions.ts";
export type { KeptReason, PrunableSession, PruneOptions, PruneReport } from "./retention/prune-sessions.ts";
export { removeSession } from "./retention/remove-session.ts";

export { diffSessions, isSameInput } from "./time-travel/diff-sessions.ts";
export type { SessionDiff, SessionRef } from "./time-travel/diff-sessions.ts";
export { differencesOf, type Difference } from "./time-travel/differences.ts";
export { forkSession, type Forked, type ForkOptions, type OpenWork } from "./time-travel/fork-session.ts";
export {
  exportSession,
  importSession,
  parsePortable,
  recordsToPortable,
} from "./time-travel/portable-session.ts";
export type { PortableSession } from "./time-travel/portable-session.ts";
export { inputDescriber } from "./time-travel/input-describer.ts";
export { readHeader, readSession, readSoundPart, stateAt } from "./time-travel/read-session.ts";
export type { Position, RecordedSession } from "./time-travel/read-session.ts";
export { rerunSession, type Rerun, type RerunOptions } from "./time-travel/rerun-session.ts";
export { verifySession, type VerifyReport } from "./time-travel/verify-session.ts";
