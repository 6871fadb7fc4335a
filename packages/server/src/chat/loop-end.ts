import type { AgentState, Question } from "@moora/agent";
import { openCallsOf } from "@moora/agent/internal";
import { callsAsking } from "./sub-agent-questions.ts";
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

/** The end of a message at this state; undefined while work continues. */
export function endOf(
  { config, reActContext: { control } }: AgentState,
  questions: readonly Question[],
): UiChunk | undefined {
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
    case "ParallelActing": {
      const asking = callsAsking(questions);
      const isAsking = asking.size > 0 || control.calls.some(({ status }) => status.type === "asking");
      const isWorking = control.calls.some(
        ({ id, status }) => (status.type === "running" && !asking.has(id)) || status.type === "probing",
      );
      return isAsking && !isWorking ? { type: "finish", finishReason: "tool-calls" } : undefined;
    }
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
