import { isPlanned } from "../agent-config.ts";
import { callIdsOf, failCall, lastTurn, settleCall } from "../control/calls.ts";
import { loopEntries } from "../control/loop-entries.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import type { Handoff } from "../input.ts";
import type { AgentState, ToolCallResult } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import type { Sentence } from "../wording.ts";
import { configure, configured, configurationOf } from "./session.ts";

/**
 * Settles a call that hands the conversation to another agent: its result, the other configuration and the other tools are one
 * change. A handoff that cannot be fails the call, and changes nothing else.
 */
export function handOver(edit: StateEdit, id: string, result: ToolCallResult, handoff: Handoff): void {
  const problem = handoffProblem(edit, handoff);
  if (problem !== undefined) {
    failCall(edit, id, { code: "not-handed-over", says: problem });
    return advanceBatch(edit);
  }
  const { to, config, tools, message } = handoff;
  const { activeAgent: from = "", dataStatus } = edit;
  settleCall(edit, id, result);
  edit.addEntry({ type: "handoff", from, to, ...(message === undefined ? {} : { message }) });
  // Requests no longer contain the note with the data.
  if (dataStatus !== null) edit.set({ dataStatus: { ...dataStatus, isShown: false } });
  const after = configured(configurationOf(edit), { config, tools, activeAgent: to });
  // The next request has another size. Zero: it is estimated.
  const inputTokens = isPlanned(after.config) ? 0 : edit.reActContext.inputTokens;
  edit.setContext({ inputTokens, stepLimit: edit.reActContext.step + after.config.limits.maxSteps });
  configure(edit, after);
}

/** Why the conversation is not handed over; undefined if it is. */
function handoffProblem(edit: StateEdit, { to, maxPerLoop }: Handoff): Sentence | undefined {
  if (edit.activeAgent === undefined) return ["noTeam"];
  if (edit.activeAgent === to) return ["hasIt", to];
  // The other calls of the turn would run under the rules of another agent, which does not see their results.
  if (callIdsOf(lastTurn(edit)).length > 1) return ["notAlone"];
  return handoffsOf(edit) < maxPerLoop ? undefined : ["tooManyHandoffs", maxPerLoop];
}

/** The number of handoffs of the current loop. */
const handoffsOf = (state: AgentState): number =>
  loopEntries(state).filter(({ type }) => type === "handoff").length;
