import { mkdirSync } from "node:fs";
import { defineAgent, defineTool, openSession, type Agent, type DurableSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, callsTools, fails, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
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
