import type { Approval, ApprovalPolicy, Risk } from "../config.ts";
import type { Edit } from "../edit.ts";
import type { AgentState, ToolCallRecord, ToolCallResult, ToolDefinition, TurnEntry } from "../state.ts";
import { callIdsIn } from "../turn-parts.ts";
import type { Control, OpenCall, OpenCallStatus } from "./control.ts";

type Asking = Extract<OpenCallStatus, { type: "asking" }>;

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

/** The calls that a state of the table takes over on entry: those of the state before, or those just made. */
export const callsOnEntry = (edit: Edit): readonly OpenCall[] => {
  const { control } = edit.reActContext;
  return "calls" in control ? control.calls : unansweredIds(edit).map((id) => newOpenCall(edit, id));
};

function newOpenCall(edit: Edit, id: string): OpenCall {
  const call: OpenCall = { id, attempt: 1, questions: 0, status: { type: "queued" } };
  const record = recordOf(edit, id);
  if (record === undefined || !needsHuman(edit, record)) return call;
  return asked(edit, call, toolOf(edit, record.name)?.asksHuman === true ? "answer" : "approval");
}

/** Whether a human comes before the call. A call of an unknown tool asks nobody: it fails when it is run. */
export function needsHuman(state: AgentState, call: ToolCallRecord): boolean {
  const tool = toolOf(state, call.name);
  if (tool === undefined) return false;
  if (call.needsApproval !== undefined) return call.needsApproval;
  if (tool.asksHuman === true || tool.approval === "always") return true;
  return tool.approval === "never" ? false : policyAsks(state.config.approval.policy, call.name, tool);
}

const risks: readonly Risk[] = ["low", "medium", "high", "critical"];

function policyAsks(policy: ApprovalPolicy, name: string, tool: ToolDefinition): boolean {
  if (policy === "never") return false;
  if (policy === "always") return true;
  if ("above" in policy) return risks.indexOf(tool.risk ?? "low") >= risks.indexOf(policy.above);
  if ("tools" in policy) return policy.tools.includes(name);
  return true;
}

/** The same call with one more question to a human. Without a stamped digest, the call's own text stands for it. */
export function asked(edit: Edit, call: OpenCall, about: Asking["about"]): OpenCall {
  const record = recordOf(edit, call.id);
  const question = call.questions + 1;
  const status: Asking = {
    type: "asking",
    about,
    question,
    digest: questionDigest(record, question),
    due: later(edit, edit.config.approval.expiresAfterMs),
    reminder: 0,
    remindAt: later(edit, edit.config.approval.remindAfterMs),
    escalateAt: later(edit, edit.config.approval.escalateAfterMs),
    escalated: false,
  };
  return { ...call, questions: question, status };
}

export const later = (edit: Edit, ms: Approval["expiresAfterMs"]): number | null =>
  ms === undefined ? null : edit.timestamp + ms;

/** A later question about the same call is another question: what was said to the first one does not answer it. */
function questionDigest(record: ToolCallRecord | undefined, question: number): string {
  const digest =
    record === undefined ? "" : (record.digest ?? JSON.stringify([record.name, record.parameters]));
  return question === 1 ? digest : `${digest}#${question}`;
}

export function setCalls(edit: Edit, calls: readonly OpenCall[]): void {
  const { control } = edit.reActContext;
  if ("calls" in control) edit.setContext({ control: { ...control, calls } });
}

export const replaceCall = (edit: Edit, call: OpenCall): void =>
  setCalls(
    edit,
    openCallsOf(edit.reActContext.control).map((other) => (other.id === call.id ? call : other)),
  );

/** Gives a call its one result and takes it from the open ones. */
export function settleCall(
  edit: Edit,
  id: string,
  result: ToolCallResult,
  fields: Partial<ToolCallRecord> = {},
): void {
  const record = recordOf(edit, id);
  if (record === undefined || record.result !== null) return;
  edit.putCall(id, { ...record, ...fields, result });
  const calls = openCallsOf(edit.reActContext.control);
  if (calls.some((call) => call.id === id))
    setCalls(
      edit,
      calls.filter((call) => call.id !== id),
    );
}

/** A failed result of our own making: the model reads `error`, programs read `code`. */
export const failCall = (
  edit: Edit,
  id: string,
  code: string,
  error: string,
  fields: Partial<ToolCallRecord> = {},
): void => settleCall(edit, id, { isSuccess: false, error, receivedAt: edit.timestamp, code }, fields);

/** Fills the free slots with queued calls, in order. An admitted call stays wanted until it is answered. */
export function admit(edit: Edit): void {
  const calls = openCallsOf(edit.reActContext.control);
  if (!calls.some((call) => call.status.type === "queued")) return;
  let free = edit.config.parallelTools ? edit.config.maxParallelTools : 1;
  const running = new Map<string, number>();
  const nameOf = (call: OpenCall): string => recordOf(edit, call.id)?.name ?? "";
  for (const call of calls) {
    if (call.status.type !== "running") continue;
    free -= 1;
    running.set(nameOf(call), (running.get(nameOf(call)) ?? 0) + 1);
  }
  const admitted = calls.map((call): OpenCall => {
    if (call.status.type !== "queued" || free <= 0) return call;
    const name = nameOf(call);
    const count = running.get(name) ?? 0;
    if (count >= (toolOf(edit, name)?.maxParallel ?? Number.MAX_SAFE_INTEGER)) return call;
    free -= 1;
    running.set(name, count + 1);
    return { ...call, status: { type: "running", started: false } };
  });
  setCalls(edit, admitted);
}
