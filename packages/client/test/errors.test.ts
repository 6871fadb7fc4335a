import { memoryLog } from "@moora/event-log";
import { answers, hangs } from "@moora/llm/testing";
import { turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
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
  ])("are checked: %j", async (options, message) => {
    await expect(connectSession(options as unknown as ConnectOptions)).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringMatching(message),
    });
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

  it("is refused if its state is of another release", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const { session } = await scene.connect();
    network.nextResponse = Response.json({ state: { version: 2 }, user: "local" });
    await expect(scene.connect({ id: session.id }, network)).rejects.toMatchObject({ code: "Unsupported" });
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
    await expect(session.ask("More")).rejects.toMatchObject({ kind: "Conflict", reason: "Closed" });
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
