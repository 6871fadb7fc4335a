import { defineData } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene, type Client } from "@moora/testbed/server/scene";

const agent = () =>
  agentOf(() => answers("Yes."), { data: defineData({ schema: { type: "object" }, initial: {} }) });

const bodies = {
  messages: { content: "Hi" },
  decisions: { toolCallId: "call_1", digest: "d", decision: "approve" },
  data: { patches: [{ op: "add", path: "/n", value: 1 }] },
  cancel: {},
  pause: {},
  resume: {},
  retry: {},
};

const sameKey = { "idempotency-key": "same" };

/** Creates a session, whose id is that of each other session of the user. */
const create = async (client: Client): Promise<string> =>
  (await client.post("/agents/helper/sessions", undefined, sameKey)).body.id;

async function incarnationOf(client: Client, id: string): Promise<string> {
  const { incarnation } = (await client.get(`/sessions/${id}`)).body as { incarnation: string };
  return `incarnation=${encodeURIComponent(incarnation)}`;
}

const historyChanged = { status: 409, body: { code: "history-changed" } };

describe("a post with the incarnation of its session", () => {
  it.each(Object.entries(bodies))(
    "is refused by another session with the same id: %s",
    async (kind, body) => {
      await using scene = new Scene(agent());
      const ada = scene.as("ada");
      const id = await create(ada);
      const removed = await incarnationOf(ada, id);
      await ada.delete(`/sessions/${id}`);
      expect(await create(ada)).toBe(id);
      const { seq } = (await ada.get(`/sessions/${id}`)).body;
      expect(await ada.post(`/sessions/${id}/${kind}?${removed}`, body)).toMatchObject(historyChanged);
      expect((await ada.get(`/sessions/${id}`)).body).toMatchObject({ seq });
      const current = await incarnationOf(ada, id);
      expect(await ada.post(`/sessions/${id}/${kind}?${current}`, body)).toMatchObject({ status: 200 });
    },
  );

  it.each(Object.entries(bodies))("may be missing, as in older clients: %s", async (kind, body) => {
    await using scene = new Scene(agent());
    const ada = scene.as("ada");
    const id = await create(ada);
    expect(await ada.post(`/sessions/${id}/${kind}`, body)).toMatchObject({ status: 200 });
  });

  it("is judged by the log: another server has removed the session and created it again", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    await using first = new Scene(agent(), { log: memoryLog(storage), clock });
    await using second = new Scene(agent(), { log: memoryLog(storage), clock });
    const [near, far] = [first.as("ada"), second.as("ada")];
    const id = await create(near);
    const removed = await incarnationOf(far, id);
    await near.delete(`/sessions/${id}`);
    await create(near);
    const current = await incarnationOf(near, id);
    const path = `/sessions/${id}/messages`;
    const refused = await far.post(`${path}?${removed}`, { content: "Old" });
    expect(refused).toMatchObject(historyChanged);
    expect(await far.post(`${path}?${current}`, { content: "New" })).toMatchObject({ status: 200 });
    const { state } = (await near.get(`/sessions/${id}`)).body;
    expect(JSON.stringify(state)).not.toContain("Old");
    expect(JSON.stringify(state)).toContain("New");
  });
});

describe("a fork of a session that was removed and created again with the same id", () => {
  it("is refused for a client of the removed one, and creates nothing", async () => {
    await using scene = new Scene(agent());
    const ada = scene.as("ada");
    const id = await create(ada);
    const removed = await incarnationOf(ada, id);
    await ada.delete(`/sessions/${id}`);
    await create(ada);
    for (const query of [removed, "incarnation=unknown"])
      expect(await ada.post(`/sessions/${id}/fork?${query}`)).toMatchObject(historyChanged);
    expect(await scene.log.list()).toHaveLength(1);
    const current = await incarnationOf(ada, id);
    expect(await ada.post(`/sessions/${id}/fork?${current}`)).toMatchObject({ status: 201 });
  });

  it("is one of the new session, also with a key that has made a fork of the removed one", async () => {
    await using scene = new Scene(agent());
    const ada = scene.as("ada");
    const id = await create(ada);
    await ada.post(`/sessions/${id}/pause`);
    await ada.post(`/sessions/${id}/messages`, { content: "Old" });
    const fork = async () => (await ada.post(`/sessions/${id}/fork`, {}, sameKey)).body.id;
    const first = await fork();
    await ada.delete(`/sessions/${id}`);
    await create(ada);
    const second = await fork();
    expect(second).not.toBe(first);
    expect(await fork()).toBe(second);
    expect(JSON.stringify((await ada.get(`/sessions/${second}`)).body.state)).not.toContain("Old");
    expect(JSON.stringify((await ada.get(`/sessions/${first}`)).body.state)).toContain("Old");
  });
});
