import { askHuman } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { ChatScene, isReady, textOf } from "@moora/testbed/server/chat-scene";
import { delegating, partsOf, pay } from "./chat-scene.ts";
import { draftingLlm, toolOf } from "./support.ts";

describe("a chat of the AI SDK", () => {
  it("shows text, reasoning and tools, and continues the conversation", async () => {
    const add = toolOf("add", () => ({ sum: 4 }));
    const script = [
      callsTools([{ name: "add", arguments: { of: [2, 2] } }], { reasoning: "I add.", text: "Let me see." }),
      answers("It is four."),
      answers("Welcome."),
    ];
    await using scene = new ChatScene(agentOf(script, { tools: [add] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "What is 2 + 2?" });
    expect(chat.status).toBe("ready");
    expect(chat.lastMessage?.id).toBe("loop_1");
    expect(partsOf(chat)).toEqual([
      { type: "step-start" },
      { type: "reasoning", text: "I add.", state: "done" },
      { type: "text", text: "Let me see.", state: "done" },
      { type: "dynamic-tool", state: "output-available", input: { of: [2, 2] }, output: { sum: 4 } },
      { type: "step-start" },
      { type: "text", text: "It is four.", state: "done" },
    ]);
    await chat.sendMessage({ text: "Thanks" });
    expect(chat.messages).toHaveLength(4);
    expect(textOf(chat)).toBe("Welcome.");
    expect((await scene.chunksOf(1)).at(-1)).toBe("[DONE]");
    expect(scene.errors).toEqual([]);
  });

  it("refuses the message of a page whose chat was removed, and takes it after the chat was loaded again", async () => {
    await using scene = new ChatScene(agentOf(() => answers("Hello.")));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Hi" });
    const ada = scene.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    await ada.delete(`/sessions/${id}`);
    await chat.sendMessage({ text: "Hi again" });
    expect(scene.responses.at(-1)?.status).toBe(404);
    expect(chat.error?.message).toContain("was removed. Load it again.");
    expect((await ada.get("/sessions")).body.sessions).toEqual([]);
    const anew = scene.chat();
    await anew.sendMessage({ text: "Hi again" });
    expect(textOf(anew)).toBe("Hello.");
  });

  it.each([true, false])("shows the approval that a sub-agent asks for: approved %s", async (approved) => {
    const ran: unknown[] = [];
    await using scene = new ChatScene(delegating("pay", ran));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const asked = partsOf(chat).at(-1) as { approval: { id: string } };
    expect(asked).toMatchObject({ state: "approval-requested", input: { cents: 5 } });
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await isReady(chat);
    expect(ran).toEqual(approved ? [{ cents: 5 }] : []);
    expect(partsOf(chat)).toMatchObject([
      { type: "step-start" },
      { state: "output-available" },
      { type: "step-start" },
      { state: approved ? "output-available" : "output-denied" },
      { type: "step-start" },
      { text: "Done." },
    ]);
    expect(chat.messages).toHaveLength(2);
    expect(scene.errors).toEqual([]);
  });

  it("shows what a sub-agent asks, and takes the answer as the output of its tool", async () => {
    await using scene = new ChatScene(delegating("ask_human"));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const part = chat.lastMessage?.parts.at(-1) as { toolCallId: string; toolName: string; state: string };
    expect(part).toMatchObject({ toolName: "ask_human", state: "input-available" });
    await chat.addToolOutput({ tool: part.toolName, toolCallId: part.toolCallId, output: "Five." });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await isReady(chat);
    expect(scene.errors).toEqual([]);
  });

  it("shows the text of a question of the model, and the schema of its answer", async () => {
    const schema = { type: "object", properties: { size: { type: "string" } } } as const;
    const ask = askHuman({ answer: schema });
    const question = callsTools([{ name: "ask_human", arguments: { question: "Which size?" } }]);
    await using scene = new ChatScene(agentOf([question, answers("Done.")], { tools: [ask] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Order" });
    const part = chat.lastMessage?.parts.at(-1);
    const { toolMetadata } = part as { toolMetadata: Readonly<Record<string, string>> };
    expect(toolMetadata["question"]).toBe("Which size?");
    expect(JSON.parse(toolMetadata["answerSchema"] ?? "")).toMatchObject(schema);
  });

  it("resumes a stream while a sub-agent waits for a human", async () => {
    await using scene = new ChatScene(delegating("pay"));
    await scene.chat().sendMessage({ text: "Pay" });
    const late = scene.chat();
    await late.resumeStream();
    expect(partsOf(late).at(-1)).toMatchObject({ state: "approval-requested" });
    expect((await scene.chunksOf(-1)).slice(-4)).toEqual((await scene.chunksOf(0)).slice(-4));
  });

  it("answers a repeated message with its own answer, also after later ones", async () => {
    await using scene = new ChatScene(agentOf([answers("One."), answers("Two.")]));
    const chat = scene.chat();
    await chat.sendMessage({ text: "First" });
    const [first] = chat.messages;
    await chat.sendMessage({ text: "Second" });
    const response = await scene.scene.as("ada").send("/agents/helper/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages: [first] }),
    });
    const text = await response.text();
    expect(text).toContain("One.");
    expect(text).not.toContain("Two.");
    expect(text).toContain('"messageId":"loop_1"');
  });

  it("asks for an approval, and continues in the same message", async () => {
    const ran: unknown[] = [];
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Paid.")];
    await using scene = new ChatScene(agentOf(script, { tools: [pay(ran)] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const [, asked] = partsOf(chat) as { approval: { id: string } }[];
    expect(asked).toMatchObject({ state: "approval-requested" });
    expect(ran).toEqual([]);
    await chat.addToolApprovalResponse({ id: asked?.approval.id ?? "", approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("Paid."));
    await isReady(chat);
    expect(ran).toEqual([{ cents: 5 }]);
    expect(chat.messages).toHaveLength(2);
    expect(partsOf(chat)[1]).toMatchObject({ state: "output-available", output: { paid: true } });
    expect(scene.errors).toEqual([]);
  });

  it("answers a question of a message that is followed by one that waits for the answer", async () => {
    const ran: unknown[] = [];
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Paid.")];
    await using scene = new ChatScene(agentOf(script, { tools: [pay(ran)] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const [, asked] = partsOf(chat) as { approval: { id: string } }[];
    await chat.sendMessage({ text: "Hurry" });
    await chat.addToolApprovalResponse({ id: asked?.approval.id ?? "", approved: true });
    await chat.sendMessage();
    expect(ran).toEqual([{ cents: 5 }]);
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(chat.messages[1]?.parts[1]).toMatchObject({ state: "output-available", output: { paid: true } });
    expect(chat.messages[1]?.parts.at(-1)).toMatchObject({ text: "Paid." });
    expect(scene.errors).toEqual([]);
  });

  it("answers several questions together", async () => {
    const ran: unknown[] = [];
    const calls = [1, 2].map((cents) => ({ name: "pay", id: `pay_${cents}`, arguments: { cents } }));
    await using scene = new ChatScene(agentOf([callsTools(calls), answers("Done.")], { tools: [pay(ran)] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay twice" });
    const asked = (partsOf(chat) as { approval?: { id: string } }[]).flatMap(
      ({ approval }) => approval ?? [],
    );
    expect(asked).toHaveLength(2);
    await chat.addToolApprovalResponse({ id: asked[0]?.id ?? "", approved: true });
    await chat.addToolApprovalResponse({ id: asked[1]?.id ?? "", approved: false, reason: "Once only." });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await isReady(chat);
    expect(ran).toEqual([{ cents: 1 }]);
    expect(partsOf(chat)).toMatchObject([
      {},
      { state: "output-available" },
      { state: "output-denied" },
      {},
      {},
    ]);
    expect(scene.errors).toEqual([]);
  });

  it("answers several questions one by one", async () => {
    const ran: unknown[] = [];
    const calls = [1, 2].map((cents) => ({ name: "pay", id: `pay_${cents}`, arguments: { cents } }));
    await using scene = new ChatScene(agentOf([callsTools(calls), answers("Done.")], { tools: [pay(ran)] }));
    let responses = 0;
    // Sends each response at once, and nothing twice.
    const chat = scene.chat("chat-1", "ada", [], ({ messages }) => {
      const given = JSON.stringify(messages).split('"approved":').length - 1;
      const isNew = given > responses;
      responses = given;
      return isNew;
    });
    await chat.sendMessage({ text: "Pay twice" });
    const asked = (partsOf(chat) as { approval?: { id: string } }[]).flatMap(
      ({ approval }) => approval ?? [],
    );
    await chat.addToolApprovalResponse({ id: asked[0]?.id ?? "", approved: true });
    await untilPasses(() => expect(scene.responses).toHaveLength(2));
    await isReady(chat);
    expect(textOf(chat)).toBe("");
    await chat.addToolApprovalResponse({ id: asked[1]?.id ?? "", approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    await isReady(chat);
    expect(ran).toEqual([{ cents: 1 }, { cents: 2 }]);
    expect(chat.messages).toHaveLength(2);
    expect(scene.errors).toEqual([]);
  });

  it("is the same at a server that follows the one that runs the session", async () => {
    const storage = new MemoryStorage();
    const script = () => [callsTools([{ name: "pay" }], { text: "I ask." }), answers("Paid.")];
    const agent = () => agentOf(script(), { tools: [pay()] });
    await using owner = new ChatScene(agent(), { log: memoryLog(storage) });
    await using follower = new ChatScene(agent(), { log: memoryLog(storage) });
    const first = owner.chat();
    await first.sendMessage({ text: "Pay" });
    const second = follower.chat("chat-1", "ada", first.messages.slice(0, 1));
    await second.resumeStream();
    expect(partsOf(second)).toEqual(partsOf(first));
    const [, , asked] = partsOf(second) as { approval: { id: string } }[];
    await second.addToolApprovalResponse({ id: asked?.approval.id ?? "", approved: true });
    await untilPasses(() => expect(textOf(second)).toBe("I ask.|Paid."));
    expect(partsOf(second)[2]).toMatchObject({ state: "output-available" });
    expect([...owner.errors, ...follower.errors, ...follower.scene.errors]).toEqual([]);
  });

  it("shows a failed tool, and arguments that do not fit", async () => {
    const broken = toolOf("broken", () => {
      throw new Error("It broke.");
    });
    const script = [
      callsTools([
        { name: "broken", id: "one" },
        { name: "broken", id: "two", arguments: "{not json" },
      ]),
      answers("Sorry."),
    ];
    await using scene = new ChatScene(agentOf(script, { tools: [broken] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Break" });
    const tools = (partsOf(chat) as { type: string }[]).filter(({ type }) => type === "dynamic-tool");
    expect(tools).toMatchObject([{ state: "output-error" }, { state: "output-error" }]);
    expect(textOf(chat)).toBe("Sorry.");
    expect(scene.errors).toEqual([]);
  });

  it("continues after the client has left: nothing is canceled", async () => {
    await using scene = new ChatScene(agentOf([answers("word ".repeat(20)), answers("Again.")]));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Hi" });
    await untilPasses(() => expect(scene.responses).toHaveLength(1));
    await chat.stop();
    await sent;
    const ada = scene.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    await using events = await ada.events(id);
    await events.until("re-act-observed");
  });

  it("answers a repeated message with the same answer, and runs once", async () => {
    await using scene = new ChatScene(agentOf([answers("Once."), answers("Twice.")]));
    for (let count = 0; count < 2; count += 1) {
      const chat = scene.chat();
      await chat.sendMessage({ id: "message-1", role: "user", parts: [{ type: "text", text: "Hi" }] });
      expect(textOf(chat)).toBe("Once.");
    }
    const edited = scene.chat();
    await edited.sendMessage({ id: "message-1", role: "user", parts: [{ type: "text", text: "Bye" }] });
    expect(edited.status).toBe("error");
    expect(edited.error?.message).toContain("Messages cannot be edited.");
  });

  it("has nothing to resume before its first message", async () => {
    await using scene = new ChatScene(agentOf(() => answers("Hello.")));
    const chat = scene.chat();
    await chat.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    expect(chat.status).toBe("ready");
    expect(scene.errors).toEqual([]);
    expect((await scene.scene.as("ada").get("/sessions")).body.sessions).toEqual([]);
  });

  it("belongs to its user, whatever its id", async () => {
    await using scene = new ChatScene(agentOf(() => answers("Hello.")));
    await scene.chat("same", "ada").sendMessage({ text: "Mine" });
    const other = scene.chat("same", "eve");
    await other.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    await other.sendMessage({ text: "Hi" });
    const [{ id }] = (await scene.scene.as("ada").get("/sessions")).body.sessions;
    const stolen = scene.chat(id, "eve");
    await stolen.resumeStream();
    expect(scene.responses.at(-1)?.status).toBe(204);
    const own = scene.chat(id, "ada");
    await own.sendMessage({ text: "Still mine" });
    const { body } = await scene.scene.as("ada").get(`/sessions/${id}`);
    expect(body.state.messages.map(({ content }: { content: string }) => content)).toEqual([
      "Mine",
      "Hello.",
      "Still mine",
      "Hello.",
    ]);
  });
});

describe("a call, while the model writes it", () => {
  const draft = { type: "dynamic-tool", state: "input-streaming", input: {} };

  it("is shown with its arguments so far, and completed by the log", async () => {
    const script = [callsTools([{ name: "pay", arguments: { cents: 5, to: "Eve" } }]), answers("Paid.")];
    await using scene = new ChatScene(agentOf(script, { tools: [toolOf("pay", () => "paid")] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    const types = await scene.chunksOf(0);
    expect(types.filter((type) => type === "tool-input-delta").length).toBeGreaterThan(1);
    expect(types.filter((type) => type.startsWith("tool-") && type !== "tool-input-delta")).toEqual([
      "tool-input-start",
      "tool-input-available",
      "tool-output-available",
    ]);
    expect(partsOf(chat)[1]).toMatchObject({
      state: "output-available",
      input: { cents: 5, to: "Eve" },
      output: "paid",
    });
    expect(scene.errors).toEqual([]);
  });

  it("is taken back when the attempt fails", async () => {
    const clock = new TestClock();
    const llm = draftingLlm("fails", [answers("I do not pay.")]);
    await using scene = new ChatScene(agentOf(llm, { tools: [pay()] }), { clock });
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Pay" });
    await untilPasses(() => expect(scene.responses).toHaveLength(1));
    await untilPasses(() => expect(clock.nextAt).toBeDefined());
    await clock.advanceAsync(5_000);
    await sent;
    const types = await scene.chunksOf(0);
    expect(types.slice(0, 5)).toEqual([
      "start",
      "start-step",
      "tool-input-start",
      "tool-input-delta",
      "reset-step",
    ]);
    expect(partsOf(chat).map((part) => "type" in part && part.type)).not.toContain("dynamic-tool");
    expect(textOf(chat)).toBe("I do not pay.");
    expect(scene.errors).toEqual([]);
  });

  it("stays a draft when the loop is canceled: nothing is sent again", async () => {
    await using scene = new ChatScene(agentOf(draftingLlm("hangs", []), { tools: [pay()] }));
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Pay" });
    await untilPasses(() => expect(partsOf(chat)[1]).toEqual(draft));
    await scene.cancel();
    await sent;
    expect(partsOf(chat)[1]).toEqual(draft);
    expect((await scene.chunksOf(0)).slice(-3)).toEqual(["finish-step", "abort", "[DONE]"]);
    expect(scene.responses).toHaveLength(1);
    expect(scene.errors).toEqual([]);
  });

  it("is taken back if the model makes no such call", async () => {
    const llm = draftingLlm("answers", []);
    await using scene = new ChatScene(agentOf(llm, { tools: [pay()] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    expect(await scene.chunksOf(0)).toContain("reset-step");
    expect(partsOf(chat).map((part) => "type" in part && part.type)).not.toContain("dynamic-tool");
    expect(textOf(chat)).toBe("I changed my mind.");
    expect(scene.errors).toEqual([]);
  });

  it("is replaced by the call of the log if the model has streamed another one", async () => {
    const llm = draftingLlm("differs", [answers("Paid.")]);
    await using scene = new ChatScene(agentOf(llm, { tools: [toolOf("pay", () => "paid")] }));
    const chat = scene.chat();
    await chat.sendMessage({ text: "Pay" });
    expect(partsOf(chat)[1]).toMatchObject({ state: "output-available", input: { euros: 7 } });
    expect(scene.errors).toEqual([]);
  });
});
