import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { defineTool, type ApprovalPredicate } from "../../src/index.ts";
import { World, type WorldOptions } from "../world.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: z.object({ sum: z.number() }),
  execute: ({ sum }) => `paid ${sum}`,
});

const paying = (options: WorldOptions & { readonly arguments?: unknown } = {}): World =>
  new World({
    script: [
      callsTools([{ name: "pay", arguments: JSON.stringify(options.arguments ?? { sum: 5 }) }]),
      answers("Done."),
    ],
    tools: [pay],
    ...options,
  }).say("Pay.");

const predicate = (...asks: readonly ApprovalPredicate[]): WorldOptions => ({
  config: { approval: { policy: { predicate: "big" } } },
  parts: { predicates: Object.fromEntries(asks.map((ask) => ["big", ask])) },
});

const odd =
  (value: unknown): ApprovalPredicate =>
  () =>
    value as boolean;

describe("whether a human is asked", () => {
  it.each<[string, ApprovalPredicate]>([
    ["says yes", () => true],
    ["says yes later", async () => true],
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["forgets to answer", odd(undefined)],
    ["answers with something else", odd(0)],
  ])("is needed where the predicate %s", async (_, ask) => {
    const world = await paying(predicate(ask)).settle();
    expect(world.keys).toEqual(["ask/call_1/1/1/0"]);
  });

  it("is needed where the predicate is missing", async () => {
    expect((await paying(predicate()).settle()).keys).toEqual(["ask/call_1/1/1/0"]);
  });

  it.each<[string, ApprovalPredicate]>([
    ["says no", () => false],
    ["says no later", async () => false],
  ])("is not needed where the predicate %s", async (_, ask) => {
    expect((await paying(predicate(ask)).settle()).state.reActContext.control.type).toBe("Done");
  });

  it("is asked of the predicate with name and parameters as the model wrote them", async () => {
    const ask = vi.fn(() => false);
    await paying(predicate(ask)).settle();
    expect(ask.mock.calls).toEqual([[{ name: "pay", parameters: '{"sum":5}' }]]);
  });

  it("is not needed for arguments that cannot run, under every policy", async () => {
    const ask = vi.fn(() => true);
    for (const options of [predicate(ask), { config: { approval: { policy: "always" as const } } }]) {
      for (const bad of [{ sum: "five" }, {}, [1]]) {
        const world = await paying({ ...options, arguments: bad }).settle();
        expect(world.state.toolCalls["call_1"]?.result).toMatchObject({ code: "invalid-arguments" });
        expect(world.state.reActContext.control.type).toBe("Done");
      }
    }
    expect(ask).not.toHaveBeenCalled();
  });

  it("is not needed for an unknown tool", async () => {
    const world = await paying({ ...predicate(() => true), tools: [] }).settle();
    expect(world.state.toolCalls["call_1"]?.result).toMatchObject({ code: "unknown-tool" });
  });

  it("is left to the policy where a check written by hand throws", async () => {
    const check = (): never => {
      throw new Error("broken");
    };
    const tools = [{ ...pay, check }];
    const careful = await paying({ tools, config: { approval: { policy: "always" } } }).settle();
    expect(careful.keys).toEqual(["ask/call_1/1/1/0"]);
    expect((await paying({ tools }).settle()).results[0]?.content).toBe("paid 5");
  });

  it("is not asked of the predicate where the tool has a rule of its own", async () => {
    const ask = vi.fn(() => true);
    const free = { ...pay, definition: { ...pay.definition, approval: "never" as const } };
    const world = await paying({ ...predicate(ask), tools: [free] }).settle();
    expect(world.state.reActContext.control.type).toBe("Done");
    expect(ask).not.toHaveBeenCalled();
  });
});

describe("the digest of a call", () => {
  it("is stamped where a human may have to decide, now or about its outcome, and nowhere else", async () => {
    const unknown = { ...pay, definition: { ...pay.definition, onUnknown: "ask" as const } };
    const asking = await paying({ config: { approval: { policy: "always" } } }).settle();
    const [plain, asksLater] = [await paying().settle(), await paying({ tools: [unknown] }).settle()];
    expect(plain.state.toolCalls["call_1"]).not.toHaveProperty("digest");
    for (const world of [asking, asksLater])
      expect(world.state.toolCalls["call_1"]?.digest).toContain("session");
  });

  it("is of the session, the call, its name, its bytes and the tool's definition (H01)", async () => {
    const ask = { config: { approval: { policy: "always" as const } } };
    const digestOf = async (options: WorldOptions & { readonly arguments?: unknown }): Promise<unknown> =>
      (await paying({ ...ask, ...options }).settle()).state.toolCalls["call_1"]?.digest;
    const risky = { ...pay, definition: { ...pay.definition, risk: "high" as const } };
    const digests = [
      await digestOf({}),
      await digestOf({ arguments: { sum: 6 } }),
      await digestOf({ host: { sessionId: "another" } }),
      await digestOf({ tools: [risky] }),
    ];
    expect(new Set(digests).size).toBe(4);
    expect(await digestOf({})).toBe(digests[0]);
  });
});

describe("an answer", () => {
  const answering = (problem: (answer: string) => string | undefined | Promise<string | undefined>): World =>
    new World({
      script: [answers("four"), answers("4")],
      parts: { answerProblem: problem },
      config: { retries: { maxAnswerRetries: 1 } },
    }).say("2+2?");
  const says = (answer: string): string | undefined => (answer === "4" ? undefined : "not a digit.");

  it.each([
    ["at once", says],
    ["later", async (answer: string) => says(answer)],
  ])("that does not fit is asked for again, when that is known %s", async (_, problem) => {
    const world = await answering(problem).settle();
    expect(world.state.reActContext.control).toMatchObject({ type: "Done", answer: "4" });
    expect(JSON.stringify(world.llm.requests[1]?.messages.at(-1))).toContain("not a digit.");
  });

  it.each([
    [
      "throws",
      (): never => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject<string>(new Error("broken"))],
  ])("counts as one that does not fit where its check %s", async (_, problem) => {
    const world = await answering(problem).settle();
    expect(world.state.reActContext.control).toMatchObject({
      type: "Error",
      failure: { kind: "AnswerInvalid", message: "It could not be checked: broken" },
    });
  });

  it("is not looked at where the model calls a tool", async () => {
    const problem = vi.fn(() => undefined);
    const world = paying({ parts: { answerProblem: problem } });
    await world.settle();
    expect(problem.mock.calls).toEqual([["Done.", null]]);
  });
});
