import type { CliHost } from "../cli-host.ts";
import type { InputLine } from "./screen.ts";
import { PipedLines } from "./piped-lines.ts";
import { TerminalLines } from "./terminal-lines.ts";

/** The result of reading a line. `canceled`: the signal was aborted first. */
export type LineRead =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "end" }
  | { readonly type: "interrupted" }
  | { readonly type: "canceled" };

/** How to ask for a reply to a question. */
export interface ReplyRequest {
  readonly prompt: string;
  /** The initial text of the line. A pipe ignores it. */
  readonly prefill: string;
  /** Whether the question was shown for the first time: text typed before is not a reply to it. */
  readonly isNew: boolean;
  readonly signal: AbortSignal;
}

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

/** `onInterrupt` is called for Ctrl-C while lines are collected. */
export const createLineReader = (host: CliHost, onInterrupt: () => void): LineReader =>
  isTerminal(host) ? new TerminalLines(host, onInterrupt) : new PipedLines(host);

/** Whether a user can type, and see the question. */
const isTerminal = ({ stdin, stderr }: CliHost): boolean => stdin.isTTY === true && stderr.isTTY === true;
