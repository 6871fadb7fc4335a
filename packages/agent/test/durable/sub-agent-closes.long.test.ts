import type { EventLog } from "@moora/event-log";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  moveSession,
  openSession,
  startSession,
  type Agent,
} from "../../src/index.ts";
import { callsThenAnswers, turns } from "../restarts/restarts.ts";
import { toolOf } from "@moora/testbed/tool-of";

/** An agent whose sub-agent's sub-agent asks. */
function bossOn(log: EventLog, clock: TestClock): Agent {
  const pay = toolOf("pay", () => "paid", { approval: "always" });
  const worker = defineAgent({
    name: "worker",
    llm: callsThenAnswers({ name: "pay", arguments: {} }),
    tools: [pay],
  });
  const lead = defineAgent({
    name: "lead",
    llm: callsThenAnswers({ name: "worker", arguments: { task: "Do it." } }),
    tools: [agentTool(worker, { name: "worker", description: "Works.", log, clock })],
  });
  return defineAgent({
    name: "boss",
    llm: callsThenAnswers({ name: "lead", arguments: { task: "Do it." } }),
    tools: [agentTool(lead, { name: "lead", description: "Leads.", log, clock })],
  });
}

/** The sessions of a log whose lease is held. */
async function leasedIn(log: EventLog): Promise<readonly string[]> {
  const ids = (await log.list()).map(({ id }) => id);
  const leases = await Promise.all(ids.map(async (id) => await (await log.open(id))?.currentLease()));
  return ids.filter((_, index) => leases[index] !== undefined);
}

describe.each(storeNames)("a session that is closed, in %s", (store) => {
  it("leaves no lease of a sub-agent that asks, so that it can be moved at once", async () => {
    await using storage = storageOf(store);
    const clock = new TestClock();
    const log = storage.open();
    const session = await openSession(bossOn(log, clock), { log, id: "ada", clock });
    session.onEvent(() => undefined);
    await session.send("Go.");
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    expect(await leasedIn(log)).toHaveLength(3);
    await session.close();
    expect(await leasedIn(log)).toEqual([]);
    if (store !== "memory") await log.close();
    const next = store === "memory" ? log : storage.open();
    expect(await leasedIn(next)).toEqual([]);
    await using archive = storageOf("memory");
    expect(await moveSession(next, "ada", archive.open(), { clock })).toHaveLength(3);
  });

  it("in memory leaves no lease of its sub-agents in the log", async () => {
    await using storage = storageOf(store);
    const clock = new TestClock();
    const log = storage.open();
    const session = startSession(bossOn(log, clock), { clock });
    session.onEvent(() => undefined);
    await session.send("Go.");
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    await session.close();
    expect(await log.list()).toHaveLength(2);
    expect(await leasedIn(log)).toEqual([]);
  });

  it("while a sub-agent is being opened leaves no lease of it", async () => {
    for (let count = 0; count < 40; count += 1) {
      await using storage = storageOf(store);
      const clock = new TestClock();
      const log = storage.open();
      const session = await openSession(bossOn(log, clock), { log, id: "ada", clock });
      session.onEvent(() => undefined);
      await session.send("Go.");
      await turns(count);
      await session.close();
      expect(await leasedIn(log), `after ${count} turns`).toEqual([]);
    }
  });

  it("does not wait for the session of a sub-agent that another owner runs", async () => {
    await using storage = storageOf(store);
    const clock = new TestClock();
    const log = storage.open();
    const boss = bossOn(log, clock);
    const first = await openSession(boss, { log, id: "ada", clock });
    first.onEvent(() => undefined);
    await first.send("Go.");
    await untilPasses(() => expect(first.questions()).toHaveLength(1));
    await first.close();
    const ids = (await log.list()).map(({ id }) => id).filter((id) => id !== "ada");
    for (const id of ids)
      await (await log.open(id))?.lease({ owner: "other", now: clock.now(), ttlMs: 60_000 });
    const second = await openSession(boss, { log, id: "ada", clock });
    await clock.whenWaiting(3);
    await second.close();
    expect(await leasedIn(log)).toEqual(ids);
  });
});
