import { defineData, defineTool, openSession, removeSession, type Agent } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene, type Answer, type Client } from "@moora/testbed/server/scene";
import { pollsUntil } from "./support.ts";

const data = defineData({ schema: { type: "object" }, initial: { list: [] } });

const lister = (): Agent => agentOf(() => answers("Yes."), { data });

const add = (value: number) => [{ op: "add", path: "/list/-", value }];

interface Base {
  readonly seq: number;
  readonly incarnation?: string;
  readonly digest?: string;
}

/** The base of a change of what a client reads now. */
async function baseOf(client: Client, id: string): Promise<Base> {
  const { seq, incarnation, digest } = (await client.get(`/sessions/${id}`)).body;
  return { seq, incarnation, digest };
}

const listOf = async (client: Client, id: string): Promise<readonly number[]> =>
  (await client.get(`/sessions/${id}`)).body.state.data.list;

const change = async (
  client: Client,
  id: string,
  { base, value = 1, key }: { readonly base: Base; readonly value?: number; readonly key?: string },
): Promise<Answer> =>
  await client.post(
    `/sessions/${id}/data`,
    { patches: add(value), base },
    key === undefined ? {} : { "idempotency-key": key },
  );

/** How many answers have each status or code. */
const counts = (given: readonly Answer[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(given, ({ body }) => String(body.code ?? body.status))].map(([name, those]) => [
      name,
      those.length,
    ]),
  );

describe("a change of data with a base", () => {
  it("is applied while the data is what it was, whatever else was recorded", async () => {
    await using scene = new Scene(lister());
    const ada = scene.as("ada");
    const id = await ada.create();
    const base = await baseOf(ada, id);
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await stream.until("re-act-observed");
    expect((await change(ada, id, { base })).body).toMatchObject({ status: "accepted" });
    expect(await listOf(ada, id)).toEqual([1]);
  });

  it("is refused after another change, with the record from which on the data can be read", async () => {
    await using scene = new Scene(lister());
    const ada = scene.as("ada");
    const id = await ada.create();
    const base = await baseOf(ada, id);
    const { seq } = (await ada.post(`/sessions/${id}/data`, { patches: add(7) })).body;
    await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    expect(await change(ada, id, { base })).toMatchObject({
      status: 409,
      body: { code: "data-changed", seq },
    });
    expect((await change(ada, id, { base: { seq } })).body.status).toBe("accepted");
    expect(await listOf(ada, id)).toEqual([7, 1]);
  });

  it("is refused after a change by a tool", async () => {
    const push = defineTool({
      name: "push",
      description: "Adds an item.",
      input: { type: "object" },
      data,
      execute: (_input, { update }) => void update((draft) => Object.assign(draft, { list: [9] })),
    });
    const script = [callsTools([{ name: "push" }]), answers("It is there.")];
    await using scene = new Scene(agentOf(script, { data, tools: [push] }));
    const ada = scene.as("ada");
    const id = await ada.create();
    const base = await baseOf(ada, id);
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Push" });
    const { seq } = await stream.until("tool-call-completed");
    expect((await change(ada, id, { base })).body).toMatchObject({ code: "data-changed", seq });
    expect((await change(ada, id, { base: { seq } })).body.status).toBe("accepted");
    expect(await listOf(ada, id)).toEqual([9, 1]);
  });

  it("is applied once of many on one base that arrive together, also at two servers", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    await using first = new Scene(lister(), { log: remoteLog(memoryLog(storage), new Gates().pass), clock });
    await using second = new Scene(lister(), { log: remoteLog(memoryLog(storage), new Gates().pass), clock });
    const id = await first.as("ada").create();
    const scenes = [first, first, second, second, first];
    for (let count = 1; count <= 5; count += 1) {
      const base = await baseOf(second.as("ada"), id);
      const given = await Promise.all(
        scenes.map((scene, value) => change(scene.as("ada"), id, { base, value, key: `${count}/${value}` })),
      );
      expect(counts(given)).toEqual({ accepted: 1, "data-changed": 4 });
      expect(await listOf(first.as("ada"), id)).toHaveLength(count);
    }
  });

  it("is refused after a change that is committed together with it", async () => {
    const gates = new Gates();
    await using scene = new Scene(lister(), { log: remoteLog(memoryLog(), gates.pass) });
    const ada = scene.as("ada");
    const id = await ada.create();
    const base = await baseOf(ada, id);
    const gate = gates.hold("append", "there", "user-message-received");
    const message = ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    await gate.reached;
    const changes = [1, 2].map((value) => change(ada, id, { base, value }));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    gate.open();
    await message;
    expect(counts(await Promise.all(changes))).toEqual({ accepted: 1, "data-changed": 1 });
    expect(await listOf(ada, id)).toHaveLength(1);
  });

  it("is applied by a server that has not read the record of its base yet", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    await using first = new Scene(lister(), { log: memoryLog(storage), clock });
    await using second = new Scene(lister(), { log: memoryLog(storage), clock });
    const id = await first.as("ada").create();
    await second.as("ada").get(`/sessions/${id}`);
    const { seq } = (await first.as("ada").post(`/sessions/${id}/data`, { patches: add(7) })).body;
    expect((await change(second.as("ada"), id, { base: { seq } })).body.status).toBe("accepted");
    expect(await listOf(first.as("ada"), id)).toEqual([7, 1]);
  });

  it("gets the receipt of the first time when it is repeated, also by a server that has started again", async () => {
    const storage = new MemoryStorage();
    let id = "";
    let first: Answer["body"];
    let base: Base = { seq: 0 };
    {
      await using scene = new Scene(lister(), { log: memoryLog(storage) });
      const ada = scene.as("ada");
      id = await ada.create();
      base = await baseOf(ada, id);
      first = (await change(ada, id, { base, key: "first" })).body;
      expect(first.status).toBe("accepted");
      expect((await change(ada, id, { base, key: "first" })).body).toEqual(first);
    }
    await using scene = new Scene(lister(), { log: memoryLog(storage) });
    const ada = scene.as("ada");
    expect((await change(ada, id, { base, key: "first" })).body).toEqual(first);
    expect((await change(ada, id, { base, key: "second" })).body).toMatchObject({ code: "data-changed" });
    expect(await listOf(ada, id)).toEqual([1]);
  });

  it("is refused as based on another history: another record, another incarnation, or a record that is missing", async () => {
    const clock = new TestClock();
    await using scene = new Scene(lister(), { clock });
    const ada = scene.as("ada");
    const id = await ada.create();
    const base = await baseOf(ada, id);
    const codeOf = async (given: Partial<Base>): Promise<unknown> =>
      (await change(ada, id, { base: { ...base, ...given } })).body.code;
    expect(await codeOf({ digest: "another" })).toBe("history-changed");
    expect(await codeOf({ incarnation: "another" })).toBe("history-changed");
    expect(await codeOf({ seq: base.seq + 1 })).toBe("cursor-beyond-end");
    await removeSession(scene.log, id);
    await using owner = await openSession(lister(), { log: scene.log, id, user: "ada", clock });
    await owner.close();
    await pollsUntil(clock, async () => expect(await codeOf({})).toBe("history-changed"));
    expect(await listOf(ada, id)).toEqual([]);
  });

  it.each([{ seq: -1 }, { seq: "1" }, {}, { seq: 1, etag: "x" }, null])(
    "has no other form: %j",
    async (base) => {
      await using scene = new Scene(lister());
      const ada = scene.as("ada");
      const id = await ada.create();
      expect(await change(ada, id, { base: base as Base })).toMatchObject({
        status: 400,
        body: { code: "invalid-request", path: expect.stringMatching(/^base/) },
      });
    },
  );
});
