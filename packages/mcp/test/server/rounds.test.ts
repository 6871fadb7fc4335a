import { askHuman, defineAgent, defineTool, toolAsks } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { payingAgent, pays } from "../support/agents.ts";
import { connections, type Connect } from "../support/clients.ts";

const asks = { capabilities: { elicitation: { form: {} } } };

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

const sessionIn = (text: string): string => /mcp-[\w-]+/.exec(text)?.[0] ?? "";

/** The ways on which a server can ask. */
const asking = Object.entries(connections).filter(([name]) => name !== "HTTP, older protocol");

describe.each(asking)("the rounds of a call, over %s", (_, connect) => {
  it("are ten at most: the error names the session, with which another call continues", async () => {
    const id = "550e8400-e29b-41d4-a716-446655440000";
    const agent = defineAgent({
      name: "asker",
      llm: new MockLlmCaller([
        callsTools([{ name: "ask", arguments: { question: "Which one?" } }]),
        answers("Thank you."),
      ]),
      tools: [askHuman({ name: "ask", answer: z.object({ id: z.uuid() }) })],
    });
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    const given: string[] = [];
    client.setRequestHandler("elicitation/create", () => {
      given.push(given.length < 10 ? "mine" : id);
      return { action: "accept", content: { id: given.at(-1) ?? "" } };
    });
    const failed = await client.callTool({ name: "asker", arguments: { task: "Ask." } });
    expect(failed.isError).toBe(true);
    expect(given).toHaveLength(10);
    expect(textOf(failed)).toContain("A call has at most 10 rounds of questions, and this one has had them.");
    const session = sessionIn(textOf(failed));
    const done = await client.callTool({ name: "asker", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "Thank you.", session });
    await client.close();
  });

  it("report what a tool that runs again has reported before only once, with numbers that rise", async () => {
    const order = defineTool({
      name: "order",
      description: "Orders.",
      input: z.object({ item: z.string() }),
      execute({ item }, { asked: last, progress }) {
        progress("looking");
        progress("looking");
        if (last?.reply.type !== "answered") return toolAsks({ question: "How many?" });
        progress("ordering");
        return item;
      },
    });
    const agent = defineAgent({
      name: "shop",
      llm: new MockLlmCaller([
        callsTools([{ name: "order", arguments: { item: "shoes" } }]),
        callsTools([{ name: "order", arguments: { item: "socks" } }]),
        answers("Ordered."),
      ]),
      tools: [order],
    });
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { answer: "2" } }));
    const reported: { readonly progress: number; readonly message: string }[] = [];
    const result = await client.callTool(
      { name: "shop", arguments: { task: "Order." } },
      {
        onprogress: ({ message = "", progress }) => {
          // The client reports its own rounds as well.
          if (!message.startsWith("Fulfilling")) reported.push({ progress, message });
        },
      },
    );
    expect(textOf(result)).toBe("Ordered.");
    const once = ["Calls order.", "looking", "looking", "ordering"];
    expect(reported.map(({ message }) => message)).toEqual([...once, ...once]);
    expect(reported.map(({ progress }) => progress)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await client.close();
  });
});

describe("a question that a client fails to ask, over streams, older protocol", () => {
  const connect = connections["streams, older protocol"] as Connect;

  it("waits in the session that the error names", async () => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    client.setRequestHandler("elicitation/create", () => {
      throw new Error("The form cannot be shown.");
    });
    const failed = await client.callTool({ name: "cashier", arguments: { task: "Pay." } });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain("This client did not ask a person");
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { approve: true } }));
    const session = sessionIn(textOf(failed));
    const done = await client.callTool({ name: "cashier", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "It is paid.", session });
    expect(payments).toEqual([5]);
    await client.close();
  });

  it.each<[string, number, number[][]]>([
    ["first", 5, [[7], [7, 5]]],
    ["last", 7, [[5], [5, 7]]],
  ])("leaves the answers to the others as they are: %s of two", async (_, failing, paid) => {
    const { agent, payments } = payingAgent(
      callsTools([
        { name: "pay", arguments: { euros: 5 } },
        { name: "pay", arguments: { euros: 7 } },
      ]),
      answers("It is paid."),
    );
    await using server = mcpServer([agent], { log: memoryLog() });
    const client = await connect(server, asks);
    const approved = { action: "accept", content: { approve: true } } as const;
    const answered = Promise.withResolvers<undefined>();
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params: { message } }) => {
      asked.push(message);
      if (!message.includes(`${failing}`)) {
        answered.resolve(undefined);
        return approved;
      }
      await answered.promise;
      // The answer to the other question has been sent.
      await new Promise((resolve) => void setImmediate(resolve));
      throw new Error("The form cannot be shown.");
    });
    const failed = await client.callTool({ name: "cashier", arguments: { task: "Pay." } });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain("This client did not ask a person");
    expect(textOf(failed)).toContain(`{"euros":${failing}}`);
    expect(textOf(failed).match(/euros/g)).toHaveLength(1);
    expect(payments).toEqual(paid[0]);
    expect(asked).toHaveLength(2);
    client.setRequestHandler("elicitation/create", ({ params: { message } }) => {
      asked.push(message);
      return approved;
    });
    const session = sessionIn(textOf(failed));
    const done = await client.callTool({ name: "cashier", arguments: { session } });
    expect(done.structuredContent).toEqual({ answer: "It is paid.", session });
    expect(asked).toHaveLength(3);
    expect(payments).toEqual(paid[1]);
    await client.close();
  });
});

describe.each(asking.filter(([name]) => name.endsWith("newer protocol")))(
  "a question that a client fails to ask, over %s",
  (_, connect) => {
    it("waits in its session, which is a resource: another call asks again", async () => {
      const { agent, payments } = payingAgent(...pays());
      await using server = mcpServer([agent], { log: memoryLog() });
      const client = await connect(server, asks);
      client.setRequestHandler("elicitation/create", () => {
        throw new Error("The form cannot be shown.");
      });
      const call = client.callTool({ name: "cashier", arguments: { task: "Pay." } });
      await expect(call).rejects.toThrow("The form cannot be shown.");
      client.setRequestHandler("elicitation/create", () => ({
        action: "accept",
        content: { approve: true },
      }));
      const { contents } = await client.readResource({ uri: "moora://sessions" });
      const session = sessionIn((contents[0] as { text: string }).text);
      const done = await client.callTool({ name: "cashier", arguments: { session } });
      expect(done.structuredContent).toEqual({ answer: "It is paid.", session });
      expect(payments).toEqual([5]);
      await client.close();
    });
  },
);
