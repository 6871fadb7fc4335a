import type { Approval } from "../config-parts.ts";
import { openCallOf } from "../collections/open-call-list.ts";
import { recordOf, transcriptOf } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type {
  AgentState,
  FailureCode,
  ToolCallRecord,
  ToolCallResult,
  ToolDefinition,
  ToolQuestionRecord,
  TurnEntry,
} from "../state.ts";
import { callIdsIn } from "../turn-parts.ts";
import type { Sentence } from "../wording.ts";
import type { AskingStatus, OpenCall } from "./control.ts";

/** The current name of a tool that had this name in an earlier release; a name that no tool had is returned unchanged. */
export function toolNameOf({ tools }: Pick<AgentState, "tools">, name: string): string {
  if (Object.hasOwn(tools, name)) return name;
  const renamed = Object.entries(tools).find(([, { formerNames }]) => formerNames?.includes(name));
  return renamed?.[0] ?? name;
}

/** Whether a list of names contains a tool, by its name or a former one. */
export function namesTool(state: Pick<AgentState, "tools">, names: readonly string[], tool: string): boolean {
  if (names.length === 0) return false;
  const current = toolNameOf(state, tool);
  return names.some((name) => name === current || toolNameOf(state, name) === current);
}

/** The definition of a tool by its name or a former one; undefined if the agent does not have the tool. */
export function toolOf(state: Pick<AgentState, "tools">, name: string): ToolDefinition | undefined {
  const current = toolNameOf(state, name);
  return Object.hasOwn(state.tools, current) ? state.tools[current] : undefined;
}

/** The index of the newest turn among the entries from `from` on; -1 without one. */
export function newestTurnAt(state: AgentState, from = 0): number {
  const transcript = transcriptOf(state);
  for (let index = transcript.length - 1; index >= from; index -= 1)
    if (transcript.at(index)?.type === "turn") return index;
  return -1;
}

/** The newest turn of the current loop. */
export function lastTurn(state: AgentState): TurnEntry | undefined {
  const index = newestTurnAt(state, state.reActContext.loopStart);
  const entry = index < 0 ? undefined : transcriptOf(state).at(index);
  return entry?.type === "turn" ? entry : undefined;
}

/** The ids of the calls of a turn; empty for undefined. */
export const callIdsOf = (turn: TurnEntry | undefined): readonly string[] =>
  turn === undefined ? [] : callIdsIn(turn.parts);

/** The ids of the calls of the newest turn that have no result, in order. */
export function unansweredIds(state: AgentState): readonly string[] {
  const ids: string[] = [];
  for (const id of callIdsOf(lastTurn(state))) if (recordOf(state, id)?.result === null) ids.push(id);
  return ids;
}

export const someSucceeded = (state: AgentState): boolean =>
  callIdsOf(lastTurn(state)).some((id) => recordOf(state, id)?.result?.isSuccess === true);

/** The open calls of a state on entry: those of the previous state, or those of the new turn. */
export const callsOnEntry = (edit: StateEdit): readonly OpenCall[] => {
  const { control } = edit.reActContext;
  return "calls" in control ? control.calls : unansweredIds(edit).map(newOpenCall);
};

const newOpenCall = (id: string): OpenCall => ({
  id,
  attempt: 1,
  mayHaveRun: false,
  questions: 0,
  status: { type: "queued" },
});

/** The call without what it had reserved of the budget. */
export function withoutReservation(given: OpenCall): OpenCall {
  const { reserved: _, ...call } = given;
  return call;
}

/** Whether an attempt of the call has started, so that it may have had its effect. */
export const mayHaveRun = ({ mayHaveRun: earlier, status }: OpenCall): boolean =>
  earlier || (status.type === "running" && status.started);

/**
 * The call with a new question to a person. `digest` is that of the question of a tool; any other has that of its call. Without
 * one, the question is bound to the name and arguments.
 */
export function withQuestion(
  edit: StateEdit,
  call: OpenCall,
  about: AskingStatus["about"],
  digest?: string,
): OpenCall {
  const record = recordOf(edit, call.id);
  const question = call.questions + 1;
  const status: AskingStatus = {
    type: "asking",
    about,
    question,
    digest: digest ?? questionDigest(record, question),
    due: dueIn(edit, edit.config.approval.expiresAfterMs),
    reminder: 0,
    remindAt: dueIn(edit, edit.config.approval.remindAfterMs),
    escalateAt: dueIn(edit, edit.config.approval.escalateAfterMs),
    escalated: false,
  };
  return { ...call, questions: question, status };
}

/** When the next attempt of a call is due: after the time that was asked for, or after a delay that doubles with each failure. */
export function nextAttemptAt(edit: StateEdit, failures: number, askedMs?: number): number {
  const { delayMs, maxDelayMs } = edit.config.retries;
  return edit.timestamp + Math.min(askedMs ?? delayMs * 2 ** failures, maxDelayMs);
}

/** The time `ms` milliseconds after the current input; null if `ms` is undefined. */
export const dueIn = (edit: StateEdit, ms: Approval["expiresAfterMs"]): number | null =>
  ms === undefined ? null : edit.timestamp + ms;

/** Who has decided the question about a call with this digest; undefined if it has no decision. */
export function deciderOf(record: ToolCallRecord, digest: string): string | undefined {
  const { asked, decision } = record;
  const replier = asked?.reply?.by;
  // A question of the tool itself has a digest of its own.
  return replier === undefined || digest.startsWith(questionDigest(record, 1)) ? decision?.by : replier;
}

/** The digest of a question. Each further question about a call has its own, so that an earlier answer does not match it. */
function questionDigest(record: ToolCallRecord | undefined, question: number): string {
  const digest =
    record === undefined ? "" : (record.digest ?? JSON.stringify([record.name, record.parameters]));
  return question === 1 ? digest : `${digest}#${question}`;
}

/** What the tool of a call asks in the middle of it; undefined if the call asks nothing, or something else. */
export function toolQuestionOf(state: AgentState, { id, status }: OpenCall): ToolQuestionRecord | undefined {
  if (status.type !== "asking" || status.about !== "answer") return undefined;
  const asked = recordOf(state, id)?.asked;
  return asked?.reply === null ? asked : undefined;
}

/** Settles a call: records its result and removes it from the open calls. */
export function settleCall(
  edit: StateEdit,
  id: string,
  result: ToolCallResult,
  fields: Partial<ToolCallRecord> = {},
): void {
  const record = recordOf(edit, id);
  if (record === undefined || record.result !== null) return;
  edit.putCall(id, { ...record, ...fields, result });
  edit.removeOpenCall(id);
}

/** Why a call has failed: for programs, for the model, and what a tool or a person has said about it. */
export interface FailedCall {
  readonly code: FailureCode;
  readonly says: Sentence;
  readonly error?: string | undefined;
}

/** Settles a call as failed, at the time of the current input. */
export const failCall = (
  edit: StateEdit,
  id: string,
  { code, says, error = "" }: FailedCall,
  fields: Partial<ToolCallRecord> = {},
): void => settleCall(edit, id, { isSuccess: false, error, receivedAt: edit.timestamp, code, says }, fields);

/**
 * Fails a call whose outcome cannot be known. The model reads the reason, a sentence or what was said, and that the call may have had
 * its effect.
 */
export const failAsUnknown = (
  edit: StateEdit,
  id: string,
  { reason, error }: { readonly reason?: Sentence; readonly error?: string | undefined },
  fields: Partial<ToolCallRecord> = {},
): void => {
  const says: Sentence = reason === undefined ? ["outcomeUnknown"] : ["outcomeUnknown", reason];
  failCall(edit, id, { code: "outcome-unknown", says, error }, fields);
};

/** Fails a call whose result is no longer needed. It counts as not run only if no attempt of it has started. */
export function abandonCall(edit: StateEdit, id: string): void {
  const call = openCallOf(edit.reActContext.control, id);
  if (call !== undefined && mayHaveRun(call)) failAsUnknown(edit, id, { reason: ["movedOn"] });
  else failCall(edit, id, { code: "not-run", says: ["notRun", ["movedOn"]] });
}
