import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { BuildError } from "@moora/agent";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { serve, type ServedAgents } from "../src/node.ts";
import { Client, range, Scene } from "@moora/testbed/server/scene";

/** A server that listens, with a client. */
class Served implements AsyncDisposable {
  readonly scene: Scene;
  readonly served: ServedAgents;
  readonly client: Client;

  private constructor(scene: Scene, served: ServedAgents) {
    this.scene = scene;
    this.served = served;
    this.client = new Client((path, init) => fetch(`${served.url}${path}`, init));
  }

  static async start(
    options: ConstructorParameters<typeof Scene>[1] = {},
    serveOptions: Parameters<typeof serve>[1] = {},
  ): Promise<Served> {
    const talker = agentOf(() => answers("word ".repeat(50)));
    const scene = new Scene(talker, { authorize: null, ...options });
    return new Served(scene, await serve(scene.server, { port: 0, ...serveOptions }));
  }

  /** Opens a connection and sends a text. */
  async raw(text: string): Promise<RawConnection> {
    const socket = connect(this.served.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(text);
    return new RawConnection(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.served.close();
    await this.scene[Symbol.asyncDispose]();
  }
}

class RawConnection implements Disposable {
  readonly socket: Socket;
  text = "";

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => undefined);
  }

  /** Sends chunks of a body until the connection is closed. */
  sendWithoutEnd(): void {
    const { socket } = this;
    const chunk = `400\r\n${" ".repeat(1_024)}\r\n`;
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", write);
    write();
  }

  /** Reads until the other side closes the connection. */
  async closed(): Promise<string> {
    this.socket.on("data", (data) => (this.text += String(data)));
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once("close", resolve));
    return this.text;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

const head = (...lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

describe("the address of a server that listens", () => {
  it("contains the base path", async () => {
    await using served = await Served.start({ basePath: "/api" });
    expect(served.served.url).toBe(`http://127.0.0.1:${served.served.port}/api`);
    expect(await served.client.create()).toMatch(/^s_/);
  });
});

describe("serve", () => {
  it("answers over HTTP", async () => {
    await using served = await Served.start();
    const { client } = served;
    const id = await client.create();
    await using stream = await client.events(id);
    await client.post(`/sessions/${id}/messages`, { content: "Hi" });
    const { seq } = await stream.until("re-act-observed");
    expect(stream.seqs).toEqual(range(1, seq));
    expect(stream.chunks.length).toBeGreaterThan(0);
  });

  it.each([
    ["GET /health HTTP/1.1", "Host: ::1"],
    ["GET /health HTTP/1.1", "Host: a b"],
    ["GET /health HTTP/1.1", "Host: localhost:99999"],
  ])("answers a malformed address with a problem: %s, %s", async (line, host) => {
    await using served = await Served.start();
    using connection = await served.raw(head(line, host, "Connection: close"));
    const text = await connection.closed();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text.toLowerCase()).toContain("content-type: application/problem+json");
    expect(text.toLowerCase()).toContain("x-content-type-options: nosniff");
    expect(text).toContain('"code":"invalid-request"');
  });

  it("refuses an address that others can reach without `authorize`", async () => {
    await using scene = new Scene(agentOf([]), { authorize: null });
    for (const hostname of ["127.0.0.2", "[::1]", "::1"]) {
      // A machine may be without IPv6: the address is not refused as one that others can reach.
      const error: unknown = await serve(scene.server, { port: 0, hostname }).then(
        (served) => void served,
        (reason: unknown) => reason,
      );
      expect(error).not.toBeInstanceOf(BuildError);
    }
    for (const hostname of ["127.0.0.1.example.com", "0.0.0.0", "::", "192.168.0.7", "example.com"]) {
      const served = serve(scene.server, { port: 0, hostname });
      await expect(served).rejects.toThrow("Give createAgentServer({ authorize })");
    }
    await using open = new Scene(agentOf([]));
    const served = await serve(open.server, { port: 0, hostname: "0.0.0.0" });
    expect((await fetch(`http://127.0.0.1:${served.port}/sessions`)).status).toBe(401);
    await served.close();
  });

  it("rejects for an address that is in use, with its port", async () => {
    await using served = await Served.start();
    const { port } = served.served;
    await expect(serve(served.scene.server, { port })).rejects.toMatchObject({
      name: "ListenError",
      code: "EADDRINUSE",
      message: `Port ${port} of 127.0.0.1 is in use. Choose another port, or 0 for any free one.`,
    });
  });

  it("rejects for an address of another machine", async () => {
    await using scene = new Scene(agentOf([]), { authorize: () => undefined });
    await expect(serve(scene.server, { port: 0, hostname: "192.0.2.1" })).rejects.toMatchObject({
      code: "EADDRNOTAVAIL",
      message: "192.0.2.1 is not an address of this machine. Choose another one, such as 127.0.0.1.",
    });
  });

  it("closes while streams are open", async () => {
    const served = await Served.start();
    const id = await served.client.create();
    const stream = await served.client.events(id);
    await stream.until("session-opened");
    await served.served.close();
    expect(await stream.all()).toEqual([1]);
    await expect(served.client.get("/health")).rejects.toThrow("fetch failed");
    await served.scene[Symbol.asyncDispose]();
  });
});

describe("a connection", () => {
  it("by another name is refused: DNS rebinding", async () => {
    await using served = await Served.start();
    using connection = await served.raw(
      head("GET /sessions HTTP/1.1", `Host: evil.example:${served.served.port}`, "Connection: close"),
    );
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("that injects a header is refused", async () => {
    await using served = await Served.start();
    const host = `Host: 127.0.0.1:${served.served.port}`;
    const texts = [
      head("GET /sessions/a%0d%0aset-cookie:%20a=b HTTP/1.1", host, "Connection: close"),
      head("GET /sessions/a\rb HTTP/1.1", host, "Connection: close"),
      head("GET /sessions/a/events HTTP/1.1", host, "Last-Event-ID: 1\r\n x: y", "Connection: close"),
      head(
        "POST /sessions HTTP/1.1",
        host,
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "Connection: close",
      ),
    ];
    for (const text of texts) {
      using connection = await served.raw(text);
      const answer = await connection.closed();
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer.toLowerCase()).not.toContain("set-cookie:");
    }
  });

  it("with an endless body is answered and closed", async () => {
    await using served = await Served.start({ limits: { maxBodyBytes: 10_000 } });
    const id = await served.client.create();
    using connection = await served.raw(
      head(
        `POST /sessions/${id}/messages HTTP/1.1`,
        `Host: 127.0.0.1:${served.served.port}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
      ),
    );
    connection.sendWithoutEnd();
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    ["POST", "/agents/helper/sessions", 413],
    ["DELETE", "/sessions/missing", 404],
    ["GET", "/sessions", 200],
    ["GET", "/health", 200],
    ["PUT", "/sessions", 405],
    ["POST", "/nowhere", 404],
  ])("with an endless body is answered and closed: %s %s", async (method, path, status) => {
    await using served = await Served.start();
    const host = `Host: 127.0.0.1:${served.served.port}`;
    using connection = await served.raw(
      head(`${method} ${path} HTTP/1.1`, host, "Transfer-Encoding: chunked"),
    );
    connection.sendWithoutEnd();
    expect(await connection.closed()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("that sends its body slowly is answered in time", async () => {
    const clock = new TestClock();
    await using served = await Served.start({ clock });
    const id = await served.client.create();
    const waiting = clock.waiting;
    using connection = await served.raw(
      head(
        `POST /sessions/${id}/messages HTTP/1.1`,
        `Host: 127.0.0.1:${served.served.port}`,
        "Content-Type: application/json",
        "Content-Length: 100",
      ) + '{"content"',
    );
    await clock.whenWaiting(waiting + 1);
    await clock.advanceAsync(10_000);
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([
    ["nothing", ""],
    ["the beginning of a head", "GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n"],
  ])("that sends %s and no end of its head is answered with 408 and closed in time", async (_, text) => {
    await using served = await Served.start({}, { headersTimeoutMs: 200 });
    using connection = await served.raw(text);
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("that sends one header after the other is closed in time, too", async () => {
    await using served = await Served.start({}, { headersTimeoutMs: 300 });
    using connection = await served.raw("GET /sessions HTTP/1.1\r\n");
    const { socket } = connection;
    const sending = setInterval(() => socket.write("x: y\r\n"), 20);
    const text = await connection.closed();
    clearInterval(sending);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("beyond the maximum is closed without an answer, and the next one after an end is answered", async () => {
    await using served = await Served.start({}, { maxConnections: 2 });
    const get = head("GET /health HTTP/1.1", `Host: 127.0.0.1:${served.served.port}`);
    const open: RawConnection[] = [];
    for (let count = 0; count < 2; count += 1) {
      const connection = await served.raw(get);
      open.push(connection);
      await once(connection.socket, "data");
    }
    using refused = await served.raw(get);
    expect(await refused.closed()).toBe("");
    open[0]?.socket.end();
    await open[0]?.closed();
    using next = await served.raw(get);
    const [answer] = await once(next.socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    open[1]?.[Symbol.dispose]();
  });

  it("that reads its stream slowly is closed, and the stream resumes", async () => {
    const clock = new TestClock();
    const codes: string[] = [];
    await using served = await Served.start({ clock, onLog: ({ code }) => codes.push(code) });
    const { client } = served;
    const id = await client.create();
    const content = "x".repeat(500_000);
    for (let count = 0; count < 20; count += 1)
      await client.post(`/sessions/${id}/messages`, { content: `${count} ${content}` });
    using connection = await served.raw(
      head(`GET /sessions/${id}/events HTTP/1.1`, `Host: 127.0.0.1:${served.served.port}`),
    );
    const { socket } = connection;
    const [first] = await once(socket, "data");
    socket.pause();
    // The server fills the buffers of the connection, and then waits for its reader until it drops it.
    while (!codes.includes("stream-stalled")) {
      await turn();
      await clock.advanceAsync(10);
    }
    socket.resume();
    const text = String(first) + (await connection.closed());
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    const read = [...text.matchAll(/^id: (\d+)\r?$/gm)].map(([, seq]) => Number(seq));
    const { seq: last } = (await client.get(`/sessions/${id}`)).body;
    expect(read.length).toBeLessThan(last);
    // The last event may be cut: its reader resumes after the one before.
    const cursor = Math.max(0, (read.at(-1) ?? 0) - 1);
    await using resumed = await client.events(id, cursor);
    while (resumed.seqs.at(-1) !== last) await resumed.next();
    expect(resumed.seqs).toEqual(range(cursor + 1, last));
  });
});
