/**
 * Everything that has to hold before a change may land.
 *
 *   check.ts [--rest | --short | --changed [COMMIT]]
 *
 * `--rest` leaves out the tests. The other two leave out what needs packed packages or a browser: `--short` runs no long test,
 * `--changed` the tests that the changes since COMMIT reach (without it: what is not committed).
 */
import { runSteps, type Step } from "./run-steps.ts";

const pnpm = (script: string): Step => ({
  name: script,
  command: "pnpm",
  args: ["--silent", "run", ...script.split(" ")],
});

const looks = ["typecheck", "lint", "format:check", "unused", "links", "language", "idioms"].map(pnpm);

// `packages` builds the packs that the next three look at.
const builds = ["packages", "sizes", "consumers", "api", "prove --short"].map(pnpm);

const [mode, commit] = process.argv.slice(2);
if (mode === "--short") await runSteps([...looks, pnpm("test:short")]);
else if (mode === "--changed") {
  await runSteps([
    ...looks,
    pnpm(`test --passWithNoTests --changed${commit === undefined ? "" : `=${commit}`}`),
  ]);
} else {
  if (mode !== "--rest") await runSteps([pnpm("test")]);
  const passed = process.exitCode !== 1;
  await runSteps([...looks, pnpm("test:browser")], builds);
  if (!passed) process.exitCode = 1;
}
