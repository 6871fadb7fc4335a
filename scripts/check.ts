/** Everything that has to hold before a change may land. */
import { runSteps } from "./run-steps.ts";

const pnpm = (script: string): { name: string; command: string; args: readonly string[] } => ({
  name: script,
  command: "pnpm",
  args: ["--silent", "run", ...script.split(" ")],
});

const rest = [
  "typecheck",
  "lint",
  "format:check",
  "unused",
  "links",
  "language",
  "idioms",
  // Builds the packs that the next three look at.
  "packages",
  "sizes",
  "consumers",
  "api",
  "test:browser",
  "prove --short",
];

runSteps((process.argv.includes("--rest") ? rest : ["test", ...rest]).map(pnpm));
