import { agentTool, openSession, type Agent } from "@moora/agent";
import { chainStart, memoryLog, MemoryStorage, recordAfter, type EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { answers, callsTools, fails, hangs } from "@moora/llm/testing";
import { Place } from "@moora/testbed/durable/places";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { Scene } from "@moora/testbed/server/scene";
import { pollsUntil, toolOf } from "./support.ts";

const talker = (name = "helper") => agentOf(() => answers("Hello."), { name });

async function typesOf(log: EventLog, id: string): Promise<readonly string[]> {
  const records = (await (await log.open(id))?.read()) ?? [];
  return records.map(({ body }) => (JSON.parse(body) as { type: string }).type);
}

const isDue = async (log: EventLog, clock: TestClock, id: string): Promise<boolean> =>
  ((await log.due?.({ now: clock.now(), limit: 1_000 })) ?? []).some((session) => session.id === id);

/** Creates a session, and posts a message that no process answers. */
async function leaveUnanswered(
  agent: Agent<unknown>,
  log: EventLog,
  clock: TestClock,
  id: string,
): Promise<void> {
  await (await openSession(agent, { log, id, clock })).close();
  const poster = await openSession(agent, { log, id, clock, access: "post" });
  await poster.send("Hi");
  await poster.close();
}

/** A server with a worker on a log, which gets no requests. */
const workerOf = (
  agent: Agent<unknown> | readonly Agent<unknown>[],
  log: EventLog,
  clock: TestClock,
): Scene => new Scene(agent, { log, clock, worker: true });

describe("a worker", () => {
  it("answers a message that was posted while no process ran the session, and closes it again", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    await leaveUnanswered(talker(), log, clock, "a");
    await using worker = workerOf(talker(), log, clock);
    await pollsUntil(clock, async () => expect(await typesOf(log, "a")).toContain("re-act-observed"));
    await pollsUntil(clock, async () => expect(await (await log.open("a"))?.currentLease()).toBeUndefined());
    expect(await isDue(log, clock, "a")).toBe(false);
    expect(worker.errors).toEqual([]);
  });

  it("opens a session that has nothing to do once, and not again", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    await (await openSession(talker(), { log, id: "a", clock })).close();
    const session = await log.open("a");
    await session?.saveDue?.(await session.head(), 0);
    await using worker = workerOf(talker(), log, clock);
    await pollsUntil(clock, async () => expect(await isDue(log, clock, "a")).toBe(false));
    const { length } = await typesOf(log, "a");
    await clock.advanceAsync(60_000);
    expect(await typesOf(log, "a")).toHaveLength(length);
    expect(worker.errors).toEqual([]);
  });

  it("ends a question at its deadline, which no process has open", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    const agent = () =>
      agentOf(
        ({ messages }) =>
          messages.some(({ role }) => role === "assistant")
            ? answers("Rejected.")
            : callsTools([{ name: "pay" }]),
        {
          tools: [toolOf("pay", () => "paid", { approval: "always" })],
          config: { approval: { policy: "always", expiresAfterMs: 600_000 } },
        },
      );
    await using first = new Scene(agent(), { log, clock });
    const id = await first.as("ada").create();
    const stream = await first.as("ada").events(id);
    await first.as("ada").post(`/sessions/${id}/messages`, { content: "Pay" });
    await stream.until("re-act-observed");
    await first.server.close();
    await using worker = workerOf(agent(), log, clock);
    await clock.advanceAsync(60_000);
    expect(await typesOf(log, id)).not.toContain("deadline-passed");
    await clock.advanceAsync(540_000);
    await pollsUntil(clock, async () => expect(await typesOf(log, id)).toContain("deadline-passed"));
    await pollsUntil(clock, async () => expect((await typesOf(log, id)).at(-1)).toBe("snapshot-taken"));
    const observed = (await typesOf(log, id)).filter((type) => type === "re-act-observed");
    expect(observed).toHaveLength(2);
    expect(worker.errors).toEqual([]);
  });

  it("continues what a server left in the middle of a retry", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    await using first = new Scene(agentOf([fails("overloaded")]), { log, clock });
    const id = await first.as("ada").create();
    const stream = await first.as("ada").events(id);
    await first.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream.until("llm-call-failed");
    await first.server.close();
    await using worker = workerOf(talker(), log, clock);
    await pollsUntil(clock, async () => expect(await typesOf(log, id)).toContain("re-act-observed"));
    expect(worker.errors).toEqual([]);
  });

  it("is not stopped by sessions that it cannot run", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    for (let count = 0; count < 150; count += 1) {
      const broken = await log.create(`a${count}`, JSON.stringify({ format: 99, agent: { name: "helper" } }));
      await broken.append(0, [recordAfter(chainStart(broken.header), "{}", "")]);
    }
    await leaveUnanswered(talker(), log, clock, "z");
    await using worker = workerOf(talker(), log, clock);
    await pollsUntil(clock, async () => expect(await typesOf(log, "z")).toContain("re-act-observed"));
    const { length } = worker.errors;
    expect(length).toBeGreaterThan(149);
    await clock.advanceAsync(60_000);
    // Each is tried after 1, 2, 4 ... seconds, and not at each of 60 polls.
    expect(worker.errors.length - length).toBeLessThan(150 * 8);
  });

  it("leaves sessions of other agents to other servers", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    for (let count = 0; count < 150; count += 1)
      await leaveUnanswered(talker("other"), log, clock, `a${count}`);
    await leaveUnanswered(talker(), log, clock, "z");
    await using worker = workerOf(talker(), log, clock);
    await pollsUntil(clock, async () => expect(await typesOf(log, "z")).toContain("re-act-observed"));
    expect(await typesOf(log, "a0")).not.toContain("re-act-observed");
    expect(worker.errors).toEqual([]);
  });

  it("runs no more sessions at the same time than it may", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    const agent = agentOf(() => hangs("Hm"));
    for (const id of ["a", "b", "c", "d", "e"]) await leaveUnanswered(talker(), log, clock, id);
    await using worker = new Scene(agent, { log, clock, worker: { maxSessions: 2 }, metrics: true });
    await clock.advanceAsync(20_000);
    const leases = await Promise.all(
      ["a", "b", "c", "d", "e"].map(async (id) => (await log.open(id))?.currentLease()),
    );
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(2);
    expect(worker.errors).toEqual([]);
  });

  it("shares a log with others: each message is answered once", async () => {
    const clock = new TestClock();
    const storage = new MemoryStorage();
    const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
    for (const id of ids) await leaveUnanswered(talker(), memoryLog(storage), clock, id);
    await using one = workerOf(talker(), memoryLog(storage), clock);
    await using other = workerOf(talker(), memoryLog(storage), clock);
    const log = memoryLog(storage);
    await pollsUntil(clock, async () => {
      for (const id of ids) expect(await typesOf(log, id)).toContain("re-act-observed");
    });
    for (const id of ids)
      expect((await typesOf(log, id)).filter((type) => type === "re-act-observed")).toHaveLength(1);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  it("stops with its server", async () => {
    const clock = new TestClock();
    const log = memoryLog();
    const worker = workerOf(talker(), log, clock);
    await worker.server.close();
    await leaveUnanswered(talker(), log, clock, "a");
    await clock.advanceAsync(10_000);
    expect(await typesOf(log, "a")).not.toContain("re-act-observed");
  });

  it("needs a log that lists due sessions, and options that are positive integers", () => {
    using place = new Place();
    const agents = [talker()];
    expect(() => createAgentServer({ agents, log: jsonlLog(place.file("log")), worker: true })).toThrow(
      'The log "jsonl" cannot list due sessions, which a worker needs. Use sqliteLog, postgresLog or memoryLog.',
    );
    const withWorker = (worker: object) => () => createAgentServer({ agents, log: memoryLog(), worker });
    expect(withWorker({ pollMs: 0 })).toThrow("worker.pollMs must be a positive integer, got 0.");
    expect(withWorker({ maxSession: 5 })).toThrow('Unknown option "worker.maxSession" of createAgentServer.');
  });
});

/** A lead that has a sub-agent, both of which a host has left in the middle of the work of the sub-agent. */
async function leftInSubAgent() {
  const clock = new TestClock();
  const log = memoryLog();
  const sub = agentOf(() => answers("It is Oslo."), { name: "sub" });
  const leadOf = (below: Agent<unknown>) =>
    agentOf(
      ({ messages }) =>
        messages.some(({ role }) => role === "assistant")
          ? answers("Done.")
          : callsTools([{ name: "research", arguments: { task: "Find it." } }]),
      {
        name: "lead",
        tools: [agentTool(below, { name: "research", description: "Finds out.", log, clock })],
      },
    );
  const host = await openSession(leadOf(agentOf([hangs("Hm")], { name: "sub" })), { log, id: "lead", clock });
  await host.send("Find it.");
  const childId = async () => (await log.list()).find(({ id }) => id !== "lead")?.id ?? "none";
  while (!(await typesOf(log, await childId())).includes("user-message-received")) await turn();
  await host.close();
  const id = await childId();
  while ((await (await log.open(id))?.currentLease()) !== undefined) await turn();
  expect(await isDue(log, clock, id)).toBe(true);
  /** Posts to the lead without running it. */
  const post = async (work: (session: Awaited<ReturnType<typeof openSession>>) => Promise<unknown>) => {
    const poster = await openSession(leadOf(sub), { log, id: "lead", clock, access: "post" });
    await work(poster);
    await poster.close();
  };
  return { clock, log, sub, lead: leadOf(sub), id, post };
}

describe("a worker and the session of a sub-agent", () => {
  it("continues it with the session of its caller, which is due", async () => {
    const { clock, log, sub, lead, id } = await leftInSubAgent();
    expect(await isDue(log, clock, "lead")).toBe(true);
    await using worker = workerOf([sub, lead], log, clock);
    await pollsUntil(clock, async () => expect(await isDue(log, clock, "lead")).toBe(false));
    const types = await typesOf(log, "lead");
    expect(types.filter((type) => type === "tool-call-completed")).toHaveLength(1);
    expect((await typesOf(log, id)).filter((type) => type === "re-act-observed")).toHaveLength(1);
    expect(await isDue(log, clock, id)).toBe(false);
    expect(worker.errors).toEqual([]);
  });

  it("does not run it while its caller is paused, and continues it when the caller is resumed", async () => {
    const { clock, log, sub, lead, id, post } = await leftInSubAgent();
    await post((session) => session.pause("Wait."));
    await using worker = workerOf([sub, lead], log, clock);
    await clock.advanceAsync(60_000);
    expect(await typesOf(log, id)).not.toContain("re-act-observed");
    await post((session) => session.resume());
    await pollsUntil(clock, async () => expect(await isDue(log, clock, "lead")).toBe(false));
    expect((await typesOf(log, id)).filter((type) => type === "re-act-observed")).toHaveLength(1);
    expect(worker.errors).toEqual([]);
  });

  it("does not run it after a cancel of its caller, and cancels it", async () => {
    const { clock, log, sub, lead, id, post } = await leftInSubAgent();
    await post((session) => session.cancel("Enough."));
    await using worker = workerOf([sub, lead], log, clock);
    await pollsUntil(clock, async () => expect(await isDue(log, clock, "lead")).toBe(false));
    const types = await typesOf(log, id);
    expect(types).not.toContain("re-act-observed");
    expect(types.filter((type) => type === "re-act-cancelled")).toHaveLength(1);
    expect(worker.errors).toEqual([]);
  });

  it("does not run it for a request that looks at it while its caller is paused", async () => {
    const { clock, log, sub, lead, id, post } = await leftInSubAgent();
    await post((session) => session.pause("Wait."));
    const { length } = await typesOf(log, id);
    const authorize = () => ({ user: "ada", mayForeign: () => true });
    const server = createAgentServer({ agents: [sub, lead], log, clock, authorize });
    const looked = await server.fetch(new Request(`http://test/sessions/${id}`));
    expect(await looked.json()).toMatchObject({ id });
    await clock.advanceAsync(60_000);
    expect(await typesOf(log, id)).toHaveLength(length);
    const headers = { "content-type": "application/json" };
    const resumed = await server.fetch(
      new Request("http://test/sessions/lead/resume", { method: "POST", body: "{}", headers }),
    );
    expect(resumed.status).toBe(200);
    await pollsUntil(clock, async () => expect(await isDue(log, clock, "lead")).toBe(false));
    expect((await typesOf(log, id)).filter((type) => type === "re-act-observed")).toHaveLength(1);
    await server.close();
  });

  it("leaves it as it is if the worker does not have the agent of its caller", async () => {
    const { clock, log, sub, id } = await leftInSubAgent();
    const { length } = await typesOf(log, id);
    await using worker = workerOf(sub, log, clock);
    await clock.advanceAsync(60_000);
    expect(await typesOf(log, id)).toHaveLength(length);
    expect(worker.errors).toEqual([]);
  });
});
