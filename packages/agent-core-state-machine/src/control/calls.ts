import type { Approval, ApprovalPolicy, Risk } from "../config.ts";
import type { StateEdit } from "../state-edit.ts";
import type {
  AgentState,
  FailureCode,
  ToolCallRecord,
  ToolCallResult,
  ToolDefinition,
  TurnEntry,
} from "../state.ts";
import { callIdsIn } from "../turn-parts.ts";
import { wording } from "../wording.ts";
import type { AskingStatus, Control, OpenCall } from "./control.ts";

export const openCallsOf = (control: Control): readonly OpenCall[] =>
  "calls" in control ? control.calls : [];

export const openCallOf = (control: Control, id: string): OpenCall | undefined =>
  openCallsOf(control).find((call) => call.id === id);

export const toolOf = (state: AgentState, name: string): ToolDefinition | undefined =>
  Object.hasOwn(state.tools, name) ? state.tools[name] : undefined;

export const recordOf = (state: AgentState, id: string): ToolCallRecord | undefined =>
  Object.hasOwn(state.toolCalls, id) ? state.toolCalls[id] : undefined;

/** The newest turn of the present loop. */
export function lastTurn(state: AgentState): TurnEntry | undefined {
  for (let index = state.transcript.length - 1; index >= state.reActContext.loopStart; index -= 1) {
    const entry = state.transcript[index];
    if (entry?.type === "turn") return entry;
  }
  return undefined;
}

/** The calls of a turn, none for no turn. */
export const callIdsOf = (turn: TurnEntry | undefined): readonly string[] =>
  turn === undefined ? [] : callIdsIn(turn.parts);

/** The calls of the newest turn that have no result, in their order. */
export const unansweredIds = (state: AgentState): readonly string[] =>
  callIdsOf(lastTurn(state)).filter((id) => recordOf(state, id)?.result === null);

export const someSucceeded = (state: AgentState): boolean =>
  callIdsOf(lastTurn(state)).some((id) => recordOf(state, id)?.result?.isSuccess === true);

/** The calls that a state takes over on entry: those of the state before, or the new ones. */
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

/** Whether an attempt of the call was started, so that it may have had its effect. */
export const mayHaveRun = ({ mayHaveRun: earlier, status }: OpenCall): boolean =>
  earlier || (status.type === "running" && status.started);

/**
 * Whether a person is asked before the call runs. In this order: a tool that asks people does; the policy `always` does,
 * whatever the tool says; then the tool's own `approval`; then the policy. A call that cannot run, of an unknown tool or
 * with arguments that do not fit, does not ask: it fails.
 */
export function needsHuman(state: AgentState, call: ToolCallRecord): boolean {
  const tool = toolOf(state, call.name);
  if (tool === undefined || call.problem !== undefined) return false;
  const { policy } = state.config.approval;
  if (tool.asksHuman === true || policy === "always" || tool.approval === "always") return true;
  return tool.approval === "never" ? false : policyAsks(policy, call, tool);
}

const risks: readonly Risk[] = ["low", "medium", "high", "critical"];

/** A predicate's answer arrives with the call; a call that was made without one is asked about. */
function policyAsks(policy: ApprovalPolicy, call: ToolCallRecord, tool: ToolDefinition): boolean {
  if (policy === "never") return false;
  if (policy === "always") return true;
  if ("above" in policy) return risks.indexOf(tool.risk ?? "low") >= risks.indexOf(policy.above);
  if ("tools" in policy) return policy.tools.includes(call.name);
  return call.needsApproval ?? true;
}

/** The call with one more question to a person. Without a stamped digest, the call's own text stands in for it. */
export function withQuestion(edit: StateEdit, call: OpenCall, about: AskingStatus["about"]): OpenCall {
  const record = recordOf(edit, call.id);
  const question = call.questions + 1;
  const status: AskingStatus = {
    type: "asking",
    about,
    question,
    digest: questionDigest(record, question),
    due: dueIn(edit, edit.config.approval.expiresAfterMs),
    reminder: 0,
    remindAt: dueIn(edit, edit.config.approval.remindAfterMs),
    escalateAt: dueIn(edit, edit.config.approval.escalateAfterMs),
    escalated: false,
  };
  return { ...call, questions: question, status };
}

/** The time in so many milliseconds from the present input on, or null. */
export const dueIn = (edit: StateEdit, ms: Approval["expiresAfterMs"]): number | null =>
  ms === undefined ? null : edit.timestamp + ms;

/** A later question about the same call is another question: what was said to the first one does not answer it. */
function questionDigest(record: ToolCallRecord | undefined, question: number): string {
  const digest =
    record === undefined ? "" : (record.digest ?? JSON.stringify([record.name, record.parameters]));
  return question === 1 ? digest : `${digest}#${question}`;
}

export function setCalls(edit: StateEdit, calls: readonly OpenCall[]): void {
  const { control } = edit.reActContext;
  if ("calls" in control) edit.setContext({ control: { ...control, calls } });
}

export const replaceCall = (edit: StateEdit, call: OpenCall): void =>
  setCalls(
    edit,
    openCallsOf(edit.reActContext.control).map((other) => (other.id === call.id ? call : other)),
  );

/** Gives a call its one result and takes it from the open ones. */
export function settleCall(
  edit: StateEdit,
  id: string,
  result: ToolCallResult,
  fields: Partial<ToolCallRecord> = {},
): void {
  const record = recordOf(edit, id);
  if (record === undefined || record.result !== null) return;
  edit.putCall(id, { ...record, ...fields, result });
  const calls = openCallsOf(edit.reActContext.control);
  if (calls.some((call) => call.id === id)) {
    setCalls(
      edit,
      calls.filter((call) => call.id !== id),
    );
  }
}

/** Fails a call: the model reads `error`, programs read `code`. */
export const failCall = (edit: StateEdit, id: string, code: FailureCode, error: string): void =>
  settleCall(edit, id, failedResult(edit, code, error));

/** The failed result of a call, at the time of the present input. */
export const failedResult = (
  { timestamp: receivedAt }: StateEdit,
  code: FailureCode,
  error: string,
): ToolCallResult => ({ isSuccess: false, error, receivedAt, code });

/** Fails a call whose outcome will not be known: the model reads why, and that it may have had its effect. */
export const failAsUnknown = (
  edit: StateEdit,
  id: string,
  reason: string,
  fields: Partial<ToolCallRecord> = {},
): void =>
  settleCall(edit, id, failedResult(edit, "outcome-unknown", wording.outcomeUnknown(reason)), fields);

/** Fails a call that nothing waits for anymore: as not run only where no attempt of it was started. */
export function abandonCall(edit: StateEdit, id: string, reason: string): void {
  const call = openCallOf(edit.reActContext.control, id);
  if (call !== undefined && mayHaveRun(call)) failAsUnknown(edit, id, reason);
  else failCall(edit, id, "not-run", wording.notRun(reason));
}
