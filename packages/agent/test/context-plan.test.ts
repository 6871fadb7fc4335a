import { contextAt } from "@moora/agent-core-state-machine";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { memoryLog } from "@moora/event-log";
import { goldenText } from "@moora/testbed/corpus/files";
import { Counter } from "@moora/testbed/durable/counter";
import { countingAgent } from "@moora/testbed/durable/counting-agent";
import { Life } from "@moora/testbed/durable/mortal-log";
import {
  defineAgent,
  defineTool,
  importSession,
  openSession,
  startSession,
  stateAt,
  verifySession,
  type AgentConfigChange,
} from "../src/index.ts";

const rowLength = 2_000;
const row = (n: number): string => `row ${n}: `.padEnd(rowLength, `${n} `);

const read = defineTool({
  name: "read",
  description: "Reads a row.",
  input: z.object({ n: z.number() }),
  replay: "safe",
  execute: ({ n }) => row(n),
});

/** What a provider would count: a quarter of the characters. */
const counted = (request: LlmRequest): number =>
  Math.ceil(JSON.stringify([request.system, request.messages, request.tools]).length / 4);

interface Script {
  readonly config: AgentConfigChange;
  /** What the model does in the plan with this number, from 1 on. */
  readonly plans: (plan: number, request: LlmRequest) => ReturnType<typeof answers>;
  /** The tokens that the provider counts beside those of the request. Default: 0. */
  readonly hidden?: number;
  readonly counts?: boolean;
}

function conversation({ config, plans, hidden = 0, counts = true }: Script) {
  const requests: LlmRequest[] = [];
  const sizes: number[] = [];
  const llm = new MockLlmCaller((request) => {
    requests.push(request);
    const inputTokens = counted(request) + hidden;
    if (request.purpose === "plan") sizes.push(inputTokens);
    const planned = requests.filter(({ purpose }) => purpose === "plan").length;
    const said = request.purpose === "reflect" ? answers("Some rows were read.") : plans(planned, request);
    return counts && said.ok ? { ...said, usage: { ...said.usage, inputTokens } } : said;
  });
  const session = startSession(defineAgent({ llm, tools: [read], config }));
  const summaries = (): number => requests.filter(({ purpose }) => purpose === "reflect").length;
  const planned = (): readonly LlmRequest[] => requests.filter(({ purpose }) => purpose === "plan");
  return { session, sizes, summaries, planned };
}

const resultsIn = (messages: readonly LlmMessage[]): readonly string[] =>
  messages.flatMap((message) =>
    message.role === "assistant" ? message.results.map(({ content }) => content) : [],
  );

const reads = (steps: number) => (plan: number) =>
  plan <= steps ? callsTools([{ name: "read", arguments: { n: plan } }]) : answers("Done.");

describe("a loop of many steps", () => {
  const limits = { maxSteps: 500 };

  it.each([
    ["and counts", true],
    ["and a provider that counts nothing", false],
  ])(
    "stays below its limit, and shows the newest results as the tool gave them: summaries %s",
    async (_, counts) => {
      const steps = 300;
      const config = { limits, context: { maxInputTokens: 12_000, keepNewest: 3 } };
      const { session, sizes, summaries, planned } = conversation({ config, plans: reads(steps), counts });
      await session.ask("Read all rows.");
      expect(sizes).toHaveLength(steps + 1);
      expect(Math.max(...sizes)).toBeLessThan(12_000 * 1.1);
      planned().forEach(({ messages }, step) => {
        const shown = resultsIn(messages).slice(-3);
        expect(shown).toEqual([step - 2, step - 1, step].filter((n) => n > 0).map(row));
      });
      // Each summary or shortening saves a quarter of the limit, which is six results.
      expect(summaries()).toBeLessThanOrEqual(steps / 6);
      await session.close();
    },
  );

  it("summarizes rows where results are not to be left out first", async () => {
    const config = {
      limits,
      context: { maxInputTokens: 12_000, keepNewest: 3, clearToolResultsAbove: 1_000_000 },
    };
    const { session, sizes, summaries } = conversation({ config, plans: reads(100) });
    await session.ask("Read all rows.");
    expect(Math.max(...sizes)).toBeLessThan(12_000 * 1.1);
    expect(summaries()).toBeGreaterThan(3);
    expect(summaries()).toBeLessThanOrEqual(100 / 6);
    await session.close();
  });

  it("leaves old results out before it asks for a summary, and the model loads one again", async () => {
    const config = { context: { maxInputTokens: 6_000, keepNewest: 2 } };
    const { session, summaries, planned } = conversation({
      config,
      plans: (plan) =>
        plan === 13
          ? callsTools([{ name: "load_tool_results", arguments: { ids: ["call_1"] } }])
          : reads(12)(plan),
    });
    const { state } = await session.ask("Read all rows.");
    expect(summaries()).toBe(0);
    const [before, after] = planned()
      .slice(-2)
      .map(({ messages }) => resultsIn(messages));
    expect(before?.[0]).toContain("load_tool_results brings it back by its id, call_1.");
    expect(after).toContain(row(1));
    expect(contextAt(state).clearedResults).toContain("call_1");
    await session.close();
  });

  it("does not summarize again and again what is not the cause: instructions and tools above the limit", async () => {
    const config = { limits, context: { maxInputTokens: 12_000 } };
    const { session, summaries } = conversation({ config, plans: reads(20), hidden: 13_000 });
    await session.ask("Read all rows.");
    // The rows of six steps are a quarter of the limit.
    expect(summaries()).toBeLessThanOrEqual(20 / 5);
    await session.close();
  });
});

describe("a chat of many messages", () => {
  const config = { context: { maxInputTokens: 6_000 }, window: { initialSize: 1_000, expandBy: 50 } };

  it("stays below its limit where the model says much: its turns are summarized before the next message", async () => {
    const { session, sizes, summaries } = conversation({ config, plans: (plan) => answers(row(plan)) });
    for (let n = 1; n <= 60; n += 1) await session.ask(`Question ${n}?`);
    expect(Math.max(...sizes)).toBeLessThan(6_000 * 1.1);
    expect(summaries()).toBeGreaterThan(3);
    expect(summaries()).toBeLessThanOrEqual(20);
    await session.close();
  });

  it("stays below its limit where the user says much: the window is halved", async () => {
    const { session, sizes, summaries } = conversation({ config, plans: () => answers("I see.") });
    for (let n = 1; n <= 60; n += 1) await session.ask(row(n));
    expect(Math.max(...sizes)).toBeLessThan(6_000 * 1.1);
    expect(summaries()).toBe(0);
    await session.close();
  });
});

describe("a request that the provider refuses as too long", () => {
  /** A provider that takes so many tokens. */
  const takes =
    (tokens: number, plans: Script["plans"]): Script["plans"] =>
    (plan, request) =>
      counted(request) > tokens ? fails("context-length") : plans(plan, request);
  const config = { context: { maxInputTokens: 100_000 } };

  it("is sent without its old results", async () => {
    const { session, summaries } = conversation({ config, plans: takes(6_000, (plan) => reads(12)(plan)) });
    expect((await session.ask("Read.")).text).toBe("Done.");
    expect(summaries()).toBe(0);
    await session.close();
  });

  it("is sent without the newest result, which the model reads it can load, if that alone is too long", async () => {
    const { session, planned } = conversation({
      config,
      plans: takes(900, (_, { messages }) =>
        resultsIn(messages).length === 0
          ? callsTools([
              { name: "read", arguments: { n: 1 } },
              { name: "read", arguments: { n: 2 } },
            ])
          : answers("Too long for me."),
      ),
    });
    expect((await session.ask("Read.")).text).toBe("Too long for me.");
    expect(resultsIn(planned().at(-1)?.messages ?? [])).toEqual([
      expect.stringContaining("is left out"),
      expect.stringContaining("is left out"),
    ]);
    await session.close();
  });

  it("fails with the sizes of its parts if nothing can be left out, and the conversation continues", async () => {
    const { session } = conversation({ config, plans: takes(900, () => answers("Hi.")) });
    await expect(Promise.resolve(session.ask("x".repeat(8_000)))).rejects.toThrow(/messages 2000, turns 0/);
    expect((await session.ask("Short.")).text).toBe("Hi.");
    await session.close();
  });
});

describe("a failure that can have many causes", () => {
  const chat = (breaks: (text: string) => boolean) =>
    conversation({
      config: {},
      plans: (_, { messages }) => {
        const text = JSON.stringify(messages);
        return breaks(text) ? fails("server", { retryable: false }) : answers(`Read ${messages.length}.`);
      },
    });

  it("does not stop a conversation for more than a loop if an older message causes it", async () => {
    const { session } = chat((text) => text.includes("poison"));
    expect((await session.ask("Hello.")).text).toBe("Read 1.");
    await expect(Promise.resolve(session.ask("poison"))).rejects.toThrow("Scripted failure");
    expect((await session.ask("Are you there?")).text).toBe("Read 1.");
    // Asked once more with everything, and then no longer.
    expect((await session.ask("And now?")).text).toBe("Read 1.");
    expect((await session.ask("And then?")).text).toBe("Read 3.");
    await session.close();
  });

  it("costs nothing of the conversation if the provider recovers at that moment", async () => {
    let failures = 0;
    const { session } = chat(() => (failures -= 1) >= 0);
    await session.ask("Hello.");
    failures = 1;
    await expect(Promise.resolve(session.ask("One."))).rejects.toThrow("Scripted failure");
    failures = 1;
    expect((await session.ask("Two.")).text).toBe("Read 1.");
    expect((await session.ask("Three.")).text).toBe("Read 6.");
    await session.close();
  });

  it("costs nothing of the conversation if the provider is down", async () => {
    let isDown = false;
    const { session, planned } = chat(() => isDown);
    await session.ask("Hello.");
    isDown = true;
    for (const text of ["One.", "Two.", "Three."])
      await expect(Promise.resolve(session.ask(text))).rejects.toThrow("Scripted failure");
    // The first failure is as it was; each later one has a second request.
    expect(planned()).toHaveLength(1 + 1 + 2 + 2);
    isDown = false;
    expect((await session.ask("Four.")).text).toBe("Read 6.");
    await session.close();
  });
});

describe("the plan of a context", () => {
  it("says what the next request has, what it leaves out and why", async () => {
    const { session } = conversation({
      config: { context: { maxInputTokens: 6_000, keepNewest: 2, clearToolResultsAbove: 1_000_000 } },
      plans: reads(12),
    });
    const { state } = await session.ask("Read all rows.");
    const { tokens, maxInputTokens, sizes, leftOut, clearedResults } = contextAt(state);
    expect(maxInputTokens).toBe(6_000);
    expect(tokens).toBeLessThan(6_000);
    expect(sizes).toMatchObject({ instructions: 0, messages: 4 });
    expect(leftOut).toMatchObject({ window: 0, handoff: 0, withheld: 0 });
    expect(leftOut.summary).toBeGreaterThan(0);
    expect(clearedResults).toEqual([]);
    await session.close();
  });
});

describe("a session of a release without a plan", () => {
  it("is folded as it was, and planned from its next opening on", async () => {
    const log = memoryLog();
    const { id } = await importSession(log, goldenText("a-summary-every-two-steps", 2));
    expect((await stateAt(log, id)).state.config.context).toBeUndefined();
    using counter = new Counter();
    const world = { counter, life: new Life(), deeds: new Set<string>() };
    const session = await openSession(countingAgent(world, new MockLlmCaller([answers("Done.")])), {
      log,
      id,
    });
    expect((await session.ask("Continue.")).text).toBe("Done.");
    expect(session.current().config.context).toEqual({ keepNewest: 3, summarize: true });
    expect(contextAt(session.current()).leftOut.summary).toBeGreaterThan(0);
    await session.close();
    expect(await verifySession(log, id)).toMatchObject({ ok: true });
  });
});
