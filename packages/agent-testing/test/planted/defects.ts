import type { AgentState } from "@moora/agent-core-state-machine";
import type { Plant } from "./plant.ts";

type Calls = AgentState["toolCalls"];

/** The first, late result of a canceled call is taken. */
export const takesLateResult: Plant = (input, state, transition) => {
  const stepped = transition(input, state);
  if (input.type !== "tool-call-completed") return stepped;
  const record = state.toolCalls[input.toolCallId];
  if (record?.result?.isSuccess !== false || record.result.code !== "cancelled") return stepped;
  const toolCalls: Calls = { ...state.toolCalls, [input.toolCallId]: { ...record, result: input.result } };
  return { ...stepped, state: { ...state, toolCalls } };
};

/** A call that was canceled while it ran is reported as one that never ran. */
export const deniesCancelledRun: Plant = (input, state, transition) => {
  const stepped = transition(input, state);
  if (input.type !== "re-act-cancelled" || stepped.state === state) return stepped;
  const toolCalls: Calls = Object.fromEntries(
    Object.entries(stepped.state.toolCalls).map(([id, record]) => [
      id,
      record.result?.isSuccess === false && (state.toolCalls[id]?.result ?? null) === null
        ? { ...record, result: { ...record.result, says: ["cancelledBeforeRun"] } }
        : record,
    ]),
  );
  return { state: { ...stepped.state, toolCalls }, moves: stepped.moves, changes: stepped.changes };
};

/** The digest of a decision is not compared with the question's. */
export const takesForgedDecision: Plant = (input, state, transition) => {
  const { control } = state.reActContext;
  if (input.type !== "tool-call-decided" || !("calls" in control)) return transition(input, state);
  const status = control.calls.find(({ id }) => id === input.toolCallId)?.status;
  const digest = status?.type === "asking" ? status.digest : input.digest;
  return transition({ ...input, digest }, state);
};
