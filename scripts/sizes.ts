/**
 * The size of what a browser loads, minified and gzipped with everything that it imports, beside its limit. Bundles the
 * packs, as `scripts/packages.ts` has made them, with Vite and with esbuild: the larger result counts.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build as bundleWithEsbuild } from "esbuild";
import { build as bundleWithVite } from "vite";
import { consumers, installPacks } from "./install-packs.ts";

interface Budget {
  readonly what: string;
  readonly source: string;
  /** Packages that are left out. */
  readonly without?: readonly string[];
  readonly mostKb: number;
}

const core = `export { createMoorex } from "@moora/moorex";
export { agentTransition, initialAgentState } from "@moora/agent-core-state-machine";
export { effectsAt, llmRequestAt } from "@moora/agent-core-effects";`;

const adapters = `export { anthropic } from "@moora/llm-anthropic";
export { openai, openaiChat } from "@moora/llm-openai";`;

/** What `@moora/mcp` loads at the call that needs it. */
const mcpOnNode: readonly string[] = [
  ...["client", "client/stdio", "server", "server/stdio", "node"].map(
    (name) => `@modelcontextprotocol/${name}`,
  ),
  "node:events",
  "node:fs/promises",
  "node:http",
];

const budgets: readonly Budget[] = [
  { what: "moorex", source: `export * from "@moora/moorex";`, mostKb: 4.1 },
  { what: "an agent without a host: reducer, effects, requests, moorex", source: core, mostKb: 37.5 },
  {
    what: "the same, with parseInput, parseState and every schema",
    source: `${core}\nexport { agentEventSchema, parseInput, parseState } from "@moora/agent-core-state-machine";`,
    mostKb: 52.5,
  },
  {
    what: "a session in memory, with tools",
    source: `export { defineAgent, defineTool, startSession } from "@moora/agent";`,
    mostKb: 116.5,
  },
  {
    what: "a session in the IndexedDB log of a browser, with tools",
    source: `export { defineAgent, defineTool, openSession } from "@moora/agent";\nexport { indexedDbLog } from "@moora/event-log/indexeddb";`,
    mostKb: 133.5,
  },
  {
    what: "a session in a Durable Object",
    source: `export { defineAgent, defineTool } from "@moora/agent";\nexport { sessionObject } from "@moora/cloudflare";`,
    mostKb: 136.5,
  },
  {
    what: "both adapters without their SDKs",
    source: adapters,
    without: ["openai", "@anthropic-ai/sdk"],
    mostKb: 28,
  },
  {
    what: "telemetry, beside a session in a log",
    source: `export { openSession } from "@moora/agent";\nexport { exportSpans, sessionTelemetry } from "@moora/otel";`,
    mostKb: 132.5,
  },
  {
    what: "tools of MCP servers, without the SDK",
    source: `export { connectMcp, mcpTools } from "@moora/mcp";`,
    without: mcpOnNode,
    mostKb: 51,
  },
  {
    what: "sessions on DBOS, without the SDK",
    source: `export { dbosHost } from "@moora/dbos";`,
    without: ["@dbos-inc/dbos-sdk", "@dbos-inc/dbos-sdk/datasource", "node:crypto"],
    mostKb: 83.5,
  },
  { what: "both adapters with their SDKs", source: adapters, mostKb: 211.5 },
  {
    what: "the adapter for the AI SDK, without providers",
    source: `export { aiSdk } from "@moora/llm-ai-sdk";`,
    mostKb: 24,
  },
  {
    what: "sessions of a server, with the reducer",
    source: `export { connectSession } from "@moora/client";`,
    mostKb: 56,
  },
  {
    what: "the same with the hooks, without React",
    source: `export { connectSession } from "@moora/client";\nexport * from "@moora/react";`,
    without: ["react"],
    mostKb: 59,
  },
  {
    what: "the components of a chat, with the client and the hooks, without React",
    source: `export { connectSession } from "@moora/client";\nexport * from "@moora/react";\nexport * from "@moora/react/components";`,
    without: ["react", "react/jsx-runtime"],
    mostKb: 81,
  },
  {
    what: "a chat of the AI SDK, without the SDK and React",
    source: `export * from "@moora/react/ai-sdk";`,
    without: ["react", "ai", "@ai-sdk/react"],
    mostKb: 2.5,
  },
  {
    what: "the page of the inspector",
    source: `export { inspectorFile } from "@moora/inspector";`,
    mostKb: 134.5,
  },
  {
    what: "a server without Node, for an edge platform",
    source: `export { createAgentServer } from "@moora/server";`,
    mostKb: 189.5,
  },
];

/** Loaded where it is used, by import: for the first schedule with a cron expression. A page without one does not load it. */
const loadedLater: readonly string[] = ["croner"];

const project = join(consumers, "full");
const entry = join(project, "entry.js");

async function bytesByVite(without: readonly string[]): Promise<readonly string[]> {
  const result = await bundleWithVite({
    root: project,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      target: "es2023",
      rollupOptions: {
        input: entry,
        external: [...without],
        preserveEntrySignatures: "strict",
        output: { format: "es" },
      },
    },
  });
  const outputs = Array.isArray(result) ? result : "output" in result ? [result] : [];
  return outputs.flatMap(({ output }) => output.map((file) => ("code" in file ? file.code : "")));
}

async function bytesByEsbuild(without: readonly string[]): Promise<readonly string[]> {
  const { outputFiles } = await bundleWithEsbuild({
    absWorkingDir: project,
    entryPoints: [entry],
    bundle: true,
    external: [...without],
    format: "esm",
    logLevel: "error",
    minify: true,
    outdir: "out",
    splitting: true,
    target: "es2023",
    write: false,
  });
  return outputFiles.map(({ text }) => text);
}

const gzippedKb = (files: readonly string[]): number =>
  files.reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0) / 1_000;

const shown = (kb: number): string => kb.toFixed(1).padStart(5);

installPacks();
console.log("         Vite  esbuild    limit  (KB, minified and gzipped)");
for (const { what, source, without: leftOut = [], mostKb } of budgets) {
  writeFileSync(entry, source);
  const without = [...leftOut, ...loadedLater];
  const vite = gzippedKb(await bytesByVite(without));
  const esbuild = gzippedKb(await bytesByEsbuild(without));
  const fits = Math.max(vite, esbuild) <= mostKb;
  console.log(
    `${fits ? "ok  " : "FAIL"}    ${shown(vite)}    ${shown(esbuild)}    ${shown(mostKb)}  ${what}`,
  );
  if (!fits) process.exitCode = 1;
}
