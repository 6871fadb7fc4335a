import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readStream, type StreamFault, type StreamLimits, type Wire } from "@moora/llm/adapter";

/** A server in memory: the test writes, ends and breaks the body by hand. */
function wiredBy(
  answer: {
    readonly status?: number;
    readonly type?: string;
    readonly headers?: Record<string, string>;
  } = {},
): {
  readonly fetch: typeof globalThis.fetch;
  readonly write: (text: string) => void;
  readonly end: () => void;
  readonly break: (error: Error) => void;
  readonly inits: RequestInit[];
} {
  let body: ReadableStreamDefaultController<Uint8Array> | undefined;
  const inits: RequestInit[] = [];
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => void (body = controller) });
  return {
    inits,
    fetch: async (_, init = {}) => {
      inits.push(init);
      const { status = 200, type = "text/event-stream", headers = {} } = answer;
      return new Response(stream, { status, headers: { "content-type": type, ...headers } });
    },
    write: (text) => body?.enqueue(new TextEncoder().encode(text)),
    end: () => body?.close(),
    break: (error) => body?.error(error),
  };
}

/** A client that knows one protocol: each line is an event. */
async function* lines({ fetch, signal }: Wire): AsyncGenerator<string> {
  const response = await fetch("http://server.test/", { method: "POST", signal });
  let rest = "";
  for await (const bytes of response.body ?? []) {
    rest += new TextDecoder().decode(bytes);
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

const open = async (wire: Wire): Promise<AsyncIterable<string>> => lines(wire);

const limits = (known: Partial<StreamLimits>): StreamLimits => ({
  firstChunkTimeoutMs: 1000,
  idleTimeoutMs: 100,
  ...known,
});

/** Reads until the line `end`, and keeps what it read. */
function reading(known: Partial<StreamLimits>): {
  readonly taken: string[];
  readonly fault: Promise<StreamFault | undefined>;
} {
  const taken: string[] = [];
  const fault = readStream(limits(known), open, (line) => {
    taken.push(line);
    return line === "end";
  });
  return { taken, fault };
}

const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

describe("a guarded stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    if (vi.getTimerCount() > 0) throw new Error("a timer is left");
    vi.useRealTimers();
  });

  it("hands out every event and has no fault when the last one came", async () => {
    const server = wiredBy();
    const { taken, fault } = reading({ fetch: server.fetch });
    server.write("a\nb");
    server.write("\nend\n");
    server.end();
    expect(await fault).toBeUndefined();
    expect(taken).toEqual(["a", "b", "end"]);
  });

  it("is cut when it ends before its last event, and empty when nothing came at all (F01)", async () => {
    const cut = wiredBy();
    const one = reading({ fetch: cut.fetch });
    cut.write("a\n");
    cut.end();
    expect(await one.fault).toEqual({ type: "cut", empty: false });
    const empty = wiredBy();
    const none = reading({ fetch: empty.fetch });
    empty.end();
    expect(await none.fault).toEqual({ type: "cut", empty: true });
  });

  it("waits the first limit for the first byte, and the idle limit for every other (F08)", async () => {
    const server = wiredBy();
    const { fault } = reading({ fetch: server.fetch });
    await vi.advanceTimersByTimeAsync(999);
    server.write("a\n");
    await settle();
    await vi.advanceTimersByTimeAsync(99);
    server.write("b\n");
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    expect(await fault).toEqual({ type: "silent", afterMs: 100 });
  });

  it("gives up after the first limit when not even headers come", async () => {
    const { fault } = reading({ fetch: () => new Promise(() => undefined) });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toEqual({ type: "silent", afterMs: 1000 });
  });

  it("takes bytes that are no event for life", async () => {
    const server = wiredBy();
    const { fault, taken } = reading({ fetch: server.fetch });
    server.write("a\n");
    for (let ping = 0; ping < 5; ping += 1) {
      await vi.advanceTimersByTimeAsync(90);
      server.write(".");
      await settle();
    }
    server.write("\nend\n");
    server.end();
    expect(await fault).toBeUndefined();
    expect(taken).toEqual(["a", ".....", "end"]);
  });

  it("has no limit where it is Infinity or too long for a timer", async () => {
    const server = wiredBy();
    const { fault } = reading({ fetch: server.fetch, firstChunkTimeoutMs: Infinity, idleTimeoutMs: 2 ** 31 });
    await vi.advanceTimersByTimeAsync(10_000_000);
    server.write("a\n");
    await vi.advanceTimersByTimeAsync(10_000_000);
    server.write("end\n");
    server.end();
    expect(await fault).toBeUndefined();
  });

  it("does not wait for the end of a stream that has come to its last event", async () => {
    const server = wiredBy();
    const { fault } = reading({ fetch: server.fetch, idleTimeoutMs: 60_000 });
    server.write("end\n");
    await settle();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toBeUndefined();
  });

  it("is whole with its last event, also when the connection breaks after it", async () => {
    const server = wiredBy();
    const { fault } = reading({ fetch: server.fetch });
    server.write("end\n");
    await settle();
    server.break(new TypeError("terminated"));
    expect(await fault).toBeUndefined();
  });

  it("tells a connection that broke before the answer from one that broke after it", async () => {
    const error = new TypeError("fetch failed");
    const refused = reading({ fetch: () => Promise.reject(error) });
    expect(await refused.fault).toEqual({ type: "broken", error, sent: true, answered: false });
    const server = wiredBy();
    const broken = reading({ fetch: server.fetch });
    server.write("a\n");
    await settle();
    server.break(error);
    expect(await broken.fault).toEqual({ type: "broken", error, sent: true, answered: true });
  });

  it("knows that nothing was sent when the client failed by itself", async () => {
    const error = new Error("no such option");
    const fault = await readStream(
      limits({}),
      () => {
        throw error;
      },
      () => true,
    );
    expect(fault).toEqual({ type: "broken", error, sent: false, answered: false });
  });

  it("is unreadable when an event cannot be taken", async () => {
    const server = wiredBy();
    const error = new TypeError("no choices");
    const fault = readStream(limits({ fetch: server.fetch }), open, () => {
      throw error;
    });
    server.write("a\n");
    expect(await fault).toEqual({ type: "unreadable", error });
  });

  it("ends at once when it is aborted, also if the transport does not listen", async () => {
    const abort = new AbortController();
    const deaf = reading({ fetch: () => new Promise(() => undefined), signal: abort.signal });
    const server = wiredBy();
    const stalled = reading({ fetch: (url) => server.fetch(url), signal: abort.signal });
    server.write("a\n");
    await settle();
    abort.abort(new Error("enough"));
    expect(await Promise.all([deaf.fault, stalled.fault])).toEqual([
      { type: "aborted" },
      { type: "aborted" },
    ]);
    const late = reading({ fetch: server.fetch, signal: abort.signal });
    expect(await late.fault).toEqual({ type: "aborted" });
    expect(server.inits).toHaveLength(1);
  });

  it("tells its client's signal when it is over, so that nothing stays open", async () => {
    const server = wiredBy();
    const { fault } = reading({ fetch: server.fetch });
    await vi.advanceTimersByTimeAsync(1000);
    await fault;
    expect(server.inits[0]?.signal?.aborted).toBe(true);
  });

  it("starts no timer for bytes that trickle in after its end", async () => {
    const server = wiredBy();
    const abort = new AbortController();
    const { fault } = reading({ fetch: (url) => server.fetch(url), signal: abort.signal });
    await settle();
    abort.abort();
    await fault;
    server.write("late\n");
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("follows no redirect", async () => {
    const server = wiredBy({ status: 307, headers: { location: "http://elsewhere.test/" } });
    server.end();
    const { fault } = reading({ fetch: server.fetch });
    expect(await fault).toMatchObject({ type: "response", status: 307 });
    expect(server.inits[0]?.redirect).toBe("manual");
  });

  it("lets through nothing but event streams, and keeps the beginning of what came instead", async () => {
    const server = wiredBy({ status: 200, type: "text/html" });
    const { fault } = reading({ fetch: server.fetch });
    for (let kilobytes = 0; kilobytes < 200; kilobytes += 1) server.write("x".repeat(1024));
    const refused = await fault;
    expect(refused).toMatchObject({ type: "response", status: 200 });
    expect(refused?.type === "response" && refused.body.length).toBe(64 * 1024);
  });

  it("keeps the status of an error whose body never ends", async () => {
    const server = wiredBy({ status: 503, type: "application/json" });
    const { fault } = reading({ fetch: server.fetch });
    server.write('{"error":');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toMatchObject({ type: "response", status: 503 });
  });
});
