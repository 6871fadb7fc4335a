/**
 * Uses the packs, as `scripts/packages.ts` has made them, the way applications do: compiles projects that write
 * declarations with two releases of TypeScript, and runs them.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { consumers, installPacks } from "./install-packs.ts";
import { runSteps, type Step } from "./run-steps.ts";
import { root } from "./workspace.ts";

const compilers: Readonly<Record<string, string>> = {
  "TypeScript 7": join(root, "node_modules/typescript/bin/tsc"),
  "TypeScript 5": join(root, "node_modules/typescript-5/bin/tsc"),
};

interface Compiled {
  /** The least that the types of the packs need of the platform. */
  readonly types: readonly string[];
  /** The same of the language. */
  readonly lib: readonly string[];
  readonly skipLibCheck?: true;
}

/** The projects that are compiled. */
const compiled: Readonly<Record<string, Compiled>> = {
  strict: { types: [], lib: ["es2022", "dom"] },
  bare: { types: ["node"], lib: ["es2022"] },
  dbos: { types: ["node"], lib: ["es2022"] },
  // The declarations of the AI SDK import packages that it does not depend on.
  chat: { types: [], lib: ["es2022", "dom", "dom.iterable"], skipLibCheck: true },
};

const compilerOptions = {
  target: "es2022",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  declaration: true,
  outDir: "dist",
} as const;

installPacks();
for (const name of [...Object.keys(compiled), "full"])
  copyFileSync(join(root, "scripts/consumers", `${name}.ts`), join(consumers, name, "program.ts"));
for (const [name, platform] of Object.entries(compiled)) {
  writeFileSync(
    join(consumers, name, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...platform }, files: ["program.ts"] }),
  );
}

const node = (name: string, ...args: readonly string[]): Step => ({ name, command: process.execPath, args });
const cli = join(consumers, "bare/node_modules/moora/dist/cli.js");

await runSteps([
  node("contents of the packs", join(root, "scripts/pack-contents.ts")),
  ...Object.keys(compiled).flatMap((project) =>
    Object.entries(compilers).map(([compiler, file]) =>
      node(`${project} compiles with ${compiler}`, file, "-p", join(consumers, project)),
    ),
  ),
  node("bare runs", join(consumers, "bare/program.ts")),
  node("full runs", join(consumers, "full/program.ts")),
  node("moora --version", cli, "--version"),
  node("moora run, without any SDK", cli, "run", "What is 2 + 2?"),
]);
