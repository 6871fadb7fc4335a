import { memoryLog, MemoryStorage } from "@moora/event-log";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { ChatScene } from "@moora/testbed/server/chat-scene";
import { pollsUntil, toolOf } from "./support.ts";

/** A chat whose model a test writes, at a server. */
class Page extends ChatScene {
  /** A page that shows the chat again, and resumes what is written. */
  async resume() {
    const chat = await this.reload();
    const { length } = this.responses;
    const resumed = chat.resumeStream();
    await untilPasses(() => {
      if (this.responses.length === length) throw new Error("The chat has not resumed.");
    });
    return { chat, resumed };
  }
}

const pageOf = (model: HandModel, options: ConstructorParameters<typeof ChatScene>[1] = {}): Page =>
  new Page(agentOf(model, { tools: [toolOf("add")] }), options);

/** The texts and the reasoning of the last message, and the names of its calls. */
const shownBy = ({ lastMessage }: { readonly lastMessage: UIMessage | undefined }): readonly string[] =>
  (lastMessage?.parts ?? []).flatMap((part) => {
    if (part.type === "text" || part.type === "reasoning") return [`${part.type}: ${part.text}`];
    return "toolName" in part ? [part.toolName] : [];
  });

describe("a chat that is loaded again while the model writes", () => {
  it("shows the whole reasoning that is being written", async () => {
    const model = new HandModel();
    await using page = pageOf(model);
    const first = page.chat();
    const sent = first.sendMessage({ text: "Hi" });
    const attempt = await model.attempt(1);
    attempt.reason("I ");
    await untilPasses(() => expect(shownBy(first)).toEqual(["reasoning: I "]));
    expect(shownBy({ lastMessage: (await page.read()).messages.at(-1) })).toEqual(["reasoning: I "]);
    const { chat, resumed } = await page.resume();
    await untilPasses(() => expect(shownBy(chat)).toEqual(["reasoning: I "]));
    attempt.reason("think.");
    attempt.write("Hello.");
    attempt.end();
    await Promise.all([sent, resumed]);
    expect(shownBy(chat)).toEqual(["reasoning: I think.", "text: Hello."]);
    expect(chat.lastMessage).toEqual(first.lastMessage);
    expect(page.errors).toEqual([]);
  });

  it("shows the answer of the server that takes the session over in the place of the one that was cut off", async () => {
    const storage = new MemoryStorage();
    const [first, second] = [new HandModel(), new HandModel()];
    const clock = new TestClock();
    await using near = pageOf(first, { log: memoryLog(storage), clock });
    await using far = pageOf(second, { log: memoryLog(storage), clock });
    void near.chat().sendMessage({ text: "Hi" });
    const cut = await first.attempt(1);
    cut.reason("Hm.");
    cut.write("Half an ");
    const { chat, resumed } = await far.resume();
    await untilPasses(() => expect(shownBy(chat)).toEqual(["reasoning: Hm.", "text: Half an "]));
    await near.scene.server.close();
    const attempt = await second.attempt(1, clock);
    await untilPasses(() => expect(shownBy(chat)).toEqual([]));
    attempt.reason("I ");
    await untilPasses(() => expect(shownBy(chat)).toEqual(["reasoning: I "]));
    attempt.reason("think.");
    attempt.write("A whole answer.");
    attempt.end();
    await pollsUntil(clock, async () => expect(chat.status).toBe("ready"));
    await resumed;
    expect(shownBy(chat)).toEqual(["reasoning: I think.", "text: A whole answer."]);
  });

  it.each(["reasoning", "text"])(
    "shows the reasoning at a server that does not run it: in the %s",
    async (when) => {
      const storage = new MemoryStorage();
      const model = new HandModel();
      const clock = new TestClock();
      await using near = pageOf(model, { log: memoryLog(storage), clock });
      await using far = pageOf(new HandModel(), { log: memoryLog(storage), clock });
      const first = near.chat();
      const sent = first.sendMessage({ text: "Hi" });
      const attempt = await model.attempt(1);
      attempt.reason("I ");
      if (when === "text") attempt.write("Hel");
      await untilPasses(() => expect(shownBy(first)).toHaveLength(when === "text" ? 2 : 1));
      const { chat, resumed } = await far.resume();
      const begun = when === "text" ? ["reasoning: I ", "text: Hel"] : ["reasoning: I "];
      await untilPasses(() => expect(shownBy(chat)).toEqual(begun));
      if (when === "reasoning") attempt.reason("think.");
      attempt.write("lo.");
      attempt.end();
      await sent;
      await pollsUntil(clock, async () => expect(chat.status).toBe("ready"));
      await resumed;
      expect(shownBy(chat)).toEqual(shownBy(first));
      expect([...near.errors, ...far.errors]).toEqual([]);
    },
  );
});
