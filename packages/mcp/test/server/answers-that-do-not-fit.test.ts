import { askHuman, defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { payingAgent, pays } from "../support/agents.ts";
import { connections, type Connect } from "../support/clients.ts";

type Content = Readonly<Record<string, string | number | boolean>>;

interface Asked {
  readonly messages: readonly string[];
  readonly text: string;
}

/** Calls an agent; the client answers each form with the next of these contents. */
async function ask(
  connect: Connect,
  { agent, log, session }: { readonly agent: Agent; readonly log: EventLog; readonly session?: string },
  ...contents: readonly Content[]
): Promise<Asked> {
  await using server = mcpServer([agent], { log });
  const client = await connect(server, { capabilities: { elicitation: { form: {} } } });
  const messages: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const content = contents[messages.length];
    messages.push(params.message);
    return content === undefined ? { action: "cancel" } : { action: "accept", content: { ...content } };
  });
  const { content } = await client.callTool({
    name: agent.name,
    arguments: session === undefined ? { task: "Pay 5 euros." } : { session },
  });
  await client.close();
  return { messages, text: content.map((block) => (block as { text: string }).text).join() };
}

async function bodiesOf(log: EventLog): Promise<string> {
  const [{ id } = { id: "" }] = await log.list();
  return ((await (await log.open(id))?.read()) ?? []).map(({ body }) => body).join("\n");
}

const yes: Content = { approve: true };

const asking = Object.entries(connections).filter(([name]) => name !== "HTTP, older protocol");

describe.each(asking)("an answer that does not fit its form, over %s", (_, connect) => {
  it.each<[string, Content]>([
    ["without a field", {}],
    ["with a text", { approve: "yes" }],
    ["with the text of a boolean", { approve: "true" }],
    ["with another field", { Approve: true }],
    ["with a number as the reason", { approve: false, reason: 7 }],
  ])("neither approves nor rejects a call, and is asked again: %s", async (__, content) => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    const { messages, text } = await ask(connect, { agent, log }, content, yes);
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatch(/\n\nThe last answer was refused: .+/);
    expect(text).toBe("It is paid.");
    expect(payments).toEqual([5]);
    expect(await bodiesOf(log)).not.toContain("rejected");
  });

  it("is not the answer of a person", async () => {
    const llm = new MockLlmCaller([
      callsTools([{ name: "ask_human", arguments: { question: "Which color?" } }]),
      answers("Thank you."),
    ]);
    const agent = defineAgent({ name: "asker", llm, tools: [askHuman()] });
    const log = memoryLog();
    const { messages, text } = await ask(connect, { agent, log }, {}, { answer: 7 }, { answer: "blue" });
    expect(messages).toHaveLength(3);
    expect(text).toBe("Thank you.");
    expect(await bodiesOf(log)).toContain("blue");
  });

  it("does not fit a text of a schema if it is missing", async () => {
    const llm = new MockLlmCaller([
      callsTools([{ name: "ask", arguments: { question: "Which color?" } }]),
      answers("Thank you."),
    ]);
    const tools = [askHuman({ name: "ask", answer: z.string() })];
    const agent = defineAgent({ name: "asker", llm, tools });
    const { messages } = await ask(connect, { agent, log: memoryLog() }, {}, { answer: "" });
    expect(messages).toHaveLength(2);
  });

  it("is not the outcome of a call", async () => {
    const log = memoryLog();
    const begun = Promise.withResolvers<undefined>();
    const send = defineTool({
      name: "send",
      description: "Sends.",
      onUnknown: "ask",
      input: z.object({}),
      async execute() {
        begun.resolve(undefined);
        return await new Promise<never>(() => undefined);
      },
    });
    const llm = new MockLlmCaller([callsTools([{ name: "send", arguments: {} }]), answers("It is sent.")]);
    const agent = defineAgent({ name: "sender", llm, tools: [send] });
    const session = "mcp-interrupted";
    const interrupted = await openSession(agent, { log, id: session });
    await interrupted.send("Send it.");
    await begun.promise;
    await interrupted.close();
    const contents = [{ outcome: "done" }, { outcome: "worked", detail: "sent" }];
    const { messages, text } = await ask(connect, { agent, log, session }, ...contents);
    expect(messages).toHaveLength(2);
    expect(messages[1]).toContain("The last answer was refused: ");
    expect(text).toBe("It is sent.");
    expect(await bodiesOf(log)).not.toContain('"outcome":"unknown"');
  });
});
