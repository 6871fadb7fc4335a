/**
 * Everything that has to hold before a change may land.
 *
 *   check.ts [--rest | --changed [COMMIT]]
 *
 * `--rest` leaves out `pnpm run test`. `--changed` leaves out what needs packed packages, a database, an engine or a browser, and
 * runs the tests that the changes since COMMIT reach (without it: what is not committed).
 */
import { runSteps, type Step } from "./run-steps.ts";

const pnpm = (script: string): Step => ({
  name: script,
  command: "pnpm",
  args: ["--silent", "run", ...script.split(" ")],
});

const looks = ["typecheck", "lint", "format:check", "unused", "links", "language", "idioms", "weight"].map(
  pnpm,
);

// `packages` builds the packs that the next three look at.
const builds = ["packages", "sizes", "consumers", "api", "prove --short"].map(pnpm);

const [mode, commit] = process.argv.slice(2);
if (mode === "--changed") {
  const since = commit === undefined ? "" : `=${commit}`;
  await runSteps(looks, [pnpm(`test --passWithNoTests --changed${since}`)]);
} else {
  if (mode !== "--rest") await runSteps([pnpm("test")]);
  const passed = process.exitCode !== 1;
  await runSteps([...looks, pnpm("test:browser"), pnpm("test:long")], builds);
  if (!passed) process.exitCode = 1;
}
