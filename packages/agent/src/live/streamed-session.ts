import type { AnswerDraft } from "@moora/agent-webui-protocol";
import type { AgentEvent, Question } from "../agent-event.ts";

/** What a publisher reads of the session that a process runs, or of an effect that runs in a process by itself. */
export interface StreamedSession {
  /** The sequence number of its last record, for an effect that of the session at its start. */
  seq(): number;
  /** What the model has written so far; undefined while it writes nothing. */
  draft(): AnswerDraft | undefined;
  /** The open questions, with those of sub-agents. */
  questions(): readonly Question[];
  /** Calls the listener with the sequence number of each new record. Returns a function that unsubscribes. */
  onRecord(listener: (seq: number) => void): () => void;
  /** Calls the listener with each event. Returns a function that unsubscribes. */
  onEvent(listener: (event: AgentEvent<unknown>) => void): () => void;
}
