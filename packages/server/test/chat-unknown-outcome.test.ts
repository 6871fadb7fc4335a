import { agentTool } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import { isToolUIPart, type UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import { toolOf } from "./support.ts";

const question = "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";

/** A tool that does not return the first time, with how often it has begun. */
function interruptedTool() {
  const begun: number[] = [];
  const isRunning = Promise.withResolvers<void>();
  const execute = () => {
    begun.push(begun.length);
    isRunning.resolve();
    return begun.length === 1 ? new Promise(() => undefined) : "paid";
  };
  const tool = toolOf("pay", execute, { replay: "once", onUnknown: "ask", approval: "always" });
  return { tool, begun, isRunning: isRunning.promise };
}

type Agent = ReturnType<typeof agentOf>;

/** An agent that pays, and at the next server only answers. */
const payer = (tool: ReturnType<typeof toolOf>, isFirst: boolean): Agent =>
  agentOf(isFirst ? [callsTools([{ name: "pay" }]), answers("Done.")] : [answers("Done.")], {
    tools: [tool],
  });

/** The call whose question a page shows. */
const callsIn = (messages: readonly UIMessage[]) =>
  messages.flatMap(({ parts }) => parts.filter(isToolUIPart));

/** A page at a server that was started again while the call ran, after the page has approved it. */
async function interrupted({ tool, isRunning }: ReturnType<typeof interruptedTool>) {
  const storage = new MemoryStorage();
  const first = new ChatScene(payer(tool, true), { log: memoryLog(storage) });
  const before = first.chat();
  await before.sendMessage({ text: "Pay" });
  const [asked] = callsIn(before.messages);
  void before.addToolApprovalResponse({ id: asked?.approval?.id ?? "", approved: true });
  await isRunning;
  await first.scene.server.close();
  await first.rests(before);
  const scene = new ChatScene(payer(tool, false), { log: memoryLog(storage) });
  const { messages } = await scene.read();
  return { scene, messages, asked, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe("a question of a chat about an unknown outcome", () => {
  it("has a text that says so, in the chat that is read and in its stream", async () => {
    await using chats = await interrupted(interruptedTool());
    const { scene, messages, asked } = chats;
    const [read] = callsIn(messages);
    expect(asked?.toolMetadata).toBeUndefined();
    expect(read).toMatchObject({ state: "approval-requested", toolMetadata: { question } });
    const chat = scene.chat("chat-1", "ada", messages);
    await chat.resumeStream();
    await scene.rests(chat);
    expect(callsIn(chat.messages)).toEqual([expect.objectContaining({ toolMetadata: read?.toolMetadata })]);
  });

  it.each([true, false])("decides whether the call runs again: approved %s", async (approved) => {
    const given = interruptedTool();
    await using chats = await interrupted(given);
    const { scene, messages } = chats;
    const chat = scene.chat("chat-1", "ada", messages);
    const [read] = callsIn(messages);
    await chat.addToolApprovalResponse({ id: read?.approval?.id ?? "", approved });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await scene.rests(chat);
    expect(given.begun).toHaveLength(approved ? 2 : 1);
    expect(scene.errors).toEqual([]);
  });

  it("has the same text if a sub-agent asks it", async () => {
    const { tool, isRunning } = interruptedTool();
    const storage = new MemoryStorage();
    const agent = (isFirst: boolean): Agent => {
      const cashier = agentOf(isFirst ? [callsTools([{ name: "pay" }])] : [answers("Paid.")], {
        name: "cashier",
        tools: [tool],
      });
      const call = callsTools([{ name: "cashier", arguments: { task: "Pay" } }]);
      const tools = [agentTool(cashier, { name: "cashier", description: "Pays.", log: memoryLog(storage) })];
      return agentOf(isFirst ? [call] : [answers("Done.")], { tools });
    };
    const first = new ChatScene(agent(true), { log: memoryLog(storage) });
    const before = first.chat();
    await before.sendMessage({ text: "Pay" });
    const id = callsIn(before.messages).at(-1)?.approval?.id ?? "";
    void before.addToolApprovalResponse({ id, approved: true });
    await isRunning;
    await first.scene.server.close();
    await first.rests(before);
    await using scene = new ChatScene(agent(false), { log: memoryLog(storage) });
    const chat = scene.chat();
    await chat.resumeStream();
    await scene.rests(chat);
    expect(callsIn(chat.messages).at(-1)).toMatchObject({
      state: "approval-requested",
      toolMetadata: { question },
    });
  });
});
