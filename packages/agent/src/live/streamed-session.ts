import type { AgentEvent, Question } from "../agent-event.ts";

/** What a publisher reads of the session that a process runs, or of an effect that runs in a process by itself. */
export interface StreamedSession {
  /** The sequence number of its last record, for an effect that of the session at its start. */
  seq(): number;
  /** The text of the message that is being streamed. */
  streaming(): { readonly messageId: string; readonly text: string } | null;
  /** The reasoning of the message that is being streamed, as far as it was streamed; undefined if that is not known. */
  reasoning(): StreamedReasoning | undefined;
  /** The message of the model call that may have streamed already; undefined if there is none. */
  startedMessage(): string | undefined;
  /** The open questions, with those of sub-agents. */
  questions(): readonly Question[];
  /** Calls the listener with the sequence number of each new record. Returns a function that unsubscribes. */
  onRecord(listener: (seq: number) => void): () => void;
  /** Calls the listener with each event. Returns a function that unsubscribes. */
  onEvent(listener: (event: AgentEvent<unknown>) => void): () => void;
}

/** Reasoning in the order of its parts. `part` is the number of a part in its message, where the model counts them. */
export interface StreamedReasoning {
  readonly messageId: string;
  readonly parts: readonly { readonly part: number | undefined; readonly text: string }[];
}
