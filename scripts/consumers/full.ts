/**
 * A project that depends on every package, with the SDKs. Loading `moora` loads none of them, nor Node's HTTP client; the
 * schemas of the core, which have their own copy of zod in Node, work with the zod of an application.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { registerHooks } from "node:module";
import { statSync } from "node:fs";

/** The most that `import "moora"` may load. */
const mostModules = 63;
const mostKb = 1_740;

const files: string[] = [];
const builtins = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("node:")) builtins.add(url);
    else files.push(url);
    return nextLoad(url, context);
  },
});

await import("moora");
const loaded = [...files];
const loadedBuiltins = new Set(builtins);

const names = loaded.map((url) => url.slice(url.lastIndexOf("/node_modules/") + "/node_modules/".length));
for (const lazy of [
  "openai/",
  "@anthropic-ai/",
  "@ai-sdk/",
  "@modelcontextprotocol/",
  "@opentelemetry/",
  "pg/",
  "htmlparser2/",
  "zod/",
]) {
  assert.deepEqual(
    names.filter((name) => name.startsWith(lazy)),
    [],
    `import "moora" loads ${lazy}`,
  );
}
for (const lazy of ["node:http", "node:https", "node:sqlite"])
  assert.ok(!loadedBuiltins.has(lazy), `import "moora" loads ${lazy}`);

const kb = loaded.reduce((sum, url) => sum + statSync(new URL(url)).size, 0) / 1_000;
console.log(`import "moora" loads ${loaded.length} modules, ${kb.toFixed(0)} KB`);
assert.ok(
  loaded.length <= mostModules,
  `import "moora" loads ${loaded.length} modules, not ${mostModules} at most`,
);
assert.ok(kb <= mostKb, `import "moora" loads ${kb.toFixed(0)} KB, not ${mostKb} at most`);

const [z, { agentMessageSchema }] = await Promise.all([
  import("zod"),
  import("@moora/agent-core-state-machine"),
]);
const message = { id: "a", role: "user", content: "", receivedAt: 1, updatedAt: 1, streaming: false };
assert.deepEqual(z.array(agentMessageSchema).parse([message]), [message]);
assert.throws(() => z.object({ message: agentMessageSchema }).parse({ message: 1 }), z.ZodError);
assert.equal(z.toJSONSchema(agentMessageSchema).type, "object");

// An older Node is refused at the import of a log that only Node loads, with the version that it needs.
const withoutResolvers = ["--import", "data:text/javascript,delete Promise.withResolvers"];
for (const name of ["jsonl", "sqlite", "testing"]) {
  const { stderr } = spawnSync(
    process.execPath,
    [...withoutResolvers, "--input-type=module", "--eval", `import "@moora/event-log/${name}"`],
    { encoding: "utf8", cwd: import.meta.dirname },
  );
  assert.match(stderr, /Error: Moora needs Node 22\.13 or newer, this is Node /, name);
}

// Spans of a session in a log: live, and the same ones read from the log.
const { defineAgent, openSession } = await import("@moora/agent");
const { memoryLog } = await import("@moora/event-log");
const { answers, MockLlmCaller } = await import("@moora/llm/testing");
const { readSpans, sessionTelemetry } = await import("@moora/otel");
const live: string[] = [];
const telemetry = sessionTelemetry({
  exporter: {
    export(spans, done) {
      live.push(...spans.map((span) => span.spanContext().spanId));
      done({ code: 0 });
    },
  },
});
const log = memoryLog();
const agent = telemetry.traced(defineAgent({ llm: new MockLlmCaller([answers("Yes.")]) }));
const session = await openSession(agent, { log, id: "ada" });
await telemetry.attach(session);
await session.ask("Packed?");
await telemetry.close();
await session.close();
const stored: string[] = [];
for await (const span of readSpans(log, "ada")) stored.push(span.spanContext().spanId);
assert.equal(stored.length, 2);
assert.deepEqual(live, stored);

// An agent as an MCP server, and its tool in a client: both find the packages of the protocol.
const [{ connectMcp, mcpServer }, { calculatorTool, planner }] = await Promise.all([
  import("@moora/mcp"),
  import("moora"),
]);
const counter = defineAgent({ name: "counter", llm: planner(), tools: [calculatorTool()] });
const server = mcpServer([counter], { log: memoryLog() });
const { url } = await server.listen();
const connection = await connectMcp({ url }, { name: "math" });
assert.deepEqual(
  connection.tools.map(({ name }) => name),
  ["math_counter"],
);
await connection.close();
await server.close();
