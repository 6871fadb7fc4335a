/**
 * Checks everything as one program, and each package's sources by themselves: there the pure ones see no platform. What was found is
 * kept, so that the next run checks only what has changed.
 */
import { packageNames, root } from "./workspace.ts";
import { runSteps, type Step } from "./run-steps.ts";

const check = (name: string, project: string, kept: string): Step => {
  const buildInfo = `${root}/node_modules/.cache/types/${kept}.tsbuildinfo`;
  return {
    name,
    command: "tsc",
    args: ["-p", project, "--incremental", "--tsBuildInfoFile", buildInfo],
  };
};

await runSteps([
  check("the whole workspace", ".", "workspace"),
  ...packageNames.map((name) =>
    check(`the sources of ${name}`, `packages/${name}/tsconfig.src.json`, `sources-of-${name}`),
  ),
]);
