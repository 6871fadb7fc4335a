import { inspect } from "node:util";
import { memoryLog } from "@moora/event-log";
import { answers, hangs } from "@moora/llm/testing";
import { turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import { connectSession, type ConnectOptions } from "../src/index.ts";
import { agentOf, Network, Scene } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));

describe("the options of connectSession", () => {
  it.each([
    [{}, /url of connectSession must be a string/],
    [{ url: "/" }, /either id, the id of a session, or agent/],
    [{ url: "/", id: "a", agent: "b" }, /either id, the id of a session, or agent/],
    [{ url: "/", id: "a", streamIdleMs: 0 }, /streamIdleMs must be a positive number, got 0/],
    [{ url: "/", id: "a", header: {} }, /Unknown option "header"/],
    [{ url: "/", id: "a", headers: "x" }, /headers must be an object or a function/],
    [{ url: "nonsense", id: "a" }, /url of connectSession is not an address: "nonsense"/],
    [{ url: "/api", id: "a" }, /not an address: "\/api". Only a page can use a path/],
    [{ url: "", id: "a" }, /not an address: "". Only a page can use a path/],
    [{ url: "ws://localhost", id: "a" }, /must begin with http: or https:, got "ws:"/],
    [{ url: "http://localhost/?x=1", id: "a" }, /must not contain a query or a fragment/],
    [{ url: "http://localhost", id: "" }, /id of connectSession must not be empty/],
    [{ url: "http://localhost", agent: "" }, /agent of connectSession must not be empty/],
    [
      { url: "http://localhost", id: "a", headers: { "x y": "1" } },
      /the name "x y", which no header can have/,
    ],
    [
      { url: "http://localhost", id: "a", headers: { x: "1\n2" } },
      /The value of the header "x" of connectSession/,
    ],
    [{ url: "http://localhost", id: "a", headers: () => ({ "x y": "1" }) }, /which no header can have/],
  ])("are checked: %j", async (options, message) => {
    await expect(connectSession(options as unknown as ConnectOptions)).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringMatching(message),
    });
  });
});

describe("the credentials in an address", () => {
  it.each(["http://ada:hunter2@localhost", "http://ada:hunter2@local host", "ada:hunter2@localhost"])(
    "are refused at once, and neither printed nor in the error: %s",
    async (url) => {
      using printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
      const error: unknown = await connectSession({ url, id: "a" }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "BuildError" });
      expect(inspect(error)).not.toContain("hunter2");
      expect(printed).not.toHaveBeenCalled();
    },
  );
});

describe("an address that is a path", () => {
  it("is resolved by fetch of the caller", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const { session } = await scene.connect({
      url: "/",
      fetch: (url, init) => network.fetch(`http://localhost${url}`, init),
    });
    expect((await session.ask("One")).answer).toBe("Yes.");
  });
});

describe("an option of connectSession that is undefined", () => {
  it("has its default", async () => {
    await using scene = new Scene(talker());
    const names = ["headers", "answerOf", "requestTimeoutMs", "streamIdleMs", "retryDelayMs", "onError"];
    const options: Partial<ConnectOptions> = Object.fromEntries(names.map((name) => [name, undefined]));
    const { session } = await scene.connect(options);
    expect((await session.ask("One")).answer).toBe("Yes.");
  });
});

describe("a session that cannot be connected", () => {
  it("is reported with what the server answered", async () => {
    await using scene = new Scene(talker(), {
      authorize: (request) => (request.headers.get("authorization") === "ada" ? { user: "ada" } : undefined),
    });
    await expect(scene.connect()).rejects.toMatchObject({ code: "Unauthorized", problem: { status: 401 } });
    const { session } = await scene.connect({ headers: async () => ({ authorization: "ada" }) });
    expect(session.user).toBe("ada");
    const headers = { authorization: "ada" };
    const missing = scene.connect({ id: "none", headers });
    await expect(missing).rejects.toMatchObject({ name: "ClientError", code: "NotFound" });
    await expect(scene.connect({ agent: "nothing", headers })).rejects.toMatchObject({ code: "NotFound" });
  });

  it("is reported once to onError, and is connected when the server can be reached", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    const onError = vi.fn();
    const connected = scene.connect({ onError }, network);
    await untilPasses(() => expect(onError).toHaveBeenCalledOnce());
    await scene.clock.advanceAsync(60_000);
    expect(network.attempts.length).toBeGreaterThan(3);
    expect(onError.mock.calls).toEqual([
      [
        {
          source: "log",
          error: expect.objectContaining({
            code: "Unreachable",
            message:
              "The server http://localhost cannot be reached. connectSession tries again until it can: " +
              "check url, or pass signal to give up.",
            cause: new TypeError("There is no network."),
          }),
        },
      ],
    ]);
    network.goOnline();
    expect((await scene.settles(connected)).session.connection().status).not.toBe("closed");
    expect(onError).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["a problem", Response.json({ title: "Busy", status: 503, code: "unavailable" }, { status: 503 }), 503],
    ["the page of a proxy", new Response("<html>Bad gateway</html>", { status: 502 }), 502],
  ])(
    "is reported with the status if the server answers to try again later: %s",
    async (_, response, status) => {
      await using scene = new Scene(talker());
      const network = new Network(scene);
      network.nextResponse = response;
      const onError = vi.fn();
      const connected = scene.connect({ onError }, network);
      await scene.settles(connected);
      expect(onError.mock.calls).toMatchObject([
        [
          {
            source: "log",
            error: {
              code: "Unreachable",
              message:
                `The server http://localhost answered with status ${status}. ` +
                "connectSession tries again until it succeeds: pass signal to give up.",
            },
          },
        ],
      ]);
    },
  );

  it("is printed once without onError", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    using printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const giveUp = new AbortController();
    const noListener: Partial<ConnectOptions> = Object.fromEntries([["onError", undefined]]);
    const connected = scene.connect({ ...noListener, signal: giveUp.signal }, network);
    await untilPasses(() => expect(printed).toHaveBeenCalledOnce());
    await scene.clock.advanceAsync(60_000);
    expect(printed.mock.calls).toMatchObject([[{ code: "Unreachable" }]]);
    giveUp.abort(new Error("Too late."));
    await expect(connected).rejects.toThrow("Too late.");
  });

  it("can be given up by onError", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    const giveUp = new AbortController();
    const onError = (): void => giveUp.abort(new Error("Wrong address."));
    await expect(scene.connect({ onError, signal: giveUp.signal }, network)).rejects.toThrow(
      "Wrong address.",
    );
    expect(network.attempts).toHaveLength(1);
  });

  it("can be given up", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    const giveUp = new AbortController();
    const connected = scene.connect({ signal: giveUp.signal }, network);
    await scene.clock.whenWaiting(1);
    giveUp.abort(new Error("Too late."));
    await expect(connected).rejects.toThrow("Too late.");
  });

  it("is refused by a server that does not serve its version of the protocol", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const detail = "moora-protocol must be 3, the version that this server serves.";
    const problem = { type: "about:blank", title: "", status: 400, code: "unsupported-protocol", detail };
    network.nextResponse = Response.json(problem, { status: 400 });
    await expect(scene.connect({ id: "session" }, network)).rejects.toMatchObject({
      code: "Unsupported",
      message: expect.stringContaining(detail),
    });
  });

  it("is refused if its state is of another release", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const { session } = await scene.connect();
    network.nextResponse = Response.json({ state: { version: 2 }, user: "local" });
    await expect(scene.connect({ id: session.id }, network)).rejects.toMatchObject({
      code: "Unsupported",
      message: "The server sends states of version 2; this client reads version 1. Use the same release.",
    });
  });

  it.each([
    [
      "a Cloudflare object",
      (state: unknown) => Response.json({ id: "s", seq: 1, state, questions: [] }),
      "The server http://localhost answers without the user of the session: it has other routes, as an object of @moora/cloudflare " +
        "has. connectSession needs a server of @moora/server.",
    ],
    [
      "a server of something else",
      () => Response.json({ hello: "world" }),
      "The server http://localhost answers without a session: it is not a server of @moora/server, or url lacks its base path.",
    ],
    [
      "a server whose answer is null",
      () => Response.json(null),
      "The server http://localhost answers without a session: it is not a server of @moora/server, or url lacks its base path.",
    ],
  ])("is refused with the reason if the server has other routes: %s", async (_, answer, message) => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const { session } = await scene.connect();
    network.nextResponse = answer(session.current());
    const connected = scene.connect({ id: session.id }, network);
    await expect(connected).rejects.toMatchObject({ name: "ClientError", code: "Unsupported", message });
  });

  it("is refused with the reason if the server creates no session", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.nextResponse = Response.json({ hello: "world" });
    await expect(scene.connect({ agent: "helper" }, network)).rejects.toMatchObject({
      code: "Unsupported",
      message:
        "The server http://localhost answers without a session: it is not a server of @moora/server, or url lacks its base path.",
    });
  });
});

describe("a session that cannot continue", () => {
  it("ends when the server has removed it, and rejects what is pending", async () => {
    await using scene = new Scene(agentOf([hangs("So far")]));
    const { session } = await scene.connect();
    const run = session.ask("Work");
    await untilPasses(() => expect(session.current().streaming?.text).toBe("So far"));
    await scene.server.fetch(new Request(`http://localhost/sessions/${session.id}`, { method: "DELETE" }));
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    session.reconnect();
    await expect(run).rejects.toMatchObject({ reason: "SessionClosed" });
    expect(session.connection()).toMatchObject({
      status: "closed",
      error: { code: "NotFound" },
      pending: [],
    });
    await expect(session.send("More")).rejects.toMatchObject({ code: "Closed", cause: { code: "NotFound" } });
    await expect(session.ask("More")).rejects.toMatchObject({ name: "ClientError", code: "Closed" });
    await expect(session.verify()).rejects.toMatchObject({ code: "Closed" });
  });

  it("ends when the server has lost records", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    await session.ask("One");
    const log = memoryLog();
    await scene.restart(log);
    const { session: other, network } = await scene.connect();
    network.nextResponse = Response.json(
      { type: "about:blank", title: "Cursor beyond the end", status: 400, code: "cursor-beyond-end", seq: 1 },
      { status: 400 },
    );
    network.drop();
    await untilPasses(() => expect(other.connection().status).toBe("waiting"));
    other.reconnect();
    await untilPasses(() =>
      expect(other.connection()).toMatchObject({ status: "closed", error: { code: "HistoryChanged" } }),
    );
  });

  it("ends when a record is of a newer release", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    const errors: unknown[] = [];
    session.onError(({ error }) => void errors.push(error));
    const seq = session.seq() + 1;
    const data = JSON.stringify({ seq, input: { type: "dream-had", timestamp: 1 } });
    network.drop();
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    network.nextResponse = new Response(`: hello\r\nid: ${seq}\r\nevent: input\r\ndata: ${data}\r\n\r\n`);
    session.reconnect();
    await untilPasses(() =>
      expect(session.connection()).toMatchObject({ status: "closed", error: { code: "Unsupported" } }),
    );
    expect(errors).toMatchObject([{ code: "Unsupported", message: expect.stringContaining('"dream-had"') }]);
  });

  it("finds that its state is not that of the server", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    const { streaming: _, ...state } = session.current();
    network.nextResponse = Response.json({ user: "local", seq: 1, state: { ...state, opened: 99 } });
    await expect(session.verify()).rejects.toMatchObject({ code: "Diverged" });
    await session.verify();
  });

  it("waits for nothing when a listener closes it as soon as the connection is lost", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    session.subscribe(() => {
      if (session.connection().status === "waiting") void session.close();
    });
    network.goOffline();
    await untilPasses(() => expect(session.connection().status).toBe("closed"));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(scene.clock.waiting).toBe(0);
  });

  it("is closed by its owner", async () => {
    await using scene = new Scene(agentOf([hangs("So far")]));
    const { session, network } = await scene.connect();
    const run = session.ask("Work");
    await untilPasses(() => expect(session.current().streaming?.text).toBe("So far"));
    network.goOffline();
    const pending = session.send("More");
    await session.close();
    await session.close();
    await expect(pending).rejects.toMatchObject({ code: "Closed" });
    await expect(run).rejects.toMatchObject({ kind: "Cancelled", reason: "SessionClosed" });
    expect(session.connection()).toEqual({ status: "closed", pending: [] });
    expect(scene.clock.waiting).toBe(0);
  });
});

describe("a call that fails", () => {
  it("rejects ask with the error that send rejects with", async () => {
    let isValid = true;
    await using scene = new Scene(talker(), { authorize: () => (isValid ? { user: "ada" } : undefined) });
    const { session } = await scene.connect();
    const attachments = [{ mediaType: "text/plain", url: `data:,${"x".repeat(1_200_000)}` }];
    const refused = { name: "ClientError", code: "Refused", problem: { code: "body-too-large" } };
    await expect(session.send({ content: "Look", attachments })).rejects.toMatchObject(refused);
    const run = session.ask({ content: "Look", attachments });
    const events: unknown[] = [];
    const read = (async () => {
      for await (const event of run) events.push(event);
    })();
    await expect(run).rejects.toMatchObject(refused);
    await read;
    expect(events).toMatchObject([{ type: "Error", error: { kind: "Conflict", cause: refused } }]);
    isValid = false;
    const unauthorized = { name: "ClientError", code: "Unauthorized" };
    await expect(session.send("Hello")).rejects.toMatchObject(unauthorized);
    await expect(session.ask("Hello")).rejects.toMatchObject(unauthorized);
  });

  it("rejects verify with Unreachable and the status if the server answers to try again later", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    network.nextResponse = new Response("<html>Bad gateway</html>", { status: 502 });
    await expect(session.verify()).rejects.toMatchObject({
      code: "Unreachable",
      message: "The state could not be compared: the server answered with status 502. Retry.",
      cause: 502,
    });
    await session.verify();
  });

  it("rejects verify with Unreachable while the connection is lost", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    network.goOffline();
    await expect(session.verify()).rejects.toMatchObject({
      name: "ClientError",
      code: "Unreachable",
      cause: { message: "There is no network." },
    });
    network.goOnline();
    await session.verify();
  });

  it("rejects verify with Closed when the session is closed meanwhile", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const fetch: typeof network.fetch = async (url, init) => {
      if (!url.includes("?at=")) return await network.fetch(url, init);
      const { promise, reject } = Promise.withResolvers<Response>();
      init.signal?.addEventListener("abort", () => reject(new Error("Aborted.")));
      return await promise;
    };
    const { session } = await scene.connect({ fetch }, network);
    const verified = session.verify();
    await session.close();
    await expect(verified).rejects.toMatchObject({ name: "ClientError", code: "Closed" });
  });
});

describe("the URL of a file", () => {
  it("is an address of the server for stored bytes, and that of the file otherwise", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    const bytes = Buffer.alloc(70_000, 7);
    const attachments = [
      { mediaType: "image/png", url: `data:image/png;base64,${bytes.toString("base64")}` },
    ];
    await session.send({ content: "Look", attachments });
    const [file] = session.current().messages[0]?.attachments ?? [];
    expect(file?.url).toMatch(/^ni:/);
    const url = session.fileUrl(file ?? { url: "" });
    const response = await network.fetch(url, { method: "GET" });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(session.fileUrl({ url: "https://example.com/a.png" })).toBe("https://example.com/a.png");
    expect(session.fileUrl({ url: "data:,a" })).toBe("data:,a");
  });
});
