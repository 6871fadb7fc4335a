import { processHost } from "./process-host.ts";
import { runCli } from "./run-cli.ts";

/** How long what is still open may take once the work is done. */
const graceMs = 1_000;

/** Runs the command line in this process, and sets its exit code. */
export async function start(): Promise<void> {
  // The reader of the output may end before this process, as in `moora run ... | head -1`.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  process.exitCode = await runCli(process.argv.slice(2), processHost());
  // A tool that does not let go must not keep the shell.
  setTimeout(() => process.exit(), graceMs).unref();
}
