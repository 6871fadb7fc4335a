import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { agentOf, Network, Scene, stateOf, toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));

const contentsOf = (session: { current(): { messages: readonly { role: string; content: string }[] } }) =>
  session
    .current()
    .messages.filter(({ role }) => role === "user")
    .map(({ content }) => content);

describe("a remote session without a network", () => {
  it("queues posts, shows them, and sends each once and in order", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await session.send("One");
    network.goOffline();
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    const sent = [session.send("Two"), session.send("Three"), session.cancel()];
    expect(session.connection().pending.map(({ kind, content }) => [kind, content])).toEqual([
      ["messages", "Two"],
      ["messages", "Three"],
      ["cancel", undefined],
    ]);
    await scene.clock.advanceAsync(60_000);
    expect(contentsOf(session)).toEqual(["One"]);
    network.goOnline();
    await scene.clock.advanceAsync(20_000);
    expect(await Promise.all(sent)).toMatchObject([{ status: "accepted" }, { status: "accepted" }, {}]);
    expect(contentsOf(session)).toEqual(["One", "Two", "Three"]);
    expect(session.connection()).toEqual({ status: "connected", pending: [] });
    await untilPasses(() => expect(session.running()).toBeUndefined());
    await session.verify();
  });

  it("applies a post once whose receipt was lost", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    network.losesNextReceipt = true;
    const sent = session.send("Once");
    expect(await scene.settles(sent)).toMatchObject({ status: "accepted" });
    expect(network.requests.filter((request) => request === "POST /messages")).toHaveLength(2);
    expect(contentsOf(session)).toEqual(["Once"]);
  });

  it("sends a post again whose refusal was lost on its way", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    const body = new ReadableStream({
      start: (controller) => controller.error(new TypeError("The connection was lost.")),
    });
    network.nextResponse = new Response(body, { status: 409 });
    expect(await scene.settles(session.send("Once"))).toMatchObject({ status: "accepted" });
    expect(contentsOf(session)).toEqual(["Once"]);
  });

  it("resumes after its last record, with nothing missing and nothing twice", async () => {
    await using scene = new Scene(
      agentOf([callsTools([{ name: "look" }]), hangs("It is"), answers("It is there.")], {
        tools: [toolOf("look")],
      }),
    );
    const { session, network } = await scene.connect();
    const { session: other } = await scene.connect({ id: session.id });
    const seqs: number[] = [];
    session.onInput((_input, _state, seq) => void seqs.push(seq));
    const begin = session.seq();
    await session.send("Look");
    await untilPasses(() => expect(session.current().streaming?.text).toBe("It is"));
    network.goOffline();
    await other.cancel();
    await other.ask("Again");
    network.goOnline();
    session.reconnect();
    await untilPasses(() => expect(session.seq()).toBe(other.seq()));
    expect(seqs).toEqual(Array.from({ length: session.seq() - begin }, (_, index) => begin + 1 + index));
    expect(stateOf(session)).toBe(await scene.stateOf(session.id));
  });

  it("shows streamed text once when a connection is made again", async () => {
    await using scene = new Scene(agentOf([hangs("It is a tree.")]));
    const { session, network } = await scene.connect();
    const tokens: string[] = [];
    session.onEvent((event) => event.type === "LlmToken" && void tokens.push(event.text));
    await session.send("What?");
    await untilPasses(() => expect(session.current().streaming?.text).toBe("It is a tree."));
    network.drop();
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    session.reconnect();
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(session.current().streaming?.text).toBe("It is a tree.");
    expect(tokens.join("")).toBe("It is a tree.");
  });

  it.each(Array.from({ length: 60 }, (_, steps) => steps))(
    "makes a connection at once where it is asked for another one %i steps after the first",
    async (steps) => {
      await using scene = new Scene(talker());
      const { session } = await scene.connect();
      session.reconnect();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      session.reconnect();
      for (let turns = 0; turns < 20; turns += 1) await turn();
      expect(session.connection().status).toBe("connected");
    },
  );

  it("makes a connection at once where one is asked for as soon as the session waits", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    session.subscribe(() => session.connection().status === "waiting" && session.reconnect());
    network.drop();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(session.connection().status).toBe("connected");
    await session.ask("Still there?");
  });

  it("waits longer after each failed attempt, up to a limit", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect({ retryDelayMs: 100, maxRetryDelayMs: 1_000 });
    network.goOffline();
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    network.attempts.length = 0;
    await scene.clock.advanceAsync(10_000);
    const { attempts } = network;
    const waits = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
    expect(waits.length).toBeGreaterThan(8);
    for (const [index, wait] of waits.entries()) {
      const longest = Math.min(1_000, 100 * 2 ** (index + 1));
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
    }
  });

  it("connects again soon where the server ends the stream to authorize it again, and ends when it is refused", async () => {
    let isValid = true;
    const authorize = () => (isValid ? { user: "ada" } : undefined);
    const limits = { streamLifetimeMs: 60_000 };
    const clock = new TestClock();
    await using scene = new Scene(talker(), { authorize, limits, clock });
    const { session, network } = await scene.connect({ clock, streamIdleMs: 3_600_000 });
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    const statuses = new Set<string>();
    session.subscribe(() => statuses.add(session.connection().status));
    for (const count of [2, 3]) {
      await untilPasses(() => expect(session.connection().status).toBe("connected"));
      // The stream ends after 48 to 60 seconds, and the next one begins within half a second.
      await clock.advanceAsync(60_500);
      await untilPasses(() =>
        expect(network.requests.filter((request) => request === "GET /events")).toHaveLength(count),
      );
    }
    expect(statuses).toEqual(new Set(["connecting", "connected"]));
    isValid = false;
    await clock.advanceAsync(60_500);
    await untilPasses(() =>
      expect(session.connection()).toMatchObject({ status: "closed", error: { code: "Unauthorized" } }),
    );
  });

  it("does not connect again together with the other clients of a server that is closed", async () => {
    await using scene = new Scene(talker());
    const { clock } = scene;
    const { session } = await scene.connect();
    const connect = () => scene.connect({ id: session.id, retryDelayMs: 1_000 });
    const clients = await Promise.all(Array.from({ length: 20 }, connect));
    await untilPasses(() => {
      for (const client of clients) expect(client.session.connection().status).toBe("connected");
    });
    await clock.advanceAsync(11_000);
    for (const { network } of clients) network.attempts.length = 0;
    const ended = clock.now();
    await scene.restart();
    await clock.advanceAsync(1_000);
    await untilPasses(() => {
      for (const client of clients) expect(client.session.connection().status).toBe("connected");
    });
    const waits = clients.map(({ network }) => (network.attempts[0] ?? Infinity) - ended);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
    expect(new Set(waits).size).toBeGreaterThan(10);
  });

  it("makes a silent connection again", async () => {
    await using scene = new Scene(talker(), { limits: { keepAliveMs: 3_600_000 } });
    const { session, network } = await scene.connect({ streamIdleMs: 1_000 });
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    await scene.clock.advanceAsync(1_000);
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    await scene.clock.advanceAsync(1_000);
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    expect(network.requests.filter((request) => request === "GET /events")).toHaveLength(2);
  });

  it("waits as long as a busy server asks, and treats the error page of a proxy as a lost connection", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    network.nextResponse = new Response('{"title":"Busy","status":503,"code":"unavailable"}', {
      status: 503,
      headers: { "retry-after": "5" },
    });
    expect(await scene.settles(session.send("One"))).toMatchObject({ status: "accepted" });
    const [refused = 0, accepted = 0] = network.attempts.slice(-2);
    expect(accepted - refused).toBeGreaterThanOrEqual(5_000);
    network.nextResponse = new Response("<html>Bad gateway</html>", { status: 502 });
    expect(await scene.settles(session.send("Two"))).toMatchObject({ status: "accepted" });
    expect(contentsOf(session)).toEqual(["One", "Two"]);
  });

  it("connects when the server can be reached, and creates one session", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.losesNextReceipt = true;
    network.isOnline = false;
    const connected = scene.connect({}, network);
    await scene.clock.whenWaiting(1);
    network.goOnline();
    const { session } = await scene.settles(connected);
    expect((await scene.log.list()).map(({ id }) => id)).toEqual([session.id]);
  });

  it("continues with a server that was started again", async () => {
    const log = memoryLog();
    await using scene = new Scene(talker(), { log });
    const { session } = await scene.connect();
    await session.ask("One");
    await scene.restart();
    await untilPasses(() => expect(session.connection().status).toBe("waiting"));
    const run = session.ask("Two");
    await scene.clock.advanceAsync(1_000);
    expect((await run).answer).toBe("Yes.");
    await session.verify();
  });

  it("makes a connection again that is dead without a sign, when it is asked to", async () => {
    await using scene = new Scene(talker(), { limits: { keepAliveMs: 3_600_000 } });
    const { session, network } = await scene.connect();
    const { session: other } = await scene.connect({ id: session.id });
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    network.holdsRecords = true;
    await other.send("One");
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(contentsOf(session)).toEqual([]);
    network.holdsRecords = false;
    session.reconnect();
    await untilPasses(() => expect(contentsOf(session)).toEqual(["One"]));
    expect(network.requests.filter((request) => request === "GET /events")).toHaveLength(2);
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
  });

  it("shows a confirmed post until the session contains its record, and then its message once", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    const counts = new Set<number>();
    session.subscribe(() => {
      const pending = session.connection().pending.filter(({ content }) => content === "One");
      counts.add(pending.length + contentsOf(session).filter((content) => content === "One").length);
    });
    network.holdsRecords = true;
    const sent = session.send("One");
    const first = [{ kind: "messages", content: "One", isConfirmed: true }];
    await untilPasses(() => expect(session.connection().pending).toMatchObject(first));
    const second = session.send("Two");
    await untilPasses(() =>
      expect(session.connection().pending).toMatchObject([...first, { content: "Two", isConfirmed: true }]),
    );
    expect(contentsOf(session)).toEqual([]);
    network.holdsRecords = false;
    session.reconnect();
    expect(await Promise.all([sent, second])).toMatchObject([{ status: "accepted" }, { status: "accepted" }]);
    expect(session.connection().pending).toEqual([]);
    expect(contentsOf(session)).toEqual(["One", "Two"]);
    expect([...counts]).toEqual([1]);
  });

  it("shows a message once whose record arrives before its receipt", async () => {
    await using scene = new Scene(talker());
    const { session, network } = await scene.connect();
    await untilPasses(() => expect(session.connection().status).toBe("connected"));
    network.losesNextReceipt = true;
    const sent = session.send("One");
    expect(session.connection().pending).toMatchObject([{ content: "One", isConfirmed: false }]);
    await untilPasses(() => expect(contentsOf(session)).toEqual(["One"]));
    expect(session.connection().pending).toEqual([]);
    expect(await scene.settles(sent)).toMatchObject({ status: "accepted" });
  });
});
