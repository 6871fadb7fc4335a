import type { HttpAgent } from "@ag-ui/client";
import { askHuman, defineTool, toolAsks } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { z } from "zod";
import { shown, shownAnew } from "./ag-ui-shown.ts";
import { pay } from "./chat-scene.ts";
import { toolOf } from "./support.ts";

type Payload = Readonly<Record<string, unknown>>;

/** A thread with two windows that show the same interrupts, and what its tool has paid. */
async function twoWindows(script: MockScript = [callsTools([{ name: "pay" }]), answers("Done.")]) {
  const paid: unknown[] = [];
  const scene = new AgUiScene(agentOf(script, { tools: [pay(paid), askHuman(), seat] }));
  const first = scene.client();
  await say(first, "Pay");
  const second = scene.client();
  second.setMessages([...first.messages]);
  const ids = scene.interrupts.map(({ id }) => id);
  return { scene, first, second, ids, paid, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

/** Resumes a window that may not insist on answers to its own interrupts. */
const resume = (client: HttpAgent, given: Readonly<Record<string, Payload>>) =>
  client
    .runAgent({
      resume: Object.entries(given).map(([interruptId, payload]) => ({
        interruptId,
        status: "resolved" as const,
        payload,
      })),
    })
    .catch(() => undefined);

const last = ({ events }: AgUiScene): object => ({ ...events.at(-1) });

const seat = defineTool({
  name: "seat",
  description: "Books a seat.",
  input: z.object({}),
  execute: (_, { asked }) =>
    asked === undefined ? toolAsks({ question: "Which seat?" }) : JSON.stringify(asked.reply),
});

const roles = ({ messages }: HttpAgent): readonly string[] => messages.map(({ role }) => role);

describe("an answer to an interrupt that another window has answered", () => {
  it.each<[string, Payload, Payload]>([
    ["a rejection after an approval", { approved: true }, { approved: false }],
    ["an approval after a rejection", { approved: false }, { approved: true }],
    ["other arguments", { approved: true }, { approved: true, editedArgs: { cents: 1 } }],
  ])("is refused by name, and the window gets what was done: %s", async (_, given, late) => {
    await using windows = await twoWindows();
    const { scene, first, second, ids, paid } = windows;
    const [id = ""] = ids;
    await resume(first, { [id]: given });
    const before = paid.length;
    await resume(second, { [id]: late });
    expect(last(scene)).toMatchObject({ type: "RUN_ERROR", code: "already-decided" });
    expect(JSON.stringify(last(scene))).toContain(given["approved"] === true ? "approved" : "rejected");
    expect(JSON.stringify(last(scene))).toContain("by ada");
    expect(paid).toHaveLength(before);
    expect(second.messages.map(({ id: messageId }) => messageId)).toEqual(
      first.messages.map(({ id: messageId }) => messageId),
    );
    // The client insists on answers to its interrupts, and forgets them only at the end of a run.
    second.pendingInterrupts = [];
    await second.runAgent();
    expect(scene.outcome).toEqual({ type: "success" });
  });

  it.each<[string, MockScript, Payload]>([
    ["an approval", [callsTools([{ name: "pay" }]), answers("Done.")], { approved: true }],
    ["a rejection", [callsTools([{ name: "pay" }]), answers("Done.")], { approved: false, reason: "No." }],
    [
      "changed arguments",
      [callsTools([{ name: "pay" }]), answers("Done.")],
      { approved: true, editedArgs: { cents: 1 } },
    ],
    [
      "an answer",
      [callsTools([{ name: "ask_human", arguments: { question: "Which?" } }]), answers("Done.")],
      { answer: "red" },
    ],
    ["an answer to a tool", [callsTools([{ name: "seat" }]), answers("Done.")], { answer: "12A" }],
  ])("gets what followed if it is the same, as one that is sent again: %s", async (_, script, given) => {
    await using windows = await twoWindows(script);
    const { scene, first, second, ids } = windows;
    await resume(first, { [ids[0] ?? ""]: given });
    await resume(second, { [ids[0] ?? ""]: given });
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
    expect(roles(first)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(shown(second)).toEqual(shown(first));
    expect(await shownAnew(scene)).toEqual(shown(first));
  });

  it("gets the next interrupt with its call, and a message keeps both", async () => {
    const script = [1, 2].map((cents) => callsTools([{ name: "pay", arguments: { cents } }]));
    await using windows = await twoWindows([...script, answers("Done.")]);
    const { scene, first, second, ids } = windows;
    await resume(first, { [ids[0] ?? ""]: { approved: true } });
    await resume(second, { [ids[0] ?? ""]: { approved: true } });
    const [next = { id: "", toolCallId: "" }] = scene.interrupts;
    expect(shown(second)).toEqual(shown(first));
    expect(JSON.stringify(shown(second))).toContain(next.toolCallId);
    second.addMessage({ id: "more", role: "user", content: "And then?" });
    await resume(second, { [next.id]: { approved: true } });
    expect(roles(second).filter((role) => role === "tool")).toHaveLength(2);
    expect(await shownAnew(scene)).toEqual(shown(second));
  });

  it("gets what followed together with the answer to its new message", async () => {
    await using windows = await twoWindows([
      callsTools([{ name: "pay" }]),
      answers("Done."),
      answers("Hello."),
    ]);
    const { scene, first, second, ids } = windows;
    await resume(first, { [ids[0] ?? ""]: { approved: true } });
    second.addMessage({ id: "more", role: "user", content: "Hi" });
    await resume(second, { [ids[0] ?? ""]: { approved: true } });
    expect(second.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(["Done.", "Hi", "Hello.", '{"paid":true}']),
    );
    expect(await shownAnew(scene)).toEqual(shown(second));
    expect(scene.failures).toEqual([]);
  });

  it("leaves the others open, and records nothing that came with it", async () => {
    const calls = [1, 2].map((cents) => ({ name: "pay", arguments: { cents } }));
    await using windows = await twoWindows([callsTools(calls), answers("Done.")]);
    const { scene, second, ids, paid } = windows;
    const [one = "", two = ""] = ids;
    // Another client: the one that asked insists on answers to all.
    await resume(scene.client(), { [one]: { approved: true } });
    expect(paid).toEqual([{ cents: 1 }]);
    await resume(second, { [one]: { approved: false }, [two]: { approved: true } });
    expect(last(scene)).toMatchObject({ type: "RUN_ERROR", code: "already-decided" });
    expect(paid).toEqual([{ cents: 1 }]);
    await resume(second, { [one]: { approved: true }, [two]: { approved: true } });
    expect(paid).toEqual([{ cents: 1 }, { cents: 2 }]);
    expect(scene.outcome).toEqual({ type: "success" });
  });
});

describe("an answer to an interrupt that the thread never had", () => {
  it("is refused by name", async () => {
    await using windows = await twoWindows();
    const { scene, second, paid } = windows;
    await resume(scene.client(), { unknown: { approved: false } });
    expect(last(scene)).toMatchObject({ type: "RUN_ERROR", code: "not-open" });
    expect(JSON.stringify(last(scene))).toContain("unknown");
    expect(paid).toEqual([]);
    expect(roles(second)).not.toContain("tool");
  });
});

describe("an answer to an interrupt whose loop was canceled", () => {
  it.each<[boolean, string]>([
    [false, "RUN_FINISHED"],
    [true, "RUN_ERROR"],
  ])("succeeds only as a rejection, because the call has not run: approved %s", async (approved, type) => {
    await using windows = await twoWindows();
    const { scene, first, ids, paid } = windows;
    const [session = ""] = await scene.sessionIds();
    await scene.scene.as("ada").post(`/sessions/${encodeURIComponent(session)}/cancel`);
    await resume(first, { [ids[0] ?? ""]: { approved } });
    expect(last(scene)).toMatchObject(approved ? { type, code: "not-open" } : { type });
    expect(paid).toEqual([]);
  });
});

describe("an answer to an interrupt that has expired", () => {
  it.each<[string, string, "resolved" | "cancelled", string]>([
    ["pay", "a rejection", "cancelled", "RUN_FINISHED"],
    ["pay", "an approval", "resolved", "not-open"],
    ["seat", "a rejection", "cancelled", "RUN_FINISHED"],
  ])("succeeds only as a rejection, which the client requires: of %s, %s", async (name, _, status, end) => {
    const clock = new TestClock();
    const config = { approval: { policy: "never", expiresAfterMs: 60_000 } } as const;
    const agent = agentOf([callsTools([{ name }]), answers("Done.")], { tools: [pay(), seat], config });
    await using scene = new AgUiScene(agent, { clock });
    const client = scene.client();
    await say(client, "Pay");
    const payload = status === "cancelled" ? {} : { approved: true };
    const given = scene.interrupts.map(({ id }) => ({ interruptId: id, status, payload }));
    await clock.advanceAsync(60_000);
    // The client itself refuses an approval that comes too late.
    if (status === "resolved") await expect(client.runAgent({ resume: given })).rejects.toThrow("expired");
    await (status === "resolved" ? scene.client() : client).runAgent({ resume: given });
    const { type, code = type } = last(scene) as { readonly type: string; readonly code?: string };
    expect(code).toBe(end);
    if (status === "cancelled") expect(await shownAnew(scene)).toEqual(shown(client));
  });
});

describe("an answer that a client sends again after it was cut off", () => {
  it("gets the result and the text, which ended meanwhile", async () => {
    const paying = Promise.withResolvers<string>();
    const slow = toolOf("pay", () => paying.promise, { approval: "always" });
    const script = [callsTools([{ name: "pay" }]), answers("Done.")];
    await using scene = new AgUiScene(agentOf(script, { tools: [slow] }));
    const client = scene.client();
    await say(client, "Pay");
    const { pendingInterrupts } = client;
    const approval = { [pendingInterrupts[0]?.id ?? ""]: { approved: true } };
    const run = resume(client, approval);
    const [id = ""] = await scene.sessionIds();
    await expect
      .poll(async () => JSON.stringify((await scene.stateOf(id)).reActContext.control))
      .toContain('"started":true');
    client.abortRun();
    await run;
    paying.resolve("paid");
    await expect.poll(async () => (await scene.stateOf(id)).reActContext.control.type).toBe("Done");
    client.pendingInterrupts = [...pendingInterrupts];
    await resume(client, approval);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(roles(client)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(await shownAnew(scene)).toEqual(shown(client));
  });

  it("gets the result of a call with an unknown outcome that runs again", async () => {
    const storage = new MemoryStorage();
    const isRunning = Promise.withResolvers<void>();
    let runs = 0;
    const execute = () => {
      runs += 1;
      isRunning.resolve();
      return runs === 1 ? new Promise(() => undefined) : "paid";
    };
    const tool = toolOf("pay", execute, { replay: "once", onUnknown: "ask" });
    const before = new AgUiScene(agentOf([callsTools([{ name: "pay" }])], { tools: [tool] }), {
      log: memoryLog(storage),
    });
    const left = say(before.client(), "Pay").catch(() => undefined);
    await isRunning.promise;
    await before[Symbol.asyncDispose]();
    await left;
    await using scene = new AgUiScene(agentOf([answers("Done.")], { tools: [tool] }), {
      log: memoryLog(storage),
    });
    const [first, second] = [scene.client(), scene.client()];
    for (const client of [first, second]) await client.runAgent();
    const approval = { [scene.interrupts[0]?.id ?? ""]: { approved: true } };
    for (const client of [first, second]) await resume(client, approval);
    expect(runs).toBe(2);
    expect(roles(second)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(shown(second)).toEqual(shown(first));
  });
});

describe("arguments that a reviewer has changed", () => {
  const changed = JSON.stringify({ cents: 22 });
  const argumentsOf = ({ messages }: HttpAgent): readonly string[] =>
    messages.flatMap((message) =>
      "toolCalls" in message ? (message.toolCalls ?? []).map((call) => call.function.arguments) : [],
    );

  it("are shown by the window that has changed them, and by one that posts its next message", async () => {
    const call = callsTools([{ name: "pay", arguments: { cents: 2 } }]);
    await using windows = await twoWindows([call, answers("Done."), answers("Hello.")]);
    const { scene, first, second, ids, paid } = windows;
    await resume(first, { [ids[0] ?? ""]: { approved: true, editedArgs: { cents: 22 } } });
    expect(paid).toEqual([{ cents: 22 }]);
    expect(argumentsOf(first)).toEqual([changed]);
    expect(await shownAnew(scene)).toEqual(shown(first));
    second.pendingInterrupts = [];
    await say(second, "Hi", "more");
    expect(argumentsOf(second)).toEqual([changed]);
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
    await untilPasses(() => expect(argumentsOf(client)).toEqual([JSON.stringify({ cents: 2 }), "{}"]));
    const [id = ""] = await scene.sessionIds();
    const ada = scene.scene.as("ada");
    const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
    const decision = { approve: { cents: 22 } };
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision });
    await untilPasses(() => expect(argumentsOf(client)).toEqual([changed, "{}"]));
    waiting.resolve("waited");
    await run;
    expect(await shownAnew(scene)).toEqual(shown(client));
    expect(scene.failures).toEqual([]);
  });
});
