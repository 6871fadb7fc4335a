/** What a browser would load, minified and gzipped with everything it imports, beside what it may be. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { root } from "./workspace.ts";

interface Budget {
  readonly what: string;
  readonly source: string;
  readonly mostKb: number;
}

const core = `export { createMoorex } from "@moora/moorex";
export { agentTransition, initialAgentState } from "@moora/agent-core-state-machine";
export { effectsAt, llmRequestAt } from "@moora/agent-core-effects";`;

const budgets: readonly Budget[] = [
  { what: "moorex", source: `export * from "@moora/moorex";`, mostKb: 2.5 },
  { what: "an agent without a host: reducer, effects, requests, moorex", source: core, mostKb: 20 },
  {
    what: "the same, with parseInput, parseState and every schema",
    source: `${core}\nexport { agentEventSchema, parseInput, parseState } from "@moora/agent-core-state-machine";`,
    mostKb: 27,
  },
  {
    what: "a session in memory, with tools",
    source: `export { defineAgent, defineTool, startSession } from "@moora/agent";`,
    mostKb: 48,
  },
];

async function gzippedKb(source: string, folder: string): Promise<number> {
  const entry = join(folder, "entry.ts");
  writeFileSync(entry, source);
  const result = await build({
    root,
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@moora/source", "import", "module", "browser", "default"] },
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      target: "es2023",
      rollupOptions: { input: entry, preserveEntrySignatures: "strict", output: { format: "es" } },
    },
  });
  const outputs = Array.isArray(result) ? result : "output" in result ? [result] : [];
  const code = outputs
    .flatMap(({ output }) => output.map((file) => ("code" in file ? file.code : "")))
    .join("");
  return gzipSync(code, { level: 9 }).length / 1_000;
}

const folder = mkdtempSync(join(root, ".sizes-"));
try {
  for (const { what, source, mostKb } of budgets) {
    const kb = await gzippedKb(source, folder);
    const fits = kb <= mostKb;
    console.log(
      `${fits ? "ok  " : "FAIL"}  ${kb.toFixed(1).padStart(5)} KB of ${mostKb.toFixed(1).padStart(4)} KB  ${what}`,
    );
    if (!fits) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
