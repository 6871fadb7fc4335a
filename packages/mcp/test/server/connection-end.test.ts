import { agentTool, defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer, type McpAgentServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { payingAgent } from "../support/agents.ts";
import { connections } from "../support/clients.ts";

/** An agent whose tool ends in its second run only; `begun` resolves when the first one has begun. */
function slowAgent(): {
  readonly agent: Agent;
  readonly begun: Promise<void>;
  readonly aborts: () => number;
} {
  const begun = Promise.withResolvers<void>();
  let [runs, aborts] = [0, 0];
  const look = defineTool({
    name: "look",
    description: "Looks.",
    replay: "safe",
    input: z.object({}),
    async execute(_, { signal }) {
      runs += 1;
      if (runs > 1) return "seen";
      begun.resolve();
      return await new Promise<string>((__, reject) => {
        signal.addEventListener("abort", () => {
          aborts += 1;
          reject(new Error("aborted"));
        });
      });
    },
  });
  const llm = new MockLlmCaller([callsTools([{ name: "look" }]), answers("I have looked.")]);
  const agent = defineAgent({ name: "looker", llm, tools: [look] });
  return { agent, begun: begun.promise, aborts: () => aborts };
}

/** A server of which it is known when it has served its streams. */
function watched(server: McpAgentServer): {
  readonly server: McpAgentServer;
  readonly served: () => Promise<void>;
} {
  let served = Promise.resolve();
  return {
    server: {
      ...server,
      fetch: server.fetch,
      listen: (options) => server.listen(options),
      close: () => server.close(),
      [Symbol.asyncDispose]: () => server.close(),
      serveStdio: (streams) => (served = server.serveStdio(streams)),
    },
    served: () => served,
  };
}

/** The answer of the only session of a log that a call has begun, resumed by another owner. */
async function resumed(log: EventLog, agent: Agent): Promise<string> {
  const id = (await log.list()).map((session) => session.id).find((each) => each.startsWith("mcp-")) ?? "";
  await using session = await openSession(agent, { log, id });
  await session.settled();
  const { control } = session.current().reActContext;
  return control.type === "Done" ? control.answer : control.type;
}

const overStreams = Object.entries(connections).filter(([name]) => name.startsWith("streams"));

describe.each(overStreams)("the end of the connection, over %s", (_, connect) => {
  it("closes a session that runs, without a cancel: its work resumes", async () => {
    const { agent, begun, aborts } = slowAgent();
    const log = memoryLog();
    const { server, served } = watched(mcpServer([agent], { log }));
    const client = await connect(server);
    const call = Promise.allSettled([client.callTool({ name: "looker", arguments: { task: "Look." } })]);
    await begun;
    await client.close();
    await call;
    await served();
    expect(aborts()).toBe(1);
    expect(await resumed(log, agent)).toBe("I have looked.");
  });

  it("closes a session whose sub-agent asks, without a call of close", async () => {
    const { agent } = payingAgent(callsTools([{ name: "pay", arguments: { euros: 5 } }]));
    const log = memoryLog();
    const office = defineAgent({
      name: "office",
      llm: new MockLlmCaller([callsTools([{ name: "cashier", arguments: { task: "Pay." } }])]),
      tools: [agentTool(agent, { name: "cashier", description: "Pays.", log })],
    });
    const { server, served } = watched(mcpServer([office], { log }));
    const client = await connect(server);
    const waits = await client.callTool({ name: "office", arguments: { task: "Pay." } });
    expect(waits.isError).toBe(true);
    await client.close();
    await served();
    const id = (await log.list()).map((session) => session.id).find((each) => each.startsWith("mcp-")) ?? "";
    await using session = await openSession(office, { log, id });
    expect(session.current().reActContext.control.type).toBe("Acting");
  });
});

describe.each(Object.entries(connections))("a server that is closed, over %s", (_, connect) => {
  it("closes a session that runs, without a cancel: its work resumes", async () => {
    const { agent, begun } = slowAgent();
    const log = memoryLog();
    const server = mcpServer([agent], { log });
    const client = await connect(server);
    const call = Promise.allSettled([client.callTool({ name: "looker", arguments: { task: "Look." } })]);
    await begun;
    await server.close();
    expect(await resumed(log, agent)).toBe("I have looked.");
    await client.close();
    await call;
  });
});
