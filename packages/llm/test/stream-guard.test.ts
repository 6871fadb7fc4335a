import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  readStream,
  StreamFaultError,
  type StreamFault,
  type StreamLimits,
  type Wire,
} from "@moora/llm/adapter";

/** A server in memory, whose body the test writes, ends and breaks. */
function memoryServer(
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

/** A client for a protocol in which each line is an event. */
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
  contentTimeoutMs: Infinity,
  callTimeoutMs: Infinity,
  ...known,
});

/** Reads until the line `end`, and records the lines. */
function startReading(known: Partial<StreamLimits>): {
  readonly received: string[];
  readonly fault: Promise<StreamFault | undefined>;
} {
  const received: string[] = [];
  const fault = readStream(limits(known), open, {
    add(line) {
      received.push(line);
      return line === "end";
    },
    isSignOfLife: (line) => line === "ping",
  });
  return { received, fault };
}

const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);

describe("a guarded stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    if (vi.getTimerCount() > 0) throw new Error("a timer is left");
    vi.useRealTimers();
  });

  it("passes every event on, and has no fault after the last one", async () => {
    const server = memoryServer();
    const { received, fault } = startReading({ fetch: server.fetch });
    server.write("a\nb");
    server.write("\nend\n");
    server.end();
    expect(await fault).toBeUndefined();
    expect(received).toEqual(["a", "b", "end"]);
  });

  it("is cut when it ends before its last event, and empty when it has no event (F01)", async () => {
    const cut = memoryServer();
    const one = startReading({ fetch: cut.fetch });
    cut.write("a\n");
    cut.end();
    expect(await one.fault).toEqual({ type: "cut", empty: false });
    const empty = memoryServer();
    const none = startReading({ fetch: empty.fetch });
    empty.end();
    expect(await none.fault).toEqual({ type: "cut", empty: true });
  });

  it("has the first limit for the first byte, and the idle limit for all others (F08)", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch });
    await vi.advanceTimersByTimeAsync(999);
    server.write("a\n");
    await settle();
    await vi.advanceTimersByTimeAsync(99);
    server.write("b\n");
    await settle();
    await vi.advanceTimersByTimeAsync(100);
    expect(await fault).toEqual({ type: "silent", afterMs: 100 });
  });

  it("fails after the first limit without a response", async () => {
    const { fault } = startReading({ fetch: () => new Promise(() => undefined) });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toEqual({ type: "silent", afterMs: 1000 });
  });

  it("restarts the idle limit for bytes that are not an event", async () => {
    const server = memoryServer();
    const { fault, received } = startReading({ fetch: server.fetch });
    server.write("a\n");
    for (let ping = 0; ping < 5; ping += 1) {
      await vi.advanceTimersByTimeAsync(90);
      server.write(".");
      await settle();
    }
    server.write("\nend\n");
    server.end();
    expect(await fault).toBeUndefined();
    expect(received).toEqual(["a", ".....", "end"]);
  });

  it("ends a stream that only shows signs of life at the limit of content", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch, contentTimeoutMs: 250 });
    for (const text of ["a\n", "ping\n", "ping\n", "b\n", "ping\n", "."]) {
      server.write(text);
      await vi.advanceTimersByTimeAsync(80);
    }
    server.write(".");
    await vi.advanceTimersByTimeAsync(10);
    expect(await fault).toEqual({ type: "without-content", afterMs: 250 });
  });

  it("ends an answer that is not complete at the limit of the whole call", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch, callTimeoutMs: 250 });
    for (let at = 0; at < 250; at += 50) {
      server.write("a\n");
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(await fault).toEqual({ type: "too-long", afterMs: 250 });
  });

  it("does not count the time before the request is sent, in which a client is loaded", async () => {
    const server = memoryServer();
    const loaded = async (wire: Wire): Promise<AsyncIterable<string>> => {
      await new Promise((resolve) => void setTimeout(resolve, 900));
      return lines(wire);
    };
    const fault = readStream(limits({ fetch: server.fetch }), loaded, { add: (line) => line === "end" });
    await vi.advanceTimersByTimeAsync(900 + 999);
    server.write("end\n");
    server.end();
    expect(await fault).toBeUndefined();
  });

  it("has no limit for Infinity and for delays above the maximum of a timer", async () => {
    const server = memoryServer();
    const { fault } = startReading({
      fetch: server.fetch,
      firstChunkTimeoutMs: Infinity,
      idleTimeoutMs: 2 ** 31,
    });
    await vi.advanceTimersByTimeAsync(10_000_000);
    server.write("a\n");
    await vi.advanceTimersByTimeAsync(10_000_000);
    server.write("end\n");
    server.end();
    expect(await fault).toBeUndefined();
  });

  it("does not wait for the end of the stream after its last event", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch, idleTimeoutMs: 60_000 });
    server.write("end\n");
    await settle();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toBeUndefined();
  });

  it("is complete with its last event, even if the connection breaks after it", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch });
    server.write("end\n");
    await settle();
    server.break(new TypeError("terminated"));
    expect(await fault).toBeUndefined();
  });

  it("distinguishes connections that break before and after the response", async () => {
    const error = new TypeError("fetch failed");
    const refused = startReading({ fetch: () => Promise.reject(error) });
    expect(await refused.fault).toEqual({ type: "broken", error, sent: true, answered: false });
    const server = memoryServer();
    const broken = startReading({ fetch: server.fetch });
    server.write("a\n");
    await settle();
    server.break(error);
    expect(await broken.fault).toEqual({ type: "broken", error, sent: true, answered: true });
  });

  it("reports that nothing was sent if the client throws", async () => {
    const error = new Error("no such option");
    const fault = await readStream(
      limits({}),
      () => {
        throw error;
      },
      { add: () => true },
    );
    expect(fault).toEqual({ type: "broken", error, sent: false, answered: false });
  });

  it("is unreadable if the handler of an event throws", async () => {
    const server = memoryServer();
    const error = new TypeError("no choices");
    const fault = readStream(limits({ fetch: server.fetch }), open, {
      add() {
        throw error;
      },
    });
    server.write("a\n");
    expect(await fault).toEqual({ type: "unreadable", error });
  });

  it("ends immediately when it is aborted, even if the transport ignores the signal", async () => {
    const abort = new AbortController();
    const unresponsive = startReading({ fetch: () => new Promise(() => undefined), signal: abort.signal });
    const server = memoryServer();
    const stalled = startReading({ fetch: (url) => server.fetch(url), signal: abort.signal });
    server.write("a\n");
    await settle();
    abort.abort(new Error("enough"));
    expect(await Promise.all([unresponsive.fault, stalled.fault])).toEqual([
      { type: "aborted" },
      { type: "aborted" },
    ]);
    const late = startReading({ fetch: server.fetch, signal: abort.signal });
    expect(await late.fault).toEqual({ type: "aborted" });
    expect(server.inits).toHaveLength(1);
  });

  it("aborts the signal of its client at the end, so that no connection stays open", async () => {
    const server = memoryServer();
    const { fault } = startReading({ fetch: server.fetch });
    await vi.advanceTimersByTimeAsync(1000);
    await fault;
    expect(server.inits[0]?.signal?.aborted).toBe(true);
  });

  it("starts no timer for bytes that arrive after its end", async () => {
    const server = memoryServer();
    const abort = new AbortController();
    const { fault } = startReading({ fetch: (url) => server.fetch(url), signal: abort.signal });
    await settle();
    abort.abort();
    await fault;
    server.write("late\n");
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("follows no redirect", async () => {
    const server = memoryServer({ status: 307, headers: { location: "http://elsewhere.test/" } });
    server.end();
    const { fault } = startReading({ fetch: server.fetch });
    expect(await fault).toMatchObject({ type: "response", status: 307 });
    expect(server.inits[0]?.redirect).toBe("manual");
  });

  it("rejects responses that are not event streams, with the beginning of the body", async () => {
    const server = memoryServer({ status: 200, type: "text/html" });
    const { fault } = startReading({ fetch: server.fetch });
    for (let kilobytes = 0; kilobytes < 200; kilobytes += 1) server.write("x".repeat(1024));
    const refused = await fault;
    expect(refused).toMatchObject({ type: "response", status: 200 });
    expect(refused?.type === "response" && refused.body.length).toBe(64 * 1024);
  });

  it("accepts the binary event streams of Amazon", async () => {
    const server = memoryServer({ type: "application/vnd.amazon.eventstream" });
    const { fault } = startReading({ fetch: server.fetch });
    server.write("end\n");
    server.end();
    expect(await fault).toBeUndefined();
  });

  it("has the fault that its client or its reader names", async () => {
    const named: StreamFault = { type: "broken", error: new Error("no"), sent: true, answered: false };
    const failing = (): never => {
      throw new StreamFaultError(named);
    };
    expect(await readStream(limits({}), async () => failing(), { add: () => true })).toBe(named);
    const server = memoryServer();
    const fault = readStream(limits({ fetch: server.fetch }), open, { add: failing });
    server.write("a\n");
    expect(await fault).toBe(named);
  });

  it("keeps the status of an error whose body never ends", async () => {
    const server = memoryServer({ status: 503, type: "application/json" });
    const { fault } = startReading({ fetch: server.fetch });
    server.write('{"error":');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await fault).toMatchObject({ type: "response", status: 503 });
  });
});
