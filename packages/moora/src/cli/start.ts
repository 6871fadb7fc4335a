import { exitCodes } from "./cli-host.ts";
import { processHost } from "./process-host.ts";
import { runCli } from "./run-cli.ts";

/** How long open handles may delay the end of the process after the command. */
const graceMs = 1_000;

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  process.stdout.on("error", outputFailed);
  // There is no other place to report it.
  process.stderr.on("error", () => undefined);
  process.exitCode = await runCli(process.argv.slice(2), processHost());
  // A tool that keeps a handle open must not keep the shell waiting.
  setTimeout(() => process.exit(), graceMs).unref();
}

/** A closed pipe, as in `moora run ... | head -1`, is not an error. A full disk is. */
function outputFailed(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(exitCodes.answered);
  process.stderr.write(`moora: Standard output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.unreadable);
}
