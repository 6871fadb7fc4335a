import type { Chat } from "@ai-sdk/react";
import { agentTool, askHuman, type Question, type Tool } from "@moora/agent";
import { memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import { answers, callsTools, type MockStep } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import type { SceneOptions } from "@moora/testbed/server/scene";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { pay } from "./chat-scene.ts";
import { pollsUntil, toolOf } from "./support.ts";

/** How the sub-agent asks, and what servers know of each other. */
interface Shape {
  /** Whether the servers have a live channel. Default: yes. */
  readonly hasLive?: boolean;
  /** Whether the sub-agent has no log. Default: no. */
  readonly isInMemory?: boolean;
  /** The call with which the sub-agent asks, and its tool. Default: `pay`, which needs an approval. */
  readonly asks?: { readonly call: MockStep; readonly tool: Tool };
}

/** Servers on one storage. The first one that gets a message runs its session, whose sub-agent asks before it pays. */
class Servers {
  readonly ran: unknown[] = [];
  /** Whether a text of the live channel is lost. */
  loses: (text: string) => boolean = () => false;
  /** What arrives of a text of the live channel. */
  arrives: (text: string) => string = (text) => text;
  readonly #storage = new MemoryStorage();
  readonly #shape: Shape;

  constructor(shape: Shape = {}) {
    this.#shape = shape;
  }

  #log(): EventLog {
    const { live, ...log } = memoryLog(this.#storage);
    if (this.#shape.hasLive === false || live === undefined) return log;
    const publish = (topic: string, text: string): void => {
      if (!this.loses(text)) live.publish(topic, this.arrives(text));
    };
    return { ...log, live: { publish, subscribe: (topic, listener) => live.subscribe(topic, listener) } };
  }

  #agent() {
    const { isInMemory = false, asks } = this.#shape;
    const call = asks?.call ?? callsTools([{ name: "pay", arguments: { cents: 5 } }]);
    const cashier = agentOf([call, answers("It is done.")], {
      name: "cashier",
      tools: [asks?.tool ?? pay(this.ran)],
    });
    const log = isInMemory ? {} : { log: this.#log() };
    return agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
      tools: [agentTool(cashier, { name: "cashier", description: "Pays.", ...log })],
    });
  }

  chat(options: SceneOptions = {}): ChatScene {
    return new ChatScene(this.#agent(), { log: this.#log(), ...options });
  }

  agUi(options: SceneOptions = {}): AgUiScene {
    return new AgUiScene(this.#agent(), { log: this.#log(), ...options });
  }
}

/** A chat that runs at one server and asks, with a page of it at that server. */
async function askedChat(servers: Servers, options: SceneOptions = {}) {
  const near = servers.chat(options);
  const far = servers.chat(options);
  const page = near.chat();
  await page.sendMessage({ text: "Pay" });
  await near.rests(page);
  return {
    near,
    far,
    page,
    /** A page at the other server. It shows what the first one shows. */
    farPage: () => far.chat("chat-1", "ada", structuredClone(page.messages)),
    async [Symbol.asyncDispose]() {
      await near[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

interface ShownPart {
  readonly state?: string;
  readonly toolCallId?: string;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: { readonly id: string };
}

const partsOf = (chat: Chat<UIMessage>): readonly ShownPart[] =>
  (chat.lastMessage?.parts ?? []) as unknown as readonly ShownPart[];

/** The part that shows the question of the sub-agent. */
const questionIn = (chat: Chat<UIMessage>): ShownPart | undefined =>
  partsOf(chat).find(({ toolCallId = "" }) => toolCallId.startsWith("question_"));

/** The open questions of the only chat, as a server shows them. */
async function openQuestions({ scene }: ChatScene): Promise<readonly [Question, ...Question[]]> {
  const ada = scene.as("ada");
  const [{ id }] = (await ada.get("/sessions")).body.sessions;
  return (await ada.get(`/sessions/${id}`)).body.questions;
}

const approve = (chat: Chat<UIMessage>, approved = true) =>
  chat.addToolApprovalResponse({ id: questionIn(chat)?.approval?.id ?? "", approved });

/** The last message of a page, with the question of the sub-agent approved. */
function approvedIn(chat: Chat<UIMessage>) {
  const asking = questionIn(chat);
  const answer = { state: "approval-responded", approval: { ...asking?.approval, approved: true } };
  return {
    ...chat.lastMessage,
    parts: partsOf(chat).map((part) => (part === asking ? { ...part, ...answer } : part)),
  };
}

describe("a page that answers the question of a sub-agent at another server than the one that runs the session", () => {
  it.each([
    { how: "as its stream there has shown it", isShown: true },
    { how: "as the other server has shown it", isShown: false },
  ])("has its approval count once, and gets the result and the answer: $how", async ({ isShown }) => {
    const servers = new Servers();
    await using pair = await askedChat(servers);
    const { far } = pair;
    const page = isShown ? far.chat() : pair.farPage();
    if (isShown) await page.resumeStream();
    await far.rests(page);
    await approve(page);
    await far.rests(page);
    expect(textOf(page)).toBe("Done.");
    expect(servers.ran).toEqual([{ cents: 5 }]);
    expect(questionIn(page)).toMatchObject({ state: "output-available", output: { paid: true } });
    expect(far.errors).toEqual([]);
  });

  it("has its rejection count", async () => {
    const servers = new Servers();
    await using pair = await askedChat(servers);
    const page = pair.far.chat();
    await page.resumeStream();
    await pair.far.rests(page);
    await approve(page, false);
    await pair.far.rests(page);
    expect(textOf(page)).toBe("Done.");
    expect(servers.ran).toEqual([]);
    expect(questionIn(page)?.state).toBe("output-denied");
  });

  it("has its answer to what the sub-agent asks the user count", async () => {
    const call = callsTools([{ name: "ask_human", arguments: { question: "How much?" } }]);
    await using pair = await askedChat(new Servers({ asks: { call, tool: askHuman() } }));
    const { far } = pair;
    const page = pair.farPage();
    const { toolCallId = "" } = questionIn(page) ?? {};
    await page.addToolOutput({ tool: "ask_human" as never, toolCallId, output: "seven" });
    await far.rests(page);
    expect(textOf(page)).toBe("Done.");
    expect(questionIn(page)).toMatchObject({ state: "output-available", output: "seven" });
  });

  it.each([
    { what: "all texts of the live channel are lost", loses: () => true },
    {
      what: "the end of the question is lost",
      loses: (text: string) => text.includes("ToolCallStarted") || text.includes("ToolCallFinished"),
    },
  ])("gets the answer also if $what", async ({ loses }) => {
    const servers = new Servers();
    await using pair = await askedChat(servers);
    const page = pair.far.chat();
    await page.resumeStream();
    await pair.far.rests(page);
    servers.loses = loses;
    await approve(page);
    await pair.far.rests(page);
    expect(textOf(page)).toBe("Done.");
    expect(servers.ran).toEqual([{ cents: 5 }]);
    // The stream that has shown the question, and the one that follows its answer.
    expect(pair.far.responses).toHaveLength(2);
  });

  it("has its answer count without a live channel", async () => {
    const servers = new Servers({ hasLive: false });
    await using pair = await askedChat(servers);
    const page = pair.farPage();
    await approve(page);
    await pair.far.rests(page);
    expect(textOf(page)).toBe("Done.");
    expect(servers.ran).toEqual([{ cents: 5 }]);
    expect(pair.far.errors).toEqual([]);
  });

  it("gets the error that it is no longer open after it was decided at the first server, while the call runs", async () => {
    const paid = Promise.withResolvers<string>();
    const call = callsTools([{ name: "pay", arguments: { cents: 5 } }]);
    const tool = toolOf("pay", async () => await paid.promise, { approval: "always" });
    await using pair = await askedChat(new Servers({ asks: { call, tool } }));
    const { near, far, page } = pair;
    const late = pair.farPage();
    await approve(page);
    await expect.poll(() => openQuestions(near)).toEqual([]);
    await approve(late, false);
    await untilPasses(() => expect(questionIn(late)?.state).toBe("output-error"));
    expect(questionIn(late)?.errorText).toContain("no longer open");
    paid.resolve("paid");
    await near.rests(page);
    await far.rests(late);
    expect(questionIn(page)?.state).toBe("output-available");
    expect([textOf(page), textOf(late)]).toEqual(["Done.", "Done."]);
  });

  it("has its answer count for a viewer who comes back before the first server has read it", async () => {
    const paid = Promise.withResolvers<string>();
    const call = callsTools([{ name: "pay", arguments: { cents: 5 } }]);
    const tool = toolOf("pay", async () => await paid.promise, { approval: "always" });
    const servers = new Servers({ asks: { call, tool } });
    let asked = "";
    servers.arrives = (text) => {
      if (text.includes('"begin"')) asked = text;
      return text;
    };
    await using pair = await askedChat(servers);
    const { near, far } = pair;
    const page = far.chat();
    await page.resumeStream();
    await far.rests(page);
    const ada = far.scene.as("ada");
    const answered = await ada.send("/agents/helper/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages: [approvedIn(page)] }),
    });
    await expect.poll(() => openQuestions(near)).toEqual([]);
    await answered.body?.cancel();
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    // The first server sends what it sent before the decision.
    const repeated = Promise.withResolvers<void>();
    servers.arrives = (text) => {
      if (!text.includes('"begin"')) return text;
      repeated.resolve();
      return asked;
    };
    await using viewer = await ada.events(id);
    await viewer.until("session-opened");
    await repeated.promise;
    await turn();
    expect(await openQuestions(far)).toEqual([]);
    paid.resolve("paid");
  });

  it("is refused, and can repeat its answer at the first server, if the sub-agent has no log", async () => {
    const servers = new Servers({ isInMemory: true });
    await using pair = await askedChat(servers);
    const { near, far, page } = pair;
    const other = far.chat();
    await other.resumeStream();
    await far.rests(other);
    await approve(other);
    await far.rests(other);
    expect(far.errors.map(({ message }) => message).join()).toContain("unavailable");
    expect(servers.ran).toEqual([]);
    await approve(page);
    await near.rests(page);
    expect(servers.ran).toEqual([{ cents: 5 }]);
    expect(textOf(page)).toBe("Done.");
  });

  it("is refused, if that server cannot know whether it is open", async () => {
    const servers = new Servers({ isInMemory: true, hasLive: false });
    const clock = new TestClock();
    await using pair = await askedChat(servers, { clock });
    const { far } = pair;
    const page = pair.farPage();
    await approve(page);
    await pollsUntil(clock, async () => {
      expect(far.errors.map(({ message }) => message).join()).toContain("unavailable");
    });
    expect(servers.ran).toEqual([]);
  });
});

const resolved = ({ id }: { readonly id: string }) =>
  ({ interruptId: id, status: "resolved", payload: { approved: true } }) as const;

describe("a client of AG-UI that answers the question of a sub-agent at another server than the one that runs the session", () => {
  it.each([
    { what: "with a live channel", hasLive: true, isLost: false },
    { what: "with a live channel that loses all texts", hasLive: true, isLost: true },
    { what: "without a live channel", hasLive: false, isLost: false },
  ])("has its answer count once, and gets the end of the loop, $what", async ({ hasLive, isLost }) => {
    const servers = new Servers({ hasLive });
    await using near = servers.agUi();
    await using far = servers.agUi();
    const first = near.client();
    await say(first, "Pay");
    const { interrupts } = near;
    expect(interrupts).toHaveLength(1);
    servers.loses = () => isLost;
    const client = far.client();
    client.setMessages(first.messages);
    await client.runAgent({ resume: interrupts.map(resolved) });
    expect(far.outcome).toEqual({ type: "success" });
    expect(servers.ran).toEqual([{ cents: 5 }]);
    await far.client().runAgent({ resume: interrupts.map(resolved) });
    expect(far.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "not-open" });
    expect(servers.ran).toHaveLength(1);
  });

  it("is refused if the sub-agent has no log, and its new message is not recorded", async () => {
    const servers = new Servers({ isInMemory: true });
    await using near = servers.agUi();
    await using far = servers.agUi();
    const [first, client] = [near.client(), far.client()];
    await say(first, "Pay");
    await client.runAgent();
    expect(far.interrupts).toEqual(near.interrupts);
    client.addMessage({ id: "user_2", role: "user", content: "Thanks" });
    const resume = near.interrupts.map(resolved);
    await expect(client.runAgent({ resume })).rejects.toThrow("The sub-agent has no log.");
    const [id = ""] = await near.sessionIds();
    expect((await near.stateOf(id)).messages.map(({ content }) => content)).not.toContain("Thanks");
    await first.runAgent({ resume });
    expect(near.outcome).toEqual({ type: "success" });
    expect(servers.ran).toEqual([{ cents: 5 }]);
  });
});

describe("a decision on the question of a sub-agent at another server than the one that runs the session", () => {
  it.each([true, false])("counts without its path, with a live channel: %s", async (hasLive) => {
    const servers = new Servers({ hasLive });
    await using pair = await askedChat(servers);
    const { near, far, page } = pair;
    const ada = far.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    const [{ toolCallId, digest }] = await openQuestions(near);
    const decision = { toolCallId, digest, decision: "approve" };
    expect((await ada.post(`/sessions/${id}/decisions`, decision)).body.status).toBe("accepted");
    expect((await ada.post(`/sessions/${id}/decisions`, decision)).body.status).toBe("ignored");
    await page.resumeStream();
    await near.rests(page);
    expect(servers.ran).toEqual([{ cents: 5 }]);
  });
});
