#!/usr/bin/env node
// Loaded by releases of Node that cannot run the rest: nothing else may be imported before the version is checked.
import { nodeProblem } from "./node-version.ts";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) void import("./run-process.ts").then(({ runProcess }) => runProcess());
else {
  console.error(problem);
  process.exitCode = 2;
}
