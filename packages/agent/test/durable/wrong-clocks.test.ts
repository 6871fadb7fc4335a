import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, type Agent, type DurableSession } from "../../src/index.ts";
import { callsThenAnswers } from "../restarts/restarts.ts";
import { toolOf } from "../support.ts";

const day = 86_400_000;
const now = 1_000 * day;

/** A session that a machine has left whose clock was 365 days ahead, after a failed attempt. */
async function leftAhead(agent: Agent): Promise<EventLog> {
  const log = memoryLog();
  const session = await open(agent, log, new TestClock(now + 365 * day));
  await session.send("Go.");
  await untilPasses(() => expect(JSON.stringify(session.current().reActContext)).toMatch(dueThen));
  await session.close();
  const left = await log.open("ada");
  await left?.lease({ owner: "ahead", now: now + 365 * day, ttlMs: 30_000 });
  return log;
}

const dueThen = new RegExp(`"(?:retryAt|due)":${String(now + 365 * day).slice(0, -6)}`);

const open = (agent: Agent, log: EventLog, clock: TestClock): Promise<DurableSession> =>
  openSession(agent, { log, id: "ada", clock, owner: "host" });

async function releaseLease(log: EventLog): Promise<void> {
  const session = await log.open("ada");
  const lease = await session?.currentLease();
  if (lease !== undefined) await session?.release(lease.owner);
}

describe("after a machine whose clock was ahead", () => {
  it("a lease is given back by hand, and a model call that waits is made after a cancel and a retry", async () => {
    const agent = defineAgent({ llm: new MockLlmCaller([fails("server"), answers("Here.")]) });
    const log = await leftAhead(agent);
    const clock = new TestClock(now);
    await expect(open(agent, log, clock)).rejects.toMatchObject({
      code: "SessionBusy",
      until: now + 365 * day + 30_000,
    });
    await releaseLease(log);
    await using session = await open(agent, log, clock);
    await session.cancel();
    await session.retry();
    expect((await session.running())?.text).toBe("Here.");
  });

  it("a tool that waits for its next attempt gets its result by hand", async () => {
    const tool = toolOf(
      "fetch",
      () => {
        throw new Error("The connection was reset.");
      },
      { replay: "safe", retries: 2 },
    );
    const agent = defineAgent({ llm: callsThenAnswers({ name: "fetch" }), tools: [tool] });
    const log = await leftAhead(agent);
    await releaseLease(log);
    await using session = await open(agent, log, new TestClock(now));
    const [toolCallId = ""] = Object.keys(session.current().toolCalls);
    await session.settle(toolCallId, { content: "the page" });
    expect((await session.running())?.text ?? session.current().messages.at(-1)?.content).toBe("done");
  });
});
