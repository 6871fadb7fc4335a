import { answers } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import {
  connectSession,
  forkSession,
  listSessions,
  removeSession,
  type ServerOptions,
} from "../src/index.ts";
import { agentOf, Network, reach, Scene } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));
const never = async <Value>(): Promise<Value> => await new Promise<Value>(() => undefined);

const calls: readonly [string, (options: ServerOptions) => Promise<unknown>][] = [
  ["connectSession", (options) => connectSession({ ...options, id: "a" })],
  ["listSessions", listSessions],
  ["forkSession", (options) => forkSession({ ...options, id: "a" })],
  ["removeSession", (options) => removeSession({ ...options, id: "a" })],
];

/** A body that never ends. */
const endless = (): Response => new Response(new ReadableStream());

const hanging: readonly [string, Partial<ServerOptions>][] = [
  ["headers", { headers: () => never() }],
  ["fetch", { fetch: () => never() }],
  ["the body of a response", { fetch: async () => endless() }],
];

describe("a request whose parts never end and ignore the signal", () => {
  const cases = calls.flatMap(([name, call]) => hanging.map(([what, part]) => ({ name, call, what, part })));

  it.each(cases)("is given up at the abort of the signal: $name, $what", async ({ call, part }) => {
    await using scene = new Scene(talker());
    const giveUp = new AbortController();
    const onError = vi.fn();
    const called = call({ ...reach(scene), ...part, onError, signal: giveUp.signal });
    giveUp.abort(new Error("The user has left."));
    await expect(called).rejects.toThrow("The user has left.");
    expect(onError).not.toHaveBeenCalled();
    expect(scene.clock.waiting).toBe(0);
  });

  it.each(cases)("is repeated after requestTimeoutMs: $name, $what", async ({ call, part }) => {
    await using scene = new Scene(talker());
    const giveUp = new AbortController();
    const onError = vi.fn();
    const called = call({
      ...reach(scene),
      ...part,
      onError,
      requestTimeoutMs: 1_000,
      signal: giveUp.signal,
    });
    await scene.clock.advanceAsync(1_000);
    await untilPasses(() =>
      expect(onError.mock.calls).toMatchObject([
        [{ error: { code: "Unreachable", cause: new Error("The server did not answer.") } }],
      ]),
    );
    giveUp.abort(new Error("The user has left."));
    await expect(called).rejects.toThrow("The user has left.");
  });
});

describe("headers that come after their request was given up", () => {
  it("send nothing", async () => {
    await using scene = new Scene(talker());
    const network = new Network(scene);
    const headers = Promise.withResolvers<Record<string, string>>();
    const giveUp = new AbortController();
    const listing = listSessions({
      ...reach(scene, network),
      headers: () => headers.promise,
      signal: giveUp.signal,
    });
    giveUp.abort(new Error("The user has left."));
    await expect(listing).rejects.toThrow("The user has left.");
    headers.resolve({});
    expect(await listSessions(reach(scene))).toEqual({ sessions: [], next: null });
    expect(network.attempts).toEqual([]);
  });
});

describe("a response that comes after its request was given up", () => {
  it("is closed", async () => {
    await using scene = new Scene(talker());
    const response = Promise.withResolvers<Response>();
    const giveUp = new AbortController();
    const fetch = () => response.promise;
    const listing = listSessions({ ...reach(scene), fetch, signal: giveUp.signal });
    giveUp.abort(new Error("The user has left."));
    await expect(listing).rejects.toThrow("The user has left.");
    const cancel = vi.fn();
    response.resolve(new Response(new ReadableStream({ cancel })));
    await untilPasses(() => expect(cancel).toHaveBeenCalledOnce());
  });
});

describe("a session whose function of headers never returns", () => {
  it("sends its posts when it returns again", async () => {
    await using scene = new Scene(talker());
    let isStuck = false;
    const { session } = await scene.connect({
      headers: async () => (isStuck ? await never() : {}),
      requestTimeoutMs: 1_000,
    });
    isStuck = true;
    const run = session.ask("One");
    await scene.clock.advanceAsync(1_000);
    isStuck = false;
    expect((await scene.settles(run)).answer).toBe("Yes.");
  });
});
