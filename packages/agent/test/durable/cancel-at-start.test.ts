import { memoryLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, type Agent, type DurableSession } from "../../src/index.ts";
import { callsThenAnswers, never, resultOf, turns } from "../restarts/restarts.ts";
import { failureOf, toolOf } from "../support.ts";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { TestClock } from "@moora/testbed/test-clock";

/**
 * Cancels a loop whose effect could not record its start: the log is unreachable then, so that the start is kept and
 * appended in one commit with the cancel.
 */
async function cancelledWith(start: string, agent: Agent): Promise<DurableSession> {
  const gates = new Gates();
  const log = remoteLog(memoryLog(), gates.pass);
  const clock = new TestClock();
  const session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
  const gate = gates.hold("append", "there", start);
  const failure = failureOf(session.ask("go"));
  await gate.reached;
  gates.isDown = true;
  gate.break();
  await turns();
  gates.isDown = false;
  expect(await session.cancel()).toMatchObject({ status: "accepted" });
  expect(await failure).toMatchObject({ kind: "Cancelled" });
  await turns();
  expect(gates.appends).toContainEqual([start, "re-act-cancelled"]);
  return session;
}

describe("a cancel that is committed together with the start of an effect", () => {
  it("keeps a tool from running, and its call has one result", async () => {
    const ran: string[] = [];
    const pay = toolOf("pay", () => {
      ran.push("pay");
      return never();
    });
    const agent = defineAgent({ llm: callsThenAnswers({ name: "pay" }), tools: [pay] });
    const session = await cancelledWith("tool-call-started", agent);
    expect(ran).toEqual([]);
    expect(resultOf(session.current())).toMatchObject({ isSuccess: false, code: "cancelled-after-start" });
    await session.close();
  });

  it("keeps a model from being called", async () => {
    let calls = 0;
    const llm: LlmCaller = {
      name: "counting",
      call: () => {
        calls += 1;
        return never();
      },
    };
    const session = await cancelledWith("llm-call-started", defineAgent({ llm }));
    expect(calls).toBe(0);
    await session.close();
  });

  it("keeps a handler from running", async () => {
    const ran: string[] = [];
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("ok")),
      config: {
        graph: {
          states: ["Charge"],
          rows: { Planning: { LlmFinalAnswer: "Charge" }, Charge: { Charged: "Done" } },
          terminals: [],
        },
      },
      states: {
        Charge() {
          ran.push("Charge");
          return "Charged";
        },
      },
    });
    const session = await cancelledWith("state-handler-started", agent);
    expect(ran).toEqual([]);
    await session.close();
  });
});
