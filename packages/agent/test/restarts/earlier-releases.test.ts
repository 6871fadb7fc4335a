import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  defineAgent,
  defineTool,
  rerunSession,
  verifySession,
  type Agent,
  type AgentConfigChange,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, never, questionOf, Restarts, resultOf, textOf, turns } from "./restarts.ts";

/** Hangs at its first attempt and works at each later one; `more` is what a release changes. */
const pay = (ran: string[], more: object = {}): Tool =>
  defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ amount: z.number() }),
    replay: "keyed",
    ...more,
    execute: (input: unknown, { attempt, idempotencyKey }) => {
      ran.push(`${JSON.stringify(input)} ${idempotencyKey}`);
      return attempt === 1 ? never() : "paid";
    },
  });

const transfer = { name: "transfer", formerNames: ["pay"] };

/** The input of a later release, and the conversion of what earlier ones recorded. */
const inCents = {
  input: z.object({ cents: z.number() }),
  upcast: ({ amount }: { readonly amount: number }) => ({ cents: amount * 100 }),
};

const call = { name: "pay", arguments: { amount: 7 } };

const agentWith = (tools: readonly Tool[], config: AgentConfigChange = {}): Agent =>
  defineAgent({ llm: callsThenAnswers(call), tools, config });

describe("a tool that was renamed between two processes", () => {
  it("keeps the open approval of a call", async () => {
    const ran: string[] = [];
    const policy = { approval: { policy: "always" as const } };
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], policy));
    const next = await world.open(agentWith([pay(ran, transfer)], policy));
    await next.decide(questionOf(next), "approve");
    await turns();
    expect(ran).toHaveLength(1);
    await next.close();
  });

  it("checks the arguments of a reviewer by its schema", async () => {
    const ran: string[] = [];
    const policy = { approval: { policy: "always" as const } };
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], policy));
    const next = await world.open(agentWith([pay(ran, transfer)], policy));
    await expect(next.decide(questionOf(next), { approve: { amount: "all" } })).rejects.toMatchObject({
      code: "invalid-arguments",
    });
    await next.close();
  });

  it("needs the approval that the policy requires of its new name", async () => {
    const ran: string[] = [];
    const other = defineTool({ name: "wait", description: "Waits.", input: z.object({}), execute: never });
    const llm = callsThenAnswers({ name: "wait" }, call);
    const one = { toolCalls: { maxParallel: 1 } };
    const world = new Restarts();
    await world.crash(defineAgent({ llm, tools: [other, pay(ran)], config: one }));
    const config = { ...one, approval: { policy: { tools: ["transfer"] } } };
    const next = await world.open(defineAgent({ llm, tools: [other, pay(ran, transfer)], config }));
    expect(questionOf(next)).toMatchObject({ name: "pay", about: "approval" });
    expect(ran).toEqual([]);
    await next.close();
  });

  it("counts calls with its former name in its maxParallel", async () => {
    let running = 0;
    const one = (name: string, formerNames: readonly string[]): Tool =>
      defineTool({
        name,
        formerNames,
        description: "Waits.",
        input: z.object({}),
        replay: "safe",
        maxParallel: 1,
        execute: () => {
          running += 1;
          return never();
        },
      });
    const llm = callsThenAnswers({ name: "old" }, { name: "old" });
    const world = new Restarts();
    await world.crash(defineAgent({ llm, tools: [one("old", [])] }));
    running = 0;
    const next = await world.open(defineAgent({ llm, tools: [one("new", ["old"])] }));
    expect(running).toBe(1);
    await next.close();
  });

  it("records a call with its former name, which a model repeats, under its new one", async () => {
    const ran: string[] = [];
    await using session = await new Restarts().open(agentWith([pay(ran, transfer)]));
    session.ask("go").then(undefined, () => undefined);
    await turns();
    expect(session.current().toolCalls["call_1"]?.name).toBe("transfer");
    expect(ran).toHaveLength(1);
  });

  it("gets its recorded results in a rerun", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)]));
    await (await world.open(agentWith([pay(ran)]))).close();
    const llm = callsThenAnswers({ ...call, name: "transfer" });
    const later = defineAgent({ llm, tools: [pay(ran, transfer)] });
    const rerun = await rerunSession(later, world.log, "ada", { from: 0 });
    expect(rerun).toMatchObject({ unrecordedCalls: 0 });
    expect(textOf(resultOf(rerun.state))).toBe("paid");
    expect(ran).toHaveLength(2);
  });

  it("continues the session of a sub-agent", async () => {
    const log = memoryLog();
    const tasks: string[] = [];
    const helper = (isDown: boolean): Agent =>
      defineAgent({
        name: "helper",
        llm: new MockLlmCaller(({ messages }) => {
          tasks.push(`${messages.length}`);
          return isDown ? never() : answers("helped");
        }),
      });
    const options = { description: "Helps.", log };
    const llm = callsThenAnswers({ name: "help", arguments: { task: "Help." } });
    const world = new Restarts();
    const before = agentTool(helper(true), { ...options, name: "help" });
    await world.crash(defineAgent({ llm, tools: [before] }));
    const after = agentTool(helper(false), { ...options, name: "assist", formerNames: ["help"] });
    const next = await world.open(defineAgent({ llm, tools: [after] }));
    await next.settled();
    expect(textOf(resultOf(next.current()))).toBe("helped");
    expect(await log.list()).toHaveLength(1);
    await next.close();
  });
});

describe("a tool that takes other arguments than before", () => {
  it("runs an interrupted call with the converted ones", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)]));
    const next = await world.open(agentWith([pay(ran, inCents)]));
    expect(ran.map((line) => line.split(" ")[0])).toEqual(['{"amount":7}', '{"cents":700}']);
    expect(next.current().toolCalls["call_1"]?.parameters).toBe('{"amount":7}');
    await next.close();
    expect(await verifySession(world.log, "ada")).toMatchObject({ ok: true });
  });

  it("fails a call with the former ones, which a model makes anew", async () => {
    const ran: string[] = [];
    await using session = await new Restarts().open(agentWith([pay(ran, inCents)]));
    session.ask("go").then(undefined, () => undefined);
    await turns();
    expect(ran).toEqual([]);
    expect(resultOf(session.current())).toMatchObject({ code: "invalid-arguments" });
  });

  it("refuses the former ones as changes of a reviewer, and keeps the question open", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], { approval: { policy: "always" } }));
    const next = await world.open(agentWith([pay(ran, inCents)], { approval: { policy: "always" } }));
    const question = questionOf(next);
    await expect(next.decide(question, { approve: { amount: 5 } })).rejects.toMatchObject({
      code: "invalid-arguments",
    });
    expect(await next.decide(question, { approve: { cents: 500 } })).toMatchObject({ status: "accepted" });
    await turns();
    expect(ran.map((line) => line.split(" ")[0])).toEqual(['{"cents":500}']);
    await next.close();
  });
});

describe("a tool whose input changes and changes back", () => {
  const asks: AgentConfigChange = { approval: { policy: "always" } };

  it("runs a call with the arguments that the first release has recorded", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], asks));
    await world.open(agentWith([pay(ran, inCents)], asks));
    const back = await world.open(agentWith([pay(ran)], asks));
    await back.decide(questionOf(back), "approve");
    await turns();
    expect(ran.map((line) => line.split(" ")[0])).toEqual(['{"amount":7}']);
    await back.close();
    expect(await verifySession(world.log, "ada")).toMatchObject({ ok: true });
  });

  it("fails a call with arguments that a reviewer has made for the release between", async () => {
    const ran: string[] = [];
    const once = { replay: "once" };
    const held = defineTool({ name: "hold", description: "Holds.", input: z.object({}), execute: never });
    const one: AgentConfigChange = { ...asks, toolCalls: { maxParallel: 1 } };
    const agentOf = (more: object): Agent =>
      defineAgent({
        llm: callsThenAnswers({ name: "hold" }, call),
        tools: [held, pay(ran, { ...once, ...more })],
        config: one,
      });
    const world = new Restarts();
    await world.crash(agentOf({}));
    const next = await world.open(agentOf(inCents));
    const questions = next.questions();
    for (const question of questions) {
      const isPay = question.name === "pay";
      await next.decide(question, isPay ? { approve: { cents: 5 } } : "approve");
    }
    await turns();
    await using back = await world.open(agentOf({}));
    expect(resultOf(back.current(), "call_2")).toMatchObject({ code: "tool-changed" });
    expect(ran).toEqual([]);
  });
});

describe("a tool that becomes riskier", () => {
  const asks: AgentConfigChange = { approval: { policy: "always" } };
  const critical = { risk: "critical" };

  it("takes no decision on the question that was asked before, and asks anew", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], asks));
    const first = await world.open(agentWith([pay(ran)], asks));
    const shown = questionOf(first);
    const next = await world.open(agentWith([pay(ran, critical)], asks));
    expect(await next.decide(shown, "approve")).toEqual({ status: "ignored", reason: "digest-mismatch" });
    expect(questionOf(next)).toMatchObject({ risk: "critical" });
    await next.decide(questionOf(next), "approve");
    await turns();
    expect(ran).toHaveLength(1);
    await next.close();
  });

  it("asks again about a call that was approved and may run again", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    const first = await world.open(agentWith([pay(ran)], asks));
    first.ask("go").then(undefined, () => undefined);
    await turns();
    await first.decide(questionOf(first), "approve");
    await turns();
    expect(ran).toHaveLength(1);
    const next = await world.open(agentWith([pay(ran, critical)], asks));
    await turns();
    expect(ran).toHaveLength(1);
    expect(questionOf(next)).toMatchObject({ risk: "critical" });
    await next.close();
  });

  it("keeps the question of a call if the risk falls or stays", async () => {
    const world = new Restarts();
    await world.crash(agentWith([pay([], critical)], asks));
    const first = questionOf(await world.open(agentWith([pay([], critical)], asks)));
    const next = await world.open(agentWith([pay([], { risk: "low", description: "Pays now." })], asks));
    expect(questionOf(next).digest).toBe(first.digest);
    await next.close();
  });
});

describe("a tool that was retired", () => {
  const other = defineTool({ name: "other", description: "x", input: z.object({}), execute: () => "ok" });

  it("fails a call that the model repeats, with the names of the tools that there are", async () => {
    const world = new Restarts();
    await using session = await world.open(agentWith([other]));
    await session.ask("go");
    expect(resultOf(session.current())).toMatchObject({
      code: "unknown-tool",
      error: "There is no tool pay. There are: other.",
    });
  });
});

describe("any sequence of releases", () => {
  it("ends a call that each of them can run with one result, under one idempotency key", async () => {
    const changes = fc.array(fc.constantFrom("rename", "cents", "same"), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, fc.boolean(), async (releases, opensAll) => {
        const ran: string[] = [];
        const world = new Restarts();
        const names = ["pay"];
        let form: object = {};
        const release = (): Agent => {
          const [name, ...formerNames] = names.toReversed();
          return defineAgent({
            llm: new MockLlmCaller(({ messages }) =>
              messages.some(({ role }) => role === "assistant") ? answers("done") : callsTools([call]),
            ),
            tools: [pay(ran, { ...form, name, formerNames })],
          });
        };
        await world.crash(release());
        for (const [index, change] of releases.entries()) {
          if (change === "rename") names.push(`pay_${index}`);
          if (change === "cents") form = inCents;
          if (opensAll) await (await world.open(release())).close();
        }
        const last = await world.open(release());
        await last.settled();
        expect(textOf(resultOf(last.current()))).toBe("paid");
        expect(Object.keys(last.current().toolCalls)).toEqual(["call_1"]);
        expect(new Set(ran.map((line) => line.split(" ")[1])).size).toBe(1);
        await last.close();
        expect(await verifySession(world.log, "ada")).toMatchObject({ ok: true });
      }),
      { numRuns: 30 },
    );
  });
});
