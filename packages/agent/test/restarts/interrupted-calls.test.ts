import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  verifySession,
  type Agent,
  type AgentConfigChange,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, never, Restarts, resultOf, textOf, turns } from "./restarts.ts";

/** A call that has its effect in a first process, which crashes, and what the next one makes of it. */
interface Situation {
  /** What differs from a tool that is `keyed`. */
  readonly tool?: object;
  /** What the next release changes of the tool; null removes it. */
  readonly change: object | null;
  /** The configuration of the next release. */
  readonly config?: AgentConfigChange;
  /** The attempts that have run. */
  readonly attempts: readonly number[];
  readonly result: object;
}

const transfer = { name: "transfer", formerNames: ["pay"] };
const euros = z.object({ euros: z.number() });
const withNote = z.object({ euros: z.number(), note: z.optional(z.string()) });
const inCents = { input: z.object({ cents: z.number() }) };
const safe = { replay: "safe" };
const once = { replay: "once" };
const unprobed = { ...once, probe: () => expect.unreachable() };

const isUnknown = { isSuccess: false, code: "outcome-unknown" };
const isUnknownAfterOne = { attempts: [1], result: isUnknown };
const isPaidAfterTwo = { attempts: [1, 2], result: { isSuccess: true, content: "paid" } };

const situations: Readonly<Record<string, Situation>> = {
  "runs again with a tool that has another description": {
    change: { description: "Pays money.", risk: "high" },
    ...isPaidAfterTwo,
  },
  "runs again with a safe tool that has another description": {
    tool: safe,
    change: { description: "Pays money." },
    ...isPaidAfterTwo,
  },
  "asks the probe of a tool that was renamed": {
    tool: { ...once, probe: () => ({ output: "found" }) },
    change: transfer,
    attempts: [1],
    result: { isSuccess: true, content: "found" },
  },
  "does not run again where the new name of its tool is blacklisted": {
    change: transfer,
    config: { toolCalls: { blacklist: ["transfer"] } },
    ...isUnknownAfterOne,
  },
  "does not run again where its tool is blacklisted": {
    change: {},
    config: { toolCalls: { blacklist: ["pay"] } },
    ...isUnknownAfterOne,
  },
  "counts one crash as one attempt where its tool may run only once from now on": {
    change: { ...once, probe: () => "not-run" },
    attempts: [1, 3],
    result: { isSuccess: true, content: "paid" },
  },
  "does not run again where the tool is removed": { change: null, ...isUnknownAfterOne },
  "does not run again where a safe tool is removed": { tool: safe, change: null, ...isUnknownAfterOne },
  "does not run again where the tool may run only once from now on": { change: once, ...isUnknownAfterOne },
  "does not run again with a tool that takes other arguments": { change: inCents, ...isUnknownAfterOne },
  "does not run again with a tool that takes other arguments, although its own would fit": {
    change: { input: withNote },
    ...isUnknownAfterOne,
  },
  "is not probed with a tool that its arguments do not fit": {
    tool: unprobed,
    change: { input: z.object({ euros: z.number().max(5) }) },
    ...isUnknownAfterOne,
  },
  "does not run again where the conversion of its arguments throws": {
    change: {
      ...inCents,
      upcast: () => {
        throw new Error("Unknown form.");
      },
    },
    ...isUnknownAfterOne,
  },
  "does not run again where the conversion returns what does not fit": {
    change: { ...inCents, upcast: () => ({ cents: "many" }) },
    ...isUnknownAfterOne,
  },
};

describe("a call that had its effect before a crash", () => {
  it.each(Object.entries(situations))("%s", async (_, { tool, change, config = {}, attempts, result }) => {
    const ran: number[] = [];
    const keys = new Set<string>();
    const pay = (more: object): Tool =>
      defineTool({
        name: "pay",
        description: "Pays.",
        input: euros,
        replay: "keyed",
        ...tool,
        ...more,
        execute: (_input: unknown, { attempt, idempotencyKey }) => {
          ran.push(attempt);
          keys.add(idempotencyKey);
          return attempt === 1 ? never() : "paid";
        },
      });
    const llm = callsThenAnswers({ name: "pay", arguments: { euros: 9 } });
    const agentWith = (tools: readonly Tool[], changed: AgentConfigChange): Agent =>
      defineAgent({ llm, tools, config: changed });
    const world = new Restarts();
    await world.crash(agentWith([pay({})], {}));
    await using next = await world.open(agentWith(change === null ? [] : [pay(change)], config));
    await turns();
    expect([ran, keys.size]).toEqual([attempts, 1]);
    expect(resultOf(next.current())).toMatchObject(result);
    // No sentence about a call that began may say that it did not run.
    expect(textOf(resultOf(next.current()))).not.toMatch(/not run|before it ran|was not|never ran/i);
    expect(await verifySession(world.log, "ada")).toMatchObject({ ok: true });
  });
});
