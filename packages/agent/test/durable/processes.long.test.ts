import { describe, expect, it } from "vitest";
import { openSession, stateAt, type Clock, type DurableSession } from "../../src/index.ts";
import { HostChild } from "@moora/testbed/durable/child";
import { Counter } from "@moora/testbed/durable/counter";
import { quiet } from "@moora/testbed/durable/drive";
import { heldAgent } from "@moora/testbed/durable/held-agent";
import { problemsAfter } from "@moora/testbed/durable/outcome";
import { storageOf, type Storage } from "@moora/testbed/durable/places";
import { checkSound } from "@moora/testbed/durable/scene";

/** What processes share: a store, and a world outside where their tools leave their traces. */
interface Shared extends AsyncDisposable {
  readonly storage: Storage;
  readonly counter: Counter;
  /** The sessions of this process, which are closed with the rest. */
  readonly sessions: DurableSession[];
  child(manner: "decide" | "run" | "abort", owner: string, tool?: string): HostChild;
}

function newShared(): Shared {
  const storage = storageOf("sqlite");
  const path = storage.place.file("log.db");
  const counterFile = storage.place.file("world.db");
  const counter = new Counter(counterFile);
  const children: HostChild[] = [];
  const sessions: DurableSession[] = [];
  return {
    storage,
    counter,
    sessions,
    child(manner, owner, tool = "once") {
      const child = new HostChild(manner, path, counterFile, owner, tool);
      children.push(child);
      return child;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) await child[Symbol.asyncDispose]();
      for (const session of sessions) await session.close();
      counter[Symbol.dispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

/** A clock that is an hour ahead: every lease has run out by it. */
const anHourLater: Clock = { now: () => Date.now() + 3_600_000, after: () => () => undefined };

async function hostHere(
  { storage, counter, sessions }: Shared,
  tool: string,
  clock?: Clock,
): Promise<DurableSession> {
  const agent = heldAgent(counter, tool, () => Promise.resolve());
  const options = clock === undefined ? {} : { clock };
  const session = await openSession(agent, { log: storage.open(), id: "ada", owner: "here", ...options });
  // A listener shows the questions that other processes answer.
  session.onEvent(() => undefined);
  sessions.push(session);
  return session;
}

describe("an owner that is stopped in the middle of a tool (D04)", () => {
  it("finds itself taken over when it continues: its result is refused, nothing runs twice, and the log is one", async () => {
    await using shared = newShared();
    const child = shared.child("run", "there");
    await child.said("working");
    child.signal("SIGSTOP");
    const session = await hostHere(shared, "once", anHourLater);
    await quiet(session);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ code: "outcome-unknown" });
    for (let index = 0; index < 5; index += 1) {
      expect(await session.send(`message ${index}`)).toMatchObject({ status: "accepted" });
      await quiet(session);
    }
    const ended = session.current();
    child.signal("SIGCONT");
    child.write("finish");
    expect(await child.said("refused")).toBe("StaleWriter");
    expect(await child.ended()).toBe(0);
    await session.refresh();
    expect(session.current()).toBe(ended);
    const keys = shared.counter.runs.map(({ key }) => key);
    expect([keys.length, new Set(keys).size]).toEqual([6, 6]);
    await checkSound(session, shared.storage.open());
  });
});

describe("a tool that ends its process (C06)", () => {
  it.each([
    ["keyed", 3, "crash-loop"],
    ["once", 1, "outcome-unknown"],
  ])(
    "%s: is tried %i times, then the model gets the error, and the session accepts a new message",
    async (tool, tries, code) => {
      await using shared = newShared();
      let deaths = 0;
      for (;;) {
        const child = shared.child("abort", `host ${deaths}`, tool);
        if ((await child.ended()) === 0) break;
        deaths += 1;
      }
      expect([deaths, shared.counter.runs.length]).toEqual([tries, tries]);
      const log = shared.storage.open();
      const { state } = await stateAt(log, "ada");
      expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: false, code });
      expect(state.reActContext.control.type).toBe("Done");
      expect(problemsAfter(state)).toEqual([]);
      const session = await hostHere(shared, tool);
      await session.send("And now?");
      await quiet(session);
      expect(session.current().toolCalls["call_2"]?.result).toMatchObject({ content: `did ${tool}` });
      await checkSound(session, log);
    },
  );
});
