import { EventType, type HttpAgent } from "@ag-ui/client";
import { agentTool, askHuman, readSession, toolReply } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import type { LlmCaller, LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails, hangs, type MockScript } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { z } from "zod";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { draftingLlm, toolOf } from "./support.ts";

const textsOf = (client: HttpAgent): readonly unknown[] =>
  client.messages.map(
    ({ role, ...message }) => `${role}: ${String((message as { content?: unknown }).content)}`,
  );

const pay = (ran: unknown[] = []) =>
  toolOf("pay", (input) => (ran.push(input), "paid"), { approval: "always" });

describe("a client of AG-UI", () => {
  it("gets text, reasoning and tools, and continues the conversation", async () => {
    const script = [
      callsTools([{ name: "add", arguments: { of: [2, 2] } }], { reasoning: "I add.", text: "Let me see." }),
      answers("It is four."),
      answers("Welcome."),
    ];
    await using scene = new AgUiScene(agentOf(script, { tools: [toolOf("add", () => ({ sum: 4 }))] }));
    const client = scene.client();
    await say(client, "What is 2 + 2?");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.types).toEqual(
      expect.arrayContaining(["RUN_STARTED", "REASONING_START", "TOOL_CALL_START", "TOOL_CALL_RESULT"]),
    );
    expect(textsOf(client)).toEqual(
      expect.arrayContaining([
        "user: What is 2 + 2?",
        "assistant: Let me see.",
        'tool: {"sum":4}',
        "assistant: It is four.",
      ]),
    );
    await say(client, "Thanks");
    expect(textsOf(client).at(-1)).toBe("assistant: Welcome.");
    expect(scene.failures).toEqual([]);
  });

  it("sends files, and gets those of tools and of the model", async () => {
    const dot = { mediaType: "image/png", data: "AAAA" };
    const drawn: LlmOutcome = {
      ...(answers("Drawn.") as Extract<LlmOutcome, { ok: true }>),
      turn: {
        origin: "mock",
        parts: [
          { type: "text", text: "Drawn." },
          { type: "file", file: dot },
        ],
      },
    };
    const scan = toolOf("scan", () =>
      toolReply({
        content: "scanned",
        files: [{ mediaType: "application/pdf", url: "https://a.test/b.pdf" }],
      }),
    );
    const agent = agentOf([callsTools([{ name: "scan", arguments: {} }]), drawn], { tools: [scan] });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const image = { type: "image", source: { type: "data", value: "BBBB", mimeType: "image/jpeg" } } as const;
    const page = { type: "document", source: { type: "url", value: "https://a.test/c.pdf" } } as const;
    const content = [{ type: "text", text: "Scan these." } as const, image, page];
    client.addMessage({ id: "user_1", role: "user", content });
    await client.runAgent();
    const [id = ""] = await scene.sessionIds();
    const { messages } = await scene.stateOf(id);
    expect(messages[0]).toMatchObject({
      content: "Scan these.",
      attachments: [
        { mediaType: "image/jpeg", url: "data:image/jpeg;base64,BBBB" },
        { mediaType: "application/pdf", url: "https://a.test/c.pdf" },
      ],
    });
    expect(scene.events.find(({ type }) => type === EventType.TOOL_CALL_RESULT)).toMatchObject({
      content: [
        { type: "text", text: "scanned" },
        {
          type: "document",
          source: { type: "url", value: "https://a.test/b.pdf", mimeType: "application/pdf" },
        },
      ],
    });
    expect(scene.events.filter(({ type }) => type === EventType.CUSTOM)).toMatchObject([
      { name: "moora.file", value: { mediaType: "image/png", url: "data:image/png;base64,AAAA" } },
    ]);
    expect(scene.failures).toEqual([]);
  });

  it("is refused with a part that an agent cannot read", async () => {
    await using scene = new AgUiScene(agentOf([answers("Hi.")]));
    const content = [{ type: "image", source: { type: "file", value: "file_1" } }];
    const { status, body } = await scene.scene.as("ada").post("/agents/helper/ag-ui", {
      threadId: "thread-1",
      runId: "run-1",
      messages: [{ id: "user_1", role: "user", content }],
    });
    expect([status, body.code, body.path]).toEqual([422, "refused", "messages"]);
  });

  it("answers an approval with changed arguments", async () => {
    const ran: unknown[] = [];
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Paid.")];
    await using scene = new AgUiScene(agentOf(script, { tools: [pay(ran)] }));
    const client = scene.client();
    await say(client, "Pay");
    expect(scene.outcome["type"]).toBe("interrupt");
    const [{ id, reason } = { id: "", reason: "" }] = scene.interrupts;
    expect(reason).toBe("approval");
    const payload = { approved: true, editedArgs: { cents: 4 } };
    await client.runAgent({ resume: [{ interruptId: id, status: "resolved", payload }] });
    expect(ran).toEqual([{ cents: 4 }]);
    expect(textsOf(client).slice(-2)).toEqual(["tool: paid", "assistant: Paid."]);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
  });

  it.each([true, false])("answers a question of a sub-agent: approved %s", async (approved) => {
    const ran: unknown[] = [];
    const cashier = agentOf(
      [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is done.")],
      {
        name: "cashier",
        tools: [pay(ran)],
      },
    );
    const script = [callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")];
    const tools = [agentTool(cashier, { name: "cashier", description: "Pays." })];
    await using scene = new AgUiScene(agentOf(script, { tools }));
    const client = scene.client();
    await say(client, "Pay");
    const [interrupt] = scene.interrupts;
    const metadata = { risk: "low", reason: "tool" };
    expect(interrupt).toMatchObject({ reason: "approval", toolCallId: "call_1", metadata });
    const answer = { interruptId: interrupt?.id ?? "", status: "resolved", payload: { approved } } as const;
    await client.runAgent({ resume: [answer] });
    expect(ran).toEqual(approved ? [{ cents: 5 }] : []);
    expect(textsOf(client).at(-1)).toBe("assistant: Done.");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
  });

  it("answers several questions in one run, with a rejection among them", async () => {
    const ran: unknown[] = [];
    const calls = [1, 2].map((cents) => ({ name: "pay", id: `pay_${cents}`, arguments: { cents } }));
    await using scene = new AgUiScene(agentOf([callsTools(calls), answers("Done.")], { tools: [pay(ran)] }));
    const client = scene.client();
    await say(client, "Pay twice");
    const [first, second] = scene.interrupts;
    await client.runAgent({
      resume: [
        { interruptId: first?.id ?? "", status: "resolved", payload: { approved: true } },
        { interruptId: second?.id ?? "", status: "cancelled" },
      ],
    });
    expect(ran).toEqual([{ cents: 1 }]);
    expect(textsOf(client).filter((text) => !String(text).includes("undefined"))).toEqual([
      "user: Pay twice",
      expect.stringMatching(/^tool: (paid|A human rejected this call: .*)$/),
      expect.stringMatching(/^tool: (paid|A human rejected this call: .*)$/),
      "assistant: Done.",
    ]);
    expect(textsOf(client)).toContain("tool: paid");
    expect(textsOf(client)).toContainEqual(expect.stringMatching(/^tool: A human rejected this call: /));
    const called = client.messages.filter((message) => "toolCalls" in message);
    expect(called).toHaveLength(1);
    expect(scene.failures).toEqual([]);
  });

  it("shows the schema of the answer", async () => {
    const script = [callsTools([{ name: "size", arguments: { question: "Which size?" } }]), answers("Fine.")];
    const size = askHuman({ name: "size", answer: z.object({ size: z.number() }) });
    await using scene = new AgUiScene(agentOf(script, { tools: [size] }));
    const client = scene.client();
    await say(client, "Choose");
    const [{ id, responseSchema } = { id: "", responseSchema: {} }] = scene.interrupts;
    expect(responseSchema).toMatchObject({
      properties: {
        answer: { type: "object", properties: { size: { type: "number" } }, required: ["size"] },
      },
    });
    await client.runAgent({
      resume: [{ interruptId: id, status: "resolved", payload: { answer: { size: 42 } } }],
    });
    expect(textsOf(client).slice(-2)).toEqual(['tool: {"size":42}', "assistant: Fine."]);
    expect(scene.failures).toEqual([]);
  });

  it("gets that text again if the loop is canceled before the retry begins", async () => {
    const agent = agentOf([fails("overloaded", { partial: "Half an ans" })]);
    await using scene = new AgUiScene(agent, { clock: new TestClock() });
    const client = scene.client();
    const run = say(client, "Hi");
    await untilPasses(() => expect(scene.types).toContain("MESSAGES_SNAPSHOT"));
    await scene.scene.as("ada").post(`/sessions/${(await scene.sessionIds())[0]}/cancel`);
    await run;
    expect(textsOf(client)).toEqual(["user: Hi", "assistant: Half an ans"]);
    expect(scene.outcome).toEqual({ type: "cancelled" });
    expect(scene.failures).toEqual([]);
  });

  it("keeps the calls of a step without text in the messages after a retry", async () => {
    const clock = new TestClock();
    const script = [
      callsTools([{ name: "add" }]),
      fails("overloaded", { partial: "It is f" }),
      answers("It is four."),
    ];
    const agent = agentOf(script, { tools: [toolOf("add", () => ({ sum: 4 }))] });
    await using scene = new AgUiScene(agent, { clock });
    const client = scene.client();
    const run = say(client, "What is 2 + 2?");
    await untilPasses(() => expect(scene.types).toContain("MESSAGES_SNAPSHOT"));
    await clock.advanceAsync(5_000);
    await run;
    expect(scene.failures).toEqual([]);
    const [, calls] = client.messages;
    expect(calls).toMatchObject({ role: "assistant", toolCalls: [{ function: { name: "add" } }] });
    const started = scene.events[scene.types.indexOf("TOOL_CALL_START")];
    expect(started).toMatchObject({ parentMessageId: calls?.id });
    expect(textsOf(client).slice(2)).toEqual(['tool: {"sum":4}', "assistant: It is four."]);
  });

  it("runs a repeated message once, and does not see the thread of another user", async () => {
    await using scene = new AgUiScene(agentOf([answers("Once."), answers("Another.")]));
    for (let count = 0; count < 2; count += 1) {
      const client = scene.client();
      await say(client, "Hi", "message-1");
      expect(textsOf(client)).toEqual(["user: Hi", "assistant: Once."]);
    }
    const other = scene.client("thread-1", "eve");
    await say(other, "Hi", "message-1");
    expect(textsOf(other)).toEqual(["user: Hi", "assistant: Another."]);
    expect(scene.failures).toEqual([]);
  });
});

describe("a client of AG-UI that comes back", () => {
  const twoPayments = [1, 2].map((cents) => ({ name: "pay", id: `pay_${cents}`, arguments: { cents } }));
  const approve = ({ id }: { id: string }) =>
    ({ interruptId: id, status: "resolved", payload: { approved: true } }) as const;

  it("answers its interrupts after a restart of the server, with another client", async () => {
    const storage = new MemoryStorage();
    const ran: unknown[] = [];
    const agent = (script: MockScript) => agentOf(script, { tools: [pay(ran)] });
    let asked: AgUiScene["interrupts"] = [];
    {
      await using scene = new AgUiScene(agent([callsTools(twoPayments)]), { log: memoryLog(storage) });
      await say(scene.client(), "Pay");
      asked = scene.interrupts;
      expect(asked).toHaveLength(2);
    }
    await using scene = new AgUiScene(agent([answers("Paid.")]), { log: memoryLog(storage) });
    await scene.client().runAgent({ resume: asked.map(approve) });
    expect(ran).toEqual([{ cents: 1 }, { cents: 2 }]);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
  });

  it.each([
    ["the client that was stopped in its middle", true],
    ["another window", false],
  ])("gets the text that is being streamed whole, and once, in its next run: %s", async (_name, isSame) => {
    const rest = Promise.withResolvers<void>();
    const outcome = answers("a b c d e f g");
    let isFirst = true;
    const llm: LlmCaller = {
      name: "slow",
      async call(_request, { onChunk } = {}) {
        if (!isFirst) return answers("Again.");
        isFirst = false;
        for (const text of ["a ", "b ", "c "]) onChunk?.({ type: "text", text });
        await rest.promise;
        for (const text of ["d ", "e ", "f ", "g"]) onChunk?.({ type: "text", text });
        return outcome;
      },
    };
    await using scene = new AgUiScene(agentOf(llm));
    const first = scene.client();
    const saying = say(first, "Count").catch(() => undefined);
    await untilPasses(() => expect(textsOf(first).at(-1)).toBe("assistant: a b c "));
    if (isSame) {
      first.abortRun();
      await saying;
    }
    const client = isSame ? first : scene.client();
    const again = say(client, "Again", "again");
    const [id = ""] = await scene.sessionIds();
    await expect.poll(async () => JSON.stringify((await scene.stateOf(id)).messages)).toContain("Again");
    rest.resolve();
    await Promise.all([saying, again]);
    const text = "assistant: a b c d e f g";
    expect(textsOf(client)).toEqual([
      ...(isSame ? ["user: Count", text, "user: Again"] : ["user: Again", text]),
      "assistant: Again.",
    ]);
    // The protocol demands that a delta has text.
    expect(JSON.stringify(scene.events)).not.toContain('"delta":""');
    expect(scene.failures.filter((failure) => !failure.includes("abort"))).toEqual([]);
  });

  it("gets the whole run again after its connection was lost, and the run continues", async () => {
    await using scene = new AgUiScene(agentOf([hangs("Once upon a time")]));
    const lost = scene.client();
    const first = say(lost, "A story", "message-1");
    await untilPasses(() => expect(textsOf(lost).at(-1)).toBe("assistant: Once upon a time"));
    lost.abortRun();
    await first;
    const client = scene.client();
    const run = say(client, "A story", "message-1");
    await untilPasses(() => expect(textsOf(client).at(-1)).toBe("assistant: Once upon a time"));
    const ada = scene.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    await ada.post(`/sessions/${id}/cancel`);
    await run;
    expect(scene.outcome).toEqual({ type: "cancelled" });
    const { inputs } = await readSession(scene.scene.log, id);
    expect(inputs.filter(({ type }) => type === "user-message-received")).toHaveLength(1);
  });
});

describe("a call, while the model writes it", () => {
  it("is shown beside others that are written with it", async () => {
    const args = [1, 2].map((cents) => ({ cents, to: `account ${cents}` }));
    const calls = args.map((given, index) => ({ name: "pay", id: `pay_${index}`, arguments: given }));
    const script = [callsTools(calls), answers("Paid.")];
    await using scene = new AgUiScene(agentOf(script, { tools: [toolOf("pay", () => "paid")] }));
    const client = scene.client();
    await say(client, "Pay");
    const events = scene.events as unknown as { type: string; toolCallId: string; delta: string }[];
    const starts = events.filter(({ type }) => type === "TOOL_CALL_START");
    const written = starts.map(({ toolCallId }) =>
      events.filter((event) => event.type === "TOOL_CALL_ARGS" && event.toolCallId === toolCallId),
    );
    expect(written.map((deltas) => deltas.map(({ delta }) => delta).join(""))).toEqual(
      args.map((given) => JSON.stringify(given)),
    );
    for (const deltas of written) expect(deltas.length).toBeGreaterThan(1);
    expect(textsOf(client).slice(-3)).toEqual(["tool: paid", "tool: paid", "assistant: Paid."]);
    expect(scene.failures).toEqual([]);
  });

  const callsOf = (client: HttpAgent): readonly unknown[] =>
    client.messages.flatMap((message) => ("toolCalls" in message ? (message.toolCalls ?? []) : []));
  const callOf = (toolArguments: string): object => ({
    id: "call_1",
    type: "function",
    function: { name: "pay", arguments: toolArguments },
  });

  it("is shown with its arguments so far, and completed by the log", async () => {
    const args = { cents: 5, to: "another account" };
    const script = [callsTools([{ name: "pay", arguments: args }], { text: "I pay." }), answers("Paid.")];
    await using scene = new AgUiScene(agentOf(script, { tools: [toolOf("pay", () => "paid")] }));
    const client = scene.client();
    await say(client, "Pay");
    const calls = scene.events.filter(({ type }) => type.startsWith("TOOL_CALL_"));
    const pieces = calls.flatMap((event) => ("delta" in event ? [event["delta"]] : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(JSON.stringify(args));
    expect(calls.map(({ type }) => type)).toEqual([
      "TOOL_CALL_START",
      ...pieces.map(() => "TOOL_CALL_ARGS"),
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
    ]);
    expect(callsOf(client)).toEqual([callOf(JSON.stringify(args))]);
    expect(scene.failures).toEqual([]);
  });

  it("is taken back when the attempt fails", async () => {
    const clock = new TestClock();
    const llm = draftingLlm("fails", [answers("I do not pay.")]);
    await using scene = new AgUiScene(agentOf(llm, { tools: [pay()] }), { clock });
    const client = scene.client();
    const run = say(client, "Pay");
    await untilPasses(() => expect(scene.types).toContain("MESSAGES_SNAPSHOT"));
    expect(scene.types).toContain("TOOL_CALL_END");
    await clock.advanceAsync(5_000);
    await run;
    expect(callsOf(client)).toEqual([]);
    expect(textsOf(client)).toEqual(["user: Pay", "assistant: I do not pay."]);
    expect(scene.failures).toEqual([]);
  });

  it("ends when the loop is canceled", async () => {
    await using scene = new AgUiScene(agentOf(draftingLlm("hangs", []), { tools: [pay()] }));
    const client = scene.client();
    const run = say(client, "Pay");
    await untilPasses(() => expect(scene.types).toContain("TOOL_CALL_ARGS"));
    const ada = scene.scene.as("ada");
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    await ada.post(`/sessions/${id}/cancel`);
    await run;
    expect(scene.types.slice(-3)).toEqual(["TOOL_CALL_END", "STEP_FINISHED", "RUN_FINISHED"]);
    expect(scene.outcome).toEqual({ type: "cancelled" });
    expect(scene.failures).toEqual([]);
  });

  it("is replaced by the call of the log if the model has streamed another one", async () => {
    const llm = draftingLlm("differs", [answers("Paid.")]);
    await using scene = new AgUiScene(agentOf(llm, { tools: [toolOf("pay", () => "paid")] }));
    const client = scene.client();
    await say(client, "Pay");
    expect(callsOf(client)).toEqual([callOf('{"euros":7}')]);
    expect(textsOf(client).slice(-2)).toEqual(["tool: paid", "assistant: Paid."]);
    expect(scene.failures).toEqual([]);
  });
});
