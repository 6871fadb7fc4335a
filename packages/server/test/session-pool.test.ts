import { memoryLog, type EventLog } from "@moora/event-log";
import { openSession, readSession } from "@moora/agent";
import { unfinishedMove } from "@moora/agent/internal";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

/** Whether a process holds the lease of a session. */
const isRun = async (log: EventLog, id: string): Promise<boolean> =>
  (await (await log.open(id))?.currentLease()) !== undefined;

const untilClosed = async (log: EventLog, id: string): Promise<void> => {
  for (let count = 0; (await isRun(log, id)) && count < 1_000; count += 1) await turn();
  expect(await isRun(log, id)).toBe(false);
};

describe("a session that nothing uses", () => {
  it("is closed after a while, and opened again on demand", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { clock });
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await turn();
    expect(await isRun(scene.log, id)).toBe(true);
    await clock.advanceAsync(60_000);
    await untilClosed(scene.log, id);
    const { body } = await ada.get(`/sessions/${id}`);
    expect(body.state.messages).toHaveLength(2);
    expect(await isRun(scene.log, id)).toBe(false);
    await ada.post(`/sessions/${id}/messages`, { content: "More" });
    expect(await isRun(scene.log, id)).toBe(true);
    expect(scene.errors).toEqual([]);
  });

  it("stays open while a stream reads it, or its model works", async () => {
    const clock = new TestClock();
    await using scene = new Scene(agentOf([hangs("Hm")]), { clock });
    const ada = scene.as("ada");
    const id = await ada.create();
    const stream = await ada.events(id, 1);
    await clock.advanceAsync(20_000);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream[Symbol.asyncDispose]();
    await clock.advanceAsync(25_000);
    await clock.advanceAsync(25_000);
    await clock.advanceAsync(25_000);
    expect(await isRun(scene.log, id)).toBe(true);
    await ada.post(`/sessions/${id}/cancel`);
    await turn();
    await clock.advanceAsync(60_000);
    await untilClosed(scene.log, id);
  });
});

describe("a copy whose move to the log has not ended", () => {
  it("is not opened, and takes no message", async () => {
    const log = memoryLog();
    const agent = talker();
    const session = await openSession(agent, { log, id: "copy", user: "ada" });
    await session.close();
    const lease = { owner: unfinishedMove, now: Date.now(), ttlMs: 1e12 };
    await (await log.open("copy"))?.lease(lease);
    await using scene = new Scene(agent, { log });
    const ada = scene.as("ada");
    expect((await ada.post("/sessions/copy/messages", { content: "Hi" })).status).toBe(503);
    expect((await ada.get("/sessions/copy")).status).toBe(503);
    expect(await (await log.open("copy"))?.head()).toBe(session.info().seq);
  });
});

describe("more sessions than fit in memory", () => {
  it("close the one that has been idle for the longest time", async () => {
    await using scene = new Scene(talker(), { limits: { maxOpenSessions: 2 } });
    const ada = scene.as("ada");
    const ids = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(await ada.create());
      await turn();
    }
    const open = [];
    for (const id of ids) open.push(await isRun(scene.log, id));
    expect(open).toEqual([false, false, true, true]);
    expect((await ada.get(`/sessions/${ids[0]}`)).status).toBe(200);
  });

  it("are refused while all are in use", async () => {
    await using scene = new Scene(talker(), { limits: { maxOpenSessions: 1 } });
    const ada = scene.as("ada");
    const id = await ada.create();
    const stream = await ada.events(id, 1);
    const refused = await ada.post("/agents/helper/sessions");
    expect(refused).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    await stream[Symbol.asyncDispose]();
    await untilPasses(() => expect(true).toBe(true));
    await turn();
    expect((await ada.post("/agents/helper/sessions")).status).toBe(201);
  });
});

describe("a server that is closed with a grace period", () => {
  it("waits for the tools that run, and records their results", async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<string>();
    const work = toolOf("work", async () => (started.resolve(), await finish.promise));
    const agent = agentOf([callsTools([{ name: "work" }]), answers("Done.")], { tools: [work] });
    await using scene = new Scene(agent);
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, { content: "Work" });
    await started.promise;
    const closed = scene.server.close({ graceMs: 60_000 });
    await turn();
    expect(await isRun(scene.log, id)).toBe(true);
    finish.resolve("worked");
    await closed;
    expect(await isRun(scene.log, id)).toBe(false);
    const { inputs } = await readSession(scene.log, id);
    expect(inputs.map(({ type }) => type)).toContain("tool-call-completed");
  });
});

describe("readiness", () => {
  it("depends on the log", async () => {
    const log = memoryLog();
    let isBroken = false;
    const flaky: EventLog = {
      ...log,
      name: log.name,
      create: (id, header, claim) => log.create(id, header, claim),
      list: () => log.list(),
      remove: (id) => log.remove(id),
      close: () => log.close(),
      open(id) {
        if (isBroken) throw new Error("The disk is gone.");
        return log.open(id);
      },
    };
    await using scene = new Scene(talker(), { log: flaky });
    expect(await scene.as("ada").get("/ready")).toMatchObject({ status: 200, body: { status: "ready" } });
    isBroken = true;
    expect(await scene.as("ada").get("/ready")).toMatchObject({
      status: 503,
      body: { status: "log-unavailable" },
    });
    expect(await scene.as("ada").get("/sessions/x")).toMatchObject({
      status: 500,
      body: { detail: "The server failed." },
    });
    expect(scene.errors).toHaveLength(2);
  });
});
