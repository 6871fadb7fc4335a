import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  initialStateOf,
  openSession,
  performEffect,
  type Agent,
  type AgentEffect,
  type DurableSession,
  type ToolOutcome,
} from "../../src/index.ts";
import { turns } from "../restarts/restarts.ts";
import { toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

const graph = graphOf({ Planning: { LlmFinalAnswer: "Pay" }, Pay: { Paid: "Done" } });

/** An agent whose handler calls the tool `pay` when `go` is called, and what became of the call. */
function payingAgent() {
  const ready = Promise.withResolvers<void>();
  const outcomes: ToolOutcome[] = [];
  let payments = 0;
  const agent: Agent = defineAgent({
    llm: new MockLlmCaller(() => answers("I will pay.")),
    tools: [toolOf("pay", () => `payment ${(payments += 1)}`, { replay: "keyed" })],
    config: { graph },
    states: {
      Pay: {
        replay: "keyed",
        async handle(_, { callTool }) {
          await ready.promise;
          outcomes.push(await callTool("pay", {}));
          return "Paid";
        },
      },
    },
  });
  const go = async (): Promise<void> => {
    ready.resolve();
    await turns();
  };
  return { agent, outcomes, go, payments: () => payments };
}

const opened = (agent: Agent, log: EventLog): Promise<DurableSession> =>
  openSession(agent, { log, id: "ada", owner: "host", onError: () => undefined });

describe("a tool that the handler of a custom state calls", () => {
  it.each<[string, (session: DurableSession, log: EventLog) => Promise<unknown>]>([
    ["the loop was cancelled", (session) => session.cancel()],
    ["the session was closed", (session) => session.close()],
    [
      "another process took the session over",
      async (_, log) => {
        const next = payingAgent();
        const session = await opened(next.agent, log);
        await next.go();
        await session.close();
      },
    ],
  ])("does not start after %s", async (_, end) => {
    const log = memoryLog();
    const { agent, outcomes, go, payments } = payingAgent();
    const session = await opened(agent, log);
    await session.send("Pay.");
    await turns();
    await end(session, log);
    await go();
    expect(payments()).toBe(0);
    expect(outcomes).toEqual([{ isSuccess: false, error: "Cancelled before it ran.", code: "cancelled" }]);
    await session.close();
  });

  it("waits in a pause, and starts when the session is resumed", async () => {
    const { agent, outcomes, go, payments } = payingAgent();
    const session = await opened(agent, memoryLog());
    const run = session.ask("Pay.");
    await turns();
    await session.pause();
    await go();
    expect(payments()).toBe(0);
    // Of two changes at once, the later one counts.
    void session.resume();
    await session.pause();
    await turns();
    expect(payments()).toBe(0);
    await session.resume();
    await run;
    expect(outcomes).toMatchObject([{ isSuccess: true, content: "payment 1" }]);
    await session.close();
  });

  it("does not start when the loop is cancelled in a pause", async () => {
    const { agent, outcomes, go, payments } = payingAgent();
    const session = await opened(agent, memoryLog());
    await session.send("Pay.");
    await turns();
    await session.pause();
    await go();
    await session.cancel();
    await turns();
    expect(outcomes).toMatchObject([{ isSuccess: false, code: "cancelled" }]);
    await session.resume();
    await turns();
    expect(payments()).toBe(0);
    await session.close();
  });

  it("waits for a host of its own, which resolves `untilResumed`", async () => {
    const { agent, outcomes, go, payments } = payingAgent();
    const key = "state/1/1/1/1";
    const effect: AgentEffect = {
      type: "run-state",
      key,
      workKey: key,
      name: "Pay",
      attempt: 1,
      event: "LlmFinalAnswer",
    };
    const resumed = Promise.withResolvers<void>();
    const applied: string[] = [];
    const performed = performEffect(agent, effect, initialStateOf(agent), {
      sessionId: "one",
      intended: true,
      untilResumed: () => resumed.promise,
      dispatch(...inputs) {
        applied.push(...inputs.map((input) => (typeof input === "function" ? "late" : input.type)));
        return true;
      },
    });
    await go();
    expect(payments()).toBe(0);
    resumed.resolve();
    await performed;
    expect(outcomes).toMatchObject([{ isSuccess: true, content: "payment 1" }]);
    expect(applied).toEqual(["state-handled"]);
  });

  it("does not run when the configuration forbids it after the handler began", async () => {
    const { agent, outcomes, go, payments } = payingAgent();
    const session = await opened(agent, memoryLog());
    await session.send("Pay.");
    await turns();
    await session.configure({ toolCalls: { blacklist: ["pay"] } });
    await go();
    expect(payments()).toBe(0);
    expect(outcomes).toMatchObject([{ isSuccess: false, code: "blacklisted" }]);
    await session.close();
  });
});
