/**
 * A project that depends on `moora` alone: no SDK of a provider and no `pg` is installed. It compiles, everything that needs
 * none of them works, and a call that needs one fails with the package to install.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  AgentBuilder,
  anthropic,
  chatProfiles,
  defineAgent,
  fileTools,
  jsonlLog,
  memoryLog,
  openai,
  openaiChat,
  openSession,
  planner,
  postgresLog,
  runTask,
  sqliteLog,
  startSession,
} from "moora";

export const agent = defineAgent({ llm: planner(), tools: fileTools({ root: "." }) });
export const { config, parts } = agent;
export const session = startSession(agent);
export const engine = new AgentBuilder("Hello").llm(planner()).build();
export const trace = engine.trace();
export const memory = engine.memory();
export const state = engine.state;
export const logs = [
  memoryLog(),
  jsonlLog("logs"),
  sqliteLog(":memory:"),
  postgresLog("postgres://localhost"),
];

// Traces of errors show these names.
for (const [name, value] of Object.entries(await import("moora")))
  if (typeof value === "function" && /^[A-Z]/.test(name)) assert.equal(value.name, name);

const apiKey = "none";
for (const [llm, message] of [
  [openai("a", { apiKey }), "The openai provider needs the package openai: npm install openai"],
  [
    openaiChat("a", { apiKey, profile: chatProfiles.groq }),
    "The groq provider needs the package openai: npm install openai",
  ],
  [
    anthropic("a", { apiKey }),
    "The anthropic provider needs the package @anthropic-ai/sdk: npm install @anthropic-ai/sdk",
  ],
] as const) {
  await assert.rejects(
    async () => await runTask(defineAgent({ llm }), "Hello"),
    (error: Error) => {
      assert.ok(error.message.includes(message), error.message);
      return true;
    },
  );
}

await assert.rejects(openSession(agent, { log: postgresLog("postgres://localhost"), id: "a" }), {
  code: "LogWrite",
  message: "postgresLog needs the package pg. Run: npm install pg",
});

assert.equal(typeof (await engine.run()), "string");

const cli = fileURLToPath(new URL("./node_modules/moora/dist/cli.js", import.meta.url));
const { OPENAI_API_KEY: _, ...env } = process.env;
const moora = (args: readonly string[], more: object = {}, flags: readonly string[] = []): string => {
  const { status, stderr } = spawnSync(process.execPath, [...flags, cli, ...args], {
    encoding: "utf8",
    env: { ...env, ...more },
  });
  return `${status}: ${stderr}`;
};
assert.match(
  moora(["run", "hi", "--model", "m"], { OPENAI_API_KEY: "none" }),
  /^2: .*The openai provider needs the package openai\. .*npm install openai\n$/,
);
// The packages of this repository lie above this project, so this one is hidden.
const withoutMcp = `import { registerHooks } from "node:module";
registerHooks({ resolve(name, context, next) { if (name === "@moora/mcp") throw new Error("hidden"); return next(name, context); } });`;
for (const [args, user] of [
  [["run", "hi", "--mcp", "some-server"], "--mcp"],
  [["mcp", "--agent", "agent.js"], '"moora mcp"'],
] as const) {
  assert.equal(
    moora(args, {}, ["--import", `data:text/javascript,${encodeURIComponent(withoutMcp)}`]),
    `2: moora: ${user} needs the package @moora/mcp. Install it: npm install @moora/mcp @modelcontextprotocol/client @modelcontextprotocol/server\n`,
  );
}

assert.match(
  moora(["run", "hi", "--provider", "xai", "--model", "m"], { XAI_API_KEY: "none" }),
  /^2: .*The xai provider needs the package @ai-sdk\/xai\. .*npm install @ai-sdk\/xai\n$/,
);

// An older Node fails with a clear message.
const old = (change: string): readonly string[] => ["--import", `data:text/javascript,${change}`];
assert.equal(
  moora(
    ["run", "hi"],
    {},
    old(`Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`),
  ),
  "2: moora needs Node 22.13 or newer, this is 20.20.2.\n",
);
const { stderr } = spawnSync(
  process.execPath,
  [...old("delete Promise.withResolvers"), "--input-type=module", "--eval", 'import "moora"'],
  { encoding: "utf8", cwd: import.meta.dirname },
);
assert.match(stderr, /Error: Moora needs Node 22\.13 or newer, this is Node /);
