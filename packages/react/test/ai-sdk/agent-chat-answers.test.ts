import { agentTool, askHuman, toolAsks, type Tool } from "@moora/agent";
import { answers, callsTools, type MockStep } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { toolOf } from "@moora/testbed/tool-of";
import { untilPasses } from "@moora/testbed/test-clock";
import { isToolUIPart } from "ai";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { decideQuestion, HookScene, useChatUnrendered, type PageChat } from "./agent-chat-scene.ts";

vi.mock("@ai-sdk/react", async (original) => ({
  ...(await original<object>()),
  useChat: (given: Parameters<typeof useChatUnrendered>[0]) => useChatUnrendered(given),
}));

// A page that is not rendered keeps its values in the closure of its hook.
vi.mock("react", async (original) => ({
  ...(await original<object>()),
  useEffect: () => undefined,
  useMemo: (make: () => unknown) => make(),
}));

afterEach(() => {
  vi.unstubAllGlobals();
});

const pay = () => toolOf("pay", () => ({ paid: true }), { approval: "always" });

/** A tool that asks two questions in one call. */
const twice = toolOf("twice", (_input, { asked }) =>
  asked?.state === "second"
    ? "asked"
    : toolAsks({ question: "Which?", state: asked === undefined ? "" : "second" }),
);

/** A tool that calls a sub-agent, which asks a person by this call. */
function subAgent(name: string, call: MockStep, tool: Tool): Tool {
  const agent = agentOf([call, answers("It is done.")], { name, tools: [tool] });
  return agentTool(agent, { name, description: "Asks." });
}

const askingCall = callsTools([{ name: "ask_human", arguments: { question: "How?" } }]);

/** The tools that ask, by their names, with the arguments of their calls. */
const asking: Readonly<
  Record<string, () => { readonly tool: Tool; readonly arguments: { readonly [name: string]: string } }>
> = {
  pay: () => ({ tool: pay(), arguments: {} }),
  ask_human: () => ({ tool: askHuman(), arguments: { question: "Which?" } }),
  twice: () => ({ tool: twice, arguments: {} }),
  cashier: () => ({
    tool: subAgent("cashier", callsTools([{ name: "pay" }]), pay()),
    arguments: { task: "Pay" },
  }),
  clerk: () => ({ tool: subAgent("clerk", askingCall, askHuman()), arguments: { task: "Ask" } }),
};

/** A page of an agent that calls these tools at once, and then answers. */
async function open(names: readonly string[]) {
  const used = names.flatMap((name) => asking[name]?.() ?? []);
  const calls = used.map(({ tool: { name }, arguments: given }) => ({ name, arguments: given }));
  const tools = used.map(({ tool }) => tool);
  const scene = new HookScene(agentOf([callsTools(calls), answers("Done.")], { tools }));
  const chat = await scene.open();
  await chat.sendMessage({ text: "Begin" });
  await scene.rests(chat);
  return { scene, chat, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

interface OpenPart {
  readonly state: string;
  readonly toolCallId: string;
  readonly approval?: { readonly id: string };
  readonly toolMetadata?: { readonly digest?: string };
}

/** The parts that ask the user, as a page recognizes them. */
const openParts = (chat: PageChat): readonly OpenPart[] =>
  chat.messages.flatMap(({ parts }) =>
    parts
      .filter(isToolUIPart)
      .filter(
        ({ state, toolMetadata }) =>
          state === "approval-requested" || (state === "input-available" && toolMetadata !== undefined),
      ),
  ) as never;

/** Answers a part in the page, and waits until the page rests. */
async function answer(scene: HookScene, chat: PageChat, part: OpenPart | undefined, approved = true) {
  const { toolCallId = "", approval } = part ?? {};
  if (approval !== undefined) await chat.addToolApprovalResponse({ id: approval.id, approved });
  else await chat.addToolOutput({ tool: "ask" as never, toolCallId, output: "red" });
  await scene.rests(chat);
}

const partOf = (chat: PageChat, name: string): OpenPart | undefined =>
  openParts(chat).find((part) => "toolName" in part && part.toolName === name);

const isDone = (chat: PageChat): void => {
  expect(JSON.stringify(chat.messages)).toContain("Done.");
  expect(openParts(chat)).toEqual([]);
};

describe("a page with several open questions", () => {
  it("sends the second answer of a tool after a rejection in the same step", async () => {
    await using asker = await open(["pay", "twice"]);
    const { scene, chat } = asker;
    await answer(scene, chat, partOf(chat, "pay"), false);
    expect(scene.posts).toBe(2);
    await answer(scene, chat, partOf(chat, "twice"));
    await answer(scene, chat, partOf(chat, "twice"));
    isDone(chat);
    expect(scene.posts).toBe(4);
  });

  it.each(["pay", "ask_human"])(
    "sends the answer to %s after that to a question of a sub-agent",
    async (name) => {
      await using asker = await open([name, "cashier"]);
      const { scene, chat } = asker;
      await answer(
        scene,
        chat,
        openParts(chat).find(({ toolCallId }) => toolCallId.startsWith("question_")),
        false,
      );
      expect(scene.posts).toBe(2);
      await answer(scene, chat, partOf(chat, name));
      isDone(chat);
      expect(scene.posts).toBe(3);
    },
  );

  it("shows the result of an answer while another question is open", async () => {
    await using asker = await open(["pay", "ask_human"]);
    const { scene, chat } = asker;
    await answer(scene, chat, partOf(chat, "pay"));
    expect(JSON.stringify(chat.messages)).toContain('"output":{"paid":true}');
    expect(openParts(chat)).toHaveLength(1);
    expect(scene.posts).toBe(2);
  });

  it.each([
    ["pay", "ask_human"],
    ["ask_human", "pay"],
    ["pay", "cashier"],
  ])("posts all answers that are given at once: to %s and to %s", async (...names) => {
    await using asker = await open(names);
    const { scene, chat } = asker;
    for (const { toolCallId, approval } of openParts(chat)) {
      if (approval !== undefined) void chat.addToolApprovalResponse({ id: approval.id, approved: true });
      else void chat.addToolOutput({ tool: "ask" as never, toolCallId, output: "red" });
    }
    await untilPasses(() => isDone(chat));
    await scene.rests(chat);
    expect(chat.status).toBe("ready");
    expect(scene.posts).toBe(3);
  });

  it("posts an answer although the page is stopped at once", async () => {
    await using asker = await open(["pay"]);
    const { scene, chat } = asker;
    void chat.addToolApprovalResponse({ id: partOf(chat, "pay")?.approval?.id ?? "", approved: true });
    void chat.stop();
    await untilPasses(() => isDone(chat));
    await scene.rests(chat);
    expect(chat.status).toBe("ready");
  });

  it("shows what follows an answer that was given while the post of another one was under way", async () => {
    await using asker = await open(["pay", "ask_human"]);
    const { scene, chat } = asker;
    const release = scene.hold();
    void chat.addToolApprovalResponse({ id: partOf(chat, "pay")?.approval?.id ?? "", approved: true });
    await untilPasses(() => expect(scene.posts).toBe(2));
    const { toolCallId = "" } = partOf(chat, "ask_human") ?? {};
    void chat.addToolOutput({ tool: "ask" as never, toolCallId, output: "red" });
    await untilPasses(() => expect(scene.posts).toBe(3));
    release();
    await untilPasses(() => isDone(chat));
    await scene.rests(chat);
    expect(chat.status).toBe("ready");
  });

  it("ends with the answer if each of two windows answers one of them", async () => {
    await using asker = await open(["pay", "ask_human"]);
    const { scene, chat } = asker;
    const other = await scene.open();
    await answer(scene, chat, partOf(chat, "pay"));
    await answer(scene, other, partOf(other, "ask_human"));
    isDone(other);
    expect(JSON.stringify(other.messages)).toContain('"output":{"paid":true}');
  });

  it("sends the answer after a reviewer has rejected another question, and the page was loaded again", async () => {
    await using asker = await open(["pay", "ask_human"]);
    const { scene, chat } = asker;
    await decideQuestion(scene, partOf(chat, "pay")?.approval?.id ?? "", { reject: "No." });
    const loaded = await scene.open();
    await answer(scene, loaded, partOf(loaded, "ask_human"));
    isDone(loaded);
    expect(scene.posts).toBe(2);
  });

  it.each([undefined, null, "yes", 1])(
    "is refused an approval that is neither true nor false: %s",
    async (given) => {
      await using asker = await open(["pay"]);
      const { scene, chat } = asker;
      const { id = "" } = partOf(chat, "pay")?.approval ?? {};
      await chat.addToolApprovalResponse({ id, approved: given as never });
      await scene.rests(chat);
      expect(chat.error?.message).toContain("approved: true or false");
      expect(scene.posts).toBe(2);
      expect(openParts(chat)).toHaveLength(1);
      await answer(scene, chat, partOf(chat, "pay"));
      isDone(chat);
      expect(scene.posts).toBe(3);
    },
  );

  it("is refused an error of an output that is not a text", async () => {
    await using asker = await open(["ask_human"]);
    const { scene, chat } = asker;
    const { toolCallId = "" } = partOf(chat, "ask_human") ?? {};
    const refuse = async (errorText: unknown): Promise<void> => {
      const error = { state: "output-error", errorText: errorText as string } as const;
      await chat.addToolOutput({ tool: "ask" as never, toolCallId, ...error });
      await scene.rests(chat);
    };
    await refuse(5);
    expect(chat.error?.message).toContain("errorText");
    expect(openParts(chat)).toHaveLength(1);
    await refuse("I do not know.");
    isDone(chat);
  });

  it("ends with the answer, however and wherever they are answered", { timeout: 60_000 }, async () => {
    const act = fc.record({
      place: fc.nat({ max: 5 }),
      how: fc.constantFrom("here", "here", "here", "elsewhere", "reload"),
      approved: fc.boolean(),
    });
    const names = fc.uniqueArray(fc.constantFrom(...Object.keys(asking)), { minLength: 1, maxLength: 4 });
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(names, fc.array(act, { maxLength: 12 }), async (given, acts) => {
        await using asker = await open(given);
        const { scene } = asker;
        let { chat } = asker;
        let answered = 0;
        const rest = Array.from({ length: 12 }, () => ({ place: 0, how: "here", approved: true }));
        for (const { place, how, approved } of [...acts, ...rest]) {
          const shown = openParts(chat);
          const part = shown[place % Math.max(1, shown.length)];
          if (part === undefined) break;
          reached.add(how);
          if (how === "reload") chat = await scene.open();
          else if (how === "elsewhere") await decideElsewhere(scene, part, approved);
          else {
            answered += 1;
            await answer(scene, chat, part, approved);
          }
        }
        isDone(chat);
        expect(chat.status).toBe("ready");
        expect(scene.posts).toBeLessThanOrEqual(1 + answered);
      }),
      { numRuns: 60 },
    );
    expect(reached).toEqual(new Set(["here", "elsewhere", "reload"]));
  });
});

async function decideElsewhere(scene: HookScene, part: OpenPart, approved: boolean): Promise<void> {
  const { approval, toolMetadata } = part;
  const digest = approval?.id ?? toolMetadata?.digest ?? "";
  const decision = approval === undefined ? { answer: "blue" } : approved ? "approve" : { reject: "No." };
  await decideQuestion(scene, digest, decision);
}
