import { isAbsolute, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { SimulatedSession } from "./action.ts";
import { failureToLine, storyToText } from "./report.ts";
import type { SessionResult } from "./simulate-session.ts";
import {
  codeOptions,
  defaultThoroughEvery,
  type SimulateOptions,
  type SimulationSource,
} from "./simulate-options.ts";
import { toLiteral } from "./to-literal.ts";

/** Everything that a kept test needs. */
export interface RegressionTest {
  readonly shrunk: SessionResult;
  readonly reproduce: string;
  readonly identity: string;
  readonly options: SimulateOptions;
  readonly source: SimulationSource;
  /** The folder that the test is in. */
  readonly folder: string;
}

/**
 * The shrunk session as a file of tests for vitest, complete: it imports the agent and the options from their module, and
 * states which promises it needs, so that it fails where they are missing.
 */
export function regressionTest({
  shrunk,
  reproduce,
  identity,
  options,
  source,
  folder,
}: RegressionTest): string {
  const { agent = "agent", options: named = "options" } = source;
  const needs = needsOf(options);
  const imports = needs.length === 0 ? [agent] : [agent, named];
  const title = failureToLine(shrunk.failure)
    .replaceAll(/["\\\n]/g, "'")
    .slice(0, 100);
  const { thoroughEvery = defaultThoroughEvery, execute } = options;
  const given = [
    ...(needs.length === 0 ? [] : [`...${named}`, `needs: ${toLiteral(needs)}`]),
    `thoroughEvery: ${thoroughEvery}`,
    ...(execute === undefined ? [] : [`execute: ${toLiteral(execute)}`]),
  ];
  return [
    `import { simulateActions, type SimulatedSession } from "@moora/agent-testing";`,
    `import { expect, it } from "vitest";`,
    `import { ${imports.join(", ")} } from ${JSON.stringify(importPath(source.module, folder))};`,
    ``,
    `// Found by: ${reproduce}`,
    `//     with: ${identity}`,
    ...storyToText(shrunk.story)
      .split("\n")
      .map((line) => `//${line}`),
    sessionToCode(shrunk.session),
    ``,
    `it("${title}", async () => {`,
    `  const { failure } = await simulateActions(${agent}, session, {`,
    ...given.map((option) => `    ${option},`),
    `  });`,
    `  expect(failure).toBeUndefined();`,
    `});`,
    ``,
  ].join("\n");
}

function sessionToCode({ actions, ...setup }: SimulatedSession): string {
  return [
    `const session: SimulatedSession = {`,
    ...Object.entries(setup).map(([key, value]) => `  ${key}: ${toLiteral(value)},`),
    `  actions: [`,
    ...actions.map((action) => `    ${toLiteral(action)},`),
    `  ],`,
    `};`,
  ].join("\n");
}

/** The code that found the failure, as `invariants.paysOnce`: a test without it would pass for nothing. */
export const needsOf = (options: SimulateOptions): readonly string[] =>
  codeOptions
    .filter((name) => name !== "draw" && name !== "drawResults")
    .flatMap((name) => {
      const value = options[name];
      if (value === undefined) return [];
      return typeof value === "function" ? [name] : Object.keys(value).map((key) => `${name}.${key}`);
    });

/** The path by which a test in a folder imports a module: relative, with forward slashes. */
export function importPath(module: string, folder: string): string {
  const file = module.startsWith("file:") ? fileURLToPath(module) : module;
  const path = relative(resolve(folder), isAbsolute(file) ? file : resolve(file))
    .split(sep)
    .join("/");
  return path.startsWith(".") ? path : `./${path}`;
}
