import { defineData, openSession } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { range, Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));

const lister = (script = () => answers("Hello.")) =>
  agentOf(script, { data: defineData({ schema: { type: "object" }, initial: { list: [] } }) });

const addOne = { patches: [{ op: "add", path: "/list/-", value: 1 }] };

/** Two servers on one log. What the second one reads and writes passes gates. */
function two(agent = talker) {
  const storage = new MemoryStorage();
  const clock = new TestClock();
  const gates = new Gates();
  const first = new Scene(agent(), { log: memoryLog(storage), clock });
  const second = new Scene(agent(), { log: remoteLog(memoryLog(storage), gates.pass), clock });
  return {
    first,
    second,
    clock,
    storage,
    gates,
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

  it("apply a change of data once that both get at the same time", async () => {
    await using pair = two(lister);
    const { first, second } = pair;
    const id = await first.as("ada").create();
    for (const attempt of ["one", "two", "three"]) {
      const key = { "idempotency-key": attempt };
      const receipts = await Promise.all(
        [first, second, second, first].map((scene) =>
          scene.as("ada").post(`/sessions/${id}/data`, addOne, key),
        ),
      );
      const bodies = receipts.map(({ body }) => body);
      expect(bodies).toEqual(bodies.map(() => bodies[0]));
      expect(bodies[0]).toMatchObject({ status: "accepted" });
    }
    const { state } = (await first.as("ada").get(`/sessions/${id}`)).body;
    expect(state.data).toEqual({ list: [1, 1, 1] });
  });

  it("apply a change of data once although the second takes the session over in the middle of it", async () => {
    await using pair = two(lister);
    const { first, second, gates, clock, storage } = pair;
    await using third = new Scene(lister(), { log: memoryLog(storage), clock });
    const id = await first.as("ada").create();
    const post = (scene: Scene, key: string) =>
      scene.as("ada").post(`/sessions/${id}/data`, addOne, { "idempotency-key": key });
    await post(second, "earlier");
    await first.server.close();
    const gate = gates.hold("append", "there", "session-opened");
    await clock.advanceAsync(1_000);
    await gate.reached;
    const late = post(second, "both");
    for (let turns = 0; turns < 10; turns += 1) await turn();
    const receipt = await post(third, "both");
    expect(receipt.body.status).toBe("accepted");
    gate.open();
    expect((await late).body).toEqual(receipt.body);
    expect((await second.as("ada").get(`/sessions/${id}`)).body.state.data).toEqual({ list: [1, 1] });
  });

  it("stream from a record that was added while the second takes the session over", async () => {
    await using pair = two();
    const { first, second, gates, clock, storage } = pair;
    await using third = new Scene(talker(), { log: memoryLog(storage), clock });
    const id = await first.as("ada").create();
    await second.as("ada").get(`/sessions/${id}`);
    await first.server.close();
    const gate = gates.hold("append", "there", "session-opened");
    await clock.advanceAsync(1_000);
    await gate.reached;
    const { seq } = (await third.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" })).body;
    const opening = second.as("ada").events(id, seq);
    for (let turns = 0; turns < 10; turns += 1) await turn();
    gate.open();
    await using stream = await opening;
    const last = (await stream.until("re-act-observed")).seq;
    expect(stream.seqs).toEqual(range(seq + 1, last));
    await expect(second.as("ada").events(id, last + 1)).rejects.toThrow("cursor-beyond-end");
  });

  it("cancel one loop, and not the next one, with a cancel that both get at the same time", async () => {
    await using pair = two(() => agentOf(() => hangs("Hm")));
    const { first, second, gates } = pair;
    const id = await first.as("ada").create();
    const say = () => first.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    const cancel = (scene: Scene) =>
      scene.as("ada").post(`/sessions/${id}/cancel`, {}, { "idempotency-key": "stop" });
    await say();
    const gate = gates.hold("append", "there", "re-act-cancelled");
    const late = cancel(second);
    await gate.reached;
    const receipt = await cancel(first);
    await say();
    gate.open();
    expect((await late).body).toEqual(receipt.body);
    const { state } = (await first.as("ada").get(`/sessions/${id}`)).body;
    expect(state.reActContext).toMatchObject({ loop: 2, control: { type: "Planning" } });
  });

  it("accept a decision on a question that the second has not read yet", async () => {
    const pay = () => toolOf("pay", () => "paid", { approval: "always" });
    await using pair = two(() =>
      agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], { tools: [pay()] }),
    );
    const { first, second, gates } = pair;
    const id = await first.as("ada").create();
    await using near = await first.as("ada").events(id);
    await second.as("ada").get(`/sessions/${id}`);
    const gate = gates.hold("read", "there");
    await first.as("ada").post(`/sessions/${id}/messages`, { content: "Pay" });
    await near.until("re-act-observed");
    await gate.reached;
    const [{ toolCallId, digest }] = (await first.as("ada").get(`/sessions/${id}`)).body.questions;
    const decided = second
      .as("ada")
      .post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    await turn();
    gate.open();
    expect((await decided).body.status).toBe("accepted");
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
