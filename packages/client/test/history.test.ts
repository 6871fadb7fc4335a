import { defineData, exportSession, importSession, type EventLog } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import type { RemoteSession } from "../src/index.ts";
import { agentOf, Network, Scene } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));

/** A log with the first records of a session, as a backup has them. */
async function backupOf(log: EventLog, id: string, seq?: number): Promise<EventLog> {
  const backup = memoryLog();
  await importSession(backup, await exportSession(log, id, seq));
  return backup;
}

async function goOffline(session: RemoteSession, network: Network): Promise<void> {
  network.goOffline();
  await untilPasses(() => expect(session.connection().status).toBe("waiting"));
}

async function reconnect(session: RemoteSession, network: Network): Promise<void> {
  network.goOnline();
  session.reconnect();
  await untilPasses(() => expect(["connected", "closed"]).toContain(session.connection().status));
}

const historyChanged = { status: "closed", error: { code: "HistoryChanged", problem: { status: 409 } } };

describe("a session that connects again", () => {
  it.each([0, 1, 2])(
    "ends when its chat was removed and used again, with %i messages more than before",
    async (more) => {
      await using scene = new Scene(talker());
      const chat = async (text: string): Promise<void> => {
        const message = { id: `m_${text}`, role: "user", parts: [{ type: "text", text }] };
        const response = await scene.server.fetch(
          new Request("http://localhost/agents/helper/chat", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ id: "c", messages: [message] }),
          }),
        );
        await response.text();
      };
      await chat("one");
      const id = (await scene.log.list())[0]?.id ?? "";
      const { session, network } = await scene.connect({ id });
      await goOffline(session, network);
      await scene.server.fetch(new Request(`http://localhost/sessions/${id}`, { method: "DELETE" }));
      for (let count = 0; count <= more; count += 1) await chat(`new${count}`);
      const seen = session.current().messages;
      await reconnect(session, network);
      expect(session.connection()).toMatchObject(historyChanged);
      expect(session.current().messages).toBe(seen);
    },
  );

  it("ends when a restored backup has grown past its last record", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await session.ask("One");
    const seq = session.seq();
    await session.ask("Two");
    const backup = await backupOf(scene.log, session.id, seq);
    await goOffline(session, network);
    await scene.restart(backup);
    const { session: other } = await scene.connect({ id: session.id });
    await other.ask("Three");
    await other.ask("Four");
    expect(other.seq()).toBeGreaterThan(session.seq());
    await reconnect(session, network);
    expect(session.connection()).toMatchObject(historyChanged);
    await expect(session.send("More")).rejects.toMatchObject({
      code: "Closed",
      cause: { code: "HistoryChanged" },
    });
  });

  it.each(["with records of the stream", "with its first state only"])(
    "continues with a server that has the same records: %s",
    async (start) => {
      await using scene = new Scene(talker());
      const { session: first } = await scene.connect();
      await first.ask("One");
      const { session, network } = await scene.connect({ id: first.id });
      if (start === "with records of the stream") await session.ask("Two");
      await goOffline(session, network);
      await scene.restart(await backupOf(scene.log, session.id));
      const { session: other } = await scene.connect({ id: session.id });
      await other.ask("Three");
      await reconnect(session, network);
      await untilPasses(() => expect(session.seq()).toBe(other.seq()));
      await session.verify();
    },
  );
});

/** Creates a session, whose id is that of each other session of this scene. */
async function create(scene: Scene): Promise<string> {
  const response = await scene.server.fetch(
    new Request("http://localhost/agents/helper/sessions", {
      method: "POST",
      headers: { "idempotency-key": "same" },
    }),
  );
  return ((await response.json()) as { id: string }).id;
}

const remove = async (scene: Scene, id: string): Promise<Response> =>
  await scene.server.fetch(new Request(`http://localhost/sessions/${id}`, { method: "DELETE" }));

const posts: Readonly<Record<string, (session: RemoteSession) => Promise<unknown>>> = {
  messages: (session) => session.send("For the session that was removed"),
  decisions: (session) => session.decide({ toolCallId: "call_1", digest: "d" }, "approve"),
  data: (session) => session.update((draft) => Object.assign(draft as object, { n: 1 })),
  cancel: (session) => session.cancel(),
  pause: (session) => session.pause(),
  resume: (session) => session.resume(),
  retry: (session) => session.retry(),
};

describe("a post that waits while its session is removed and created again with the same id", () => {
  it.each(Object.entries(posts))("is refused, and changes nothing: %s", async (_kind, post) => {
    await using scene = new Scene(
      agentOf(() => answers("Yes."), { data: defineData({ schema: { type: "object" }, initial: {} }) }),
    );
    const network = new Network(scene);
    let hasStream = true;
    // The post arrives before the stream is made again.
    const fetch: typeof network.fetch = async (url, init) => {
      if (!hasStream && url.includes("/events")) throw new TypeError("There is no network.");
      return await network.fetch(url, init);
    };
    const { session } = await scene.connect({ id: await create(scene), fetch }, network);
    await session.ask("One");
    hasStream = false;
    await goOffline(session, network);
    const outcome = post(session).then(
      () => "applied",
      (error: unknown) => error,
    );
    await remove(scene, session.id);
    expect(await create(scene)).toBe(session.id);
    const before = await scene.stateOf(session.id);
    network.goOnline();
    expect(await scene.settles(outcome)).toMatchObject({
      code: "HistoryChanged",
      problem: { status: 409, code: "history-changed" },
    });
    expect(await scene.stateOf(session.id)).toBe(before);
    hasStream = true;
    session.reconnect();
    await untilPasses(() => expect(session.connection()).toMatchObject(historyChanged));
  });
});

describe("a stream that stays open although the server behind it has ended", () => {
  it("is made again when it does not show the record of a receipt", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    let isStuck = true;
    const fetch: typeof network.fetch = async (url, init) => {
      const response = await network.fetch(url, init);
      if (!isStuck || !url.includes("/events")) return response;
      isStuck = false;
      await response.body?.cancel();
      const signal = init.signal ?? new AbortController().signal;
      return new Response(new ReadableStream().pipeThrough(new TransformStream(), { signal }));
    };
    const { session } = await scene.connect({ fetch }, network);
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    const begin = scene.clock.now();
    const run = session.ask("One");
    expect(await scene.settles(Promise.resolve(run))).toMatchObject({ answer: "Yes." });
    expect(scene.clock.now() - begin).toBeLessThanOrEqual(7_000);
    expect(network.requests.filter((request) => request === "GET /events")).toHaveLength(2);
    await session.close();
    await untilPasses(() => expect(scene.clock.waiting).toBe(0));
  });
});
