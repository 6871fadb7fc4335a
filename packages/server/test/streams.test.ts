import { answers, hangs } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { range, Scene } from "@moora/testbed/server/scene";

const talker = () => agentOf(() => answers("Hello there, friend."));

/** A session with two answered messages. */
async function answered(scene: Scene, more = "") {
  const ada = scene.as("ada");
  const id = await ada.create();
  await using stream = await ada.events(id);
  for (const content of ["One", "Two"]) {
    await ada.post(`/sessions/${id}/messages`, { content: `${content}${more}` });
    await stream.until("re-act-observed");
  }
  return { ada, id, last: stream.inputs.at(-1)?.seq ?? 0 };
}

describe("a stream whose request is aborted", () => {
  /** The number of streams that the server counts. */
  const countOf = async (scene: Scene): Promise<number> => {
    const text = await (await scene.as("ada").send("/metrics", {})).text();
    return Number(/^moora_open_streams (\d+)$/m.exec(text)?.[1]);
  };
  const countingScene = (agent = talker()): Scene =>
    new Scene(agent, {
      metrics: true,
      authorize: () => ({ user: "ada", mayReadMetrics: true }),
      limits: { maxStreamsPerUser: 1 },
    });

  it("counts no longer, even if its body was never read", async () => {
    await using scene = countingScene();
    const id = await scene.as("ada").create();
    for (let count = 0; count < 3; count += 1) {
      const leaving = new AbortController();
      const { signal } = leaving;
      expect((await scene.as("ada").send(`/sessions/${id}/events`, { signal })).status).toBe(200);
      expect(await countOf(scene)).toBe(1);
      leaving.abort();
      expect(await countOf(scene)).toBe(0);
    }
  });

  it("counts no longer if it was aborted while the session was opened", async () => {
    await using scene = countingScene();
    const id = await scene.as("ada").create();
    for (const path of [`/sessions/${id}/events`, `/sessions/${id}/events?after=99`]) {
      const leaving = new AbortController();
      const response = scene.as("ada").send(path, { signal: leaving.signal });
      leaving.abort();
      expect((await response).status).toBeLessThan(500);
      expect(await countOf(scene)).toBe(0);
    }
    expect(scene.errors).toEqual([]);
  });

  it("counts no longer if it shows a chat, whose answer continues", async () => {
    await using scene = countingScene(agentOf(() => hangs("word")));
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages: [message] }),
    };
    const leaving = new AbortController();
    const { signal } = leaving;
    expect((await scene.as("ada").send("/agents/helper/chat", { ...init, signal })).status).toBe(200);
    leaving.abort();
    expect(await countOf(scene)).toBe(0);
    expect((await scene.as("ada").send("/agents/helper/chat/chat-1/stream", {})).status).toBe(200);
    expect(await countOf(scene)).toBe(1);
  });
});

describe("a stream of events", () => {
  it("is refused to a reader whose history is another one", async () => {
    await using scene = new Scene(talker());
    const { ada, id, last } = await answered(scene);
    const { incarnation, digest } = (await ada.get(`/sessions/${id}`)).body as Record<string, string>;
    const send = async (query: Record<string, string>) => {
      const answer = await ada.send(`/sessions/${id}/events?${new URLSearchParams(query)}`, {});
      const isStream = answer.headers.get("content-type") === "text/event-stream";
      if (isStream) await answer.body?.cancel();
      return isStream ? { status: answer.status } : ((await answer.json()) as object);
    };
    const refused = { status: 409, code: "history-changed" };
    const after = String(last);
    expect(await send({ after, incarnation: incarnation ?? "", digest: digest ?? "" })).toEqual({
      status: 200,
    });
    expect(await send({ after: "0", incarnation: incarnation ?? "", digest: "" })).toEqual({ status: 200 });
    expect(await send({ after: String(last - 1), digest: digest ?? "" })).toMatchObject(refused);
    expect(await send({ after, incarnation: "another" })).toMatchObject(refused);
    expect(await send({ after: "99", incarnation: "another" })).toMatchObject(refused);
    expect(await send({ after, digest: "another" })).toMatchObject(refused);
    expect(await send({ after: "0", digest: "another" })).toMatchObject(refused);
  });

  it("resumes after every record: nothing is missing, nothing comes twice", async () => {
    await using scene = new Scene(talker());
    const { ada, id, last } = await answered(scene);
    for (const after of range(0, last - 1)) {
      await using byQuery = await ada.events(id, after);
      await using byHeader = await ada.events(id, 0, { "last-event-id": String(after) });
      for (const stream of [byQuery, byHeader]) {
        while (stream.seqs.at(-1) !== last) await stream.next();
        expect(stream.seqs).toEqual(range(after + 1, last));
      }
    }
  });

  it("ends after its lifetime, resumes exactly, and is refused once its token is revoked", async () => {
    const clock = new TestClock();
    let isValid = true;
    await using scene = new Scene(talker(), {
      clock,
      limits: { streamLifetimeMs: 60_000 },
      authorize: () => (isValid ? { user: "ada" } : undefined),
    });
    const { ada, id, last } = await answered(scene);
    await using stream = await ada.events(id);
    while (stream.seqs.at(-1) !== last) await stream.next();
    const end = stream.next();
    await clock.advanceAsync(47_999);
    await ada.post(`/sessions/${id}/messages`, { content: "Three" });
    expect(await end).toMatchObject({ id: String(last + 1) });
    await clock.advanceAsync(12_001);
    const before = [...(await stream.all())];
    await using next = await ada.events(id, before.at(-1));
    isValid = false;
    await clock.advanceAsync(60_000);
    const rest = await next.all();
    expect([...before, ...rest]).toEqual(range(1, before.length + rest.length));
    await expect(ada.events(id)).rejects.toThrow("401");
  });

  it("does not end together with those that began at the same time", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { clock, limits: { streamLifetimeMs: 60_000 } });
    const { ada, id, last } = await answered(scene);
    const ends: number[] = [];
    await clock.advanceAsync(1_000);
    const began = clock.now();
    const readers = await Promise.all(range(1, 40).map(() => ada.events(id, last)));
    const read = readers.map((reader) => reader.all().then(() => void ends.push(clock.now() - began)));
    await clock.advanceAsync(60_000);
    await Promise.all(read);
    expect(Math.min(...ends)).toBeGreaterThanOrEqual(48_000);
    expect(Math.max(...ends)).toBeLessThanOrEqual(60_000);
    expect(new Set(ends).size).toBeGreaterThan(20);
  });

  it("is neither compressed nor buffered by a proxy, and so are those of a chat and of AG-UI", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    const parts = [{ type: "text", text: "Hi" }];
    const post = (path: string, body: object): Promise<Response> => {
      const headers = { "content-type": "application/json" };
      return ada.send(`/agents/helper/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    };
    const run = { threadId: "t", runId: "r", messages: [{ id: "m1", role: "user", content: "Hi" }] };
    for (const { headers, body } of [
      await ada.send(`/sessions/${id}/events`, {}),
      await post("chat", { id: "c", messages: [{ id: "m1", role: "user", parts }] }),
      await post("ag-ui", { ...run, state: {}, tools: [], context: [], forwardedProps: {} }),
    ]) {
      expect(headers.get("content-type")).toBe("text/event-stream");
      expect(headers.get("cache-control")).toContain("no-transform");
      expect(headers.get("x-accel-buffering")).toBe("no");
      await body?.cancel();
    }
  });

  it("gets a comment when nothing happens", async () => {
    const clock = new TestClock();
    await using scene = new Scene(talker(), { clock });
    const ada = scene.as("ada");
    const id = await ada.create();
    const { body } = await ada.send(`/sessions/${id}/events?after=1`, {});
    const reader = body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await turn();
    await clock.advanceAsync(15_000);
    expect(new TextDecoder().decode((await next)?.value)).toBe(": keep-alive\n\n");
    await reader?.cancel();
  });

  it("continues over a long answer when its buffer overflows, without a missing record", async () => {
    const codes = new Set<string>();
    await using scene = new Scene(
      agentOf(() => answers("word ".repeat(2_000))),
      { limits: { maxBufferedBytes: 2_000 }, onLog: ({ code }) => codes.add(code) },
    );
    const ada = scene.as("ada");
    const id = await ada.create();
    await using slow = await ada.events(id);
    await slow.next();
    await using other = await ada.events(id);
    for (const content of ["One", "Two", "Three"]) {
      await ada.post(`/sessions/${id}/messages`, { content });
      await other.until("re-act-observed");
    }
    const last = other.inputs.at(-1)?.seq ?? 0;
    while (slow.seqs.at(-1) !== last) await slow.next();
    expect(slow.seqs).toEqual(range(1, last));
    expect([...codes]).toContain("stream-behind");
  });

  it.each([
    ["in one piece", 0],
    ["before it connects", 1],
  ])(
    "gets all of a message that is longer than its buffer and still streams, %s",
    async (_, connectsLate) => {
      const text = "word ".repeat(1_000);
      await using scene = new Scene(
        agentOf(() => hangs(text)),
        { limits: { maxBufferedBytes: 2_000 } },
      );
      const ada = scene.as("ada");
      const id = await ada.create();
      const post = async (): Promise<unknown> =>
        await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
      if (connectsLate === 1) {
        await post();
        await using first = await ada.events(id);
        while (first.chunks.length === 0) await first.next();
      }
      await using viewer = await ada.events(id);
      if (connectsLate === 0) await post();
      let shown = "";
      while (shown.length < text.length) {
        await viewer.next();
        const chunk = viewer.chunks.at(-1);
        if (chunk?.type === "text") shown = shown.slice(0, chunk.offset) + chunk.text;
      }
      expect(shown).toBe(text);
      expect((await ada.get(`/sessions/${id}`)).status).toBe(200);
    },
  );

  it("is limited in number for each user", async () => {
    await using scene = new Scene(talker(), { limits: { maxStreamsPerUser: 2, maxStreams: 3 } });
    const ada = scene.as("ada");
    const id = await ada.create();
    const first = await ada.events(id);
    await using second = await ada.events(id);
    await second.next();
    expect(await ada.get(`/sessions/${id}/events`)).toMatchObject({
      status: 429,
      body: { code: "too-many-streams" },
    });
    await first[Symbol.asyncDispose]();
    await using third = await ada.events(id);
    await third.next();
    const bob = scene.as("bob");
    const own = await bob.create();
    await using fourth = await bob.events(own);
    await fourth.next();
    expect((await bob.get(`/sessions/${own}/events`)).status).toBe(503);
  });
});

describe("a slow reader", () => {
  it("is disconnected, and resumes where it was", async () => {
    const clock = new TestClock();
    const entries: unknown[] = [];
    await using scene = new Scene(talker(), { clock, onLog: (entry) => entries.push(entry) });
    const { ada, id, last } = await answered(scene, "x".repeat(20_000));
    let isDropped = false;
    await using slow = await ada.events(id, 0, {}, { drop: () => (isDropped = true) });
    await slow.next();
    await slow.next();
    await turn();
    await clock.advanceAsync(30_000);
    expect(isDropped).toBe(true);
    const stalled = { level: "warn", code: "stream-stalled", sessionId: id, data: { user: "ada" } };
    expect(entries).toContainEqual(expect.objectContaining(stalled));
    const before = await slow.all();
    expect(before.length).toBeLessThan(last);
    await using again = await ada.events(id, before.at(-1));
    while (again.seqs.at(-1) !== last) await again.next();
    expect([...before, ...again.seqs]).toEqual(range(1, last));
  });
});

describe("a closing server", () => {
  it("ends its streams, which resume at the next one", async () => {
    await using scene = new Scene(talker());
    const { ada, id, last } = await answered(scene);
    await using stream = await ada.events(id);
    while (stream.seqs.at(-1) !== last) await stream.next();
    await scene.server.close();
    expect(await stream.next()).toBeUndefined();
    expect(await ada.get(`/sessions/${id}`)).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect((await ada.get("/ready")).status).toBe(503);
    expect((await ada.get("/health")).status).toBe(200);
    await using next = new Scene(talker(), { log: scene.log });
    await using resumed = await next.as("ada").events(id, last);
    await next.as("ada").post(`/sessions/${id}/messages`, { content: "Three" });
    const { seq } = await resumed.until("re-act-observed");
    expect(resumed.seqs).toEqual(range(last + 1, seq));
  });

  it("ends the connection of each further request, so that its client reaches the next server", async () => {
    await using scene = new Scene(talker());
    const { ada, id } = await answered(scene);
    expect((await ada.send(`/sessions/${id}`, {})).headers.get("connection")).toBeNull();
    await scene.server.close();
    for (const path of [`/sessions/${id}`, `/sessions/${id}/events`, "/ready", "/other"])
      expect((await ada.send(path, {})).headers.get("connection"), path).toBe("close");
  });
});
