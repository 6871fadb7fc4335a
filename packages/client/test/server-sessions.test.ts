import { answers } from "@moora/llm/testing";
import { turn } from "@moora/testbed/test-clock";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  forkSession,
  listSessions,
  removeSession,
  type ForkOptions,
  type ListOptions,
  type RemoveOptions,
  type ServerOptions,
  type SessionPage,
  type SessionSummary,
} from "../src/index.ts";
import { agentOf, Network, reach, Scene, stateOf } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));

describe("the sessions of a server", () => {
  it("are listed by pages", async () => {
    await using scene = new Scene(talker());
    const ids: string[] = [];
    for (const _ of ["first", "second", "third"]) ids.push((await scene.connect()).session.id);
    const [one, two, three] = ids.toSorted();
    const first = await listSessions({ ...reach(scene), limit: 2 });
    expect(first).toMatchObject({ sessions: [{ id: one, agent: "helper" }, { id: two }], next: two });
    const last = await listSessions({ ...reach(scene), limit: 2, after: first.next ?? "" });
    expect(last).toMatchObject({ sessions: [{ id: three }], next: null });
    expect(await listSessions(reach(scene))).toMatchObject({ sessions: [{}, {}, {}], next: null });
    expectTypeOf(listSessions).returns.resolves.toEqualTypeOf<SessionPage>();
  });

  it("are listed when the server can be reached again, which is reported once", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    const reported: unknown[] = [];
    const onError: ServerOptions["onError"] = ({ error }) => void reported.push(error);
    const listing = listSessions({ ...reach(scene, network), onError });
    await scene.clock.advanceAsync(60_000);
    expect(reported).toMatchObject([
      { code: "Unreachable", message: expect.stringContaining("listSessions tries again until it can") },
    ]);
    network.goOnline();
    expect(await scene.settles(listing)).toEqual({ sessions: [], next: null });
    expect(reported).toHaveLength(1);
  });

  it("are given up at the abort of the signal", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.goOffline();
    const giveUp = new AbortController();
    const listing = listSessions({ ...reach(scene, network), signal: giveUp.signal });
    await turn();
    giveUp.abort(new Error("The user has left."));
    await expect(listing).rejects.toThrow("The user has left.");
  });
});

describe("a fork of a session of a server", () => {
  it("has its records up to a position, and can be connected to", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    await session.ask("One");
    const at = session.seq();
    await session.ask("Two");
    const fork = await forkSession({ ...reach(scene), id: session.id, at });
    expect(fork).toEqual({ id: expect.stringMatching(/^s_/), agent: "helper", seq: expect.any(Number) });
    const { session: forked } = await scene.connect({ id: fork.id });
    expect(forked.current().messages.map(({ content }) => content)).toEqual(["One", "Yes."]);
    const whole = await forkSession({ ...reach(scene), id: session.id });
    const { session: copy } = await scene.connect({ id: whole.id });
    const withAnyIds = session.current().messages.map((message) => ({ ...message, id: expect.any(String) }));
    expect(copy.current().messages).toEqual(withAnyIds);
    expectTypeOf(forkSession).returns.resolves.toEqualTypeOf<SessionSummary>();
  });

  it("is made once, also if the answer to its request is lost", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    await session.ask("One");
    const network = new Network(scene);
    network.losesNextReceipt = true;
    const fork = await scene.settles(forkSession({ ...reach(scene, network), id: session.id }));
    expect(network.requests).toEqual(["POST /fork", "POST /fork"]);
    const { sessions } = await listSessions(reach(scene));
    expect(sessions.map(({ id }) => id).toSorted()).toEqual([session.id, fork.id].toSorted());
  });

  it("is another one for each call", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    const options: ForkOptions = { ...reach(scene), id: session.id };
    expect((await forkSession(options)).id).not.toBe((await forkSession(options)).id);
  });

  it("is refused with the problem of the server", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    await expect(forkSession({ ...reach(scene), id: session.id, at: 99 })).rejects.toMatchObject({
      name: "ClientError",
      code: "Refused",
      problem: { code: "cursor-beyond-end" },
    });
    await expect(forkSession({ ...reach(scene), id: "unknown" })).rejects.toMatchObject({ code: "NotFound" });
  });
});

describe("the removal of a session from a server", () => {
  it("removes it with its records, and leaves the others", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    const { session: other } = await scene.connect();
    await removeSession({ ...reach(scene), id: session.id });
    expect(await listSessions(reach(scene))).toMatchObject({ sessions: [{ id: other.id }] });
    await expect(removeSession({ ...reach(scene), id: session.id })).rejects.toMatchObject({
      name: "ClientError",
      code: "NotFound",
    });
  });

  it("succeeds if the answer to it is lost", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    const network = new Network(scene);
    network.losesNextReceipt = true;
    await scene.settles(removeSession({ ...reach(scene, network), id: session.id }));
    expect(network.requests).toEqual(["DELETE ", "DELETE "]);
    expect(await listSessions(reach(scene))).toMatchObject({ sessions: [] });
  });

  it("succeeds if a proxy has answered instead of the server, which has removed it", async () => {
    await using scene = new Scene(talker());
    const { session } = await scene.connect();
    const network = new Network(scene);
    const fetch: ServerOptions["fetch"] = async (url, init) => {
      const response = await network.fetch(url, init);
      return network.requests.length > 1 ? response : new Response("Bad Gateway", { status: 502 });
    };
    await scene.settles(removeSession({ ...reach(scene), fetch, id: session.id }));
    expect(network.requests).toEqual(["DELETE ", "DELETE "]);
    expect(await listSessions(reach(scene))).toMatchObject({ sessions: [] });
  });

  it("is not claimed for a session that has left the server after it has refused the first attempt", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    network.nextResponse = Response.json(
      { type: "about:blank", title: "Unavailable", status: 503, code: "unavailable" },
      { status: 503 },
    );
    const reported: unknown[] = [];
    const onError: ServerOptions["onError"] = ({ error }) => void reported.push(error);
    const removal = removeSession({ ...reach(scene, network), onError, id: "moved" });
    await expect(scene.settles(removal)).rejects.toMatchObject({ name: "ClientError", code: "NotFound" });
    expect(network.requests).toEqual(["DELETE "]);
    expect(reported).toMatchObject([{ code: "Unreachable" }]);
  });

  it("is not confused with a refusal", async () => {
    await using scene = new Scene(talker(), {
      authorize: () => ({ user: "ada", may: (action) => action !== "remove" }),
    });
    const { session } = await scene.connect();
    await expect(removeSession({ ...reach(scene), id: session.id })).rejects.toMatchObject({
      code: "Forbidden",
    });
    await session.ask("One");
    expect(stateOf(session)).toBe(await scene.stateOf(session.id));
  });
});

describe("the options of requests about sessions", () => {
  it.each([
    [() => listSessions({} as ListOptions), /url of listSessions must be a string/],
    [() => listSessions({ url: "http://localhost", limit: 0 }), /limit must be a positive integer, got 0/],
    [() => listSessions({ url: "nonsense" }), /url of listSessions is not an address: "nonsense"/],
    [
      () => forkSession({ url: "http://localhost" } as ForkOptions),
      /forkSession needs id, the id of a session/,
    ],
    [() => removeSession({ url: "http://localhost", id: "" }), /removeSession needs id, the id of a session/],
    [
      () => removeSession({ url: "http://localhost", id: "a", at: 1 } as RemoveOptions),
      /Unknown option "at" of removeSession/,
    ],
    [
      () => removeSession({ url: "http://localhost", id: "a", headers: { "x y": "1" } }),
      /headers of removeSession has the name "x y"/,
    ],
  ])("are checked: %s", async (call, message) => {
    await expect(call()).rejects.toMatchObject({
      name: "BuildError",
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, string, (options: ServerOptions) => Promise<unknown>]>([
    ["listSessions", "a list of sessions", listSessions],
    ["forkSession", "a session", (options) => forkSession({ ...options, id: "a" })],
    ["removeSession", "the version of its protocol", (options) => removeSession({ ...options, id: "a" })],
  ])("must be those of a server of this protocol: %s", async (_, missing, call) => {
    await using scene = new Scene(talker());
    const others = [{ status: "ok" }, {}, null, "1.0", { id: 5, sessions: {} }].map((body) =>
      Response.json(body),
    );
    for (const answer of [...others, new Response(null, { status: 204 })]) {
      const fetch = async (): Promise<Response> => answer;
      await expect(call({ ...reach(scene), fetch })).rejects.toMatchObject({
        code: "Unsupported",
        message: expect.stringContaining(`answers without ${missing}: it is not a server of @moora/server`),
      });
    }
  });
});
