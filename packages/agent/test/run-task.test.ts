import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  AgentError,
  defineAgent,
  runTask,
  type Agent,
  type AgentConfigChange,
  type AgentEvent,
  type AgentRun,
  type RunResult,
} from "../src/index.ts";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { asRead } from "@moora/testbed/as-read";
import { failureOf, settled, toolOf } from "./support.ts";
import { graphOf } from "@moora/testbed/graph-of";

const unhandled = vi.fn();
beforeEach(() => void process.on("unhandledRejection", unhandled));
afterEach(async () => {
  await settled();
  process.off("unhandledRejection", unhandled);
  if (unhandled.mock.calls.length > 0) throw new Error("A rejection was not handled.");
});

const four = (): Agent => defineAgent({ llm: new MockLlmCaller([answers("It is 4.")]) });
const typesOf = async (run: AgentRun): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const event of run) types.push(event.type);
  return types;
};
const all = [
  "StateStarted",
  "LlmToken",
  "LlmToken",
  "LlmToken",
  "LlmPartEnded",
  "StateStarted",
  "FinalAnswer",
];

describe("a task is awaited", () => {
  it("and ends with an answer, with its usage", async () => {
    const result = await runTask(four(), "2+2?");
    expectTypeOf(result).toEqualTypeOf<RunResult>();
    expect(result).toMatchObject({ answer: "It is 4.", text: "It is 4.", steps: 1 });
    expect(result.state.messages.map(({ content }) => content)).toEqual(["2+2?", "It is 4."]);
    expect(result.trace.entries.map(({ event }) => event)).toEqual(["Start", "LlmFinalAnswer"]);
  });

  it("by then with two callbacks, as often as one likes", async () => {
    const run = runTask(four(), "2+2?");
    const onFailed = vi.fn();
    expect(await run.then(({ text }) => text, onFailed)).toBe("It is 4.");
    expect((await run).text).toBe("It is 4.");
    expect(onFailed).not.toHaveBeenCalled();
  });

  it("as a full promise: catch, finally and its name", async () => {
    const failing = (): AgentRun => runTask(defineAgent({ llm: new MockLlmCaller([fails("auth")]) }), "q");
    expectTypeOf<AgentRun>().toExtend<Promise<RunResult>>();
    expect(await failing().catch((error: unknown) => error)).toMatchObject({ reason: "auth" });
    const onEnd = vi.fn();
    expect((await runTask(four(), "2+2?").finally(onEnd)).text).toBe("It is 4.");
    await expect(failing().finally(onEnd)).rejects.toMatchObject({ reason: "auth" });
    expect(onEnd.mock.calls).toEqual([[], []]);
    const [first] = await Promise.all([runTask(four(), "2+2?"), runTask(four(), "2+2?")]);
    expect(first.text).toBe("It is 4.");
    expect(Object.prototype.toString.call(runTask(four(), "2+2?"))).toBe("[object AgentRun]");
  });

  it("and has nothing with which an application could settle it", () => {
    const names = [
      ...Object.keys(runTask(four(), "2+2?")),
      ...Object.getOwnPropertyNames(Object.getPrototypeOf(runTask(four(), "2+2?"))),
    ];
    expect(names.toSorted()).toEqual(["cancel", "catch", "constructor", "finally", "textStream", "then"]);
  });

  it("and fails with an AgentError that has state, usage and trace", async () => {
    const llm = new MockLlmCaller([fails("auth", { message: "bad key", usage: { inputTokens: 7 } })]);
    const error = await failureOf(runTask(defineAgent({ llm }), "q"));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({
      name: "AgentError",
      kind: "LlmError",
      reason: "auth",
      message: "bad key",
      usage: { inputTokens: 7 },
    });
    expect(error instanceof AgentError && error.trace.length).toBe(2);
    expect(error instanceof AgentError && error.state?.messages).toHaveLength(1);
  });

  const graph = graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } });
  it.each<[string, string, AgentConfigChange]>([
    ["AgentFailed", "MaxSteps", { limits: { maxSteps: 1 }, toolChoice: "required" }],
    ["AgentFailed", "BudgetExceeded", { budget: { maxTokens: 1 } }],
    ["AgentFailed", "Truncated", {}],
    ["InvalidTransition", "InvalidTransition", { graph }],
  ])("and names its end: %s, %s", async (kind, reason, config) => {
    const turn =
      reason === "InvalidTransition"
        ? answers("4")
        : callsTools([{ name: "none" }], {
            finish: reason === "Truncated" ? "length" : "tool-calls",
            usage: { inputTokens: 5 },
          });
    const agent = defineAgent({
      llm: new MockLlmCaller(() => turn),
      config,
      states: reason === "InvalidTransition" ? { Check: () => "Nonsense" } : {},
    });
    expect(await failureOf(runTask(agent, "q"))).toMatchObject({ kind, reason });
  });

  it("and is not awaited causes no unhandled rejection, also when it fails", async () => {
    const llm = new MockLlmCaller([fails("auth")]);
    void runTask(defineAgent({ llm }), "q");
    void runTask(four(), "2+2?");
    await untilPasses(() => expect(llm.callCount).toBe(1));
    await settled();
  });
});

describe("a task is gone through", () => {
  it("from its first event to its last", async () => {
    expect(await typesOf(runTask(four(), "2+2?"))).toEqual(all);
  });

  it("and awaited at once, whichever is first", async () => {
    const first = runTask(four(), "2+2?");
    const [result, events] = await Promise.all([first, typesOf(first)]);
    expect([result.text, events]).toEqual(["It is 4.", all]);
    const second = runTask(four(), "2+2?");
    const later = second.then(({ text }) => text);
    expect(await typesOf(second)).toEqual(all);
    expect(await later).toBe("It is 4.");
  });

  it("after its end, with all its events, where it was not awaited", async () => {
    const llm = new MockLlmCaller([answers("It is 4.")]);
    const run = runTask(defineAgent({ llm }), "2+2?");
    await untilPasses(() => expect(llm.callCount).toBe(1));
    await settled();
    expect(await typesOf(run)).toEqual(all);
    expect(await typesOf(run)).toEqual([]);
  });

  it("after it was awaited, without the events that were not consumed in time", async () => {
    const run = runTask(four(), "2+2?");
    await run;
    expect(await typesOf(run)).toEqual([]);
  });

  it("by two at once, each at his own pace", async () => {
    const run = runTask(four(), "2+2?");
    const [first, second] = await Promise.all([typesOf(run), typesOf(run)]);
    expect(first).toEqual(all);
    expect(second.at(-1)).toBe("FinalAnswer");
  });

  it("with several requests for the next event at a time", async () => {
    const reader = runTask(four(), "2+2?")[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 9 }, () => reader.next()));
    expect(results.map(({ value }) => value?.type)).toEqual([...all, undefined, undefined]);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("until a consumer stops early; it continues without it", async () => {
    const run = runTask(four(), "2+2?");
    for await (const event of run) {
      expect(event.type).toBe("StateStarted");
      break;
    }
    expect((await run).text).toBe("It is 4.");
  });

  it("to an error, which is its last event and is not thrown", async () => {
    const run = runTask(defineAgent({ llm: new MockLlmCaller([fails("auth")]) }), "q");
    expect(await typesOf(run)).toEqual(["StateStarted", "StateStarted", "Error"]);
    expect(await failureOf(run)).toMatchObject({ reason: "auth" });
  });
});

describe("a task is cancelled", () => {
  it("by its signal before it begins: no model is called", async () => {
    const llm = new MockLlmCaller([answers("never")]);
    const error = await failureOf(runTask(defineAgent({ llm }), "q", { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ kind: "Cancelled", message: "The signal was aborted." });
    await settled();
    expect(llm.callCount).toBe(0);
  });

  it.each<[string, unknown, string]>([
    ["a text", "The user left the page.", "The user left the page."],
    ["an error", new Error("The user left the page."), "The user left the page."],
    ["the error of a time limit", new DOMException("Too slow.", "TimeoutError"), "Too slow."],
    ["no reason", undefined, "The signal was aborted."],
    ["a blank text", " ", "The signal was aborted."],
    ["a value without a text", 7, "The signal was aborted."],
  ])("with the reason of its signal: %s", async (_, reason, message) => {
    const control = new AbortController();
    const run = runTask(defineAgent({ llm: new MockLlmCaller([hangs("Let me")]) }), "q", {
      signal: control.signal,
    });
    for await (const event of run) if (event.type === "LlmToken") control.abort(reason);
    expect(await failureOf(run)).toMatchObject({
      kind: "Cancelled",
      message,
      state: { reActContext: { control: { failure: { kind: "Cancelled", message } } } },
    });
  });

  it("by its signal while the model is at work, and keeps what was said", async () => {
    const llm = new MockLlmCaller([hangs("Let me think")]);
    const control = new AbortController();
    const run = runTask(defineAgent({ llm }), "q", { signal: control.signal });
    for await (const event of run)
      if (event.type === "LlmToken" && event.text.startsWith("think")) control.abort();
    const error = await failureOf(run);
    expect(error).toMatchObject({ kind: "Cancelled" });
    expect(error instanceof AgentError && error.state?.messages.at(-1)).toMatchObject({
      content: "Let me think",
      status: "cut",
    });
    expect(llm.options[0]?.signal?.aborted).toBe(true);
  });

  it("by its signal while a tool runs, whose signal is aborted", async () => {
    let given: AbortSignal | undefined;
    const control = new AbortController();
    const wait = toolOf("wait", (_, { signal }) => {
      given = signal;
      queueMicrotask(() => control.abort());
      return new Promise(() => undefined);
    });
    const agent = defineAgent({ llm: new MockLlmCaller([callsTools([{ name: "wait" }])]), tools: [wait] });
    expect(await failureOf(runTask(agent, "q", { signal: control.signal }))).toMatchObject({
      kind: "Cancelled",
    });
    expect(given?.aborted).toBe(true);
  });

  it("by itself, also when it is over, and more than once", async () => {
    const run = runTask(four(), "2+2?");
    await run;
    run.cancel();
    run.cancel("again");
    await settled();
    expect((await run).text).toBe("It is 4.");
    const other = runTask(defineAgent({ llm: new MockLlmCaller([hangs()]) }), "q");
    other.cancel("enough");
    other.cancel("again");
    expect(await failureOf(other)).toMatchObject({ kind: "Cancelled", message: "enough" });
  });

  it.each<[string, () => AgentRun, boolean]>([
    ["is answered", () => runTask(four(), "2+2?", { signal: control.signal }), false],
    [
      "fails",
      () =>
        runTask(defineAgent({ llm: new MockLlmCaller([fails("auth")]) }), "q", { signal: control.signal }),
      true,
    ],
    ["is refused", () => runTask(four(), "", { signal: control.signal }), true],
  ])("never by a signal that fires after it %s: it listens no more", async (_, begin, doesFail) => {
    control = new AbortController();
    const added = vi.spyOn(control.signal, "addEventListener");
    const removed = vi.spyOn(control.signal, "removeEventListener");
    const run = begin();
    if (doesFail) await failureOf(run);
    else await run;
    await settled();
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
    control.abort();
    await settled();
  });
  let control = new AbortController();
});

describe("a task that has to ask", () => {
  const paying = (): { readonly agent: Agent; readonly paid: string[] } => {
    const paid: string[] = [];
    const pay = toolOf("pay", () => void paid.push("paid"));
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    return { paid, agent: defineAgent({ llm, tools: [pay], config: { approval: { policy: "always" } } }) };
  };
  const resultOf = ({ state }: RunResult): unknown => asRead(state.toolCalls["call_1"]?.result);

  it("and has no reviewer rejects, and never hangs", async () => {
    const { agent, paid } = paying();
    expect(resultOf(await runTask(agent, "Pay."))).toMatchObject({
      code: "rejected",
      error: "Not run. No reviewer is available.",
    });
    expect(paid).toEqual([]);
  });

  it("asks onApproval", async () => {
    const { agent, paid } = paying();
    const onApproval = vi.fn(async () => "approve" as const);
    await runTask(agent, "Pay.", { onApproval });
    expect(onApproval).toHaveBeenCalledWith(
      expect.objectContaining({
        toolCallId: "call_1",
        about: "approval",
        name: "pay",
        parameters: {},
        due: null,
      }),
    );
    expect(paid).toEqual(["paid"]);
  });

  it("asks the consumer of its events", async () => {
    const { agent, paid } = paying();
    for await (const event of runTask(agent, "Pay."))
      if (event.type === "ApprovalRequested") await event.decide("approve");
    expect(paid).toEqual(["paid"]);
  });

  it("rejects when he leaves without a word", async () => {
    const { agent, paid } = paying();
    const run = runTask(agent, "Pay.");
    for await (const event of run) if (event.type === "ApprovalRequested") break;
    expect(resultOf(await run)).toMatchObject({ code: "rejected" });
    expect(paid).toEqual([]);
  });

  it("takes the first decision; the second hears who was first", async () => {
    const { agent } = paying();
    const receipts: unknown[] = [];
    for await (const event of runTask(agent, "Pay.")) {
      if (event.type !== "ApprovalRequested") continue;
      receipts.push(await event.decide({ reject: "no" }, "ada"), await event.decide("approve", "bob"));
    }
    expect(receipts).toEqual([
      { status: "accepted", seq: expect.any(Number) },
      { status: "ignored", reason: "already-decided", decidedBy: "ada" },
    ]);
  });
});

describe("a task leaves nothing behind", () => {
  it("no timer of a tool, a retry or a question", async () => {
    const clock = new TestClock(1_000);
    const late = toolOf("late", () => new Promise((resolve) => setImmediate(() => resolve("ok"))));
    const llm = new MockLlmCaller([callsTools([{ name: "late" }]), answers("Done.")]);
    await runTask(defineAgent({ llm, tools: [late] }), "q", { clock });
    expect(clock.waiting).toBe(0);
    const retrying = defineAgent({ llm: new MockLlmCaller([fails("server")]) });
    const run = runTask(retrying, "q", { clock });
    await clock.whenWaiting(1);
    run.cancel();
    await failureOf(run);
    await settled();
    expect(clock.waiting).toBe(0);
  });

  it("no timer of the machine", async () => {
    const ofTask = new AsyncLocalStorage<boolean>();
    const open = new Set<number>();
    let begun = 0;
    const hook = createHook({
      init(id, type) {
        if (type !== "Timeout" || ofTask.getStore() !== true) return;
        open.add(id);
        begun += 1;
      },
      destroy: (id) => void open.delete(id),
    }).enable();
    const late = toolOf("late", () => new Promise((resolve) => setImmediate(() => resolve("ok"))));
    const llm = new MockLlmCaller([callsTools([{ name: "late" }]), answers("Done.")]);
    await ofTask.run(true, async () => void (await runTask(defineAgent({ llm, tools: [late] }), "q")));
    await untilPasses(() => expect(open.size).toBe(0));
    hook.disable();
    expect(begun).toBeGreaterThan(0);
  });
});

describe("the events of a task", () => {
  it("report every step of a tool call in its order", async () => {
    const work = toolOf("work", (_, { progress }) => (progress("half"), "ok"));
    const llm = new MockLlmCaller([
      callsTools([{ name: "work" }], { reasoning: "hm", text: "Well.", warnings: ["no seed"] }),
      answers("Done."),
    ]);
    const events: AgentEvent[] = [];
    for await (const event of runTask(defineAgent({ llm, tools: [work] }), "q")) events.push(event);
    expect(events.map((event) => (event.type === "StateStarted" ? event.state : event.type))).toEqual([
      "Planning",
      "LlmReasoning",
      "LlmPartEnded",
      "LlmToken",
      "LlmPartEnded",
      "LlmToolCall",
      "LlmToolCallDelta",
      "LlmPartEnded",
      "LlmWarning",
      "Acting",
      "ToolCallStarted",
      "ToolCallProgress",
      "ToolCallFinished",
      "Observing",
      "Planning",
      "LlmToken",
      "LlmPartEnded",
      "Done",
      "FinalAnswer",
    ]);
    const messageId = "msg_1_1";
    expect(events.slice(1, 9)).toEqual([
      { type: "LlmReasoning", messageId, part: 0, text: "hm", offset: 0 },
      { type: "LlmPartEnded", messageId, part: 0 },
      { type: "LlmToken", messageId, part: 1, text: "Well.", offset: 0 },
      { type: "LlmPartEnded", messageId, part: 1 },
      { type: "LlmToolCall", messageId, toolCallId: "call_1", name: "work" },
      { type: "LlmToolCallDelta", messageId, toolCallId: "call_1", text: "{}", offset: 0 },
      { type: "LlmPartEnded", messageId, part: 2, toolCallId: "call_1" },
      { type: "LlmWarning", text: "no seed" },
    ]);
    expect(events[10]).toEqual({
      type: "ToolCallStarted",
      toolCallId: "call_1",
      name: "work",
      parameters: "{}",
    });
    expect(events[12]).toMatchObject({
      toolCallId: "call_1",
      name: "work",
      result: { isSuccess: true, content: "ok" },
    });
  });
});
