import { defineAgent, defineContext, defineData, defineTool, needsContext, type Agent } from "@moora/agent";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { ChatScene, isReady, textOf } from "@moora/testbed/server/chat-scene";
import { range, Scene } from "@moora/testbed/server/scene";
import { LogScene } from "./log-scene.ts";

const paid: unknown[] = [];
const counted: unknown[] = [];

/** The agent of the services, or that of a server, whose model and tools must not be called. */
const agentOf = (isServer: boolean): Agent => {
  const used = (): void => {
    if (isServer) throw new Error("The server has run an effect.");
  };
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    approval: "always",
    replay: "once",
    execute(input) {
      used();
      paid.push(input);
      return { paid: true };
    },
  });
  const count = defineTool({
    name: "count",
    description: "Counts.",
    input: { type: "object" },
    replay: "once",
    execute(input) {
      used();
      counted.push(input);
      return "counted";
    },
  });
  return defineAgent({
    name: "helper",
    data: defineData({ schema: { type: "object" }, initial: { list: [] } }),
    tools: [pay, count],
    llm: new MockLlmCaller(({ messages }) => {
      used();
      const last = messages.findLast(({ role }) => role === "user" || role === "assistant");
      if (last?.role !== "user") return answers("Done.");
      const text = JSON.stringify(last.content);
      if (text.includes("wait")) return hangs();
      if (text.includes("pay")) return callsTools([{ name: "pay", arguments: { cents: 5 } }]);
      if (text.includes("count")) return callsTools([{ name: "count", arguments: {} }]);
      return answers("Hello.");
    }),
  });
};

let restate: LogScene;

beforeAll(async () => {
  restate = await LogScene.start(agentOf(false));
});

afterAll(async () => {
  await restate[Symbol.asyncDispose]();
});

const serve = (): Scene => new Scene(agentOf(true), { log: restate.openLog() });

const addOne = { patches: [{ op: "add", path: "/list/-", value: 1 }] };

describe("a server before Restate", () => {
  it("creates a session, posts a message, and streams the records, also after the last one that a viewer has", async () => {
    await using scene = serve();
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    const receipt = await ada.post(`/sessions/${id}/messages`, { content: "Please count." });
    expect(receipt.body).toEqual({ status: "accepted", seq: 1 });
    await stream.until("tool-call-started");
    const middle = stream.seqs.at(-1) ?? 0;
    await stream.until("tool-call-completed");
    const { seq } = await stream.until("re-act-observed");
    expect(stream.seqs).toEqual(range(1, seq));
    await using resumed = await ada.events(id, 0, { "last-event-id": String(middle) });
    await resumed.until("re-act-observed");
    expect(resumed.inputs).toEqual(stream.inputs.slice(middle));
    expect(counted).toHaveLength(1);
    const view = (await ada.get(`/sessions/${id}`)).body;
    expect(view).toMatchObject({ id, agent: "helper", user: "ada", seq, questions: [] });
    expect(view.state.reActContext.control.type).toBe("Done");
    expect((await ada.get(`/sessions/${id}?at=1`)).body.state.reActContext.control.type).toBe("Planning");
    expect(scene.errors).toEqual([]);
  });

  it("lists the sessions of a user, and hides them from others", async () => {
    await using scene = serve();
    const id = await scene.as("bob").create();
    expect((await scene.as("bob").get("/sessions")).body.sessions).toEqual([{ id, agent: "helper", seq: 0 }]);
    expect((await scene.as("eve").get("/sessions")).body.sessions).toEqual([]);
    expect((await scene.as("eve").get(`/sessions/${id}`)).status).toBe(404);
    expect((await scene.as("bob").get("/sessions/unknown")).status).toBe(404);
    expect((await scene.as("bob").get("/sessions/..%2F")).status).toBe(404);
  });

  it("shows a question, takes a decision, and the call runs once", async () => {
    await using scene = serve();
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Please pay." });
    await stream.until("re-act-observed");
    const before = paid.length;
    const [question] = (await ada.get(`/sessions/${id}`)).body.questions;
    expect(question).toMatchObject({ name: "pay", about: "approval" });
    const { toolCallId, digest } = question;
    const decision = { toolCallId, digest, decision: "approve" };
    const key = { "idempotency-key": "decision" };
    const receipts = [];
    for (let times = 0; times < 2; times += 1)
      receipts.push((await ada.post(`/sessions/${id}/decisions`, decision, key)).body);
    expect(receipts[0]).toMatchObject({ status: "accepted" });
    expect(receipts[1]).toEqual(receipts[0]);
    await stream.until("tool-call-completed");
    await stream.until("re-act-observed");
    expect(paid).toHaveLength(before + 1);
    const late = await ada.post(`/sessions/${id}/decisions`, decision);
    expect(late.body).toMatchObject({ status: "ignored" });
  });

  it("changes the data once for one idempotency key, and refuses a change that does not fit", async () => {
    await using scene = serve();
    const ada = scene.as("ada");
    const id = await ada.create();
    const path = `/sessions/${id}/data`;
    const key = { "idempotency-key": "data" };
    const receipts = await Promise.all([1, 2, 3].map(async () => (await ada.post(path, addOne, key)).body));
    expect(receipts[0]).toMatchObject({ status: "accepted" });
    expect(receipts).toEqual([receipts[0], receipts[0], receipts[0]]);
    expect((await ada.get(`/sessions/${id}`)).body.state.data).toEqual({ list: [1] });
    const wrong = { patches: [{ op: "add", path: "/none/-", value: 1 }] };
    expect((await ada.post(path, wrong)).body).toMatchObject({ code: "refused" });
  });

  it("removes a session: its streams end, and its id is unknown", async () => {
    await using scene = serve();
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Please wait." });
    await stream.until("llm-call-started");
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    await stream.all();
    expect((await ada.get(`/sessions/${id}`)).status).toBe(404);
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(404);
  });

  it("needs no context for an agent that needs one: its tools run elsewhere", async () => {
    const needs = defineContext<{ readonly database: string }>();
    const needy = defineAgent({ name: "helper", context: needs, llm: new MockLlmCaller([]) });
    expect(needsContext(needy)).toBe(true);
    await using scene = new Scene(needy, { log: restate.openLog() });
    const id = await scene.as("ada").create();
    expect((await scene.as("ada").get(`/sessions/${id}`)).status).toBe(200);
  });

  it("exports a session", async () => {
    await using scene = serve();
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, { content: "Please wait." });
    const exported = await ada.send(`/sessions/${id}/export`, {});
    expect(await exported.text()).toContain("Please wait.");
  });
});

describe("two servers before one Restate", () => {
  it("show one session, and apply a post with an idempotency key once", async () => {
    await using one = serve();
    await using other = serve();
    const id = await one.as("ada").create();
    await using near = await one.as("ada").events(id);
    await using far = await other.as("ada").events(id);
    const key = { "idempotency-key": "first" };
    const receipts = await Promise.all(
      [one, other, one].map(
        async (scene) =>
          (await scene.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" }, key)).body,
      ),
    );
    expect(receipts).toEqual([receipts[0], receipts[0], receipts[0]]);
    const { seq } = await far.until("re-act-observed");
    await near.until("re-act-observed");
    expect(far.seqs).toEqual(range(1, seq));
    expect(far.inputs).toEqual(near.inputs);
    const session = await restate.log.open(id);
    expect(await session?.head()).toBe(seq);
  });

  it("end the streams of a session that the other has removed", async () => {
    await using one = serve();
    await using other = serve();
    const id = await one.as("ada").create();
    await using far = await other.as("ada").events(id);
    await one.as("ada").post(`/sessions/${id}/messages`, { content: "Please wait." });
    await far.until("llm-call-started");
    await one.as("ada").delete(`/sessions/${id}`);
    await far.all();
    await vi.waitFor(async () => expect((await other.as("ada").get(`/sessions/${id}`)).status).toBe(404));
  });
});

describe("the pages for chats before Restate", () => {
  it("get the answers of the agent over the AI SDK", async () => {
    await using scene = new ChatScene(agentOf(true), { log: restate.openLog() });
    const chat = scene.chat("restate-chat");
    await chat.sendMessage({ text: "Please count." });
    await isReady(chat);
    expect(textOf(chat)).toBe("Done.");
    await chat.sendMessage({ text: "Hi" });
    await isReady(chat);
    expect(textOf(chat)).toBe("Hello.");
    expect(scene.errors).toEqual([]);
  });

  it("get the answers of the agent over AG-UI", async () => {
    await using scene = new AgUiScene(agentOf(true), { log: restate.openLog() });
    const client = scene.client("restate-thread");
    await say(client, "Please count.");
    expect(scene.failures).toEqual([]);
    expect(client.messages.at(-1)).toMatchObject({ role: "assistant", content: "Done." });
  });
});
