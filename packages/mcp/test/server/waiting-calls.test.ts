import { getEventListeners } from "node:events";
import type { Client } from "@modelcontextprotocol/client";
import {
  agentTool,
  askHuman,
  defineAgent,
  defineTool,
  openSession,
  type Agent,
  type Question,
  type Tool,
} from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { payingAgent, pays } from "../support/agents.ts";
import { connections, type Connect } from "../support/clients.ts";

const asks = { capabilities: { elicitation: { form: {} } } };
const asksByHand = { ...asks, inputRequired: { autoFulfill: false } };
const secret = "a secret of more than thirty-two bytes";

const connectionsOf = (era: "older" | "newer"): [string, Connect][] =>
  Object.entries(connections).filter(([name]) => name.endsWith(`${era} protocol`));

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

const approved = { action: "accept", content: { approve: true } } as const;

/** A model that calls some tools, and answers when it has their results, in whatever process. */
const callsOnce = (calls: Parameters<typeof callsTools>[0], text: string): MockLlmCaller =>
  new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant") ? answers(text) : callsTools(calls),
  );

/** An agent that gives a task to each of some agents at once, beside calls of its own tools. */
const officeOf = (name: string, agents: readonly Agent[], log: EventLog, tools: readonly Tool[] = []) =>
  defineAgent({
    name,
    llm: callsOnce(
      [
        ...tools.map((tool) => ({ name: tool.name, arguments: {} })),
        ...agents.map((agent) => ({ name: agent.name, arguments: { task: "Pay." } })),
      ],
      "All done.",
    ),
    tools: [
      ...tools,
      ...agents.map((agent) => agentTool(agent, { name: agent.name, description: "Pays.", log })),
    ],
  });

interface InputRequired {
  readonly inputRequests: Readonly<Record<string, object>>;
  readonly requestState: string;
}

/** A round of a call that the client continues by hand. */
async function round(
  client: Client,
  tool: string,
  more: object,
  options: { readonly signal?: AbortSignal; readonly timeout?: number } = {},
): Promise<unknown> {
  return await client.callTool(
    { name: tool, arguments: { task: "Pay." }, ...more },
    { ...options, allowInputRequired: true },
  );
}

/** The questions of a call of the office, when there are as many. */
async function allAsked(client: Client, count: number): Promise<InputRequired> {
  let asked = (await round(client, "office", {})) as InputRequired;
  while (Object.keys(asked.inputRequests).length < count) {
    const { requestState } = asked;
    asked = (await round(client, "office", { requestState, inputResponses: {} })) as InputRequired;
  }
  return asked;
}

const answersTo = ({ inputRequests, requestState }: InputRequired): object => ({
  requestState,
  inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, approved])),
});

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A log that waits before it opens a session. */
const passingLog = (log: EventLog, wait: () => Promise<void>): EventLog => ({
  name: log.name,
  close: () => log.close(),
  list: (...options) => log.list(...options),
  create: (...options) => log.create(...options),
  remove: (...options) => log.remove(...options),
  async open(id) {
    await wait();
    return await log.open(id);
  },
});

async function logged(log: EventLog, text: string): Promise<boolean> {
  const sessions = await log.list();
  const bodies = sessions.map(async ({ id }) => (await (await log.open(id))?.read()) ?? []);
  return (await Promise.all(bodies)).flat().some(({ body }) => body.includes(text));
}

describe.each(connectionsOf("newer"))("a call that waits for answers, over %s", (_, connect) => {
  it("takes all of them after a restart, also those to sub-agents of sub-agents", async () => {
    const log = memoryLog();
    const [near, far] = [payingAgent(...pays()), payingAgent(...pays())];
    const make = () => {
      const middle = officeOf("middle", [far.agent], log);
      return mcpServer([officeOf("office", [near.agent, middle], log)], { log, secret });
    };
    const first = make();
    const client = await connect(first, asksByHand);
    const asked = await allAsked(client, 2);
    await client.close();
    await first.close();
    await using second = make();
    const other = await connect(second, asksByHand);
    const done = await round(other, "office", answersTo(asked));
    expect(done).toMatchObject({ structuredContent: { answer: "All done." } });
    expect([near.payments, far.payments]).toEqual([[5], [5]]);
    await other.close();
  });

  it("takes the others if another reviewer has answered one meanwhile, after a while", async () => {
    const log = memoryLog();
    const near = payingAgent(...pays());
    const confirm = askHuman({ name: "confirm" });
    const asksOnce = [callsTools([{ name: "confirm", arguments: { question: "Pay?" } }]), hangs()];
    const far = defineAgent({ name: "far", llm: new MockLlmCaller(asksOnce), tools: [confirm] });
    const make = () => mcpServer([officeOf("office", [near.agent, far], log)], { log, secret });
    const first = make();
    const client = await connect(first, asksByHand);
    const asked = await allAsked(client, 2);
    await client.close();
    await first.close();
    const ids = (await log.list()).map(({ id }) => id);
    const headers = await Promise.all(ids.map(async (id) => (await log.open(id))?.header ?? ""));
    const id = ids[headers.findIndex((header) => header.includes('"far"'))] ?? "";
    const reviewer = await openSession(far, { log, id, access: "post" });
    const [question] = reviewer.questions();
    await reviewer.decide(question as Question, { answer: "yes" }, "ada");
    await reviewer.close();
    await using second = make();
    const other = await connect(second, asksByHand);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const call = new AbortController();
    const running = round(other, "office", answersTo(asked), { signal: call.signal, timeout: 2 ** 30 });
    const ended = Promise.allSettled([running]);
    while (near.payments.length === 0) {
      vi.advanceTimersByTime(1_000);
      await turn();
    }
    vi.useRealTimers();
    call.abort();
    expect(await ended).toMatchObject([{ status: "rejected" }]);
    await other.close();
  });

  it("is not canceled by an abort after the questions have arrived", async () => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    await using server = mcpServer([officeOf("office", [agent], log)], { log, secret });
    const client = await connect(server, asksByHand);
    const call = new AbortController();
    const asked = (await round(client, "office", {}, { signal: call.signal })) as InputRequired;
    call.abort();
    await turn();
    const done = await round(client, "office", answersTo(asked));
    expect(done).toMatchObject({ structuredContent: { answer: "All done." } });
    expect(payments).toEqual([5]);
    expect(await logged(log, "The MCP client cancelled the call.")).toBe(false);
    await client.close();
  });
});

describe("a call that waits for answers, over streams, older protocol", () => {
  const connect = connections["streams, older protocol"] as Connect;

  it("is canceled with its agent and its tools while a person is asked", async () => {
    const ended = Promise.withResolvers<string>();
    const slow = defineTool({
      name: "slow",
      description: "Waits.",
      input: z.object({}),
      execute: (__, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => {
            ended.resolve("canceled");
            resolve("canceled");
          });
        }),
    });
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    await using server = mcpServer([officeOf("office", [agent], log, [slow])], { log });
    const client = await connect(server, asks);
    const [call, form] = [new AbortController(), Promise.withResolvers<undefined>()];
    client.setRequestHandler("elicitation/create", async () => {
      form.resolve(undefined);
      return await new Promise<never>(() => undefined);
    });
    const running = client.callTool({ name: "office", arguments: { task: "Pay." } }, { signal: call.signal });
    await form.promise;
    call.abort();
    await expect(running).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
    expect(await ended.promise).toBe("canceled");
    const [session = ""] = (await log.list()).map(({ id }) => id).filter((id) => id.startsWith("mcp-"));
    const again = () => client.callTool({ name: "office", arguments: { session } });
    let result = await again();
    while (textOf(result).startsWith("Another call uses")) result = await again();
    expect(textOf(result)).toMatch(/cancel/i);
    expect(payments).toEqual([]);
    await client.close();
  });

  it("is canceled if the only question is one of its own session", async () => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    await using server = mcpServer([agent], { log });
    const client = await connect(server, asks);
    const [call, form] = [new AbortController(), Promise.withResolvers<undefined>()];
    client.setRequestHandler("elicitation/create", async () => {
      form.resolve(undefined);
      return await new Promise<never>(() => undefined);
    });
    const running = client.callTool(
      { name: "cashier", arguments: { task: "Pay." } },
      { signal: call.signal },
    );
    await form.promise;
    call.abort();
    await expect(running).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
    while (!(await logged(log, "The MCP client cancelled the call."))) await turn();
    expect(payments).toEqual([]);
    await client.close();
  });

  it("is canceled if the client cancels it before the next round has begun", async () => {
    const { agent, payments } = payingAgent(...pays());
    const stored = memoryLog();
    const [answered, opened] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let isAnswered = false;
    const log = passingLog(stored, async () => {
      if (isAnswered) answered.resolve(undefined);
      if (isAnswered) await opened.promise;
    });
    await using server = mcpServer([agent], { log });
    const client = await connect(server, asks);
    client.setRequestHandler("elicitation/create", () => {
      isAnswered = true;
      return approved;
    });
    const call = new AbortController();
    const running = client.callTool(
      { name: "cashier", arguments: { task: "Pay." } },
      { signal: call.signal },
    );
    await answered.promise;
    call.abort();
    await expect(running).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
    await turn();
    opened.resolve(undefined);
    while (!(await logged(stored, "The MCP client cancelled the call."))) await turn();
    expect(payments).toEqual([]);
    await client.close();
  });

  it("no longer watches the signals of calls whose clients failed to ask", async () => {
    const [call = answers("")] = pays();
    const { agent } = payingAgent(call, call, call);
    await using server = mcpServer([agent], { log: memoryLog() });
    using watched = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const client = await connect(server, asks);
    client.setRequestHandler("elicitation/create", () => {
      throw new Error("The form cannot be shown.");
    });
    const counts: number[] = [];
    for (let calls = 0; calls < 3; calls += 1) {
      const failed = await client.callTool({ name: "cashier", arguments: { task: "Pay." } });
      expect(textOf(failed)).toContain("This client did not ask a person");
      const signals = new Set(watched.mock.contexts as AbortSignal[]);
      counts.push([...signals].flatMap((signal) => getEventListeners(signal, "abort")).length);
    }
    expect(counts).toEqual([0, 0, 0]);
    await client.close();
  });

  it("waits in the log if the connection ends while a person is asked", async () => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    const first = mcpServer([agent], { log });
    const client = await connect(first, asks);
    const form = Promise.withResolvers<undefined>();
    client.setRequestHandler("elicitation/create", async () => {
      form.resolve(undefined);
      return await new Promise<never>(() => undefined);
    });
    const running = client.callTool({ name: "cashier", arguments: { task: "Pay." } });
    const ended = Promise.allSettled([running]);
    await form.promise;
    await client.close();
    expect(await ended).toMatchObject([{ status: "rejected" }]);
    await first.close();
    await using second = mcpServer([agent], { log });
    const other = await connect(second, asks);
    other.setRequestHandler("elicitation/create", () => approved);
    const [{ id: session } = { id: "" }] = await log.list();
    const done = await other.callTool({ name: "cashier", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "It is paid.", session });
    expect(payments).toEqual([5]);
    await other.close();
  });
});

describe.each([...connectionsOf("newer"), ...connectionsOf("older").slice(0, 1)])(
  "a question that the client is asked, over %s",
  (_, connect) => {
    it("is not reported as one that nothing shows", async () => {
      const reports: unknown[] = [];
      const id = "550e8400-e29b-41d4-a716-446655440000";
      const ask = askHuman({ name: "ask", answer: z.object({ id: z.uuid() }) });
      const llm = callsOnce([{ name: "ask", arguments: { question: "Which one?" } }], "Thank you.");
      const agent = defineAgent({ name: "asker", llm, tools: [ask] });
      const onError = (error: unknown): void => void reports.push(error);
      await using server = mcpServer([agent], { log: memoryLog(), onError });
      const client = await connect(server, asks);
      const given = ["mine", "yours", id].values();
      client.setRequestHandler("elicitation/create", async () => {
        // Questions that nothing shows are reported in the next turn of the timers.
        await new Promise((resolve) => void setTimeout(resolve));
        return { action: "accept", content: { id: given.next().value ?? "" } };
      });
      const done = await client.callTool({ name: "asker", arguments: { task: "Ask." } });
      expect(textOf(done)).toBe("Thank you.");
      expect(reports).toEqual([]);
      await client.close();
    });
  },
);
