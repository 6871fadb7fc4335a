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
}

/** What the command line gives back to the shell. */
export const exitCodes = {
  answered: 0,
  failed: 1,
  usage: 2,
  cancelled: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
