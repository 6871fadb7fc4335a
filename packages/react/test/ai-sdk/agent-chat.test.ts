import { askHuman } from "@moora/agent";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { readAgentChat, useAgentChat } from "@moora/react/ai-sdk";
import { agentOf } from "@moora/testbed/server/agent-of";
import { HandModel } from "@moora/testbed/server/hand-model";
import { toolOf } from "@moora/testbed/tool-of";
import { untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  address,
  chatOf,
  decide,
  HookScene,
  send,
  useChatUnrendered,
  type PageChat,
} from "./agent-chat-scene.ts";

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
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Part {
  readonly toolCallId: string;
  readonly state: string;
  readonly approval?: { readonly id: string };
}

/** The call of the first answer of a chat. */
const callOf = (chat: PageChat): Part => chat.messages[1]?.parts[1] as never;

const textsOf = ({ parts }: UIMessage): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []));

const steps = (chat: PageChat): readonly unknown[] =>
  chat.messages.map((message) => [message.role === "user" ? message.role : message.id, ...textsOf(message)]);

const texts = (chat: PageChat): readonly string[] => chat.messages.flatMap(textsOf);

const ended = [
  ["user", "Pay"],
  ["loop_1", "Not paid."],
  ["user", "Hello"],
  ["loop_2", "Hello."],
];

const payer = () =>
  agentOf([callsTools([{ name: "pay" }]), answers("Not paid."), answers("Hello.")], {
    tools: [toolOf("pay", () => "paid", { approval: "always" })],
  });

describe("a question of an older message that was decided elsewhere", () => {
  it("shows what became of it after the next message", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await decide(scene, { reject: "No." });
    await chat.sendMessage({ text: "Hello" });
    await scene.rests(chat);
    expect(callOf(chat)).toMatchObject({ state: "output-denied", approval: { reason: "No." } });
    expect(steps(chat)).toEqual(ended);
    const count = scene.requests.length;
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await scene.rests(chat);
    expect(scene.requests).toHaveLength(count);
    expect(callOf(chat).state).toBe("output-denied");
  });

  it("shows what became of it if it is answered while the next message is sent", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await decide(scene, { reject: "No." });
    await send(scene, chat, async () => {
      await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
      expect(callOf(chat).state).toBe("approval-responded");
    });
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
    expect(scene.posts).toBe(3);
  });

  it.each(["stopped", "failed"])(
    "shows what became of it if it is answered and the next message is %s",
    async (end) => {
      await using scene = new HookScene(payer());
      const chat = await scene.open();
      await chat.sendMessage({ text: "Pay" });
      await decide(scene, { reject: "No." });
      let stopped: Promise<void> | undefined;
      await send(scene, chat, async () => {
        await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
        if (end === "stopped") stopped = chat.stop();
        else scene.isOffline = true;
      });
      await stopped;
      if (end === "failed") {
        // Nor could the chat be read. The next message succeeds.
        scene.isOffline = false;
        await chat.sendMessage({ text: "Again" });
        await scene.rests(chat);
      }
      expect(callOf(chat).state).toBe("output-denied");
    },
  );

  it("shows what became of it after an answer, if it could not be read before", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await decide(scene, { reject: "No." });
    const { fetch: online } = globalThis;
    vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
      if (init?.method === "POST") return await online(path, init);
      throw new TypeError("Failed to fetch");
    });
    await chat.sendMessage({ text: "Hello" });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("approval-requested");
    vi.stubGlobal("fetch", online);
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
  });

  it("shows what became of it if it asked a human, and was answered by an output", async () => {
    const ask = callsTools([{ name: "ask", arguments: { question: "Which?" } }]);
    const agent = agentOf([ask, answers("Not paid."), answers("Hello.")], {
      tools: [askHuman({ name: "ask" })],
    });
    await using scene = new HookScene(agent);
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await decide(scene, { reject: "No." });
    await send(scene, chat, async () => {
      await chat.addToolOutput({ tool: "ask" as never, toolCallId: callOf(chat).toolCallId, output: "red" });
    });
    expect(callOf(chat).state).toBe("output-denied");
    expect(steps(chat)).toEqual(ended);
  });
});

describe("a question of the newest message", () => {
  it("stays open behind a message that waits for it, and can be answered", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    await chat.sendMessage({ text: "Hurry" });
    await scene.rests(chat);
    expect(callOf(chat).state).toBe("approval-requested");
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await untilPasses(() => expect(callOf(chat).state).toBe("output-available"));
    await scene.rests(chat);
    expect(scene.posts).toBe(3);
  });

  it("is shown as open again if its answer is refused, and can be answered", async () => {
    const ask = callsTools([{ name: "ask", arguments: { question: "Which?" } }]);
    const schema = { type: "string", enum: ["S", "M"] };
    const agent = agentOf([ask, answers("Ordered.")], { tools: [askHuman({ name: "ask", answer: schema })] });
    await using scene = new HookScene(agent);
    const chat = await scene.open();
    await chat.sendMessage({ text: "Order" });
    const answer = async (output: string): Promise<void> => {
      await chat.addToolOutput({ tool: "ask" as never, toolCallId: callOf(chat).toolCallId, output });
      await scene.rests(chat);
    };
    await answer("XXL");
    expect(chat.status).toBe("error");
    expect(callOf(chat).state).toBe("input-available");
    await answer("M");
    expect(callOf(chat)).toMatchObject({ state: "output-available", output: "M" });
    expect(steps(chat)).toEqual([
      ["user", "Order"],
      ["loop_1", "Ordered."],
    ]);
  });
});

describe("a message whose stream was cut off", () => {
  it.each(["text-start", "two", "text-end"])(
    "before %s is shown as a whole after the next message",
    async (event) => {
      await using scene = new HookScene(agentOf([answers("One two three."), answers("Hello.")]));
      const chat = await scene.open();
      scene.cutsNext(event);
      await chat.sendMessage({ text: "Count" });
      await scene.rests(chat);
      expect(chat.status).toBe("error");
      await chat.sendMessage({ text: "Hello" });
      await scene.rests(chat);
      expect(steps(chat)).toEqual([
        ["user", "Count"],
        ["loop_1", "One two three."],
        ["user", "Hello"],
        ["loop_2", "Hello."],
      ]);
    },
  );
});

describe("a page whose server is closed in the middle of an answer", () => {
  it("shows an error, and the whole answer when it resumes at the next server", async () => {
    const [first, second] = [new HandModel(), new HandModel()];
    await using scene = new HookScene(agentOf(first));
    const chat = await scene.open();
    const sent = chat.sendMessage({ text: "Hi" });
    (await first.attempt(1)).write("Half an ");
    await untilPasses(() =>
      expect(steps(chat)).toEqual([
        ["user", "Hi"],
        ["loop_1", "Half an "],
      ]),
    );
    await scene.restart(agentOf(second));
    await sent;
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toContain("ended before the answer was complete");
    const attempt = await second.attempt(1);
    attempt.write("A whole ");
    const resumed = chat.resumeStream();
    await untilPasses(() => expect(steps(chat)[1]).toEqual(["loop_1", "A whole "]));
    attempt.write("answer.");
    attempt.end();
    await resumed;
    await scene.rests(chat);
    expect(steps(chat)).toEqual([
      ["user", "Hi"],
      ["loop_1", "A whole answer."],
    ]);
  });

  it("shows the rest of an answer that ended before it read the message again", async () => {
    await using scene = new HookScene(agentOf([answers("Once upon a time.")]));
    const chat = await scene.open();
    scene.cutsNext("time");
    await chat.sendMessage({ text: "Hi" });
    await scene.rests(chat);
    expect(chat.status).toBe("error");
    expect(steps(chat)).toEqual([
      ["user", "Hi"],
      ["loop_1", "Once upon a time."],
    ]);
  });
});

describe("a stream that ends without its last chunk", () => {
  it.each(["text-start", "time", "[DONE]"])(
    "is an error also where a proxy ends it in order, before %s, and the page reads what the message has become",
    async (event) => {
      await using scene = new HookScene(agentOf([answers("Once upon a time.")]));
      const chat = await scene.open();
      scene.hidesCuts = true;
      scene.cutsNext(event);
      await chat.sendMessage({ text: "Hi" });
      await scene.rests(chat);
      expect(chat.status).toBe("error");
      expect(steps(chat)).toEqual([
        ["user", "Hi"],
        ["loop_1", "Once upon a time."],
      ]);
    },
  );

  it("is an error as well where the connection stays open and is silent", async () => {
    await using scene = new HookScene(agentOf([answers("Once upon a time.")]));
    const chat = await scene.open({ streamIdleMs: 60_000 });
    scene.hidesCuts = true;
    scene.staysOpen = true;
    scene.cutsNext("time");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    const sent = chat.sendMessage({ text: "Hi" });
    await untilPasses(() => expect(chat.status).toBe("streaming"));
    await vi.advanceTimersByTimeAsync(60_000);
    await sent;
    await scene.rests(chat);
    expect(chat.status).toBe("error");
    expect(steps(chat)).toEqual([
      ["user", "Hi"],
      ["loop_1", "Once upon a time."],
    ]);
  });
});

describe("an answer that the page asks for once more", () => {
  it("is written after a failed loop", async () => {
    const agent = agentOf([answers("One."), fails("auth"), answers("Two.")]);
    await using scene = new HookScene(agent);
    const chat = await scene.open();
    await chat.sendMessage({ text: "First" });
    await chat.sendMessage({ text: "Second" });
    await scene.rests(chat);
    expect(chat.status).toBe("error");
    await chat.regenerate();
    await scene.rests(chat);
    expect(chat.status).toBe("ready");
    expect(texts(chat)).toEqual(["First", "One.", "Second", "Two."]);
  });

  it("stays with everything behind it if it is an older one", async () => {
    await using scene = new HookScene(agentOf([answers("One."), answers("Two."), answers("Three.")]));
    const chat = await scene.open();
    await chat.sendMessage({ text: "First" });
    await chat.sendMessage({ text: "Second" });
    await chat.regenerate({ messageId: "loop_1" });
    await scene.rests(chat);
    expect(chat.error?.message).toContain("Only the newest answer can be tried again.");
    expect(texts(chat)).toEqual(["First", "One.", "Second", "Two."]);
    await chat.sendMessage({ text: "Third" });
    await scene.rests(chat);
    expect(texts(chat)).toEqual(["First", "One.", "Second", "Two.", "Third", "Three."]);
  });
});

describe("a message that the page edits", () => {
  it("is shown as it was, with its answer, because the edit is refused", async () => {
    await using scene = new HookScene(agentOf([answers("Paid 5."), answers("Hello.")]));
    const chat = await scene.open();
    await chat.sendMessage({ text: "pay 5" });
    await chat.sendMessage({ text: "pay 500", messageId: chat.messages[0]?.id ?? "" });
    await scene.rests(chat);
    expect(chat.error?.message).toContain("Messages cannot be edited.");
    expect(steps(chat)).toEqual([
      ["user", "pay 5"],
      ["loop_1", "Paid 5."],
    ]);
    await chat.sendMessage({ text: "Hi" });
    await scene.rests(chat);
    const { messages } = await readAgentChat(address);
    expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    expect(steps(chat)).toEqual([
      ["user", "pay 5"],
      ["loop_1", "Paid 5."],
      ["user", "Hi"],
      ["loop_2", "Hello."],
    ]);
  });
});

describe("a page of a chat that was removed elsewhere", () => {
  const remove = async ({ scene }: HookScene): Promise<void> => {
    const ada = scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
  };

  it.each(["sendMessage", "regenerate"])("gets an error, and no new session: %s", async (post) => {
    await using scene = new HookScene(agentOf([answers("One."), answers("Two."), answers("Three.")]));
    const chat = await scene.open();
    await chat.sendMessage({ text: "First" });
    await chat.sendMessage({ text: "Second" });
    await remove(scene);
    await (post === "regenerate" ? chat.regenerate() : chat.sendMessage({ text: "Third" }));
    await scene.rests(chat);
    expect(chat.error?.message).toContain("was removed. Load it again.");
    expect(steps(chat)).toEqual([
      ["user", "First"],
      ["loop_1", "One."],
      ["user", "Second"],
      ...(post === "regenerate"
        ? []
        : [
            ["loop_2", "Two."],
            ["user", "Third"],
          ]),
    ]);
    expect(await readAgentChat(address)).toEqual({ session: null, messages: [] });
  });
});

describe("an answer that is given while the page reads a stream", () => {
  /** An agent that pays if it may, beside a tool that ends when the test says so. */
  function busy() {
    const { promise, resolve } = Promise.withResolvers<string>();
    const tools = [
      toolOf("pay", () => "paid", { approval: "always" }),
      toolOf("work", () => promise, { timeoutMs: 600_000 }),
    ];
    const script = [callsTools([{ name: "work" }, { name: "pay" }]), answers("Done."), answers("Hurried.")];
    return { agent: agentOf(script, { tools }), finish: () => resolve("worked") };
  }

  /** A page that shows the question about the payment, while the other tool works. */
  async function open() {
    const { agent, finish } = busy();
    const scene = new HookScene(agent);
    const chat = await scene.open();
    void chat.sendMessage({ text: "Pay" });
    await untilPasses(() => expect(payment(chat).state).toBe("approval-requested"));
    const approve = async (): Promise<void> =>
      await chat.addToolApprovalResponse({ id: payment(chat).approval?.id ?? "", approved: true });
    return { scene, chat, finish, approve, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
  }

  const payment = (chat: PageChat): Part =>
    (chat.messages[1]?.parts.find((part) => "toolName" in part && part.toolName === "pay") ?? {}) as Part;

  it("is posted at once, and only once", async () => {
    await using page = await open();
    await page.approve();
    await untilPasses(() => expect(payment(page.chat).state).toBe("output-available"));
    expect(page.chat.status).toBe("streaming");
    page.finish();
    await page.scene.rests(page.chat);
    expect(steps(page.chat).at(-1)).toEqual(["loop_1", "Done."]);
    expect(page.scene.posts).toBe(2);
  });

  it("is posted when the stream has ended, if it could not be posted before", async () => {
    await using page = await open();
    page.scene.isOffline = true;
    await page.approve();
    await untilPasses(() => expect(page.scene.posts).toBe(2));
    page.scene.isOffline = false;
    page.finish();
    await untilPasses(() => expect(steps(page.chat).at(-1)).toEqual(["loop_1", "Done."]));
    await page.scene.rests(page.chat);
    expect(payment(page.chat).state).toBe("output-available");
    expect(page.scene.posts).toBe(3);
  });

  it("is posted and followed after the page has stopped the stream", async () => {
    await using page = await open();
    await page.chat.stop();
    await page.approve();
    page.finish();
    await untilPasses(() => expect(steps(page.chat).at(-1)).toEqual(["loop_1", "Done."]));
    expect(page.scene.posts).toBe(2);
  });

  it("is posted beside a message that is on its way", async () => {
    await using page = await open();
    page.finish();
    await page.scene.rests(page.chat);
    await send(page.scene, page.chat, page.approve);
    const read = await readAgentChat(address);
    expect(JSON.stringify(read.messages)).toContain('"output":"paid"');
  });
});

describe("an answer that is given while a message is on its way", () => {
  it("is shown with what follows it", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    const release = scene.hold();
    const sent = chat.sendMessage({ text: "Hello" });
    await untilPasses(() => expect(scene.posts).toBe(2));
    void chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await untilPasses(() => expect(scene.posts).toBe(3));
    release();
    await sent;
    await untilPasses(() => expect(callOf(chat).state).toBe("output-available"));
    await scene.rests(chat);
    expect(chat.status).toBe("ready");
    expect(texts(chat)).toContain("Not paid.");
    const ids = chat.messages.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe("an answer that is given while a message is on its way, in a loop that continues", () => {
  it("is shown to its end, each message once", async () => {
    const model = new HandModel();
    await using scene = new HookScene(
      agentOf(model, { tools: [toolOf("pay", () => "paid", { approval: "always" })] }),
    );
    const chat = await scene.open();
    const asked = chat.sendMessage({ text: "Pay" });
    const asking = await model.attempt(1);
    asking.begin("pay", "{}");
    asking.end();
    await asked;
    const release = scene.hold();
    const sent = chat.sendMessage({ text: "Hello" });
    await untilPasses(() => expect(scene.posts).toBe(2));
    // The message ends its stream before the answer arrives.
    const releaseAnswer = scene.hold();
    void chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await untilPasses(() => expect(scene.posts).toBe(3));
    release();
    await sent;
    releaseAnswer();
    const answering = await model.attempt(2);
    answering.write("One ");
    await untilPasses(() => expect(texts(chat)).toContain("One "));
    answering.write("two.");
    answering.end();
    await untilPasses(() => expect(texts(chat)).toContain("One two."));
    await scene.rests(chat);
    const ids = chat.messages.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe("a post that something else than the server answers", () => {
  const login = () => new Response("<html>Log in</html>", { headers: { "content-type": "text/html" } });

  it("is an error: the message was not sent", async () => {
    await using scene = new HookScene(agentOf([answers("Hello.")]));
    const chat = await scene.open();
    vi.stubGlobal("fetch", () => Promise.resolve(login()));
    await chat.sendMessage({ text: "Hi" });
    expect(chat.status).toBe("error");
    expect(chat.error).toMatchObject({ name: "AgentChatError", status: 200 });
    expect(chat.error?.message).toBe("What /agents/helper/chat has answered is not the stream of a chat.");
  });

  it("is an error: the question is open", async () => {
    await using scene = new HookScene(payer());
    const chat = await scene.open();
    await chat.sendMessage({ text: "Pay" });
    const { fetch } = globalThis;
    vi.stubGlobal("fetch", async (path: string, init?: RequestInit) =>
      init?.method === "POST" ? login() : await fetch(path, init),
    );
    await chat.addToolApprovalResponse({ id: callOf(chat).approval?.id ?? "", approved: true });
    await untilPasses(() => expect(chat.status).toBe("error"));
    await untilPasses(() => expect(callOf(chat).state).toBe("approval-requested"));
  });
});

describe("a request that is refused", () => {
  it("is an error with the text and the code of the server", async () => {
    await using scene = new HookScene(agentOf([answers("Hello.")]));
    const chat = await scene.open();
    await chat.sendMessage({ text: "" });
    await scene.rests(chat);
    expect(chat.error).toMatchObject({ name: "AgentChatError", status: 422, code: "refused" });
    expect(chat.error?.message).toMatch(/^[A-Z].*\.$/);
  });
});

describe("the options of the hook", () => {
  it("calls the callbacks of the page, and makes every request with its fetch", async () => {
    await using scene = new HookScene(agentOf([answers("Hello.")]));
    const { fetch } = globalThis;
    const given = vi.fn(fetch);
    vi.stubGlobal("fetch", () => expect.unreachable("The page has given another one."));
    const onFinish = vi.fn<(end: { readonly isError: boolean }) => void>();
    const { messages } = await readAgentChat({ ...address, fetch: given });
    const chat = chatOf(() => useAgentChat({ ...address, messages, fetch: given, onFinish }));
    await chat.sendMessage({ text: "Hi" });
    await scene.rests(chat);
    expect(onFinish).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ isError: false }));
    expect(given.mock.calls.map(([path]) => path)).toEqual([
      "/agents/helper/chat/chat-1",
      "/agents/helper/chat",
    ]);
  });
});

describe("a chat that cannot be read", () => {
  const read = (response: Response): Promise<unknown> =>
    readAgentChat({ ...address, fetch: () => Promise.resolve(response) });

  it("rejects with the problem of the server", async () => {
    await using scene = new HookScene(agentOf([]));
    const api = "http://localhost/agents/helper/chat";
    const { fetch } = scene.scene.server;
    const refused = readAgentChat({ api, id: "1", fetch: async (url) => await fetch(new Request(url)) });
    await expect(refused).rejects.toMatchObject({
      name: "AgentChatError",
      status: 401,
      code: "unauthorized",
      message: expect.stringContaining("Authentication is required"),
    });
  });

  it.each(["<html>", "null", '{"hello":1}', '{"messages":{}}', ""])(
    "rejects where something that answers has no chats: %s",
    async (body) => {
      await expect(read(new Response(body))).rejects.toMatchObject({
        status: 200,
        code: undefined,
        message: "What /agents/helper/chat/chat-1 has answered is not a chat.",
      });
    },
  );

  it.each(["<html>Bad gateway</html>", "null", "7", '"text"', '{"detail":7}', ""])(
    "rejects with the status where something else has answered: %s",
    async (body) => {
      await expect(read(new Response(body, { status: 502 }))).rejects.toMatchObject({
        status: 502,
        code: undefined,
        message: "The request was answered with the status 502.",
      });
    },
  );
});
