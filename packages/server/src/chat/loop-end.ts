import type { AgentState, Question } from "@moora/agent";
import { openCallsOf, waitsForHuman } from "@moora/agent/internal";
import type { UiChunk } from "./ui-chunk.ts";

/** A call with an open question. */
export interface AskingCall {
  readonly id: string;
  readonly digest: string;
  readonly about: "approval" | "outcome" | "answer";
}

/** The open questions of a session itself. */
export function askingCalls({ reActContext: { control } }: AgentState): readonly AskingCall[] {
  return openCallsOf(control).flatMap(({ id, status }) =>
    status.type === "asking" ? [{ id, digest: status.digest, about: status.about }] : [],
  );
}

/**
 * The end of a message at this state; undefined while work continues. `working` are the calls whose sub-agents do more than wait for a
 * human, as far as this server knows.
 */
export function endOf(
  state: AgentState,
  questions: readonly Question[],
  working: ReadonlySet<string> = new Set(),
): UiChunk | undefined {
  const { config, reActContext } = state;
  const { control } = reActContext;
  switch (control.type) {
    case "Done":
    case "Idle":
      return { type: "finish", finishReason: "stop" };
    case "Error":
      return control.failure.kind === "Cancelled"
        ? { type: "abort", reason: control.failure.message }
        : { type: "error", errorText: control.failure.message };
    case "Custom":
      return config.graph.terminals.includes(control.name)
        ? { type: "finish", finishReason: "stop" }
        : undefined;
    case "WaitingForHuman":
    case "Acting":
    case "ParallelActing":
      return waitsForHuman(state, questions, working)
        ? { type: "finish", finishReason: "tool-calls" }
        : undefined;
    case "Planning":
    case "Observing":
    case "Reflecting":
      return undefined;
  }
}

/** Whether a loop runs or waits, so that a stream of it can be resumed. */
export function isResumable(state: AgentState, questions: readonly Question[]): boolean {
  const end = endOf(state, questions);
  return end === undefined || (end.type === "finish" && end.finishReason === "tool-calls");
}
