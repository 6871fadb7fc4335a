import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { asRead } from "@moora/testbed/as-read";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  askHuman,
  defineAgent,
  defineTool,
  InputRefused,
  memoryAt,
  runTask,
  startSession,
  type Approval,
  type Decision,
  type Question,
  type ToolDefinition,
} from "../../src/index.ts";
import { failureOf, scene, settled, toolOf, type Scene } from "../support.ts";

const paying = (
  names: readonly string[] = ["a"],
  config: NonNullable<Parameters<typeof scene>[1]>["config"] = {},
): Scene & { readonly ran: [string, unknown][] } => {
  const ran: [string, unknown][] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ to: z.string(), sum: z.number().max(100) }),
    execute: (input) => {
      ran.push([input.to, input]);
      return `paid ${input.sum} to ${input.to}`;
    },
  });
  const calls = names.map((to) => ({ name: "pay", arguments: { to, sum: 9 } }));
  const made = scene([callsTools(calls), answers("Done."), answers("Next.")], {
    tools: [pay],
    config: { approval: { policy: "always" }, ...config },
  });
  return { ...made, ran };
};

/** Asks, and waits until every call is a question. */
async function asking(made: Scene, count = 1): Promise<readonly Question[]> {
  void made.session.send("Pay.");
  await untilPasses(() => expect(made.session.questions()).toHaveLength(count));
  return made.session.questions();
}

const first = (questions: readonly Question[]): Question => {
  const [question] = questions;
  if (question === undefined) throw new Error("Nothing is asked.");
  return question;
};

const resultOf = ({ session }: Scene, id = "call_1"): unknown =>
  asRead(session.current().toolCalls[id]?.result);

describe("a question", () => {
  it("shows what is asked, parsed, and binds to its digest", async () => {
    const made = paying();
    const question = first(await asking(made));
    expect(question).toMatchObject({
      toolCallId: "call_1",
      about: "approval",
      name: "pay",
      parameters: { to: "a", sum: 9 },
      digest: expect.stringMatching(/^.{22}$/),
      due: null,
    });
    expect(made.session.questions()).toEqual([question]);
    expect(made.events.find(({ type }) => type === "ApprovalRequested")).toMatchObject({
      toolCallId: "call_1",
    });
  });

  it.each<[Question["reason"], Approval["policy"], Partial<ToolDefinition>]>([
    ["policy", "always", {}],
    ["policy", { tools: ["pay"] }, { risk: "medium" }],
    ["policy", "always", { risk: "high", approval: "always" }],
    ["risk", { above: "high" }, { risk: "critical" }],
    ["predicate", { predicate: "large" }, {}],
    ["tool", { above: "low" }, { approval: "always" }],
  ])("shows the risk of the call, and the reason %s under the policy %j", async (reason, policy, options) => {
    const agent = defineAgent({
      llm: new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]),
      tools: [toolOf("pay", () => "paid", options)],
      predicates: { large: () => true },
      config: { approval: { policy } },
    });
    await using session = startSession(agent);
    const shown: unknown[] = [];
    session.onEvent((event) => shown.push(event));
    await session.send("Pay.");
    await session.settled();
    const why = { reason, risk: options.risk ?? "low" };
    expect(session.questions()).toMatchObject([why]);
    expect(shown).toContainEqual(expect.objectContaining({ type: "ApprovalRequested", ...why }));
    expect(memoryAt(session.current()).pendingApproval).toMatchObject(why);
  });

  it("has the reason policy when the policy that asked is changed", async () => {
    const made = scene([callsTools([{ name: "pay" }]), answers("Done.")], {
      tools: [toolOf("pay", () => "paid", { risk: "high" })],
      config: { approval: { policy: { above: "high" } } },
    });
    await asking(made);
    await made.session.configure({ approval: { policy: "never" } });
    await made.session.settled();
    expect(made.session.questions()).toMatchObject([{ risk: "high", reason: "policy" }]);
    await made.session.close();
  });

  it.each<[string, Decision, object]>([
    ["yes", "approve", { isSuccess: true, content: "paid 9 to a" }],
    [
      "no",
      { reject: "too dear" },
      { isSuccess: false, code: "rejected", error: "A human rejected this call: too dear" },
    ],
    ["no, without a reason", { reject: "" }, { code: "rejected", error: "A human rejected this call." }],
    ["yes, but", { approve: { to: "b", sum: 1 } }, { isSuccess: true, content: "paid 1 to b" }],
    ["yes, but in text", { approve: '{"to":"c","sum":2}' }, { isSuccess: true, content: "paid 2 to c" }],
  ])("takes a decision of every form: %s", async (_, decision, result) => {
    const made = paying();
    const question = first(await asking(made));
    expect(await made.session.decide(question, decision, "ada")).toMatchObject({ status: "accepted" });
    await made.session.settled();
    expect(resultOf(made)).toMatchObject(result);
    expect(made.session.current().toolCalls["call_1"]?.decision).toMatchObject({ by: "ada" });
    expect(made.session.current().reActContext.control.type).toBe("Done");
  });

  it.each([
    ["no-reviewer", "Not run. No reviewer is available."],
    ["ada", "A human rejected this call: No reviewer is available."],
  ])("shows the model who has rejected: %s", async (by, error) => {
    const made = paying();
    const question = first(await asking(made));
    await made.session.decide(question, { reject: "No reviewer is available." }, by);
    await made.session.settled();
    expect(resultOf(made)).toMatchObject({ code: "rejected", error });
  });

  it("takes an answer where the call is itself a question to the human, and holds it to its schema", async () => {
    const made = scene(
      [callsTools([{ name: "ask_human", arguments: { question: "Which size?" } }]), answers("Done.")],
      {
        tools: [askHuman({ answer: z.object({ size: z.number() }) })],
      },
    );
    const question = first(await asking(made));
    expect(question.about).toBe("answer");
    const wrong = await failureOf(made.session.decide(question, { answer: { size: "big" } }));
    expect(wrong).toMatchObject({ code: "invalid-answer", path: "decision.answer" });
    expect(await made.session.decide(question, "approve")).toEqual({
      status: "ignored",
      reason: "wrong-decision",
    });
    await made.session.decide(question, { answer: { size: 42 } });
    await made.session.settled();
    expect(resultOf(made)).toMatchObject({ isSuccess: true, content: '{"size":42}' });
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  it.each<[string, unknown, string]>([
    ["arguments that do not fit the tool", { approve: { to: "a", sum: 101 } }, "invalid-arguments"],
    ["arguments that are not JSON text", { approve: "{bad" }, "invalid-arguments"],
    ["a number that is not kept", { approve: '{"to":"a","sum":9.0000000000000001}' }, "invalid-arguments"],
    ["arguments in a circle", { approve: circle }, "cyclic"],
    ["no arguments", { approve: undefined }, "not-json"],
    ["arguments with a bigint", { approve: { to: "a", sum: 1n } }, "not-json"],
    ["arguments with NaN", { approve: { to: NaN } }, "not-json"],
    ["arguments with undefined", { approve: { to: undefined } }, "not-json"],
    ["arguments with the key __proto__", { approve: JSON.parse('{"__proto__":1}') }, "hostile-key"],
    ["an answer with a Map", { answer: { sizes: new Map() } }, "not-json"],
    ["an answer with half of a surrogate pair", { answer: ["\ud800"] }, "ill-formed-string"],
    ["a result that is a promise", { outcome: "worked", result: Promise.resolve(1) }, "not-json"],
    ["a word", "perhaps", "invalid-decision"],
    ["nothing", null, "invalid-decision"],
    ["an object of another form", { yes: true }, "invalid-decision"],
    ["a reason that is not text", { reject: 7 }, "invalid-decision"],
  ])("refuses %s, and stays open", async (_, decision, code) => {
    const made = paying();
    const questions = await asking(made);
    const error = await failureOf(made.session.decide(first(questions), decision as Decision));
    expect(error).toBeInstanceOf(InputRefused);
    expect(error).toMatchObject({ code });
    expect(made.session.questions()).toEqual(questions);
    expect(made.ran).toEqual([]);
  });
});

describe("an approval of something else (H01)", () => {
  it("does not count: other arguments, another tool, another definition, another session, or none", async () => {
    const made = paying();
    const question = first(await asking(made));
    const digestOf = async (other: Scene): Promise<string> => first(await asking(other)).digest;
    const foreign = [
      await digestOf(paying(["b"])),
      await digestOf(
        scene([callsTools([{ name: "send", arguments: { to: "a", sum: 9 } }])], {
          tools: [toolOf("send")],
          config: { approval: { policy: "always" } },
        }),
      ),
      await digestOf(
        scene([callsTools([{ name: "pay", arguments: { to: "a", sum: 9 } }])], {
          tools: [toolOf("pay", () => "", { risk: "high" })],
          config: { approval: { policy: "always" } },
        }),
      ),
      await digestOf(
        scene([callsTools([{ name: "pay", arguments: { to: "a", sum: 9 } }])], {
          tools: [toolOf("pay")],
          options: { id: "bob" },
          config: { approval: { policy: "always" } },
        }),
      ),
      "",
      question.digest.toLowerCase(),
    ];
    for (const digest of foreign) {
      expect(digest).not.toBe(question.digest);
      for (const decision of ["approve", { approve: { to: "a", sum: 1 } }] as const) {
        expect(await made.session.decide({ ...question, digest }, decision)).toEqual({
          status: "ignored",
          reason: "digest-mismatch",
        });
      }
    }
    await settled();
    expect(made.ran).toEqual([]);
    expect(made.session.questions()).toEqual([question]);
  });
});

describe("what was approved is what runs (H02)", () => {
  it("whatever happens to the objects that the host still holds", async () => {
    const made = paying();
    const question = first(await asking(made));
    const change = { to: "b", sum: 1 };
    const deciding = made.session.decide(question, { approve: change });
    change.to = "thief";
    change.sum = 99;
    expect(() => Object.assign(Object(question.parameters), { to: "thief" })).toThrow(TypeError);
    await deciding;
    await made.session.settled();
    expect(made.ran).toEqual([["b", { to: "b", sum: 1 }]]);
    const record = made.session.current().toolCalls["call_1"];
    expect(record).toMatchObject({ parameters: '{"to":"b","sum":1}', original: '{"to":"a","sum":9}' });
    const logged = made.inputs.find(({ type }) => type === "tool-call-decided");
    expect(logged).toMatchObject({
      decision: { type: "modified", parameters: '{"to":"b","sum":1}', digest: record?.digest },
    });
  });
});

describe("two decisions about one question (H04)", () => {
  it.each<[string, Decision, Decision, number]>([
    ["approve twice", "approve", "approve", 1],
    ["approve, then reject", "approve", { reject: "no" }, 1],
    ["reject, then approve", { reject: "no" }, "approve", 0],
    ["change, then approve", { approve: { to: "b", sum: 1 } }, "approve", 1],
  ])("the first wins, one after the other and in the same tick: %s", async (_, one, two, runs) => {
    for (const together of [false, true]) {
      const made = paying();
      const question = first(await asking(made));
      const decide = (decision: Decision, by: string) => made.session.decide(question, decision, by);
      const receipts = together
        ? await Promise.all([decide(one, "ada"), decide(two, "bob")])
        : [await decide(one, "ada"), await decide(two, "bob")];
      expect(receipts).toEqual([
        { status: "accepted", seq: expect.any(Number) },
        { status: "ignored", reason: "already-decided", decidedBy: "ada" },
      ]);
      await made.session.settled();
      expect(made.ran).toHaveLength(runs);
    }
  });
});

describe("a decision after the cancel (G06)", () => {
  it("is late for an onApproval that still thinks, too", async () => {
    const decided = Promise.withResolvers<Decision>();
    const made = paying();
    const ran = vi.fn(() => "paid");
    const agent = defineAgent({
      llm: new MockLlmCaller([callsTools([{ name: "pay" }])]),
      tools: [toolOf("pay", ran)],
      config: { approval: { policy: "always" } },
    });
    const asked = vi.fn(() => decided.promise);
    const run = runTask(agent, "Pay.", { onApproval: asked });
    await untilPasses(() => expect(asked).toHaveBeenCalled());
    run.cancel();
    await failureOf(run);
    decided.resolve("approve");
    await settled();
    expect(ran).not.toHaveBeenCalled();
    await made.session.close();
  });
});

describe("an unanswered question that expires (H08)", () => {
  it("does not keep the session from being settled while it is open", async () => {
    const approval = {
      policy: "always",
      expiresAfterMs: 9_000,
      remindAfterMs: 500,
      escalateAfterMs: 800,
    } as const;
    const made = paying(["a"], { approval });
    await made.session.send("Pay.");
    await made.session.settled();
    expect(made.session.questions()).toHaveLength(1);
    await made.session.decide(first(made.session.questions()), "approve");
    await made.session.settled();
    expect(made.ran).toHaveLength(1);
  });
});

describe("an unanswered question", () => {
  it("says how often it was shown again, and whether that is a reminder or an escalation", async () => {
    const approval = { policy: "always", remindAfterMs: 1_000, escalateAfterMs: 1_500 } as const;
    const made = paying(["a"], { approval });
    await asking(made);
    for (const ms of [1_000, 500, 500]) {
      made.clock.advance(ms);
      await settled();
    }
    const shown = made.events.flatMap((event) =>
      event.type === "ApprovalRequested" ? [[event.reminder, event.escalated]] : [],
    );
    expect(shown).toEqual([
      [0, false],
      [1, false],
      [2, true],
      [3, true],
    ]);
    expect(made.session.questions()).toMatchObject([{ reminder: 3, escalated: true }]);
    await made.session.decide(first(made.session.questions()), "approve");
    await made.session.settled();
    expect(made.ran).toHaveLength(1);
  });
});

describe("a decision that is too large", () => {
  const many = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`k${index}`, 1]));

  it.each([{ approve: many }, { answer: many }])("by its number of keys is refused: %#", async (decision) => {
    const made = paying(["a"], { approval: { policy: "always" } });
    const question = first(await asking(made));
    await expect(made.session.decide(question, decision)).rejects.toMatchObject({
      code: "too-large",
      message: expect.stringContaining("More than 100000 keys and items"),
    });
    expect(made.session.questions()).toHaveLength(1);
  });

  it("by the length of its answer is cut to the limit of results", async () => {
    const llm = new MockLlmCaller([
      callsTools([{ name: "ask_human", arguments: { question: "Why?" } }]),
      answers("I see."),
    ]);
    const agent = defineAgent({
      llm,
      tools: [askHuman({ answer: z.string() })],
      runLimits: { maxResultLength: 200 },
    });
    const onApproval = (): Decision => ({ answer: "because ".repeat(1_000) });
    const { state } = await runTask(agent, "Ask me.", { onApproval });
    const result = state.toolCalls["call_1"]?.result;
    expect(result).toMatchObject({ isSuccess: true, content: expect.stringContaining("8000") });
    expect(result?.isSuccess === true && result.content.length <= 200).toBe(true);
  });
});
