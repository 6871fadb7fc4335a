import {
  agentTool,
  askHuman,
  defineData,
  exportSession,
  importSession,
  openSession,
  type Agent,
} from "@moora/agent";
import { sessionPageSchema } from "@moora/agent-webui-protocol";
import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Scene, type Client } from "@moora/testbed/server/scene";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const asks = callsTools([{ name: "ask_human", arguments: { question: "Which size?" } }]);
const asker = (name = "helper"): Agent => agentOf(() => asks, { name, tools: [askHuman()] });

/** The session of a user that is listed. */
async function listed(client: Client) {
  const [session] = sessionPageSchema.parse((await client.get("/sessions")).body).sessions;
  return session;
}

const ask = async (client: Client, id: string, content = "A shirt, please."): Promise<void> => {
  await using stream = await client.events(id);
  await client.post(`/sessions/${id}/messages`, { content });
  await stream.until("re-act-observed");
};

/** Lists at a server that has no session open. */
const listedElsewhere = async (log: EventLog, agent = asker()) => {
  await using scene = new Scene(agent, { log });
  return await listed(scene.as("ada"));
};

/** A log with a session of this many records, or some more, as a process leaves it that is killed; closed: as one that closes it. */
async function longLog(records: number, isClosed: boolean): Promise<EventLog> {
  const [log, copy] = [memoryLog(), memoryLog()];
  await using session = await openSession(asker(), { log, id: "long", user: "ada" });
  session.onEvent(() => undefined);
  void session.send("A shirt, please.");
  while (session.questions().length === 0) await new Promise(setImmediate);
  while (session.seq() < records) {
    await session.pause();
    await session.resume();
  }
  if (isClosed) {
    await session.close();
    return log;
  }
  await importSession(copy, await exportSession(log, "long"));
  return copy;
}

describe("a listed session", () => {
  it("has the beginning of its first message as its title, in one line and with escapes for hidden characters", async () => {
    await using scene = new Scene(asker());
    const ada = scene.as("ada");
    const id = await ada.create();
    expect(await listed(ada)).not.toHaveProperty("title");
    await ask(ada, id, `Pay\n\n\u202e12 euros ${"x".repeat(200)}`);
    expect((await listed(ada))?.title).toBe(String.raw`Pay \u202e12 euros ${"x".repeat(66)}...`);
  });

  it("has the title that its application data has been given, and what it has cost", async () => {
    const data = defineData({ schema: z.object({ title: z.string() }), initial: { title: "" } });
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const config = { prices: { default: { input: 3, output: 15 } } };
    const agent = agentOf([answers("Hello.", { usage })], { data, config });
    const log = memoryLog();
    await using scene = new Scene(agent, { log });
    const ada = scene.as("ada");
    const id = await ada.create();
    await ask(ada, id);
    expect(await listed(ada)).toMatchObject({ title: "A shirt, please.", cost: 3 });
    const patches = [{ op: "replace", path: "/title", value: "The\u202e shirt" }];
    await ada.post(`/sessions/${id}/data`, { patches });
    const named = { title: String.raw`The\u202e shirt`, cost: 3 };
    expect(await listed(ada)).toMatchObject(named);
    expect(await listedElsewhere(log, agent)).toMatchObject(named);
  });

  it("has its control state and the number of its open questions, whether it is open at this server or not", async () => {
    const log = memoryLog();
    await using scene = new Scene(asker(), { log });
    const ada = scene.as("ada");
    const id = await ada.create();
    expect(await listed(ada)).toMatchObject({ state: { control: "Idle", questions: 0 } });
    await ask(ada, id);
    const waits = { title: "A shirt, please.", state: { control: "WaitingForHuman", questions: 1 } };
    expect(await listed(ada)).toMatchObject(waits);
    expect(await listedElsewhere(log)).toMatchObject(waits);
  });

  it("counts the questions of its sub-agents where it is open", async () => {
    const log = memoryLog();
    const shop = agentTool(asker("shop"), { name: "shop", description: "Buys things.", log });
    const calls = callsTools([{ name: "shop", arguments: { task: "A shirt." } }]);
    await using scene = new Scene(
      agentOf(() => calls, { tools: [shop] }),
      { log },
    );
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "A shirt, please." });
    await stream.question();
    expect(await listed(ada)).toMatchObject({ state: { control: "Acting", questions: 1 } });
  });

  it("has no state if many records follow its snapshot and no session of it is open here", async () => {
    const waits = { control: "WaitingForHuman", questions: 1 };
    expect(await listedElsewhere(await longLog(150, false))).toMatchObject({ state: waits });
    const long = await listedElsewhere(await longLog(250, false));
    expect(long).toMatchObject({ title: "A shirt, please.", updatedAt: expect.any(Number) });
    expect(long).not.toHaveProperty("state");
    expect(await listedElsewhere(await longLog(250, true))).toMatchObject({ state: waits });
  });

  it("has its title and no state if a newer release wrote it", async () => {
    const log = memoryLog();
    const newer = withSessions(log, (session) => ({
      read: async (...range) =>
        (await session.read(...range)).map((record) =>
          record.seq === 3
            ? { ...record, body: record.body.replace(/"type":"[^"]*"/, '"type":"newer"') }
            : record,
        ),
    }));
    await using scene = new Scene(agentOf([answers("Hello.")]), { log });
    const ada = scene.as("ada");
    await ask(ada, await ada.create());
    const found = await listedElsewhere(newer);
    expect(found).toMatchObject({ title: "A shirt, please." });
    expect(found).not.toHaveProperty("state");
  });

  it("is read once for each of its last records", async () => {
    let reads = 0;
    const log = memoryLog();
    const counted = withSessions(log, (session) => ({
      read: (...range) => ((reads += 1), session.read(...range)),
    }));
    await (await openSession(asker(), { log, id: "one", user: "ada" })).close();
    await using scene = new Scene(asker(), { log: counted });
    const ada = scene.as("ada");
    const counts: number[] = [];
    for (let lists = 0; lists < 3; lists += 1) {
      reads = 0;
      await listed(ada);
      counts.push(reads);
    }
    expect(counts[0]).toBeGreaterThan(1);
    expect(counts.slice(1)).toEqual([1, 1]);
  });
});
