import { defineData } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const counter = () =>
  agentOf(() => answers("Yes."), {
    data: defineData({ schema: { type: "object" }, initial: { list: [] } }),
  });

const addOne = { patches: [{ op: "add", path: "/list/-", value: 1 }] };

describe("a post with an idempotency key", () => {
  it("is applied once, and a repetition gets the same receipt", async () => {
    await using scene = new Scene(counter());
    const ada = scene.as("ada");
    const id = await ada.create();
    const key = { "idempotency-key": "first" };
    const post = () => ada.post(`/sessions/${id}/messages`, { content: "Hi" }, key);
    const receipts = await Promise.all([post(), post(), post()]);
    for (const { status, body } of receipts) {
      expect(status).toBe(200);
      expect(body).toEqual(receipts[0]?.body);
    }
    await using stream = await ada.events(id, 0);
    await stream.until("re-act-observed");
    expect(stream.inputs.filter(({ input }) => input.type === "user-message-received")).toHaveLength(1);
  });

  it("has a key of its own kind: another kind with the same key is another post", async () => {
    await using scene = new Scene(agentOf([hangs("Half")]));
    const ada = scene.as("ada");
    const id = await ada.create();
    const key = { "idempotency-key": "first" };
    const posts = [await ada.post(`/sessions/${id}/messages`, { content: "Hi" }, key)];
    for (const kind of ["pause", "cancel"]) posts.push(await ada.post(`/sessions/${id}/${kind}`, {}, key));
    const seqs = posts.map(({ body }) => (body as { seq: number }).seq);
    expect(new Set(seqs).size).toBe(3);
    expect((await ada.post(`/sessions/${id}/cancel`, {}, key)).body).toEqual(posts[2]?.body);
    expect(await ada.post(`/sessions/${id}/cancel`, { reason: "No." }, key)).toMatchObject({
      status: 422,
      body: { code: "idempotency-key-reused" },
    });
  });

  it.each([
    ["messages", { content: "Hi" }],
    ["data", addOne],
  ])("is applied once after a restart of the server: %s", async (route, body) => {
    const storage = new MemoryStorage();
    const key = { "idempotency-key": "first" };
    let id = "";
    let first: unknown;
    {
      await using scene = new Scene(counter(), { log: memoryLog(storage) });
      id = await scene.as("ada").create();
      first = (await scene.as("ada").post(`/sessions/${id}/${route}`, body, key)).body;
      expect(first).toMatchObject({ status: "accepted" });
    }
    await using scene = new Scene(counter(), { log: memoryLog(storage) });
    const ada = scene.as("ada");
    expect((await ada.post(`/sessions/${id}/${route}`, body, key)).body).toEqual(first);
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.messages.filter(({ role }: { role: string }) => role === "user").length).toBe(
      route === "messages" ? 1 : 0,
    );
    expect(state.data.list).toEqual(route === "data" ? [1] : []);
    const other =
      route === "messages" ? { content: "Other" } : { patches: [...addOne.patches, ...addOne.patches] };
    expect(await ada.post(`/sessions/${id}/${route}`, other, key)).toMatchObject({
      status: 422,
      body: { code: "idempotency-key-reused" },
    });
  });

  it("is recognized by a text with half of a surrogate pair, which is replaced", async () => {
    await using scene = new Scene(counter());
    const ada = scene.as("ada");
    const id = await ada.create();
    const half = "a\ud800b";
    const bodies = {
      messages: { content: half },
      data: { patches: [{ op: "add", path: "/text", value: { [half]: half } }] },
    };
    for (const [route, body] of Object.entries(bodies)) {
      const post = () => ada.post(`/sessions/${id}/${route}`, body, { "idempotency-key": route });
      const receipt = await post();
      expect(receipt.body.status).toBe("accepted");
      expect((await post()).body).toEqual(receipt.body);
    }
    await scene.server.close();
    await using next = new Scene(counter(), { log: scene.log });
    const again = await next
      .as("ada")
      .post(`/sessions/${id}/messages`, bodies.messages, { "idempotency-key": "messages" });
    expect(again.body.status).toBe("accepted");
    const { state } = (await next.as("ada").get(`/sessions/${id}`)).body;
    expect(state.data.text).toEqual({ "a\ufffdb": "a\ufffdb" });
    expect(state.messages[0].content).toBe("a\ufffdb");
  });

  it("decides once after a restart of the server", async () => {
    const storage = new MemoryStorage();
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const agent = () =>
      agentOf(({ messages }) => (messages.length > 1 ? answers("Paid.") : callsTools([{ name: "pay" }])), {
        tools: [pay],
      });
    const key = { "idempotency-key": "decide" };
    let id = "";
    let question: { toolCallId: string; digest: string };
    let first: unknown;
    {
      await using scene = new Scene(agent(), { log: memoryLog(storage) });
      const ada = scene.as("ada");
      id = await ada.create();
      await using stream = await ada.events(id);
      await ada.post(`/sessions/${id}/messages`, { content: "Pay" });
      await stream.until("re-act-observed");
      const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
      question = { toolCallId, digest };
      first = (await ada.post(`/sessions/${id}/decisions`, { ...question, decision: "approve" }, key)).body;
      expect(first).toMatchObject({ status: "accepted" });
    }
    await using scene = new Scene(agent(), { log: memoryLog(storage) });
    const ada = scene.as("ada");
    const again = await ada.post(`/sessions/${id}/decisions`, { ...question, decision: "approve" }, key);
    expect(again.body).toEqual(first);
    const other = { ...question, decision: { reject: "No." } };
    expect((await ada.post(`/sessions/${id}/decisions`, other, key)).body.code).toBe(
      "idempotency-key-reused",
    );
    const fresh = await ada.post(`/sessions/${id}/decisions`, other);
    expect(fresh.body).toMatchObject({ status: "ignored", decidedBy: "ada" });
  });

  it("cancels one loop, and not the next one after a restart", async () => {
    const storage = new MemoryStorage();
    const key = { "idempotency-key": "stop" };
    let id = "";
    let first: unknown;
    {
      await using scene = new Scene(agentOf([hangs("Hm")]), { log: memoryLog(storage) });
      const ada = scene.as("ada");
      id = await ada.create();
      await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
      first = (await ada.post(`/sessions/${id}/cancel`, {}, key)).body;
      expect(first).toMatchObject({ status: "accepted" });
    }
    await using scene = new Scene(agentOf([hangs("Hm")]), { log: memoryLog(storage) });
    const ada = scene.as("ada");
    await ada.post(`/sessions/${id}/messages`, { content: "Again" });
    expect((await ada.post(`/sessions/${id}/cancel`, {}, key)).body).toEqual(first);
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.reActContext.control.type).toBe("Planning");
  });

  it("creates one session, for each user another", async () => {
    await using scene = new Scene(counter());
    const key = { "idempotency-key": "new" };
    const create = async (user: string) =>
      (await scene.as(user).post("/agents/helper/sessions", {}, key)).body.id;
    const id = await create("ada");
    expect(await create("ada")).toBe(id);
    expect(await create("bob")).not.toBe(id);
  });

  it("belongs to its user: the key of another one is another request", async () => {
    await using scene = new Scene(counter(), {
      authorize: (request) => {
        const user = request.headers.get("authorization")?.slice("Bearer ".length);
        return user === undefined ? undefined : { user, mayForeign: () => true };
      },
    });
    const id = await scene.as("ada").create();
    const key = { "idempotency-key": "first" };
    for (const user of ["ada", "bob"]) await scene.as(user).post(`/sessions/${id}/data`, addOne, key);
    expect((await scene.as("ada").get(`/sessions/${id}`)).body.state.data.list).toEqual([1, 1]);
  });

  it.each(["", " ", "a b", "ü", "x".repeat(201)])("is refused with the key %j", async (key) => {
    await using scene = new Scene(counter());
    const id = await scene.as("ada").create();
    const answer = await scene
      .as("ada")
      .post(`/sessions/${id}/messages`, { content: "Hi" }, { "idempotency-key": encodeHeader(key) });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid-request", path: "Idempotency-Key" } });
  });
});

/** A header value holds bytes. */
const encodeHeader = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));
