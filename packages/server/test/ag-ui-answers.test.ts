import type { HttpAgent } from "@ag-ui/client";
import { agentTool, type AgentConfigChange } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import type { LlmMessage } from "@moora/llm";
import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { byName } from "@moora/testbed/server/scene";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anything, dataOf } from "./ag-ui-data.ts";
import { shown, shownAnew } from "./ag-ui-shown.ts";
import {
  approval,
  asking,
  cancellation,
  changed,
  paying,
  refusal,
  rejection,
  reply,
  roles,
  seating,
  textsOf,
  Thread,
  type Given,
} from "./ag-ui-thread.ts";
import { pay } from "./chat-scene.ts";
import { toolOf } from "./support.ts";

/** A tool that does not return the first time, in a log whose server was closed meanwhile, and the next server. */
async function interrupted() {
  const storage = new MemoryStorage();
  const isRunning = Promise.withResolvers<void>();
  const runs: number[] = [];
  const execute = () => {
    runs.push(runs.length);
    isRunning.resolve();
    return runs.length === 1 ? new Promise(() => undefined) : "paid";
  };
  const tool = toolOf("pay", execute, { replay: "once", onUnknown: "ask" });
  const before = new AgUiScene(agentOf([paying], { tools: [tool] }), { log: memoryLog(storage) });
  const left = say(before.client(), "Pay").catch(() => undefined);
  await isRunning.promise;
  await before[Symbol.asyncDispose]();
  await left;
  const agent = agentOf([answers("Done.")], { tools: [tool] });
  const thread = new Thread({ agent, log: memoryLog(storage) });
  for (const client of [thread.first, thread.second]) await client.runAgent();
  thread.ids = thread.scene.interrupts.map(({ id }) => id);
  return { thread, runs, [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose]() };
}

/** An agent whose sub-agent asks before it pays. */
function delegatingOf(end: string) {
  const cashier = agentOf([paying, answers("Paid.")], { name: "cashier", tools: [pay()] });
  const call = callsTools([{ name: "cashier", arguments: { task: "Pay" } }]);
  const tools = [agentTool(cashier, { name: "cashier", description: "Pays." })];
  return agentOf([call, answers(end)], { tools });
}

it("the interrupt of a question of the model has the text of the question as its message", async () => {
  await using thread = await Thread.asked({ script: [asking, answers("Done.")] });
  expect(thread.scene.interrupts).toMatchObject([{ reason: "answer", message: "Which?" }]);
});

describe("the form of an answer", () => {
  it.each<[object, string, string]>([
    [{ status: "resolved" }, "resume.0.payload.approved", "The payload must have approved: true or false."],
    [{ status: "resolved", payload: {} }, "resume.0.payload.approved", "approved: true or false"],
    [{ status: "resolved", payload: { reason: "no, never" } }, "resume.0.payload.approved", "approved"],
    [{ status: "resolved", payload: { editedArgs: { n: 1 } } }, "resume.0.payload.approved", "approved"],
    [{ status: "resolved", payload: { approve: false } }, "resume.0.payload", 'the field "approve"'],
    [{ status: "resolved", payload: { answer: "no" } }, "resume.0.payload", 'the field "answer"'],
    [{ status: "resolved", payload: { approved: true, args: {} } }, "resume.0.payload", 'the field "args"'],
  ])("is refused, and the approval stays open: %j", async (given, path, detail) => {
    await using thread = await Thread.asked();
    const { status, text } = await thread.post(given);
    expect([status, JSON.parse(text)]).toMatchObject([422, { code: "refused", path }]);
    expect(text).toContain(JSON.stringify(detail).slice(1, -1));
    expect(thread.paid).toEqual([]);
    await thread.post(approval);
    expect(thread.paid).toEqual([{}]);
  });

  it("lets the call run only if it says approved: true", async () => {
    const fields = {
      approved: fc.constantFrom<unknown>(true, false, "true", "yes", 1, null),
      approve: fc.boolean(),
      Approved: fc.boolean(),
      reason: fc.constantFrom("", "yes"),
      editedArgs: fc.constant({}),
      answer: fc.constantFrom<unknown>(true, "approve"),
    };
    const payload = fc.option(fc.record(fields, { requiredKeys: [] }), { nil: undefined });
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("resolved", "cancelled"), payload, async (status, given) => {
        await using thread = await Thread.asked();
        statuses.add((await thread.post({ status, payload: given })).status);
        if (status === "cancelled" || given?.approved !== true) expect(thread.paid).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(statuses).toEqual(new Set([200, 400, 422]));
  });

  it("is described by the interrupt", async () => {
    await using thread = await Thread.asked();
    expect(thread.scene.interrupts[0]?.responseSchema).toEqual({
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" }, editedArgs: {} },
      required: ["approved"],
      additionalProperties: false,
    });
  });

  it.each([{}, { reason: "Red." }, { approved: true }])(
    "is refused without an answer, for a question of the model: %j",
    async (payload) => {
      await using thread = await Thread.asked({ script: [asking, answers("Done.")] });
      const { status, text } = await thread.post({ status: "resolved", payload });
      expect([status, JSON.parse(text)]).toMatchObject([422, { path: "resume.0.payload.answer" }]);
      expect((await thread.post(reply("red"))).status).toBe(200);
    },
  );

  it.each([{}, { reason: "No." }, { approve: false }, { approved: true, editedArgs: {} }])(
    "does not run a call with an unknown outcome again: %j",
    async (payload) => {
      await using next = await interrupted();
      expect((await next.thread.post({ status: "resolved", payload })).status).toBe(422);
      expect(next.runs).toEqual([0]);
      expect((await next.thread.post(approval)).status).toBe(200);
      expect(next.runs).toEqual([0, 1]);
    },
  );
});

describe("two answers of one run to an interrupt", () => {
  it.each<[string, MockStep, Given, Given]>([
    ["an approval and a rejection", paying, approval, rejection],
    ["a rejection and an approval", paying, rejection, approval],
    ["an approval and a cancellation", paying, approval, cancellation],
    ["changed arguments and the original ones", paying, changed(1), approval],
    ["arguments that are changed in two ways", paying, changed(1), changed(2)],
    ["two reasons of a rejection", paying, refusal("Too much."), refusal("Too late.")],
    ["two answers to a question of the model", asking, reply("red"), reply("blue")],
  ])("end it with an error, and the question stays open: %s", async (_, call, one, two) => {
    await using thread = await Thread.asked({ script: [call, answers("Done.")] });
    expect(await thread.answer(thread.first, [one, two])).toBe("conflicting-answers");
    expect(thread.lastEvent).toContain("two different answers");
    expect(thread.paid).toEqual([]);
    await thread.answer(thread.first, call === paying ? approval : reply("red"));
    expect(thread.scene.outcome).toEqual({ type: "success" });
    expect(thread.paid).toHaveLength(call === paying ? 1 : 0);
  });

  it.each<[string, Given, Given, number]>([
    ["approvals", approval, approval, 1],
    ["rejections", rejection, cancellation, 0],
    ["changed arguments", changed(1), changed(1), 1],
  ])("count as one if they are equal: %s", async (_, one, two, times) => {
    await using thread = await Thread.asked();
    await thread.answer(thread.first, [one, two]);
    expect(thread.scene.outcome).toEqual({ type: "success" });
    expect(thread.paid).toHaveLength(times);
  });
});

describe("an answer to an interrupt that another window has answered", () => {
  it.each<[string, Given, Given]>([
    ["a rejection after an approval", approval, rejection],
    ["an approval after a rejection", rejection, approval],
    ["other arguments", approval, changed(1)],
  ])("is refused by name, and the window gets what was done: %s", async (_, given, late) => {
    await using thread = await Thread.asked();
    const { scene, first, second, paid } = thread;
    await thread.answer(first, given);
    const before = paid.length;
    expect(await thread.answer(second, late)).toBe("already-decided");
    expect(thread.lastEvent).toContain(given === rejection ? "rejected" : "approved");
    expect(thread.lastEvent).toContain("by ada");
    expect(paid).toHaveLength(before);
    expect(second.messages.map(({ id }) => id)).toEqual(first.messages.map(({ id }) => id));
    // The client insists on answers to its interrupts, and forgets them only at the end of a run.
    second.pendingInterrupts = [];
    await second.runAgent();
    expect(scene.outcome).toEqual({ type: "success" });
  });

  it.each<[string, MockStep, Given]>([
    ["an approval", paying, approval],
    ["a rejection", paying, refusal("No.")],
    ["changed arguments", paying, changed(1)],
    ["an answer", asking, reply("red")],
    ["an answer to a tool", seating, reply("12A")],
  ])("gets what followed if it is the same, as one that is sent again: %s", async (_, call, given) => {
    await using thread = await Thread.asked({ script: [call, answers("Done.")] });
    const { scene, first, second } = thread;
    for (const window of [first, second]) await thread.answer(window, given);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
    expect(roles(first)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(shown(second)).toEqual(shown(first));
    expect(await shownAnew(scene)).toEqual(shown(first));
  });

  it("gets the next interrupt with its call, and a message keeps both", async () => {
    const script = [1, 2].map((cents) => callsTools([{ name: "pay", arguments: { cents } }]));
    await using thread = await Thread.asked({ script: [...script, answers("Done.")] });
    const { scene, first, second } = thread;
    for (const window of [first, second]) await thread.answer(window, approval);
    const [next = { id: "", toolCallId: "" }] = scene.interrupts;
    expect(shown(second)).toEqual(shown(first));
    expect(JSON.stringify(shown(second))).toContain(next.toolCallId);
    await thread.resume(second, [{ interruptId: next.id, ...approval }], "And then?");
    expect(roles(second).filter((role) => role === "tool")).toHaveLength(2);
    expect(await shownAnew(scene)).toEqual(shown(second));
  });

  it("gets what followed together with the answer to its new message", async () => {
    await using thread = await Thread.asked({ script: [paying, answers("Done."), answers("Hello.")] });
    const { scene, first, second } = thread;
    await thread.answer(first, approval);
    await thread.answer(second, approval, "Hi");
    expect(second.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(["Done.", "Hi", "Hello.", '{"paid":true}']),
    );
    expect(await shownAnew(scene)).toEqual(shown(second));
    expect(scene.failures).toEqual([]);
  });

  it("leaves the others open, and records nothing that came with it", async () => {
    const calls = [1, 2].map((cents) => ({ name: "pay", arguments: { cents } }));
    await using thread = await Thread.asked({ script: [callsTools(calls), answers("Done.")] });
    const { scene, second, paid, ids } = thread;
    const both = (given: Given) => [
      { interruptId: ids[0] ?? "", ...given },
      { interruptId: ids[1] ?? "", ...approval },
    ];
    // Another client: the one that asked insists on answers to all.
    await thread.answer(scene.client(), approval);
    expect(paid).toEqual([{ cents: 1 }]);
    expect(await thread.resume(second, both(rejection))).toBe("already-decided");
    expect(paid).toEqual([{ cents: 1 }]);
    await thread.resume(second, both(approval));
    expect(paid).toEqual([{ cents: 1 }, { cents: 2 }]);
    expect(scene.outcome).toEqual({ type: "success" });
  });
});

describe("an answer to an interrupt that is not open", () => {
  it("is refused by name if the thread never had it", async () => {
    await using thread = await Thread.asked();
    expect(await thread.resume(thread.scene.client(), [{ interruptId: "unknown", ...rejection }])).toBe(
      "not-open",
    );
    expect(thread.lastEvent).toContain("unknown");
    expect(thread.paid).toEqual([]);
  });

  it.each<[Given, string]>([
    [rejection, "RUN_FINISHED"],
    [approval, "not-open"],
  ])("succeeds only as a rejection after a cancel, because the call has not run: %j", async (given, end) => {
    await using thread = await Thread.asked();
    await thread.cancel();
    expect(await thread.answer(thread.first, given)).toBe(end);
    expect(thread.paid).toEqual([]);
  });

  it.each<[string, MockStep, Given, string]>([
    ["an approval, by a rejection", paying, cancellation, "RUN_FINISHED"],
    ["an approval, by an approval", paying, approval, "not-open"],
    ["a question of a tool, by a rejection", seating, cancellation, "RUN_FINISHED"],
  ])("succeeds only as a rejection after it has expired: %s", async (_, call, given, end) => {
    const clock = new TestClock();
    const config = { approval: { policy: "never", expiresAfterMs: 60_000 } } as const;
    await using thread = await Thread.asked({ script: [call, answers("Done.")], config, clock });
    const { scene, first } = thread;
    await clock.advanceAsync(60_000);
    const isLate = given === approval;
    if (isLate) {
      const resume = thread.ids.map((interruptId) => ({ interruptId, ...given }));
      await expect(first.runAgent({ resume })).rejects.toThrow("expired");
    }
    expect(await thread.answer(isLate ? scene.client() : first, given)).toBe(end);
    if (!isLate) expect(await shownAnew(scene)).toEqual(shown(first));
  });
});

describe("an answer that a client sends again after it was cut off", () => {
  it("gets the result and the text, which ended meanwhile", async () => {
    const held = Promise.withResolvers<string>();
    const slow = toolOf("pay", () => held.promise, { approval: "always" });
    await using thread = await Thread.asked({
      agent: agentOf([paying, answers("Done.")], { tools: [slow] }),
    });
    const { scene, first } = thread;
    const { pendingInterrupts } = first;
    const run = thread.answer(first, approval);
    const [id = ""] = await scene.sessionIds();
    await expect
      .poll(async () => JSON.stringify((await scene.stateOf(id)).reActContext.control))
      .toContain('"started":true');
    first.abortRun();
    await run;
    held.resolve("paid");
    await expect.poll(async () => (await scene.stateOf(id)).reActContext.control.type).toBe("Done");
    first.pendingInterrupts = [...pendingInterrupts];
    await thread.answer(first, approval);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(roles(first)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(await shownAnew(scene)).toEqual(shown(first));
  });

  it("gets the result of a call with an unknown outcome that runs again", async () => {
    await using next = await interrupted();
    const { first, second } = next.thread;
    for (const window of [first, second]) await next.thread.answer(window, approval);
    expect(next.runs).toHaveLength(2);
    expect(roles(second)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(shown(second)).toEqual(shown(first));
  });
});

describe("arguments that a reviewer has changed", () => {
  const inCents = (cents: number): string => JSON.stringify({ cents });
  const argumentsOf = ({ messages }: HttpAgent): readonly string[] =>
    messages.flatMap((message) =>
      "toolCalls" in message ? (message.toolCalls ?? []).map((call) => call.function.arguments) : [],
    );

  it("are shown by the window that has changed them, and by one that posts its next message", async () => {
    const call = callsTools([{ name: "pay", arguments: { cents: 2 } }]);
    await using thread = await Thread.asked({ script: [call, answers("Done."), answers("Hello.")] });
    const { scene, first, second, paid } = thread;
    await thread.answer(first, changed(22));
    expect(paid).toEqual([{ cents: 22 }]);
    expect(argumentsOf(first)).toEqual([inCents(22)]);
    expect(await shownAnew(scene)).toEqual(shown(first));
    second.pendingInterrupts = [];
    await say(second, "Hi", "more");
    expect(argumentsOf(second)).toEqual([inCents(22)]);
    expect(await shownAnew(scene)).toEqual(shown(second));
    expect(scene.failures).toEqual([]);
  });

  it("are shown by a window whose run is open meanwhile", async () => {
    const waiting = Promise.withResolvers<string>();
    const wait = toolOf("wait", () => waiting.promise);
    const calls = [{ name: "pay", arguments: { cents: 2 } }, { name: "wait" }];
    const agent = agentOf([callsTools(calls), answers("Done.")], { tools: [pay(), wait] });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const run = say(client, "Pay");
    await untilPasses(() => expect(argumentsOf(client)).toEqual([inCents(2), "{}"]));
    const [id = ""] = await scene.sessionIds();
    const ada = scene.scene.as("ada");
    const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
    const decision = { approve: { cents: 22 } };
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision });
    await untilPasses(() => expect(argumentsOf(client)).toEqual([inCents(22), "{}"]));
    waiting.resolve("waited");
    await run;
    expect(await shownAnew(scene)).toEqual(shown(client));
    expect(scene.failures).toEqual([]);
  });
});

const textOf = ({ content }: Extract<LlmMessage, { readonly role: "user" }>): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** Pays at the first message, and then answers with the texts of the user that it has read since. */
const reader = (config: AgentConfigChange = {}) =>
  agentOf(
    new MockLlmCaller(({ messages }) => {
      const texts = messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));
      if (texts.length === 1 && messages.at(-1)?.role === "user") return paying;
      return answers(`Read: ${texts.slice(1).join(", ")}.`);
    }),
    { config, data: anything({ n: 0 }), tools: [pay()] },
  );

describe("a message that is sent together with the answer to an interrupt", () => {
  it.each<[string, Given]>([
    ["an approval", approval],
    ["a rejection", rejection],
    ["a cancellation", cancellation],
  ])("is recorded, and read together with the answer: %s", async (_, given) => {
    await using thread = await Thread.asked({ agent: reader() });
    const { scene, first } = thread;
    await thread.answer(first, given, "Thanks");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(textsOf(first)).toEqual(["Pay", "Thanks", "Read: Thanks."]);
    expect(roles(first).filter((role) => role === "tool")).toHaveLength(1);
    await say(first, "More", "user_3");
    expect(textsOf(first).at(-1)).toBe("Read: Thanks, More.");
    const decided = given === approval ? "approved" : "rejected";
    expect((await thread.posts()).toSorted()).toEqual(["More", "Pay", "Thanks", decided]);
    expect(scene.failures).toEqual([]);
  });

  it("is answered if the interrupt has the same answer already", async () => {
    await using thread = await Thread.asked({ agent: reader() });
    const { scene, first, second } = thread;
    await thread.answer(first, approval);
    await thread.answer(second, approval, "Hello");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(textsOf(second).at(-1)).toBe("Read: Hello.");
    expect(await thread.posts()).toEqual(["Pay", "approved", "Hello"]);
  });

  it("is read together with the answer to a question of a sub-agent", async () => {
    await using thread = await Thread.asked({ agent: delegatingOf("Both.") });
    await thread.answer(thread.first, approval, "Thanks");
    expect(thread.scene.outcome).toEqual({ type: "success" });
    expect(await thread.posts()).toEqual(["Pay", "Thanks"]);
    expect(textsOf(thread.first).at(-1)).toBe("Both.");
  });

  it("is refused with its answer if its id is that of another message, and the interrupt stays open", async () => {
    await using thread = await Thread.asked();
    const resume = thread.ids.map((interruptId) => ({ interruptId, ...approval }));
    const post = async (message: object): Promise<number> => {
      const body = JSON.stringify({ threadId: "thread-1", runId: "run-1", messages: [message], resume });
      const headers = { "content-type": "application/json" };
      const ada = thread.scene.scene.as("ada");
      const response = await ada.send("/agents/helper/ag-ui", { method: "POST", headers, body });
      await response.text();
      return response.status;
    };
    expect(await post({ id: "user_1", role: "user", content: "Do not pay" })).toBe(422);
    expect(await post({ id: "loop_1", role: "user", content: "Hello" })).toBe(422);
    expect(thread.paid).toEqual([]);
    expect(await post({ id: "user_1", role: "user", content: "Pay" })).toBe(200);
    expect(thread.paid).toHaveLength(1);
    expect(await thread.posts()).toEqual(["Pay", "approved"]);
  });

  it("is refused with its answer for a user who may decide, but not post", async () => {
    const mayForeign = (action: string): boolean => action === "read" || action === "decide";
    const authorize = (request: Request) => {
      const grant = byName(request);
      return grant && { ...grant, mayForeign };
    };
    await using thread = await Thread.asked({ authorize });
    const { scene, first, paid } = thread;
    const [session = ""] = await scene.sessionIds();
    const reviewer = scene.client(session, "rita");
    reviewer.setMessages([...first.messages]);
    await thread.answer(reviewer, approval, "Thanks");
    expect(scene.failures.at(-1)).toContain("You may not post to this chat.");
    expect(paid).toEqual([]);
    reviewer.setMessages([...first.messages]);
    await thread.answer(reviewer, approval);
    expect(paid).toHaveLength(1);
  });

  it.each([cancellation, rejection])(
    "counts with its rejection after a cancel, and the run follows the loop of the message, also when it is sent again: %j",
    async (given) => {
      await using thread = await Thread.asked({ agent: reader() });
      const { first, scene } = thread;
      await thread.cancel();
      const before = [...first.messages];
      first.setState({ n: 1 });
      for (let time = 0; time < 2; time += 1) {
        expect(await thread.answer(first, given, "Next", { n: 0 })).toBe("RUN_FINISHED");
        expect(textsOf(first).at(-1)).toMatch(/^Read/);
        expect(await thread.posts()).toEqual(["Pay", "data", "Next"]);
        expect(shown(first)).toEqual(await shownAnew(scene));
        first.setMessages(before);
      }
      expect(scene.failures).toEqual([]);
    },
  );

  it("counts with its rejection of a question of a sub-agent after a cancel", async () => {
    await using thread = await Thread.asked({ agent: delegatingOf("Hello.") });
    await thread.cancel();
    expect(await thread.answer(thread.first, cancellation, "Next")).toBe("RUN_FINISHED");
    expect(textsOf(thread.first).at(-1)).toBe("Hello.");
    expect(await thread.posts()).toEqual(["Pay", "Next"]);
  });
});

describe("a run with answers", () => {
  it("records all that it posts, or nothing if it is refused", async () => {
    const drawn = fc.record({
      interjection: fc.constantFrom("queue" as const, "restart" as const, "reject" as const),
      before: fc.constantFrom("nothing", "nothing", "nothing", "approve", "reject", "canceled", "written"),
      given: fc.array(fc.constantFrom(approval, changed(1), rejection, cancellation), {
        minLength: 1,
        maxLength: 2,
      }),
      hasMessage: fc.boolean(),
      hasState: fc.boolean(),
    });
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(drawn, async ({ interjection, before, given, hasMessage, hasState }) => {
        await using thread = await Thread.asked({ agent: reader({ interjection }) });
        const { first, second, scene } = thread;
        if (before === "approve") await thread.answer(second, approval);
        else if (before === "reject") await thread.answer(second, rejection);
        else if (before !== "nothing") await thread.cancel();
        if (before === "written") await say(second, "Theirs", "user_2");
        const posted = await thread.posts();
        const data = await dataOf(scene);
        if (hasState) first.setState({ n: 1 });
        scene.failures.length = 0;
        const message = hasMessage ? "Next" : undefined;
        const end = await thread.answer(first, given, message, hasState ? { n: 0 } : undefined);
        // A response with a status is not an event.
        const isRefused = end !== "RUN_FINISHED" || scene.failures.length > 0;
        ends.add(scene.failures.length > 0 ? "failed" : end);
        const now = await thread.posts();
        if (isRefused) {
          expect([now, await dataOf(scene)]).toEqual([posted, data]);
          if (hasMessage) expect(first.messages.at(-1)?.content).toBe("Next");
          // An agent that refuses messages while it waits refuses the next run as well.
          if (interjection === "reject") return;
          first.pendingInterrupts = [];
          await first.runAgent().catch(() => undefined);
          expect(thread.end).toBe("RUN_FINISHED");
          const messages = (await thread.posts()).filter((text) => text !== "data");
          expect(messages).toEqual([...posted, ...(hasMessage ? ["Next"] : [])]);
          // The run of a new message does not show what became of a loop that the message has ended.
          if (interjection === "queue") expect(shown(first)).toEqual(await shownAnew(scene));
          return;
        }
        expect(now.filter((text) => text === "Next")).toHaveLength(Number(hasMessage));
        expect(now.filter((text) => text === "data")).toHaveLength(Number(hasState));
        expect(shown(first)).toEqual(await shownAnew(scene));
      }),
      { numRuns: 100 },
    );
    expect(ends).toEqual(
      new Set(["RUN_FINISHED", "already-decided", "conflicting-answers", "not-open", "failed"]),
    );
  });
});
