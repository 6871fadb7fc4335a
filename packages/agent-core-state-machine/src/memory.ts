import type { AgentConfig } from "./agent-config.ts";
import { messageOf, recordOf } from "./collections/state-lists.ts";
import type { Budget, Risk } from "./config-parts.ts";
import { openCallsOf } from "./collections/open-call-list.ts";
import { lastTurn } from "./control/calls.ts";
import { questionReasonOf, riskOf, type QuestionReason } from "./control/approval-rule.ts";
import { loopEntries, taskEntryOf } from "./control/loop-entries.ts";
import type { AgentFailure } from "./failure.ts";
import { controlName } from "./control/enter.ts";
import type { MemoryCall } from "./state-edit.ts";
import type { AgentState, ToolCallRecord, TurnEntry } from "./state.ts";
import { callIdsIn, textIn } from "./turn-parts.ts";
import type { AgentUsage } from "./usage.ts";
import { failureText } from "./wording.ts";

/** A call that waits for a person, with the risk of its tool and why the person is asked. */
export interface PendingApproval extends MemoryCall {
  /** Absent if the agent does not have the tool. */
  readonly risk?: Risk;
  readonly reason: QuestionReason;
}

/** A step of the current loop that called tools. */
export interface MemoryStep {
  readonly step: number;
  readonly thought: string;
  readonly calls: readonly MemoryCall[];
}

/** The memory of an agent, in the terms of the hybrid state machine. Computed from the state, not stored. */
export interface AgentMemory {
  readonly task: string;
  readonly taskType: string;
  readonly systemPrompt: string;
  readonly state: string;
  readonly step: number;
  readonly retryCount: number;
  readonly confidenceScore: number | null;
  readonly totalUsage: AgentUsage;
  readonly budget: Budget;
  readonly currentToolCall: MemoryCall | null;
  readonly pendingToolCalls: readonly MemoryCall[];
  readonly parallelResults: readonly MemoryCall[];
  readonly lastObservation: string | null;
  readonly pendingApproval: PendingApproval | null;
  readonly history: readonly MemoryStep[];
  readonly finalAnswer: string | null;
  readonly error: AgentFailure | null;
  readonly config: AgentConfig;
  readonly blacklistedTools: readonly string[];
}

/** The memory of a state. Its cost depends on the length of the current loop. */
export function memoryAt(state: AgentState): AgentMemory {
  const { config, reActContext: context } = state;
  const { control } = context;
  const history = historyAt(state);
  const newest = history.at(-1)?.calls ?? [];
  const open = newest.filter((call) => call.observation === null);
  return {
    task: taskAt(state),
    taskType: config.taskType,
    systemPrompt: config.systemPrompt,
    state: controlName(control),
    step: context.step,
    retryCount: context.retryCount,
    confidenceScore: context.confidence,
    totalUsage: state.usage,
    budget: config.budget,
    currentToolCall: open[0] ?? null,
    pendingToolCalls: open,
    parallelResults: newest.length > 1 ? newest.filter((call) => call.observation !== null) : [],
    lastObservation:
      history.flatMap((step) => step.calls).findLast((call) => call.observation !== null)?.observation ??
      null,
    pendingApproval: pendingApprovalAt(state, open),
    history,
    finalAnswer: control.type === "Done" ? control.answer : null,
    error: control.type === "Error" ? control.failure : null,
    config,
    blacklistedTools: config.toolCalls.blacklist,
  };
}

function pendingApprovalAt(state: AgentState, open: readonly MemoryCall[]): PendingApproval | null {
  for (const { id, status } of openCallsOf(state.reActContext.control)) {
    if (status.type !== "asking") continue;
    const record = recordOf(state, id);
    const call = open.find(({ toolCallId }) => toolCallId === id);
    if (record === undefined || call === undefined) return null;
    const risk = riskOf(state, record.name);
    const reason = questionReasonOf(state, record, status.about);
    return { ...call, ...(risk === undefined ? {} : { risk }), reason };
  }
  return null;
}

/** The text of the user message that started the current loop. */
export function taskAt(state: AgentState): string {
  const entry = taskEntryOf(state);
  return entry === undefined ? "" : (messageOf(state, entry.messageId)?.content ?? "");
}

const historyAt = (state: AgentState): readonly MemoryStep[] =>
  loopEntries(state)
    .flatMap((entry) => (entry.type === "turn" ? [stepOf(state, entry)] : []))
    .filter((step) => step.calls.length > 0);

const stepOf = (state: AgentState, turn: TurnEntry): MemoryStep => ({
  step: turn.step,
  thought: textIn(turn.parts),
  calls: callsOf(state, turn),
});

function callsOf(state: AgentState, { parts }: TurnEntry): readonly MemoryCall[] {
  const calls: MemoryCall[] = [];
  for (const id of callIdsIn(parts)) {
    const record = recordOf(state, id);
    if (record !== undefined) calls.push(memoryCall(id, record));
  }
  return calls;
}

/** The calls of the newest turn of a loop. */
export function callsAt(state: AgentState): readonly MemoryCall[] {
  const turn = lastTurn(state);
  return turn === undefined ? [] : callsOf(state, turn);
}

/** A call with its outcome. */
export const memoryCall = (toolCallId: string, { name, parameters, result }: ToolCallRecord): MemoryCall => ({
  toolCallId,
  name,
  parameters,
  observation: result === null ? null : observationOf(result),
  success: result?.isSuccess ?? null,
});

/** A result as a text of the hybrid state machine. */
export const observationOf = (result: NonNullable<ToolCallRecord["result"]>): string =>
  result.isSuccess
    ? `SUCCESS: ${result.content}`
    : `ERROR: ${result.code ?? "tool-error"}: ${failureText(result)}`;
