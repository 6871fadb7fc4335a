// @vitest-environment happy-dom
import { askHuman, defineAgent, defineData, defineTool, startSession, type Question } from "@moora/agent";
import { connectSession, type RemoteSession, type RemoteSessionOf } from "@moora/client";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { act, type JSX } from "react";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import {
  AgentProvider,
  useAgent,
  useMessage,
  type AnyChatSession,
  type Chat,
  type ChatSession,
  type OtherToolName,
  type QuestionOf,
  type ToolCallOf,
  type ToolCallPart,
} from "../src/index.ts";
import { Screen } from "./support.tsx";

const find = defineTool({
  name: "find",
  description: "Finds an order.",
  input: z.object({ order: z.number() }),
  approval: "always",
  execute: ({ order }) => ({ order, euros: 5 }),
});
const color = askHuman({ name: "color", answer: z.object({ color: z.enum(["red", "blue"]) }) });
const data = defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });
const agentOf = (script: MockScript) =>
  defineAgent({ llm: new MockLlmCaller(script), tools: [find, color], data });
type Shop = ReturnType<typeof agentOf>;
type ShopTools = typeof find | typeof color;
type ShopData = { items: string[] };

/** Never called: its hooks are only compiled. */
const isTyped = (chat: Chat<ShopData, ToolCallOf<Shop>, unknown, QuestionOf<Shop>>): void => {
  for (const { parts } of chat.messages) {
    for (const part of parts) {
      if (part.type !== "tool-call") continue;
      if (part.name === "find") {
        expectTypeOf(part.input).toEqualTypeOf<{ readonly order: number } | undefined>();
        // @ts-expect-error The tool does not have this argument.
        expectTypeOf(part.input?.nope).toBeUnknown();
      }
      if (part.name === "color") expectTypeOf(part.input?.question).toEqualTypeOf<string | undefined>();
      // @ts-expect-error The agent does not have this tool.
      // oxlint-disable-next-line typescript/no-unsafe-enum-comparison
      if (part.name === "fnd") continue;
      const name: string = part.name;
      if (name === "mcp_search") expectTypeOf(part.input).toBeUnknown();
    }
  }
  for (const question of chat.questions) {
    if (question.name === "find" && question.about === "approval") {
      void chat.decide(question, { approve: { order: 7 } });
      // @ts-expect-error The order is a number.
      void chat.decide(question, { approve: { order: "seven" } });
    }
    if (question.name === "color" && question.about === "answer") {
      void chat.decide(question, { answer: { color: "red" } });
      // @ts-expect-error Green is not one of the colors.
      void chat.decide(question, { answer: { color: "green" } });
    }
    // @ts-expect-error The agent does not have this tool.
    // oxlint-disable-next-line typescript/no-unsafe-enum-comparison
    if (question.name === "colr") continue;
    const plain: Question = question;
    void chat.decide(plain, { answer: { color: "green" } });
  }
};

describe("a chat of a session that is given", () => {
  it("has the types of a local session", () => {
    const useShop = () => useAgent(startSession(agentOf([])));
    expectTypeOf<ReturnType<typeof useShop>>().toExtend<Parameters<typeof isTyped>[0]>();
    expectTypeOf<ReturnType<typeof useShop>["data"]["items"][number]>().toEqualTypeOf<string>();
  });

  it("has the types of a remote session, which RemoteSessionOf has", () => {
    const open = async (): Promise<RemoteSessionOf<Shop>> => {
      const session: RemoteSessionOf<Shop> = await connectSession({ url: "/", agent: "shop" });
      return session;
    };
    type Remote = Awaited<ReturnType<typeof open>>;
    expectTypeOf<Remote>().toEqualTypeOf<RemoteSession<string, ShopData, ShopTools>>();
    expectTypeOf<Remote>().toExtend<RemoteSession<string, ShopData>>();
    expectTypeOf<Remote>().toExtend<ChatSession<ShopData, ShopTools>>();
    // @ts-expect-error A session without types does not have those of the agent.
    expectTypeOf<RemoteSession>().toExtend<Remote>();
    const useShop = (session: Remote) => useAgent(session);
    expectTypeOf<ReturnType<typeof useShop>>().toExtend<Parameters<typeof isTyped>[0]>();
  });

  it("has the types of a remote session, whose agent connectSession is given", () => {
    const open = () => connectSession<Shop>({ url: "/", agent: "shop" });
    expectTypeOf<Awaited<ReturnType<typeof open>>>().toEqualTypeOf<RemoteSessionOf<Shop>>();
    const openOwn = () =>
      connectSession<Shop>({ url: "/", agent: "shop", answerOf: async (text) => text.trim() });
    expectTypeOf<Awaited<ReturnType<typeof openOwn>>>().toEqualTypeOf<RemoteSessionOf<Shop>>();
    const length = (text: string): number => text.length;
    // @ts-expect-error The answers of the agent are texts.
    const openOther = () => connectSession<Shop>({ url: "/", agent: "shop", answerOf: length });
    expectTypeOf(openOther).toBeFunction();
    // @ts-expect-error There is no such option.
    const openWrong = () => connectSession<Shop>({ url: "/", agnet: "shop" });
    expectTypeOf(openWrong).toBeFunction();
    const useShop = (session: Awaited<ReturnType<typeof open>>) => useAgent(session);
    expectTypeOf<ReturnType<typeof useShop>>().toExtend<Parameters<typeof isTyped>[0]>();
  });

  it("has the types that connectSession is given, and without any those of texts", () => {
    const plain = () => connectSession({ url: "/", agent: "shop" });
    expectTypeOf<Awaited<ReturnType<typeof plain>>>().toEqualTypeOf<RemoteSession>();
    const numbers = () => connectSession({ url: "/", agent: "shop", answerOf: (text) => text.length });
    expectTypeOf<Awaited<ReturnType<typeof numbers>>>().toEqualTypeOf<RemoteSession<number>>();
    const named = () => connectSession<{ sum: number }, ShopData, ShopTools>({ url: "/", agent: "shop" });
    expectTypeOf<Awaited<ReturnType<typeof named>>>().toEqualTypeOf<
      RemoteSession<{ sum: number }, ShopData, ShopTools>
    >();
  });

  it("has the types of the agent that is named, whatever the session has", () => {
    const useShop = (session: RemoteSession) => useAgent<Shop>(session);
    expectTypeOf<ReturnType<typeof useShop>>().toExtend<Parameters<typeof isTyped>[0]>();
    expectTypeOf<ReturnType<typeof useShop>>().toEqualTypeOf<
      Chat<ShopData, ToolCallOf<Shop>, string, QuestionOf<Shop>>
    >();
    const useAny = (session: AnyChatSession) =>
      // @ts-expect-error A session without application data has no `update`.
      useAgent<Shop>(session);
    expectTypeOf(useAny).toBeFunction();
  });

  it("has no types without those of an agent", () => {
    const usePlain = (session: ChatSession<ShopData>) => useAgent(session);
    expectTypeOf<ReturnType<typeof usePlain>>().toEqualTypeOf<Chat<ShopData>>();
    expectTypeOf<ToolCallOf<RemoteSession>>().toEqualTypeOf<ToolCallPart>();
    const useText = (session: AnyChatSession) => useMessage("m", session);
    type Parts = NonNullable<ReturnType<typeof useText>>["parts"][number];
    expectTypeOf<Extract<Parts, { readonly type: "tool-call" }>>().toEqualTypeOf<ToolCallPart>();
  });
});

describe("a message of a session that is given", () => {
  it("has the types of the session, or of the agent that is named", () => {
    const useOwn = (session: RemoteSessionOf<Shop>) => useMessage("m", session);
    const useNamed = (session: AnyChatSession) => useMessage<Shop>("m", session);
    expectTypeOf<ReturnType<typeof useOwn>>().toEqualTypeOf<ReturnType<typeof useNamed>>();
    type Call = Extract<
      NonNullable<ReturnType<typeof useOwn>>["parts"][number],
      { readonly type: "tool-call" }
    >;
    expectTypeOf<Call["name"]>().toEqualTypeOf<"find" | "color" | OtherToolName>();
  });
});

beforeEach(() => void vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));
afterEach(() => void vi.unstubAllGlobals());

describe("a typed answer", () => {
  it("is given to the question of the tool", async () => {
    const session = startSession(
      agentOf([callsTools([{ name: "color", arguments: { question: "Which?" } }]), answers("Red.")]),
    );
    function Questions(): JSX.Element[] {
      const { questions, decide } = useAgent<Shop>(session);
      return questions.map((question) => (
        <button
          key={question.digest}
          onClick={() => {
            if (question.name === "color" && question.about === "answer")
              void decide(question, { answer: { color: "red" } });
          }}
        >
          {question.name}
        </button>
      ));
    }
    await using screen = await Screen.of(
      <AgentProvider session={session}>
        <Questions />
      </AgentProvider>,
    );
    await act(async () => void (await session.send("Paint it.")));
    await act(() => untilPasses(() => expect(screen.text).toBe("color")));
    await act(async () => screen.container.querySelector("button")?.click());
    await act(() => untilPasses(() => expect(session.running()).toBeUndefined()));
    const { result } = session.current().toolCalls["call_1"] ?? {};
    expect(result).toMatchObject({ content: '{"color":"red"}' });
  });
});
