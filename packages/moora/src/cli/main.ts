#!/usr/bin/env node
// Releases of Node that cannot run the rest load this file: nothing else may be imported before the version is checked.
import manifest from "../../package.json" with { type: "json" };
import { nodeProblem } from "./node-version.ts";

const problem = nodeProblem(process.versions.node);
const [argument, ...others] = process.argv.slice(2);
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 2;
} else if ((argument === "--version" || argument === "-v") && others.length === 0)
  console.log(manifest.version);
else void import("./start.ts").then(({ start }) => start());
