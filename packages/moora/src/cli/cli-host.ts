import type { Readable, Writable } from "node:stream";
import type { Clock } from "@moora/agent-core-effects";

/** Where a command writes, and whether a person looks at it. */
export type CliOutput = Writable & { readonly isTTY?: boolean | undefined };

/** Everything of the machine that the command line uses: the process gives one, and so does a test. */
export interface CliHost {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Answers, and the lines of `--json`. */
  readonly stdout: CliOutput;
  /** Everything else: what is under way, questions, errors. */
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Calls back for each Ctrl-C; answers how to stop that. While nobody listens, Ctrl-C ends the process. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /** Calls back when the process is asked to end; answers how to stop that. While nobody listens, it ends at once. */
  readonly onTerminate: (listener: () => void) => () => void;
  /** Who sits here: decisions bear this name. */
  readonly user: string;
  /** The name of this process as the owner of sessions. */
  readonly owner: string;
  /** Whether another owner is known to have ended. */
  readonly isOwnerGone: (owner: string) => boolean;
}

/** What the command line gives back to the shell. */
export const exitCodes = {
  /** Answered, done, or as it should be. */
  answered: 0,
  /** The agent failed, or what was looked at is not as it should be. */
  failed: 1,
  /** The command line makes no sense. */
  usage: 2,
  /** There is no such session, call or question. */
  missing: 3,
  /** Another process runs the session, or writes to its log. */
  busy: 4,
  /** It was decided before, does not fit, or is taken. */
  refused: 5,
  /** The log is damaged, from a newer release, or cannot be read or written. */
  unreadable: 6,
  cancelled: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
