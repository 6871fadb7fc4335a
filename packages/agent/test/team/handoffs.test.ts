import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineData,
  defineTeam,
  defineTool,
  forkSession,
  openSession,
  readSession,
  rerunSession,
  runTask,
  startSession,
  stateAt,
  verifySession,
  type Agent,
  type AgentEvent,
  type AgentOptions,
  type TeamOptions,
} from "../../src/index.ts";
import { failureOf, settled, toolOf } from "../support.ts";

const handsOff = (agent: string, message?: string) =>
  callsTools([{ name: "hand_off", arguments: { agent, ...(message === undefined ? {} : { message }) } }]);

type Script = Readonly<Record<"triage" | "billing", MockScript>>;

/** A team of two agents, each with a model and a tool of its own. */
function teamOf(
  script: Script,
  {
    team = {},
    options = {},
  }: {
    readonly team?: Partial<TeamOptions>;
    readonly options?: Partial<Record<keyof Script, Partial<AgentOptions>>>;
  } = {},
): { readonly team: Agent; readonly llms: Readonly<Record<keyof Script, MockLlmCaller>> } {
  const llms = { triage: new MockLlmCaller(script.triage), billing: new MockLlmCaller(script.billing) };
  const agentOf = (name: keyof Script): Agent =>
    defineAgent({
      llm: llms[name],
      systemPrompt: `You are ${name}.`,
      tools: [toolOf(`look_${name}`, () => `seen by ${name}`)],
      ...options[name],
    });
  return {
    llms,
    team: defineTeam({
      agents: {
        triage: { agent: agentOf("triage"), description: "Finds out what the user needs." },
        billing: { agent: agentOf("billing"), description: "Invoices and refunds." },
      },
      start: "triage",
      ...team,
    }),
  };
}

const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await settled();
};

describe("a handoff", () => {
  it("gives the conversation to the other agent: its model, prompt and tools, in one record", async () => {
    const { team, llms } = teamOf({
      triage: [callsTools([{ name: "look_triage" }]), handsOff("billing", "An invoice is wrong.")],
      billing: [callsTools([{ name: "look_billing" }]), answers("It is corrected.")],
    });
    const session = startSession(team);
    expect(session.current().activeAgent).toBe("triage");
    const events: AgentEvent[] = [];
    const applied: string[] = [];
    session.onEvent((event) => void events.push(event));
    session.onInput((input, { activeAgent }) => {
      if (activeAgent === "billing") applied.push(input.type);
    });
    expect((await session.ask("My invoice is wrong.")).text).toBe("It is corrected.");
    expect(session.current()).toMatchObject({
      activeAgent: "billing",
      config: { systemPrompt: "You are billing." },
    });
    expect(applied[0]).toBe("tool-call-completed");
    expect(events).toContainEqual({
      type: "HandedOff",
      from: "triage",
      to: "billing",
      message: "An invoice is wrong.",
    });
    const [first] = llms.billing.requests;
    expect(first?.system).toBe("You are billing.");
    expect(first?.tools.map(({ name }) => name)).toEqual(["look_billing", "hand_off"]);
    expect(first?.messages.map(({ role }) => role)).toEqual(["user", "note"]);
    expect(JSON.stringify(first?.messages)).toContain(
      "triage has handed this conversation over to you: An invoice",
    );
    expect(JSON.stringify(first?.messages)).not.toContain("seen by triage");
    expect(session.current().toolCalls["call_3"]?.result).toMatchObject({ content: "seen by billing" });
  });

  it("keeps the answers of the other agent, and hides its calls also in later requests", async () => {
    const { team, llms } = teamOf({
      triage: [callsTools([{ name: "look_triage" }]), answers("Hello, Ada."), handsOff("billing")],
      billing: [answers("Paid."), handsOff("triage"), answers("never")],
    });
    const session = startSession(team);
    await session.ask("Hello.");
    await session.ask("Pay it.");
    const shown = JSON.stringify(llms.billing.requests[0]?.messages);
    expect(shown).toContain("Hello, Ada.");
    expect(shown).not.toContain("look_triage");
    expect(shown).not.toContain("hand_off");
    expect(llms.billing.requests[0]?.tools.map(({ name }) => name)).not.toContain("find_tool_calls");
  });

  it("back is possible, and each agent answers while it has the conversation", async () => {
    const { team } = teamOf({
      triage: [handsOff("billing"), answers("Anything else?")],
      billing: [handsOff("triage")],
    });
    const { text, state } = await runTask(team, "q");
    expect(text).toBe("Anything else?");
    expect(state.activeAgent).toBe("triage");
    expect(state.transcript.filter(({ type }) => type === "handoff")).toHaveLength(2);
  });

  it("of two agents forever is bounded by the limit for one message", async () => {
    const { team } = teamOf(
      { triage: () => handsOff("billing"), billing: () => handsOff("triage") },
      { team: { maxHandoffs: 3 }, options: { billing: { config: { limits: { maxSteps: 4 } } } } },
    );
    const session = startSession(team);
    await failureOf(session.ask("q"));
    const { transcript, toolCalls, activeAgent } = session.current();
    expect(transcript.filter(({ type }) => type === "handoff")).toHaveLength(3);
    expect(activeAgent).toBe("billing");
    expect(toolCalls["call_4"]?.result).toMatchObject({
      code: "not-handed-over",
      says: ["tooManyHandoffs", 3],
    });
  });

  it("does not run in a turn with other calls: those run, and the model reads why", async () => {
    const { team, llms } = teamOf({
      triage: [
        callsTools([
          { name: "hand_off", arguments: { agent: "billing" } },
          { name: "look_triage" },
          { name: "hand_off", arguments: { agent: "billing" } },
        ]),
        answers("Still here."),
      ],
      billing: [],
    });
    const { state, text } = await runTask(team, "q");
    expect(text).toBe("Still here.");
    expect(state.activeAgent).toBe("triage");
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ code: "not-handed-over" });
    expect(state.toolCalls["call_2"]?.result).toMatchObject({ content: "seen by triage" });
    expect(state.toolCalls["call_3"]?.result).toMatchObject({ code: "not-handed-over" });
    expect(JSON.stringify(llms.triage.requests[1]?.messages)).toContain("in a turn without other calls");
  });

  it.each(["triage", "shipping"])("to %s is not a possible argument", async (agent) => {
    const { team } = teamOf({ triage: [handsOff(agent), answers("Here.")], billing: [] });
    const { state } = await runTask(team, "q");
    expect(state.activeAgent).toBe("triage");
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ code: "invalid-arguments" });
  });

  it("waits for an approval if the policy asks for one, and a rejected one changes nothing", async () => {
    const asks = { team: { approval: "always" } } as const;
    const run = async (decision: "approve" | "reject") => {
      const { team } = teamOf(
        { triage: [handsOff("billing"), answers("Mine.")], billing: [answers("Theirs.")] },
        asks,
      );
      const onApproval = () => (decision === "approve" ? decision : { reject: "No." });
      return (await runTask(team, "q", { onApproval })).text;
    };
    expect(await run("approve")).toBe("Theirs.");
    expect(await run("reject")).toBe("Mine.");
  });

  it("that was not completed before a cancel does not apply; one that was stays", async () => {
    const waiting = teamOf(
      { triage: [handsOff("billing")], billing: [] },
      { options: { triage: { config: { approval: { policy: "always" } } } } },
    );
    const session = startSession(waiting.team);
    session.onEvent(() => undefined);
    await session.send("q");
    await rest();
    await session.cancel();
    expect(session.current().activeAgent).toBe("triage");

    const done = teamOf({ triage: [handsOff("billing")], billing: [hangs(), answers("Billing here.")] });
    const other = startSession(done.team);
    await other.send("q");
    await rest();
    await other.cancel();
    expect(other.current().activeAgent).toBe("billing");
    expect((await other.ask("Hello?")).text).toBe("Billing here.");
  });

  it("gives the steps of the other agent, so that a short first one can hand over long work", async () => {
    const { team } = teamOf(
      {
        triage: [handsOff("billing")],
        billing: [
          callsTools([{ name: "look_billing" }]),
          callsTools([{ name: "look_billing" }]),
          answers("Done."),
        ],
      },
      { options: { triage: { config: { limits: { maxSteps: 2 } } } } },
    );
    expect((await runTask(team, "q")).text).toBe("Done.");
  });

  it("shows the application data again, since the note with it is one of the other agent", async () => {
    const data = defineData({ schema: z.object({ n: z.number() }), initial: { n: 1 } });
    const count = defineTool({
      name: "count",
      description: "Counts.",
      input: z.object({}),
      data,
      execute: (_, { update }) => String(update((draft) => (draft.n += 1)).n),
    });
    const llm = new MockLlmCaller([answers("Two.")]);
    const config = { showData: "changed" } as const;
    const first = new MockLlmCaller([callsTools([{ name: "count" }]), handsOff("b")]);
    const team = defineTeam({
      agents: {
        a: { agent: defineAgent({ llm: first, data, tools: [count], config }), description: "A." },
        b: { agent: defineAgent({ llm, data, tools: [count], config }), description: "B." },
      },
      start: "a",
    });
    const session = startSession(team);
    await session.ask("q");
    expect(session.current().data.n).toBe(2);
    const notes = llm.requests[0]?.messages.filter(({ role }) => role === "note") ?? [];
    expect(JSON.stringify(notes)).toContain('{\\"n\\":2}');
    expect(notes).toHaveLength(2);
  });
});

describe("a team in a log", () => {
  const script = (): Script => ({
    triage: ({ messages }) => (messages.length === 1 ? handsOff("billing") : answers("Triage.")),
    billing: ({ messages }) => (messages.at(-1)?.role === "user" ? answers("Again.") : answers("Billing.")),
  });

  it("continues with the agent that has the conversation, and verifies", async () => {
    const log = memoryLog();
    await using first = await openSession(teamOf(script()).team, { log, id: "ada" });
    expect((await first.ask("q")).text).toBe("Billing.");
    await first.close();
    await using second = await openSession(teamOf(script()).team, { log, id: "ada" });
    expect(second.current().activeAgent).toBe("billing");
    expect((await second.ask("And?")).text).toBe("Again.");
    await second.close();
    const { inputs } = await readSession(log, "ada");
    expect(inputs.filter(({ type }) => type === "agent-configured")).toEqual([]);
    expect(inputs.filter((input) => "handoff" in input)).toHaveLength(1);
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });

  it("can be forked before and after the handoff, and run again", async () => {
    const log = memoryLog();
    const { team } = teamOf(script());
    const session = await openSession(team, { log, id: "ada" });
    await session.ask("q");
    await session.close();
    const { inputs } = await readSession(log, "ada");
    const at = inputs.findIndex((input) => "handoff" in input);
    const before = await forkSession(log, "ada", at, { as: "before", open: "rerun" });
    const after = await forkSession(log, "ada", at + 1, { as: "after", open: "rerun" });
    expect([before.state.activeAgent, after.state.activeAgent]).toEqual(["triage", "billing"]);
    const { state, differences } = await rerunSession(teamOf(script()).team, log, "ada", { from: 0 });
    expect(state.activeAgent).toBe("billing");
    expect(differences).toEqual([]);
  });

  it("applies the release of the agent that has the conversation when it is opened", async () => {
    const log = memoryLog();
    const session = await openSession(teamOf(script()).team, { log, id: "ada" });
    await session.ask("q");
    await session.close();
    const next = teamOf(script(), { options: { billing: { systemPrompt: "You are the new billing." } } });
    await using opened = await openSession(next.team, { log, id: "ada" });
    expect(opened.current().config.systemPrompt).toBe("You are the new billing.");
  });

  it("is not opened without the agent that has the conversation", async () => {
    const log = memoryLog();
    const session = await openSession(teamOf(script()).team, { log, id: "ada" });
    await session.ask("q");
    await session.close();
    const agent = defineAgent({ name: "team", llm: new MockLlmCaller([]) });
    const other = defineTeam({ agents: { triage: { agent, description: "A." } }, start: "triage" });
    expect(await failureOf(openSession(other, { log, id: "ada" }))).toMatchObject({
      code: "WrongAgent",
      message: expect.stringContaining('is not an agent of the team "team"'),
    });
    expect(await failureOf(openSession(agent, { log, id: "ada" }))).toMatchObject({ code: "WrongAgent" });
    expect((await openSession(other, { log, id: "ada", access: "read" })).current().activeAgent).toBe(
      "billing",
    );
    expect(() => startSession(other, { state: session.current() })).toThrow(/is not an agent of the team/);
  });

  it("takes over the session of an agent that has become a team", async () => {
    const log = memoryLog();
    const agent = defineAgent({ name: "team", llm: new MockLlmCaller([answers("Hello.")]) });
    const session = await openSession(agent, { log, id: "ada" });
    await session.ask("Hello.");
    await session.close();
    await using opened = await openSession(teamOf({ ...script(), triage: [handsOff("billing")] }).team, {
      log,
      id: "ada",
    });
    expect(opened.current().activeAgent).toBe("triage");
    await opened.ask("q");
    await opened.close();
    expect((await stateAt(log, "ada")).state.activeAgent).toBe("billing");
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });
});

describe("defineTeam", () => {
  const llm = new MockLlmCaller([]);
  const agent = defineAgent({ llm });
  const described = { agent, description: "Does it." };
  // Callers without types may pass anything.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const define = (options: object) => () => defineTeam(options as TeamOptions);

  it.each<[string, object, RegExp]>([
    ["no agents", { agents: {}, start: "a" }, /start must be one of/],
    ["an unknown start", { agents: { a: described }, start: "b" }, /start must be one of "a", got "b"/],
    [
      "no description",
      { agents: { a: { agent, description: " " } }, start: "a" },
      /agents.a has no description/,
    ],
    [
      "a handoff to itself",
      { agents: { a: { ...described, handsOffTo: ["a"] } }, start: "a" },
      /agents.a.handsOffTo must have names of other agents/,
    ],
    [
      "no limit",
      { agents: { a: described }, start: "a", maxHandoffs: 0 },
      /maxHandoffs must be a positive integer/,
    ],
    [
      "another answer",
      {
        agents: { a: described, b: { ...described, agent: defineAgent({ llm, answer: z.object({}) }) } },
        start: "a",
      },
      /agents.b has another answer/,
    ],
    [
      "other data",
      {
        agents: {
          a: described,
          b: {
            ...described,
            agent: defineAgent({ llm, data: defineData({ schema: z.object({}), initial: {} }) }),
          },
        },
        start: "a",
      },
      /agents.b has other data/,
    ],
    [
      "another budget",
      {
        agents: {
          a: described,
          b: { ...described, agent: defineAgent({ llm, config: { budget: { maxTokens: 5 } } }) },
        },
        start: "a",
      },
      /agents.b has its own budget/,
    ],
    [
      "a tool of the reserved name",
      {
        agents: { a: { ...described, agent: defineAgent({ llm, tools: [toolOf("hand_off")] }) } },
        start: "a",
      },
      /which is reserved in a team/,
    ],
    [
      "a team in a team",
      {
        agents: {
          a: { ...described, agent: defineTeam({ agents: { b: described }, start: "b" }) },
        },
        start: "a",
      },
      /agents.a is a team/,
    ],
  ])("refuses %s", (_, options, problem) => {
    expect(define(options)).toThrow(problem);
  });
});
