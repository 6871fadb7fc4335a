import { chainStart, memoryLog, recordAfter, type EventLog } from "@moora/event-log";
import { seededRandom, withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { printErrorsBut } from "@moora/testbed/durable/errors";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  identityOf,
  moveSession,
  openSession,
  pruneSessions,
  readHeader,
  readSession,
  removeSession,
  stateAt,
  verifySession,
  type Agent,
  type DurableSession,
} from "../../src/index.ts";
import { callsThenAnswers, turns } from "../restarts/restarts.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

const day = 86_400_000;

/** An agent that has its sub-agent do the work, whose sub-agent does it. */
function bossOf({ log, clock }: Pick<World, "log" | "clock">): Agent {
  const llm = (): MockLlmCaller => new MockLlmCaller(() => answers("Done."));
  const delegating = (name: string): MockLlmCaller =>
    callsThenAnswers({ name, arguments: { task: "Do it." } });
  const worker = defineAgent({ name: "worker", llm: llm() });
  const lead = defineAgent({
    name: "lead",
    llm: delegating("worker"),
    tools: [agentTool(worker, { name: "worker", description: "Works.", log, clock })],
  });
  return defineAgent({
    name: "boss",
    llm: delegating("lead"),
    tools: [agentTool(lead, { name: "lead", description: "Leads.", log, clock })],
  });
}

const plain = defineAgent({ name: "plain", llm: new MockLlmCaller(() => answers("Hello.")) });

interface World {
  readonly log: EventLog;
  readonly clock: TestClock;
  open(id: string, agent?: Agent, access?: "run" | "post"): Promise<DurableSession>;
  /** Runs one loop of a session and closes it. */
  record(id: string, agent?: Agent): Promise<void>;
  ids(): Promise<readonly string[]>;
}

function worldOn(log: EventLog): World {
  const clock = new TestClock(10 * day);
  const open: World["open"] = async (id, agent = plain, access = "run") =>
    await openSession(agent, {
      log,
      id,
      clock,
      access,
      owner: `host of ${id}`,
      isOwnerGone: () => false,
      onError: printErrorsBut("LogRemoved"),
    });
  return {
    log,
    clock,
    open,
    async record(id, agent) {
      await using session = await open(id, agent);
      await session.ask("Hello?");
    },
    ids: async () => (await log.list()).map(({ id }) => id.replace(/-.*/, "")),
  };
}

/** Creates a session that the session "ada" calls. */
async function createChild({ log }: World): Promise<void> {
  const text = (await log.open("ada"))?.header ?? "";
  const caller = `${identityOf("ada", await readHeader(log, "ada"))}/call_1`;
  await log.create("child", JSON.stringify({ ...JSON.parse(text), caller }));
}

describe.each(storeNames)("sessions in %s", (store) => {
  it("are removed with their sub-agents, at any depth, and no others", async () => {
    await using storage = storageOf(store);
    const world = worldOn(storage.open());
    await world.record("ada", bossOf(world));
    await world.record("bob", bossOf(world));
    const removed = await removeSession(world.log, "ada");
    expect(removed.map((id) => id.replace(/-.*/, ""))).toEqual(["worker", "lead", "ada"]);
    expect(await world.ids()).toEqual(["bob", "lead", "worker"]);
    expect(await removeSession(world.log, "ada")).toEqual([]);
  });

  it("are archived with their sub-agents, can be read there, and are restored unchanged", async () => {
    await using storage = storageOf(store);
    const world = worldOn(storage.open());
    const archive = memoryLog();
    await world.record("ada", bossOf(world));
    await world.record("bob");
    const before = await readSession(world.log, "ada");
    const moved = await moveSession(world.log, "ada", archive, { clock: world.clock });
    expect(moved).toHaveLength(3);
    expect(await world.ids()).toEqual(["bob"]);
    expect(await readSession(archive, "ada")).toEqual(before);
    expect((await stateAt(archive, "ada")).state.messages.at(-1)?.content).toBe("done");
    for (const id of moved) expect(await verifySession(archive, id)).toMatchObject({ ok: true });
    expect(await moveSession(archive, "ada", world.log, { clock: world.clock })).toEqual(moved);
    expect(await archive.list()).toEqual([]);
    await using session = await world.open("ada", bossOf(world));
    expect((await session.ask("And now?")).text).toBe("done");
  });

  it("are not moved into the log that has them: through another handle, that has a session of the same id", async () => {
    await using storage = storageOf(store);
    const world = worldOn(storage.open());
    const { log, clock } = world;
    await world.record("ada");
    const other = store === "memory" ? log : storage.open();
    const same = { code: "InvalidOption", message: expect.stringContaining("is the log that has them") };
    await expect(moveSession(log, "ada", log, { clock })).rejects.toMatchObject(same);
    await expect(pruneSessions(log, { before: 20 * day, archive: log, clock })).rejects.toMatchObject(same);
    if (other !== log) {
      await expect(moveSession(log, "ada", other, { clock })).rejects.toMatchObject({ code: "LogExists" });
      const pruning = await pruneSessions(log, { before: 20 * day, archive: other, clock });
      expect(pruning.kept).toEqual([{ id: "ada", reason: "exists" }]);
    }
    expect(await world.ids()).toEqual(["ada"]);
    await world.record("ada");
  });

  it("are pruned when they are old, without those that a process runs", async () => {
    await using storage = storageOf(store);
    const world = worldOn(storage.open());
    const { log, clock } = world;
    await world.record("ada", bossOf(world));
    const running = await world.open("bob");
    clock.set(20 * day);
    await world.record("new");
    await running.refresh();
    const before = 15 * day;
    clock.set(10 * day + 1);
    const dry = await pruneSessions(log, { before, clock, dryRun: true });
    expect(dry).toMatchObject({ kept: [{ id: "bob", reason: "leased" }] });
    expect(dry.pruned).toHaveLength(3);
    expect(await world.ids()).toEqual(["ada", "bob", "lead", "new", "worker"]);
    expect(await pruneSessions(log, { before, clock })).toEqual(dry);
    expect(await world.ids()).toEqual(["bob", "new"]);
    await running.close();
    expect(await pruneSessions(log, { before, clock })).toEqual({
      pruned: ["bob"],
      kept: [],
      incomplete: [],
    });
  });
});

describe("pruning", () => {
  it("moves sessions to an archive, and keeps those that the caller wants", async () => {
    const world = worldOn(memoryLog());
    const archive = memoryLog();
    for (const id of ["ada", "bob", "eve"]) await world.record(id);
    await archive.create("eve", "{}");
    const report = await pruneSessions(world.log, {
      before: 11 * day,
      clock: world.clock,
      archive,
      keep: ({ id, header, updatedAt }) =>
        id === "bob" && header.agent.name === "plain" && updatedAt === 10 * day,
    });
    expect(report).toEqual({
      pruned: ["ada"],
      incomplete: [],
      kept: [
        { id: "bob", reason: "kept" },
        { id: "eve", reason: "exists" },
      ],
    });
    expect(await world.ids()).toEqual(["bob", "eve"]);
  });

  it("keeps a session with an open schedule until it is removed", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    const session = await world.open("ada");
    await session.schedule({ id: "later", at: 400 * day, message: "Renew." });
    await session.close();
    const options = { before: 11 * day, clock };
    const kept = [{ id: "ada", reason: "scheduled" }];
    expect(await pruneSessions(log, options)).toEqual({ pruned: [], incomplete: [], kept });
    expect(await pruneSessions(log, { ...options, archive: memoryLog() })).toMatchObject({ kept });
    const again = await world.open("ada");
    await again.unschedule("later");
    await again.close();
    expect((await pruneSessions(log, options)).pruned).toEqual(["ada"]);
  });

  it("never prunes a sub-agent while its caller is there, and prunes it alone when it is not", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    await world.record("ada", bossOf(world));
    clock.set(20 * day);
    await world.record("ada", bossOf(world));
    const before = 15 * day;
    expect(await pruneSessions(log, { before, clock })).toEqual({ pruned: [], kept: [], incomplete: [] });
    await log.remove("ada");
    expect((await pruneSessions(log, { before, clock })).pruned).toHaveLength(2);
  });

  it("keeps a family in which only a sub-agent has a new record", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    await world.record("ada");
    await createChild(world);
    clock.set(20 * day);
    const post = await world.open("child", plain, "post");
    await post.send("Wait.");
    await post.close();
    expect(await pruneSessions(log, { before: 15 * day, clock })).toEqual({
      pruned: [],
      kept: [],
      incomplete: [],
    });
    const times: number[] = [];
    const keep = ({ updatedAt }: { readonly updatedAt: number }): boolean => times.push(updatedAt) > 0;
    await pruneSessions(log, { before: 25 * day, clock, keep });
    expect(times).toEqual([20 * day]);
  });

  it("leaves a session to which something was posted meanwhile", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada");
    await using post = await world.open("ada", plain, "post");
    const report = await pruneSessions(world.log, {
      before: 11 * day,
      clock: world.clock,
      async keep() {
        await post.send("Wait.");
        return false;
      },
    });
    expect(report).toEqual({ pruned: [], kept: [{ id: "ada", reason: "changed" }], incomplete: [] });
    const { inputs } = await readSession(world.log, "ada");
    expect(inputs.at(-1)?.type).toBe("user-message-received");
  });

  it.each([false, true])(
    "removes a sub-agent without records, and keeps one that has got a record meanwhile: %s",
    async (isPosted) => {
      const world = worldOn(memoryLog());
      await world.record("ada");
      await createChild(world);
      const post = await world.open("child", plain, "post");
      const report = await pruneSessions(world.log, {
        before: 20 * day,
        clock: world.clock,
        async keep() {
          if (isPosted) await post.send("Wait.");
          return false;
        },
      });
      await post.close();
      expect(report).toEqual(
        isPosted
          ? { pruned: [], kept: [{ id: "ada", reason: "changed" }], incomplete: [] }
          : { pruned: ["child", "ada"], kept: [], incomplete: [] },
      );
      expect(await world.ids()).toEqual(isPosted ? ["ada", "child"] : []);
    },
  );

  it("reports a session that it cannot read, and skips one without records", async () => {
    const { log, clock } = worldOn(memoryLog());
    await log.create("empty", "{}");
    const broken = await log.create("broken", "not a header");
    const body = JSON.stringify({ type: "re-act-cancelled", timestamp: 1 });
    await broken.append(0, [recordAfter(chainStart(broken.header), body, "changed")]);
    const unreadable = { pruned: [], kept: [{ id: "broken", reason: "unreadable" }], incomplete: [] };
    expect(await pruneSessions(log, { before: day, clock })).toEqual(unreadable);
    expect(await removeSession(log, "broken")).toEqual(["broken"]);
  });

  it("refuses options that are missing or of the wrong form", async () => {
    const refused = { name: "SessionError", code: "InvalidOption" };
    await expect(pruneSessions(memoryLog(), { before: Number.NaN })).rejects.toMatchObject(refused);
    await expect(pruneSessions(memoryLog(), JSON.parse("{}"))).rejects.toMatchObject(refused);
    await expect(pruneSessions(memoryLog(), JSON.parse('{"before":1,"age":2}'))).rejects.toMatchObject(
      refused,
    );
  });
});

/** Creates the session of a sub-agent of "ada" without records. Returns the key of its call. */
async function createSub(log: EventLog): Promise<string> {
  const header = await readHeader(log, "ada");
  const caller = `${identityOf("ada", header)}/call_1`;
  await log.create("sub", JSON.stringify({ ...header, incarnation: "other", caller }));
  return caller;
}

describe("a move to another log", () => {
  it("keeps a message that is posted while the records are copied", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada");
    const post = await world.open("ada", plain, "post");
    const target = memoryLog();
    let posted = false;
    const slow = withSessions(target, (session) => ({
      async append(seq, records) {
        await session.append(seq, records);
        if (posted) return;
        posted = true;
        await post.send("Wait.");
      },
      ...(session.removeAt === undefined ? {} : { removeAt: session.removeAt.bind(session) }),
    }));
    await moveSession(world.log, "ada", slow, { clock: world.clock });
    const { inputs } = await readSession(target, "ada");
    expect(inputs.at(-1)).toMatchObject({ type: "user-message-received" });
    expect((await stateAt(target, "ada")).state.messages.at(-1)?.content).toBe("Wait.");
    await expect(post.send("Later.")).rejects.toMatchObject({ code: "LogRemoved" });
    await post.close().catch(() => undefined);
  });

  it("is completed after an interruption at any append", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada", bossOf(world));
    const whole = await readSession(world.log, "ada");
    const target = memoryLog();
    let left = 2;
    const failing = onAppend(target, () => {
      left -= 1;
      if (left === 0) throw new Error("The disk is full.");
    });
    await expect(moveSession(world.log, "ada", failing, { clock: world.clock })).rejects.toThrow("full");
    expect(await readSession(world.log, "ada")).toEqual(whole);
    await moveSession(world.log, "ada", target, { clock: world.clock });
    expect(await readSession(target, "ada")).toEqual(whole);
    expect(await world.log.list()).toEqual([]);
    expect(await target.list()).toHaveLength(3);
  });

  it("is refused while a process runs the session, and for one that is not there or has no records", async () => {
    const world = worldOn(memoryLog());
    const session = await world.open("ada");
    const move = async (id: string): Promise<unknown> =>
      await moveSession(world.log, id, memoryLog(), { clock: world.clock });
    await expect(move("ada")).rejects.toMatchObject({ code: "SessionBusy", owner: "host of ada" });
    await session.close();
    await expect(move("eve")).rejects.toMatchObject({ code: "SessionUnknown" });
    await world.log.create("empty", (await world.log.open("ada"))?.header ?? "");
    await expect(move("empty")).rejects.toMatchObject({ code: "InvalidOption" });
  });

  it("removes a sub-agent without records, which may run in the archive and be restored from it", async () => {
    const { log, clock, record } = worldOn(memoryLog());
    await record("ada");
    const caller = await createSub(log);
    const archive = memoryLog();
    for (const dryRun of [true, false]) {
      const report = await pruneSessions(log, { before: clock.now() + 1, archive, clock, dryRun });
      expect(report).toEqual({ pruned: ["ada"], kept: [], incomplete: [] });
    }
    expect((await archive.list()).map(({ id }) => id)).toEqual(["ada"]);
    expect(await log.list()).toEqual([]);
    await (await openSession(plain, { log: archive, id: "sub", clock, caller })).close();
    expect(await moveSession(archive, "ada", log, { clock })).toEqual(["sub", "ada"]);
    expect((await log.list()).map(({ id }) => id)).toEqual(["ada", "sub"]);
  });

  it("takes a sub-agent that got its first record meanwhile, and is refused where a process runs it", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    await world.record("ada");
    await createSub(log);
    const archive = memoryLog();
    const sub = await log.open("sub");
    await sub?.lease({ owner: "other", now: clock.now(), ttlMs: day });
    await expect(moveSession(log, "ada", archive, { clock })).rejects.toMatchObject({ owner: "other" });
    await sub?.release("other");
    expect(await world.ids()).toEqual(["ada", "sub"]);
    await using post = await world.open("sub", plain, "post");
    const posting: EventLog = {
      ...archive,
      async open(id) {
        if (post.info().seq === 0) await post.send("Wait.");
        return await archive.open(id);
      },
    };
    expect(await moveSession(log, "ada", posting, { clock })).toEqual(["sub", "ada"]);
    expect((await stateAt(archive, "sub")).state.messages.at(-1)?.content).toBe("Wait.");
  });

  it("is refused if the other log has another session of the id, and changes neither", async () => {
    const world = worldOn(memoryLog());
    const other = worldOn(memoryLog());
    await world.record("ada");
    await other.record("ada");
    const before = await readSession(other.log, "ada");
    await expect(moveSession(world.log, "ada", other.log, { clock: world.clock })).rejects.toMatchObject({
      code: "LogExists",
    });
    expect(await readSession(other.log, "ada")).toEqual(before);
    expect(await world.ids()).toEqual(["ada"]);
  });

  it("that is refused leaves the sub-agents with their caller", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    const archive = memoryLog();
    await world.record("ada", bossOf(world));
    const moved = await moveSession(log, "ada", archive, { clock });
    await world.record("ada");
    await expect(moveSession(archive, "ada", log, { clock })).rejects.toMatchObject({ code: "LogExists" });
    expect(await world.ids()).toEqual(["ada"]);
    expect((await archive.list()).map(({ id }) => id).toSorted()).toEqual(moved.toSorted());
    await removeSession(log, "ada");
    expect(await moveSession(archive, "ada", log, { clock })).toEqual(moved);
    expect(await world.ids()).toEqual(["ada", "lead", "worker"]);
  });

  it("adds no session of the family where the caller's id is taken at the same time", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada", bossOf(world));
    const before = await world.log.list();
    const target = memoryLog();
    const racing: EventLog = {
      ...target,
      async create(id, header, claim) {
        if ((await target.list()).length === 0) await target.create("ada", "{}");
        return await target.create(id, header, claim);
      },
    };
    const move = moveSession(world.log, "ada", racing, { clock: world.clock });
    await expect(move).rejects.toMatchObject({ code: "LogExists" });
    expect(await target.list()).toMatchObject([{ id: "ada", header: "{}" }]);
    expect(await world.log.list()).toEqual(before);
  });

  it("removes none of a family whose copy failed", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada", bossOf(world));
    const before = await world.log.list();
    const failing = onAppend(memoryLog(), async ({ id }) => {
      if (id === "ada") throw new Error("The disk is full.");
    });
    const move = moveSession(world.log, "ada", failing, { clock: world.clock });
    await expect(move).rejects.toThrow("full");
    expect(await world.log.list()).toEqual(before);
  });

  it("is refused for a sub-agent without its caller, and takes it back to its caller", async () => {
    const world = worldOn(memoryLog());
    const { log, clock } = world;
    const archive = memoryLog();
    await world.record("ada", bossOf(world));
    const ids = (await log.list()).map(({ id }) => id);
    for (const id of ids.filter((each) => each !== "ada")) {
      await expect(moveSession(log, id, archive, { clock })).rejects.toMatchObject({
        code: "InvalidOption",
        message: expect.stringMatching(/sub-agent of "(?:ada|lead-.*)"\. Move/),
      });
    }
    expect(await archive.list()).toEqual([]);
    const header = (await log.open("ada"))?.header ?? "";
    await moveSession(log, "ada", archive, { clock });
    await log.create("ada", header);
    const lead = ids.find((id) => id.startsWith("lead-")) ?? "";
    await archive.remove("ada");
    expect(await moveSession(archive, lead, log, { clock })).toHaveLength(2);
  });

  it("is refused for a log whose sessions have no removeAt", async () => {
    const world = worldOn(memoryLog());
    await world.record("ada");
    const old = withSessions(world.log, () => ({}));
    await expect(moveSession(old, "ada", memoryLog(), { clock: world.clock })).rejects.toMatchObject({
      code: "InvalidOption",
      message: expect.stringContaining("removeAt"),
    });
  });
});

describe("a family", () => {
  const idParts = ["a", "b", "a/b", "a/b/c", "ä~"];

  /** A header of a session that is called by another one, or by none. */
  const headerWith = (incarnation: string | undefined, caller: string | undefined): string =>
    JSON.stringify({
      format: 1,
      agent: { name: "x", version: "1" },
      config: {},
      tools: {},
      incarnation,
      caller,
    });

  it("is the same in a log with an index of callers as in one without, for ids with slashes", async () => {
    const random = seededRandom(7);
    const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
    let removals = 0;
    for (let round = 0; round < 150; round += 1) {
      const indexed = memoryLog();
      const plainLog = memoryLog();
      const identities: string[] = [];
      for (const id of idParts.filter(() => random() < 0.8)) {
        const incarnation = pick([undefined, "b", "i"]);
        const base = pick([...identities, undefined]);
        const caller = base === undefined ? undefined : `${base}/${pick(["1", "b/1", "c/i/2"])}`;
        identities.push(incarnation === undefined ? id : `${id}/${incarnation}`);
        for (const log of [indexed, plainLog]) await log.create(id, headerWith(incarnation, caller));
      }
      const id = pick(idParts) ?? "a";
      const removed = await removeSession(indexed, id);
      expect(
        await removeSession(
          withSessions(plainLog, () => ({})),
          id,
        ),
      ).toEqual(removed);
      if (removed.length > 1) removals += 1;
    }
    expect(removals).toBeGreaterThan(20);
  });

  it("is removed without a list of all sessions, where the log has an index", async () => {
    const log = memoryLog();
    const world = worldOn(log);
    await world.record("ada", bossOf(world));
    const unlisted: EventLog = {
      ...log,
      list: () => {
        throw new Error("The list was read.");
      },
    };
    expect(await removeSession(unlisted, "ada")).toHaveLength(3);
    expect(await log.list()).toEqual([]);
  });
});

describe("pruning without a list of all sessions", () => {
  const header = (caller?: string): string =>
    JSON.stringify({ format: 1, agent: { name: "x", version: "1" }, config: {}, tools: {}, caller });

  /** Creates a session with one record of long ago. */
  async function createIn(log: EventLog, id: string, caller?: string): Promise<void> {
    const session = await log.create(id, header(caller));
    const body = JSON.stringify({ type: "re-act-cancelled", timestamp: 1 });
    await session.append(0, [recordAfter(chainStart(session.header), body, "changed")]);
  }

  it("reads page after page, and prunes what a log without pages prunes", async () => {
    const random = seededRandom(11);
    const clock = new TestClock(day);
    const paged = memoryLog();
    const listed = memoryLog();
    const ids = Array.from({ length: 450 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    for (const id of ids) {
      const other = ids[Math.floor(random() * ids.length)];
      const caller = random() < 0.5 ? `${other}/call_1` : undefined;
      for (const log of [paged, listed]) await createIn(log, id, caller);
    }
    const pages: number[] = [];
    const unlisted: EventLog = {
      ...paged,
      list: () => {
        throw new Error("The list was read.");
      },
      async page(query) {
        const page = (await paged.page?.(query)) ?? [];
        pages.push(page.length);
        return page;
      },
    };
    const unpaged = withSessions(listed, (session) => ({
      removeAt: (seq) => session.removeAt?.(seq) ?? false,
    }));
    const options = { before: day, clock };
    const dry = await pruneSessions(unlisted, { ...options, dryRun: true });
    // Once for incomplete sessions, and once for old ones.
    expect(pages).toEqual([200, 200, 50, 200, 200, 50]);
    expect(await pruneSessions(unpaged, { ...options, dryRun: true })).toEqual(dry);
    expect(await pruneSessions(unlisted, options)).toEqual(dry);
    expect(await pruneSessions(unpaged, options)).toEqual(dry);
    expect(dry.pruned.length).toBeGreaterThan(300);
    expect(await paged.list()).toEqual(await listed.list());
  });
});

describe("the session of a sub-agent", () => {
  it("names the call that it was opened for", async () => {
    const log = memoryLog();
    const world = worldOn(log);
    await world.record("ada", bossOf(world));
    await turns();
    const lead = (await log.list()).find(({ id }) => id.startsWith("lead-"));
    const { caller } = await readHeader(log, lead?.id ?? "");
    expect(caller).toMatch(/^ada\/incarnation_.*\/call_1$/);
  });
});
