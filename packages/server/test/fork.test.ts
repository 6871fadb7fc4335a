import { readHeader, stateAt } from "@moora/agent";
import { LogError, memoryLog, type EventLog, type SessionLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import type { Grant } from "../src/index.ts";
import { byName, Scene, type Client, type SceneOptions } from "@moora/testbed/server/scene";

const talker = () => agentOf(() => answers("Hello."));

/** A session of Ada with an answer, and its last record. */
async function answered(options: SceneOptions = {}) {
  const scene = new Scene(talker(), options);
  const ada = scene.as("ada");
  const id = await ada.create();
  await using stream = await ada.events(id);
  await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
  const { seq } = await stream.until("re-act-observed");
  return { scene, ada, id, seq };
}

const messagesOf = async (client: Client, id: string): Promise<readonly string[]> =>
  (await client.get(`/sessions/${id}`)).body.state.messages.map(
    ({ content }: { content: string }) => content,
  );

describe("a fork of a session that an engine runs", () => {
  it("is refused with the reason, and creates nothing", async () => {
    const { scene, id } = await answered();
    await using _ = scene;
    const ownedLog = withSessions(scene.log, () => ({}), { owner: "engine" });
    await using server = new Scene(talker(), { log: ownedLog });
    const { status, body } = await server.as("ada").post(`/sessions/${id}/fork`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: "refused", detail: expect.stringContaining("run by engine") });
    expect((await server.as("ada").post("/sessions/unknown/fork")).status).toBe(404);
    expect(await scene.log.list()).toHaveLength(1);
    expect(server.errors).toEqual([]);
  });
});

describe("a fork of a session", () => {
  it("has the records up to its position, belongs to its user, and continues on its own", async () => {
    const { scene, ada, id } = await answered({ basePath: "" });
    await using _ = scene;
    const { status, body, headers } = await ada.post(`/sessions/${id}/fork`);
    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.stringMatching(/^s_/), agent: "helper", seq: expect.any(Number) });
    expect(headers.get("location")).toBe(`/sessions/${body.id}`);
    expect(await readHeader(scene.log, body.id)).toMatchObject({ user: "ada", parent: { id } });
    await ada.post(`/sessions/${body.id}/messages`, { content: "And now?" });
    expect(await messagesOf(ada, body.id)).toEqual(expect.arrayContaining(["Hi", "Hello.", "And now?"]));
    expect(await messagesOf(ada, id)).toEqual(["Hi", "Hello."]);
    expect((await ada.get("/sessions")).body.sessions).toHaveLength(2);
  });

  it.each([
    [0, []],
    [1, []],
    [2, ["Hi"]],
  ])("at record %i has nothing that came after it", async (at, messages) => {
    const { scene, ada, id } = await answered();
    await using _ = scene;
    const { body } = await ada.post(`/sessions/${id}/fork`, { at });
    expect((await readHeader(scene.log, body.id)).parent).toEqual({ id, seq: at });
    const { state } = await stateAt(scene.log, body.id);
    expect(state.messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(
      messages,
    );
  });
});

describe("a fork of the session of another user", () => {
  const grants: Readonly<Record<string, Grant>> = {
    ada: { user: "ada" },
    eve: { user: "eve" },
    rita: { user: "rita", mayForeign: (action) => action === "read" },
    reader: { user: "reader", may: (action) => action !== "create", mayForeign: () => true },
  };
  const authorize = (sent: Request): Grant | undefined => grants[byName(sent)?.user ?? ""];

  it("is as unknown as one of a session that does not exist, and creates nothing", async () => {
    const { scene, id } = await answered({ authorize });
    await using _ = scene;
    const foreign = await scene.as("eve").post(`/sessions/${id}/fork`);
    const missing = await scene.as("eve").post("/sessions/nothing/fork");
    expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
    expect(await scene.log.list()).toHaveLength(1);
  });

  it("belongs to the reader who makes it, and not to the user of the session", async () => {
    const { scene, ada, id } = await answered({ authorize });
    await using _ = scene;
    const rita = scene.as("rita");
    const { body } = await rita.post(`/sessions/${id}/fork`);
    expect((await readHeader(scene.log, body.id)).user).toBe("rita");
    expect((await rita.post(`/sessions/${body.id}/messages`, { content: "Mine." })).status).toBe(200);
    expect((await ada.get(`/sessions/${body.id}`)).status).toBe(404);
  });

  it("needs the right to create, as any other session", async () => {
    const { scene, id } = await answered({ authorize });
    await using _ = scene;
    expect(await scene.as("reader").post(`/sessions/${id}/fork`)).toMatchObject({
      status: 403,
      body: { code: "forbidden", detail: "You may not create a session." },
    });
    expect(await scene.log.list()).toHaveLength(1);
  });
});

/** A log whose appends to forks wait until `open` is called; `reached` resolves when one waits. */
function heldForks(inner: EventLog, source: () => string) {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const log = withSessions(inner, (session) => ({
    append: async (seq, records) => {
      if (source() !== "" && session.id !== source()) {
        reached.resolve();
        await opened.promise;
      }
      return await session.append(seq, records);
    },
  }));
  return { log, reached: reached.promise, open: () => opened.resolve() };
}

describe("a fork with an idempotency key", () => {
  it("is made once for equal requests at the same time, also if its first append takes long", async () => {
    let source = "";
    const { log, reached, open } = heldForks(memoryLog(), () => source);
    const { scene, ada, id } = await answered({ log });
    await using _ = scene;
    source = id;
    const fork = (at?: number) => ada.post(`/sessions/${id}/fork`, { at }, { "idempotency-key": "k" });
    const forks = [fork(2), fork(2), fork(2), fork(), fork(1)];
    await reached;
    await turn();
    forks.push(fork(2));
    open();
    const [first, ...others] = await Promise.all(forks);
    const other = others.splice(3, 1);
    expect(first?.status).toBe(201);
    expect(others.map(({ status, body }) => [status, body])).toEqual(others.map(() => [201, first?.body]));
    expect(other).toMatchObject([{ status: 422, body: { code: "idempotency-key-reused" } }]);
    expect(scene.errors).toEqual([]);
  });

  it("is made once, also by requests at the same time and at another server", async () => {
    const { scene, ada, id } = await answered();
    await using _ = scene;
    await using other = new Scene(talker(), { log: { ...scene.log, close: () => undefined } });
    const fork = (client: Client, body: object = {}) =>
      client.post(`/sessions/${id}/fork`, body, { "idempotency-key": "k" });
    const [first, second] = await Promise.all([fork(ada), fork(ada)]);
    expect(first).toMatchObject({ status: 201, body: { agent: "helper" } });
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect((await fork(other.as("ada"))).body).toEqual(first.body);
    expect(await scene.log.list()).toHaveLength(2);
  });

  it("is another one for another position, session or user", async () => {
    const { scene, ada, id } = await answered({
      authorize: (sent) => ({ user: byName(sent)?.user ?? "", mayForeign: () => true }),
    });
    await using _ = scene;
    const fork = (client: Client, from: string, body: object = {}) =>
      client.post(`/sessions/${from}/fork`, body, { "idempotency-key": "k" });
    const first = await fork(ada, id, { at: 2 });
    expect((await fork(ada, id, { at: 2 })).body).toEqual(first.body);
    expect(await fork(ada, id, { at: 1 })).toMatchObject({
      status: 422,
      body: { code: "idempotency-key-reused" },
    });
    const ofOther = await fork(scene.as("rita"), id, { at: 2 });
    const ofFork = await fork(ada, first.body.id, { at: 2 });
    expect(new Set([first, ofOther, ofFork].map(({ body }) => body.id)).size).toBe(3);
  });
});

describe("a fork that is refused", () => {
  it.each([
    ["beyond the last record", { at: 99 }, 400, "cursor-beyond-end"],
    ["at a record that is not one", { at: -1 }, 400, "invalid-request"],
    ["at a text", { at: "2" }, 400, "invalid-request"],
    ["with an id of the client", { id: "mine" }, 400, "invalid-request"],
  ])("is one %s, and creates nothing", async (_name, body, status, code) => {
    const { scene, ada, id } = await answered();
    await using _ = scene;
    expect(await ada.post(`/sessions/${id}/fork`, body)).toMatchObject({ status, body: { code } });
    expect(await scene.log.list()).toHaveLength(1);
    expect(scene.errors).toEqual([]);
  });

  it("names the damaged record, and not the file of the log", async () => {
    const damage = new LogError("LogCorrupt", "/home/ada/log.jsonl, line 4: bad digest.", { seq: 3 });
    const inner = memoryLog();
    const { scene, id } = await answered({ log: inner });
    await using _ = scene;
    const open = async (name: string): Promise<SessionLog | undefined> => {
      const session = await inner.open(name);
      if (session === undefined || name !== id) return session;
      const records = (await session.read()).slice(0, 2);
      return {
        ...session,
        id,
        header: session.header,
        head: () => session.head(),
        currentLease: () => session.currentLease(),
        read: () => {
          throw damage;
        },
        inspect: () => ({ records, damage, unfinishedBytes: 0 }),
      };
    };
    await using reader = new Scene(talker(), { log: { ...inner, open, close: () => undefined } });
    const ada = reader.as("ada");
    expect(await ada.post(`/sessions/${id}/fork`, {})).toMatchObject({
      status: 422,
      body: {
        code: "refused",
        detail: "Record 3 is damaged. Fork the session at an earlier one. (LogCorrupt)",
      },
    });
    expect(await inner.list()).toHaveLength(1);
    expect((await ada.post(`/sessions/${id}/fork`, { at: 1 })).status).toBe(201);
  });
});
