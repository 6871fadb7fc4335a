import type { AgentState } from "@moora/agent-core-state-machine";
import { seededRandom } from "@moora/event-log/testing";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, stateAt, type DurableSession } from "../../src/index.ts";
import { quiet } from "@moora/testbed/durable/drive";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { remoteLog } from "@moora/testbed/durable/remote-log";
import { checkSound, sceneOf } from "@moora/testbed/durable/scene";
import { turn, TestClock } from "@moora/testbed/test-clock";

/** A message while the model is at work: it waits in the queue, and nothing else happens. */
const noted = (text: string) => ({
  type: "user-message-received",
  messageId: text,
  content: text,
  timestamp: 1,
});

/** Notes are taken while a loop runs; this one does not end. */
const thinker = defineAgent({ name: "thinker", llm: new MockLlmCaller(() => hangs("Hm")) });

const notesOf = (session: DurableSession): readonly string[] =>
  session
    .current()
    .messages.flatMap(({ role, content }) => (role === "user" && content !== "Think." ? [content] : []));

interface Poster {
  readonly name: string;
  readonly session: DurableSession;
}

/** Each says so many things, in its own time, and waits for no answer before the next. */
async function postAll(posters: readonly Poster[], count: number, random: () => number) {
  const receipts = new Map<string, number>();
  await Promise.all(
    posters.map(async ({ name, session }) => {
      const pending: Promise<void>[] = [];
      for (let index = 0; index < count; index += 1) {
        const text = `${name} ${index}`;
        pending.push(
          session.dispatch(noted(text)).then((receipt) => {
            if (receipt.status === "accepted") receipts.set(text, receipt.seq);
          }),
        );
        if (random() < 0.3) await turn();
        if (random() < 0.2) await Promise.all(pending.splice(0));
      }
      await Promise.all(pending);
    }),
  );
  return receipts;
}

describe.each(["memory", "jsonl", "sqlite", "memory behind a network"] as const)("on %s", (name) => {
  const store = storeNames.find((known) => known === name) ?? "memory";

  it.each([1, 2, 3])(
    "(D01, V6) two posters and an owner at once: each input once, in order, the same everywhere (seed %i)",
    async (seed) => {
      const random = seededRandom(seed);
      await using storage = storageOf(store);
      const pass = async (): Promise<void> => {
        for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await turn();
      };
      const open = (access: "run" | "post"): Promise<DurableSession> => {
        const log = storage.open();
        const isFar = name === "memory behind a network";
        const clock = new TestClock();
        return openSession(thinker, { log: isFar ? remoteLog(log, pass) : log, id: "ada", clock, access });
      };
      const owner = await open("run");
      await owner.send("Think.");
      await quietUnderWay(owner);
      const [one, two] = [await open("post"), await open("post")];
      const reader = await open("post");
      const seqs: number[] = [];
      await reader.follow(0, (seq) => seqs.push(seq));
      const posters = [
        { name: "owner", session: owner },
        { name: "one", session: one },
        { name: "two", session: two },
      ];
      const count = 150;
      const receipts = await postAll(posters, count, random);
      const sessions = [owner, one, two, reader];
      for (const session of sessions) await session.refresh();
      const notes = notesOf(owner);
      expect(receipts.size).toBe(3 * count);
      expect(new Set(notes)).toEqual(new Set(receipts.keys()));
      expect(notes).toHaveLength(3 * count);
      expect(notes).toEqual([...receipts].toSorted(([, a], [, b]) => a - b).map(([text]) => text));
      for (const poster of posters) {
        expect(notes.filter((text) => text.startsWith(poster.name))).toEqual(
          Array.from({ length: count }, (_, index) => `${poster.name} ${index}`),
        );
      }
      for (const session of sessions) await checkSound(session, storage.open());
      expect(seqs).toEqual(Array.from({ length: owner.info().seq }, (_, index) => index + 1));
      for (const session of sessions) await session.close();
    },
  );
});

/** When the model has begun to answer, which it never ends. */
async function quietUnderWay(session: DurableSession): Promise<void> {
  while (session.current().streaming === null) await turn();
}

describe("one session in one process", () => {
  it("(D06) takes 1,000 unawaited inputs from anywhere: each once, numbers only grow, states are the fold", async () => {
    const random = seededRandom(6);
    const scene = sceneOf([], {}, { llm: new MockLlmCaller(() => hangs()) });
    const session = await scene.open();
    await session.send("Think.");
    const seen = new Map<number, AgentState>();
    session.onInput((_input, state, seq) => seen.set(seq, state));
    const pending = Array.from({ length: 1_000 }, (_, index) => {
      const begin = Promise.withResolvers<void>();
      const dice = random();
      if (dice < 0.3) begin.resolve();
      else if (dice < 0.6) queueMicrotask(begin.resolve);
      else setImmediate(begin.resolve);
      return begin.promise.then(() => session.dispatch(noted(`note ${index}`)));
    });
    const receipts = await Promise.all(pending);
    expect(new Set(receipts.map((receipt) => receipt.status === "accepted" && receipt.seq)).size).toBe(1_000);
    expect([...seen.keys()]).toEqual([...seen.keys()].toSorted((a, b) => a - b));
    expect(new Set(notesOf(session)).size).toBe(1_000);
    for (let seq = 10; seq < seen.size; seq += 100)
      expect((await stateAt(scene.log(), "ada", seq)).state).toEqual(seen.get(seq));
    await checkSound(session, scene.log());
    await session.close();
  });

  it("(A10) writes a batch and single inputs alike; a batch with a bad input writes nothing", async () => {
    const bodies = async (
      send: (session: DurableSession) => Promise<unknown>,
    ): Promise<readonly string[]> => {
      let ids = 0;
      const scene = sceneOf([], {}, { llm: new MockLlmCaller(() => hangs()) });
      const session = await scene.open({ owner: "host", newId: (prefix) => `${prefix}-${(ids += 1)}` });
      await session.send("Think.");
      await send(session);
      const log = await scene.log().open("ada");
      const records = (await log?.read()) ?? [];
      await session.close();
      return records.map((record) => JSON.stringify(record));
    };
    const singly = await bodies(async (session) => {
      for (const text of ["a", "b", "c"]) await session.dispatch(noted(text));
    });
    const together = await bodies((session) =>
      Promise.all(["a", "b", "c"].map((text) => session.dispatch(noted(text)))),
    );
    expect(together).toEqual(singly);
    const none = await bodies((session) =>
      expect(session.dispatch({ ...noted("d"), content: 4 })).rejects.toMatchObject({
        code: "wrong-shape",
        path: "content",
      }),
    );
    expect(none).toEqual(singly.slice(0, -3));
  });

  it("answers at once on a synchronous log: no promise stands between an input and its record", async () => {
    await using storage = storageOf("sqlite");
    const scene = sceneOf([], {}, { log: () => storage.open() });
    const session = await scene.open();
    const log = await storage.open().open("ada");
    const sent = session.send("Now.");
    expect(session.current().messages.map(({ content }) => content)).toEqual(["Now."]);
    expect(await log?.head()).toBe(session.info().seq);
    expect(session.info().seq).toBeGreaterThanOrEqual(3);
    expect(await sent).toEqual({ status: "accepted", seq: 2 });
    await quiet(session);
    await session.close();
    await expect(session.send("Too late.")).rejects.toMatchObject({ reason: "SessionClosed" });
  });
});
