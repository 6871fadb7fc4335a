import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSharedSession } from "@moora/agent";
import * as kit from "@moora/agent-testing";
import * as client from "@moora/client";
import { indexedDbLog } from "@moora/event-log/indexeddb";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { postgresLog } from "@moora/event-log-postgres";
import { inspectorFile } from "@moora/inspector";
import * as models from "@moora/llm";
import { aiSdk } from "@moora/llm-ai-sdk";
import { anthropic } from "@moora/llm-anthropic";
import { chatProfiles, openai, openaiChat } from "@moora/llm-openai";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import * as mcp from "@moora/mcp";
import { createMoorex } from "@moora/moorex";
import * as otel from "@moora/otel";
import * as restate from "@moora/restate";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import * as tools from "@moora/tools";
import * as agents from "moora";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";

const llm = new MockLlmCaller(() => answers("x"));
const agent = agents.defineAgent({ llm });
const tool = { name: "t", description: "d", input: z.object({}), execute: () => "x" };
const log = agents.memoryLog();
const graph = {
  states: ["X"],
  rows: { X: { a: "Done" }, Planning: { LlmFinalAnswer: "X" } },
  terminals: [],
};
const url = "http://127.0.0.1:1";
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moora-options-"));
  const session = await agents.openSession(agent, { log, id: "a" });
  await session.ask("Hello.");
  await session.close();
});
afterAll(() => rm(folder, { recursive: true }));

/** Callers without types may pass any value. */
// oxlint-disable-next-line typescript/no-explicit-any
type Given = any;

const config = (change: Given) => agents.defineAgent({ llm, config: change });

async function inSession(use: (session: Given) => unknown): Promise<void> {
  const session = await agents.openSession(agent, { log, id: "a" });
  try {
    await use(session);
  } finally {
    await session.close();
  }
}

const ofServer = (options: object) => createAgentServer({ agents: [agent], log, ...options });

async function served(options: object): Promise<void> {
  const server = ofServer({});
  try {
    await serve(server, { port: 0, ...options });
  } finally {
    await server.close();
  }
}

async function attached(options: Given): Promise<void> {
  const session = agents.startSession(agent);
  await otel.sessionTelemetry({}).attach(session, options);
}

function performed(options: object): unknown {
  const state = agents.agentTransition(agents.userMessage("x"))(agents.initialStateOf(agent));
  const [effect] = Object.values(agents.effectsAt(state));
  if (effect === undefined) throw new Error("No effect.");
  return agents.performEffect(agent, effect, state, { dispatch: () => true, sessionId: "s", ...options });
}

const question: Given = { toolCallId: "call_1", digest: "x" };
const file = { mediaType: "image/png", url: "https://example.com/a.png" };
const usage: Given = { inputTokens: 1, outputTokens: 1 };
const machine = {
  initial: () => 0,
  transition: () => (state: number) => state,
  effectsAt: () => ({}),
  runEffect: () => ({ start: async () => undefined }),
};
const mcpClient: Given = { listTools: () => ({ tools: [] }), callTool: () => ({}) };

/** Every place that takes options: one of them, and the call with further ones. */
const places: Readonly<Record<string, readonly [known: string, call: (further: Given) => unknown]>> = {
  defineAgent: ["tools", (o) => agents.defineAgent({ llm, ...o })],
  "defineAgent, config": ["budget", (o) => config(o)],
  "defineAgent, config.limits": ["maxSteps", (o) => config({ limits: o })],
  "defineAgent, config.settings": ["topP", (o) => config({ settings: o })],
  "defineAgent, config.budget": ["maxTokens", (o) => config({ budget: o })],
  "defineAgent, config.approval": ["expiresAfterMs", (o) => config({ approval: { policy: "never", ...o } })],
  "defineAgent, config.approval.policy": [
    "above",
    (o) => config({ approval: { policy: { above: "high", ...o } } }),
  ],
  "defineAgent, config.toolChoice": [
    "name",
    (o) =>
      agents.defineAgent({
        llm,
        tools: [agents.defineTool(tool)],
        config: { toolChoice: { name: "t", ...o } },
      }),
  ],
  "defineAgent, config.graph": [
    "states",
    (o) => config({ graph: { states: [], rows: {}, terminals: [], ...o } }),
  ],
  "defineAgent, prices": [
    "cachedInput",
    (o) => agents.defineAgent({ llm, prices: { default: { input: 1, output: 1, ...o } } }),
  ],
  "defineAgent, runLimits": ["toolTimeoutMs", (o) => agents.defineAgent({ llm, runLimits: o })],
  "defineAgent, states": [
    "replay",
    (o) => agents.defineAgent({ llm, config: { graph }, states: { X: { handle: () => "a", ...o } } }),
  ],
  defineTool: ["timeoutMs", (o) => agents.defineTool({ ...tool, ...o })],
  "defineTool, spends": ["tokens", (o) => agents.defineTool({ ...tool, spends: o })],
  askHuman: ["answer", (o) => agents.askHuman(o)],
  toolAsks: ["answer", (o) => agents.toolAsks({ question: "q", ...o })],
  toolReply: ["isError", (o) => agents.toolReply({ content: "c", ...o })],
  "toolReply, files": ["name", (o) => agents.toolReply({ content: "c", files: [{ ...file, ...o }] })],
  "toolReply, usage": ["cost", (o) => agents.toolReply({ content: "c", usage: { ...usage, ...o } })],
  defineData: ["version", (o) => agents.defineData({ schema: z.object({}), initial: {}, ...o })],
  agentTool: ["timeoutMs", (o) => agents.agentTool(agent, { name: "x", description: "d", ...o })],
  defineTeam: [
    "start",
    (o) => agents.defineTeam({ agents: { a: { agent, description: "d" } }, start: "a", ...o }),
  ],
  "defineTeam, agents": [
    "handsOffTo",
    (o) => agents.defineTeam({ agents: { a: { agent, description: "d", ...o } }, start: "a" }),
  ],
  runTask: ["signal", (o) => agents.runTask(agent, "t", o)],
  startSession: ["clock", (o) => agents.startSession(agent, o)],
  openSession: ["leaseMs", (o) => agents.openSession(agent, { log, id: "b", ...o })],
  "openSession, blobs": ["store", (o) => agents.openSession(agent, { log, id: "b", blobs: o })],
  "session.ask": ["attachments", (o) => inSession((session) => session.ask({ content: "c", ...o }))],
  "session.ask, attachments": [
    "name",
    (o) => inSession((session) => session.ask({ content: "c", attachments: [{ ...file, ...o }] })),
  ],
  "session.close": ["graceMs", (o) => inSession((session) => session.close(o))],
  "session.configure": ["budget", (o) => inSession((session) => session.configure(o))],
  "session.settle": [
    "content",
    (o) => inSession((session) => session.settle("call_1", { content: "c", ...o })),
  ],
  "session.decide": [
    "approve",
    (o) => inSession((session) => session.decide(question, { approve: {}, ...o })),
  ],
  performEffect: ["notify", performed],
  userMessage: ["messageId", (o) => agents.userMessage("t", o)],
  forkSession: ["open", (o) => agents.forkSession(log, "a", 2, { as: "f", open: "rerun", ...o })],
  rerunSession: ["unrecorded", (o) => agents.rerunSession(agent, log, "a", { from: 0, ...o })],
  pruneSessions: ["before", (o) => agents.pruneSessions(log, { before: 1, ...o })],
  moveSession: ["clock", (o) => agents.moveSession(log, "a", agents.memoryLog(), o)],
  openSharedSession: ["clock", (o) => openSharedSession(agent, { log, id: "b", ...o })],
  sqliteLog: ["durability", (o) => sqliteLog(":memory:", o)],
  jsonlLog: ["durability", (o) => jsonlLog(join(folder, "log"), o)],
  indexedDbLog: ["onNotice", (o) => indexedDbLog("x", o)],
  postgresLog: ["schema", (o) => postgresLog("postgres://127.0.0.1:1/x", o)],
  openai: ["baseURL", (o) => openai("m", o)],
  anthropic: ["baseURL", (o) => anthropic("m", o)],
  openaiChat: ["baseURL", (o) => openaiChat("m", o)],
  "openaiChat, profile": ["baseURL", (o) => openaiChat("m", { profile: { ...chatProfiles.local, ...o } })],
  aiSdk: ["model", (o) => aiSdk((() => ({})) as Given, o)],
  fallback: ["when", (o) => models.fallback([llm], o)],
  cached: ["cache", (o) => models.cached(llm, o)],
  rateLimited: ["requestsPerMinute", (o) => models.rateLimited(llm, { requestsPerMinute: 1, ...o })],
  recorded: ["secrets", (o) => models.recorded(llm, () => undefined, o)],
  replayed: ["secrets", (o) => models.replayed([], o)],
  memoryLlmCache: ["maxEntries", (o) => models.memoryLlmCache(o)],
  MockLlmCaller: ["model", (o) => new MockLlmCaller([], o)],
  answers: ["usage", (o) => answers("x", o)],
  "answers, usage": ["inputTokens", (o) => answers("x", { usage: o })],
  callsTools: ["usage", (o) => callsTools([{ name: "t" }], o)],
  "callsTools, calls": ["arguments", (o) => callsTools([{ name: "t", ...o }])],
  fails: ["retryable", (o) => fails("auth", o)],
  hangs: ["usage", (o) => hangs("", o)],
  currentTimeTool: ["timeZone", (o) => tools.currentTimeTool(o)],
  fileTools: ["exclude", (o) => tools.fileTools({ root: ".", ...o })],
  fetchUrlTool: ["isAllowed", (o) => tools.fetchUrlTool(o)],
  createAgentServer: ["authorize", (o) => ofServer(o)],
  "createAgentServer, limits": ["maxBodyBytes", (o) => ofServer({ limits: o })],
  "createAgentServer, worker": ["maxSessions", (o) => ofServer({ worker: o })],
  "createAgentServer, blobs": ["store", (o) => ofServer({ blobs: o })],
  serve: ["port", served],
  connectSession: ["agent", (o) => client.connectSession({ url, agent: "a", ...o })],
  localPostStorage: ["maxPosts", (o) => client.localPostStorage(o)],
  listSessions: ["limit", (o) => client.listSessions({ url, ...o })],
  mcpTools: ["name", (o) => mcp.mcpTools(mcpClient, { name: "x", ...o })],
  connectMcp: ["name", (o) => mcp.connectMcp({ command: "true" }, { name: "x", ...o })],
  "connectMcp, server": ["command", (o) => mcp.connectMcp({ command: "true", ...o }, { name: "x" })],
  mcpServer: ["log", (o) => mcp.mcpServer([agent], { log, ...o })],
  mcpOfServer: ["descriptions", (o) => mcp.mcpOfServer(o)],
  sessionTelemetry: ["resource", (o) => otel.sessionTelemetry(o)],
  readSpans: ["resource", (o) => otel.readSpans(log, "a", o)],
  "sessionTelemetry, attach": ["parent", attached],
  inspectorFile: ["problem", (o) => inspectorFile("x", o)],
  simulate: ["runs", (o) => kit.simulate(agent, { runs: 1, ...o })],
  simulateActions: ["needs", (o) => kit.simulateActions(agent, { actions: [] }, o)],
  replayLog: ["agent", (o) => kit.replayLog("x", o)],
  goldenLogs: ["update", (o) => kit.goldenLogs(folder, o)],
  replayPortable: ["agent", (o) => kit.replayPortable("x", o)],
  evaluate: ["scorers", (o) => kit.evaluate({ agent, dataset: [{ name: "a", input: "x" }], ...o })],
  givenAgent: ["tools", (o) => kit.givenAgent({ tools: {}, ...o })],
  restateServices: ["context", (o) => restate.restateServices(agent, { ingressUrl: url, ...o })],
  restateLog: ["agent", (o) => restate.restateLog({ ingressUrl: url, agent: "a", ...o })],
  createMoorex: ["commit", (o) => createMoorex({ ...machine, ...o })],
  "AgentBuilder.openai": ["baseURL", (o) => new agents.AgentBuilder("t").openai(o)],
  "AgentBuilder.config": ["budget", (o) => new agents.AgentBuilder("t").llm(llm).config(o).build()],
  "AgentBuilder.build": ["clock", (o) => new agents.AgentBuilder("t").llm(llm).build(o)],
  AgentEngine: ["clock", (o) => new agents.AgentEngine(agent, "t", o)],
};

it.each(Object.entries(places))(
  "%s refuses an option that it does not have, and names the one that is meant",
  async (_, [known, call]) => {
    const misspelled = `${known}x`;
    const refusal = await (async () => await call({ [misspelled]: 1 }))().then(
      () => "accepted",
      (error: Error) => error.message,
    );
    expect(refusal).toContain(misspelled);
    expect(refusal).toMatch(
      new RegExp(`(Did you mean "([a-zA-Z]+\\.)*|only option is "|Known fields: .*\\b)${known}\\b`),
    );
  },
);
