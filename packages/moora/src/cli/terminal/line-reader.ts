import type { CliHost } from "../cli-host.ts";
import type { InputLine } from "./screen.ts";
import { PipedLines } from "./piped-lines.ts";
import { TerminalLines } from "./terminal-lines.ts";

/** What reading a line resulted in. `canceled`: the signal was aborted first. */
export type LineRead =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "end" }
  | { readonly type: "interrupted" }
  | { readonly type: "canceled" };

/** How a reply to a question is asked for. */
export interface ReplyRequest {
  readonly prompt: string;
  /** Text that is in the line to begin with. A pipe has no use for it. */
  readonly prefill: string;
  /** Whether the question was just shown for the first time: what was typed before is not a reply to it. */
  readonly isNew: boolean;
  readonly signal: AbortSignal;
}

/** Lines from a person or from a pipe, in order and without a loss. It is also the line in which a person types. */
export interface LineReader extends InputLine {
  /** Whether a person types the lines, and sees what is asked. */
  readonly isTerminal: boolean;
  /** The next message. People can edit it, find it again with the arrow keys, and see the prompt. */
  message(prompt: string, signal?: AbortSignal): Promise<LineRead>;
  /** The reply to a question. */
  reply(request: ReplyRequest): Promise<LineRead>;
  /**
   * Keeps what a person types from here on for the next message, without showing it. Ends at the next `message`. A
   * pipe keeps its lines by itself.
   */
  collect(): void;
  close(): void;
}

/** `onInterrupt` is called for Ctrl-C while lines are collected. */
export const createLineReader = (host: CliHost, onInterrupt: () => void): LineReader =>
  isTerminal(host) ? new TerminalLines(host, onInterrupt) : new PipedLines(host);

/** Whether a person can be asked: they can type, and see the question. */
const isTerminal = ({ stdin, stderr }: CliHost): boolean => stdin.isTTY === true && stderr.isTTY === true;
