import type { Readable, Writable } from "node:stream";
import type { Clock } from "@moora/agent-core-effects";

/** Where a command writes, whether it is a terminal, and its width. */
export type CliOutput = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** Everything of the machine that the command line uses. Tests pass their own. */
export interface CliHost {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Answers, and the lines of `--json`. */
  readonly stdout: CliOutput;
  /** Everything else: progress, questions, errors. */
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Calls back for each Ctrl-C. Returns a function that unsubscribes. Without a listener, Ctrl-C ends the process. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Calls back when the process is asked to end. Returns a function that unsubscribes. Without a listener, it ends at once. */
  readonly onTerminate: (listener: () => void) => () => void;
  /** The name of the user, under which decisions are recorded. */
  readonly user: string;
  /** Opens an address in the browser of the user. Default: nothing. */
  readonly openBrowser?: (url: string) => void;
  /** The name of this process as the owner of sessions. Default: the one that `openSession` gives it. */
  readonly owner?: string;
  /** Whether another owner is known to have ended, beside those that `openSession` knows of. */
  readonly isOwnerGone?: (owner: string) => boolean;
}

/** The exit codes of the command line. */
export const exitCodes = {
  /** Answered or done. */
  answered: 0,
  /** The agent failed, or a check found something wrong. */
  failed: 1,
  /** Invalid usage. */
  usage: 2,
  /** Session, record, call, question or file not found. */
  missing: 3,
  /** Another process runs the session, or writes to its log. */
  busy: 4,
  /** Already decided, invalid, nothing to do, or a move that has not ended. */
  refused: 5,
  /** The log is damaged, was written by a newer release, or cannot be read or written. */
  unreadable: 6,
  /** The session waits for a decision, or is paused. */
  waiting: 7,
  /** Answered, but a question was rejected because no terminal could ask it. */
  unasked: 8,
  canceled: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
