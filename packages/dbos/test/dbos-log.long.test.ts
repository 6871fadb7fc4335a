import { DBOSClient } from "@dbos-inc/dbos-sdk";
import {
  newSessionHeader,
  openSession,
  sessionOwner,
  stateAt,
  userMessage,
  verifySession,
  type AgentInput,
} from "@moora/agent";
import { dbosHost, dbosLog } from "@moora/dbos";
import { memoryLog } from "@moora/event-log";
import { createAgentServer } from "@moora/server";
import { createDatabase } from "@moora/testbed/postgres/database";
import type { EventReader } from "@moora/testbed/server/event-reader";
import { range, Scene as Servers } from "@moora/testbed/server/scene";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postedRecords, servedAgent } from "./server-scene.ts";
import { isDone, Scene } from "./support.ts";

const used: string[] = [];
const agent = servedAgent(used);
let scene: Scene;
let client: DBOSClient;

beforeAll(async () => {
  scene = await Scene.start();
  client = await DBOSClient.create({ systemDatabaseUrl: scene.url });
}, 240_000);

afterAll(async () => {
  await client.destroy();
  await scene[Symbol.asyncDispose]();
});

const logOfDbos = (waitMs = 200_000) => dbosLog({ log: scene.log, client, waitMs });

const serve = (log = logOfDbos(), served = agent): Servers => new Servers(served, { log });

/** Reads a stream up to the last record of a session that has ended. */
async function readAll(stream: EventReader, id: string): Promise<void> {
  await scene.until(id, isDone);
  const last = (await (await scene.log.open(id))?.head()) ?? 0;
  while ((stream.seqs.at(-1) ?? 0) < last) await stream.next();
  expect(stream.seqs).toEqual(range(1, last));
}

const beganIn = (id: string): readonly string[] => scene.runs(id).filter((line) => line.includes(" began "));

describe("a server with the log of sessions on DBOS, in another process", { timeout: 240_000 }, () => {
  it("posts to a process that is launched later, shows the records, and runs nothing itself", async () => {
    await using servers = serve();
    const ada = servers.as("ada");
    const id = await ada.create("batch");
    expect(await sessionOwner(scene.log, id)).toBe("DBOS");
    await using stream = await ada.events(id);
    const posting = ada.post(`/sessions/${id}/messages`, { content: "one two three" });
    await scene.launch({ takesOver: true });
    expect((await posting).body).toMatchObject({ status: "accepted" });
    await readAll(stream, id);
    const view = (await ada.get(`/sessions/${id}`)).body;
    expect(view).toMatchObject({ agent: "batch", user: "ada", questions: [] });
    expect(view.state.reActContext.control.type).toBe("Done");
    expect((await ada.get("/sessions")).body.sessions).toMatchObject([{ id, agent: "batch" }]);
    expect((await servers.as("eve").get(`/sessions/${id}`)).status).toBe(404);
    expect(beganIn(id)).toHaveLength(3);
    expect(await verifySession(scene.log, id)).toMatchObject({ ok: true });
    expect([servers.errors, used]).toEqual([[], []]);
  });

  it("posts once for one idempotency key, also at another server, and also a pause and a cancel", async () => {
    await using one = serve();
    await using other = serve();
    const id = await one.as("ada").create("batch");
    const path = `/sessions/${id}`;
    expect((await one.as("ada").post(`${path}/pause`)).body).toMatchObject({ status: "accepted" });
    const key = { "idempotency-key": "first" };
    const receipts = await Promise.all(
      [one, other, one].map(
        async (server) =>
          (await server.as("ada").post(`${path}/messages`, { content: "one two three" }, key)).body,
      ),
    );
    expect(receipts).toEqual([receipts[0], receipts[0], receipts[0]]);
    expect(receipts[0]).toMatchObject({ status: "accepted" });
    expect((await other.as("ada").post(`${path}/cancel`)).body).toMatchObject({ status: "accepted" });
    const { state } = await stateAt(scene.log, id);
    expect(state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(state.reActContext.control.type).toBe("Error");
    expect(used).toEqual([]);
  });

  it("removes a session: its streams end, and its id is unknown", async () => {
    await using servers = serve();
    const ada = servers.as("ada");
    const id = await ada.create("batch");
    await using stream = await ada.events(id);
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    await stream.all();
    expect((await ada.get(`/sessions/${id}`)).status).toBe(404);
  });
});

describe("dbosLog", { timeout: 240_000 }, () => {
  const coded = (name: string, code: string): unknown => expect.objectContaining({ name, code });

  it("refuses to run a session, and to be the log of a worker or of a host", async () => {
    const log = logOfDbos();
    await expect(openSession(agent, { log, id: "run" })).rejects.toEqual(
      coded("SessionError", "SessionBusy"),
    );
    expect(() => createAgentServer({ agents: [agent], log, worker: true })).toThrow(
      'The log "dbos" needs no worker: DBOS runs what is due in its sessions. Leave worker out.',
    );
    expect(() => dbosHost({ ...agent, name: "unused" }, { log })).toThrow(
      'log must not be a dbosLog or another log with an owner, got one of "DBOS".',
    );
    expect(() => dbosLog({ log, client })).toThrow("dbosLog needs log");
    expect(() => dbosLog({ log: memoryLog(), client: undefined as never })).toThrow("dbosLog needs client");
  });

  it("refuses records that only the workflows make, and records after another one than the last", async () => {
    await scene.launch({ executor: "refusing" });
    const session = await logOfDbos().create("refused", newSessionHeader(agent, "refused"));
    const started: AgentInput = { type: "session-opened", owner: "eve", agentVersion: "1", timestamp: 1 };
    const append = async (seq: number, input: AgentInput) => {
      await session.append(seq, await postedRecords(session, input));
    };
    await expect(append(0, started)).rejects.toEqual(coded("LogError", "InvalidRecord"));
    await expect(append(9, userMessage("Hi"))).rejects.toEqual(coded("LogError", "Conflict"));
    // The host has opened the session before the first post.
    await expect(append(0, userMessage("Hi"))).rejects.toEqual(coded("LogError", "Conflict"));
    const head = await session.head();
    await append(head, userMessage("Hi"));
    const [posted] = await session.read(head);
    expect(posted).toMatchObject({ seq: head + 1, body: expect.stringContaining(`"content":"Hi"`) });
    await scene.log.remove("refused");
    await expect(session.append(1, [])).rejects.toEqual(coded("LogError", "LogRemoved"));
  });

  it("rejects an append with LogWrite if no process with the host makes it in time", async () => {
    const unhosted = { ...agent, name: "unhosted" };
    const session = await logOfDbos(1).create("unhosted", newSessionHeader(unhosted, "unhosted"));
    const records = await postedRecords(session, userMessage("Hi"));
    const appended = session.append(0, records);
    await expect(appended).rejects.toEqual(coded("LogError", "LogWrite"));
    await expect(appended).rejects.toThrow(
      'no process with the host of the agent "unhosted" has appended within 1 ms. Launch one, then repeat the post',
    );
    expect(await session.head()).toBe(0);
  });

  it("names the process that runs a session instead of DBOS", async () => {
    const unhosted = { ...agent, name: "run-here" };
    await using running = await openSession(unhosted, { log: scene.log, id: "run-here", owner: "the other" });
    const session = await logOfDbos(1).open("run-here");
    const records = session && (await postedRecords(session, userMessage("Hi")));
    await expect(session?.append(running.info().seq, records ?? [])).rejects.toThrow(
      'it is run by "the other" instead of DBOS, which has not closed it within 1 ms.',
    );
  });

  it("rejects an append in a database in which DBOS was never launched", async () => {
    await using fresh = await Scene.start(createDatabase);
    const early = await DBOSClient.create({ systemDatabaseUrl: fresh.url });
    const log = dbosLog({ log: fresh.log, client: early });
    const session = await log.create("early", newSessionHeader(agent, "early"));
    const appended = session.append(0, await postedRecords(session, userMessage("Hi")));
    await expect(appended).rejects.toThrow("the database has no tables of DBOS");
    await expect(appended).rejects.toEqual(coded("LogError", "LogWrite"));
    await early.destroy();
  });
});

describe("a server with dbosLog without a process of the host", { timeout: 240_000 }, () => {
  it("answers a post with 503, and reports the reason", async () => {
    await using servers = serve(logOfDbos(1), { ...agent, name: "away" });
    const ada = servers.as("ada");
    const id = await ada.create("away");
    const refused = await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    expect([refused.status, refused.body]).toMatchObject([503, { code: "unavailable" }]);
    const reason = expect.stringContaining('no process with the host of the agent "away"');
    expect(servers.errors).toContainEqual(expect.objectContaining({ code: "LogWrite", message: reason }));
  });
});
