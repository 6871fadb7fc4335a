import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineData, defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { TestBrowser } from "@moora/testbed/browser";
import { Page as Documentation } from "@moora/testbed/page";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createAgentServer } from "../src/index.ts";
import { serve, type ServedAgents } from "../src/node.ts";
import type { ThreadView } from "./ag-ui-page.ts";

const list = defineData({ schema: z.object({ sums: z.array(z.number()) }), initial: { sums: [] } });

const add = defineTool({
  name: "add",
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  data: list,
  execute: ({ a, b }, { update }) => {
    update((draft) => void draft.sums.push(a + b));
    return { sum: a + b };
  },
});

const count = defineTool({
  name: "count",
  description: "Counts the sums.",
  input: z.object({}),
  data: list,
  execute: (_, { data, update }) => {
    update((draft) => void draft.sums.push(data.sums.length));
    return { before: data.sums.length };
  },
});

const paid: unknown[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: z.object({ cents: z.number() }),
  approval: "always",
  execute: ({ cents }) => (paid.push(cents), `paid ${cents}`),
});

const llm = () =>
  new MockLlmCaller(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "assistant") return answers("That is done.");
    const text = JSON.stringify(last);
    if (text.includes("Sing")) return hangs("Once upon a time");
    if (text.includes("Break")) return fails("auth", { message: "The key is wrong." });
    if (text.includes("Add")) {
      const calls = [2, 3].map((a) => ({ name: "add", arguments: { a, b: a } }));
      return callsTools(calls, { reasoning: "I add.", text: "Let me see." });
    }
    if (text.includes("Count")) return callsTools([{ name: "count", arguments: {} }]);
    return text.includes("Pay")
      ? callsTools([1, 2].map((cents) => ({ name: "pay", arguments: { cents } })))
      : answers("Hello.");
  });

let browser: TestBrowser;
let served: ServedAgents;
let page: Page;

beforeAll(async () => {
  const folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  try {
    writeFileSync(join(folder, "ag-ui.ts"), new Documentation("docs/ag-ui.md").block("ts file=ag-ui.ts"));
    const entry = `import * as thread from "./ag-ui.ts"; import { pageWith } from "../ag-ui-page.ts"; pageWith(thread);`;
    writeFileSync(join(folder, "entry.ts"), entry);
    browser = await TestBrowser.start({ scripts: { page: join(folder, "entry.ts") } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

beforeEach(async () => {
  paid.length = 0;
  const agents = [defineAgent({ name: "helper", llm: llm(), tools: [add, count, pay], data: list })];
  const allowedOrigins = [new URL(browser.url).origin];
  served = await serve(createAgentServer({ agents, log: memoryLog(), allowedOrigins }), { port: 0 });
  page = await browser.open();
  await open();
});

afterEach(async () => {
  await page.close();
  await served.close();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
});

/** Makes a client for the thread of the test, as a page that was loaded again does. */
const open = (): Promise<void> => page.evaluate((url) => openThread(url, "thread-1"), served.url);

/** Sends a message, whose id is its text. Resolves at the end of the run. */
const say = (text: string): Promise<void> => page.evaluate((content) => thread.say(content, content), text);

/** Begins a run that does not end by itself. */
const begin = (text: string): Promise<void> =>
  page.evaluate((content) => {
    void thread.say(content, content);
  }, text);

const cancel = (): Promise<void> => page.evaluate(() => thread.cancel());

const view = (): Promise<ThreadView> => page.evaluate(() => thread.view());

const lastText = async (): Promise<string> => (await view()).messages.at(-1)?.content ?? "";

interface Interrupt {
  readonly id: string;
  readonly reason: string;
}

interface Outcome {
  readonly type: string;
  readonly interrupts?: readonly Interrupt[];
}

/** How the newest run ended. */
async function outcome(): Promise<Outcome> {
  // The last event of a run has it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { outcome: found } = (await view()).events.at(-1) as unknown as { readonly outcome: Outcome };
  return found;
}

/** Answers interrupts. */
const resume = (given: readonly Interrupt[], approved = true): Promise<void> =>
  page.evaluate(
    ([ids, isApproved]) =>
      thread.run({
        resume: ids.map((interruptId) => ({
          interruptId,
          status: "resolved",
          payload: { approved: isApproved },
        })),
      }),
    [given.map(({ id }) => id), approved] as const,
  );

describe("a page with the client of AG-UI", () => {
  it("shows text, reasoning, and parallel tools with the pieces of their arguments", async () => {
    await say("Add");
    const { events, messages, failures } = await view();
    expect(failures).toEqual([]);
    const types = events.map(({ type }): string => type);
    expect(types).toEqual(expect.arrayContaining(["RUN_STARTED", "REASONING_START", "RUN_FINISHED"]));
    const given = events as unknown as readonly { type: string; toolCallId: string; delta: string }[];
    const starts = given.filter(({ type }) => type === "TOOL_CALL_START");
    const written = starts.map(({ toolCallId }) =>
      given.filter((event) => event.type === "TOOL_CALL_ARGS" && event.toolCallId === toolCallId),
    );
    for (const deltas of written) expect(deltas.length).toBeGreaterThan(1);
    expect(written.map((deltas) => deltas.map(({ delta }) => delta).join(""))).toEqual([
      '{"a":2,"b":2}',
      '{"a":3,"b":3}',
    ]);
    const contents = messages.map(({ role, content }) => `${role}: ${content}`);
    expect(contents).toEqual(
      expect.arrayContaining(["user: Add", "assistant: Let me see.", 'tool: {"sum":4}', 'tool: {"sum":6}']),
    );
    expect(contents.at(-1)).toBe("assistant: That is done.");
  });

  it("answers interrupts later, after the page was loaded again, and one by one", async () => {
    await say("Pay");
    const { interrupts: asked = [] } = await outcome();
    expect(asked.map(({ reason }) => reason)).toEqual(["approval", "approval"]);
    await page.reload();
    await open();
    await resume(asked.slice(0, 1));
    const { interrupts: left = [] } = await outcome();
    expect(left.map(({ id }) => id)).toEqual([asked[1]?.id]);
    await page.reload();
    await open();
    await resume(left, false);
    expect(await outcome()).toEqual({ type: "success" });
    expect(paid).toEqual([1]);
    const { failures } = await view();
    expect(failures).toEqual([]);
    expect(await lastText()).toBe("That is done.");
  });

  it("cancels its run, which ends with its text", async () => {
    await begin("Sing");
    await expect.poll(lastText).toBe("Once upon a time");
    await cancel();
    await expect.poll(async () => (await view()).isRunning).toBe(false);
    expect(await outcome()).toEqual({ type: "cancelled" });
    expect(await lastText()).toBe("Once upon a time");
    expect((await view()).failures).toEqual([]);
  });

  it("gets the whole run again after its connection was lost, and the message counts once", async () => {
    await begin("Sing");
    await expect.poll(lastText).toBe("Once upon a time");
    await page.evaluate(() => thread.abort());
    await expect.poll(async () => (await view()).isRunning).toBe(false);
    await open();
    await begin("Sing");
    await expect.poll(lastText).toBe("Once upon a time");
    await cancel();
    await expect.poll(async () => (await view()).isRunning).toBe(false);
    expect(await outcome()).toEqual({ type: "cancelled" });
    const { messages } = await view();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });
});
