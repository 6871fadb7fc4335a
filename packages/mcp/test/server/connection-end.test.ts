import { PassThrough } from "node:stream";
import { agentTool, BuildError, defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
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

/** A call of an agent, as a request of the older protocol over HTTP. */
const requestOf = (task: string): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "looker", arguments: { task } },
    }),
  });

describe("a server that is closed", () => {
  it("answers no request, and opens no session", async () => {
    const log = memoryLog();
    const server = mcpServer([slowAgent().agent], { log });
    const { url } = await server.listen();
    await server.close();
    expect((await server.fetch(requestOf("Look."))).status).toBe(503);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    expect(await log.list()).toEqual([]);
  });

  it("answers no request whose user is found later", async () => {
    const log = memoryLog();
    const [asked, found] = [Promise.withResolvers<undefined>(), Promise.withResolvers<string>()];
    const authorize = async (): Promise<string> => {
      asked.resolve(undefined);
      return await found.promise;
    };
    const server = mcpServer([slowAgent().agent], { log, authorize });
    const response = server.fetch(requestOf("Look."));
    await asked.promise;
    await server.close();
    found.resolve("ada");
    expect((await response).status).toBe(503);
    expect(await log.list()).toEqual([]);
  });

  it("runs no session that is being opened, and no longer uses the log", async () => {
    const memory = memoryLog();
    const [creating, created] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let [uses, isClosed] = [0, false];
    const log: EventLog = {
      ...memory,
      async create(id, header) {
        creating.resolve(undefined);
        await created.promise;
        if (isClosed) uses += 1;
        return await memory.create(id, header);
      },
    };
    const { agent } = slowAgent();
    const server = mcpServer([agent], { log });
    const response = server.fetch(requestOf("Look."));
    await creating.promise;
    const closed = server.close().then(() => void (isClosed = true));
    created.resolve(undefined);
    await closed;
    expect(uses).toBe(0);
    expect(await (await response).text()).toContain("The server is closed.");
    // The agent is not run: its session has no task.
    const [{ id } = { id: "" }] = await memory.list();
    const records = (await (await memory.open(id))?.read()) ?? [];
    expect(records.map(({ body }) => body).join()).not.toContain("Look.");
  });

  it("serves no other connection", async () => {
    const server = mcpServer([slowAgent().agent], { log: memoryLog() });
    await server.close();
    await server.close();
    const message = "The server is closed. Create another one with mcpServer.";
    await expect(server.listen()).rejects.toThrow(new BuildError(message));
    const [input, output] = [new PassThrough(), new PassThrough()];
    await expect(server.serveStdio({ input, output })).rejects.toThrow(new BuildError(message));
  });
});
