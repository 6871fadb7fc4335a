import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  startSession,
  type Agent,
  type AgentConfigChange,
  type StateWrapper,
} from "../../src/index.ts";
import { never, questionOf, Restarts, turns } from "./restarts.ts";
import { graphOf } from "@moora/testbed/graph-of";

const payTool = (paid: number[], ask: "always" | "never" = "never") =>
  defineTool({
    name: "pay",
    description: "Pays.",
    approval: ask,
    input: z.object({ euros: z.number() }),
    execute: ({ euros }) => {
      paid.push(euros);
      return "paid";
    },
  });

interface Wrapped {
  readonly states: Readonly<Record<string, StateWrapper>>;
  readonly paid?: number[];
  readonly approval?: "always" | "never";
  readonly config?: AgentConfigChange;
  readonly script?: ConstructorParameters<typeof MockLlmCaller>[0];
}

const pays = callsTools([{ name: "pay", arguments: { euros: 5 } }]);

const agentWith = ({
  states,
  paid = [],
  approval,
  config = {},
  script = [pays, answers("Done.")],
}: Wrapped): Agent =>
  defineAgent({ llm: new MockLlmCaller(script), tools: [payTool(paid, approval)], states, config });

const walkOf = (session: ReturnType<typeof startSession>): readonly string[] =>
  session.trace().entries.map(({ from, event, to }) => `${from} ${event} ${to}`);

describe("code before and after a built-in state", () => {
  it("runs around it, and what it does not decide continues as ever", async () => {
    const seen: string[] = [];
    const note = (name: string): StateWrapper => ({
      before: (_, { event }) => void seen.push(`before ${name}: ${event}`),
      after: (_, { event }) => void seen.push(`after ${name}: ${event}`),
    });
    const paid: number[] = [];
    const states = { Planning: note("Planning"), Acting: note("Acting"), Observing: note("Observing") };
    const session = startSession(agentWith({ states, paid }));
    expect((await session.ask("go")).text).toBe("Done.");
    expect(paid).toEqual([5]);
    expect(seen).toEqual([
      "before Planning: Start",
      "after Planning: LlmToolCall",
      "before Acting: LlmToolCall",
      "after Acting: ToolSuccess",
      "before Observing: ToolSuccess",
      "after Observing: Continue",
      "before Planning: Continue",
      "after Planning: LlmFinalAnswer",
    ]);
    expect(walkOf(session).slice(0, 4)).toEqual([
      "Idle Start BeforePlanning",
      "BeforePlanning Start Planning",
      "Planning LlmToolCall AfterPlanning",
      "AfterPlanning LlmToolCall BeforeActing",
    ]);
  });

  it("may replace it: with an event that leads out of the state, nothing of it runs", async () => {
    const paid: number[] = [];
    const states: Wrapped["states"] = { Acting: { before: () => "ToolFailure" } };
    const session = startSession(agentWith({ states, paid }));
    await session.ask("go");
    expect(paid).toEqual([]);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
      code: "not-run",
    });
  });

  it("may send an answer back, with a note for the model", async () => {
    let answered = 0;
    const states: Wrapped["states"] = {
      Planning: {
        after: (_, { event }) => {
          if (event !== "LlmFinalAnswer" || answered++ > 0) return undefined;
          return { event: "AnswerInvalid", note: "Name the sum." };
        },
      },
    };
    const session = startSession(agentWith({ states, script: [answers("No."), answers("5 euros.")] }));
    expect((await session.ask("go")).text).toBe("5 euros.");
  });

  it("returns only events of the table: another one ends the loop", async () => {
    const paid: number[] = [];
    const states: Wrapped["states"] = { Acting: { before: () => "LlmFinalAnswer" } };
    const session = startSession(agentWith({ states, paid }));
    await expect(session.ask("go")).rejects.toMatchObject({ kind: "InvalidTransition" });
    expect(paid).toEqual([]);
  });

  it("goes round no approval, no blacklist and no limit", async () => {
    const paid: number[] = [];
    const pass: StateWrapper = { before: () => undefined, after: () => undefined };
    const states = { Planning: pass, Acting: pass, WaitingForHuman: pass };
    const session = startSession(agentWith({ states, paid, approval: "always" }));
    session.onEvent(() => undefined);
    await session.send("go");
    await session.settled();
    expect(paid).toEqual([]);
    const [question] = session.questions();
    if (question === undefined) throw new Error("No question.");
    await session.decide(question, { approve: { euros: 3 } });
    await session.settled();
    expect(paid).toEqual([3]);
    expect(session.current().reActContext.control.type).toBe("Done");

    const listed = startSession(agentWith({ states, paid, config: { toolCalls: { blacklist: ["pay"] } } }));
    await listed.ask("go");
    expect(paid).toEqual([3]);
    const limited = startSession(
      agentWith({ states, paid, config: { limits: { maxSteps: 1 } }, script: () => pays }),
    );
    await expect(limited.ask("go")).rejects.toMatchObject({ reason: "MaxSteps" });
    expect(paid).toEqual([3, 5]);
  });

  it("is canceled with the loop, and the state that it precedes does not begin", async () => {
    const paid: number[] = [];
    const states: Wrapped["states"] = { Acting: { before: () => never() } };
    const session = startSession(agentWith({ states, paid }));
    const run = session.ask("go");
    await turns();
    await session.cancel();
    await expect(run).rejects.toMatchObject({ kind: "Cancelled" });
    expect(paid).toEqual([]);
  });

  it("runs again after a crash only if it says so, and no call runs twice by it", async () => {
    for (const replay of ["safe", "once"] as const) {
      const paid: number[] = [];
      let attempts = 0;
      const states: Wrapped["states"] = {
        Acting: { replay, before: () => (++attempts === 1 ? never() : undefined) },
      };
      const world = new Restarts();
      await world.crash(agentWith({ states, paid }));
      const next = await world.open(agentWith({ states, paid, script: [answers("Done.")] }));
      await next.settled();
      expect(paid).toEqual(replay === "safe" ? [5] : []);
      expect(next.current().reActContext.control.type).toBe(replay === "safe" ? "Done" : "Error");
    }
  });

  it("before a question waits for it, also over a crash", async () => {
    const pass: StateWrapper = { before: () => undefined };
    const world = new Restarts();
    const given = { states: { WaitingForHuman: pass }, approval: "always" } as const;
    await world.crash(agentWith(given));
    const next = await world.open(agentWith({ ...given, script: [answers("Done.")] }));
    expect(questionOf(next)).toMatchObject({ toolCallId: "call_1", name: "pay" });
  });

  it.each([
    ["a handler", "Acting", () => "ToolSuccess", "The state Acting is built in. Give it { before, after }"],
    ["a misspelled side", "Acting", { befor: () => undefined }, 'of states.Acting. Did you mean "before"?'],
    ["a value", "Acting", { after: "x" }, 'states.Acting.after must be a function, got "x".'],
    ["the end in Error", "Error", { before: () => undefined }, "states.Error"],
    ["what follows Done", "Done", { after: () => undefined }, "No row leads to the state AfterDone"],
  ])("is refused where it cannot run: %s", (_, name, state, message) => {
    const states = JSON.parse("{}");
    states[name] = state;
    expect(() => agentWith({ states })).toThrow(message);
  });
});

describe("a row of the graph that is removed", () => {
  it("ends the loop where its event fires", async () => {
    const graph = graphOf({ Planning: { LlmToolCall: null } });
    const paid: number[] = [];
    const session = startSession(agentWith({ states: {}, paid, config: { graph } }));
    await expect(session.ask("go")).rejects.toMatchObject({ kind: "InvalidTransition" });
    expect(paid).toEqual([]);
  });
});
