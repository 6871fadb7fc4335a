import { defineData } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { byName, Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello there."));

it("the agents of which a user may create sessions are listed", async () => {
  await using scene = new Scene(talker(), {
    authorize(request) {
      const { user } = byName(request) ?? { user: "" };
      return {
        user,
        may: (action, { agent }) => user !== "bob" || action !== "create" || agent !== "helper",
      };
    },
  });
  expect((await scene.as("ada").get("/agents")).body).toEqual({ agents: [{ name: "helper" }] });
  expect((await scene.as("bob").get("/agents")).body).toEqual({ agents: [] });
});

describe("a session", () => {
  it("is created, answers a message, and is read", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const created = await ada.post("/agents/helper/sessions");
    expect(created).toMatchObject({ status: 201, body: { agent: "helper", seq: 1 } });
    expect(created.headers.get("location")).toBe(`/sessions/${created.body.id}`);
    const { id } = created.body;
    await using stream = await ada.events(id);
    expect(await ada.post(`/sessions/${id}/messages`, { content: "Hi" })).toMatchObject({
      status: 200,
      body: { status: "accepted", seq: 2 },
    });
    await stream.until("re-act-observed");
    const { body } = await ada.get(`/sessions/${id}`);
    expect(body.state.messages.map(({ content }: { content: string }) => content)).toEqual([
      "Hi",
      "Hello there.",
    ]);
    expect(body).toMatchObject({ id, agent: "helper", questions: [] });
    expect(scene.errors).toEqual([]);
  });

  it("is read as it was at a record", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    const { body } = await ada.get(`/sessions/${id}?at=1`);
    expect(body.seq).toBe(1);
    expect(body.state.messages).toEqual([]);
    expect(await ada.get(`/sessions/${id}?at=900`)).toMatchObject({
      status: 400,
      body: { code: "cursor-beyond-end" },
    });
  });

  it("is removed, and its stream ends", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await stream.next();
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    expect(await stream.next()).toBeUndefined();
    expect(await ada.get(`/sessions/${id}`)).toMatchObject({ status: 404, body: { code: "not-found" } });
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(404);
    expect(scene.errors).toEqual([]);
  });

  it("stays removed if the body of a post ends after that", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    const gate = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"content":'));
        await gate.promise;
        controller.enqueue(new TextEncoder().encode('"Hi"}'));
        controller.close();
      },
    });
    const headers = { authorization: "Bearer ada", "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    const posted = scene.server.fetch(new Request(`http://localhost/sessions/${id}/messages`, init));
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    gate.resolve();
    expect((await posted).status).toBe(404);
    expect((await ada.get(`/sessions/${id}`)).status).toBe(404);
    expect(scene.errors).toEqual([]);
  });

  it("takes a decision on a question, once", async () => {
    const ran: unknown[] = [];
    const pay = toolOf("pay", (input) => (ran.push(input), "paid"), { approval: "always" });
    const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("Paid.")];
    await using scene = new Scene(agentOf(script, { tools: [pay] }));
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay" });
    await stream.until("re-act-observed");
    const [question] = (await ada.get(`/sessions/${id}`)).body.questions;
    expect(question).toMatchObject({ about: "approval", name: "pay", parameters: { cents: 5 } });
    const { toolCallId, digest } = question;
    const decision = { toolCallId, digest, decision: { approve: { cents: 4 } } };
    expect(await ada.post(`/sessions/${id}/decisions`, decision)).toMatchObject({
      status: 200,
      body: { status: "accepted" },
    });
    await stream.until("re-act-observed");
    expect(ran).toEqual([{ cents: 4 }]);
    expect((await ada.post(`/sessions/${id}/decisions`, decision)).body).toEqual({
      status: "ignored",
      reason: "already-decided",
      decidedBy: "ada",
    });
  });

  it("is canceled while the model writes", async () => {
    await using scene = new Scene(agentOf([hangs("Let me think")]));
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream.until("llm-message-started");
    expect((await ada.post(`/sessions/${id}/cancel`, { reason: "Enough." })).body.status).toBe("accepted");
    const { input } = await stream.until("re-act-cancelled");
    expect(input).toMatchObject({ reason: "Enough." });
    expect((await ada.post(`/sessions/${id}/cancel`)).body).toEqual({ status: "ignored", reason: "no-loop" });
  });

  it("keeps application data, which operations change together or not at all", async () => {
    const cart = defineData({
      schema: {
        type: "object",
        properties: { items: { type: "array", items: { type: "string" } }, open: { type: "boolean" } },
        required: ["items"],
        additionalProperties: false,
      },
      initial: { items: ["tea"] },
    });
    await using scene = new Scene(agentOf(() => answers("Yes."), { data: cart }));
    const ada = scene.as("ada");
    const id = await ada.create();
    const change = (...patches: readonly object[]) => ada.post(`/sessions/${id}/data`, { patches });
    const data = async () => (await ada.get(`/sessions/${id}`)).body.state.data;
    expect(
      (
        await change(
          { op: "test", path: "/items/0", value: "tea" },
          { op: "add", path: "/items/0", value: "milk" },
          { op: "add", path: "/items/-", value: "salt" },
          { op: "add", path: "/open", value: true },
          { op: "remove", path: "/items/1" },
        )
      ).body.status,
    ).toBe("accepted");
    expect(await data()).toEqual({ items: ["milk", "salt"], open: true });
    for (const failing of [
      { op: "test", path: "/open", value: false },
      { op: "test", path: "", value: { items: [] } },
      { op: "test", path: "/items/7", value: "none" },
      { op: "test", path: "/gone/deeper", value: null },
      { op: "test", path: "/items/7", value: "gone" },
      { op: "test", path: "/price/currency", value: "EUR" },
      { op: "test", path: "/toString", value: {} },
    ]) {
      expect(await change({ op: "add", path: "/items/-", value: "lost" }, failing)).toMatchObject({
        status: 409,
        body: { code: "test-failed" },
      });
    }
    const whole = { op: "test", path: "", value: { open: true, items: ["milk", "salt"] } };
    expect((await change(whole)).body).toEqual({ status: "ignored", reason: "nothing-new" });
    for (const patches of [
      [{ op: "replace", path: "/items/7", value: "none" }],
      [{ op: "add", path: "/items/9", value: "far" }],
      [{ op: "replace", path: "", value: { items: [] } }],
      [{ op: "add", path: "/price", value: 5 }],
      [{ op: "add", path: "/__proto__/polluted", value: true }],
      [{ op: "remove", path: "items" }],
      [{ op: "add", path: "/items~2", value: true }],
      [{ op: "add", path: "/~2", value: true }],
      [{ op: "test", path: "/open~", value: true }],
    ])
      expect(await change(...patches)).toMatchObject({ status: 422, body: { code: "refused" } });
    const many = Array.from({ length: 1_001 }, () => ({ op: "remove", path: "/items/0" }));
    expect(await change(...many)).toMatchObject({
      status: 400,
      body: {
        code: "invalid-request",
        path: "patches",
        detail: expect.stringContaining("The field has more than 1000 items. Accepted for patches: "),
      },
    });
    expect(await data()).toEqual({ items: ["milk", "salt"], open: true });
  });
});

describe("the list of sessions", () => {
  it("has the own sessions of a user, in pages", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await ada.create());
    await scene.as("bob").create();
    const listed: string[] = [];
    let after = "";
    for (let pages = 1; ; pages += 1) {
      const { body } = await ada.get(`/sessions?limit=2&after=${encodeURIComponent(after)}`);
      listed.push(...body.sessions.map(({ id }: { id: string }) => id));
      if (body.next === null) {
        expect(pages).toBe(3);
        break;
      }
      after = body.next;
    }
    expect(listed).toEqual(ids.toSorted());
    expect((await ada.get("/sessions?limit=0")).status).toBe(400);
    expect((await ada.get("/sessions?limit=1e9")).status).toBe(400);
  });

  it("is the same for a log without pages, and reads no other session of one that has them", async () => {
    const log = memoryLog();
    const lists: number[] = [];
    const pages: EventLog = { ...log, list: () => (lists.push(1), log.list()) };
    for (const each of [pages, withSessions(log, () => ({}))]) {
      await using scene = new Scene(talker(), { log: each });
      const ada = scene.as("ada");
      await ada.create();
      const { body } = await ada.get("/sessions");
      expect(body.sessions).toEqual(
        (await log.list()).map(({ id, head }) => ({
          id,
          agent: "helper",
          seq: head,
          updatedAt: expect.any(Number),
          state: { control: "Idle", questions: 0 },
        })),
      );
    }
    expect(lists).toEqual([]);
  });

  it("does not have those that the user may not read", async () => {
    await using scene = new Scene(talker(), {
      authorize: (request) => {
        const grant = byName(request);
        return grant && { ...grant, may: (action) => action !== "read" };
      },
    });
    const ada = scene.as("ada");
    const id = await ada.create();
    expect((await ada.get("/sessions")).body.sessions).toEqual([]);
    expect((await ada.get(`/sessions/${id}`)).status).toBe(404);
  });
});

describe("several agents", () => {
  it("have sessions of their own", async () => {
    const second = agentOf(() => answers("I am the second."), { name: "second" });
    await using scene = new Scene([talker(), second]);
    const ada = scene.as("ada");
    const id = await ada.create("second");
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Who?" });
    await stream.until("re-act-observed");
    const { body } = await ada.get(`/sessions/${id}`);
    expect(body).toMatchObject({ agent: "second" });
    expect(body.state.messages.at(-1).content).toBe("I am the second.");
    expect((await ada.post("/agents/third/sessions")).status).toBe(404);
  });

  it("need different names, and options must be known", () => {
    expect(() => new Scene([talker(), talker()])).toThrow('Two agents have the name "helper".');
    expect(() => new Scene(talker(), { limits: { maxStreams: 0 } })).toThrow(
      "limits.maxStreams must be a positive integer, got 0.",
    );
    expect(() => new Scene(talker(), { allowedOrigins: ["*"] })).toThrow(
      "allowedOrigins must contain origins",
    );
    expect(() => new Scene(talker(), { basePath: "api/" })).toThrow("basePath must be a path");
    expect(() => new Scene(talker(), { cors: true } as object)).toThrow('Unknown option "cors"');
  });
});

describe("a server under a path", () => {
  it("has all its routes there", async () => {
    await using scene = new Scene(talker(), { basePath: "/api" });
    const ada = scene.as("ada");
    const created = await ada.post("/api/agents/helper/sessions");
    expect(created.headers.get("location")).toBe(`/api/sessions/${created.body.id}`);
    expect((await ada.get(`/api/sessions/${created.body.id}`)).status).toBe(200);
    expect((await ada.get("/api/health")).body).toEqual({ status: "ok" });
    expect((await ada.get("/sessions")).status).toBe(404);
  });
});
