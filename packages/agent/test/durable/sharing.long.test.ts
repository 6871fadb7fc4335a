import type { AgentState } from "@moora/agent-core-state-machine";
import { seededRandom } from "@moora/event-log/testing";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { stateAt, type DurableSession } from "../../src/index.ts";
import { quiet } from "@moora/testbed/durable/drive";
import { storageOf } from "@moora/testbed/durable/places";
import { checkSound, sceneOf } from "@moora/testbed/durable/scene";

/** A message while the model is at work: it waits in the queue, and nothing else happens. */
const noted = (text: string) => ({
  type: "user-message-received",
  messageId: text,
  content: text,
  timestamp: 1,
});

const notesOf = (session: DurableSession): readonly string[] =>
  session
    .current()
    .messages.flatMap(({ role, content }) => (role === "user" && content !== "Think." ? [content] : []));

describe("one session in one process", () => {
  it("(D06) takes 1,000 unawaited inputs from anywhere: each once, numbers only grow, states are the fold", async () => {
    const random = seededRandom(6);
    const scene = sceneOf([], {}, { llm: new MockLlmCaller(() => hangs()) });
    await using session = await scene.open();
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
    expect(session.info().seq).toBeGreaterThanOrEqual(2);
    expect(await sent).toEqual({ status: "accepted", seq: 2 });
    await quiet(session);
    await session.close();
    await expect(session.send("Too late.")).rejects.toMatchObject({ reason: "SessionClosed" });
  });
});
