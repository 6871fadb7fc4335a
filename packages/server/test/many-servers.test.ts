import { defineData, openSession } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { agentOf, range, Scene, toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

/** Two servers on one log. */
function two(agent = talker) {
  const storage = new MemoryStorage();
  const clock = new TestClock();
  const [first, second] = [0, 1].map(() => new Scene(agent(), { log: memoryLog(storage), clock })) as [
    Scene,
    Scene,
  ];
  return {
    first,
    second,
    clock,
    storage,
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

describe("two servers on one log", () => {
  it("serve one session: the second posts to the first, and streams what it records", async () => {
    await using pair = two();
    const { first, second } = pair;
    const id = await first.as("ada").create();
    await using near = await first.as("ada").events(id);
    await using far = await second.as("ada").events(id);
    const receipt = await second.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    expect(receipt.body).toEqual({ status: "accepted", seq: 2 });
    const { seq } = await far.until("re-act-observed");
    await near.until("re-act-observed");
    expect(far.seqs).toEqual(range(1, seq));
    expect(far.inputs).toEqual(near.inputs);
    expect(far.inputs.filter(({ input }) => input.type === "session-opened")).toHaveLength(1);
  });

  it("apply a post with an idempotency key once", async () => {
    await using pair = two();
    const { first, second } = pair;
    const id = await first.as("ada").create();
    const key = { "idempotency-key": "first" };
    const receipts = [];
    for (const scene of [first, second, first])
      receipts.push((await scene.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" }, key)).body);
    expect(receipts).toEqual([receipts[0], receipts[0], receipts[0]]);
  });

  it("apply a change of data once that both get at the same time", async () => {
    const data = defineData({ schema: { type: "object" }, initial: { list: [] } });
    await using pair = two(() => agentOf(() => answers("Hello."), { data }));
    const { first, second } = pair;
    const id = await first.as("ada").create();
    const patches = [{ op: "add", path: "/list/-", value: 1 }];
    for (const attempt of ["one", "two", "three"]) {
      const key = { "idempotency-key": attempt };
      const receipts = await Promise.all(
        [first, second, second, first].map((scene) =>
          scene.as("ada").post(`/sessions/${id}/data`, { patches }, key),
        ),
      );
      const bodies = receipts.map(({ body }) => body);
      expect(bodies).toEqual(bodies.map(() => bodies[0]));
      expect(bodies[0]).toMatchObject({ status: "accepted" });
    }
    const { state } = (await first.as("ada").get(`/sessions/${id}`)).body;
    expect(state.data).toEqual({ list: [1, 1, 1] });
  });

  it("decide a question of the other one", async () => {
    const pay = () => toolOf("pay", () => "paid", { approval: "always" });
    await using pair = two(() =>
      agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], { tools: [pay()] }),
    );
    const { first, second } = pair;
    const id = await first.as("ada").create();
    await using near = await first.as("ada").events(id);
    await first.as("ada").post(`/sessions/${id}/messages`, { content: "Pay" });
    await near.until("re-act-observed");
    const far = second.as("ada");
    const [{ toolCallId, digest }] = (await far.get(`/sessions/${id}`)).body.questions;
    const decided = await far.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    expect(decided.body.status).toBe("accepted");
    await near.until("tool-call-completed");
  });

  it("take over: when the first closes, the second runs the session, and its streams continue", async () => {
    await using pair = two();
    const { first, second, clock } = pair;
    const id = await first.as("ada").create();
    await using far = await second.as("ada").events(id);
    await far.until("session-opened");
    await first.server.close();
    await clock.advanceAsync(1_000);
    await second.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    const { seq } = await far.until("re-act-observed");
    expect(far.seqs).toEqual(range(1, seq));
    expect(far.inputs.filter(({ input }) => input.type === "session-opened")).toHaveLength(2);
    expect(second.errors).toEqual([]);
  });

  it("lose no post when a session is taken over from a server that still runs", async () => {
    await using pair = two();
    const { first, clock, storage } = pair;
    const ada = first.as("ada");
    const id = await ada.create();
    await using near = await first.as("ada").events(id);
    await near.until("session-opened");
    // Its process was stopped for longer than its lease, and another one took the session.
    const log = memoryLog(storage);
    const taker = await openSession(talker(), {
      log,
      id,
      clock: { now: () => clock.now() + 60_000, after: (ms, callback) => clock.after(ms, callback) },
    });
    const receipt = await ada.post(`/sessions/${id}/messages`, { content: "Hi" });
    expect(receipt.body.status).toBe("accepted");
    const { seq } = await near.until("re-act-observed");
    expect(near.seqs).toEqual(range(1, seq));
    await taker.close();
    await clock.advanceAsync(1_000);
    await untilPasses(() => expect(first.errors).toEqual([]));
  });
});
