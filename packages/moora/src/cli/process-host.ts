import { systemClock } from "@moora/agent";
import type { CliHost } from "./cli-host.ts";
import { openBrowser } from "./open-browser.ts";
import { userName } from "./session/session-host.ts";

/** This process as the host of the command line. */
export const processHost = (): CliHost => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  onInterrupt(listener) {
    process.on("SIGINT", listener);
    return () => void process.off("SIGINT", listener);
  },
  onTerminate(listener) {
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, listener);
    return () => {
      for (const signal of ["SIGTERM", "SIGHUP"]) process.off(signal, listener);
    };
  },
  user: userName(),
  ...(process.stdout.isTTY ? { openBrowser } : {}),
});
