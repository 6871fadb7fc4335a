import { describe, expect, it } from "vitest";
import type { LogRecord } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  type Agent,
  type StateContext,
  type StateDefinition,
} from "../../src/index.ts";
import { never, Restarts, turns } from "./restarts.ts";

const rows = { Planning: { LlmFinalAnswer: "Charge" }, Charge: { Charged: "Done" } };

const chargeTool = (charges: string[]) =>
  defineTool({
    name: "charge",
    description: "Charges a card.",
    input: z.object({ euros: z.number() }),
    execute: (_, { idempotencyKey }) => {
      charges.push(idempotencyKey);
      return "charged";
    },
  });

interface Charging {
  readonly replay?: StateDefinition["replay"];
  readonly seen: StateContext[];
  readonly charges?: string[];
  readonly more?: Readonly<Record<string, string>>;
}

/** An agent that charges a card after its answer, and is interrupted after the first charge. */
const chargingAgent = ({ replay, seen, charges = [], more = {} }: Charging): Agent =>
  defineAgent({
    llm: new MockLlmCaller(() => answers("Your order is complete.")),
    tools: [chargeTool(charges)],
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

  it("is given up where it is interrupted each time", async () => {
    const hangs = (): Agent =>
      defineAgent({
        llm: new MockLlmCaller(() => answers("ok")),
        config: { graph: { states: ["Charge"], rows, terminals: [] }, maxToolAttempts: 2 },
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

describe("a handler that calls a tool", () => {
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
    const session = await new Restarts().open(agent);
    await session.ask("go");
    expect(outcomes).toMatchObject([{ code: "unknown-tool" }, { code: "invalid-arguments" }]);
    await session.close();
  });
});
