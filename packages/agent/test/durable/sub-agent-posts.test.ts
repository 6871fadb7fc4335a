import { memoryLog, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  defineData,
  openSession,
  stateAt,
  userMessage,
  type Agent,
  type DurableSession,
} from "../../src/index.ts";
import { toolOf } from "../support.ts";

const accepted = { status: "accepted" };
const refused = { status: "ignored", reason: "call-ended" };

const addNote = (draft: unknown): void => {
  if (typeof draft === "object" && draft !== null) Object.assign(draft, { note: "soon" });
};

/** A log with a caller, whose sub-agent does what a script says. */
class Family {
  readonly log: EventLog = withSessions(memoryLog(), (session) => ({
    currentLease: async () => {
      await this.beforeLease();
      return await session.currentLease();
    },
    release: async (owner) => {
      if (!this.isKilled) await session.release(owner);
    },
  }));
  readonly clock = new TestClock();
  readonly held = Promise.withResolvers<string>();
  /** Called before a process reads the lease of a session. */
  beforeLease: () => void | Promise<void> = () => undefined;
  /** Whether the process ends without giving its leases back. */
  isKilled = false;
  readonly child: Agent;
  readonly caller: Agent;

  constructor(script: MockScript) {
    const data = defineData({ schema: { type: "object" }, initial: {} });
    const tools = [toolOf("work", () => this.held.promise)];
    this.child = defineAgent({ name: "child", llm: new MockLlmCaller(script), tools, data });
    const { log, clock } = this;
    const helper = agentTool(this.child, { name: "helper", description: "Helps.", log, clock });
    const llm = new MockLlmCaller([
      callsTools([{ name: "helper", arguments: { task: "Help." } }]),
      answers("Done."),
    ]);
    this.caller = defineAgent({ name: "caller", llm, tools: [helper] });
  }

  open(): Promise<DurableSession> {
    return openSession(this.caller, { log: this.log, id: "ada", clock: this.clock });
  }

  async childId(): Promise<string> {
    return (await this.log.list()).find(({ id }) => id.startsWith("helper-"))?.id ?? "";
  }

  /** Another process at the session of the sub-agent. */
  async openChild(access: "run" | "post", isOwnerGone = () => false): Promise<DurableSession> {
    return await openSession(this.child, {
      log: this.log,
      id: await this.childId(),
      clock: this.clock,
      access,
      isOwnerGone,
    });
  }

  async messages(): Promise<readonly string[]> {
    const { state } = await stateAt(this.log, await this.childId());
    return state.messages.map(({ content }) => content);
  }

  /** The messages of the user in the session of the sub-agent. */
  async users(): Promise<readonly string[]> {
    const { state } = await stateAt(this.log, await this.childId());
    return state.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
  }
}

describe("a post to the session of a sub-agent", () => {
  it("is refused after its task has ended, in every form", async () => {
    const family = new Family([answers("Helped."), answers("More.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using poster = await family.openChild("post");
    expect(await poster.send("And now?")).toEqual(refused);
    expect(await poster.dispatch(userMessage("And now?"))).toEqual(refused);
    expect(await poster.dispatch(() => userMessage("And now?"))).toEqual(refused);
    await expect(poster.ask("And now?")).rejects.toMatchObject({ kind: "AgentFailed", reason: "call-ended" });
    expect(await poster.retry()).toEqual({ status: "ignored", reason: "not-failed" });
    expect(await family.messages()).toEqual(["Help.", "Helped."]);
  });

  it("is refused after its task has failed, and so is a retry", async () => {
    const family = new Family([fails("auth"), answers("More.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using poster = await family.openChild("post");
    expect(await poster.send("And now?")).toEqual(refused);
    expect(await poster.retry()).toEqual(refused);
  });

  it("is refused after its task has ended, while the lease of a process that has ended lasts", async () => {
    const family = new Family([answers("Helped."), answers("More.")]);
    family.isKilled = true;
    const session = await family.open();
    await session.ask("Go.");
    await session.close();
    await using poster = await family.openChild("post");
    expect(await poster.send("And now?")).toEqual(refused);
    const log = await family.log.open(await family.childId());
    const lease = await log?.currentLease();
    expect(lease?.until).toBeGreaterThan(family.clock.now());
    // A program that has opened the session itself, and has ended.
    family.isKilled = false;
    await log?.release(lease?.owner ?? "");
    await log?.lease({ owner: "program##1", now: family.clock.now(), ttlMs: 30_000 });
    await using knows = await family.openChild("post", () => true);
    expect(await knows.send("And now?")).toEqual(refused);
    expect(await poster.send("And now?")).toMatchObject(accepted);
  });

  it("reaches it while its task runs, and is recognized when it is repeated later", async () => {
    const family = new Family([callsTools([{ name: "work" }]), answers("Helped, too.")]);
    await using session = await family.open();
    const works = Promise.withResolvers<void>();
    session.onEvent((event) => {
      if (event.type === "SubAgentEvent" && event.event.type === "ToolCallStarted") works.resolve();
    });
    const run = session.ask("Go.");
    await works.promise;
    await using poster = await family.openChild("post");
    const message = userMessage("This, too.", { messageId: "m1" });
    expect(await poster.dispatch(message)).toMatchObject({ status: "accepted" });
    family.held.resolve("worked");
    await run;
    expect(await family.messages()).toEqual(["Help.", "This, too.", "Helped, too."]);
    expect(await poster.dispatch(message)).toEqual({ status: "ignored", reason: "duplicate-id" });
    // This process may not have read yet that the task has ended.
    expect(await poster.send("And now?")).toEqual(refused);
  });

  it("is answered if a program runs the session itself", async () => {
    const family = new Family([answers("Helped."), answers("By post."), answers("Here.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using owner = await family.openChild("run");
    await using poster = await family.openChild("post");
    expect((await poster.ask("And now?")).text).toBe("By post.");
    expect((await owner.ask("And here?")).text).toBe("Here.");
  });

  it("is recorded after those that were made before it, also while one waits for the lease", async () => {
    const family = new Family(() => answers("Helped."));
    await using session = await family.open();
    await session.ask("Go.");
    await using owner = await family.openChild("run");
    await using poster = await family.openChild("post");
    const gate = Promise.withResolvers<void>();
    const reads: number[] = [];
    family.beforeLease = () => (reads.push(1) === 1 ? gate.promise : undefined);
    const posts = [
      poster.send("A"),
      poster.send("B"),
      poster.dispatch(() => userMessage("C")),
      poster.update(addNote),
    ];
    await untilPasses(() => expect(reads.length).toBeGreaterThan(0));
    for (let turns = 0; turns < 20; turns += 1) await turn();
    gate.resolve();
    const receipts = await Promise.all(posts);
    const seqs = receipts.map((receipt) => (receipt.status === "accepted" ? receipt.seq : 0));
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(seqs).not.toContain(0);
    expect(await family.users()).toEqual(["Help.", "A", "B", "C"]);
    await owner.settled();
  });

  it("that waits for the lease when its session is closed is rejected like every later call", async () => {
    const family = new Family([answers("Helped.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using owner = await family.openChild("run");
    const poster = await family.openChild("post");
    const errors: unknown[] = [];
    poster.onError((report) => void errors.push(report));
    const gate = Promise.withResolvers<void>();
    const isRead = Promise.withResolvers<void>();
    family.beforeLease = async () => {
      isRead.resolve();
      await gate.promise;
    };
    const posts = Promise.allSettled([
      poster.send("A"),
      poster.send("B"),
      poster.dispatch(() => userMessage("C")),
    ]);
    await isRead.promise;
    await poster.close();
    gate.resolve();
    const closed = { status: "rejected", reason: { kind: "Cancelled", reason: "SessionClosed" } };
    expect(await posts).toMatchObject([closed, closed, closed]);
    expect(errors).toEqual([]);
    expect(owner.current().messages.map(({ content }) => content)).toEqual(["Help.", "Helped."]);
  });

  it("reads the lease only for what starts a loop", async () => {
    const family = new Family(() => answers("Helped."));
    await using session = await family.open();
    await session.ask("Go.");
    await using owner = await family.openChild("run");
    await using poster = await family.openChild("post");
    family.beforeLease = () => {
      throw new Error("The lease cannot be read.");
    };
    await expect(poster.send("A")).rejects.toThrow("The lease cannot be read.");
    await expect(poster.dispatch(() => userMessage("B"))).rejects.toThrow("The lease cannot be read.");
    expect(await poster.cancel()).toMatchObject({ status: "ignored" });
    expect(await poster.dispatch(() => ({ type: "session-paused", timestamp: 1 }))).toMatchObject(accepted);
    expect(await poster.resume()).toMatchObject(accepted);
    expect(await poster.update(addNote)).toMatchObject(accepted);
    family.beforeLease = () => undefined;
    expect(await poster.send("C")).toMatchObject(accepted);
    await owner.settled();
    expect(await family.users()).toEqual(["Help.", "C"]);
  });
});
