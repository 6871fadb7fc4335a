import { join } from "node:path";
import { pruneSessions } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers } from "@moora/llm/testing";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Client, Scene } from "@moora/testbed/server/scene";
import { describedRoutes, requestsTo } from "./every-route.ts";

const program = join(import.meta.dirname, "children/forking-server.ts");
const talker = () => agentOf(() => answers("Hello."));
const key = { "idempotency-key": "k" };

/** A server in a process of its own that is in the middle of a fork of a session. */
async function forking(file: string, headers: Readonly<Record<string, string>> = {}) {
  const child = new Child(program, file);
  const [, url = ""] = await child.printed(/listening (\S+)/);
  const client = new Client((path, init) => fetch(`${url}${path}`, init));
  const source = await client.create();
  await using stream = await client.events(source);
  await client.post(`/sessions/${source}/messages`, { content: "Hi" });
  await stream.until("re-act-observed");
  const answered = client.post(`/sessions/${source}/fork`, {}, headers).catch(() => "no answer");
  const [, fork = ""] = await child.printed(/writing (\S+)/);
  return { child, source, fork, answered };
}

/** A server of this process without users, as the one of the child. */
const sceneOn = (log: EventLog): Scene => new Scene(talker(), { log, authorize: null });

const idsOf = async (client: Client): Promise<readonly string[]> =>
  (await client.get("/sessions")).body.sessions.map(({ id }: { readonly id: string }) => id);

const everyRoute = async (client: Client, id: string) => [
  await client.get(`/sessions/${id}`),
  await client.get(`/sessions/${id}?at=0`),
  await client.get(`/sessions/${id}/export`),
  await client.get(`/sessions/${id}/events`),
  await client.post(`/sessions/${id}/messages`, { content: "Hi" }),
  await client.post(`/sessions/${id}/fork`),
];

const prune = async (log: EventLog) => await pruneSessions(log, { before: 0 });

describe("a fork whose server was killed", () => {
  it("is reported as never completed at once, is not listed, and is removed by the next pruning", async () => {
    using place = new Place();
    const file = place.file("log.db");
    const { child, source, fork, answered } = await forking(file);
    await child.kill();
    expect(await answered).toBe("no answer");
    await using scene = sceneOn(sqliteLog(file));
    const client = scene.as("ada");
    for (const { status, body } of await everyRoute(client, fork))
      expect([status, body.code]).toEqual([409, "session-incomplete"]);
    expect(await idsOf(client)).toEqual([source]);
    expect((await client.get("/sessions?limit=1")).body).toMatchObject({
      sessions: [{ id: source }],
      next: null,
    });
    expect(await prune(scene.log)).toEqual({ pruned: [], kept: [], incomplete: [fork] });
    expect((await client.get(`/sessions/${fork}`)).status).toBe(404);
    expect((await client.get(`/sessions/${source}`)).status).toBe(200);
    expect(scene.errors).toEqual([]);
  });

  it("is reported by the routes whose description names that problem, and no other", async () => {
    using place = new Place();
    const file = place.file("log.db");
    const { child, fork } = await forking(file);
    await child.kill();
    await using scene = sceneOn(sqliteLog(file));
    const client = scene.as("ada");
    const routes = await describedRoutes(scene);
    const reporting = new Set<string>();
    for (const { name } of routes.filter((route) => !route.name.startsWith("DELETE "))) {
      for (const [method, path, body] of requestsTo([name], fork)) {
        const answer = method === "GET" ? await client.get(path) : await client.post(path, body);
        if (answer.body?.code === "session-incomplete") reporting.add(name);
      }
    }
    const described = routes.filter(({ problems }) => problems.includes("`session-incomplete`"));
    expect([...reporting].toSorted()).toEqual(described.map(({ name }) => name).toSorted());
  });

  it("is made at once by a repetition with its key", async () => {
    using place = new Place();
    const file = place.file("log.db");
    const { child, source, fork } = await forking(file, key);
    await child.kill();
    await using scene = sceneOn(sqliteLog(file));
    const client = scene.as("ada");
    const repeat = () => client.post(`/sessions/${source}/fork`, {}, key);
    expect(await repeat()).toMatchObject({ status: 201, body: { id: fork } });
    expect((await client.get(`/sessions/${fork}`)).body.state.messages).toHaveLength(2);
    expect(await idsOf(client)).toEqual([fork, source].toSorted());
    expect(scene.errors).toEqual([]);
  });
});

describe("a fork that another process is writing", () => {
  it("is not listed, is answered with a retry, and is kept by a pruning and a repetition", async () => {
    using place = new Place();
    const file = place.file("log.db");
    const { child, source, fork } = await forking(file, key);
    await using _ = child;
    await using scene = sceneOn(sqliteLog(file));
    const client = scene.as("ada");
    for (const { status, body } of await everyRoute(client, fork)) {
      expect([status, body.code]).toEqual([503, "unavailable"]);
      expect(body.detail).toMatch(/^The session is being moved or written. Retry. If that does not help, /);
    }
    expect(await client.post(`/sessions/${source}/fork`, {}, key)).toMatchObject({
      status: 503,
      body: { detail: "The fork is being written. Retry." },
    });
    expect(await prune(scene.log)).toEqual({ pruned: [], kept: [], incomplete: [] });
    expect(await idsOf(client)).toEqual([source]);
    expect(await scene.log.open(fork)).toBeDefined();
  });
});

describe("a fork that was removed", () => {
  it("is not made again by a late repetition of its request at the server that removed it", async () => {
    const log = memoryLog();
    await using scene = new Scene(talker(), { log });
    await using other = new Scene(talker(), { log: { ...log, close: () => undefined } });
    const ada = scene.as("ada");
    const source = await ada.create();
    const fork = (client: Client, headers: Readonly<Record<string, string>>) =>
      client.post(`/sessions/${source}/fork`, {}, headers);
    const { id } = (await fork(ada, key)).body;
    expect((await fork(ada, key)).body.id).toBe(id);
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    expect(await fork(ada, key)).toMatchObject({
      status: 404,
      body: { code: "not-found", detail: "The fork of this idempotency key was removed." },
    });
    expect(await idsOf(ada)).toEqual([source]);
    expect((await fork(ada, { "idempotency-key": "other" })).status).toBe(201);
    // Another server finds no session that has the key.
    expect((await fork(other.as("ada"), key)).body.id).toBe(id);
    expect((await fork(ada, key)).body.id).toBe(id);
  });

  it("is made again by a repetition if it was never completed", async () => {
    using place = new Place();
    const file = place.file("log.db");
    const { child, source, fork } = await forking(file, key);
    await child.kill();
    await using scene = sceneOn(sqliteLog(file));
    const client = scene.as("ada");
    expect((await client.delete(`/sessions/${fork}`)).status).toBe(204);
    expect((await client.post(`/sessions/${source}/fork`, {}, key)).body.id).toBe(fork);
  });
});
