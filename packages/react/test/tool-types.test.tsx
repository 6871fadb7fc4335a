// @vitest-environment happy-dom
import {
  defineAgent,
  defineTeam,
  defineTool,
  startSession,
  toolReply,
  type Agent,
  type Decision,
  type Session,
  type Tool,
  type ToolReply,
} from "@moora/agent";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, type JSX } from "react";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import {
  AgentProvider,
  useAgent,
  useMessage,
  type Chat,
  type OtherToolName,
  type ToolCallOf,
  type ToolCallPart,
} from "../src/index.ts";
import { Screen } from "./support.tsx";

const find = defineTool({
  name: "find",
  description: "Finds trees.",
  input: z.object({ size: z.string().transform(Number), near: z.string().default("here") }),
  execute: async ({ size }) => ({ trees: [size, null], at: new Date(0), note: undefined }),
});
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: z.object({ cents: z.number() }),
  approval: "always",
  execute: ({ cents }) => ({ paid: cents }),
});
const draw = defineTool({
  name: "draw",
  description: "Draws.",
  input: { type: "object" },
  execute: (): ToolReply =>
    toolReply({ content: "A tree.", files: [{ mediaType: "image/png", url: "data:image/png;base64,AA==" }] }),
});
const say = defineTool({
  name: "say",
  description: "Says a text.",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});

const agentOf = (script: MockScript) =>
  defineAgent({ llm: new MockLlmCaller(script), tools: [find, pay, draw, say] });
type Helper = ReturnType<typeof agentOf>;
type Call = ToolCallOf<Helper>;
type Named<Name extends string, Of extends ToolCallPart = Call> = Extract<Of, { readonly name: Name }>;

type FindCall = ToolCallPart<
  "find",
  { readonly size: string; readonly near?: string | undefined },
  { readonly trees: readonly (number | null)[]; readonly at: string; readonly note: undefined }
>;

describe("the types of tool calls", () => {
  it("are what the model writes, and the JSON of what the tool returns", () => {
    expectTypeOf<Named<"find">>().toEqualTypeOf<FindCall>();
    expectTypeOf<Named<"pay">["output"]>().toEqualTypeOf<{ readonly paid: number } | undefined>();
    expectTypeOf<Named<"say">["input"]>().toEqualTypeOf<{ readonly text: string } | undefined>();
    expectTypeOf<Named<"say">["output"]>().toEqualTypeOf<unknown>();
    expectTypeOf<Named<"draw">["output"]>().toEqualTypeOf<unknown>();
  });

  it("follow the name, and leave unknown what other names have", () => {
    const show = (call: Call): unknown => {
      if (call.name === "pay") return expectTypeOf(call).toEqualTypeOf<Named<"pay">>();
      if (call.name === "find" || call.name === "draw" || call.name === "say") return call.input;
      return expectTypeOf(call).toEqualTypeOf<ToolCallPart<OtherToolName>>();
    };
    expectTypeOf(show).parameter(0).toExtend<ToolCallPart>();
  });

  it("are those of all agents of a team", () => {
    const [first, second] = [
      defineAgent({ llm: new MockLlmCaller([]), tools: [find] }),
      defineAgent({ llm: new MockLlmCaller([]), tools: [pay] }),
    ];
    const team = defineTeam({
      agents: {
        first: { agent: first, description: "Finds." },
        second: { agent: second, description: "Pays." },
      },
      start: "first",
    });
    expectTypeOf(team).toExtend<Agent>();
    expectTypeOf<ToolCallOf<typeof team>["name"]>().toEqualTypeOf<"find" | "pay" | OtherToolName>();
  });

  it("are wide without tools, and for tools whose types are not known", () => {
    const plain = defineAgent({ llm: new MockLlmCaller([]) });
    const tools: readonly Tool[] = [find];
    const listed = defineAgent({ llm: new MockLlmCaller([]), tools });
    const mixed = defineAgent({ llm: new MockLlmCaller([]), tools: [pay, ...tools] });
    expectTypeOf(plain).toEqualTypeOf<Agent>();
    expectTypeOf(listed).toEqualTypeOf<Agent>();
    expectTypeOf<ToolCallOf<typeof plain>>().toEqualTypeOf<ToolCallPart>();
    expectTypeOf<ToolCallOf<typeof mixed>["name"]>().toEqualTypeOf<"pay" | OtherToolName>();
    expectTypeOf<ToolCallOf<unknown>>().toEqualTypeOf<ToolCallPart>();
    expectTypeOf<ToolCallOf<Agent<unknown>>>().toEqualTypeOf<ToolCallPart>();
  });

  it("do not hinder a helper for any agent", () => {
    const start = (agent: Agent<unknown>): Session<unknown> => startSession(agent);
    expectTypeOf(start).toBeCallableWith(agentOf([]));
    expectTypeOf<Chat<unknown, Call>>().toExtend<Chat>();
    expectTypeOf<Helper>().not.toExtend<Agent<string, unknown, typeof pay>>();
  });
});

beforeEach(() => void vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));
afterEach(() => void vi.unstubAllGlobals());

/** The calls that a session shows after a message and what `then` does. */
async function callsOf(
  script: MockScript,
  then: (session: Session) => Promise<unknown> = async () => undefined,
): Promise<readonly Call[]> {
  const shown = new Map<string, Call>();
  function Message({ id }: { readonly id: string }): null {
    const message = useMessage<Helper>(id);
    for (const part of message?.parts ?? []) if (part.type === "tool-call") shown.set(part.toolCallId, part);
    return null;
  }
  function Messages(): JSX.Element[] {
    return useAgent<Helper>().messages.map(({ id }) => <Message key={id} id={id} />);
  }
  const session = startSession(agentOf(script));
  await using _ = await Screen.of(
    <AgentProvider session={session}>
      <Messages />
    </AgentProvider>,
  );
  await act(async () => {
    const run = session.ask("Go");
    await then(session);
    await run;
  });
  return [...shown.values()];
}

/** Decides the first question, when it is asked. */
const decides = (decision: Decision) => async (session: Session) => {
  await untilPasses(() => expect(session.questions()).toHaveLength(1));
  for (const question of session.questions()) await session.decide(question, decision);
};

describe("a tool call", () => {
  it("has its arguments as the model wrote them, and the JSON of its result", async () => {
    const [call] = await callsOf([
      callsTools([{ name: "find", arguments: { size: "5" } }]),
      answers("Done."),
    ]);
    if (call?.name !== "find") throw new Error("No call.");
    expect(call.input).toEqual({ size: "5" });
    expect(call.output).toEqual({ trees: [5, null], at: "1970-01-01T00:00:00.000Z" });
    expect(call.output?.at).toBe("1970-01-01T00:00:00.000Z");
  });

  it("has no output where the tool returns text or files", async () => {
    const script = callsTools([{ name: "draw" }, { name: "say", arguments: { text: "Hello." } }]);
    const [drawn, said] = await callsOf([script, answers("Done.")]);
    expect(drawn).toMatchObject({ input: {}, output: undefined, result: { content: "A tree." } });
    expect(drawn?.result).toHaveProperty("files.length", 1);
    expect(said).toMatchObject({
      input: { text: "Hello." },
      output: undefined,
      result: { content: "Hello." },
    });
  });

  it("has no input where the tool does not accept the arguments", async () => {
    const script = callsTools([{ name: "say", arguments: { text: 5 } }]);
    const [call] = await callsOf([script, answers("Done.")]);
    expect(call).toMatchObject({ status: "failed", parameters: '{"text":5}' });
    expect([call?.input, call?.output]).toEqual([undefined, undefined]);
  });

  it("has the arguments that a reviewer changed", async () => {
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Done.")];
    const [call] = await callsOf(script, decides({ approve: { cents: 3 } }));
    expect(call).toMatchObject({ input: { cents: 3 }, output: { paid: 3 } });
  });

  it("keeps its input and has no output when a reviewer rejects it", async () => {
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Done.")];
    const [call] = await callsOf(script, decides({ reject: "No." }));
    expect(call).toMatchObject({ status: "rejected", input: { cents: 5 } });
    expect(call?.output).toBeUndefined();
  });
});
