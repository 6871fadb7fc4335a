import { askHuman } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

interface Given {
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
}

const json = { "content-type": "application/json" };

/** Answers the first interrupt of the thread, and resolves at the end of the run. */
const answerer =
  (scene: AgUiScene, interruptId = scene.interrupts[0]?.id) =>
  async (given: Given) => {
    const resume = [{ interruptId, ...given }];
    const body = JSON.stringify({ threadId: "thread-1", runId: crypto.randomUUID(), messages: [], resume });
    const init = { method: "POST", headers: json, body };
    const response = await scene.scene.as("ada").send("/agents/helper/ag-ui", init);
    return { status: response.status, text: await response.text() };
  };

/** A run that has ended with one interrupt, and what its tool `pay` has done. */
async function asked(call = callsTools([{ name: "pay" }])) {
  const paid: unknown[] = [];
  const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
  const scene = new AgUiScene(agentOf([call, answers("Done.")], { tools: [pay, askHuman()] }));
  await say(scene.client(), "Pay");
  return {
    paid,
    answer: answerer(scene),
    interrupt: scene.interrupts[0],
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

const question = callsTools([{ name: "ask_human", arguments: { question: "Which?" } }]);

it("the interrupt of a question of the model has the text of the question as its message", async () => {
  await using scene = await asked(question);
  expect(scene.interrupt).toMatchObject({ reason: "answer", message: "Which?" });
});

describe("an answer to an interrupt about an approval", () => {
  it.each<[Given, string, string]>([
    [{ status: "resolved" }, "resume.0.payload.approved", "The payload must have approved: true or false."],
    [{ status: "resolved", payload: {} }, "resume.0.payload.approved", "approved: true or false"],
    [{ status: "resolved", payload: { reason: "no, never" } }, "resume.0.payload.approved", "approved"],
    [{ status: "resolved", payload: { editedArgs: { n: 1 } } }, "resume.0.payload.approved", "approved"],
    [{ status: "resolved", payload: { approve: false } }, "resume.0.payload", 'the field "approve"'],
    [{ status: "resolved", payload: { answer: "no" } }, "resume.0.payload", 'the field "answer"'],
    [{ status: "resolved", payload: { approved: true, args: {} } }, "resume.0.payload", 'the field "args"'],
  ])("is refused, and the question stays open: %j", async (given, path, detail) => {
    await using scene = await asked();
    const { status, text } = await scene.answer(given);
    expect([status, JSON.parse(text)]).toMatchObject([422, { code: "refused", path }]);
    expect(text).toContain(JSON.stringify(detail).slice(1, -1));
    expect(scene.paid).toEqual([]);
    await scene.answer({ status: "resolved", payload: { approved: true } });
    expect(scene.paid).toEqual([{}]);
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
        await using scene = await asked();
        statuses.add((await scene.answer({ status, payload: given })).status);
        if (status === "cancelled" || given?.approved !== true) expect(scene.paid).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(statuses).toEqual(new Set([200, 400, 422]));
  });

  it("has the form that the interrupt describes", async () => {
    await using scene = await asked();
    expect(scene.interrupt?.responseSchema).toEqual({
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" }, editedArgs: {} },
      required: ["approved"],
      additionalProperties: false,
    });
  });
});

describe("an answer to another interrupt", () => {
  it.each([{}, { reason: "Red." }, { approved: true }])(
    "is refused without an answer, for a question of the model: %j",
    async (payload) => {
      await using scene = await asked(question);
      const { status, text } = await scene.answer({ status: "resolved", payload });
      expect([status, JSON.parse(text)]).toMatchObject([422, { path: "resume.0.payload.answer" }]);
      expect((await scene.answer({ status: "resolved", payload: { answer: "red" } })).status).toBe(200);
    },
  );

  it.each([{}, { reason: "No." }, { approve: false }, { approved: true, editedArgs: {} }])(
    "does not run a call with an unknown outcome again: %j",
    async (payload) => {
      const storage = new MemoryStorage();
      const runs: number[] = [];
      const isRunning = Promise.withResolvers<void>();
      const execute = () => {
        runs.push(runs.length);
        isRunning.resolve();
        return runs.length === 1 ? new Promise(() => undefined) : "paid";
      };
      const pay = toolOf("pay", execute, { replay: "once", onUnknown: "ask" });
      const agent = () => agentOf([callsTools([{ name: "pay" }]), answers("Done.")], { tools: [pay] });
      const first = new AgUiScene(agent(), { log: memoryLog(storage) });
      const left = say(first.client(), "Pay").catch(() => undefined);
      await isRunning.promise;
      await first.scene.server.close();
      await left;
      await using scene = new AgUiScene(agentOf([answers("Done.")], { tools: [pay] }), {
        log: memoryLog(storage),
      });
      const [id = ""] = await scene.sessionIds();
      const [asking] = (await scene.scene.as("ada").get(`/sessions/${id}`)).body.questions;
      expect(asking).toMatchObject({ about: "outcome" });
      const answer = answerer(scene, asking.digest);
      expect((await answer({ status: "resolved", payload })).status).toBe(422);
      expect(runs).toEqual([0]);
      expect((await answer({ status: "resolved", payload: { approved: true } })).status).toBe(200);
      expect(runs).toEqual([0, 1]);
    },
  );
});

describe("an answer to a question of the model in a chat", () => {
  it("is refused if it is an output without a value, and the question stays open", async () => {
    await using scene = new Scene(agentOf([question, answers("Done.")], { tools: [askHuman()] }));
    const ada = scene.as("ada");
    const chat = (message: object) => {
      const body = JSON.stringify({ id: "chat-1", messages: [message] });
      return ada.send("/agents/helper/chat", { method: "POST", headers: json, body });
    };
    await (await chat({ id: "m1", role: "user", parts: [{ type: "text", text: "Buy" }] })).text();
    const { messages } = (await ada.get("/agents/helper/chat/chat-1")).body;
    const { parts } = messages.at(-1);
    const answer = (more: object) =>
      chat({ ...messages.at(-1), parts: [{ ...parts.at(-1), state: "output-available", ...more }] });
    const refused = await answer({});
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { code: "refused", detail: "A tool that asks must have an output." },
    ]);
    expect(await (await answer({ output: "red" })).text()).toContain("Done.");
  });
});
