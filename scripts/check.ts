/** Everything that has to hold before a change may land. */
import { runSteps } from "./run-steps.ts";

const pnpm = (script: string): { name: string; command: string; args: readonly string[] } => ({
  name: script,
  command: "pnpm",
  args: ["--silent", "run", script],
});

runSteps(["typecheck", "lint", "format:check", "unused", "test", "sizes", "packages"].map(pnpm));
