import { hostname } from "node:os";
import {
  agentTool,
  defineAgent,
  defineTool,
  openSession,
  openSharedSession,
  type Agent,
  type SessionError,
} from "@moora/agent";
import { unfinishedMove } from "@moora/agent/internal";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { payingAgent, pays } from "../support/agents.ts";
import { connections } from "../support/clients.ts";

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

const elsewhere = (session: string): string =>
  `Another process uses the session ${session}. Call this tool again later with this session.`;

/** An agent with a tool that ends when it is released. */
function slowAgent(): {
  readonly agent: Agent;
  readonly begun: Promise<undefined>;
  readonly release: () => void;
} {
  const [begun, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<string>()];
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    execute: async () => {
      begun.resolve(undefined);
      return await released.promise;
    },
  });
  const llm = new MockLlmCaller([callsTools([{ name: "look" }]), answers("I have looked.")]);
  const agent = defineAgent({ name: "looker", llm, tools: [look] });
  return { agent, begun: begun.promise, release: () => released.resolve("seen") };
}

/** The errors of a server, and what it reports them with. */
function reports(): { readonly codes: string[]; readonly onError: (error: unknown) => void } {
  const codes: string[] = [];
  return { codes, onError: (error) => void codes.push((error as SessionError).code) };
}

/** A server with an agent that has answered a call, and the session of that call. */
async function talkedWith(connect: (typeof connections)[keyof typeof connections]) {
  const log = memoryLog();
  const agent = defineAgent({ name: "talker", llm: new MockLlmCaller(() => answers("Hello.")) });
  const { codes, onError } = reports();
  const server = mcpServer([agent], { log, onError });
  const client = await connect(server);
  await client.callTool({ name: "talker", arguments: { task: "Talk." } });
  const [{ id: session } = { id: "" }] = await log.list();
  const close = async (): Promise<void> => {
    await client.close();
    await server[Symbol.asyncDispose]();
  };
  return { agent, log, codes, client, session, [Symbol.asyncDispose]: close };
}

describe.each(Object.entries(connections))("a session of another process, over %s", (_, connect) => {
  it("fails the call with what the client can do, and without the name of the process", async () => {
    const { agent, begun, release } = slowAgent();
    const log = memoryLog();
    await using first = mcpServer([agent], { log });
    const { codes, onError } = reports();
    await using second = mcpServer([agent], { log, onError });
    const [client, other] = [await connect(first), await connect(second)];
    const running = client.callTool({ name: "looker", arguments: { task: "Look." } });
    await begun;
    const [{ id: session } = { id: "" }] = await log.list();
    const refused = await other.callTool({ name: "looker", arguments: { session } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe(elsewhere(session));
    expect(codes).toEqual(["SessionBusy"]);
    release();
    expect(textOf(await running)).toBe("I have looked.");
    expect(textOf(await other.callTool({ name: "looker", arguments: { session } }))).toBe("I have looked.");
    await client.close();
    await other.close();
  });

  it("that takes it over fails the call in the same way", async () => {
    const { agent, begun, release } = slowAgent();
    const log = memoryLog();
    const { codes, onError } = reports();
    await using server = mcpServer([agent], { log, onError });
    const client = await connect(server);
    const running = client.callTool({ name: "looker", arguments: { task: "Look." } });
    await begun;
    const [{ id: session } = { id: "" }] = await log.list();
    const owner = `${hostname()}, process 1`;
    await using taken = await openSession(agent, { log, id: session, owner, isOwnerGone: () => true });
    release();
    expect(textOf(await running)).toBe(elsewhere(session));
    expect(codes).toContain("StaleWriter");
    expect(taken.id).toBe(session);
    await client.close();
  });

  it("that is being moved to this log fails the call, without words for the operator", async () => {
    await using scene = await talkedWith(connect);
    const { log, codes, client, session } = scene;
    const lease = { owner: unfinishedMove, now: Date.now(), ttlMs: 1e12 };
    await (await log.open(session))?.lease(lease);
    const refused = await client.callTool({ name: "talker", arguments: { session, task: "More." } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe(
      `The session ${session} is closed: a move, a fork or an import of it has not ended. Start another session, or ask the operator.`,
    );
    expect(codes).toEqual(["MoveUnfinished"]);
  });

  it("whose engine runs it fails the call with the name of the engine, and without advice to call again", async () => {
    await using scene = await talkedWith(connect);
    const { agent, log, codes, client, session } = scene;
    await openSharedSession(agent, { log, id: session, engine: "Engine" });
    const refused = await client.callTool({ name: "talker", arguments: { session, task: "More." } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe(`The session ${session} is run by Engine and cannot be used here.`);
    expect(codes).toEqual(["SessionBusy"]);
  });
});

/** The ways on which a server can ask. */
const asking = Object.entries(connections).filter(([name]) => name !== "HTTP, older protocol");

describe.each(asking)("a session whose sub-agent asks in another process, over %s", (_, connect) => {
  it("fails the call with what the client can do", async () => {
    const { agent } = payingAgent(...pays());
    const log = memoryLog();
    const office = defineAgent({
      name: "office",
      llm: new MockLlmCaller([callsTools([{ name: "cashier", arguments: { task: "Pay." } }])]),
      tools: [agentTool(agent, { name: "cashier", description: "Pays.", log })],
    });
    await using first = mcpServer([office], { log });
    await using second = mcpServer([office], { log });
    const options = { capabilities: { elicitation: { form: {} } } };
    const [client, other] = [await connect(first, options), await connect(second, options)];
    client.setRequestHandler("elicitation/create", () => ({ action: "cancel" }));
    const waits = await client.callTool({ name: "office", arguments: { task: "Pay 5 euros." } });
    const [session = ""] = /mcp-[\w-]+/.exec(textOf(waits)) ?? [];
    expect(textOf(await other.callTool({ name: "office", arguments: { session } }))).toBe(elsewhere(session));
    await client.close();
    await other.close();
  });
});
