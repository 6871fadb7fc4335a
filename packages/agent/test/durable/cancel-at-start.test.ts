import { memoryLog, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { defineAgent, inputsIn, openSession, type Agent, type DurableSession } from "../../src/index.ts";
import { callsThenAnswers, never, resultOf, turns } from "../restarts/restarts.ts";
import { failureOf, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

const opened = (agent: Agent, log: EventLog): Promise<DurableSession> =>
  openSession(agent, { log, id: "ada", clock: new TestClock(), onError: () => undefined });

/** Cancels a loop at once when the start of an effect has become durable. */
async function cancelledAt(start: string, agent: Agent): Promise<DurableSession> {
  const session = await opened(agent, memoryLog());
  session.onInput((input) => {
    if (inputsIn(input).some(({ type }) => type === start)) session.cancel().then(undefined, () => undefined);
  });
  expect(await failureOf(session.ask("go"))).toMatchObject({ kind: "Cancelled" });
  await turns();
  return session;
}

/** An agent whose work is counted: the calls of its model, the runs of its tool and of the handler of its state. */
function counting() {
  const ran: string[] = [];
  const model = callsThenAnswers({ name: "pay" });
  const llm: LlmCaller = {
    name: "counting",
    call(request, options) {
      ran.push("model");
      return model.call(request, options);
    },
  };
  const pay = toolOf("pay", () => {
    ran.push("pay");
    return never();
  });
  return { ran, agent: defineAgent({ llm, tools: [pay] }) };
}

describe("a cancel that arrives when the start of an effect has become durable", () => {
  it("keeps a tool from running, and its call has one result", async () => {
    const { ran, agent } = counting();
    const session = await cancelledAt("tool-call-started", agent);
    expect(ran).toEqual(["model"]);
    expect(resultOf(session.current())).toMatchObject({ isSuccess: false, code: "cancelled-after-start" });
    await session.close();
  });

  it("keeps a model from being called", async () => {
    const { ran, agent } = counting();
    const session = await cancelledAt("llm-call-started", agent);
    expect(ran).toEqual([]);
    await session.close();
  });

  it("keeps a handler from running", async () => {
    const ran: string[] = [];
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("ok")),
      config: {
        graph: graphOf({ Planning: { LlmFinalAnswer: "Charge" }, Charge: { Charged: "Done" } }),
      },
      states: {
        Charge() {
          ran.push("Charge");
          return "Charged";
        },
      },
    });
    const session = await cancelledAt("state-handler-started", agent);
    expect(ran).toEqual([]);
    await session.close();
  });
});

describe("a cancel during the append that stores the start of an effect", () => {
  it.each([
    ["a tool", "tool-call-started", ["model"]],
    ["a model", "llm-call-started", []],
  ] as const)("keeps %s from beginning", async (_, start, begun) => {
    const { ran, agent } = counting();
    const gates = new Gates();
    const session = await opened(agent, remoteLog(memoryLog(), gates.pass));
    const [storesStart, storesCancel] = [
      gates.hold("append", "back", start),
      gates.hold("append", "there", "re-act-cancelled"),
    ];
    const failure = failureOf(session.ask("go"));
    await storesStart.reached;
    const receipt = session.cancel();
    storesStart.open();
    await storesCancel.reached;
    await turns();
    storesCancel.open();
    expect(await receipt).toMatchObject({ status: "accepted" });
    expect(await failure).toMatchObject({ kind: "Cancelled" });
    await turns();
    expect(ran).toEqual(begun);
    await session.close();
  });

  it("lets a tool begin if the cancel cannot be stored", async () => {
    const { ran, agent } = counting();
    const gates = new Gates();
    const session = await opened(agent, remoteLog(memoryLog(), gates.pass));
    const storesStart = gates.hold("append", "back", "tool-call-started");
    const storesCancel = gates.hold("append", "there", "re-act-cancelled");
    session.ask("go").catch(() => undefined);
    await storesStart.reached;
    const refused = failureOf(session.cancel());
    storesStart.open();
    await storesCancel.reached;
    await turns();
    expect(ran).toEqual(["model"]);
    gates.isDown = true;
    storesCancel.break();
    expect(await refused).toMatchObject({ code: "LogWrite" });
    await turns();
    expect(ran).toEqual(["model", "pay"]);
    gates.isDown = false;
    await session.close();
  });
});

describe("a cancel that is committed together with the answer that wants a call", () => {
  it("keeps the call from being recorded as started: it did not run", async () => {
    const { ran, agent } = counting();
    const gates = new Gates();
    const session = await opened(agent, remoteLog(memoryLog(), gates.pass));
    const gate = gates.hold("append", "there", "tool-call-started");
    const failure = failureOf(session.ask("go"));
    await gate.reached;
    gates.isDown = true;
    gate.break();
    await turns();
    gates.isDown = false;
    expect(await session.cancel()).toMatchObject({ status: "accepted" });
    expect(await failure).toMatchObject({ kind: "Cancelled" });
    await turns();
    expect(gates.appends).toContainEqual(["re-act-observed", "re-act-cancelled"]);
    expect(ran).toEqual(["model"]);
    expect(resultOf(session.current())).toMatchObject({ isSuccess: false, code: "cancelled" });
    await session.close();
  });
});
