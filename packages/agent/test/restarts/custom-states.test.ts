import { describe, expect, it } from "vitest";
import type { LogRecord } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  startSession,
  type Agent,
  type AgentConfigChange,
  type StateContext,
  type StateDefinition,
  type StateHandler,
  type Tool,
} from "../../src/index.ts";
import { never, resultOf, Restarts, turns } from "./restarts.ts";
import { graphOf } from "@moora/testbed/graph-of";
import { toolOf } from "@moora/testbed/tool-of";

const rows = { Planning: { LlmFinalAnswer: "Charge" }, Charge: { Charged: "Done" } };

const chargeTool = (charges: string[], replay: StateDefinition["replay"] = "keyed") =>
  defineTool({
    name: "charge",
    description: "Charges a card.",
    replay,
    input: z.object({ euros: z.number() }),
    execute: (_, { idempotencyKey }) => {
      charges.push(idempotencyKey);
      return "charged";
    },
  });

interface Charging {
  readonly replay?: StateDefinition["replay"];
  readonly toolReplay?: StateDefinition["replay"];
  readonly seen: StateContext[];
  readonly charges?: string[];
  readonly more?: Readonly<Record<string, string>>;
}

/** An agent that charges a card after its answer, and is interrupted after the first charge. */
const chargingAgent = ({ replay, toolReplay, seen, charges = [], more = {} }: Charging): Agent =>
  defineAgent({
    llm: new MockLlmCaller(() => answers("Your order is complete.")),
    tools: [chargeTool(charges, toolReplay)],
    config: {
      graph: { states: ["Charge"], rows: { ...rows, Charge: { ...rows.Charge, ...more } }, terminals: [] },
    },
    states: {
      Charge: {
        ...(replay === undefined ? {} : { replay }),
        async handle(_, context) {
          seen.push(context);
          await context.callTool("charge", { euros: 9 });
          return context.attempt === 1 ? await never() : "Charged";
        },
      },
    },
  });

describe("the handler of a custom state that a crash interrupts", () => {
  it("does not run again by default: the loop ends and says why, and nothing is charged twice", async () => {
    const seen: StateContext[] = [];
    const charges: string[] = [];
    const world = new Restarts();
    await world.crash(chargingAgent({ seen, charges }));
    const next = await world.open(chargingAgent({ seen, charges }));
    expect(charges).toHaveLength(1);
    expect(next.current().reActContext.control).toMatchObject({
      type: "Error",
      failure: {
        kind: "InvalidTransition",
        event: "HandlerInterrupted",
        message: expect.stringContaining("may have had its effect"),
      },
    });
    await next.close();
  });

  it("leaves by a row for HandlerInterrupted where there is one", async () => {
    const seen: StateContext[] = [];
    const world = new Restarts();
    const more = { HandlerInterrupted: "Done" };
    await world.crash(chargingAgent({ seen, more }));
    const next = await world.open(chargingAgent({ seen, more }));
    expect(seen).toHaveLength(1);
    expect(next.current().reActContext.control.type).toBe("Done");
    await next.close();
  });

  it.each(["safe", "keyed"] as const)("runs again with the same keys where it is %s", async (replay) => {
    const seen: StateContext[] = [];
    const charges: string[] = [];
    const world = new Restarts();
    await world.crash(chargingAgent({ replay, seen, charges }));
    const next = await world.open(chargingAgent({ replay, seen, charges }));
    expect(next.current().reActContext.control.type).toBe("Done");
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(charges).toHaveLength(2);
    expect(new Set(charges).size).toBe(1);
    await next.close();
  });

  it("does not run a once tool again, whose outcome it reads as unknown", async () => {
    const seen: StateContext[] = [];
    const charges: string[] = [];
    const agent = (): Agent => chargingAgent({ replay: "keyed", toolReplay: "once", seen, charges });
    const world = new Restarts();
    await world.crash(agent());
    const next = await world.open(agent());
    expect(charges).toHaveLength(1);
    expect(await seen[1]?.callTool("charge", { euros: 9 })).toMatchObject({
      isSuccess: false,
      code: "outcome-unknown",
    });
    expect(charges).toHaveLength(1);
    await next.close();
  });

  it("is given up where it is interrupted each time", async () => {
    const hangs = (): Agent =>
      defineAgent({
        llm: new MockLlmCaller(() => answers("ok")),
        config: { graph: { states: ["Charge"], rows, terminals: [] }, retries: { maxToolAttempts: 2 } },
        states: { Charge: { replay: "safe", handle: never } },
      });
    const world = new Restarts();
    await world.crash(hangs());
    await world.open(hangs());
    const next = await world.open(hangs());
    expect(next.current().reActContext.control).toMatchObject({
      type: "Error",
      failure: { message: expect.stringContaining("in each of 2 attempts") },
    });
    await next.close();
  });

  it("has not run where the crash came before its intent was durable, and runs then", async () => {
    const seen: StateContext[] = [];
    const world = new Restarts();
    const blocked = withSessions(world.log, (session) => ({
      append: (expectedSeq: number, records: readonly LogRecord[]) =>
        records.some(({ body }) => body.includes('"state-handler-started"'))
          ? never()
          : session.append(expectedSeq, records),
    }));
    const first = await world.open(chargingAgent({ seen }), { log: blocked });
    first.ask("go").then(undefined, () => undefined);
    await turns();
    expect(seen).toEqual([]);
    await world.open(chargingAgent({ seen }));
    expect(seen).toHaveLength(1);
  });
});

describe("a release that changes the graph", () => {
  it("does not run an interrupted handler again where the new release says that it must not", async () => {
    const seen: StateContext[] = [];
    const charges: string[] = [];
    const world = new Restarts();
    await world.crash(chargingAgent({ replay: "keyed", seen, charges }));
    const next = await world.open(chargingAgent({ replay: "once", seen, charges }));
    expect(charges).toHaveLength(1);
    expect(next.current().reActContext.control).toMatchObject({
      type: "Error",
      failure: { event: "HandlerInterrupted", message: expect.stringContaining("must not run again") },
    });
    await next.close();
  });

  it("ends a loop whose state has become terminal, and its open calls have results", async () => {
    const graph = { states: ["Check"], rows: { Planning: { LlmToolCall: "Check" } } };
    const agent = defineAgent({
      llm: new MockLlmCaller((_, call) =>
        call === 0 ? callsTools([{ name: "charge", arguments: { euros: 9 } }]) : answers("ok"),
      ),
      tools: [chargeTool([])],
      config: { graph: { ...graph, rows: { ...graph.rows, Check: { Fine: "Acting" } }, terminals: [] } },
      states: { Check: never },
    });
    await using session = await new Restarts().open(agent);
    const run = session.ask("go");
    await turns();
    await session.configure({ graph: { ...graph, terminals: ["Check"] } });
    await expect(Promise.resolve(run)).rejects.toMatchObject({ reason: "InvalidTransition" });
    expect(resultOf(session.current())).toMatchObject({ code: "cancelled" });
  });
});

describe("a handler that calls a tool", () => {
  const callingAgent = (
    handle: StateHandler,
    tools: readonly Tool[],
    config: AgentConfigChange = {},
  ): Agent =>
    defineAgent({
      llm: new MockLlmCaller(() => answers("ok")),
      tools,
      config: { ...config, graph: { states: ["Charge"], rows, terminals: [] } },
      states: { Charge: handle },
    });

  it("reads a failed outcome for a blacklisted tool, which does not run", async () => {
    const charges: string[] = [];
    const outcomes: unknown[] = [];
    const handle: StateHandler = async (_, { callTool }) => {
      outcomes.push(await callTool("charge", { euros: 9 }));
      return "Charged";
    };
    const agent = callingAgent(handle, [chargeTool(charges)], { toolCalls: { blacklist: ["charge"] } });
    await using session = await new Restarts().open(agent);
    await session.ask("go");
    expect(charges).toEqual([]);
    expect(outcomes).toMatchObject([{ isSuccess: false, code: "blacklisted" }]);
  });

  it("reads a failed outcome for an input that is not JSON and for a tool that rejects", async () => {
    const outcomes: unknown[] = [];
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const rejecting: Tool = { ...chargeTool([]), run: () => Promise.reject(new Error("no connection")) };
    const handle: StateHandler = async (_, { callTool }) => {
      outcomes.push(await callTool("charge", circle), await callTool("charge", { euros: 9 }));
      return "Charged";
    };
    await using session = await new Restarts().open(callingAgent(handle, [rejecting]));
    await session.ask("go");
    expect(outcomes).toMatchObject([
      { code: "invalid-arguments" },
      { code: "tool-error", error: "no connection" },
    ]);
  });

  it("reads a failed outcome when the time of the tool is up, and does not wait any longer", async () => {
    const outcomes: unknown[] = [];
    const reasons: string[] = [];
    const hanging = toolOf(
      "charge",
      (_, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason.name));
        return never();
      },
      { timeoutMs: 1_000 },
    );
    const handle: StateHandler = async (_, { callTool }) => {
      outcomes.push(await callTool("charge", {}));
      return "Charged";
    };
    const world = new Restarts();
    await using session = await world.open(callingAgent(handle, [hanging]));
    const run = session.ask("go");
    await turns();
    world.clock.advance(1_000);
    await run;
    expect(outcomes).toMatchObject([{ code: "timeout" }]);
    expect(reasons).toEqual(["TimeoutError"]);
  });

  it("reads a failed outcome for an unknown tool and for arguments that do not fit", async () => {
    const outcomes: unknown[] = [];
    const agent = defineAgent({
      llm: new MockLlmCaller(() => answers("ok")),
      tools: [chargeTool([])],
      config: { graph: { states: ["Charge"], rows, terminals: [] } },
      states: {
        async Charge(_, { callTool }) {
          outcomes.push(await callTool("refund", {}), await callTool("charge", { euros: "nine" }));
          return "Charged";
        },
      },
    });
    await using session = await new Restarts().open(agent);
    await session.ask("go");
    expect(outcomes).toMatchObject([{ code: "unknown-tool" }, { code: "invalid-arguments" }]);
  });
});

describe("calls that are settled while a custom state holds them", () => {
  it("are a finished batch when the next state is one of running calls", async () => {
    const held = Promise.withResolvers<string>();
    const agent = defineAgent({
      llm: new MockLlmCaller([callsTools([{ name: "charge", arguments: { euros: 9 } }]), answers("Paid.")]),
      tools: [chargeTool([])],
      config: {
        graph: graphOf({ Planning: { LlmToolCall: "Check" }, Check: { Go: "Acting" } }),
      },
      states: { Check: { replay: "safe", handle: () => held.promise } },
    });
    await using session = startSession(agent);
    const run = session.ask("Pay.");
    await turns();
    expect(await session.settle("call_1", { content: "paid by hand" })).toMatchObject({ status: "accepted" });
    held.resolve("Go");
    expect((await run).text).toBe("Paid.");
  });
});
