import type { AgentState, OpenCall } from "@moora/agent-core-state-machine";
import { llmCallKey, openCallsOf, stateKey, toolKey } from "@moora/agent-core-state-machine/internal";

/** Work of a loop that is under way: a model call, an attempt of a tool call, a question to a person, or a handler. */
export type Work =
  | { readonly type: "model-call"; readonly purpose: "plan" | "reflect"; readonly attempt: number }
  | { readonly type: "tool-call"; readonly toolCallId: string; readonly attempt: number }
  | { readonly type: "question"; readonly toolCallId: string; readonly about: string }
  | { readonly type: "handler"; readonly state: string; readonly attempt: number };

/**
 * The work that is under way in a state, by key. Work whose intent is not durable has not started. Keys only grow: work that
 * has ended never returns under the same key.
 */
export function workAt(state: AgentState): ReadonlyMap<string, Work> {
  const work = new Map<string, Work>();
  const { control } = state.reActContext;
  const modelKey = llmCallKey(state);
  if (modelKey !== undefined && (control.type === "Planning" || control.type === "Reflecting")) {
    const purpose = control.type === "Planning" ? "plan" : "reflect";
    if (control.started) work.set(modelKey, { type: "model-call", purpose, attempt: control.attempt });
  }
  if (control.type === "Custom" && control.started) {
    const { name, attempt } = control;
    work.set(stateKey(state.reActContext, control), { type: "handler", state: name, attempt });
  }
  for (const call of openCallsOf(control)) addCall(work, call);
  return work;
}

function addCall(work: Map<string, Work>, call: OpenCall): void {
  const { id: toolCallId, attempt, status } = call;
  if (status.type === "running" && status.started)
    work.set(toolKey(call), { type: "tool-call", toolCallId, attempt });
  // A reminder asks the same question again.
  if (status.type === "asking")
    work.set(questionKey(toolCallId, status.question), { type: "question", toolCallId, about: status.about });
}

const questionKey = (toolCallId: string, question: number): string => `question/${toolCallId}/${question}`;

/** The open calls that no attempt has been made of, and that no person is asked about. */
export const untriedCallsOf = (state: AgentState): readonly OpenCall[] =>
  openCallsOf(state.reActContext.control).filter(
    ({ attempt, mayHaveRun, questions, status }) =>
      attempt === 1 &&
      !mayHaveRun &&
      questions === 0 &&
      (status.type === "queued" || (status.type === "running" && !status.started)),
  );
