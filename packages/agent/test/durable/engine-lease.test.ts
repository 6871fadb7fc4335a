import { LogError, memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  moveSession,
  openSession,
  openSharedSession,
  pruneSessions,
  readHeader,
  releaseEngineLease,
  removeSession,
  sessionOwner,
  userMessage,
  type OpenOptions,
  type SharedSessionOptions,
} from "../../src/index.ts";

const agent = defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("Hello.")) });

const coded = (code: string, owner = "Engine"): unknown =>
  expect.objectContaining({ name: "SessionError", code, owner });

/** A log, and how its sessions are opened. */
function sceneOf(log: EventLog = memoryLog()) {
  const clock = new TestClock();
  const base = { log, id: "ada", clock };
  return {
    log,
    clock,
    run: (options: Partial<OpenOptions> = {}) => openSession(agent, { ...base, ...options }),
    share: (options: Partial<SharedSessionOptions> = {}) =>
      openSharedSession(agent, { ...base, engine: "Engine", ...options }),
  };
}

/** The holder of the lease of this process, as it would be if the process had ended. */
async function endedHolder(log: EventLog): Promise<string> {
  const lease = await (await log.open("ada"))?.currentLease();
  const [owner = "", fingerprint = "", id = ""] = (lease?.owner ?? "").split("#");
  const [pid = "", , machine = ""] = fingerprint.split("/");
  return [owner, `${pid}/1/${machine}`, id].join("#");
}

describe("a session that an engine runs", () => {
  it("is run by no process, also by one with the name of the engine, or to which its owner has ended", async () => {
    const { run, share, log, clock } = sceneOf();
    const session = await share();
    await session.append([userMessage("Hi")]);
    const busy = coded("SessionBusy");
    await expect(run()).rejects.toEqual(busy);
    await expect(run({ owner: "Engine" })).rejects.toEqual(busy);
    await expect(run({ isOwnerGone: () => true })).rejects.toEqual(busy);
    await expect(run({ waitMs: 60_000 }), "nothing to wait for").rejects.toEqual(busy);
    clock.advance(86_400_000 * 365);
    await expect(run()).rejects.toEqual(busy);
    expect(await sessionOwner(log, "ada", { clock, isOwnerGone: () => true })).toBe("Engine");
    expect(await log.due?.({ now: clock.now(), limit: 10 })).toEqual([]);
  });

  it("is shown to processes, whose posts are refused", async () => {
    const { run, share } = sceneOf();
    const shared = await share();
    await using session = await run({ access: "post" });
    await shared.append([userMessage("Hi", { messageId: "one" })]);
    await session.refresh();
    expect(session.current().messages).toHaveLength(1);
    await expect(session.dispatch(userMessage("Hello"))).rejects.toEqual(coded("RunByEngine"));
    expect((await shared.refresh()).messages).toHaveLength(1);
  });

  it("is shared by all processes of the engine, and refused to another engine", async () => {
    const { share } = sceneOf();
    const session = await share();
    const other = await share({ owner: "another" });
    await session.append([userMessage("Hi", { messageId: "one" })]);
    expect((await other.append([userMessage("Hello", { messageId: "two" })])).state.messages).toHaveLength(2);
    await expect(share({ engine: "Other" })).rejects.toEqual(coded("SessionBusy"));
    await expect(share({ engine: "" })).rejects.toMatchObject({ name: "BuildError" });
  });

  it("is one that had no lease before, but not one that a process runs", async () => {
    const { run, share, log, clock } = sceneOf();
    await openSharedSession(agent, { log, id: "older", clock });
    await (await run({ id: "older" })).close();
    await share({ id: "older" });
    await expect(run({ id: "older" })).rejects.toEqual(coded("SessionBusy"));
    const running = await run({ owner: "server" });
    await expect(share()).rejects.toEqual(coded("SessionBusy", "server"));
    await running.close();
    await share();
  });

  it("takes the lease of a process that has ended in one step, after one look at it", async () => {
    const memory = memoryLog();
    const { run, clock } = sceneOf(memory);
    const running = await run();
    const dead = await endedHolder(memory);
    await running.close();
    await (await memory.open("ada"))?.lease({ owner: dead, now: clock.now(), ttlMs: 1e9 });
    let looks = 0;
    const log = withSessions(memory, (session) => ({
      currentLease: () => {
        looks += 1;
        return session.currentLease();
      },
      release: () => {
        throw new Error("Another process could take the lease now.");
      },
    }));
    await sceneOf(log).share();
    expect(looks).toBe(1);
    await expect(run()).rejects.toEqual(coded("SessionBusy"));
  });

  it("is created with the lease in one step", async () => {
    const leases: unknown[] = [];
    const log = memoryLog();
    const { share } = sceneOf(
      new Proxy(log, {
        get: (target, name) =>
          name === "create"
            ? async (...about: Parameters<typeof log.create>) => {
                const session = await target.create(...about);
                leases.push(await session.currentLease());
                return session;
              }
            : Reflect.get(target, name, target),
      }),
    );
    await share();
    expect(leases).toEqual([await (await log.open("ada"))?.currentLease()]);
    expect(leases).not.toEqual([undefined]);
  });

  it("is run by processes when the lease is given back", async () => {
    const { run, share, log } = sceneOf();
    expect(await releaseEngineLease(log, "ada")).toBe(false);
    await share();
    expect(await releaseEngineLease(log, "ada")).toBe(true);
    const session = await run();
    expect(await releaseEngineLease(log, "ada")).toBe(false);
    await session.close();
  });
});

describe("the retention of sessions that an engine runs", () => {
  it("removes and prunes them", async () => {
    const { share, log, clock } = sceneOf();
    for (const id of ["ada", "bob"]) await share({ id });
    expect(await removeSession(log, "bob")).toEqual(["bob"]);
    const before = clock.now() + 1;
    expect(await pruneSessions(log, { before, clock, dryRun: true })).toEqual({
      pruned: ["ada"],
      kept: [],
      incomplete: [],
    });
    expect(await pruneSessions(log, { before, clock })).toEqual({
      pruned: ["ada"],
      kept: [],
      incomplete: [],
    });
  });

  it("keeps their leases if it removes nothing", async () => {
    const { share, run, log, clock } = sceneOf();
    const shared = await share();
    await shared.append([userMessage("Hi", { timestamp: clock.now() })]);
    const changing = withSessions(log, (session) => ({
      removeAt: async (seq) => {
        await shared.append([userMessage("Hello", { timestamp: clock.now() })]);
        return (await session.removeAt?.(seq)) === true;
      },
    }));
    const report = await pruneSessions(changing, { before: clock.now() + 1, clock });
    expect(report).toEqual({ pruned: [], kept: [{ id: "ada", reason: "changed" }], incomplete: [] });
    await expect(run()).rejects.toEqual(coded("SessionBusy"));
  });

  it("moves them to another log, where processes may run them", async () => {
    const { share, run, log, clock } = sceneOf();
    await (await share()).append([userMessage("Hi")]);
    const archive = memoryLog();
    expect(await moveSession(log, "ada", archive, { clock })).toEqual(["ada"]);
    await (await run({ log: archive })).close();
  });

  it("moves no session to a log in which an engine runs a copy", async () => {
    const { share, log, clock } = sceneOf();
    await (await share()).append([userMessage("Hi")]);
    const original = await log.open("ada");
    const archive = memoryLog();
    const copy = await archive.create("ada", original?.header ?? "");
    await copy.append(0, (await original?.read()) ?? []);
    await sceneOf(archive).share({ engine: "Other" });
    await expect(moveSession(log, "ada", archive, { clock })).rejects.toMatchObject({ code: "LogExists" });
  });

  it("gives the lease back to the engine when a move fails", async () => {
    const memory = memoryLog();
    const { share, run, clock } = sceneOf(memory);
    await share();
    const log = withSessions(memory, (session) => ({
      lease: (claim) => {
        if (claim.owner.endsWith("/original")) throw new LogError("LogBusy", "Busy.");
        return session.lease(claim);
      },
      removeAt: async (seq) => (await session.removeAt?.(seq)) === true,
    }));
    await expect(moveSession(log, "ada", memoryLog(), { clock })).rejects.toMatchObject({ code: "LogBusy" });
    expect(await readHeader(memory, "ada")).toBeDefined();
    await expect(run()).rejects.toEqual(coded("SessionBusy"));
  });
});
