import { LogError, memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { remoteLog } from "@moora/testbed/durable/remote-log";
import { turn, TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  defineTeam,
  openSession,
  readSession,
  stateAt,
  type Agent,
  type ErrorReport,
  type Tool,
} from "../../src/index.ts";
import { toolOf } from "@moora/testbed/tool-of";

/** A lead whose host has closed while the model of its sub-agent was asked, and how to continue it. */
async function leftByHost() {
  const log = memoryLog();
  const clock = new TestClock();
  const work = Promise.withResolvers<string>();
  const runs: AbortSignal[] = [];
  const look = toolOf(
    "look",
    async (_input, { signal }) => {
      runs.push(signal);
      return await work.promise;
    },
    { replay: "once" },
  );
  const subOf = (llm: MockLlmCaller): Agent<unknown> => defineAgent({ name: "sub", llm, tools: [look] });
  const leadOf = (sub: Agent<unknown>, logOfSub: EventLog = log): Agent<unknown> =>
    defineAgent({
      name: "lead",
      llm: new MockLlmCaller(({ messages }) =>
        messages.some(({ role }) => role === "assistant")
          ? answers("Done.")
          : callsTools([{ name: "research", arguments: { task: "Look." } }]),
      ),
      tools: [agentTool(sub, { name: "research", description: "Finds out.", log: logOfSub, clock })],
    });
  const sub = subOf(
    new MockLlmCaller(({ messages }) =>
      messages.some(({ role }) => role === "assistant") ? answers("Seen.") : callsTools([{ name: "look" }]),
    ),
  );
  const lead = leadOf(sub);
  const leadOfFirst = leadOf(subOf(new MockLlmCaller([hangs("Hm")])));
  // A host that is taken over reports it.
  const first = await openSession(leadOfFirst, { log, id: "lead", clock, onError: () => undefined });
  await first.send("Look.");
  await rest();
  const id = (await log.list()).find((session) => session.id !== "lead")?.id ?? "none";
  const ownerCount = async (): Promise<number> =>
    (await readSession(log, id)).inputs.filter(({ type }) => type === "session-opened").length;
  const typeOf = async (session: string): Promise<string> =>
    (await stateAt(log, session)).state.reActContext.control.type;
  const leadOn = (logOfSub: EventLog): Agent<unknown> => leadOf(sub, logOfSub);
  return { log, clock, work, runs, sub, lead, leadOn, id, first, ownerCount, typeOf };
}

/** Waits until nothing can continue without the clock. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 60; turns += 1) await turn();
}

describe("the session of a sub-agent that another owner runs", () => {
  it("is left to the owner, whose tool runs once, and its end is the result of the call", async () => {
    const { log, clock, work, runs, sub, lead, id, first, ownerCount, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const other = await openSession(sub, { log, id, clock, owner: "other" });
    await rest();
    expect(runs).toHaveLength(1);
    await using session = await openSession(lead, { log, id: "lead", clock });
    await clock.advanceAsync(90_000);
    expect(await ownerCount()).toBe(2);
    expect(runs[0]?.aborted).toBe(false);
    work.resolve("seen");
    await rest();
    expect(await typeOf(id)).toBe("Done");
    // The other owner keeps the session open.
    await clock.advanceAsync(2_000);
    await rest();
    expect(await ownerCount()).toBe(2);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: true,
      content: "Seen.",
    });
    expect(runs).toHaveLength(1);
    await other.close();
  });

  it("is continued when the other owner closes it before its end", async () => {
    const { log, clock, work, sub, lead, id, first, ownerCount, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const other = await openSession(sub, { log, id, clock, owner: "other" });
    await using session = await openSession(lead, { log, id: "lead", clock });
    await rest();
    await other.close();
    work.resolve("seen");
    for (let polls = 0; polls < 20; polls += 1) {
      await clock.advanceAsync(250);
      await rest();
    }
    expect(await ownerCount()).toBe(3);
    expect(await typeOf(id)).toBe("Done");
    expect(session.current().toolCalls["call_1"]?.result).toBeDefined();
  });

  it("is continued when the lease of an owner ends that no longer renews it", async () => {
    const { log, clock, work, runs, lead, id, first, ownerCount } = await leftByHost();
    await first.close();
    await rest();
    const handle = await log.open(id);
    await handle?.lease({ owner: "other##1", now: clock.now(), ttlMs: 30_000 });
    work.resolve("seen");
    await using session = await openSession(lead, { log, id: "lead", clock });
    await clock.advanceAsync(20_000);
    await rest();
    expect(await ownerCount()).toBe(1);
    for (let polls = 0; polls < 50; polls += 1) {
      await clock.advanceAsync(250);
      await rest();
    }
    expect(await ownerCount()).toBe(2);
    expect(runs).toHaveLength(1);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
  });

  it("is cancelled there when its caller is cancelled", async () => {
    const { log, clock, runs, sub, lead, id, first, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const other = await openSession(sub, { log, id, clock, owner: "other" });
    await rest();
    await using session = await openSession(lead, { log, id: "lead", clock });
    await rest();
    await session.cancel("Enough.");
    await clock.advanceAsync(2_000);
    await rest();
    expect(await typeOf(id)).toBe("Error");
    await other.refresh();
    await rest();
    expect(runs[0]?.aborted).toBe(true);
    await other.close();
  });
});

describe("the session of a sub-agent that is opened while its caller is paused", () => {
  it.each(["after", "before"] as const)(
    "starts nothing, and continues when the caller is resumed %s that",
    async (when) => {
      const { log, clock, work, leadOn, id, first, typeOf } = await leftByHost();
      await first.close();
      await rest();
      const opening = Promise.withResolvers<void>();
      let isHeld = true;
      let opens = 0;
      const slow: EventLog = {
        ...log,
        async open(session) {
          opens += 1;
          // The first one looks where the session of the call is.
          if (isHeld && opens > 1) await opening.promise;
          return await log.open(session);
        },
      };
      await using session = await openSession(leadOn(slow), { log, id: "lead", clock });
      await rest();
      await session.pause("Wait.");
      if (when === "before") await session.resume();
      isHeld = false;
      opening.resolve();
      await rest();
      if (when === "after") {
        const types = (await readSession(log, id)).inputs.map(({ type }) => type);
        expect(types.slice(types.lastIndexOf("session-opened"))).toEqual([
          "session-opened",
          "session-paused",
        ]);
        await session.resume();
        await rest();
      }
      expect(await typeOf(id)).toBe("Acting");
      work.resolve("seen");
      await rest();
      expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
    },
  );
});

describe("the session of a sub-agent whose caller is cancelled while no process runs it", () => {
  it("is cancelled when its caller is opened next, and does not run", async () => {
    const { log, clock, runs, lead, id, first, ownerCount, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const poster = await openSession(lead, { log, id: "lead", clock, access: "post" });
    await poster.cancel("Enough.");
    await poster.close();
    expect(await typeOf("lead")).toBe("Error");
    expect(await typeOf(id)).toBe("Planning");
    const session = await openSession(lead, { log, id: "lead", clock });
    await rest();
    expect(await typeOf(id)).toBe("Error");
    await session.close();
    expect(await ownerCount()).toBe(1);
    expect(runs).toHaveLength(0);
    const { length } = (await readSession(log, id)).inputs;
    await (await openSession(lead, { log, id: "lead", clock })).close();
    expect((await readSession(log, id)).inputs).toHaveLength(length);
  });

  it("is cancelled by the next opening if the first one could not write the cancel", async () => {
    const { log, clock, lead, leadOn, id, first, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const poster = await openSession(lead, { log, id: "lead", clock, access: "post" });
    await poster.cancel("Enough.");
    await poster.close();
    const errors: unknown[] = [];
    const gone: EventLog = {
      ...log,
      open() {
        throw new LogError("LogWrite", "The disk is gone.");
      },
    };
    const onError = ({ error }: ErrorReport): void => void errors.push(error);
    const session = await openSession(leadOn(gone), { log, id: "lead", clock, onError });
    await rest();
    expect(errors).toMatchObject([{ code: "LogWrite" }]);
    expect(await typeOf(id)).toBe("Planning");
    await session.close();
    await (await openSession(lead, { log, id: "lead", clock })).close();
    expect(await typeOf(id)).toBe("Error");
  });

  it("is not waited for by the opening of its caller, but by its close", async () => {
    const { log, clock, lead, leadOn, id, first, typeOf } = await leftByHost();
    await first.close();
    await rest();
    const poster = await openSession(lead, { log, id: "lead", clock, access: "post" });
    await poster.cancel("Enough.");
    await poster.close();
    const answer = Promise.withResolvers<undefined>();
    const slow: EventLog = { ...log, open: (session) => answer.promise.then(() => log.open(session)) };
    const session = await openSession(leadOn(slow), { log, id: "lead", clock });
    expect(await typeOf(id)).toBe("Planning");
    const closed = session.close();
    answer.resolve(undefined);
    await closed;
    expect(await typeOf(id)).toBe("Error");
  });

  it("is one of the 32 newest that one opening of its caller looks for", async () => {
    const log = memoryLog();
    const clock = new TestClock();
    const call = { name: "research", arguments: { task: "Look." } };
    const sub = defineAgent({ name: "sub", llm: new MockLlmCaller(() => hangs("Hm")) });
    const opened = new Set<string>();
    const logOfSub: EventLog = {
      ...log,
      open(session) {
        opened.add(session);
        return log.open(session);
      },
    };
    const llm = new MockLlmCaller([callsTools(Array.from({ length: 40 }, () => call))]);
    const tools = [agentTool(sub, { name: "research", description: "Finds out.", log: logOfSub, clock })];
    const lead = defineAgent({
      name: "lead",
      llm,
      tools,
      config: { toolCalls: { maxParallel: 40, maxPerTurn: 40 } },
    });
    const first = await openSession(lead, { log, id: "lead", clock });
    await first.send("Look.");
    await rest();
    expect(opened.size).toBe(40);
    await first.close();
    const poster = await openSession(lead, { log, id: "lead", clock, access: "post" });
    await poster.cancel("Enough.");
    await poster.close();
    opened.clear();
    await (await openSession(lead, { log, id: "lead", clock })).close();
    expect(opened.size).toBe(32);
  });

  it("is cancelled though another agent of the team has the conversation now, and a tool of this name", async () => {
    const log = memoryLog();
    const clock = new TestClock();
    const silent = defineAgent({ name: "silent", llm: new MockLlmCaller([hangs("Hm")]) });
    const other = defineAgent({ name: "other", llm: new MockLlmCaller([]) });
    const asTool = (agent: Agent<unknown>): Tool =>
      agentTool(agent, { name: "research", description: "Finds out.", log, clock });
    const teamWith = (tool: Tool, ...script: MockStep[]): Agent<unknown> =>
      defineTeam({
        agents: {
          triage: {
            agent: defineAgent({ llm: new MockLlmCaller(script), tools: [tool] }),
            description: "Finds out what the user needs.",
          },
          billing: {
            agent: defineAgent({ llm: new MockLlmCaller([answers("Paid.")]), tools: [asTool(other)] }),
            description: "Invoices.",
          },
        },
        start: "triage",
      });
    const team = teamWith(asTool(silent), callsTools([{ name: "research", arguments: { task: "Look." } }]));
    const first = await openSession(team, { log, id: "team", clock });
    await first.send("Look.");
    await rest();
    const id = (await log.list()).find((session) => session.id !== "team")?.id ?? "none";
    await first.close();
    const poster = await openSession(team, { log, id: "team", clock, access: "post" });
    await poster.cancel("Enough.");
    await poster.close();
    // A release in which triage calls no sub-agent.
    const plain = toolOf("research", () => "found");
    const handsOff = callsTools([{ name: "hand_off", arguments: { agent: "billing" } }]);
    const wrong = new HeardErrors();
    const changed = teamWith(plain, handsOff);
    const second = await openSession(changed, { log, id: "team", clock, onError: wrong.onError });
    expect((await second.ask("Pay.")).text).toBe("Paid.");
    await second.close();
    // The agent of the other member is not the one that the session belongs to.
    expect(wrong.codes).toEqual(["WrongAgent"]);
    const errors: unknown[] = [];
    const onError = ({ error }: ErrorReport): void => void errors.push(error);
    await (await openSession(team, { log, id: "team", clock, onError })).close();
    expect((await stateAt(log, id)).state.reActContext.control.type).toBe("Error");
    expect(errors).toEqual([]);
  });
});

describe("a pause of the caller while the session of its sub-agent closes", () => {
  it("is not an error", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    const release = Promise.withResolvers<undefined>();
    const isReleasing = Promise.withResolvers<undefined>();
    const slow = remoteLog(log, async ({ call, way }) => {
      if (call !== "release" || way !== "there") return;
      isReleasing.resolve(undefined);
      await release.promise;
    });
    const sub = defineAgent({ name: "sub", llm: new MockLlmCaller([answers("Seen.")]) });
    const tools = [agentTool(sub, { name: "research", description: "Finds out.", log: slow, clock })];
    const call = callsTools([{ name: "research", arguments: { task: "Look." } }]);
    const lead = defineAgent({ name: "lead", llm: new MockLlmCaller([call, answers("Done.")]), tools });
    const errors: ErrorReport[] = [];
    const onError = (report: ErrorReport): void => void errors.push(report);
    await using session = await openSession(lead, { log, id: "lead", clock, onError });
    const run = session.ask("Look.");
    await isReleasing.promise;
    await session.pause("Wait.");
    await rest();
    await session.resume();
    release.resolve(undefined);
    expect((await run).text).toBe("Done.");
    expect(errors).toEqual([]);
  });
});

describe("the session of a sub-agent that an earlier attempt of its call has open", () => {
  it("is taken over at once, though the lease of the earlier owner is valid", async () => {
    const { log, clock, work, lead, id, ownerCount } = await leftByHost();
    work.resolve("seen");
    const lease = await (await log.open(id))?.currentLease();
    expect(lease?.until).toBeGreaterThan(clock.now());
    // The first host is left as a crash leaves it.
    await using session = await openSession(lead, { log, id: "lead", clock, isOwnerGone: () => true });
    await rest();
    expect(await ownerCount()).toBe(2);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: true,
      content: "Seen.",
    });
  });
});
