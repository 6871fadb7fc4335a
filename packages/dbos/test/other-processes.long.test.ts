import { openSession, releaseEngineLease, sessionOwner, verifySession } from "@moora/agent";
import type { DueQuery, EventLog } from "@moora/event-log";
import { describe, expect, it, vi } from "vitest";
import { Scene as Servers } from "@moora/testbed/server/scene";
import { servedAgent } from "./server-scene.ts";
import { isDone, message, Scene } from "./support.ts";

/** A server on the log of the sessions itself, with a worker that looks all the time, and what they have run. */
function serveLog(log: EventLog): {
  readonly servers: Servers;
  readonly used: string[];
  readonly looked: () => Promise<void>;
} {
  const used: string[] = [];
  let looks = 0;
  const counted = new Proxy(log, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "due") return typeof value === "function" ? value.bind(target) : value;
      return async (query: DueQuery) => {
        const found = await target.due?.(query);
        looks += 1;
        return found;
      };
    },
  });
  const servers = new Servers(servedAgent(used), { log: counted, worker: { pollMs: 20 }, authorize: null });
  /** Resolves when the worker has looked for due sessions, and with what it found, several times from now on. */
  const looked = async (): Promise<void> => {
    const before = looks;
    await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 5), { timeout: 60_000 });
  };
  return { servers, used, looked };
}

describe("a server with a worker on the log of sessions that DBOS runs", () => {
  it("shows them and refuses posts, also while no process with DBOS runs, and another one takes them over", async () => {
    await using scene = await Scene.start();
    const { servers, used, looked } = serveLog(scene.log);
    const host = await scene.launch({ takesOver: true, holds: true });
    await host.post("ada", message("begun begun begun"));
    await scene.until("ada", () => scene.runs("ada").length === 3);
    const client = servers.as("ada");
    const shown = await client.get("/sessions/ada");
    expect(shown.body).toMatchObject({
      agent: "batch",
      state: { reActContext: { control: { type: "ParallelActing" } } },
    });
    const refused = await client.post("/sessions/ada/messages", { content: "Hello" });
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { code: "refused", detail: expect.stringContaining("DBOS") },
    ]);
    await looked();
    await host.kill();
    expect((await client.post("/sessions/ada/cancel")).status).toBe(422);
    await looked();
    await scene.launch({ executor: "two", takesOver: true });
    const state = await scene.until("ada", isDone);
    await looked();
    const outcomes = Object.values(state.toolCalls).map(({ result }) => result?.isSuccess);
    expect(outcomes).toEqual([true, true, false]);
    expect(used).toEqual([]);
    expect(state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(await verifySession(scene.log, "ada")).toMatchObject({ ok: true });
    await servers.server.close();
  });

  it("runs those of its own, to which a host does not post until it has closed them", async () => {
    await using scene = await Scene.start();
    const { servers, used } = serveLog(scene.log);
    const id = await servers.as("ada").create("batch");
    const host = await scene.launch();
    const message1 = { type: "post", id, input: message("one two three") } as const;
    expect(await host.send(message1)).toBe("SessionError SessionBusy");
    expect(await host.send({ type: "read", id })).toBe("SessionError SessionBusy");
    await servers.server.close();
    expect(await host.post(id, message("one two three"))).toBe(true);
    await scene.until(id, isDone);
    expect(used).toEqual([]);
  });
});

describe("a session on DBOS", () => {
  it("is refused to a process that would run it, and one that had no lease gets it when a process of the host opens it", async () => {
    await using scene = await Scene.start();
    const host = await scene.launch();
    await host.post("ada", message("one two three"));
    await scene.until("ada", isDone);
    const run = () => openSession(servedAgent([]), { log: scene.log, id: "ada" });
    const busy = expect.objectContaining({ code: "SessionBusy", owner: "DBOS" });
    await expect(run()).rejects.toEqual(busy);
    // As a host of before the leases has left it.
    expect(await releaseEngineLease(scene.log, "ada")).toBe(true);
    expect(await sessionOwner(scene.log, "ada")).toBeUndefined();
    const next = await scene.launch({ executor: "two" });
    expect(await next.send({ type: "read", id: "ada" })).toBe("Done");
    expect(await sessionOwner(scene.log, "ada")).toBe("DBOS");
    await expect(run()).rejects.toEqual(busy);
  });
});
