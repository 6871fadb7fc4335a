import { mkdirSync } from "node:fs";
import {
  defineAgent,
  defineTool,
  openSession,
  type Agent,
  type DurableSession,
  type Tool,
} from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import {
  answers,
  callsTools,
  fails,
  hangs,
  MockLlmCaller,
  type MockScript,
  type MockStep,
} from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  mkdirSync(place.at(".moora"), { mode: 0o700 });
});
afterEach(() => place[Symbol.dispose]());

async function cli(...args: readonly string[]): Promise<string> {
  const host = new TestHost({ cwd: place.path });
  expect(await host.run(args), host.stderr.text).toBe(0);
  return host.stdout.text;
}

interface Release {
  readonly version: string;
  readonly maxSteps?: number;
  readonly reason?: boolean;
}

/** An agent of a module of the user, in one of its releases. */
function supportAgent(script: MockScript, { version, maxSteps = 50, reason = false }: Release): Agent {
  const refund = defineTool({
    name: "refund",
    description: "Refunds.",
    approval: "always",
    input: z.object({ euros: z.number(), ...(reason && { reason: z.string() }) }),
    execute: () => "refunded",
  });
  const llm = new MockLlmCaller(script);
  return defineAgent({ name: "support", version, llm, tools: [refund], config: { limits: { maxSteps } } });
}

/** Opens the session `ada` for the time of `work`. */
async function withSession(agent: Agent, work: (session: DurableSession) => Promise<unknown>): Promise<void> {
  await using log = sqliteLog(place.at(".moora", "sessions.db"));
  const session = await openSession(agent, { log, id: "ada", owner: "process one" });
  try {
    await work(session);
  } finally {
    await session.close();
  }
}

const refunds: MockScript = [
  callsTools([{ name: "refund", arguments: { euros: 80 } }]),
  answers("It is refunded."),
];

const untilAsked = async (session: DurableSession): Promise<void> => {
  session.onEvent(() => undefined);
  await session.send("Refund 80 euros.");
  await untilPasses(() => expect(session.questions()).toHaveLength(1));
};

describe("moora show", () => {
  it("names the process that runs the session now, and none after it has closed the session", async () => {
    await withSession(supportAgent(refunds, { version: "1" }), async (session) => {
      await untilAsked(session);
      expect(await cli("show", "ada")).toMatch(/^owner {5}process one$/m);
    });
    const closed = await cli("show", "ada");
    expect(closed).toMatch(/^owner {5}none; last opened by process one$/m);
    expect(closed).not.toContain("waits for a process");
  });

  it("has one line for each model whose provider has refused the content of a request", async () => {
    const refused = fails("invalid-request", { refusedBy: "mock" });
    const script: MockScript = [refused, answers("Hello.")];
    const file = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
    await withSession(supportAgent(script, { version: "1" }), async (session) => {
      await session.ask({ content: "What is this?", attachments: [file] });
      expect(await cli("show", "ada")).toMatch(
        /^refused {3}the model of the agent: mock refused the request with them: left out are files that it has refused\.$/m,
      );
    });
  });

  it("says of an approved call that no process runs it, and what to run", async () => {
    await withSession(supportAgent(refunds, { version: "1" }), untilAsked);
    await cli("approve", "ada", "call_1", "--as", "bob");
    const shown = await cli("show", "ada");
    expect(shown).toContain(
      'next      waits for a process: moora run --session ada --agent FILE, with the module of the agent "support"\n',
    );
    expect(shown).toContain('call_1 refund {"euros":80}: approved by bob, waits for a process, attempt 1');
  });

  it("says of a call that has ended who decided it, and how it ended", async () => {
    await withSession(supportAgent(refunds, { version: "1" }), async (session) => {
      await untilAsked(session);
      const [question] = session.questions();
      if (question !== undefined) await session.decide(question, { approve: { euros: 8 } }, "bob");
      await session.settled();
    });
    expect(await cli("show", "ada")).toContain(
      '\ndecided calls\n  call_1 refund {"euros":8}: modified by bob, ended with: refunded\n',
    );
  });

  it("shows a canceled session as canceled, as sessions and log do", async () => {
    await withSession(supportAgent([hangs("I ")], { version: "1" }), async (session) => {
      await session.send("Refund 80 euros.");
      await untilPasses(() => expect(session.current().streaming?.text).toBe("I "));
      await session.cancel("wrong order");
    });
    expect(await cli("show", "ada")).toMatch(/^state {5}Canceled, .*\nreason {4}wrong order$/m);
    expect(await cli("sessions")).toMatch(/^ada +\d+ +Canceled /);
    const rows = (await cli("log", "ada")).split("\n");
    expect(rows.filter((row) => /Error/.test(row))).toEqual([]);
    expect(rows.filter((row) => /Z {2}Canceled +canceled: wrong order/.test(row))).toHaveLength(1);
  });
});

describe("moora show --context", () => {
  const read = defineTool({
    name: "read",
    description: "Reads a row.",
    replay: "safe",
    input: z.object({ n: z.number() }),
    execute: ({ n }) => `row ${n} `.repeat(300),
  });

  /** Reads so many rows. A quarter of the characters of a request are its tokens, of which a half is from the cache. */
  function reader(rows: number, end: MockStep): Agent {
    const llm = new MockLlmCaller(({ messages }, call) => {
      const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
      const usage = { inputTokens, cachedInputTokens: Math.floor(inputTokens / 2) };
      return call < rows ? callsTools([{ name: "read", arguments: { n: call + 1 } }], { usage }) : end;
    });
    const context = { maxInputTokens: 6_000, keepNewest: 1, summarize: false };
    return defineAgent({ llm, tools: [read], config: { context } });
  }

  it("shows the tokens of the next request, what it leaves out and why, and where the last one misses the cache", async () => {
    await withSession(reader(12, hangs("I ")), async (session) => {
      await session.send("Read all rows.");
      await untilPasses(() => expect(session.current().streaming?.text).toBe("I "));
    });
    expect(await cli("show", "ada", "--context")).toMatch(
      new RegExp(
        [
          "ada at record \\d+",
          "",
          "next request",
          "  1,\\d+ tokens, limit 6,000",
          "",
          "estimated tokens of its parts",
          "  instructions +0",
          "  tools +\\d+",
          "  messages +4",
          "  turns +\\d+",
          "  results +\\d+",
          "  notes +0",
          "",
          "left out",
          "  results that the model can load again: 11 \\(call_1, .*, call_10, and 1 more\\)",
          "",
          "last request",
          "  It differs from the request before in its tools: load_older_messages, find_tool_calls, load_tool_results\\.",
          "$",
        ].join("\n"),
      ),
    );
    expect(JSON.parse(await cli("show", "ada", "--context", "--json"))).toMatchObject({
      id: "ada",
      context: { maxInputTokens: 6_000, sizes: { messages: 4 }, leftOut: { window: 0 } },
      cacheBreak: { part: "tools" },
    });
  });

  it("shows what the provider had of the last request in its cache, at any record", async () => {
    await withSession(
      reader(2, answers("Done.", { usage: { inputTokens: 1_200, cachedInputTokens: 1_000 } })),
      async (session) => await session.ask("Read all rows."),
    );
    const shown = await cli("show", "ada", "--context");
    expect(shown).toMatch(
      /\nlast request\n {2}It extends the request before\.\n {2}1,000 of its 1,200 input tokens were cached\.\n$/,
    );
    expect(shown).not.toContain("left out");
    expect(await cli("show", "ada", "--context", "--at", "0")).not.toContain("last request");
  });

  it("shows the tools that the model has found, and how many it can search", async () => {
    const llm = new MockLlmCaller([
      callsTools([{ name: "search_tools", arguments: { query: "row" } }]),
      answers("Found."),
    ]);
    const others = Array.from({ length: 50 }, (_, index): Tool =>
      defineTool({ name: `tool_${index}`, description: "None.", input: z.object({}), execute: () => "" }),
    );
    await withSession(defineAgent({ llm, tools: others.concat(read) }), async (session) => {
      await session.ask("Read a row.");
    });
    expect(await cli("show", "ada", "--context")).toContain(
      "left out\n  tools that the model can search: 50; found: 1 (read)\n",
    );
    expect(await cli("log", "ada")).toContain("tools found: read");
  });
});

describe("moora log", () => {
  it("shows the version of each opening, and what a release has changed", async () => {
    await withSession(supportAgent([], { version: "1" }), async () => undefined);
    await withSession(supportAgent([], { version: "2", maxSteps: 9, reason: true }), async () => undefined);
    const rows = await cli("log", "ada");
    expect(rows).toMatch(/opened by process one, version 1\n/);
    expect(rows).toMatch(/opened by process one, version 2\n/);
    expect(rows).toMatch(/configured: limits\.maxSteps changed, tool refund changed\n/);
  });
});
