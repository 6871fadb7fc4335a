import type { InputLine } from "./screen.ts";

/** The result of reading a line. `canceled`: the signal was aborted first. */
export type LineRead =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "end" }
  | { readonly type: "interrupted" }
  | { readonly type: "canceled" };

/** Lines from a user or from a pipe, in order and without loss. */
export interface LineReader extends InputLine {
  /** Whether a user types the lines and sees the questions. */
  readonly isTerminal: boolean;
  /** Reads the next message. In a terminal it has a prompt, editing and a history. */
  message(prompt: string, signal?: AbortSignal): Promise<LineRead>;
  /** Reads the reply to a question. */
  reply(request: ReplyRequest): Promise<LineRead>;
  /**
   * Buffers text that is typed from here on for the next message, without showing it. Ends at the next `message`. A pipe
   * buffers its lines anyway.
   */
  collect(): void;
  close(): void;
}

/** How to ask for a reply to a question. */
export interface ReplyRequest {
  readonly prompt: string;
  /** The initial text of the line. A pipe ignores it. */
  readonly prefill: string;
  /** Whether the question was shown for the first time: text typed before is not a reply to it. */
  readonly isNew: boolean;
  readonly signal: AbortSignal;
}
