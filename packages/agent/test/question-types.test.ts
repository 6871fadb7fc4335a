import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  askHuman,
  defineAgent,
  defineTool,
  startSession,
  type Agent,
  type AskHumanOptions,
  type Decision,
  type OutcomeDecision,
  type Question,
  type QuestionOf,
  type Receipt,
  type Session,
  type Tool,
  type ToolInput,
} from "../src/index.ts";

const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  input: z.object({ order: z.number(), reason: z.enum(["broken", "late"]) }),
  approval: "always",
  execute: ({ order }) => ({ refunded: order }),
});
const color = askHuman({
  name: "color",
  input: z.object({ of: z.string() }),
  answer: z.object({ color: z.enum(["red", "blue"]) }),
});
const agentOf = () => defineAgent({ llm: new MockLlmCaller([]), tools: [refund, color] });
type Shop = ReturnType<typeof agentOf>;
type Asked = QuestionOf<Shop>;

/** Never called: its calls are only compiled. */
type Uncalled = (session: Session<string, unknown, typeof refund | typeof color>) => void;

describe("a tool of askHuman", () => {
  it("has the types of its name, its question and its answer", () => {
    expectTypeOf(color).toEqualTypeOf<
      Tool<unknown, unknown, "color", { of: string }, { color: "red" | "blue" }>
    >();
    expectTypeOf(askHuman()).toEqualTypeOf<
      Tool<unknown, unknown, "ask_human", { readonly question: string }>
    >();
    expectTypeOf(askHuman({ name: "why", answer: { type: "string" } })).toExtend<Tool>();
    // @ts-expect-error The name is another one.
    expectTypeOf(color).toExtend<Tool<unknown, unknown, "shade">>();
  });

  it("has any types where its options are not known", () => {
    const options: AskHumanOptions = { name: "any" };
    const tool = askHuman(options);
    expectTypeOf(tool.name).toEqualTypeOf<string>();
    expectTypeOf<ToolInput<typeof tool>>().toEqualTypeOf<unknown>();
    // @ts-expect-error An option has another name.
    expect(() => askHuman({ answers: z.string() })).toThrow("Unknown option");
  });
});

describe("the questions of an agent", () => {
  it("are a union by tool and by what they are about", () => {
    type Refunds = Extract<Asked, { readonly name: "refund"; readonly about: "approval" }>;
    expectTypeOf<Refunds["parameters"]>().toEqualTypeOf<{
      readonly order: number;
      readonly reason: "broken" | "late";
    }>();
    expectTypeOf<Asked["about"]>().toEqualTypeOf<Question["about"]>();
    expectTypeOf<Asked>().toExtend<Question>();
    expectTypeOf<QuestionOf<Session<string, unknown, typeof refund>>["name"]>().toExtend<string>();
  });

  it("cannot be compared with the name of a tool that the agent does not have, other than as text", () => {
    const isColor = ({ name }: Asked): boolean => {
      // @ts-expect-error The agent does not have this tool.
      // oxlint-disable-next-line typescript/no-unsafe-enum-comparison
      if (name === "colr") return false;
      const anyName: string = name;
      return name === "color" || anyName === "mcp_color";
    };
    expectTypeOf(isColor).parameter(0).toEqualTypeOf<Asked>();
  });

  it("are of any tool without types", () => {
    expectTypeOf<QuestionOf<Agent>>().toEqualTypeOf<Question>();
    expectTypeOf<QuestionOf<Agent<unknown>>>().toEqualTypeOf<Question>();
    expectTypeOf<QuestionOf<unknown>>().toEqualTypeOf<Question>();
    expectTypeOf<ReturnType<Session["questions"]>>().toEqualTypeOf<readonly Question[]>();
  });
});

describe("a decision on a typed question", () => {
  it("has arguments that fit the tool", () => {
    const approve: Uncalled = (session) => {
      for (const question of session.questions()) {
        if (question.name !== "refund" || question.about !== "approval") continue;
        void session.decide(question, "approve");
        void session.decide(question, { reject: "No." });
        void session.decide(question, { approve: { order: 7, reason: "late" } });
        void session.decide(question, { approve: { ...question.parameters, order: 7 } }, "ada");
        // @ts-expect-error The order is a number.
        void session.decide(question, { approve: { order: "seven", reason: "late" } });
        // @ts-expect-error The reason is missing.
        void session.decide(question, { approve: { order: 7 } });
        // @ts-expect-error The tool does not have this argument.
        void session.decide(question, { approve: { order: 7, reason: "late", nope: 1 } });
        // @ts-expect-error An approval takes no answer.
        void session.decide(question, { answer: "Yes." });
      }
    };
    expectTypeOf(approve).toBeFunction();
  });

  it("has an answer that fits the schema", () => {
    const answer: Uncalled = (session) => {
      for (const question of session.questions()) {
        if (question.name !== "color" || question.about !== "answer") continue;
        expectTypeOf(question.parameters).toEqualTypeOf<{ readonly of: string }>();
        void session.decide(question, { answer: { color: "red" } });
        // @ts-expect-error Green is not one of the colors.
        void session.decide(question, { answer: { color: "green" } });
        // @ts-expect-error An answer is not an approval.
        void session.decide(question, "approve");
      }
    };
    expectTypeOf(answer).toBeFunction();
  });

  it("has an outcome", () => {
    const settle: Uncalled = (session) => {
      for (const question of session.questions()) {
        if (question.about !== "outcome") continue;
        const decision: OutcomeDecision = { outcome: "run-again" };
        void session.decide(question, decision);
        // @ts-expect-error An outcome is not an approval.
        void session.decide(question, "approve");
      }
    };
    expectTypeOf(settle).toBeFunction();
  });

  it("is any decision where the question may be of any tool", () => {
    const decide: Uncalled = (session) => {
      const decision: Decision = { approve: { anything: 1 } };
      for (const question of session.questions()) void session.decide(question, decision);
      void session.decide({ toolCallId: "call_1", digest: "d" }, decision);
    };
    expectTypeOf(decide).toBeFunction();
  });
});

describe("a typed session", () => {
  it("is a session without types", () => {
    const session = startSession(agentOf());
    expectTypeOf(session).toEqualTypeOf<Session<string, unknown, typeof refund | typeof color>>();
    expectTypeOf(session).toExtend<Session>();
    const first = (given: Session): Promise<Receipt> =>
      given.decide(given.questions()[0] ?? { toolCallId: "", digest: "" }, { approve: {} });
    expectTypeOf(first).toBeCallableWith(session);
    // @ts-expect-error The tools of this session are not those of the agent.
    expectTypeOf<Session>().toExtend<Session<string, unknown, typeof refund>>();
    expect(session.questions()).toEqual([]);
  });
});
