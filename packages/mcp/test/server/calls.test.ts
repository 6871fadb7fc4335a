import type { Client } from "@modelcontextprotocol/client";
import { agentTool, defineAgent, defineTool, toolAsks, type Agent, type LogEntry } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { payingAgent, payingAgentWith, pays } from "../support/agents.ts";
import { connections } from "../support/clients.ts";

type Answer = (
  message: string,
) =>
  | { action: "accept"; content: Record<string, string | number | boolean> }
  | { action: "decline" | "cancel" };

const asks = { capabilities: { elicitation: { form: {} } } };

/** Answers the questions of a server, and records them. */
function answerWith(client: Client, answer: Answer): string[] {
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return answer(params.message);
  });
  return asked;
}

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

/** The ways on which a server can ask, and hears of a cancel. Over HTTP, the older protocol has no channel for either here. */
const asking = Object.entries(connections).filter(([name]) => name !== "HTTP, older protocol");

describe.each(Object.entries(connections))("an agent as a tool, over %s", (_, connect) => {
  it("is listed with its description, and as one that can do harm", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([{ agent, description: "Pays bills." }], { log: memoryLog() });
    const client = await connect(server);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: "cashier",
        description: "Pays bills.",
        annotations: { destructiveHint: true, readOnlyHint: false },
      },
    ]);
    expect(client.getServerVersion()).toEqual({ name: "moora", version: manifest.version });
    await client.close();
  });

  it("gives onLog the entries of its sessions", async () => {
    const entries: string[] = [];
    const { agent } = payingAgent(answers("Hello, Ada."));
    const onLog = ({ code, sessionId }: LogEntry): void => void entries.push(`${code} ${sessionId}`);
    await using server = mcpServer([agent], { log: memoryLog(), onLog });
    const client = await connect(server);
    const { structuredContent } = await client.callTool({
      name: "cashier",
      arguments: { task: "I am Ada." },
    });
    const { session } = structuredContent as { session: string };
    expect(entries).toEqual([`session-opened ${session}`, `session-closed ${session}`]);
    await client.close();
  });

  it("answers all the same if its onError throws, and both errors are printed", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const [cause, thrown] = [new Error("No disk."), new Error("The reporter failed.")];
    const log = { ...memoryLog(), open: () => Promise.reject(cause), create: () => Promise.reject(cause) };
    const onError = (): never => {
      throw thrown;
    };
    await using server = mcpServer([payingAgent(answers("Hello.")).agent], { log, onError });
    const client = await connect(server);
    const failure = await client.callTool({ name: "cashier", arguments: { task: "I am Ada." } });
    expect(failure).toMatchObject({ isError: true });
    expect(textOf(failure)).toBe("The session cannot be read or written.");
    expect(print.mock.calls).toEqual([[cause], [thrown]]);
    print.mockRestore();
    await client.close();
  });

  it("answers a task, and continues the conversation of its session", async () => {
    const { agent } = payingAgent(answers("Hello, Ada."), answers("Your name is Ada."));
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server);
    const first = await client.callTool({ name: "cashier", arguments: { task: "I am Ada." } });
    expect(first).toMatchObject({
      content: [{ type: "text", text: "Hello, Ada." }],
      structuredContent: { answer: "Hello, Ada.", session: expect.stringMatching(/^mcp-[\w-]+$/) },
    });
    const { session } = first.structuredContent as { session: string };
    const second = await client.callTool({ name: "cashier", arguments: { task: "Who am I?", session } });
    expect(second.structuredContent).toEqual({ answer: "Your name is Ada.", session });
    await client.close();
  });

  it("fails with the reason: of the agent, for an unknown session, and without a task", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server);
    const call = (args: Record<string, string>) => client.callTool({ name: "cashier", arguments: args });
    const failed = await call({ task: "Hello" });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain("The agent failed: ");
    expect(textOf(await call({ task: "Hello", session: "mcp-1" }))).toBe('Session "mcp-1" not found.');
    expect(textOf(await call({}))).toBe("A new session needs a task.");
    await client.close();
  });

  it("does not ask through a client that cannot: the answer says what waits where", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server);
    const result = await client.callTool({ name: "cashier", arguments: { task: "Pay 5 euros." } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(
      /^The agent waits for the decision of a person, in the session mcp-\S+:\n- .*pay\(\{"euros":5\}\)\?\n/,
    );
    expect(payments).toEqual([]);
    await client.close();
  });

  it("shows its sessions as resources", async () => {
    const { agent } = payingAgent(answers("Hello, Ada."));
    const log = memoryLog();
    await log.create("other", JSON.stringify({ agent: { name: "another agent" } }));
    const unlisted = {
      ...log,
      list: (): never => {
        throw new Error("The list of all sessions was read.");
      },
    };
    await using server = mcpServer([agent], { log: unlisted });
    const client = await connect(server);
    const { structuredContent } = await client.callTool({
      name: "cashier",
      arguments: { task: "I am Ada." },
    });
    const { session } = structuredContent as { session: string };
    const list = await client.readResource({ uri: "moora://sessions" });
    expect(JSON.parse((list.contents[0] as { text: string }).text)).toMatchObject([
      { id: session, agent: "cashier" },
    ]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["moora://sessions", `moora://sessions/${session}`]);
    const read = await client.readResource({ uri: `moora://sessions/${session}` });
    expect(JSON.parse((read.contents[0] as { text: string }).text)).toEqual([
      { role: "user", content: "I am Ada." },
      { role: "assistant", content: "Hello, Ada." },
    ]);
    for (const id of ["other", "gone", "x".repeat(300)])
      await expect(client.readResource({ uri: `moora://sessions/${id}` })).rejects.toThrow(/not found/i);
    await client.close();
  });
});

describe.each(asking)("questions of an agent, over %s", (_, connect) => {
  it("are asked through the client; an approved call runs once, and reports its progress", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    const asked = answerWith(client, () => ({ action: "accept", content: { approve: true } }));
    const progress: (string | undefined)[] = [];
    const result = await client.callTool(
      { name: "cashier", arguments: { task: "Pay 5 euros." } },
      { onprogress: ({ message }) => progress.push(message) },
    );
    expect(asked).toEqual(['The agent asks for approval: may it call pay({"euros":5})?']);
    expect(textOf(result)).toBe("It is paid.");
    expect(payments).toEqual([5]);
    expect(progress).toEqual(expect.arrayContaining(["Calls pay.", "paying"]));
    await client.close();
  });

  it.each<[string, Answer]>([
    ["declines", () => ({ action: "decline" })],
    ["answers no", () => ({ action: "accept", content: { approve: false, reason: "Too much." } })],
  ])("are rejected when the person %s", async (__, answer) => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    answerWith(client, answer);
    const result = await client.callTool({ name: "cashier", arguments: { task: "Pay 5 euros." } });
    expect(textOf(result)).toBe("It is paid."); // what the model of this test says in any case
    expect(payments).toEqual([]);
    await client.close();
  });

  it("stay open when the person closes the form; the session continues after the decision", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    let isClosed = false;
    const asked = answerWith(client, () => {
      if (isClosed) return { action: "accept", content: { approve: true } };
      isClosed = true;
      return { action: "cancel" };
    });
    const waits = await client.callTool({ name: "cashier", arguments: { task: "Pay 5 euros." } });
    expect(waits.isError).toBe(true);
    const [session = ""] = /mcp-[\w-]+/.exec(textOf(waits)) ?? [];
    const done = await client.callTool({ name: "cashier", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "It is paid.", session });
    expect(asked).toHaveLength(2);
    expect(payments).toEqual([5]);
    await client.close();
  });

  it("of the model are answered with a text, or with the fields of their schema", async () => {
    const { agent } = payingAgent(
      callsTools([{ name: "ask_human", arguments: { question: "Which color?" } }]),
      callsTools([{ name: "ask_size", arguments: { question: "Which size?" } }]),
      answers("Thank you."),
    );
    const log = memoryLog();
    await using server = mcpServer([agent], { log });
    const client = await connect(server, asks);
    const asked = answerWith(client, (message) =>
      message === "Which color?"
        ? { action: "accept", content: { answer: "blue" } }
        : { action: "accept", content: { size: 42 } },
    );
    const result = await client.callTool({ name: "cashier", arguments: { task: "Order shoes." } });
    expect(asked).toEqual(["Which color?", "Which size?"]);
    expect(textOf(result)).toBe("Thank you.");
    const [{ id } = { id: "" }] = await log.list();
    const session = await log.open(id);
    const bodies = (await session?.read())?.map(({ body }) => body).join() ?? "";
    expect(bodies).toContain("blue");
    expect(bodies).toContain("42");
    await client.close();
  });
});

describe.each(asking)("questions below the session of a call, over %s", (_, connect) => {
  const delegates = () => callsTools([{ name: "cashier", arguments: { task: "Pay." } }]);
  const office = (cashier: Agent, log: EventLog) =>
    defineAgent({
      name: "office",
      llm: new MockLlmCaller([delegates(), answers("All done.")]),
      tools: [agentTool(cashier, { name: "cashier", description: "Pays.", log })],
    });

  it("are asked with those of sub-agents; a call that runs beside them is not interrupted", async () => {
    const counting = Promise.withResolvers<string>();
    let counts = 0;
    const count = defineTool({
      name: "count",
      description: "Counts.",
      input: z.object({}),
      async execute() {
        counts += 1;
        return await counting.promise;
      },
    });
    const { agent, payments } = payingAgentWith(
      [count],
      callsTools([
        { name: "pay", arguments: { euros: 5 } },
        { name: "count", arguments: {} },
      ]),
      answers("It is paid."),
    );
    const log = memoryLog();
    await using server = mcpServer([office(agent, log)], { log });
    const client = await connect(server, asks);
    const asked = answerWith(client, () => {
      counting.resolve("7");
      return { action: "accept", content: { approve: true } };
    });
    const result = await client.callTool({ name: "office", arguments: { task: "Pay 5 euros." } });
    expect(textOf(result)).toBe("All done.");
    expect(asked).toEqual(['The agent asks for approval: may it call pay({"euros":5})?']);
    expect({ payments, counts }).toEqual({ payments: [5], counts: 1 });
    await client.close();
  });

  it("are asked again by another server, which continues the session", async () => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    const first = mcpServer([office(agent, log)], { log });
    const client = await connect(first, asks);
    answerWith(client, () => ({ action: "cancel" }));
    const waits = await client.callTool({ name: "office", arguments: { task: "Pay 5 euros." } });
    expect(waits.isError).toBe(true);
    const [session = ""] = /mcp-[\w-]+/.exec(textOf(waits)) ?? [];
    await client.close();
    await first.close();
    await using second = mcpServer([office(agent, log)], { log });
    const other = await connect(second, asks);
    const asked = answerWith(other, () => ({ action: "accept", content: { approve: true } }));
    const done = await other.callTool({ name: "office", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "All done.", session });
    expect(asked).toHaveLength(1);
    expect(payments).toEqual([5]);
    await other.close();
  });

  it("show what a tool asks in the middle of its call, with the fields of its answer", async () => {
    const order = defineTool({
      name: "order",
      description: "Orders.",
      input: z.object({ item: z.string() }),
      execute: ({ item }, { asked: last }) =>
        last?.reply.type === "answered"
          ? `${item}: ${JSON.stringify(last.reply.answer)}`
          : toolAsks({ question: `How many of ${item}?`, answer: z.object({ count: z.number() }) }),
    });
    const agent = defineAgent({
      name: "cashier",
      llm: new MockLlmCaller([
        callsTools([{ name: "order", arguments: { item: "shoes" } }]),
        answers("Ordered."),
      ]),
      tools: [order],
    });
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    const asked = answerWith(client, () => ({ action: "accept", content: { count: 2 } }));
    const result = await client.callTool({ name: "cashier", arguments: { task: "Order shoes." } });
    expect(asked).toEqual(["How many of shoes?"]);
    expect(textOf(result)).toBe("Ordered.");
    await client.close();
  });
});

describe.each(asking)("a call that the client cancels, over %s", (_, connect) => {
  it("cancels the agent, and its session can be continued", async () => {
    const { agent } = payingAgent(hangs(), answers("Here again."));
    const log = memoryLog();
    await using server = mcpServer([agent], { log });
    const client = await connect(server);
    const call = new AbortController();
    const running = client.callTool(
      { name: "cashier", arguments: { task: "Think." } },
      { signal: call.signal },
    );
    const llm = agent.parts.llm as unknown as { readonly callCount: number };
    while (llm.callCount === 0) await new Promise(setImmediate);
    call.abort();
    await expect(running).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
    const [{ id } = { id: "" }] = await log.list();
    const session = await log.open(id);
    const isCancelled = async (): Promise<boolean> =>
      (await session?.read())?.some(({ body }) => body.includes("The MCP client cancelled the call.")) ===
      true;
    while (!(await isCancelled())) await new Promise(setImmediate);
    let again = await client.callTool({ name: "cashier", arguments: { task: "Hello?", session: id } });
    while (textOf(again).startsWith("Another call uses"))
      again = await client.callTool({ name: "cashier", arguments: { task: "Hello?", session: id } });
    expect(textOf(again)).toBe("Here again.");
    await client.close();
  });
});
