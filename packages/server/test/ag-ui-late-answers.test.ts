import type { HttpAgent } from "@ag-ui/client";
import { askHuman } from "@moora/agent";
import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { pay } from "./chat-scene.ts";
import { agentOf } from "./support.ts";

type Payload = Readonly<Record<string, unknown>>;

/** A thread with two windows that show the same interrupts, and what its tool has paid. */
async function twoWindows(script: MockScript = [callsTools([{ name: "pay" }]), answers("Done.")]) {
  const paid: unknown[] = [];
  const scene = new AgUiScene(agentOf(script, { tools: [pay(paid), askHuman()] }));
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
  ])("succeeds if it is the same, as one that is sent again: %s", async (_, script, given) => {
    await using windows = await twoWindows(script);
    const { scene, first, second, ids } = windows;
    await resume(first, { [ids[0] ?? ""]: given });
    await resume(second, { [ids[0] ?? ""]: given });
    expect(scene.outcome).toEqual({ type: "success" });
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
