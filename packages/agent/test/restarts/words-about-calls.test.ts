import type { LogRecord } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  openSession,
  type Agent,
  type Tool,
  type AgentConfigChange,
} from "../../src/index.ts";
import { callsThenAnswers, never, questionOf, Restarts, resultOf, textOf, turns } from "./restarts.ts";

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** A tool that has its effect and is then interrupted. */
const pay = (options: Partial<Parameters<typeof defineTool>[0]> = {}): Tool =>
  defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ euros: z.number() }),
    execute: () => {
      runs += 1;
      return never();
    },
    ...options,
  });

const agentWith = (tools: readonly Tool[], config: AgentConfigChange = {}): Agent =>
  defineAgent({ llm: callsThenAnswers({ name: "pay", arguments: { euros: 9 } }), tools, config });

/** No sentence about a call that began may say that it did not run. */
const notRun = /not run|before it ran|was not|never ran/i;

describe("what the model reads of a call that had its effect", () => {
  it("a call that was admitted but never began did not run, and the model reads so", async () => {
    const world = new Restarts();
    const asking = agentWith([pay({ replay: "keyed" })], { approval: { policy: "always" } });
    const first = await world.open(asking);
    await first.send("go");
    await turns();
    await first.close();
    // It is approved while no process runs the session.
    const poster = await world.open(asking, { access: "post" });
    await poster.decide(questionOf(poster), "approve");
    await poster.close();
    await using next = await world.open(agentWith([]));
    expect(runs).toBe(0);
    expect(resultOf(next.current())).toMatchObject({ code: "tool-changed" });
    expect(textOf(resultOf(next.current()))).toBe("Not run. The tool was changed or removed.");
  });

  const withNote = z.object({ euros: z.number(), note: z.optional(z.string()) });

  it("a call that waits for an approval does not run with a tool that takes other arguments", async () => {
    const world = new Restarts();
    const config = { approval: { policy: "always" as const } };
    const first = await world.open(agentWith([pay()], config));
    first.ask("go").then(undefined, () => undefined);
    await turns();
    const question = questionOf(first);
    await using next = await world.open(agentWith([pay({ input: withNote })], config));
    expect(next.questions()).toEqual([]);
    expect(await next.decide(question, "approve")).toMatchObject({ status: "ignored" });
    expect(runs).toBe(0);
    expect(resultOf(next.current())).toMatchObject({ code: "tool-changed" });
  });

  it("a question about its outcome stays open when its tool changes", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay({ onUnknown: "ask" })]));
    await world.open(agentWith([pay({ onUnknown: "ask" })]));
    await using next = await world.open(
      agentWith([pay({ onUnknown: "ask", input: z.object({}), description: "Other." })]),
    );
    expect(questionOf(next).about).toBe("outcome");
    expect(runs).toBe(1);
  });

  it("a question about its outcome that expires leaves it unknown", async () => {
    const world = new Restarts();
    const config = { approval: { policy: "never" as const, expiresAfterMs: 60_000 } };
    await world.crash(agentWith([pay({ onUnknown: "ask" })], config));
    await using next = await world.open(agentWith([pay({ onUnknown: "ask" })], config));
    world.clock.advance(60_001);
    await turns();
    expect(resultOf(next.current())).toMatchObject({ code: "outcome-unknown" });
    expect(textOf(resultOf(next.current()))).toContain("Nobody reported its outcome in time.");
  });

  it("a cancel while its outcome is asked about says that it may have had its effect", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay({ onUnknown: "ask" })]));
    await using next = await world.open(agentWith([pay({ onUnknown: "ask" })]));
    await next.cancel();
    expect(resultOf(next.current())).toMatchObject({ code: "cancelled-after-start" });
    expect(textOf(resultOf(next.current()))).not.toMatch(notRun);
  });

  it("a cancel before its second attempt began says that it may have had its effect", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay({ replay: "keyed" })]));
    const log = withSessions(world.log, (session) => ({
      append: (expectedSeq: number, records: readonly LogRecord[]) =>
        records.some(({ body }) => body.includes('"tool-call-started"'))
          ? never()
          : session.append(expectedSeq, records),
    }));
    void openSession(agentWith([pay({ replay: "keyed" })]), {
      log,
      id: "ada",
      clock: world.clock,
      owner: "host",
    });
    await turns();
    await using poster = await world.open(agentWith([pay({ replay: "keyed" })]), { access: "post" });
    await poster.cancel();
    expect(runs).toBe(1);
    expect(resultOf(poster.current())).toMatchObject({ code: "cancelled-after-start" });
  });

  it("a call that is given up after three crashes may have had its effect", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay({ replay: "keyed" })]));
    for (let crash = 0; crash < 3; crash += 1) await world.open(agentWith([pay({ replay: "keyed" })]));
    await using reader = await world.open(agentWith([]), { access: "read" });
    expect(runs).toBe(3);
    expect(resultOf(reader.current())).toMatchObject({ code: "crash-loop" });
    expect(textOf(resultOf(reader.current()))).toContain("It may have had its effect.");
  });

  it("arguments that the code of the next release refuses do not prove that the call did not run", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay({ replay: "keyed" })]));
    const stricter = pay({
      replay: "keyed",
      input: z.object({ euros: z.number() }).check(z.refine(() => false, "No.")),
    });
    expect(stricter.definition.schema).toBe(pay().definition.schema);
    await using next = await world.open(agentWith([stricter]));
    expect(runs).toBe(1);
    expect(resultOf(next.current())).toMatchObject({ code: "outcome-unknown" });
  });
});

describe("a refusal after an effect", () => {
  it("does not keep the effect from the model: a note names the calls, and their results can be loaded", async () => {
    let calls = 0;
    const llm = new MockLlmCaller(({ messages }) => {
      calls += 1;
      if (calls === 1) return callsTools([{ name: "pay", arguments: { euros: 5 } }]);
      if (calls === 2) return fails("refusal");
      const loads = messages.at(-1)?.role !== "assistant";
      return loads
        ? callsTools([{ name: "load_tool_results", arguments: { ids: ["call_1"] } }])
        : answers("ok");
    });
    const tool = pay({ execute: () => "paid 5 euros, receipt 77" });
    await using session = await new Restarts().open(defineAgent({ llm, tools: [tool] }));
    await session.ask("Pay 5 euros").then(undefined, () => undefined);
    await session.ask("Did you pay?");
    const [, , first, second] = llm.requests;
    expect(
      first?.messages.some(
        (message) => message.role === "note" && message.text.includes("pay (id call_1) succeeded"),
      ),
    ).toBe(true);
    expect(first?.tools.map(({ name }) => name)).toContain("load_tool_results");
    expect(JSON.stringify(first?.messages)).not.toContain("receipt 77");
    expect(JSON.stringify(second?.messages)).toContain("receipt 77");
  });
});
