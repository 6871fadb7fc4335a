/** Checks everything as one program, and each package's sources by themselves: there the pure ones see no platform. */
import { packageNames } from "./workspace.ts";
import { runSteps } from "./run-steps.ts";

await runSteps([
  { name: "the whole workspace", command: "tsc", args: ["-p", "."] },
  ...packageNames.map((name) => ({
    name: `the sources of ${name}`,
    command: "tsc",
    args: ["-p", `packages/${name}/tsconfig.src.json`],
  })),
]);
