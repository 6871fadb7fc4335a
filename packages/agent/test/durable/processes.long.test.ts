import { describe, expect, it } from "vitest";
import { openSession, stateAt, type Clock, type DurableSession } from "../../src/index.ts";
import { Child } from "@moora/testbed/durable/child";
import { Counter } from "@moora/testbed/durable/counter";
import { quiet } from "@moora/testbed/durable/drive";
import { heldAgent } from "@moora/testbed/durable/held-agent";
import { problemsAfter } from "@moora/testbed/durable/outcome";
import { storageOf, type Storage, type StoreName } from "@moora/testbed/durable/places";
import { checkSound } from "@moora/testbed/durable/scene";

/** What processes share: a store, and a world outside where their tools leave their traces. */
interface Shared extends AsyncDisposable {
  readonly storage: Storage;
  readonly counter: Counter;
  /** The sessions of this process, which are closed with the rest. */
  readonly sessions: DurableSession[];
  child(manner: "decide" | "run" | "abort", owner: string, tool?: string): Child;
}

function sharedOn(name: StoreName): Shared {
  const storage = storageOf(name);
  const path = name === "jsonl" ? storage.place.path : storage.place.file("log.db");
  const counterFile = storage.place.file("world.db");
  const counter = new Counter(counterFile);
  const children: Child[] = [];
  const sessions: DurableSession[] = [];
  return {
    storage,
    counter,
    sessions,
    child(manner, owner, tool = "once") {
      const child = new Child(manner, name, path, counterFile, owner, tool);
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

describe("a tool that ends its process (C06)", () => {
  it.each([
    ["keyed", 3, "crash-loop"],
    ["once", 1, "outcome-unknown"],
  ])(
    "%s: is tried %i times, then the model gets the error, and the session accepts a new message",
    async (tool, tries, code) => {
      await using shared = sharedOn("sqlite");
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
