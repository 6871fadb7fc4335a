import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  applyInputs,
  BuildError,
  defineAgent,
  defineContext,
  defineTeam,
  defineTool,
  effectsAt,
  initialStateOf,
  openSession,
  performEffect,
  readSession,
  runTask,
  startSession,
  type Agent,
  type AgentState,
  type NeedsContext,
  type Tool,
  type ToolContext,
} from "../src/index.ts";
import { graphOf } from "@moora/testbed/graph-of";

interface User {
  readonly user: string;
}

interface Database {
  readonly read: (user: string) => string;
}

const user = defineContext<User>();
const database = defineContext<User & { readonly database: Database }>();

const whoAmI = defineTool({
  name: "who_am_i",
  description: "Returns the user.",
  input: z.object({}),
  replay: "safe",
  context: user,
  execute: (_, { context }) => context.user,
});

const readRow = defineTool({
  name: "read_row",
  description: "Reads the row of the user.",
  input: z.object({ id: z.number() }),
  replay: "safe",
  context: database,
  execute: ({ id }, { context }) => `${id}: ${context.database.read(context.user)}`,
});

const plain = defineTool({
  name: "plain",
  description: "Needs nothing.",
  input: z.object({}),
  execute: (_, context) => JSON.stringify(Object.keys(context)),
});

const given = { user: "ada", database: { read: (name: string) => `row of ${name}` } };

const llm = (...names: readonly string[]) =>
  new MockLlmCaller([
    ...names.map((name) => callsTools([{ name, arguments: name === "read_row" ? { id: 7 } : {} }])),
    answers("Done."),
  ]);

const resultsOf = ({ toolCalls }: Pick<AgentState, "toolCalls">) =>
  Object.values(toolCalls).map(({ result }) => (result?.isSuccess === true ? result.content : result?.error));

describe("the context of a session", () => {
  it("reaches the tools that need it, and only those", async () => {
    const agent = defineAgent({ llm: llm("who_am_i", "read_row", "plain"), tools: [whoAmI, readRow, plain] });
    const session = startSession(agent, { context: given });
    await session.ask("Who am I?");
    const [who, row, keys] = resultsOf(session.current());
    expect([who, row]).toEqual(["ada", "7: row of ada"]);
    expect(keys).toContain("toolCallId");
    expect(keys).not.toContain("context");
  });

  it("is never in the log, and each opening gives its own", async () => {
    const log = memoryLog();
    const context = (name: string) => ({
      user: name,
      toJSON(): never {
        throw new Error("The context was converted to JSON.");
      },
    });
    const agent = defineAgent({
      llm: new MockLlmCaller([
        callsTools([{ name: "who_am_i", arguments: {} }]),
        answers("Ada."),
        callsTools([{ name: "who_am_i", arguments: {} }]),
        answers("Bob."),
      ]),
      tools: [whoAmI],
    });
    for (const name of ["ada", "bob"]) {
      await using session = await openSession(agent, {
        log,
        id: "one",
        owner: "host",
        context: context(name),
      });
      await session.ask("Who am I?");
    }
    const { inputs } = await readSession(log, "one");
    const contents = inputs.flatMap((input) =>
      input.type === "tool-call-completed" && input.result.isSuccess ? [input.result.content] : [],
    );
    expect(contents).toEqual(["ada", "bob"]);
    expect(JSON.stringify(inputs)).not.toContain('"context"');
  });

  it("reaches the handlers of custom states, and the tools that they call", async () => {
    const seen: string[] = [];
    const agent = defineAgent({
      llm: llm(),
      tools: [readRow],
      context: user,
      config: {
        graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Checked: "Done" } }),
      },
      states: {
        async Check(_, { context, callTool }) {
          expectTypeOf(context).toEqualTypeOf<User>();
          const outcome = await callTool("read_row", { id: 1 });
          seen.push(context.user, outcome.isSuccess ? outcome.content : outcome.error);
          return "Checked";
        },
      },
    });
    await runTask(agent, "Check it.", { context: given });
    expect(seen).toEqual(["ada", "1: row of ada"]);
  });

  it("is passed on to sub-agents, in memory and in a log", async () => {
    for (const log of [undefined, memoryLog()]) {
      const below = defineAgent({ llm: llm("read_row"), tools: [readRow] });
      const seen: string[] = [];
      const middle = agentTool(below, {
        name: "middle",
        description: "Reads.",
        ...(log === undefined ? {} : { log }),
        onSession: (session) =>
          void session.onInput((_, state) => seen.push(...resultsOf(state).map(String))),
      });
      const top = defineAgent({
        llm: new MockLlmCaller([
          callsTools([{ name: "middle", arguments: { task: "Read." } }]),
          answers("Done."),
        ]),
        tools: [middle],
      });
      await runTask(top, "Read the row.", { context: given });
      expect(seen).toContain("7: row of ada");
    }
  });

  it("reaches every agent of a team", async () => {
    const front = defineAgent({
      llm: new MockLlmCaller([callsTools([{ name: "hand_off", arguments: { agent: "back" } }])]),
    });
    const back = defineAgent({ llm: llm("who_am_i"), tools: [whoAmI] });
    const team = defineTeam({
      agents: {
        front: { agent: front, description: "Greets." },
        back: { agent: back, description: "Knows who the user is." },
      },
      start: "front",
    });
    const { state } = await runTask(team, "Who am I?", { context: { user: "ada" } });
    expect(resultsOf(state)).toContain("ada");
  });

  it("reaches the effects that a host performs without a session", async () => {
    const agent = defineAgent({ llm: llm("who_am_i"), tools: [whoAmI] });
    let state = initialStateOf(agent);
    const dispatch = (...inputs: Parameters<typeof applyInputs>[1]): boolean => {
      const applied = applyInputs(state, inputs);
      state = applied.state;
      return applied.applied > 0;
    };
    dispatch({ type: "user-message-received", messageId: "m", content: "Who am I?", timestamp: 1 });
    for (let effect = Object.values(effectsAt(state))[0]; effect !== undefined;) {
      await performEffect(agent, effect, state, { dispatch, sessionId: "one", context: { user: "ada" } });
      effect = Object.values(effectsAt(state))[0];
    }
    expect(resultsOf(state)).toEqual(["ada"]);
  });

  it("reaches the probe of a tool", async () => {
    const probed: string[] = [];
    const clock = new TestClock();
    const charge = defineTool({
      name: "charge",
      description: "Charges.",
      input: z.object({}),
      context: user,
      execute: () => new Promise<string>(() => undefined),
      probe(_, { context }) {
        probed.push(context.user);
        return { output: "charged" };
      },
    });
    const agent = defineAgent({ llm: llm("charge"), tools: [charge] });
    const first = startSession(agent, { context: { user: "ada" }, clock });
    void first.send("Charge.");
    await expect
      .poll(() => Object.values(effectsAt(first.current() as AgentState))[0]?.type)
      .toBe("call-tool");
    const { streaming: _, ...rest } = first.current();
    await first.close();
    const second = startSession(agent, { state: rest, context: { user: "bob" }, clock });
    await second.running();
    expect(probed).toEqual(["bob"]);
  });
});

describe("a context that is missing", () => {
  const agent = defineAgent({ llm: llm(), tools: [whoAmI] });

  it("is a type error, and an error that names who needs it", async () => {
    // @ts-expect-error The agent has a tool that needs a context.
    expect(() => startSession(agent)).toThrow(
      new BuildError("The tool who_am_i needs a context. Give startSession the option context."),
    );
    // @ts-expect-error The same for a task.
    expect(() => runTask(agent, "Hello.")).toThrow("Give runTask the option context.");
    // @ts-expect-error The same for a session in a log.
    await expect(openSession(agent, { log: memoryLog(), id: "one" })).rejects.toMatchObject({
      code: "InvalidOption",
      message: "The tool who_am_i needs a context. Give openSession the option context.",
    });
    // @ts-expect-error A part of the context is missing.
    startSession(defineAgent({ llm: llm(), tools: [whoAmI, readRow] }), { context: { user: "ada" } });
    // @ts-expect-error The context has another type.
    startSession(agent, { context: { user: 7 } });
  });

  it("is an error of every agent that passes it on", () => {
    const tool = agentTool(agent, { name: "below", description: "Asks." });
    const top = defineAgent({ llm: llm(), tools: [tool] });
    // @ts-expect-error The sub-agent needs the context.
    expect(() => startSession(top)).toThrow("The tool below needs a context.");
    const team = defineTeam({ agents: { one: { agent, description: "Answers." } }, start: "one" });
    // @ts-expect-error An agent of the team needs it.
    expect(() => startSession(team)).toThrow("The tool who_am_i needs a context.");
  });

  it("is found where the types of the tools are not known", () => {
    const tools: readonly Tool[] = [whoAmI];
    const untyped = defineAgent({ llm: llm(), tools });
    expect(() => startSession(untyped)).toThrow("The tool who_am_i needs a context.");
    const session = startSession(untyped, { context: { user: "ada" } });
    expect(session.questions()).toEqual([]);
  });

  it("is not needed to post to a session or to read it", async () => {
    const log = memoryLog();
    const owner = await openSession(agent, { log, id: "one", context: { user: "ada" } });
    for (const access of ["post", "read"] as const) {
      await using session = await openSession(agent, { log, id: "one", access });
      expect(session.info().access).toBe(access);
    }
    await owner.close();
  });

  it("is refused in another form, as is a definition that defineContext did not make", () => {
    // @ts-expect-error A context is an object.
    expect(() => startSession(agent, { context: "ada" })).toThrow('context must be an object, got "ada".');
    const definition: unknown = { user: "ada" };
    const options = { llm: llm(), context: definition };
    // @ts-expect-error The definition has no type.
    expect(() => defineAgent(options)).toThrow("context must be what defineContext returned");
    const tool = { name: "t", description: "t", input: z.object({}), context: definition, execute: () => "" };
    // @ts-expect-error The same for a tool.
    expect(() => defineTool(tool)).toThrow("context of the tool t must be what defineContext returned");
  });
});

describe("the types of a context", () => {
  it("are those that all tools and handlers need together", () => {
    const agent = defineAgent({ llm: llm(), context: user, tools: [whoAmI, readRow, plain] });
    expectTypeOf(agent).toExtend<Agent & NeedsContext<User & { readonly database: Database }>>();
    expectTypeOf(agent).not.toExtend<NeedsContext<unknown>>();
    expectTypeOf(whoAmI).toExtend<Tool & NeedsContext<User>>();
  });

  it("are the same for tools and agents that are defined in place", () => {
    const agent = defineAgent({
      llm: llm(),
      tools: [
        defineTool({ name: "t", description: "Has no need.", input: z.object({}), execute: () => "" }),
        agentTool(defineAgent({ llm: llm() }), { name: "sub", description: "Has no need either." }),
      ],
    });
    type Own = Tool<Record<string, never>, string, "t", Record<string, never>>;
    expectTypeOf(agent).toEqualTypeOf<Agent<string, unknown, Own | Tool>>();
    const needy = defineAgent({
      llm: llm(),
      tools: [
        defineTool({
          name: "t",
          description: "Needs a user.",
          input: z.object({}),
          context: user,
          execute: (_, { context }) => context.user,
        }),
      ],
    });
    expectTypeOf(needy).toExtend<NeedsContext<User>>();
    expectTypeOf(needy).not.toExtend<NeedsContext<unknown>>();
  });

  it("leave agents, tools and sessions without a context as they are", () => {
    const agent = defineAgent({ llm: llm(), tools: [plain] });
    expectTypeOf(agent).toEqualTypeOf<Agent<string, unknown, typeof plain>>();
    type Nothing = Record<string, never>;
    expectTypeOf(plain).toEqualTypeOf<Tool<Nothing, string, "plain", Nothing>>();
    expectTypeOf<Parameters<typeof startSession<string, unknown>>["length"]>().toEqualTypeOf<1 | 2>();
    defineTool({
      name: "typed",
      description: "Has the context of any tool.",
      input: z.object({}),
      execute(_, context) {
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return "";
      },
    });
  });
});
