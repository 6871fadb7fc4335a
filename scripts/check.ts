/** Everything that has to hold before a change may land. */
import { runSteps } from "./run-steps.ts";

const pnpm = (script: string): { name: string; command: string; args: readonly string[] } => ({
  name: script,
  command: "pnpm",
  args: ["--silent", "run", ...script.split(" ")],
});

const looks = ["typecheck", "lint", "format:check", "unused", "links", "language", "idioms", "test:browser"];

// `packages` builds the packs that the next three look at.
const builds = ["packages", "sizes", "consumers", "api", "prove --short"];

if (!process.argv.includes("--rest")) await runSteps(["test"].map(pnpm));
const passed = process.exitCode !== 1;
await runSteps(looks.map(pnpm), builds.map(pnpm));
if (!passed) process.exitCode = 1;
